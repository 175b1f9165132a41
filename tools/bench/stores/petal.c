/*
 * petal.c -- Petal as a bench_store.
 *
 * Pairs are a key-value table; a record is a row of the same table with a cell for each field.
 */
#include "tools/bench/harness/bits.h"
#include "tools/bench/stores/store.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

struct petal_bench {
    petal_db *db;
    petal_kv *kv;
    petal_table *table;   /* of `kv` */
    petal_family *family; /* the only one of `table` */
};

struct petal_session {
    struct petal_bench *bench;
    petal_result *result;
    petal_batch *batch;
    petal_result **results; /* of get_many */
    size_t result_count;
};

/* The cursor is made by the first seek. */
struct petal_iteration {
    struct petal_bench *bench;
    petal_cursor *cursor;
};

/* ---- setting up ---- */

/* What so many bits a key give, within what petal.h allows. */
static double
rate_of_bits(double bits_per_key)
{
    return fmax(bench_rate_of_bits(bits_per_key), 0.0001);
}

static void
describe_petal(const struct bench_config *config, char *text, size_t bytes)
{
    char filter[96] = "no filters";

    if (config->bits_per_key > 0)
        snprintf(filter, sizeof filter, "ROW filters of %.1f bits a key (error rate %.4f a file)",
                 bench_bits_of_rate(rate_of_bits(config->bits_per_key)),
                 rate_of_bits(config->bits_per_key));
    snprintf(text, bytes,
             "this build (" COMPILER "); %zu-byte blocks, %s, %s, index and filters in the cache, "
             "%s",
             config->block_bytes, config->compress ? "LZ4" : "not compressed", filter,
             config->sync ? "FSYNC_WAL" : "SYNC_WAL");
}

/* The library is of the same build as this file. */
static void
misuse_petal(void *store)
{
    (void)store;           /* where there are no assertions */
    assert(store == NULL); /* which it never is */
}

static void *
open_petal(const char *directory, const struct bench_config *config)
{
    struct petal_bench *bench = bench_alloc(sizeof *bench);
    petal_options options = {.create = true,
                             .no_log_mapping = config->log_unmapped,
                             .memory_bytes = config->memory_bytes,
                             .durability = config->sync ? PETAL_FSYNC_WAL : PETAL_SYNC_WAL};
    petal_family_options family = {
        .block_bytes = (uint32_t)config->block_bytes,
        .compression = config->compress ? PETAL_COMPRESSION_LZ4 : PETAL_COMPRESSION_NONE,
        .bloom = config->bits_per_key > 0 ? PETAL_BLOOM_ROW : PETAL_BLOOM_NONE,
        .bloom_rate_per_file = true};

    if (config->memory_bytes == 0) {
        options.cache_bytes = config->cache_bytes;
        options.memtable_bytes = config->write_buffer_bytes;
    }
    if (config->bits_per_key > 0)
        family.bloom_error_rate = rate_of_bits(config->bits_per_key);
    BENCH_MUST("open Petal", petal_open(directory, &options, &bench->db, &error));
    BENCH_MUST("open the table",
               petal_kv_open(bench->db, bench_text("bench"), &family, &bench->kv, &error));
    bench->table = petal_kv_table(bench->kv);
    bench->family = petal_table_family_at(bench->table, 0);
    return bench;
}

static void
close_petal(void *store)
{
    struct petal_bench *bench = store;

    BENCH_MUST("close Petal", petal_close(bench->db, &error));
    free(bench);
}

static void
flush_petal(void *store)
{
    struct petal_bench *bench = store;

    BENCH_MUST("flush", petal_flush(bench->db, NULL, &error));
}

static void
compact_petal(void *store)
{
    struct petal_bench *bench = store;

    flush_petal(store);
    BENCH_MUST("compact", petal_compact(bench->table, NULL, &error));
}

static void
wait_petal(void *store)
{
    struct petal_bench *bench = store;

    BENCH_MUST("wait", petal_wait_idle(bench->db, &error));
}

static void *
attach_petal(void *store)
{
    struct petal_session *session = bench_alloc(sizeof *session);

    session->bench = store;
    BENCH_MUST("make a result", petal_result_new(session->bench->db, &session->result, &error));
    BENCH_MUST("make a batch", petal_batch_new(session->bench->db, &session->batch, &error));
    return session;
}

static void
detach_petal(void *handle)
{
    struct petal_session *session = handle;

    for (size_t i = 0; i < session->result_count; i++)
        petal_result_free(session->results[i]);
    free(session->results);
    petal_batch_free(session->batch);
    petal_result_free(session->result);
    free(session);
}

/* ---- pairs ---- */

static void
put_petal(void *handle, petal_slice key, petal_slice value)
{
    struct petal_session *session = handle;

    BENCH_MUST("put", petal_kv_put(session->bench->kv, key, value, NULL, &error));
}

static bool
get_petal(void *handle, petal_slice key, petal_slice *value)
{
    struct petal_session *session = handle;
    bool found;

    BENCH_MUST("get",
               petal_kv_get(session->bench->kv, key, session->result, &found, value, &error));
    return found;
}

static void
get_many_petal(void *handle, const petal_slice *keys, size_t count, petal_slice *values)
{
    struct petal_session *session = handle;
    petal_column column = {session->bench->family, {NULL, 0}, false};
    petal_read_options options = {.columns = &column, .column_count = 1};

    if (session->result_count < count) {
        session->results = realloc(session->results, count * sizeof *session->results);
        if (session->results == NULL)
            bench_fail("get", "out of memory");
    }
    for (; session->result_count < count; session->result_count++)
        BENCH_MUST(
            "make a result",
            petal_result_new(session->bench->db, &session->results[session->result_count], &error));
    BENCH_MUST("get many", petal_multi_get(session->bench->table, keys, count, &options,
                                           session->results, &error));
    for (size_t i = 0; i < count; i++) {
        values[i] = (petal_slice){NULL, 0};
        if (petal_result_count(session->results[i]) > 0) {
            values[i] = petal_result_cell(session->results[i], 0)->value;
            if (values[i].size == 0)
                values[i].data = "";
        }
    }
}

/* ---- iteration ---- */

static void *
iterate_petal(void *handle)
{
    struct petal_iteration *iteration = bench_alloc(sizeof *iteration);

    iteration->bench = ((struct petal_session *)handle)->bench;
    return iteration;
}

static bool
next_petal(void *iterator, struct bench_pair *pair)
{
    struct petal_iteration *iteration = iterator;
    const petal_cell *cell;

    BENCH_MUST("scan", petal_cursor_next(iteration->cursor, &cell, &error));
    if (cell == NULL)
        return false;
    pair->key = cell->row;
    pair->value = cell->value;
    return true;
}

static bool
seek_petal(void *iterator, petal_slice key, struct bench_pair *pair)
{
    struct petal_iteration *iteration = iterator;

    if (iteration->cursor == NULL)
        BENCH_MUST("open a cursor",
                   petal_cursor_open(iteration->bench->table, NULL, &iteration->cursor, &error));
    /* A row has a byte at least: this is before all. */
    if (key.size == 0)
        key = (petal_slice){"", 1};
    BENCH_MUST("seek",
               petal_cursor_seek(iteration->cursor, key, NULL, (petal_slice){NULL, 0}, &error));
    return next_petal(iterator, pair);
}

static void
end_petal(void *iterator)
{
    struct petal_iteration *iteration = iterator;

    petal_cursor_close(iteration->cursor);
    free(iteration);
}

/* ---- records ---- */

static void
put_fields_petal(void *handle, petal_slice row, const struct bench_field *fields, size_t count)
{
    struct petal_session *session = handle;

    petal_batch_clear(session->batch);
    for (size_t i = 0; i < count; i++)
        BENCH_MUST("fill a batch",
                   petal_batch_put(session->batch, session->bench->family, row, fields[i].name,
                                   PETAL_LATEST, fields[i].value, &error));
    BENCH_MUST("write a batch", petal_write(session->bench->db, session->batch, NULL, &error));
}

static size_t
get_fields_petal(void *handle, petal_slice row, struct bench_field *fields, size_t capacity)
{
    struct petal_session *session = handle;
    size_t count;

    BENCH_MUST("get a row", petal_get(session->bench->table, row, NULL, session->result, &error));
    count = petal_result_count(session->result);
    if (count > capacity)
        count = capacity;
    for (size_t i = 0; i < count; i++) {
        const petal_cell *cell = petal_result_cell(session->result, i);

        fields[i] = (struct bench_field){cell->qualifier, cell->value};
    }
    return count;
}

static size_t
scan_fields_petal(void *handle, petal_slice row, size_t rows)
{
    struct petal_session *session = handle;
    petal_scan_options options = {.start_row = row, .row_limit = rows};
    petal_cursor *cursor;
    const petal_cell *cell;
    size_t count = 0;

    BENCH_MUST("open a cursor",
               petal_cursor_open(session->bench->table, &options, &cursor, &error));
    for (;; count++) {
        BENCH_MUST("scan", petal_cursor_next(cursor, &cell, &error));
        if (cell == NULL)
            break;
    }
    petal_cursor_close(cursor);
    return count;
}

const struct bench_store bench_store_petal = {
    .name = "petal",
    .title = "Petal",
    .describe = describe_petal,
    .misuse = misuse_petal,
    .open = open_petal,
    .close = close_petal,
    .flush = flush_petal,
    .compact = compact_petal,
    .wait = wait_petal,
    .attach = attach_petal,
    .detach = detach_petal,
    .put = put_petal,
    .get = get_petal,
    .get_many = get_many_petal,
    .iterate = iterate_petal,
    .seek = seek_petal,
    .next = next_petal,
    .end_iterate = end_petal,
    .put_fields = put_fields_petal,
    .get_fields = get_fields_petal,
    .scan_fields = scan_fields_petal,
};
