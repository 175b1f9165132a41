/*
 * flush.h -- memtables become store files.
 *
 * FREEZE (leader): each chosen memtable gets an empty one in front of it, in one new view, and the
 * log is rotated, so that all cells of the frozen memtables are in closed logs. The frozen ones are
 * one flush job. When memory is full, the largest are chosen, as few as give half of it back:
 * thousands of tables with one cell each do not become thousands of files. The others keep their
 * logs until there are too many (wal_overdue_sequence).
 *
 * FLUSH (flush thread): for each memtable, the cells that some reader can still need are written to
 * a store file (engine/store/rewrite.h); then the closed logs are synced, so that no power cut
 * leaves a part of a batch in files and loses the rest with the log; then one manifest edit names
 * all files of the job and the sequences up to which their stores are flushed; then a view replaces
 * the memtables by the files; then logs that are no longer needed are removed. Jobs run one at a
 * time in the order of their sequences.
 *
 * A job that fails before the manifest keeps its memtables and is tried again: no manifest names
 * the files it had written. Only a log, a manifest or names that could not be synced turn the
 * database read-only. A failed manifest commit leaves both old and new files in place.
 */
#ifndef PETAL_ENGINE_FLUSH_FLUSH_H
#define PETAL_ENGINE_FLUSH_FLUSH_H

#include "engine/flush/capture.h"
#include "engine/flush/job.h"

/* The queue of jobs, and the thread that runs them. Guarded by progress.mutex, but for the thread
 * itself. */
struct flusher {
    pthread_cond_t wanted;             /* the thread: there is a job, or an end of waiting */
    struct flush_job *oldest, *newest; /* waiting or running; by sequence */
    uint32_t count;
    uint64_t ticket; /* of the newest job */
    uint64_t tries;  /* begun, at all jobs */
    bool at_once;    /* the next try is not to wait */
    bool stopping;
    bool started;
    pthread_t thread;
};

/* Make the database's, without a thread. False: no memory, or no room for its condition. */
bool flusher_init(petal_db *db);
/* Its jobs go, done or not. There may be none. REQUIRES: no thread. */
void flusher_fini(petal_db *db);

/* Start the thread; not 0: the error of the operating system. */
int flusher_start(petal_db *db);
/* End it, when it runs: the jobs that wait are done before, but for one that failed. */
void flusher_stop(petal_db *db);

/* Freeze the memtables of `table` (NULL: of all tables), of its region `region` (0: of all), and
 * those whose cells have kept logs for too long (wal_overdue_sequence). *job is NULL if all were
 * empty. LEADER. */
enum petal_status flush_freeze(petal_db *db, const petal_table *table, uint32_t region,
                               struct flush_job **job, petal_error *error);

/* Freeze the largest memtables of all tables, as few as give back half of what is too much, and the
 * overdue ones. REQUIRES: flush_is_due. LEADER. */
enum petal_status flush_freeze_largest(petal_db *db, struct flush_job **job, petal_error *error);

/* The same, but not now (*job is NULL) while another thread holds what it takes, perhaps over a
 * sync. LEADER. */
enum petal_status flush_try_to_freeze_largest(petal_db *db, struct flush_job **job,
                                              petal_error *error);

/* Are the active memtables full, by the bytes of their cells, or by the memory they take? Their
 * overhead may be more than is reckoned with: so many families have one each. LEADER. */
static inline bool
flush_bytes_are_due(const petal_db *db)
{
    return db->writers.active_bytes >= db->memtable_bytes;
}

static inline bool
flush_memory_is_due(const petal_db *db)
{
    return db->writers.active_memory > memory_budget_memtable_limit(&db->memory) / 2;
}

static inline bool
flush_is_due(const petal_db *db)
{
    return flush_bytes_are_due(db) || flush_memory_is_due(db);
}

/* The first sequence that is in an active memtable, or that of the next cell. LEADER. */
uint64_t flush_first_in_memtables(const petal_db *db);

/* Hand a job to the flush thread, which may not have been started yet. Jobs come in the order of
 * their sequences. */
void flush_enqueue(petal_db *db, struct flush_job *job);

/* Freeze, as flush_freeze does, and wait until the files are there. What failed before is tried
 * again at once, and only a try that was begun after the call counts. */
enum petal_status flush_and_wait(petal_db *db, const petal_table *table, uint32_t region,
                                 petal_error *error);

/* The same of a region's memtables, and of all that were frozen before. LEADER: writers wait. */
enum petal_status flush_region_leading(petal_db *db, const petal_table *table, uint32_t region,
                                       petal_error *error);

/*
 * Flush and capture the database (`table` NULL) or the table, and wait for it. `skip_flush`: what
 * is in store files now, nothing of what is in memory. PETAL_NOT_FOUND: the table was dropped.
 * REQUIRES: capture_mutex held. The caller unrefs *capture.
 */
enum petal_status flush_capture(petal_db *db, const petal_table *table, bool skip_flush,
                                struct capture **capture, petal_error *error);

/*
 * Wait for the newest job on which a capture rides, if there is one; *waited tells. What is put
 * among the store files before such a job's commit would be in the capture, and what was written
 * before that, and is in memory, not. A try at a job that fails ends the wait with its error. Under
 * the leadership only to be asked with `wait` false.
 */
enum petal_status flush_wait_for_captures(petal_db *db, bool wait, bool *waited,
                                          petal_error *error);

/* Wait until no job waits, without freezing anything; a try that was begun after the call and fails
 * ends it. */
enum petal_status flush_wait_idle(petal_db *db, petal_error *error);

/* How many jobs wait or run. */
uint32_t flush_waits(petal_db *db);

#endif
