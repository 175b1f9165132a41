/*
 * encoding_diff.c -- DIFF: what differs from the cell before (encoded_block.h). In front of the
 * block's first cell u8 family length | family. A cell:
 *
 *     u8 flags: 1 key length, 2 value length, 4 type as before; 8 the timestamp is the one before
 *        less what is stored; 16, 32, 64 its bytes less one; 128 what is stored is below 0
 *     | [varint key length] | [varint value length] | varint bytes in common with the key before
 *     | rest of the row's length | rest of the row | rest of the qualifier
 *     | timestamp or difference without its sign, 1..8 bytes, lowest first | [u8 type] | value
 *
 * In common are 0 or 1 bytes where row lengths differ, 2 and some of the row where rows do; else
 * all up to the family, and some of the qualifier.
 */
#include "tools/hfile/format/encoded_block.h"
#include "tools/hfile/format/encoding.h"

#include <assert.h>

enum {
    SAME_KEY_LENGTH = 1,
    SAME_VALUE_LENGTH = 2,
    SAME_TYPE = 4,
    TIMESTAMP_IS_DIFFERENCE = 8,
    TIMESTAMP_BYTES_SHIFT = 4,
    TIMESTAMP_BYTES_MASK = 7,
    TIMESTAMP_IS_NEGATIVE = 128,
    REFERS_BACK = SAME_KEY_LENGTH | SAME_VALUE_LENGTH | SAME_TYPE | TIMESTAMP_IS_DIFFERENCE
};

static enum petal_status
take_columns(struct hfile_block_decoder *decoder, const petal_hfile_cell *before,
             petal_slice family, uint32_t common, petal_hfile_cell *cell)
{
    if (before != NULL)
        return hfile_take_columns(decoder, common, cell);
    if (common > 0)
        return hfile_decoder_wrong(decoder, "the block's first cell refers to one before it");
    return hfile_take_first_columns(decoder, family, cell);
}

/* In 64 bits, wrapping around, as Java counts. */
static bool
take_timestamp(struct hfile_bytes *rest, unsigned flags, const petal_hfile_cell *before,
               int64_t *timestamp)
{
    size_t size = (flags >> TIMESTAMP_BYTES_SHIFT & TIMESTAMP_BYTES_MASK) + 1;
    uint64_t number = 0;
    petal_slice stored;

    if (!hfile_take_slice(rest, size, &stored))
        return false;
    for (size_t i = size; i > 0; i--)
        number = number << 8 | hfile_slice_bytes(stored)[i - 1];
    if ((flags & TIMESTAMP_IS_NEGATIVE) != 0)
        number = 0 - number;
    if ((flags & TIMESTAMP_IS_DIFFERENCE) != 0)
        number = (uint64_t)before->timestamp - number;
    *timestamp = (int64_t)number;
    return true;
}

static enum petal_status
take_cell(struct hfile_block_decoder *decoder, petal_hfile_cell *cell)
{
    const petal_hfile_cell *before = hfile_cell_before(decoder);
    petal_slice family = {NULL, 0};
    enum petal_status status;
    uint8_t flags, family_bytes;
    uint32_t common;

    if (before == NULL && (!hfile_take_u8(&decoder->rest, &family_bytes) ||
                           !hfile_take_slice(&decoder->rest, family_bytes, &family)))
        return hfile_decoder_cut_short(decoder);
    if (!hfile_take_u8(&decoder->rest, &flags) ||
        !hfile_take_lengths(decoder, (flags & SAME_KEY_LENGTH) != 0,
                            (flags & SAME_VALUE_LENGTH) != 0, &common))
        return hfile_decoder_cut_short(decoder);
    if (before == NULL && (flags & REFERS_BACK) != 0)
        return hfile_decoder_wrong(decoder, "the block's first cell refers to one before it");
    status = take_columns(decoder, before, family, common, cell);
    if (status != PETAL_OK)
        return status;
    if (!take_timestamp(&decoder->rest, flags, before, &cell->timestamp) ||
        !hfile_take_type(&decoder->rest, (flags & SAME_TYPE) != 0, before, &cell->type) ||
        !hfile_take_slice(&decoder->rest, decoder->value_bytes, &cell->value))
        return hfile_decoder_cut_short(decoder);
    return PETAL_OK;
}

enum petal_status
hfile_decode_diff(const struct hfile_cell_layout *layout, petal_slice payload,
                  struct hfile_cells *cells, const char **wrong)
{
    return hfile_decode_block(layout, payload, take_cell, cells, wrong);
}

/* HBase counts what is below 0 as 8. */
static unsigned
bytes_of(int64_t number)
{
    unsigned bytes = 1;

    if (number < 0)
        return 8;
    while (bytes < 8 && number >> 8 * bytes != 0)
        bytes++;
    return bytes;
}

static uint8_t *
put_number(uint8_t *to, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++, number >>= 8)
        *to++ = (uint8_t)number;
    return to;
}

/* The flags of the timestamp, and in *number what is stored of it: its difference from the one
 * before if that is shorter. */
static unsigned
timestamp_flags(const struct hfile_encoder *encoder, int64_t timestamp, uint64_t *number)
{
    uint64_t difference = (uint64_t)encoder->timestamp - (uint64_t)timestamp;
    bool is_negative = (int64_t)difference < 0;
    uint64_t magnitude = is_negative ? 0 - difference : difference;
    unsigned whole_bytes = bytes_of(timestamp), bytes = bytes_of((int64_t)magnitude);

    *number = (uint64_t)timestamp;
    if (encoder->count == 0 || bytes >= whole_bytes)
        return (whole_bytes - 1) << TIMESTAMP_BYTES_SHIFT;
    *number = magnitude;
    return (bytes - 1) << TIMESTAMP_BYTES_SHIFT | TIMESTAMP_IS_DIFFERENCE |
           (is_negative ? TIMESTAMP_IS_NEGATIVE : 0);
}

static unsigned
same_flags(const struct hfile_encoder *encoder, const struct hfile_keyed_cell *keyed)
{
    if (encoder->count == 0)
        return 0;
    return (keyed->key.size == encoder->key_bytes ? SAME_KEY_LENGTH : 0u) |
           (keyed->cell->value.size == encoder->value_bytes ? SAME_VALUE_LENGTH : 0u) |
           (keyed->cell->type == encoder->type ? SAME_TYPE : 0u);
}

uint8_t *
hfile_encode_diff(struct hfile_encoder *encoder, const struct hfile_keyed_cell *keyed,
                  const struct hfile_key_step *step, uint8_t *to)
{
    const petal_hfile_cell *cell = keyed->cell;
    size_t common = encoder->count == 0 ? 0 : hfile_common_columns(encoder, keyed, step);
    unsigned flags = same_flags(encoder, keyed), timestamp;
    uint64_t number;

    /* HBase's reader takes none, and of the smallest there is no magnitude. */
    assert(cell->timestamp >= 0);
    timestamp = timestamp_flags(encoder, cell->timestamp, &number);
    if (encoder->count == 0) {
        *to++ = (uint8_t)cell->family.size;
        to = hfile_put_slice(to, cell->family);
    }
    *to++ = (uint8_t)(flags | timestamp);
    if ((flags & SAME_KEY_LENGTH) == 0)
        to += hfile_put_varint(to, keyed->key.size);
    if ((flags & SAME_VALUE_LENGTH) == 0)
        to += hfile_put_varint(to, cell->value.size);
    to += hfile_put_varint(to, common);
    to = hfile_put_columns(keyed, common, to);
    to = put_number(to, number, (timestamp >> TIMESTAMP_BYTES_SHIFT & TIMESTAMP_BYTES_MASK) + 1);
    if ((flags & SAME_TYPE) == 0)
        *to++ = (uint8_t)cell->type;
    to = hfile_put_value(encoder, cell->value, to);
    return hfile_put_end(encoder, cell, to);
}
