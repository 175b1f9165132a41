/*
 * drive.h -- one operation over and over on a store, by a number of threads, and what it took.
 *
 * Keys of reads are made before the clock starts, some hundreds at a time, so that rates tell of the store and not of making keys; those of
 * writes while it runs, as a program would, since a store's background works meanwhile.  Of every 16th operation the time is taken by
 * itself (the clock costs some 40 ns, the same for all).
 */
#ifndef PETAL_TOOLS_BENCH_WORKLOADS_DRIVE_H
#define PETAL_TOOLS_BENCH_WORKLOADS_DRIVE_H

#include "tools/bench/workloads/compare.h"

#define BENCH_SEEK_STEPS 10

enum bench_drive_kind {
    BENCH_DRIVE_PUT,        /* the rows, each once, in random order; threads share them */
    BENCH_DRIVE_GET_HIT,    /* random ones of them */
    BENCH_DRIVE_GET_ABSENT, /* random keys between them */
    BENCH_DRIVE_SEEK, /* to a random one, and BENCH_SEEK_STEPS pairs from there, that one included */
    BENCH_DRIVE_SCAN  /* all, forwards; each thread; operations are pairs */
};

struct bench_drive {
    const struct bench_store *store;
    void *opened;
    enum bench_drive_kind kind;
    unsigned threads;
    uint64_t count; /* operations of all threads together */
    uint64_t rows;  /* that are there, or will be */
    uint64_t seed;
};

void bench_drive_run(const struct bench_drive *drive, struct bench_measurement *measured);

#endif
