/*
 * cursor_test.c -- seeks of cursors against the naive model: forward and back, to rows and
 * into rows, on tables made by random writes; while other writes and flushes go on, which the
 * cursor must not see. Moves of all kinds beside a thread that writes, flushes and compactions. And
 * places inside a row: of raw scans, of filters that decide on rows, the cursor's own, and in rows
 * that some families lack.
 */

#include "engine/state/db.h"
#include "tests/engine/read/fixture.h"
#include "tests/model/run.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 40
#define WRITES 60

struct cursor_fixture {
    struct fixture base;
    struct engine engine;
    struct model model;
    struct operation_list list;
    struct model_text text;
};

static void
create(struct cursor_fixture *fixture)
{
    struct run_settings settings = {.bloom = PETAL_BLOOM_ROWCOL, .block_bytes = 1024};
    petal_family_options families[MODEL_FAMILIES];
    petal_table_options options = {
        .name = slice_from_text("t"), .families = families, .family_count = MODEL_FAMILIES};

    for (unsigned i = 0; i < MODEL_FAMILIES; i++) {
        run_family_options(&fixture->list.schemas[0].families[i], &settings, &families[i]);
        families[i].name = model_text_family_name(i);
    }
    MUST(petal_table_create(fixture->base.db, &options, &fixture->engine.tables[0].table, WHY));
    for (unsigned i = 0; i < MODEL_FAMILIES; i++)
        fixture->engine.tables[0].families[i] =
            petal_table_family_at(fixture->engine.tables[0].table, i);
    fixture->engine.db = fixture->base.db;
    MUST(petal_result_new(fixture->base.db, &fixture->engine.result, WHY));
}

/* The writes and flushes of a random list, on both sides. */
static void
write_some(struct cursor_fixture *fixture, bool model_too)
{
    struct model_results results;

    for (size_t i = 0; i < fixture->list.count; i++) {
        const struct operation *operation = &fixture->list.operations[i];

        test_clock_set(&fixture->base.clock, operation->now_ms);
        fixture->model.now_ms = operation->now_ms;
        if (operation->kind == OPERATION_WRITE) {
            model_text_clear(&fixture->text);
            engine_write(&fixture->engine, operation, &fixture->text);
            assert_string_equal(fixture->text.bytes, "ok\n");
            if (model_too)
                model_write(&fixture->model, operation->items, operation->item_count, NULL,
                            &results);
        } else if (operation->kind == OPERATION_FLUSH) {
            MUST(petal_flush(fixture->base.db, NULL, WHY));
            if (model_too)
                model_flush(&fixture->model, fixture->model.sequence);
        }
    }
}

static void
begin(struct cursor_fixture *fixture, uint64_t seed)
{
    *fixture = (struct cursor_fixture){.model.cells = NULL};
    fixture_init(&fixture->base, seed);
    fixture_must_open(&fixture->base);
    operation_list_make(&fixture->list, seed, 2 * WRITES, FEATURE_VERSIONS | FEATURE_KEEP_DELETED);
    model_init(&fixture->model, fixture->list.schemas[0].families);
    create(fixture);
    write_some(fixture, true);
}

static void
end(struct cursor_fixture *fixture)
{
    petal_result_free(fixture->engine.result);
    model_free(&fixture->model);
    operation_list_free(&fixture->list);
    model_text_free(&fixture->text);
    fixture_fini(&fixture->base);
}

static void
same_cell(const petal_cell *got, const struct model_cell *expected)
{
    assert_non_null(got);
    assert_true(slice_equal(got->row, model_slice(&expected->row)));
    assert_true(slice_equal(got->family, model_text_family_name(expected->family)));
    assert_true(slice_equal(got->qualifier, model_slice(&expected->qualifier)));
    assert_true(slice_equal(got->value, model_slice(&expected->value)));
    assert_int_equal(got->timestamp, expected->timestamp);
}

static bool
same_column(const struct model_cell *a, const struct model_cell *b)
{
    return a->family == b->family &&
           slice_equal(model_slice(&a->qualifier), model_slice(&b->qualifier)) &&
           slice_equal(model_slice(&a->row), model_slice(&b->row));
}

/* Seek to the column of cell `from`, or to the beginning of its row, and compare up to `most` cells
 * from there on. */
static void
seek_and_compare(struct cursor_fixture *fixture, petal_cursor *cursor,
                 const struct model_answer *answer, size_t from, bool whole_row, size_t most)
{
    const struct model_cell *first = answer->cells[from];
    const petal_cell *cell;

    while (from > 0 && (same_column(answer->cells[from - 1], first) ||
                        (whole_row && slice_equal(model_slice(&answer->cells[from - 1]->row),
                                                  model_slice(&first->row)))))
        from--;
    MUST(petal_cursor_seek(cursor, model_slice(&first->row),
                           whole_row ? NULL : fixture->engine.tables[0].families[first->family],
                           whole_row ? slice_make(NULL, 0) : model_slice(&first->qualifier), WHY));
    for (; from < answer->count && most > 0; from++, most--) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        same_cell(cell, answer->cells[from]);
    }
    if (from == answer->count && most > 0) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        assert_null(cell);
    }
}

static void
seek_about(uint64_t seed, bool reversed)
{
    struct model_read read = {.versions = PETAL_ALL_VERSIONS, .read_point = UINT64_MAX};
    struct model_scan scan = {.reversed = reversed};
    petal_scan_options options = {.read.versions = PETAL_ALL_VERSIONS, .reversed = reversed};
    struct model_answer answer = {0};
    struct test_random random;
    struct cursor_fixture fixture;
    petal_cursor *cursor;

    begin(&fixture, seed);
    test_random_init(&random, seed);
    model_scan(&fixture.model, &read, &scan, &answer);
    MUST(petal_cursor_open(fixture.engine.tables[0].table, &options, &cursor, WHY));
    for (unsigned i = 0; answer.count > 0 && i < 60; i++) {
        seek_and_compare(
            &fixture, cursor, &answer, (size_t)test_random_below(&random, answer.count),
            test_random_chance(&random, 40), (size_t)test_random_below(&random, answer.count + 2));
        if (i == 20) /* the same again: what the cursor must not see */
            write_some(&fixture, false);
    }
    petal_cursor_close(cursor);
    model_answer_free(&answer);
    end(&fixture);
}

TEST(test_seeks)
{
    uint64_t seed = test_seed();

    for (unsigned round = 0; round < ROUNDS; round++)
        seek_about(seed + round, false);
}

TEST(test_seeks_of_reversed_scans)
{
    uint64_t seed = test_seed();

    for (unsigned round = 0; round < ROUNDS; round++)
        seek_about(seed + round, true);
}

/* ---- beside background work ---- */

struct writer {
    struct cursor_fixture *fixture;
    pthread_t thread;
    atomic_bool stop;
    _Atomic(int) status; /* of the first write that failed */
};

#define LEAST_WRITES 250 /* of half a KiB: some flushes and compactions */

/* Overwrite what the fixture has. */
static void *
write_meanwhile(void *argument)
{
    struct writer *writer = argument;
    struct cursor_fixture *fixture = writer->fixture;
    char value[500] = {0};

    for (size_t i = 0; i < LEAST_WRITES || !atomic_load(&writer->stop); i++) {
        const struct operation *operation = &fixture->list.operations[i % fixture->list.count];
        const struct model_item *item = operation->items;
        enum petal_status status = PETAL_OK;

        if (operation->kind == OPERATION_WRITE)
            status = petal_put(fixture->engine.tables[0].families[i % MODEL_FAMILIES],
                               model_slice(&item->row), model_slice(&item->qualifier), PETAL_LATEST,
                               slice_make(value, sizeof value), NULL, NULL);
        if (status != PETAL_OK)
            atomic_store(&writer->status, (int)status);
    }
    return NULL;
}

/* Cursors at a snapshot that is older than the writer's first write. */
static void
compare_moves(struct cursor_fixture *fixture)
{
    struct model_cursor cursors[OPERATION_CURSORS] = {{.open = false}};
    const struct operation *scans[OPERATION_CURSORS] = {NULL};
    struct model_text expected = {0};

    for (size_t i = 0; i < fixture->list.count; i++) {
        struct operation *operation = &fixture->list.operations[i];

        if (operation->kind != OPERATION_OPEN_CURSOR && operation->kind != OPERATION_MOVE_CURSOR &&
            operation->kind != OPERATION_CLOSE_CURSOR)
            continue;
        operation->snapshot = 1;
        model_text_clear(&expected);
        model_text_clear(&fixture->text);
        expect_cursor(&fixture->model, &cursors[operation->cursor], &scans[operation->cursor],
                      operation, UINT64_MAX, &expected);
        if (operation->kind == OPERATION_OPEN_CURSOR)
            engine_open_cursor(&fixture->engine, operation, 0, &fixture->text);
        else if (operation->kind == OPERATION_MOVE_CURSOR)
            engine_move_cursor(&fixture->engine, operation, &fixture->text);
        else
            engine_close_cursor(&fixture->engine, operation, &fixture->text);
        assert_string_equal(fixture->text.bytes, expected.bytes);
    }
    for (size_t i = 0; i < OPERATION_CURSORS; i++) {
        model_cursor_close(&cursors[i]);
        petal_cursor_close(fixture->engine.cursors[i]);
    }
    model_text_free(&expected);
}

/* Close, and open with what works in the background. */
static void
reopen(struct cursor_fixture *fixture)
{
    petal_result_free(fixture->engine.result);
    fixture_must_close(&fixture->base);
    fixture->base.options.no_compaction = false;
    fixture->base.options.memtable_bytes = (size_t)64 << 10;
    fixture_must_open(&fixture->base);
    fixture->engine.db = fixture->base.db;
    MUST(petal_table_open(fixture->base.db, text("t"), &fixture->engine.tables[0].table, WHY));
    for (unsigned i = 0; i < MODEL_FAMILIES; i++)
        fixture->engine.tables[0].families[i] =
            petal_table_family_at(fixture->engine.tables[0].table, i);
    MUST(petal_result_new(fixture->base.db, &fixture->engine.result, WHY));
}

/* All versions are kept, and compactions begin after the writes: so what is seen does not depend
 * on when they come. */
static void
move_beside_writes(uint64_t seed)
{
    struct cursor_fixture fixture = {.model.cells = NULL};
    struct writer writer = {.fixture = &fixture};

    fixture_init(&fixture.base, seed);
    fixture_must_open(&fixture.base);
    operation_list_make(&fixture.list, seed, 4 * WRITES,
                        FEATURE_SCANS | FEATURE_CURSORS | FEATURE_FILTERS | FEATURE_CELL_LIMITS);
    for (unsigned family = 0; family < MODEL_FAMILIES; family++)
        fixture.list.schemas[0].families[family].versions = INT32_MAX;
    model_init(&fixture.model, fixture.list.schemas[0].families);
    create(&fixture);
    write_some(&fixture, true);
    reopen(&fixture);
    MUST(petal_snapshot_new(fixture.base.db, &fixture.engine.snapshots[1], WHY));
    assert_int_equal(pthread_create(&writer.thread, NULL, write_meanwhile, &writer), 0);
    compare_moves(&fixture);
    atomic_store(&writer.stop, true);
    pthread_join(writer.thread, NULL);
    assert_int_equal(atomic_load(&writer.status), PETAL_OK);
    petal_snapshot_free(fixture.engine.snapshots[1]);
    end(&fixture);
}

TEST(test_moves_beside_background_work)
{
    uint64_t seed = test_seed();

    for (unsigned round = 0; round < (test_long() ? ROUNDS : 5u); round++)
        move_beside_writes(seed + round);
}

/* ---- places inside a row ---- */

TEST(test_raw_seeks_find_markers)
{
    petal_scan_options scan = {.raw = true, .read.versions = PETAL_ALL_VERSIONS};
    struct read_fixture fixture;
    petal_cursor *cursor;
    petal_family *a, *b;

    reads_open(&fixture, "ab", NULL);
    a = reads_family(&fixture, "a");
    b = reads_family(&fixture, "b");
    reads_put(&fixture, "a", text("r"), text("a"), 1, text("1"));
    reads_put(&fixture, "a", text("r"), text("m"), 1, text("2"));
    reads_put(&fixture, "a", text("r"), text("z"), 1, text("3"));
    reads_put(&fixture, "b", text("r"), text("m"), 1, text("4"));
    reads_delete(&fixture, "a", text("r"), text(""), 5, PETAL_DELETE_FAMILY);
    reads_delete(&fixture, "b", text("r"), text(""), 6, PETAL_DELETE_FAMILY_VERSION);
    for (int reversed = 0; reversed < 2; reversed++) {
        scan.reversed = reversed;
        cursor = reads_cursor(&fixture, &scan);
        reads_seek(cursor, text("r"), a, text("m"));
        assert_string_equal(reads_rest(cursor), "r/a:m@1=2 r/a:z@1=3 r/b:@6!10 r/b:m@1=4 ");
        reads_seek(cursor, text("r"), a, text(""));
        assert_string_equal(reads_next(cursor), "r/a:@5!14 ");
        assert_string_equal(reads_next(cursor), "r/a:a@1=1 ");
        reads_seek(cursor, text("r"), b, text(""));
        assert_string_equal(reads_rest(cursor), "r/b:@6!10 r/b:m@1=4 ");
        reads_seek(cursor, text("r"), b, BYTES("\0"));
        assert_string_equal(reads_rest(cursor), "r/b:m@1=4 ");
        petal_cursor_close(cursor);
    }
    fixture_fini(&fixture.base);
}

/* A filter that decides on rows sees what lies before the place, too. */
TEST(test_row_filters_judge_the_whole_row)
{
    petal_scan_options scan = {.stop_row = {NULL, 0}};
    struct read_fixture fixture;
    petal_filter *filter;
    petal_cursor *cursor;
    petal_family *b;

    reads_open(&fixture, "ab", NULL);
    b = reads_family(&fixture, "b");
    for (int row = 0; row < 2; row++) {
        reads_put(&fixture, "a", text(row == 0 ? "r1" : "r2"), text("q"), 1,
                  text(row == 0 ? "bad" : "1"));
        reads_put(&fixture, "b", text(row == 0 ? "r1" : "r2"), text("a"), 1, text("2"));
        reads_put(&fixture, "b", text(row == 0 ? "r1" : "r2"), text("m"), 1, text("3"));
    }
    filter = reads_filter(&fixture, "SKIP ValueFilter(!=, 'binary:bad')");
    scan.read.filter = filter;
    cursor = reads_cursor(&fixture, &scan);
    reads_seek(cursor, text("r2"), b, text("b"));
    assert_string_equal(reads_rest(cursor), "r2/b:m@1=3 ");
    reads_seek(cursor, text("r2"), b, text("n"));
    assert_string_equal(reads_rest(cursor), "");
    reads_seek(cursor, text("r1"), b, text("b")); /* not a row of this scan */
    assert_string_equal(reads_rest(cursor), "r2/a:q@1=1 r2/b:a@1=2 r2/b:m@1=3 ");
    petal_cursor_close(cursor);
    petal_filter_free(filter);
    fixture_fini(&fixture.base);
}

/* Walk to each of the table's cells, seek where the cursor is, and get the same cell again. */
static void
seek_own_cells(struct read_fixture *fixture, const petal_scan_options *scan)
{
    petal_cursor *cursor = reads_cursor(fixture, scan);
    const petal_cell *cell;
    char before[200];
    int cells = 0;

    MUST(petal_cursor_next(cursor, &cell, WHY));
    for (; cell != NULL; cells++) {
        petal_family *family;

        snprintf(before, sizeof before, "%.190s", reads_cell_text(cell));
        MUST(petal_table_family(fixture->table, cell->family, &family, WHY));
        MUST(petal_cursor_seek(cursor, cell->row, family, cell->qualifier, WHY));
        MUST(petal_cursor_next(cursor, &cell, WHY));
        assert_non_null(cell);
        assert_string_equal(reads_cell_text(cell), before);
        MUST(petal_cursor_next(cursor, &cell, WHY));
    }
    assert_int_equal(cells, 12 * 8);
    petal_cursor_close(cursor);
}

TEST(test_seeks_to_the_own_cell)
{
    static const petal_family_options family = {.block_bytes = 1024,
                                                .compression = PETAL_COMPRESSION_NONE};
    uint8_t value[150] = {0};
    struct read_fixture fixture;
    petal_filter *filter;

    memset(value, 'v', sizeof value - 1);
    reads_open(&fixture, "ab", &family);
    fixture_must_close(&fixture.base);
    fixture.base.options.cache_bytes = PETAL_NO_CACHE;
    fixture_must_open(&fixture.base);
    must(petal_table_open(fixture.base.db, text("t"), &fixture.table, NULL), NULL);
    filter = reads_filter(&fixture, "SKIP ValueFilter(!=, 'binary:bad')");
    for (int i = 0; i < 12 * 8; i++) {
        char row[16], qualifier[16];

        snprintf(row, sizeof row, "r%03d", i / 8);
        snprintf(qualifier, sizeof qualifier, "q%03d", i % 4);
        reads_put(&fixture, i / 4 % 2 == 0 ? "a" : "b", text(row), text(qualifier), 1,
                  slice_make(value, sizeof value));
    }
    for (int turn = 0; turn < 2; turn++) {
        for (int kind = 0; kind < 6; kind++) {
            petal_scan_options scan = {.reversed = kind % 2 == 1,
                                       .raw = kind / 2 == 1,
                                       .read.filter = kind / 2 == 2 ? filter : NULL};

            seek_own_cells(&fixture, &scan);
        }
        reads_flush(&fixture);
    }
    petal_filter_free(filter);
    fixture_fini(&fixture.base);
}

/* ---- families that have no cell in many rows ---- */

/* Rows r1 to r3 of family a, r1 and r3 of b, r2 and r3 of c. */
static void
fill_with_gaps(struct read_fixture *fixture)
{
    static const char *const cells[][2] = {{"a", "r1"}, {"a", "r2"}, {"a", "r3"}, {"b", "r1"},
                                           {"b", "r3"}, {"c", "r2"}, {"c", "r3"}};

    reads_open(fixture, "abc", NULL);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        reads_put(fixture, cells[i][0], text(cells[i][1]), text("q"), 1, text("v"));
}

/* A place in a family that has no cell in the row: its next row stays whole. */
TEST(test_seeks_into_a_family_that_the_row_lacks)
{
    struct read_fixture fixture;
    petal_cursor *cursor;

    fill_with_gaps(&fixture);
    cursor = reads_cursor(&fixture, NULL);
    assert_string_equal(reads_next(cursor), "r1/a:q@1=v ");
    assert_string_equal(reads_next(cursor), "r1/b:q@1=v ");
    reads_seek(cursor, text("r2"), reads_family(&fixture, "b"), text(""));
    assert_string_equal(reads_rest(cursor), "r2/c:q@1=v r3/a:q@1=v r3/b:q@1=v r3/c:q@1=v ");
    reads_seek(cursor, text("r1"), reads_family(&fixture, "c"), text(""));
    assert_string_equal(reads_next(cursor), "r2/a:q@1=v ");
    petal_cursor_close(cursor);
    fixture_fini(&fixture.base);
}

/* The same by a seek to the row alone, and after the end of a family. */
TEST(test_steps_from_a_row_that_the_first_family_lacks)
{
    struct read_fixture fixture;
    petal_cursor *cursor;

    reads_open(&fixture, "ab", NULL);
    reads_put(&fixture, "a", text("r1"), text("q"), 1, text("v"));
    reads_put(&fixture, "b", text("r1"), text("q"), 1, text("v"));
    reads_put(&fixture, "b", text("r2"), text("q"), 1, text("v"));
    cursor = reads_cursor(&fixture, NULL);
    assert_string_equal(reads_next(cursor), "r1/a:q@1=v ");
    reads_seek(cursor, text("r2"), NULL, text(""));
    assert_string_equal(reads_rest(cursor), "r2/b:q@1=v ");
    reads_put(&fixture, "a", text("r3"), text("q"), 1, text("v"));
    petal_cursor_close(cursor);
    cursor = reads_cursor(&fixture, NULL);
    assert_string_equal(reads_next(cursor), "r1/a:q@1=v ");
    reads_seek(cursor, text("r2"), NULL, text(""));
    assert_string_equal(reads_rest(cursor), "r2/b:q@1=v r3/a:q@1=v ");
    petal_cursor_close(cursor);
    fixture_fini(&fixture.base);
}

/* Steps by cells and by rows in turn; rows get longer, so that the memory for the row at hand
 * moves. */
TEST(test_cells_and_rows_in_turn)
{
    char row[64];
    struct read_fixture fixture;
    petal_cursor *cursor;
    petal_result *result;

    reads_open(&fixture, "abc", NULL);
    for (int i = 1; i <= 40; i++) {
        memset(row, 'r', sizeof row);
        reads_put(&fixture,
                  i % 4 == 1   ? "a"
                  : i % 4 == 2 ? "b"
                               : "c",
                  slice_make(row, (size_t)i), text("q"), 1, text("v"));
    }
    cursor = reads_cursor(&fixture, NULL);
    result = reads_result(&fixture);
    for (size_t i = 1; i <= 40; i++) {
        const petal_cell *cell = NULL;

        if (i % 3 == 0) {
            MUST(petal_cursor_next_row(cursor, result, WHY));
            assert_int_equal(petal_result_count(result), 1);
            cell = petal_result_cell(result, 0);
        } else {
            MUST(petal_cursor_next(cursor, &cell, WHY));
            assert_non_null(cell);
        }
        assert_int_equal(cell->row.size, i);
    }
    assert_string_equal(reads_rest(cursor), "");
    petal_cursor_close(cursor);
    petal_result_free(result);
    fixture_fini(&fixture.base);
}

/* ---- deadlines ---- */

/* A get that is late gives nothing, of several rows as well; cursors go on, in the row and by any
 * step, and a column that no row has is looked for in steps, too. */
TEST(test_reads_that_are_late)
{
    petal_family_options family = {.versions = 3};
    petal_read_options late = {.deadline_ms = 1, .versions = 3};
    petal_scan_options scan = {.read = late};
    petal_slice rows[2] = {text("none"), text("r")};
    struct read_fixture fixture;
    petal_result *results[2];
    petal_cursor *cursor;
    petal_column column;
    petal_error error;
    const petal_cell *cell;
    enum petal_status status;
    unsigned calls = 0, cells = 0;
    char name[8];

    reads_open(&fixture, "f", &family);
    for (unsigned i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "q%03u", i);
        reads_put(&fixture, "f", text("r"), text(name), 1, text("v"));
        reads_put(&fixture, "f", text(name), text("q"), 1, text("v"));
    }
    results[0] = reads_result(&fixture);
    results[1] = reads_result(&fixture);
    /* In time. */
    late.deadline_ms = 60000;
    must(petal_get(fixture.table, text("r"), &late, results[1], &error), &error);
    assert_int_equal(petal_result_count(results[1]), 50);
    must(petal_multi_get(fixture.table, rows, 2, &late, results, &error), &error);
    assert_int_equal(petal_result_count(results[1]), 50);
    late.deadline_ms = PETAL_NO_WAIT;
    must(petal_get(fixture.table, text("r"), &late, results[1], &error), &error);
    assert_int_equal(petal_result_count(results[1]), 50);
    late.deadline_ms = 1;
    atomic_store(&fixture.base.db->hasty_reads, 5);
    assert_int_equal(petal_get(fixture.table, text("r"), &late, results[1], &error), PETAL_TIMEOUT);
    assert_int_equal(error.status, PETAL_TIMEOUT);
    assert_string_equal(error.text, "the read's 1 milliseconds are over");
    assert_int_equal(petal_result_count(results[1]), 0);
    assert_int_equal(petal_multi_get(fixture.table, rows, 2, &late, results, &error),
                     PETAL_TIMEOUT);
    assert_int_equal(petal_result_count(results[1]), 0);
    /* A row in pieces of a call, the last of which gives it. */
    scan.start_row = text("r");
    must(petal_cursor_open(fixture.table, &scan, &cursor, &error), &error);
    while ((status = petal_cursor_next_row(cursor, results[0], &error)) == PETAL_TIMEOUT)
        assert_int_equal(petal_result_count(results[calls++ % 2]), 0);
    must(status, &error);
    assert_true(calls > 0);
    assert_int_equal(petal_result_count(results[0]), 50);
    petal_cursor_close(cursor);
    /* Begun as a row, read on by cells. */
    must(petal_cursor_open(fixture.table, &scan, &cursor, &error), &error);
    assert_int_equal(petal_cursor_next_row(cursor, results[0], &error), PETAL_TIMEOUT);
    while ((status = petal_cursor_next(cursor, &cell, &error)) == PETAL_TIMEOUT || cell != NULL)
        cells += cell != NULL;
    must(status, &error);
    assert_int_equal(cells, 50);
    petal_cursor_close(cursor);
    /* A column that none has. */
    column = (petal_column){.family = reads_family(&fixture, "f"), .qualifier = text("a")};
    scan = (petal_scan_options){.read = {.columns = &column, .column_count = 1, .deadline_ms = 1}};
    must(petal_cursor_open(fixture.table, &scan, &cursor, &error), &error);
    for (calls = 0; (status = petal_cursor_next(cursor, &cell, &error)) == PETAL_TIMEOUT;)
        calls++;
    must(status, &error);
    assert_null(cell);
    assert_in_range(calls, 2, 50);
    petal_cursor_close(cursor);
    petal_result_free(results[0]);
    petal_result_free(results[1]);
    fixture_fini(&fixture.base);
}

/* A filter may take long for a single cell, so the clock is looked at every few of them: here each
 * takes 2^18 steps of a regular expression, and a value of a few bytes. */
TEST(test_costly_filters_are_stopped)
{
    petal_family_options family = {.versions = 1};
    petal_scan_options scan = {.read.deadline_ms = 1};
    struct read_fixture fixture;
    petal_receipt *receipt;
    petal_filter *filter;
    petal_cursor *cursor;
    petal_error error;
    const petal_cell *cell;
    char name[8];

    reads_open(&fixture, "f", &family);
    for (unsigned i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "r%03u", i);
        reads_put(&fixture, "f", text(name), text("q"), 1, text("aaaaaaaaaaaaaaaaaaX"));
    }
    must(petal_flush(fixture.base.db, NULL, &error), &error);
    must(petal_filter_parse(fixture.base.db, text("ValueFilter(=,'regexstring:^(a|a)*[Y-Z]$')"),
                            &filter, &error),
         &error);
    must(petal_receipt_new(fixture.base.db, &receipt, &error), &error);
    scan.read.filter = filter;
    scan.read.receipt = receipt;
    must(petal_cursor_open(fixture.table, &scan, &cursor, &error), &error);
    assert_int_equal(petal_cursor_next(cursor, &cell, &error), PETAL_TIMEOUT);
    petal_cursor_close(cursor);
    assert_in_range(petal_receipt_at(receipt, 0)->cells_read, 2, 100);
    petal_receipt_free(receipt);
    petal_filter_free(filter);
    fixture_fini(&fixture.base);
}
