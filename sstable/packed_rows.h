/*
 * packed_rows.h -- the rests of a block's rows, all equally long, as numbers.
 *
 * Bytes that are equal in all rests stand once.  Of the others each is a symbol of 4 bits, where 16
 * symbols do (digits, hexadecimal numbers), else of 8; and the symbols of a rest, 64 bits a number,
 * are packed numbers, the first of which ascend with the rows.  FORMAT.md, "Packed rows", has the
 * bytes.
 *
 * Threads: pure.
 */
#ifndef PETAL_SSTABLE_PACKED_ROWS_H
#define PETAL_SSTABLE_PACKED_ROWS_H

#include "sstable/packed_numbers.h"

#include <stdbool.h>

#define PACKED_ROWS_MOST_REST 64 /* longer ones are not packed */
/* From one rest to the next in memory: symbols are expanded by 16. */
#define PACKED_ROWS_STRIDE (PACKED_ROWS_MOST_REST + 16)

/* How symbols give rests. */
struct row_symbols {
    uint32_t rest_bytes;
    uint32_t count;        /* of symbols in a rest */
    uint32_t bits;         /* of a symbol: 4 or 8 */
    uint32_t words;        /* numbers that a rest's symbols fill */
    uint8_t low, run, gap; /* of 4 bits: symbol s is the byte low + s, and gap more from run on */
    uint8_t constant[PACKED_ROWS_MOST_REST]; /* the bytes that are equal in all, in their places */
    uint8_t at[PACKED_ROWS_MOST_REST];       /* where each symbol's byte stands */
};

/* The rests of a group of rows. */
struct row_rests {
    uint8_t bytes[PACKED_GROUP][PACKED_ROWS_STRIDE];
};

/* What the rests of a block have in common; told of its groups of rows twice. */
struct row_survey {
    uint32_t rest_bytes;
    bool begun;
    uint8_t first[PACKED_ROWS_MOST_REST];
    uint8_t
        differs[PACKED_ROWS_MOST_REST]; /* not 0: the byte is not in all rests that of the first */
    uint64_t present[4];                /* bytes that stand in such places */
};

void row_survey_places(struct row_survey *survey, const struct row_rests *rests, size_t rows);
/* When it knows the places of all groups. */
void row_survey_bytes(struct row_survey *survey, const struct row_rests *rests, size_t rows);

/* Symbols for these rests; false if they are not worth it: more than 8 bytes of more than 16
 * symbols are better left to LZ4, unless they are noise. */
bool row_symbols_choose(struct row_symbols *symbols, const struct row_survey *survey);

/* Most bytes that row_symbols_put writes. */
#define ROW_SYMBOLS_MOST_BYTES (4 + PACKED_ROWS_MOST_REST / 8 + PACKED_ROWS_MOST_REST)

uint8_t *row_symbols_put(uint8_t *to, const struct row_symbols *symbols);

/* From any bytes; NULL if they are none. */
const uint8_t *row_symbols_get(const uint8_t *from, const uint8_t *limit, uint32_t rest_bytes,
                               struct row_symbols *symbols);

/* A group of at most PACKED_GROUP rows.  `to` has 8 bytes and a little (packed_numbers.h) for each
 * word. */
uint8_t *packed_rows_put(uint8_t *to, const struct row_symbols *symbols,
                         const struct row_rests *rests, size_t rows);

/* The rests may have bytes of any value behind their end.  NULL: the bytes are no such group. */
const uint8_t *packed_rows_get(const uint8_t *from, const uint8_t *limit,
                               const struct row_symbols *symbols, size_t rows,
                               struct row_rests *rests);
const uint8_t *packed_rows_skip(const uint8_t *from, const uint8_t *limit,
                                const struct row_symbols *symbols, size_t rows);

#endif
