/*
 * result.h -- the measurements of one run of kv-bench, and the JSON files that keep them.
 *
 * A series is what one operation did in one store, with blocks of one size and a number of threads: one value for each repeat. The
 * repeats of all series of a run are interleaved, so that value i of one series belongs to value i of another: ratios are taken
 * within repeats.
 *
 * File: {"kind": "compare", …, "results": [{"operation", "store", "block_bytes", "threads", "per_second": [one a repeat], "p50_us": […],
 * "p99_us": […], "cpu_us_per_operation": […]}]}; an empty list where that was not measured. Files of kind "workloads" are read, too:
 * there each element of "results" has "store", "workload", "threads", "ops_per_second", and elements alike are repeats.
 *
 * Threads: a result belongs to one thread.
 */
#ifndef PETAL_TOOLS_BENCH_RESULTS_RESULT_H
#define PETAL_TOOLS_BENCH_RESULTS_RESULT_H

#include "tools/bench/results/repeats.h"

#include <jansson.h>
#include <stdint.h>

#define BENCH_NAME_BYTES  48
#define BENCH_MOST_SERIES 4096

/* Of one run. */
struct bench_measurement {
    double per_second;
    double p50_us, p99_us, cpu_us; /* of one operation; 0: not measured */
};

struct bench_series_name {
    char operation[BENCH_NAME_BYTES], store[BENCH_NAME_BYTES];
    uint64_t block_bytes; /* 0: as the store has it */
    unsigned threads;
};

struct bench_series {
    struct bench_series_name name;
    size_t count; /* repeats */
    double per_second[BENCH_MOST_REPEATS];
    double p50_us[BENCH_MOST_REPEATS], p99_us[BENCH_MOST_REPEATS], cpu_us[BENCH_MOST_REPEATS];
};

/* All zero: empty. */
struct bench_result {
    char kind[BENCH_NAME_BYTES];
    struct bench_series *series; /* in the order in which they came */
    size_t count, capacity;
};

/* Add a repeat to the series of that name, a new one if there is none; what is more than BENCH_MOST_REPEATS of a series or
 * BENCH_MOST_SERIES is dropped, and the answer false. */
bool bench_result_add(struct bench_result *result, const struct bench_series_name *name,
                      const struct bench_measurement *measured);

/* NULL: there is none. */
const struct bench_series *bench_result_find(const struct bench_result *result,
                                             const struct bench_series_name *name);
void bench_result_free(struct bench_result *result);

/* Rates of one series through those of another, repeat by repeat; how many. */
size_t bench_series_ratios(const struct bench_series *over, const struct bench_series *under,
                           double ratios[BENCH_MOST_REPEATS]);

/* Write `head`, an object with all that is not "results", and them; ends the program when that fails. `head` keeps its owner. */
void bench_result_write(const struct bench_result *result, json_t *head, const char *path);

/* False, with a line that names the file and the place in it, when that is no file of results. `result` is empty before; what is
 * in it then is to be freed in any case. */
bool bench_result_read(struct bench_result *result, const char *path, char *fault,
                       size_t fault_bytes);

#endif
