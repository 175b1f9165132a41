/* runs.c -- see tools/bench/workloads/runs.h. */
#include "tools/bench/workloads/runs.h"

#include "tools/bench/harness/util.h"

#include <stdlib.h>
#include <string.h>

struct visit {
    struct bench_runs *runs;
    petal_table *table;
};

static struct bench_run *
find_run(struct bench_runs *runs, petal_table *table, petal_slice family, uint64_t number)
{
    struct bench_run *run;

    for (size_t i = 0; i < runs->count; i++) {
        run = &runs->runs[i];
        if (run->table == table && run->run == number && strlen(run->family) == family.size &&
            memcmp(run->family, family.data, family.size) == 0)
            return run;
    }
    if (runs->count == runs->capacity) {
        runs->capacity = runs->capacity == 0 ? 32 : 2 * runs->capacity;
        runs->runs = realloc(runs->runs, runs->capacity * sizeof *runs->runs);
        if (runs->runs == NULL)
            bench_fail("go on", "out of memory");
    }
    run = &runs->runs[runs->count++];
    *run = (struct bench_run){.table = table, .run = number, .sequence_min = UINT64_MAX};
    memcpy(run->family, family.data, family.size);
    return run;
}

static bool
add_file(void *argument, const petal_file_info *file)
{
    struct visit *visit = argument;
    struct bench_run *run = find_run(visit->runs, visit->table, file->family, file->run);

    run->files++;
    run->file_bytes += file->file_bytes;
    run->data_bytes += file->data_bytes;
    run->raw_data_bytes += file->raw_data_bytes;
    run->index_bytes += file->index_bytes;
    run->filter_bytes += file->filter_bytes;
    run->cells += file->cells;
    run->markers += file->markers;
    run->bloom_keys += file->bloom_keys;
    if (file->sequence_min < run->sequence_min)
        run->sequence_min = file->sequence_min;
    if (file->sequence_max > run->sequence_max)
        run->sequence_max = file->sequence_max;
    if (file->bloom != PETAL_BLOOM_NONE && file->bloom_error_rate > run->error_rate)
        run->error_rate = file->bloom_error_rate;
    return true;
}

static int
compare_runs(const void *a, const void *b)
{
    const struct bench_run *x = a, *y = b;
    int order = strcmp(x->family, y->family);

    if (order != 0)
        return order;
    return x->sequence_max < y->sequence_max ? -1 : x->sequence_max > y->sequence_max;
}

void
bench_runs_of_table(struct bench_runs *runs, petal_table *table)
{
    struct visit visit = {runs, table};
    size_t first = runs->count;
    petal_error error;

    bench_check(petal_table_files(table, add_file, &visit, &error), &error, "list store files");
    if (runs->count > first)
        qsort(runs->runs + first, runs->count - first, sizeof *runs->runs, compare_runs);
}

static bool
add_table(void *argument, petal_table *table)
{
    bench_runs_of_table(argument, table);
    return true;
}

void
bench_runs_get(struct bench_runs *runs, petal_db *db)
{
    petal_error error;

    *runs = (struct bench_runs){0};
    bench_check(petal_table_list(db, add_table, runs, &error), &error, "list tables");
}

size_t
bench_runs_most(const struct bench_runs *runs)
{
    size_t most = 0, of_family = 0;

    for (size_t i = 0; i < runs->count; i++) {
        bool same = i > 0 && runs->runs[i].table == runs->runs[i - 1].table &&
                    strcmp(runs->runs[i].family, runs->runs[i - 1].family) == 0;

        of_family = same ? of_family + 1 : 1;
        if (of_family > most)
            most = of_family;
    }
    return most;
}
