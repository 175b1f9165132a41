/*
 * simulate.c -- `kv-bench simulate`: what the compaction policy makes of a growing store, in
 * numbers only.
 *
 * File: results (tools/bench/results/file.h) for each order, size and thing that is counted, with
 * "per_unit": bytes written are for a byte of the user's, disk for a byte that an all-files compaction
 * would leave.
 */
#include "tools/bench/harness/commands.h"
#include "tools/bench/results/file.h"
#include "tools/bench/simulate/model.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CELL_OVERHEAD 100 /* what a memtable takes for a cell beyond its bytes, about */
#define MOST_FLUSHES  1e6

static const struct {
    const char *name;
    enum simulate_order order;
    const char *meaning;
} orders[] = {
    {"random", SIMULATE_RANDOM, "each key once, in random order"},
    {"sequential", SIMULATE_SEQUENTIAL, "each key once, in order"},
    {"overwrite", SIMULATE_OVERWRITE, "keys drawn evenly, again and again"},
};
#define ORDERS (sizeof orders / sizeof *orders)

struct simulate_options {
    const char *order; /* NULL: all */
    const char *json_path;
    size_t from, to, memtable, cell;
    uint64_t keys;
    double stored, logged;
};

static void
usage(void)
{
    fputs("usage: kv-bench simulate [options]\n"
          "What the compaction policy of this build makes of a store that grows, on sizes\n"
          "only: bytes written for each of the user's, runs that a get of an absent row\n"
          "meets, disk over what an all-files compaction would leave, the longest job.\n"
          "  --order NAME           random (each key once), sequential, overwrite; all of\n"
          "                         them\n"
          "  --from BYTES, --to BYTES\n"
          "                         of user data, doubled line by line; 64M and 64G\n"
          "  --memtable BYTES       64M\n"
          "  --cell BYTES           of row, qualifier and value; 116\n"
          "  --stored RATIO         bytes in store files for a byte of the user's; 0.58\n"
          "  --logged RATIO         the same of the log; 1.1\n"
          "  --keys N               that are overwritten; 10M\n"
          "  --json FILE            the results, too\n"
          "Compactions keep up with writers here, at whatever rate.\n",
          stderr);
}

static double
per_user_byte(const struct simulate_store *store, double bytes)
{
    assert(store->user > 0);
    return bytes / store->user;
}

static double
written(const struct simulate_store *store)
{
    return per_user_byte(store, store->log + store->flushed + store->merged);
}

static double
mean_runs(const struct simulate_store *store)
{
    return store->runs_met / (double)store->flushes;
}

static void
print_head(const char *name, const char *meaning)
{
    printf("%s: %s\n%10s %8s %8s | %8s %6s %6s %6s | %5s %6s %5s | %6s %6s | %11s\n", name, meaning,
           "user MiB", "flushes", "jobs", "written", "log", "flush", "merge", "runs", "mean",
           "most", "disk", "most", "longest MiB");
}

static void
print_line(const struct simulate_store *store)
{
    printf("%10.0f %8" PRIu64 " %8" PRIu64
           " | %8.2f %6.2f %6.2f %6.2f | %5zu %6.1f %5zu | %6.2f %6.2f | %11.0f\n",
           store->user / 0x1p20, store->flushes, store->jobs, written(store),
           per_user_byte(store, store->log), per_user_byte(store, store->flushed),
           per_user_byte(store, store->merged), simulate_runs_met(store), mean_runs(store),
           store->most_runs, simulate_disk(store) / simulate_live(store), store->most_disk,
           store->longest / 0x1p20);
}

static void
add_results(struct bench_result *result, const char *order, const struct simulate_store *store)
{
    const struct {
        const char *name;
        double value;
    } counts[] = {
        {"written", written(store)},
        {"runs", (double)simulate_runs_met(store)},
        {"mean runs", mean_runs(store)},
        {"most runs", (double)store->most_runs},
        {"disk", simulate_disk(store) / simulate_live(store)},
        {"most disk", store->most_disk},
        {"longest job, bytes", store->longest},
    };
    char operation[BENCH_NAME_BYTES], setting[BENCH_NAME_BYTES];

    snprintf(setting, sizeof setting, "%" PRIu64 " flushes", store->flushes);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct bench_outcome outcome;

        snprintf(operation, sizeof operation, "%s, %s", order, counts[i].name);
        outcome = bench_outcome_of_count(operation, setting, counts[i].value);
        bench_result_add(result, &outcome);
    }
}

static struct simulate_settings
settings_of(const struct simulate_options *options, enum simulate_order order)
{
    double cell = (double)options->cell, memtable = (double)options->memtable;

    return (struct simulate_settings){.order = order,
                                      .memtable_bytes = memtable,
                                      .flush_bytes = memtable * cell / (cell + CELL_OVERHEAD),
                                      .cell_bytes = cell,
                                      .stored = options->stored,
                                      .logged = options->logged,
                                      .keys = (double)options->keys};
}

/* Grow a store, a line at each doubling. */
static void
simulate(const struct simulate_options *options, size_t order, struct bench_result *result)
{
    struct simulate_settings settings = settings_of(options, orders[order].order);
    struct simulate_store store;

    simulate_begin(&store, &settings);
    print_head(orders[order].name, orders[order].meaning);
    for (double next = (double)options->from; next <= (double)options->to; next *= 2) {
        while (store.user < next)
            simulate_flush(&store);
        print_line(&store);
        add_results(result, orders[order].name, &store);
    }
}

static bool
is_refused(const struct simulate_options *options)
{
    bool known = options->order == NULL;

    for (size_t i = 0; i < ORDERS; i++)
        known = known || strcmp(options->order, orders[i].name) == 0;
    return bench_refused(!known, "--order is random, sequential or overwrite") ||
           bench_refused(options->cell == 0 || options->memtable == 0 || options->keys == 0,
                         "--cell, --memtable and --keys are above zero") ||
           bench_refused(!(options->stored > 0 && options->stored <= 100 && options->logged >= 0 &&
                           options->logged <= 100),
                         "--stored and --logged are up to 100, --stored above zero") ||
           bench_refused(options->from == 0 || options->from > options->to,
                         "--from is above zero and at most --to") ||
           bench_refused((double)options->to / settings_of(options, SIMULATE_RANDOM).flush_bytes >
                             MOST_FLUSHES,
                         "that would be more than a million flushes");
}

int
bench_simulate_main(int argc, char **argv)
{
    struct simulate_options given = {.from = (size_t)64 << 20,
                                     .to = (size_t)64 << 30,
                                     .memtable = (size_t)64 << 20,
                                     .cell = 116,
                                     .keys = 10000000,
                                     .stored = 0.58,
                                     .logged = 1.1};
    const struct bench_option options[] = {
        {"--order", BENCH_TEXT, &given.order},      {"--from", BENCH_BYTES, &given.from},
        {"--to", BENCH_BYTES, &given.to},           {"--memtable", BENCH_BYTES, &given.memtable},
        {"--cell", BENCH_BYTES, &given.cell},       {"--stored", BENCH_NUMBER, &given.stored},
        {"--logged", BENCH_NUMBER, &given.logged},  {"--keys", BENCH_COUNT, &given.keys},
        {"--json", BENCH_OUTPUT, &given.json_path},
    };
    const struct bench_file file =
        bench_file_of("simulate", argc, argv, options, sizeof options / sizeof *options);
    struct bench_result result = {0};

    if (!bench_options_read(options, file.option_count, argc, argv))
        return bench_options_explain(usage);
    if (is_refused(&given))
        return 2;
    for (size_t i = 0; i < ORDERS; i++) {
        if (given.order == NULL || strcmp(given.order, orders[i].name) == 0)
            simulate(&given, i, &result);
    }
    bench_file_write(&file, given.json_path, &result, NULL);
    bench_result_free(&result);
    return 0;
}
