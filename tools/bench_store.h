/*
 * bench_store.h -- a key-value store as the benchmarks see it: one small table of functions for Petal and each rival, so that
 * all get the same keys in the same order in one run.
 *
 * Functions end the program when something fails (bench_util.h).
 */
#ifndef PETAL_TOOLS_BENCH_STORE_H
#define PETAL_TOOLS_BENCH_STORE_H

#include "tools/bench_util.h"

struct bench_memory {
    size_t cache_bytes;
    size_t write_buffer_bytes; /* memtable */
};

struct bench_store {
    const char *name;
    const char *settings; /* one line for the report */
    /* `memory`: what both caches and write buffers are sized by. */
    void *(*open)(const char *directory, const struct bench_memory *memory);
    void (*close)(void *store);
    void (*put)(void *store, petal_slice key, petal_slice value);
    void (*flush)(void *store); /* bring all to sorted files; NULL: there is no such thing */
    /* Copies the value's first bytes to `sink`, so that it is really read. */
    bool (*get)(void *store, petal_slice key, uint8_t sink[8]);
    /* Iteration: seek to the first key at or behind `key` (empty: the first), then next; false at the end. */
    void *(*iterate)(void *store);
    bool (*seek)(void *iterator, petal_slice key, uint8_t sink[8]);
    bool (*next)(void *iterator, uint8_t sink[8]);
    void (*end_iterate)(void *iterator);
};

extern const struct bench_store bench_store_petal;
#ifdef HAVE_LMDB
extern const struct bench_store bench_store_lmdb;
#endif
#ifdef HAVE_LEVELDB
extern const struct bench_store bench_store_leveldb;
#endif

/* All that were built in, Petal first; *count of them. */
const struct bench_store *const *bench_stores(size_t *count);

#endif
