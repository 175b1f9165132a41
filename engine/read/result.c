/* result.c -- see result.h. */
#include "engine/read/result.h"

#include "base/argument.h"

#include <assert.h>

enum petal_status
petal_result_new(petal_db *db, petal_result **result, petal_error *error)
{
    RETURN_IF_NULL(result, error);
    *result = NULL;
    RETURN_IF_NULL(db, error);

    petal_result *made;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    made = *result = mem_zalloc(db->env.allocator, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    made->db = db;
    made->allocator = db->env.allocator;
    made->turn = 1;
    row_collect_init(&made->collect, db->env.allocator);
    return PETAL_OK;
}

void
petal_result_free(petal_result *result)
{
    const petal_allocator *allocator;

    if (result == NULL)
        return;
    allocator = result->allocator;
    for (size_t i = 0; i < result->member_count; i++)
        petal_result_free(result->members[i]);
    mem_free(allocator, result->members, result->member_capacity * sizeof *result->members);
    row_collect_fini(&result->collect);
    sst_private_block_free(&result->block, allocator);
    mem_free(allocator, result->cells, result->capacity * sizeof *result->cells);
    mem_free(allocator, result->bytes, result->byte_capacity);
    mem_free(allocator, result, sizeof *result);
}

enum petal_status
result_have_members(petal_result *result, size_t count, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (!mem_grow_array(result->allocator, &result->members, &result->member_capacity,
                        result->member_count, count, sizeof(petal_result *)))
        return error_no_memory(error);
    while (status == PETAL_OK && result->member_count < count) {
        status = petal_result_new(result->db, &result->members[result->member_count], error);
        result->member_count += status == PETAL_OK;
    }
    return status;
}

size_t
petal_result_count(const petal_result *result)
{
    return result != NULL ? result->count : 0;
}

const petal_cell *
petal_result_cell(const petal_result *result, size_t index)
{
    return result != NULL && index < result->count ? &result->cells[index] : NULL;
}

/* Make room for `more` bytes; cells that point into the old place are moved along. */
static enum petal_status
reserve_bytes(petal_result *result, size_t more)
{
    const uint8_t *old = result->bytes;

    if (!mem_grow_array(result->allocator, &result->bytes, &result->byte_capacity,
                        result->byte_count, result->byte_count + more, 1))
        return PETAL_NO_MEMORY;
    if (old == result->bytes || old == NULL)
        return PETAL_OK;
    for (size_t i = 0; i < result->count; i++) {
        petal_cell *cell = &result->cells[i];

        cell->row.data = result->bytes + (slice_bytes(cell->row) - old);
        cell->qualifier.data = result->bytes + (slice_bytes(cell->qualifier) - old);
        cell->value.data = result->bytes + (slice_bytes(cell->value) - old);
    }
    return PETAL_OK;
}

/* Room for so many more cells, which have so many bytes. */
static inline enum petal_status
reserve_more(petal_result *result, size_t count, size_t bytes)
{
    if (count <= result->capacity - result->count &&
        bytes <= result->byte_capacity - result->byte_count)
        return PETAL_OK;
    return mem_grow_array(result->allocator, &result->cells, &result->capacity, result->count,
                          result->count + count, sizeof *result->cells)
               ? reserve_bytes(result, bytes)
               : PETAL_NO_MEMORY;
}

static petal_slice
append_bytes(petal_result *result, petal_slice bytes)
{
    petal_slice copy = {result->bytes + result->byte_count, bytes.size};

    assert(bytes.size <= result->byte_capacity - result->byte_count);
    if (bytes.size > 0)
        memcpy(result->bytes + result->byte_count, bytes.data, bytes.size);
    result->byte_count += bytes.size;
    return copy;
}

enum petal_status
result_start(petal_result *result, petal_slice row)
{
    result_clear(result);
    if (reserve_bytes(result, row.size) != PETAL_OK)
        return PETAL_NO_MEMORY;
    append_bytes(result, row);
    return PETAL_OK;
}

static inline void
append_cell(petal_result *result, const petal_family *family, petal_slice row,
            const struct cell *cell)
{
    result->cells[result->count++] = (petal_cell){
        .family = family->name,
        .row = row,
        .qualifier = append_bytes(result, cell->qualifier),
        .value = append_bytes(result, cell->value),
        .timestamp = cell->timestamp,
        .type = cell->type,
        .has_ttl = cell->has_ttl,
        .ttl_ms = cell->ttl_ms,
    };
}

enum petal_status
result_set(petal_result *result, const petal_family *family, petal_slice row, petal_slice qualifier,
           int64_t timestamp, petal_slice value)
{
    if (result_reserve(result, 1, row.size + qualifier.size + value.size) != PETAL_OK)
        return PETAL_NO_MEMORY;
    result->count = 1;
    result->cells[0] = (petal_cell){
        .family = family->name,
        .row = append_bytes(result, row),
        .qualifier = append_bytes(result, qualifier),
        .value = append_bytes(result, value),
        .timestamp = timestamp,
        .type = PETAL_PUT,
    };
    return PETAL_OK;
}

enum petal_status
result_reserve(petal_result *result, size_t count, size_t bytes)
{
    result_clear(result);
    return reserve_more(result, count, bytes);
}

void
result_add_row_cell(petal_result *result, const petal_family *family, const struct cell *cell)
{
    assert(result->count < result->capacity);
    assert(cell->row.size + cell->qualifier.size + cell->value.size <=
           result->byte_capacity - result->byte_count);
    append_cell(result, family, append_bytes(result, cell->row), cell);
}

enum petal_status
result_add(petal_result *result, const petal_family *family, const struct cell *cell)
{
    if (result->count == 0 && result_start(result, cell->row) != PETAL_OK)
        return PETAL_NO_MEMORY;
    assert(cell->row.size <= result->byte_count);
    if (reserve_more(result, 1, cell->qualifier.size + cell->value.size) != PETAL_OK)
        return PETAL_NO_MEMORY;
    append_cell(result, family, slice_make(result->bytes, cell->row.size), cell);
    return PETAL_OK;
}

enum petal_status
result_append_put(petal_result *result, const petal_family *family, petal_slice row,
                  petal_slice prefix, petal_slice rest, int64_t timestamp, petal_slice value)
{
    petal_slice qualifier;
    petal_cell *cell;

    assert(row.size > 0 && row.size <= result->byte_count);
    if (reserve_more(result, 1, prefix.size + rest.size + value.size) != PETAL_OK)
        return PETAL_NO_MEMORY;
    qualifier = append_bytes(result, prefix);
    append_bytes(result, rest);
    qualifier.size += rest.size;
    /* Field by field: compilers would first make all of it zero. */
    cell = &result->cells[result->count++];
    cell->family = family->name;
    cell->row = slice_make(result->bytes, row.size);
    cell->qualifier = qualifier;
    cell->value = append_bytes(result, value);
    cell->timestamp = timestamp;
    cell->type = PETAL_PUT;
    cell->has_ttl = false;
    cell->ttl_ms = 0;
    return PETAL_OK;
}

enum petal_status
result_append(petal_result *result, const petal_cell *cells, size_t count)
{
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += cells[i].qualifier.size + cells[i].value.size;
    if (reserve_more(result, count, bytes) != PETAL_OK)
        return PETAL_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        petal_cell *copy = &result->cells[result->count++];

        *copy = cells[i];
        copy->row = slice_make(result->bytes, cells[i].row.size);
        copy->qualifier = append_bytes(result, cells[i].qualifier);
        copy->value = append_bytes(result, cells[i].value);
    }
    return PETAL_OK;
}

enum petal_status
result_append_value(petal_result *result, petal_slice value)
{
    assert(result->count == 0);
    if (reserve_bytes(result, value.size) != PETAL_OK)
        return PETAL_NO_MEMORY;
    append_bytes(result, value);
    return PETAL_OK;
}
