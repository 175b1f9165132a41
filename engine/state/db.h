/*
 * db.h -- the inside of a database: struct petal_db, and which lock guards what.
 *
 * WRITE LEADERSHIP.  Writers queue (engine/write/commit.c); the first in the queue leads and owns,
 * until it hands on, everything marked [leader]: the log's writing side, active memtables, sequence
 * and timestamp counters. Work that must not run beside writes (switching memtables, dropping a
 * table) takes the leadership as well.
 *
 * Each part of struct petal_db has its lock, and its fields stand behind it: `schema`
 * (engine/state/handle.h), `views` (engine/state/view.h), `failure`, `progress` and `writers` in
 * the headers of those names; the WAL chain, the flusher, the pace of writers and the compactor are
 * the own of rooms above, which alone look into them.
 *
 * LOCK ORDER, outermost first. Who holds one takes only those further down, and no lock of a line
 * that says `leaf` has another within:
 *
 *   capture_mutex          for all of a checkpoint or change of table snapshots; who holds another
 *                          one does not wait for it
 *   writers.row_locks      by stripe, in their order
 *   the write leadership
 *   schema.mutex           over I/O: by who changes tables, over the commit
 *   manifest_mutex         over I/O: by commits, over the sync of the manifest
 *   views.mutex            over I/O: the same
 *   the WAL chain's sync_mutex   over I/O, never taken inside views.mutex; then its mutex: leaf
 *   snapshots.mutex        over I/O: by the commit of a compaction that drops markers
 *   the compactor's        behind schema.mutex; leaf
 *   progress.mutex         how far flushes are: the flusher's jobs, and the line of writers that
 *                          wait
 *   failure.mutex          leaf
 *   views.bin, the queue of writers, the epoch, the cache, open_files: leaves
 *
 * So the leader of a write group only tries schema.mutex and views.mutex (engine/flush/flush.h),
 * unless memtables get far too large. Readers take the leaves of epoch, cache and open_files, and
 * snapshots.mutex for a new snapshot or a multi-get.
 */
#ifndef PETAL_ENGINE_STATE_DB_H
#define PETAL_ENGINE_STATE_DB_H

#include "base/env.h"
#include "base/epoch.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/process.h"
#include "cache/cache.h"
#include "engine/manifest/manifest.h"
#include "engine/manifest/names.h"
#include "engine/state/budget.h"
#include "engine/state/damage.h"
#include "engine/state/failure.h"
#include "engine/state/handle.h"
#include "engine/state/latency.h"
#include "engine/state/progress.h"
#include "engine/state/stats.h"
#include "engine/state/view.h"
#include "engine/state/writers.h"
#include "sstable/readahead.h"

/* What users of the library have open of a database, by what it is called. */
#define DB_OPEN_KINDS(X)                                                                           \
    X(cursor)                                                                                      \
    X(snapshot)                                                                                    \
    X(bulk)                                                                                        \
    X(receipt)

/* Registered snapshots, in the order of their sequences (engine/state/read_point.h). */
struct read_point_list {
    struct mutex mutex;
    petal_snapshot *oldest, *newest;
};

/* The parts that are pointers belong to the rooms that declare them. */
struct petal_db {
    struct env env;
    struct directory directory;
    uint32_t process;      /* the one that opened it (base/process.h) */
    petal_file *lock_file; /* engine/db/lock.h */

    /* As it was opened. */
    /* There are no threads, what the logs held stays in the memtables, nothing but them and the
     * cache ever changes. */
    bool read_only;
    bool no_compaction; /* in the background */
    enum petal_durability durability;
    size_t memtable_bytes;
    uint64_t compact_file_bytes; /* when an output is ended at a row border */
    uint64_t linked_file_bytes;  /* smaller ones are merged with their neighbours, not linked */
    uint64_t identity, salt;

    /* Tests set it: no read goes a straight way, which changes nothing. */
    _Atomic(bool) general_reads;
    /* Set by tests: cursors with a deadline look at the clock behind so many cells, and are late at
     * the second look. 0: they are not set. */
    _Atomic(uint32_t) hasty_reads;

    /* What all share. */
    struct epoch *epoch;
    struct cache *cache;
    bool map_files;                   /* of petal_options */
    struct file_pool open_files;      /* what readers of store files have open */
    struct readahead_limit readahead; /* of the memory of their large reads */
    struct read_around_limit around;  /* of what single blocks bring along */
    /* Of what is begun to be read of indexes and filters when files of a family are opened that
     * begins to live; taken for good. */
    struct readahead_limit index_ahead;
    struct memory_budget memory; /* the limit of it */
    struct stats_shard *stats;   /* STATS_SHARDS of them */
    struct {
#define DB_OPEN_COUNT(kind) _Atomic(uint32_t) kind;
        DB_OPEN_KINDS(DB_OPEN_COUNT)
#undef DB_OPEN_COUNT
    } open; /* that petal_close would leave behind */

    /* What there is. */
    struct views views;
    struct schema schema;
    struct mutex manifest_mutex; /* commits, and reading the manifest's state */
    struct manifest *manifest;
    _Atomic(uint64_t) next_file_number; /* of store files and logs; numbers are never used twice */
    struct read_point_list snapshots;
    /* One checkpoint or change of table snapshots at a time, for all of its time: no other makes a
     * file of a snapshot go. */
    struct mutex capture_mutex;

    /* What goes on. */
    struct writers writers;
    struct pace *pace;       /* engine/write/pace.h */
    struct wal_chain *wal;   /* engine/wal/wal.h */
    struct flusher *flusher; /* engine/flush/flush.h */
    struct compactor
        *compactor; /* engine/compact/compactor.h; NULL until petal_open has recovered */
    struct progress progress;
    struct failure failure;

    struct latencies latencies;
};

/* ---- the process ---- */

/* Whether this is another process than the one that opened the database: a child that it forked.
 * Such a one may read nothing that threads change, and take no lock: the threads that would end the
 * change, and give up the lock, are not there. */
static inline bool
db_is_of_another_process(const petal_db *db)
{
    return db->process != process_now();
}

enum petal_status db_refuse_process(const petal_db *db, petal_error *error);

/* The beginning of every public call: *error is empty. PETAL_INVALID: in another process. */
static inline enum petal_status
db_enter(const petal_db *db, petal_error *error)
{
    error_clear(error);
    return db_is_of_another_process(db) ? db_refuse_process(db, error) : PETAL_OK;
}

/* ---- failure ---- */

/* Keep the first cause, log it, and turn the database read-only. */
void db_fail(petal_db *db, const petal_error *cause);
/* PETAL_OK, or PETAL_READ_ONLY with the cause in *error: opened read-only, or what failed. */
enum petal_status db_check_writable(petal_db *db, petal_error *error);

/* The first half of it: for calls that look before they write, and whose answer must not depend on
 * what they find. */
enum petal_status db_check_opened_for_writing(const petal_db *db, petal_error *error);

/* Make the directory's names durable. What a failed sync lost no later one brings back, whoever
 * made the names: so the database turns read-only, and no sync after it succeeds. */
enum petal_status db_sync_directory(petal_db *db, petal_error *error);

/* failure_note, and count it. */
void db_background_failed(petal_db *db, enum background_kind kind, const petal_error *cause);

/* db_check_writable, without an error to tell. */
static inline bool
db_is_writable(const petal_db *db)
{
    return !db->read_only && !atomic_load_explicit(&db->failure.failed, memory_order_acquire);
}

/* ---- views ---- */

/* Release what readers have left: views with their memtables and files, blocks of the cache.
 * REQUIRES: as view_bin_empty. */
void db_collect(petal_db *db);

/* Make `view` current and retire the one before. What that frees, files perhaps, goes with the next
 * epoch_collect: the caller's, without a lock, unless it is the leader of a write group. REQUIRES:
 * views.mutex held. */
void db_publish_view(petal_db *db, struct view *view);

/* ---- file numbers ---- */

static inline uint64_t
db_take_file_number(petal_db *db)
{
    return atomic_fetch_add_explicit(&db->next_file_number, 1, memory_order_relaxed);
}

static inline uint64_t
db_next_file_number(petal_db *db)
{
    return atomic_load_explicit(&db->next_file_number, memory_order_relaxed);
}

#endif
