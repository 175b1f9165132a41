/*
 * encoded_block.h -- what PREFIX, DIFF and FAST_DIFF have in common: a block is
 *
 *     i32 bytes that the cells would have without encoding | cells
 *
 * each cell given as its difference from the one before, and ended by
 *
 *     [varint tags length | tags] | [vint sequence]
 *
 * Keys are made whole again in the keys of a struct hfile_cells.
 */
#ifndef PETAL_HFILE_FORMAT_ENCODED_BLOCK_H
#define PETAL_HFILE_FORMAT_ENCODED_BLOCK_H

#include "tools/hfile/format/encoder.h"

/* ---- decoding ---- */

/* Lies in the keys, up to the end of the qualifier. */
struct hfile_whole_key {
    size_t at, row_bytes, family_bytes, qualifier_bytes;
};

/* A block that is being decoded. */
struct hfile_block_decoder {
    struct hfile_bytes rest;
    struct hfile_cells *cells;
    struct hfile_whole_key key;      /* of the cell before; zero at the first cell */
    uint32_t key_bytes, value_bytes; /* of the cell before, then of this one */
    const char *wrong;
};

/*
 * Takes one cell off the block: all but what a cell is ended by. cells->cells[cells->count] is to
 * become it, the one before stands before it.
 */
typedef enum petal_status hfile_cell_decoder(struct hfile_block_decoder *decoder,
                                             petal_hfile_cell *cell);

/* Adds all cells of `payload`; `take` takes each. REQUIRES: cells is empty. */
enum petal_status hfile_decode_block(const struct hfile_cell_layout *layout, petal_slice payload,
                                     hfile_cell_decoder *take, struct hfile_cells *cells,
                                     const char **wrong);

/*
 * The next key up to its qualifier, from the one before and what is stored: 1, 0 or none of the
 * bytes of the row's length, rest of the row, rest of the qualifier; `common` bytes are those of
 * the key before. The family is that of the key before. Sets the cell's row, family and qualifier.
 */
enum petal_status hfile_take_columns(struct hfile_block_decoder *decoder, size_t common,
                                     petal_hfile_cell *cell);

/* The same of a block's first key: nothing is common, the family is given. */
enum petal_status hfile_take_first_columns(struct hfile_block_decoder *decoder, petal_slice family,
                                           petal_hfile_cell *cell);

/* The cell before; NULL at the block's first. */
static inline const petal_hfile_cell *
hfile_cell_before(const struct hfile_block_decoder *decoder)
{
    const struct hfile_cells *cells = decoder->cells;

    return cells->count == 0 ? NULL : &cells->cells[cells->count - 1];
}

static inline enum petal_status
hfile_decoder_wrong(struct hfile_block_decoder *decoder, const char *wrong)
{
    decoder->wrong = wrong;
    return PETAL_CORRUPT;
}

static inline enum petal_status
hfile_decoder_cut_short(struct hfile_block_decoder *decoder)
{
    return hfile_decoder_wrong(decoder, "a cell is cut short");
}

/* What DIFF and FAST_DIFF store after the flags: the lengths that differ from the cell before, and
 * how many bytes of the key are that cell's. */
static inline bool
hfile_take_lengths(struct hfile_block_decoder *decoder, bool same_key, bool same_value,
                   uint32_t *common)
{
    return (same_key || hfile_take_length(&decoder->rest, &decoder->key_bytes)) &&
           (same_value || hfile_take_length(&decoder->rest, &decoder->value_bytes)) &&
           hfile_take_length(&decoder->rest, common);
}

/* A cell's type, in DIFF and FAST_DIFF. */
static inline bool
hfile_take_type(struct hfile_bytes *rest, bool same, const petal_hfile_cell *before, int *type)
{
    uint8_t stored;

    if (same) {
        *type = before->type;
        return true;
    }
    if (!hfile_take_u8(rest, &stored))
        return false;
    *type = stored;
    return true;
}

/* ---- encoding ---- */

/* Bytes that a key has in common with the one before, up to the end of the qualifier. */
size_t hfile_common_columns(const struct hfile_encoder *encoder,
                            const struct hfile_keyed_cell *keyed,
                            const struct hfile_key_step *step);

/* What hfile_take_columns takes: row and qualifier without the first `common` bytes of the key. */
uint8_t *hfile_put_columns(const struct hfile_keyed_cell *keyed, size_t common, uint8_t *to);

/* What a cell is ended by. */
uint8_t *hfile_put_end(const struct hfile_encoder *encoder, const petal_hfile_cell *cell,
                       uint8_t *to);

#endif
