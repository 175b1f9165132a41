/*
 * compare.c -- `kv-bench compare` and `kv-bench quick`: single operations of Petal beside its rivals.
 *
 * Every store gets the same keys in the same order: 16 bytes spread evenly over one range, values of 100 bytes that compress to about half.
 * Repeats are interleaved, the store that begins changes from repeat to repeat, and ratios are taken within repeats, so that what
 * the machine does meanwhile meets all alike.
 */
#include "tools/bench/workloads/compare.h"

#include "tools/bench/harness/child.h"
#include "tools/bench/harness/commands.h"
#include "tools/bench/harness/json.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
    struct bench_compare compare;
    const char *stores, *versus, *json; /* NULL: not said */
};

/* What is said of a store besides its series: one a repeat, with blocks of the first size. */
struct footprint {
    uint64_t resident_peak[BENCH_MOST_REPEATS], disk_bytes[BENCH_MOST_REPEATS];
    size_t count;
};

/* ---- options ---- */

static int
usage(void)
{
    fputs("usage: kv-bench compare [options], or kv-bench quick [options]\n"
          "Stores on the same keys, in processes of their own, interleaved: fill in random order, "
          "and\n"
          "until the background rests; then get of what is there and what is not, seek + 10, scan, "
          "all\n"
          "cached; gets with a cache of a tenth of the data; synced puts.\n"
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
          "Exit status: 1 when the stores do not answer alike.\n",
          stderr);
    return 2;
}

/* --store: those, in that order; --vs: Petal and those. */
static bool
choose_stores(struct request *request)
{
    struct bench_compare *compare = &request->compare;
    const struct bench_store *named[BENCH_MOST_STORES];
    size_t count;

    if (bench_refused(request->stores != NULL && request->versus != NULL,
                      "--store and --vs exclude each other"))
        return false;
    if (request->versus == NULL)
        return bench_stores_named(request->stores != NULL ? request->stores : "all",
                                  compare->stores, &compare->store_count);
    if (!bench_stores_named(request->versus, named, &count))
        return false;
    compare->stores[compare->store_count++] = &bench_store_petal;
    for (size_t i = 0; i < count && compare->store_count < BENCH_MOST_STORES; i++) {
        if (named[i] != &bench_store_petal)
            compare->stores[compare->store_count++] = named[i];
    }
    return true;
}

static bool
is_usable(struct request *request)
{
    struct bench_compare *compare = &request->compare;

    if (bench_refused(compare->rows == 0 || compare->gets == 0, "--rows and --gets are above 0") ||
        bench_refused(compare->repeats == 0 || compare->repeats > BENCH_MOST_REPEATS,
                      "--repeats is a number from 1 to 64") ||
        !bench_threads_fit(&compare->threads))
        return false;
    for (size_t i = 0; i < compare->block_sizes.count; i++) {
        struct bench_config config = bench_compare_config(compare, i);

        if (!bench_config_fits(&config))
            return false;
    }
    return choose_stores(request);
}

struct bench_config
bench_compare_config(const struct bench_compare *compare, size_t block)
{
    struct bench_config config = compare->config;

    config.block_bytes = (size_t)compare->block_sizes.values[block];
    return config;
}

/* ---- running ---- */

static json_t *
numbers_to_json(const uint64_t *numbers, size_t count)
{
    json_t *list = bench_json_list();

    for (size_t i = 0; i < count; i++)
        bench_json_append(list, json_integer((json_int_t)numbers[i]));
    return list;
}

static json_t *
stores_to_json(const struct bench_compare *compare, const struct footprint *footprints)
{
    json_t *stores = bench_json_list();

    for (size_t i = 0; i < compare->store_count; i++) {
        const struct footprint *footprint = &footprints[i];
        struct bench_config config = bench_compare_config(compare, 0);
        char text[512] = "";

        compare->stores[i]->describe(&config, text, sizeof text);
        bench_json_append(
            stores,
            json_pack("{s:s, s:s, s:b, s:o, s:o}", "name", compare->stores[i]->name, "describe",
                      text, "assertions", (int)bench_compare_asserts(compare->stores[i], &config),
                      "peak_memory_bytes",
                      numbers_to_json(footprint->resident_peak, footprint->count), "disk_bytes",
                      numbers_to_json(footprint->disk_bytes, footprint->count)));
    }
    return stores;
}

static json_t *
settings_to_json(const struct bench_compare *compare)
{
    const struct bench_config *config = &compare->config;

    return json_pack("{s:I, s:I, s:I, s:I, s:i, s:i, s:I, s:I, s:I, s:f, s:b, s:b, s:b}", "rows",
                     (json_int_t)compare->rows, "gets", (json_int_t)compare->gets, "repeats",
                     (json_int_t)compare->repeats, "synced_puts", (json_int_t)compare->synced_puts,
                     "key_bytes", BENCH_KEY_BYTES, "value_bytes", BENCH_VALUE_BYTES, "cache_bytes",
                     (json_int_t)config->cache_bytes, "small_cache_bytes",
                     (json_int_t)bench_compare_small_cache(compare), "write_buffer_bytes",
                     (json_int_t)config->write_buffer_bytes, "bits_per_key", config->bits_per_key,
                     "compress", (int)config->compress, "log", (int)config->log, "as_written",
                     (int)compare->as_written);
}

static void
write_json(const struct bench_compare *compare, const struct bench_result *result, json_t *head,
           const struct footprint *footprints, const char *path)
{
    bench_json_set(head, "settings", settings_to_json(compare));
    bench_json_set(head, "stores", stores_to_json(compare, footprints));
    bench_result_write(result, head, path);
}

/* Operation by operation, so that the file and reports have their stores side by side. */
static void
take_in(struct bench_result *result, const struct bench_compare *compare, size_t block_bytes,
        const struct bench_compare_outcome *outcomes)
{
    for (size_t i = 0; i < BENCH_COMPARE_LINES; i++) {
        for (size_t s = 0; s < compare->store_count; s++) {
            const struct bench_compare_line *line = &outcomes[s].lines[i];
            struct bench_series_name name = {.block_bytes = block_bytes, .threads = line->threads};

            if (i >= outcomes[s].count)
                continue;
            snprintf(name.operation, sizeof name.operation, "%s", line->operation);
            snprintf(name.store, sizeof name.store, "%s", compare->stores[s]->name);
            bench_result_add(result, &name, &line->measured);
        }
    }
}

/* One repeat of all stores with blocks of one size; false when their answers differ. `outcomes`: room for one of each. */
static bool
run_round(const struct bench_compare *compare, uint64_t repeat, size_t block,
          struct bench_result *result, struct footprint *footprints,
          struct bench_compare_outcome *outcomes)
{
    struct bench_config config = bench_compare_config(compare, block);
    bool alike = true;

    for (size_t i = 0; i < compare->store_count; i++) {
        size_t at = (size_t)((repeat + i) % compare->store_count);

        if (isatty(STDERR_FILENO))
            fprintf(stderr, "repeat %llu of %llu: %s, blocks of %zu\n",
                    (unsigned long long)repeat + 1, (unsigned long long)compare->repeats,
                    compare->stores[at]->name, config.block_bytes);
        bench_compare_in_child(compare, compare->stores[at], &config, &outcomes[at]);
    }
    take_in(result, compare, config.block_bytes, outcomes);
    for (size_t i = 0; i < compare->store_count; i++) {
        if (block == 0) {
            footprints[i].resident_peak[footprints[i].count] = outcomes[i].resident_peak;
            footprints[i].disk_bytes[footprints[i].count++] = outcomes[i].disk_bytes;
        }
        if (outcomes[i].answers == outcomes[0].answers)
            continue;
        fprintf(stderr, "kv-bench: %s and %s answer differently\n", compare->stores[0]->name,
                compare->stores[i]->name);
        alike = false;
    }
    return alike;
}

static int
run(const struct request *request, json_t *head)
{
    const struct bench_compare *compare = &request->compare;
    struct footprint footprints[BENCH_MOST_STORES] = {0};
    struct bench_compare_outcome *outcomes =
        bench_child_share(compare->store_count * sizeof *outcomes);
    struct bench_result result = {0};
    bool alike = true;

    for (uint64_t repeat = 0; alike && repeat < compare->repeats; repeat++) {
        for (size_t block = 0; alike && block < compare->block_sizes.count; block++)
            alike = run_round(compare, repeat, block, &result, footprints, outcomes);
        if (request->json != NULL) /* anew after each repeat, so that a long run leaves something */
            write_json(compare, &result, head, footprints, request->json);
    }
    if (alike)
        bench_compare_print(compare, &result);
    bench_result_free(&result);
    json_decref(head);
    return alike ? 0 : 1;
}

/* `request` has the defaults. */
static int
run_command(const char *name, struct request *request, int argc, char **argv)
{
    struct bench_compare *compare = &request->compare;
    const struct bench_option options[] = {
        {"--store", BENCH_TEXT, &request->stores},
        {"--vs", BENCH_TEXT, &request->versus},
        {"--rows", BENCH_COUNT, &compare->rows},
        {"--gets", BENCH_COUNT, &compare->gets},
        {"--repeats", BENCH_COUNT, &compare->repeats},
        {"--synced", BENCH_COUNT, &compare->synced_puts},
        {"--block-size", BENCH_SIZES, &compare->block_sizes},
        {"--bits", BENCH_NUMBER, &compare->config.bits_per_key},
        {"--threads", BENCH_COUNTS, &compare->threads},
        {"--cache", BENCH_BYTES, &compare->config.cache_bytes},
        {"--write-buffer", BENCH_BYTES, &compare->config.write_buffer_bytes},
        {"--as-written", BENCH_FLAG, &compare->as_written},
        {"--json", BENCH_TEXT, &request->json},
    };

    if (!bench_options_read(options, sizeof options / sizeof *options, argc, argv))
        return usage();
    if (!is_usable(request))
        return 2;
    return run(request, bench_json_head("compare", name, argc, argv));
}

int
bench_compare_main(int argc, char **argv)
{
    struct request request = {.compare = {.rows = 5000000,
                                          .gets = 1000000,
                                          .repeats = 5,
                                          .synced_puts = 3000,
                                          .config = bench_config_default(),
                                          .block_sizes = {{4096}, 1},
                                          .threads = {{1, 2}, 2}}};

    return run_command("compare", &request, argc, argv);
}

int
bench_quick_main(int argc, char **argv)
{
    struct request request = {.compare = {.rows = 1000000,
                                          .gets = 500000,
                                          .repeats = 3,
                                          .synced_puts = 1000,
                                          .config = bench_config_default(),
                                          .block_sizes = {{4096}, 1},
                                          .threads = {{1}, 1}}};

    return run_command("quick", &request, argc, argv);
}
