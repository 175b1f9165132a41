/*
 * room.h -- whether the disk has room for what a compaction is about to write.
 *
 * The bytes of its inputs are about the most that it takes. They must be free, and beside them as
 * many, at most ROOM_SPARED_MEMTABLES memtables' worth: for the log and for flushes, which do not
 * ask. A write that finds the disk full is worse than a compaction that waits. So a small one may
 * have the half of what is left, and a large one is not begun in vain.
 *
 * What others have taken counts as theirs as far as they have not written it yet, by the cells that
 * they have done. Where the file layer does not tell what is free, there is room.
 *
 * Threads: all functions from any thread.
 */
#ifndef PETAL_ENGINE_COMPACT_ROOM_H
#define PETAL_ENGINE_COMPACT_ROOM_H

#include "engine/state/db.h"

#define ROOM_SPARED_MEMTABLES 4

/* PETAL_NO_SPACE: there is none, and nothing is taken. */
enum petal_status room_take(petal_db *db, uint64_t bytes, petal_error *error);

/* It is written, or will not be. */
void room_give_back(petal_db *db, uint64_t bytes);

#endif
