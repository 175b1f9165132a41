/*
 * newest.h -- the newest cell that a row or one of its columns has, deletion or put, seen by
 * readers or not: what the store's next timestamp there has to be above (engine/write/above.h).
 */
#ifndef PETAL_ENGINE_READ_NEWEST_H
#define PETAL_ENGINE_READ_NEWEST_H

#include "engine/state/db.h"

struct newest_question {
    const petal_family *family;
    petal_slice row;
    uint64_t row_hash; /* bloom_hash_row, with the database's salt */
    petal_slice qualifier;
    bool whole_row;             /* all columns; else the family markers and the one column */
    int64_t time_min, time_max; /* the cells that count, both included */
    const struct memtable *own; /* of a transaction: looked at, too; NULL: none */
};

#define NEWEST_NONE (-1) /* below every timestamp */

/*
 * The greatest timestamp of what was written before the call, NEWEST_NONE when there is no such
 * cell; what is written meanwhile may count or not. Memtables are looked at first. One, or a file,
 * is asked only if it holds the row and later timestamps than were found; for all columns, until
 * the latest that it can have is found: mostly the row's cells in it are read. Any thread, the
 * leader too.
 */
enum petal_status read_newest(const struct newest_question *question, int64_t *newest,
                              petal_error *error);

#endif
