/* encoding_diff.c -- see encoding_diff.h. */
#include "tools/hfile/format/encoding_diff.h"

#include "tools/hfile/format/encoded_block.h"

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

static bool
take_lengths(struct hfile_block_decoder *decoder, unsigned flags, uint32_t *common)
{
    return ((flags & SAME_KEY_LENGTH) != 0 ||
            hfile_take_length(&decoder->rest, &decoder->key_bytes)) &&
           ((flags & SAME_VALUE_LENGTH) != 0 ||
            hfile_take_length(&decoder->rest, &decoder->value_bytes)) &&
           hfile_take_length(&decoder->rest, common);
}

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

static bool
take_type(struct hfile_bytes *rest, unsigned flags, const petal_hfile_cell *before, int *type)
{
    uint8_t stored;

    if ((flags & SAME_TYPE) != 0) {
        *type = before->type;
        return true;
    }
    if (!hfile_take_u8(rest, &stored))
        return false;
    *type = stored;
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
    if (!hfile_take_u8(&decoder->rest, &flags) || !take_lengths(decoder, flags, &common))
        return hfile_decoder_cut_short(decoder);
    if (before == NULL && (flags & REFERS_BACK) != 0)
        return hfile_decoder_wrong(decoder, "the block's first cell refers to one before it");
    status = take_columns(decoder, before, family, common, cell);
    if (status != PETAL_OK)
        return status;
    if (!take_timestamp(&decoder->rest, flags, before, &cell->timestamp) ||
        !take_type(&decoder->rest, flags, before, &cell->type) ||
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
