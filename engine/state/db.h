/*
 * db.h -- struct petal_db, and which lock guards what.
 *
 * WRITE LEADERSHIP.  Writers queue (engine/write/commit.c); the first in the queue leads and owns
 * everything marked [leader] until it hands on: the write side of the log, active memtables,
 * sequence and timestamp counters. Other work that must not run during writes (switching memtables,
 * dropping a table) takes the leadership, too.
 *
 * Each part of struct petal_db has its own lock and header: `schema`
 * (engine/state/handle.h), `views` (engine/state/view.h), `failure`, `progress` and `writers`. The
 * WAL chain, the flusher, the pace of writers and the compactor belong to rooms above, and only
 * those look inside. db.c has the functions that need more than one part.
 *
 * LOCK ORDER, outermost first. A thread that holds one takes only locks further down; while it
 * holds a `leaf` it takes none.
 *
 *   capture_mutex          for all of a checkpoint or change of table snapshots; a thread that
 *                          holds another lock does not wait for it
 *   writers.row_locks      by stripe, in their order
 *   the write leadership
 *   schema.mutex           held over I/O: by changes of tables, over the commit
 *   manifest_mutex         held over I/O: by commits, over the sync of the manifest
 *   views.mutex            held over I/O: the same
 *   the WAL chain's sync_mutex   held over I/O, never taken inside views.mutex; its mutex: leaf
 *   snapshots.mutex        held over I/O: by the commit of a compaction that drops markers
 *   the compactor's        after schema.mutex; leaf
 *   progress.mutex         the flusher's jobs, and the writers that wait
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
#include "engine/state/readers.h"
#include "engine/state/stats.h"
#include "engine/state/view.h"
#include "engine/state/writers.h"
#include "sstable/file/readahead.h"

/* Objects that a user can have open, by name. */
#define DB_OPEN_KINDS(X)                                                                           \
    X(cursor)                                                                                      \
    X(snapshot)                                                                                    \
    X(bulk)                                                                                        \
    X(transaction)                                                                                 \
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
    uint32_t process;       /* the one that opened it (base/process.h) */
    petal_file *lock_file;  /* engine/db/lock.h */
    struct readers readers; /* in other openings; or this one among them */

    /* As it was opened. */
    /* No threads run, cells of the logs stay in memtables, and only memtables and cache change. */
    bool read_only;
    bool no_compaction; /* in the background */
    enum petal_durability durability;
    size_t memtable_bytes;
    uint64_t max_region_bytes; /* of petal_options */
    /* Tests change these while threads run. */
    _Atomic(uint64_t) compact_file_bytes; /* when an output is ended at a row border */
    _Atomic(uint64_t) linked_file_bytes;  /* smaller ones are merged, not linked */
    uint64_t identity, salt;

    /* Set by tests: use the general read path; answers must not differ. */
    _Atomic(bool) general_reads;
    /* Set by tests: cursors with a deadline look at the clock after so many cells, and are late at
     * the second look. 0: not set. */
    _Atomic(uint32_t) hasty_reads;

    /* Shared by all rooms. */
    struct epoch *epoch;
    struct cache *cache;
    bool map_files;                     /* of petal_options */
    struct file_pool open_files;        /* what readers of store files have open */
    struct readahead_limit readahead;   /* of what is read at once of them */
    struct readahead_limit index_ahead; /* of what is begun to be read of them at opening */
    struct memory_budget memory;        /* the limit of it */
    struct stats_shard *stats;          /* STATS_SHARDS of them */
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
    /* Held during all of a checkpoint or change of table snapshots: one at a time, so no file of a
     * snapshot is removed meanwhile. */
    struct mutex capture_mutex;
    _Atomic(uintptr_t) capturer; /* the thread that has begun a capture; 0: none */

    /* What goes on. */
    struct writers writers;
    struct pace *pace;            /* engine/write/pace.h */
    struct wal_chain *wal;        /* engine/wal/wal.h */
    struct reading *reading;      /* engine/db/refresh.h; NULL: opened for writing */
    struct flusher *flusher;      /* engine/flush/flush.h */
    struct compactor *compactor;  /* engine/compact/compactor.h; NULL until recovery is done */
    struct region_keeper *keeper; /* engine/region/keeper.h; NULL: no automatic splits */
    struct progress progress;
    struct failure failure;

    struct latencies latencies;
};

/* ---- the process ---- */

/* Is this a forked child of the process that opened the database? It may take no lock, and read
 * nothing that threads change: the threads that would finish do not exist here. */
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

/* ---- captures ---- */

/* PETAL_BUSY: this thread is within a backup, whose watch has called: it would wait for itself. */
enum petal_status db_check_not_capturing(const petal_db *db, petal_error *error);

/* Hold capture_mutex; PETAL_BUSY as above. */
enum petal_status db_begin_capture(petal_db *db, petal_error *error);
void db_end_capture(petal_db *db);

/* ---- failure ---- */

/* Keep the first cause, log it, and turn the database read-only. */
void db_fail(petal_db *db, const petal_error *cause);
/* PETAL_OK, or PETAL_READ_ONLY with the cause in *error: opened so, or a failure. */
enum petal_status db_check_writable(petal_db *db, petal_error *error);

/* Only whether it was opened read-only: for calls that read before they write, whose answer must
 * not depend on the data. */
enum petal_status db_check_opened_for_writing(const petal_db *db, petal_error *error);

/* Make the directory's names durable. No later sync brings back names that a failed one lost, so
 * after a failure the database is read-only, and no sync succeeds. */
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

/* Release what no reader uses any longer: views with their memtables and files, cache blocks.
 * REQUIRES: as view_bin_empty. */
void db_collect(petal_db *db);

/* Make `view` current and retire the previous one, which the next epoch_collect releases: the
 * caller calls that without a lock, unless it leads a write group. REQUIRES: views.mutex held. */
void db_publish_view(petal_db *db, struct view *view);

/* In the current view the family's store of the row (empty: the first), and the first one that
 * starts after `before` does (NULL: the first of all); NULL: there is none. Handles stay, but what
 * rows they have may change at any time. */
struct store *db_store_at(const petal_family *family, petal_slice row);
struct store *db_next_store(const petal_family *family, const struct store *before);

/* The size of a store's files at which its region is split automatically; UINT64_MAX: never. */
static inline uint64_t
db_max_region_bytes(const petal_table *table)
{
    const struct table_descriptor *descriptor = table_descriptor(table);

    if (descriptor->keeps_regions)
        return UINT64_MAX;
    return descriptor->max_region_bytes > 0 ? (uint64_t)descriptor->max_region_bytes
                                            : table->db->max_region_bytes;
}

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
