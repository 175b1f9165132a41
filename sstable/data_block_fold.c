/*
 * data_block_fold.c -- arrays of numbers of a data block in the order in which LZ4 finds most.  See
 * data_block.h.
 *
 * LZ4 finds repeated bytes, four and more, but does not see that numbers are close to each other.
 * So ascending numbers are stored as differences, each from the number before (the first from 0),
 * modulo the width.  And the bytes of each 64 numbers, and of those that are left, are transposed:
 * the lowest byte of each, then the second of each, and so on.
 */
#include "sstable/data_block.h"

#include "base/coding.h"
#include "base/inline.h"

#include <assert.h>

/* Numbers that are transposed together: so folding needs no memory. */
#define GROUP 64

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

static struct folded_array
folded(const struct packed_array *array, size_t count, bool differences)
{
    uint8_t *begin = (uint8_t *)(uintptr_t)array->base + 8 - array->width;

    return (struct folded_array){begin, count, array->width, differences};
}

static void
for_arrays(const uint8_t *bytes, size_t size, void (*visit)(const struct folded_array *))
{
    struct data_block block;
    struct folded_array arrays[5];

    data_block_view(&block, bytes, size);
    arrays[0] = (struct folded_array){(uint8_t *)(uintptr_t)block.row_heads, block.rows,
                                      DATA_BLOCK_HEAD_BYTES, true};
    arrays[1] = folded(&block.offsets, (size_t)block.cells + 1, true);
    arrays[2] = folded(&block.firsts, (size_t)block.rows + 1, true);
    arrays[3] = folded(&block.timestamps, block.cells, false);
    arrays[4] = folded(&block.sequences, block.cells, false);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        visit(&arrays[i]);
}

void
data_block_fold(uint8_t *bytes, size_t size)
{
    assert(data_block_header_is_sane(bytes, size));
    for_arrays(bytes, size, fold_array);
}

bool
data_block_unfold(uint8_t *bytes, size_t size)
{
    if (size < DATA_BLOCK_HEADER_BYTES || !data_block_header_is_sane(bytes, size))
        return false;
    for_arrays(bytes, size, unfold_array);
    return true;
}
