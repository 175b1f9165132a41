/*
 * store.h -- a key-value store as the benchmarks see it: one small table of functions for Petal and
 * each rival, so that all get the same keys in the same order in one run.
 *
 * The room stores: Petal and each rival, each as one table of functions.
 *
 * A store is opened once; each thread that uses it attaches a session of its own (what an engine
 * wants per thread: result objects, transactions, cursors).  Functions end the program when
 * something fails (tools/bench/harness/util.h).
 *
 * Threads: open, close, flush, compact, wait: one at a time, without sessions at work on it but for
 * flush, compact, wait. A session and what is made from it: one thread.
 */
#ifndef PETAL_TOOLS_BENCH_STORES_STORE_H
#define PETAL_TOOLS_BENCH_STORES_STORE_H

#include "tools/bench/harness/util.h"

/* What all stores are set up by, each as far as it knows of such a thing; `describe` says what it
 * made of it. */
struct bench_config {
    size_t cache_bytes;        /* block cache */
    size_t write_buffer_bytes; /* memtable */
    size_t block_bytes;        /* of data, before compression */
    double bits_per_key;       /* of Bloom filters; 0: none */
    size_t memory_bytes;       /* Petal's limit of all memory, in place of both; 0: none */
    bool compress;             /* LZ4; LevelDB: Snappy; LMDB cannot */
    bool sync;                 /* a write is on the medium before it returns */
    bool log_unmapped;         /* Petal writes it by write() alone, as the others do */
};

/* 4 KiB blocks, 10 bits, compressed, not synced, 1 GiB of cache, 64 MiB memtables. */
struct bench_config bench_config_default(void);

/* Are sizes and bits such that all stores can have them?  What is not goes to bench_complain. */
bool bench_config_fits(const struct bench_config *config);

struct bench_pair {
    petal_slice key, value;
};

/* One field of a record: YCSB's ten cells of a row. */
struct bench_field {
    petal_slice name, value;
};

struct bench_store {
    const char *name, *title; /* for options and files; for people */

    /* One line for reports: version, build, settings that follow from `config`. */
    void (*describe)(const struct bench_config *config, char *text, size_t bytes);
    /* Do to this empty store what the library's assertions forbid, if it has any: they end the
     * process by abort(), and without them anything may happen (tools/bench/stores/assertions.h).
     */
    void (*misuse)(void *store);

    void *(*open)(const char *directory, const struct bench_config *config);
    void (*close)(void *store);
    /* All that is in memory to files; that merged as far as the engine merges; until the background
     * rests. NULL: no such thing. */
    void (*flush)(void *store);
    void (*compact)(void *store);
    void (*wait)(void *store);

    void *(*attach)(void *store);
    void (*detach)(void *session);

    void (*put)(void *session, petal_slice key, petal_slice value);
    /* As one atomic batch; NULL where there is put_fields. */
    void (*put_many)(void *session, const struct bench_pair *pairs, size_t count);
    /* False: not there.  The value is good until the session's next call; an engine that has it in
     * memory need not copy it. */
    bool (*get)(void *session, petal_slice key, petal_slice *value);
    /* values[i].data is NULL where key i is not there; good until the session's next call.  NULL:
     * the caller gets one by one. */
    void (*get_many)(void *session, const petal_slice *keys, size_t count, petal_slice *values);

    /*
     * Iteration over what there is now.  Each step says whether there is a pair, and sets it: good
     * until the next step. seek: the first at or after `key`, an empty one: the first of all.
     */
    void *(*iterate)(void *session);
    bool (*seek)(void *iterator, petal_slice key, struct bench_pair *pair);
    bool (*next)(void *iterator, struct bench_pair *pair);
    void (*end_iterate)(void *iterator);

    /*
     * Records: a row of named fields. All NULL: the caller keeps each field under a separate key
     * (tools/bench/keys/fields.h). Records and pairs are not mixed in one store.
     */
    void (*put_fields)(void *session, petal_slice row, const struct bench_field *fields,
                       size_t count);
    /* All fields of the row, at most `capacity`, good until the session's next call; returns their
     * number. */
    size_t (*get_fields)(void *session, petal_slice row, struct bench_field *fields,
                         size_t capacity);
    /* Read all fields of `rows` rows, at least one, from `row` on; returns the number of cells. */
    size_t (*scan_fields)(void *session, petal_slice row, size_t rows);
};

extern const struct bench_store bench_store_petal;
#ifdef HAVE_LMDB
extern const struct bench_store bench_store_lmdb;
#endif
#ifdef HAVE_LEVELDB
extern const struct bench_store bench_store_leveldb;
#endif
#ifdef HAVE_ROCKSDB
extern const struct bench_store bench_store_rocksdb, bench_store_rocksdb_tuned;
#endif
#define BENCH_MOST_STORES 8

/* Those that a list with commas names, in its order; "all" is all.  False when one was not built
 * in; bench_complain gets the names of those that were. */
bool bench_stores_named(const char *list, const struct bench_store *stores[BENCH_MOST_STORES],
                        size_t *count);

#endif
