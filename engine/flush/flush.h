/*
 * flush.h -- memtables become store files.
 *
 * FREEZE (leader): the memtables that are chosen get an empty one in front, in one new view, and
 * the log is rotated, so that the frozen memtables' cells lie in closed logs. The frozen ones are
 * one flush job. When memory is full, the largest are chosen, as few as give half of it back:
 * thousands of tables that hold a cell each are not thousands of files. Those that stay keep their
 * logs until these are too many (wal_overdue_sequence). FLUSH (flush thread): what some reader can
 * still need of each is written to a store file (engine/store/rewrite.h); then the closed logs are
 * synced, so that no power cut leaves a part of a batch in files and loses the rest with the log;
 * then one manifest edit names all files of the job and the sequences up to which their stores are
 * flushed; then a view replaces the memtables by the files; then logs that are not needed any more
 * go. Jobs run one at a time in the order of their sequences.
 *
 * A job that fails before the manifest keeps its memtables; what passes (error_passes: want of
 * space, memory, descriptors) is tried again, other failures turn the database read-only. A failed
 * manifest commit leaves both old and new files where they are.
 */
#ifndef PETAL_ENGINE_FLUSH_FLUSH_H
#define PETAL_ENGINE_FLUSH_FLUSH_H

#include "engine/state/db.h"
#include "engine/store/rewrite.h"

/* One frozen memtable on its way. */
struct flush_part {
    petal_family *family;
    struct store_memtable *memtable; /* referenced */
    struct memtable_facts facts;
    bool written;
    struct rewrite_result result; /* one file, or none if all cells were dropped */
};

struct capture;

struct flush_job {
    struct flush_job *next;
    struct capture
        *capture;    /* to be taken right after the commit (engine/flush/capture.h); NULL: none */
    uint64_t ticket; /* grows from job to job */
    /* Of the latest try that ended, guarded by flush_mutex. */
    enum petal_status status;
    uint64_t tried; /* its number, of all tries at jobs; 0: none ended */
    petal_error error;
    uint64_t
        first_left; /* no cell before this sequence is in a memtable but of this job and those before it */
    uint64_t bytes; /* of all parts, as counted in db->active_bytes */
    bool committed; /* the manifest names what was written */
    size_t part_count;
    struct flush_part parts[];
};

/* Freeze the memtables of `table` (NULL: of all tables), and those whose cells have kept logs for
 * too long (wal_overdue_sequence). *job is NULL if all were empty. LEADER. */
enum petal_status flush_freeze(petal_db *db, const petal_table *table, struct flush_job **job,
                               petal_error *error);

/* Freeze the largest memtables of all tables, as few as give back half of what is too much, and the
 * overdue ones. REQUIRES: flush_is_due. LEADER. */
enum petal_status flush_freeze_largest(petal_db *db, struct flush_job **job, petal_error *error);

/* The same, but not now (*job is NULL) while another thread holds what it takes, perhaps over a
 * sync. LEADER. */
enum petal_status flush_try_to_freeze_largest(petal_db *db, struct flush_job **job,
                                              petal_error *error);

/* Write, commit, install. Frees nothing of the job. Called by the flush thread, and by recovery. */
enum petal_status flush_run(petal_db *db, struct flush_job *job, petal_error *error);

/* An empty job with room for so many parts; NULL: no memory. */
struct flush_job *flush_job_new(petal_db *db, size_t part_count);

/* Let go of what the job holds: memory is given back and files may go, so the caller holds no lock that writers take. */
void flush_job_release(petal_db *db, struct flush_job *job);

/* Remove what was written of it: it begins anew when it is run again. REQUIRES: it failed before
 * its commit. */
void flush_job_remove_files(petal_db *db, struct flush_job *job);

/* Release and free. Files that were written and not named by the manifest go, unless a failure left unknown what it names. NULL: no-op. */
void flush_job_free(petal_db *db, struct flush_job *job);

/* Are the active memtables full, by the bytes of their cells, or by the memory they take? Their
 * overhead may be more than is reckoned with: so many families have one each. LEADER. */
static inline bool
flush_bytes_are_due(const petal_db *db)
{
    return db->active_bytes >= db->memtable_bytes;
}

static inline bool
flush_memory_is_due(const petal_db *db)
{
    return db->active_memory > memory_budget_memtable_limit(&db->memory) / 2;
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

/* Freeze and wait until the files are there. What failed before is tried again at once, and only a try that was begun after the
 * call counts. */
enum petal_status flush_and_wait(petal_db *db, const petal_table *table, petal_error *error);

/* The same, and when it returns PETAL_OK the capture was taken as of the freezing, also when all memtables were empty. */
enum petal_status flush_and_capture(petal_db *db, const petal_table *table, struct capture *capture,
                                    petal_error *error);
/* Wait until no job waits, without freezing anything; a try that was begun after the call and fails ends it. */
enum petal_status flush_wait_idle(petal_db *db, petal_error *error);

/* Whether a job waits or runs. */
bool flush_waits(petal_db *db);

void *flush_thread(void *db);

#endif
