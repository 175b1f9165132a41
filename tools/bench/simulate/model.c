/* model.c -- see tools/bench/simulate/model.h. */
#include "tools/bench/simulate/model.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define FEW_FLUSHES 8

/* Distinct keys of the runs together. */
static double
distinct(const struct simulate_store *store, size_t first, size_t count)
{
    double sum = 0, lacking = 1, keys = store->settings.keys;

    for (size_t i = first; i < first + count; i++) {
        sum += (double)store->runs[i].cells;
        lacking *= 1 - (double)store->runs[i].cells / keys;
    }
    return store->settings.order == SIMULATE_OVERWRITE ? keys * (1 - lacking) : sum;
}

static double
bytes_of_cells(const struct simulate_store *store, double cells)
{
    return cells * store->settings.cell_bytes * store->settings.stored;
}

double
simulate_disk(const struct simulate_store *store)
{
    double bytes = 0;

    for (size_t i = 0; i < store->count; i++)
        bytes += (double)store->runs[i].bytes;
    return bytes;
}

double
simulate_live(const struct simulate_store *store)
{
    return bytes_of_cells(store, distinct(store, 0, store->count));
}

size_t
simulate_runs_met(const struct simulate_store *store)
{
    return store->settings.order == SIMULATE_SEQUENTIAL && store->count > 0 ? 1 : store->count;
}

static struct policy_run
run_of(const struct simulate_store *store, double cells)
{
    return (struct policy_run){.bytes = (uint64_t)(bytes_of_cells(store, cells) + 0.5),
                               .cells = (uint64_t)(cells + 0.5)};
}

size_t
simulate_files(const struct simulate_store *store)
{
    size_t count = 0;

    for (size_t i = 0; i < store->count; i++)
        count += store->run_files[i];
    return count;
}

/* A row of the file at a place in the order of rows. */
static petal_slice
row_at(size_t place, uint8_t row[2])
{
    row[0] = (uint8_t)(place >> 8);
    row[1] = (uint8_t)place;
    return (petal_slice){row, 2};
}

/* The files of a pick become those that the plan makes of them. Returns what is rewritten; *most:
 * of that what one part is. */
static double
carry_out_in_order(struct simulate_store *store, const struct policy_pick *pick, double *most)
{
    const struct plan_limits limits = {.small_bytes = (uint64_t)store->settings.memtable_bytes /
                                                      PLAN_SMALL_FILES,
                                       .part_bytes = PLAN_FILE_BYTES};
    static struct plan_file files[SIMULATE_MOST_FILES];
    static struct plan_part parts[SIMULATE_MOST_FILES];
    static uint8_t rows[SIMULATE_MOST_FILES][2];
    size_t all = simulate_files(store), first = 0, count = 0, left;
    double rewritten = 0;

    for (size_t i = 0; i < pick->first; i++)
        first += store->run_files[i];
    for (size_t i = 0; i < pick->count; i++)
        count += store->run_files[pick->first + i];
    for (size_t i = 0; i < count; i++)
        files[i] = (struct plan_file){.row_min = row_at(i, rows[i]),
                                      .row_max = row_at(i, rows[i]),
                                      .bytes = store->files[first + i],
                                      .settled = true,
                                      .input = i};
    left = plan_parts(files, count, &limits, parts);
    *most = 0;
    for (size_t i = 0; i < left; i++) {
        store->files[first + i] = parts[i].bytes;
        if (parts[i].linked)
            continue;
        rewritten += (double)parts[i].bytes;
        if ((double)parts[i].bytes > *most)
            *most = (double)parts[i].bytes;
    }
    memmove(&store->files[first + left], &store->files[first + count],
            (all - first - count) * sizeof *store->files);
    store->run_files[pick->first] = left;
    return rewritten;
}

static void
carry_out(struct simulate_store *store, const struct policy_pick *pick)
{
    double cells = distinct(store, pick->first, pick->count);
    struct policy_run output = run_of(store, cells);
    double read = (double)pick->bytes, most = (double)output.bytes, written = most, disk;

    assert(pick->count > 0 && pick->first + pick->count <= store->count);
    output.all_files = pick->all_files;
    if (store->settings.order == SIMULATE_SEQUENTIAL)
        read = written = carry_out_in_order(store, pick, &most);
    else
        store->run_files[pick->first] = 1;
    disk = simulate_disk(store) + most;
    store->jobs++;
    store->all_files += pick->all_files;
    store->merged += written;
    if (read > store->longest)
        store->longest = read;
    if (store->flushes > FEW_FLUSHES && disk / simulate_live(store) > store->most_disk)
        store->most_disk = disk / simulate_live(store);
    store->runs[pick->first] = output;
    store->count -= pick->count - 1;
    memmove(&store->runs[pick->first + 1], &store->runs[pick->first + pick->count],
            (store->count - pick->first - 1) * sizeof *store->runs);
    memmove(&store->run_files[pick->first + 1], &store->run_files[pick->first + pick->count],
            (store->count - pick->first - 1) * sizeof *store->run_files);
}

static void
compact(struct simulate_store *store)
{
    const struct policy_limits limits = {.min_bytes = (uint64_t)store->settings.memtable_bytes,
                                         .max_bytes = UINT64_MAX,
                                         .all_files_first = true};
    struct policy_pick pick;

    for (;;) {
        policy_pick(store->runs, store->count, &limits, &pick);
        if (pick.reason == POLICY_NOTHING)
            return;
        carry_out(store, &pick);
    }
}

void
simulate_begin(struct simulate_store *store, const struct simulate_settings *settings)
{
    *store = (struct simulate_store){.settings = *settings};
}

/* Distinct keys of one flush. */
static double
cells_of_flush(const struct simulate_settings *settings)
{
    double cells = settings->flush_bytes / settings->cell_bytes;

    return settings->order == SIMULATE_OVERWRITE ? settings->keys * -expm1(-cells / settings->keys)
                                                 : cells;
}

void
simulate_flush(struct simulate_store *store)
{
    const struct simulate_settings *settings = &store->settings;
    struct policy_run *run = &store->runs[store->count];

    assert(store->count < SIMULATE_MOST_RUNS);
    *run = run_of(store, cells_of_flush(settings));
    if (settings->order == SIMULATE_SEQUENTIAL)
        store->files[simulate_files(store)] = run->bytes;
    store->run_files[store->count++] = 1;
    store->flushes++;
    store->user += settings->flush_bytes;
    store->log += settings->flush_bytes * settings->logged;
    store->flushed += (double)run->bytes;
    if (store->count > store->most_runs)
        store->most_runs = store->count;
    compact(store);
    store->runs_met += (double)simulate_runs_met(store);
}
