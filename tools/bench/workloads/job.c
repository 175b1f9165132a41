/* job.c -- see tools/bench/workloads/job.h. */
#include "tools/bench/workloads/job.h"

#include "tools/bench/harness/child.h"
#include "tools/bench/harness/json.h"
#include "tools/bench/harness/process.h"

#include <stdlib.h>

/* Not 0: a store's process failed. */
static int
run_each(const struct bench_job_list *list, struct bench_report *report)
{
    const struct bench_settings *common = list->common;
    int failed = 0;

    bench_outcome_heading();
    for (size_t i = 0; i < common->chosen_count && failed == 0; i++) {
        struct bench_job *job = bench_alloc(sizeof *job);

        job->settings = list->settings;
        job->store = common->chosen[i];
        job->tally = bench_report_add(report, job->store, &common->config);
        printf("%s: %s\n", job->tally->name, job->tally->describe);
        if (list->place != NULL)
            list->place(job);
        else
            bench_make_directory(job->directory, sizeof job->directory);
        failed = bench_child_run(list->work, job);
        if (list->place == NULL)
            bench_remove_directory(job->directory);
        free(job);
    }
    return failed;
}

int
bench_jobs_run(const struct bench_job_list *list, const struct bench_option *options,
               size_t option_count, const char *name, int argc, char **argv)
{
    struct bench_report *report = bench_child_share(sizeof *report);
    int failed = run_each(list, report);

    if (failed != 0)
        return failed;
    if (list->common->json != NULL) {
        json_t *head = bench_json_head("workloads", name, argc, argv);

        bench_report_write(report, head, list->common->json, options, option_count);
        json_decref(head);
    }
    return bench_report_wrong(report) == 0 ? 0 : 1;
}

struct bench_outcome *
bench_job_begin(struct bench_job *job, const char *workload, unsigned threads,
                struct bench_meter *meter)
{
    struct bench_outcome *outcome = bench_tally_add(job->tally, workload, threads);

    bench_meter_begin(meter);
    return outcome;
}

void
bench_job_end(struct bench_job *job, struct bench_outcome *outcome, const struct bench_meter *meter,
              uint64_t live_bytes)
{
    bench_meter_end(meter, &outcome->usage);
    outcome->disk_bytes = bench_disk_bytes(job->directory);
    outcome->live_bytes = live_bytes;
    bench_tally_add_usage(job->tally, outcome);
    bench_outcome_print(outcome);
}
