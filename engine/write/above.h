/*
 * above.h -- what the store's timestamps have to be above.
 *
 * A write that leaves its timestamp to the store replaces what is there. The clock's timestamp does
 * that, but where the row has later ones: of increments and appends, each of which gets a later one
 * than the version before, or because the clock was set back. There it gets the least that is above
 * them. Which of them count petal.h says (PETAL_LATEST): those that the store gave; in key-value
 * tables, where nobody gives others, all.
 *
 * WHAT IS READ. No row of a family has a timestamp above family_newest, so where that is not ahead
 * of the clock nothing is read. Else the writer looks at the row before it queues
 * (engine/write/mutate.c). The leader, which alone knows the clock and family_newest for certain,
 * refuses cells that had to be looked at and were not, or whose row was written to since.
 *
 * WHICH COUNT is decided by one number, petal_family's `stamped`, for cells do not tell who gave
 * their timestamps. It grows with what the store gives: the clock's, and those ahead of it that
 * follow on one that counts, of the family, or of another whose cell a condition read. So a
 * caller's timestamp in the far future does not make it grow, and nor do increments that follow on
 * that.
 */
#ifndef PETAL_ENGINE_WRITE_ABOVE_H
#define PETAL_ENGINE_WRITE_ABOVE_H

#include "engine/wal/record.h"

/* Has the cell's row to be looked at before the store can give a timestamp, if the clock says
 * `clock`? For certain LEADER. */
static inline bool
above_is_asked(const struct write_cell *write, int64_t clock)
{
    return write->assigned && !write->resolved && !write->looked &&
           family_newest(write->family, write->of_keys) > clock;
}

/*
 * Look at the rows of the cells where it is necessary: their least timestamps grow. `always`: of
 * all whose timestamps the store gives, and what the clock gave in this very millisecond counts,
 * too, so that each is a version of its own. Any thread.
 */
enum petal_status above_look(petal_db *db, struct write_cell *cells, size_t count, bool always,
                             petal_error *error);

#endif
