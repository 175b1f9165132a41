/*
 * data_block_layout.h -- inline access to the arrays and records of a data block that
 * data_block_check has accepted; nothing here checks bounds.  Shared by data_block.c and
 * data_block_cursor.c only.  See data_block.h.
 */
#ifndef PETAL_SSTABLE_DATA_BLOCK_LAYOUT_H
#define PETAL_SSTABLE_DATA_BLOCK_LAYOUT_H

#include "base/coding.h"
#include "sstable/data_block.h"

static inline uint64_t
packed_get(const struct packed_array *array, uint32_t index)
{
    return get_le64(array->base + (size_t)index * array->width) >> array->shift;
}

static inline bool
one_cell_per_row(const struct data_block *block)
{
    return (block->flags & DATA_BLOCK_ONE_CELL_PER_ROW) != 0;
}

static inline bool
one_qualifier(const struct data_block *block)
{
    return (block->flags & DATA_BLOCK_ONE_QUALIFIER) != 0;
}

/* One cell a row, one qualifier, no types: what keys and values without columns make. */
static inline bool
is_simple(const struct data_block *block)
{
    return (block->flags &
            (DATA_BLOCK_ONE_CELL_PER_ROW | DATA_BLOCK_ONE_QUALIFIER | DATA_BLOCK_HAS_TYPES)) ==
           (DATA_BLOCK_ONE_CELL_PER_ROW | DATA_BLOCK_ONE_QUALIFIER);
}

static inline uint32_t
first_cell(const struct data_block *block, uint32_t row)
{
    return one_cell_per_row(block) ? row : (uint32_t)packed_get(&block->firsts, row);
}

static inline const uint8_t *
record_of(const struct data_block *block, uint32_t cell)
{
    return block->records + packed_get(&block->offsets, cell);
}

static inline enum petal_cell_type
type_of(const struct data_block *block, uint32_t cell)
{
    return block->types != NULL
               ? (enum petal_cell_type)(block->types[cell] & ~(unsigned)DATA_BLOCK_TTL_BIT)
               : PETAL_PUT;
}

static inline bool
has_own_ttl(const struct data_block *block, uint32_t cell)
{
    return block->types != NULL && (block->types[cell] & DATA_BLOCK_TTL_BIT) != 0;
}

static inline bool
is_family_marker(const struct data_block *block, uint32_t cell)
{
    return cell_is_family_marker(type_of(block, cell));
}

/* The first 4 bytes of a rest, as a number that compares like them (zero-filled). */
static inline uint32_t
head_of(const uint8_t *rest, size_t size)
{
    uint32_t head = 0;

    if (size >= sizeof head)
        return __builtin_bswap32(get_le32(rest));
    switch (size) {
    case 3:
        head |= (uint32_t)rest[2] << 8;
        /* fallthrough */
    case 2:
        head |= (uint32_t)rest[1] << 16;
        /* fallthrough */
    case 1:
        head |= (uint32_t)rest[0] << 24;
        /* fallthrough */
    default:
        return head;
    }
}

/*
 * The length at *at, which moves behind it.  The check has found that the varint ends in its
 * record.
 */
static inline size_t
take_length(const uint8_t **at)
{
    uint64_t byte = *(*at)++;
    uint64_t length = byte & 0x7f;

    for (unsigned shift = 7; byte >= 0x80; shift += 7) {
        byte = *(*at)++;
        length |= (byte & 0x7f) << shift;
    }
    return length;
}

/* The rest of a row's key, at the beginning of its first cell's record. */
static inline petal_slice
row_rest(const struct data_block *block, const uint8_t *record)
{
    size_t size = (block->flags & DATA_BLOCK_FIXED_ROW_REST) != 0 ? block->row_rest_bytes
                                                                  : take_length(&record);

    return slice_make(record, size);
}

#endif
