/*
 * db.h -- the inside of a database: struct petal_db, and which lock guards what.
 *
 * WRITE LEADERSHIP.  Writers queue (engine/write/commit.c); the first in the queue leads and owns, until it hands on, everything
 * marked [leader]: the log's writing side, active memtables, sequence and timestamp counters. Work that
 * must not run beside writes (switching memtables, dropping a table) takes the leadership as well.
 *
 * LOCK ORDER, outermost first:
 *   row locks > leadership > ddl_mutex > manifest_mutex > view_mutex > the snapshots'; capture_mutex > leadership, and nobody
 *   waits for it who holds another one; leadership > the WAL chain's, of which one comes inside view_mutex, too
 *   (engine/wal/wal.h); ddl_mutex > the compactor's; flush_mutex > failure_mutex; that, the queue's, the snapshots' and the compactor's are leaves, as are those of
 *   epoch, cache and open_files.
 * Readers take none of them but the last three, and the snapshots' for a new snapshot or a multi-get: a compaction that drops markers
 * holds it while it commits.
 *
 * OVER I/O are held: ddl_mutex, manifest_mutex and view_mutex by commits, over the sync of the manifest; the WAL chain's
 * sync_mutex. So the leader of a write group only tries ddl_mutex and view_mutex (engine/flush/flush.h), unless memtables get far too large.
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
#include "engine/state/failure.h"
#include "engine/state/handle.h"
#include "engine/state/lead.h"
#include "engine/state/progress.h"
#include "engine/state/row_lock.h"
#include "engine/state/stats.h"
#include "engine/state/view.h"

/* What users of the library have open of a database, by what it is called. */
#define DB_OPEN_KINDS(X)                                                                           \
    X(cursor)                                                                                      \
    X(snapshot)                                                                                    \
    X(receipt)

/* Registered snapshots, in the order of their sequences (engine/state/read_point.h). */
struct read_point_list {
    struct mutex mutex;
    petal_snapshot *oldest, *newest;
};

struct petal_db {
    struct env env;
    struct directory directory;
    /* Opened so: there are no threads, what the logs held stays in the memtables, nothing but them and the cache ever changes. */
    bool read_only;
    size_t memtable_bytes;
    enum petal_durability durability;
    petal_file *lock_file; /* engine/db/lock.h */
    struct cache *cache;
    struct file_pool open_files; /* what readers of store files have open */
    uint64_t identity;
    uint64_t salt;
    _Atomic(uint64_t) next_file_number; /* of store files and logs; numbers are never used twice */

    /* Readers. */
    uint32_t process; /* the one that opened it (base/process.h) */
    struct epoch *epoch;
    _Atomic(struct view *) view;
    struct view_bin view_bin;             /* those before it that nobody sees */
    _Atomic(uint64_t) published_sequence; /* readers see cells up to it */
    _Atomic(int64_t) published_timestamp; /* the greatest assigned timestamp among them */
    struct stats_shard *stats;            /* STATS_SHARDS of them */

    /* Writers. */
    struct write_queue queue;
    struct row_locks row_locks;
    uint64_t last_sequence; /* [leader] */
    int64_t last_timestamp; /* [leader] greatest assigned */
    petal_family *written;  /* [leader] those whose active memtables hold cells */
    size_t active_bytes;    /* [leader] of all active memtables */
    struct wal_chain *wal;  /* engine/wal/wal.h */

    struct mutex ddl_mutex; /* one change of the schema at a time; guards what follows */
    petal_table *tables;
    petal_table *dropped_tables; /* which handles of the caller's may still name */
    /* Its tables: those that live by hashes of their names, and all by their ids; values are
     * pointers. Guarded by ddl_mutex. */
    struct number_map tables_by_name, tables_by_id;
    petal_kv *key_values;
    size_t slot_count; /* of stores ever, in this opening */

    struct mutex manifest_mutex; /* commits, and reading the manifest's state */
    struct manifest *manifest;
    struct mutex view_mutex; /* replacing `view` */
    struct read_point_list snapshots;

    /* One checkpoint or change of table snapshots at a time, for all of its time: no other makes a file of a snapshot go. */
    struct mutex capture_mutex;

    struct {
#define DB_OPEN_COUNT(kind) _Atomic(uint32_t) kind;
        DB_OPEN_KINDS(DB_OPEN_COUNT)
#undef DB_OPEN_COUNT
    } open; /* that petal_close would leave behind */

    /* Compactions. */
    struct compactor *compactor; /* NULL until petal_open has recovered */
    bool no_compaction;          /* in the background */
    uint64_t compact_file_bytes; /* when an output is ended at a row border */
    struct background_state background;
    _Atomic(struct damage *) damage; /* the newest; added to under failure_mutex */

    struct rewrite_progress compacting; /* of all compactions that run */

    /* The limit of memory, and what slows and stops writers (engine/write/pace.h). */
    struct memory_budget memory;
    size_t active_memory;           /* [leader] what is charged for active memtables */
    _Atomic(uint64_t) flush_rate;   /* bytes a second, of late; 0: none yet */
    _Atomic(uint32_t) pace_pressed; /* stores whose writers are slowed, and writers in line */
    _Atomic(uint64_t) pace_due_us;  /* as a family's, for the memory of memtables */
    /* Guarded by flush_mutex. */
    struct pace_place *pace_first, *pace_last; /* writers that wait for memory, in line */
    uint64_t pace_admitted; /* bytes of writes that may go on, and were counted when they asked */
    size_t pace_waiting;    /* writers that wait at a cap */
    bool pace_warned;       /* that memtables are kept by cursors */
    bool closing;           /* no writer waits any more */

    /* Flush thread. */
    struct mutex flush_mutex;
    pthread_cond_t flush_wanted, flush_done;
    struct flush_job *flush_oldest, *flush_newest; /* waiting or running; by sequence */
    uint32_t flush_count;
    uint64_t flush_ticket; /* of the newest job */
    uint64_t flush_tries;  /* begun, at all jobs */
    bool flush_at_once;    /* the next try is not to wait */
    bool stopping;
    bool flush_thread_started;
    pthread_t flush_thread;

    /* Once set, writes are refused with this cause until the database is opened again. */
    struct mutex failure_mutex;
    _Atomic(bool) failed;
    petal_error failure;
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
