/*
 * compactor.h -- the threads that compact in the background, and what they share with
 * petal_compact: which runs are busy, and which jobs wait.
 *
 * Two threads, as HBase's two pools: one takes any job, the other small ones: at most
 * POLICY_SMALL_FLUSHES memtables' worth, or the POLICY_PART_BESIDE-th part of the largest running
 * job. Runs that flushes add interrupt its job: the thread does a smaller one first, which may be
 * interrupted itself (policy_bytes_within). So these runs are merged while large jobs run, however
 * long they take. An all-files job that is due, and too large for the second thread, goes before
 * small jobs of its store while the first thread is idle. Both look for work
 * (engine/compact/policy.h) when a flush or a job has ended, and every COMPACTOR_TICK_SECONDS for
 * work that only time makes due.
 *
 * A job that finds the disk full, or no room on it to begin (engine/compact/room.h), no memory or
 * no descriptor is retried after a second, then after twice as long each time up to ten minutes,
 * and so is every job with as many bytes: otherwise it would fill the disk again and again. Smaller
 * ones continue. petal_wait_idle, room where there was none, and the success of a job as large end
 * the wait; a successful flush ends it for small jobs. A damaged input is left alone from then on
 * (engine/state/damage.h). Any other failure of a background job turns the database read-only with
 * that cause, since it would recur for ever. Inputs are kept in any case (engine/compact/job.h).
 *
 * Threads: all functions from any thread, holding no lock of the database.
 */
#ifndef PETAL_ENGINE_COMPACT_COMPACTOR_H
#define PETAL_ENGINE_COMPACT_COMPACTOR_H

#include "engine/state/db.h"

#define COMPACTOR_THREADS      2
#define COMPACTOR_TICK_SECONDS 10

/* Start the threads, unless the options say no_compaction; petal_compact works without them. */
enum petal_status compactor_start(petal_db *db, petal_error *error);

/* End them: jobs that run are given up and leave nothing behind. Before the flush thread ends. */
void compactor_stop(petal_db *db);
void compactor_free(petal_db *db);

/* A flush has succeeded: look for work, also for small jobs that were put off. */
void compactor_wake(petal_db *db);

/* Compact all files of each store of the family into one run, on the calling thread, after its
 * running jobs. See petal_compact. */
enum petal_status compactor_compact(petal_family *family, petal_error *error);

/* The same of the store of the region that has the row (empty: of the first) only. PETAL_BUSY:
 * *give_up was set meanwhile (NULL: it never is). */
enum petal_status compactor_compact_at(petal_family *family, petal_slice row,
                                       const _Atomic(bool) *give_up, petal_error *error);

/* The same of all with `count` runs of each only, from the one at `first` on, oldest first, as far
 * as they are there, as the background does it; SIZE_MAX: all files, as they are asked for. For
 * tests of compactions of some files. */
enum petal_status compactor_compact_runs(petal_family *family, size_t first, size_t count,
                                         petal_error *error);

/* What had changed, and how many jobs in the background had failed, when one looked. */
struct compactor_moment {
    uint64_t changes, failures;
};

/* Look for work at once, also for what was put off; returns the moment. */
struct compactor_moment compactor_hurry(petal_db *db);

/* Nothing runs, and nothing is due, or nobody would do it: both in one moment, since what is due
 * may begin to run, and a job that ends may leave something to do. The changes of *moment are those
 * before. */
bool compactor_is_idle(petal_db *db, struct compactor_moment *moment);

/* Wait for a change after *moment, or a while. A failing job reports its error before it gives up
 * its claim, so that this is returned rather than that the database is read-only. */
enum petal_status compactor_wait(petal_db *db, const struct compactor_moment *moment,
                                 petal_error *error);

enum petal_compaction_state compactor_state(petal_db *db, const petal_table *table);
uint64_t compactor_running(petal_db *db);

#endif
