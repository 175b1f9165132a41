/*
 * encoding_diff.h -- DIFF: what differs from the cell before (encoded_block.h). In front of the
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
#ifndef PETAL_HFILE_FORMAT_ENCODING_DIFF_H
#define PETAL_HFILE_FORMAT_ENCODING_DIFF_H

#include "tools/hfile/format/encoder.h"

/* As hfile_decode_none, with no cells there before. */
enum petal_status hfile_decode_diff(const struct hfile_cell_layout *layout, petal_slice payload,
                                    struct hfile_cells *cells, const char **wrong);

hfile_cell_encoder hfile_encode_diff;

#endif
