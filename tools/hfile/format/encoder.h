/*
 * encoder.h -- a data block that is being made, cell by cell: the way back from cells.h. What an
 * encoding makes of a cell stands in its own file, next to the layout. The bytes are those that
 * HBase's encoders make: a cell shares with the one before all that its encoding can share.
 */
#ifndef PETAL_HFILE_FORMAT_ENCODER_H
#define PETAL_HFILE_FORMAT_ENCODER_H

#include "tools/hfile/format/cells.h"

/* A cell to be stored, with its serialised key (key.h). */
struct hfile_keyed_cell {
    const petal_hfile_cell *cell;
    petal_slice key;
};

/* From the key before to this one; both are of one family. */
struct hfile_key_step {
    int order; /* > 0: this one is after, 0: it is equal, < 0: it is before */
    bool same_row;
    bool same_column;        /* row and qualifier */
    size_t row_common;       /* bytes at the beginning of both rows */
    size_t qualifier_common; /* and of both qualifiers, if the rows are the same */
};

/* Only the keys of both count. */
void hfile_key_step(const petal_hfile_cell *before, const petal_hfile_cell *cell,
                    struct hfile_key_step *step);

struct hfile_encoding;

struct hfile_encoder {
    const struct hfile_encoding *encoding;
    struct hfile_cell_layout layout;
    struct hfile_buffer block;      /* what stands in front of the payload, and the payload */
    size_t payload_at, cells_at;    /* where the payload begins, and its first cell */
    size_t count;                   /* of cells */
    uint64_t unencoded_bytes;       /* of these, as they would be without encoding */
    struct hfile_buffer row_places; /* ROW_INDEX_V1: u32 for each row */
    /* Of the cell before, if count > 0; its value in `block`. */
    size_t row_bytes, key_bytes, value_at, value_bytes;
    int64_t timestamp;
    int type;
};

void hfile_encoder_init(struct hfile_encoder *encoder, const struct hfile_encoding *encoding,
                        const struct hfile_cell_layout *layout, const petal_allocator *allocator);
void hfile_encoder_free(struct hfile_encoder *encoder);

/* Begin a block, with so many bytes left free in front of its payload. What follows returns false
 * when there is no memory. */
bool hfile_encoder_begin(struct hfile_encoder *encoder, size_t in_front);

/* `step` is that from the cell before, and does not count for a block's first. */
bool hfile_encoder_add(struct hfile_encoder *encoder, const struct hfile_keyed_cell *cell,
                       const struct hfile_key_step *step);

/* Then encoder->block is whole. */
bool hfile_encoder_end(struct hfile_encoder *encoder);

/*
 * One of these for each encoding: writes a cell to `to`, where there is room for its key, value,
 * tags and 64 bytes; returns the end, and sets encoder->value_at.
 */
typedef uint8_t *hfile_cell_encoder(struct hfile_encoder *encoder,
                                    const struct hfile_keyed_cell *cell,
                                    const struct hfile_key_step *step, uint8_t *to);

/* ---- for these ---- */

static inline uint8_t *
hfile_put_slice(uint8_t *to, petal_slice slice)
{
    if (slice.size > 0)
        memcpy(to, slice.data, slice.size);
    return to + slice.size;
}

static inline uint8_t *
hfile_put_value(struct hfile_encoder *encoder, petal_slice value, uint8_t *to)
{
    encoder->value_at = (size_t)(to - encoder->block.bytes);
    return hfile_put_slice(to, value);
}

#endif
