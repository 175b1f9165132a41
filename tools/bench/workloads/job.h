/*
 * job.h -- how the commands that run workloads on stores do it: repeat by repeat, one store
 * after the other, each in a process of its own (tools/bench/harness/child.h),
 * so that memory, processor time, bytes moved and what an engine leaves behind are its own; then
 * the whole is printed and written down.
 *
 * The store that begins changes from repeat to repeat, and ratios are taken within repeats: what
 * the machine does meanwhile meets all alike.
 */
#ifndef PETAL_TOOLS_BENCH_WORKLOADS_JOB_H
#define PETAL_TOOLS_BENCH_WORKLOADS_JOB_H

#include "tools/bench/results/file.h"
#include "tools/bench/results/print.h"
#include "tools/bench/stores/settings.h"

#define BENCH_JOB_PATH_BYTES 512
#define BENCH_MOST_OUTCOMES  256

/* What a job came to: in memory that is shared with the parent. */
struct bench_tally {
    size_t count;
    struct bench_outcome outcomes[BENCH_MOST_OUTCOMES];
    struct bench_outcome whole; /* from opening to closing, both included */
};

/* One store's part of one repeat; in each stage's process a copy. */
struct bench_job {
    const struct bench_plan *plan;
    const struct bench_store *store;
    unsigned stage; /* of the plan's */
    struct bench_config config;
    struct bench_tally *tally;
    char directory[BENCH_JOB_PATH_BYTES];
    struct bench_meter meter; /* of the operation at hand, */
    struct bench_meter whole; /* and of all in this process */
};

struct bench_plan {
    struct bench_file file;
    const char *json;     /* its path; NULL: none */
    const void *settings; /* the command's own */
    const struct bench_store *const *stores;
    size_t store_count;
    struct bench_config config;
    uint64_t repeats;
    bool live;     /* each outcome is printed when it is there */
    bool markdown; /* the table of all is for documents */
    /* Each repeat waits with it for an idle machine, and what others took is printed; NULL: not so.
     */
    struct bench_patience *patience;
    /* Print what goes before the table and after it; NULL: nothing. */
    void (*head)(const void *settings), (*foot)(const void *settings);
    /* Sets `directory`, which is kept; NULL: a new one, removed at the end. */
    void (*place)(struct bench_job *job);
    void (*work)(struct bench_job *job); /* in the child */
    /* Children of a job, one after the other on what is in its directory; 0: one. */
    unsigned stages;
};

/* By the settings, each outcome printed as it comes; the work is still to be set. `own`: the
 * command's own settings. */
struct bench_plan bench_plan_of(const struct bench_settings *settings, struct bench_file file,
                                const void *own);

/* Returns the exit status: 1 when an answer was wrong, 3 when a store's process failed. */
int bench_plan_run(const struct bench_plan *plan);

/* In the child, around an operation: a new outcome; then what it used is added to it, and it is
 * printed. */
struct bench_outcome *bench_job_begin(struct bench_job *job, const char *operation,
                                      unsigned threads);
void bench_job_end(struct bench_job *job, struct bench_outcome *outcome, uint64_t live_bytes);

/* Set the answers and bytes that threads counted. */
void bench_outcome_set_answers(struct bench_outcome *outcome, const struct bench_driven *driven);

/* Before the end of an operation: one kind of its calls as an outcome, "OPERATION: PART". */
void bench_job_add_part(struct bench_job *job, const struct bench_outcome *outcome,
                        const char *part, const struct bench_histogram *latencies);

/* In the child, when the store is closed: the whole. */
void bench_job_finish(struct bench_job *job, uint64_t live_bytes);

#endif
