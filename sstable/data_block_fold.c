/*
 * data_block_fold.c -- a data block in the order in which LZ4 finds most.  See data_block.h.
 *
 * LZ4 finds repeated bytes, four and more, but does not see that numbers are close to each other.
 * So ascending numbers are stored as differences, each from the number before (the first from 0),
 * modulo the width.  And the bytes of each 64 numbers, and of those that are left, are transposed:
 * the lowest byte of each, then the second of each, and so on.  What remains of arrays is often
 * noise, and LZ4 takes larger steps the longer it finds nothing: so the records come first.
 */
#include "sstable/data_block.h"

#include "base/coding.h"
#include "base/inline.h"

#include <assert.h>

/* Numbers that are transposed together: so folding needs no memory. */
#define GROUP 64

/* Bytes that are moved at once: the arrays of most blocks. */
#define PIECE_BYTES 8192

/* An array of a data block; of width 0: none. */
struct folded_array {
    uint8_t *bytes;
    size_t count;
    uint32_t width; /* 0 to 8 */
    bool differences;
};

static void
fold_array(const struct folded_array *array)
{
    uint8_t numbers[GROUP * 8];
    uint64_t before = 0;

    for (size_t first = 0; first < array->count; first += GROUP) {
        size_t count = array->count - first < GROUP ? array->count - first : GROUP;
        uint8_t *to = array->bytes + first * array->width;

        memcpy(numbers, to, count * array->width);
        for (size_t i = 0; i < count; i++) {
            uint64_t number = 0, stored;

            for (uint32_t k = 0; k < array->width; k++)
                number |= (uint64_t)numbers[i * array->width + k] << 8 * k;
            stored = array->differences ? number - before : number;
            before = number;
            for (uint32_t k = 0; k < array->width; k++)
                to[k * count + i] = (uint8_t)(stored >> 8 * k);
        }
    }
}

static ALWAYS_INLINE void
put_number(uint8_t *to, uint64_t number, uint32_t width)
{
    if (width == 2) {
        put_le16(to, (uint16_t)number);
    } else if (width == 4) {
        put_le32(to, (uint32_t)number);
    } else {
        for (uint32_t k = 0; k < width; k++)
            to[k] = (uint8_t)(number >> 8 * k);
    }
}

static ALWAYS_INLINE void
unfold(const struct folded_array *array, uint32_t width, bool differences)
{
    uint8_t planes[GROUP * 8];
    uint64_t sum = 0;

    for (size_t first = 0; first < array->count; first += GROUP) {
        size_t count = array->count - first < GROUP ? array->count - first : GROUP;
        uint8_t *to = array->bytes + first * width;

        memcpy(planes, to, count * width);
        for (size_t i = 0; i < count; i++) {
            uint64_t number = planes[i];

            for (uint32_t k = 1; k < width; k++)
                number |= (uint64_t)planes[k * count + i] << 8 * k;
            if (differences)
                number = sum += number;
            put_number(to + i * width, number, width);
        }
    }
}

/* The compiler knows the widths that nearly all arrays have. */
static void
unfold_array(const struct folded_array *array)
{
    if (array->width == 4 && array->differences)
        unfold(array, 4, true);
    else if (array->width == 2 && array->differences)
        unfold(array, 2, true);
    else if (array->width == 2)
        unfold(array, 2, false);
    else if (array->width > 1 || (array->width == 1 && array->differences))
        unfold(array, array->width, array->differences);
}

/* Visit the arrays of numbers that begin at `at`. */
static void
for_arrays(const struct data_block *block, uint8_t *at, void (*visit)(const struct folded_array *))
{
    size_t rows = block->rows, cells = block->cells;
    const struct folded_array arrays[] = {
        {NULL, rows, DATA_BLOCK_HEAD_BYTES, true},
        {NULL, cells, block->qualifier_heads != NULL ? DATA_BLOCK_HEAD_BYTES : 0, false},
        {NULL, cells + 1, block->offsets.width, true},
        {NULL, rows + 1, block->firsts.width, true},
        {NULL, cells, block->timestamps.width, false},
        {NULL, cells, block->sequences.width, false},
    };

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        struct folded_array array = arrays[i];

        array.bytes = at;
        at += array.count * array.width;
        if (i != 1) /* qualifier heads stay as they are */
            visit(&array);
    }
}

/* Bytes of the arrays, types included. */
static size_t
array_bytes(const struct data_block *block)
{
    return (size_t)(slice_bytes(block->row_prefix) - block->row_heads);
}

void
data_block_fold(const uint8_t *bytes, size_t size, uint8_t *to)
{
    struct data_block block;
    size_t arrays, rest;

    assert(data_block_header_is_sane(bytes, size));
    data_block_view(&block, bytes, size);
    arrays = array_bytes(&block);
    rest = size - DATA_BLOCK_HEADER_BYTES - arrays;
    memcpy(to, bytes, DATA_BLOCK_HEADER_BYTES);
    to += DATA_BLOCK_HEADER_BYTES;
    memcpy(to, block.row_prefix.data, rest);
    memcpy(to + rest, block.row_heads, arrays);
    for_arrays(&block, to + rest, fold_array);
}

/* Move the last `count` of `size` bytes before the others, which needs no more memory. */
static void
move_to_front(uint8_t *bytes, size_t size, size_t count)
{
    uint8_t piece[PIECE_BYTES];

    while (count > 0) {
        size_t taken = count < sizeof piece ? count : sizeof piece;

        memcpy(piece, bytes + size - taken, taken);
        memmove(bytes + taken, bytes, size - taken);
        memcpy(bytes, piece, taken);
        count -= taken;
    }
}

bool
data_block_unfold(uint8_t *bytes, size_t size)
{
    struct data_block block;
    size_t arrays;

    if (size < DATA_BLOCK_HEADER_BYTES || !data_block_header_is_sane(bytes, size))
        return false;
    data_block_view(&block, bytes, size);
    arrays = array_bytes(&block);
    for_arrays(&block, bytes + size - arrays, unfold_array);
    move_to_front(bytes + DATA_BLOCK_HEADER_BYTES, size - DATA_BLOCK_HEADER_BYTES, arrays);
    return true;
}
