/*
 * ycsb_mix.h -- YCSB's core workloads: mixes of operations on records of ten fields, run by some threads on a store.
 *
 * Record n is the n-th inserted; its row is "user" and the hash of n. Which one an operation asks for: a scrambled zipf over all, or, in
 * workload D, the latest. Reads read all fields, updates write one, scans begin at a record and go over 1 to 100, all lengths alike.
 * A record counts as there when it and all inserted before it are written.
 *
 * Every read must give all fields with values of the right size; what does not is counted as wrong.
 */
#ifndef PETAL_TOOLS_BENCH_WORKLOADS_YCSB_MIX_H
#define PETAL_TOOLS_BENCH_WORKLOADS_YCSB_MIX_H

#include "tools/bench/keys/distribution.h"
#include "tools/bench/keys/pairs.h"
#include "tools/bench/results/outcome.h"
#include "tools/bench/stores/settings.h"

#define BENCH_YCSB_FIELDS      10
#define BENCH_YCSB_FIELD_BYTES 100

enum bench_ycsb_kind {
    BENCH_YCSB_READ,
    BENCH_YCSB_UPDATE,
    BENCH_YCSB_INSERT,
    BENCH_YCSB_SCAN,
    BENCH_YCSB_MODIFY, /* read and update one record */
    BENCH_YCSB_KINDS
};

struct bench_ycsb_mix {
    char letter; /* 0: loading */
    const char *name;
    unsigned percent[BENCH_YCSB_KINDS];
    bool latest; /* else zipf */
};

extern const struct bench_ycsb_mix bench_ycsb_load;

/* By its letter, A to F, of either case; NULL: none. */
const struct bench_ycsb_mix *bench_ycsb_mix_named(char letter);

/* An open store and the records in it. */
struct bench_ycsb {
    const struct bench_store *store;
    void *opened;
    const struct bench_pairs *values; /* of BENCH_YCSB_FIELD_BYTES */
    unsigned threads;
    uint64_t seed;
    _Atomic(uint64_t) next_record; /* to be inserted */
    _Atomic(uint64_t) live_bytes;  /* rows, names, values */
    /* For each thread a number that none of the records it is inserting is below; UINT64_MAX when it inserts none. */
    _Atomic(uint64_t) inserting[BENCH_MOST_THREADS];
};

void bench_ycsb_init(struct bench_ycsb *ycsb, const struct bench_store *store,
                     const struct bench_pairs *values, unsigned threads, uint64_t seed);

/* Run so many operations; sets what they came to, not what they used. `stream`: the mix's place in the run. */
void bench_ycsb_run(struct bench_ycsb *ycsb, const struct bench_ycsb_mix *mix, uint64_t operations,
                    uint64_t stream, struct bench_outcome *outcome);

#endif
