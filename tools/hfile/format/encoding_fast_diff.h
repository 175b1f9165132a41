/*
 * encoding_fast_diff.h -- FAST_DIFF: what differs from the cell before (encoded_block.h). A cell:
 *
 *     u8 flags: 1, 2, 4 how many bytes of the timestamp, highest first, are those before;
 *        8 key length, 16 value length, 32 type, 64 value as before
 *     | [varint key length] | [varint value length] | varint bytes in common with the key before
 *     | rest of the row's length | rest of the row | rest of the qualifier
 *     | rest of the timestamp, highest byte first | [u8 type] | [value]
 *
 * The block's first cell has no flags, nothing in common, and its family after the row, with its
 * length. What can be in common is as in encoding_diff.h.
 */
#ifndef PETAL_HFILE_FORMAT_ENCODING_FAST_DIFF_H
#define PETAL_HFILE_FORMAT_ENCODING_FAST_DIFF_H

#include "tools/hfile/format/encoder.h"

/* As hfile_decode_none, with no cells there before. */
enum petal_status hfile_decode_fast_diff(const struct hfile_cell_layout *layout,
                                         petal_slice payload, struct hfile_cells *cells,
                                         const char **wrong);

hfile_cell_encoder hfile_encode_fast_diff;

#endif
