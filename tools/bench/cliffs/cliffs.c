/*
 * cliffs.c -- `kv-bench cliffs`: what a unit of work costs at n and at 10 n, counted.  A cost
 * that grows with the size although the work does not is a cliff; the exit status is 1 if there is
 * one.
 *
 * File: results (tools/bench/results/file.h) for each workload, size and thing that was counted, with
 * "per_unit", "operations" (units) and "seconds".
 */
#include "tools/bench/cliffs/cliff.h"
#include "tools/bench/harness/commands.h"
#include "tools/bench/results/file.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct cliff *const areas[] = {
    bench_cliffs_gets,  bench_cliffs_flushes, bench_cliffs_filtered_scans, bench_cliffs_records,
    bench_cliffs_scans, bench_cliffs_hidden,  bench_cliffs_together};
#define AREAS (sizeof areas / sizeof *areas)

#define USUAL_N    2000
#define USUAL_MOST 1.5

/* What is counted: by receipts of reads; of flushes. */
enum counted { BLOCKS, SEEKS, CELLS, FILES, FILE_BYTES, COUNTED };
static const char *const counted_names[COUNTED] = {"blocks", "seeks", "cells", "files",
                                                   "file bytes"};

struct measure {
    uint64_t n, units;
    double per_unit[COUNTED]; /* NAN: not counted */
    double seconds;
};

static void
usage(void)
{
    fputs("usage: kv-bench cliffs [options]\n"
          "What a unit of work costs at n and at 10 n: blocks, seeks and cells that were\n"
          "looked at, by receipts; files and bytes of flushes.\n"
          "  --only NAMES           workloads; all\n"
          "  --scale N              each n times N; 1\n"
          "  --list                 name them and say what they show\n"
          "  --json FILE            the results, too\n"
          "Exit status 1: the cost of a unit grows by more than it may.\n",
          stderr);
}

/* ---- one workload ---- */

/* What callgrind counts. */
__attribute__((noinline)) uint64_t bench_cliff_measure(const struct cliff *cliff,
                                                       struct cliff_bed *bed, uint64_t n);

uint64_t
bench_cliff_measure(const struct cliff *cliff, struct cliff_bed *bed, uint64_t n)
{
    return cliff->work(bed, n);
}

static struct measure
run_once(const struct cliff *cliff, uint64_t n)
{
    struct measure measure = {.n = n};
    struct cliff_bed bed;
    double begin;

    cliff_make(&bed, cliff);
    if (cliff->build != NULL)
        cliff->build(&bed, n);
    if (cliff->stored)
        cliff_flush(&bed);
    if (cliff->warm)
        cliff->work(&bed, n);
    cliff_forget(&bed);
    begin = bench_now();
    measure.units = bench_cliff_measure(cliff, &bed, n);
    measure.seconds = bench_now() - begin;
    for (int i = 0; i < COUNTED; i++) {
        const uint64_t counts[COUNTED] = {bed.blocks, bed.seeks, bed.cells, bed.files,
                                          bed.file_bytes};

        measure.per_unit[i] = (i < FILES ? bed.counted : bed.flushed)
                                  ? (double)counts[i] / (double)measure.units
                                  : NAN;
    }
    cliff_remove(&bed);
    return measure;
}

/* A count of nothing is as good as one of a unit in a thousand: reads that need no block may come
 * to need one. */
static double
growth(double before, double after)
{
    return after <= 0.001 ? 1 : after / (before > 0.001 ? before : 0.001);
}

/* Does a unit look at more cells than it may? Says so. */
static bool
looks_at_too_many(const struct cliff *cliff, const struct measure *measure)
{
    bool does = cliff->cells > 0 && measure->per_unit[CELLS] > cliff->cells;

    if (does)
        printf("  at most %.2f cells a %s   <-- a cliff\n", cliff->cells, cliff->unit);
    return does;
}

/* Returns whether it is a cliff. */
static bool
print(const struct cliff *cliff, const struct measure sizes[2])
{
    double before = 1e6 * sizes[0].seconds / (double)sizes[0].units;
    double after = 1e6 * sizes[1].seconds / (double)sizes[1].units;
    bool is_cliff = false;

    printf("%s: %s\n  a %-8s n = %10" PRIu64 " n = %10" PRIu64 "   growth, at most %.2f\n",
           cliff->name, cliff->shows, cliff->unit, sizes[0].n, sizes[1].n, cliff->most);
    printf("  %-10s %14" PRIu64 " %14" PRIu64 "\n", "units", sizes[0].units, sizes[1].units);
    for (int i = 0; i < COUNTED; i++) {
        double ratio = growth(sizes[0].per_unit[i], sizes[1].per_unit[i]);

        if (isnan(sizes[0].per_unit[i]))
            continue;
        printf("  %-10s %14.3f %14.3f %8.2f%s\n", counted_names[i], sizes[0].per_unit[i],
               sizes[1].per_unit[i], ratio, ratio > cliff->most ? "   <-- a cliff" : "");
        is_cliff = is_cliff || ratio > cliff->most;
    }
    is_cliff = looks_at_too_many(cliff, &sizes[1]) || is_cliff;
    printf("  %-10s %14.3f %14.3f %8.2f   (time is not judged)\n", "us", before, after,
           after / before);
    fflush(stdout);
    return is_cliff;
}

static void
add_results(struct bench_result *result, const struct cliff *cliff, const struct measure *measure)
{
    for (int i = 0; i < COUNTED; i++) {
        char operation[BENCH_NAME_BYTES], setting[BENCH_NAME_BYTES];
        struct bench_outcome outcome;

        if (isnan(measure->per_unit[i]))
            continue;
        snprintf(operation, sizeof operation, "%s, %s", cliff->name, counted_names[i]);
        snprintf(setting, sizeof setting, "a %s, n = %" PRIu64, cliff->unit, measure->n);
        outcome = bench_outcome_of_count(operation, setting, measure->per_unit[i]);
        outcome.values[BENCH_OPERATIONS] = (double)measure->units;
        outcome.values[BENCH_SECONDS] = measure->seconds;
        bench_result_add(result, &outcome);
    }
}

/* ---- the command ---- */

/* Set the bits of the workloads that are named, in the order of the areas; NULL: of all. */
static bool
read_names(const char *list, uint64_t *wanted)
{
    const char *names[64];
    size_t count = 0;

    for (size_t i = 0; i < AREAS; i++) {
        for (const struct cliff *cliff = areas[i]; cliff->name != NULL; cliff++)
            names[count++] = cliff->name;
    }
    *wanted = UINT64_MAX;
    return list == NULL || bench_names_read("--only", list, names, count, wanted);
}

int
bench_cliffs_main(int argc, char **argv)
{
    const char *only = NULL, *json_path = NULL;
    uint64_t scale = 1;
    bool list = false;
    const struct bench_option options[] = {{"--only", BENCH_TEXT, &only},
                                           {"--scale", BENCH_COUNT, &scale},
                                           {"--list", BENCH_FLAG, &list},
                                           {"--json", BENCH_OUTPUT, &json_path}};
    const struct bench_file file =
        bench_file_of("cliffs", argc, argv, options, sizeof options / sizeof *options);
    struct bench_result result = {0};
    unsigned cliffs = 0;
    uint64_t wanted;

    if (!bench_options_read(options, file.option_count, argc, argv))
        return bench_options_explain(usage);
    if (!read_names(only, &wanted) ||
        bench_refused(scale == 0 || scale > 10000, "--scale is from 1 to 10000"))
        return 2;
    for (size_t i = 0; i < AREAS; i++) {
        for (const struct cliff *at = areas[i]; at->name != NULL; at++, wanted >>= 1) {
            struct cliff cliff = *at;
            struct measure sizes[2];

            if ((wanted & 1) == 0)
                continue;
            if (list) {
                printf("%-20s %s\n", cliff.name, cliff.shows);
                continue;
            }
            cliff.n = cliff.n > 0 ? cliff.n : USUAL_N;
            cliff.most = cliff.most > 0 ? cliff.most : USUAL_MOST;
            sizes[0] = run_once(&cliff, cliff.n * scale);
            sizes[1] = run_once(&cliff, cliff.n * scale * 10);
            cliffs += print(&cliff, sizes);
            add_results(&result, &cliff, &sizes[0]);
            add_results(&result, &cliff, &sizes[1]);
        }
    }
    bench_file_write(&file, json_path, &result, NULL);
    bench_result_free(&result);
    if (cliffs > 0)
        printf("%u of the workloads cost more than they may\n", cliffs);
    else if (!list)
        printf("all that was counted is flat; make check counts the instructions of each, too\n");
    return cliffs > 0 ? 1 : 0;
}
