/*
 * keeper.h -- the thread that splits regions which have grown above their limit
 * (db_max_region_bytes): after a commit that made one so (engine/store/change.h), and once when the
 * database is opened. A region without a middle stays, and is looked at again when it has grown. A
 * split that fails is tried again with the next.
 *
 * Threads: from any thread, holding no lock.
 */
#ifndef PETAL_ENGINE_REGION_KEEPER_H
#define PETAL_ENGINE_REGION_KEEPER_H

#include "engine/state/db.h"

/* Start the thread. */
enum petal_status region_keeper_start(petal_db *db, petal_error *error);
/* End it, when it runs; what it has begun is done before. */
void region_keeper_stop(petal_db *db);

/* Wait until no region is to be split; *waited: one may have been. */
void region_keeper_wait(petal_db *db, bool *waited);

#endif
