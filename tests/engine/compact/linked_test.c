/*
 * linked_test.c -- compactions that take over files as they are: what is loaded in the order of its
 * keys is written once, only what overlaps is rewritten, and what could be dropped is; a job keeps
 * what it has done when it fails or is given up.
 */
#include "tests/engine/compact/background_fixture.h"

#include "engine/compact/compactor.h"
#include "engine/compact/policy.h"
#include "tests/support/test.h"

#include <stdio.h>

#define FILES     40
#define FILE_ROWS 5

/* Files of any size are linked from now on. */
static void
reopen(struct place *place)
{
    place_reopen(place);
    place->fixture.db->linked_file_bytes = 0;
}

/* A database with compactions in the background or without. */
static void
open_place(struct place *place, const petal_family_options *family, bool background)
{
    place_open(place, family);
    place->fixture.options.no_compaction = !background;
    reopen(place);
}

static void
must_have(struct place *place, uint64_t runs, uint64_t files)
{
    struct totals totals = totals_of(place);

    assert_int_equal(totals.runs, runs);
    assert_int_equal(totals.files, files);
}

/* Compact all runs there are, as the background would. */
static void
compact_runs(struct place *place)
{
    MUST(compactor_compact_runs(petal_table_family_at(place->table, 0), 0, 100, WHY));
}

TEST(test_a_sequential_load_is_written_once)
{
    for (unsigned descending = 0; descending < 2; descending++) {
        struct place place;

        open_place(&place, NULL, true);
        for (unsigned i = 0; i < FILES; i++) {
            unsigned number = descending ? FILES - 1 - i : i;

            put_file(&place, number * FILE_ROWS, number * FILE_ROWS + FILE_ROWS - 1);
            settle(&place);
        }
        assert_int_equal(stats_of(&place).compaction_bytes_out, 0);
        assert_true(stats_of(&place).compactions > 0);
        assert_int_equal(totals_of(&place).files, FILES);
        assert_true(totals_of(&place).runs < 10);
        must_hold_rows(&place, 0, FILES * FILE_ROWS - 1);
        compact_runs(&place);
        must_have(&place, 1, FILES);
        reopen(&place);
        must_have(&place, 1, FILES); /* the manifest says so */
        must_hold_rows(&place, 0, FILES * FILE_ROWS - 1);
        /* Who asks for it gets one file. */
        MUST(petal_compact(place.table, NULL, WHY));
        must_have(&place, 1, 1);
        must_hold_rows(&place, 0, FILES * FILE_ROWS - 1);
        assert_true(fixture_directory_is_clean(&place.fixture));
        fixture_fini(&place.fixture);
    }
}

#define COLUMNS 10

/* A put of column `number` of row<row>. */
static void
put_column(struct place *place, unsigned row, unsigned number, int64_t timestamp)
{
    char row_text[32], qualifier[32];

    snprintf(row_text, sizeof row_text, "row%04u", row);
    snprintf(qualifier, sizeof qualifier, "q%u", number);
    MUST(petal_put(petal_table_family_at(place->table, 0), slice_from_text(row_text),
                   slice_from_text(qualifier), timestamp, slice_from_text("value"), NULL, WHY));
}

/* Rows of several columns are linked whatever the filter; but not the file where one column has two
 * cells. */
TEST(test_rows_of_several_columns_are_linked)
{
    static const petal_family_options families[] = {
        {.versions = 3, .bloom = PETAL_BLOOM_ROW},
        {.versions = 3, .bloom = PETAL_BLOOM_ROW_PREFIX, .bloom_prefix_bytes = 5},
        {.versions = 3, .bloom = PETAL_BLOOM_NONE},
        {.versions = 3, .bloom = PETAL_BLOOM_ROWCOL},
        {.versions = 3, .bloom = PETAL_BLOOM_ROW_ROWCOL},
    };

    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        struct place place;

        open_place(&place, &families[i], false);
        for (unsigned row = 0; row < FILES; row++) {
            for (unsigned number = 0; number < COLUMNS; number++)
                put_column(&place, row, number, 1000);
            compact_fixture_flush(place.fixture.db);
        }
        compact_runs(&place);
        must_have(&place, 1, FILES);
        assert_int_equal(stats_of(&place).compaction_cells_in, 0);
        for (unsigned number = 0; number < COLUMNS; number++)
            put_column(&place, FILES, number, 1000);
        put_column(&place, FILES, COLUMNS / 2, 1001);
        compact_fixture_flush(place.fixture.db);
        compact_runs(&place);
        must_have(&place, 1, FILES + 1);
        assert_int_equal(stats_of(&place).compaction_cells_in, COLUMNS + 1);
        MUST(petal_table_verify(place.table, WHY));
        fixture_fini(&place.fixture);
    }
}

TEST(test_only_what_overlaps_is_rewritten)
{
    struct place place;

    open_place(&place, NULL, false);
    put_file(&place, 0, 99);
    put_file(&place, 100, 199);
    put_file(&place, 200, 299);
    put_file(&place, 150, 160);
    put_file(&place, 300, 399);
    compact_runs(&place);
    must_have(&place, 1, 4);
    assert_int_equal(stats_of(&place).compaction_cells_in, 111);
    must_hold_rows(&place, 0, 399);
    /* Newer puts and older ones of a row in a run that is linked and one that is not. */
    compact_fixture_put(place.table, "row0050", PETAL_LATEST, "newer");
    compact_fixture_flush(place.fixture.db);
    compact_fixture_put(place.table, "row0050", PETAL_LATEST, "newest");
    compact_runs(&place);
    must_have(&place, 1, 4);
    assert_string_equal(compact_fixture_value(place.table, "row0050"), "newest");
    reopen(&place);
    assert_string_equal(compact_fixture_value(place.table, "row0050"), "newest");
    assert_true(fixture_directory_is_clean(&place.fixture));
    fixture_fini(&place.fixture);
}

/* The attributes of the table's family from now on. */
static void
alter(struct place *place, const petal_family_options *family)
{
    petal_family_options changed = *family;
    petal_table_options options = {
        .name = slice_from_text("t"), .families = &changed, .family_count = 1};

    changed.name = slice_from_text("f");
    MUST(petal_table_alter(place->table, &options, WHY));
}

/* Markers, several cells of a column, cells past a time to live, and blocks of another size than
 * the family has now, are rewritten though they overlap nothing. */
TEST(test_what_could_be_gained_is)
{
    petal_family_options family = {.versions = 3};
    struct place place;
    uint64_t before;

    open_place(&place, &family, false);
    put_file(&place, 0, 9);
    compact_fixture_delete(place.table, "row1000", 7, PETAL_DELETE_COLUMN);
    compact_fixture_flush(place.fixture.db);
    compact_fixture_put(place.table, "row2000", 1000, "one");
    compact_fixture_put(place.table, "row2000", 1001, "two");
    compact_fixture_flush(place.fixture.db);
    compact_runs(&place);
    assert_int_equal(totals_of(&place).markers, 0);
    must_have(&place, 1, 2);
    assert_int_equal(stats_of(&place).compaction_cells_in, 3);
    put_file(&place, 3000, 3009);
    family.block_bytes = 2048;
    alter(&place, &family);
    before = stats_of(&place).compaction_cells_in;
    compact_runs(&place);
    assert_int_equal(stats_of(&place).compaction_cells_in, before + 22);
    family.ttl_seconds = 1000;
    alter(&place, &family);
    test_clock_advance(&place.fixture.clock, 2000 * 1000);
    put_file(&place, 4000, 4009);
    before = stats_of(&place).compaction_cells_in;
    compact_runs(&place);
    assert_int_equal(stats_of(&place).compaction_cells_in, before + 22);
    must_have(&place, 1, 1);
    assert_int_equal(totals_of(&place).cells, 10);
    fixture_fini(&place.fixture);
}

/* The disk is full in the middle of a job of all files: what was done stays done, and the next job
 * does the rest. */
static void
delete_rows(struct place *place, unsigned first, unsigned last)
{
    for (unsigned row = first; row <= last; row++) {
        char text[32];

        snprintf(text, sizeof text, "row%04u", row);
        MUST(petal_delete_row(place->table, slice_from_text(text), PETAL_LATEST, NULL, WHY));
    }
    compact_fixture_flush(place->fixture.db);
}

/* After a week one marker among many cells is left alone; with some more the files that have them,
 * or what they hide, are rewritten, and the others stay. */
TEST(test_age_rewrites_what_has_dead_cells)
{
    struct place place;

    open_place(&place, NULL, true);
    put_file(&place, 0, 99);
    put_file(&place, 100, 299);
    delete_rows(&place, 150, 150);
    test_clock_advance(&place.fixture.clock, POLICY_MAJOR_MS + 1000);
    settle(&place);
    assert_int_equal(stats_of(&place).compactions, 0);
    delete_rows(&place, 160, 161);
    settle(&place);
    assert_int_equal(stats_of(&place).compactions, 0); /* they are young */
    test_clock_advance(&place.fixture.clock, POLICY_MAJOR_MS + 1000);
    settle(&place);
    assert_int_equal(stats_of(&place).compaction_cells_in, 200 + 3);
    must_have(&place, 1, 2);
    settle(&place);
    assert_int_equal(stats_of(&place).compaction_cells_in, 200 + 3);
    fixture_fini(&place.fixture);
}

TEST(test_a_full_disk_costs_one_part)
{
    struct place place;
    petal_error error;
    uint64_t done, files = 60, used;

    open_place(&place, NULL, false);
    place.fixture.db->compact_file_bytes = 4000;
    for (unsigned i = 0; i < files; i++)
        put_file(&place, i * 20, i * 20 + 19);
    used = memory_vfs_used(place.fixture.vfs);
    memory_vfs_set_capacity(place.fixture.vfs, used + 12000);
    MUST(petal_compact(place.table, NULL, WHY)); /* the room of one part is enough */
    assert_true(totals_of(&place).files < files);
    must_hold_rows(&place, 0, (unsigned)files * 20 - 1);
    must_have(&place, 1, totals_of(&place).files);
    /* And with too little room for any: nothing is lost. */
    done = stats_of(&place).compactions;
    memory_vfs_set_capacity(place.fixture.vfs, memory_vfs_used(place.fixture.vfs) + 500);
    assert_int_equal(petal_compact(place.table, NULL, &error), PETAL_NO_SPACE);
    assert_int_equal(stats_of(&place).compactions, done);
    must_hold_rows(&place, 0, (unsigned)files * 20 - 1);
    memory_vfs_set_capacity(place.fixture.vfs, UINT64_MAX);
    MUST(petal_compact(place.table, NULL, WHY));
    must_hold_rows(&place, 0, (unsigned)files * 20 - 1);
    assert_true(fixture_directory_is_clean(&place.fixture));
    fixture_fini(&place.fixture);
}
