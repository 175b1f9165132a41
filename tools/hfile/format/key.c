/* key.c -- see key.h. */
#include "tools/hfile/format/key.h"

#include <assert.h>

bool
hfile_key_parse(petal_slice key, petal_hfile_cell *cell)
{
    const uint8_t *at = key.data;
    size_t row_bytes, family_bytes;

    if (key.size < HFILE_KEY_FIXED_BYTES)
        return false;
    row_bytes = hfile_get_u16(at);
    if (row_bytes > PETAL_HFILE_MAX_ROW_BYTES || row_bytes > key.size - HFILE_KEY_FIXED_BYTES)
        return false;
    family_bytes = at[2 + row_bytes];
    if (family_bytes > key.size - HFILE_KEY_FIXED_BYTES - row_bytes)
        return false;
    cell->row = hfile_slice(at + 2, row_bytes);
    cell->family = hfile_slice(at + 3 + row_bytes, family_bytes);
    cell->qualifier = hfile_slice(at + 3 + row_bytes + family_bytes,
                                  key.size - HFILE_KEY_FIXED_BYTES - row_bytes - family_bytes);
    cell->timestamp = (int64_t)hfile_get_u64(at + key.size - HFILE_KEY_TAIL_BYTES);
    cell->type = at[key.size - 1];
    return true;
}

static uint8_t *
put_slice(uint8_t *to, petal_slice slice)
{
    if (slice.size > 0)
        memcpy(to, slice.data, slice.size);
    return to + slice.size;
}

void
hfile_key_write(const petal_hfile_cell *cell, uint8_t *to)
{
    assert(cell->row.size <= PETAL_HFILE_MAX_ROW_BYTES && cell->family.size <= UINT8_MAX);
    assert(cell->type >= 0 && cell->type <= UINT8_MAX);
    hfile_put_u16(to, (uint16_t)cell->row.size);
    to = put_slice(to + 2, cell->row);
    *to++ = (uint8_t)cell->family.size;
    to = put_slice(to, cell->family);
    to = put_slice(to, cell->qualifier);
    hfile_put_u64(to, (uint64_t)cell->timestamp);
    to[8] = (uint8_t)cell->type;
}

bool
hfile_key_append(const petal_hfile_cell *cell, struct hfile_buffer *buffer)
{
    size_t size = hfile_key_bytes(cell);

    if (!hfile_buffer_reserve(buffer, size))
        return false;
    hfile_key_write(cell, buffer->bytes + buffer->size);
    buffer->size += size;
    return true;
}

/* KeyValue.createLastOnRow: after all cells of its row. */
static bool
is_end_of_row(const petal_hfile_cell *key)
{
    return key->family.size == 0 && key->qualifier.size == 0 &&
           key->type == PETAL_HFILE_TYPE_MINIMUM;
}

int
petal_hfile_compare(const petal_hfile_cell *a, const petal_hfile_cell *b)
{
    int order;

    if (a == NULL || b == NULL)
        return (a != NULL) - (b != NULL);
    order = hfile_slice_compare(a->row, b->row);
    if (order != 0)
        return order;
    if (is_end_of_row(a) || is_end_of_row(b))
        return is_end_of_row(a) - is_end_of_row(b);
    order = hfile_slice_compare(a->family, b->family);
    if (order == 0)
        order = hfile_slice_compare(a->qualifier, b->qualifier);
    if (order != 0)
        return order;
    if (a->timestamp != b->timestamp)
        return a->timestamp > b->timestamp ? -1 : 1;
    return b->type - a->type;
}

int
petal_hfile_tag_next(petal_slice *tags, int *type, petal_slice *payload)
{
    struct hfile_bytes rest;
    uint16_t size;
    petal_slice tag;

    if (tags == NULL || type == NULL || payload == NULL || tags->size == 0)
        return 0;
    if (tags->data == NULL)
        return -1;
    rest = hfile_bytes_of(*tags);
    if (!hfile_take_u16(&rest, &size) || size == 0 || !hfile_take_slice(&rest, size, &tag))
        return -1;
    *type = hfile_slice_bytes(tag)[0];
    *payload = hfile_slice(hfile_slice_bytes(tag) + 1, size - 1u);
    *tags = hfile_slice(rest.at, hfile_bytes_left(&rest));
    return 1;
}
