/*
 * fixture.h -- a read with a filter over a few cells in memory, driven as HBase's region scanner
 * drives one: enough to see what a filter does, without a database.
 *
 * Cells are written "row/family:qualifier@timestamp=value", with blanks between them, in HBase's
 * order. What a read returns is told the same way, "row/" once for each row and without the
 * timestamp: "a/f:x=1 f:y=2 b/f:x=1".
 */
#ifndef PETAL_TESTS_ENGINE_FILTER_FIXTURE_H
#define PETAL_TESTS_ENGINE_FILTER_FIXTURE_H

#include "engine/filter/filter.h"
#include "engine/state/db.h"
#include "tests/support/test_support.h"

#define FILTER_MOST_CELLS 64

struct filter_table {
    char text[2000]; /* the cells' bytes, taken apart */
    petal_cell cells[FILTER_MOST_CELLS];
    size_t count;
};

/* A database of which nothing but its surroundings may be used. */
petal_db *filter_fake_db(const petal_allocator *allocator);

void filter_table_init(struct filter_table *table, const char *cells);

struct filter_read {
    bool reversed;
    /* Starts and goes on where filter_run_first_row and filter_run_next_row say. */
    bool follows_bounds;
    bool follows_ahead; /* passes cells that filter_run_ahead says need not be shown */
    size_t rows_shown;  /* out: by key */
    size_t cells_shown; /* out */
};

/* Read all with `filter`; the answer stands until the next call. Ends the test when the run
 * fails. */
const char *filter_read(const struct filter_table *table, const petal_allocator *allocator,
                        const petal_filter *filter, struct filter_read *read);

#endif
