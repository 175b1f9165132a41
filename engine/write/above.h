/*
 * above.h -- timestamps that the store assigns have to be above those of existing versions.
 *
 * A write without a timestamp replaces what is there. The clock's timestamp does that unless the
 * row has later ones: of increments and appends, each of which gets a later one than the version
 * before, or because the clock was set back. Then the write gets the least timestamp above them.
 * petal.h says which of them count (PETAL_LATEST): those that the store assigned; in key-value
 * tables, where callers give none, all.
 *
 * WHICH ROWS ARE READ. No row of a family has a timestamp above family_newest, so if that is not
 * ahead of the clock nothing is read. Otherwise the writer reads the row before it queues
 * (engine/write/mutate.c). Only the leader knows the clock and family_newest for certain: it
 * refuses cells whose row had to be read and was not, or was written to since.
 *
 * WHICH TIMESTAMPS COUNT is decided by one number, petal_family's `stamped`, since cells do not
 * record who gave their timestamps. It grows with those that the store assigns: the clock's, and
 * those ahead of it that follow on one that counts, of the family, or of another family whose cell
 * a condition read. So a caller's timestamp in the far future does not make it grow, nor do
 * increments that follow on that.
 */
#ifndef PETAL_ENGINE_WRITE_ABOVE_H
#define PETAL_ENGINE_WRITE_ABOVE_H

#include "engine/wal/record.h"

/* Has the cell's row to be read before the store can assign a timestamp, if the clock says `clock`?
 * Certain only for the LEADER. */
static inline bool
above_is_asked(const struct write_cell *write, int64_t clock)
{
    return write->assigned && !write->resolved && !write->looked &&
           family_newest(write->family, write->of_keys) > clock;
}

/*
 * Read the rows of the cells where that is necessary, and raise their least timestamps. `always`:
 * read the rows of all cells whose timestamps the store assigns, and count timestamps of this very
 * millisecond, too, so that each write makes a version. Any thread.
 */
enum petal_status above_look(petal_db *db, struct write_cell *cells, size_t count, bool always,
                             petal_error *error);

#endif
