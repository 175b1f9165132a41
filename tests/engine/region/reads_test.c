/*
 * reads_test.c -- twin tables with the same cells, one of one region, one of many: each read, in
 * whatever way, and within a transaction, gives the same of both.
 */
#include "tests/engine/region/fixture.h"

#include "tests/support/test.h"

#include <stdlib.h>

#define ROWS    120
#define COLUMNS 4

struct twins {
    struct fixture base;
    struct test_random random;
    petal_table *tables[2]; /* of one region, and of many */
};

/* ---- what they have ---- */

static unsigned
below(struct twins *twins, unsigned limit)
{
    return (unsigned)test_random_below(&twins->random, limit);
}

static petal_slice
column_name(unsigned column)
{
    static const char *const names[COLUMNS] = {"", "a", "b", "c"};

    return text(names[column]);
}

/* One cell or marker, of each the same. */
static void
write_both(struct twins *twins)
{
    static const enum petal_cell_type types[] = {PETAL_DELETE, PETAL_DELETE_COLUMN,
                                                 PETAL_DELETE_FAMILY, PETAL_DELETE_FAMILY_VERSION};
    enum petal_cell_type type = types[below(twins, 4)];
    bool of_column = type == PETAL_DELETE || type == PETAL_DELETE_COLUMN;
    bool deletes = below(twins, 6) == 0;
    petal_slice column = column_name(below(twins, COLUMNS));
    int64_t timestamp = 1 + below(twins, 20);
    char room[16], value[40];
    petal_slice row = regions_row(room, below(twins, ROWS));
    unsigned family = below(twins, 2);

    (void)snprintf(value, sizeof value, "value %u", below(twins, 1000));
    for (size_t i = 0; i < 2; i++) {
        petal_family *to = petal_table_family_at(twins->tables[i], family);

        if (deletes)
            MUST(petal_delete(to, row, of_column ? column : slice_make(NULL, 0), timestamp, type,
                              NULL, WHY));
        else
            MUST(petal_put(to, row, column, timestamp, text(value), NULL, WHY));
    }
}

static void
split_somewhere(struct twins *twins)
{
    char row[16];
    petal_error error;
    enum petal_status status =
        petal_table_split(twins->tables[1], regions_row(row, below(twins, ROWS)), 0, &error);

    assert_true(status == PETAL_OK || status == PETAL_INVALID); /* one begins there already */
}

static void
twins_begin(struct twins *twins, uint64_t seed)
{
    petal_family_options families[] = {
        {.name = text("f"), .versions = 3, .block_bytes = 1024, .bloom = PETAL_BLOOM_ROWCOL},
        {.name = text("g"), .versions = 2, .block_bytes = 1024}};
    petal_table_options options = {.families = families, .family_count = 2};

    test_random_init(&twins->random, seed);
    fixture_init(&twins->base, seed);
    fixture_must_open(&twins->base);
    for (size_t i = 0; i < 2; i++) {
        options.name = text(i == 0 ? "one" : "many");
        MUST(petal_table_create(twins->base.db, &options, &twins->tables[i], WHY));
    }
    /* A flush or compaction may drop what a later marker would bring to light: both do it at the
     * same time, and regions are split when nothing is in memory. */
    for (unsigned turn = 0; turn < 6; turn++) {
        for (unsigned i = 0; i < 250; i++)
            write_both(twins);
        if (turn == 5)
            break;
        MUST(petal_flush(twins->base.db, NULL, WHY));
        for (unsigned i = 0; i < 3; i++)
            split_somewhere(twins);
        for (size_t i = 0; turn == 2 && i < 2; i++)
            MUST(petal_compact(twins->tables[i], NULL, WHY));
    }
}

/* ---- an answer as text ---- */

struct words {
    char *bytes;
    size_t size, capacity;
};

static void
add(struct words *words, const void *bytes, size_t size)
{
    if (words->size + size > words->capacity) {
        words->capacity = 2 * (words->size + size);
        words->bytes = test_reallocate(words->bytes, words->capacity);
    }
    if (size > 0)
        memcpy(words->bytes + words->size, bytes, size);
    words->size += size;
}

static void
add_cell(struct words *words, const petal_cell *cell)
{
    char line[80];
    int length =
        snprintf(line, sizeof line, "@%lld!%d=", (long long)cell->timestamp, (int)cell->type);

    add(words, cell->row.data, cell->row.size);
    add(words, "/", 1);
    add(words, cell->family.data, cell->family.size);
    add(words, ":", 1);
    add(words, cell->qualifier.data, cell->qualifier.size);
    add(words, line, (size_t)length);
    add(words, cell->value.data, cell->value.size);
    add(words, "\n", 1);
}

static void
must_be_same(struct words words[2])
{
    assert_int_equal(words[0].size, words[1].size);
    if (words[0].size > 0)
        assert_memory_equal(words[0].bytes, words[1].bytes, words[0].size);
    for (size_t i = 0; i < 2; i++)
        free(words[i].bytes);
}

/* ---- scans ---- */

static const char *const filters[] = {
    "PageFilter(7)",
    "WHILE RowFilter(!=, 'substring:77')",
    "ColumnPaginationFilter(1, 1)",
    "ColumnCountGetFilter(2)",
    "FirstKeyOnlyFilter() AND KeyOnlyFilter()",
    "InclusiveStopFilter('row 00066')",
    "PrefixFilter('row 0005')",
    "SKIP ValueFilter(!=, 'substring:value 9')",
    "SingleColumnValueFilter('f', 'a', <, 'binary:value 5', true, true)",
    "MultiRowRangeFilter",
    "FamilyFilter(=, 'binary:g') OR QualifierFilter(=, 'binary:b')",
    "RandomRowFilter",
};

/* A filter of the list that can be had, or none. */
static petal_filter *
choose_filter(struct twins *twins)
{
    petal_filter *filter = NULL;
    petal_error error;

    if (below(twins, 2) == 0)
        return NULL;
    if (petal_filter_parse(twins->base.db,
                           text(filters[below(twins, sizeof filters / sizeof *filters)]), &filter,
                           &error) != PETAL_OK)
        return NULL;
    return filter;
}

/* A row: one that is there or not, or a border. */
static petal_slice
choose_row(struct twins *twins, char room[16])
{
    struct region_seen seen[REGION_MOST];
    size_t count = regions_list(twins->tables[1], seen);

    if (below(twins, 5) == 0)
        return slice_make(NULL, 0);
    if (below(twins, 2) == 0) {
        memcpy(room, seen[below(twins, (unsigned)count)].start, 15);
        room[15] = '\0';
        return text(room);
    }
    return regions_row(room, below(twins, ROWS));
}

static petal_scan_options
choose_scan(struct twins *twins, char rooms[2][16])
{
    petal_scan_options options = {.start_row = choose_row(twins, rooms[0]),
                                  .stop_row = choose_row(twins, rooms[1]),
                                  .start_exclusive = below(twins, 2),
                                  .stop_inclusive = below(twins, 2),
                                  .reversed = below(twins, 2),
                                  .raw = below(twins, 4) == 0,
                                  .row_limit = below(twins, 3) == 0 ? 1 + below(twins, 20) : 0};

    if (below(twins, 6) == 0)
        options.prefix = text("row 0006");
    options.read.versions = 1 + (int32_t)below(twins, 3);
    options.read.filter = choose_filter(twins);
    return options;
}

struct walk {
    uint64_t seed;
    bool seeks, by_rows;
};

/* All of the cursor, with some seeks, the same for both. */
static void
walk(struct twins *twins, size_t which, petal_cursor *cursor, const struct walk *how,
     struct words *words)
{
    struct test_random random;
    petal_result *result;
    const petal_cell *cell;
    size_t count;

    test_random_init(&random, how->seed);
    MUST(petal_result_new(twins->base.db, &result, WHY));
    do {
        count = 0;
        if (how->by_rows) {
            MUST(petal_cursor_next_row(cursor, result, WHY));
            count = petal_result_count(result);
            for (size_t i = 0; i < count; i++)
                add_cell(words, petal_result_cell(result, i));
        } else {
            MUST(petal_cursor_next(cursor, &cell, WHY));
            count = cell != NULL;
            if (cell != NULL)
                add_cell(words, cell);
        }
        if (how->seeks && test_random_chance(&random, 3)) {
            petal_family *family =
                petal_table_family_at(twins->tables[which], test_random_below(&random, 2));
            char row[16];

            MUST(petal_cursor_seek(
                cursor, regions_row(row, (unsigned)test_random_below(&random, ROWS)), family,
                column_name((unsigned)test_random_below(&random, 4)), WHY));
            add(words, "seek\n", 5);
        }
    } while (count > 0);
    petal_result_free(result);
}

TEST(test_scans)
{
    struct twins twins;
    unsigned cells = 0;

    twins_begin(&twins, test_seed());
    for (unsigned i = 0; i < (test_long() ? 20000u : 1500u); i++) {
        char rooms[2][16];
        petal_scan_options options = choose_scan(&twins, rooms);
        struct words words[2] = {0};
        struct walk how = {.seed = test_random_next(&twins.random),
                           .seeks = below(&twins, 3) == 0,
                           .by_rows = below(&twins, 2)};

        if (how.by_rows && below(&twins, 3) == 0)
            options.batch = 1 + below(&twins, 3);
        for (size_t which = 0; which < 2; which++) {
            petal_cursor *cursor;
            petal_error error;
            enum petal_status status =
                petal_cursor_open(twins.tables[which], &options, &cursor, &error);

            add(&words[which], &status, sizeof status);
            if (status == PETAL_OK)
                walk(&twins, which, cursor, &how, &words[which]);
            petal_cursor_close(cursor);
        }
        cells += words[0].size > 100;
        must_be_same(words);
        petal_filter_free((petal_filter *)options.read.filter);
    }
    assert_true(cells > 300);
    fixture_fini(&twins.base);
}

/* ---- several rows at once ---- */

#define MOST_KEYS 20

TEST(test_multi_gets)
{
    struct twins twins;

    twins_begin(&twins, test_seed() + 1);
    for (unsigned i = 0; i < 300; i++) {
        petal_slice rows[MOST_KEYS];
        char rooms[MOST_KEYS][16];
        size_t count = 1 + below(&twins, MOST_KEYS);
        petal_column column = {NULL, column_name(below(&twins, COLUMNS)), false};
        unsigned family = below(&twins, 2);
        bool one_column = below(&twins, 2);
        struct words words[2] = {0};

        for (size_t k = 0; k < count; k++)
            rows[k] = regions_row(rooms[k], below(&twins, ROWS));
        for (size_t which = 0; which < 2; which++) {
            petal_result *results[MOST_KEYS];
            petal_read_options read = {.columns = &column, .column_count = one_column};

            column.family = petal_table_family_at(twins.tables[which], family);
            for (size_t k = 0; k < count; k++)
                MUST(petal_result_new(twins.base.db, &results[k], WHY));
            MUST(petal_multi_get(twins.tables[which], rows, count, &read, results, WHY));
            for (size_t k = 0; k < count; k++) {
                for (size_t c = 0; c < petal_result_count(results[k]); c++)
                    add_cell(&words[which], petal_result_cell(results[k], c));
                add(&words[which], "\n", 1);
                petal_result_free(results[k]);
            }
        }
        must_be_same(words);
    }
    fixture_fini(&twins.base);
}

/* ---- transactions ---- */

static petal_transaction *
begin_and_write(struct twins *twins, petal_table *table, uint64_t seed)
{
    petal_transaction *transaction;
    struct test_random random;

    test_random_init(&random, seed);
    MUST(petal_transaction_begin(twins->base.db, NULL, &transaction, WHY));
    for (unsigned i = 0; i < 20; i++) {
        petal_family *family = petal_table_family_at(table, test_random_below(&random, 2));
        char room[16];
        petal_slice row = regions_row(room, (unsigned)test_random_below(&random, ROWS));
        petal_slice column = column_name((unsigned)test_random_below(&random, COLUMNS));
        int64_t timestamp = 1 + (int64_t)test_random_below(&random, 20);

        if (test_random_chance(&random, 30))
            MUST(petal_transaction_delete(transaction, family, row, column, timestamp,
                                          PETAL_DELETE_COLUMN, WHY));
        else
            MUST(petal_transaction_put(transaction, family, row, column, timestamp, text("own"),
                                       NULL, WHY));
    }
    return transaction;
}

TEST(test_transactions)
{
    struct twins twins;

    twins_begin(&twins, test_seed() + 2);
    for (unsigned i = 0; i < 300; i++) {
        char rooms[2][16], row[16];
        petal_scan_options options = choose_scan(&twins, rooms);
        struct words words[2] = {0};
        uint64_t seed = test_random_next(&twins.random);

        (void)regions_row(row, below(&twins, ROWS));
        for (size_t which = 0; which < 2; which++) {
            struct walk how = {.seed = seed, .seeks = i % 3 == 0, .by_rows = i % 2};
            petal_transaction *transaction = begin_and_write(&twins, twins.tables[which], seed);
            petal_cursor *cursor;
            petal_result *result;
            petal_error error;
            enum petal_status status =
                petal_transaction_scan(transaction, twins.tables[which], &options, &cursor, &error);

            add(&words[which], &status, sizeof status);
            if (status == PETAL_OK)
                walk(&twins, which, cursor, &how, &words[which]);
            petal_cursor_close(cursor);
            MUST(petal_result_new(twins.base.db, &result, WHY));
            MUST(petal_transaction_get(transaction, twins.tables[which], text(row), NULL, result,
                                       WHY));
            for (size_t c = 0; c < petal_result_count(result); c++)
                add_cell(&words[which], petal_result_cell(result, c));
            petal_result_free(result);
            if (i % 5 == 0)
                MUST(petal_transaction_commit(transaction, WHY));
            else
                petal_transaction_abort(transaction);
        }
        must_be_same(words);
        petal_filter_free((petal_filter *)options.read.filter);
    }
    fixture_fini(&twins.base);
}

/* ---- deleting rows ---- */

static void
add_all(petal_table *table, struct words *words)
{
    const petal_cell *cell;
    petal_cursor *cursor;

    MUST(petal_cursor_open(table, NULL, &cursor, WHY));
    for (;;) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        if (cell == NULL)
            break;
        add_cell(words, cell);
    }
    petal_cursor_close(cursor);
}

TEST(test_deletions_of_rows)
{
    struct twins twins;

    twins_begin(&twins, test_seed() + 3);
    for (unsigned i = 0; i < 40; i++) {
        petal_delete_rows_options options = {.batch_rows = 1 + below(&twins, 9)};
        unsigned first = below(&twins, ROWS), end = first + 1 + below(&twins, 20);
        struct words words[2] = {0};
        char low[16], high[16];

        for (unsigned k = 0; k < 60; k++)
            write_both(&twins);
        if (i % 5 == 0)
            options.prefix = text("row 0003");
        for (size_t which = 0; which < 2; which++) {
            petal_deleted_rows deleted;

            MUST(petal_delete_rows(twins.tables[which],
                                   i % 5 == 0 ? slice_make(NULL, 0) : regions_row(low, first),
                                   i % 5 == 0 ? slice_make(NULL, 0) : regions_row(high, end),
                                   &options, &deleted, WHY));
            add(&words[which], &deleted.rows, sizeof deleted.rows);
            add_all(twins.tables[which], &words[which]);
        }
        must_be_same(words);
    }
    fixture_fini(&twins.base);
}
