/* store.c -- see tools/bench/simulate/store.h. */
#include "tools/bench/simulate/store.h"

#include "engine/compact/plan.h"
#include "engine/region/border.h"
#include "tools/bench/harness/util.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALL_ROWS 0x1p64

/* ---- files ---- */

static double
rows_of(uint64_t first, uint64_t last)
{
    return (double)(last - first) + 1;
}

static struct simulate_file *
file_new(const struct simulate_store *store, uint64_t first, uint64_t last, uint64_t bytes)
{
    struct simulate_file *file = bench_alloc(sizeof *file);

    *file = (struct simulate_file){
        .first = first, .last = last, .bytes = bytes, .weight = store->weight, .references = 1};
    store->disk->bytes += store->weight * (double)bytes;
    store->disk->files += store->weight;
    return file;
}

static void
file_unref(struct simulate_disk *disk, struct simulate_file *file)
{
    if (--file->references > 0)
        return;
    disk->bytes -= file->weight * (double)file->bytes;
    disk->files -= file->weight;
    free(file);
}

static struct simulate_slice
slice_whole(struct simulate_file *file)
{
    return (struct simulate_slice){file, file->first, file->last, file->bytes};
}

/* The part of a slice in these rows; of no bytes where they share none. */
static struct simulate_slice
slice_within(const struct simulate_slice *slice, uint64_t first, uint64_t last)
{
    struct simulate_slice part = *slice;

    if (part.first < first)
        part.first = first;
    if (part.last > last)
        part.last = last;
    if (part.first > part.last)
        return (struct simulate_slice){0};
    part.bytes = (uint64_t)((double)slice->bytes * rows_of(part.first, part.last) /
                                rows_of(slice->first, slice->last) +
                            0.5);
    return part;
}

static bool
slice_is_whole(const struct simulate_slice *slice)
{
    return slice->first == slice->file->first && slice->last == slice->file->last &&
           !slice->file->halved;
}

/* As the engine compares rows. */
static petal_slice
encode_row(uint64_t row, uint8_t bytes[8])
{
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(row >> (56 - 8 * i));
    return (petal_slice){bytes, 8};
}

static uint64_t
decode_row(petal_slice row)
{
    const uint8_t *bytes = row.data;
    uint64_t number = 0;

    for (size_t i = 0; i < row.size; i++)
        number = number << 8 | bytes[i];
    return number;
}

/* ---- the store ---- */

void
simulate_store_init(struct simulate_store *store, const struct simulate_settings *settings,
                    struct simulate_disk *disk)
{
    *store = (struct simulate_store){
        .settings = settings, .disk = disk, .last = UINT64_MAX, .weight = 1};
}

void
simulate_store_fini(struct simulate_store *store)
{
    for (size_t i = 0; i < store->slice_count; i++)
        file_unref(store->disk, store->slices[i].file);
    free(store->slices);
    store->slices = NULL;
    store->slice_count = store->slice_capacity = store->count = 0;
}

/* The slices of a run begin at this one. */
static size_t
first_slice(const struct simulate_store *store, size_t run)
{
    size_t first = 0;

    for (size_t i = 0; i < run; i++)
        first += store->run_slices[i];
    return first;
}

static size_t
count_slices(const struct simulate_store *store, size_t first, size_t count)
{
    size_t slices = 0;

    for (size_t i = first; i < first + count; i++)
        slices += store->run_slices[i];
    return slices;
}

/* Put `count` slices in the place of `old` at `at`. */
static void
replace_slices(struct simulate_store *store, size_t at, size_t old,
               const struct simulate_slice *slices, size_t count)
{
    size_t wanted = store->slice_count - old + count;

    if (wanted > store->slice_capacity) {
        struct simulate_slice *grown = bench_alloc(2 * wanted * sizeof *grown);

        if (store->slice_count > 0)
            memcpy(grown, store->slices, store->slice_count * sizeof *grown);
        free(store->slices);
        store->slices = grown;
        store->slice_capacity = 2 * wanted;
    }
    memmove(&store->slices[at + count], &store->slices[at + old],
            (store->slice_count - at - old) * sizeof *slices);
    memcpy(&store->slices[at], slices, count * sizeof *slices);
    store->slice_count = wanted;
}

/* What the policy is told of a run whose slices have changed. */
static void
describe_run(struct simulate_store *store, size_t run)
{
    const struct simulate_slice *slices = &store->slices[first_slice(store, run)];
    struct policy_run *described = &store->runs[run];

    described->bytes = described->flushed = 0;
    for (size_t i = 0; i < store->run_slices[run]; i++) {
        described->bytes += slices[i].bytes;
        if (slices[i].file->flushed && slices[i].bytes > described->flushed)
            described->flushed = slices[i].bytes;
    }
    described->cells = described->bytes;
}

void
simulate_store_add(struct simulate_store *store, uint64_t first, uint64_t last, uint64_t bytes)
{
    struct simulate_slice slice = slice_whole(file_new(store, first, last, bytes));

    slice.file->flushed = true;
    assert(store->count < SIMULATE_MOST_RUNS);
    replace_slices(store, store->slice_count, 0, &slice, 1);
    store->owners[store->count] = 0;
    store->run_slices[store->count] = 1;
    store->runs[store->count++] =
        (struct policy_run){.bytes = bytes, .cells = bytes, .flushed = bytes};
}

static uint64_t
bytes_of_runs(const struct simulate_store *store, size_t first, size_t count)
{
    uint64_t bytes = 0;

    for (size_t i = first; i < first + count; i++)
        bytes += store->runs[i].bytes;
    return bytes;
}

uint64_t
simulate_store_bytes(const struct simulate_store *store)
{
    return bytes_of_runs(store, 0, store->count);
}

/* What a merge of runs leaves of these bytes of each, which lie in so many rows. Keys of overwrites
 * are drawn evenly, so that what runs share is known without keys: of n keys a run of c holds the
 * part c / n, and a merge all but the product of what each lacks. */
static double
bytes_merged(const struct simulate_settings *settings, const uint64_t *run_bytes, size_t count,
             double rows)
{
    double sum = 0, lacking = 1;
    double most = settings->keys * settings->cell_bytes * settings->stored * rows / ALL_ROWS;

    for (size_t i = 0; i < count; i++) {
        sum += (double)run_bytes[i];
        lacking *= 1 - fmin((double)run_bytes[i] / most, 1);
    }
    return settings->order == SIMULATE_OVERWRITE ? most * (1 - lacking) : sum;
}

double
simulate_store_live(const struct simulate_store *store)
{
    uint64_t bytes[SIMULATE_MOST_RUNS];

    for (size_t i = 0; i < store->count; i++)
        bytes[i] = store->runs[i].bytes;
    return bytes_merged(store->settings, bytes, store->count, rows_of(store->first, store->last));
}

double
simulate_store_runs_met(const struct simulate_store *store)
{
    uint64_t first = UINT64_MAX, last = 0;
    double rows = 0;

    for (size_t i = 0; i < store->slice_count; i++) {
        const struct simulate_slice *slice = &store->slices[i];

        rows += rows_of(slice->first, slice->last);
        first = slice->first < first ? slice->first : first;
        last = slice->last > last ? slice->last : last;
    }
    return store->slice_count > 0 ? rows / rows_of(first, last) : 0;
}

/* ---- jobs ---- */

/* An input of a job. */
struct input {
    uint8_t rows[2][8]; /* as the engine compares them */
    size_t run;         /* counted from the job's first */
};

/* The inputs of a job, and the parts that the engine makes of them. */
struct plan {
    struct input *inputs; /* the memory of all */
    struct plan_file *files;
    struct plan_part *parts;
    size_t file_count, part_count, run_count;
};

static void
plan_init(struct plan *plan, const struct simulate_store *store, size_t first, size_t count)
{
    const struct plan_limits limits = {.small_bytes =
                                           store->settings->memtable_bytes / PLAN_SMALL_FILES,
                                       .part_bytes = PLAN_FILE_BYTES};
    const struct simulate_slice *slice = &store->slices[first_slice(store, first)];

    plan->run_count = count;
    plan->file_count = count_slices(store, first, count);
    plan->inputs = bench_alloc(plan->file_count *
                               (sizeof *plan->inputs + sizeof *plan->files + sizeof *plan->parts));
    plan->files = (struct plan_file *)(plan->inputs + plan->file_count);
    plan->parts = (struct plan_part *)(plan->files + plan->file_count);
    for (size_t run = 0, i = 0; run < count; run++) {
        for (size_t k = 0; k < store->run_slices[first + run]; k++, i++, slice++) {
            struct input *input = &plan->inputs[i];

            input->run = run;
            plan->files[i] = (struct plan_file){.row_min = encode_row(slice->first, input->rows[0]),
                                                .row_max = encode_row(slice->last, input->rows[1]),
                                                .bytes = slice->bytes,
                                                .settled = slice_is_whole(slice),
                                                .input = i};
        }
    }
    plan->part_count = plan_parts(plan->files, plan->file_count, &limits, plan->parts);
}

/* What is left of a part, as one slice that has no file yet. */
static struct simulate_slice
merge_part(const struct plan *plan, const struct plan_part *part,
           const struct simulate_store *store, const struct simulate_slice *inputs)
{
    uint64_t bytes[SIMULATE_MOST_RUNS] = {0};
    struct simulate_slice merged = {.first = UINT64_MAX};

    for (size_t i = part->first; i < part->first + part->count; i++) {
        const struct simulate_slice *input = &inputs[plan->files[i].input];

        bytes[plan->inputs[plan->files[i].input].run] += input->bytes;
        merged.first = input->first < merged.first ? input->first : merged.first;
        merged.last = input->last > merged.last ? input->last : merged.last;
    }
    merged.bytes = (uint64_t)(bytes_merged(store->settings, bytes, plan->run_count,
                                           rows_of(merged.first, merged.last)) +
                              0.5);
    return merged;
}

/* Files that a part is cut into. */
static size_t
files_of(const struct simulate_slice *merged)
{
    return (size_t)((merged->bytes + PLAN_FILE_BYTES - 1) / PLAN_FILE_BYTES) + (merged->bytes == 0);
}

static void
count_work(struct simulate_work *work, const struct plan_part *part,
           const struct simulate_slice *merged)
{
    work->read += (double)part->bytes;
    work->written += (double)merged->bytes;
    work->files += (double)files_of(merged);
}

struct simulate_work
simulate_store_plan(const struct simulate_store *store, size_t first, size_t count)
{
    const struct simulate_slice *inputs = &store->slices[first_slice(store, first)];
    struct simulate_work work = {0};
    struct plan plan;

    plan_init(&plan, store, first, count);
    for (size_t i = 0; i < plan.part_count; i++) {
        if (!plan.parts[i].linked) {
            struct simulate_slice merged = merge_part(&plan, &plan.parts[i], store, inputs);

            count_work(&work, &plan.parts[i], &merged);
        }
    }
    free(plan.inputs);
    return work;
}

/* New files for a merged part, into `slices`; returns how many. */
static size_t
make_files(const struct simulate_store *store, const struct simulate_slice *merged,
           struct simulate_slice *slices)
{
    size_t count = files_of(merged);
    uint64_t step = (merged->last - merged->first) / count, first = merged->first;

    for (size_t i = 0; i < count; i++) {
        uint64_t last = i + 1 < count ? first + step : merged->last;
        uint64_t bytes = merged->bytes / count + (i < merged->bytes % count);

        slices[i] = slice_whole(file_new(store, first, last, bytes));
        first = last + 1;
    }
    return count;
}

struct simulate_work
simulate_store_replace(struct simulate_store *store, size_t first, size_t count, bool all_files)
{
    size_t at = first_slice(store, first), made = 0, most;
    struct simulate_slice *outputs;
    struct simulate_work work = {0};
    struct plan plan;

    assert(count > 0 && first + count <= store->count);
    plan_init(&plan, store, first, count);
    most = plan.file_count + (size_t)(bytes_of_runs(store, first, count) / PLAN_FILE_BYTES);
    outputs = bench_alloc(most * sizeof *outputs);
    for (size_t i = 0; i < plan.part_count; i++) {
        const struct plan_part *part = &plan.parts[i];
        struct simulate_slice *input = &store->slices[at + plan.files[part->first].input];

        if (part->linked) {
            input->file->references++;
            outputs[made++] = *input;
        } else {
            struct simulate_slice merged = merge_part(&plan, part, store, &store->slices[at]);

            made += make_files(store, &merged, &outputs[made]);
            count_work(&work, part, &merged);
        }
    }
    assert(made <= most);
    for (size_t i = 0; i < plan.file_count; i++)
        file_unref(store->disk, store->slices[at + i].file);
    replace_slices(store, at, plan.file_count, outputs, made);
    free(plan.inputs);
    free(outputs);

    store->runs[first] = (struct policy_run){.all_files = all_files};
    store->owners[first] = 0;
    store->run_slices[first] = made;
    memmove(&store->runs[first + 1], &store->runs[first + count],
            (store->count - first - count) * sizeof *store->runs);
    memmove(&store->owners[first + 1], &store->owners[first + count],
            (store->count - first - count) * sizeof *store->owners);
    memmove(&store->run_slices[first + 1], &store->run_slices[first + count],
            (store->count - first - count) * sizeof *store->run_slices);
    store->count -= count - 1;
    describe_run(store, first);
    return work;
}

/* ---- splitting ---- */

static double
bytes_below(const struct simulate_store *store, uint64_t row)
{
    double bytes = 0;

    for (size_t i = 0; row > 0 && i < store->slice_count; i++) {
        struct simulate_slice below = slice_within(&store->slices[i], 0, row - 1);

        bytes += (double)below.bytes;
    }
    return bytes;
}

bool
simulate_store_middle(const struct simulate_store *store, uint64_t *row)
{
    uint64_t low = store->first, high = store->last;
    double bytes = (double)simulate_store_bytes(store);

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (bytes_below(store, middle) < bytes / 2)
            low = middle + 1;
        else
            high = middle;
    }
    *row = low;
    return low > store->first && bytes_below(store, low) < bytes;
}

bool
simulate_store_border(const struct simulate_store *store, uint64_t *row)
{
    size_t count = store->slice_count;
    struct border_file *files = bench_alloc((2 * count + 1) * sizeof *files);
    uint8_t(*rows)[2][8] = bench_alloc((count + 1) * sizeof *rows);
    petal_slice border;

    for (size_t i = 0; i < count; i++) {
        const struct simulate_slice *slice = &store->slices[i];

        files[i] = (struct border_file){.row_min = encode_row(slice->file->first, rows[i][0]),
                                        .row_max = encode_row(slice->file->last, rows[i][1]),
                                        .bytes = slice->bytes};
    }
    border = border_between_files(files, count, files + count);
    *row = decode_row(border);
    free(files);
    free(rows);
    return border.size > 0 || simulate_store_middle(store, row);
}

/* Keep what lies in these rows; a run of which nothing does goes. The store has no references of
 * its own yet. */
static void
take_within(struct simulate_store *store, const struct simulate_store *from, uint64_t first,
            uint64_t last)
{
    const struct simulate_slice *slice = from->slices;

    store->first = first;
    store->last = last;
    for (size_t i = 0; i < from->count; i++) {
        size_t before = store->slice_count;

        for (size_t k = 0; k < from->run_slices[i]; k++, slice++) {
            struct simulate_slice part = slice_within(slice, first, last);

            if (part.file == NULL)
                continue;
            part.file->references++;
            replace_slices(store, store->slice_count, 0, &part, 1);
        }
        if (store->slice_count == before)
            continue;
        store->run_slices[store->count] = store->slice_count - before;
        store->owners[store->count] = from->owners[i];
        store->runs[store->count++] = from->runs[i];
        describe_run(store, store->count - 1);
    }
}

void
simulate_store_split(struct simulate_store *store, struct simulate_store *upper, uint64_t row)
{
    struct simulate_store whole = *store;

    assert(row > store->first && row <= store->last);
    simulate_store_init(store, whole.settings, whole.disk);
    simulate_store_init(upper, whole.settings, whole.disk);
    store->weight = upper->weight = whole.weight;
    take_within(store, &whole, whole.first, row - 1);
    take_within(upper, &whole, row, whole.last);
    store->next = upper;
    upper->next = whole.next;
    simulate_store_fini(&whole);
}

/* The half of a shared file becomes a file, since the other half goes when this one does. */
static void
own_half(struct simulate_store *store, struct simulate_slice *slice)
{
    struct simulate_file *file = file_new(store, slice->first, slice->last, slice->bytes);

    file->flushed = slice->file->flushed;
    file->halved = true;
    file_unref(store->disk, slice->file);
    slice->file = file;
}

void
simulate_store_halve(struct simulate_store *store, uint64_t row)
{
    struct simulate_store upper, *next = store->next;

    simulate_store_split(store, &upper, row);
    simulate_store_fini(&upper);
    store->next = next;
    store->weight *= 2;
    for (size_t i = 0; i < store->slice_count; i++) {
        struct simulate_slice *slice = &store->slices[i];

        if (!slice_is_whole(slice)) {
            own_half(store, slice);
            continue;
        }
        store->disk->bytes += (store->weight - slice->file->weight) * (double)slice->file->bytes;
        store->disk->files += store->weight - slice->file->weight;
        slice->file->weight = store->weight;
    }
}
