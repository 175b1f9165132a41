/*
 * key.h -- serialised keys, as cells, indexes and filters have them:
 *
 *     u16 row length | row | u8 family length | family | qualifier | i64 timestamp | u8 type
 */
#ifndef PETAL_HFILE_FORMAT_KEY_H
#define PETAL_HFILE_FORMAT_KEY_H

#include "tools/hfile/format/buffer.h"
#include "tools/hfile/petal_hfile.h"

/* Of a key without row, family and qualifier. */
#define HFILE_KEY_FIXED_BYTES 12

/* Timestamp and type at a key's end. */
#define HFILE_KEY_TAIL_BYTES 9

/*
 * Row, family, qualifier, timestamp and type of a cell, pointing into `key`; the rest of the cell
 * stays. False: it is no key.
 */
bool hfile_key_parse(petal_slice key, petal_hfile_cell *cell);

/* Of the serialised key of the cell. */
static inline size_t
hfile_key_bytes(const petal_hfile_cell *cell)
{
    return HFILE_KEY_FIXED_BYTES + cell->row.size + cell->family.size + cell->qualifier.size;
}

/* Writes hfile_key_bytes(cell) bytes. REQUIRES: row and family are not longer than HBase has
 * them. */
void hfile_key_write(const petal_hfile_cell *cell, uint8_t *to);

/* False: there is no memory. */
bool hfile_key_append(const petal_hfile_cell *cell, struct hfile_buffer *buffer);

/*
 * Of a cell with this key, where all that is stored of it in a block without encoding counts: what
 * block sizes and statistics go by. Tags and sequence only if the file has them.
 */
static inline uint64_t
hfile_cell_bytes(const petal_hfile_cell *cell, bool has_tags, bool has_sequences)
{
    return 8 + hfile_key_bytes(cell) + cell->value.size + (has_tags ? 2 + cell->tags.size : 0) +
           (has_sequences ? hfile_vint_bytes(cell->sequence) : 0);
}

#endif
