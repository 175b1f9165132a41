/*
 * log.h -- the database's current log: made when first needed, rotated when memtables switch, synced in the background.
 *
 * What a power cut can take at SYNC_WAL is bounded: the sync thread syncs the log every interval, and a writer that finds the
 * last completed sync older than two intervals syncs by itself before it goes on.
 *
 * A FULL DISK is no damage. When it is found by a store for a group of writes, the group is refused with PETAL_NO_SPACE and nothing of
 * it stays in the log, as wal.h tells; the next group tries again, and finds room once there is some, in this log or, when
 * there was none for the header of a new one, in a newer one. What ASYNC_WAL writes left in the buffer waits there, in front of the
 * next group's. The background sync tries every interval. A sync that fails, for whatever reason, is damage.
 *
 * Functions marked LEADER need the write leadership (engine/db.h).
 */
#ifndef PETAL_ENGINE_LOG_H
#define PETAL_ENGINE_LOG_H

#include "engine/db.h"

/* What ASYNC_WAL writes may leave in the buffer. */
#define LOG_ASYNC_BUFFER_BYTES (256u << 10)

/* The log to write to, created with its directory entry on the medium if there is none. LEADER. */
enum petal_status log_current(petal_db *db, struct wal **wal, petal_error *error);

/* Store what is buffered and bring it to the medium as `durability` asks. `now_ms`: the clock. After a failure the log is dead, or
 * has stored nothing. LEADER. */
enum petal_status log_commit(petal_db *db, enum petal_durability durability, int64_t now_ms,
                             petal_error *error);

/* Sync and close the current log, if any; it becomes a closed log. The next write makes a new one. LEADER. */
enum petal_status log_rotate(petal_db *db, petal_error *error);

/* Remember a log found at opening as closed, so that it goes when its cells are flushed. */
enum petal_status log_add_closed(petal_db *db, uint64_t number, uint64_t last_sequence,
                                 uint64_t length);

/*
 * WHICH LOGS MAY GO.  While a flush looks, a writer may give a new log its number, make it, log cells, add them to memtables and
 * close the log; neither waits for the other. So the flush looks in this order:
 *  1. log_oldest_open: all logs that take cells from now on have this number or a greater one, and those below are closed, with
 *     all their cells in memtables or files;
 *  2. it searches the memtables for the first sequence that is not in files;
 *  3. log_oldest_needed.
 */
uint64_t log_oldest_open(petal_db *db);

/* The number of the oldest log that is at or above `oldest_open` or holds a cell of sequence `oldest_unflushed` or later. */
uint64_t log_oldest_needed(petal_db *db, uint64_t oldest_open, uint64_t oldest_unflushed);

/* Number and length of the newest closed log, all of it synced: the manifest's promise. Zeros if there is none. */
struct wal_promise log_promise(petal_db *db);

/* Forget and remove closed logs below `oldest`. */
void log_remove_below(petal_db *db, uint64_t oldest);

/* Bytes of all logs that are kept. LEADER. */
uint64_t log_kept_bytes(petal_db *db);

/* The sync thread. Started by petal_open unless the interval is PETAL_NEVER. */
void *log_sync_thread(void *db);

#endif
