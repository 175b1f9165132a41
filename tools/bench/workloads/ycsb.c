/*
 * ycsb.c -- `kv-bench ycsb`: YCSB's core workloads on each store, loaded once. Without a list they run in the order that
 * YCSB asks for, those that insert last.
 */
#include "tools/bench/harness/commands.h"
#include "tools/bench/harness/process.h"
#include "tools/bench/workloads/job.h"
#include "tools/bench/workloads/ycsb_mix.h"

#include <stdlib.h>

#define USUAL_MIXES "A,B,C,F,D,E"

struct settings {
    struct bench_settings common;
    const char *list;
    uint64_t records, operations;
    const struct bench_ycsb_mix *mixes[BENCH_MOST_WORKLOADS];
    size_t mix_count;
};

static void
run_mix(struct bench_job *job, struct bench_ycsb *ycsb, const struct bench_ycsb_mix *mix,
        uint64_t operations, uint64_t stream)
{
    struct bench_meter meter;
    struct bench_outcome *outcome = bench_job_begin(job, mix->name, ycsb->threads, &meter);

    bench_ycsb_run(ycsb, mix, operations, stream, outcome);
    bench_job_end(job, outcome, &meter, atomic_load(&ycsb->live_bytes));
}

static void
run_store(void *argument)
{
    struct bench_job *job = argument;
    const struct settings *settings = job->settings;
    struct bench_ycsb *ycsb = bench_alloc(sizeof *ycsb);
    struct bench_pairs values;
    struct bench_meter meter;

    bench_pairs_init(&values, 0, BENCH_YCSB_FIELD_BYTES, settings->common.ratio);
    bench_ycsb_init(ycsb, job->store, &values, (unsigned)settings->common.threads,
                    settings->common.seed);
    bench_meter_begin(&meter);
    ycsb->opened = job->store->open(job->directory, &settings->common.config);
    run_mix(job, ycsb, &bench_ycsb_load, settings->records, 0);
    for (size_t i = 0; i < settings->mix_count; i++)
        run_mix(job, ycsb, settings->mixes[i], settings->operations, i + 1);
    job->store->close(ycsb->opened);
    bench_tally_end(job->tally, &meter, bench_disk_bytes(job->directory),
                    atomic_load(&ycsb->live_bytes));
    bench_pairs_free(&values);
    free(ycsb);
}

static int
usage(void)
{
    fputs("usage: kv-bench ycsb [options]\n"
          "YCSB's core workloads: records of ten fields of 100 bytes each, loaded once.\n"
          "  --workloads LIST       A,B,C,F,D,E: run in that order; D and E insert, and what they "
          "insert stays\n"
          "  --records N            loaded first; 100k\n"
          "  --operations N         of each workload, of all threads together; 100k\n",
          stderr);
    bench_settings_usage();
    return 2;
}

/* "A,B" or "AB". */
static bool
read_mixes(struct settings *settings)
{
    for (const char *at = settings->list; *at != '\0'; at++) {
        const struct bench_ycsb_mix *mix = bench_ycsb_mix_named(*at);

        if (*at == ',')
            continue;
        if (mix == NULL || settings->mix_count == BENCH_MOST_WORKLOADS - 1) {
            fputs("kv-bench: --workloads is a list of A to F\n", stderr);
            return false;
        }
        settings->mixes[settings->mix_count++] = mix;
    }
    return true;
}

int
bench_ycsb_main(int argc, char **argv)
{
    struct settings settings = {.common = bench_settings_default(),
                                .list = USUAL_MIXES,
                                .records = 100000,
                                .operations = 100000};
    const struct bench_option options[] = {
        {"--workloads", BENCH_TEXT, &settings.list},
        {"--records", BENCH_COUNT, &settings.records},
        {"--operations", BENCH_COUNT, &settings.operations},
        BENCH_SETTINGS_OPTIONS(settings.common),
    };
    const size_t count = sizeof options / sizeof *options;
    const struct bench_job_list list = {
        .settings = &settings, .common = &settings.common, .work = run_store};

    settings.common.ratio = 1; /* YCSB's values are random letters */
    if (!bench_options_read(options, count, argc, argv))
        return usage();
    if (bench_refused(settings.records == 0 || settings.operations == 0,
                      "--records and --operations are above 0") ||
        !bench_settings_apply(&settings.common) || !read_mixes(&settings))
        return 2;
    return bench_jobs_run(&list, options, count, "ycsb", argc, argv);
}
