/* inputs.c -- see engine/read/inputs.h. */
#include "engine/read/inputs.h"

#include "bloom/hash.h"
#include "engine/filter/filter.h"
#include "engine/read/options.h"
#include "engine/read/receipt.h"
#include "engine/read/skip.h"

#include <assert.h>
#include <stdlib.h>

/* ---- which sources ---- */

static struct cell_iter *
narrow_to_columns(struct scan_inputs *inputs, struct scan_source *source)
{
    source->columns.iter.ops = NULL;
    source->columns.seeks_saved = 0;
    if (inputs->qualifier_count == 0 || inputs->all_columns)
        return source->base;
    column_iter_init(&source->columns, inputs->db->env.allocator, source->base, inputs->qualifiers,
                     inputs->qualifier_count, inputs->bounds);
    return &source->columns.iter;
}

static struct cell_iter *
add_memtable(struct scan_inputs *inputs, const struct region_store *region,
             const struct store_memtable *memtable)
{
    struct scan_source *source = &inputs->sources[inputs->source_count++];

    assert(inputs->source_count <= inputs->source_capacity);
    source->receipt_index =
        inputs->options->read.receipt != NULL
            ? receipt_add_memtable(inputs->options->read.receipt, region->store, memtable, NULL)
            : SIZE_MAX;
    source->trace = (struct read_trace){0};
    memtable_iter_init(&source->memtable, memtable->memtable);
    source->base = &source->memtable.iter;
    return narrow_to_columns(inputs, source);
}

static struct cell_iter *
add_file(struct scan_inputs *inputs, const struct file_entry *file, size_t receipt_index,
         const struct read_trace *trace)
{
    struct scan_source *source = &inputs->sources[inputs->source_count++];
    struct read_context context = {.trace = &source->trace,
                                   .keep_out_of_cache = inputs->options->read.keep_out_of_cache};
    const struct file_facts *facts = file->facts;
    struct cell_iter *iter;

    assert(inputs->source_count <= inputs->source_capacity);
    source->receipt_index = receipt_index;
    source->trace = *trace;
    store_file_iter_init(&source->file, file->file, &context, false, true);
    source->file.reversed = inputs->options->reversed;
    source->base = &source->file.iter;
    iter = narrow_to_columns(inputs, source);
    source->columns.no_family_markers = (file->marker_kinds & COLLECT_FAMILY_MARKERS) == 0;
    if (iter != source->base && facts_has_column_bloom(facts) &&
        read_may_use(&inputs->options->read, PETAL_SKIP_BLOOM)) {
        /* One column less to seek in a row saves its part of the row's bytes. */
        uint64_t saves = facts->rows > 0 ? facts->data_bytes / facts->rows : 0;

        saves /= inputs->qualifier_count;
        column_iter_use_filter(&source->columns, file->reader, inputs->db->epoch, &context,
                               saves < READ_SAVES_BLOCK ? (uint32_t)saves : READ_SAVES_BLOCK);
    }
    return iter;
}

/*
 * Give every source of the store that may matter an iterator in `iters`. `key` is memory for that
 * of the one row asked; NULL: more than one is.
 */
static size_t
add_sources(struct scan_inputs *inputs, const struct region_store *region, uint8_t *key,
            struct cell_iter **iters)
{
    const struct scan_bounds *bounds = inputs->bounds;
    const struct store_view *store = region->view;
    petal_receipt *receipt = inputs->options->read.receipt;
    struct epoch_stay stay = {.epoch = inputs->db->epoch};
    petal_slice low = scan_bounds_low(bounds), high = scan_bounds_high(bounds);
    struct cell_key row_key;
    struct skip_question question = {
        .options = &inputs->options->read,
        .rules = &inputs->rules,
        .low = low,
        .high = high,
        .low_head = slice_head(low, 0),
        .high_head = high.size > 0 ? slice_head(high, 0) : UINT64_MAX,
        .beginning = scan_bounds_shared(bounds),
        .qualifiers = inputs->qualifiers,
        .qualifier_count = inputs->every_row ? 0 : inputs->qualifier_count,
    };
    size_t count = 0;

    for (uint32_t i = 0; i < store->memtable_count; i++) {
        if (!memtable_is_empty(store->memtables[i]->memtable))
            iters[count++] = add_memtable(inputs, region, store->memtables[i]);
    }
    if (key != NULL) {
        cell_key_make(&row_key, key, low, slice_make(NULL, 0), true, INT64_MAX, CELL_SEQUENCE_MAX);
        question.row_key = &row_key;
        question.row_hash = bloom_hash_row(inputs->db->salt, low.data, low.size);
    }
    assert(count == inputs->source_count);
    stay.slot = epoch_enter(stay.epoch); /* for the filters; the view is the cursor's */
    for (uint32_t i = 0; i < store->file_count; i++) {
        const struct file_entry *file = &store->files[i];
        struct read_trace trace = {0};
        struct read_context context = {.trace = &trace,
                                       .keep_out_of_cache = inputs->options->read.keep_out_of_cache,
                                       .stay = &stay};
        uint32_t marker_kinds;
        enum petal_skip skip = skip_file(&question, file, &context, &marker_kinds);
        size_t index = receipt != NULL
                           ? receipt_add_file(receipt, region->store, file, skip, &trace, false)
                           : SIZE_MAX;

        if (skip == PETAL_SKIP_NONE)
            iters[count++] = add_file(inputs, file, index, &trace);
    }
    epoch_leave(stay.epoch, stay.slot);
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
copy_qualifiers(struct scan_inputs *inputs, const petal_slice *qualifiers, size_t count)
{
    size_t kept = 0;

    if (count == 0)
        return PETAL_OK;
    inputs->qualifiers = mem_zalloc(inputs->db->env.allocator, count * sizeof *inputs->qualifiers);
    if (inputs->qualifiers == NULL)
        return PETAL_NO_MEMORY;
    inputs->qualifier_allocated = count;
    for (size_t i = 0; i < count; i++) {
        uint8_t *copy = mem_alloc(inputs->db->env.allocator, qualifiers[i].size + 1);

        if (copy == NULL)
            return PETAL_NO_MEMORY;
        if (qualifiers[i].size > 0)
            memcpy(copy, qualifiers[i].data, qualifiers[i].size);
        inputs->qualifiers[i] = slice_make(copy, qualifiers[i].size);
    }
    qsort(inputs->qualifiers, count, sizeof *inputs->qualifiers, compare_slices);
    for (size_t i = 0; i < count; i++) {
        petal_slice qualifier = inputs->qualifiers[i];

        /* Duplicates move to the end, so that all copies are freed. */
        if (kept > 0 && slice_equal(inputs->qualifiers[kept - 1], qualifier))
            continue;
        inputs->qualifiers[i] = inputs->qualifiers[kept];
        inputs->qualifiers[kept++] = qualifier;
    }
    assert(kept > 0 && kept <= count);
    inputs->qualifier_count = kept;
    return PETAL_OK;
}

enum petal_status
scan_inputs_show(struct scan_inputs *inputs, petal_error *error)
{
    return inputs->cells == &inputs->merge.iter ? merge_iter_show(&inputs->merge, error) : PETAL_OK;
}

bool
scan_inputs_ask_column(const struct scan_inputs *inputs, petal_slice qualifier,
                       const petal_slice **next)
{
    size_t low = 0, high = inputs->qualifier_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = slice_compare(inputs->qualifiers[middle], qualifier);

        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *next = low < inputs->qualifier_count ? &inputs->qualifiers[low] : NULL;
    return inputs->qualifier_count == 0;
}

/* Merge the sources, which may be lazy then, and put them into HBase's order if the scan is raw. */
static enum petal_status
join_sources(struct scan_inputs *inputs, struct cell_iter *const *iters, size_t count)
{
    const petal_allocator *allocator = inputs->db->env.allocator;
    enum petal_status status = PETAL_OK;

    assert(count == inputs->source_count);
    if (count != 1) {
        status = merge_iter_init(&inputs->merge, allocator, iters, count);
        inputs->merge.reversed = inputs->options->reversed;
    }
    for (size_t i = 0; i < inputs->source_count; i++) {
        inputs->sources[i].columns.reversed = inputs->options->reversed;
        inputs->sources[i].columns.lazy = count > 1 && !inputs->options->reversed;
    }
    inputs->cells = count == 1 ? iters[0] : &inputs->merge.iter;
    if (inputs->options->raw) {
        raw_order_init(&inputs->raw, allocator, inputs->cells);
        inputs->cells = &inputs->raw.iter;
    }
    return status;
}

enum petal_status
scan_inputs_open(struct scan_inputs *inputs, const petal_family *family,
                 const struct visibility_rules *rules, const petal_scan_options *options,
                 const struct scan_bounds *bounds, const petal_slice *qualifiers,
                 size_t qualifier_count)
{
    memset(inputs, 0, offsetof(struct scan_inputs, merge));
    inputs->db = family->table->db;
    inputs->family = family;
    inputs->options = options;
    inputs->bounds = bounds;
    inputs->rules = *rules;
    inputs->merge.iter.ops = NULL;
    inputs->raw.iter.ops = NULL;
    /* HBase asks a filter about rows that have none of the columns, too; in one row that makes
     * no difference. */
    inputs->every_row = options->read.filter != NULL && !scan_bounds_one_row(bounds) &&
                        filter_watches_excluded_rows(options->read.filter);
    inputs->all_columns =
        inputs->every_row || (options->read.deadline_ms > 0 && !scan_bounds_one_row(bounds));
    return copy_qualifiers(inputs, qualifiers, qualifier_count);
}

enum petal_status
scan_inputs_enter(struct scan_inputs *inputs, const struct region_store *region,
                  struct scan_memory *memory)
{
    const petal_allocator *allocator = inputs->db->env.allocator;
    const struct scan_bounds *bounds = inputs->bounds;
    const struct store_view *store = region != NULL ? region->view : NULL;
    size_t most = store != NULL ? store->memtable_count + store->file_count : 0;
    size_t key_bytes =
        scan_bounds_one_row(bounds) ? cell_key_bound(scan_bounds_low(bounds).size, 0) : 0;
    struct cell_iter **iters;
    uint8_t *key = NULL;
    size_t count = 0;
    enum petal_status status = PETAL_OK;

    assert(inputs->source_count == 0);
    inputs->source_capacity = most;
    inputs->sources = scan_memory_take(memory, most, sizeof *inputs->sources);
    iters = scan_memory_take(memory, most, sizeof *iters);
    if (most > 0) {
        if (key_bytes > 0)
            key = mem_alloc(allocator, key_bytes);
        if (key_bytes > 0 && key == NULL)
            status = PETAL_NO_MEMORY;
        else
            count = add_sources(inputs, region, key, iters);
    }
    if (status == PETAL_OK)
        status = join_sources(inputs, iters, count);
    mem_free(allocator, key, key_bytes);
    return status;
}

/* `stats`: a shard that the caller owns. */
static void
count_source(struct scan_inputs *inputs, const struct scan_source *source,
             struct stats_shard *stats)
{
    STATS_ADD(stats, scan_seeks, source->trace.seeks);
    STATS_ADD(stats, scan_seeks_saved, source->columns.seeks_saved);
    read_count_trace(stats, &source->trace);
    if (inputs->options->read.receipt == NULL || source->receipt_index == SIZE_MAX)
        return;
    receipt_set_trace(inputs->options->read.receipt, source->receipt_index, &source->trace);
    inputs->options->read.receipt->sources[source->receipt_index].seeks_saved =
        source->columns.seeks_saved;
}

/* A short stay in the epoch gives the scan a shard of its own, as gets have. */
static void
count_sources(struct scan_inputs *inputs, uint64_t cells_shown)
{
    unsigned slot = epoch_enter(inputs->db->epoch);
    struct stats_shard *stats = &inputs->db->stats[slot];

    for (size_t i = 0; i < inputs->source_count; i++)
        count_source(inputs, &inputs->sources[i], stats);
    STATS_ADD(stats, scan_cells, cells_shown);
    epoch_leave(inputs->db->epoch, slot);
}

void
scan_inputs_leave(struct scan_inputs *inputs, uint64_t cells_shown)
{
    count_sources(inputs, cells_shown);
    for (size_t i = 0; i < inputs->source_count; i++) {
        struct scan_source *source = &inputs->sources[i];

        assert(source->base != NULL);
        if (source->columns.iter.ops != NULL)
            source->columns.iter.ops->close(&source->columns.iter);
        source->base->ops->close(source->base);
    }
    if (inputs->merge.iter.ops != NULL)
        inputs->merge.iter.ops->close(&inputs->merge.iter);
    if (inputs->raw.iter.ops != NULL)
        inputs->raw.iter.ops->close(&inputs->raw.iter);
    inputs->merge.iter.ops = NULL;
    inputs->raw.iter.ops = NULL;
    inputs->source_count = 0;
    inputs->cells = NULL;
}

void
scan_inputs_close(struct scan_inputs *inputs)
{
    const petal_allocator *allocator = inputs->db->env.allocator;

    assert(inputs->source_count == 0);
    for (size_t i = 0; i < inputs->qualifier_allocated; i++) {
        if (inputs->qualifiers[i].data != NULL)
            mem_free(allocator, (void *)(uintptr_t)inputs->qualifiers[i].data,
                     inputs->qualifiers[i].size + 1);
    }
    mem_free(allocator, inputs->qualifiers,
             inputs->qualifier_allocated * sizeof *inputs->qualifiers);
}
