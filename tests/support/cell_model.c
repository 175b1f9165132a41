/* cell_model.c -- see cell_model.h. */
#include "tests/support/cell_model.h"

#include "bloom/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Short strings of bytes that escaping and signed comparison get wrong, some after 40 equal
 * bytes.
 */
static size_t
hard_bytes(struct test_random *random, uint8_t *bytes, size_t least)
{
    static const uint8_t few[] = {0x00, 0x00, 0x01, 0x02, 0x7f, 0x80, 0xfe, 0xff, 0xff, 'a'};
    size_t size = least + test_random_below(random, 5);
    size_t shared = test_random_chance(random, 40) ? 40 : 0;

    memset(bytes, test_random_chance(random, 80) ? 'k' : 0, shared);
    for (size_t i = 0; i < size; i++)
        bytes[shared + i] = few[test_random_below(random, sizeof few)];
    return shared + size;
}

static int64_t
hard_time(struct test_random *random)
{
    static const int64_t times[] = {0, 1, 255, 256, 1700000000000, INT64_MAX - 1, -1, INT64_MIN};

    return times[test_random_below(random, sizeof times / sizeof times[0])];
}

void
test_cell_set(struct test_cell *made, size_t number, size_t row_bytes, size_t qualifier_bytes,
              size_t value_bytes)
{
    made->cell.row = slice_make(made->row, row_bytes);
    made->cell.qualifier = slice_make(made->qualifier, qualifier_bytes);
    made->cell.value = slice_make(made->value, value_bytes);
    made->cell.sequence = number + 1;
    made->row_hash = bloom_hash_row(CELL_MODEL_SALT, made->row, row_bytes);
}

static void
hard_cell(struct test_random *random, size_t number, struct test_cell *made)
{
    static const enum petal_cell_type types[] = {PETAL_PUT,
                                                 PETAL_PUT,
                                                 PETAL_PUT,
                                                 PETAL_DELETE,
                                                 PETAL_DELETE_FAMILY_VERSION,
                                                 PETAL_DELETE_COLUMN,
                                                 PETAL_DELETE_FAMILY};
    size_t row_bytes = hard_bytes(random, made->row, 1);
    size_t qualifier_bytes =
        test_random_chance(random, 30) ? 0 : hard_bytes(random, made->qualifier, 0);
    size_t value_bytes = test_random_below(random, sizeof made->value + 1);

    made->cell.type = types[test_random_below(random, sizeof types / sizeof types[0])];
    made->cell.timestamp = hard_time(random);
    made->cell.has_ttl = test_random_chance(random, 30);
    made->cell.ttl_ms = made->cell.has_ttl ? hard_time(random) : 0;
    if (cell_is_family_marker(made->cell.type))
        qualifier_bytes = 0;
    if (cell_is_marker(made->cell.type))
        value_bytes = 0;
    test_random_bytes(random, made->value, sizeof made->value);
    test_cell_set(made, number, row_bytes, qualifier_bytes, value_bytes);
}

/* Put number `place` of an ascending series: rows of ten qualifiers, or one wide row. */
static void
plain_cell(struct test_random *random, size_t number, size_t place, bool wide,
           struct test_cell *made)
{
    size_t row = wide ? 7 : place / 10;
    size_t qualifier = wide ? place : place % 10;
    int row_bytes = snprintf((char *)made->row, CELL_MODEL_PART_BYTES, "user%010zu", row);
    int qualifier_bytes =
        snprintf((char *)made->qualifier, CELL_MODEL_PART_BYTES, "q%07zu", qualifier);

    made->cell.type = PETAL_PUT;
    made->cell.timestamp = 1700000000000 + (int64_t)test_random_below(random, 3);
    made->cell.has_ttl = false;
    made->cell.ttl_ms = 0;
    test_random_bytes(random, made->value, sizeof made->value);
    test_cell_set(made, number, (size_t)row_bytes, (size_t)qualifier_bytes, sizeof made->value);
}

static int
compare_pointers(const void *a, const void *b)
{
    return cell_compare(*(const struct cell *const *)a, *(const struct cell *const *)b);
}

static size_t *
shuffled_numbers(struct test_random *random, size_t count)
{
    size_t *numbers = test_allocate(count * sizeof *numbers);

    for (size_t i = 0; i < count; i++) {
        size_t other = test_random_below(random, i + 1);

        numbers[i] = numbers[other];
        numbers[other] = i;
    }
    return numbers;
}

void
cell_model_init(struct cell_model *model, struct test_random *random, enum cell_pattern pattern,
                size_t count)
{
    size_t *places = shuffled_numbers(random, count);

    model->count = count;
    model->cells = test_allocate(count * sizeof *model->cells);
    model->sorted = test_allocate(count * sizeof *model->sorted);
    for (size_t i = 0; i < count; i++) {
        struct test_cell *made = &model->cells[i];

        if (pattern == HARD)
            hard_cell(random, i, made);
        else if (pattern == ASCENDING)
            plain_cell(random, i, i, false, made);
        else if (pattern == DESCENDING)
            plain_cell(random, i, count - 1 - i, false, made);
        else if (pattern == ONE_COLUMN)
            plain_cell(random, i, 0, true, made);
        else
            plain_cell(random, i, places[i], pattern == WIDE_SHUFFLED, made);
        model->sorted[i] = &made->cell;
    }
    qsort(model->sorted, count, sizeof *model->sorted, compare_pointers);
    free(places);
}

void
cell_model_fini(struct cell_model *model)
{
    free(model->cells);
    free(model->sorted);
}

size_t
cell_model_seek(const struct cell_model *model, const struct cell_key *key)
{
    size_t first = 0, limit = model->count;

    while (first < limit) {
        size_t middle = (first + limit) / 2;

        if (cell_compare_key(model->sorted[middle], key) < 0)
            first = middle + 1;
        else
            limit = middle;
    }
    return first;
}

bool
test_cell_equal(const struct cell *a, const struct cell *b)
{
    return slice_equal(a->row, b->row) && slice_equal(a->qualifier, b->qualifier) &&
           slice_equal(a->value, b->value) && a->timestamp == b->timestamp &&
           a->sequence == b->sequence && a->type == b->type && a->has_ttl == b->has_ttl &&
           a->ttl_ms == b->ttl_ms;
}
