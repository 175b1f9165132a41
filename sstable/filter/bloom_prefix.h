/*
 * bloom_prefix.h -- the keys of a ROW_PREFIX Bloom filter: the first bytes of rows, so many as the
 * file says, or the whole of a shorter row.  The hash is that of a row of these bytes
 * (bloom/hash.h); no other key is in such a filter.
 *
 * PLACE of a prefix in the Bloom index: esc(prefix), with which the cell keys of all its rows begin
 * (base/cell.h).  Unlike a ROW PREFIX it has no 00 at its end, since more of the row may follow;
 * the order is the same: of two different prefixes in order the places are in order, and a place
 * lies at or before the keys of all its rows and after those of the prefixes before.
 */
#ifndef PETAL_SSTABLE_FILTER_BLOOM_PREFIX_H
#define PETAL_SSTABLE_FILTER_BLOOM_PREFIX_H

#include "base/cell.h"

static inline petal_slice
bloom_row_prefix(petal_slice row, uint32_t prefix_bytes)
{
    return slice_make(row.data, row.size < prefix_bytes ? row.size : prefix_bytes);
}

/* The place of a key's row: a part of the encoded key. */
static inline petal_slice
bloom_prefix_place(const struct cell_key *key, uint32_t prefix_bytes)
{
    petal_slice prefix = bloom_row_prefix(key->row, prefix_bytes);
    size_t size = prefix.size;

    if (key->row_prefix != key->row.size + 1) /* a 00 in the row was escaped */
        for (size_t i = 0; i < prefix.size; i++)
            size += slice_bytes(prefix)[i] == 0;
    return slice_make(key->encoded.data, size);
}

#endif
