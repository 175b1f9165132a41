/*
 * dbbench.c -- `kv-bench fillrandom,readrandom,…`: a list of db_bench's workloads, run in order on
 * each store.
 *
 * Each store has a directory of its own, new and removed at the end, or DIR/<store>, which is kept,
 * with the keys that are in it beside it in DIR/<store>.keys.
 */
#include "tools/bench/harness/commands.h"
#include "tools/bench/harness/directory.h"
#include "tools/bench/workloads/workload.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_WORKLOADS 64

struct settings {
    struct bench_settings common;
    const char *directory, *distribution;
    struct bench_load load;
    size_t key_bytes, value_bytes;
    bool existing;
    const struct bench_workload *workloads[MOST_WORKLOADS];
    size_t workload_count;
};

/* ---- in the child ---- */

/* Where it is written down what is in a store that is kept: beside it. */
static void
notes_path(const struct bench_job *job, char path[BENCH_JOB_PATH_BYTES])
{
    snprintf(path, BENCH_JOB_PATH_BYTES, "%.*s.keys", BENCH_JOB_PATH_BYTES - 8, job->directory);
}

static void
run_store(struct bench_job *job)
{
    const struct settings *settings = job->plan->settings;
    bool kept = settings->directory != NULL;
    char notes[BENCH_JOB_PATH_BYTES], text[256];
    struct bench_pairs pairs;
    struct bench_keyset keys;
    struct bench_bed bed = {
        .store = job->store, .pairs = &pairs, .keys = &keys, .load = settings->load};

    /* What must be the same when a store is used again. */
    snprintf(text, sizeof text, "num=%" PRIu64 " key-size=%zu value-size=%zu compression-ratio=%g",
             settings->load.keys, settings->key_bytes, settings->value_bytes,
             settings->common.ratio);
    notes_path(job, notes);
    bench_pairs_init(&pairs, settings->key_bytes, settings->value_bytes, settings->common.ratio);
    bench_keyset_init(&keys, settings->load.keys);
    if (settings->existing)
        bench_keyset_load(&keys, notes, text);
    if (kept)
        bench_keyset_save(&keys, notes, text, false);
    bench_need_directory(job->directory);
    bed.opened = job->store->open(job->directory, &job->config);
    for (size_t i = 0; i < settings->workload_count; i++) {
        const struct bench_workload *workload = settings->workloads[i];
        bool sync = workload->sync || settings->common.config.sync;
        bool fresh =
            workload->fresh && !settings->existing && job->tally->whole.values[BENCH_GIVEN] > 0;

        /* Opened anew where the workload wants it empty, or opened in another way. */
        if (fresh || sync != job->config.sync) {
            job->store->close(bed.opened);
            if (fresh) {
                bench_remove_directory(job->directory);
                bench_keyset_clear(&keys);
            }
            job->config.sync = sync;
            bench_need_directory(job->directory);
            bed.opened = job->store->open(job->directory, &job->config);
        }
        bench_workload_run(workload, &bed, job, NULL, i);
    }
    job->store->close(bed.opened);
    bench_job_finish(job, bench_bed_live_bytes(&bed));
    if (kept)
        bench_keyset_save(&keys, notes, text, true);
    bench_keyset_free(&keys);
    bench_pairs_free(&pairs);
}

/* ---- in the parent ---- */

/* What is there is used, or is ours to replace: with its notes beside it. */
static void
place(struct bench_job *job)
{
    const struct settings *settings = job->plan->settings;
    char notes[BENCH_JOB_PATH_BYTES];
    struct stat status;

    bench_need_directory(settings->directory);
    if ((size_t)snprintf(job->directory, sizeof job->directory, "%s/%s", settings->directory,
                         job->store->name) >= sizeof job->directory - 8)
        bench_fail("use the directory", "its name is too long");
    notes_path(job, notes);
    if (settings->existing || stat(job->directory, &status) != 0)
        return;
    if (stat(notes, &status) != 0)
        bench_fail("replace a directory that these workloads have not made", job->directory);
    bench_remove_directory(job->directory);
}

/* ---- the command ---- */

static void
usage(void)
{
    fputs("usage: kv-bench WORKLOAD[,WORKLOAD...] [options]\n"
          "Workloads run in order; those that begin with \"fill\" begin with an empty store:\n",
          stderr);
    bench_workload_list();
    fputs("Options, with their defaults:\n"
          "  --num N                keys; 1M. Also the operations of a workload, of all\n"
          "                         threads together\n"
          "  --reads N              operations of those that read\n"
          "  --duration S           those that do not fill end after S seconds\n"
          "  --key-size BYTES, --value-size BYTES\n"
          "                         16 and 100\n"
          "  --distribution NAME    uniform, zipf (hot keys anywhere), latest; of all but\n"
          "                         fills\n"
          "  --batch N              32: keys of multireadrandom\n"
          "  --seek-nexts N         10: steps of seekrandom\n"
          "  --db DIR               work in DIR/STORE and keep it; else in $TMPDIR, removed\n"
          "  --use-existing         go on with what such a run has left in --db\n",
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

    load->threads = (unsigned)settings->common.threads;
    load->seed = settings->common.seed;
    load->writes = load->keys;
    if (load->reads == 0)
        load->reads = load->keys;
    return !bench_refused(!bench_pairs_fit(settings->key_bytes, load->keys),
                          "--num is 0, or its keys are longer than --key-size") &&
           !bench_refused(settings->value_bytes > PETAL_MAX_VALUE_BYTES,
                          "--value-size is up to 10M") &&
           !bench_refused(load->batch == 0 || load->batch > BENCH_MOST_BATCH,
                          "--batch is a number from 1 to 1024") &&
           !bench_refused(!(load->duration >= 0), "--duration is a number of seconds") &&
           !bench_refused(!bench_distribution_named(settings->distribution, &load->distribution),
                          "--distribution is uniform, zipf or latest") &&
           !bench_refused(settings->existing && settings->directory == NULL,
                          "--use-existing needs --db") &&
           !bench_refused(settings->common.repeats > 1 && settings->directory != NULL,
                          "--repeats and --db exclude each other") &&
           !bench_refused(
               settings->workloads[0]->operate != NULL && !settings->workloads[0]->writes &&
                   !settings->existing,
               "there is nothing to read: begin with fillrandom, or give --use-existing");
}

int
bench_dbbench_main(int argc, char **argv)
{
    struct settings settings = {.common = bench_settings_default(),
                                .distribution = "uniform",
                                .load = {.keys = 1000000, .batch = 32, .nexts = 10, .sample = 1},
                                .key_bytes = 16,
                                .value_bytes = 100};
    const struct bench_option options[] = {
        {"--num", BENCH_COUNT, &settings.load.keys},
        {"--reads", BENCH_COUNT, &settings.load.reads},
        {"--duration", BENCH_NUMBER, &settings.load.duration},
        {"--key-size", BENCH_BYTES, &settings.key_bytes},
        {"--value-size", BENCH_BYTES, &settings.value_bytes},
        {"--distribution", BENCH_TEXT, &settings.distribution},
        {"--batch", BENCH_COUNT, &settings.load.batch},
        {"--seek-nexts", BENCH_COUNT, &settings.load.nexts},
        {"--db", BENCH_TEXT, &settings.directory},
        {"--use-existing", BENCH_FLAG, &settings.existing},
        BENCH_SETTINGS_OPTIONS(settings.common),
    };
    const size_t count = sizeof options / sizeof *options;
    struct bench_plan plan;

    if (!bench_options_read(options, count, argc - 1, argv + 1))
        return bench_options_explain(usage);
    if (!bench_settings_apply(&settings.common) || !read_workloads(argv[0], &settings) ||
        !check(&settings))
        return 2;
    plan = bench_plan_of(&settings.common, options, count);
    plan.name = argv[0];
    plan.argc = argc - 1;
    plan.argv = argv + 1;
    plan.settings = &settings;
    plan.place = settings.directory != NULL ? place : NULL;
    plan.work = run_store;
    return bench_plan_run(&plan);
}
