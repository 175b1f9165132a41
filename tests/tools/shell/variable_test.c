/*
 * variable_test.c -- a variable that grows bit by bit is copied as a whole when it has become twice
 * as large, not by each change; what was replaced in it does not pile up; its values stay.  Names
 * are found on short chains, and a small value takes little memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>

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

/* Of `size` bytes at `bytes`. */
static petal_slice
numbered(char *bytes, size_t size, size_t number)
{
    return (petal_slice){bytes, (size_t)snprintf(bytes, size, "v%zu", number)};
}

static void
names_hide_those_below(void **state)
{
    struct variables variables = {.count = 0};
    char bytes[32];

    (void)state;
    for (size_t i = 0; i < 2 * CHANGES; i++) {
        const struct value number = integer(i);

        variables_push(&variables, numbered(bytes, sizeof bytes, i % CHANGES), &number);
    }
    for (size_t i = 0; i < CHANGES; i++)
        assert_int_equal(variables_get(&variables, numbered(bytes, sizeof bytes, i))->as.integer,
                         i + CHANGES);
    variables_pop_to(&variables, CHANGES + 1);
    for (size_t i = 0; i < CHANGES; i++)
        assert_int_equal(variables_get(&variables, numbered(bytes, sizeof bytes, i))->as.integer,
                         i == 0 ? CHANGES : i);
    variables_pop_to(&variables, 1);
    assert_int_equal(variables_get(&variables, numbered(bytes, sizeof bytes, 0))->as.integer, 0);
    assert_null(variables_get(&variables, numbered(bytes, sizeof bytes, 1)));
    variables_free(&variables);
}

/* Each look-up goes along one chain, and all of them together have each variable once. */
static void
chains_are_short(void **state)
{
    const struct value nothing = value_nil();
    struct variables variables = {.count = 0};
    size_t links = 0;
    char bytes[32];

    (void)state;
    for (size_t i = 0; i < CHANGES; i++)
        variables_push(&variables, numbered(bytes, sizeof bytes, i), &nothing);
    for (size_t i = 0; i < variables.count; i++)
        for (size_t at = i + 1; at > 0; at = variables.items[at - 1].below)
            links++;
    assert_true(links < 3 * CHANGES);
    variables_free(&variables);
}

static void
small_values_need_little(void **state)
{
    const struct value number = integer(1), text = value_string((petal_slice){"abc", 3});
    struct variables variables = {.count = 0};

    (void)state;
    variables_push(&variables, (petal_slice){"number", 6}, &number);
    variables_push(&variables, (petal_slice){"text", 4}, &text);
    assert_int_equal(variables.items[0].arena.bytes, 0);
    assert_true(variables.items[1].arena.bytes <= 64);
    variables_free(&variables);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_grow_in_their_place),  cmocka_unit_test(texts_grow_in_their_place),
        cmocka_unit_test(hashes_grow_in_their_place), cmocka_unit_test(what_was_replaced_goes),
        cmocka_unit_test(names_hide_those_below),     cmocka_unit_test(chains_are_short),
        cmocka_unit_test(small_values_need_little),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
