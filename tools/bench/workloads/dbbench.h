/*
 * dbbench.h -- `kv-bench fillrandom,readrandom,…`: a list of db_bench's workloads, run in order on each store.
 *
 * Each store has a directory of its own, new and removed at the end, or DIR/<store>, which is kept, with the keys that are in it beside
 * it in DIR/<store>.keys.
 */
#ifndef PETAL_TOOLS_BENCH_WORKLOADS_DBBENCH_H
#define PETAL_TOOLS_BENCH_WORKLOADS_DBBENCH_H

#include <stdbool.h>

/* Does a list of workloads begin so? */
bool bench_dbbench_is_meant(const char *list);

/* `argv` begins with the list. */
int bench_dbbench_main(int argc, char **argv);

#endif
