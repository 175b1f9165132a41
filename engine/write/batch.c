/* batch.c -- see batch.h; the public calls are described in petal.h. */
#include "engine/write/batch.h"

#include "base/argument.h"
#include "base/coding.h"
#include "engine/options.h"
#include "engine/read/options.h"
#include "engine/state/db.h"
#include "engine/write/cell.h"

#include <assert.h>

#define BATCH_CHUNK_BYTES 16384

struct batch_chunk {
    struct batch_chunk *next;
    size_t size, used;
    uint8_t bytes[];
};

enum petal_status
petal_batch_new(petal_db *db, petal_batch **batch, petal_error *error)
{
    RETURN_IF_NULL(batch, error);
    *batch = NULL;
    RETURN_IF_NULL(db, error);

    petal_batch *made;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    made = *batch = mem_zalloc(db->env.allocator, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    made->db = db;
    made->allocator = db->env.allocator;
    return PETAL_OK;
}

static void
free_chunks(petal_batch *batch, struct batch_chunk *chunk)
{
    while (chunk != NULL) {
        struct batch_chunk *next = chunk->next;

        mem_free(batch->allocator, chunk, sizeof *chunk + chunk->size);
        chunk = next;
    }
}

void
batch_fini(petal_batch *batch)
{
    const petal_allocator *allocator = batch->allocator;

    free_chunks(batch, batch->chunks);
    mem_free(allocator, batch->cells, batch->capacity * sizeof *batch->cells);
    mem_free(allocator, batch->mutations, batch->mutation_capacity * sizeof *batch->mutations);
}

void
petal_batch_free(petal_batch *batch)
{
    if (batch == NULL)
        return;
    batch_fini(batch);
    mem_free(batch->allocator, batch, sizeof *batch);
}

void
petal_batch_clear(petal_batch *batch)
{
    if (batch == NULL)
        return;
    /* The newest chunk is kept for the next filling. */
    if (batch->chunks != NULL) {
        free_chunks(batch, batch->chunks->next);
        batch->chunks->next = NULL;
        batch->chunks->used = 0;
    }
    batch->count = 0;
    batch->readers = 0;
    batch->bytes = 0;
    batch->has_ttl = false;
    batch->mutation_count = 0;
    batch->has_empty_mutation = false;
}

size_t
petal_batch_count(const petal_batch *batch)
{
    return batch != NULL ? batch->count : 0;
}

/* ---- mutations ---- */

static bool
latest_is_empty(const petal_batch *batch)
{
    return batch->mutation_count > 0 &&
           (batch->count == 0 || batch->cells[batch->count - 1].mutation != batch->mutation_count);
}

enum petal_status
petal_batch_mutation(petal_batch *batch, const petal_mutation_options *given, petal_error *error)
{
    RETURN_IF_NULL(batch, error);

    petal_mutation_options options;
    enum petal_status status;
    void *mutations = batch->mutations;
    bool grown;

    if (db_enter(batch->db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = options_copy(&options, sizeof options, given, "petal_mutation_options", error);
    if (status == PETAL_OK)
        status = options_check_ttl(options.has_ttl, options.ttl_ms, error);
    if (status == PETAL_OK)
        status = options_check_time_range(options.has_time_range, options.time_min,
                                          options.time_limit, error);
    if (status != PETAL_OK)
        return status;
    if (options.has_time_range && (options.time_min < 0 || options.time_limit < options.time_min))
        return error_set(error, PETAL_INVALID,
                         "the time range [%lld, %lld) is impossible: it must begin at 0 or later "
                         "and not end before it begins",
                         (long long)options.time_min, (long long)options.time_limit);
    if (batch->mutation_count == UINT32_MAX)
        return error_set(error, PETAL_INVALID, "the batch would exceed %u mutations", UINT32_MAX);
    grown = mem_grow(batch->allocator, &mutations, &batch->mutation_capacity, batch->mutation_count,
                     batch->mutation_count + 1, sizeof *batch->mutations);
    batch->mutations = mutations;
    if (!grown)
        return error_no_memory(error);
    batch->has_empty_mutation = batch->has_empty_mutation || latest_is_empty(batch);
    batch->mutations[batch->mutation_count++] = (struct batch_mutation){
        .has_ttl = options.has_ttl,
        .ttl_ms = options.ttl_ms,
        .has_time_range = options.has_time_range,
        .time_min = options.time_min,
        .time_limit = options.time_limit,
        .no_results = options.no_results,
    };
    return PETAL_OK;
}

const struct batch_mutation *
batch_mutation_of(const petal_batch *batch, const struct write_cell *write)
{
    static const struct batch_mutation defaults;

    assert(write->mutation <= batch->mutation_count || batch->mutations == NULL);
    return write->mutation == 0 ? &defaults : &batch->mutations[write->mutation - 1];
}

enum petal_status
batch_check(const petal_batch *batch, const petal_db *db, const petal_write_options *options,
            petal_error *error)
{
    if (batch->db != db)
        return error_set(error, PETAL_INVALID, "the batch belongs to another database");
    if (options->has_ttl)
        return error_set(error, PETAL_INVALID,
                         "ttl_ms of the write options is for single writes; in a batch each "
                         "mutation has its own");
    if (batch->has_empty_mutation || latest_is_empty(batch))
        return error_set(error, PETAL_INVALID, "a mutation of the batch has no cells");
    return PETAL_OK;
}

/* ---- cells ---- */

uint8_t *
batch_take_bytes(petal_batch *batch, size_t size)
{
    struct batch_chunk *chunk = batch->chunks;

    if (chunk == NULL || chunk->size - chunk->used < size) {
        size_t chunk_size = size > BATCH_CHUNK_BYTES ? size : BATCH_CHUNK_BYTES;

        chunk = mem_alloc(batch->allocator, sizeof *chunk + chunk_size);
        if (chunk == NULL)
            return NULL;
        chunk->next = batch->chunks;
        chunk->size = chunk_size;
        chunk->used = 0;
        batch->chunks = chunk;
    }
    chunk->used += size;
    assert(chunk->used <= chunk->size);
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

/* Copy the cell, which is made and borrows its slices, into the batch. */
static enum petal_status
batch_add(petal_batch *batch, struct write_cell *write, petal_error *error)
{
    struct cell *cell = &write->cell;
    size_t size = cell->row.size + cell->qualifier.size + cell->value.size;
    const struct batch_mutation *mutation;
    void *cells = batch->cells;
    uint8_t *to;

    if (write->family->table->db != batch->db)
        return error_set(error, PETAL_INVALID, "the family belongs to another database");
    if (batch->bytes + size > PETAL_MAX_BATCH_BYTES)
        return error_set(error, PETAL_INVALID, "the batch would exceed %u bytes",
                         PETAL_MAX_BATCH_BYTES);
    if (!mem_grow(batch->allocator, &cells, &batch->capacity, batch->count, batch->count + 1,
                  sizeof *batch->cells))
        return error_no_memory(error);
    batch->cells = cells;
    to = batch_take_bytes(batch, size);
    if (to == NULL)
        return error_no_memory(error);
    cell->row = copy_slice(&to, cell->row);
    cell->qualifier = copy_slice(&to, cell->qualifier);
    cell->value = copy_slice(&to, cell->value);
    assert(to == slice_bytes(cell->row) + size);
    write->mutation = (uint32_t)batch->mutation_count;
    mutation = batch_mutation_of(batch, write);
    cell->has_ttl = mutation->has_ttl;
    cell->ttl_ms = mutation->ttl_ms;
    assert(batch->count < batch->capacity);
    batch->cells[batch->count++] = *write;
    batch->readers += write->operation != WRITE_PLAIN;
    batch->has_ttl = batch->has_ttl || cell->has_ttl;
    batch->bytes += size;
    assert(batch->readers <= batch->count && batch->bytes <= PETAL_MAX_BATCH_BYTES);
    return PETAL_OK;
}

enum petal_status
petal_batch_put(petal_batch *batch, petal_family *family, petal_slice row, petal_slice qualifier,
                int64_t timestamp, petal_slice value, petal_error *error)
{
    RETURN_IF_NULL(batch, error);

    struct write_cell write;
    enum petal_status status =
        write_cell_make(&write, family, row, qualifier, timestamp, value, PETAL_PUT, error);

    return status == PETAL_OK ? batch_add(batch, &write, error) : status;
}

enum petal_status
petal_batch_delete(petal_batch *batch, petal_family *family, petal_slice row, petal_slice qualifier,
                   int64_t timestamp, enum petal_cell_type type, petal_error *error)
{
    RETURN_IF_NULL(batch, error);

    struct write_cell write;
    enum petal_status status;

    if (type == PETAL_PUT)
        return error_set(error, PETAL_INVALID, "a deletion cannot have the type of a put");
    status = write_cell_make(&write, family, row, qualifier, timestamp, slice_make(NULL, 0), type,
                             error);
    return status == PETAL_OK ? batch_add(batch, &write, error) : status;
}

/* Of a key-value table. */
static enum petal_status
add_key(petal_batch *batch, petal_kv *kv, petal_slice key, petal_slice value,
        enum petal_cell_type type, petal_error *error)
{
    RETURN_IF_NULL(batch, error);
    RETURN_IF_NULL(kv, error);
    RETURN_IF_NO_BYTES(key, error);

    struct write_cell write;
    enum petal_status status = read_check_key(key, "the key", error);

    if (status == PETAL_OK)
        status = write_cell_make(&write, kv->family, key, slice_make(NULL, 0), PETAL_LATEST, value,
                                 type, error);
    if (status != PETAL_OK)
        return status;
    write.of_keys = true;
    return batch_add(batch, &write, error);
}

enum petal_status
petal_kv_batch_put(petal_batch *batch, petal_kv *kv, petal_slice key, petal_slice value,
                   petal_error *error)
{
    return add_key(batch, kv, key, value, PETAL_PUT, error);
}

enum petal_status
petal_kv_batch_delete(petal_batch *batch, petal_kv *kv, petal_slice key, petal_error *error)
{
    return add_key(batch, kv, key, slice_make(NULL, 0), PETAL_DELETE_COLUMN, error);
}

/* Take back all cells after the first `count`, none of which needs a read. */
static void
cut_back(petal_batch *batch, size_t count, size_t bytes)
{
    assert(count <= batch->count && bytes <= batch->bytes);
    batch->count = count;
    batch->bytes = bytes;
}

enum petal_status
petal_batch_delete_row(petal_batch *batch, petal_table *table, petal_slice row, int64_t timestamp,
                       petal_error *error)
{
    RETURN_IF_NULL(batch, error);
    RETURN_IF_NULL(table, error);
    RETURN_IF_NO_BYTES(row, error);

    const struct table_descriptor *descriptor = table_descriptor(table);
    size_t count = batch->count, bytes = batch->bytes;
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < descriptor->family_count; i++)
        status = petal_batch_delete(batch, descriptor->families[i], row, slice_make(NULL, 0),
                                    timestamp, PETAL_DELETE_FAMILY, error);
    if (status != PETAL_OK)
        cut_back(batch, count, bytes);
    return status;
}

static enum petal_status
add_read_modify_write(petal_batch *batch, petal_family *family, petal_slice row,
                      petal_slice qualifier, petal_slice value, enum write_operation operation,
                      petal_error *error)
{
    struct write_cell write;
    enum petal_status status =
        write_cell_make(&write, family, row, qualifier, PETAL_LATEST, value, PETAL_PUT, error);

    if (status != PETAL_OK)
        return status;
    write.operation = operation;
    return batch_add(batch, &write, error);
}

enum petal_status
petal_batch_append(petal_batch *batch, petal_family *family, petal_slice row, petal_slice qualifier,
                   petal_slice value, petal_error *error)
{
    RETURN_IF_NULL(batch, error);
    return add_read_modify_write(batch, family, row, qualifier, value, WRITE_APPEND, error);
}

enum petal_status
petal_batch_increment(petal_batch *batch, petal_family *family, petal_slice row,
                      petal_slice qualifier, int64_t amount, petal_error *error)
{
    RETURN_IF_NULL(batch, error);
    uint8_t bytes[8];

    put_be64(bytes, (uint64_t)amount);
    return add_read_modify_write(batch, family, row, qualifier, slice_make(bytes, sizeof bytes),
                                 WRITE_INCREMENT, error);
}
