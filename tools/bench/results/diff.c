/*
 * diff.c -- `kv-bench diff`: two files of results side by side, of the same benchmark on two
 * builds; of any command that writes one (tools/bench/results/file.h).
 *
 * The other stores of both files are the control: their code did not change, so where they moved
 * the machine did. For each repeat Petal's rate is divided by the geometric mean of theirs in the
 * same operation. A line of Petal counts as moved when its rate is beyond the noise and, if there
 * is a control, this ratio as well. Lines of the control are shown, and count for nothing; in files
 * without Petal, and for stores that are alone, each line counts. Counts of work have no noise:
 * they count when they moved by more than the rates' least change.
 */
#include "tools/bench/harness/commands.h"
#include "tools/bench/harness/util.h"
#include "tools/bench/results/file.h"

#include <math.h>
#include <string.h>

struct sides {
    struct bench_result before, after;
    bool has_subject; /* Petal is in both */
};

static void
usage(void)
{
    fputs("usage: kv-bench diff BEFORE.json AFTER.json\n"
          "Medians of both and their change for each operation that both files have, which\n"
          "any command may have written. Marked is what moved beyond the noise:\n" BENCH_NOISE_RULE
          "Counts (of readamp, cliffs) are marked when they are more than 3 % apart.\n"
          "The other stores of the files are the control: to-control is the change of\n"
          "Petal's rate divided by the geometric mean of theirs, repeat by repeat; a line\n"
          "of Petal counts when that is beyond the noise, too, and those of the control\n"
          "never count, if Petal is there.\n"
          "Exit status: 0 nothing moved, 1 something did, 2 usage, 3 a file cannot be read.\n",
          stderr);
}

/*
 * Rates of the series divided by the geometric mean of the other stores' in the same operation,
 * repeat by repeat, taking only stores that have it in both files; how many.
 */
static size_t
rates_to_control(const struct bench_result *in, const struct bench_result *other,
                 const struct bench_series *series, double rates[BENCH_MOST_REPEATS])
{
    double sum[BENCH_MOST_REPEATS] = {0};
    size_t count = series->count, stores = 0;

    for (size_t i = 0; i < in->count; i++) {
        const struct bench_series *control = &in->series[i];
        struct bench_name name = series->name;

        memcpy(name.store, control->name.store, sizeof name.store);
        if (strcmp(name.store, series->name.store) == 0 ||
            bench_result_find(in, &name) != control || bench_result_find(other, &name) == NULL)
            continue;
        stores++;
        if (control->count < count)
            count = control->count;
        for (size_t repeat = 0; repeat < count; repeat++)
            sum[repeat] += log(control->values[BENCH_PER_SECOND][repeat]);
    }
    if (stores == 0)
        return 0;
    for (size_t repeat = 0; repeat < count; repeat++)
        rates[repeat] =
            series->values[BENCH_PER_SECOND][repeat] / exp(sum[repeat] / (double)stores);
    return count;
}

static double
change_of(double before, double after)
{
    return before > 0 ? (after / before - 1) * 100 : after > 0 ? INFINITY : 0;
}

/* Whether it counts as moved. */
static bool
print_line(const struct sides *sides, const struct bench_series *before,
           const struct bench_series *after)
{
    enum bench_metric measure = bench_series_measure(before);
    bool counted = measure == BENCH_PER_UNIT;
    double old_rates[BENCH_MOST_REPEATS], new_rates[BENCH_MOST_REPEATS];
    double old_median = bench_series_median(before, measure);
    double new_median = bench_series_median(after, measure);
    bool is_subject = strcmp(before->name.store, BENCH_SUBJECT) == 0;
    bool moved = counted ? fabs(change_of(old_median, new_median)) > BENCH_LEAST_CHANGE * 100
                         : bench_differ(before->values[measure], before->count,
                                        after->values[measure], after->count);
    size_t old_count = 0, new_count = 0;
    bool counts = moved && (is_subject || !sides->has_subject);
    char blocks[24] = "-";

    if (before->name.block_bytes > 0)
        snprintf(blocks, sizeof blocks, "%llu", (unsigned long long)before->name.block_bytes);
    printf("%-26s %7s %4u %-11s %12.*f %12.*f %+8.1f%%", before->name.operation, blocks,
           before->name.threads, before->name.store, counted ? 4 : 0, old_median, counted ? 4 : 0,
           new_median, change_of(old_median, new_median));
    if (!counted && is_subject) {
        old_count = rates_to_control(&sides->before, &sides->after, before, old_rates);
        new_count = rates_to_control(&sides->after, &sides->before, after, new_rates);
    }
    if (old_count > 0 && new_count > 0) {
        printf(" %+10.1f%%", change_of(bench_spread_of(old_rates, old_count).median,
                                       bench_spread_of(new_rates, new_count).median));
        counts = counts && bench_differ(old_rates, old_count, new_rates, new_count);
    }
    if (counts)
        printf("   <-- %s", counted                   ? (new_median > old_median ? "more" : "less")
                            : new_median > old_median ? "faster"
                                                      : "slower");
    else if (moved)
        printf("%s  the machine", old_count > 0 && new_count > 0 ? " " : "             ");
    if (before->name.setting[0] != '\0')
        printf("%*s%s", counts ? 2 : 14, "", before->name.setting);
    putchar('\n');
    return counts;
}

static bool
has_store(const struct bench_result *result, const char *store)
{
    for (size_t i = 0; i < result->count; i++) {
        if (strcmp(result->series[i].name.store, store) == 0)
            return true;
    }
    return false;
}

/* Returns the exit status. */
static int
compare_sides(struct sides *sides)
{
    size_t common = 0, moved = 0;

    sides->has_subject =
        has_store(&sides->before, BENCH_SUBJECT) && has_store(&sides->after, BENCH_SUBJECT);
    for (size_t i = 0; i < sides->before.count; i++) {
        const struct bench_series *before = &sides->before.series[i];
        const struct bench_series *after = bench_result_find(&sides->after, &before->name);

        if (after == NULL || bench_series_measure(before) != bench_series_measure(after))
            continue;
        if (common++ == 0)
            printf("%-26s %7s %4s %-11s %12s %12s %9s %11s\n", "operation", "blocks", "thr",
                   "store", "before", "after", "change", "to-control");
        moved += print_line(sides, before, after);
    }
    if (common == 0) {
        fputs("kv-bench: the files have no operation in common\n", stderr);
        return 3;
    }
    printf("%zu of %zu lines beyond the noise; %zu only before, %zu only after\n", moved, common,
           sides->before.count - common, sides->after.count - common);
    return moved > 0 ? 1 : 0;
}

int
bench_diff_main(int argc, char **argv)
{
    struct sides sides = {0};
    char fault[512];
    int status = 3;

    if (bench_asks_for_help(argc, argv) ||
        bench_refused(argc != 2 || argv[0][0] == '-' || argv[1][0] == '-', "diff needs two files"))
        return bench_options_explain(usage);
    if (bench_file_read(&sides.before, argv[0], fault, sizeof fault) &&
        bench_file_read(&sides.after, argv[1], fault, sizeof fault))
        status = compare_sides(&sides);
    else
        fprintf(stderr, "kv-bench: %s\n", fault);
    bench_result_free(&sides.before);
    bench_result_free(&sides.after);
    return status;
}
