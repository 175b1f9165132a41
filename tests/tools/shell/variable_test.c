/*
 * variable_test.c -- a variable that grows bit by bit is copied as a whole when it has become twice
 * as large, not by each change; what was replaced in it does not pile up; its values stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tools/shell/language/value_hash.h"
#include "tools/shell/language/variable.h"

#define CHANGES 20000
#define COPIES  20 /* it doubles so often, from nothing on */

static const petal_slice name = {"v", 1};

static struct value
integer(size_t number)
{
    return value_integer((int64_t)number);
}

/* The value, of which *copies counts how often it has moved from *where. */
static const struct value *
look(const struct variables *variables, const void **where, unsigned *copies)
{
    const struct value *value = variables_get(variables, name);
    const void *now = value->kind == VALUE_STRING  ? value->as.bytes.data
                      : value->kind == VALUE_ARRAY ? (const void *)value->as.items
                                                   : (const void *)value->as.pairs;

    *copies += now != *where;
    *where = now;
    return value;
}

static void
lists_grow_in_their_place(void **state)
{
    const struct value empty = {.kind = VALUE_ARRAY};
    struct variables variables = {.count = 0};
    const struct value *list = NULL;
    const void *where = NULL;
    unsigned copies = 0;

    (void)state;
    variables_set(&variables, name, &empty);
    for (size_t i = 0; i < CHANGES; i += 2) {
        const struct value first = integer(i), second = integer(i + 1);

        variables_append(&variables, name, &first);
        variables_set_item(&variables, name, i + 1, &second);
        list = look(&variables, &where, &copies);
    }
    assert_true(copies <= COPIES);
    assert_int_equal(list->count, CHANGES);
    for (size_t i = 0; i < CHANGES; i++)
        assert_int_equal(list->as.items[i].as.integer, i);
    variables_free(&variables);
}

static void
texts_grow_in_their_place(void **state)
{
    const struct value empty = value_string((petal_slice){"", 0});
    struct variables variables = {.count = 0};
    const struct value *text = NULL;
    const void *where = NULL;
    unsigned copies = 0;

    (void)state;
    variables_set(&variables, name, &empty);
    for (size_t i = 0; i < CHANGES; i++) {
        const char letter = (char)('a' + i % 26);
        const struct value piece = value_string((petal_slice){&letter, 1});

        variables_append(&variables, name, &piece);
        text = look(&variables, &where, &copies);
    }
    assert_true(copies <= COPIES);
    assert_int_equal(text->as.bytes.size, CHANGES);
    for (size_t i = 0; i < CHANGES; i++)
        assert_int_equal(((const char *)text->as.bytes.data)[i], 'a' + i % 26);
    variables_free(&variables);
}

static void
hashes_grow_in_their_place(void **state)
{
    const struct value empty = {.kind = VALUE_HASH};
    struct variables variables = {.count = 0};
    const struct value *hash = NULL;
    const void *where = NULL;
    unsigned copies = 0;

    (void)state;
    variables_set(&variables, name, &empty);
    for (size_t i = 0; i < 2 * CHANGES; i++) {
        const struct value key = integer(i % CHANGES), value = integer(i);

        variables_set_pair(&variables, name, &key, &value);
        hash = look(&variables, &where, &copies);
    }
    assert_true(copies <= COPIES);
    assert_int_equal(hash->count, CHANGES);
    for (size_t i = 0; i < CHANGES; i++) {
        const struct value key = integer(i), other = integer(i + CHANGES);
        const struct value *found = value_hash_find(hash, &key);

        assert_int_equal(hash->as.pairs[i].key.as.integer, i);
        assert_non_null(found);
        assert_int_equal(found->as.integer, i + CHANGES);
        assert_null(value_hash_find(hash, &other));
    }
    variables_free(&variables);
}

static void
what_was_replaced_goes(void **state)
{
    static char bytes[1000];
    const struct value empty = {.kind = VALUE_HASH}, key = value_integer(1);
    const struct value large = value_string((petal_slice){bytes, sizeof bytes});
    struct variables variables = {.count = 0};

    (void)state;
    variables_set(&variables, name, &empty);
    for (size_t i = 0; i < CHANGES; i++) {
        variables_set_pair(&variables, name, &key, &large);
        assert_true(variables.items[0].arena.bytes < 100 * sizeof bytes);
    }
    variables_free(&variables);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_grow_in_their_place),
        cmocka_unit_test(texts_grow_in_their_place),
        cmocka_unit_test(hashes_grow_in_their_place),
        cmocka_unit_test(what_was_replaced_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
