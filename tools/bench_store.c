/* bench_store.c -- the list of stores, and Petal's own adapter. */
#include "tools/bench_store.h"

#include <stdlib.h>
#include <string.h>

struct petal_bench {
    petal_db *db;
    petal_kv *kv;
    petal_result *result;
};

struct petal_iteration {
    struct petal_bench *bench;
    petal_cursor *cursor;
};

static void *
open_petal(const char *directory, const struct bench_memory *memory)
{
    struct petal_bench *bench = bench_alloc(sizeof *bench);
    petal_options options = {.create = true,
                             .no_compaction = true, /* what is measured is the files as written */
                             .cache_bytes = memory->cache_bytes,
                             .memtable_bytes = memory->write_buffer_bytes};
    petal_error error;

    bench_check(petal_open(directory, &options, &bench->db, &error), &error, "open Petal");
    bench_check(petal_kv_open(bench->db, bench_text("bench"), NULL, &bench->kv, &error), &error,
                "open the table");
    bench_check(petal_result_new(bench->db, &bench->result, &error), &error, "make a result");
    return bench;
}

static void
close_petal(void *store)
{
    struct petal_bench *bench = store;
    petal_error error;

    petal_result_free(bench->result);
    bench_check(petal_close(bench->db, &error), &error, "close Petal");
    free(bench);
}

static void
put_petal(void *store, petal_slice key, petal_slice value)
{
    petal_error error;

    bench_check(petal_kv_put(((struct petal_bench *)store)->kv, key, value, &error), &error, "put");
}

static void
flush_petal(void *store)
{
    petal_error error;

    bench_check(petal_flush(((struct petal_bench *)store)->db, NULL, &error), &error, "flush");
}

static void
touch(petal_slice value, uint8_t sink[8])
{
    if (value.size >= 8)
        memcpy(sink, value.data, 8);
}

static bool
get_petal(void *store, petal_slice key, uint8_t sink[8])
{
    struct petal_bench *bench = store;
    petal_slice value;
    petal_error error;
    bool found;

    bench_check(petal_kv_get(bench->kv, key, bench->result, &found, &value, &error), &error, "get");
    if (found)
        touch(value, sink);
    return found;
}

static void *
iterate_petal(void *store)
{
    struct petal_iteration *iteration = bench_alloc(sizeof *iteration);
    petal_error error;

    iteration->bench = store;
    bench_check(
        petal_cursor_open(petal_kv_table(iteration->bench->kv), NULL, &iteration->cursor, &error),
        &error, "open a cursor");
    return iteration;
}

static bool
next_petal(void *iterator, uint8_t sink[8])
{
    struct petal_iteration *iteration = iterator;
    const petal_cell *cell;
    petal_error error;

    bench_check(petal_cursor_next(iteration->cursor, &cell, &error), &error, "scan");
    if (cell != NULL)
        touch(cell->value, sink);
    return cell != NULL;
}

static bool
seek_petal(void *iterator, petal_slice key, uint8_t sink[8])
{
    struct petal_iteration *iteration = iterator;
    petal_error error;

    if (key.size > 0)
        bench_check(petal_cursor_seek(iteration->cursor, key, NULL, (petal_slice){NULL, 0}, &error),
                    &error, "seek");
    return next_petal(iterator, sink);
}

static void
end_petal(void *iterator)
{
    petal_cursor_close(((struct petal_iteration *)iterator)->cursor);
    free(iterator);
}

const struct bench_store bench_store_petal = {
    .name = "petal",
    .settings = "4 KiB blocks, LZ4, ROW filter at 0.01 (9.9 bits a key), SYNC_WAL (write())",
    .open = open_petal,
    .close = close_petal,
    .put = put_petal,
    .flush = flush_petal,
    .get = get_petal,
    .iterate = iterate_petal,
    .seek = seek_petal,
    .next = next_petal,
    .end_iterate = end_petal,
};

const struct bench_store *const *
bench_stores(size_t *count)
{
    static const struct bench_store *const stores[] = {
        &bench_store_petal,
#ifdef HAVE_LMDB
        &bench_store_lmdb,
#endif
#ifdef HAVE_LEVELDB
        &bench_store_leveldb,
#endif
    };

    *count = sizeof stores / sizeof *stores;
    return stores;
}
