/*
 * dbbench.c -- `kv-bench fillseq,readrandom,…`: a list of db_bench's workloads, run in order on
 * each store.
 *
 * Each store has a directory of its own, new and removed at the end, or DIR/<store>, new and kept.
 */
#include "tools/bench/harness/commands.h"
#include "tools/bench/harness/directory.h"
#include "tools/bench/workloads/workload.h"

#include <string.h>
#include <sys/stat.h>

#define MOST_WORKLOADS 64

struct settings {
    struct bench_settings common;
    const char *directory;
    struct bench_load load;
    struct bench_pairs pairs;
    const struct bench_workload *workloads[MOST_WORKLOADS];
    size_t workload_count;
};

/* ---- in the child ---- */

static void
run_store(struct bench_job *job)
{
    const struct settings *settings = job->plan->settings;
    struct bench_bed bed = {.store = job->store, .pairs = &settings->pairs, .load = settings->load};

    bench_need_directory(job->directory);
    bed.opened = job->store->open(job->directory, &job->config);
    for (size_t i = 0; i < settings->workload_count; i++) {
        if (settings->workloads[i]->writes && bed.there > 0) { /* it begins with an empty store */
            job->store->close(bed.opened);
            bench_remove_directory(job->directory);
            bench_need_directory(job->directory);
            bed.opened = job->store->open(job->directory, &job->config);
            bed.there = 0;
        }
        bench_workload_run(settings->workloads[i], &bed, job, NULL, i);
    }
    job->store->close(bed.opened);
    bench_job_finish(job, bench_bed_live_bytes(&bed));
}

/* ---- in the parent ---- */

static void
place(struct bench_job *job)
{
    const struct settings *settings = job->plan->settings;
    struct stat status;

    bench_need_directory(settings->directory);
    if ((size_t)snprintf(job->directory, sizeof job->directory, "%s/%s", settings->directory,
                         job->store->name) >= sizeof job->directory)
        bench_fail("use the directory", "its name is too long");
    if (stat(job->directory, &status) == 0)
        bench_fail("fill a new store, there is something", job->directory);
}

/* ---- the command ---- */

static void
usage(void)
{
    fputs("usage: kv-bench WORKLOAD[,WORKLOAD...] [options]\n"
          "Pairs of 16 + 100 bytes; a seek reads 10 on, a call of multireadrandom 32.\n"
          "Workloads run in order; those that begin with \"fill\" begin with an empty store:\n",
          stderr);
    bench_workload_list();
    fputs("Options, with their defaults:\n"
          "  --num N                keys; 1M. Also the operations of a workload, of all\n"
          "                         threads together\n"
          "  --reads N              operations of those that read\n"
          "  --rate N               writes a second, on a schedule: latencies count from\n"
          "                         when a write was due; as many as possible\n"
          "  --db DIR               work in DIR/STORE, which is new, and keep it; else in\n"
          "                         $TMPDIR, removed\n"
          "  --threads N            1\n"
          "  --repeats N            1; the stores by turns, medians and ratios at the end\n"
          "Of petal alone, or with\n",
          stderr);
    bench_settings_usage();
}

/* False: some word of the list is no workload, or they are too many. */
static bool
read_workloads(const char *list, struct settings *settings)
{
    for (const char *at = list;; at++) {
        size_t size = strcspn(at, ",");
        const struct bench_workload *workload = bench_workload_named(at, size);

        if (workload == NULL)
            bench_complain("there is no workload \"%.*s\"", (int)size, at);
        if (workload == NULL || bench_refused(settings->workload_count == MOST_WORKLOADS,
                                              "at most 64 workloads are possible"))
            return false;
        settings->workloads[settings->workload_count++] = workload;
        at += size;
        if (*at == '\0')
            return true;
    }
}

bool
bench_dbbench_is_meant(const char *list)
{
    return bench_workload_named(list, strcspn(list, ",")) != NULL;
}

static bool
check(struct settings *settings)
{
    struct bench_load *load = &settings->load;

    load->threads = (unsigned)settings->common.threads.values[0];
    load->seed = settings->common.seed;
    load->writes = load->keys;
    if (load->reads == 0)
        load->reads = load->keys;
    return !bench_refused(!bench_pairs_fit(settings->pairs.key_bytes, load->keys),
                          "--num is 0, or its keys have more than 16 digits") &&
           !bench_refused(!(load->rate >= 0), "--rate is a number of writes a second") &&
           !bench_refused(settings->common.repeats > 1 && settings->directory != NULL,
                          "--repeats and --db exclude each other") &&
           !bench_refused(settings->workloads[0]->operate != NULL &&
                              !settings->workloads[0]->writes,
                          "there is nothing to read: begin with fillseq") &&
           bench_settings_apply(&settings->common, 1);
}

int
bench_dbbench_main(int argc, char **argv)
{
    struct settings settings = {.common = bench_settings_default(),
                                .load = {.keys = 1000000, .batch = 32, .nexts = 10, .sample = 1},
                                .pairs = {.key_bytes = BENCH_KEY_BYTES, .value_bytes = 100}};
    const struct bench_option options[] = {
        {"--num", BENCH_COUNT, &settings.load.keys},
        {"--reads", BENCH_COUNT, &settings.load.reads},
        {"--rate", BENCH_NUMBER, &settings.load.rate},
        {"--db", BENCH_TEXT, &settings.directory},
        BENCH_SETTINGS_OPTIONS(settings.common),
    };
    const size_t count = sizeof options / sizeof *options;
    struct bench_plan plan;

    if (!bench_options_read(options, count, argc - 1, argv + 1))
        return bench_options_explain(usage);
    if (!read_workloads(argv[0], &settings) || !check(&settings))
        return 2;
    plan = bench_plan_of(&settings.common,
                         bench_file_of(argv[0], argc - 1, argv + 1, options, count), &settings);
    plan.file.kind = "workloads";
    plan.work = run_store;
    plan.place = settings.directory != NULL ? place : NULL;
    return bench_plan_run(&plan);
}
