/*
 * encoding_prefix.h -- PREFIX: of a key only what differs from the key before (encoded_block.h):
 *
 *     varint bytes of the key that are stored | varint value length
 *     | varint bytes in common with the key before | rest of the key | value
 */
#ifndef PETAL_HFILE_FORMAT_ENCODING_PREFIX_H
#define PETAL_HFILE_FORMAT_ENCODING_PREFIX_H

#include "tools/hfile/format/encoder.h"

/* As hfile_decode_none, with no cells there before. */
enum petal_status hfile_decode_prefix(const struct hfile_cell_layout *layout, petal_slice payload,
                                      struct hfile_cells *cells, const char **wrong);

hfile_cell_encoder hfile_encode_prefix;

#endif
