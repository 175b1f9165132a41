/*
 * failure_test.c -- each allocation and each file call of each kind of read fails once: an error is
 * reported or the answer is right, nothing leaks, a cursor can be sought anew, and the next read
 * has the right answer.
 */

#include "tests/engine/read/fixture.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdio.h>

enum way { BY_CELL, BY_PIECE, BY_SEEK, BY_GET, BY_MULTI_GET };

struct question {
    const char *name;
    enum way way;
    petal_scan_options scan; /* a get uses its `read` */
    const char *filter;
    bool named, one, with_receipt, with_snapshot; /* three columns, or one */
};

static const struct question questions[] = {
    {.name = "get", .way = BY_GET},
    {.name = "get of columns", .way = BY_GET, .named = true, .with_receipt = true},
    {.name = "get of versions",
     .way = BY_GET,
     .scan.read.versions = PETAL_ALL_VERSIONS,
     .with_snapshot = true},
    {.name = "get with a filter",
     .way = BY_GET,
     .filter = "ColumnPrefixFilter('q') AND ValueFilter(!=, 'substring:7')",
     .with_receipt = true},
    {.name = "get of a page",
     .way = BY_GET,
     .scan.read = {.family_cell_limit = 2, .family_cell_offset = 1}},
    {.name = "multi-get", .way = BY_MULTI_GET, .with_receipt = true},
    {.name = "multi-get with a filter",
     .way = BY_MULTI_GET,
     .filter = "QualifierFilter(>, 'binary:q1')"},
    {.name = "scan", .way = BY_CELL, .with_receipt = true, .with_snapshot = true},
    {.name = "scan of columns", .way = BY_CELL, .named = true, .with_receipt = true},
    {.name = "scan by pieces", .way = BY_PIECE, .scan = {.batch = 3}},
    {.name = "reversed", .way = BY_CELL, .scan = {.reversed = true}},
    {.name = "reversed by rows", .way = BY_PIECE, .scan = {.reversed = true, .row_limit = 3}},
    {.name = "reversed, of columns", .way = BY_CELL, .scan = {.reversed = true}, .named = true},
    {.name = "prefix", .way = BY_CELL, .scan = {.prefix = {"r0", 2}}},
    {.name = "prefix, reversed",
     .way = BY_CELL,
     .scan = {.prefix = {"r0", 2}, .reversed = true},
     .with_receipt = true},
    {.name = "raw", .way = BY_CELL, .scan = {.raw = true, .read.versions = PETAL_ALL_VERSIONS}},
    {.name = "raw, reversed, by pieces",
     .way = BY_PIECE,
     .scan = {.raw = true, .reversed = true, .batch = 2, .read.versions = 2}},
    {.name = "rows by a regular expression",
     .way = BY_CELL,
     .filter = "RowFilter(=, 'regexstring:r[0-4]') AND SKIP ValueFilter(!=, 'binary:v')"},
    {.name = "whole rows",
     .way = BY_PIECE,
     .filter = "SingleColumnValueFilter('f', 'q1', >=, 'binary:v1') AND PageFilter(3)"},
    {.name = "hints",
     .way = BY_CELL,
     .filter = "MultipleColumnPrefixFilter('q1', 'q2') OR ColumnPaginationFilter(1, 1)"},
    {.name = "hints, reversed",
     .way = BY_CELL,
     .scan = {.reversed = true},
     .filter = "ColumnRangeFilter('q1', true, 'q3', false)"},
    {.name = "get of a column", .way = BY_GET, .one = true},
    {.name = "multi-get of a column", .way = BY_MULTI_GET, .one = true},
    {.name = "multi-get of a column, without Bloom filters",
     .way = BY_MULTI_GET,
     .one = true,
     .scan.read.without = PETAL_WITHOUT(PETAL_SKIP_BLOOM)},
    {.name = "scan of a column", .way = BY_CELL, .one = true},
    {.name = "scan of a column, reversed", .way = BY_CELL, .one = true, .scan = {.reversed = true}},
    {.name = "scan of rows", .way = BY_PIECE, .scan = {.row_limit = 5}},
    {.name = "scan of a range of time",
     .way = BY_PIECE,
     .scan.read = {.has_time_range = true, .time_min = 11, .time_limit = 13, .versions = 2}},
    {.name = "seeks", .way = BY_SEEK},
    {.name = "seeks, with a receipt", .way = BY_SEEK, .with_receipt = true},
    {.name = "seeks, reversed", .way = BY_SEEK, .scan = {.reversed = true}},
    {.name = "seeks, raw", .way = BY_SEEK, .scan = {.raw = true, .read.versions = 2}},
    {.name = "seeks, of versions", .way = BY_SEEK, .scan.read.versions = 2},
    {.name = "seeks, of columns", .way = BY_SEEK, .named = true},
    {.name = "seeks, with a filter",
     .way = BY_SEEK,
     .filter = "RowFilter(!=, 'binary:r02') AND ColumnCountGetFilter(3)"},
};
#define QUESTIONS (sizeof questions / sizeof *questions)

/* ---- asking ---- */

struct asker {
    uint32_t without; /* PETAL_WITHOUT bits of the reads */
    struct read_fixture fixture;
    bool fail_memory;
    char answer[16384];
    size_t size;
};

static void
note(struct asker *asker, const char *added)
{
    int written =
        snprintf(asker->answer + asker->size, sizeof asker->answer - asker->size, "%s", added);

    asker->size += (size_t)written;
    assert_true(asker->size < sizeof asker->answer);
}

static void
no_more_faults(struct asker *asker)
{
    test_allocator_fail_at(&asker->fixture.base.allocator, 0, false);
    memory_vfs_fail_at(asker->fixture.base.vfs, 0, 0, false);
}

/* Places before, in, between and after the rows, there and back; each is gone on from by cells,
 * then by rows. */
static enum petal_status
walk_from_places(struct asker *asker, petal_cursor *cursor, petal_result *result,
                 petal_error *error)
{
    static const struct {
        const char *row, *family, *qualifier;
    } places[] = {{"r03", "f", "q2"}, {"r03", "g", ""},   {"r01", NULL, ""}, {"a", NULL, ""},
                  {"r05x", "g", "q"}, {"r07", "f", "q9"}, {"x", "g", "big"}, {"r04", "f", ""},
                  {"y", NULL, ""},    {"r06", "g", "q1"}};
    enum petal_status status = PETAL_OK;

    asker->size = 0;
    asker->answer[0] = 0;
    for (size_t i = 0; status == PETAL_OK && i < sizeof places / sizeof *places; i++) {
        petal_family *family =
            places[i].family != NULL ? reads_family(&asker->fixture, places[i].family) : NULL;

        status = petal_cursor_seek(cursor, text(places[i].row), family, text(places[i].qualifier),
                                   error);
        for (size_t step = 0; status == PETAL_OK && step < 3 + i; step++) {
            const petal_cell *cell = NULL;

            status = petal_cursor_next(cursor, &cell, error);
            assert_true(status == PETAL_OK || cell == NULL);
            note(asker, cell != NULL ? reads_cell_text(cell) : "|");
        }
        for (size_t row = 0; status == PETAL_OK && row < 2; row++) {
            status = petal_cursor_next_row(cursor, result, error);
            assert_true(status == PETAL_OK || petal_result_count(result) == 0);
            note(asker, reads_result_text(result));
        }
    }
    return status;
}

static enum petal_status
walk(struct asker *asker, const struct question *question, petal_cursor *cursor,
     petal_result *result, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    bool more = true;

    if (question->way == BY_SEEK)
        return walk_from_places(asker, cursor, result, error);
    asker->size = 0;
    asker->answer[0] = 0;
    while (status == PETAL_OK && more) {
        const petal_cell *cell = NULL;

        if (question->way == BY_CELL) {
            status = petal_cursor_next(cursor, &cell, error);
            more = cell != NULL;
            assert_true(status == PETAL_OK || cell == NULL);
            if (cell != NULL)
                note(asker, reads_cell_text(cell));
        } else {
            status = petal_cursor_next_row(cursor, result, error);
            more = petal_result_count(result) > 0;
            assert_true(status == PETAL_OK || !more);
            note(asker, reads_result_text(result));
        }
    }
    return status;
}

/* A walk that fails is begun again by a seek, with all in order; `expected` NULL: it must not
 * fail. */
static enum petal_status
ask_cursor(struct asker *asker, const struct question *question, const petal_scan_options *scan,
           petal_result *result, const char *expected, petal_error *error)
{
    petal_cursor *cursor;
    enum petal_status status = petal_cursor_open(asker->fixture.table, scan, &cursor, error);

    assert_true((status == PETAL_OK) == (cursor != NULL));
    if (status != PETAL_OK)
        return status;
    status = walk(asker, question, cursor, result, error);
    if (status != PETAL_OK && expected != NULL) {
        petal_error other;

        no_more_faults(asker);
        if (question->way != BY_SEEK)
            reads_seek(cursor, scan->reversed ? BYTES("\xff") : BYTES("\0"), NULL, text(""));
        must(walk(asker, question, cursor, result, &other), &other);
        assert_string_equal(asker->answer, expected);
    }
    petal_cursor_close(cursor);
    return status;
}

static enum petal_status
ask_rows(struct asker *asker, const struct question *question, const petal_read_options *read,
         petal_result *const results[3], petal_error *error)
{
    petal_slice rows[] = {text("r04"), text("none"), text("r01")};
    enum petal_status status =
        question->way == BY_GET
            ? petal_get(asker->fixture.table, rows[0], read, results[0], error)
            : petal_multi_get(asker->fixture.table, rows, 3, read, results, error);

    asker->size = 0;
    asker->answer[0] = 0;
    for (int i = 0; i < (question->way == BY_GET ? 1 : 3); i++) {
        assert_true(status == PETAL_OK || petal_result_count(results[i]) == 0);
        note(asker, reads_result_text(results[i]));
    }
    return status;
}

static enum petal_status
ask(struct asker *asker, const struct question *question, const char *expected, petal_error *error)
{
    petal_db *db = asker->fixture.base.db;
    petal_column columns[] = {{reads_family(&asker->fixture, "f"), text("q3"), false},
                              {reads_family(&asker->fixture, "g"), text("q1"), false},
                              {reads_family(&asker->fixture, "f"), text("q0"), false}};
    petal_scan_options scan = question->scan;
    petal_result *results[3] = {NULL};
    petal_snapshot *snapshot = NULL;
    petal_receipt *receipt = NULL;
    petal_filter *filter = NULL;
    enum petal_status status = PETAL_OK;

    for (int i = 0; status == PETAL_OK && i < 3; i++)
        status = petal_result_new(db, &results[i], error);
    if (status == PETAL_OK && question->filter != NULL)
        status = petal_filter_parse(db, text(question->filter), &filter, error);
    if (status == PETAL_OK && question->with_receipt)
        status = petal_receipt_new(db, &receipt, error);
    if (status == PETAL_OK && question->with_snapshot)
        status = petal_snapshot_new(db, &snapshot, error);
    scan.read.without |= asker->without;
    scan.read.filter = filter;
    scan.read.receipt = receipt;
    scan.read.snapshot = snapshot;
    if (question->named || question->one) {
        scan.read.columns = columns;
        scan.read.column_count = question->one ? 1 : 3;
    }
    if (status == PETAL_OK && question->way <= BY_SEEK)
        status = ask_cursor(asker, question, &scan, results[0], expected, error);
    else if (status == PETAL_OK)
        status = ask_rows(asker, question, &scan.read, results, error);
    for (int i = 0; i < 3; i++)
        petal_result_free(results[i]);
    petal_snapshot_free(snapshot);
    petal_receipt_free(receipt);
    petal_filter_free(filter);
    return status;
}

/* ---- failing ---- */

static uint64_t
failures(struct asker *asker)
{
    return asker->fail_memory ? test_allocator_failures(&asker->fixture.base.allocator)
                              : memory_vfs_failures(asker->fixture.base.vfs);
}

/*
 * How many blocks of memory are held after the question, 0 with a cache, which holds what it likes.
 * Asked twice without Bloom filters, so that what was read last is the same each time: which chunks
 * are read depends on what the reads before have saved.
 */
static uint64_t
blocks_held(struct asker *asker, const struct question *question, const char *expected)
{
    if (asker->fixture.base.options.cache_bytes != PETAL_NO_CACHE)
        return 0;
    asker->without = PETAL_WITHOUT(PETAL_SKIP_BLOOM);
    for (unsigned i = 0; i < 2; i++) {
        MUST(ask(asker, question, NULL, WHY));
        assert_string_equal(asker->answer, expected);
    }
    asker->without = 0;
    return test_allocator_live_blocks(&asker->fixture.base.allocator);
}

/* Returns how many faults were reported. */
static unsigned
fail_each(struct asker *asker, const struct question *question)
{
    char expected[sizeof asker->answer];
    unsigned reported = 0;
    petal_error error;
    uint64_t before, held, n = 0;

    must(ask(asker, question, NULL, &error), &error);
    memcpy(expected, asker->answer, sizeof expected);
    assert_true(expected[0] != 0);
    held = blocks_held(asker, question, expected);
    do {
        enum petal_status status;

        before = failures(asker);
        n++;
        if (asker->fail_memory)
            test_allocator_fail_at(&asker->fixture.base.allocator, n, false);
        else
            memory_vfs_fail_at(asker->fixture.base.vfs, n, EIO, false);
        status = ask(asker, question, expected, &error);
        no_more_faults(asker);
        if (status != PETAL_OK) {
            reported++;
            assert_int_equal(status, asker->fail_memory ? PETAL_NO_MEMORY : PETAL_IO);
            assert_int_equal(error.status, status);
            assert_true(error.text[0] != 0);
        } else if (strcmp(asker->answer, expected) != 0) {
            fail_msg("%s, fault %u: %s", question->name, (unsigned)n, asker->answer);
        }
        must(ask(asker, question, NULL, &error), &error);
        assert_string_equal(asker->answer, expected);
        assert_int_equal(blocks_held(asker, question, expected), held);
    } while (failures(asker) > before);
    return reported;
}

/* What the families hold and keep: of the first two kinds each row and column is there several
 * times, of the third once, which has ways of its own. */
enum contents { VERSIONS_AND_MARKERS, ORDER_OF_WRITES, PLAIN, CONTENTS };

static const petal_family_options families[CONTENTS] = {
    [VERSIONS_AND_MARKERS] = {.versions = 3, .block_bytes = 1024, .bloom = PETAL_BLOOM_ROW_ROWCOL},
    [ORDER_OF_WRITES] = {.versions = 3,
                         .block_bytes = 1024,
                         .bloom = PETAL_BLOOM_ROW,
                         .new_version_behavior = true,
                         .keep_deleted_cells = PETAL_KEEP_DELETED_TRUE},
    [PLAIN] = {.versions = 1, .block_bytes = 1024, .bloom = PETAL_BLOOM_ROWCOL},
};

static void
fill(const struct read_fixture *fixture, enum contents contents)
{
    static uint8_t filler[600];

    for (int i = 0; i < 300; i++) {
        char row[8], qualifier[8], value[8];

        snprintf(row, sizeof row, "r%02d", i * 7 % 8);
        snprintf(qualifier, sizeof qualifier, "q%d", i % 5);
        snprintf(value, sizeof value, "v%d", i % 9);
        reads_put(fixture, i % 3 == 0 ? "g" : "f", text(row), text(qualifier), 10 + i % 4,
                  text(value));
        if (i % 11 == 0 && contents != PLAIN)
            reads_delete(fixture, "f", text(row), text(""), 10, PETAL_DELETE_FAMILY);
        if (i % 13 == 0 && contents != PLAIN)
            reads_delete(fixture, "g", text(row), text(qualifier), 11, PETAL_DELETE);
        if (i % 30 == 10)
            reads_put(fixture, "g", text("x"), text("big"), i,
                      slice_make(filler, i < 40 ? 600 : 1));
        if (i % 100 == 70)
            reads_flush(fixture);
    }
}

static void
fail_all(enum contents contents, bool memory, size_t cache_bytes)
{
    petal_family_options family = families[contents];
    static struct asker asker;

    reads_open(&asker.fixture, "fg", &family);
    fill(&asker.fixture, contents);
    asker.fail_memory = memory;
    for (size_t i = 0; i < QUESTIONS; i++) {
        unsigned reported;

        /* Anew, so that the cache is empty; what is in memory is in a log again. */
        fixture_die(&asker.fixture.base);
        asker.fixture.base.options.cache_bytes = cache_bytes;
        fixture_must_open(&asker.fixture.base);
        MUST(petal_table_open(asker.fixture.base.db, text("t"), &asker.fixture.table, WHY));
        reported = fail_each(&asker, &questions[i]);
        assert_true(reported > (memory ? 5 : 0));
    }
    fixture_fini(&asker.fixture.base);
}

TEST(test_each_allocation_fails_once)
{
    fail_all(VERSIONS_AND_MARKERS, true, PETAL_NO_CACHE);
    fail_all(PLAIN, true, PETAL_NO_CACHE);
    fail_all(VERSIONS_AND_MARKERS, true, (size_t)64 << 10);
}

TEST(test_each_file_call_fails_once)
{
    for (enum contents contents = 0; contents < CONTENTS; contents++)
        fail_all(contents, false, PETAL_NO_CACHE);
}
