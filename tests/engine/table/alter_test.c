/*
 * alter_test.c -- families that come and go and tables that turn read-only: an alteration is one
 * step, and what is dropped is gone for good. Failures and power cuts: tests/crash/sequence_test.c.
 */

#include "tests/engine/table/fixture.h"
#include "tests/support/test.h"

#include <stdlib.h>

/* ---- families that come and go ---- */

static void
check_gone(struct fixture *fixture, petal_table *table, petal_family *family)
{
    petal_column column = {family, NAMED("q"), false};
    petal_scan_options scan = {.read = {.columns = &column, .column_count = 1}};
    petal_cursor *cursor;
    petal_result *result;
    petal_error error;

    must(petal_result_new(fixture->db, &result, &error), &error);
    assert_int_equal(
        petal_put(family, text("row"), text("q"), PETAL_LATEST, text("x"), NULL, &error),
        PETAL_NOT_FOUND);
    assert_non_null(strstr(error.text, "family g"));
    assert_int_equal(
        petal_delete(family, text("row"), text("q"), PETAL_LATEST, PETAL_DELETE, NULL, &error),
        PETAL_NOT_FOUND);
    assert_int_equal(petal_get(table, text("row"), &scan.read, result, &error), PETAL_NOT_FOUND);
    assert_int_equal(petal_cursor_open(table, &scan, &cursor, &error), PETAL_NOT_FOUND);
    assert_true(slice_equal(petal_family_name(family), text("g")));
    petal_result_free(result);
}

TEST(test_families_come_and_go)
{
    struct fixture fixture;
    petal_table *table;
    petal_family *f, *g, *found;
    petal_error error;

    table_begin(&fixture);
    table = table_make(&fixture, "fg");
    f = table_family_named(table, "f");
    g = table_family_named(table, "g");
    table_put(table, "f", "row", "1");
    table_put(table, "g", "row", "2");
    must(petal_flush(fixture.db, NULL, &error), &error);
    table_put(table, "f", "row", "3");
    table_put(table, "g", "row", "4");
    assert_int_equal(fixture_count_files(&fixture, ".sst"), 2);
    must(table_alter_to(table, "hfe", &error), &error);
    assert_int_equal(petal_table_family_count(table), 3);
    assert_true(slice_equal(petal_family_name(petal_table_family_at(table, 0)), text("e")));
    assert_ptr_equal(petal_table_family_at(table, 1), f);
    assert_int_equal(petal_table_family(table, text("g"), &found, &error), PETAL_NOT_FOUND);
    check_gone(&fixture, table, g);
    assert_int_equal(fixture_count_files(&fixture, ".sst"), 1);
    table_put(table, "h", "row", "5");
    assert_string_equal(table_row(fixture.db, table, "row"), "f:3 h:5");
    /* The name comes back as another family, without what was there. */
    must(table_alter_to(table, "fg", &error), &error);
    assert_ptr_not_equal(table_family_named(table, "g"), g);
    check_gone(&fixture, table, g);
    assert_string_equal(table_row(fixture.db, table, "row"), "f:3");
    table_put(table, "g", "row", "6");
    must(petal_table_verify(table, &error), &error);
    fixture_must_close(&fixture);
    fixture_must_open(&fixture);
    assert_string_equal(table_row(fixture.db, table_reopen(&fixture), "row"), "f:3 g:6");
    assert_true(fixture_directory_is_clean(&fixture));
    fixture_fini(&fixture);
}

TEST(test_a_batch_with_a_dropped_family_is_refused_whole)
{
    struct fixture fixture;
    petal_table *table;
    petal_batch *batch;
    petal_error error;

    table_begin(&fixture);
    table = table_make(&fixture, "fg");
    must(petal_batch_new(fixture.db, &batch, &error), &error);
    must(petal_batch_put(batch, table_family_named(table, "f"), text("row"), text("q"), 1,
                         text("x"), &error),
         &error);
    must(petal_batch_put(batch, table_family_named(table, "g"), text("row"), text("q"), 1,
                         text("x"), &error),
         &error);
    must(table_alter_to(table, "f", &error), &error);
    assert_int_equal(petal_write(fixture.db, batch, NULL, &error), PETAL_NOT_FOUND);
    assert_string_equal(table_row(fixture.db, table, "row"), "");
    petal_batch_free(batch);
    fixture_fini(&fixture);
}

/* A cursor goes on with what was there when it was opened; the files wait for it. */
TEST(test_a_cursor_outlives_its_family)
{
    struct fixture fixture;
    petal_table *table;
    petal_cursor *cursor;
    const petal_cell *cell;

    table_begin(&fixture);
    table = table_make(&fixture, "fg");
    table_put(table, "g", "row", "1");
    MUST(petal_flush(fixture.db, NULL, WHY));
    table_put(table, "g", "rox", "2");
    MUST(petal_cursor_open(table, NULL, &cursor, WHY));
    MUST(table_alter_to(table, "fhij", WHY));
    table_put(table, "h", "row", "3");
    assert_int_equal(fixture_count_files(&fixture, ".sst"), 1);
    MUST(petal_cursor_next(cursor, &cell, WHY));
    assert_true(slice_equal(cell->family, text("g")));
    assert_true(slice_equal(cell->value, text("1")));
    MUST(petal_cursor_next(cursor, &cell, WHY));
    assert_true(slice_equal(cell->value, text("2")));
    MUST(petal_cursor_next(cursor, &cell, WHY));
    assert_null(cell);
    petal_cursor_close(cursor);
    assert_int_equal(fixture_count_files(&fixture, ".sst"), 0);
    fixture_fini(&fixture);
}

/* ---- READONLY ---- */

static void
set_read_only(petal_table *table, bool read_only)
{
    petal_table_options options = {.size = sizeof options};

    petal_table_describe(table, &options);
    options.read_only = read_only;
    MUST(petal_table_alter(table, &options, WHY));
}

TEST(test_a_read_only_table_takes_no_writes)
{
    struct fixture fixture;
    petal_table *table;
    petal_family *family;
    petal_batch *batch;
    petal_error error;

    table_begin(&fixture);
    table = table_make(&fixture, "f");
    family = table_family_named(table, "f");
    table_put(table, "f", "row", "1");
    set_read_only(table, true);
    assert_int_equal(
        petal_put(family, text("row"), text("q"), PETAL_LATEST, text("2"), NULL, &error),
        PETAL_READ_ONLY);
    assert_non_null(strstr(error.text, "table t is read-only"));
    assert_int_equal(petal_delete(family, text("row"), text("q"), PETAL_LATEST, PETAL_DELETE_COLUMN,
                                  NULL, &error),
                     PETAL_READ_ONLY);
    must(petal_batch_new(fixture.db, &batch, &error), &error);
    must(petal_batch_put(batch, family, text("row"), text("q"), 1, text("x"), &error), &error);
    assert_int_equal(petal_write(fixture.db, batch, NULL, &error), PETAL_READ_ONLY);
    petal_batch_free(batch);
    must(petal_flush(fixture.db, table, &error), &error);
    assert_string_equal(table_row(fixture.db, table, "row"), "f:1");
    fixture_die(&fixture);
    fixture_must_open(&fixture);
    table = table_reopen(&fixture);
    assert_int_equal(petal_put(table_family_named(table, "f"), text("row"), text("q"), PETAL_LATEST,
                               text("2"), NULL, &error),
                     PETAL_READ_ONLY);
    set_read_only(table, false);
    table_put(table, "f", "row", "3");
    assert_string_equal(table_row(fixture.db, table, "row"), "f:3");
    fixture_fini(&fixture);
}

/* ---- recovery ---- */

TEST(test_the_log_of_a_dropped_family_is_passed_over)
{
    struct fixture fixture;
    petal_table *table;

    table_begin(&fixture);
    table = table_make(&fixture, "fgh");
    table_put(table, "f", "row", "1");
    table_put(table, "g", "row", "2");
    table_put(table, "h", "row", "3");
    MUST(table_alter_to(table, "fi", WHY));
    table_put(table, "i", "row", "4");
    /* Its id was the last one: only the manifest's counter tells that it has been there. */
    MUST(table_alter_to(table, "f", WHY));
    fixture_die(&fixture);
    fixture_must_open(&fixture);
    assert_string_equal(table_row(fixture.db, table_reopen(&fixture), "row"), "f:1");
    fixture_fini(&fixture);
}

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
    must(table_alter_to(table, "fg", &error), &error);
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
        must(petal_table_create(fixture.db, &other, &table, &error), &error);
    else
        must(table_alter_to(table, "fg", &error), &error);
    table_put(table, "g", "row", "1");
    must(petal_flush(fixture.db, table, &error), &error);
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
    must(petal_salvage(FIXTURE_DIRECTORY, "/salvaged", &check, &counts, &error), &error);
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
