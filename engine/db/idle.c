/* idle.c -- a database comes to rest: what is in memory goes to files, and what is due is
 * compacted. */
#include "base/argument.h"
#include "engine/compact/compactor.h"
#include "engine/flush/flush.h"
#include "engine/region/keeper.h"
#include "engine/wal/wal.h"

enum petal_status
petal_flush(petal_db *db, petal_table *table, petal_error *error)
{
    RETURN_IF_NULL(db, error);

    enum petal_status status = PETAL_OK;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    if (table != NULL)
        status = table_check_alive(table, error);
    if (status != PETAL_OK)
        return status;
    wal_make_spare(db); /* the caller waits for it, so that writers need not */
    return flush_and_wait(db, table, 0, error);
}

enum petal_status
petal_wait_idle(petal_db *db, petal_error *error)
{
    RETURN_IF_NULL(db, error);

    struct compactor_moment moment;
    bool waited;
    enum petal_status status = PETAL_OK;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    if (db->compactor == NULL)
        return flush_wait_idle(db, error);
    moment = compactor_hurry(db);
    while (status == PETAL_OK) {
        status = flush_wait_idle(db, error);
        if (status != PETAL_OK)
            break;
        if (!compactor_is_idle(db, &moment) || flush_waits(db) > 0) {
            status = compactor_wait(db, &moment, error);
            continue;
        }
        region_keeper_wait(db, &waited); /* what was split may be compacted */
        if (!waited) {
            db_collect(db);
            break;
        }
    }
    return status;
}
