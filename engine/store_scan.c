/* store_scan.c -- see store_scan.h. */
#include "engine/store_scan.h"

#include "engine/get.h"
#include "engine/receipt.h"

#include <stdlib.h>

/* ---- which sources ---- */

static bool
may_use(const struct store_scan *scan, enum petal_skip skip)
{
    return read_may_use(scan->options, skip);
}

static bool
has_asked_qualifier(const struct store_scan *scan, const struct file_entry *file)
{
    for (size_t i = 0; i < scan->qualifier_count; i++) {
        if (sst_reader_has_qualifier(file->reader, scan->qualifiers[i]))
            return true;
    }
    return scan->qualifier_count == 0;
}

/* Why a file takes no part, from its facts. A scan does not stop early, so there is no "found newer". */
static enum petal_skip
skip_reason(const struct store_scan *scan, const struct file_entry *file, petal_slice start_row)
{
    const struct file_facts *facts = file->facts;

    if (may_use(scan, PETAL_SKIP_ROW_RANGE) &&
        ((start_row.size > 0 && slice_compare(facts->row_max, start_row) < 0) ||
         (scan->stop_row.size > 0 && slice_compare(facts->row_min, scan->stop_row) >= 0)))
        return PETAL_SKIP_ROW_RANGE;
    if (may_use(scan, PETAL_SKIP_TIME_RANGE) &&
        (file->time_max < scan->options->time_min || file->time_min >= scan->options->time_limit))
        return PETAL_SKIP_TIME_RANGE;
    if (may_use(scan, PETAL_SKIP_COLUMNS) && !has_asked_qualifier(scan, file) &&
        facts_family_markers(file->facts) == 0)
        return PETAL_SKIP_COLUMNS;
    return PETAL_SKIP_NONE;
}

static struct cell_iter *
narrow_to_columns(struct store_scan *scan, struct scan_source *source)
{
    if (scan->qualifier_count == 0)
        return source->base;
    column_iter_init(&source->columns, scan->db->env.allocator, source->base, scan->qualifiers,
                     scan->qualifier_count);
    return &source->columns.iter;
}

static struct cell_iter *
add_memtable(struct store_scan *scan, const struct store_memtable *memtable)
{
    struct scan_source *source = &scan->sources[scan->source_count++];

    source->receipt_index =
        scan->options->receipt != NULL
            ? receipt_add_memtable(scan->options->receipt, scan->family, memtable)
            : SIZE_MAX;
    memtable_iter_init(&source->memtable, memtable->memtable);
    source->base = &source->memtable.iter;
    return narrow_to_columns(scan, source);
}

static struct cell_iter *
add_file(struct store_scan *scan, const struct file_entry *file, size_t receipt_index)
{
    struct scan_source *source = &scan->sources[scan->source_count++];
    struct read_context context = {&source->trace, scan->options->keep_out_of_cache};
    bool by_column =
        file->facts->bloom == PETAL_BLOOM_ROWCOL || file->facts->bloom == PETAL_BLOOM_ROW_ROWCOL;
    struct cell_iter *iter;

    source->receipt_index = receipt_index;
    sst_iter_init(&source->file, file->reader, &context, false, true);
    source->base = &source->file.iter;
    iter = narrow_to_columns(scan, source);
    if (scan->qualifier_count > 0 && by_column && may_use(scan, PETAL_SKIP_BLOOM))
        column_iter_use_filter(&source->columns, file->reader, scan->db->epoch, &context);
    return iter;
}

/* Give every source of the store that may matter an iterator in `iters`. */
static size_t
add_sources(struct store_scan *scan, const struct store_view *store, petal_slice start_row,
            struct cell_iter **iters)
{
    petal_receipt *receipt = scan->options->receipt;
    size_t count = 0;

    for (uint32_t i = 0; i < store->memtable_count; i++) {
        if (!memtable_is_empty(store->memtables[i]->memtable))
            iters[count++] = add_memtable(scan, store->memtables[i]);
    }
    for (uint32_t i = 0; i < store->file_count; i++) {
        const struct file_entry *file = &store->files[i];
        enum petal_skip skip = skip_reason(scan, file, start_row);
        size_t index =
            receipt != NULL ? receipt_add_file(receipt, scan->family, file, skip) : SIZE_MAX;

        if (skip == PETAL_SKIP_NONE)
            iters[count++] = add_file(scan, file, index);
    }
    return count;
}

/* ---- open and close ---- */

static int
compare_slices(const void *a, const void *b)
{
    return slice_compare(*(const petal_slice *)a, *(const petal_slice *)b);
}

/* Copy the qualifiers, sorted, each once. */
static enum petal_status
copy_qualifiers(struct store_scan *scan, const petal_slice *qualifiers, size_t count)
{
    size_t kept = 0;

    if (count == 0)
        return PETAL_OK;
    scan->qualifiers = mem_zalloc(scan->db->env.allocator, count * sizeof *scan->qualifiers);
    if (scan->qualifiers == NULL)
        return PETAL_NO_MEMORY;
    scan->qualifier_allocated = count;
    for (size_t i = 0; i < count; i++) {
        uint8_t *copy = mem_alloc(scan->db->env.allocator, qualifiers[i].size + 1);

        if (copy == NULL)
            return PETAL_NO_MEMORY;
        if (qualifiers[i].size > 0)
            memcpy(copy, qualifiers[i].data, qualifiers[i].size);
        scan->qualifiers[i] = slice_make(copy, qualifiers[i].size);
    }
    qsort(scan->qualifiers, count, sizeof *scan->qualifiers, compare_slices);
    for (size_t i = 0; i < count; i++) {
        petal_slice qualifier = scan->qualifiers[i];

        /* Duplicates move to the end, so that all copies are freed. */
        if (kept > 0 && slice_equal(scan->qualifiers[kept - 1], qualifier))
            continue;
        scan->qualifiers[i] = scan->qualifiers[kept];
        scan->qualifiers[kept++] = qualifier;
    }
    scan->qualifier_count = kept;
    return PETAL_OK;
}

enum petal_status
store_scan_open(struct store_scan *scan, const petal_family *family, const struct store_view *store,
                uint64_t sequence, const petal_read_options *options, petal_slice start_row,
                petal_slice stop_row, const petal_slice *qualifiers, size_t qualifier_count,
                petal_error *error)
{
    const petal_allocator *allocator = family->table->db->env.allocator;
    size_t most = store != NULL ? store->memtable_count + store->file_count : 0;
    struct cell_iter **iters = NULL;
    size_t count = 0;
    enum petal_status status;

    *scan = (struct store_scan){
        .db = family->table->db, .family = family, .options = options, .stop_row = stop_row};
    visibility_init(&scan->visibility, allocator, sequence, options->time_min, options->time_limit,
                    1);
    status = copy_qualifiers(scan, qualifiers, qualifier_count);
    if (status == PETAL_OK && most > 0) {
        scan->sources = mem_zalloc(allocator, most * sizeof *scan->sources);
        iters = mem_alloc(allocator, most * sizeof *iters);
        scan->source_capacity = scan->sources != NULL ? most : 0;
        if (scan->sources == NULL || iters == NULL)
            status = PETAL_NO_MEMORY;
        else
            count = add_sources(scan, store, start_row, iters);
    }
    if (status == PETAL_OK)
        status = merge_iter_init(&scan->merge, allocator, iters, count);
    scan->input = count == 1 ? iters[0] : &scan->merge.iter;
    mem_free(allocator, iters, most * sizeof *iters);
    return status == PETAL_OK ? PETAL_OK : error_no_memory(error);
}

/* `stats`: a shard that the caller owns. */
static void
count_source(struct store_scan *scan, const struct scan_source *source, struct stats_shard *stats)
{
    STATS_ADD(stats, scan_seeks, source->trace.seeks);
    STATS_ADD(stats, scan_seeks_saved, source->columns.seeks_saved);
    read_count_trace(stats, &source->trace);
    if (scan->options->receipt == NULL || source->receipt_index == SIZE_MAX)
        return;
    receipt_set_trace(scan->options->receipt, source->receipt_index, &source->trace);
    scan->options->receipt->sources[source->receipt_index].seeks_saved =
        source->columns.seeks_saved;
}

/* A short stay in the epoch gives the scan a shard of its own, as gets have. */
static void
count_scan(struct store_scan *scan)
{
    unsigned slot = epoch_enter(scan->db->epoch);
    struct stats_shard *stats = &scan->db->stats[slot];

    for (size_t i = 0; i < scan->source_count; i++)
        count_source(scan, &scan->sources[i], stats);
    STATS_ADD(stats, scan_cells, scan->shown);
    epoch_leave(scan->db->epoch, slot);
    if (scan->options->receipt != NULL)
        scan->options->receipt->cells_hidden += scan->hidden;
}

void
store_scan_close(struct store_scan *scan)
{
    const petal_allocator *allocator;

    if (scan->db == NULL)
        return;
    allocator = scan->db->env.allocator;
    count_scan(scan);
    for (size_t i = 0; i < scan->source_count; i++) {
        struct scan_source *source = &scan->sources[i];

        if (source->columns.iter.ops != NULL)
            source->columns.iter.ops->close(&source->columns.iter);
        source->base->ops->close(source->base);
    }
    if (scan->merge.iter.ops != NULL)
        scan->merge.iter.ops->close(&scan->merge.iter);
    visibility_fini(&scan->visibility);
    mem_free(allocator, scan->row, scan->row_capacity);
    mem_free(allocator, scan->sources, scan->source_capacity * sizeof *scan->sources);
    for (size_t i = 0; i < scan->qualifier_allocated; i++) {
        if (scan->qualifiers[i].data != NULL)
            mem_free(allocator, (void *)(uintptr_t)scan->qualifiers[i].data,
                     scan->qualifiers[i].size + 1);
    }
    mem_free(allocator, scan->qualifiers, scan->qualifier_allocated * sizeof *scan->qualifiers);
    scan->db = NULL;
}

/* ---- moving ---- */

/* Is the input's cell in the row being judged? If not, begin with its row. */
static enum petal_status
follow_row(struct store_scan *scan, petal_slice row)
{
    void *copy = scan->row;
    bool grown;

    if (scan->in_row && scan->row_bytes == row.size && memcmp(scan->row, row.data, row.size) == 0)
        return PETAL_OK;
    grown = mem_grow(scan->db->env.allocator, &copy, &scan->row_capacity, 0, row.size, 1);
    scan->row = copy;
    if (!grown)
        return PETAL_NO_MEMORY;
    memcpy(scan->row, row.data, row.size);
    scan->row_bytes = row.size;
    scan->in_row = true;
    visibility_start_row(&scan->visibility);
    return PETAL_OK;
}

static bool
behind_stop(const struct store_scan *scan, petal_slice row)
{
    return scan->stop_row.size > 0 && slice_compare(row, scan->stop_row) >= 0;
}

/* From the input's cell on, find the first visible one. */
static enum petal_status
find_visible(struct store_scan *scan, petal_error *error)
{
    struct cell_iter *input = scan->input;

    scan->cell = NULL;
    while (input->valid) {
        enum visibility_verdict verdict;
        enum petal_status status = PETAL_OK;

        if (behind_stop(scan, input->cell.row))
            return PETAL_OK;
        if (input->pending)
            status = input->ops->load(input, error);
        if (status != PETAL_OK)
            return status;
        status = follow_row(scan, input->cell.row);
        if (status == PETAL_OK)
            status = visibility_judge(&scan->visibility, &input->cell, &verdict);
        if (status != PETAL_OK)
            return error_no_memory(error);
        if (verdict == VISIBILITY_SHOW) {
            scan->cell = &input->cell;
            scan->shown++;
            return PETAL_OK;
        }
        scan->hidden += input->cell.type == PETAL_PUT;
        status = input->ops->next(input, error);
        if (status != PETAL_OK)
            return status;
    }
    return PETAL_OK;
}

enum petal_status
store_scan_next(struct store_scan *scan, petal_error *error)
{
    enum petal_status status;

    scan->cell = NULL;
    status = scan->input->ops->next(scan->input, error);
    return status == PETAL_OK ? find_visible(scan, error) : status;
}

/* Place the input at a cell key. */
static enum petal_status
seek_input(struct store_scan *scan, petal_slice row, petal_slice qualifier, bool family_class,
           petal_error *error)
{
    size_t bound = cell_key_bound(row.size, qualifier.size);
    uint8_t *buffer = mem_alloc(scan->db->env.allocator, bound);
    struct cell_key key;
    enum petal_status status;

    if (buffer == NULL)
        return error_no_memory(error);
    cell_key_make(&key, buffer, row, qualifier, family_class, INT64_MAX, CELL_SEQUENCE_MAX);
    status = scan->input->ops->seek(scan->input, &key, error);
    mem_free(scan->db->env.allocator, buffer, bound);
    return status;
}

enum petal_status
store_scan_seek(struct store_scan *scan, petal_slice row, petal_error *error)
{
    enum petal_status status;

    scan->cell = NULL;
    scan->in_row = false;
    if (row.size == 0)
        status = scan->input->ops->seek_first(scan->input, error);
    else
        status = seek_input(scan, row, slice_make(NULL, 0), true, error);
    return status == PETAL_OK ? find_visible(scan, error) : status;
}

enum petal_status
store_scan_seek_column(struct store_scan *scan, petal_slice row, petal_slice qualifier,
                       petal_error *error)
{
    struct cell_iter *input = scan->input;
    enum petal_status status = seek_input(scan, row, slice_make(NULL, 0), true, error);

    scan->cell = NULL;
    scan->in_row = false;
    while (status == PETAL_OK && input->valid && slice_equal(input->cell.row, row)) {
        enum visibility_verdict verdict;

        if (input->pending)
            status = input->ops->load(input, error);
        if (status != PETAL_OK || !cell_is_family_marker(input->cell.type))
            break;
        if (follow_row(scan, row) != PETAL_OK ||
            visibility_judge(&scan->visibility, &input->cell, &verdict) != PETAL_OK)
            return error_no_memory(error);
        status = input->ops->next(input, error);
    }
    if (status == PETAL_OK)
        status = seek_input(scan, row, qualifier, false, error);
    return status == PETAL_OK ? find_visible(scan, error) : status;
}
