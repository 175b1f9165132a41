/*
 * truncate_test.c -- a table is emptied in one step: it stays there, with its families and
 * attributes, and nothing that it held comes back. Failures and power cuts:
 * tests/crash/sequence_test.c, tests/crash/failure_sites_test.c.
 */

#include "base/slice.h"
#include "tests/engine/script.h"
#include "tests/engine/table/copy_fixture.h"

/* Some of it in a store file, some in memory. */
#define FILL "put t a/f=1 a/g=2; flush; put t b/f=3\n"
#define FULL "show t : a/f=1 a/g=2 b/f=3\n"

static const struct script_case cases[] = {
    {"it is empty, now and after a crash, and other tables are not",
     "table t f g\n" FILL "table other f; put other o/f=1\n"
     "truncate t; show t :; files 0; show other : o/f=1; die; show t :; put t c/g=4\n"
     "truncate t; put t d/g=5; reopen; clean; show t : d/g=5; show other : o/f=1"},
    {"markers go too: cells of old timestamps show",
     "table t f g\n" FILL
     "put t a/f@9223372036854775806!14; truncate t; put t a/f@5=old; show t : a/f=old"},
    {"old handles are those of a dropped table",
     "table t f g\n" FILL "keep old t; truncate t; refused not-found put old a/f=x\n"
     "refused not-found open c old; refused not-found drop old; refused not-found truncate old\n"
     "told table t was dropped\n"
     "show t :"},
    {"cursors go on with what they saw; a moment sees nothing of what came later",
     "table t f g\n" FILL "moment m; open begun t; step begun : a/f=1; open fresh t; truncate t\n"
     "put t z/f=9; flush; rest begun : a/g=2 b/f=3; rest fresh : a/f=1 a/g=2 b/f=3\n"
     "show t at=m :; show t : z/f=9; close begun; close fresh; forget m; clean"},
    {"table snapshots stay",
     "table t f g\n" FILL "take t s; truncate t; clone s c; show c : a/f=1 a/g=2 b/f=3; show t :\n"
     "restore s t\n" FULL "clean"},
};

TEST_EACH(truncation_does_this, cases)
{
    script_run(*state);
}

/* A table that was altered is emptied as it is; so is one that takes no writes. */
TEST(attributes_stay)
{
    petal_attribute owner = {PETAL_METADATA, {"owner", 5}, {"me", 2}};
    petal_family_options families[] = {
        {.name = {"h", 1}, .attributes = &owner, .attribute_count = 1},
        {.name = {"f", 1}, .versions = 7, .bloom = PETAL_BLOOM_ROWCOL, .block_bytes = 1024}};
    petal_table_options options = {.families = families,
                                   .family_count = 2,
                                   .read_only = true,
                                   .durability = PETAL_SYNC_WAL,
                                   .attributes = &owner,
                                   .attribute_count = 1};
    struct script script;

    script_begin(&script);
    script_do(&script, "table t f g\n" FILL);
    MUST(petal_table_alter(script_table(&script, "t"), &options, WHY));
    script_do(&script, "truncate t");
    options = (petal_table_options){.size = sizeof(options)};
    petal_table_describe(script_table(&script, "t"), &options);
    assert_true(slice_equal(options.name, text("t")));
    assert_true(options.read_only);
    assert_int_equal(options.durability, PETAL_SYNC_WAL);
    assert_int_equal(options.attribute_count, 1);
    assert_true(slice_equal(options.attributes[0].value, text("me")));
    assert_int_equal(options.family_count, 2);
    assert_true(slice_equal(options.families[0].name, text("f")));
    assert_int_equal(options.families[0].versions, 7);
    assert_int_equal(options.families[0].bloom, PETAL_BLOOM_ROWCOL);
    assert_int_equal(options.families[0].block_bytes, 1024);
    assert_int_equal(options.families[1].attribute_count, 1);
    options.read_only = false;
    MUST(petal_table_alter(script_table(&script, "t"), &options, WHY));
    script_do(&script, "show t :; put t a/h=1; reopen; show t : a/h=1");
    script_end(&script);
}

TEST(any_number_of_times)
{
    struct script script;

    script_begin(&script);
    script_do(&script, "table t f g\n" FILL);
    for (unsigned i = 0; i < 50; i++)
        script_do(&script, "truncate t; show t :\n" FILL "clean");
    script_do(&script, "files 2");
    script_end(&script);
}
