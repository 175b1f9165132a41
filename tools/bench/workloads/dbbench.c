/* dbbench.c -- see tools/bench/workloads/dbbench.h. */
#include "tools/bench/workloads/dbbench.h"

#include "tools/bench/harness/process.h"
#include "tools/bench/workloads/job.h"
#include "tools/bench/workloads/workload.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

struct settings {
    struct bench_settings common;
    const char *directory, *distribution;
    struct bench_load load;
    size_t key_bytes, value_bytes;
    bool existing;
    const struct bench_workload *workloads[BENCH_MOST_WORKLOADS];
    size_t workload_count;
};

/* One store's part, in its process. */
struct part {
    struct bench_job *job;
    const struct settings *settings;
    char notes[BENCH_JOB_PATH_BYTES]; /* "": nothing is kept */
    struct bench_config config;       /* of the opening at hand */
    struct bench_pairs pairs;
    struct bench_keyset keys;
    struct bench_bed bed;
};

/* ---- in the child ---- */

/* Where it is written down what is in a store that is kept: beside it. */
static void
notes_path(const struct bench_job *job, char path[BENCH_JOB_PATH_BYTES])
{
    snprintf(path, BENCH_JOB_PATH_BYTES, "%.*s.keys", BENCH_JOB_PATH_BYTES - 8, job->directory);
}

/* What must be the same when a store is used again. */
static void
describe_data(const struct settings *settings, char *text, size_t bytes)
{
    snprintf(text, bytes, "num=%" PRIu64 " key-size=%zu value-size=%zu compression-ratio=%g",
             settings->load.keys, settings->key_bytes, settings->value_bytes,
             settings->common.ratio);
}

static void
note(const struct part *part, bool closed)
{
    char text[256];

    if (part->notes[0] == '\0')
        return;
    describe_data(part->settings, text, sizeof text);
    bench_keyset_save(&part->keys, part->notes, text, closed);
}

static void
open_store(struct part *part)
{
    bench_need_directory(part->job->directory);
    part->bed.opened = part->job->store->open(part->job->directory, &part->config);
}

/* Open it anew where the workload wants it empty, or opened in another way. */
static void
prepare(struct part *part, const struct bench_workload *workload)
{
    bool sync = workload->sync || part->settings->common.config.sync;
    bool fresh = workload->fresh && !part->settings->existing && part->job->tally->given > 0;

    if (!fresh && sync == part->config.sync)
        return;
    part->job->store->close(part->bed.opened);
    if (fresh) {
        bench_remove_directory(part->job->directory);
        bench_keyset_clear(&part->keys);
    }
    part->config.sync = sync;
    open_store(part);
}

static uint64_t
live_bytes(const struct part *part)
{
    return bench_keyset_total(&part->keys) * (part->pairs.key_bytes + part->pairs.value_bytes);
}

static void
run_workload(struct part *part, size_t index)
{
    const struct bench_workload *workload = part->settings->workloads[index];
    struct bench_outcome *outcome;
    struct bench_meter meter;

    prepare(part, workload);
    outcome = bench_job_begin(part->job, workload->name, part->settings->load.threads, &meter);
    bench_workload_run(workload, &part->bed, index, outcome);
    bench_job_end(part->job, outcome, &meter, live_bytes(part));
}

static void
run_store(void *argument)
{
    struct bench_job *job = argument;
    const struct settings *settings = job->settings;
    struct part part = {.job = job, .settings = settings, .config = settings->common.config};
    struct bench_meter meter;
    char text[256];

    if (settings->directory != NULL)
        notes_path(job, part.notes);
    bench_pairs_init(&part.pairs, settings->key_bytes, settings->value_bytes,
                     settings->common.ratio);
    bench_keyset_init(&part.keys, settings->load.keys);
    describe_data(settings, text, sizeof text);
    if (settings->existing)
        bench_keyset_load(&part.keys, part.notes, text);
    note(&part, false);
    part.bed = (struct bench_bed){
        .store = job->store, .pairs = &part.pairs, .keys = &part.keys, .load = &settings->load};
    bench_meter_begin(&meter);
    open_store(&part);
    for (size_t i = 0; i < settings->workload_count; i++)
        run_workload(&part, i);
    job->store->close(part.bed.opened);
    bench_tally_end(job->tally, &meter, bench_disk_bytes(job->directory), live_bytes(&part));
    note(&part, true);
    bench_keyset_free(&part.keys);
    bench_pairs_free(&part.pairs);
}

/* ---- in the parent ---- */

/* What is there is used, or is ours to replace: with its notes beside it. */
static void
place(struct bench_job *job)
{
    const struct settings *settings = job->settings;
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

static int
usage(void)
{
    fputs("usage: kv-bench WORKLOAD[,WORKLOAD...] [options]\n"
          "Workloads run in order; those that begin with \"fill\" begin with an empty store:\n",
          stderr);
    bench_workload_list();
    fputs("Options, with their defaults:\n"
          "  --num N                keys; 1M. Also the operations of a workload, of all threads "
          "together\n"
          "  --reads N              operations of those that read\n"
          "  --duration S           those that do not fill end after S seconds\n"
          "  --key-size BYTES, --value-size BYTES      16 and 100\n"
          "  --distribution NAME    uniform, zipf (hot keys anywhere), latest; of all but fills\n"
          "  --batch N              32: keys of multireadrandom\n"
          "  --seek-nexts N         10: steps of seekrandom\n"
          "  --db DIR               work in DIR/STORE and keep it; else in $TMPDIR, removed\n"
          "  --use-existing         go on with what such a run has left in --db\n",
          stderr);
    bench_settings_usage();
    return 2;
}

/* False, with a line on stderr: some word of the list is no workload, or they are too many. */
static bool
read_workloads(const char *list, struct settings *settings)
{
    for (const char *at = list;; at++) {
        size_t size = strcspn(at, ",");
        const struct bench_workload *workload = bench_workload_named(at, size);

        if (workload == NULL)
            fprintf(stderr, "kv-bench: there is no workload \"%.*s\"\n", (int)size, at);
        if (workload == NULL || bench_refused(settings->workload_count == BENCH_MOST_WORKLOADS,
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
    bool reads_first =
        settings->workloads[0]->way < BENCH_COMPACT && !settings->workloads[0]->writes;

    load->threads = (unsigned)settings->common.threads;
    load->seed = settings->common.seed;
    load->writes = load->keys;
    if (load->reads == 0)
        load->reads = load->keys;
    return !bench_refused(!bench_pairs_fit(settings->key_bytes, load->keys),
                          "--num is 0, or its keys are longer than --key-size") &&
           !bench_refused(settings->value_bytes > PETAL_MAX_VALUE_BYTES,
                          "--value-size is too large") &&
           !bench_refused(load->batch == 0 || load->batch > BENCH_MOST_BATCH,
                          "--batch is a number from 1 to 1024") &&
           !bench_refused(!(load->duration >= 0), "--duration is a number of seconds") &&
           !bench_refused(!bench_distribution_named(settings->distribution, &load->distribution),
                          "--distribution is uniform, zipf or latest") &&
           !bench_refused(settings->existing && settings->directory == NULL,
                          "--use-existing needs --db") &&
           !bench_refused(
               reads_first && !settings->existing,
               "there is nothing to read: begin with fillrandom, or give --use-existing");
}

int
bench_dbbench_main(int argc, char **argv)
{
    struct settings settings = {.common = bench_settings_default(),
                                .distribution = "uniform",
                                .load = {.keys = 1000000, .batch = 32, .nexts = 10},
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
    struct bench_job_list list = {
        .settings = &settings, .common = &settings.common, .work = run_store};

    if (!bench_options_read(options, count, argc - 1, argv + 1))
        return usage();
    if (!bench_settings_apply(&settings.common) || !read_workloads(argv[0], &settings) ||
        !check(&settings))
        return 2;
    if (settings.directory != NULL)
        list.place = place;
    return bench_jobs_run(&list, options, count, argv[0], argc - 1, argv + 1);
}
