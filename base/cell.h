/*
 * cell.h -- the cell, its order, and its key as comparable bytes.
 *
 * Order inside a store (one family): row ascending; in a row the family markers (types 14 and 10)
 * before all columns; then qualifier ascending; in one column (or among the family markers)
 * timestamp descending, then sequence descending.  The type is not part of the order.  HBase
 * instead gives family markers the empty qualifier, and readers that skipped past that column have
 * missed them.
 *
 * A CELL KEY is the same order as bytes: memcmp on two keys, the shorter first on a tie, orders
 * them as cell_compare orders the cells.  So memtable, index and filter need one comparator.
 *
 *     column          esc(row) 00 02 esc(qualifier) 00 01 time(8) sequence(8)
 *     family marker   esc(row) 00 01                      time(8) sequence(8)
 *
 * esc() writes 00 as 00 FF and other bytes as they are; time is ~(timestamp ^ 2^63) and sequence is
 * ~sequence, both big endian.  Prefixes of it address groups of cells:
 *
 *     row             esc(row) 00                         ROW PREFIX
 *     family markers  esc(row) 00 01                      FAMILY PREFIX
 *     column          esc(row) 00 02 esc(qualifier) 00    COLUMN PREFIX
 *
 * A prefix sorts before all the keys that begin with it, and after all keys of smaller groups.
 */
#ifndef PETAL_BASE_CELL_H
#define PETAL_BASE_CELL_H

#include "base/slice.h"

#include <assert.h>

struct cell {
    petal_slice row;
    petal_slice qualifier; /* empty for family markers */
    petal_slice value;     /* empty for markers */
    int64_t timestamp;
    uint64_t sequence;
    enum petal_cell_type type;
    bool has_ttl;   /* a time to live of its own: dead when timestamp + ttl_ms < now */
    int64_t ttl_ms; /* may be 0 or negative; 0 without has_ttl */
};

/* The time that `now` must pass for the cell to be dead, cut at the ends of the range: both numbers
 * may be any. REQUIRES: has_ttl. */
static inline int64_t
cell_death_ms(const struct cell *cell)
{
    assert(cell->has_ttl);
    if (cell->ttl_ms < 0)
        return cell->timestamp < INT64_MIN - cell->ttl_ms ? INT64_MIN
                                                          : cell->timestamp + cell->ttl_ms;
    return cell->timestamp > INT64_MAX - cell->ttl_ms ? INT64_MAX : cell->timestamp + cell->ttl_ms;
}

/* Whether the cell's own time to live is over at `now_ms`. */
static inline bool
cell_is_dead(const struct cell *cell, int64_t now_ms)
{
    return cell->has_ttl && cell_death_ms(cell) < now_ms;
}

/* Those of a new database begin here: below is room for cells that are to count as written before
 * all that is there. */
#define CELL_SEQUENCE_FIRST ((uint64_t)1000001)

/* Sequences that the store gives are below it, so far that counting on from any never ends. */
#define CELL_SEQUENCE_END ((uint64_t)1 << 62)

#define CELL_KEY_SUFFIX_BYTES 16 /* time and sequence */
#define CELL_SEQUENCE_MAX     UINT64_MAX

static inline bool
cell_type_valid(unsigned type)
{
    return type >= PETAL_PUT && type <= PETAL_DELETE_FAMILY && type % 2 == 0 && type != 6;
}

static inline bool
cell_is_family_marker(enum petal_cell_type type)
{
    return type == PETAL_DELETE_FAMILY || type == PETAL_DELETE_FAMILY_VERSION;
}

static inline bool
cell_is_marker(enum petal_cell_type type)
{
    return type != PETAL_PUT;
}

/* <0, 0, >0.  0 only for cells with the same place and sequence. */
int cell_compare(const struct cell *a, const struct cell *b);

/* A position in a store: its parts, and the same as key bytes.  Both forms are given because
 * memtables and indexes compare bytes and data blocks compare parts. */
struct cell_key {
    petal_slice encoded;
    petal_slice row;
    petal_slice qualifier;
    int64_t timestamp;
    uint64_t sequence;
    bool family_class;    /* the place of the row's family markers, not of a column */
    size_t row_prefix;    /* length of the ROW PREFIX in `encoded` */
    size_t column_prefix; /* length of the FAMILY or COLUMN PREFIX in `encoded` */
};

/* Bytes that the encoded key of such a cell needs at most. */
static inline size_t
cell_key_bound(size_t row_bytes, size_t qualifier_bytes)
{
    return 2 * row_bytes + 2 * qualifier_bytes + 4 + CELL_KEY_SUFFIX_BYTES;
}

/* Encode at `buffer` (cell_key_bound bytes) and describe it in *key, which borrows row,
 * qualifier and buffer. */
void cell_key_make(struct cell_key *key, uint8_t *buffer, petal_slice row, petal_slice qualifier,
                   bool family_class, int64_t timestamp, uint64_t sequence);

/* The same without a description: write the key of `cell` at `buffer`, return its size.
 * *row_prefix: as in struct cell_key. */
size_t cell_key_encode(uint8_t *buffer, const struct cell *cell, size_t *row_prefix);

/* The position of `cell`. */
void cell_key_of(struct cell_key *key, uint8_t *buffer, const struct cell *cell);

/* The key of a column's first possible cell, in the row of `row_key`, whose encoded row is
 * copied. */
void cell_key_of_column(struct cell_key *key, uint8_t *buffer, const struct cell_key *row_key,
                        petal_slice qualifier);

/* Bytes that sort after all keys of a row, of a column, and before all that sort after those:
 * how many were written at `buffer` (cell_key_bound bytes).  REQUIRES: row.size > 0. */
size_t cell_row_end(uint8_t *buffer, petal_slice row);
size_t cell_column_end(uint8_t *buffer, petal_slice row, petal_slice qualifier);

/*
 * Take `encoded` apart.  Row and qualifier point into it where they hold no 00 byte, else into
 * `scratch` (as large as `encoded`).  False when the bytes are no cell key.
 */
bool cell_key_parse(petal_slice encoded, uint8_t *scratch, struct cell_key *key);

/* <0, 0, >0: the cell against the position. */
int cell_compare_key(const struct cell *cell, const struct cell_key *key);

/* Number of bytes that two byte strings share at their beginning. */
size_t slice_common_prefix(petal_slice a, petal_slice b);

/* The up to 8 bytes of `bytes` from `offset` on, as a number that compares like them
 * (zero-filled). */
uint64_t slice_head(petal_slice bytes, size_t offset);

#endif
