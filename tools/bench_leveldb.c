/* bench_leveldb.c -- LevelDB as a bench_store. Built when its header is there. */
#ifdef HAVE_LEVELDB
#include "tools/bench_store.h"

#include <leveldb/c.h>
#include <stdlib.h>
#include <string.h>

struct leveldb_bench {
    leveldb_t *db;
    leveldb_options_t *options;
    leveldb_cache_t *cache;
    leveldb_filterpolicy_t *filter;
    leveldb_readoptions_t *read;
    leveldb_writeoptions_t *write;
};

static void
check(const char *error, const char *action)
{
    if (error != NULL)
        bench_fail(action, error);
}

static void *
open_leveldb(const char *directory, const struct bench_memory *memory)
{
    struct leveldb_bench *bench = bench_alloc(sizeof *bench);
    char *error = NULL;

    bench->options = leveldb_options_create();
    bench->cache = leveldb_cache_create_lru(memory->cache_bytes);
    bench->filter = leveldb_filterpolicy_create_bloom(10);
    leveldb_options_set_create_if_missing(bench->options, 1);
    leveldb_options_set_cache(bench->options, bench->cache);
    leveldb_options_set_filter_policy(bench->options, bench->filter);
    leveldb_options_set_block_size(bench->options, 4096);
    leveldb_options_set_write_buffer_size(bench->options, memory->write_buffer_bytes);
    leveldb_options_set_compression(bench->options, leveldb_snappy_compression);
    bench->read = leveldb_readoptions_create();
    bench->write = leveldb_writeoptions_create();
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
    leveldb_filterpolicy_destroy(bench->filter);
    free(bench);
}

static void
put_leveldb(void *store, petal_slice key, petal_slice value)
{
    struct leveldb_bench *bench = store;
    char *error = NULL;

    leveldb_put(bench->db, bench->write, key.data, key.size, value.data, value.size, &error);
    check(error, "put");
}

static void
flush_leveldb(void *store)
{
    leveldb_compact_range(((struct leveldb_bench *)store)->db, NULL, 0, NULL, 0);
}

static bool
get_leveldb(void *store, petal_slice key, uint8_t sink[8])
{
    struct leveldb_bench *bench = store;
    char *error = NULL;
    size_t size;
    char *value = leveldb_get(bench->db, bench->read, key.data, key.size, &size, &error);
    bool found = value != NULL;

    check(error, "get");
    if (found && size >= 8)
        memcpy(sink, value, 8);
    leveldb_free(value);
    return found;
}

static void *
iterate_leveldb(void *store)
{
    struct leveldb_bench *bench = store;

    return leveldb_create_iterator(bench->db, bench->read);
}

static bool
touch(leveldb_iterator_t *iterator, uint8_t sink[8])
{
    const char *value;
    size_t size;

    if (!leveldb_iter_valid(iterator))
        return false;
    value = leveldb_iter_value(iterator, &size);
    if (size >= 8)
        memcpy(sink, value, 8);
    return true;
}

static bool
seek_leveldb(void *iterator, petal_slice key, uint8_t sink[8])
{
    if (key.size > 0)
        leveldb_iter_seek(iterator, key.data, key.size);
    else
        leveldb_iter_seek_to_first(iterator);
    return touch(iterator, sink);
}

static bool
next_leveldb(void *iterator, uint8_t sink[8])
{
    leveldb_iter_next(iterator);
    return touch(iterator, sink);
}

static void
end_leveldb(void *iterator)
{
    leveldb_iter_destroy(iterator);
}

const struct bench_store bench_store_leveldb = {
    .name = "leveldb",
    .settings = "Debian's build (assertions on), 4 KB blocks, Snappy, 10 bits a key, sync off; "
                "flush = compact_range",
    .open = open_leveldb,
    .close = close_leveldb,
    .put = put_leveldb,
    .flush = flush_leveldb,
    .get = get_leveldb,
    .iterate = iterate_leveldb,
    .seek = seek_leveldb,
    .next = next_leveldb,
    .end_iterate = end_leveldb,
};
#else
typedef int bench_leveldb_not_built; /* a translation unit may not be empty */
#endif
