/* rocksdb.c -- RocksDB as a bench_store. Built when its header is there. */
#ifdef HAVE_ROCKSDB
#include "tools/bench/stores/store.h"

#include <rocksdb/c.h>
#include <unistd.h>

struct rocksdb_bench {
    rocksdb_t *db;
    rocksdb_column_family_handle_t *family; /* the default one; a batched read wants it named */
    rocksdb_options_t *options;
    rocksdb_cache_t *cache;
    rocksdb_readoptions_t *read;
    rocksdb_writeoptions_t *write;
};

struct rocksdb_session {
    struct rocksdb_bench *bench;
    rocksdb_writebatch_t *batch;
    rocksdb_pinnableslice_t *value; /* of the last get; NULL: not there */
    rocksdb_pinnableslice_t **many; /* of the last get_many; the same */
    size_t many_count, many_capacity;
    const char **keys; /* room for get_many to hand over its arguments, many_capacity of each */
    size_t *sizes;
    char **errors;
};

#define API(name)   rocksdb_##name
#define STORE(name) rocksdb_##name
#include "tools/bench/stores/c_api.h"

/* ---- setting up ---- */

static int
background_jobs(bool tuned)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN), least = tuned ? 4 : 2;

    return (int)(processors > least ? processors : least);
}

/* Files of version 9 and later are of format 6, which those before do not read. */
static int
format(bool tuned)
{
    return tuned && ROCKSDB_MAJOR_VERSION >= 9 ? 6 : 5;
}

static void
describe_as(const struct bench_config *config, bool tuned, char *text, size_t bytes)
{
    char filter[48] = "no filters";

#ifdef ROCKSDB_DIR
    const char *build = "built elsewhere: " ROCKSDB_DIR;
#else
    const char *build = "Debian's package";
#endif
    if (config->bits_per_key > 0)
        snprintf(filter, sizeof filter, "full filters of %.1f bits a key", config->bits_per_key);
    snprintf(text, bytes,
             "%s, %s; %zu-byte blocks, format %d, %s, %s, index and filters outside the cache "
             "(%s), log %s, %d background jobs%s",
             ROCKSDB_VERSION, build, config->block_bytes, format(tuned),
             config->compress ? "LZ4" : "not compressed", filter,
             ROCKSDB_MAJOR_VERSION >= 9 ? "HyperClock" : "LRU",
             config->sync ? "with fdatasync() each time" : "with write() each time",
             background_jobs(tuned),
             tuned
                 ? "; tuned: hash index in data blocks, dynamic levels, two threads a compaction, "
                   "four memtables, logs used again, no statistics"
                 : "");
}

static void
describe_rocksdb(const struct bench_config *config, char *text, size_t bytes)
{
    describe_as(config, false, text, bytes);
}

static void
describe_tuned(const struct bench_config *config, char *text, size_t bytes)
{
    describe_as(config, true, text, bytes);
}

/* What is known to be quick for points and fills of small pairs, written out also where a version
 * has it by default. */
static void
tune(rocksdb_options_t *options, rocksdb_block_based_table_options_t *table)
{
    rocksdb_block_based_options_set_index_type(table,
                                               rocksdb_block_based_table_index_type_binary_search);
    rocksdb_block_based_options_set_partition_filters(table, 0);
    rocksdb_block_based_options_set_whole_key_filtering(table, 1);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 0);
    rocksdb_block_based_options_set_data_block_index_type(
        table, rocksdb_block_based_table_data_block_index_type_binary_search_and_hash);
    rocksdb_block_based_options_set_data_block_hash_ratio(table, 0.75);
    rocksdb_options_set_optimize_filters_for_hits(options, 0);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1);
    rocksdb_options_set_max_open_files(options, -1);
    rocksdb_options_set_max_subcompactions(options, 2);
    rocksdb_options_set_max_write_buffer_number(options, 4);
    rocksdb_options_set_recycle_log_file_num(options, 4);
    rocksdb_options_set_skip_stats_update_on_db_open(options, 1);
    rocksdb_options_set_stats_dump_period_sec(options, 0);
    rocksdb_options_set_stats_persist_period_sec(options, 0);
}

static void *
open_as(const char *directory, const struct bench_config *config, bool tuned)
{
    struct rocksdb_bench *bench = bench_alloc(sizeof *bench);
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    const char *const name = "default";
    const rocksdb_options_t *family_options;
    char *error = NULL;

    bench->options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(bench->options, 1);
    rocksdb_options_set_write_buffer_size(bench->options, config->write_buffer_bytes);
    rocksdb_options_set_compression(bench->options, config->compress ? rocksdb_lz4_compression
                                                                     : rocksdb_no_compression);
    rocksdb_options_set_max_background_jobs(bench->options, background_jobs(tuned));
#if ROCKSDB_MAJOR_VERSION >= 9
    bench->cache = rocksdb_cache_create_hyper_clock(config->cache_bytes, 0);
#else
    bench->cache = rocksdb_cache_create_lru(config->cache_bytes);
#endif
    rocksdb_block_based_options_set_block_cache(table, bench->cache);
    rocksdb_block_based_options_set_block_size(table, config->block_bytes);
    rocksdb_block_based_options_set_format_version(table, format(tuned));
    if (config->bits_per_key > 0) /* the options take it over */
        rocksdb_block_based_options_set_filter_policy(
            table, rocksdb_filterpolicy_create_bloom_full(config->bits_per_key));
    if (tuned)
        tune(bench->options, table);
    rocksdb_options_set_block_based_table_factory(bench->options, table);
    rocksdb_block_based_options_destroy(table);
    bench->read = rocksdb_readoptions_create();
    bench->write = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(bench->write, config->sync);
    family_options = bench->options;
    bench->db = rocksdb_open_column_families(bench->options, directory, 1, &name, &family_options,
                                             &bench->family, &error);
    check(error, "open RocksDB");
    return bench;
}

static void *
open_rocksdb(const char *directory, const struct bench_config *config)
{
    return open_as(directory, config, false);
}

static void *
open_tuned(const char *directory, const struct bench_config *config)
{
    return open_as(directory, config, true);
}

static void
flush_rocksdb(void *store)
{
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    char *error = NULL;

    rocksdb_flushoptions_set_wait(options, 1);
    rocksdb_flush(((struct rocksdb_bench *)store)->db, options, &error);
    check(error, "flush");
    rocksdb_flushoptions_destroy(options);
}

/* Memory goes to files first, as Petal's close does it. */
static void
close_rocksdb(void *store)
{
    struct rocksdb_bench *bench = store;

    flush_rocksdb(store);
    rocksdb_column_family_handle_destroy(bench->family);
    rocksdb_close(bench->db);
    rocksdb_readoptions_destroy(bench->read);
    rocksdb_writeoptions_destroy(bench->write);
    rocksdb_options_destroy(bench->options);
    rocksdb_cache_destroy(bench->cache);
    free(bench);
}

static void
compact_rocksdb(void *store)
{
    flush_rocksdb(store);
    rocksdb_compact_range(((struct rocksdb_bench *)store)->db, NULL, 0, NULL, 0);
}

static void
wait_rocksdb(void *store)
{
    static const char *const properties[] = {
        "rocksdb.mem-table-flush-pending", "rocksdb.num-running-flushes",
        "rocksdb.compaction-pending", "rocksdb.num-running-compactions"};
    const struct timespec pause = {0, 20000000};

    /* A job that has ended may just be setting off the next one: only rest that lasts is rest. */
    for (int still = 0; still < 3; still++) {
        for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
            uint64_t jobs = 0;

            if (rocksdb_property_int(((struct rocksdb_bench *)store)->db, properties[i], &jobs) !=
                0)
                bench_fail("ask RocksDB", properties[i]);
            if (jobs != 0)
                still = -1;
        }
        nanosleep(&pause, NULL);
    }
}

/* ---- sessions ---- */

/* Let go of the values that the last get or get_many pinned. */
static void
release_values(struct rocksdb_session *session)
{
    if (session->value != NULL)
        rocksdb_pinnableslice_destroy(session->value);
    session->value = NULL;
    for (size_t i = 0; i < session->many_count; i++) {
        if (session->many[i] != NULL)
            rocksdb_pinnableslice_destroy(session->many[i]);
    }
    session->many_count = 0;
}

static void
free_rooms(struct rocksdb_session *session)
{
    free(session->many);
    free(session->keys);
    free(session->sizes);
    free(session->errors);
}

static void
detach_rocksdb(void *handle)
{
    struct rocksdb_session *session = handle;

    release_values(session);
    free_rooms(session);
    rocksdb_writebatch_destroy(session->batch);
    free(session);
}

/* ---- pairs ---- */

static petal_slice
bytes_of(const rocksdb_pinnableslice_t *pinned)
{
    petal_slice value = {NULL, 0};

    if (pinned != NULL) {
        value.data = rocksdb_pinnableslice_value(pinned, &value.size);
        if (value.data == NULL)
            value.data = "";
    }
    return value;
}

static bool
get_rocksdb(void *handle, petal_slice key, petal_slice *value)
{
    struct rocksdb_session *session = handle;
    char *error = NULL;

    release_values(session);
    session->value =
        rocksdb_get_pinned(session->bench->db, session->bench->read, key.data, key.size, &error);
    check(error, "get");
    *value = bytes_of(session->value);
    return session->value != NULL;
}

static void
get_many_rocksdb(void *handle, const petal_slice *keys, size_t count, petal_slice *values)
{
    struct rocksdb_session *session = handle;

    release_values(session);
    if (session->many_capacity < count) {
        free_rooms(session);
        session->many = bench_alloc(count * sizeof *session->many);
        session->keys = bench_alloc(count * sizeof *session->keys);
        session->sizes = bench_alloc(count * sizeof *session->sizes);
        session->errors = bench_alloc(count * sizeof *session->errors);
        session->many_capacity = count;
    }
    for (size_t i = 0; i < count; i++) {
        session->keys[i] = keys[i].data;
        session->sizes[i] = keys[i].size;
    }
    rocksdb_batched_multi_get_cf(session->bench->db, session->bench->read, session->bench->family,
                                 count, session->keys, session->sizes, session->many,
                                 session->errors, false);
    session->many_count = count;
    for (size_t i = 0; i < count; i++) {
        check(session->errors[i], "get many");
        values[i] = bytes_of(session->many[i]);
    }
}

/* Both differ by their settings alone. */
#define CALLS                                                                                      \
    .close = close_rocksdb, .flush = flush_rocksdb, .compact = compact_rocksdb,                    \
    .wait = wait_rocksdb, .detach = detach_rocksdb, .get = get_rocksdb,                            \
    .get_many = get_many_rocksdb, C_API_CALLS

const struct bench_store bench_store_rocksdb = {.name = "rocksdb",
                                                .title = "RocksDB as it comes",
                                                .describe = describe_rocksdb,
                                                .open = open_rocksdb,
                                                CALLS};

const struct bench_store bench_store_rocksdb_tuned = {.name = "rocksdb-tuned",
                                                      .title = "RocksDB, tuned",
                                                      .describe = describe_tuned,
                                                      .open = open_tuned,
                                                      CALLS};
#else
typedef int bench_rocksdb_not_built; /* a translation unit may not be empty */
#endif
