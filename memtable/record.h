/* record.h -- a cell as it lies in a memtable's arena: header, key, value; immutable once it is in
 * the tree. */
#ifndef PETAL_MEMTABLE_RECORD_H
#define PETAL_MEMTABLE_RECORD_H

#include "base/slice.h"

struct cell_record {
    uint32_t key_bytes;
    uint32_t value_bytes;
    uint16_t row_prefix; /* length of the ROW PREFIX (base/cell.h): at most 2 * 32767 + 1 */
    uint8_t type;
    uint8_t flags;   /* enum cell_record_flags; 0 for most */
    uint8_t bytes[]; /* key, value, with HAS_TTL the time to live, 8 bytes little endian */
};

enum cell_record_flags {
    CELL_RECORD_ESCAPED = 1, /* row or qualifier hold a 00 byte, so the key differs from them */
    CELL_RECORD_HAS_TTL = 2  /* the cell has a time to live of its own */
};

#define CELL_RECORD_TTL_BYTES 8

static inline petal_slice
cell_record_key(const struct cell_record *record)
{
    return slice_make(record->bytes, record->key_bytes);
}

#endif
