/* runs.h -- the store files of a database, summed up by family and run. */
#ifndef PETAL_TOOLS_BENCH_WORKLOADS_RUNS_H
#define PETAL_TOOLS_BENCH_WORKLOADS_RUNS_H

#include "engine/petal.h"

struct bench_run {
    petal_table *table;
    char family[PETAL_MAX_FAMILY_BYTES + 1];
    uint64_t run, files, file_bytes, data_bytes, raw_data_bytes, index_bytes, filter_bytes;
    uint64_t cells, markers, bloom_keys;
    uint64_t sequence_min, sequence_max;
    double error_rate; /* of its filters, the greatest; what an absent row in its range costs */
};

struct bench_runs {
    struct bench_run *runs; /* in the order of the tables, their families, and of sequences */
    size_t count, capacity;
};

/* Of all tables; ends the program when that fails. To be freed with free(runs->runs). */
void bench_runs_get(struct bench_runs *runs, petal_db *db);

/* Of one table, added. */
void bench_runs_of_table(struct bench_runs *runs, petal_table *table);

/* The greatest number of runs of a family. */
size_t bench_runs_most(const struct bench_runs *runs);

#endif
