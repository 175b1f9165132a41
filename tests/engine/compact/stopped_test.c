/*
 * stopped_test.c -- a compaction of files that all overlap commits file by file: when it is stopped
 * the rows that it has written are in its outputs, the others in its inputs, of which the stores
 * have parts from then on. Whatever reads or takes over such parts sees each row once.
 */
#include "tests/engine/compact/background_fixture.h"

#include "engine/compact/compactor.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROWS     400u
#define FILES    4u
#define FIRST    5u   /* a row of which the compaction drops a deleted version, in its first file */
#define LATER    394u /* the same in a later one */
#define IN_DONE  "row0004"
#define IN_REST  "row0250"
#define REST_DIR "/out"

/* Fills the disk when the first file of a compaction is done. */
struct stop {
    struct place place;
    bool armed;
};

static int64_t
stopping_clock(void *context)
{
    struct stop *stop = context;

    if (stop->armed && stats_of(&stop->place).compaction_cells_out > 0) {
        stop->armed = false;
        memory_vfs_set_capacity(stop->place.fixture.vfs, memory_vfs_used(stop->place.fixture.vfs));
    }
    return test_clock_ms(&stop->place.fixture.clock);
}

static void
delete_row(struct stop *stop, unsigned number)
{
    char row[32];

    snprintf(row, sizeof row, "row%04u", number);
    compact_fixture_delete(stop->place.table, row, PETAL_LATEST, PETAL_DELETE_FAMILY);
}

/* Rows in files that all overlap, the last file's `twice`, and markers of two, of which one has a
 * file to itself. */
static void
fill(struct stop *stop, bool twice)
{
    for (unsigned file = 0; file < FILES; file++) {
        for (unsigned i = file; i < ROWS; i += FILES) {
            char row[32];

            snprintf(row, sizeof row, "row%04u", i);
            compact_fixture_put(stop->place.table, row, PETAL_LATEST, row);
        }
        if (twice && file + 1 == FILES) {
            test_clock_advance(&stop->place.fixture.clock, 1);
            for (unsigned i = file; i < ROWS; i += FILES) {
                char row[32];

                snprintf(row, sizeof row, "row%04u", i);
                compact_fixture_put(stop->place.table, row, PETAL_LATEST, row);
            }
        }
        if (file + 1 == FILES)
            delete_row(stop, LATER);
        compact_fixture_flush(stop->place.fixture.db);
    }
    delete_row(stop, FIRST);
    compact_fixture_flush(stop->place.fixture.db);
}

/* An all-files compaction that has committed a file and was stopped in the next. */
static void
stop_open(struct stop *stop, const petal_family_options *family)
{
    petal_error error;

    *stop = (struct stop){0};
    place_open(&stop->place, family);
    stop->place.fixture.options.no_compaction = true;
    stop->place.fixture.env.clock_context = stop;
    stop->place.fixture.env.clock_ms = stopping_clock;
    place_reopen(&stop->place);
    fill(stop, family != NULL && family->versions > 1);
    stop->place.fixture.db->compact_file_bytes = 1000;
    stop->armed = true;
    assert_int_equal(petal_compact(stop->place.table, NULL, &error), PETAL_NO_SPACE);
    memory_vfs_set_capacity(stop->place.fixture.vfs, UINT64_MAX);
    assert_true(stats_of(&stop->place).compaction_cells_out > 0);
    assert_int_equal(totals_of(&stop->place).files, FILES + 1);
}

static const char *
expected(unsigned number, char *row, size_t size)
{
    snprintf(row, size, "row%04u", number);
    return number == FIRST || number == LATER ? "" : row;
}

/* Files are not skipped for these reasons. */
static void
must_get_by(petal_table *table, const char *row, uint32_t without, bool is_there)
{
    const petal_read_options options = {.without = without};
    petal_result *result;

    MUST(petal_result_new(table->db, &result, WHY));
    MUST(petal_get(table, slice_from_text(row), &options, result, WHY));
    assert_int_equal(petal_result_count(result), is_there);
    petal_result_free(result);
}

/* All rows by gets, and by scans in both directions. */
static void
must_hold_all(petal_table *table)
{
    char row[32];

    for (unsigned i = 0; i < ROWS; i++) {
        const char *value = expected(i, row, sizeof row);

        assert_string_equal(compact_fixture_value(table, row), value);
        must_get_by(table, row, PETAL_WITHOUT(PETAL_SKIP_ROW_RANGE), value[0] != '\0');
        must_get_by(table, row, UINT32_MAX, value[0] != '\0');
    }
    for (unsigned reversed = 0; reversed < 2; reversed++) {
        petal_scan_options options = {.reversed = reversed};
        petal_cursor *cursor;
        unsigned seen = 0;

        MUST(petal_cursor_open(table, &options, &cursor, WHY));
        for (const petal_cell *cell;; seen++) {
            unsigned number = reversed ? ROWS - 1 - seen : seen;

            MUST(petal_cursor_next(cursor, &cell, WHY));
            while (number == FIRST || number == LATER)
                number = reversed ? ROWS - 1 - ++seen : ++seen;
            if (cell == NULL)
                break;
            expected(number, row, sizeof row);
            assert_true(slice_equal(cell->row, slice_from_text(row)));
        }
        petal_cursor_close(cursor);
        assert_int_equal(seen, ROWS);
    }
    MUST(petal_table_verify(table, WHY));
}

static petal_table *
table_of(petal_db *db, const char *name)
{
    petal_table *table;

    MUST(petal_table_open(db, slice_from_text(name), &table, WHY));
    return table;
}

/* Stopped, and begun anew: only what was not done is. */
TEST(test_a_stopped_compaction_goes_on_where_it_stood)
{
    static const petal_family_options families[] = {{.versions = 1}, {.versions = 3}};

    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        struct stop stop;
        uint64_t done, cells;

        stop_open(&stop, &families[i]);
        done = stats_of(&stop.place).compaction_cells_in;
        cells = ROWS + ROWS / FILES * (families[i].versions > 1) + 2;
        assert_in_range(done, 1, cells / 2);
        must_hold_all(stop.place.table);
        place_reopen(&stop.place);
        must_hold_all(stop.place.table);
        MUST(compactor_compact_runs(petal_table_family_at(stop.place.table, 0), 0, 100, WHY));
        assert_int_equal(stats_of(&stop.place).compaction_cells_in, cells - done);
        assert_int_equal(totals_of(&stop.place).runs, 1);
        assert_int_equal(totals_of(&stop.place).markers, 0);
        must_hold_all(stop.place.table);
        assert_true(fixture_directory_is_clean(&stop.place.fixture));
        fixture_fini(&stop.place.fixture);
    }
}

static bool
count_region(void *argument, const petal_region_info *info)
{
    (void)info;
    ++*(unsigned *)argument;
    return true;
}

/* Borders among the rows that are done and among the others; the regions are compacted alone, and
 * merged again. */
TEST(test_regions_with_parts_split_and_merge)
{
    for (unsigned compacts = 0; compacts < 3; compacts++) {
        unsigned regions = 0;
        struct stop stop;

        stop_open(&stop, NULL);
        MUST(petal_table_split(stop.place.table, slice_from_text(IN_DONE), 0, WHY));
        MUST(petal_table_split(stop.place.table, slice_from_text(IN_REST), 0, WHY));
        must_hold_all(stop.place.table);
        place_reopen(&stop.place);
        must_hold_all(stop.place.table);
        if (compacts == 1) {
            stop.place.fixture.db->compact_file_bytes = 1000;
            MUST(petal_compact(stop.place.table, NULL, WHY));
        }
        if (compacts < 2) {
            MUST(petal_table_merge(stop.place.table, 1, 2, WHY));
            must_hold_all(stop.place.table);
            MUST(petal_table_merge(stop.place.table, 1, 3, WHY));
            MUST(petal_table_regions(stop.place.table, count_region, &regions, WHY));
            assert_int_equal(regions, 1);
        }
        must_hold_all(stop.place.table);
        place_reopen(&stop.place);
        must_hold_all(stop.place.table);
        MUST(petal_compact(stop.place.table, NULL, WHY));
        must_hold_all(stop.place.table);
        assert_true(fixture_directory_is_clean(&stop.place.fixture));
        fixture_fini(&stop.place.fixture);
    }
}

/* Copies of every kind have what the database has. */
TEST(test_copies_have_the_same_parts)
{
    const petal_check_options check = {.size = sizeof check};
    petal_check_options options = check;
    petal_check_counts counts;
    struct stop stop;
    petal_table *table;
    petal_db *db;

    stop_open(&stop, NULL);
    db = stop.place.fixture.db;
    options.env = &stop.place.fixture.env;
    MUST(petal_table_snapshot_create(stop.place.table, slice_from_text("s"), NULL, WHY));
    MUST(petal_checkpoint(db, "/copy", WHY));
    MUST(petal_compact(stop.place.table, NULL, WHY));
    MUST(petal_table_snapshot_clone(db, slice_from_text("s"), slice_from_text("clone"), &table,
                                    WHY));
    must_hold_all(table);
    db = fixture_open_reader(&stop.place.fixture, "/copy");
    must_hold_all(table_of(db, "t"));
    petal_close(db, NULL);
    place_reopen(&stop.place);
    must_hold_all(table_of(stop.place.fixture.db, "clone"));
    /* The rows of a deleted version are in the whole files still. */
    MUST(petal_salvage("/copy", REST_DIR, &options, &counts, WHY));
    assert_int_equal(counts.faults, 0);
    db = fixture_open_reader(&stop.place.fixture, REST_DIR);
    must_hold_all(table_of(db, "t"));
    petal_close(db, NULL);
    fixture_fini(&stop.place.fixture);
}

/* Another opening that only reads sees the parts come. */
TEST(test_a_reader_beside_a_compaction_sees_the_parts)
{
    struct stop stop;
    petal_db *reader;

    stop_open(&stop, NULL);
    reader = fixture_open_reader(&stop.place.fixture, FIXTURE_DIRECTORY);
    must_hold_all(table_of(reader, "t"));
    stop.place.fixture.db->compact_file_bytes = 1500;
    stop.armed = false;
    MUST(petal_compact(stop.place.table, NULL, WHY));
    MUST(petal_refresh(reader, WHY));
    must_hold_all(table_of(reader, "t"));
    petal_close(reader, NULL);
    fixture_fini(&stop.place.fixture);
}

/* ---- damage ---- */

static const petal_family_options plain = {
    .versions = 1, .block_bytes = 1024, .compression = PETAL_COMPRESSION_NONE};

struct first_file {
    char path[64];
};

static void
find_first(void *argument, const char *name)
{
    struct first_file *first = argument;
    char path[64];

    snprintf(path, sizeof path, "%s/%s", FIXTURE_DIRECTORY, name);
    if (strstr(name, ".sst") != NULL && (first->path[0] == '\0' || strcmp(path, first->path) < 0))
        memcpy(first->path, path, sizeof path);
}

/* A long value of that row alone. */
static void
long_value(char value[129], unsigned number)
{
    struct test_random random;

    test_random_init(&random, number);
    for (size_t i = 0; i < 128; i++)
        value[i] = (char)(1 + test_random_below(&random, 255));
    value[128] = '\0';
}

/* Change the block of the oldest file that has the row's long value, or change it back. */
static void
turn_value(struct stop *stop, unsigned number)
{
    struct memory_vfs *vfs = stop->place.fixture.vfs;
    struct first_file first = {""};
    uint8_t *bytes, *found = NULL;
    char value[129];
    size_t size;

    long_value(value, number);
    assert_int_equal(memory_vfs_list(vfs, FIXTURE_DIRECTORY, find_first, &first), 0);
    assert_int_equal(memory_vfs_read_file(vfs, first.path, &bytes, &size), 0);
    for (size_t i = 0; found == NULL && i + 20 <= size; i++) {
        if (memcmp(bytes + i, value + 20, 20) == 0)
            found = bytes + i;
    }
    assert_non_null(found);
    found[30] ^= 0x80;
    assert_int_equal(memory_vfs_write_file(vfs, first.path, bytes, size), 0);
    free(bytes);
}

/* All rows, of which few fit in a block. */
static void
fill_blocks(struct stop *stop)
{
    for (unsigned i = 0; i < ROWS; i++) {
        char row[32], value[129];

        snprintf(row, sizeof row, "row%04u", i);
        long_value(value, i);
        compact_fixture_put(stop->place.table, row, PETAL_LATEST, value);
    }
    compact_fixture_flush(stop->place.fixture.db);
}

/* Two regions have two files. */
static void
damage_open(struct stop *stop)
{
    *stop = (struct stop){0};
    place_open(&stop->place, &plain);
    stop->place.fixture.options.no_compaction = true;
    stop->place.fixture.options.memtable_bytes = 64 << 10;
    place_reopen(&stop->place);
    fill_blocks(stop);
    fill_blocks(stop);
    MUST(petal_table_split(stop->place.table, slice_from_text(IN_REST), 0, WHY));
    stop->place.fixture.db->compact_file_bytes = 1000;
}

/* It is not tried over and over. */
TEST(test_a_damaged_file_of_two_regions_is_left_alone)
{
    struct stop stop;
    petal_error error;

    damage_open(&stop);
    stop.place.fixture.options.no_compaction = false;
    petal_close(stop.place.fixture.db, NULL);
    stop.place.fixture.db = NULL;
    turn_value(&stop, 200);
    turn_value(&stop, 270);
    fixture_must_open(&stop.place.fixture);
    stop.place.table = table_of(stop.place.fixture.db, "t");
    stop.place.fixture.db->compact_file_bytes = 1000;
    for (unsigned i = 0; i < 14; i++)
        fill_blocks(&stop);
    assert_int_not_equal(petal_wait_idle(stop.place.fixture.db, &error), PETAL_NO_MEMORY);
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    assert_in_range(stats_of(&stop.place).background_failures, 1, 8);
    fixture_fini(&stop.place.fixture);
}

/* Whichever region lets go of it last. */
TEST(test_damage_ends_when_no_region_has_the_file)
{
    static const unsigned damaged[] = {200, 270};

    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        struct stop stop;
        petal_error error;

        damage_open(&stop);
        place_reopen(&stop.place);
        stop.place.fixture.db->compact_file_bytes = 1000;
        turn_value(&stop, damaged[i]);
        assert_int_equal(petal_compact(stop.place.table, NULL, &error), PETAL_CORRUPT);
        assert_int_equal(petal_family_check(petal_table_family_at(stop.place.table, 0), &error),
                         PETAL_CORRUPT);
        turn_value(&stop, damaged[i]);
        MUST(petal_compact(stop.place.table, NULL, WHY));
        MUST(petal_family_check(petal_table_family_at(stop.place.table, 0), WHY));
        MUST(petal_checkpoint(stop.place.fixture.db, "/copy", WHY));
        MUST(petal_table_verify(stop.place.table, WHY));
        fixture_fini(&stop.place.fixture);
    }
}
