/*
 * encoding_row_index.c -- ROW_INDEX_V1: cells as they are (encoding_none.c), and where rows begin:
 *
 *     cells | i32 rows | an i32 for each row: its first cell's place in the cells
 *     | i32 bytes of the cells
 */
#include "tools/hfile/format/encoding.h"

#define NUMBER_BYTES 4

/* Of a key: its length, the value's, the row's. */
#define ROW_AT 10

/* Do the `count` places at `places` name the first cell of each row of `area`? */
static bool
places_are_right(const uint8_t *places, uint32_t count, const uint8_t *area,
                 const struct hfile_cells *cells, size_t first)
{
    uint32_t row = 0;

    for (size_t i = first; i < cells->count; i++) {
        petal_slice this_row = cells->cells[i].row;

        if (i > first && hfile_slice_equal(this_row, cells->cells[i - 1].row))
            continue;
        if (row == count || (size_t)hfile_get_u32(places + (size_t)row * NUMBER_BYTES) + ROW_AT !=
                                (size_t)(hfile_slice_bytes(this_row) - area))
            return false;
        row++;
    }
    return row == count;
}

enum petal_status
hfile_decode_row_index(const struct hfile_cell_layout *layout, petal_slice payload,
                       struct hfile_cells *cells, const char **wrong)
{
    const uint8_t *area = payload.data, *rows;
    size_t area_bytes, first = cells->count;
    enum petal_status status;
    uint32_t count;

    *wrong = "the index of rows does not fit into the block";
    if (payload.size < 2 * NUMBER_BYTES)
        return PETAL_CORRUPT;
    area_bytes = hfile_get_u32(area + payload.size - NUMBER_BYTES);
    if (area_bytes > payload.size - 2 * NUMBER_BYTES)
        return PETAL_CORRUPT;
    rows = area + area_bytes;
    count = hfile_get_u32(rows);
    if ((uint64_t)count * NUMBER_BYTES != payload.size - area_bytes - 2 * NUMBER_BYTES)
        return PETAL_CORRUPT;

    status = hfile_decode_none(layout, hfile_slice(area, area_bytes), cells, wrong);
    if (status == PETAL_OK && !places_are_right(rows + NUMBER_BYTES, count, area, cells, first)) {
        *wrong = "the index of rows does not name the first cells of rows";
        return PETAL_CORRUPT;
    }
    return status;
}
