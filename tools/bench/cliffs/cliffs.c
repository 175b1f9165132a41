/*
 * cliffs.c -- `kv-bench cliffs`: what a unit of work costs at n and at 10 n, counted.  A cost
 * that grows with the size although the work does not is a cliff; the exit status is 1 if there is
 * one.
 *
 * JSON: {…, "workloads": [{"name", "shows", "unit", "most", "sizes": [{"n", "units", "blocks",
 * "seeks", "cells", "files", "file_bytes", "seconds"}, …]}, …]}, sums each; blocks, seeks and cells
 * are null where no read was counted, files and file_bytes where no flush was.
 */
#include "tools/bench/cliffs/cliff.h"
#include "tools/bench/harness/commands.h"
#include "tools/bench/harness/json.h"
#include "tools/bench/harness/options.h"

#include <inttypes.h>
#include <string.h>

static const struct cliff *const areas[] = {bench_cliffs_reads,   bench_cliffs_gets,
                                            bench_cliffs_flushes, bench_cliffs_filters,
                                            bench_cliffs_records, bench_cliffs_scans};
#define AREAS (sizeof areas / sizeof *areas)

struct measure {
    uint64_t n, units;
    bool counted; /* else the three are unknown */
    uint64_t blocks, seeks, cells;
    bool flushed; /* else the two are unknown */
    uint64_t files, file_bytes;
    double seconds;
};

static int
usage(void)
{
    fputs("usage: kv-bench cliffs [options]\n"
          "What a unit of work costs at n and at 10 n: blocks, seeks and cells that were looked "
          "at, by receipts; files and bytes of flushes.\n"
          "  --only NAMES           workloads; all\n"
          "  --scale N              each n times N; 1\n"
          "  --list                 name them and say what they show\n"
          "  --json FILE            the results, too\n"
          "Exit status 1: the cost of a unit grows by more than it may.\n",
          stderr);
    return 2;
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

    cliff_make(&bed, &cliff->options);
    if (cliff->build != NULL)
        cliff->build(&bed, n);
    cliff_forget(&bed);
    begin = bench_now();
    measure.units = bench_cliff_measure(cliff, &bed, n);
    measure.seconds = bench_now() - begin;
    measure.counted = bed.counted;
    measure.blocks = bed.blocks;
    measure.seeks = bed.seeks;
    measure.cells = bed.cells;
    measure.flushed = bed.flushed;
    measure.files = bed.files;
    measure.file_bytes = bed.file_bytes;
    cliff_remove(&bed);
    return measure;
}

/* A count of nothing is as good as one of a unit in a thousand: reads that need no block may come
 * to need one. */
static double
growth(uint64_t small, uint64_t small_units, uint64_t large, uint64_t large_units)
{
    double before = (double)small / (double)small_units;
    double after = (double)large / (double)large_units;

    return after <= 0.001 ? 1 : after / (before > 0.001 ? before : 0.001);
}

static void
print_count(const char *name, uint64_t small, uint64_t large, const struct measure *sizes,
            double most, bool *cliff)
{
    double ratio = growth(small, sizes[0].units, large, sizes[1].units);
    bool is_more = ratio > most;

    printf("  %-10s %14.3f %14.3f %8.2f%s\n", name, (double)small / (double)sizes[0].units,
           (double)large / (double)sizes[1].units, ratio, is_more ? "   <-- a cliff" : "");
    *cliff = *cliff || is_more;
}

/* Returns whether it is a cliff. */
static bool
print(const struct cliff *cliff, const struct measure sizes[2])
{
    bool is_cliff = false;

    printf("%s: %s\n  a %-8s n = %10" PRIu64 " n = %10" PRIu64 "   growth, at most %.2f\n",
           cliff->name, cliff->shows, cliff->unit, sizes[0].n, sizes[1].n, cliff->most);
    if (sizes[0].counted) {
        print_count("blocks", sizes[0].blocks, sizes[1].blocks, sizes, cliff->most, &is_cliff);
        print_count("seeks", sizes[0].seeks, sizes[1].seeks, sizes, cliff->most, &is_cliff);
        print_count("cells", sizes[0].cells, sizes[1].cells, sizes, cliff->most, &is_cliff);
    }
    if (sizes[0].flushed) {
        print_count("files", sizes[0].files, sizes[1].files, sizes, cliff->most, &is_cliff);
        print_count("file bytes", sizes[0].file_bytes, sizes[1].file_bytes, sizes, cliff->most,
                    &is_cliff);
    }
    printf("  %-10s %14.3f %14.3f %8.2f   (time is not judged)\n", "us",
           1e6 * sizes[0].seconds / (double)sizes[0].units,
           1e6 * sizes[1].seconds / (double)sizes[1].units,
           sizes[1].seconds / (double)sizes[1].units / (sizes[0].seconds / (double)sizes[0].units));
    fflush(stdout);
    return is_cliff;
}

static json_t *
size_json(const struct measure *measure)
{
    json_t *size = bench_json_object();

    bench_json_set_count(size, "n", measure->n);
    bench_json_set_count(size, "units", measure->units);
    if (measure->counted) {
        bench_json_set_count(size, "blocks", measure->blocks);
        bench_json_set_count(size, "seeks", measure->seeks);
        bench_json_set_count(size, "cells", measure->cells);
    } else {
        bench_json_set(size, "blocks", json_null());
        bench_json_set(size, "seeks", json_null());
        bench_json_set(size, "cells", json_null());
    }
    if (measure->flushed) {
        bench_json_set_count(size, "files", measure->files);
        bench_json_set_count(size, "file_bytes", measure->file_bytes);
    } else {
        bench_json_set(size, "files", json_null());
        bench_json_set(size, "file_bytes", json_null());
    }
    bench_json_set(size, "seconds", json_real(measure->seconds));
    return size;
}

static json_t *
workload_json(const struct cliff *cliff, const struct measure measures[2])
{
    json_t *workload = bench_json_object();
    json_t *sizes = bench_json_list();

    bench_json_append(sizes, size_json(&measures[0]));
    bench_json_append(sizes, size_json(&measures[1]));
    bench_json_set(workload, "name", json_string(cliff->name));
    bench_json_set(workload, "shows", json_string(cliff->shows));
    bench_json_set(workload, "unit", json_string(cliff->unit));
    bench_json_set(workload, "most", json_real(cliff->most));
    bench_json_set(workload, "sizes", sizes);
    return workload;
}

/* ---- the command ---- */

/* Is the name among names with commas between them?  NULL: all are. */
static bool
is_named(const char *names, const char *name)
{
    size_t length = strlen(name);

    if (names == NULL)
        return true;
    for (;;) {
        size_t size = strcspn(names, ",");

        if (size == length && memcmp(names, name, size) == 0)
            return true;
        if (names[size] == '\0')
            return false;
        names += size + 1;
    }
}

/* Is each of the names a workload's?  Says so, if not. */
static bool
all_are_known(const char *names)
{
    while (names != NULL) {
        size_t size = strcspn(names, ",");
        bool known = false;

        for (size_t i = 0; i < AREAS; i++) {
            for (const struct cliff *cliff = areas[i]; cliff->name != NULL; cliff++)
                known =
                    known || (strlen(cliff->name) == size && memcmp(cliff->name, names, size) == 0);
        }
        if (!known) {
            fprintf(stderr, "kv-bench: there is no workload \"%.*s\"; --list names them\n",
                    (int)size, names);
            return false;
        }
        names = names[size] == ',' ? names + size + 1 : NULL;
    }
    return true;
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
                                           {"--json", BENCH_TEXT, &json_path}};
    json_t *workloads;
    unsigned cliffs = 0;

    if (!bench_options_read(options, sizeof options / sizeof *options, argc, argv))
        return usage();
    if (!all_are_known(only) ||
        bench_refused(scale == 0 || scale > 10000, "--scale is from 1 to 10000"))
        return 2;
    workloads = bench_json_list();
    for (size_t i = 0; i < AREAS; i++) {
        for (const struct cliff *cliff = areas[i]; cliff->name != NULL; cliff++) {
            struct measure sizes[2];

            if (!is_named(only, cliff->name))
                continue;
            if (list) {
                printf("%-20s %s\n", cliff->name, cliff->shows);
                continue;
            }
            sizes[0] = run_once(cliff, cliff->n * scale);
            sizes[1] = run_once(cliff, cliff->n * scale * 10);
            cliffs += print(cliff, sizes);
            bench_json_append(workloads, workload_json(cliff, sizes));
        }
    }
    if (json_path != NULL) {
        json_t *whole = bench_json_head("cliffs", "cliffs", argc, argv);

        bench_json_set(whole, "workloads", workloads);
        bench_json_write(whole, json_path);
        json_decref(whole);
    } else {
        json_decref(workloads);
    }
    if (cliffs > 0)
        printf("%u of the workloads cost more than they may\n", cliffs);
    else if (!list)
        printf("all that was counted is flat; make check counts the instructions of each, too\n");
    return cliffs > 0 ? 1 : 0;
}
