/* receipt.c -- see receipt.h. */
#include "engine/receipt.h"

enum petal_status
petal_receipt_new(petal_db *db, petal_receipt **receipt, petal_error *error)
{
    petal_receipt *made = mem_zalloc(db->env.allocator, sizeof *made);

    *receipt = made;
    if (made == NULL)
        return error_no_memory(error);
    made->db = db;
    return PETAL_OK;
}

void
petal_receipt_free(petal_receipt *receipt)
{
    if (receipt == NULL)
        return;
    view_unref(receipt->view);
    mem_free(receipt->db->env.allocator, receipt->sources,
             receipt->capacity * sizeof *receipt->sources);
    mem_free(receipt->db->env.allocator, receipt, sizeof *receipt);
}

void
receipt_start(petal_receipt *receipt, struct view *view)
{
    view_ref(view);
    view_unref(receipt->view);
    receipt->view = view;
    receipt->count = 0;
    receipt->cells_hidden = 0;
    receipt->bytes_returned = 0;
    receipt->incomplete = false;
}

static petal_receipt_source *
append(petal_receipt *receipt, const petal_family *family)
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
    *source = (petal_receipt_source){.family = family->name};
    return source;
}

size_t
receipt_add_memtable(petal_receipt *receipt, const petal_family *family,
                     const struct store_memtable *memtable)
{
    petal_receipt_source *source = append(receipt, family);
    struct memtable_facts facts;

    if (source == NULL)
        return SIZE_MAX;
    memtable_facts(memtable->memtable, &facts);
    source->cells = facts.cells;
    return receipt->count - 1;
}

size_t
receipt_add_file(petal_receipt *receipt, const petal_family *family, const struct file_entry *file,
                 enum petal_skip skip)
{
    petal_receipt_source *source = append(receipt, family);

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
    return receipt->count - 1;
}

void
receipt_set_trace(petal_receipt *receipt, size_t index, const struct read_trace *trace)
{
    petal_receipt_source *source;

    if (index == SIZE_MAX)
        return;
    source = &receipt->sources[index];
    source->filter_probes = trace->filter_probes;
    source->filter_negatives = trace->filter_negatives;
    source->filter_unasked = trace->filter_unasked;
    source->seeks = trace->seeks;
    source->bytes_fetched = trace->bytes_fetched;
    source->cells_read = trace->cells_read;
    for (int kind = 0; kind < PETAL_BLOCK_KINDS; kind++) {
        source->blocks_cached[kind] = trace->blocks_cached[kind];
        source->blocks_fetched[kind] = trace->blocks_fetched[kind];
    }
}

size_t
petal_receipt_count(const petal_receipt *receipt)
{
    return receipt->count;
}

const petal_receipt_source *
petal_receipt_at(const petal_receipt *receipt, size_t index)
{
    return index < receipt->count ? &receipt->sources[index] : NULL;
}

uint64_t
petal_receipt_cells_hidden(const petal_receipt *receipt)
{
    return receipt->cells_hidden;
}

uint64_t
petal_receipt_bytes_returned(const petal_receipt *receipt)
{
    return receipt->bytes_returned;
}
