/*
 * kind.h -- a kind of filter as one table of functions: Petal's and those of others are built
 * and asked by the same code.
 *
 * The room bloom_kinds: `kv-bench filters`, which measures standalone filters.
 *
 * KEYS are 64-bit numbers, evenly spread. Petal takes them as the hashes that they are; who takes
 * bytes only gets their 8 bytes and hashes those, while the clock runs.
 *
 * Functions that fail end the program, as those of tools/bench/harness/util.h. Threads: one.
 */
#ifndef PETAL_TOOLS_BENCH_BLOOM_KINDS_KIND_H
#define PETAL_TOOLS_BENCH_BLOOM_KINDS_KIND_H

#include "engine/petal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kinds_facts {
    uint64_t bytes;  /* of memory that questions look at */
    double expected; /* rate by theory with its keys; NAN: it does not say */
};

struct bloom_kind {
    const char *store, *name; /* as results have them; names are those of --kinds */

    /* Find the setting for a rate, once, outside of the clock; NULL: the rate is the setting. */
    void (*prepare)(double rate);

    /* A filter for so many keys at that rate, to be filled; NULL: it cannot hold so many. */
    void *(*begin)(uint64_t keys, double rate);
    void (*add)(void *filter, const uint64_t *keys, size_t count);
    void (*finish)(void *filter); /* NULL: there is nothing to do after the last key */
    void (*free)(void *filter);
    void (*facts)(const void *filter, struct kinds_facts *facts);

    /* What questions take for a key; NULL: the key. Known before the clock runs. */
    uint64_t (*hash)(uint64_t key);

    /*
     * How many of these pass. One by one: the processor begins the next question while it waits for
     * memory, as far as it can look ahead. Alone: kinds_wait stands after each. Batch: by the
     * filter's own call for many; NULL: it has none. Bytes: one by one, hashed here.
     */
    size_t (*ask)(const void *filter, const uint64_t *hashes, size_t count);
    size_t (*ask_alone)(const void *filter, const uint64_t *hashes, size_t count);
    size_t (*ask_batch)(const void *filter, const uint64_t *hashes, size_t count);
    size_t (*ask_bytes)(const void *filter, const petal_slice *keys, size_t count);
};

#define PETAL_KINDS   4
#define ROCKSDB_KINDS 2
extern const struct bloom_kind bloom_kinds_petal[PETAL_KINDS];

/* RocksDB's and Debian's libbloom's, where HAVE_ROCKSDB_FILTERS and HAVE_LIBBLOOM are defined. */
extern const struct bloom_kind bloom_kinds_rocksdb[ROCKSDB_KINDS];
extern const struct bloom_kind bloom_kinds_libbloom;

/* Nothing after it begins before what stands ahead of it has its answers. */
static inline void
kinds_wait(void)
{
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#elif defined(__aarch64__)
    __asm__ volatile("dsb ld\n\tisb" ::: "memory");
#else
    __sync_synchronize();
#endif
}

#ifdef __cplusplus
}
#endif

#endif
