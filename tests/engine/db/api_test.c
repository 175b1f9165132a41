/*
 * api_test.c -- the ordinary behaviour of the public calls: lists of tables, option structs of
 * other headers, timestamps, batches, durability. What a read costs is in
 * tests/engine/read/cost_test.c, what is refused in tests/engine/db/refusal_test.c.
 */

#include "base/slice.h"
#include "tests/engine/script.h"
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

TEST(test_tables_are_listed)
{
    struct fixture fixture;
    petal_table *table;

    begin(&fixture);
    check_names(&fixture, 9, "");
    make_table(&fixture, "m");
    table = make_table(&fixture, "a");
    make_table(&fixture, "z");
    check_names(&fixture, 9, "a m z ");
    check_names(&fixture, 2, "a m ");
    MUST(petal_table_drop(table, WHY));
    check_names(&fixture, 9, "m z ");
    assert_ptr_not_equal(make_table(&fixture, "a"), table);
    fixture_must_close(&fixture);
    fixture_must_open(&fixture);
    check_names(&fixture, 9, "a m z ");
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

/* ---- timestamps ---- */

static const struct script_case cases[] = {
    {"assigned timestamps never go back, whatever the clock does, and a caller's own do not count",
     "table t f; clock 5000; put t row/f:a=first; clock 3000; put t row/f:a=second\n"
     "show t : row/f:a@5000=second; reopen; put t row/f:a=third; show t : row/f:a@5000=third\n"
     "clock 6000; put t row/f:a=fourth; clock 1; die; put t row/f:a=fifth\n"
     "show t : row/f:a@6000=fifth; put t row/f:b@900000=future row/f:c=now\n"
     "show t : row/f:a@6000=fifth row/f:b@900000=future row/f:c@6000=now; die; put t "
     "row/f:c=still\n"
     "show t : row/f:a@6000=fifth row/f:b@900000=future row/f:c@6000=still"},
    {"a table of the name is there already", "table t f; refused exists table t g; show t :"},
};

TEST_EACH(the_engine_does_this, cases)
{
    script_run(*state);
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
    MUST(petal_batch_new(fixture.db, &batch, WHY));
    MUST(petal_write(fixture.db, batch, NULL, WHY)); /* empty */
    for (int round = 0; round < 3; round++) {
        char value[40];

        petal_batch_clear(batch);
        assert_int_equal(petal_batch_count(batch), 0);
        snprintf(value, sizeof value, "round%d", round);
        MUST(petal_batch_put(batch, family, text("row"), text("a"), 7, text(value), WHY));
        memset(value, 'x', sizeof value - 1); /* the bytes were copied */
        MUST(petal_batch_put(batch, family, text("row"), text("b"), 7, text("b"), WHY));
        MUST(petal_batch_delete(batch, family, text("row"), text("b"), 7, PETAL_DELETE, WHY));
        assert_int_equal(petal_batch_count(batch), 3);
        MUST(petal_write(fixture.db, batch, NULL, WHY));
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
