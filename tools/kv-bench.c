/* kv-bench.c -- the benchmarks: `kv-bench SUBCOMMAND …`. Exit status: 0 fine, 1 outside of what was expected, 2 usage, 3 failure. */
#include "tools/bench_commands.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const char *meaning;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"quick", "cost of put, flush, get, seek and scan beside the rivals that were built in",
     bench_quick_main},
    {"readamp", "data blocks per get for each filter, number of files and kind of lookup",
     bench_readamp_main},
    {"fill", "make, extend or overwrite a key-value table: rates, latencies, bytes written, stalls",
     bench_fill_main},
    {"readrandom", "random gets of what fill made, each answer checked; with several threads",
     bench_readrandom_main},
    {"stats", "store files by run, their bytes and error rates", bench_stats_main},
};

int
main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 2, argv + 2);
    }
    fputs("usage: kv-bench COMMAND [options]\n", stderr);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(stderr, "  %-10s %s\n", commands[i].name, commands[i].meaning);
    return 2;
}
