/*
 * snapshot_test.c -- snapshots of tables: they hold what was there, whatever becomes of the table;
 * tables are made of them; names, times to live, what they cost. Failures and power cuts:
 * tests/crash/sequence_test.c, tests/crash/failure_sites_test.c.
 */

#include "base/slice.h"
#include "tests/engine/table/copy_fixture.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdlib.h>

#define NAME(text) slice_from_text(text)

#define RESTORES         200
#define BYTES_OF_HANDLES 2048 /* of a table */

static int
setup(void **state)
{
    struct fixture *fixture = test_allocate(sizeof *fixture);

    fixture_init(fixture, 1);
    fixture_must_open(fixture);
    *state = fixture;
    return 0;
}

static int
teardown(void **state)
{
    fixture_fini(*state);
    free(*state);
    return 0;
}

/* ---- steps ---- */

static petal_table *
make_table(struct fixture *fixture)
{
    petal_table *table;

    MUST(copy_fixture_create(fixture->db, "t", &table, WHY));
    return table;
}

static void
take(petal_table *table, const char *name)
{
    MUST(petal_table_snapshot_create(table, NAME(name), NULL, WHY));
}

static petal_table *
clone(struct fixture *fixture, const char *snapshot, const char *name)
{
    petal_table *table;

    MUST(petal_table_snapshot_clone(fixture->db, NAME(snapshot), NAME(name), &table, WHY));
    return table;
}

static petal_table *
restore(struct fixture *fixture, const char *snapshot)
{
    petal_table *table;

    MUST(petal_table_snapshot_restore(fixture->db, NAME(snapshot), &table, WHY));
    return table;
}

static void
flush(struct fixture *fixture)
{
    MUST(petal_flush(fixture->db, NULL, WHY));
}

static void
drop(petal_table *table)
{
    MUST(petal_table_drop(table, WHY));
}

static void
expect_snapshots(struct fixture *fixture, const char *names)
{
    char text[COPY_BED_TEXT_BYTES];

    assert_string_equal(copy_fixture_snapshots(fixture->db, text), names);
}

static void
reopen(struct fixture *fixture)
{
    fixture_must_close(fixture);
    fixture_must_open(fixture);
    copy_fixture_expect_no_stray(fixture);
}

/* ---- what a snapshot holds ---- */

/* In files, in memory, in memory only. */
TEST_WITH(a_snapshot_keeps_what_was_there, setup, teardown)
{
    struct fixture *fixture = *state;
    petal_table *table = make_table(fixture), *made;

    copy_fixture_must_put(table, "f", "a", "1");
    flush(fixture);
    copy_fixture_must_put(table, "g", "a", "2");
    MUST(copy_fixture_put(table, "f", "b", "3", PETAL_SKIP_WAL, WHY));
    take(table, "s");
    copy_fixture_must_put(table, "f", "a", "4");
    copy_fixture_must_put(table, "f", "c", "5");
    MUST(petal_delete(petal_table_family_at(table, 1), NAME("a"), slice_make(NULL, 0), PETAL_LATEST,
                      PETAL_DELETE_FAMILY, NULL, WHY));
    flush(fixture);
    MUST(petal_compact(table, NULL, WHY));
    copy_fixture_expect(table, "a/f=4 b/f=3 c/f=5 ");
    made = clone(fixture, "s", "c");
    copy_fixture_expect(made, "a/f=1 a/g=2 b/f=3 ");
    copy_fixture_must_put(made, "f", "a", "own");
    copy_fixture_expect(made, "a/f=own a/g=2 b/f=3 ");
    copy_fixture_expect(table, "a/f=4 b/f=3 c/f=5 ");
    MUST(petal_compact(made, NULL, WHY));
    reopen(fixture);
    copy_fixture_expect(copy_fixture_open(fixture->db, "c"), "a/f=own a/g=2 b/f=3 ");
    copy_fixture_expect(copy_fixture_open(fixture->db, "t"), "a/f=4 b/f=3 c/f=5 ");
    copy_fixture_expect(clone(fixture, "s", "d"), "a/f=1 a/g=2 b/f=3 ");
}

TEST_WITH(what_is_in_memory_can_be_left_out, setup, teardown)
{
    struct fixture *fixture = *state;
    petal_table *table = make_table(fixture);
    petal_table_snapshot_options options = {.size = sizeof options, .skip_flush = true};

    MUST(petal_table_snapshot_create(table, NAME("none"), &options, WHY));
    copy_fixture_must_put(table, "f", "a", "1");
    flush(fixture);
    copy_fixture_must_put(table, "f", "b", "2");
    MUST(petal_table_snapshot_create(table, NAME("s"), &options, WHY));
    copy_fixture_expect(clone(fixture, "s", "c"), "a/f=1 ");
    copy_fixture_expect(clone(fixture, "none", "d"), "");
    copy_fixture_expect(table, "a/f=1 b/f=2 ");
}

/* Of an empty table, too: there is nothing to flush. */
TEST_WITH(attributes_come_along, setup, teardown)
{
    struct fixture *fixture = *state;
    petal_table *table = make_table(fixture), *made;
    petal_table_options was = {.size = sizeof was}, is = {.size = sizeof is};

    take(table, "s");
    petal_table_describe(table, &was);
    made = clone(fixture, "s", "c");
    petal_table_describe(made, &is);
    assert_true(slice_equal(is.name, NAME("c")));
    assert_int_equal(is.durability, was.durability);
    assert_int_equal(is.attribute_count, 1);
    assert_true(slice_equal(is.attributes[0].value, NAME("me")));
    assert_int_equal(is.family_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(slice_equal(is.families[i].name, was.families[i].name));
        assert_int_equal(is.families[i].versions, was.families[i].versions);
        assert_int_equal(is.families[i].bloom, was.families[i].bloom);
        assert_int_equal(is.families[i].block_bytes, was.families[i].block_bytes);
        assert_int_equal(is.families[i].attribute_count, was.families[i].attribute_count);
    }
    copy_fixture_expect(made, "");
}

/* Families that came and went: the snapshot has those of its time. */
TEST_WITH(families_are_those_of_the_time, setup, teardown)
{
    struct fixture *fixture = *state;
    petal_table *table = make_table(fixture);
    petal_family_options only = {.name = NAME("h")};
    petal_table_options options = {.families = &only, .family_count = 1};

    copy_fixture_must_put(table, "g", "a", "1");
    take(table, "old");
    MUST(petal_table_alter(table, &options, WHY));
    copy_fixture_must_put(table, "h", "a", "2");
    take(table, "new");
    copy_fixture_expect(clone(fixture, "old", "c"), "a/g=1 ");
    copy_fixture_expect(clone(fixture, "new", "d"), "a/h=2 ");
    reopen(fixture);
    table = copy_fixture_open(fixture->db, "d");
    copy_fixture_must_put(table, "h", "b", "3");
    flush(fixture);
    copy_fixture_expect(table, "a/h=2 b/h=3 ");
    copy_fixture_expect(restore(fixture, "old"), "a/g=1 ");
}

/* A read point older than the table sees what had been written by then; a view of that time does
 * not have the table. */
TEST_WITH(older_read_points_see_what_was_written_by_then, setup, teardown)
{
    struct fixture *fixture = *state;
    petal_table *table = make_table(fixture), *made;
    char text[COPY_BED_TEXT_BYTES];
    petal_snapshot *early;

    copy_fixture_must_put(table, "f", "a", "1");
    MUST(petal_snapshot_new(fixture->db, &early, WHY));
    copy_fixture_must_put(table, "f", "a", "2");
    copy_fixture_must_put(table, "f", "b", "2");
    take(table, "s");
    made = clone(fixture, "s", "c");
    copy_fixture_must_put(made, "f", "a", "3");
    flush(fixture);
    MUST(petal_compact(made, NULL, WHY));
    assert_string_equal(copy_fixture_text(made, early, text), "a/f=1 ");
    assert_string_equal(copy_fixture_text(table, early, text), "a/f=1 ");
    assert_string_equal(copy_fixture_text(made, NULL, text), "a/f=3 b/f=2 ");
    petal_snapshot_free(early);
}

/* ---- restoring ---- */

TEST_WITH(a_restored_table_is_what_it_was, setup, teardown)
{
    struct fixture *fixture = *state;
    petal_table *table = make_table(fixture), *made;
    petal_error error;

    copy_fixture_must_put(table, "f", "a", "1");
    take(table, "s");
    copy_fixture_must_put(table, "f", "a", "2");
    flush(fixture);
    copy_fixture_must_put(table, "f", "b", "2");
    made = restore(fixture, "s");
    copy_fixture_expect(made, "a/f=1 ");
    assert_ptr_equal(copy_fixture_open(fixture->db, "t"), made);
    assert_int_equal(copy_fixture_put(table, "f", "a", "lost", PETAL_DURABILITY_DEFAULT, &error),
                     PETAL_NOT_FOUND);
    copy_fixture_must_put(made, "f", "c", "3");
    fixture_die(fixture); /* the log has cells of both: those of the old table are passed over */
    fixture_must_open(fixture);
    copy_fixture_expect(copy_fixture_open(fixture->db, "t"), "a/f=1 c/f=3 ");
    copy_fixture_expect(restore(fixture, "s"), "a/f=1 ");
    reopen(fixture);
    copy_fixture_expect(copy_fixture_open(fixture->db, "t"), "a/f=1 ");
}

TEST_WITH(a_dropped_table_comes_back, setup, teardown)
{
    struct fixture *fixture = *state;
    petal_table *table = make_table(fixture);

    copy_fixture_must_put(table, "f", "a", "1");
    take(table, "s");
    drop(table);
    reopen(fixture);
    expect_snapshots(fixture, "s ");
    copy_fixture_expect(restore(fixture, "s"), "a/f=1 ");
    drop(copy_fixture_open(fixture->db, "t"));
    copy_fixture_expect(clone(fixture, "s", "t"), "a/f=1 ");
}

/* A cursor that is open reads on; so does one on a clone that is dropped. */
TEST_WITH(cursors_stay_with_the_table_as_it_was, setup, teardown)
{
    struct fixture *fixture = *state;
    petal_table *table = make_table(fixture);
    const petal_cell *cell;
    petal_cursor *cursor;

    copy_fixture_must_put(table, "f", "a", "1");
    take(table, "s");
    copy_fixture_must_put(table, "f", "a", "2");
    flush(fixture);
    MUST(petal_cursor_open(table, NULL, &cursor, WHY));
    copy_fixture_expect(restore(fixture, "s"), "a/f=1 ");
    MUST(petal_cursor_next(cursor, &cell, WHY));
    assert_true(slice_equal(cell->value, NAME("2")));
    petal_cursor_close(cursor);
}

/* ---- names ---- */

static bool
count_table(void *argument, petal_table *table)
{
    (void)table;
    ++*(unsigned *)argument;
    return true;
}

TEST_WITH(names_of_snapshots_are_their_own, setup, teardown)
{
    struct fixture *fixture = *state;
    petal_table *table = make_table(fixture), *found;
    unsigned tables = 0;
    petal_error error;

    take(table, "t");
    take(table, "s");
    expect_snapshots(fixture, "s t ");
    assert_int_equal(petal_table_open(fixture->db, NAME("s"), &found, &error), PETAL_NOT_FOUND);
    must(petal_table_list(fixture->db, count_table, &tables, &error), &error);
    assert_int_equal(tables, 1);
    must(copy_fixture_create(fixture->db, "s", &found, &error), &error);
    reopen(fixture);
    expect_snapshots(fixture, "s t ");
    copy_fixture_open(fixture->db, "s");
}

static void
expect_error(enum petal_status status, enum petal_status expected, const petal_error *error,
             const char *text)
{
    assert_int_equal(status, expected);
    assert_string_equal(error->text, text);
}

TEST_WITH(mistakes_are_told, setup, teardown)
{
    struct fixture *fixture = *state;
    petal_db *db = fixture->db;
    petal_table *table = make_table(fixture), *made = table;
    petal_error error;

    take(table, "s");
    expect_error(petal_table_snapshot_create(table, NAME("s"), NULL, &error), PETAL_EXISTS, &error,
                 "Snapshot 's' already stored on the filesystem.");
    expect_error(petal_table_snapshot_create(table, NAME("bad name"), NULL, &error), PETAL_INVALID,
                 &error,
                 "the snapshot name \"bad name\" must not contain a space: letters, digits, '_', "
                 "'-' and '.' are allowed, and '-' and '.' not at the beginning");
    expect_error(petal_table_snapshot_create(table, NAME(""), NULL, &error), PETAL_INVALID, &error,
                 "the snapshot name is empty; it must have 1 to 255 bytes");
    expect_error(petal_table_snapshot_clone(db, NAME("x"), NAME("y"), &made, &error),
                 PETAL_NOT_FOUND, &error, "Unknown snapshot x!");
    assert_null(made);
    expect_error(petal_table_snapshot_restore(db, NAME("x"), &made, &error), PETAL_NOT_FOUND,
                 &error, "Unknown snapshot x!");
    expect_error(petal_table_snapshot_delete(db, NAME("x"), &error), PETAL_NOT_FOUND, &error,
                 "Unknown snapshot x!");
    expect_error(petal_table_snapshot_clone(db, NAME("s"), NAME("t"), &made, &error), PETAL_EXISTS,
                 &error, "Table already exists: t!");
    assert_int_equal(petal_table_snapshot_clone(db, NAME("s"), NAME("-"), &made, &error),
                     PETAL_INVALID);
    drop(table);
    assert_int_equal(petal_table_snapshot_create(table, NAME("late"), NULL, &error),
                     PETAL_NOT_FOUND);
    expect_snapshots(fixture, "s ");
}

/* ---- what they cost, and how they go ---- */

TEST_WITH(a_snapshot_shares_its_files, setup, teardown)
{
    struct fixture *fixture = *state;
    petal_table *table = make_table(fixture);
    uint64_t used;
    char value[3001];

    memset(value, 'x', 3000);
    value[3000] = '\0';
    copy_fixture_must_put(table, "f", "a", value);
    flush(fixture);
    used = memory_vfs_used(fixture->vfs);
    take(table, "s");
    clone(fixture, "s", "c");
    assert_true(memory_vfs_used(fixture->vfs) < used + 3000);
    assert_int_equal(fixture_count_files(fixture, ".sst"), 3);
    drop(table);
    drop(copy_fixture_open(fixture->db, "c"));
    assert_int_equal(fixture_count_files(fixture, ".sst"), 1);
    MUST(petal_table_snapshot_delete(fixture->db, NAME("s"), WHY));
    assert_int_equal(fixture_count_files(fixture, ".sst"), 0);
    expect_snapshots(fixture, "");
    reopen(fixture);
    expect_snapshots(fixture, "");
}

static bool
note_info(void *argument, const petal_table_snapshot_info *info)
{
    petal_table_snapshot_info *noted = argument;

    noted->created_ms = info->created_ms;
    noted->ttl_seconds = info->ttl_seconds;
    noted->file_bytes += info->file_bytes;
    assert_true(slice_equal(info->table, NAME("t")));
    return false;
}

TEST_WITH(a_time_to_live_ends, setup, teardown)
{
    struct fixture *fixture = *state;
    petal_table *table = make_table(fixture), *made;
    petal_table_snapshot_options options = {.ttl_seconds = 10};
    petal_table_snapshot_info info = {0};
    int64_t created = test_clock_ms(&fixture->clock);
    petal_error error;

    copy_fixture_must_put(table, "f", "a", "1");
    must(petal_table_snapshot_create(table, NAME("a"), &options, &error), &error);
    take(table, "b");
    must(petal_table_snapshot_list(fixture->db, note_info, &info, &error), &error);
    assert_int_equal(info.created_ms, created);
    assert_int_equal(info.ttl_seconds, 10);
    assert_true(info.file_bytes > 0);
    test_clock_set(&fixture->clock, created + 10000);
    expect_snapshots(fixture, "a b ");
    test_clock_set(&fixture->clock, created + 10001);
    assert_int_equal(petal_table_snapshot_delete(fixture->db, NAME("a"), &error), PETAL_NOT_FOUND);
    assert_int_equal(petal_table_snapshot_clone(fixture->db, NAME("a"), NAME("x"), &made, &error),
                     PETAL_NOT_FOUND);
    expect_snapshots(fixture, "b ");
    assert_int_equal(fixture_count_files(fixture, ".sst"), 2);
    must(petal_table_snapshot_create(table, NAME("a"), &options, &error), &error);
    fixture_must_close(fixture);
    test_clock_advance(&fixture->clock, 20000);
    fixture_must_open(fixture);
    assert_int_equal(copy_fixture_named_files(fixture), 2); /* before anybody asked */
    copy_fixture_expect_no_stray(fixture);
    expect_snapshots(fixture, "b ");
}

/* Restoring has to give back all of the table before: files, what is open of them, memory but for a
 * handle and places in the views. */
TEST_WITH(a_table_can_be_restored_any_number_of_times, setup, teardown)
{
    struct fixture *fixture = *state;
    petal_table *table = make_table(fixture), *made;
    size_t files = 0, open = 0;
    uint64_t live = 0;

    copy_fixture_must_put(table, "f", "a", "1");
    copy_fixture_must_put(table, "g", "b", "2");
    take(table, "s");
    for (unsigned round = 0; round < RESTORES; round++) {
        MUST(petal_table_snapshot_restore(fixture->db, NAME("s"), &made, WHY));
        copy_fixture_expect(made, "a/f=1 b/g=2 ");
        copy_fixture_must_put(made, "f", "a", "other");
        MUST(petal_flush(fixture->db, NULL, WHY));
        MUST(petal_compact(made, NULL, WHY));
        if (round == 20) {
            files = fixture_count_files(fixture, "");
            open = memory_vfs_open_files(fixture->vfs);
            live = test_allocator_live_bytes(&fixture->allocator);
        }
    }
    assert_in_range(fixture_count_files(fixture, ""), 0, files);
    assert_in_range(memory_vfs_open_files(fixture->vfs), 0, open);
    assert_in_range(test_allocator_live_bytes(&fixture->allocator), 0,
                    live + RESTORES * BYTES_OF_HANDLES);
    copy_fixture_expect_no_stray(fixture);
}

/* Without hard links the space is needed twice, and nothing else differs. */
TEST_WITH(files_are_copied_where_there_are_no_links, setup, teardown)
{
    struct fixture *fixture = *state;
    petal_table *table;
    char value[3001];

    memory_vfs_refuse_links(fixture->vfs, EPERM);
    memset(value, 'x', 3000);
    value[3000] = '\0';
    table = make_table(fixture);
    copy_fixture_must_put(table, "f", "a", value);
    copy_fixture_must_put(table, "g", "b", "1");
    take(table, "s");
    assert_string_equal(
        copy_fixture_text(clone(fixture, "s", "c"), NULL, (char[COPY_BED_TEXT_BYTES]){0}),
        copy_fixture_text(table, NULL, (char[COPY_BED_TEXT_BYTES]){0}));
    copy_fixture_expect_no_stray(fixture);
    memory_vfs_refuse_links(fixture->vfs, 0);
}
