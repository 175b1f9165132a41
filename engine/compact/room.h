/*
 * room.h -- whether the disk has room for what a compaction is about to write.
 *
 * Its outputs take at most about as many bytes as its inputs. So much must be free, and the same
 * again, up to ROOM_SPARED_MEMTABLES memtables' worth, for the log and for flushes, which do not
 * ask: a write that finds the disk full is worse than a compaction that waits. So a small
 * compaction may take half of what is left, and a large one does not start in vain.
 *
 * Space that other compactions have taken is theirs until they have written it, which the number of
 * cells that they have done tells. Where the file layer does not tell what is free, there is room.
 *
 * Threads: all functions from any thread.
 */
#ifndef PETAL_ENGINE_COMPACT_ROOM_H
#define PETAL_ENGINE_COMPACT_ROOM_H

#include "engine/state/db.h"

#define ROOM_SPARED_MEMTABLES 4

/* Could so many bytes be taken now? */
bool room_is_there(petal_db *db, uint64_t bytes);

/* PETAL_NO_SPACE: there is none, and nothing is taken. */
enum petal_status room_take(petal_db *db, uint64_t bytes, petal_error *error);

/* It is written, or will not be. */
void room_give_back(petal_db *db, uint64_t bytes);

#endif
