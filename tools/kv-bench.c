/* kv-bench.c -- the benchmarks: `kv-bench COMMAND …`. Exit status: 0 fine, 1 outside of what was
 * expected, 2 usage, 3 failure. */
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
    {"compare", "Petal beside its rivals: fills, gets, seeks, scans, interleaved, with ratios",
     bench_compare_main},
    {"quick", "compare with fewer rows and one thread", bench_quick_main},
    {"diff", "two files of results: what moved by more than the noise", bench_diff_main},
    {"agree", "do all stores answer alike? random operations, every answer compared",
     bench_agree_main},
    {"ycsb", "YCSB's core workloads A to F, on each store", bench_ycsb_main},
    {"readamp", "what Bloom filters spare: data blocks that lookups read, on one screen; or a grid",
     bench_readamp_main},
    {"filters",
     "filters by themselves, beside others: bits a key, rates, times in cache and out of it",
     bench_filters_main},
    {"cliffs", "does the cost of a unit of work stay as it is when there is ten times as much?",
     bench_cliffs_main},
    {"simulate", "what the compaction policy makes of a growing store, on sizes only",
     bench_simulate_main},
    {"fill", "make, extend or overwrite a table: rates, latencies, bytes written, stalls",
     bench_fill_main},
    {"read", "random gets of what fill made, each answer checked; with several threads",
     bench_read_main},
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

static int
run(int argc, char **argv)
{
    if (argc == 0 || strcmp(argv[0], "--help") == 0)
        return usage();
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
    bool asks = false;
    int status;

    for (int i = 1; i < argc; i++)
        asks = asks || strcmp(argv[i], "--help") == 0;
    if (asks && dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
        return 3;
    status = run(argc - 1, argv + 1);
    bench_options_tell();
    if (!output_is_written() || (asks && ferror(stderr)))
        return 3;
    return asks && status == 2 ? 0 : status;
}
