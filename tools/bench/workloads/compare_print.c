/* compare_print.c -- the report of `kv-bench compare`; see tools/bench/workloads/compare.h. */
#include "tools/bench/workloads/compare.h"

#include <string.h>

#define DESCRIPTION_BYTES 512

bool
bench_compare_asserts(const struct bench_store *store, const struct bench_config *config)
{
    char text[DESCRIPTION_BYTES] = "";

    store->describe(config, text, sizeof text);
    return strstr(text, "assertions on") != NULL;
}

static void
print_bytes(const char *name, uint64_t bytes)
{
    if (bytes >= (uint64_t)1 << 20)
        printf("%s %.4g MiB", name, (double)bytes / (1 << 20));
    else
        printf("%s %.4g KiB", name, (double)bytes / 1024);
}

static void
print_head(const struct bench_compare *compare)
{
    char text[DESCRIPTION_BYTES];

    printf("%llu rows of %d + %d bytes in random order, log on, %llu gets; medians of %llu "
           "interleaved\nrepeats, behind them (least .. greatest)\n",
           (unsigned long long)compare->rows, BENCH_KEY_BYTES, BENCH_VALUE_BYTES,
           (unsigned long long)compare->gets, (unsigned long long)compare->repeats);
    print_bytes("cache", compare->config.cache_bytes);
    print_bytes(", small cache (a tenth of the data)", bench_compare_small_cache(compare));
    print_bytes(", write buffers", compare->config.write_buffer_bytes);
    printf("\nfill: the puts alone; settled: and until all is in files and the background rests\n");
    printf("%s\n\n", compare->as_written
                         ? "reads: of what each engine's own background left behind the fill"
                         : "reads: behind each engine's own full compaction (--as-written: of what "
                           "its background left)");
    for (size_t i = 0; i < compare->store_count; i++) {
        struct bench_config config = bench_compare_config(compare, 0);

        text[0] = '\0';
        compare->stores[i]->describe(&config, text, sizeof text);
        printf("  %s: %s\n", compare->stores[i]->name, text);
    }
}

static void
print_time(const double *values, size_t count)
{
    double median = bench_spread_of(values, count).median;

    if (median > 0)
        printf(" %9.2f", median);
    else
        printf(" %9s", "-");
}

/* A line of one store; `petal` is the line that the others are compared with, or NULL. */
static void
print_line(const struct bench_series *line, const struct bench_series *petal, bool asserts)
{
    struct bench_spread rate = bench_spread_of(line->per_second, line->count);
    char range[64];

    snprintf(range, sizeof range, "(%.4g .. %.4g)", rate.least, rate.greatest);
    printf("  %-11s %11.0f %-24s", line->name.store, rate.median, range);
    print_time(line->p50_us, line->count);
    print_time(line->p99_us, line->count);
    print_time(line->cpu_us, line->count);
    if (petal != NULL && petal != line) {
        double ratios[BENCH_MOST_REPEATS];
        struct bench_spread ratio =
            bench_spread_of(ratios, bench_series_ratios(petal, line, ratios));

        printf("   %.2f (%.2f .. %.2f)%s", ratio.median, ratio.least, ratio.greatest,
               asserts ? " (assertions on)" : "");
    }
    printf("\n");
}

/* All stores' lines of one operation. */
static void
print_operation(const struct bench_compare *compare, const struct bench_result *result,
                struct bench_series_name name)
{
    const struct bench_series *petal = NULL;

    printf("%s, %u thread%s\n", name.operation, name.threads, name.threads == 1 ? "" : "s");
    for (size_t i = 0; i < compare->store_count; i++) {
        const struct bench_store *store = compare->stores[i];
        const struct bench_series *line;

        snprintf(name.store, sizeof name.store, "%s", store->name);
        line = bench_result_find(result, &name);
        if (line == NULL)
            continue; /* it has no such thing: LMDB compacts nothing */
        if (store == &bench_store_petal)
            petal = line;
        print_line(line, petal, bench_compare_asserts(store, &compare->config));
    }
}

/* Has this operation a line of an earlier series? */
static bool
printed_before(const struct bench_result *result, size_t index)
{
    const struct bench_series_name *name = &result->series[index].name;

    for (size_t i = 0; i < index; i++) {
        const struct bench_series_name *other = &result->series[i].name;

        if (other->block_bytes == name->block_bytes && other->threads == name->threads &&
            strcmp(other->operation, name->operation) == 0)
            return true;
    }
    return false;
}

void
bench_compare_print(const struct bench_compare *compare, const struct bench_result *result)
{
    print_head(compare);
    for (size_t block = 0; block < compare->block_sizes.count; block++) {
        print_bytes("\nblocks of", compare->block_sizes.values[block]);
        printf("\n  %-11s %11s %-24s %9s %9s %9s   %s\n", "store", "per second", "", "p50 us",
               "p99 us", "cpu us", "petal's rate / this one's");
        for (size_t i = 0; i < result->count; i++) {
            const struct bench_series_name *name = &result->series[i].name;

            if (name->block_bytes == compare->block_sizes.values[block] &&
                !printed_before(result, i))
                print_operation(compare, result, *name);
        }
    }
}
