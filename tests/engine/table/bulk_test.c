/*
 * bulk_test.c -- cells that are loaded in bulk: what they are in the table, what is refused, that
 * they enter all or none, above what was written before and unseen by readers of before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/engine/table/copy_fixture.h"
#include "tests/engine/table/fixture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PUT            PETAL_PUT
#define VERSION        PETAL_DELETE
#define FAMILY_VERSION PETAL_DELETE_FAMILY_VERSION
#define COLUMN         PETAL_DELETE_COLUMN
#define FAMILY         PETAL_DELETE_FAMILY

static petal_cell
cell_of(const char *row, const char *qualifier, int64_t timestamp, enum petal_cell_type type,
        const char *value)
{
    return (petal_cell){.row = text(row),
                        .qualifier = text(qualifier),
                        .timestamp = timestamp,
                        .type = type,
                        .value = text(value)};
}

static enum petal_status
add(petal_bulk *bulk, petal_family *family, const char *row, const char *qualifier,
    int64_t timestamp, enum petal_cell_type type, const char *value, petal_error *error)
{
    petal_cell cell = cell_of(row, qualifier, timestamp, type, value);

    return petal_bulk_add(bulk, family, &cell, error);
}

static petal_bulk *
begin(petal_table *table)
{
    petal_bulk *bulk;
    petal_error error;

    must(petal_bulk_begin(table, NULL, &bulk, &error), &error);
    return bulk;
}

static void
must_add(petal_bulk *bulk, petal_family *family, const char *row, const char *qualifier,
         int64_t timestamp, enum petal_cell_type type, const char *value)
{
    petal_error error;

    must(add(bulk, family, row, qualifier, timestamp, type, value, &error), &error);
}

static void
must_commit(petal_bulk *bulk)
{
    petal_error error;

    must(petal_bulk_commit(bulk, &error), &error);
    petal_bulk_free(bulk);
}

static void
must_put(petal_family *family, const char *row, const char *qualifier, int64_t timestamp,
         const char *value)
{
    petal_error error;

    must(petal_put(family, text(row), text(qualifier), timestamp, text(value), NULL, &error),
         &error);
}

static void
must_flush(petal_db *db)
{
    petal_error error;

    must(petal_flush(db, NULL, &error), &error);
}

static void
must_compact(petal_table *table)
{
    petal_error error;

    must(petal_compact(table, NULL, &error), &error);
}

static petal_snapshot *
must_snapshot(petal_db *db)
{
    petal_snapshot *snapshot;
    petal_error error;

    must(petal_snapshot_new(db, &snapshot, &error), &error);
    return snapshot;
}

static petal_table *
make_table(struct fixture *fixture, uint32_t versions)
{
    petal_family_options families[] = {
        {.name = {"f", 1}, .versions = versions, .block_bytes = 1024},
        {.name = {"g", 1}, .versions = versions, .bloom = PETAL_BLOOM_ROWCOL}};
    petal_table_options options = {.name = text("t"), .families = families, .family_count = 2};
    petal_table *table;
    petal_error error;

    must(petal_table_create(fixture->db, &options, &table, &error), &error);
    return table;
}

/* ---- what is in the table ---- */

/* "row/family:qualifier@timestamp=value " of each cell; markers with their type in place of '='. */
static const char *
content(petal_table *table, const petal_snapshot *snapshot, bool raw)
{
    static char line[8192];
    petal_scan_options options = {
        .read.snapshot = snapshot, .read.versions = PETAL_ALL_VERSIONS, .raw = raw};
    const petal_cell *cell;
    petal_cursor *cursor;
    petal_error error;
    size_t used = 0;

    line[0] = '\0';
    must(petal_cursor_open(table, &options, &cursor, &error), &error);
    for (;;) {
        char kind[8] = "=";

        must(petal_cursor_next(cursor, &cell, &error), &error);
        if (cell == NULL)
            break;
        if (cell->type != PETAL_PUT)
            snprintf(kind, sizeof kind, "!%d", (int)cell->type);
        used += (size_t)snprintf(line + used, sizeof line - used,
                                 "%.*s/%.*s:%.*s@%" PRId64 "%s%.*s ", (int)cell->row.size,
                                 (const char *)cell->row.data, (int)cell->family.size,
                                 (const char *)cell->family.data, (int)cell->qualifier.size,
                                 (const char *)cell->qualifier.data, cell->timestamp, kind,
                                 (int)cell->value.size, (const char *)cell->value.data);
        assert_true(used < sizeof line);
    }
    petal_cursor_close(cursor);
    return line;
}

static void
expect(petal_table *table, const char *wanted)
{
    petal_error error;

    assert_string_equal(content(table, NULL, false), wanted);
    must(petal_table_verify(table, &error), &error);
}

/* What a get of one column gives; "" for nothing. */
static const char *
value_at(petal_db *db, petal_table *table, const char *row, const char *qualifier,
         const petal_snapshot *snapshot)
{
    static char value[200];
    petal_column column = {.family = table_family_named(table, "f"), .qualifier = text(qualifier)};
    petal_read_options options = {.columns = &column, .column_count = 1, .snapshot = snapshot};
    petal_result *result;
    petal_error error;

    value[0] = '\0';
    must(petal_result_new(db, &result, &error), &error);
    must(petal_get(table, text(row), &options, result, &error), &error);
    if (petal_result_count(result) > 0) {
        petal_slice found = petal_result_cell(result, 0)->value;

        snprintf(value, sizeof value, "%.*s", (int)found.size, (const char *)found.data);
    }
    petal_result_free(result);
    return value;
}

static petal_table *
reopen(struct fixture *fixture)
{
    fixture_must_close(fixture);
    fixture_must_open(fixture);
    return table_reopen(fixture);
}

/* ---- what enters ---- */

static void
timestamps_versions_markers_and_lives_stay(void **state)
{
    static const char all[] = "a/f:@9!14 a/f:@7!10 a/f:@5=e a/f:p@8=new a/f:p@3=old a/f:q@6!12 "
                              "a/f:q@6!8 a/f:q@6=x b/f:p@2=late b/g:z@4=other ";
    struct fixture fixture;
    petal_family *f, *g;
    petal_table *table;
    petal_bulk *bulk;
    petal_cell mortal = cell_of("b", "p", 2, PUT, "late");
    petal_error error;

    (void)state;
    table_begin(&fixture);
    table = make_table(&fixture, 5);
    f = table_family_named(table, "f");
    g = table_family_named(table, "g");
    bulk = begin(table);
    must_add(bulk, f, "a", "", 9, FAMILY, "");
    must_add(bulk, f, "a", "", 7, FAMILY_VERSION, "");
    must_add(bulk, f, "a", "", 5, PUT, "e");
    must_add(bulk, f, "a", "p", 8, PUT, "new");
    must_add(bulk, f, "a", "p", 3, PUT, "old");
    must_add(bulk, f, "a", "q", 6, COLUMN, "");
    must_add(bulk, f, "a", "q", 6, VERSION, "");
    must_add(bulk, f, "a", "q", 6, PUT, "x");
    must_add(bulk, g, "b", "z", 4, PUT, "other");
    mortal.has_ttl = true;
    mortal.ttl_ms = INT64_C(1) << 50;
    must(petal_bulk_add(bulk, f, &mortal, &error), &error);
    expect(table, "");
    must_commit(bulk);
    assert_string_equal(content(table, NULL, true), all);
    expect(table, "b/f:p@2=late b/g:z@4=other ");
    table = reopen(&fixture);
    assert_string_equal(content(table, NULL, true), all);
    must_compact(table);
    expect(table, "b/f:p@2=late b/g:z@4=other ");
    test_clock_set(&fixture.clock, (INT64_C(1) << 50) + 10);
    expect(table, "b/g:z@4=other ");
    fixture_fini(&fixture);
}

/* HBase has family markers among the cells of the empty qualifier, by their timestamps. */
static void
family_markers_come_beside_the_empty_qualifier(void **state)
{
    struct fixture fixture;
    petal_family *f;
    petal_table *table;
    petal_bulk *bulk;

    (void)state;
    table_begin(&fixture);
    table = make_table(&fixture, 5);
    f = table_family_named(table, "f");
    bulk = begin(table);
    must_add(bulk, f, "a", "", 9, PUT, "nine");
    must_add(bulk, f, "a", "", 8, FAMILY, "");
    must_add(bulk, f, "a", "", 8, PUT, "eight");
    must_add(bulk, f, "a", "", 5, FAMILY_VERSION, "");
    must_add(bulk, f, "a", "", 4, PUT, "four");
    must_add(bulk, f, "b", "", 4, PUT, "b");
    must_add(bulk, f, "c", "", 2, PUT, "c");
    must_add(bulk, f, "c", "d", 2, PUT, "cd");
    must_commit(bulk);
    expect(table, "a/f:@9=nine b/f:@4=b c/f:@2=c c/f:d@2=cd ");
    assert_string_equal(content(table, NULL, true),
                        "a/f:@9=nine a/f:@8!14 a/f:@8=eight a/f:@5!10 a/f:@4=four b/f:@4=b "
                        "c/f:@2=c c/f:d@2=cd ");
    fixture_fini(&fixture);
}

/* By the moment of the commit, wherever the other cells lie, and to all kinds of reads. */
static void
a_bulk_is_above_what_was_written_before_its_commit(void **state)
{
    struct fixture fixture;
    petal_family *f;
    petal_table *table;
    petal_bulk *bulk;
    petal_snapshot *before, *behind;

    (void)state;
    table_begin(&fixture);
    table = make_table(&fixture, 5);
    f = table_family_named(table, "f");
    must_put(f, "a", "file", 5, "lower");
    must_put(f, "a", "never", 5, "lower");
    must_flush(fixture.db);
    must_put(f, "a", "memory", 5, "lower");
    bulk = begin(table);
    must_put(f, "a", "between", 5, "lower");
    must_add(bulk, f, "a", "behind", 5, PUT, "bulk");
    must_add(bulk, f, "a", "between", 5, PUT, "bulk");
    must_add(bulk, f, "a", "file", 5, PUT, "bulk");
    must_add(bulk, f, "a", "memory", 5, PUT, "bulk");
    must_put(f, "a", "latest", 5, "lower");
    must_add(bulk, f, "a", "never", 5, VERSION, "");
    before = must_snapshot(fixture.db);
    must_commit(bulk);
    behind = must_snapshot(fixture.db);
    must_put(f, "a", "behind", 5, "higher");
    for (int round = 0; round < 4; round++) {
        assert_string_equal(content(table, before, false),
                            "a/f:between@5=lower a/f:file@5=lower a/f:latest@5=lower "
                            "a/f:memory@5=lower a/f:never@5=lower ");
        assert_string_equal(content(table, behind, false),
                            "a/f:behind@5=bulk a/f:between@5=bulk a/f:file@5=bulk "
                            "a/f:latest@5=lower a/f:memory@5=bulk ");
        expect(table, "a/f:behind@5=higher a/f:between@5=bulk a/f:file@5=bulk "
                      "a/f:latest@5=lower a/f:memory@5=bulk ");
        assert_string_equal(value_at(fixture.db, table, "a", "memory", NULL), "bulk");
        assert_string_equal(value_at(fixture.db, table, "a", "memory", before), "lower");
        assert_string_equal(value_at(fixture.db, table, "a", "behind", before), "");
        assert_string_equal(value_at(fixture.db, table, "a", "behind", behind), "bulk");
        assert_string_equal(value_at(fixture.db, table, "a", "behind", NULL), "higher");
        assert_string_equal(value_at(fixture.db, table, "a", "never", NULL), "");
        if (round == 0)
            must_compact(table);
        if (round == 1)
            must_flush(fixture.db);
        if (round == 2)
            must_compact(table);
    }
    petal_snapshot_free(before);
    petal_snapshot_free(behind);
    must_compact(table);
    table = reopen(&fixture);
    expect(table, "a/f:behind@5=higher a/f:between@5=bulk a/f:file@5=bulk "
                  "a/f:latest@5=lower a/f:memory@5=bulk ");
    fixture_fini(&fixture);
}

/* A compaction of all files must not put a bulk's markers away before what they hide in memory. */
static void
markers_wait_for_older_cells_in_memory(void **state)
{
    struct fixture fixture;
    petal_family *f;
    petal_table *table;
    petal_bulk *bulk;

    (void)state;
    table_begin(&fixture);
    table = make_table(&fixture, 1);
    f = table_family_named(table, "f");
    must_put(f, "a", "q", 5, "hidden");
    must_put(f, "b", "q", 5, "lower");
    bulk = begin(table);
    must_add(bulk, f, "a", "q", 7, COLUMN, "");
    must_add(bulk, f, "b", "q", 5, PUT, "bulk");
    must_commit(bulk);
    must_compact(table);
    expect(table, "b/f:q@5=bulk ");
    must_flush(fixture.db);
    expect(table, "b/f:q@5=bulk ");
    must_compact(table);
    expect(table, "b/f:q@5=bulk ");
    assert_string_equal(content(table, NULL, true), "b/f:q@5=bulk ");
    fixture_fini(&fixture);
}

/* Logs that hold what is in memory are replayed beside the bulk: nothing is lost, nothing twice. */
static void
what_memory_held_is_replayed_below_a_bulk(void **state)
{
    struct fixture fixture;
    petal_family *f;
    petal_table *table;
    petal_bulk *bulk;

    (void)state;
    table_begin(&fixture);
    table = make_table(&fixture, 5);
    f = table_family_named(table, "f");
    must_put(f, "a", "q", 5, "lower");
    must_put(f, "a", "r", 5, "kept");
    bulk = begin(table);
    must_add(bulk, f, "a", "q", 5, PUT, "bulk");
    must_put(f, "a", "s", 5, "kept");
    must_commit(bulk);
    must_put(f, "a", "t", 5, "kept");
    for (int round = 0; round < 3; round++) {
        fixture_die(&fixture);
        fixture_must_open(&fixture);
        table = table_reopen(&fixture);
        expect(table, "a/f:q@5=bulk a/f:r@5=kept a/f:s@5=kept a/f:t@5=kept ");
        assert_true(fixture_directory_is_clean(&fixture));
    }
    fixture_fini(&fixture);
}

/* ---- many cells ---- */

#define ROWS 3000

/* Three versions of row i, of which one is a marker now and then; in many blocks and files. */
static void
add_many(petal_bulk *bulk, petal_family *family, const char *value)
{
    for (int i = 0; i < ROWS; i++) {
        char row[16];

        snprintf(row, sizeof row, "row%06d", i);
        for (int64_t timestamp = 30; timestamp > 0; timestamp -= 10) {
            if (i % 7 == 3 && timestamp == 20)
                must_add(bulk, family, row, "q", timestamp, VERSION, "");
            must_add(bulk, family, row, "q", timestamp, PUT, value);
        }
    }
}

static bool
count_files(void *argument, const petal_file_info *file)
{
    int *files = argument;

    assert_true(file->sequence_min > 0 && file->sequence_min <= file->sequence_max);
    ++*files;
    return true;
}

/* Every cell by scans forward and back, by gets, and by seeks to it, as a bulk whose sequences were
 * shifted. */
static void
all_cells_are_found_in_many_files(void **state)
{
    petal_bulk_options options = {.file_bytes = 4096};
    petal_scan_options back = {.reversed = true, .read.versions = PETAL_ALL_VERSIONS};
    struct fixture fixture;
    petal_family *f;
    petal_table *table;
    petal_bulk *bulk;
    petal_cursor *cursor, *seeking;
    const petal_cell *cell;
    petal_error error;
    int files = 0, found = 0;

    (void)state;
    table_begin(&fixture);
    table = make_table(&fixture, 5);
    f = table_family_named(table, "f");
    must(petal_bulk_begin(table, &options, &bulk, &error), &error);
    add_many(bulk, f, "bulk");
    for (int i = 0; i < 100; i++)
        must_put(f, "row000000", "q", 30, "lower");
    must_put(f, "row000001", "q", 15, "between");
    must_commit(bulk);
    must(petal_table_files(table, count_files, &files, &error), &error);
    assert_true(files > 5);
    must(petal_table_verify(table, &error), &error);
    must(petal_cursor_open(table, &back, &cursor, &error), &error);
    must(petal_cursor_open(table, NULL, &seeking, &error), &error);
    for (int i = ROWS - 1; i >= 0; i--) {
        char row[16];

        snprintf(row, sizeof row, "row%06d", i);
        for (int64_t timestamp = 30; timestamp > 0; timestamp -= 10) {
            if (i % 7 == 3 && timestamp == 20)
                continue;
            must(petal_cursor_next(cursor, &cell, &error), &error);
            assert_non_null(cell);
            assert_true(slice_equal(cell->row, text(row)));
            assert_true(cell->timestamp == timestamp);
            assert_true(slice_equal(cell->value, text("bulk")));
            found++;
            if (i == 1 && timestamp == 20)
                must(petal_cursor_next(cursor, &cell, &error), &error);
        }
        if (i % 50 == 0) {
            assert_string_equal(value_at(fixture.db, table, row, "q", NULL), "bulk");
            must(petal_cursor_seek(seeking, text(row), f, text("q"), &error), &error);
            must(petal_cursor_next(seeking, &cell, &error), &error);
            assert_non_null(cell);
            assert_true(slice_equal(cell->row, text(row)) && cell->timestamp == 30);
        }
    }
    must(petal_cursor_next(cursor, &cell, &error), &error);
    assert_null(cell);
    petal_cursor_close(cursor);
    petal_cursor_close(seeking);
    assert_true(found > 2 * ROWS);
    must_flush(fixture.db);
    must_compact(table);
    must(petal_table_verify(table, &error), &error);
    assert_string_equal(value_at(fixture.db, table, "row000000", "q", NULL), "bulk");
    fixture_fini(&fixture);
}

/* ---- what is refused ---- */

/* A cell that must not follow on (b, q, 5, 8); with what the text says. */
static void
expect_refused(petal_table *table, petal_family *family, petal_cell cell, const char *says)
{
    petal_family *f = table_family_named(table, "f");
    petal_bulk *bulk = begin(table);
    petal_error error;

    must_add(bulk, f, "b", "q", 5, VERSION, "");
    assert_int_equal(petal_bulk_add(bulk, family, &cell, &error), PETAL_INVALID);
    if (strstr(error.text, says) == NULL)
        fail_msg("the text is: %s", error.text);
    assert_int_equal(add(bulk, f, "z", "q", 5, PUT, "", &error), PETAL_INVALID);
    assert_int_equal(petal_bulk_commit(bulk, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "has failed before"));
    petal_bulk_free(bulk);
    expect(table, "");
}

static void
what_cannot_be_is_refused_and_nothing_enters(void **state)
{
    struct fixture fixture;
    petal_family_options family = {.name = {"f", 1}};
    petal_table_options other_options = {
        .name = text("other"), .families = &family, .family_count = 1};
    petal_table *table, *other;
    petal_family *f;
    petal_cell cell;
    petal_error error;
    char *large = test_allocate(PETAL_MAX_VALUE_BYTES + 1);

    (void)state;
    memset(large, 'x', PETAL_MAX_VALUE_BYTES + 1);
    table_begin(&fixture);
    table = make_table(&fixture, 5);
    f = table_family_named(table, "f");
    must(petal_table_create(fixture.db, &other_options, &other, &error), &error);
    expect_refused(table, f, cell_of("a", "q", 5, PUT, ""), "does not sort behind");
    expect_refused(table, f, cell_of("b", "p", 5, PUT, ""), "does not sort behind");
    expect_refused(table, f, cell_of("b", "q", 6, PUT, ""), "does not sort behind");
    expect_refused(table, f, cell_of("b", "q", 5, COLUMN, ""), "does not sort behind");
    expect_refused(table, f, cell_of("b", "q", 5, VERSION, ""), "came twice");
    expect_refused(table, f, cell_of("b", "", 5, FAMILY, ""), "does not sort behind");
    expect_refused(table, f, cell_of("", "q", 5, PUT, ""), "the row is empty");
    expect_refused(table, f, cell_of("c", "q", -1, PUT, ""), "is negative");
    expect_refused(table, f, cell_of("c", "q", PETAL_LATEST, PUT, ""), "PETAL_LATEST");
    expect_refused(table, f, cell_of("c", "q", 1, VERSION, "x"), "a deletion has a value");
    expect_refused(table, f, cell_of("c", "q", 1, FAMILY, ""), "takes no qualifier");
    expect_refused(table, f, cell_of("c", "q", 1, (enum petal_cell_type)6, ""), "no cell type");
    expect_refused(table, table_family_named(other, "f"), cell_of("c", "q", 1, PUT, ""),
                   "is none of table");
    cell = cell_of("c", "q", 1, PUT, "");
    cell.ttl_ms = 7;
    expect_refused(table, f, cell, "ttl");
    cell = cell_of("c", "q", 1, PUT, "");
    cell.row = slice_make(large, PETAL_MAX_ROW_BYTES + 1);
    expect_refused(table, f, cell, "the limit is");
    cell = cell_of("c", "q", 1, PUT, "");
    cell.qualifier = slice_make(large, PETAL_MAX_QUALIFIER_BYTES + 1);
    expect_refused(table, f, cell, "the limit is");
    cell = cell_of("c", "q", 1, PUT, "");
    cell.value = slice_make(large, PETAL_MAX_VALUE_BYTES + 1);
    expect_refused(table, f, cell, "the limit is");
    assert_int_equal(fixture_count_files(&fixture, ".sst"), 0);
    free(large);
    fixture_fini(&fixture);
}

static void
a_bulk_of_nothing_is_one(void **state)
{
    struct fixture fixture;
    petal_table *table;
    petal_bulk *bulk;
    petal_error error;

    (void)state;
    table_begin(&fixture);
    table = make_table(&fixture, 5);
    bulk = begin(table);
    must(petal_bulk_commit(bulk, &error), &error);
    assert_int_equal(petal_bulk_commit(bulk, &error), PETAL_INVALID);
    assert_int_equal(add(bulk, table_family_named(table, "f"), "a", "q", 1, PUT, "", &error),
                     PETAL_INVALID);
    petal_bulk_free(bulk);
    petal_bulk_free(NULL);
    expect(table, "");
    fixture_fini(&fixture);
}

/* Freed, or dropped with its table, or cut off: no file stays. */
static void
what_is_not_committed_is_taken_back(void **state)
{
    struct fixture fixture;
    petal_table *table;
    petal_bulk *bulk;
    petal_error error;

    (void)state;
    table_begin(&fixture);
    table = make_table(&fixture, 5);
    bulk = begin(table);
    add_many(bulk, table_family_named(table, "f"), "gone");
    assert_int_equal(petal_close(fixture.db, &error), PETAL_BUSY);
    petal_bulk_free(bulk);
    assert_int_equal(fixture_count_files(&fixture, ".sst"), 0);
    bulk = begin(table);
    must_add(bulk, table_family_named(table, "f"), "a", "q", 1, PUT, "gone");
    must(table_alter_to(table, "g", &error), &error);
    assert_int_equal(petal_bulk_commit(bulk, &error), PETAL_NOT_FOUND);
    petal_bulk_free(bulk);
    bulk = begin(table);
    must_add(bulk, table_family_named(table, "g"), "a", "q", 1, PUT, "gone");
    must(petal_table_drop(table, &error), &error);
    assert_int_equal(petal_bulk_commit(bulk, &error), PETAL_NOT_FOUND);
    petal_bulk_free(bulk);
    assert_int_equal(petal_bulk_begin(table, NULL, &bulk, &error), PETAL_NOT_FOUND);
    assert_null(bulk);
    assert_int_equal(fixture_count_files(&fixture, ".sst"), 0);
    fixture_fini(&fixture);
}

static void
two_bulks_count_in_the_order_of_their_commits(void **state)
{
    struct fixture fixture;
    petal_family *f;
    petal_table *table;
    petal_bulk *first, *second;
    petal_snapshot *between;

    (void)state;
    table_begin(&fixture);
    table = make_table(&fixture, 5);
    f = table_family_named(table, "f");
    first = begin(table);
    second = begin(table);
    must_add(first, f, "a", "q", 5, PUT, "begun first");
    must_add(first, f, "b", "q", 5, PUT, "b");
    must_add(second, f, "a", "q", 5, PUT, "begun second");
    must_commit(second);
    between = must_snapshot(fixture.db);
    must_commit(first);
    assert_string_equal(content(table, between, false), "a/f:q@5=begun second ");
    expect(table, "a/f:q@5=begun first b/f:q@5=b ");
    petal_snapshot_free(between);
    must_compact(table);
    expect(table, "a/f:q@5=begun first b/f:q@5=b ");
    fixture_fini(&fixture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timestamps_versions_markers_and_lives_stay),
        cmocka_unit_test(family_markers_come_beside_the_empty_qualifier),
        cmocka_unit_test(a_bulk_is_above_what_was_written_before_its_commit),
        cmocka_unit_test(markers_wait_for_older_cells_in_memory),
        cmocka_unit_test(what_memory_held_is_replayed_below_a_bulk),
        cmocka_unit_test(all_cells_are_found_in_many_files),
        cmocka_unit_test(what_cannot_be_is_refused_and_nothing_enters),
        cmocka_unit_test(a_bulk_of_nothing_is_one),
        cmocka_unit_test(what_is_not_committed_is_taken_back),
        cmocka_unit_test(two_bulks_count_in_the_order_of_their_commits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
