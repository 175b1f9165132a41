/* settings.c -- see tools/bench/stores/settings.h. */
#include "tools/bench/stores/settings.h"

struct bench_settings
bench_settings_default(void)
{
    return (struct bench_settings){.stores = "petal",
                                   .threads = {{1}, 1},
                                   .seed = 1,
                                   .repeats = 1,
                                   .config = bench_config_default()};
}

bool
bench_settings_apply(struct bench_settings *settings, size_t most_threads)
{
    settings->config.compress = !settings->no_compression;
    for (size_t i = 0; i < settings->threads.count; i++) {
        if (bench_refused(i == most_threads || settings->threads.values[i] > BENCH_MOST_THREADS,
                          most_threads > 1 ? "--threads are numbers from 1 to 256"
                                           : "--threads is a number from 1 to 256"))
            return false;
    }
    return !bench_refused(settings->repeats == 0 || settings->repeats > BENCH_MOST_REPEATS,
                          "--repeats is a number from 1 to 64") &&
           bench_config_fits(&settings->config) &&
           bench_stores_named(settings->stores, settings->chosen, &settings->chosen_count);
}

void
bench_settings_usage(void)
{
    fputs("  --store LIST           of petal,rocksdb,rocksdb-tuned,leveldb,lmdb, as far as\n"
          "                         built in, or all\n"
          "  --seed N               1\n"
          "  --block-size BYTES     4K\n"
          "  --bits N               of Bloom filters, a key; 10; 0: none\n"
          "  --cache BYTES          of blocks; 1G\n"
          "  --write-buffer BYTES   64M\n"
          "  --memory BYTES         Petal's limit of all memory, in place of both\n"
          "  --sync                 each write is on the medium before it returns\n"
          "  --no-compression\n"
          "  --json FILE            the results once more, for kv-bench diff\n"
          "Each store runs in a process of its own. Exit status: 1 when an answer was\n"
          "wrong.\n",
          stderr);
}
