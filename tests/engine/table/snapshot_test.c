/*
 * snapshot_test.c -- snapshots of tables: they hold what was there, whatever becomes of the table;
 * tables are made of them; names, times to live, what they cost. Failures and power cuts:
 * tests/crash/sequence_test.c, tests/crash/failure_sites_test.c.
 */

#include "base/slice.h"
#include "tests/engine/script.h"
#include "tests/engine/table/copy_fixture.h"

#include <errno.h>

#define RESTORES         200
#define BYTES_OF_HANDLES 2048 /* of a table */

static const struct script_case cases[] = {
    {"a snapshot keeps what was in files, in memory, and in memory alone",
     "table t f,versions=3,bloom=rowcol,block=1024 g; put t a/f=1; flush; put t a/g=2\n"
     "unlogged t b/f=3; take t s; put t a/f=4 c/f=5 a/g!14; flush; compact t\n"
     "show t : a/f=4 b/f=3 c/f=5; clone s c; show c : a/f=1 a/g=2 b/f=3\n"
     "put c a/f=own; show c : a/f=own a/g=2 b/f=3; show t : a/f=4 b/f=3 c/f=5\n"
     "compact c; verify c; verify t; reopen; clean; show c : a/f=own a/g=2 b/f=3\n"
     "show t : a/f=4 b/f=3 c/f=5; clone s d; show d : a/f=1 a/g=2 b/f=3"},
    {"families are those of its time",
     "table t f g; put t a/g=1; take t old; alter t h; put t a/h=2; take t new\n"
     "clone old c; show c : a/g=1; clone new d; show d : a/h=2\n"
     "reopen; clean; put d b/h=3; flush; show d : a/h=2 b/h=3; restore old t; show t : a/g=1"},
    {"a moment older than the copy sees what had been written by then",
     "table t f,versions=3; put t a/f=1; moment early; put t a/f=2 b/f=2; take t s\n"
     "clone s c; put c a/f=3; flush; compact c; show c at=early : a/f=1\n"
     "show t at=early : a/f=1; show c : a/f=3 b/f=2"},
    {"a restored table is what it was, and the log's cells of the one before are passed over",
     "table t f,versions=3; put t a/f=1; take t s; put t a/f=2; flush; put t b/f=2\n"
     "keep lost t; restore s t; show t : a/f=1; refused not-found put lost a/f=lost\n"
     "put t c/f=3; die; show t : a/f=1 c/f=3; restore s t; show t : a/f=1\n"
     "reopen; clean; show t : a/f=1"},
    {"a dropped table comes back",
     "table t f; put t a/f=1; take t s; drop t; reopen; clean; snapshots : s\n"
     "restore s t; show t : a/f=1; drop t; clone s t; show t : a/f=1"},
    {"cursors stay with the table as it was",
     "table t f,versions=3; put t a/f=1; take t s; put t a/f=2; flush; open c t\n"
     "restore s t; show t : a/f=1; rest c : a/f=2"},
    {"names of snapshots are their own",
     "table t f; take t t; take t s; snapshots : s t; table s f; reopen; clean\n"
     "snapshots : s t; show s :"},
    {"mistakes are told",
     "table t f; take t s\n"
     "refused exists take t s; told Snapshot 's' already stored on the filesystem.\n"
     "refused invalid take t a/b; told the snapshot name \"a/b\" must not contain '/'\n"
     "refused not-found clone x y; told Unknown snapshot x!\n"
     "refused not-found restore x t; told Unknown snapshot x!\n"
     "refused not-found delete x; told Unknown snapshot x!\n"
     "refused exists clone s t; told Table already exists: t!\n"
     "refused invalid clone s -; drop t; keep gone t; refused not-found take gone late\n"
     "snapshots : s"},
    {"the files go with the last that has them",
     "table t f; put t a/f=1; flush; take t s; clone s c; files 3; drop t; drop c; files 1\n"
     "delete s; files 0; snapshots :; reopen; snapshots :"},
};

TEST_EACH(snapshots_of_tables_do_this, cases)
{
    script_run(*state);
}

TEST(what_is_in_memory_can_be_left_out)
{
    petal_table_snapshot_options options = {.size = sizeof options, .skip_flush = true};
    struct script script;

    script_begin(&script);
    script_do(&script, "table t f g");
    MUST(petal_table_snapshot_create(script_table(&script, "t"), text("none"), &options, WHY));
    script_do(&script, "put t a/f=1; flush; put t b/f=2");
    MUST(petal_table_snapshot_create(script_table(&script, "t"), text("s"), &options, WHY));
    script_do(&script, "clone s c; show c : a/f=1; clone none d; show d :; show t : a/f=1 b/f=2");
    script_end(&script);
}

/* Of an empty table, too: there is nothing to flush. */
TEST(attributes_come_along)
{
    petal_table_options was = {.size = sizeof was}, is = {.size = sizeof is};
    struct script script;
    petal_table *table;

    script_begin(&script);
    MUST(copy_fixture_create(script.base.db, "t", &table, WHY));
    script_do(&script, "take t s; clone s c; show c :");
    petal_table_describe(table, &was);
    petal_table_describe(script_table(&script, "c"), &is);
    assert_true(slice_equal(is.name, text("c")));
    assert_int_equal(is.durability, was.durability);
    assert_int_equal(is.attribute_count, 1);
    assert_true(slice_equal(is.attributes[0].value, text("me")));
    assert_int_equal(is.family_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(slice_equal(is.families[i].name, was.families[i].name));
        assert_int_equal(is.families[i].versions, was.families[i].versions);
        assert_int_equal(is.families[i].bloom, was.families[i].bloom);
        assert_int_equal(is.families[i].block_bytes, was.families[i].block_bytes);
        assert_int_equal(is.families[i].attribute_count, was.families[i].attribute_count);
    }
    script_end(&script);
}

/* A file is linked; without hard links it is copied, and nothing else differs. */
TEST(files_take_space_once_where_there_are_links)
{
    for (int links = 0; links < 2; links++) {
        uint8_t value[3000]; /* which nothing compresses */
        struct script script;
        uint64_t used;

        script_begin(&script);
        test_random_bytes(&script.base.random, value, sizeof value);
        memory_vfs_refuse_links(script.base.vfs, links ? 0 : EPERM);
        script_do(&script, "table t f g");
        MUST(petal_put(script_family(&script, "t", "f"), text("a"), text(""), 1,
                       slice_make(value, sizeof value), NULL, WHY));
        script_do(&script, "put t b/g=1; flush");
        used = memory_vfs_used(script.base.vfs);
        script_do(&script, "take t s; clone s c; files 6; show c row=b : b/g=1; drop t; verify c");
        assert_int_equal(memory_vfs_used(script.base.vfs) < used + 3000, links);
        copy_fixture_expect_no_stray(&script.base);
        script_end(&script);
    }
}

static bool
note_info(void *argument, const petal_table_snapshot_info *info)
{
    petal_table_snapshot_info *noted = argument;

    noted->created_ms = info->created_ms;
    noted->ttl_seconds = info->ttl_seconds;
    noted->file_bytes += info->file_bytes;
    assert_true(slice_equal(info->table, text("t")));
    return false;
}

TEST(a_time_to_live_ends)
{
    petal_table_snapshot_options options = {.ttl_seconds = 10};
    petal_table_snapshot_info info = {0};
    struct script script;

    script_begin(&script);
    script_do(&script, "table t f; put t a/f=1");
    MUST(petal_table_snapshot_create(script_table(&script, "t"), text("a"), &options, WHY));
    script_do(&script, "take t b");
    MUST(petal_table_snapshot_list(script.base.db, note_info, &info, WHY));
    assert_int_equal(info.created_ms, 1000);
    assert_int_equal(info.ttl_seconds, 10);
    assert_true(info.file_bytes > 0);
    script_do(&script, "clock 11000; snapshots : a b; clock 11001; refused not-found delete a\n"
                       "refused not-found clone a x; snapshots : b; files 2");
    MUST(petal_table_snapshot_create(script_table(&script, "t"), text("a"), &options, WHY));
    fixture_must_close(&script.base);
    test_clock_advance(&script.base.clock, 20000);
    fixture_must_open(&script.base);
    assert_int_equal(copy_fixture_named_files(&script.base), 2); /* before anybody asked */
    copy_fixture_expect_no_stray(&script.base);
    script_do(&script, "snapshots : b");
    script_end(&script);
}

/* Restoring has to give back all of the table before: files, what is open of them, memory but for a
 * handle and places in the views. */
TEST(a_table_can_be_restored_any_number_of_times)
{
    size_t files = 0, open = 0;
    struct script script;
    uint64_t live = 0;

    script_begin(&script);
    script_do(&script, "table t f,versions=3,bloom=rowcol g; put t a/f=1 b/g=2; take t s");
    for (unsigned round = 0; round < RESTORES; round++) {
        script_do(&script, "restore s t; show t : a/f=1 b/g=2; put t a/f=other; flush; compact t");
        if (round == 20) {
            files = fixture_count_files(&script.base, "");
            open = memory_vfs_open_files(script.base.vfs);
            live = test_allocator_live_bytes(&script.base.allocator);
        }
    }
    assert_in_range(fixture_count_files(&script.base, ""), 0, files);
    assert_in_range(memory_vfs_open_files(script.base.vfs), 0, open);
    assert_in_range(test_allocator_live_bytes(&script.base.allocator), 0,
                    live + RESTORES * BYTES_OF_HANDLES);
    copy_fixture_expect_no_stray(&script.base);
    script_end(&script);
}
