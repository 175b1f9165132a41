/*
 * encoding_none.h -- cells as they are, one after the other:
 *
 *     i32 key length | i32 value length | key | value | [u16 tags length | tags] | [vint sequence]
 */
#ifndef PETAL_HFILE_FORMAT_ENCODING_NONE_H
#define PETAL_HFILE_FORMAT_ENCODING_NONE_H

#include "tools/hfile/format/encoder.h"

/* Adds all cells of `payload`. PETAL_NO_MEMORY, or PETAL_CORRUPT with a fixed text in *wrong. */
enum petal_status hfile_decode_none(const struct hfile_cell_layout *layout, petal_slice payload,
                                    struct hfile_cells *cells, const char **wrong);

/* Of ROW_INDEX_V1, too. */
hfile_cell_encoder hfile_encode_none;

#endif
