/*
 * compare.c -- `kv-bench compare` and `kv-bench quick`: single operations of Petal beside its
 * rivals.
 *
 * Every store gets the same keys in the same order: 16 bytes spread evenly over one range, values
 * of 100 bytes that compress to about half. Operations are db_bench's
 * (tools/bench/workloads/workload.h), in phases that all stores go through.
 */
#include "tools/bench/harness/commands.h"
#include "tools/bench/workloads/workload.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define VALUE_BYTES  100
#define SEEK_PAIRS   10
#define SAMPLE_EVERY 16
#define LEAST_CACHE  ((size_t)1 << 20)

struct compare {
    uint64_t rows, gets, synced_puts, repeats;
    bool as_written; /* read what the engine's background left, not what its full compaction did */
    struct bench_config config;
    const struct bench_store *stores[BENCH_MOST_STORES];
    size_t store_count;
    struct bench_list block_sizes, threads;
    const char *named, *versus, *json; /* stores; NULL: not said */
};

/* The work on one store. */
struct subject {
    const struct compare *compare;
    struct bench_job *job;
    struct bench_config config; /* of the database at hand */
    struct bench_pairs pairs;
    struct bench_keyset keys;
    struct bench_bed bed;
    char path[BENCH_JOB_PATH_BYTES + 16]; /* of the database at hand */
};

/* Cache of the phases with a small one: a tenth of keys and values. */
static size_t
small_cache(const struct compare *compare)
{
    uint64_t bytes = compare->rows * (BENCH_KEY_BYTES + VALUE_BYTES) / 10;

    return bytes > LEAST_CACHE ? (size_t)bytes : LEAST_CACHE;
}

/* ---- phases ---- */

static void
open_database(struct subject *subject, const char *name)
{
    snprintf(subject->path, sizeof subject->path, "%s/%s", subject->job->directory, name);
    bench_need_directory(subject->path);
    subject->bed.opened = subject->job->store->open(subject->path, &subject->config);
}

static void
remove_database(struct subject *subject)
{
    subject->job->store->close(subject->bed.opened);
    bench_remove_directory(subject->path);
    bench_keyset_clear(&subject->keys);
}

/* `operation` NULL: it only warms. */
static struct bench_outcome *
run(struct subject *subject, const char *workload, const char *operation, uint64_t threads,
    uint64_t count)
{
    const struct bench_workload *found = bench_workload_named(workload, strlen(workload));
    size_t outcomes = subject->job->tally->count;
    struct bench_outcome *outcome;

    subject->bed.load.threads = (unsigned)threads;
    subject->bed.load.writes = subject->bed.load.reads = count;
    outcome = bench_workload_run(found, &subject->bed, subject->job, operation, outcomes);
    if (operation == NULL)
        subject->job->tally->count = outcomes;
    return outcome;
}

/*
 * Some engines tell that their background rests only by not changing for a second. So that this
 * second is not counted, a thread looks when the process last worked: a fifth of the time between
 * two looks.
 */
struct watch {
    atomic_bool over;
    double last_busy; /* bench_now(); of the watching thread until it is joined */
};

static void *
run_watch(void *argument)
{
    const struct timespec pause = {0, 5000000};
    struct watch *watch = argument;
    double cpu = bench_clock(CLOCK_PROCESS_CPUTIME_ID), looked = bench_now();

    while (!atomic_load(&watch->over)) {
        double cpu_before = cpu, looked_before = looked;

        nanosleep(&pause, NULL);
        cpu = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
        looked = bench_now();
        if (cpu - cpu_before > (looked - looked_before) / 5)
            watch->last_busy = looked;
    }
    return NULL;
}

/* All to files, and until the background rests; the seconds that took. */
static double
settle(const struct subject *subject)
{
    const struct bench_store *store = subject->job->store;
    struct watch watch = {0};
    double began = bench_now();
    pthread_t thread;

    if (store->flush != NULL)
        store->flush(subject->bed.opened);
    watch.last_busy = bench_now();
    if (store->wait != NULL) {
        if (pthread_create(&thread, NULL, run_watch, &watch) != 0)
            bench_fail("measure", "no thread");
        store->wait(subject->bed.opened);
        atomic_store(&watch.over, true);
        pthread_join(thread, NULL);
    }
    return watch.last_busy - began;
}

/* Puts all rows into a new database, which stays open. */
static void
fill(struct subject *subject, const char *name, uint64_t threads)
{
    uint64_t rows = subject->compare->rows;
    struct bench_outcome *outcome;
    double seconds;

    open_database(subject, name);
    seconds = run(subject, "fillseq", "fill", threads, rows)->values[BENCH_SECONDS];
    outcome = bench_job_begin(subject->job, "fill, settled", (unsigned)threads);
    bench_outcome_set_rate(outcome, rows, seconds + settle(subject), NULL);
    bench_job_end(subject->job, outcome, bench_bed_live_bytes(&subject->bed));
}

static void
run_store(struct bench_job *job)
{
    const struct compare *compare = job->plan->settings;
    const uint64_t *threads = compare->threads.values;
    struct subject subject = {.compare = compare, .job = job, .config = job->config};

    bench_pairs_init_spread(&subject.pairs, VALUE_BYTES);
    bench_keyset_init(&subject.keys, compare->rows);
    subject.bed = (struct bench_bed){.store = job->store,
                                     .pairs = &subject.pairs,
                                     .keys = &subject.keys,
                                     .load = {.keys = compare->rows,
                                              .nexts = SEEK_PAIRS - 1,
                                              .keeps_iterator = true,
                                              .sample = SAMPLE_EVERY,
                                              .seed = 7}};
    /* The first number of threads comes last: what it wrote is what is read. */
    for (size_t i = compare->threads.count; i-- > 0;) {
        fill(&subject, i > 0 ? "other" : "rows", threads[i]);
        if (i > 0)
            remove_database(&subject);
    }
    /* As far as the engine merges. Not timed: how much is left to merge differs by engine. */
    if (!compare->as_written && job->store->compact != NULL) {
        job->store->compact(subject.bed.opened);
        if (job->store->wait != NULL)
            job->store->wait(subject.bed.opened);
    }
    bench_job_finish(job, bench_bed_live_bytes(&subject.bed));

    run(&subject, "readseq", NULL, 1, UINT64_MAX); /* fills the cache */
    for (size_t i = 0; i < compare->threads.count; i++) {
        run(&subject, "readrandom", "get hit", threads[i], compare->gets);
        run(&subject, "readmissing", "get absent", threads[i], compare->gets);
        run(&subject, "seekrandom", "seek + 10", threads[i], (compare->gets + 3) / 4);
        run(&subject, "readseq", "scan", threads[i], UINT64_MAX);
    }
    job->store->close(subject.bed.opened);

    /* What is not in the small cache comes from the kernel's page cache. */
    subject.config.cache_bytes = small_cache(compare);
    open_database(&subject, "rows");
    run(&subject, "readrandom", NULL, 1, (compare->gets + 3) / 4);
    for (size_t i = 0; i < compare->threads.count; i++) {
        run(&subject, "readrandom", "get hit, small cache", threads[i], compare->gets);
        run(&subject, "readmissing", "get absent, small cache", threads[i], compare->gets);
    }
    remove_database(&subject);

    /* Into a new database each, so that nothing but the sync is in the way. */
    subject.config = job->config;
    subject.config.sync = true;
    for (size_t i = 0; compare->synced_puts > 0 && i < compare->threads.count; i++) {
        open_database(&subject, "synced");
        run(&subject, "fillseq", "put, synced", threads[i], compare->synced_puts);
        remove_database(&subject);
    }
    bench_keyset_free(&subject.keys);
    bench_pairs_free(&subject.pairs);
}

/* ---- the command ---- */

static void
print_head(const void *settings)
{
    const struct compare *compare = settings;

    printf("%llu rows of %d + %d bytes in random order, log on, %llu gets; medians of %llu "
           "interleaved\nrepeats, behind them (least .. greatest)\n",
           (unsigned long long)compare->rows, BENCH_KEY_BYTES, VALUE_BYTES,
           (unsigned long long)compare->gets, (unsigned long long)compare->repeats);
    bench_print_bytes("cache", compare->config.cache_bytes);
    bench_print_bytes(", small cache (a tenth of the data)", small_cache(compare));
    bench_print_bytes(", write buffers", compare->config.write_buffer_bytes);
    printf("\nfill: the puts alone; settled: and until all is in files and the background rests\n");
    printf("%s\n\n", compare->as_written
                         ? "reads: of what each engine's own background left behind the fill"
                         : "reads: behind each engine's own full compaction (--as-written: of what "
                           "its background left)");
    for (size_t i = 0; i < compare->store_count; i++) {
        char text[512] = "";

        compare->stores[i]->describe(&compare->config, text, sizeof text);
        printf("  %s: %s\n", compare->stores[i]->name, text);
    }
}

static int
usage(void)
{
    fputs(
        "usage: kv-bench compare [options], or kv-bench quick [options]\n"
        "Stores on the same keys, in processes of their own, interleaved: fill in random order, "
        "and\n"
        "until the background rests; then get of what is there and what is not, seek + 10, scan, "
        "all\n"
        "cached; gets with a cache of a tenth of the data; synced puts. Every answer is checked.\n"
        "Options, with the defaults of compare, and of quick:\n"
        "  --store LIST           of petal,rocksdb,leveldb,lmdb,wiredtiger, as far as built in, "
        "or all;\n"
        "                         all\n"
        "  --vs LIST              Petal, and those beside it\n"
        "  --rows N               5M; 1M\n"
        "  --gets N               1M; 500k. A quarter as many seeks\n"
        "  --repeats N            5; 3\n"
        "  --synced N             3k; 1k. Synced puts\n"
        "  --threads LIST         1,2; 1. Fills, gets, seeks, scans with each\n"
        "  --block-size LIST      4K. All of it with each\n"
        "  --bits N               of Bloom filters, a key; 10; 0: none\n"
        "  --cache BYTES          of blocks; 1G\n"
        "  --write-buffer BYTES   64M\n"
        "  --as-written           read what the background left of the fill, not what a full\n"
        "                         compaction made of it\n"
        "  --json FILE            the results once more, for kv-bench diff\n"
        "Exit status: 1 when an answer was wrong.\n",
        stderr);
    return 2;
}

/* --store: those, in that order; --vs: Petal and those. */
static bool
choose_stores(struct compare *compare)
{
    const struct bench_store *named[BENCH_MOST_STORES];
    size_t count;

    if (bench_refused(compare->named != NULL && compare->versus != NULL,
                      "--store and --vs exclude each other"))
        return false;
    if (compare->versus == NULL)
        return bench_stores_named(compare->named != NULL ? compare->named : "all", compare->stores,
                                  &compare->store_count);
    if (!bench_stores_named(compare->versus, named, &count))
        return false;
    compare->stores[compare->store_count++] = &bench_store_petal;
    for (size_t i = 0; i < count && compare->store_count < BENCH_MOST_STORES; i++) {
        if (named[i] != &bench_store_petal)
            compare->stores[compare->store_count++] = named[i];
    }
    return true;
}

static bool
is_usable(struct compare *compare)
{
    struct bench_config config = compare->config;

    if (bench_refused(compare->rows == 0 || compare->gets == 0, "--rows and --gets are above 0") ||
        bench_refused(compare->repeats == 0 || compare->repeats > BENCH_MOST_REPEATS,
                      "--repeats is a number from 1 to 64") ||
        !bench_threads_fit(&compare->threads))
        return false;
    for (size_t i = 0; i < compare->block_sizes.count; i++) {
        config.block_bytes = (size_t)compare->block_sizes.values[i];
        if (!bench_config_fits(&config))
            return false;
    }
    compare->config.block_bytes = (size_t)compare->block_sizes.values[0];
    return choose_stores(compare);
}

/* `compare` has the defaults. */
static int
run_command(const char *name, struct compare compare, int argc, char **argv)
{
    const struct bench_option options[] = {
        {"--store", BENCH_TEXT, &compare.named},
        {"--vs", BENCH_TEXT, &compare.versus},
        {"--rows", BENCH_COUNT, &compare.rows},
        {"--gets", BENCH_COUNT, &compare.gets},
        {"--repeats", BENCH_COUNT, &compare.repeats},
        {"--synced", BENCH_COUNT, &compare.synced_puts},
        {"--block-size", BENCH_SIZES, &compare.block_sizes},
        {"--bits", BENCH_NUMBER, &compare.config.bits_per_key},
        {"--threads", BENCH_COUNTS, &compare.threads},
        {"--cache", BENCH_BYTES, &compare.config.cache_bytes},
        {"--write-buffer", BENCH_BYTES, &compare.config.write_buffer_bytes},
        {"--as-written", BENCH_FLAG, &compare.as_written},
        {"--json", BENCH_TEXT, &compare.json},
    };
    struct bench_plan plan = {.kind = "compare",
                              .name = name,
                              .argc = argc,
                              .argv = argv,
                              .options = options,
                              .option_count = sizeof options / sizeof *options,
                              .settings = &compare,
                              .stores = compare.stores,
                              .block_sizes = &compare.block_sizes,
                              .head = print_head,
                              .work = run_store};

    if (!bench_options_read(options, plan.option_count, argc, argv))
        return usage();
    if (!is_usable(&compare))
        return 2;
    plan.store_count = compare.store_count;
    plan.config = compare.config;
    plan.repeats = compare.repeats;
    plan.json = compare.json;
    return bench_plan_run(&plan);
}

int
bench_compare_main(int argc, char **argv)
{
    return run_command("compare",
                       (struct compare){.rows = 5000000,
                                        .gets = 1000000,
                                        .repeats = 5,
                                        .synced_puts = 3000,
                                        .config = bench_config_default(),
                                        .block_sizes = {{4096}, 1},
                                        .threads = {{1, 2}, 2}},
                       argc, argv);
}

int
bench_quick_main(int argc, char **argv)
{
    return run_command("quick",
                       (struct compare){.rows = 1000000,
                                        .gets = 500000,
                                        .repeats = 3,
                                        .synced_puts = 1000,
                                        .config = bench_config_default(),
                                        .block_sizes = {{4096}, 1},
                                        .threads = {{1}, 1}},
                       argc, argv);
}
