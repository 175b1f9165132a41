/*
 * api_test.c -- the ordinary behaviour of the public calls: tables and options, writes and
 * deletions, timestamps, the key-value surface, cursors. What a read costs is in
 * tests/engine/read/cost_test.c, what is refused in tests/engine/db/refusal_test.c.
 */

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <stdlib.h>

static petal_table *
make_table(struct fixture *fixture, const char *name)
{
    petal_family_options families[2] = {{.name = text("g")}, {.name = text("f")}};
    petal_table_options options = {.name = text(name), .families = families, .family_count = 2};
    petal_table *table;

    MUST(petal_table_create(fixture->db, &options, &table, WHY));
    return table;
}

static void
put(petal_table *table, const char *row, const char *qualifier, int64_t timestamp,
    const char *value)
{
    MUST(petal_put(petal_table_family_at(table, 0), text(row), text(qualifier), timestamp,
                   text(value), NULL, WHY));
}

/* "value@timestamp" of each cell of the row, in order; lives until the next call. */
static const char *
row_text(struct fixture *fixture, petal_table *table, const char *row)
{
    static char line[400];
    petal_result *result;
    size_t used = 0;

    line[0] = '\0';
    MUST(petal_result_new(fixture->db, &result, WHY));
    MUST(petal_get(table, text(row), NULL, result, WHY));
    for (size_t i = 0; i < petal_result_count(result); i++) {
        const petal_cell *cell = petal_result_cell(result, i);

        used += (size_t)snprintf(line + used, sizeof line - used, "%s%.*s@%lld", i > 0 ? " " : "",
                                 (int)cell->value.size, (const char *)cell->value.data,
                                 (long long)cell->timestamp);
    }
    petal_result_free(result);
    return line;
}

static void
begin(struct fixture *fixture)
{
    fixture_init(fixture, 8);
    fixture_must_open(fixture);
}

/* ---- tables and options ---- */

struct name_list {
    char text[100];
    size_t most;
};

static bool
add_name(void *argument, petal_table *table)
{
    struct name_list *list = argument;
    petal_slice name = petal_table_name(table);

    strncat(list->text, name.data, name.size);
    strcat(list->text, " ");
    return --list->most > 0;
}

static void
check_names(struct fixture *fixture, size_t most, const char *expected)
{
    struct name_list list = {.most = most};

    MUST(petal_table_list(fixture->db, add_name, &list, WHY));
    assert_string_equal(list.text, expected);
}

TEST(test_tables_come_and_go)
{
    struct fixture fixture;
    petal_table *table, *again, *found;
    petal_error error;

    begin(&fixture);
    check_names(&fixture, 9, "");
    make_table(&fixture, "m");
    table = make_table(&fixture, "a");
    make_table(&fixture, "z");
    check_names(&fixture, 9, "a m z ");
    check_names(&fixture, 2, "a m ");
    put(table, "row", "q", 5, "old");
    must(petal_flush(fixture.db, table, &error), &error);
    must(petal_table_drop(table, &error), &error);
    check_names(&fixture, 9, "m z ");
    /* The old handle stays, and says that its table is gone. */
    assert_int_equal(petal_put(petal_table_family_at(table, 0), text("row"), text("q"), 5,
                               text("x"), NULL, &error),
                     PETAL_NOT_FOUND);
    assert_int_equal(petal_flush(fixture.db, table, &error), PETAL_NOT_FOUND);
    assert_int_equal(petal_table_verify(table, &error), PETAL_NOT_FOUND);
    assert_int_equal(petal_table_drop(table, &error), PETAL_NOT_FOUND);
    assert_int_equal(petal_table_open(fixture.db, text("a"), &found, &error), PETAL_NOT_FOUND);
    assert_int_equal(fixture_count_files(&fixture, ".sst"), 0);
    /* A new table of the same name has nothing of the old one. */
    again = make_table(&fixture, "a");
    assert_ptr_not_equal(again, table);
    assert_string_equal(row_text(&fixture, again, "row"), "");
    fixture_must_close(&fixture);
    fixture_must_open(&fixture);
    check_names(&fixture, 9, "a m z ");
    fixture_fini(&fixture);
}

static void
check_described(struct fixture *fixture)
{
    petal_family_options described = {.size = sizeof described};
    petal_table *table;
    petal_family *family;

    MUST(petal_table_open(fixture->db, text("t"), &table, WHY));
    assert_int_equal(petal_table_durability(table), PETAL_FSYNC_WAL);
    assert_int_equal(petal_table_family_count(table), 2);
    assert_true(slice_equal(petal_family_name(petal_table_family_at(table, 0)), text("a")));
    MUST(petal_table_family(table, text("b"), &family, WHY));
    assert_ptr_equal(family, petal_table_family_at(table, 1));
    petal_family_describe(family, &described);
    assert_true(slice_equal(described.name, text("b")));
    assert_int_equal(described.versions, 3);
    assert_int_equal(described.block_bytes, 4096);
    assert_int_equal(described.compression, PETAL_COMPRESSION_NONE);
    assert_int_equal(described.bloom, PETAL_BLOOM_ROW_ROWCOL);
    assert_true(described.bloom_error_rate == 0.05);
    assert_true(described.in_memory && described.no_block_cache);
    /* The other one has HBase's defaults, but for compression. */
    described = (petal_family_options){0};
    petal_family_describe(petal_table_family_at(table, 0), &described);
    assert_int_equal(described.versions, 1);
    assert_int_equal(described.block_bytes, 65536);
    assert_int_equal(described.compression, PETAL_COMPRESSION_LZ4);
    assert_int_equal(described.bloom, PETAL_BLOOM_ROW);
    assert_true(described.bloom_error_rate == 0.01);
    assert_false(described.in_memory || described.no_block_cache);
}

TEST(test_families_keep_their_attributes)
{
    petal_family_options families[2] = {{.name = text("b"),
                                         .versions = 3,
                                         .block_bytes = 4096,
                                         .compression = PETAL_COMPRESSION_NONE,
                                         .bloom = PETAL_BLOOM_ROW_ROWCOL,
                                         .bloom_error_rate = 0.05,
                                         .in_memory = true,
                                         .no_block_cache = true},
                                        {.name = text("a")}};
    petal_table_options options = {
        .name = text("t"), .families = families, .family_count = 2, .durability = PETAL_FSYNC_WAL};
    struct fixture fixture;
    petal_table *table;
    petal_error error;

    begin(&fixture);
    must(petal_table_create(fixture.db, &options, &table, &error), &error);
    assert_int_equal(petal_table_create(fixture.db, &options, &table, &error), PETAL_EXISTS);
    assert_null(table);
    check_described(&fixture);
    fixture_must_close(&fixture);
    fixture_must_open(&fixture);
    check_described(&fixture);
    fixture_fini(&fixture);
}

/* A program built with an older header knows less of a struct: what lies after its size is not
 * looked at. */
TEST(test_shorter_option_structs)
{
    petal_family_options family = {.size = offsetof(petal_family_options, compression),
                                   .name = text("f"),
                                   .bloom = (enum petal_bloom_type)77,
                                   .bloom_error_rate = 9};
    petal_table_options options = {.size = offsetof(petal_table_options, durability),
                                   .name = text("t"),
                                   .families = &family,
                                   .family_count = 1,
                                   .durability = (enum petal_durability)77};
    petal_family_options described = {.size = offsetof(petal_family_options, bloom),
                                      .bloom = (enum petal_bloom_type)66};
    petal_read_options read = {.size = offsetof(petal_read_options, keep_out_of_cache),
                               .without = ~0u,
                               .receipt = (petal_receipt *)&described};
    petal_scan_options scan = {.size = offsetof(petal_scan_options, row_limit),
                               .read = {.size = sizeof scan.read},
                               .start_row = text("row"),
                               .row_limit = 1,
                               .start_exclusive = true,
                               .reversed = true};
    struct fixture fixture;
    petal_result *result;
    petal_table *table;
    petal_cursor *cursor;

    fixture_init(&fixture, 8);
    fixture.options.size = sizeof fixture.options;
    fixture.env.size = sizeof fixture.env;
    fixture_must_open(&fixture);
    MUST(petal_table_create(fixture.db, &options, &table, WHY));
    petal_family_describe(petal_table_family_at(table, 0), &described);
    assert_int_equal(described.block_bytes, 65536);
    assert_int_equal(described.bloom, 66);
    put(table, "row", "q", 5, "value");
    MUST(petal_result_new(fixture.db, &result, WHY));
    MUST(petal_get(table, text("row"), &read, result, WHY));
    assert_int_equal(petal_result_count(result), 1);
    put(table, "row2", "q", 5, "value");
    MUST(petal_cursor_open(table, &scan, &cursor, WHY));
    for (size_t row = 0; row < 3; row++) {
        const petal_cell *cell;

        MUST(petal_cursor_next(cursor, &cell, WHY));
        if (row == 2)
            assert_null(cell);
        else
            assert_true(slice_equal(cell->row, text(row == 0 ? "row" : "row2")));
    }
    petal_cursor_close(cursor);
    petal_result_free(result);
    fixture_fini(&fixture);
}

/* ---- deletions and timestamps ---- */

static void
erase(petal_table *table, const char *qualifier, int64_t timestamp, enum petal_cell_type type)
{
    MUST(petal_delete(petal_table_family_at(table, 0), text("row"), text(qualifier), timestamp,
                      type, NULL, WHY));
}

/* PETAL_LATEST with kind 8 takes away the newest version, and the one before it comes to light; in
 * memory and in files. */
TEST(test_delete_of_the_newest_version)
{
    for (int flushed = 0; flushed < 2; flushed++) {
        struct fixture fixture;
        petal_table *table;

        begin(&fixture);
        table = make_table(&fixture, "t");
        /* Each in a file of its own: a flush drops what is surplus in its memtable. */
        put(table, "row", "q", 10, "ten");
        if (flushed == 1)
            MUST(petal_flush(fixture.db, NULL, WHY));
        put(table, "row", "q", 30, "thirty");
        if (flushed == 1)
            MUST(petal_flush(fixture.db, NULL, WHY));
        put(table, "row", "q", 20, "twenty");
        put(table, "row", "r", 99, "other");
        for (const char *const *left =
                 (const char *const[]){"thirty@30 other@99", "twenty@20 other@99",
                                       "ten@10 other@99", NULL};
             *left != NULL; left++) {
            if (flushed == 1)
                MUST(petal_flush(fixture.db, NULL, WHY));
            assert_string_equal(row_text(&fixture, table, "row"), *left);
            erase(table, "q", PETAL_LATEST, PETAL_DELETE);
        }
        assert_string_equal(row_text(&fixture, table, "row"), "other@99");
        erase(table, "q", PETAL_LATEST, PETAL_DELETE); /* of nothing */
        put(table, "row", "q", 20, "back");
        assert_string_equal(row_text(&fixture, table, "row"), "back@20 other@99");
        fixture_fini(&fixture);
    }
}

TEST(test_deletions_hide_what_they_should)
{
    struct fixture fixture;
    petal_table *table;

    begin(&fixture);
    table = make_table(&fixture, "t");
    put(table, "row", "a", 10, "a");
    put(table, "row", "b", 20, "b");
    erase(table, "a", 9, PETAL_DELETE_COLUMN); /* too old */
    erase(table, "", 15, PETAL_DELETE_FAMILY_VERSION);
    assert_string_equal(row_text(&fixture, table, "row"), "a@10 b@20");
    erase(table, "", 20, PETAL_DELETE_FAMILY_VERSION);
    assert_string_equal(row_text(&fixture, table, "row"), "a@10");
    erase(table, "a", 10, PETAL_DELETE_COLUMN);
    assert_string_equal(row_text(&fixture, table, "row"), "");
    put(table, "row", "a", 10, "later"); /* at equal timestamps the later write wins */
    assert_string_equal(row_text(&fixture, table, "row"), "later@10");
    erase(table, "", PETAL_LATEST, PETAL_DELETE_FAMILY);
    assert_string_equal(row_text(&fixture, table, "row"), "");
    fixture_fini(&fixture);
}

static void
reopen(struct fixture *fixture, petal_table **table, bool die)
{
    if (die)
        fixture_die(fixture);
    else
        fixture_must_close(fixture);
    fixture_must_open(fixture);
    MUST(petal_table_open(fixture->db, text("t"), table, WHY));
}

TEST(test_assigned_timestamps_never_go_back)
{
    struct fixture fixture;
    petal_table *table;

    begin(&fixture);
    table = make_table(&fixture, "t");
    test_clock_set(&fixture.clock, 5000);
    put(table, "row", "a", PETAL_LATEST, "first");
    test_clock_set(&fixture.clock, 3000); /* the clock steps back */
    put(table, "row", "a", PETAL_LATEST, "second");
    assert_string_equal(row_text(&fixture, table, "row"), "second@5000");
    reopen(&fixture, &table, false);
    put(table, "row", "a", PETAL_LATEST, "third");
    assert_string_equal(row_text(&fixture, table, "row"), "third@5000");
    test_clock_set(&fixture.clock, 6000);
    put(table, "row", "a", PETAL_LATEST, "fourth");
    test_clock_set(&fixture.clock, 1);
    reopen(&fixture, &table, true); /* the log tells it as well */
    put(table, "row", "a", PETAL_LATEST, "fifth");
    assert_string_equal(row_text(&fixture, table, "row"), "fifth@6000");
    /* What a caller sets far in the future does not drag the clock along. */
    put(table, "row", "b", 900000, "future");
    put(table, "row", "c", PETAL_LATEST, "now");
    assert_string_equal(row_text(&fixture, table, "row"), "fifth@6000 future@900000 now@6000");
    reopen(&fixture, &table, true);
    put(table, "row", "c", PETAL_LATEST, "still");
    assert_string_equal(row_text(&fixture, table, "row"), "fifth@6000 future@900000 still@6000");
    fixture_fini(&fixture);
}

/* ---- batches ---- */

TEST(test_batches_are_reused)
{
    struct fixture fixture, other;
    petal_table *table;
    petal_batch *batch;
    petal_family *family;
    petal_error error;

    begin(&fixture);
    begin(&other);
    table = make_table(&fixture, "t");
    family = petal_table_family_at(table, 0);
    must(petal_batch_new(fixture.db, &batch, &error), &error);
    must(petal_write(fixture.db, batch, NULL, &error), &error); /* empty */
    for (int round = 0; round < 3; round++) {
        char value[40];

        petal_batch_clear(batch);
        assert_int_equal(petal_batch_count(batch), 0);
        snprintf(value, sizeof value, "round%d", round);
        must(petal_batch_put(batch, family, text("row"), text("a"), 7, text(value), &error),
             &error);
        memset(value, 'x', sizeof value - 1); /* the bytes were copied */
        must(petal_batch_put(batch, family, text("row"), text("b"), 7, text("b"), &error), &error);
        must(petal_batch_delete(batch, family, text("row"), text("b"), 7, PETAL_DELETE, &error),
             &error);
        assert_int_equal(petal_batch_count(batch), 3);
        must(petal_write(fixture.db, batch, NULL, &error), &error);
    }
    assert_string_equal(row_text(&fixture, table, "row"), "round2@7");
    assert_int_equal(petal_write(other.db, batch, NULL, &error), PETAL_INVALID);
    family = petal_table_family_at(make_table(&other, "t"), 0);
    assert_int_equal(petal_batch_put(batch, family, text("r"), text("q"), 1, text("v"), &error),
                     PETAL_INVALID);
    assert_int_equal(petal_batch_count(batch), 3);
    petal_batch_free(batch);
    petal_batch_free(NULL);
    fixture_fini(&other);
    fixture_fini(&fixture);
}

/* The table's durability holds for writes that name none, and a batch has the strongest of its
 * tables. */
TEST(test_durability_of_tables)
{
    petal_family_options family = {.name = text("f")};
    petal_table_options options = {.name = text("safe"),
                                   .families = &family,
                                   .family_count = 1,
                                   .durability = PETAL_FSYNC_WAL};
    struct fixture fixture;
    petal_table *plain, *safe;
    petal_batch *batch;

    begin(&fixture);
    plain = make_table(&fixture, "t");
    MUST(petal_table_create(fixture.db, &options, &safe, WHY));
    put(plain, "row", "q", 1, "one");
    MUST(petal_batch_new(fixture.db, &batch, WHY));
    MUST(petal_batch_put(batch, petal_table_family_at(plain, 0), text("row"), text("q"), 2,
                         text("two"), WHY));
    MUST(petal_batch_put(batch, petal_table_family_at(safe, 0), text("row"), text("q"), 2,
                         text("two"), WHY));
    MUST(petal_write(fixture.db, batch, NULL, WHY));
    petal_batch_free(batch);
    put(plain, "row", "q", 3, "three");
    fixture_die(&fixture);
    memory_vfs_power_cut(fixture.vfs, MEMORY_CUT_LOSE_ALL, 0);
    fixture_must_open(&fixture);
    MUST(petal_table_open(fixture.db, text("t"), &plain, WHY));
    assert_string_equal(row_text(&fixture, plain, "row"), "two@2");
    fixture_fini(&fixture);
}

/* ---- cursors ---- */

static void
expect_rows(petal_cursor *cursor, const char *expected)
{
    char rows[100] = "";
    const petal_cell *cell;

    do {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        if (cell != NULL)
            strncat(rows, cell->row.data, cell->row.size);
    } while (cell != NULL);
    assert_string_equal(rows, expected);
}

TEST(test_cursor_bounds_and_limits)
{
    petal_scan_options options = {.start_row = text("b"), .stop_row = text("e")};
    struct fixture fixture;
    petal_cursor *cursor;
    petal_table *table;

    begin(&fixture);
    table = make_table(&fixture, "t");
    for (const char *row = "fbdace"; *row != '\0'; row++) {
        put(table, (char[]){*row, '\0'}, "q", 1, "v");
        if (*row == 'd')
            MUST(petal_flush(fixture.db, NULL, WHY));
    }
    MUST(petal_cursor_open(table, NULL, &cursor, WHY));
    expect_rows(cursor, "abcdef");
    petal_cursor_close(cursor);
    MUST(petal_cursor_open(table, &options, &cursor, WHY));
    expect_rows(cursor, "bcd");
    MUST(petal_cursor_seek(cursor, text("c"), NULL, slice_make(NULL, 0), WHY));
    expect_rows(cursor, "cd");
    MUST(petal_cursor_seek(cursor, text("a"), NULL, slice_make(NULL, 0), WHY));
    expect_rows(cursor, "bcd");
    MUST(petal_cursor_seek(cursor, text("x"), NULL, slice_make(NULL, 0), WHY));
    expect_rows(cursor, "");
    petal_cursor_close(cursor);
    options.row_limit = 2;
    MUST(petal_cursor_open(table, &options, &cursor, WHY));
    expect_rows(cursor, "bc");
    petal_cursor_close(cursor);
    petal_cursor_close(NULL);
    fixture_fini(&fixture);
}

/* Dropped under an open cursor: it goes on to the end; the files go with it. */
TEST(test_drop_under_a_cursor)
{
    struct fixture fixture;
    petal_cursor *cursor, *refused;
    petal_table *table;
    petal_error error;

    begin(&fixture);
    table = make_table(&fixture, "t");
    put(table, "a", "q", 1, "v");
    put(table, "c", "q", 1, "v");
    must(petal_flush(fixture.db, NULL, &error), &error);
    put(table, "b", "q", 1, "v");
    must(petal_cursor_open(table, NULL, &cursor, &error), &error);
    must(petal_table_drop(table, &error), &error);
    make_table(&fixture, "t");
    assert_int_equal(petal_cursor_open(table, NULL, &refused, &error), PETAL_NOT_FOUND);
    assert_int_equal(fixture_count_files(&fixture, ".sst"), 1);
    expect_rows(cursor, "abc");
    petal_cursor_close(cursor);
    assert_int_equal(fixture_count_files(&fixture, ".sst"), 0);
    fixture_fini(&fixture);
}

/* ---- key -> value ---- */

TEST(test_key_value)
{
    struct fixture fixture;
    petal_kv *kv, *same;
    petal_result *result;
    petal_cursor *cursor;
    petal_slice value;
    petal_error error;
    bool found;

    begin(&fixture);
    must(petal_kv_open(fixture.db, text("pairs"), NULL, &kv, &error), &error);
    must(petal_kv_open(fixture.db, text("pairs"), NULL, &same, &error), &error);
    must(petal_result_new(fixture.db, &result, &error), &error);
    must(petal_kv_put(kv, text("b"), text("one"), NULL, &error), &error);
    must(petal_kv_put(same, text("a"), text("two"), NULL, &error), &error);
    must(petal_kv_put(kv, text("b"), text("three"), NULL, &error), &error);
    must(petal_kv_get(kv, text("b"), result, &found, &value, &error), &error);
    assert_true(found && slice_equal(value, text("three")));
    must(petal_kv_put(kv, text("empty"), slice_make(NULL, 0), NULL, &error), &error);
    must(petal_kv_get(kv, text("empty"), result, &found, &value, &error), &error);
    assert_true(found && value.size == 0);
    must(petal_kv_delete(kv, text("empty"), &error), &error);
    must(petal_kv_get(kv, text("empty"), result, &found, &value, &error), &error);
    assert_false(found);
    assert_int_equal(petal_kv_put(kv, slice_make(NULL, 0), text("x"), NULL, &error), PETAL_INVALID);
    must(petal_cursor_open(petal_kv_table(kv), NULL, &cursor, &error), &error);
    expect_rows(cursor, "ab");
    petal_cursor_close(cursor);
    petal_result_free(result);
    make_table(&fixture, "two");
    assert_int_equal(petal_kv_open(fixture.db, text("two"), NULL, &kv, &error), PETAL_INVALID);
    assert_null(kv);
    fixture_fini(&fixture);
}
