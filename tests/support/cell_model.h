/*
 * cell_model.h -- cells made at random, and a sorted array of them to compare a memtable with.
 *
 * Cell number i has sequence i + 1 and is added i-th: so the greatest sequence says which cells
 * there are.
 */
#ifndef PETAL_TESTS_SUPPORT_CELL_MODEL_H
#define PETAL_TESTS_SUPPORT_CELL_MODEL_H

#include "base/cell.h"
#include "tests/support/test_support.h"

enum { CELL_MODEL_SALT = 99, CELL_MODEL_PART_BYTES = 80 };

struct test_cell {
    struct cell cell;
    uint64_t row_hash;
    uint8_t row[CELL_MODEL_PART_BYTES], qualifier[CELL_MODEL_PART_BYTES], value[16];
};

/* Fill in the slices, the sequence of cell `number`, and the row's hash. */
void test_cell_set(struct test_cell *made, size_t number, size_t row_bytes, size_t qualifier_bytes,
                   size_t value_bytes);

bool test_cell_equal(const struct cell *a, const struct cell *b);

/*
 * HARD cells have bytes that escaping and signed comparison get wrong, rows that begin alike, all
 * types.  The others are puts: rows of ten qualifiers, one wide row, versions of one column.
 */
enum cell_pattern { HARD, ASCENDING, DESCENDING, SHUFFLED, WIDE_SHUFFLED, ONE_COLUMN, PATTERNS };

struct cell_model {
    size_t count;
    struct test_cell *cells; /* by number, so in the order of adding */
    const struct cell **sorted;
};

void cell_model_init(struct cell_model *model, struct test_random *random,
                     enum cell_pattern pattern, size_t count);
void cell_model_fini(struct cell_model *model);

/* Index of the first sorted cell at or after the key. */
size_t cell_model_seek(const struct cell_model *model, const struct cell_key *key);

#endif
