/*
 * table.h -- a table that grows, in numbers and in simulated time: one writer fills memtables, a
 * flush thread makes files of them, two threads compact (compactor.h), and regions split.
 *
 * MEMORY is one budget. When memtables are full the largest are frozen, as few as give back half
 * (engine/flush/freeze.c), and flushed one job after the other.
 *
 * THE WRITER puts cells as fast as it can, or as they are offered. engine/write/pace.h slows it: by
 * memory, and by the runs of each region as far as it writes to that. It stops while memory is full
 * or a region that it writes to has STORE_MOST_RUNS runs.
 *
 * SPLITS.  A region splits where the engine would split it (engine/region/border.h) once its files
 * are larger than region_bytes; jobs that run end in both halves.
 *
 * REGIONS THAT GROW ALIKE.  Where keys come in random order, at most `most_regions` are simulated.
 * When one more would split off, the region stands for both halves instead, with twice its weight;
 * what that makes of their jobs is told in compactor.h. Work comes in larger lumps then: where jobs
 * hardly keep up, more is written than with all regions.
 *
 * Not simulated: merging of regions, logs on the disk, opening, processors that are busy.
 */
#ifndef PETAL_TOOLS_BENCH_SIMULATE_TABLE_H
#define PETAL_TOOLS_BENCH_SIMULATE_TABLE_H

#include "engine/state/progress.h"
#include "tools/bench/harness/histogram.h"
#include "tools/bench/simulate/compactor.h"

#define SIMULATE_MOST_REGIONS 1024
#define SIMULATE_MOST_FLUSHES 64 /* that wait */

struct simulate_region {
    struct simulate_store store;
    double frozen_at;    /* user bytes of the table when its memtable was empty */
    size_t frozen;       /* memtables that wait for their flush */
    bool grown, pressed; /* has changed; has so many runs that its writers are slowed */
};

/* A memtable that waits. */
struct simulate_memtable {
    struct simulate_region *region; /* the lowest that it concerns */
    uint64_t first, last;
    double user;
};

struct simulate_flush {
    struct simulate_memtable *memtables;
    size_t count;
    double bytes; /* of memory */
    double seconds, left;
};

struct simulate_table {
    struct simulate_settings settings;
    struct simulate_disk disk;
    struct simulate_compactor compactor;
    struct simulate_region *first, *last; /* in the order of rows */
    size_t simulated;                     /* regions */
    size_t pressed;
    bool any_grown;
    struct simulate_flush flushes[SIMULATE_MOST_FLUSHES]; /* a ring */
    size_t flush_first, flush_count;
    double active, frozen;             /* bytes of memtables */
    double flush_rate;                 /* of late; 0: none yet */
    double run_rates[STORE_MOST_RUNS]; /* at it: what a store of so many runs may be given */
    double backlog;                    /* user bytes that were offered and are not yet put */
    double seconds, looked_at;         /* now; when all regions were looked at for their age */
    double stopped;                    /* seconds since the writer stopped */
    /* What came of it, in bytes but for the files. */
    double user, log, flushed, flushed_files;
    struct bench_histogram puts; /* nanoseconds, from when they were due */
    double longest_put;          /* seconds in one call */
    size_t most_runs;            /* of a region, memtables that wait included */
};

struct simulate_table *simulate_table_new(const struct simulate_settings *settings);
void simulate_table_free(struct simulate_table *table);

/* Until so many user bytes are put. */
void simulate_table_grow(struct simulate_table *table, double user);

/* Until flushes and compactions rest, without a writer. */
void simulate_table_rest(struct simulate_table *table);

/* Regions, those counted that stand for several. */
double simulate_table_regions(const struct simulate_table *table);

/* Files that hold a row, averaged over all rows. */
double simulate_table_runs_met(const struct simulate_table *table);

#endif
