/* receipt.c -- see receipt.h. */
#include "engine/read/receipt.h"

#include "base/argument.h"

#include <assert.h>

enum petal_status
petal_receipt_new(petal_db *db, petal_receipt **receipt, petal_error *error)
{
    RETURN_IF_NULL(receipt, error);
    *receipt = NULL;
    RETURN_IF_NULL(db, error);

    petal_receipt *made;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    made = *receipt = mem_zalloc(db->env.allocator, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    made->db = db;
    atomic_fetch_add_explicit(&db->open.receipt, 1, memory_order_relaxed);
    return PETAL_OK;
}

void
petal_receipt_free(petal_receipt *receipt)
{
    petal_db *db;

    if (receipt == NULL || db_is_of_another_process(receipt->db))
        return; /* the view is shared with others */
    db = receipt->db;
    view_unref(receipt->view);
    mem_free(receipt->db->env.allocator, receipt->sources,
             receipt->capacity * sizeof *receipt->sources);
    mem_free(receipt->db->env.allocator, receipt->names, receipt->names_capacity);
    mem_free(db->env.allocator, receipt, sizeof *receipt);
    atomic_fetch_sub_explicit(&db->open.receipt, 1, memory_order_release);
}

void
receipt_start(petal_receipt *receipt, struct view *view)
{
    view_ref(view);
    view_unref(receipt->view);
    receipt->view = view;
    receipt->count = 0;
    memset(receipt->hidden, 0, sizeof receipt->hidden);
    receipt->hidden_count = 0;
    receipt->names_bytes = 0;
    receipt->bytes_returned = 0;
    receipt->incomplete = false;
}

static petal_receipt_source *
append(petal_receipt *receipt, const struct store *store)
{
    void *array = receipt->sources;
    petal_receipt_source *source;
    bool grown = mem_grow(receipt->db->env.allocator, &array, &receipt->capacity, receipt->count,
                          receipt->count + 1, sizeof *receipt->sources);

    receipt->sources = array;
    if (!grown) {
        receipt->incomplete = true;
        return NULL;
    }
    source = &receipt->sources[receipt->count++];
    *source = (petal_receipt_source){.family = store->family->name, .region = store->region};
    return source;
}

void
receipt_set_trace(petal_receipt *receipt, size_t index, const struct read_trace *trace)
{
    petal_receipt_source *source;

    if (index == SIZE_MAX)
        return;
    assert(index < receipt->count);
    source = &receipt->sources[index];
    source->filter_probes = trace->bloom_probes;
    source->filter_negatives = trace->bloom_negatives;
    source->filter_unasked = trace->bloom_unasked;
    source->seeks = trace->seeks;
    source->bytes_fetched = trace->bytes_fetched;
    source->cells_read = trace->cells_read;
    for (int kind = 0; kind < PETAL_BLOCK_KINDS; kind++) {
        source->blocks_cached[kind] = trace->blocks_cached[kind];
        source->blocks_fetched[kind] = trace->blocks_fetched[kind];
    }
}

size_t
receipt_add_memtable(petal_receipt *receipt, const struct store *store,
                     const struct store_memtable *memtable, const struct read_trace *trace)
{
    petal_receipt_source *source = append(receipt, store);

    if (source == NULL)
        return SIZE_MAX;
    source->cells = memtable_count(memtable->memtable);
    if (trace != NULL) {
        source->skip = trace->bloom_negatives > 0 ? PETAL_SKIP_BLOOM : PETAL_SKIP_NONE;
        receipt_set_trace(receipt, receipt->count - 1, trace);
    }
    return receipt->count - 1;
}

size_t
receipt_add_file(petal_receipt *receipt, const struct store *store, const struct file_entry *file,
                 enum petal_skip skip, const struct read_trace *trace, bool held_nothing)
{
    petal_receipt_source *source = append(receipt, store);

    if (source == NULL)
        return SIZE_MAX;
    source->file_number = file->file->number;
    source->skip = skip;
    source->row_min = file->facts->row_min;
    source->row_max = file->facts->row_max;
    source->time_min = file->time_min;
    source->time_max = file->time_max;
    source->sequence_min = file->facts->sequence_min;
    source->sequence_max = file->sequence_max;
    source->cells = file->facts->cells;
    source->held_nothing = held_nothing;
    if (trace != NULL)
        receipt_set_trace(receipt, receipt->count - 1, trace);
    return receipt->count - 1;
}

static void
name_hidden(petal_receipt *receipt, petal_slice family, const struct cell *cell,
            enum petal_hidden by)
{
    size_t size = cell->row.size + cell->qualifier.size;

    if (receipt->hidden_count == PETAL_HIDDEN_CELLS)
        return;
    if (!mem_grow_array(receipt->db->env.allocator, &receipt->names, &receipt->names_capacity,
                        receipt->names_bytes, receipt->names_bytes + size, 1)) {
        receipt->incomplete = true;
        return;
    }
    memcpy(receipt->names + receipt->names_bytes, cell->row.data, cell->row.size);
    if (cell->qualifier.size > 0)
        memcpy(receipt->names + receipt->names_bytes + cell->row.size, cell->qualifier.data,
               cell->qualifier.size);
    receipt->hidden_cells[receipt->hidden_count++] = (struct receipt_hidden){
        .family = family,
        .names_at = receipt->names_bytes,
        .row_bytes = cell->row.size,
        .qualifier_bytes = cell->qualifier.size,
        .timestamp = cell->timestamp,
        .by = by,
    };
    receipt->names_bytes += size;
}

void
receipt_hide(petal_receipt *receipt, petal_slice family, const struct cell *cell,
             enum petal_hidden by)
{
    if (cell->type != PETAL_PUT)
        return;
    receipt->hidden[by]++;
    name_hidden(receipt, family, cell, by);
}

static enum petal_hidden
hidden_by(const struct visibility *visibility, const struct cell *cell)
{
    switch (visibility->reason) {
    case VISIBILITY_SUPERSEDED:
        return PETAL_HIDDEN_REPLACED;
    case VISIBILITY_SURPLUS:
        return PETAL_HIDDEN_VERSIONS;
    case VISIBILITY_EXPIRED:
        return PETAL_HIDDEN_EXPIRED;
    case VISIBILITY_OUTSIDE:
        return cell->sequence > visibility->rules.read_point ? PETAL_HIDDEN_LATER
                                                             : PETAL_HIDDEN_TIME_RANGE;
    case VISIBILITY_MASKED:
    case VISIBILITY_MARKER:
    case VISIBILITY_REASONS:
        break;
    }
    if (visibility->rules.new_version_behavior)
        return PETAL_HIDDEN_ENDED;
    switch (visibility_masked_by(visibility, cell)) {
    case PETAL_DELETE_FAMILY:
        return PETAL_HIDDEN_DELETE_FAMILY;
    case PETAL_DELETE_COLUMN:
        return PETAL_HIDDEN_DELETE_COLUMN;
    case PETAL_DELETE_FAMILY_VERSION:
        return PETAL_HIDDEN_DELETE_FAMILY_VERSION;
    case PETAL_DELETE:
    case PETAL_PUT:
        break;
    }
    return PETAL_HIDDEN_DELETE;
}

void
receipt_hide_judged(petal_receipt *receipt, petal_slice family, const struct visibility *visibility,
                    const struct cell *cell)
{
    if (cell->type == PETAL_PUT)
        receipt_hide(receipt, family, cell, hidden_by(visibility, cell));
}

/* ---- what the caller sees ---- */

size_t
petal_receipt_count(const petal_receipt *receipt)
{
    return receipt != NULL ? receipt->count : 0;
}

const petal_receipt_source *
petal_receipt_at(const petal_receipt *receipt, size_t index)
{
    return receipt != NULL && index < receipt->count ? &receipt->sources[index] : NULL;
}

uint64_t
petal_receipt_cells_hidden(const petal_receipt *receipt)
{
    uint64_t hidden = 0;

    for (int by = 0; receipt != NULL && by < PETAL_HIDDEN_COUNT; by++)
        hidden += receipt->hidden[by];
    return hidden;
}

uint64_t
petal_receipt_hidden(const petal_receipt *receipt, enum petal_hidden by)
{
    return receipt != NULL && (unsigned)by < PETAL_HIDDEN_COUNT ? receipt->hidden[by] : 0;
}

size_t
petal_receipt_hidden_count(const petal_receipt *receipt)
{
    return receipt != NULL ? receipt->hidden_count : 0;
}

bool
petal_receipt_hidden_at(const petal_receipt *receipt, size_t index, petal_hidden_cell *cell)
{
    const struct receipt_hidden *hidden;

    if (receipt == NULL || cell == NULL || index >= receipt->hidden_count)
        return false;
    hidden = &receipt->hidden_cells[index];
    *cell = (petal_hidden_cell){
        .row = slice_make(receipt->names + hidden->names_at, hidden->row_bytes),
        .family = hidden->family,
        .qualifier = slice_make(receipt->names + hidden->names_at + hidden->row_bytes,
                                hidden->qualifier_bytes),
        .timestamp = hidden->timestamp,
        .by = hidden->by,
    };
    return true;
}

uint64_t
petal_receipt_bytes_returned(const petal_receipt *receipt)
{
    return receipt != NULL ? receipt->bytes_returned : 0;
}
