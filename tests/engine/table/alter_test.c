/*
 * alter_test.c -- families that come and go and tables that turn read-only: an alteration is one
 * step, and what is dropped is gone for good. Failures and power cuts: tests/crash/sequence_test.c.
 */

#include "tests/engine/script.h"
#include "tests/engine/table/fixture.h"
#include "tests/support/test.h"

#include <stdlib.h>

static const struct script_case cases[] = {
    {"families come and go, and a name that comes back is another family's",
     "table t f g; put t row/f=1 row/g=2; flush; put t row/f=3 row/g=4; files 2; alter t h f e\n"
     "refused not-found put t row/g=x; files 1; put t row/h=5; show t : row/f=3 row/h=5\n"
     "alter t f g; show t : row/f=3; put t row/g=6; verify t; reopen; clean\n"
     "show t : row/f=3 row/g=6"},
    {"a cursor goes on with what was there when it was opened; the files wait for it",
     "table t f g; put t row/g=1; flush; put t rox/g=2; open c t; alter t f h i j; put t row/h=3\n"
     "files 1; rest c : row/g=1 rox/g=2; close c; files 0"},
    {"the log of a dropped family is passed over, also of the last id that there was",
     "table t f g h; put t row/f=1 row/g=2 row/h=3; alter t f i; put t row/i=4; alter t f; die\n"
     "show t : row/f=1"},
    {"a drop leaves an open cursor its files, and a handle that says that the table is gone",
     "table t g; put t a/g=1 c/g=1; flush; put t b/g=1; open c t; keep old t; drop t; table t g\n"
     "refused not-found open none old; refused not-found flush old; refused not-found verify old\n"
     "refused not-found drop old; files 1; rest c : a/g=1 b/g=1 c/g=1; close c; files 0\n"
     "show t :; put t a/g=2; reopen; show t : a/g=2"},
};

TEST_EACH(alterations_do_this, cases)
{
    script_run(*state);
}

/* By a handle from before: no call takes the family. */
TEST(the_handle_of_a_dropped_family_is_refused)
{
    struct script script;
    petal_family *f, *g;
    petal_column column;
    petal_scan_options scan = {.read = {.columns = &column, .column_count = 1}};
    petal_cursor *cursor;
    petal_result *result;
    petal_batch *batch;
    petal_table *table;
    petal_error error;

    script_begin(&script);
    script_do(&script, "table t f g");
    table = script_table(&script, "t");
    f = script_family(&script, "t", "f");
    g = script_family(&script, "t", "g");
    column = (petal_column){g, NAMED("q"), false};
    MUST(petal_result_new(script.base.db, &result, WHY));
    MUST(petal_batch_new(script.base.db, &batch, WHY));
    MUST(petal_batch_put(batch, f, text("row"), text("q"), 1, text("x"), WHY));
    MUST(petal_batch_put(batch, g, text("row"), text("q"), 1, text("x"), WHY));
    script_do(&script, "alter t f");
    assert_int_equal(petal_write(script.base.db, batch, NULL, &error), PETAL_NOT_FOUND);
    script_do(&script, "show t :; alter t f g");
    assert_ptr_equal(petal_table_family_at(table, 0), f);
    assert_ptr_not_equal(script_family(&script, "t", "g"), g);
    assert_int_equal(petal_put(g, text("row"), text("q"), PETAL_LATEST, text("x"), NULL, &error),
                     PETAL_NOT_FOUND);
    assert_non_null(strstr(error.text, "family g"));
    assert_int_equal(
        petal_delete(g, text("row"), text("q"), PETAL_LATEST, PETAL_DELETE, NULL, &error),
        PETAL_NOT_FOUND);
    assert_int_equal(petal_get(table, text("row"), &scan.read, result, &error), PETAL_NOT_FOUND);
    assert_int_equal(petal_cursor_open(table, &scan, &cursor, &error), PETAL_NOT_FOUND);
    assert_true(slice_equal(petal_family_name(g), text("g")));
    petal_batch_free(batch);
    petal_result_free(result);
    script_end(&script);
}

/* ---- READONLY ---- */

static void
set_read_only(struct script *script, bool read_only)
{
    petal_table_options options = {.size = sizeof options};

    petal_table_describe(script_table(script, "t"), &options);
    options.read_only = read_only;
    MUST(petal_table_alter(script_table(script, "t"), &options, WHY));
}

TEST(a_read_only_table_takes_no_writes)
{
    struct script script;

    script_begin(&script);
    script_do(&script, "table t f; put t row/f=1");
    set_read_only(&script, true);
    script_do(&script, "refused read-only put t row/f=2; told table t is read-only\n"
                       "refused read-only put t row/f!12; refused read-only batch t row/f=2\n"
                       "flush t; show t : row/f=1; die; refused read-only put t row/f=2");
    set_read_only(&script, false);
    script_do(&script, "put t row/f=3; show t : row/f=3");
    script_end(&script);
}

/* ---- recovery ---- */

/* A manifest older than the log: records of a family that it has never heard of are no family's
 * that was dropped. */
TEST(test_the_log_of_an_unknown_family_is_damage)
{
    static const char manifest[] = FIXTURE_DIRECTORY "/MANIFEST";
    struct fixture fixture;
    petal_table *table;
    petal_error error;
    uint8_t *bytes;
    size_t size;

    table_begin(&fixture);
    table = table_make(&fixture, "f");
    assert_int_equal(memory_vfs_read_file(fixture.vfs, manifest, &bytes, &size), 0);
    MUST(table_alter_to(table, "fg", WHY));
    table_put(table, "g", "row", "1");
    fixture_die(&fixture);
    assert_int_equal(memory_vfs_write_file(fixture.vfs, manifest, bytes, size), 0);
    free(bytes);
    assert_int_equal(fixture_open(&fixture, &error), PETAL_CORRUPT);
    assert_non_null(strstr(error.text, "family 1, which never existed"));
    fixture_fini(&fixture);
}

/* A manifest older than a store file, of which it knows no name: without it the cells were gone. */
static void
check_store_file_of_the_unknown(bool of_table)
{
    static const char manifest[] = FIXTURE_DIRECTORY "/MANIFEST";
    petal_family_options families[8];
    petal_table_options other = table_plain_options(families, "g");
    petal_check_options check = {.size = sizeof check};
    petal_check_counts counts;
    struct fixture fixture;
    petal_table *table;
    petal_error error;
    uint64_t before;
    uint8_t *bytes;
    size_t size;

    table_begin(&fixture);
    check.env = &fixture.env;
    table = table_make(&fixture, "f");
    assert_int_equal(memory_vfs_read_file(fixture.vfs, manifest, &bytes, &size), 0);
    other.name = text("other");
    if (of_table)
        MUST(petal_table_create(fixture.db, &other, &table, WHY));
    else
        MUST(table_alter_to(table, "fg", WHY));
    table_put(table, "g", "row", "1");
    MUST(petal_flush(fixture.db, table, WHY));
    fixture_die(&fixture);
    assert_int_equal(memory_vfs_write_file(fixture.vfs, manifest, bytes, size), 0);
    free(bytes);
    before = memory_vfs_hash(fixture.vfs);
    for (int read_only = 0; read_only < 2; read_only++) {
        fixture.options.read_only = read_only == 1;
        fixture.options.create = false;
        assert_int_equal(fixture_open(&fixture, &error), PETAL_CORRUPT);
        assert_non_null(strstr(error.text, "family g, of which the manifest does not know"));
        assert_non_null(strstr(error.text, "kv-check salvage"));
        assert_true(memory_vfs_hash(fixture.vfs) == before);
    }
    MUST(petal_salvage(FIXTURE_DIRECTORY, "/salvaged", &check, &counts, WHY));
    assert_int_equal(counts.cells, 1);
    fixture_fini(&fixture);
}

TEST(test_a_store_file_of_an_unknown_family_is_damage)
{
    check_store_file_of_the_unknown(false);
    check_store_file_of_the_unknown(true);
}

/* ---- while a get is on its way ---- */

/* Memory that alters the table, once, when it is asked for some. */
struct altering_memory {
    petal_allocator table;
    const petal_allocator *inner;
    petal_table *altered;
    bool armed;
};

static void *
allocate_and_alter(void *context, size_t alignment, size_t size)
{
    struct altering_memory *memory = context;

    if (memory->armed) {
        petal_family_options family = {
            .name = text("f"), .versions = 1, .new_version_behavior = true};
        petal_table_options options = {.name = text("t"), .families = &family, .family_count = 1};

        memory->armed = false;
        MUST(petal_table_alter(memory->altered, &options, WHY));
    }
    return memory->inner->allocate(memory->inner->context, alignment, size);
}

static void
release(void *context, void *bytes, size_t size)
{
    struct altering_memory *memory = context;

    memory->inner->release(memory->inner->context, bytes, size);
}

/*
 * A get with a new result allocates after its choice of the way. The rules change there, and what
 * it finds must be judged by those that it began with: before, a:1 is seen; after, b:1, written
 * after the marker above it.
 */
TEST(test_order_of_writes_comes_during_a_get)
{
    struct altering_memory memory = {.table = {&memory, allocate_and_alter, release}};
    petal_column columns[20];
    petal_read_options read = {.columns = columns, .column_count = 20};
    struct fixture fixture;
    petal_result *result;
    petal_family *f;

    fixture_init(&fixture, 1);
    memory.inner = fixture.env.allocator;
    fixture.env.allocator = &memory.table;
    fixture_must_open(&fixture);
    memory.altered = table_make(&fixture, "f");
    f = table_family_named(memory.altered, "f");
    MUST(petal_put(f, text("r"), text("a"), 1, text("v"), NULL, WHY));
    MUST(petal_put(f, text("r"), text("a"), 2, text("v"), NULL, WHY));
    MUST(petal_delete(f, text("r"), text("a"), 2, PETAL_DELETE, NULL, WHY));
    MUST(petal_delete(f, text("r"), text("b"), 3, PETAL_DELETE_COLUMN, NULL, WHY));
    MUST(petal_put(f, text("r"), text("b"), 1, text("v"), NULL, WHY));
    for (int i = 0; i < 20; i++)
        columns[i] = (petal_column){f, text(i % 2 == 0 ? "a" : "b"), false};
    for (int turn = 0; turn < 3; turn++) {
        MUST(petal_result_new(fixture.db, &result, WHY));
        memory.armed = turn == 1;
        MUST(petal_get(memory.altered, text("r"), &read, result, WHY));
        assert_false(memory.armed);
        assert_int_equal(petal_result_count(result), 1);
        assert_true(
            slice_equal(petal_result_cell(result, 0)->qualifier, text(turn < 2 ? "a" : "b")));
        petal_result_free(result);
    }
    fixture_fini(&fixture);
}
