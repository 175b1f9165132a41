/*
 * grow.c -- `kv-bench grow`: what a database of N, 4 N and 16 N bytes costs, figure by figure: what
 * does not stay the same grows with the data.
 *
 * File: results (tools/bench/results/file.h) for each order, size and figure, with "per_unit" in
 * the unit that is printed.
 */
#include "tools/bench/grow/fill.h"
#include "tools/bench/harness/child.h"
#include "tools/bench/harness/commands.h"
#include "tools/bench/harness/directory.h"
#include "tools/bench/results/file.h"
#include "tools/bench/results/print.h"

#include <string.h>

#define SIZES      3
#define MOST_BYTES ((size_t)1 << 36)

static const struct {
    const char *name, *meaning;
    bool sequential;
} orders[] = {
    {"random", "each key once, in random order", false},
    {"sequential", "each key once, in ascending order", true},
};
#define ORDERS (sizeof orders / sizeof *orders)

static const struct {
    const char *label, *unit;
    double divisor;
} figures[GROW_FIGURE_COUNT] = {
#define GROW_FIGURE(name, label, unit, divisor) {label, unit, divisor},
    GROW_FIGURES(GROW_FIGURE)
#undef GROW_FIGURE
};

struct grow_options {
    const char *order; /* NULL: both */
    const char *json_path;
    size_t bytes, memory, region;
    double rate;
};

static void
usage(void)
{
    fputs("usage: kv-bench grow [options]\n"
          "Fills databases with N, 4 N and 16 N bytes of keys and values, and prints what\n"
          "each costs: what is not flat grows with the data. With a small memtable a small\n"
          "database stands for a large one. Each is filled twice: as fast as possible, until\n"
          "the background is idle (gives rate and put p50), and at a share of that rate\n"
          "(everything else), where a put's latency counts from the time when it was due.\n"
          "  --bytes N              8M\n"
          "  --memory BYTES         of memtables, 64K to 512M; 256K. The limit of all memory\n"
          "                         is eight times as much, at least 1M\n"
          "  --region BYTES         of files, then a region splits; half of --bytes, at\n"
          "                         least 64K\n"
          "  --rate PERCENT         of the sustained rate; 80\n"
          "  --order NAME           of keys: random, sequential; both\n"
          "  --json FILE            the results, too\n"
          "longest stall          latency from the due time; longest put: in one call\n"
          "rate                   sustained: of the last quarter of the puts, until idle\n"
          "write amplification    bytes of store files written for a byte of the user's\n"
          "space beyond the data  the most that logs, uncommitted outputs and replaced files\n"
          "                       took, sampled\n"
          "longest job            what a compaction writes up to a commit\n"
          "opening                the shortest of 5, after closing\n"
          "memory beyond the limit\n"
          "                       resident, the most\n"
          "blocks a get           of data, index and filters, cached or not, in 5,000 gets of\n"
          "                       existing keys after the fill\n"
          "Times are meaningful on an idle machine only.\n",
          stderr);
}

/* ---- one order ---- */

static void
fill_fast(void *fill)
{
    grow_fill_fast(fill);
}

static void
fill_paced(void *fill)
{
    grow_fill_paced(fill);
}

/* In a new directory and a process of its own. */
static bool
run_fill(struct grow_fill *fill, void (*work)(void *fill))
{
    int status;

    bench_make_directory(fill->directory, sizeof fill->directory);
    status = bench_child_run(work, fill);
    bench_remove_directory(fill->directory);
    return status == 0;
}

static bool
run_order(const struct grow_options *options, size_t order, struct grow_fill fills[SIZES])
{
    for (int i = 0; i < SIZES; i++) {
        struct grow_fill *fill = &fills[i];

        *fill = (struct grow_fill){.memory = options->memory,
                                   .region = options->region,
                                   .pairs = (options->bytes << (2 * i)) / GROW_PAIR_BYTES,
                                   .sequential = orders[order].sequential};
        if (!run_fill(fill, fill_fast))
            return false;
        fill->rate = fill->figures[GROW_RATE] * options->rate / 100;
        if (!run_fill(fill, fill_paced))
            return false;
    }
    return true;
}

static double
value_of(const struct grow_fill *fill, size_t figure)
{
    return fill->figures[figure] / figures[figure].divisor;
}

static void
print_order(const struct grow_options *options, size_t order, const struct grow_fill fills[SIZES])
{
    char text[BENCH_FIGURE_BYTES];

    printf("%s: %s\n%-25s%-4s", orders[order].name, orders[order].meaning, "bytes", "MiB");
    for (int i = 0; i < SIZES; i++) {
        bench_number_text(text, (double)(options->bytes << (2 * i)) / 0x1p20, "");
        printf(" %11s", text);
    }
    putchar('\n');
    for (size_t figure = 0; figure < GROW_FIGURE_COUNT; figure++) {
        printf("%-25s%-4s", figures[figure].label, figures[figure].unit);
        for (int i = 0; i < SIZES; i++) {
            bench_number_text(text, value_of(&fills[i], figure), "");
            printf(" %11s", text);
        }
        putchar('\n');
    }
    fflush(stdout);
}

static void
add_results(struct bench_result *result, const struct grow_options *options, size_t order,
            const struct grow_fill fills[SIZES])
{
    char operation[BENCH_NAME_BYTES], setting[BENCH_NAME_BYTES];

    for (int i = 0; i < SIZES; i++) {
        snprintf(setting, sizeof setting, "%zu bytes", options->bytes << (2 * i));
        for (size_t figure = 0; figure < GROW_FIGURE_COUNT; figure++) {
            struct bench_outcome outcome;

            snprintf(operation, sizeof operation, "%s, %s", orders[order].name,
                     figures[figure].label);
            outcome = bench_outcome_of_count(operation, setting, value_of(&fills[i], figure));
            bench_result_add(result, &outcome);
        }
    }
}

/* ---- the command ---- */

static void
print_others(const struct bench_machine *before)
{
    char text[BENCH_FIGURE_BYTES];
    struct bench_machine after;
    double busy, own, all;

    bench_machine_get(&after);
    bench_machine_taken(before, &after, &busy, &own, &all);
    bench_share_text(text, bench_others_share(busy, own, all));
    printf("others took %s of the machine's processor time\n", text);
}

static bool
is_refused(const struct grow_options *options)
{
    bool known = options->order == NULL;

    for (size_t i = 0; i < ORDERS; i++)
        known = known || strcmp(options->order, orders[i].name) == 0;
    return bench_refused(!known, "--order is random or sequential") ||
           bench_refused(options->memory < GROW_LEAST_MEMORY || options->memory > GROW_MOST_MEMORY,
                         "--memory is from 64K to 512M") ||
           bench_refused(options->bytes < options->memory || options->bytes > MOST_BYTES,
                         "--bytes is from --memory to 64G") ||
           bench_refused(options->region < GROW_LEAST_REGION, "--region is at least 64K") ||
           bench_refused(!(options->rate >= 1 && options->rate <= 100),
                         "--rate is from 1 to 100 percent");
}

int
bench_grow_main(int argc, char **argv)
{
    struct grow_options given = {.bytes = (size_t)8 << 20, .memory = (size_t)256 << 10, .rate = 80};
    const struct bench_option options[] = {
        {"--bytes", BENCH_BYTES, &given.bytes},   {"--memory", BENCH_BYTES, &given.memory},
        {"--region", BENCH_BYTES, &given.region}, {"--rate", BENCH_NUMBER, &given.rate},
        {"--order", BENCH_TEXT, &given.order},    {"--json", BENCH_OUTPUT, &given.json_path},
    };
    const struct bench_file file =
        bench_file_of("grow", argc, argv, options, sizeof options / sizeof *options);
    struct bench_result result = {0};
    struct bench_machine before;
    struct grow_fill *fills;
    uint64_t wrong = 0;

    if (!bench_options_read(options, file.option_count, argc, argv))
        return bench_options_explain(usage);
    if (given.region == 0)
        given.region = given.bytes / 2 > GROW_LEAST_REGION ? given.bytes / 2 : GROW_LEAST_REGION;
    if (is_refused(&given))
        return 2;
    fills = bench_child_share(SIZES * sizeof *fills);
    bench_machine_get(&before);
    for (size_t i = 0; i < ORDERS; i++) {
        if (given.order != NULL && strcmp(given.order, orders[i].name) != 0)
            continue;
        if (!run_order(&given, i, fills))
            return 3;
        print_order(&given, i, fills);
        add_results(&result, &given, i, fills);
        for (int k = 0; k < SIZES; k++)
            wrong += fills[k].wrong;
    }
    print_others(&before);
    bench_file_write(&file, given.json_path, &result, NULL);
    bench_result_free(&result);
    if (wrong > 0)
        printf("%llu answers of gets were wrong\n", (unsigned long long)wrong);
    return wrong > 0 ? 1 : 0;
}
