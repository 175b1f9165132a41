/*
 * flush.h -- memtables become store files.
 *
 * FREEZE (leader): every memtable that holds cells gets an empty one in front, in one new view, and the log is
 * rotated, so that the frozen memtables' cells lie in synced, closed logs. The frozen ones are one flush job.
 * FLUSH (flush thread): what some reader can still need of each is written to a store file (engine/rewrite.h); then one manifest edit names all files of the job and
 * the sequences up to which their stores are flushed; then a view replaces the memtables by the files; then logs that are not
 * needed any more go. Jobs run one at a time in the order of their sequences.
 *
 * A job that fails before the manifest keeps its memtables; a full disk is tried again, other failures turn the database
 * read-only. A failed manifest commit leaves both old and new files where they are.
 */
#ifndef PETAL_ENGINE_FLUSH_H
#define PETAL_ENGINE_FLUSH_H

#include "engine/db.h"
#include "engine/rewrite.h"

/* One frozen memtable on its way. */
struct flush_part {
    petal_family *family;
    struct store_memtable *memtable; /* referenced */
    struct memtable_facts facts;
    bool written;
    struct rewrite_result result; /* one file, or none if all cells were dropped */
};

struct flush_job {
    struct flush_job *next;
    uint64_t ticket; /* grows from job to job */
    /* Of the latest try that ended, guarded by flush_mutex. */
    enum petal_status status;
    uint64_t tried; /* its number, of all tries at jobs; 0: none ended */
    petal_error error;
    bool committed; /* the manifest names what was written */
    size_t part_count;
    struct flush_part parts[];
};

/* Freeze the memtables of `table` (NULL: of all tables). *job is NULL if all were empty. LEADER. */
enum petal_status flush_freeze(petal_db *db, const petal_table *table, struct flush_job **job,
                               petal_error *error);

/* Write, commit, install. Frees nothing of the job. Called by the flush thread, and by recovery. */
enum petal_status flush_run(petal_db *db, struct flush_job *job, petal_error *error);

/* Files that were written and not named by the manifest go, unless a failure left unknown what it names. NULL: no-op. */
void flush_job_free(petal_db *db, struct flush_job *job);

/* Before a group of writes: freeze when the memtables are full, wait while too many wait. LEADER. */
enum petal_status flush_make_room(petal_db *db, petal_error *error);

/* Freeze and wait until the files are there. What failed before is tried again at once, and only a try that was begun after the
 * call counts. */
enum petal_status flush_and_wait(petal_db *db, const petal_table *table, petal_error *error);

void *flush_thread(void *db);

#endif
