/*
 * condition_test.c -- changes of a row under a condition: when it holds, which timestamps the
 * changes get, what is refused.
 */

#include "tests/engine/write/fixture.h"
#include "tests/support/test.h"

/* Whether a change of row "r" under the condition was made; it writes f:mark. */
static bool
applies(struct write_fixture *w, const petal_condition *condition)
{
    bool applied = false, marked;

    write_fixture_batch_put(w, w->f, "r", "mark", 1, "v");
    MUST(petal_mutate_row(w->table, text("r"), condition, w->batch, NULL, &applied, WHY));
    petal_batch_clear(w->batch);
    MUST(petal_get(w->table, text("r"),
                   &(petal_read_options){.columns = &(petal_column){w->f, text("mark"), false},
                                         .column_count = 1},
                   w->read, WHY));
    marked = petal_result_count(w->read) > 0;
    MUST(petal_delete(w->f, text("r"), text("mark"), 1, PETAL_DELETE, NULL, WHY));
    assert_int_equal(applied, marked);
    return applied;
}

/* For which of < <= = != >= > the condition with `value` holds, and, with NULL, whether that of
 * absence does. */
static void
expect_compared(struct write_fixture *w, const char *qualifier, const char *value,
                bool compare_empty, const char *holding)
{
    static const char *const names[] = {"", "<", "<=", "=", "!=", ">=", ">"};
    petal_condition condition = {
        .family = w->f, .qualifier = text(qualifier), .compare_empty = compare_empty};
    char found[32] = "";

    if (value == NULL) {
        condition.absent = true;
        assert_string_equal(applies(w, &condition) ? "absent" : "", holding);
        return;
    }
    condition.value = text(value);
    for (int compare = PETAL_LESS; compare <= PETAL_GREATER; compare++) {
        condition.compare = (enum petal_compare)compare;
        if (applies(w, &condition)) {
            strcat(found, found[0] != '\0' ? " " : "");
            strcat(found, names[compare]);
        }
    }
    assert_string_equal(found, holding);
}

static void
expect_condition(struct write_fixture *w, const char *qualifier, const char *value,
                 const char *holding)
{
    expect_compared(w, qualifier, value, false, holding);
}

TEST(test_conditions)
{
    struct write_fixture w;

    write_fixture_init(&w);
    write_fixture_put(w.f, "r", "empty", 5, "");
    write_fixture_put(w.f, "r", "b", 4, "zz"); /* an older version */
    write_fixture_put(w.f, "r", "b", 5, "b");
    expect_condition(&w, "none", NULL, "absent");
    expect_condition(&w, "none", "x", "");
    expect_condition(&w, "none", "", "< <= = >= >");
    expect_condition(&w, "empty", NULL, "");
    expect_condition(&w, "empty", "x", "!= >= >");
    expect_condition(&w, "empty", "", "< <= = >= >");
    expect_condition(&w, "b", NULL, "");
    expect_condition(&w, "b", "", "!=");
    /* The value given stands on the left. */
    expect_condition(&w, "b", "a", "< <= !=");
    expect_condition(&w, "b", "b", "<= = >=");
    expect_condition(&w, "b", "ba", "!= >= >");
    expect_condition(&w, "b", "\xff", "!= >= >");
    /* Nothing is compared as such. */
    expect_compared(&w, "none", NULL, true, "absent");
    expect_compared(&w, "none", "", true, "");
    expect_compared(&w, "empty", NULL, true, "");
    expect_compared(&w, "empty", "", true, "<= = >=");
    expect_compared(&w, "b", "", true, "< <= !=");
    expect_compared(&w, "b", "b", true, "<= = >=");
    write_fixture_fini(&w);
}

TEST(test_time_range_of_a_condition)
{
    struct write_fixture w;
    petal_condition condition = {.has_time_range = true,
                                 .time_min = 10,
                                 .time_limit = 20,
                                 .compare = PETAL_EQUAL,
                                 .value = text("old")};
    petal_error error;

    write_fixture_init(&w);
    condition.family = w.f;
    condition.qualifier = text("a");
    write_fixture_put(w.f, "r", "a", 10, "old");
    write_fixture_put(w.f, "r", "a", 20, "new");
    assert_true(applies(&w, &condition));
    condition.time_min = 11;
    assert_false(applies(&w, &condition));
    condition.time_min = 21;
    write_fixture_batch_put(&w, w.f, "r", "mark", 1, "v");
    assert_int_equal(petal_mutate_row(w.table, text("r"), &condition, w.batch, NULL, NULL, &error),
                     PETAL_INVALID);
    write_fixture_fini(&w);
}

/* Puts follow the cell that was judged, appends and increments their own old versions, deletions
 * are stamped now. */
TEST(test_timestamps_under_a_condition)
{
    petal_condition condition = {.compare = PETAL_EQUAL}; /* none or empty */
    struct write_fixture w;
    bool applied;

    write_fixture_init(&w);
    condition.family = w.f;
    condition.qualifier = text("judged");
    write_fixture_put(w.f, "r", "judged", 3000, "");
    write_fixture_put(w.f, "r", "old", 2000, "x");
    write_fixture_batch_put(&w, w.g, "r", "put", PETAL_LATEST, "p");
    write_fixture_batch_put(&w, w.g, "r", "own", 7, "p");
    write_fixture_batch_append(&w, w.f, "r", "old", "y");
    write_fixture_batch_increment(&w, w.f, "r", "new", 1);
    MUST(petal_batch_delete(w.batch, w.f, text("r"), text("judged"), PETAL_LATEST,
                            PETAL_DELETE_COLUMN, WHY));
    MUST(petal_mutate_row(w.table, text("r"), &condition, w.batch, &w.options, &applied, WHY));
    assert_true(applied);
    write_fixture_expect_given(&w, "r/f:new=#1@1000 r/f:old=xy@2001");
    write_fixture_expect_row(
        &w, "r",
        "r/f:judged=@3000 r/f:new=#1@1000 r/f:old=xy@2001 r/f:old=x@2000 r/g:own=p@7 "
        "r/g:put=p@3000");
    /* The batch stays as it was: without the condition its put is of now. */
    MUST(petal_mutate_row(w.table, text("r"), NULL, w.batch, &w.options, &applied, WHY));
    assert_true(applied);
    write_fixture_expect_given(&w, "r/f:new=#2@1001 r/f:old=xyy@2002");
    write_fixture_put(w.g, "s", "put", PETAL_LATEST, "p"); /* the store's own clock was not moved */
    write_fixture_expect_row(&w, "s", "s/g:put=p@1000");
    /* When it does not hold nothing is given. */
    write_fixture_put(w.f, "r", "judged", 3000, "full");
    MUST(petal_mutate_row(w.table, text("r"), &condition, w.batch, &w.options, &applied, WHY));
    assert_false(applied);
    write_fixture_expect_given(&w, "");
    write_fixture_fini(&w);
}

static void
expect_refused(struct write_fixture *w, const char *row, const petal_condition *condition)
{
    petal_error error;
    bool applied = true;

    assert_int_equal(
        petal_mutate_row(w->table, text(row), condition, w->batch, &w->options, &applied, &error),
        PETAL_INVALID);
    assert_false(applied);
}

TEST(test_refused_changes)
{
    petal_family_options family = {.name = text("f")};
    petal_table_options options = {.name = text("u"), .families = &family, .family_count = 1};
    petal_condition condition = {.absent = true};
    petal_table *other;
    petal_filter *filter;
    petal_error error;
    struct write_fixture w;

    write_fixture_init(&w);
    MUST(petal_table_create(w.base.db, &options, &other, WHY));
    expect_refused(&w, "", NULL);
    write_fixture_batch_put(&w, w.f, "r", "a", 1, "v");
    expect_refused(&w, "s", NULL);
    expect_refused(&w, "r", &condition); /* of no column */
    condition.family = petal_table_family_at(other, 0);
    expect_refused(&w, "r", &condition);
    condition = (petal_condition){.family = w.f, .compare = (enum petal_compare)7};
    expect_refused(&w, "r", &condition);
    condition = (petal_condition){.family = w.f, .absent = true, .value = text("v")};
    expect_refused(&w, "r", &condition);
    MUST(petal_filter_parse(w.base.db, text("KeyOnlyFilter()"), &filter, WHY));
    condition = (petal_condition){.family = w.f, .absent = true, .filter = filter};
    expect_refused(&w, "r", &condition);
    petal_filter_free(filter);
    write_fixture_batch_put(&w, petal_table_family_at(other, 0), "r", "a", 1, "v");
    expect_refused(&w, "r", NULL);
    petal_batch_clear(w.batch);
    write_fixture_begin(&w, NULL);
    expect_refused(&w, "r", NULL);
    petal_batch_clear(w.batch);
    MUST(petal_mutate_row(w.table, text("r"), NULL, w.batch, NULL, NULL, WHY));
    write_fixture_expect_row(&w, "r", "");
    MUST(petal_table_drop(w.table, WHY));
    write_fixture_batch_increment(&w, w.f, "r", "n", 1);
    assert_int_equal(petal_write(w.base.db, w.batch, NULL, &error), PETAL_NOT_FOUND);
    assert_int_equal(petal_mutate_row(w.table, text("r"), NULL, w.batch, NULL, NULL, &error),
                     PETAL_NOT_FOUND);
    write_fixture_fini(&w);
}
