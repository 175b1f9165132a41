/* stats.c -- `kv-bench stats`: a database's store files by run, their bytes, and what absent rows cost by their filters. */
#include "tools/bench/harness/commands.h"
#include "tools/bench/harness/options.h"
#include "tools/bench/harness/process.h"
#include "tools/bench/harness/util.h"
#include "tools/bench/workloads/runs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576.0

/* Runs `from` .. `limit` - 1 are of one family. */
static void
print_family(const struct bench_run *runs, size_t from, size_t limit)
{
    petal_slice table = petal_table_name(runs[from].table);
    double rate = 0, bytes = 0;

    printf("%.*s:%s\n", (int)table.size, (const char *)table.data, runs[from].family);
    for (size_t i = from; i < limit; i++) {
        const struct bench_run *run = &runs[i];

        printf(
            "  run %-6" PRIu64 " %3" PRIu64 " files %10.2f MiB (data %.2f of %.2f raw, index %.2f, "
            "filter %.2f), %" PRIu64 " cells, %" PRIu64 " markers, %.1f bits a key for %.5f\n",
            run->run, run->files, (double)run->file_bytes / MIB, (double)run->data_bytes / MIB,
            (double)run->raw_data_bytes / MIB, (double)run->index_bytes / MIB,
            (double)run->filter_bytes / MIB, run->cells, run->markers,
            run->bloom_keys > 0 ? 8.0 * (double)run->filter_bytes / (double)run->bloom_keys : 0.0,
            run->error_rate);
        rate += run->error_rate;
        bytes += (double)run->file_bytes;
    }
    printf("  %zu runs, %.2f MiB; error rates together %.5f\n", limit - from, bytes / MIB, rate);
}

static void
print_runs(const struct bench_runs *runs)
{
    for (size_t from = 0, limit; from < runs->count; from = limit) {
        const struct bench_run *first = &runs->runs[from];

        for (limit = from + 1; limit < runs->count && runs->runs[limit].table == first->table &&
                               strcmp(runs->runs[limit].family, first->family) == 0;)
            limit++;
        print_family(runs->runs, from, limit);
    }
}

int
bench_stats_main(int argc, char **argv)
{
    const char *directory = NULL;
    petal_options options = {0};
    const struct bench_option known[] = {{"--db", BENCH_TEXT, &directory},
                                         {"--read-only", BENCH_FLAG, &options.read_only}};
    struct bench_runs runs;
    petal_stats stats;
    petal_error error;
    petal_db *db;
    double began = bench_now();

    if (!bench_options_read(known, sizeof known / sizeof *known, argc, argv) ||
        bench_refused(directory == NULL, "--db is needed")) {
        fputs("usage: kv-bench stats --db DIR [--read-only]\n", stderr);
        return 2;
    }
    options.no_compaction = true; /* show what is there */
    bench_check(petal_open(directory, &options, &db, &error), &error, "open");
    printf("opened in %.2f ms; %.2f MiB on disk\n", (bench_now() - began) * 1e3,
           (double)bench_disk_bytes(directory) / MIB);
    bench_runs_get(&runs, db);
    print_runs(&runs);
    petal_stats_get(db, &stats);
    printf("memory: limit %.1f, memtables %.2f, open files %.2f MiB\n",
           (double)stats.memory_limit / MIB, (double)stats.memtable_memory / MIB,
           (double)stats.file_memory / MIB);
    free(runs.runs);
    bench_check(petal_close(db, &error), &error, "close");
    return 0;
}
