/* kv-bench.c -- the benchmarks: `kv-bench COMMAND …`. Exit status: 0 fine, 1 outside of what was
 * expected, 2 usage, 3 failure. */
#include "engine/petal.h"
#include "tools/bench/harness/commands.h"
#include "tools/bench/harness/options.h"
#include "tools/bench/workloads/workload.h"
#include "tools/command/nearest.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    const char *meaning;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"compare", "Petal next to its rivals, interleaved, with ratios", bench_compare_main},
    {"quick", "compare with fewer rows and one thread", bench_quick_main},
    {"diff", "two files of results: what moved by more than the noise", bench_diff_main},
    {"ycsb", "YCSB's core workloads A to F, on each store", bench_ycsb_main},
    {"readamp", "data blocks that lookups read: what Bloom filters spare", bench_readamp_main},
    {"filters", "standalone filters, next to others: bits, rates, times", bench_filters_main},
    {"cliffs", "does a unit of work cost more where ten times as much is?", bench_cliffs_main},
    {"grow", "what a database costs as it grows to 16 times the bytes", bench_grow_main},
    {"simulate", "what the compaction policy makes of a growing store", bench_simulate_main},
};

static int
usage(void)
{
    fputs("usage: kv-bench COMMAND [options]; COMMAND --help lists them\n", stderr);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(stderr, "  %-16s %s\n", commands[i].name, commands[i].meaning);
    fputs("or kv-bench WORKLOAD[,WORKLOAD...] [options], of db_bench's workloads\n", stderr);
    bench_workload_list();
    return 2;
}

static void
tell_no_command(const char *word)
{
    const char *nearest = NULL;
    unsigned least = 0;

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        nearest_consider(word, commands[i].name, &nearest, &least);
    for (size_t i = 0; bench_workload_at(i) != NULL; i++)
        nearest_consider(word, bench_workload_at(i), &nearest, &least);
    nearest_tell("kv-bench", word, nearest);
}

static bool
asks_for_usage(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

static int
run(int argc, char **argv)
{
    if (argc == 0 || asks_for_usage(argv[0]))
        return usage();
    if (strcmp(argv[0], "--version") == 0) {
        printf("kv-bench %s\n", petal_version());
        return 0;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[0], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    }
    if (bench_dbbench_is_meant(argv[0]))
        return bench_dbbench_main(argc, argv);
    tell_no_command(argv[0]);
    return 2;
}

/* Is all on the standard output?  What was written before may have failed, too; why is not known
 * then. */
static bool
output_is_written(void)
{
    bool flushed = fflush(stdout) == 0;

    if (flushed && !ferror(stdout))
        return true;
    fprintf(stderr, "kv-bench: cannot write to the standard output: %s\n",
            flushed ? "a part of it is lost" : strerror(errno));
    return false;
}

/* Who asks for the usage gets it on the standard output. */
int
main(int argc, char **argv)
{
    bool asks = bench_asks_for_help(argc - 1, argv + 1) || (argc > 1 && asks_for_usage(argv[1]));
    int status;

    if (asks && dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
        return 3;
    status = run(argc - 1, argv + 1);
    if (argc > 1)
        bench_options_tell(argv[1]);
    if (!output_is_written() || (asks && ferror(stderr)))
        return 3;
    return asks && status == 2 ? 0 : status;
}
