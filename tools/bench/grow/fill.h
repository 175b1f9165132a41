/*
 * fill.h -- one database that is filled, and what that came to.
 *
 * Only calls of petal.h. Pairs of 16 + 100 bytes, each key once. Memory is scaled with the
 * memtables: memory_bytes is eight times as much, the default's ratio, so that a small database
 * stands for a large one.
 *
 * Threads: one. Each fill is to be in a process of its own: figures are of the process, too.
 */
#ifndef PETAL_TOOLS_BENCH_GROW_FILL_H
#define PETAL_TOOLS_BENCH_GROW_FILL_H

#include "tools/bench/harness/util.h"

#define GROW_PAIR_BYTES   116
#define GROW_LEAST_MEMORY ((size_t)64 << 10)
#define GROW_MOST_MEMORY  ((size_t)512 << 20)
#define GROW_LEAST_REGION ((size_t)64 << 10)

/* Name; label, the same as in `kv-bench simulate`; unit; what figures are divided by to be in it. */
#define GROW_FIGURES(X)                                                                            \
    X(P50, "put p50", "us", 1e3)                                                                   \
    X(P999, "put p99.9", "us", 1e3)                                                                \
    X(STALL, "longest stall", "ms", 1e6)                                                           \
    X(LONGEST_PUT, "longest put", "ms", 1e-3)                                                      \
    X(RATE, "rate", "k/s", 1e3)                                                                    \
    X(WRITTEN, "write amplification", "", 1)                                                       \
    X(WRITTEN_WITH_LOG, "with the log", "", 1)                                                     \
    X(SPACE, "space beyond the data", "MiB", 0x1p20)                                               \
    X(JOB_BYTES, "longest job", "MiB", 0x1p20)                                                     \
    X(JOB_TIME, "longest job, time", "ms", 1)                                                      \
    X(REGIONS, "regions", "", 1)                                                                   \
    X(FILES, "files", "", 1)                                                                       \
    X(OPENING, "opening", "ms", 1e-3)                                                              \
    X(MEMORY, "memory beyond the limit", "MiB", 0x1p20)                                            \
    X(BLOCKS, "blocks a get", "", 1)                                                               \
    X(DATA_BLOCKS, "data blocks a get", "", 1)

enum grow_figure {
#define GROW_FIGURE(name, label, unit, divisor) GROW_##name,
    GROW_FIGURES(GROW_FIGURE)
#undef GROW_FIGURE
        GROW_FIGURE_COUNT
};

struct grow_fill {
    size_t memory; /* memtable_bytes */
    size_t region; /* max_region_bytes */
    uint64_t pairs;
    bool sequential;     /* keys in ascending order; else in random order */
    char directory[256]; /* empty */
    double rate;         /* of grow_fill_paced */

    /* What came of it, in the units that the divisors of GROW_FIGURES expect. */
    double figures[GROW_FIGURE_COUNT];
    uint64_t wrong; /* answers of gets */
};

/* As fast as it goes: sets GROW_RATE, until the background rests, and GROW_P50. */
void grow_fill_fast(struct grow_fill *fill);

/* At fill->rate, each put's latency counted from when it was due: sets all other figures. */
void grow_fill_paced(struct grow_fill *fill);

#endif
