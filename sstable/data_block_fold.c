/*
 * data_block_fold.c -- see sstable/data_block_fold.h; and the blocks of files of version 3, which
 * are folded whole.
 */
#include "sstable/data_block_fold.h"

#include "base/coding.h"
#include "base/inline.h"
#include "sstable/data_block.h"

/* Numbers whose bytes lie together: so folding needs no memory. */
#define GROUP 64

/* ---- folding ---- */

void
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

/* ---- unfolding ---- */

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

/* The widths that nearly all arrays have are known where they are unfolded. */
void
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

/* ---- blocks of version 3 ---- */

static inline uint8_t *
begin_of(const struct packed_array *array)
{
    return (uint8_t *)(uintptr_t)array->base + 8 - array->width;
}

/* The arrays that are folded; an array of width 0 is none. */
#define ARRAYS 5

static void
find_arrays(uint8_t *bytes, size_t size, struct folded_array arrays[ARRAYS])
{
    struct data_block block;

    data_block_view(&block, bytes, size);
    arrays[0] = (struct folded_array){bytes + DATA_BLOCK_HEADER_BYTES, block.rows, 4, true};
    arrays[1] = (struct folded_array){begin_of(&block.offsets), (size_t)block.cells + 1,
                                      block.offsets.width, true};
    arrays[2] = (struct folded_array){begin_of(&block.firsts), (size_t)block.rows + 1,
                                      block.firsts.width, true};
    arrays[3] = (struct folded_array){begin_of(&block.timestamps), block.cells,
                                      block.timestamps.width, false};
    arrays[4] = (struct folded_array){begin_of(&block.sequences), block.cells,
                                      block.sequences.width, false};
}

bool
data_block_unfold(uint8_t *bytes, size_t size)
{
    struct folded_array arrays[ARRAYS];
    uint32_t flags;

    if (size < DATA_BLOCK_HEADER_BYTES)
        return false;
    flags = get_le16(bytes + 12);
    if ((flags & DATA_BLOCK_FOLDED) == 0)
        return true;
    put_le16(bytes + 12, (uint16_t)(flags & ~(uint32_t)DATA_BLOCK_FOLDED));
    if (!data_block_header_is_sane(bytes, size))
        return false;
    find_arrays(bytes, size, arrays);
    for (unsigned i = 0; i < ARRAYS; i++)
        unfold_array(&arrays[i]);
    return true;
}
