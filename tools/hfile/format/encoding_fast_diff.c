/*
 * encoding_fast_diff.c -- FAST_DIFF: what differs from the cell before (encoded_block.h). A cell:
 *
 *     u8 flags: 1, 2, 4 how many bytes of the timestamp, highest first, are those before;
 *        8 key length, 16 value length, 32 type, 64 value as before
 *     | [varint key length] | [varint value length] | varint bytes in common with the key before
 *     | rest of the row's length | rest of the row | rest of the qualifier
 *     | rest of the timestamp, highest byte first | [u8 type] | [value]
 *
 * The block's first cell has no flags, nothing in common, and its family after the row, with its
 * length. What can be in common is as in encoding_diff.c.
 */
#include "tools/hfile/format/encoded_block.h"
#include "tools/hfile/format/encoding.h"
#include "tools/hfile/format/key.h"

enum {
    TIMESTAMP_SHARED_MASK = 7,
    SAME_KEY_LENGTH = 8,
    SAME_VALUE_LENGTH = 16,
    SAME_TYPE = 32,
    SAME_VALUE = 64
};

static bool
take_timestamp(struct hfile_bytes *rest, unsigned flags, const petal_hfile_cell *before,
               int64_t *timestamp)
{
    size_t shared = flags & TIMESTAMP_SHARED_MASK;
    petal_slice stored;
    uint8_t bytes[8];

    if (!hfile_take_slice(rest, sizeof bytes - shared, &stored))
        return false;
    if (shared > 0)
        hfile_put_u64(bytes, (uint64_t)before->timestamp);
    memcpy(bytes + shared, stored.data, stored.size);
    *timestamp = (int64_t)hfile_get_u64(bytes);
    return true;
}

/* Everything after the columns. */
static enum petal_status
take_rest(struct hfile_block_decoder *decoder, unsigned flags, const petal_hfile_cell *before,
          petal_hfile_cell *cell)
{
    if (!take_timestamp(&decoder->rest, flags, before, &cell->timestamp) ||
        !hfile_take_type(&decoder->rest, (flags & SAME_TYPE) != 0, before, &cell->type))
        return hfile_decoder_cut_short(decoder);
    if ((flags & SAME_VALUE) != 0) {
        cell->value = before->value;
        if (cell->value.size != decoder->value_bytes)
            return hfile_decoder_wrong(decoder,
                                       "a cell has the value before it, and another length");
        return PETAL_OK;
    }
    if (!hfile_take_slice(&decoder->rest, decoder->value_bytes, &cell->value))
        return hfile_decoder_cut_short(decoder);
    return PETAL_OK;
}

/* Its key is stored whole; of that, what stands before the timestamp is kept. */
static enum petal_status
take_first_cell(struct hfile_block_decoder *decoder, petal_hfile_cell *cell)
{
    struct hfile_cells *cells = decoder->cells;
    petal_slice key;

    if (!hfile_take_slice(&decoder->rest, decoder->key_bytes, &key))
        return hfile_decoder_cut_short(decoder);
    if (!hfile_cells_reserve_key(cells, key.size))
        return PETAL_NO_MEMORY;
    hfile_buffer_append_slice(&cells->keys, key);
    if (!hfile_key_parse(hfile_buffer_slice(&cells->keys), cell))
        return hfile_decoder_wrong(decoder, "the lengths in a cell's key do not fit into the key");
    decoder->key = (struct hfile_whole_key){.row_bytes = cell->row.size,
                                            .family_bytes = cell->family.size,
                                            .qualifier_bytes = cell->qualifier.size};
    if (!hfile_take_slice(&decoder->rest, decoder->value_bytes, &cell->value))
        return hfile_decoder_cut_short(decoder);
    return PETAL_OK;
}

static enum petal_status
take_cell(struct hfile_block_decoder *decoder, petal_hfile_cell *cell)
{
    const petal_hfile_cell *before = hfile_cell_before(decoder);
    enum petal_status status;
    uint32_t common;
    uint8_t flags;

    if (!hfile_take_u8(&decoder->rest, &flags) ||
        !hfile_take_lengths(decoder, (flags & SAME_KEY_LENGTH) != 0,
                            (flags & SAME_VALUE_LENGTH) != 0, &common))
        return hfile_decoder_cut_short(decoder);
    if (before == NULL) {
        if (flags != 0 || common != 0)
            return hfile_decoder_wrong(decoder, "the block's first cell refers to one before it");
        return take_first_cell(decoder, cell);
    }
    status = hfile_take_columns(decoder, common, cell);
    return status == PETAL_OK ? take_rest(decoder, flags, before, cell) : status;
}

enum petal_status
hfile_decode_fast_diff(const struct hfile_cell_layout *layout, petal_slice payload,
                       struct hfile_cells *cells, const char **wrong)
{
    return hfile_decode_block(layout, payload, take_cell, cells, wrong);
}

/* At most 7 of the 8. */
static unsigned
timestamp_bytes_shared(const struct hfile_encoder *encoder, const petal_hfile_cell *cell)
{
    uint64_t differ = (uint64_t)(cell->timestamp ^ encoder->timestamp);
    unsigned shared = 0;

    while (shared < TIMESTAMP_SHARED_MASK && differ >> (56 - 8 * shared) == 0)
        shared++;
    return shared;
}

static bool
has_value_before(const struct hfile_encoder *encoder, petal_slice value)
{
    return value.size == encoder->value_bytes &&
           (value.size == 0 ||
            memcmp(value.data, encoder->block.bytes + encoder->value_at, value.size) == 0);
}

static uint8_t *
put_first_cell(struct hfile_encoder *encoder, const struct hfile_keyed_cell *keyed, uint8_t *to)
{
    *to++ = 0;
    to += hfile_put_varint(to, keyed->key.size);
    to += hfile_put_varint(to, keyed->cell->value.size);
    *to++ = 0;
    to = hfile_put_slice(to, keyed->key);
    return hfile_put_value(encoder, keyed->cell->value, to);
}

static uint8_t *
put_next_cell(struct hfile_encoder *encoder, const struct hfile_keyed_cell *keyed,
              const struct hfile_key_step *step, uint8_t *to)
{
    const petal_hfile_cell *cell = keyed->cell;
    size_t common = hfile_common_columns(encoder, keyed, step);
    unsigned shared = timestamp_bytes_shared(encoder, cell);
    unsigned flags = shared | (keyed->key.size == encoder->key_bytes ? SAME_KEY_LENGTH : 0u) |
                     (cell->value.size == encoder->value_bytes ? SAME_VALUE_LENGTH : 0u) |
                     (cell->type == encoder->type ? SAME_TYPE : 0u) |
                     (has_value_before(encoder, cell->value) ? SAME_VALUE : 0u);
    uint8_t timestamp[8];

    *to++ = (uint8_t)flags;
    if ((flags & SAME_KEY_LENGTH) == 0)
        to += hfile_put_varint(to, keyed->key.size);
    if ((flags & SAME_VALUE_LENGTH) == 0)
        to += hfile_put_varint(to, cell->value.size);
    to += hfile_put_varint(to, common);
    to = hfile_put_columns(keyed, common, to);
    hfile_put_u64(timestamp, (uint64_t)cell->timestamp);
    to = hfile_put_slice(to, hfile_slice(timestamp + shared, sizeof timestamp - shared));
    if ((flags & SAME_TYPE) == 0)
        *to++ = (uint8_t)cell->type;
    return (flags & SAME_VALUE) != 0 ? to : hfile_put_value(encoder, cell->value, to);
}

uint8_t *
hfile_encode_fast_diff(struct hfile_encoder *encoder, const struct hfile_keyed_cell *keyed,
                       const struct hfile_key_step *step, uint8_t *to)
{
    to = encoder->count == 0 ? put_first_cell(encoder, keyed, to)
                             : put_next_cell(encoder, keyed, step, to);
    return hfile_put_end(encoder, keyed->cell, to);
}
