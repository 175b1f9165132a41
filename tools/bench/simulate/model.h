/*
 * model.h -- a store in numbers: flushes come, the engine's compaction policy
 * (engine/compact/policy.h) picks, and what it picks is carried out on sizes. Nothing is written
 * and nothing is measured.
 *
 * Time stands still while a job runs: compactions keep up with what comes. What they do when they
 * do not is in tests/engine/compact/simulation_test.c.
 *
 * KEYS.  A run holds `cells` distinct keys. Keys of overwrites are drawn evenly from so many, so
 * that what two runs share is known without keys: of n keys a run of c holds the share c / n, and a
 * merge of several all but the product of what each lacks. Runs of keys in order have files that
 * the engine's plan (engine/compact/plan.h) links; every other run is one file.
 */
#ifndef PETAL_TOOLS_BENCH_SIMULATE_MODEL_H
#define PETAL_TOOLS_BENCH_SIMULATE_MODEL_H

#include "engine/compact/plan.h"
#include "engine/compact/policy.h"

#define SIMULATE_MOST_RUNS  64
#define SIMULATE_MOST_FILES (SIMULATE_MOST_RUNS * PLAN_MOST_FILES)

enum simulate_order {
    SIMULATE_RANDOM,     /* each key once, in random order: every run spans all rows */
    SIMULATE_SEQUENTIAL, /* each key once, in order: no two runs share a row range */
    SIMULATE_OVERWRITE   /* keys drawn evenly from `keys`, again and again */
};

struct simulate_settings {
    enum simulate_order order;
    double memtable_bytes; /* the option: what the policy takes a flush for */
    double flush_bytes;    /* user bytes of one flush */
    double cell_bytes;     /* user bytes of a cell */
    double stored;         /* bytes in a store file for one of the user */
    double logged;         /* the same in the log */
    double keys;           /* SIMULATE_OVERWRITE */
};

struct simulate_store {
    struct simulate_settings settings;
    struct policy_run runs[SIMULATE_MOST_RUNS]; /* oldest first */
    size_t count;
    /* SIMULATE_SEQUENTIAL: the sizes of all files, in the order of rows, which is that of runs; and
     * how many each run has. */
    uint64_t files[SIMULATE_MOST_FILES];
    size_t run_files[SIMULATE_MOST_RUNS];
    /* What came of it, in bytes. */
    double user, log, flushed, merged;
    uint64_t flushes, jobs, all_files;
    double longest; /* what a job reads */
    /* Greatest share of the disk, a job's output next to its inputs included, over what an
     * all-files compaction would leave; of stores of more than 8 flushes. */
    double most_disk;
    size_t most_runs;
    double
        runs_met; /* of each flush so far, the sum of what a get of an absent row meets after it */
};

void simulate_begin(struct simulate_store *store, const struct simulate_settings *settings);

/* One flush, and all that the policy picks then. */
void simulate_flush(struct simulate_store *store);

/* Bytes of the files now, and what an all-files compaction would leave of them. */
double simulate_disk(const struct simulate_store *store);
double simulate_live(const struct simulate_store *store);

/* Files of all runs. */
size_t simulate_files(const struct simulate_store *store);

/* Runs that a get of an absent row, within their rows, asks. */
size_t simulate_runs_met(const struct simulate_store *store);

#endif
