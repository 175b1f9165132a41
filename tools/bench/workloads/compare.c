/*
 * compare.c -- `kv-bench compare` and `kv-bench quick`: single operations of Petal next to its
 * rivals.
 *
 * Every store gets the same keys in the same order: 16 bytes spread evenly over one range, values
 * of 100 bytes that compress to about half. Operations are db_bench's
 * (tools/bench/workloads/workload.h), in stages that all stores go through
 * (tools/bench/workloads/rows.h).
 */
#include "tools/bench/harness/commands.h"
#include "tools/bench/stores/assertions.h"
#include "tools/bench/workloads/rows.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define MOST_SECONDS 1000000

struct compare {
    struct bench_rows rows; /* first: the plan's settings */
    struct bench_settings common;
    bool markdown; /* a table for documents */
    double others; /* percent that others may take of an idle machine */
    uint64_t wait; /* seconds, for that */
    const char *row_names;
};

_Static_assert(offsetof(struct compare, rows) == 0,
               "stages take the settings for struct bench_rows");

/* ---- what goes before the table and after it ---- */

/* Figures that people may quote come from a release build. */
static void
warn(FILE *to)
{
    if (bench_assertions_of(&bench_store_petal) == BENCH_ASSERTIONS_ON)
        fputs("ATTENTION: THIS BUILD OF PETAL HAS ITS ASSERTIONS ON, WHICH MAKES IT SLOWER. Its "
              "figures "
              "are not\nto be quoted; `make bench-quick` measures a release build.\n\n",
              to);
}

static void
print_head(const void *settings)
{
    const struct compare *compare = settings;
    const struct bench_rows *rows = &compare->rows;
    const struct bench_config *config = &compare->common.config;
    char processor[128];

    bench_processor_name(processor, sizeof processor);
    warn(stdout);
    printf("%llu pairs of %d + %d bytes, written in random order; %llu lookups; medians of %llu "
           "repeat%s\n",
           (unsigned long long)rows->pairs, BENCH_KEY_BYTES, BENCH_VALUE_BYTES,
           (unsigned long long)rows->gets, (unsigned long long)compare->common.repeats,
           compare->common.repeats == 1 ? "" : "s by turns");
    bench_print_bytes("blocks of", config->block_bytes);
    bench_print_bytes(", cache", config->cache_bytes);
    bench_print_bytes(" (small: a tenth of the data,", bench_rows_small_cache(rows));
    bench_print_bytes("), write buffers", config->write_buffer_bytes);
    printf("\nreads, but the first scan: after each engine's own full compaction\n");
    printf("petal: a rate, the time of one, or bytes; others: Petal's time (or bytes) divided "
           "by theirs:\nbelow 1 Petal is ahead\n");
    if (compare->markdown)
        printf("(least–greatest of the ratios within repeats); **bold**: Petal is behind in every "
               "repeat;\n~: neither is ahead, " BENCH_VERDICT_RULE
               ".\nothers: the share of the processors' time that was not the benchmark's\n"
               "%ld processors: %s\n\n",
               sysconf(_SC_NPROCESSORS_ONLN), processor);
}

/* Does `make rivals` build it? */
static bool
is_built_here(const struct bench_store *store)
{
    return strcmp(store->name, "leveldb") == 0 || strncmp(store->name, "rocksdb", 7) == 0;
}

/* What the stores are, each library once, up to what it is tuned by. */
static void
print_foot(const void *settings)
{
    const struct compare *compare = settings;
    char before[512] = "";
    bool helps = false;

    for (size_t i = 0; i < compare->common.chosen_count; i++) {
        const struct bench_store *store = compare->common.chosen[i];
        enum bench_assertions assertions = bench_assertions_of(store);
        char text[512] = "";

        helps = helps || (is_built_here(store) && assertions == BENCH_ASSERTIONS_ON);
        store->describe(&compare->common.config, text, sizeof text);
        text[strcspn(text, ";")] = '\0';
        if (compare->markdown)
            printf("%s %s, assertions %s\n", store->title, text, bench_assertions_text(assertions));
        else if (strcmp(text, before) != 0 && store != &bench_store_petal)
            printf("%s %s\n", store->name, text);
        memcpy(before, text, sizeof before);
    }
    if (helps)
        printf("`make rivals` brings RocksDB and LevelDB without assertions; `make bench-quick` "
               "takes them then.\n");
}

/* ---- the command ---- */

static void
usage(void)
{
    fputs("usage: kv-bench compare [options], or kv-bench quick [options]\n"
          "Stores on the same keys, in processes of their own, interleaved. Every answer is\n"
          "checked.\n"
          "Ratios are Petal's time (or bytes) divided by the other's: below 1 Petal is\n"
          "ahead. ~ stands where neither is:\n" BENCH_VERDICT_RULE ".\n"
          "Each has a mark: whether the other's library carries assertions, asked of the\n"
          "library.\n"
          "Options, with the defaults of compare, and of quick:\n"
          "  --rows LIST            of those below, or all; all\n"
          "  --num N                pairs; 5M; 1M\n"
          "  --gets N               1M; 500k. A quarter as many seeks, a hundredth of cold\n"
          "                         gets\n"
          "  --synced N             3k; 1k. Synced puts\n"
          "  --threads LIST         1,2; 1. Fills, gets, seeks, scans with each\n"
          "  --repeats N            5; 3\n"
          "  --markdown             a table for documents: each ratio with its range\n"
          "  --others PERCENT       5. Each repeat waits until others take no more of the\n"
          "                         processors' time,\n"
          "  --wait SECONDS         60; 0: not. But no longer than that in all\n"
          "Of all stores, or with\n",
          stderr);
    bench_settings_usage();
    fputs("Rows:\n", stderr);
    bench_rows_list();
}

static bool
is_usable(struct compare *compare)
{
    return !bench_refused(compare->rows.pairs == 0 || compare->rows.gets == 0,
                          "--num and --gets are above 0") &&
           !bench_refused(!(compare->others >= 0 && compare->others <= 100),
                          "--others is a number from 0 to 100") &&
           !bench_refused(compare->wait > MOST_SECONDS, "--wait is at most 1000000") &&
           bench_rows_named(compare->row_names, &compare->rows.wanted) &&
           bench_settings_apply(&compare->common, BENCH_MOST_LISTED);
}

/* `compare` has the defaults that differ. */
static int
run_command(const char *name, struct compare compare, int argc, char **argv)
{
    const struct bench_option options[] = {
        {"--rows", BENCH_TEXT, &compare.row_names},
        {"--num", BENCH_COUNT, &compare.rows.pairs},
        {"--gets", BENCH_COUNT, &compare.rows.gets},
        {"--synced", BENCH_COUNT, &compare.rows.synced_puts},
        {"--markdown", BENCH_FLAG, &compare.markdown},
        {"--others", BENCH_NUMBER, &compare.others},
        {"--wait", BENCH_COUNT, &compare.wait},
        BENCH_SETTINGS_OPTIONS(compare.common),
    };
    struct bench_patience patience;
    struct bench_plan plan;

    compare.common.stores = "all";
    compare.row_names = "all";
    compare.others = 5;
    compare.wait = 60;
    if (!bench_options_read(options, sizeof options / sizeof *options, argc, argv))
        return bench_options_explain(usage);
    if (!is_usable(&compare))
        return 2;
    compare.rows.threads = compare.common.threads;
    compare.rows.seed = compare.common.seed;
    patience =
        (struct bench_patience){.limit = compare.others / 100, .seconds = (double)compare.wait};
    if (isatty(STDERR_FILENO) != 1 || isatty(STDOUT_FILENO) != 1) /* else print_head's is enough */
        warn(stderr);
    plan = bench_plan_of(&compare.common,
                         bench_file_of(name, argc, argv, options, sizeof options / sizeof *options),
                         &compare);
    plan.file.kind = "compare";
    plan.file.name_row = bench_rows_name;
    plan.live = false;
    plan.markdown = compare.markdown;
    plan.patience = &patience;
    plan.head = print_head;
    plan.foot = print_foot;
    plan.work = bench_rows_work;
    plan.stages = bench_rows_stages(&compare.rows);
    return bench_plan_run(&plan);
}

int
bench_compare_main(int argc, char **argv)
{
    struct compare compare = {.common = bench_settings_default(),
                              .rows = {.pairs = 5000000, .gets = 1000000, .synced_puts = 3000}};

    compare.common.threads = (struct bench_list){{1, 2}, 2};
    compare.common.repeats = 5;
    return run_command("compare", compare, argc, argv);
}

int
bench_quick_main(int argc, char **argv)
{
    struct compare compare = {.common = bench_settings_default(),
                              .rows = {.pairs = 1000000, .gets = 500000, .synced_puts = 1000}};

    compare.common.repeats = 3;
    return run_command("quick", compare, argc, argv);
}
