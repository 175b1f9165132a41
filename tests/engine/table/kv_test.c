/* kv_test.c -- key-value tables whose schema changes, and errors of calls that succeed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/crash/ledger.h"

#include <string.h>

static const petal_slice name = {"kv", 2}, key = {"k", 1}, value = {"v", 1};

static void
expect_empty(const petal_error *error)
{
    assert_int_equal(error->status, PETAL_OK);
    assert_int_equal(error->os_error, 0);
    assert_string_equal(error->file, "");
    assert_string_equal(error->text, "");
}

/* An alter puts another family in the place of the one that had a handle. */
static void
test_a_handle_is_of_the_family_that_is_there(void **state)
{
    petal_family_options family = {.name = {"w", 1}};
    petal_table_options options = {.families = &family, .family_count = 1};
    struct fixture fixture;
    petal_family_options described = {.size = sizeof described};
    petal_kv *before, *after, *again;
    petal_error error;

    (void)state;
    fixture_init(&fixture, 1);
    fixture_must_open(&fixture);
    must(petal_kv_open(fixture.db, name, NULL, &before, &error), &error);
    petal_family_describe(petal_table_family_at(petal_kv_table(before), 0), &described);
    assert_int_equal(described.block_bytes, 4096);
    must(petal_kv_put(before, key, value, &error), &error);
    must(petal_table_alter(petal_kv_table(before), &options, &error), &error);
    must(petal_kv_open(fixture.db, name, NULL, &after, &error), &error);
    must(petal_kv_put(after, key, value, &error), &error);
    must(petal_kv_open(fixture.db, name, NULL, &again, &error), &error);
    assert_ptr_equal(again, after);
    assert_int_equal(petal_kv_put(before, key, value, &error), PETAL_NOT_FOUND);
    fixture_fini(&fixture);
}

/* What was tried in vain on the way to success is not told. */
static void
test_success_leaves_no_error(void **state)
{
    struct fixture fixture;
    petal_error error;
    petal_kv *kv;

    (void)state;
    fixture_init(&fixture, 1);
    memset(&error, 'x', sizeof error);
    must(fixture_open(&fixture, &error), &error); /* there was no manifest */
    expect_empty(&error);
    memset(&error, 'x', sizeof error);
    must(petal_kv_open(fixture.db, name, NULL, &kv, &error), &error); /* nor a table */
    expect_empty(&error);
    memset(&error, 'x', sizeof error);
    must(petal_kv_put(kv, key, value, &error), &error);
    expect_empty(&error);
    fixture_fini(&fixture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_handle_is_of_the_family_that_is_there),
        cmocka_unit_test(test_success_leaves_no_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
