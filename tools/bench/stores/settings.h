/* settings.h -- the options that commands that run workloads on several stores share, and what
 * follows from them. */
#ifndef PETAL_TOOLS_BENCH_STORES_SETTINGS_H
#define PETAL_TOOLS_BENCH_STORES_SETTINGS_H

#include "tools/bench/harness/options.h"
#include "tools/bench/stores/store.h"

struct bench_settings {
    const char *stores, *json;
    struct bench_list threads;
    uint64_t seed, repeats;
    bool no_compression;
    struct bench_config config;

    /* What follows. */
    const struct bench_store *chosen[BENCH_MOST_STORES];
    size_t chosen_count;
};

/* Rows of a table of options for `settings`, a struct bench_settings. */
#define BENCH_SETTINGS_OPTIONS(settings)                                                           \
    {"--store", BENCH_TEXT, &(settings).stores}, {"--threads", BENCH_COUNTS, &(settings).threads}, \
        {"--seed", BENCH_COUNT, &(settings).seed},                                                 \
        {"--repeats", BENCH_COUNT, &(settings).repeats},                                           \
        {"--block-size", BENCH_BYTES, &(settings).config.block_bytes},                             \
        {"--bits", BENCH_NUMBER, &(settings).config.bits_per_key},                                 \
        {"--cache", BENCH_BYTES, &(settings).config.cache_bytes},                                  \
        {"--write-buffer", BENCH_BYTES, &(settings).config.write_buffer_bytes},                    \
        {"--memory", BENCH_BYTES, &(settings).config.memory_bytes},                                \
        {"--sync", BENCH_FLAG, &(settings).config.sync},                                           \
        {"--no-compression", BENCH_FLAG, &(settings).no_compression},                              \
    {                                                                                              \
        "--json", BENCH_OUTPUT, &(settings).json                                                   \
    }

/* Petal, one thread and bench_config_default(). */
struct bench_settings bench_settings_default(void);

/* Set what follows; at most so many numbers of threads; false, with words to bench_complain, when something is out of its range. */
bool bench_settings_apply(struct bench_settings *settings, size_t most_threads);

/* For the usage, on stderr; without --threads and --repeats. */
void bench_settings_usage(void);

#endif
