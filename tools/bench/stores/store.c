/* store.c -- the list of stores that were built in, and what all are set up by. */
#include "tools/bench/stores/store.h"

#include "tools/bench/harness/options.h"

#include <stdio.h>
#include <string.h>

static const struct bench_store *const built_in[] = {
    &bench_store_petal,
#ifdef HAVE_ROCKSDB
    &bench_store_rocksdb, &bench_store_rocksdb_tuned,
#endif
#ifdef HAVE_LEVELDB
    &bench_store_leveldb,
#endif
#ifdef HAVE_LMDB
    &bench_store_lmdb,
#endif
};

#define BUILT_IN (sizeof built_in / sizeof *built_in)

struct bench_config
bench_config_default(void)
{
    return (struct bench_config){.cache_bytes = (size_t)1 << 30,
                                 .write_buffer_bytes = (size_t)64 << 20,
                                 .block_bytes = 4096,
                                 .bits_per_key = 10,
                                 .compress = true,
                                 .sync = false};
}

bool
bench_config_fits(const struct bench_config *config)
{
    return !bench_refused(!(config->bits_per_key >= 0 && config->bits_per_key <= 64),
                          "--bits is a number from 0 to 64") &&
           !bench_refused(config->block_bytes < 512 || config->block_bytes > (size_t)1 << 24,
                          "--block-size is from 512 to 16M") &&
           !bench_refused(config->cache_bytes < (size_t)64 << 10 || config->cache_bytes > (size_t)1
                                                                                              << 40,
                          "--cache is from 64K to 1T") &&
           !bench_refused(config->write_buffer_bytes < (size_t)64 << 10 ||
                              config->write_buffer_bytes > (size_t)1 << 36,
                          "--write-buffer is from 64K to 64G");
}

static bool
refuse(const char *name, size_t size, const char *fault)
{
    char names[128] = "";

    for (size_t i = 0; i < BUILT_IN; i++)
        (void)snprintf(names + strlen(names), sizeof names - strlen(names), " %s",
                       built_in[i]->name);
    bench_complain("%s store \"%.*s\"; built in:%s", fault, (int)size, name, names);
    return false;
}

bool
bench_stores_named(const char *list, const struct bench_store *stores[BENCH_MOST_STORES],
                   size_t *count)
{
    *count = 0;
    if (strcmp(list, "all") == 0) {
        memcpy(stores, built_in, sizeof built_in);
        *count = BUILT_IN;
        return true;
    }
    for (const char *name = list;;) {
        size_t size = strcspn(name, ",");
        const struct bench_store *store = NULL;

        for (size_t i = 0; i < BUILT_IN; i++) {
            if (strlen(built_in[i]->name) == size && memcmp(built_in[i]->name, name, size) == 0)
                store = built_in[i];
        }
        if (store == NULL)
            return refuse(name, size, "there is no");
        for (size_t i = 0; i < *count; i++) {
            if (stores[i] == store)
                return refuse(name, size, "named twice:");
        }
        stores[(*count)++] = store;
        if (name[size] == '\0')
            return true;
        name += size + 1;
    }
}
