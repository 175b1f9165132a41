/*
 * store.h -- the files of one region, on sizes: runs as the compaction policy sees them, and what
 * becomes of them when a job replaces some, or when the region splits. Nothing is written and
 * nothing is measured.
 *
 * ROWS are numbers of 64 bits. The bytes of a file lie evenly over its rows, so that a part of the
 * rows has that part of the bytes. Keys in order are numbered by the user bytes before them; keys
 * in random order lie evenly over all numbers.
 *
 * SHARED FILES.  When a region splits, a file across the border is shared by both halves: each has
 * a slice of it, and the file goes when the last slice has been rewritten.
 *
 * WEIGHT.  A store may stand for several regions that grow alike (table.h): its files and bytes
 * count so many times.
 */
#ifndef PETAL_TOOLS_BENCH_SIMULATE_STORE_H
#define PETAL_TOOLS_BENCH_SIMULATE_STORE_H

#include "engine/compact/policy.h"

#define SIMULATE_MOST_RUNS 64

enum simulate_order {
    SIMULATE_RANDOM,     /* each key once, in random order: every flush spans its region */
    SIMULATE_SEQUENTIAL, /* each key once, in order: no two flushes share a row */
    SIMULATE_OVERWRITE   /* keys drawn evenly from `keys`, again and again */
};

struct simulate_settings {
    enum simulate_order order;
    uint64_t memory_bytes;   /* limit of the whole store */
    uint64_t memtable_bytes; /* of all memtables together, before the largest are flushed */
    uint64_t region_bytes;   /* of the files of a region, before it splits; 0: it never does */
    size_t most_regions;     /* that are simulated, where all grow alike */
    double cell_bytes;       /* user bytes of a cell */
    double cell_overhead;    /* what it takes in a memtable beyond them */
    double stored;           /* bytes in a store file for one of the user */
    double logged;           /* the same in the log */
    double keys;             /* SIMULATE_OVERWRITE */
    double puts;             /* a second, while nothing hinders the writer */
    double offered;          /* user bytes a second; 0: as many as the writer can put */
    double flush_rate;       /* bytes of memtables a second */
    double merge_rate;       /* bytes of files a second, of one thread */
    double file_seconds;     /* of making a file, beyond its bytes */
};

/* Bytes and number of the files of all stores. */
struct simulate_disk {
    double bytes, files;
};

struct simulate_file {
    uint64_t first, last; /* rows */
    uint64_t bytes;
    double weight;
    unsigned references;
    bool flushed;
    bool halved; /* is the half of a shared file: rewritten even if alone */
};

/* The rows of a file that belong to the region. */
struct simulate_slice {
    struct simulate_file *file;
    uint64_t first, last;
    uint64_t bytes;
};

struct simulate_store {
    const struct simulate_settings *settings;
    struct simulate_disk *disk;
    struct simulate_store *next; /* in the order of rows */
    uint64_t first, last;        /* rows */
    double weight;
    struct policy_run runs[SIMULATE_MOST_RUNS]; /* oldest first */
    unsigned owners[SIMULATE_MOST_RUNS];        /* the job that a run is an input of; 0: none */
    size_t run_slices[SIMULATE_MOST_RUNS];
    size_t count;
    struct simulate_slice *slices; /* run by run */
    size_t slice_count, slice_capacity;
};

/* What a job costs, or has cost: the bytes it reads, and the bytes and files it writes. Linked
 * files are not among them. */
struct simulate_work {
    double read, written, files;
};

void simulate_store_init(struct simulate_store *store, const struct simulate_settings *settings,
                         struct simulate_disk *disk);
void simulate_store_fini(struct simulate_store *store);

/* A flush adds a run of one file. REQUIRES: there are fewer than SIMULATE_MOST_RUNS. */
void simulate_store_add(struct simulate_store *store, uint64_t first, uint64_t last,
                        uint64_t bytes);

/* What replacing runs first .. first + count - 1 by one would cost. */
struct simulate_work simulate_store_plan(const struct simulate_store *store, size_t first,
                                         size_t count);

/* Do so. */
struct simulate_work simulate_store_replace(struct simulate_store *store, size_t first,
                                            size_t count, bool all_files);

uint64_t simulate_store_bytes(const struct simulate_store *store);

/* Bytes that an all-files compaction would leave. */
double simulate_store_live(const struct simulate_store *store);

/* Runs whose files cover a row, averaged over the rows that have any. */
double simulate_store_runs_met(const struct simulate_store *store);

/* The first row of the upper half of the bytes; false: there is no border within the rows. */
bool simulate_store_middle(const struct simulate_store *store, uint64_t *row);

/* Where the engine splits: at the first row of a file near the middle, else in the middle. */
bool simulate_store_border(const struct simulate_store *store, uint64_t *row);

/* The rows from `row` on go to `upper`, which is not initialised yet. */
void simulate_store_split(struct simulate_store *store, struct simulate_store *upper, uint64_t row);

/* The same where both halves grow alike: the store stands for both, with twice its weight. */
void simulate_store_halve(struct simulate_store *store, uint64_t row);

#endif
