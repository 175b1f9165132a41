/*
 * bulk_test.c -- cells that are loaded in bulk: what they are in the table, what is refused, that
 * they enter all or none, above what was written before and unseen by readers of before.
 */

#include "engine/state/db.h"
#include "sstable/file/trailer.h"
#include "tests/engine/table/copy_fixture.h"
#include "tests/engine/table/fixture.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

    MUST(petal_bulk_begin(table, NULL, &bulk, WHY));
    return bulk;
}

static void
must_add(petal_bulk *bulk, petal_family *family, const char *row, const char *qualifier,
         int64_t timestamp, enum petal_cell_type type, const char *value)
{
    MUST(add(bulk, family, row, qualifier, timestamp, type, value, WHY));
}

static void
must_commit(petal_bulk *bulk)
{
    MUST(petal_bulk_commit(bulk, WHY));
    petal_bulk_free(bulk);
}

static void
must_put(petal_family *family, const char *row, const char *qualifier, int64_t timestamp,
         const char *value)
{
    MUST(petal_put(family, text(row), text(qualifier), timestamp, text(value), NULL, WHY));
}

static void
must_flush(petal_db *db)
{
    MUST(petal_flush(db, NULL, WHY));
}

static void
must_compact(petal_table *table)
{
    MUST(petal_compact(table, NULL, WHY));
}

static petal_snapshot *
must_snapshot(petal_db *db)
{
    petal_snapshot *snapshot;

    MUST(petal_snapshot_new(db, &snapshot, WHY));
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

    MUST(petal_table_create(fixture->db, &options, &table, WHY));
    return table;
}

/* A database with the table; *f, unless NULL, is its family "f". */
static petal_table *
begin_with_table(struct fixture *fixture, uint32_t versions, petal_family **f)
{
    petal_table *table;

    table_begin(fixture);
    table = make_table(fixture, versions);
    if (f != NULL)
        *f = table_family_named(table, "f");
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
    size_t used = 0;

    line[0] = '\0';
    MUST(petal_cursor_open(table, &options, &cursor, WHY));
    for (;;) {
        char kind[8] = "=";

        MUST(petal_cursor_next(cursor, &cell, WHY));
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
    assert_string_equal(content(table, NULL, false), wanted);
    MUST(petal_table_verify(table, WHY));
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

    value[0] = '\0';
    MUST(petal_result_new(db, &result, WHY));
    MUST(petal_get(table, text(row), &options, result, WHY));
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

TEST(timestamps_versions_markers_and_lives_stay)
{
    static const char all[] = "a/f:@9!14 a/f:@7!10 a/f:@5=e a/f:p@8=new a/f:p@3=old a/f:q@6!12 "
                              "a/f:q@6!8 a/f:q@6=x b/f:p@2=late b/g:z@4=other ";
    struct fixture fixture;
    petal_family *f, *g;
    petal_table *table;
    petal_bulk *bulk;
    petal_cell mortal = cell_of("b", "p", 2, PUT, "late");

    table = begin_with_table(&fixture, 5, &f);
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
    MUST(petal_bulk_add(bulk, f, &mortal, WHY));
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
TEST(family_markers_come_beside_the_empty_qualifier)
{
    struct fixture fixture;
    petal_family *f;
    petal_table *table;
    petal_bulk *bulk;

    table = begin_with_table(&fixture, 5, &f);
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
TEST(a_bulk_is_above_what_was_written_before_its_commit)
{
    struct fixture fixture;
    petal_family *f;
    petal_table *table;
    petal_bulk *bulk;
    petal_snapshot *before, *behind;

    table = begin_with_table(&fixture, 5, &f);
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
TEST(markers_wait_for_older_cells_in_memory)
{
    struct fixture fixture;
    petal_family *f;
    petal_table *table;
    petal_bulk *bulk;

    table = begin_with_table(&fixture, 1, &f);
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
TEST(all_cells_are_found_in_many_files)
{
    petal_bulk_options options = {.file_bytes = 4096};
    petal_scan_options back = {.reversed = true, .read.versions = PETAL_ALL_VERSIONS};
    struct fixture fixture;
    petal_family *f;
    petal_table *table;
    petal_bulk *bulk;
    petal_cursor *cursor, *seeking;
    const petal_cell *cell;
    int files = 0, found = 0;

    table = begin_with_table(&fixture, 5, &f);
    MUST(petal_bulk_begin(table, &options, &bulk, WHY));
    add_many(bulk, f, "bulk");
    for (int i = 0; i < 100; i++)
        must_put(f, "row000000", "q", 30, "lower");
    must_put(f, "row000001", "q", 15, "between");
    must_commit(bulk);
    MUST(petal_table_files(table, count_files, &files, WHY));
    assert_true(files > 5);
    MUST(petal_table_verify(table, WHY));
    MUST(petal_cursor_open(table, &back, &cursor, WHY));
    MUST(petal_cursor_open(table, NULL, &seeking, WHY));
    for (int i = ROWS - 1; i >= 0; i--) {
        char row[16];

        snprintf(row, sizeof row, "row%06d", i);
        for (int64_t timestamp = 30; timestamp > 0; timestamp -= 10) {
            if (i % 7 == 3 && timestamp == 20)
                continue;
            MUST(petal_cursor_next(cursor, &cell, WHY));
            assert_non_null(cell);
            assert_true(slice_equal(cell->row, text(row)));
            assert_true(cell->timestamp == timestamp);
            assert_true(slice_equal(cell->value, text("bulk")));
            found++;
            if (i == 1 && timestamp == 20)
                MUST(petal_cursor_next(cursor, &cell, WHY));
        }
        if (i % 50 == 0) {
            assert_string_equal(value_at(fixture.db, table, row, "q", NULL), "bulk");
            MUST(petal_cursor_seek(seeking, text(row), f, text("q"), WHY));
            MUST(petal_cursor_next(seeking, &cell, WHY));
            assert_non_null(cell);
            assert_true(slice_equal(cell->row, text(row)) && cell->timestamp == 30);
        }
    }
    MUST(petal_cursor_next(cursor, &cell, WHY));
    assert_null(cell);
    petal_cursor_close(cursor);
    petal_cursor_close(seeking);
    assert_true(found > 2 * ROWS);
    must_flush(fixture.db);
    must_compact(table);
    MUST(petal_table_verify(table, WHY));
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

TEST(what_cannot_be_is_refused_and_nothing_enters)
{
    struct fixture fixture;
    petal_family_options family = {.name = {"f", 1}};
    petal_table_options other_options = {
        .name = text("other"), .families = &family, .family_count = 1};
    petal_table *table, *other;
    petal_family *f;
    petal_cell cell;
    char *large = test_allocate(PETAL_MAX_VALUE_BYTES + 1);

    memset(large, 'x', PETAL_MAX_VALUE_BYTES + 1);
    table = begin_with_table(&fixture, 5, &f);
    MUST(petal_table_create(fixture.db, &other_options, &other, WHY));
    expect_refused(table, f, cell_of("a", "q", 5, PUT, ""), "does not come behind");
    expect_refused(table, f, cell_of("b", "p", 5, PUT, ""), "does not come behind");
    expect_refused(table, f, cell_of("b", "q", 6, PUT, ""), "does not come behind");
    expect_refused(table, f, cell_of("b", "q", 5, COLUMN, ""), "does not come behind");
    expect_refused(table, f, cell_of("b", "q", 5, VERSION, ""), "came twice");
    expect_refused(table, f, cell_of("b", "", 5, FAMILY, ""), "does not come behind");
    expect_refused(table, f, cell_of("", "q", 5, PUT, ""), "the row is empty");
    expect_refused(table, f, cell_of("c", "q", -1, PUT, ""), "is negative");
    expect_refused(table, f, cell_of("c", "q", PETAL_LATEST, PUT, ""), "PETAL_LATEST");
    expect_refused(table, f, cell_of("c", "q", 1, VERSION, "x"), "a deletion has a value");
    expect_refused(table, f, cell_of("c", "q", 1, FAMILY, ""), "takes no qualifier");
    expect_refused(table, f, cell_of("c", "q", 1, (enum petal_cell_type)6, ""),
                   "is not a cell type");
    expect_refused(table, table_family_named(other, "f"), cell_of("c", "q", 1, PUT, ""),
                   "does not belong to table");
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

TEST(a_bulk_of_nothing_is_one)
{
    struct fixture fixture;
    petal_table *table;
    petal_bulk *bulk;
    petal_error error;

    table = begin_with_table(&fixture, 5, NULL);
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
TEST(what_is_not_committed_is_taken_back)
{
    struct fixture fixture;
    petal_table *table;
    petal_bulk *bulk;
    petal_error error;

    table = begin_with_table(&fixture, 5, NULL);
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

TEST(two_bulks_count_in_the_order_of_their_commits)
{
    struct fixture fixture;
    petal_family *f;
    petal_table *table;
    petal_bulk *first, *second;
    petal_snapshot *between;

    table = begin_with_table(&fixture, 5, &f);
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

/* ---- below all ---- */

static petal_bulk *
begin_below(petal_table *table)
{
    petal_bulk_options options = {.place = PETAL_BULK_BELOW};
    petal_bulk *bulk;

    MUST(petal_bulk_begin(table, &options, &bulk, WHY));
    return bulk;
}

/* Ties are won by what is there, in files, levelled files and memory, and by what went below
 * before; snapshots of before see it, cursors of before do not. */
TEST(a_bulk_goes_below_all_that_is_there)
{
    static const char first[] = "a/f:file@5=there a/f:level@5=there a/f:memory@5=there "
                                "p/g:q@5=beside ";
    static const char all[] = "a/f:below@5=first a/f:file@5=there a/f:later@5=second "
                              "a/f:level@5=there a/f:memory@5=there p/g:q@5=beside ";
    struct fixture fixture;
    petal_family *f;
    petal_table *table;
    petal_bulk *bulk;
    petal_snapshot *before;
    petal_cursor *cursor;
    const petal_cell *cell;

    table = begin_with_table(&fixture, 5, &f);
    must_put(f, "a", "level", 5, "there");
    must_flush(fixture.db);
    must_compact(table);
    must_put(f, "a", "file", 5, "there");
    must_flush(fixture.db);
    must_put(f, "a", "memory", 5, "there");
    for (int i = 0; i < 20; i++) /* the cell in memory is not among the latest */
        must_put(table_family_named(table, "g"), "p", "q", 5, "beside");
    before = must_snapshot(fixture.db);
    MUST(petal_cursor_open(table, NULL, &cursor, WHY));
    for (int round = 0; round < 2; round++) {
        const char *value = round == 0 ? "first" : "second";

        bulk = begin_below(table);
        must_add(bulk, f, "a", "below", 5, PUT, value);
        must_add(bulk, f, "a", "file", 5, PUT, value);
        if (round == 1)
            must_add(bulk, f, "a", "later", 5, PUT, value);
        must_add(bulk, f, "a", "level", 5, COLUMN, "");
        must_add(bulk, f, "a", "level", 5, PUT, value);
        must_add(bulk, f, "a", "memory", 5, VERSION, "");
        assert_string_equal(content(table, before, false),
                            round == 0 ? first
                                       : "a/f:below@5=first a/f:file@5=there a/f:level@5=there "
                                         "a/f:memory@5=there p/g:q@5=beside ");
        must_commit(bulk);
    }
    for (int i = 0; i < 3; i++) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        assert_true(cell != NULL && slice_equal(cell->value, text("there")));
    }
    MUST(petal_cursor_next(cursor, &cell, WHY));
    assert_true(cell != NULL && slice_equal(cell->value, text("beside")));
    petal_cursor_close(cursor);
    for (int round = 0; round < 4; round++) {
        expect(table, all);
        assert_string_equal(content(table, before, false), all);
        if (round == 0)
            must_compact(table);
        if (round == 1)
            must_flush(fixture.db);
        if (round == 2)
            must_compact(table);
    }
    petal_snapshot_free(before);
    table = reopen(&fixture);
    expect(table, all);
    fixture_fini(&fixture);
}

TEST(a_bulk_goes_below_what_is_in_memory_alone)
{
    struct fixture fixture;
    petal_table *table;
    petal_bulk *bulk;

    table = begin_with_table(&fixture, 1, NULL);
    must_put(table_family_named(table, "f"), "a", "q", 5, "there");
    for (int i = 0; i < 20; i++) /* the cell is not among the latest */
        must_put(table_family_named(table, "g"), "a", "q", 5, "beside");
    bulk = begin_below(table);
    must_add(bulk, table_family_named(table, "f"), "a", "q", 5, PUT, "below");
    must_commit(bulk);
    expect(table, "a/f:q@5=there a/g:q@5=beside ");
    must_flush(fixture.db);
    must_compact(table);
    expect(table, "a/f:q@5=there a/g:q@5=beside ");
    fixture_fini(&fixture);
}

/* Of a database that an earlier version began its sequences from 1 on. */
TEST(no_room_below_is_told_and_a_compaction_makes_some)
{
    struct fixture fixture;
    petal_family *f;
    petal_table *table;
    petal_bulk *bulk;
    petal_error error;

    table_begin(&fixture);
    fixture.db->writers.last_sequence = 0;
    atomic_store(&fixture.db->views.published_sequence, 0);
    table = make_table(&fixture, 1);
    f = table_family_named(table, "f");
    for (int i = 0; i < 20; i++)
        must_put(f, "a", "q", 5, "there");
    must_flush(fixture.db);
    must_put(f, "a", "r", 5, "there");
    bulk = begin_below(table);
    must_add(bulk, f, "a", "q", 5, PUT, "below");
    must_add(bulk, f, "a", "s", 5, PUT, "below");
    /* One put was left of the twenty, the last. */
    must_commit(bulk);
    for (int i = 0; i < 10; i++) {
        bulk = begin_below(table);
        must_add(bulk, f, "a", "s", 5, PUT, "lower");
        if (petal_bulk_commit(bulk, &error) != PETAL_OK)
            break;
        petal_bulk_free(bulk);
    }
    assert_int_equal(error.status, PETAL_INVALID);
    assert_non_null(strstr(error.text, "there is no room below the oldest cell of"));
    petal_bulk_free(bulk);
    expect(table, "a/f:q@5=there a/f:r@5=there a/f:s@5=below ");
    must_flush(fixture.db);
    must_compact(table);
    bulk = begin_below(table);
    must_add(bulk, f, "a", "t", 5, PUT, "lower");
    must_commit(bulk);
    expect(table, "a/f:q@5=there a/f:r@5=there a/f:s@5=below a/f:t@5=lower ");
    fixture_fini(&fixture);
}

/* ---- copies, and files that nobody has open ---- */

/* Two families, f shifted, with a cell that was written in between. */
static petal_table *
load_shifted(struct fixture *fixture)
{
    petal_table *table = make_table(fixture, 1);
    petal_family *f = table_family_named(table, "f"), *g = table_family_named(table, "g");
    petal_bulk *bulk = begin(table);

    must_add(bulk, f, "a", "q", 5, PUT, "bulk");
    must_add(bulk, g, "a", "q", 5, VERSION, "");
    must_put(f, "b", "q", 5, "replaced");
    must_put(f, "b", "q", 5, "kept");
    must_put(f, "a", "q", 5, "lower");
    must_put(g, "a", "q", 5, "deleted");
    must_flush(fixture->db);
    must_commit(bulk);
    return table;
}

#define SHIFTED "a/f:q@5=bulk b/f:q@5=kept "

TEST(copies_have_what_was_loaded)
{
    petal_slice name = text("s");
    struct fixture fixture;
    petal_table *table, *clone;
    petal_options options;
    petal_db *copy;

    table_begin(&fixture);
    table = load_shifted(&fixture);
    MUST(petal_table_snapshot_create(table, name, NULL, WHY));
    MUST(petal_table_snapshot_clone(fixture.db, name, text("clone"), &clone, WHY));
    expect(clone, SHIFTED);
    must_compact(clone);
    expect(clone, SHIFTED);
    must_put(table_family_named(table, "f"), "a", "q", 5, "later");
    MUST(petal_table_snapshot_restore(fixture.db, name, &table, WHY));
    expect(table, SHIFTED);
    MUST(petal_checkpoint(fixture.db, "/copy", WHY));
    options = fixture.options;
    options.create = false;
    MUST(petal_open("/copy", &options, &copy, WHY));
    MUST(petal_table_open(copy, text("t"), &table, WHY));
    expect(table, SHIFTED);
    MUST(petal_close(copy, WHY));
    fixture_fini(&fixture);
}

static void
note_fault(void *argument, const petal_fault *fault)
{
    if (!fault->harmless)
        ++*(int *)argument;
}

/* The copy that a salvage makes of the fixture's database, whose table it opens. */
static void
expect_salvaged(struct fixture *fixture, const char *to, int least_faults, const char *wanted)
{
    int faults = 0;
    petal_check_options check = {.env = &fixture->env, .argument = &faults, .fault = note_fault};
    petal_options options = fixture->options;
    petal_table *table;
    petal_db *db;

    MUST(petal_salvage(FIXTURE_DIRECTORY, to, &check, NULL, WHY));
    assert_true(faults >= least_faults && (least_faults > 0 || faults == 0));
    options.create = false;
    MUST(petal_open(to, &options, &db, WHY));
    MUST(petal_table_open(db, text("t"), &table, WHY));
    expect(table, wanted);
    MUST(petal_close(db, WHY));
}

static void
remove_file(struct fixture *fixture, const char *name)
{
    const petal_vfs *vfs = memory_vfs_table(fixture->vfs);
    petal_directory *directory;

    assert_int_equal(vfs->open_directory(vfs->context, FIXTURE_DIRECTORY, false, &directory), 0);
    assert_int_equal(vfs->remove(vfs->context, directory, name), 0);
    vfs->close_directory(vfs->context, directory);
}

/* With and without the manifest. A bulk that was not committed is none. */
TEST(what_was_loaded_is_verified_and_salvaged)
{
    static const char all[] = SHIFTED "c/f:q@5=logged ";
    petal_bulk_options files = {.file_bytes = 4096};
    struct fixture living, fixture;
    petal_check_options check = {0};
    petal_table *table;
    petal_bulk *bulk;

    table_begin(&living);
    table = load_shifted(&living);
    MUST(petal_bulk_begin(table, &files, &bulk, WHY)); /* some of which are whole */
    add_many(bulk, table_family_named(table, "g"), "uncommitted");
    must_put(table_family_named(table, "f"), "c", "q", 5, "logged");
    fixture_init_on(&fixture, memory_vfs_clone(living.vfs), 9);
    memory_vfs_process_death(fixture.vfs);
    petal_bulk_free(bulk);
    fixture_fini(&living);
    check.env = &fixture.env;
    MUST(petal_verify(FIXTURE_DIRECTORY, &check, NULL, WHY));
    expect_salvaged(&fixture, "/whole", 0, all);
    fixture_must_open(&fixture);
    assert_true(fixture_directory_is_clean(&fixture));
    expect(table_reopen(&fixture), all);
    fixture_must_close(&fixture);
    remove_file(&fixture, "MANIFEST");
    expect_salvaged(&fixture, "/lost", 1, all);
    fixture_fini(&fixture);
}

/* Cells of one column at one timestamp, and markers: the order of their writes alone decides. Where
 * a write stands in the order, its value says. */
static petal_table *
load_in_order(struct fixture *fixture)
{
    petal_table *table = make_table(fixture, 1000);
    petal_family *f = table_family_named(table, "f"), *g = table_family_named(table, "g");
    petal_bulk *above = begin(table), *later = begin(table), *below, *lower;

    must_add(later, f, "a", "q", 5, PUT, "4, later");
    must_add(above, f, "a", "q", 5, PUT, "3, above");
    must_add(above, f, "b", "q", 5, PUT, "3, above");
    must_add(above, f, "c", "q", 5, COLUMN, "");
    must_add(above, g, "a", "", 5, FAMILY, "");
    for (int i = 0; i < 9; i++) {
        must_put(f, "a", "q", 5, "2");
        must_put(f, "b", "q", 5, "2");
        must_put(f, "c", "q", 5, "2");
        must_put(g, "a", "q", 5, "2");
        must_put(f, "d", "q", 5, "2");
    }
    must_flush(fixture->db);
    below = begin_below(table);
    lower = begin_below(table);
    must_add(below, f, "d", "q", 5, PUT, "1, below");
    must_add(below, f, "e", "q", 5, PUT, "1, below");
    must_add(lower, f, "d", "q", 5, PUT, "0, lower");
    must_add(lower, f, "e", "q", 5, PUT, "0, lower");
    must_add(lower, f, "f", "q", 5, PUT, "0, lower");
    must_commit(below);
    must_commit(above);
    must_put(f, "b", "q", 5, "5, last");
    must_put(f, "c", "q", 4, "2, hidden by the marker");
    must_commit(lower);
    must_commit(later);
    must_put(g, "b", "q", 5, "5, last");
    must_flush(fixture->db);
    return table;
}

#define IN_ORDER                                                                                   \
    "a/f:q@5=4, later b/f:q@5=5, last b/g:q@5=5, last d/f:q@5=2 e/f:q@5=1, below f/f:q@5=0, "      \
    "lower "

TEST(a_lost_manifest_turns_no_bulk_around)
{
    struct fixture fixture;

    table_begin(&fixture);
    expect(load_in_order(&fixture), IN_ORDER);
    fixture_must_close(&fixture);
    expect_salvaged(&fixture, "/whole", 0, IN_ORDER);
    remove_file(&fixture, "MANIFEST");
    expect_salvaged(&fixture, "/lost", 1, IN_ORDER);
    fixture_fini(&fixture);
}

/* The trailer of a bulk's file, as only somebody else can have written it. */
static void
take_shift_away(struct fixture *fixture, unsigned number)
{
    struct trailer trailer;
    size_t size;
    uint8_t *bytes;
    char path[64];

    (void)snprintf(path, sizeof path, FIXTURE_DIRECTORY "/%06u.sst", number);
    if (!memory_vfs_exists(fixture->vfs, path))
        return;
    assert_int_equal(memory_vfs_read_file(fixture->vfs, path, &bytes, &size), 0);
    assert_int_equal(trailer_decode(&trailer, bytes + size - TRAILER_BYTES, size, path, NULL),
                     PETAL_OK);
    trailer.stated_shift = 0;
    trailer_encode(&trailer, bytes + size - TRAILER_BYTES);
    assert_int_equal(memory_vfs_write_file(fixture->vfs, path, bytes, size), 0);
    free(bytes);
}

struct told {
    int orders, others;
};

static void
note_order(void *argument, const petal_fault *fault)
{
    struct told *told = argument;
    bool named = strstr(fault->error->text, "its cells may stand in the wrong order") != NULL;

    if (!named) {
        told->others += !fault->harmless;
        return;
    }
    told->orders++;
    assert_false(fault->harmless);
    assert_non_null(
        strstr(fault->error->text, ".sst does not say rightly when it was loaded in bulk"));
    assert_true(slice_equal(fault->table, text("t")));
}

/* The manifest still tells; without it the two files of the bulk are told by name. */
TEST(bulks_that_do_not_say_when_are_told)
{
    struct fixture fixture;
    struct told told = {0};
    petal_check_options check = {.argument = &told, .fault = note_order};

    table_begin(&fixture);
    check.env = &fixture.env;
    expect(load_shifted(&fixture), SHIFTED);
    fixture_must_close(&fixture);
    for (unsigned number = 1; number < 20; number++)
        take_shift_away(&fixture, number);
    MUST(petal_verify(FIXTURE_DIRECTORY, &check, NULL, WHY));
    MUST(petal_salvage(FIXTURE_DIRECTORY, "/whole", &check, NULL, WHY));
    assert_true(told.orders == 0 && told.others == 0);
    fixture_must_open(&fixture);
    expect(table_reopen(&fixture), SHIFTED);
    fixture_must_close(&fixture);
    remove_file(&fixture, "MANIFEST");
    MUST(petal_salvage(FIXTURE_DIRECTORY, "/lost", &check, NULL, WHY));
    assert_int_equal(told.orders, 2);
    fixture_fini(&fixture);
}

/* ---- beside others ---- */

static struct {
    const petal_vfs *below;
    petal_vfs table;
    petal_family *family; /* NULL: nothing is written */
    unsigned syncs;
} busy;

/* While a file is synced others write, more each time than the next sequences were chosen ahead. */
static int
sync_busily(void *context, petal_file *file)
{
    petal_family *family = busy.family;

    busy.syncs++;
    busy.family = NULL;
    for (unsigned i = 0; family != NULL && i < 5000; i++)
        must_put(family, "a", "q", 5, "written meanwhile");
    busy.family = busy.syncs < 2 ? family : NULL;
    return busy.below->sync(context, file);
}

TEST(writes_do_not_pass_a_bulk)
{
    struct fixture fixture;
    petal_family *f;
    petal_table *table;
    petal_bulk *bulk;

    fixture_init(&fixture, 8);
    memset(&busy, 0, sizeof busy);
    busy.below = fixture.env.vfs;
    busy.table = *busy.below;
    busy.table.sync = sync_busily;
    fixture.env.vfs = &busy.table;
    fixture_must_open(&fixture);
    table = make_table(&fixture, 1);
    f = table_family_named(table, "f");
    bulk = begin(table);
    must_add(bulk, f, "a", "q", 5, PUT, "bulk");
    must_put(f, "a", "q", 5, "written before");
    busy.syncs = 0;
    busy.family = f;
    must_commit(bulk);
    assert_true(busy.syncs > 3); /* the file's first, two of its trailer, and the log's */
    expect(table, "a/f:q@5=bulk ");
    must_put(f, "a", "q", 5, "written later");
    expect(table, "a/f:q@5=written later ");
    must_flush(fixture.db);
    expect(table, "a/f:q@5=written later ");
    fixture_must_close(&fixture);
    remove_file(&fixture, "MANIFEST");
    expect_salvaged(&fixture, "/lost", 1, "a/f:q@5=written later ");
    fixture_fini(&fixture);
}

TEST(who_has_read_before_a_bulk_reads_again)
{
    struct fixture fixture;
    petal_table *table;
    petal_family *f;
    petal_bulk *bulk;
    int64_t sum;

    table = begin_with_table(&fixture, 1, &f);
    MUST(petal_increment(f, text("a"), text("n"), 5, NULL, &sum, WHY));
    for (unsigned below = 0; below < 2; below++) {
        uint64_t read_point = fixture.db->writers.last_sequence;

        bulk = below ? begin_below(table) : begin(table);
        must_add(bulk, f, "z", "q", 5, PUT, "bulk");
        must_commit(bulk);
        for (uint64_t hash = 0; hash < 3000; hash += 7)
            assert_false(row_locks_unchanged(&fixture.db->writers.row_locks, hash, read_point));
        MUST(petal_increment(f, text("a"), text("n"), 5, NULL, &sum, WHY));
    }
    assert_int_equal(sum, 15);
    fixture_fini(&fixture);
}

static bool
count_runs(void *argument, const petal_file_info *file)
{
    struct {
        uint64_t runs[200];
        size_t count;
    } *seen = argument;

    for (size_t i = 0; i < seen->count; i++) {
        if (seen->runs[i] == file->run)
            return true;
    }
    seen->runs[seen->count++] = file->run;
    return true;
}

/* As flushes do, bulks wait for compactions, which take them as they take flushed files. */
TEST(many_small_bulks_stall_nobody)
{
    struct fixture fixture;
    petal_table *table;
    petal_family *f;

    fixture_init(&fixture, 8);
    fixture.options.no_compaction = false;
    fixture_must_open(&fixture);
    table = make_table(&fixture, 1);
    f = table_family_named(table, "f");
    for (int i = 0; i < 150; i++) {
        struct {
            uint64_t runs[200];
            size_t count;
        } seen = {.count = 0};
        petal_bulk *bulk = i % 3 == 2 ? begin_below(table) : begin(table);
        char row[16];

        snprintf(row, sizeof row, "r%03d", i);
        must_add(bulk, f, "r", "q", 5, PUT, row);
        must_add(bulk, f, row, "q", 5, PUT, "bulk");
        must_commit(bulk);
        must_put(f, "put", "q", 5, row);
        MUST(petal_table_files(table, count_runs, &seen, WHY));
        assert_true(seen.count <= STORE_MOST_RUNS + 1);
    }
    MUST(petal_wait_idle(fixture.db, WHY));
    assert_string_equal(value_at(fixture.db, table, "r", "q", NULL), "r148");
    assert_string_equal(value_at(fixture.db, table, "r149", "q", NULL), "bulk");
    assert_string_equal(value_at(fixture.db, table, "put", "q", NULL), "r149");
    MUST(petal_table_verify(table, WHY));
    fixture_fini(&fixture);
}

TEST(who_may_not_write_loads_nothing)
{
    petal_bulk_options options = {.place = (enum petal_bulk_place)2};
    petal_family_options family = {.name = {"f", 1}};
    petal_table_options read_only = {.families = &family, .family_count = 1, .read_only = true};
    struct fixture fixture;
    petal_table *table;
    petal_bulk *bulk;
    petal_error error;

    table = begin_with_table(&fixture, 5, NULL);
    assert_int_equal(petal_bulk_begin(table, &options, &bulk, &error), PETAL_INVALID);
    bulk = begin(table);
    must_add(bulk, table_family_named(table, "f"), "a", "q", 5, PUT, "bulk");
    must(petal_table_alter(table, &read_only, &error), &error);
    assert_int_equal(petal_bulk_commit(bulk, &error), PETAL_READ_ONLY);
    petal_bulk_free(bulk);
    fixture_must_close(&fixture);
    fixture.options.read_only = true;
    fixture.options.create = false;
    fixture_must_open(&fixture);
    assert_int_equal(petal_bulk_begin(table_reopen(&fixture), NULL, &bulk, &error),
                     PETAL_READ_ONLY);
    assert_null(bulk);
    fixture_fini(&fixture);
}

/* In a child nothing of the parent's is touched. */
TEST(a_child_has_no_part_in_a_bulk)
{
    struct fixture fixture;
    petal_table *table;
    petal_bulk *bulk, *none;
    petal_family *family;
    petal_error error;
    int ended;
    pid_t child;

    table = begin_with_table(&fixture, 5, &family);
    bulk = begin(table);
    must_add(bulk, family, "a", "q", 5, PUT, "bulk");
    child = fork();
    if (child == 0) {
        petal_cell cell = cell_of("b", "q", 5, PUT, "child");
        bool refused = petal_bulk_begin(table, NULL, &none, &error) == PETAL_INVALID &&
                       petal_bulk_add(bulk, family, &cell, &error) == PETAL_INVALID &&
                       petal_bulk_commit(bulk, &error) == PETAL_INVALID;

        petal_bulk_free(bulk);
        _exit(refused ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    must_commit(bulk);
    expect(table, "a/f:q@5=bulk ");
    fixture_fini(&fixture);
}

/* ---- memory ---- */

/* Cells of a row's empty qualifier are held for the family markers among them, but not for ever. */
TEST(many_bytes_of_the_empty_qualifier_go_on)
{
    const size_t bytes = PETAL_MAX_VALUE_BYTES;
    struct fixture fixture;
    petal_table *table;
    petal_family *f;
    petal_bulk *bulk;
    petal_error error;
    char *value = test_allocate(bytes);

    memset(value, 'x', bytes);
    table = begin_with_table(&fixture, 20, &f);
    for (unsigned marked = 0; marked < 2; marked++) {
        bulk = begin(table);
        for (int64_t timestamp = 20; timestamp > 10; timestamp--) {
            petal_cell cell = cell_of("a", "", timestamp, PUT, "");

            cell.value = slice_make(value, bytes);
            must(petal_bulk_add(bulk, f, &cell, &error), &error);
        }
        if (marked == 0) {
            must_add(bulk, f, "a", "", 3, PUT, "last");
            must_commit(bulk);
            continue;
        }
        assert_int_equal(add(bulk, f, "a", "", 5, FAMILY, "", &error), PETAL_INVALID);
        assert_non_null(strstr(error.text, "behind more cells of the empty qualifier than"));
        petal_bulk_free(bulk);
    }
    must_compact(table);
    assert_int_equal(strlen(value_at(fixture.db, table, "a", "", NULL)), 199);
    must(petal_table_verify(table, &error), &error);
    free(value);
    fixture_fini(&fixture);
}

/* However many cells there are. */
/* Beside the block at hand a mebibyte of each: what is to be written, filter, index. */
TEST(memory_does_not_grow_with_the_bulk)
{
    struct fixture fixture;
    petal_table *table;
    petal_family *family;
    petal_bulk *bulk;
    uint64_t before;

    table = begin_with_table(&fixture, 1, &family);
    test_allocator_forget_peak(&fixture.allocator);
    before = test_allocator_peak_bytes(&fixture.allocator);
    bulk = begin(table);
    for (int row = 0; row < 400000; row++) { /* 44 million bytes */
        char name[16], value[100];
        petal_cell cell = cell_of(name, "q", 5, PUT, "");

        snprintf(name, sizeof name, "row%08d", row);
        test_random_bytes(&fixture.random, value, sizeof value); /* which nothing compresses */
        cell.row = text(name);
        cell.value = slice_make(value, sizeof value);
        MUST(petal_bulk_add(bulk, family, &cell, WHY));
    }
    must_commit(bulk);
    assert_in_range(test_allocator_peak_bytes(&fixture.allocator) - before, 1, 8 << 20);
    fixture_fini(&fixture);
}

/* ---- descriptors and memory count ---- */

#define FEW_OPEN 8

/* A thousand files of eight families, which come mixed, by less descriptors than families; and
 * other writes, so that the files have to be told other sequences. */
TEST(descriptors_count_under_open_files)
{
    petal_family_options families[8];
    petal_table_options options = table_plain_options(families, "abcdefgh");
    petal_bulk_options bulk_options = {.file_bytes = 1};
    struct fixture fixture;
    petal_table *table;
    petal_bulk *bulk;

    fixture_init(&fixture, 5);
    fixture.options.open_files = FEW_OPEN;
    fixture.options.no_compaction = true;
    memory_vfs_trace(fixture.vfs, true);
    fixture_must_open(&fixture);
    MUST(petal_table_create(fixture.db, &options, &table, WHY));
    MUST(petal_bulk_begin(table, &bulk_options, &bulk, WHY));
    for (int row = 0; row < 125; row++) {
        char name[16];

        snprintf(name, sizeof name, "row%08d", row);
        for (size_t family = 0; family < 8; family++)
            must_add(bulk, petal_table_family_at(table, family), name, "q", 5, PUT, name);
    }
    assert_true(fixture_count_files(&fixture, ".sst") >= 992);
    table_put(table, "a", "written", "meanwhile");
    must_commit(bulk);
    assert_in_range(fixture_most_open(&fixture), 1, FEW_OPEN);
    MUST(petal_table_verify(table, WHY));
    assert_string_equal(table_row(fixture.db, table, "row00000124"),
                        "a:row00000124 b:row00000124 c:row00000124 d:row00000124 "
                        "e:row00000124 f:row00000124 g:row00000124 h:row00000124");
    memory_vfs_trace(fixture.vfs, false);
    fixture_fini(&fixture);
}

/* Writers of eight families, and cells that are held, under a limit of 8 MiB. */
TEST(memory_counts_and_is_bounded)
{
    petal_family_options families[8];
    petal_table_options options = table_plain_options(families, "abcdefgh");
    static char value[10000];
    struct fixture fixture;
    petal_table *table;
    petal_bulk *bulk;
    petal_stats stats;
    uint64_t before, peak, most = 0;

    fixture_init(&fixture, 5);
    fixture.options.memory_bytes = (size_t)8 << 20;
    fixture.options.cache_bytes = PETAL_NO_CACHE;
    fixture.options.memtable_bytes = 0;
    fixture_must_open(&fixture);
    MUST(petal_table_create(fixture.db, &options, &table, WHY));
    petal_stats_get(fixture.db, &stats);
    before = stats.file_memory;
    test_allocator_forget_peak(&fixture.allocator);
    peak = test_allocator_peak_bytes(&fixture.allocator);
    bulk = begin(table);
    for (int row = 0; row < 100; row++) {
        for (size_t family = 0; family < 8; family++) {
            for (int64_t timestamp = 9; timestamp > 0; timestamp--) {
                char name[16];
                petal_cell cell = cell_of(name, row == 50 ? "" : "q", timestamp, PUT, "");

                snprintf(name, sizeof name, "row%08d", row);
                cell.row = text(name);
                test_random_bytes(&fixture.random, value, sizeof value);
                cell.value = slice_make(value, sizeof value);
                MUST(petal_bulk_add(bulk, petal_table_family_at(table, family), &cell, WHY));
            }
        }
        petal_stats_get(fixture.db, &stats);
        most = stats.file_memory > most ? stats.file_memory : most;
    }
    assert_in_range(most - before, 1 << 20, 4 << 20);
    assert_in_range(test_allocator_peak_bytes(&fixture.allocator) - peak, 1, 6 << 20);
    must_commit(bulk);
    petal_stats_get(fixture.db, &stats);
    assert_true(stats.file_memory - before < most - before);
    MUST(petal_table_verify(table, WHY));
    fixture_fini(&fixture);
}
