/* batch.c -- see batch.h; the public calls are described in petal.h. */
#include "engine/batch.h"

#include "bloom/hash.h"
#include "engine/db.h"

#include <assert.h>

#define BATCH_CHUNK_BYTES 16384

struct batch_chunk {
    struct batch_chunk *next;
    size_t size, used;
    uint8_t bytes[];
};

static enum petal_status
check_row(petal_slice row, petal_error *error)
{
    if (row.size == 0)
        return error_set(error, PETAL_INVALID, "the row is empty; a row has 1 to %d bytes",
                         PETAL_MAX_ROW_BYTES);
    if (row.size > PETAL_MAX_ROW_BYTES)
        return error_set(error, PETAL_INVALID, "the row has %zu bytes; the limit is %d", row.size,
                         PETAL_MAX_ROW_BYTES);
    return PETAL_OK;
}

enum petal_status
write_cell_make(struct write_cell *write, petal_family *family, petal_slice row,
                petal_slice qualifier, int64_t timestamp, petal_slice value,
                enum petal_cell_type type, petal_error *error)
{
    enum petal_status status = check_row(row, error);

    if (status != PETAL_OK)
        return status;
    if (!cell_type_valid((unsigned)type))
        return error_set(error, PETAL_INVALID, "%d is no cell type", (int)type);
    if (qualifier.size > PETAL_MAX_QUALIFIER_BYTES)
        return error_set(error, PETAL_INVALID, "the qualifier has %zu bytes; the limit is %u",
                         qualifier.size, PETAL_MAX_QUALIFIER_BYTES);
    if (cell_is_family_marker(type) && qualifier.size > 0)
        return error_set(error, PETAL_INVALID, "a deletion of a family takes no qualifier");
    if (value.size > PETAL_MAX_VALUE_BYTES)
        return error_set(error, PETAL_INVALID, "the value has %zu bytes; the limit is %u",
                         value.size, PETAL_MAX_VALUE_BYTES);
    if (timestamp < 0)
        return error_set(error, PETAL_INVALID, "timestamp %lld is negative", (long long)timestamp);
    write->family = family;
    write->row_hash = bloom_hash_row(family->table->db->salt, row.data, row.size);
    write->assigned = timestamp == PETAL_LATEST;
    write->resolved = false;
    write->cell = (struct cell){
        .row = row, .qualifier = qualifier, .value = value, .timestamp = timestamp, .type = type};
    return PETAL_OK;
}

enum petal_status
petal_batch_new(petal_db *db, petal_batch **batch, petal_error *error)
{
    petal_batch *made = mem_zalloc(db->env.allocator, sizeof *made);

    *batch = made;
    if (made == NULL)
        return error_no_memory(error);
    made->db = db;
    return PETAL_OK;
}

static void
free_chunks(petal_batch *batch, struct batch_chunk *chunk)
{
    while (chunk != NULL) {
        struct batch_chunk *next = chunk->next;

        mem_free(batch->db->env.allocator, chunk, sizeof *chunk + chunk->size);
        chunk = next;
    }
}

void
petal_batch_free(petal_batch *batch)
{
    if (batch == NULL)
        return;
    free_chunks(batch, batch->chunks);
    mem_free(batch->db->env.allocator, batch->cells, batch->capacity * sizeof *batch->cells);
    mem_free(batch->db->env.allocator, batch, sizeof *batch);
}

void
petal_batch_clear(petal_batch *batch)
{
    /* The newest chunk is kept for the next filling. */
    if (batch->chunks != NULL) {
        free_chunks(batch, batch->chunks->next);
        batch->chunks->next = NULL;
        batch->chunks->used = 0;
    }
    batch->count = 0;
    batch->bytes = 0;
}

size_t
petal_batch_count(const petal_batch *batch)
{
    return batch->count;
}

static uint8_t *
take_bytes(petal_batch *batch, size_t size)
{
    struct batch_chunk *chunk = batch->chunks;

    if (chunk == NULL || chunk->size - chunk->used < size) {
        size_t chunk_size = size > BATCH_CHUNK_BYTES ? size : BATCH_CHUNK_BYTES;

        chunk = mem_alloc(batch->db->env.allocator, sizeof *chunk + chunk_size);
        if (chunk == NULL)
            return NULL;
        chunk->next = batch->chunks;
        chunk->size = chunk_size;
        chunk->used = 0;
        batch->chunks = chunk;
    }
    chunk->used += size;
    return chunk->bytes + chunk->used - size;
}

static petal_slice
copy_slice(uint8_t **to, petal_slice from)
{
    petal_slice copy = {*to, from.size};

    if (from.size > 0)
        memcpy(*to, from.data, from.size);
    *to += from.size;
    return copy;
}

static enum petal_status
batch_add(petal_batch *batch, petal_family *family, petal_slice row, petal_slice qualifier,
          int64_t timestamp, petal_slice value, enum petal_cell_type type, petal_error *error)
{
    void *cells = batch->cells;
    struct write_cell write;
    size_t size;
    uint8_t *to;
    enum petal_status status =
        write_cell_make(&write, family, row, qualifier, timestamp, value, type, error);

    if (status != PETAL_OK)
        return status;
    if (family->table->db != batch->db)
        return error_set(error, PETAL_INVALID, "the family belongs to another database");
    size = row.size + qualifier.size + value.size;
    if (batch->bytes + size > PETAL_MAX_BATCH_BYTES)
        return error_set(error, PETAL_INVALID, "the batch would exceed %u bytes",
                         PETAL_MAX_BATCH_BYTES);
    if (!mem_grow(batch->db->env.allocator, &cells, &batch->capacity, batch->count,
                  batch->count + 1, sizeof *batch->cells))
        return error_no_memory(error);
    batch->cells = cells;
    to = take_bytes(batch, size);
    if (to == NULL)
        return error_no_memory(error);
    write.cell.row = copy_slice(&to, row);
    write.cell.qualifier = copy_slice(&to, qualifier);
    write.cell.value = copy_slice(&to, value);
    batch->cells[batch->count++] = write;
    batch->bytes += size;
    return PETAL_OK;
}

enum petal_status
petal_batch_put(petal_batch *batch, petal_family *family, petal_slice row, petal_slice qualifier,
                int64_t timestamp, petal_slice value, petal_error *error)
{
    return batch_add(batch, family, row, qualifier, timestamp, value, PETAL_PUT, error);
}

enum petal_status
petal_batch_delete(petal_batch *batch, petal_family *family, petal_slice row, petal_slice qualifier,
                   int64_t timestamp, enum petal_cell_type type, petal_error *error)
{
    if (type == PETAL_PUT)
        return error_set(error, PETAL_INVALID, "a deletion cannot have the type of a put");
    return batch_add(batch, family, row, qualifier, timestamp, slice_make(NULL, 0), type, error);
}
