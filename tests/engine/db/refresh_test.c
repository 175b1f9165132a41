/*
 * refresh_test.c -- readers next to a writer: each view is one that the writer's had, and stays as
 * it is until the next refresh; files stay as long as a reader needs them, and no longer.
 */

#include "base/slice.h"
#include "tests/engine/script.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a database shows ---- */

struct text {
    char *bytes;
    size_t size, capacity;
};

static void
add_text(struct text *text, const void *bytes, size_t size)
{
    if (text->capacity - text->size < size) {
        text->capacity = 2 * (text->size + size);
        text->bytes = test_reallocate(text->bytes, text->capacity);
    }
    if (size > 0)
        memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
}

static void
add_slice(struct text *text, petal_slice slice)
{
    add_text(text, &slice.size, sizeof slice.size);
    add_text(text, slice.data, slice.size);
}

/* All cells and markers. */
static void
add_cells(struct text *text, petal_table *table, const petal_snapshot *snapshot)
{
    petal_scan_options scan = {.raw = true};
    const petal_cell *cell;
    petal_cursor *cursor;

    scan.read.versions = PETAL_ALL_VERSIONS;
    scan.read.snapshot = snapshot;
    MUST(petal_cursor_open(table, &scan, &cursor, WHY));
    for (;;) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        if (cell == NULL)
            break;
        add_slice(text, cell->row);
        add_slice(text, cell->family);
        add_slice(text, cell->qualifier);
        add_text(text, &cell->timestamp, sizeof cell->timestamp);
        add_text(text, &cell->type, sizeof cell->type);
        add_slice(text, cell->value);
    }
    petal_cursor_close(cursor);
}

/* What a table and its families are, and its cells. */
static bool
add_table(void *argument, petal_table *table)
{
    struct text *text = argument;

    add_slice(text, petal_table_name(table));
    for (size_t i = 0; i < petal_table_family_count(table); i++) {
        petal_family_options options = {.size = sizeof options};

        petal_family_describe(petal_table_family_at(table, i), &options);
        add_slice(text, options.name);
        add_text(text, &options.versions, sizeof options.versions);
    }
    add_cells(text, table, NULL);
    return true;
}

static struct text
show(petal_db *db)
{
    struct text text = {0};

    MUST(petal_table_list(db, add_table, &text, WHY));
    return text;
}

static struct text
show_at(petal_table *table, const petal_snapshot *snapshot)
{
    struct text text = {0};

    add_cells(&text, table, snapshot);
    return text;
}

/* Takes over `text`. */
static void
expect_text(struct text text, const struct text *expected)
{
    assert_int_equal(text.size, expected->size);
    if (text.size > 0)
        assert_memory_equal(text.bytes, expected->bytes, text.size);
    free(text.bytes);
}

static void
expect_same(petal_db *reader, petal_db *writer)
{
    struct text text = show(writer);

    expect_text(show(reader), &text);
    free(text.bytes);
}

/* ---- steps ---- */

static void
expect_refreshed(petal_db *reader, struct script *script)
{
    MUST(petal_refresh(reader, WHY));
    expect_same(reader, script->base.db);
}

TEST(a_reader_sees_what_was_committed_when_it_came)
{
    struct script script;
    struct text before;
    petal_db *reader;

    script_begin(&script);
    script_do(&script, "table t f g; put t a/f:q=1 b/g:q=2; flush; put t c/f:q=3");
    reader = fixture_open_reader(&script.base, FIXTURE_DIRECTORY);
    expect_same(reader, script.base.db);
    before = show(reader);
    script_do(&script, "put t a/f:q=4; batch t d/f:q=5 e/g:q=6; flush; compact t; put t f/f:q=7");
    expect_text(show(reader), &before);
    expect_refreshed(reader, &script);
    /* Nothing new. */
    expect_refreshed(reader, &script);
    MUST(petal_close(reader, WHY));
    free(before.bytes);
    script_end(&script);
}

TEST(changes_of_the_schema_are_followed)
{
    static const char *const steps[] = {
        "table u f; put u a/f:q=1",
        "alter t f,versions=7 h; put t a/h:q=2",
        "alter t h; put t b/h:q=3",
        "drop u; table u g; put u a/g:q=4",
        "truncate t; put t z/h:q=5",
        "take t S; clone S v; put v y/h:q=6; restore S t",
        "bulk B t; add B t m/h:q@1=1 n/h:q@1=2; commit B; put t o/h:q=7",
    };
    struct script script;
    petal_db *reader;

    script_begin(&script);
    script_do(&script, "table t f,versions=1 g; put t a/f:q=1 a/g:q=2");
    reader = fixture_open_reader(&script.base, FIXTURE_DIRECTORY);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        script_do(&script, steps[i]);
        expect_refreshed(reader, &script);
    }
    MUST(petal_close(reader, WHY));
    script_end(&script);
}

/* A snapshot or cursor of a reader keeps its view, whatever the writer merges and removes. */
/* A refresh for which any one of its allocations fails shows what was there, if it fails; the next
 * one shows what is there. */
TEST(a_refresh_that_fails_shows_what_was_there)
{
    static const char *const steps[] = {
        "alter t f,versions=7 h; drop u; table u g; put u a/g:q=4; flush; put t b/f:q",
        "truncate t; put t z/f:q=5; restore S t; alter t f,versions=1 g; put t z/g:q=6",
        "drop u; table u f; put u a/f:q=1; flush; drop v; clone S v; put v y/g:q=6",
    };
    struct script script;
    petal_db *reader;
    uint64_t failed = 0;
    bool all = false;

    script_begin(&script);
    script_do(&script, "table t f,versions=1 g; put t a/f:q=1 a/g:q=2; take t S; clone S v; "
                       "table u f; put u a/f:q=1");
    reader = fixture_open_reader(&script.base, FIXTURE_DIRECTORY);
    for (uint64_t n = 1; !all; n++) {
        struct text before = show(reader);
        uint64_t failures = test_allocator_failures(&script.base.allocator);
        enum petal_status status;

        script_do(&script, steps[n % (sizeof steps / sizeof steps[0])]);
        test_allocator_fail_at(&script.base.allocator, n, false);
        status = petal_refresh(reader, NULL);
        test_allocator_fail_at(&script.base.allocator, 0, false);
        all = test_allocator_failures(&script.base.allocator) == failures;
        if (status != PETAL_OK) {
            failed++;
            assert_int_equal(status, PETAL_NO_MEMORY);
            expect_text(show(reader), &before);
        }
        expect_refreshed(reader, &script);
        free(before.bytes);
    }
    assert_true(failed > 50);
    MUST(petal_close(reader, WHY));
    script_end(&script);
}

TEST(snapshots_and_cursors_stay)
{
    petal_snapshot *snapshot;
    struct script script;
    petal_cursor *cursor;
    struct text before;
    petal_table *table;
    petal_db *reader;
    const petal_cell *cell;

    script_begin(&script);
    script_do(&script, "table t f; put t a/f:q=1 b/f:q=2; flush; put t a/f:q=3; flush");
    reader = fixture_open_reader(&script.base, FIXTURE_DIRECTORY);
    MUST(petal_snapshot_new(reader, &snapshot, WHY));
    MUST(petal_table_open(reader, slice_from_text("t"), &table, WHY));
    MUST(petal_cursor_open(table, NULL, &cursor, WHY));
    before = show_at(table, snapshot);
    for (unsigned i = 0; i < 3; i++) {
        script_do(&script, "put t a/f:q=5 c/f:q=6; compact t; put t a/f:q=7; flush; compact t");
        expect_refreshed(reader, &script);
        expect_text(show_at(table, snapshot), &before);
    }
    MUST(petal_cursor_next(cursor, &cell, WHY));
    assert_true(slice_equal(cell->value, slice_from_text("3")));
    petal_cursor_close(cursor);
    petal_snapshot_free(snapshot);
    assert_false(fixture_directory_is_clean(&script.base));
    expect_refreshed(reader, &script);
    script_do(&script, "put t x/f:q=1; compact t"); /* files of before go on the way */
    expect_refreshed(reader, &script);
    MUST(petal_close(reader, WHY));
    script_do(&script, "compact t; put t y/f:q=1; flush; compact t; clean");
    free(before.bytes);
    script_end(&script);
}

TEST(snapshots_refresh_if_they_are_asked_to)
{
    struct script script;
    petal_transaction *transaction;
    petal_snapshot *snapshot;
    petal_db *reader;

    script_begin(&script);
    script_do(&script, "table t f; put t a/f:q=1");
    script.base.options.refresh_at_snapshots = true;
    reader = fixture_open_reader(&script.base, FIXTURE_DIRECTORY);
    script_do(&script, "put t b/f:q=2");
    MUST(petal_snapshot_new(reader, &snapshot, WHY));
    expect_same(reader, script.base.db);
    petal_snapshot_free(snapshot);
    script_do(&script, "put t c/f:q=3");
    MUST(petal_transaction_begin(reader, NULL, &transaction, WHY));
    expect_same(reader, script.base.db);
    petal_transaction_abort(transaction);
    MUST(petal_close(reader, WHY));
    script_end(&script);
}

/* A reader of a copy, which no writer has opened yet, excludes none. */
TEST(a_copy_can_be_read_beside_its_first_writer)
{
    struct script script;
    petal_db *reader, *writer;

    script_begin(&script);
    script_do(&script, "table t f; put t a/f:q=1");
    MUST(petal_checkpoint(script.base.db, "/copy", WHY));
    reader = fixture_open_reader(&script.base, "/copy");
    script.base.options.create = false;
    MUST(petal_open("/copy", &script.base.options, &writer, WHY));
    MUST(petal_close(writer, WHY));
    MUST(petal_close(reader, WHY));
    MUST(petal_restore("/copy", "/restored",
                       &(petal_restore_options){.env = script.base.options.env}, NULL, WHY));
    reader = fixture_open_reader(&script.base, "/restored");
    MUST(petal_open("/restored", &script.base.options, &writer, WHY));
    expect_same(reader, writer);
    MUST(petal_close(writer, WHY));
    MUST(petal_close(reader, WHY));
    script_end(&script);
}

/* ---- at random ---- */

#define READERS 3

struct reader {
    petal_db *db;
    struct text shown;        /* as of its last refresh */
    petal_snapshot *snapshot; /* NULL: none */
    petal_table *table;
    struct text kept; /* of the table as of the snapshot */
};

static void
leave(struct reader *reader)
{
    petal_snapshot_free(reader->snapshot);
    MUST(petal_close(reader->db, WHY));
    free(reader->shown.bytes);
    free(reader->kept.bytes);
    *reader = (struct reader){0};
}

static void
come_or_go_on(struct reader *reader, struct script *script)
{
    if (reader->db == NULL)
        reader->db = fixture_open_reader(&script->base, FIXTURE_DIRECTORY);
    else
        MUST(petal_refresh(reader->db, WHY));
    free(reader->shown.bytes);
    reader->shown = show(script->base.db);
    expect_text(show(reader->db), &reader->shown);
}

static void
look(struct reader *reader)
{
    expect_text(show(reader->db), &reader->shown);
    /* A table that was dropped by the latest refresh is not to be read any more, as in the
     * writer. */
    if (reader->snapshot != NULL &&
        petal_family_check(petal_table_family_at(reader->table, 0), NULL) == PETAL_OK)
        expect_text(show_at(reader->table, reader->snapshot), &reader->kept);
}

static void
change_snapshot(struct reader *reader)
{
    petal_snapshot_free(reader->snapshot);
    free(reader->kept.bytes);
    MUST(petal_snapshot_new(reader->db, &reader->snapshot, WHY));
    MUST(petal_table_open(reader->db, slice_from_text("t0"), &reader->table, WHY));
    reader->kept = show_at(reader->table, reader->snapshot);
}

static unsigned
below(struct test_random *random, unsigned limit)
{
    return (unsigned)test_random_below(random, limit);
}

struct neighbours {
    uint32_t ids[2];
    size_t wanted, count;
};

static bool
note_region(void *argument, const petal_region_info *info)
{
    struct neighbours *neighbours = argument;

    neighbours->ids[0] = neighbours->ids[1];
    neighbours->ids[1] = info->id;
    return ++neighbours->count < neighbours->wanted;
}

/* Before a row, where a region may begin already, or any two that are neighbours. */
static void
split_or_merge(struct script *script, unsigned number, unsigned row)
{
    struct neighbours neighbours = {.wanted = 2 + row % 3};
    petal_table *table;
    char name[8];
    petal_error error;

    (void)snprintf(name, sizeof name, "t%u", number);
    MUST(petal_table_open(script->base.db, slice_from_text(name), &table, WHY));
    (void)snprintf(name, sizeof name, "r%u", row);
    if (row % 5 < 3) {
        enum petal_status status = petal_table_split(table, slice_from_text(name), 0, &error);

        assert_true(status == PETAL_OK || status == PETAL_INVALID);
        return;
    }
    MUST(petal_table_regions(table, note_region, &neighbours, WHY));
    if (neighbours.count >= 2)
        MUST(petal_table_merge(table, neighbours.ids[0], neighbours.ids[1], WHY));
}

/* Something that the writer does. */
static void
write_something(struct script *script, struct test_random *random, unsigned *tables)
{
    char statement[400];
    unsigned table = below(random, *tables), row = below(random, 30), what = below(random, 46);

    if (what >= 40) {
        split_or_merge(script, table, row);
        return;
    }
    if (what < 22)
        snprintf(statement, sizeof statement, "batch t%u r%u/f:a=%u r%u/f:b=%u", table, row, what,
                 row + 1, what);
    else if (what < 25)
        snprintf(statement, sizeof statement, "put t%u r%u/f:a!8", table, row);
    else if (what < 27)
        snprintf(statement, sizeof statement, "put t%u r%u/f!14", table, row);
    else if (what < 31)
        snprintf(statement, sizeof statement, "flush");
    else if (what < 33)
        snprintf(statement, sizeof statement, "compact t%u", table);
    else if (what == 33 && *tables < 4)
        snprintf(statement, sizeof statement, "table t%u f; put t%u r/f:a=1", *tables, *tables);
    else if (what == 34)
        snprintf(statement, sizeof statement, "truncate t%u; put t%u r/f:a=2", table, table);
    else if (what == 35)
        snprintf(statement, sizeof statement, "alter t%u f,versions=%u", table, 1 + row % 4);
    else if (what == 36)
        snprintf(statement, sizeof statement, "bulk B t%u; add B t%u r%02u/f:c@5=1; commit B",
                 table, table, row);
    else if (what == 37)
        snprintf(statement, sizeof statement, "unlogged t%u r%u/f:d=1; flush", table, row);
    else if (what == 38)
        snprintf(statement, sizeof statement, "reopen");
    else
        snprintf(statement, sizeof statement, "later 1");
    *tables += what == 33 && *tables < 4;
    script_do(script, statement);
}

static void
run(uint64_t seed)
{
    struct reader readers[READERS] = {0};
    struct test_random random;
    struct script script;
    unsigned tables = 1;

    test_random_init(&random, seed);
    script_begin(&script);
    script.base.options.memtable_bytes = (size_t)64 << 10;
    script_do(&script, "reopen; table t0 f");
    for (unsigned step = 0; step < 150; step++) {
        struct reader *reader = &readers[below(&random, READERS)];
        unsigned what = below(&random, 8);

        for (unsigned i = below(&random, 4); i > 0; i--)
            write_something(&script, &random, &tables);
        if (reader->db == NULL || what < 4)
            come_or_go_on(reader, &script);
        else if (what == 4)
            change_snapshot(reader);
        else if (what == 5)
            leave(reader);
        else
            look(reader);
    }
    for (unsigned i = 0; i < READERS; i++) {
        if (readers[i].db != NULL) {
            look(&readers[i]);
            leave(&readers[i]);
        }
    }
    script_do(&script, "put t0 a/f:a=1; flush; compact t0; reopen; clean");
    script_end(&script);
}

TEST(views_at_random)
{
    uint64_t seed = test_seed();

    for (unsigned i = 0; i < (test_long() ? 2000 : 20); i++)
        run(seed + i);
}
