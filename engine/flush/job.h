/*
 * job.h -- a flush job: memtables that were frozen together, and their way into store files, from
 * the first cell to the end of the logs that held them. What goes on when is told in
 * engine/flush/flush.h.
 *
 * Threads: a job belongs to the leader who makes it, then to who runs it; what says otherwise is
 * marked.
 */
#ifndef PETAL_ENGINE_FLUSH_JOB_H
#define PETAL_ENGINE_FLUSH_JOB_H

#include "engine/state/db.h"
#include "engine/store/rewrite.h"

/* One frozen memtable on its way. */
struct flush_part {
    struct store *store;             /* that was written to; others may share the memtable by now */
    struct store_memtable *memtable; /* referenced */
    struct memtable_facts facts;
    int64_t stamped; /* family_newest of the store's own timestamps, when it was frozen */
    bool written;
    struct rewrite_result result; /* one file, or none if all cells were dropped */
};

struct capture;

struct flush_job {
    struct flush_job *next;
    struct capture *capture; /* taken right after the commit (engine/flush/capture.h); or NULL */
    bool rides;              /* a capture did when the job was made */
    uint64_t ticket;         /* grows from job to job */
    /* Of the latest try that ended, guarded by progress.mutex. */
    enum petal_status status;
    uint64_t tried; /* its number, of all tries at jobs; 0: none ended */
    petal_error error;
    /* No cell before this sequence is in a memtable but of this job and those before it. */
    uint64_t first_left;
    uint64_t bytes; /* of all parts, as counted in db->writers.active_bytes */
    bool committed; /* the manifest names what was written */
    size_t part_count;
    struct flush_part parts[];
};

/* An empty job with room for so many parts; NULL: no memory. */
struct flush_job *flush_job_new(petal_db *db, size_t part_count);

/* Let go of what the job holds: memory is given back and files may go, so the caller holds no lock
 * that writers take. */
void flush_job_release(petal_db *db, struct flush_job *job);

/* Remove what was written of it: it begins anew when it is run again. REQUIRES: it failed before
 * its commit. */
void flush_job_remove_files(petal_db *db, struct flush_job *job);

/* Release and free. Files that were written and not named by the manifest go, unless a failure left
 * unknown what it names. NULL: no-op. */
void flush_job_free(petal_db *db, struct flush_job *job);

/* Write, commit, install. Frees nothing of the job. Called by the flush thread, and by recovery. */
enum petal_status flush_job_run(petal_db *db, struct flush_job *job, petal_error *error);

#endif
