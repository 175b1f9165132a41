/* commands.h -- kv-bench's subcommands. Each takes the arguments after its name and returns the
 * exit status. */
#ifndef PETAL_TOOLS_BENCH_HARNESS_COMMANDS_H
#define PETAL_TOOLS_BENCH_HARNESS_COMMANDS_H

#include <stdbool.h>

int bench_cliffs_main(int argc, char **argv);
int bench_compare_main(int argc, char **argv);
int bench_dbbench_main(int argc, char **argv); /* `argv` begins with its list of workloads */
int bench_diff_main(int argc, char **argv);
int bench_filters_main(int argc, char **argv);
int bench_grow_main(int argc, char **argv);
int bench_quick_main(int argc, char **argv);
int bench_readamp_main(int argc, char **argv);
int bench_simulate_main(int argc, char **argv);
int bench_ycsb_main(int argc, char **argv);

/* Does a list of db_bench's workloads begin so? */
bool bench_dbbench_is_meant(const char *list);

#endif
