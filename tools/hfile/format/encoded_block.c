/* encoded_block.c -- see encoded_block.h. */
#include "tools/hfile/format/encoded_block.h"

#include "tools/hfile/format/format.h"
#include "tools/hfile/format/key.h"

#include <assert.h>

#define ROW_LENGTH_BYTES    2
#define FAMILY_LENGTH_BYTES 1

/* After the cell's key; the cell is not counted yet, so it is moved here. */
static enum petal_status
take_compressed_tags(struct hfile_block_decoder *decoder, size_t size, petal_hfile_cell *cell)
{
    struct hfile_cells *cells = decoder->cells;
    enum petal_status status;
    uint8_t *to;

    cells->has_tags_in_keys = true;
    cells->count++;
    if (!hfile_cells_reserve_key(cells, size)) {
        cells->count--;
        return PETAL_NO_MEMORY;
    }
    cells->count--;
    to = cells->keys.bytes + cells->keys.size;
    status =
        hfile_tag_dictionary_take(&cells->dictionary, &decoder->rest, to, size, &decoder->wrong);
    if (status != PETAL_OK)
        return status;
    cells->keys.size += size;
    cell->tags = hfile_slice(to, size);
    return PETAL_OK;
}

static enum petal_status
take_tags(struct hfile_block_decoder *decoder, const struct hfile_cell_layout *layout,
          petal_hfile_cell *cell)
{
    uint32_t size;

    if (!hfile_take_length(&decoder->rest, &size))
        return hfile_decoder_cut_short(decoder);
    if (layout->has_compressed_tags && size > UINT16_MAX)
        return hfile_decoder_wrong(decoder, "a cell has more than 65535 bytes of tags");
    if (layout->has_compressed_tags && size > 0)
        return take_compressed_tags(decoder, size, cell);
    if (!hfile_take_slice(&decoder->rest, size, &cell->tags))
        return hfile_decoder_cut_short(decoder);
    return PETAL_OK;
}

static enum petal_status
take_end(struct hfile_block_decoder *decoder, const struct hfile_cell_layout *layout,
         petal_hfile_cell *cell)
{
    enum petal_status status = PETAL_OK;

    if (layout->has_tags)
        status = take_tags(decoder, layout, cell);
    if (status == PETAL_OK && layout->has_sequences &&
        !hfile_take_vint(&decoder->rest, &cell->sequence))
        return hfile_decoder_cut_short(decoder);
    return status;
}

static enum petal_status
decode_cells(struct hfile_block_decoder *decoder, const struct hfile_cell_layout *layout,
             hfile_cell_decoder *take, uint32_t claimed)
{
    struct hfile_cells *cells = decoder->cells;
    uint64_t unencoded = 0;

    while (hfile_bytes_left(&decoder->rest) > 0) {
        enum petal_status status = hfile_cells_reserve(cells, &decoder->wrong);
        petal_hfile_cell *cell;

        if (status != PETAL_OK)
            return status;
        cell = &cells->cells[cells->count];
        cell->tags = hfile_slice(NULL, 0);
        cell->sequence = 0;
        status = take(decoder, cell);
        if (status == PETAL_OK)
            status = take_end(decoder, layout, cell);
        if (status != PETAL_OK)
            return status;
        cells->count++;
        unencoded += hfile_cell_bytes(cell, layout->has_tags, layout->has_sequences);
        if (cells->keys.size > HFILE_MOST_KEY_BYTES_OF_BLOCK)
            return hfile_decoder_wrong(decoder, "the block's keys take more than 64 MiB");
        if (unencoded > claimed)
            return hfile_decoder_wrong(decoder, "the block's cells are larger than it says");
    }
    if (unencoded != claimed)
        return hfile_decoder_wrong(decoder, "the block's cells are smaller than it says");
    return PETAL_OK;
}

enum petal_status
hfile_decode_block(const struct hfile_cell_layout *layout, petal_slice payload,
                   hfile_cell_decoder *take, struct hfile_cells *cells, const char **wrong)
{
    struct hfile_block_decoder decoder = {.rest = hfile_bytes_of(payload), .cells = cells};
    enum petal_status status;
    uint32_t claimed;

    assert(cells->count == 0);
    if (!hfile_take_u32(&decoder.rest, &claimed) || claimed > HFILE_MOST_BLOCK_BYTES)
        status = hfile_decoder_wrong(&decoder, "the block does not say how large its cells are");
    else
        status = decode_cells(&decoder, layout, take, claimed);
    *wrong = decoder.wrong;
    return status;
}

static void
set_columns(const struct hfile_block_decoder *decoder, petal_hfile_cell *cell)
{
    const struct hfile_whole_key *key = &decoder->key;
    const uint8_t *row = decoder->cells->keys.bytes + key->at + ROW_LENGTH_BYTES;

    cell->row = hfile_slice(row, key->row_bytes);
    cell->family = hfile_slice(row + key->row_bytes + FAMILY_LENGTH_BYTES, key->family_bytes);
    cell->qualifier = hfile_slice(row + key->row_bytes + FAMILY_LENGTH_BYTES + key->family_bytes,
                                  key->qualifier_bytes);
}

/* The first `shared` of `size` bytes from the key before, the rest from the block. REQUIRES: both
 * are there. */
static uint8_t *
put_part(struct hfile_block_decoder *decoder, uint8_t *to, const uint8_t *before, size_t shared,
         size_t size)
{
    memcpy(to, before, shared);
    memcpy(to + shared, decoder->rest.at, size - shared);
    decoder->rest.at += size - shared;
    return to + size;
}

static bool
take_row_length(struct hfile_block_decoder *decoder, size_t common, size_t *row_bytes)
{
    uint8_t length[ROW_LENGTH_BYTES];
    petal_slice stored;

    if (common >= ROW_LENGTH_BYTES) {
        *row_bytes = decoder->key.row_bytes;
        return true;
    }
    hfile_put_u16(length, (uint16_t)decoder->key.row_bytes);
    if (!hfile_take_slice(&decoder->rest, ROW_LENGTH_BYTES - common, &stored))
        return false;
    memcpy(length + common, stored.data, stored.size);
    *row_bytes = hfile_get_u16(length);
    return true;
}

/* How much of row and qualifier is shared with the key before. False: `common` cannot be. */
static bool
split_common(const struct hfile_whole_key *before, const struct hfile_whole_key *key, size_t common,
             size_t *shared_row, size_t *shared_qualifier)
{
    size_t behind_family =
        ROW_LENGTH_BYTES + before->row_bytes + FAMILY_LENGTH_BYTES + before->family_bytes;

    *shared_row = common < ROW_LENGTH_BYTES ? 0 : common - ROW_LENGTH_BYTES;
    *shared_qualifier = 0;
    if (common < ROW_LENGTH_BYTES + before->row_bytes)
        return true;
    *shared_row = key->row_bytes;
    if (common < behind_family)
        return false;
    *shared_qualifier = common - behind_family;
    return *shared_qualifier <= before->qualifier_bytes &&
           *shared_qualifier <= key->qualifier_bytes;
}

/* Writes the next key after the one before, whose family it has. */
static enum petal_status
put_columns(struct hfile_block_decoder *decoder, const struct hfile_whole_key *key,
            size_t shared_row, size_t shared_qualifier)
{
    struct hfile_buffer *keys = &decoder->cells->keys;
    size_t size = ROW_LENGTH_BYTES + key->row_bytes + FAMILY_LENGTH_BYTES + key->family_bytes +
                  key->qualifier_bytes;
    const uint8_t *before;
    uint8_t *to;

    if (hfile_bytes_left(&decoder->rest) <
        key->row_bytes - shared_row + key->qualifier_bytes - shared_qualifier)
        return hfile_decoder_cut_short(decoder);
    if (!hfile_cells_reserve_key(decoder->cells, size))
        return PETAL_NO_MEMORY;
    before = keys->bytes + decoder->key.at;
    to = keys->bytes + keys->size;
    hfile_put_u16(to, (uint16_t)key->row_bytes);
    to = put_part(decoder, to + ROW_LENGTH_BYTES, before + ROW_LENGTH_BYTES, shared_row,
                  key->row_bytes);
    before += ROW_LENGTH_BYTES + decoder->key.row_bytes;
    memcpy(to, before, FAMILY_LENGTH_BYTES + key->family_bytes);
    to += FAMILY_LENGTH_BYTES + key->family_bytes;
    before += FAMILY_LENGTH_BYTES + key->family_bytes;
    put_part(decoder, to, before, shared_qualifier, key->qualifier_bytes);
    keys->size += size;
    return PETAL_OK;
}

enum petal_status
hfile_take_columns(struct hfile_block_decoder *decoder, size_t common, petal_hfile_cell *cell)
{
    struct hfile_whole_key key = {.at = decoder->cells->keys.size,
                                  .family_bytes = decoder->key.family_bytes};
    size_t shared_row, shared_qualifier, fixed;
    enum petal_status status;

    if (!take_row_length(decoder, common, &key.row_bytes))
        return hfile_decoder_cut_short(decoder);
    fixed = HFILE_KEY_FIXED_BYTES + key.row_bytes + key.family_bytes;
    if (key.row_bytes > PETAL_HFILE_MAX_ROW_BYTES || decoder->key_bytes < fixed)
        return hfile_decoder_wrong(decoder, "the lengths in a cell's key do not fit into the key");
    key.qualifier_bytes = decoder->key_bytes - fixed;
    if (!split_common(&decoder->key, &key, common, &shared_row, &shared_qualifier))
        return hfile_decoder_wrong(decoder, "a cell shares more of a key than that one has");
    status = put_columns(decoder, &key, shared_row, shared_qualifier);
    if (status != PETAL_OK)
        return status;
    decoder->key = key;
    set_columns(decoder, cell);
    return PETAL_OK;
}

enum petal_status
hfile_take_first_columns(struct hfile_block_decoder *decoder, petal_slice family,
                         petal_hfile_cell *cell)
{
    struct hfile_buffer *keys = &decoder->cells->keys;

    /* A key before it, of no row and no qualifier, from which the family is taken. */
    assert(keys->size == 0 && family.size <= UINT8_MAX);
    if (!hfile_cells_reserve_key(decoder->cells,
                                 ROW_LENGTH_BYTES + FAMILY_LENGTH_BYTES + family.size))
        return PETAL_NO_MEMORY;
    hfile_buffer_append_u16(keys, 0);
    hfile_buffer_append_u8(keys, (uint8_t)family.size);
    hfile_buffer_append_slice(keys, family);
    decoder->key = (struct hfile_whole_key){.family_bytes = family.size};
    return hfile_take_columns(decoder, 0, cell);
}

size_t
hfile_common_columns(const struct hfile_encoder *encoder, const struct hfile_keyed_cell *keyed,
                     const struct hfile_key_step *step)
{
    const petal_hfile_cell *cell = keyed->cell;

    assert(encoder->count > 0);
    if (cell->row.size != encoder->row_bytes)
        return cell->row.size >> 8 == encoder->row_bytes >> 8;
    if (!step->same_row)
        return ROW_LENGTH_BYTES + step->row_common;
    return ROW_LENGTH_BYTES + cell->row.size + FAMILY_LENGTH_BYTES + cell->family.size +
           step->qualifier_common;
}

uint8_t *
hfile_put_columns(const struct hfile_keyed_cell *keyed, size_t common, uint8_t *to)
{
    const petal_hfile_cell *cell = keyed->cell;
    size_t row_end = ROW_LENGTH_BYTES + cell->row.size, shared = 0;

    if (common < row_end)
        to = hfile_put_slice(to,
                             hfile_slice(hfile_slice_bytes(keyed->key) + common, row_end - common));
    else
        shared = common - row_end - FAMILY_LENGTH_BYTES - cell->family.size;
    assert(shared <= cell->qualifier.size);
    if (shared == cell->qualifier.size)
        return to;
    return hfile_put_slice(to, hfile_slice(hfile_slice_bytes(cell->qualifier) + shared,
                                           cell->qualifier.size - shared));
}

uint8_t *
hfile_put_end(const struct hfile_encoder *encoder, const petal_hfile_cell *cell, uint8_t *to)
{
    if (encoder->layout.has_tags) {
        to += hfile_put_varint(to, cell->tags.size);
        to = hfile_put_slice(to, cell->tags);
    }
    if (encoder->layout.has_sequences)
        to += hfile_put_vint(to, cell->sequence);
    return to;
}
