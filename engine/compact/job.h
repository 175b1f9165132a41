/*
 * job.h -- one compaction: store files of a store become one run that takes their place.
 *
 * The inputs are whole runs, neighbours in the order of sequences. A file whose rows overlap no
 * other input, and whose facts prove that a rewrite would drop nothing, is linked: it becomes a
 * file of the new run as it is (engine/compact/plan.h). The others are rewritten, in parts that
 * share no row: the job merges the files of a part and writes what some reader at or above the
 * oldest read point can need. Whenever a file is full, at a row border, one manifest edit adds it
 * and cuts the inputs: of those that have later rows the store keeps a part (engine/state/view.h),
 * the others are removed. Then a view does the same. So a job that fails or is given up keeps the
 * files that it has written, and the next one of the same runs begins behind them. Inputs whose
 * rows overlap all go at the end alone: so the disk needs room for one part at a time. One that
 * there is none for is not begun, and the job fails as on a full disk (engine/compact/room.h).
 * Files that a flush adds meanwhile stay as they are: they are newer than all inputs. The inputs go
 * when their last reader lets go.
 *
 * Between two commits the run has outputs beside files that were there before, and the other runs
 * have lost some rows: of each row all cells lie in the inputs or all in the outputs, so no answer
 * changes. Sequences of the run and of those others interleave then, but not those of any row.
 *
 * ALL FILES of the store: HBase's major compaction, which drops markers whose work is done. Nothing
 * older than the inputs is outside; what is newer lies in memtables, and in files that were flushed
 * from them meanwhile. The sequences of what stays may be made one (LEVELLED SEQUENCES in job.c).
 * SOME FILES: a minor one. Its output has sequences within those of the inputs, so it stands where
 * they stood (engine/compact/runs.h); what lies outside, older or newer,
 * is of no account for what goes (A REWRITE OF A PART in engine/rules/visibility.h).
 *
 * A file that has rows of other regions, too, is read as far as this one's go, and stays theirs. A
 * region that is split meanwhile has what the job wrote, and the new one what was there before.
 *
 * Readers, writers, flushes and jobs on other runs go on during a job. The view changes under
 * manifest_mutex and views.mutex only, and each change starts from the current one, so jobs that
 * end at the same time find each other's result. A family that is dropped meanwhile ends the job;
 * one that is altered does not: the job keeps the attributes that it began with.
 *
 * A job holds references to its inputs, not to a view: other files and memtables can be released.
 *
 * A job that fails before the manifest removes what it wrote and keeps its inputs: a full disk or a
 * damaged input leaves the database as it was. A failed manifest commit leaves both old and new
 * files where they are, as with a flush.
 *
 * Threads: any number of jobs at once, on disjoint inputs; engine/compact/compactor.h sees to it.
 */
#ifndef PETAL_ENGINE_COMPACT_JOB_H
#define PETAL_ENGINE_COMPACT_JOB_H

#include "engine/compact/policy.h"
#include "engine/state/db.h"
#include "engine/store/rewrite.h"

/* REQUIRES: until the job has ended nobody else replaces its inputs, and with all_files no file of
 * the store. */
struct compact_job {
    struct store *store;
    struct store_file *
        *inputs; /* of the store, whole neighbouring runs; at least one; referenced */
    size_t input_count;
    petal_slice end; /* of the store's region, when the inputs were taken; empty: open */
    bool shared;     /* some input has rows of other regions */
    uint64_t run;    /* one of theirs: that which they become */
    /* They were all files of the store: others that there are now were flushed since. */
    bool all_files;
    enum policy_reason reason;
    int64_t now_ms;               /* when it was found; not looked at where it was asked for */
    const _Atomic(bool) *give_up; /* end with PETAL_BUSY when it is set; NULL: never */
    rewrite_meanwhile *meanwhile; /* NULL: nothing */
    void *meanwhile_argument;
};

/* Merge the inputs. Those that a commit has replaced are released, and are inputs no more.
 * PETAL_NOT_FOUND: the family was dropped meanwhile, alone or with its table; PETAL_BUSY: the
 * region was merged into another, or one into it. */
enum petal_status compact_run(struct compact_job *job, petal_error *error);

/* Take the inputs away unread: all they hold is past a time to live. The same. */
enum petal_status compact_drop_expired(const struct compact_job *job, petal_error *error);

#endif
