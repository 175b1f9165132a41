/*
 * iter_walk.h -- sends a cell iterator here and there, forwards and back, and compares what it
 * shows with a sorted list of the same cells.
 */
#ifndef PETAL_TESTS_SUPPORT_ITER_WALK_H
#define PETAL_TESTS_SUPPORT_ITER_WALK_H

#include "base/cell_iter.h"
#include "tests/sstable/fixture.h"

/* Rows and qualifiers of the lists are at most so long. */
#define WALK_ROW_BYTES       2048
#define WALK_QUALIFIER_BYTES 64
#define WALK_KEY_BYTES       (2 * WALK_ROW_BYTES + 2 * WALK_QUALIFIER_BYTES + 64)

/* The iterator stands at the list's cell `at`; at none when that is the list's end.  Loads what is
 * pending. */
void walk_expect(struct cell_iter *iter, const struct cell_list *list, size_t at);

/* Random moves of all kinds, each from where the one before ended.  The list is not empty. */
void walk_at_random(struct cell_iter *iter, const struct cell_list *list, unsigned moves,
                    struct test_random *random);

/* The same without seek_before: an iterator that was never sent back reads and keeps no more than
 * it needs forward. */
void walk_forward_at_random(struct cell_iter *iter, const struct cell_list *list, unsigned moves,
                            struct test_random *random);

/* As reversed scans do: from the last row to the first, each from its beginning forward up to the
 * row after it, which is looked at, too. */
void walk_rows_backwards(struct cell_iter *iter, const struct cell_list *list);

/* The same without looking at the row after. */
void walk_reversed_rows(struct cell_iter *iter, const struct cell_list *list);

#endif
