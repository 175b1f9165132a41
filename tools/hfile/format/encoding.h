/*
 * encoding.h -- the encodings of data blocks, one table of them. A block of an encoding other than
 * NONE begins with its number, u16, in front of what the encoding's own file describes.
 */
#ifndef PETAL_HFILE_FORMAT_ENCODING_H
#define PETAL_HFILE_FORMAT_ENCODING_H

#include "tools/hfile/format/encoder.h"

struct hfile_encoding {
    enum petal_hfile_encoding kind;
    uint16_t id; /* HFILE_ENCODING_ID_*; 0: NONE */
    enum petal_hfile_block_kind block_kind;
    enum petal_status (*decode)(const struct hfile_cell_layout *layout, petal_slice payload,
                                struct hfile_cells *cells, const char **wrong);
    bool says_unencoded_bytes; /* in an i32 in front of the cells */
    bool indexes_rows;         /* after the cells */
    hfile_cell_encoder *encode;
};

/* REQUIRES: it is one of the enumeration, but DEFAULT. */
const struct hfile_encoding *hfile_encoding_of(enum petal_hfile_encoding kind);

/* Those of the table; the layouts are described in their files. ROW_INDEX_V1 stores cells as NONE
 * does. Decoders but hfile_decode_none are given no cells to add to. */
enum petal_status hfile_decode_none(const struct hfile_cell_layout *layout, petal_slice payload,
                                    struct hfile_cells *cells, const char **wrong);
enum petal_status hfile_decode_prefix(const struct hfile_cell_layout *layout, petal_slice payload,
                                      struct hfile_cells *cells, const char **wrong);
enum petal_status hfile_decode_diff(const struct hfile_cell_layout *layout, petal_slice payload,
                                    struct hfile_cells *cells, const char **wrong);
enum petal_status hfile_decode_fast_diff(const struct hfile_cell_layout *layout,
                                         petal_slice payload, struct hfile_cells *cells,
                                         const char **wrong);
enum petal_status hfile_decode_row_index(const struct hfile_cell_layout *layout,
                                         petal_slice payload, struct hfile_cells *cells,
                                         const char **wrong);
hfile_cell_encoder hfile_encode_none, hfile_encode_prefix, hfile_encode_diff,
    hfile_encode_fast_diff;

/* The cells of a data block, its payload as it is uncompressed, in place of what was in `cells`.
 * PETAL_NO_MEMORY, or PETAL_CORRUPT with a fixed text in *wrong. */
enum petal_status hfile_decode_cells(const struct hfile_encoding *encoding,
                                     const struct hfile_cell_layout *layout, petal_slice payload,
                                     struct hfile_cells *cells, const char **wrong);

#endif
