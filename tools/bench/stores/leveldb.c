/* leveldb.c -- LevelDB as a bench_store. Built when its header is there. */
#ifdef HAVE_LEVELDB
#include "tools/bench/stores/store.h"

#include <leveldb/c.h>

struct leveldb_bench {
    leveldb_t *db;
    leveldb_options_t *options;
    leveldb_cache_t *cache;
    leveldb_filterpolicy_t *filter; /* NULL: none */
    leveldb_readoptions_t *read;
    leveldb_writeoptions_t *write;
};

struct leveldb_session {
    struct leveldb_bench *bench;
    leveldb_writebatch_t *batch;
    char *value; /* of the last get */
};

#define API(name)   leveldb_##name
#define STORE(name) leveldb_##name
#include "tools/bench/stores/c_api.h"

static void
describe_leveldb(const struct bench_config *config, char *text, size_t bytes)
{
    char filter[48] = "no filters";

#ifdef LEVELDB_DIR
    const char *build = "built elsewhere: " LEVELDB_DIR;
#else
    const char *build = "Debian's package";
#endif
    if (config->bits_per_key > 0)
        snprintf(filter, sizeof filter, "filters of %d bits a key", (int)config->bits_per_key);
    snprintf(text, bytes,
             "%d.%d, %s; %zu-byte blocks, %s, %s, index and filters outside the cache, log "
             "%s",
             leveldb_major_version(), leveldb_minor_version(), build, config->block_bytes,
             config->compress ? "Snappy" : "not compressed", filter,
             config->sync ? "with fdatasync() each time" : "with write() each time");
}

static void *
open_leveldb(const char *directory, const struct bench_config *config)
{
    struct leveldb_bench *bench = bench_alloc(sizeof *bench);
    char *error = NULL;

    bench->options = leveldb_options_create();
    bench->cache = leveldb_cache_create_lru(config->cache_bytes);
    leveldb_options_set_create_if_missing(bench->options, 1);
    leveldb_options_set_cache(bench->options, bench->cache);
    if (config->bits_per_key > 0) {
        bench->filter = leveldb_filterpolicy_create_bloom((int)config->bits_per_key);
        leveldb_options_set_filter_policy(bench->options, bench->filter);
    }
    leveldb_options_set_block_size(bench->options, config->block_bytes);
    leveldb_options_set_write_buffer_size(bench->options, config->write_buffer_bytes);
    leveldb_options_set_compression(bench->options, config->compress ? leveldb_snappy_compression
                                                                     : leveldb_no_compression);
    bench->read = leveldb_readoptions_create();
    bench->write = leveldb_writeoptions_create();
    leveldb_writeoptions_set_sync(bench->write, config->sync);
    bench->db = leveldb_open(bench->options, directory, &error);
    check(error, "open LevelDB");
    return bench;
}

static void
close_leveldb(void *store)
{
    struct leveldb_bench *bench = store;

    leveldb_close(bench->db);
    leveldb_readoptions_destroy(bench->read);
    leveldb_writeoptions_destroy(bench->write);
    leveldb_options_destroy(bench->options);
    leveldb_cache_destroy(bench->cache);
    if (bench->filter != NULL)
        leveldb_filterpolicy_destroy(bench->filter);
    free(bench);
}

/* A range to compact has LevelDB flush first, and this one holds no key. */
static void
flush_leveldb(void *store)
{
    static const char after_all[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";

    leveldb_compact_range(((struct leveldb_bench *)store)->db, after_all, sizeof after_all,
                          after_all, sizeof after_all);
}

static void
compact_leveldb(void *store)
{
    leveldb_compact_range(((struct leveldb_bench *)store)->db, NULL, 0, NULL, 0);
}

/* LevelDB does not say whether it rests: it does when its count of what compactions read and wrote
 * has stood still. */
static void
wait_leveldb(void *store)
{
    const struct timespec pause = {0, 100000000};
    char *before = NULL;

    for (int still = 0; still < 10;) {
        char *stats = leveldb_property_value(((struct leveldb_bench *)store)->db, "leveldb.stats");

        still = stats == NULL || (before != NULL && strcmp(stats, before) == 0) ? still + 1 : 0;
        leveldb_free(before);
        before = stats;
        nanosleep(&pause, NULL);
    }
    leveldb_free(before);
}

static void
detach_leveldb(void *handle)
{
    struct leveldb_session *session = handle;

    leveldb_writebatch_destroy(session->batch);
    leveldb_free(session->value);
    free(session);
}

static bool
get_leveldb(void *handle, petal_slice key, petal_slice *value)
{
    struct leveldb_session *session = handle;
    char *error = NULL;

    leveldb_free(session->value);
    session->value = leveldb_get(session->bench->db, session->bench->read, key.data, key.size,
                                 &value->size, &error);
    check(error, "get");
    value->data = session->value;
    return session->value != NULL;
}

const struct bench_store bench_store_leveldb = {
    .name = "leveldb",
    .title = "LevelDB",
    .describe = describe_leveldb,
    .open = open_leveldb,
    .close = close_leveldb,
    .flush = flush_leveldb,
    .compact = compact_leveldb,
    .wait = wait_leveldb,
    .detach = detach_leveldb,
    .get = get_leveldb,
    C_API_CALLS,
};
#else
typedef int bench_leveldb_not_built; /* a translation unit may not be empty */
#endif
