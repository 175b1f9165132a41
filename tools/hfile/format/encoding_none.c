/*
 * encoding_none.c -- cells as they are, one after the other:
 *
 *     i32 key length | i32 value length | key | value | [u16 tags length | tags] | [vint sequence]
 */
#include "tools/hfile/format/encoding.h"
#include "tools/hfile/format/key.h"

static bool
take_tags(struct hfile_bytes *rest, petal_slice *tags)
{
    uint16_t size;

    return hfile_take_u16(rest, &size) && hfile_take_slice(rest, size, tags);
}

/* False with what is wrong. */
static inline bool
take_cell(const struct hfile_cell_layout *layout, struct hfile_bytes *rest, petal_hfile_cell *cell,
          const char **wrong)
{
    uint32_t key_bytes, value_bytes;
    petal_slice key;

    *wrong = "a cell is cut short";
    if (hfile_bytes_left(rest) < 8)
        return false;
    key_bytes = hfile_get_u32(rest->at);
    value_bytes = hfile_get_u32(rest->at + 4);
    rest->at += 8;
    if (!hfile_take_slice(rest, key_bytes, &key) ||
        !hfile_take_slice(rest, value_bytes, &cell->value))
        return false;
    cell->tags = hfile_slice(NULL, 0);
    cell->sequence = 0;
    if (layout->has_tags && !take_tags(rest, &cell->tags))
        return false;
    if (layout->has_sequences && !hfile_take_vint(rest, &cell->sequence))
        return false;
    *wrong = "the lengths in a cell's key do not fit into the key";
    return hfile_key_parse(key, cell);
}

enum petal_status
hfile_decode_none(const struct hfile_cell_layout *layout, petal_slice payload,
                  struct hfile_cells *cells, const char **wrong)
{
    struct hfile_bytes rest = hfile_bytes_of(payload);

    while (hfile_bytes_left(&rest) > 0) {
        enum petal_status status = hfile_cells_reserve(cells, wrong);

        if (status != PETAL_OK)
            return status;
        if (!take_cell(layout, &rest, &cells->cells[cells->count], wrong))
            return PETAL_CORRUPT;
        cells->count++;
    }
    return PETAL_OK;
}

uint8_t *
hfile_encode_none(struct hfile_encoder *encoder, const struct hfile_keyed_cell *keyed,
                  const struct hfile_key_step *step, uint8_t *to)
{
    const petal_hfile_cell *cell = keyed->cell;

    (void)step;
    hfile_put_u32(to, (uint32_t)keyed->key.size);
    hfile_put_u32(to + 4, (uint32_t)cell->value.size);
    to = hfile_put_slice(to + 8, keyed->key);
    to = hfile_put_value(encoder, cell->value, to);
    if (encoder->layout.has_tags) {
        hfile_put_u16(to, (uint16_t)cell->tags.size);
        to = hfile_put_slice(to + 2, cell->tags);
    }
    if (encoder->layout.has_sequences)
        to += hfile_put_vint(to, cell->sequence);
    return to;
}
