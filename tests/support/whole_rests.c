/* whole_rests.c -- see whole_rests.h. */
#include "tests/support/whole_rests.h"

#include "base/coding.h"
#include "sstable/data_block.h"
#include "tests/support/test_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define OFFSET_BYTES 4

static uint8_t *
put(uint8_t *to, const void *from, size_t size)
{
    memcpy(to, from, size);
    return to + size;
}

static uint64_t
number_at(const struct packed_array *array, uint32_t index)
{
    return get_le64(array->base + (size_t)index * array->width) >> array->shift;
}

static uint32_t
offset_of(const struct data_block *block, uint32_t cell)
{
    return block->record_bytes != 0 ? cell * block->record_bytes
                                    : (uint32_t)number_at(&block->offsets, cell);
}

static bool
begins_row(const struct data_block *block, uint32_t row, uint32_t cell)
{
    if (row == block->rows)
        return false;
    return (block->flags & DATA_BLOCK_ONE_CELL_PER_ROW) != 0 ||
           number_at(&block->firsts, row) == cell;
}

/* The record [from, end) of the first cell of `row`, with the bytes of the row's head. */
static uint8_t *
put_first_record(uint8_t *to, const struct data_block *block, uint32_t row, const uint8_t *from,
                 const uint8_t *end)
{
    uint32_t size = block->row_rest_bytes;
    uint8_t head[4];

    if ((block->flags & DATA_BLOCK_FIXED_ROW_REST) == 0) {
        const uint8_t *behind = get_varint32(from, end, &size);

        to = put(to, from, (size_t)(behind - from));
        from = behind;
    }
    put_le32(head, __builtin_bswap32(get_le32(block->row_heads + 4 * (size_t)row)));
    to = put(to, head, size < sizeof head ? size : sizeof head);
    return put(to, from, (size_t)(end - from));
}

petal_slice
block_with_whole_rests(petal_slice made)
{
    struct data_block block;
    const uint8_t *from = made.data, *arrays;
    uint8_t *bytes, *to, *offsets, *records, *fitting;
    uint32_t row = 0, cells;
    size_t size;

    assert_true(data_block_check(&block, made.data, made.size));
    assert_int_equal(block.flags & DATA_BLOCK_TAILS, DATA_BLOCK_TAILS);
    cells = block.cells;
    bytes = test_allocate(made.size + 4 * (size_t)block.rows + OFFSET_BYTES * ((size_t)cells + 1));
    arrays = block.row_heads + 4 * (size_t)block.rows +
             (block.qualifier_heads != NULL ? 4 * (size_t)cells : 0);
    to = put(bytes, from, (size_t)(arrays - from));
    offsets = to;
    to += OFFSET_BYTES * ((size_t)cells + 1);
    arrays += from[14] * ((size_t)cells + 1);
    records = to = put(to, arrays, (size_t)(block.records - arrays));
    for (uint32_t cell = 0; cell < cells; cell++) {
        const uint8_t *record = block.records + offset_of(&block, cell);
        const uint8_t *end = block.records + offset_of(&block, cell + 1);

        put_le32(offsets + OFFSET_BYTES * (size_t)cell, (uint32_t)(to - records));
        to = begins_row(&block, row, cell) ? put_first_record(to, &block, row++, record, end)
                                           : put(to, record, (size_t)(end - record));
    }
    put_le32(offsets + OFFSET_BYTES * (size_t)cells, (uint32_t)(to - records));
    put_le32(bytes + 8, (uint32_t)(to - records));
    put_le16(bytes + 12,
             (uint16_t)(block.flags & ~(unsigned)(DATA_BLOCK_TAILS | DATA_BLOCK_FIXED_RECORD)));
    bytes[14] = OFFSET_BYTES;
    size = (size_t)(to - bytes);
    fitting = test_allocate(size);
    memcpy(fitting, bytes, size);
    free(bytes);
    return slice_make(fitting, size);
}
