/*
 * runs_test.c -- scans that take runs of cells at once against scans that go cell by cell, in lock
 * step: both see the same moment and make the same moves, one by one, several at once, by rows and
 * by seeks, while cells are written and deleted, flushed and compacted beneath them. What runs are
 * for is counted, too: that they come, how long they are, what they are made of.
 */

#include "base/cell.h"
#include "engine/read/cursor.h"
#include "tests/engine/read/fixture.h"
#include "tests/support/test.h"

#include <stdio.h>

#define ROWS   300
#define ROUNDS 24
#define MOVES  40
#define PIECE  40
#define NOW_MS 100000

static uint64_t state_of_chance;

static unsigned
below(unsigned bound)
{
    state_of_chance = state_of_chance * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state_of_chance >> 33) % bound;
}

/* ---- what is stored ---- */

/* How the cells of a table are written. */
struct manner {
    const char *name;
    petal_family_options family;
    const char *families;   /* letters */
    unsigned columns;       /* of a row and family at most */
    unsigned deletes;       /* of 100 writes; markers of all kinds */
    unsigned own_ttls;      /* of 100 puts */
    const char *row_format; /* from a number */
    bool zero_bytes;        /* rows and qualifiers have some */
    bool equal_values;      /* all are equally long: then blocks need no offsets of records */
};

static const struct manner manners[] = {
    {"pairs", {0}, "a", 1, 0, 0, "row%05u", false, false},
    {"pairs, some deleted", {0}, "a", 1, 3, 0, "row%05u", false, false},
    {"pairs of equal length", {0}, "a", 1, 0, 0, "row%05u", false, true},
    {"rows of few bytes", {0}, "a", 2, 1, 0, "%u", false, false},
    {"long rows",
     {0},
     "a",
     1,
     1,
     0,
     "a row that is longer than sixteen bytes are, %05u, and on",
     false,
     false},
    {"keys of about what a few have room for",
     {0},
     "a",
     2,
     1,
     0,
     "a row of some 30 bytes, %05u",
     false,
     false},
    {"wide rows", {0}, "a", 40, 1, 0, "r%02u", false, false},
    {"three versions", {.versions = 3}, "a", 4, 2, 0, "row%03u", false, false},
    {"times to live", {.ttl_seconds = 40}, "a", 3, 1, 10, "row%03u", false, false},
    {"two families", {0}, "ab", 6, 1, 0, "row%03u", false, false},
    {"deleted cells are kept",
     {.keep_deleted_cells = PETAL_KEEP_DELETED_TRUE, .versions = 2},
     "a",
     3,
     10,
     0,
     "row%03u",
     false,
     false},
    {"the order of writes",
     {.new_version_behavior = true, .versions = 2},
     "a",
     3,
     5,
     0,
     "row%03u",
     false,
     false},
    {"zero bytes", {0}, "a", 3, 1, 0, "row%03u", true, false},
};

static struct read_fixture fixture;
static const struct manner *manner;

static petal_slice
row_of(unsigned number, char *buffer, size_t bytes)
{
    petal_slice row =
        slice_make(buffer, (size_t)snprintf(buffer, bytes, manner->row_format, number));

    if (manner->zero_bytes && number % 3 == 0)
        buffer[1] = '\0';
    return row;
}

static petal_slice
column_of(unsigned number, char *buffer, size_t bytes)
{
    petal_slice qualifier;

    if (number == 0)
        return slice_make(NULL, 0);
    qualifier = slice_make(buffer, (size_t)snprintf(buffer, bytes, "column-%u", number));
    if (manner->zero_bytes && number == 2)
        buffer[2] = '\0';
    return qualifier;
}

static void
write_one(void)
{
    static const enum petal_cell_type kinds[] = {PETAL_DELETE, PETAL_DELETE_COLUMN,
                                                 PETAL_DELETE_FAMILY, PETAL_DELETE_FAMILY_VERSION};
    char row_bytes[100], column_bytes[40], value[40];
    char family[2] = {manner->families[below((unsigned)strlen(manner->families))], '\0'};
    petal_slice row = row_of(below(ROWS), row_bytes, sizeof row_bytes);
    petal_slice qualifier = column_of(below(manner->columns), column_bytes, sizeof column_bytes);
    /* Some writes of one column have one timestamp. */
    int64_t timestamp = NOW_MS - 60000 + below(2) * 1000 * below(60) + below(2) * below(60000);

    if (below(100) < manner->deletes) {
        enum petal_cell_type kind = kinds[below(4)];

        reads_delete(&fixture, family, row,
                     cell_is_family_marker(kind) ? slice_make(NULL, 0) : qualifier, timestamp,
                     kind);
    } else {
        petal_write_options options = {.has_ttl = below(100) < manner->own_ttls,
                                       .ttl_ms = below(60000)};

        if (!options.has_ttl)
            options.ttl_ms = 0;
        if (manner->equal_values)
            snprintf(value, sizeof value, "value %03u", below(1000));
        else
            snprintf(value, sizeof value, "%u %.*s", below(1000), (int)below(30),
                     "a value of some bytes, longer");
        MUST(petal_put(reads_family(&fixture, family), row, qualifier, timestamp, text(value),
                       &options, WHY));
    }
}

static void
write_some(unsigned count)
{
    while (count-- > 0)
        write_one();
}

static void
settle_some(void)
{
    unsigned choice = below(6);

    if (choice < 3)
        reads_flush(&fixture);
    if (choice == 3)
        reads_compact(&fixture);
}

/* In every second round all is in one file, of blocks that hold little that is special. */
static void
settle(unsigned round)
{
    if (round % 2 == 0) {
        settle_some();
        return;
    }
    reads_flush(&fixture);
    reads_compact(&fixture);
}

static void
begin(const struct manner *chosen, uint64_t seed)
{
    petal_family_options family = chosen->family;

    manner = chosen;
    state_of_chance = seed;
    family.block_bytes = 1024;
    reads_open(&fixture, chosen->families, &family);
    test_clock_set(&fixture.base.clock, NOW_MS);
}

/* ---- two cursors in lock step ---- */

struct two {
    petal_cursor *fast, *general;
    petal_result *result;
    size_t longest; /* run that was given */
};

static void
set_general(bool general)
{
    atomic_store(&fixture.base.db->general_reads, general);
}

static void
open_two(struct two *two, const petal_scan_options *options)
{
    set_general(true);
    two->general = reads_cursor(&fixture, options);
    set_general(false);
    two->fast = reads_cursor(&fixture, options);
}

static void
close_two(struct two *two)
{
    petal_cursor_close(two->fast);
    petal_cursor_close(two->general);
}

static const petal_cell *
next_of(petal_cursor *cursor)
{
    const petal_cell *cell;

    MUST(petal_cursor_next(cursor, &cell, WHY));
    return cell;
}

static void
must_be_same(const petal_cell *a, const petal_cell *b)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a != NULL)
        assert_string_equal(reads_cell_text(a), reads_cell_text(b));
}

static void
step_by_cells(struct two *two, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        must_be_same(next_of(two->fast), next_of(two->general));
}

static void
step_by_many(struct two *two, size_t most)
{
    const petal_cell *cells;
    size_t count;

    MUST(petal_cursor_next_many(two->fast, most, &cells, &count, WHY));
    assert_true(count <= most);
    for (size_t i = 0; i < count; i++)
        must_be_same(&cells[i], next_of(two->general));
    if (count == 0)
        assert_null(next_of(two->general));
    if (count > two->longest)
        two->longest = count;
}

static void
step_by_row(struct two *two)
{
    char fast[4096];

    MUST(petal_cursor_next_row(two->fast, two->result, WHY));
    snprintf(fast, sizeof fast, "%s", reads_result_text(two->result));
    MUST(petal_cursor_next_row(two->general, two->result, WHY));
    assert_string_equal(fast, reads_result_text(two->result));
}

static void
seek_both(struct two *two)
{
    char row_bytes[100], column_bytes[40];
    petal_slice row = row_of(below(ROWS), row_bytes, sizeof row_bytes);
    petal_slice qualifier = column_of(below(manner->columns), column_bytes, sizeof column_bytes);
    const petal_family *family = NULL;

    if (below(3) == 0)
        family = reads_family(&fixture, (char[]){manner->families[0], '\0'});
    reads_seek(two->fast, row, family, qualifier);
    reads_seek(two->general, row, family, qualifier);
}

static void
move(struct two *two)
{
    switch (below(8)) {
    case 0:
    case 1:
    case 2:
        step_by_cells(two, below(PIECE));
        break;
    case 3:
    case 4:
        step_by_many(two, 1 + below(2 * PIECE));
        break;
    case 5:
        step_by_row(two);
        break;
    case 6:
        seek_both(two);
        break;
    default:
        write_some(below(20));
        settle_some();
    }
}

/* Some bounds and limits, of which each is there now and then. */
static void
choose_options(petal_scan_options *options, char *start, char *stop, size_t bytes)
{
    *options = (petal_scan_options){0};
    if (below(3) == 0)
        options->start_row = row_of(below(ROWS), start, bytes);
    if (below(3) == 0)
        options->stop_row = row_of(below(ROWS), stop, bytes);
    options->start_exclusive = below(2) == 0;
    options->stop_inclusive = below(2) == 0;
    if (below(4) == 0)
        options->row_limit = 1 + below(20);
    options->reversed = below(8) == 0;
    if (below(2) == 0)
        options->read.versions = (int32_t)(1 + below(3));
    if (below(5) == 0) {
        options->read.has_time_range = true;
        options->read.time_min = NOW_MS - 50000;
        options->read.time_limit = NOW_MS - below(40000);
    }
}

TEST(test_both_ways_give_the_same)
{
    struct two two = {.longest = 0};

    for (size_t i = 0; i < sizeof manners / sizeof *manners; i++) {
        begin(&manners[i], i + 1);
        two.result = reads_result(&fixture);
        for (unsigned round = 0; round < ROUNDS; round++) {
            petal_scan_options options;
            petal_snapshot *snapshot = NULL;
            char start[100], stop[100];

            write_some(200 + below(400));
            settle(round);
            choose_options(&options, start, stop, sizeof start);
            if (below(3) == 0) {
                MUST(petal_snapshot_new(fixture.base.db, &snapshot, WHY));
                write_some(below(100));
                settle(round);
                options.read.snapshot = snapshot;
            }
            open_two(&two, &options);
            for (unsigned k = 0; k < MOVES; k++)
                move(&two);
            step_by_cells(&two, 2 * ROWS);
            close_two(&two);
            petal_snapshot_free(snapshot);
        }
        petal_result_free(two.result);
        fixture_fini(&fixture.base);
    }
    assert_true(two.longest > 16); /* or nothing was tried */
}

static void
put_rows(unsigned from, unsigned step)
{
    char row[40];

    for (unsigned number = from; number < ROWS; number += step)
        reads_put(&fixture, "a", row_of(number, row, sizeof row), slice_make(NULL, 0), 1,
                  text("a value"));
}

/* A memtable's cells that a run takes end before one above the read point and a key that has to be
 * unescaped: what a file has between them comes all the same. */
TEST(test_cells_above_the_read_point_cost_no_others)
{
    struct two two = {.longest = 0};
    char row[40];

    begin(&manners[0], 1);
    put_rows(0, 2);
    reads_flush(&fixture);
    for (unsigned number = 1; number <= 81; number += 2)
        reads_put(&fixture, "a", row_of(number, row, sizeof row), slice_make(NULL, 0), 1,
                  text("a value"));
    reads_put(&fixture, "a", BYTES("row00085\0"), slice_make(NULL, 0), 1, text("a value"));
    open_two(&two, NULL);
    reads_put(&fixture, "a", text("row00083"), slice_make(NULL, 0), 1, text("a value"));
    step_by_cells(&two, ROWS);
    close_two(&two);
    fixture_fini(&fixture.base);
}

/* One of three sources ends before the others, in a long run: after a seek back it takes part as
 * before. */
TEST(test_a_file_that_ended_takes_part_after_a_seek_back)
{
    const unsigned first[] = {0, 1, 100, 2, 198, 250, 0};
    petal_cursor *cursor;
    char row[40];

    begin(&manners[0], 1);
    for (unsigned source = 0; source < 3; source++) {
        for (unsigned number = source; number < (source == 0 ? 200 : ROWS); number += 3)
            reads_put(&fixture, "a", row_of(number, row, sizeof row), slice_make(NULL, 0), 1,
                      text("a value"));
        if (source < 2)
            reads_flush(&fixture);
    }
    cursor = reads_cursor(&fixture, NULL);
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        reads_seek(cursor, row_of(first[i], row, sizeof row), NULL, slice_make(NULL, 0));
        for (unsigned number = first[i]; number < ROWS; number++) {
            const petal_cell *cell;

            if (number >= 200 && number % 3 == 0)
                continue;
            MUST(petal_cursor_next(cursor, &cell, WHY));
            assert_non_null(cell);
            assert_true(slice_equal(cell->row, row_of(number, row, sizeof row)));
        }
    }
    petal_cursor_close(cursor);
    fixture_fini(&fixture.base);
}

/* ---- that runs come ---- */

/* Calls of petal_cursor_next_many for a scan over everything. */
static unsigned
calls_for_all(const petal_scan_options *options)
{
    petal_cursor *cursor = reads_cursor(&fixture, options);
    unsigned calls = 0;
    size_t all = 0, count = 1;
    const petal_cell *cells;

    for (; count > 0; calls++) {
        MUST(petal_cursor_next_many(cursor, 1000, &cells, &count, WHY));
        all += count;
    }
    assert_int_equal(all, ROWS);
    petal_cursor_close(cursor);
    return calls;
}

TEST(test_runs_come_from_files_and_memory)
{
    begin(&manners[0], 1);
    put_rows(0, 1);
    assert_true(calls_for_all(NULL) <= 8);
    reads_flush(&fixture);
    assert_true(calls_for_all(NULL) <= ROWS / 10);
    put_rows(0, 3); /* once more: what is beneath is passed over */
    reads_flush(&fixture);
    put_rows(1, 3);
    assert_true(calls_for_all(NULL) <= ROWS / 4);
    fixture_fini(&fixture.base);
}

/* Give so many cells by a cursor, which is closed then; how many lie ready at the next one's first
 * step. */
static size_t
first_run_behind(unsigned given)
{
    petal_cursor *cursor = reads_cursor(&fixture, NULL);
    const petal_cell *cells;
    size_t count;

    for (unsigned i = 0; i < given; i++) {
        MUST(petal_cursor_next(cursor, &cells, WHY));
        assert_non_null(cells);
    }
    petal_cursor_close(cursor);
    cursor = reads_cursor(&fixture, NULL);
    MUST(petal_cursor_next_many(cursor, 1000, &cells, &count, WHY));
    petal_cursor_close(cursor);
    return count;
}

TEST(test_a_new_cursor_begins_as_the_one_before_went_on)
{
    begin(&manners[0], 1);
    put_rows(0, 1);
    reads_flush(&fixture);
    assert_int_equal(first_run_behind(3), 3);
    assert_int_equal(first_run_behind(11), 11);
    assert_int_equal(first_run_behind(ROWS), RUN_FEW_CELLS);
    fixture_fini(&fixture.base);
}
