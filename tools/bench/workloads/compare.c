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
#include "tools/bench/harness/json.h"
#include "tools/bench/stores/assertions.h"
#include "tools/bench/workloads/rows.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define MOST_SECONDS 1000000

struct compare {
    struct bench_rows rows; /* first: the plan's settings */
    uint64_t repeats;
    struct bench_config config;
    const struct bench_store *stores[BENCH_MOST_STORES];
    size_t store_count;
    bool details;      /* not ratios alone */
    bool markdown;     /* ratios with their ranges, as a table for documents */
    double others;     /* percent that others may take of an idle machine */
    uint64_t wait;     /* seconds, for that */
    const char *named; /* stores */
    const char *json;  /* NULL: none */
    const char *row_names;
};

_Static_assert(offsetof(struct compare, rows) == 0,
               "stages take the settings for struct bench_rows");

/* ---- the command ---- */

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

/* What was measured, and on what, before the table of a document. */
static void
print_paragraph(const struct compare *compare)
{
    const struct bench_config *config = &compare->config;
    uint64_t pairs = compare->rows.pairs;
    char processor[128];

    bench_processor_name(processor, sizeof processor);
    printf("%llu pairs of %d + %d bytes, ", (unsigned long long)pairs, BENCH_KEY_BYTES,
           BENCH_VALUE_BYTES);
    bench_print_bytes("together", pairs * (BENCH_KEY_BYTES + BENCH_VALUE_BYTES));
    printf(", written in random order by %llu thread%s; %llu lookups; %llu repeat%s by turns.",
           (unsigned long long)compare->rows.threads.values[0],
           compare->rows.threads.values[0] == 1 ? "" : "s", (unsigned long long)compare->rows.gets,
           (unsigned long long)compare->repeats, compare->repeats == 1 ? "" : "s");
    bench_print_bytes(" Blocks of", config->block_bytes);
    bench_print_bytes(", cache", config->cache_bytes);
    bench_print_bytes(" (small:", bench_rows_small_cache(&compare->rows));
    bench_print_bytes("), write buffers", config->write_buffer_bytes);
    printf(".\n%ld processors: %s.\n\n", sysconf(_SC_NPROCESSORS_ONLN), processor);
    printf("A rate, a time or a count of Petal's (median); then Petal's time (or count) divided by "
           "the other's: the median of\nthe ratios within repeats (least–greatest). Below 1 Petal "
           "takes less; **bold**: Petal is behind in every repeat;\n~: neither is "
           "ahead, " BENCH_VERDICT_RULE
           ".\nOthers: the share of the processors' time that was not the "
           "benchmark's.\n\n");
}

static void
print_head(const void *settings)
{
    const struct compare *compare = settings;
    const struct bench_rows *rows = &compare->rows;
    const struct bench_config *config = &compare->config;

    warn(stdout);
    if (compare->markdown) {
        print_paragraph(compare);
        return;
    }
    printf("%llu pairs of %d + %d bytes, written in random order; %llu lookups; medians of %llu "
           "repeat%s\n",
           (unsigned long long)rows->pairs, BENCH_KEY_BYTES, BENCH_VALUE_BYTES,
           (unsigned long long)rows->gets, (unsigned long long)compare->repeats,
           compare->repeats == 1 ? "" : "s by turns");
    bench_print_bytes("blocks of", config->block_bytes);
    bench_print_bytes(", cache", config->cache_bytes);
    bench_print_bytes(" (small: a tenth of the data,", bench_rows_small_cache(rows));
    bench_print_bytes("), write buffers", config->write_buffer_bytes);
    printf("\nreads, but the first scan: after each engine's own full compaction\n");
    if (!compare->details) {
        printf("petal: a rate, the time of one, or bytes; others: Petal's time (or bytes) divided "
               "by theirs:\nbelow 1 Petal is ahead\n");
        return;
    }
    printf("after medians: (least .. greatest)\n");
    bench_rows_print(rows);
    printf("\n");
    for (size_t i = 0; i < compare->store_count; i++) {
        const struct bench_store *store = compare->stores[i];
        char text[512] = "";

        store->describe(config, text, sizeof text);
        printf("  %s: assertions %s, %s\n", store->name,
               bench_assertions_text(bench_assertions_of(store)), text);
    }
}

/* Does `make rivals` build it? */
static bool
is_built_here(const struct bench_store *store)
{
    return strcmp(store->name, "leveldb") == 0 || strncmp(store->name, "rocksdb", 7) == 0;
}

/* Each library and its assertions, up to its settings, in one line. */
static void
print_stores(const struct compare *compare)
{
    const char *between = "";

    for (size_t i = 0; i < compare->store_count; i++) {
        const struct bench_store *store = compare->stores[i];
        char text[512] = "";

        store->describe(&compare->config, text, sizeof text);
        text[strcspn(text, ",;")] = '\0';
        printf("%s%s: %s, assertions %s", between, store->title, text,
               bench_assertions_text(bench_assertions_of(store)));
        between = "; ";
    }
    printf(".\n");
}

/* What the rivals are, each library once, up to its settings; and what else there is to see. */
static void
print_foot(const void *settings)
{
    const struct compare *compare = settings;
    char before[512] = "";
    bool helps = false;

    if (compare->details)
        return;
    if (compare->markdown) {
        print_stores(compare);
        return;
    }
    for (size_t i = 0; i < compare->store_count; i++) {
        const struct bench_store *store = compare->stores[i];
        char text[512] = "";

        if (store == &bench_store_petal)
            continue;
        helps =
            helps || (is_built_here(store) && bench_assertions_of(store) == BENCH_ASSERTIONS_ON);
        store->describe(&compare->config, text, sizeof text);
        text[strcspn(text, ";")] = '\0';
        if (strcmp(text, before) != 0)
            printf("%s %s\n", store->name, text);
        memcpy(before, text, sizeof before);
    }
    if (helps)
        printf("`make rivals` brings RocksDB and LevelDB without assertions; `make bench-quick` "
               "takes them then.\n");
    printf("--details: ranges, latencies, each store's settings, what each line is.\n");
}

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
          "  --store LIST           of petal,rocksdb,rocksdb-tuned,leveldb,lmdb, as far as\n"
          "                         built in, or all; all\n"
          "  --rows LIST            of those below, or all; all\n"
          "  --num N                pairs; 5M; 1M\n"
          "  --gets N               1M; 500k. A quarter as many seeks, a hundredth of cold\n"
          "                         gets\n"
          "  --repeats N            5; 3\n"
          "  --synced N             3k; 1k. Synced puts\n"
          "  --threads LIST         1,2; 1. Fills, gets, seeks, scans with each\n"
          "  --block-size BYTES     4K\n"
          "  --bits N               of Bloom filters, a key; 10; 0: none\n"
          "  --cache BYTES          of blocks; 1G\n"
          "  --write-buffer BYTES   64M\n"
          "  --details              a line a store: ranges, latencies, processor time; what\n"
          "                         each row and store is\n"
          "  --markdown             a table for documents: each ratio with its range\n"
          "  --others PERCENT       5. Each repeat waits until others take no more of the\n"
          "                         processors' time,\n"
          "  --wait SECONDS         60; 0: not. But no longer than that in all\n"
          "  --json FILE            the results once more, for kv-bench diff\n"
          "Exit status: 1 when an answer was wrong.\n"
          "Rows:\n",
          stderr);
    bench_rows_list();
}

static bool
has_petal(const struct compare *compare)
{
    for (size_t i = 0; i < compare->store_count; i++) {
        if (compare->stores[i] == &bench_store_petal)
            return true;
    }
    return false;
}

static bool
is_usable(struct compare *compare)
{
    if (bench_refused(compare->rows.pairs == 0 || compare->rows.gets == 0,
                      "--num and --gets are above 0") ||
        bench_refused(compare->repeats == 0 || compare->repeats > BENCH_MOST_REPEATS,
                      "--repeats is a number from 1 to 64") ||
        bench_refused(!(compare->others >= 0 && compare->others <= 100),
                      "--others is a number from 0 to 100") ||
        bench_refused(compare->wait > MOST_SECONDS, "--wait is at most 1000000") ||
        bench_refused(compare->markdown && compare->details,
                      "--markdown and --details exclude each other") ||
        bench_refused(compare->markdown && compare->rows.threads.count > 1,
                      "--markdown is for one number of --threads") ||
        !bench_threads_fit(&compare->rows.threads) ||
        !bench_rows_named(compare->row_names, &compare->rows.wanted))
        return false;
    return bench_config_fits(&compare->config) &&
           bench_stores_named(compare->named, compare->stores, &compare->store_count) &&
           !bench_refused(compare->markdown && !has_petal(compare),
                          "--markdown divides by Petal's figures: it must be among the stores");
}

/* `compare` has the defaults. */
static int
run_command(const char *name, struct compare compare, int argc, char **argv)
{
    const struct bench_option options[] = {
        {"--store", BENCH_TEXT, &compare.named},
        {"--rows", BENCH_TEXT, &compare.row_names},
        {"--num", BENCH_COUNT, &compare.rows.pairs},
        {"--gets", BENCH_COUNT, &compare.rows.gets},
        {"--repeats", BENCH_COUNT, &compare.repeats},
        {"--synced", BENCH_COUNT, &compare.rows.synced_puts},
        {"--block-size", BENCH_BYTES, &compare.config.block_bytes},
        {"--bits", BENCH_NUMBER, &compare.config.bits_per_key},
        {"--threads", BENCH_COUNTS, &compare.rows.threads},
        {"--cache", BENCH_BYTES, &compare.config.cache_bytes},
        {"--write-buffer", BENCH_BYTES, &compare.config.write_buffer_bytes},
        {"--details", BENCH_FLAG, &compare.details},
        {"--markdown", BENCH_FLAG, &compare.markdown},
        {"--others", BENCH_NUMBER, &compare.others},
        {"--wait", BENCH_COUNT, &compare.wait},
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
                              .head = print_head,
                              .foot = print_foot,
                              .name_row = bench_rows_name,
                              .work = bench_rows_work};
    struct bench_patience patience;

    if (!bench_options_read(options, plan.option_count, argc, argv))
        return bench_options_explain(usage);
    if (!is_usable(&compare))
        return 2;
    compare.details = compare.details || !has_petal(&compare);
    plan.form = compare.markdown ? BENCH_MARKDOWN : compare.details ? BENCH_LINES : BENCH_SCREEN;
    patience =
        (struct bench_patience){.limit = compare.others / 100, .seconds = (double)compare.wait};
    plan.patience = &patience;
    if (isatty(STDERR_FILENO) != 1 || isatty(STDOUT_FILENO) != 1) /* else print_head's is enough */
        warn(stderr);
    plan.stages = bench_rows_stages(&compare.rows);
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
                       (struct compare){.rows = {.pairs = 5000000,
                                                 .gets = 1000000,
                                                 .synced_puts = 3000,
                                                 .threads = {{1, 2}, 2}},
                                        .named = "all",
                                        .row_names = "all",
                                        .repeats = 5,
                                        .others = 5,
                                        .wait = 60,
                                        .config = bench_config_default()},
                       argc, argv);
}

int
bench_quick_main(int argc, char **argv)
{
    return run_command(
        "quick",
        (struct compare){
            .rows = {.pairs = 1000000, .gets = 500000, .synced_puts = 1000, .threads = {{1}, 1}},
            .named = "all",
            .row_names = "all",
            .repeats = 3,
            .others = 5,
            .wait = 60,
            .config = bench_config_default()},
        argc, argv);
}
