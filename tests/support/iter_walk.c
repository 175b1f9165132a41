/* iter_walk.c -- see iter_walk.h. */
#include "tests/support/iter_walk.h"

#include "tests/support/test.h"

#include <stdlib.h>

struct walk {
    struct cell_iter *iter;
    const struct cell_list *list;
    struct test_random *random;
    size_t at; /* the list's end: at no cell */
    uint8_t buffer[WALK_KEY_BYTES];
};

/* Places: of cells, between them, before the first, after the last. */
static void
random_place(struct walk *walk, struct cell_key *key)
{
    struct test_random *random = walk->random;
    const struct cell *cell = &walk->list->cells[test_random_below(random, walk->list->count)];
    petal_slice row = cell->row;
    int64_t timestamp = cell->timestamp + (int64_t)test_random_below(random, 3) - 1;
    uint64_t sequence = cell->sequence + test_random_below(random, 3) - 1;

    if (test_random_chance(random, 20))
        row.size = 1 + (size_t)test_random_below(random, row.size);
    if (test_random_chance(random, 5))
        row = slice_make("\xff\xff\xff\xff", 4);
    if (test_random_chance(random, 5))
        row = slice_make("\0", 1);
    cell_key_make(key, walk->buffer, row, cell->qualifier, test_random_chance(random, 10),
                  timestamp, sequence);
}

static void
first_of_row(uint8_t *buffer, petal_slice row, struct cell_key *key)
{
    cell_key_make(key, buffer, row, slice_make(NULL, 0), true, INT64_MAX, CELL_SEQUENCE_MAX);
}

static void
expect_place(const struct cell_iter *iter, const struct cell_list *list, size_t at)
{
    assert_int_equal(iter->valid, at < list->count);
    if (iter->valid)
        assert_int_equal(cell_compare(&iter->cell, &list->cells[at]), 0);
}

void
walk_expect(struct cell_iter *iter, const struct cell_list *list, size_t at)
{
    expect_place(iter, list, at);
    if (!iter->valid)
        return;
    if (iter->pending)
        assert_int_equal(iter->ops->load(iter, NULL), PETAL_OK);
    assert_false(iter->pending);
    assert_true(same_cell(&iter->cell, &list->cells[at]));
}

static void
expect(struct walk *walk)
{
    if (test_random_chance(walk->random, 50))
        walk_expect(walk->iter, walk->list, walk->at);
    else
        expect_place(walk->iter, walk->list, walk->at);
}

static void
seek(struct walk *walk, const struct cell_key *key)
{
    assert_int_equal(walk->iter->ops->seek(walk->iter, key, NULL), PETAL_OK);
    walk->at = cell_list_seek(walk->list, key);
    expect(walk);
}

static void
seek_before(struct walk *walk, const struct cell_key *key)
{
    size_t behind = key != NULL ? cell_list_seek(walk->list, key) : walk->list->count;

    assert_int_equal(walk->iter->ops->seek_before(walk->iter, key, NULL), PETAL_OK);
    walk->at = behind > 0 ? behind - 1 : walk->list->count;
    expect(walk);
}

static void
step(struct walk *walk)
{
    assert_int_equal(walk->iter->ops->next(walk->iter, NULL), PETAL_OK);
    walk->at++;
    expect(walk);
}

/* From where it stands to the row before, and to its beginning. */
static void
step_rows_back(struct walk *walk, uint64_t rows)
{
    struct cell_key key;

    for (; rows > 0 && walk->at < walk->list->count; rows--) {
        first_of_row(walk->buffer, walk->list->cells[walk->at].row, &key);
        seek_before(walk, &key);
        if (walk->at == walk->list->count)
            return;
        first_of_row(walk->buffer, walk->list->cells[walk->at].row, &key);
        seek(walk, &key);
    }
}

static void
walk_with(struct cell_iter *iter, const struct cell_list *list, unsigned moves, bool backwards,
          struct test_random *random)
{
    struct walk *walk = test_allocate(sizeof *walk);

    *walk = (struct walk){.iter = iter, .list = list, .random = random, .at = list->count};
    for (unsigned i = 0; i < moves; i++) {
        uint64_t kind = test_random_below(random, 100);
        struct cell_key key;

        random_place(walk, &key);
        if (kind < 40 || (!backwards && kind < 95)) {
            seek(walk, &key);
        } else if (kind < 75) {
            seek_before(walk, &key);
        } else if (kind < 80) {
            seek_before(walk, NULL);
        } else if (kind < 85 || !backwards) {
            assert_int_equal(iter->ops->seek_first(iter, NULL), PETAL_OK);
            walk->at = 0;
            expect(walk);
        } else {
            step_rows_back(walk, test_random_below(random, 20));
        }
        for (uint64_t n = test_random_below(random, 40); n > 0 && walk->at < list->count; n--)
            step(walk);
    }
    free(walk);
}

void
walk_at_random(struct cell_iter *iter, const struct cell_list *list, unsigned moves,
               struct test_random *random)
{
    walk_with(iter, list, moves, true, random);
}

void
walk_forward_at_random(struct cell_iter *iter, const struct cell_list *list, unsigned moves,
                       struct test_random *random)
{
    walk_with(iter, list, moves, false, random);
}

static void
walk_back(struct cell_iter *iter, const struct cell_list *list, bool sees_behind)
{
    uint8_t *buffer = test_allocate(WALK_KEY_BYTES);
    size_t end = list->count; /* where the row after begins */
    struct cell_key key, *behind = NULL;

    for (;;) {
        size_t first = end > 0 ? end - 1 : list->count;

        assert_int_equal(iter->ops->seek_before(iter, behind, NULL), PETAL_OK);
        walk_expect(iter, list, first);
        if (!iter->valid)
            break;
        while (first > 0 && slice_equal(list->cells[first - 1].row, list->cells[first].row))
            first--;
        first_of_row(buffer, list->cells[first].row, &key);
        behind = &key;
        assert_int_equal(iter->ops->seek(iter, &key, NULL), PETAL_OK);
        for (size_t at = first; at < end; at++) {
            walk_expect(iter, list, at);
            assert_int_equal(iter->ops->next(iter, NULL), PETAL_OK);
        }
        if (sees_behind)
            walk_expect(iter, list, end);
        end = first;
    }
    free(buffer);
}

void
walk_rows_backwards(struct cell_iter *iter, const struct cell_list *list)
{
    walk_back(iter, list, true);
}

void
walk_reversed_rows(struct cell_iter *iter, const struct cell_list *list)
{
    walk_back(iter, list, false);
}
