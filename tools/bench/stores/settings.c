/* settings.c -- see tools/bench/stores/settings.h. */
#include "tools/bench/stores/settings.h"

struct bench_settings
bench_settings_default(void)
{
    return (struct bench_settings){.stores = "petal",
                                   .threads = 1,
                                   .seed = 1,
                                   .repeats = 1,
                                   .ratio = 0.5,
                                   .config = bench_config_default()};
}

bool
bench_settings_apply(struct bench_settings *settings)
{
    const struct bench_config *config = &settings->config;

    if (bench_refused(settings->threads == 0 || settings->threads > BENCH_MOST_THREADS,
                      "--threads is a number from 1 to 256") ||
        bench_refused(settings->repeats == 0 || settings->repeats > BENCH_MOST_REPEATS,
                      "--repeats is a number from 1 to 64") ||
        bench_refused(!(settings->ratio >= 0 && settings->ratio <= 1),
                      "--compression-ratio is a number from 0 to 1") ||
        bench_refused(config->sync && settings->no_log, "--sync needs the log") ||
        !bench_config_fits(config))
        return false;
    settings->config.log = !settings->no_log;
    settings->config.compress = !settings->no_compression;
    settings->config.compaction = !settings->no_compaction;
    return bench_stores_named(settings->stores, settings->chosen, &settings->chosen_count);
}

void
bench_settings_usage(void)
{
    fputs("  --store LIST           of petal,rocksdb,rocksdb-tuned,leveldb,lmdb,wiredtiger,\n"
          "                         as far as built in, or all; petal\n"
          "  --threads N            1\n"
          "  --seed N               1\n"
          "  --repeats N            1; the stores by turns, medians and ratios at the end\n"
          "  --compression-ratio R  what is left of a value after compression; 0.5, of ycsb\n"
          "                         1\n"
          "  --block-size BYTES     4K\n"
          "  --bits N               of Bloom filters, a key; 10; 0: none\n"
          "  --cache BYTES          of blocks; 1G\n"
          "  --write-buffer BYTES   64M\n"
          "  --sync                 each write is on the medium before it returns\n"
          "  --no-log, --no-compression, --no-compaction\n"
          "  --json FILE            the results once more\n"
          "Each store runs in a process of its own. Exit status: 1 when an answer was\n"
          "wrong.\n",
          stderr);
}
