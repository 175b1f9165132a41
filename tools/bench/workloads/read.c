/*
 * read.c -- `kv-bench read`: gets of random cells that `fill` made, each value checked. With several numbers of
 * threads it runs each in turn, several times, and compares the medians. Exit status 1 when an answer was wrong.
 */
#include "tools/bench/harness/commands.h"
#include "tools/bench/harness/histogram.h"
#include "tools/bench/harness/options.h"
#include "tools/bench/harness/process.h"
#include "tools/bench/harness/util.h"
#include "tools/bench/keys/dataset.h"
#include "tools/bench/results/repeats.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#define MIB 1048576.0

struct settings {
    const char *directory;
    uint64_t reads, repeats, seed, warm;
    size_t cache, memory;
    double absent_share;
    bool read_only;
    struct bench_list threads;
};

struct reader {
    const struct bench_dataset *dataset;
    const struct settings *settings;
    petal_db *db;
    pthread_t thread;
    struct bench_random random;
    uint64_t reads, wrong;
    uint8_t *scratch;
    char key[BENCH_MOST_KEY_BYTES];
    struct bench_histogram latencies;
};

/* The runs with one number of threads. */
struct outcome {
    double rates[BENCH_MOST_REPEATS];
    struct bench_histogram latencies;
    petal_stats before, sum; /* `sum`: what the runs added, of the fields that are printed */
};

/* ---- reading ---- */

static void
read_one(struct reader *reader, petal_result *result)
{
    const struct bench_dataset *dataset = reader->dataset;
    uint64_t number = bench_random_below(&reader->random, dataset->count);
    double chance = (double)(bench_random_next(&reader->random) >> 11) * 0x1p-53;
    bool absent = chance < reader->settings->absent_share, found;
    petal_column column = {.family = bench_dataset_family(dataset, number)};
    petal_read_options options = {.columns = &column, .column_count = 1};
    petal_slice value = {NULL, 0};
    petal_error error;
    double began;

    bench_dataset_key(dataset, number, absent, reader->key);
    began = bench_now();
    bench_check(petal_get(dataset->table, (petal_slice){reader->key, dataset->key_bytes}, &options,
                          result, &error),
                &error, "get");
    bench_histogram_add(&reader->latencies, (uint64_t)((bench_now() - began) * 1e9));
    found = petal_result_count(result) > 0;
    if (found)
        value = petal_result_cell(result, 0)->value;
    if (absent ? !found : bench_dataset_is_right(dataset, number, found, value, reader->scratch))
        return;
    if (reader->wrong++ < 3)
        fprintf(stderr, "kv-bench: WRONG: key %.*s (%s): %s\n", (int)dataset->key_bytes,
                reader->key, absent ? "never written" : "written",
                !found   ? "not found"
                : absent ? "found"
                         : "another value than the one written last");
}

static void *
read_all(void *argument)
{
    struct reader *reader = argument;
    petal_result *result;
    petal_error error;

    bench_check(petal_result_new(reader->db, &result, &error), &error, "make a result");
    for (uint64_t i = 0; i < reader->reads; i++)
        read_one(reader, result);
    petal_result_free(result);
    return NULL;
}

/* Returns reads a second; adds to `latencies` and `*wrong`. */
static double
run_readers(const struct reader *model, unsigned threads, uint64_t reads, uint64_t seed,
            struct bench_histogram *latencies, uint64_t *wrong)
{
    struct reader *readers = bench_alloc(threads * sizeof *readers);
    double began, seconds;

    for (unsigned i = 0; i < threads; i++) {
        readers[i].dataset = model->dataset;
        readers[i].settings = model->settings;
        readers[i].db = model->db;
        readers[i].reads = reads / threads + (i < reads % threads ? 1 : 0);
        readers[i].random.state = bench_scramble(seed * 1000 + i);
        readers[i].scratch = bench_alloc(model->dataset->value_bytes + 1);
    }
    began = bench_now();
    for (unsigned i = 0; i < threads; i++) {
        if (pthread_create(&readers[i].thread, NULL, read_all, &readers[i]) != 0)
            bench_fail("start a thread", "no resources");
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(readers[i].thread, NULL);
    seconds = bench_now() - began;
    for (unsigned i = 0; i < threads; i++) {
        bench_histogram_merge(latencies, &readers[i].latencies);
        *wrong += readers[i].wrong;
        free(readers[i].scratch);
    }
    free(readers);
    return (double)reads / seconds;
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
add_stats(struct outcome *outcome, petal_db *db)
{
    petal_stats now;

    petal_stats_get(db, &now);
#define ADD(name) outcome->sum.name += now.name - outcome->before.name;
    ADDED(ADD)
#undef ADD
}

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

/* Returns how many answers were wrong. */
static uint64_t
measure(const struct reader *model)
{
    const struct settings *settings = model->settings;
    struct outcome *outcomes = bench_alloc(settings->threads.count * sizeof *outcomes);
    struct bench_histogram *unwanted = bench_alloc(sizeof *unwanted);
    uint64_t wrong = 0, seed = settings->seed;

    if (settings->warm > 0)
        run_readers(model, (unsigned)settings->threads.values[0], settings->warm, seed++, unwanted,
                    &wrong);
    for (size_t repeat = 0; repeat < settings->repeats; repeat++) {
        for (size_t i = 0; i < settings->threads.count; i++) {
            petal_stats_get(model->db, &outcomes[i].before);
            outcomes[i].rates[repeat] =
                run_readers(model, (unsigned)settings->threads.values[i], settings->reads, seed++,
                            &outcomes[i].latencies, &wrong);
            add_stats(&outcomes[i], model->db);
        }
    }
    for (size_t i = 0; i < settings->threads.count; i++)
        print_outcome(settings, outcomes, i);
    free(unwanted);
    free(outcomes);
    return wrong;
}

static int
run(const struct settings *settings)
{
    petal_options options = {.cache_bytes = settings->cache,
                             .memory_bytes = settings->memory,
                             .read_only = settings->read_only};
    struct bench_dataset dataset;
    struct reader *model = bench_alloc(sizeof *model);
    struct bench_process process;
    petal_error error;
    uint64_t wrong;
    double began = bench_now();

    bench_check(petal_open(settings->directory, &options, &model->db, &error), &error, "open");
    printf("opened in %.2f ms%s; ", (bench_now() - began) * 1e3,
           settings->read_only ? " to read only" : "");
    bench_dataset_load(&dataset, model->db);
    if (dataset.count == 0)
        bench_fail("read", "the data set is empty");
    printf("%" PRIu64 " cells of %zu + %zu bytes, %.1f MiB on disk\n", dataset.count,
           dataset.key_bytes, dataset.value_bytes,
           (double)bench_disk_bytes(settings->directory) / MIB);
    fflush(stdout);
    model->dataset = &dataset;
    model->settings = settings;
    wrong = measure(model);
    bench_process_get(&process);
    printf("resident %.1f MiB, at most %.1f; wrong answers: %" PRIu64 "\n",
           (double)process.resident / MIB, (double)process.resident_peak / MIB, wrong);
    bench_dataset_free(&dataset);
    bench_check(petal_close(model->db, &error), &error, "close");
    free(model);
    return wrong == 0 ? 0 : 1;
}

static int
usage(void)
{
    fputs("usage: kv-bench read --db DIR [options]\n"
          "Gets of random cells that `kv-bench fill` made, each answer checked.  Options, with "
          "their\n"
          "defaults:\n"
          "  --reads N              1M, with each number of threads, in each repeat\n"
          "  --threads LIST         1; each in its turn\n"
          "  --repeats N            1\n"
          "  --warm N               reads before; 0\n"
          "  --absent-share X       of reads of keys that were never written; 0\n"
          "  --cache BYTES, --memory BYTES      Petal's defaults\n"
          "  --read-only            open it so\n"
          "  --seed N               1\n"
          "Exit status: 1 when an answer was wrong.\n",
          stderr);
    return 2;
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
        return usage();
    if (bench_refused(settings.directory == NULL, "--db is needed") ||
        bench_refused(settings.reads == 0, "--reads is above 0") ||
        bench_refused(settings.repeats == 0 || settings.repeats > BENCH_MOST_REPEATS,
                      "--repeats is a number from 1 to 64") ||
        bench_refused(!(settings.absent_share >= 0 && settings.absent_share <= 1),
                      "--absent-share is a number from 0 to 1") ||
        !bench_threads_fit(&settings.threads))
        return 2;
    return run(&settings);
}
