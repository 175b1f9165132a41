/*
 * encoding_prefix.c -- PREFIX: of a key only what differs from the key before (encoded_block.h):
 *
 *     varint bytes of the key that are stored | varint value length
 *     | varint bytes in common with the key before | rest of the key | value
 */
#include "tools/hfile/format/encoded_block.h"
#include "tools/hfile/format/encoding.h"
#include "tools/hfile/format/key.h"

/* Here the keys of a block have their timestamps and types, too: these are shared as well. */
static enum petal_status
take_cell(struct hfile_block_decoder *decoder, petal_hfile_cell *cell)
{
    struct hfile_buffer *keys = &decoder->cells->keys;
    uint32_t stored_bytes, value_bytes, common;
    petal_slice stored;
    uint8_t *key;

    if (!hfile_take_length(&decoder->rest, &stored_bytes) ||
        !hfile_take_length(&decoder->rest, &value_bytes) ||
        !hfile_take_length(&decoder->rest, &common) ||
        !hfile_take_slice(&decoder->rest, stored_bytes, &stored) ||
        !hfile_take_slice(&decoder->rest, value_bytes, &cell->value))
        return hfile_decoder_cut_short(decoder);
    if (common > decoder->key_bytes)
        return hfile_decoder_wrong(decoder, "a cell shares more of a key than that one has");
    if (!hfile_cells_reserve_key(decoder->cells, (size_t)common + stored_bytes + 1))
        return PETAL_NO_MEMORY;
    key = keys->bytes + keys->size;
    memcpy(key, keys->bytes + decoder->key.at, common);
    memcpy(key + common, stored.data, stored_bytes);

    decoder->key.at = keys->size;
    decoder->key_bytes = common + stored_bytes;
    keys->size += decoder->key_bytes;
    if (!hfile_key_parse(hfile_slice(key, decoder->key_bytes), cell))
        return hfile_decoder_wrong(decoder, "the lengths in a cell's key do not fit into the key");
    return PETAL_OK;
}

enum petal_status
hfile_decode_prefix(const struct hfile_cell_layout *layout, petal_slice payload,
                    struct hfile_cells *cells, const char **wrong)
{
    return hfile_decode_block(layout, payload, take_cell, cells, wrong);
}

/* In common in addition to the columns, where these are the same. */
static size_t
common_tail(const struct hfile_encoder *encoder, const petal_hfile_cell *cell)
{
    uint64_t differ = (uint64_t)(cell->timestamp ^ encoder->timestamp);
    size_t common = 0;

    while (common < 8 && differ >> (56 - 8 * common) == 0)
        common++;
    return common + (common == 8 && cell->type == encoder->type);
}

uint8_t *
hfile_encode_prefix(struct hfile_encoder *encoder, const struct hfile_keyed_cell *keyed,
                    const struct hfile_key_step *step, uint8_t *to)
{
    const petal_hfile_cell *cell = keyed->cell;
    size_t common = 0, rest;

    if (encoder->count > 0) {
        common = hfile_common_columns(encoder, keyed, step);
        if (step->same_column)
            common += common_tail(encoder, cell);
    }
    rest = keyed->key.size - common;
    to += hfile_put_varint(to, rest);
    to += hfile_put_varint(to, cell->value.size);
    to += hfile_put_varint(to, common);
    to = hfile_put_slice(to, hfile_slice(hfile_slice_bytes(keyed->key) + common, rest));
    to = hfile_put_value(encoder, cell->value, to);
    return hfile_put_end(encoder, cell, to);
}
