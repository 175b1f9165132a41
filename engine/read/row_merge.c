/* row_merge.c -- see row_merge.h. */
#include "engine/read/row_merge.h"

#include <assert.h>

/* Older versions of a column that are stepped over, before it is left to a seek of the general
 * get. */
#define MOST_PASSED 64

void
row_merge_init(struct row_merge *merge, const petal_family *family, petal_slice row,
               uint64_t sequence, struct epoch_stay *stay)
{
    merge->family = family;
    merge->row = row;
    merge->sequence = sequence;
    merge->stay = stay;
    merge->stay_cells = 0;
    merge->count = merge->file_count = 0;
}

bool
row_merge_add(struct row_merge *merge, const struct memtable *memtable,
              const struct file_entry *file)
{
    struct row_source *source = &merge->sources[merge->count];

    assert((memtable == NULL) != (file == NULL));
    if (merge->count == ROW_MERGE_SOURCES)
        return false;
    source->memtable = memtable;
    source->file = file;
    merge->count++;
    merge->file_count += file != NULL;
    return true;
}

void
row_merge_hold(struct row_merge *merge)
{
    for (uint32_t i = 0; i < merge->count; i++) {
        if (merge->sources[i].file != NULL)
            sst_iter_hold(&merge->sources[i].file_iter);
    }
}

static void
open_sources(struct row_merge *merge, const struct read_context *context)
{
    for (uint32_t i = 0; i < merge->count; i++) {
        struct row_source *source = &merge->sources[i];

        if (source->file == NULL)
            memtable_iter_init(&source->memtable_iter, source->memtable);
        else
            store_file_iter_init(&source->file_iter, source->file->file, context, true, true);
        source->gave = source->ended = false;
        source->next = source->end = NULL;
    }
}

static void
close_sources(struct row_merge *merge)
{
    for (uint32_t i = 0; i < merge->count; i++)
        merge->sources[i].iter.ops->close(&merge->sources[i].iter);
}

/* ---- windows ---- */

static bool
seek(struct row_merge *merge)
{
    uint8_t bytes[ROW_MERGE_KEY_BYTES];
    struct cell_key key;

    if (cell_key_bound(merge->row.size, 0) > sizeof bytes)
        return false;
    cell_key_make(&key, bytes, merge->row, slice_make(NULL, 0), true, INT64_MAX, CELL_SEQUENCE_MAX);
    for (uint32_t i = 0; i < merge->count; i++) {
        struct row_source *source = &merge->sources[i];

        if (source->iter.ops->seek(&source->iter, &key, NULL) != PETAL_OK)
            return false;
    }
    return true;
}

/* Bring the source to a cell that is all there, if it has one.  False: it failed. */
static inline bool
complete(struct cell_iter *iter)
{
    return !iter->valid || !iter->pending || iter->ops->load(iter, NULL) == PETAL_OK;
}

/* Step after the window, and over what is left of its last column.  False: too far, or failed. */
static bool
step_behind(struct row_source *source, petal_slice row)
{
    petal_slice last = slice_make(source->last, source->last_bytes);
    struct cell_iter *iter = &source->iter;

    for (unsigned passed = 0; passed < MOST_PASSED; passed++) {
        if (iter->ops->next(iter, NULL) != PETAL_OK || !complete(iter))
            return false;
        if (!iter->valid || !slice_equal(iter->cell.qualifier, last) ||
            !slice_equal(iter->cell.row, row))
            return true;
    }
    return false;
}

/* Decode the cells of the row from the source's own on.  False: it is of no use. */
static bool
fill(const struct row_merge *merge, struct row_source *source)
{
    struct cell_iter *iter = &source->iter;
    struct cell_run run = {.read_point = merge->sequence,
                           .time_limit = INT64_MAX,
                           .one_version = true,
                           .family = merge->family->name,
                           .cells = source->cells,
                           .most = ROW_WINDOW_CELLS,
                           .keys = source->keys,
                           .key_bytes = ROW_WINDOW_KEY_BYTES};
    size_t count;

    assert(source->next == source->end);
    if (source->end != NULL ? !step_behind(source, merge->row) : !complete(iter))
        return false;
    source->ended = !iter->valid || !slice_equal(iter->cell.row, merge->row);
    if (source->ended)
        return true;
    source->gave = true;
    if (iter->ops->plain_in_row != NULL) {
        count = iter->ops->plain_in_row(iter, &run);
        run.most = count < run.most ? count : run.most;
    }
    count = run.most > 0 ? iter->ops->take_run(iter, &run) : 0;
    if (count == 0 || source->cells[count - 1].qualifier.size > sizeof source->last)
        return false;
    while (!slice_equal(source->cells[count - 1].row, merge->row))
        count--;
    source->ended = count < ROW_WINDOW_CELLS && iter->ops->plain_in_row == NULL &&
                    !slice_equal(iter->cell.row, merge->row);
    source->next = source->cells;
    source->end = source->cells + count;
    /* Stepping on may let the block go that it lies in. */
    source->last_bytes = source->end[-1].qualifier.size;
    if (source->last_bytes > 0)
        memcpy(source->last, source->end[-1].qualifier.data, source->last_bytes);
    return true;
}

/* Has it a cell left?  False in *useful: it cannot be told. */
static inline bool
has_cell(const struct row_merge *merge, struct row_source *source, bool *useful)
{
    if (source->next == source->end && !source->ended)
        *useful = fill(merge, source);
    return *useful && source->next < source->end;
}

/* ---- merging ---- */

/* The sources that have the next column, a bit each, and which has it newest; 0: none has one.
 * False in *useful: it cannot be told. */
static uint32_t
choose(struct row_merge *merge, const petal_cell **newest, bool *useful)
{
    uint32_t having = 0;

    *newest = NULL;
    for (uint32_t i = 0; *useful && i < merge->count; i++) {
        struct row_source *source = &merge->sources[i];
        int order;

        if (!has_cell(merge, source, useful))
            continue;
        order = *newest != NULL ? slice_compare(source->next->qualifier, (*newest)->qualifier) : -1;
        if (order > 0)
            continue;
        if (order == 0 && source->next->timestamp == (*newest)->timestamp)
            *useful = false; /* what was written later decides */
        having = order < 0 ? 1u << i : having | 1u << i;
        if (order < 0 || source->next->timestamp > (*newest)->timestamp)
            *newest = source->next;
    }
    return having;
}

/* Add cells of the row, all of one window, to the answer.  False: it failed. */
static inline bool
append(struct row_merge *merge, petal_result *result, const petal_cell *cells, size_t count)
{
    if (merge->stay_cells >= ROW_MERGE_STAY_CELLS) {
        if (epoch_interrupt(merge->stay) != PETAL_OK)
            return false;
        epoch_resume(merge->stay);
        merge->stay_cells = 0;
    }
    merge->stay_cells += count;
    return result_append(result, cells, count) == PETAL_OK;
}

/* Of a source alone, a window at a time. */
static bool
read_alone(struct row_merge *merge, petal_result *result)
{
    struct row_source *source = &merge->sources[0];
    bool useful = true;

    while (useful && has_cell(merge, source, &useful)) {
        useful = append(merge, result, source->next, (size_t)(source->end - source->next));
        source->next = source->end;
    }
    return useful;
}

static bool
read_merged(struct row_merge *merge, petal_result *result)
{
    bool useful = true;

    while (useful) {
        const petal_cell *cell;
        uint32_t having = choose(merge, &cell, &useful);

        if (having == 0 || !useful)
            break;
        useful = append(merge, result, cell, 1);
        for (uint32_t i = 0; having != 0; i++, having >>= 1)
            merge->sources[i].next += having & 1;
    }
    return useful;
}

bool
row_merge_read(struct row_merge *merge, const struct read_context *context, petal_result *result)
{
    bool useful;

    assert(merge->count > 0 && merge->row.size > 0);
    open_sources(merge, context);
    useful = seek(merge) && result_start(result, merge->row) == PETAL_OK &&
             (merge->count == 1 ? read_alone(merge, result) : read_merged(merge, result));
    close_sources(merge);
    return useful;
}
