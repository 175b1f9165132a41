/*
 * policy.h -- which store files of a store are to be merged, and why: a pure function of their
 * facts.
 *
 * A store is a list of runs, in the order of their sequences. A pick is a number of neighbours in
 * that list, so that the output takes their place in the order. The rules, in the order in which
 * they are tried:
 *
 *  1. expired       a run all of whose cells are past TTL goes unread (HBase:
 *                   hbase.store.delete.expired.storefile)
 *  2. newer bytes   the runs after the oldest have together more than POLICY_NEWER_SHARE of its
 *                   bytes, and are POLICY_MIN_RUNS - 1 or more, or are larger than so many flushes:
 *                   all files
 *  3. deleted       markers may hide more than POLICY_DEAD_SHARE of the cells of the store, or so
 *                   many are past a time to live: all files
 *  4. age           of the cells in files that were written longer ago than POLICY_MAJOR_MS more
 *                   than POLICY_OLD_DEAD_SHARE would go: all files, of which those stay as they are
 *                   that have nothing to lose (engine/compact/plan.h)
 *  5. level         of all windows of min to max runs: none larger than POLICY_LEVEL_RATIO times
 *                   what the others have on average, unless the window is small (policy_limits);
 *                   the one with the fewest bytes to write for each run less
 *  6. exploring     with more than POLICY_CALM_RUNS runs, those that run jobs have as inputs
 *                   counted as what they leave, or with more than POLICY_CROWDED_RUNS: HBase's
 *                   policy (ExploringCompactionPolicy): of all windows of least to max runs: each
 *                   run at most POLICY_RATIO times the others together, unless the window is small;
 *                   most runs, then fewest bytes
 *  7. stuck         POLICY_STUCK_RUNS or more, and nothing else fits: of all windows that with the
 *                   fewest bytes to write for each run less
 *
 * Rule 5 waits for so many runs of one size that a byte is rewritten once for a tenfold growth.
 * Readers pay for that with up to about POLICY_CALM_RUNS runs. If a store would get more, because
 * it is so large or written so fast, rule 6 applies, which needs fewer runs, of any sizes.
 * `kv-bench simulate` shows the effect of both.
 *
 * Where many stores share the memtables a flush gives each of them little. Runs are as many then as
 * in a store that has all: sizes go by what flushes gave, not by what memtables hold.
 *
 * Busy runs and runs older than those are not taken, so that concurrent jobs of a store never
 * change places. All-files picks wait meanwhile.
 *
 * The inputs of a job count among the runs until it ends, and writers wait at STORE_MOST_RUNS. So
 * before an all-files job that takes long (more than POLICY_SMALL_FLUSHES flushes' bytes) a store
 * with more than half of POLICY_STUCK_RUNS is brought down to POLICY_FEW_RUNS, by the window that
 * has the fewest bytes: then there is room for what flushes add meanwhile, and for merging that.
 *
 * What flushes add while a job of B bytes runs is merged beside it by jobs of at most B /
 * POLICY_PART_BESIDE, and what they add while one of those runs by jobs of as small a part of that,
 * which interrupt it (engine/compact/compactor.h) for at most half as many bytes as it has done: so
 * windows grow with the job that they wait for, and the number of runs grows as the logarithm of B
 * does. The simulation in tests/engine/compact/simulation_test.c says where it settles.
 *
 * Threads: pure.
 */
#ifndef PETAL_ENGINE_COMPACT_POLICY_H
#define PETAL_ENGINE_COMPACT_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POLICY_MIN_RUNS     10 /* of a window of level runs */
#define POLICY_LEAST_RUNS   3  /* of one of exploring */
#define POLICY_MAX_RUNS     16
#define POLICY_LEVEL_RATIO  3.0
#define POLICY_RATIO        1.2
#define POLICY_CALM_RUNS    12 /* when the jobs that run have ended */
#define POLICY_CROWDED_RUNS 17 /* until they have */
#define POLICY_NEWER_SHARE                                                                         \
    0.5 /* so disk use settles below 1.5 times what an all-files compaction would leave .. */
#define POLICY_DEAD_SHARE                                                                          \
    0.25 /* .. if nothing was deleted; with deletions below 1.5 / 0.75 = 2 times */
#define POLICY_FEW_RUNS      6
#define POLICY_SMALL_FLUSHES 20 /* memtables' worth that a small job merges at most */
#define POLICY_PART_BESIDE   4
#define POLICY_FLUSH_FILES   4 /* that memtables make about: half is flushed, and compressed */
#define POLICY_MAJOR_MS      ((int64_t)7 * 24 * 3600 * 1000)
/* HBase rewrites a store of that age for a single marker; here at most a hundred bytes are written
 * for each that goes. */
#define POLICY_OLD_DEAD_SHARE 0.01

/* Runs of a store at which any window will do. */
#define POLICY_STUCK_RUNS 20

/* Files of one run, together. */
struct policy_run {
    uint64_t bytes;
    uint64_t cells;
    /* About how many of its cells, and of those of older runs, are hidden by its markers, or past a
     * time to live. */
    uint64_t dead;
    /* Of its files older than POLICY_MAJOR_MS; markers that may be dropped are among the dead. */
    uint64_t old_cells, old_dead;
    uint64_t flushed; /* bytes of the largest of its files that a flush wrote; 0: none did */
    bool all_files;   /* comes from an all-files compaction */
    bool expired;     /* all its cells are past TTL, and none is kept by MIN_VERSIONS */
    bool busy;        /* input of a job that runs */
};

struct policy_limits {
    /* Of memtables. Windows below it, and below POLICY_FLUSH_FILES files as flushes of the store
     * have written them, are not asked for their ratio. */
    uint64_t min_bytes;
    uint64_t
        max_bytes; /* of one job; all-files picks that are larger wait, too; UINT64_MAX: no limit */
    /* An all-files pick that busy runs or max_bytes keep from being taken is not put off by other
     * picks, unless the oldest run is busy. */
    bool all_files_first;
};

enum policy_reason {
    POLICY_NOTHING = 0,
    POLICY_EXPIRED,
    POLICY_NEWER_BYTES,
    POLICY_DELETED,
    POLICY_AGE,
    POLICY_LEVEL,
    POLICY_EXPLORING,
    POLICY_STUCK,
    POLICY_ASKED /* petal_compact; never picked */
};

struct policy_pick {
    enum policy_reason reason;
    size_t first, count; /* of the runs; count is 0 with POLICY_NOTHING */
    bool all_files;      /* all runs of the store */
    uint64_t bytes;
};

/* `runs` oldest first. */
void policy_pick(const struct policy_run *runs, size_t count, const struct policy_limits *limits,
                 struct policy_pick *pick);

/* Is a store of so many runs to have fewer before a long all-files job? Then *pick is the window to
 * be merged first. Nothing may be busy. */
bool policy_pick_fewer(const struct policy_run *runs, size_t count,
                       const struct policy_limits *limits, struct policy_pick *pick);

/* The most bytes of a job that begins beside one of `bytes`; small ones, of up to `small_bytes`,
 * may begin in any case. */
uint64_t policy_bytes_beside(uint64_t bytes, uint64_t small_bytes);

/* The most bytes of a job that interrupts one of `bytes`, of which `done` are done, after others of
 * `interrupted` bytes. */
uint64_t policy_bytes_within(uint64_t bytes, uint64_t done, uint64_t interrupted);

/* For the log: "newer bytes" .. */
const char *policy_reason_text(enum policy_reason reason);

#endif
