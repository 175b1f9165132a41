/*
 * keeper.h -- the thread that keeps regions at their size. It splits those that have grown above
 * their limit (db_max_region_bytes), and merges neighbours that it split itself, days ago, if
 * together they are far below the limit. It leaves the borders that somebody made, when the table
 * was created or by a split that was asked for. (HBase's SimpleRegionNormalizer, which tables have
 * to ask for, does not tell these apart.) It looks after a commit that made a region too large
 * (engine/store/change.h), when a table was altered, when the database is opened, and every ten
 * minutes. A region that cannot be split in two is tried again once it has grown; what failed, at
 * the next look.
 *
 * Threads: from any thread, holding no lock.
 */
#ifndef PETAL_ENGINE_REGION_KEEPER_H
#define PETAL_ENGINE_REGION_KEEPER_H

#include "engine/state/db.h"

/* Start the thread. REQUIRES: the compactor has been started, which it asks. */
enum petal_status region_keeper_start(petal_db *db, petal_error *error);
/* End it, when it runs; a split or merge that it has begun is done before, but compactions for a
 * merge are given up. */
void region_keeper_stop(petal_db *db);

/* Wait until no region is to be split or merged; *waited: one may have been. */
void region_keeper_wait(petal_db *db, bool *waited);

#endif
