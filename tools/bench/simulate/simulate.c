/*
 * simulate.c -- `kv-bench simulate`: what a table of N, 4 N and 16 N bytes would cost by the
 * engine's policies, in numbers only: the lines of `kv-bench grow`, for sizes that no test fills.
 *
 * File: results (tools/bench/results/file.h) for each order, size and figure, with "per_unit" in
 * the unit that is printed.
 */
#include "tools/bench/harness/commands.h"
#include "tools/bench/results/file.h"
#include "tools/bench/results/print.h"
#include "tools/bench/simulate/table.h"

#include <stdio.h>
#include <string.h>

#define SIZES              3
#define CELL_OVERHEAD      100 /* what a memtable takes for a cell beyond its bytes, about */
#define MOST_MEMTABLE      ((size_t)64 << 20)
#define MOST_FLUSHES       2e7
#define LEAST_REGION_FLUSH 4 /* a region holds as many memtables at least */

static const struct {
    const char *name;
    enum simulate_order order;
    const char *meaning;
} orders[] = {
    {"random", SIMULATE_RANDOM, "each key once, in random order"},
    {"sequential", SIMULATE_SEQUENTIAL, "each key once, in ascending order"},
    {"overwrite", SIMULATE_OVERWRITE, "keys drawn evenly, again and again"},
};
#define ORDERS (sizeof orders / sizeof *orders)

/* Name, label, unit. Those that `kv-bench grow` has, too, have its labels. */
#define FIGURES(X)                                                                                 \
    X(P50, "put p50", "us")                                                                        \
    X(P999, "put p99.9", "us")                                                                     \
    X(STALL, "longest stall", "ms")                                                                \
    X(LONGEST_PUT, "longest put", "ms")                                                            \
    X(RATE, "rate", "k/s")                                                                         \
    X(WRITTEN, "write amplification", "")                                                          \
    X(WRITTEN_WITH_LOG, "with the log", "")                                                        \
    X(NEWER, "  all files, newer bytes", "")                                                       \
    X(LEVEL, "  level runs", "")                                                                   \
    X(EXPLORING, "  exploring, stuck", "")                                                         \
    X(SPACE, "space beyond the data", "MiB")                                                       \
    X(JOB_BYTES, "longest job", "MiB")                                                             \
    X(JOB_TIME, "longest job, time", "ms")                                                         \
    X(REGIONS, "regions", "")                                                                      \
    X(FILES, "files", "")                                                                          \
    X(FLUSHED, "file of a flush", "KiB")                                                           \
    X(RUNS, "runs a get", "")                                                                      \
    X(MOST_RUNS, "most runs of a region", "")

enum figure {
#define FIGURE(name, label, unit) name,
    FIGURES(FIGURE)
#undef FIGURE
        FIGURE_COUNT
};

static const struct {
    const char *label, *unit;
} figures[FIGURE_COUNT] = {
#define FIGURE(name, label, unit) {label, unit},
    FIGURES(FIGURE)
#undef FIGURE
};

struct simulate_options {
    const char *order; /* NULL: the first two */
    const char *json_path;
    size_t bytes, memory, memtable, region, cell, flush, merge;
    uint64_t keys, puts, regions;
    double stored, logged, file_ms, rate;
};

static void
usage(void)
{
    fputs("usage: kv-bench simulate [options]\n"
          "What a table of N, 4 N and 16 N bytes would cost: the compaction policy and the\n"
          "pace of writers of this build, on sizes only, in simulated time; regions split.\n"
          "The lines of kv-bench grow, without those that only files give. Each table grows\n"
          "twice: as fast as possible, until the background is idle (gives rate and put\n"
          "p50), and at a share of that rate (the rest), where a put's latency counts\n"
          "from the time when it was due.\n"
          "  --bytes N              of user data; 64G\n"
          "  --memory BYTES         the limit of all memory; 256M\n"
          "  --memtable BYTES       of all memtables; an eighth of it, at most 64M\n"
          "  --region BYTES         of files, then a region splits; 10G; 0: never\n"
          "  --regions N            simulated one by one, 1 to 1024; 16. If there are\n"
          "                         more, in random order, each stands for several\n"
          "  --order NAME           of keys: random, sequential (each once), overwrite;\n"
          "                         the first two\n"
          "  --keys N               that are overwritten; 1G\n"
          "  --cell BYTES           of row, qualifier and value; 116\n"
          "  --stored RATIO         bytes in store files for a byte of the user's; 0.58\n"
          "  --logged RATIO         the same of the log; 1.1\n"
          "  --rate PERCENT         of the sustained rate; 80\n"
          "Rates of the machine, as measured:\n"
          "  --puts N               a second, while nothing hinders them; 1M\n"
          "  --flush BYTES          of memtables, a second; 200M\n"
          "  --merge BYTES          of files, a second, of each of two threads; 100M\n"
          "  --file MS              to make a file, beyond its bytes; 1\n"
          "  --json FILE            the results, too\n"
          "rate                   sustained: of the last quarter of the puts, until idle\n"
          "longest stall          latency from the due time; longest put: in one call\n"
          "longest job            what a compaction writes up to a commit\n"
          "write amplification    bytes of store files written for a byte of the user's;\n"
          "                       below it: what each rule of the policy adds\n"
          "space beyond the data  the most that logs, uncommitted outputs and replaced or\n"
          "                       shared files took\n"
          "file of a flush        its bytes, on average\n"
          "runs a get             whose rows span that of the get, on average, at the end\n"
          "most runs of a region  at any time\n",
          stderr);
}

/* ---- one table ---- */

static struct simulate_settings
settings_of(const struct simulate_options *options, enum simulate_order order)
{
    return (struct simulate_settings){.order = order,
                                      .memory_bytes = options->memory,
                                      .memtable_bytes = options->memtable,
                                      .region_bytes = options->region,
                                      .most_regions = options->regions,
                                      .cell_bytes = (double)options->cell,
                                      .cell_overhead = CELL_OVERHEAD,
                                      .stored = options->stored,
                                      .logged = options->logged,
                                      .keys = (double)options->keys,
                                      .puts = (double)options->puts,
                                      .flush_rate = (double)options->flush,
                                      .merge_rate = (double)options->merge,
                                      .file_seconds = options->file_ms / 1000};
}

static double
bytes_of(const struct simulate_options *options, int size)
{
    return (double)options->bytes * (double)(1 << (2 * size));
}

/* As fast as possible: sets what the rest goes by. One table grows through all sizes, and rests at
 * each. What can be sustained is the rate of the last quarter: the larger a table, the more often
 * its bytes are written. */
static void
grow_fast(const struct simulate_options *options, const struct simulate_settings *settings,
          double values[SIZES][FIGURE_COUNT])
{
    struct simulate_table *table = simulate_table_new(settings);

    for (int i = 0; i < SIZES; i++) {
        double bytes = bytes_of(options, i), seconds, user;

        simulate_table_grow(table, bytes * 3 / 4);
        seconds = table->seconds;
        user = table->user;
        simulate_table_grow(table, bytes);
        simulate_table_rest(table);
        values[i][P50] = (double)bench_histogram_share(&table->puts, 0.5) / 1e3;
        values[i][RATE] =
            (table->user - user) / (table->seconds - seconds) / settings->cell_bytes / 1e3;
    }
    simulate_table_free(table);
}

static void
grow_paced(const struct simulate_settings *settings, double bytes, double values[FIGURE_COUNT])
{
    struct simulate_table *table = simulate_table_new(settings);
    const struct simulate_compactor *compactor = &table->compactor;
    const double *merged = compactor->merged;
    double written;

    simulate_table_grow(table, bytes);
    written = table->flushed;
    for (size_t i = 0; i < SIMULATE_REASONS; i++)
        written += merged[i];
    values[P999] = (double)bench_histogram_share(&table->puts, 0.999) / 1e3;
    values[STALL] = (double)table->puts.greatest / 1e6;
    values[LONGEST_PUT] = table->longest_put * 1e3;
    values[WRITTEN] = written / table->user;
    values[WRITTEN_WITH_LOG] = (written + table->log) / table->user;
    values[NEWER] = merged[POLICY_NEWER_BYTES] / table->user;
    values[LEVEL] = merged[POLICY_LEVEL] / table->user;
    values[EXPLORING] = (merged[POLICY_EXPLORING] + merged[POLICY_STUCK]) / table->user;
    values[SPACE] = compactor->most_taken / 0x1p20;
    values[JOB_BYTES] = compactor->longest_bytes / 0x1p20;
    values[JOB_TIME] = compactor->longest_seconds * 1e3;
    values[REGIONS] = simulate_table_regions(table);
    values[FILES] = table->disk.files;
    values[FLUSHED] = table->flushed / table->flushed_files / 0x1p10;
    values[RUNS] = simulate_table_runs_met(table);
    values[MOST_RUNS] = (double)table->most_runs;
    simulate_table_free(table);
}

/* ---- one order ---- */

static void
print_order(const struct simulate_options *options, size_t order,
            double values[SIZES][FIGURE_COUNT])
{
    char text[BENCH_FIGURE_BYTES];

    printf("%s: %s\n%-24s%-4s", orders[order].name, orders[order].meaning, "bytes", "MiB");
    for (int i = 0; i < SIZES; i++) {
        bench_number_text(text, bytes_of(options, i) / 0x1p20, "");
        printf(" %11s", text);
    }
    putchar('\n');
    for (size_t figure = 0; figure < FIGURE_COUNT; figure++) {
        printf("%-24s%-4s", figures[figure].label, figures[figure].unit);
        for (int i = 0; i < SIZES; i++) {
            bench_number_text(text, values[i][figure], "");
            printf(" %11s", text);
        }
        putchar('\n');
    }
}

static void
add_results(struct bench_result *result, const struct simulate_options *options, size_t order,
            double values[SIZES][FIGURE_COUNT])
{
    char operation[BENCH_NAME_BYTES], setting[BENCH_NAME_BYTES];

    for (int i = 0; i < SIZES; i++) {
        snprintf(setting, sizeof setting, "%.0f bytes", bytes_of(options, i));
        for (size_t figure = 0; figure < FIGURE_COUNT; figure++) {
            const char *label = figures[figure].label + strspn(figures[figure].label, " ");
            struct bench_outcome outcome;

            snprintf(operation, sizeof operation, "%s, %s", orders[order].name, label);
            outcome = bench_outcome_of_count(operation, setting, values[i][figure]);
            bench_result_add(result, &outcome);
        }
    }
}

static void
simulate(const struct simulate_options *options, size_t order, struct bench_result *result)
{
    struct simulate_settings settings = settings_of(options, orders[order].order);
    double values[SIZES][FIGURE_COUNT];

    grow_fast(options, &settings, values);
    for (int i = 0; i < SIZES; i++) {
        settings.offered = values[i][RATE] * 1e3 * settings.cell_bytes * options->rate / 100;
        grow_paced(&settings, bytes_of(options, i), values[i]);
    }
    print_order(options, order, values);
    add_results(result, options, order, values);
}

/* ---- the command ---- */

static bool
is_refused(const struct simulate_options *options)
{
    bool known = options->order == NULL;
    double flushes = bytes_of(options, SIZES - 1) / (double)options->memtable;

    for (size_t i = 0; i < ORDERS; i++)
        known = known || strcmp(options->order, orders[i].name) == 0;
    return bench_refused(!known, "--order is random, sequential or overwrite") ||
           bench_refused(options->cell == 0 || options->keys == 0 || options->puts == 0 ||
                             options->flush == 0 || options->merge == 0,
                         "--cell, --keys, --puts, --flush and --merge are above zero") ||
           bench_refused(!(options->stored > 0 && options->stored <= 100 && options->logged >= 0 &&
                           options->logged <= 100),
                         "--stored and --logged are up to 100, --stored above zero") ||
           bench_refused(!(options->file_ms >= 0 && options->file_ms <= 1000),
                         "--file is up to 1000 milliseconds") ||
           bench_refused(!(options->rate >= 1 && options->rate <= 100),
                         "--rate is from 1 to 100 percent") ||
           bench_refused(options->memtable < 64 * options->cell ||
                             options->memtable > options->memory / 4,
                         "--memtable is from 64 cells to a quarter of --memory") ||
           bench_refused(options->region > 0 &&
                             options->region / LEAST_REGION_FLUSH < options->memtable,
                         "--region is 0 or at least four times --memtable") ||
           bench_refused(options->regions < 1 || options->regions > SIMULATE_MOST_REGIONS,
                         "--regions is from 1 to 1024") ||
           bench_refused(options->bytes < options->memtable || flushes > MOST_FLUSHES,
                         "--bytes is from --memtable to a million times as much");
}

int
bench_simulate_main(int argc, char **argv)
{
    struct simulate_options given = {.bytes = (size_t)64 << 30,
                                     .memory = (size_t)256 << 20,
                                     .region = (size_t)10 << 30,
                                     .regions = 16,
                                     .cell = 116,
                                     .flush = (size_t)200 << 20,
                                     .merge = (size_t)100 << 20,
                                     .keys = 1000000000,
                                     .puts = 1000000,
                                     .stored = 0.58,
                                     .logged = 1.1,
                                     .file_ms = 1,
                                     .rate = 80};
    const struct bench_option options[] = {
        {"--bytes", BENCH_BYTES, &given.bytes},       {"--memory", BENCH_BYTES, &given.memory},
        {"--memtable", BENCH_BYTES, &given.memtable}, {"--region", BENCH_BYTES, &given.region},
        {"--regions", BENCH_COUNT, &given.regions},   {"--order", BENCH_TEXT, &given.order},
        {"--keys", BENCH_COUNT, &given.keys},         {"--cell", BENCH_BYTES, &given.cell},
        {"--stored", BENCH_NUMBER, &given.stored},    {"--logged", BENCH_NUMBER, &given.logged},
        {"--rate", BENCH_NUMBER, &given.rate},        {"--puts", BENCH_COUNT, &given.puts},
        {"--flush", BENCH_BYTES, &given.flush},       {"--merge", BENCH_BYTES, &given.merge},
        {"--file", BENCH_NUMBER, &given.file_ms},     {"--json", BENCH_OUTPUT, &given.json_path},
    };
    const struct bench_file file =
        bench_file_of("simulate", argc, argv, options, sizeof options / sizeof *options);
    struct bench_result result = {0};

    if (!bench_options_read(options, file.option_count, argc, argv))
        return bench_options_explain(usage);
    if (given.memtable == 0)
        given.memtable = given.memory / 8 < MOST_MEMTABLE ? given.memory / 8 : MOST_MEMTABLE;
    if (is_refused(&given))
        return 2;
    for (size_t i = 0; i < ORDERS; i++) {
        bool asked = given.order == NULL ? orders[i].order != SIMULATE_OVERWRITE
                                         : strcmp(given.order, orders[i].name) == 0;

        if (asked)
            simulate(&given, i, &result);
    }
    bench_file_write(&file, given.json_path, &result, NULL);
    bench_result_free(&result);
    return 0;
}
