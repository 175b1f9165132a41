/*
 * job.h -- what the commands that run workloads have in common: one store after the other does its work in a process of its own
 * (tools/bench/harness/child.h); then the whole is written down.
 */
#ifndef PETAL_TOOLS_BENCH_WORKLOADS_JOB_H
#define PETAL_TOOLS_BENCH_WORKLOADS_JOB_H

#include "tools/bench/results/outcome.h"
#include "tools/bench/stores/settings.h"

#define BENCH_JOB_PATH_BYTES 512

/* One store's part. */
struct bench_job {
    const void *settings; /* the command's own */
    const struct bench_store *store;
    struct bench_tally *tally; /* shared with the parent */
    char directory[BENCH_JOB_PATH_BYTES];
};

struct bench_job_list {
    const void *settings;
    const struct bench_settings *common;
    void (*place)(
        struct bench_job
            *job); /* sets `directory`, which is kept; NULL: a new one, removed at the end */
    void (*work)(void *job); /* in the child */
};

/* Returns the exit status: 1 when an answer was wrong. `options` are the settings that --json writes; `name` and `argv` the command. */
int bench_jobs_run(const struct bench_job_list *list, const struct bench_option *options,
                   size_t option_count, const char *name, int argc, char **argv);

/* In the child, around a workload: a new outcome; then what it used is added to it, and it is printed. */
struct bench_outcome *bench_job_begin(struct bench_job *job, const char *workload, unsigned threads,
                                      struct bench_meter *meter);
void bench_job_end(struct bench_job *job, struct bench_outcome *outcome,
                   const struct bench_meter *meter, uint64_t live_bytes);

#endif
