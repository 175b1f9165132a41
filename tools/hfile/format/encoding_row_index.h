/*
 * encoding_row_index.h -- ROW_INDEX_V1: cells as they are (encoding_none.h), and where rows begin:
 *
 *     cells | i32 rows | an i32 for each row: its first cell's place in the cells
 *     | i32 bytes of the cells
 */
#ifndef PETAL_HFILE_FORMAT_ENCODING_ROW_INDEX_H
#define PETAL_HFILE_FORMAT_ENCODING_ROW_INDEX_H

#include "tools/hfile/format/cells.h"

/* As hfile_decode_none. That the places of rows are right is checked, too. */
enum petal_status hfile_decode_row_index(const struct hfile_cell_layout *layout,
                                         petal_slice payload, struct hfile_cells *cells,
                                         const char **wrong);

#endif
