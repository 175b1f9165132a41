/*
 * read.c -- `kv-bench read`: gets of random cells that `fill` made, each value checked. With
 * several numbers of threads it runs each in turn, several times, and compares the medians. Exit
 * status 1 when an answer was wrong.
 */
#include "tools/bench/harness/commands.h"
#include "tools/bench/harness/driver.h"
#include "tools/bench/harness/options.h"
#include "tools/bench/harness/process.h"
#include "tools/bench/harness/util.h"
#include "tools/bench/keys/dataset.h"
#include "tools/bench/results/repeats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MIB      1048576.0
#define PREPARED 64

struct settings {
    const char *directory;
    uint64_t reads, repeats, seed, warm;
    size_t cache, memory;
    double absent_share;
    bool read_only;
    struct bench_list threads;
};

/* What is read; `runs` counts, so that each run has random numbers of its own. */
struct reading {
    const struct settings *settings;
    struct bench_dataset dataset;
    petal_db *db;
    uint64_t runs, wrong;
};

/* What a thread holds. */
struct hand {
    struct reading *reading;
    petal_result *result;
    struct bench_random random;
    uint8_t *scratch;
    char *keys;                 /* PREPARED of them, */
    uint64_t numbers[PREPARED]; /* of cells, */
    bool absent[PREPARED];      /* or of their neighbours that were never written */
};

/* The runs with one number of threads. */
struct outcome {
    double rates[BENCH_MOST_REPEATS];
    struct bench_histogram latencies;
    petal_stats sum; /* what the runs added, of the fields that are printed */
};

/* ---- reading ---- */

static void *
begin(void *argument, unsigned index)
{
    struct reading *reading = argument;
    struct hand *hand = bench_alloc(sizeof *hand);
    petal_error error;

    hand->reading = reading;
    hand->random.state = bench_scramble((reading->settings->seed + reading->runs) * 1000 + index);
    hand->scratch = bench_alloc(reading->dataset.value_bytes + 1);
    hand->keys = bench_alloc(PREPARED * reading->dataset.key_bytes);
    bench_check(petal_result_new(reading->db, &hand->result, &error), &error, "make a result");
    return hand;
}

static void
end(void *own)
{
    struct hand *hand = own;

    petal_result_free(hand->result);
    free(hand->scratch);
    free(hand->keys);
    free(hand);
}

static void
prepare(struct bench_worker *worker, uint64_t position, unsigned count)
{
    struct hand *hand = worker->own;
    const struct bench_dataset *dataset = &hand->reading->dataset;

    (void)position;
    for (unsigned i = 0; i < count; i++) {
        hand->numbers[i] = bench_random_below(&hand->random, dataset->count);
        hand->absent[i] = (double)(bench_random_next(&hand->random) >> 11) * 0x1p-53 <
                          hand->reading->settings->absent_share;
        bench_dataset_key(dataset, hand->numbers[i], hand->absent[i],
                          hand->keys + i * dataset->key_bytes);
    }
}

static uint64_t
get(struct bench_worker *worker, uint64_t position)
{
    struct hand *hand = worker->own;
    const struct bench_dataset *dataset = &hand->reading->dataset;
    uint64_t number = hand->numbers[worker->slot];
    bool absent = hand->absent[worker->slot], found;
    petal_column column = {.family = bench_dataset_family(dataset, number)};
    petal_read_options options = {.columns = &column, .column_count = 1};
    petal_slice key = {hand->keys + worker->slot * dataset->key_bytes, dataset->key_bytes};
    petal_slice value = {NULL, 0};
    petal_error error;

    (void)position;
    bench_check(petal_get(dataset->table, key, &options, hand->result, &error), &error, "get");
    worker->ended = bench_now();
    found = petal_result_count(hand->result) > 0;
    if (found)
        value = petal_result_cell(hand->result, 0)->value;
    if (absent ? !found : bench_dataset_is_right(dataset, number, found, value, hand->scratch))
        return 1;
    if (worker->wrong++ < 3)
        fprintf(stderr, "kv-bench: WRONG: key %.*s (%s): %s\n", (int)key.size,
                (const char *)key.data, absent ? "never written" : "written",
                !found   ? "not found"
                : absent ? "found"
                         : "another value than the one written last");
    return 1;
}

/* Returns reads a second; adds to `latencies`. */
static double
run_readers(struct reading *reading, uint64_t threads, uint64_t reads,
            struct bench_histogram *latencies)
{
    struct bench_driven *driven = bench_alloc(sizeof *driven);
    const struct bench_drive drive = {.argument = reading,
                                      .threads = (unsigned)threads,
                                      .operations = reads,
                                      .kinds = 1,
                                      .sample = 1,
                                      .prepared = PREPARED,
                                      .begin = begin,
                                      .end = end,
                                      .prepare = prepare,
                                      .operate = get};
    double rate;

    bench_drive_run(&drive, driven);
    reading->runs++;
    reading->wrong += driven->wrong;
    bench_histogram_merge(latencies, &driven->latencies[0]);
    rate = (double)reads / driven->seconds;
    free(driven);
    return rate;
}

/* ---- the report ---- */

#define ADDED(X)                                                                                   \
    X(gets)                                                                                        \
    X(files_considered)                                                                            \
    X(files_read)                                                                                  \
    X(filter_probes)                                                                               \
    X(filter_false_positives)                                                                      \
    X(data_cached)                                                                                 \
    X(data_fetched)                                                                                \
    X(index_cached)                                                                                \
    X(index_fetched)                                                                               \
    X(filter_cached)                                                                               \
    X(filter_fetched)                                                                              \
    X(bytes_fetched)

static void
print_outcome(const struct settings *settings, const struct outcome *outcomes, size_t index)
{
    const struct outcome *outcome = &outcomes[index];
    const uint64_t *threads = settings->threads.values;
    size_t repeats = (size_t)settings->repeats;
    struct bench_spread rates = bench_spread_of(outcome->rates, repeats);
    double first = bench_spread_of(outcomes[0].rates, repeats).median;
    double gets = (double)outcome->sum.gets;
    const struct bench_histogram *all = &outcome->latencies;

    printf("%" PRIu64 " thread%s: %.0f reads a second (median of %zu; %.0f to %.0f)",
           threads[index], threads[index] == 1 ? "" : "s", rates.median, repeats, rates.least,
           rates.greatest);
    if (index > 0)
        printf(", %.2f times that of %" PRIu64, rates.median / first, threads[0]);
    printf("\n  p50 %.2f us, p99 %.2f us, p99.9 %.2f us, max %.1f us\n",
           (double)bench_histogram_share(all, 0.5) / 1e3,
           (double)bench_histogram_share(all, 0.99) / 1e3,
           (double)bench_histogram_share(all, 0.999) / 1e3,
           (double)bench_histogram_greatest(all) / 1e3);
#define PER_GET(name) (double)outcome->sum.name / gets
    printf("  each get: %.3f files of %.3f read; false positives %.5f, filter probes %.3f\n",
           PER_GET(files_read), PER_GET(files_considered), PER_GET(filter_false_positives),
           PER_GET(filter_probes));
    printf("  each get, blocks from the cache + from files: data %.4f + %.4f, index %.4f + %.4f, "
           "filter %.4f + %.4f; %.0f bytes from files\n",
           PER_GET(data_cached), PER_GET(data_fetched), PER_GET(index_cached),
           PER_GET(index_fetched), PER_GET(filter_cached), PER_GET(filter_fetched),
           PER_GET(bytes_fetched));
#undef PER_GET
}

/* ---- the command ---- */

static void
measure(struct reading *reading)
{
    const struct settings *settings = reading->settings;
    const struct bench_list *threads = &settings->threads;
    struct outcome *outcomes = bench_alloc(threads->count * sizeof *outcomes);
    struct bench_histogram *unwanted = bench_alloc(sizeof *unwanted);
    petal_stats before, after;

    if (settings->warm > 0)
        run_readers(reading, threads->values[0], settings->warm, unwanted);
    for (size_t repeat = 0; repeat < settings->repeats; repeat++) {
        for (size_t i = 0; i < threads->count; i++) {
            struct outcome *outcome = &outcomes[i];

            petal_stats_get(reading->db, &before);
            outcome->rates[repeat] =
                run_readers(reading, threads->values[i], settings->reads, &outcome->latencies);
            petal_stats_get(reading->db, &after);
#define ADD(name) outcome->sum.name += after.name - before.name;
            ADDED(ADD)
#undef ADD
        }
    }
    for (size_t i = 0; i < threads->count; i++)
        print_outcome(settings, outcomes, i);
    free(unwanted);
    free(outcomes);
}

static int
run(const struct settings *settings)
{
    petal_options options = {.cache_bytes = settings->cache,
                             .memory_bytes = settings->memory,
                             .memtable_bytes = settings->memory == 0 ? BENCH_DATASET_MEMORY : 0,
                             .read_only = settings->read_only};
    struct reading reading = {.settings = settings};
    struct bench_process process;
    enum petal_status status;
    petal_error error;
    double began = bench_now();

    status = petal_open(settings->directory, &options, &reading.db, &error);
    if (status == PETAL_NOT_FOUND)
        snprintf(error.text, sizeof error.text,
                 "there is no database in %s: kv-bench fill makes it", settings->directory);
    bench_check(status, &error, "open");
    printf("opened in %.2f ms%s; ", (bench_now() - began) * 1e3,
           settings->read_only ? " to read only" : "");
    bench_dataset_load(&reading.dataset, reading.db);
    if (reading.dataset.count == 0)
        bench_fail("read", "the data set is empty");
    printf("%" PRIu64 " cells of %zu + %zu bytes, %.1f MiB on disk\n", reading.dataset.count,
           reading.dataset.key_bytes, reading.dataset.value_bytes,
           (double)bench_disk_bytes(settings->directory) / MIB);
    fflush(stdout);
    measure(&reading);
    bench_process_get(&process);
    printf("resident %.1f MiB, at most %.1f; wrong answers: %" PRIu64 "\n",
           (double)process.resident / MIB, (double)process.resident_peak / MIB, reading.wrong);
    bench_dataset_free(&reading.dataset);
    bench_check(petal_close(reading.db, &error), &error, "close");
    return reading.wrong == 0 ? 0 : 1;
}

static void
usage(void)
{
    fputs("usage: kv-bench read --db DIR [options]\n"
          "Gets of random cells that `kv-bench fill` made, each answer checked.  Options,\n"
          "with their defaults:\n"
          "  --reads N              1M, with each number of threads, in each repeat\n"
          "  --threads LIST         1; each in its turn\n"
          "  --repeats N            1\n"
          "  --warm N               reads before; 0\n"
          "  --absent-share X       of reads of keys that were never written; 0\n"
          "  --cache BYTES          64M\n"
          "  --memory BYTES         the limit of all; the cache is a share of it then\n"
          "  --read-only            open it so\n"
          "  --seed N               1\n"
          "Exit status: 1 when an answer was wrong.\n",
          stderr);
}

int
bench_read_main(int argc, char **argv)
{
    struct settings settings = {.reads = 1000000, .threads = {{1}, 1}, .repeats = 1, .seed = 1};
    const struct bench_option options[] = {
        {"--db", BENCH_TEXT, &settings.directory},
        {"--reads", BENCH_COUNT, &settings.reads},
        {"--threads", BENCH_COUNTS, &settings.threads},
        {"--repeats", BENCH_COUNT, &settings.repeats},
        {"--warm", BENCH_COUNT, &settings.warm},
        {"--absent-share", BENCH_NUMBER, &settings.absent_share},
        {"--cache", BENCH_BYTES, &settings.cache},
        {"--memory", BENCH_BYTES, &settings.memory},
        {"--read-only", BENCH_FLAG, &settings.read_only},
        {"--seed", BENCH_COUNT, &settings.seed},
    };

    if (!bench_options_read(options, sizeof options / sizeof *options, argc, argv))
        return bench_options_explain(usage);
    if (bench_refused(settings.directory == NULL, "--db is needed") ||
        bench_refused(settings.reads == 0, "--reads is above 0") ||
        bench_refused(settings.repeats == 0 || settings.repeats > BENCH_MOST_REPEATS,
                      "--repeats is a number from 1 to 64") ||
        bench_refused(!(settings.absent_share >= 0 && settings.absent_share <= 1),
                      "--absent-share is a number from 0 to 1") ||
        !bench_threads_fit(&settings.threads))
        return 2;
    if (settings.memory == 0 && settings.cache == 0)
        settings.cache = BENCH_DATASET_MEMORY;
    return run(&settings);
}
