/*
 * kv_test.c -- key-value tables: single keys, batches, many keys at once, writes under a condition,
 * cursors, ranges that are deleted; tables whose schema changes; errors of calls that succeed.
 */

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
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
TEST(test_a_handle_is_of_the_family_that_is_there)
{
    petal_family_options family = {.name = {"w", 1}};
    petal_table_options options = {.families = &family, .family_count = 1};
    struct fixture fixture;
    petal_family_options described = {.size = sizeof described};
    petal_kv *before, *after, *again;
    petal_error error;

    fixture_init(&fixture, 1);
    fixture_must_open(&fixture);
    MUST(petal_kv_open(fixture.db, name, NULL, &before, WHY));
    petal_family_describe(petal_table_family_at(petal_kv_table(before), 0), &described);
    assert_int_equal(described.block_bytes, 4096);
    MUST(petal_kv_put(before, key, value, NULL, WHY));
    MUST(petal_table_alter(petal_kv_table(before), &options, WHY));
    MUST(petal_kv_open(fixture.db, name, NULL, &after, WHY));
    MUST(petal_kv_put(after, key, value, NULL, WHY));
    MUST(petal_kv_open(fixture.db, name, NULL, &again, WHY));
    assert_ptr_equal(again, after);
    assert_int_equal(petal_kv_put(before, key, value, NULL, &error), PETAL_NOT_FOUND);
    fixture_fini(&fixture);
}

/* A name in the options is the family's; other options are of a table that is made. */
TEST(test_options_name_the_family_or_none)
{
    petal_family_options other = {.name = {"zz", 2}}, own = {.name = {"v", 1}};
    petal_family_options large = {.block_bytes = 65536}, described = {.size = sizeof described};
    struct fixture fixture;
    petal_table *table;
    petal_error error;
    petal_kv *kv;

    fixture_init(&fixture, 1);
    fixture_must_open(&fixture);
    assert_int_equal(petal_kv_open(fixture.db, name, &other, &kv, &error), PETAL_INVALID);
    assert_string_equal(error.text,
                        "the options name the family zz; that of the key-value table is v");
    assert_null(kv);
    assert_int_equal(petal_table_open(fixture.db, name, &table, &error), PETAL_NOT_FOUND);
    MUST(petal_kv_open(fixture.db, name, &own, &kv, WHY));
    MUST(petal_kv_open(fixture.db, name, &own, &kv, WHY));
    assert_int_equal(petal_kv_open(fixture.db, name, &other, &kv, &error), PETAL_INVALID);
    assert_null(kv);
    MUST(petal_kv_open(fixture.db, name, &large, &kv, WHY));
    petal_family_describe(petal_table_family_at(petal_kv_table(kv), 0), &described);
    assert_int_equal(described.block_bytes, 4096);
    fixture_fini(&fixture);
}

/* What was tried in vain on the way to success is not told. */
TEST(test_success_leaves_no_error)
{
    struct fixture fixture;
    petal_error error;
    petal_kv *kv;

    fixture_init(&fixture, 1);
    memset(&error, 'x', sizeof error);
    must(fixture_open(&fixture, &error), &error); /* there was no manifest */
    expect_empty(&error);
    memset(&error, 'x', sizeof error);
    must(petal_kv_open(fixture.db, name, NULL, &kv, &error), &error); /* nor a table */
    expect_empty(&error);
    memset(&error, 'x', sizeof error);
    must(petal_kv_put(kv, key, value, NULL, &error), &error);
    expect_empty(&error);
    fixture_fini(&fixture);
}

/* ---- keys ---- */

struct keys {
    struct fixture base;
    petal_kv *kv;
    petal_result *result;
    petal_batch *batch;
    petal_error error;
};

#define MANY 300 /* more than are searched abreast */

static char many_names[MANY][8];

static void
keys_init(struct keys *keys)
{
    for (unsigned i = 0; i < MANY; i++)
        snprintf(many_names[i], sizeof many_names[i], "key%03u", i);
    fixture_init(&keys->base, 7);
    fixture_must_open(&keys->base);
    MUST(petal_kv_open(keys->base.db, name, NULL, &keys->kv, WHY));
    MUST(petal_result_new(keys->base.db, &keys->result, WHY));
    MUST(petal_batch_new(keys->base.db, &keys->batch, WHY));
}

static void
keys_fini(struct keys *keys)
{
    petal_result_free(keys->result);
    petal_batch_free(keys->batch);
    fixture_fini(&keys->base);
}

static void
put(struct keys *keys, const char *of, const char *put_value)
{
    MUST(petal_kv_put(keys->kv, text(of), text(put_value), NULL, WHY));
}

/* `expected` NULL: it is not there. */
static void
expect_key(struct keys *keys, petal_kv *kv, const char *of, const char *expected)
{
    petal_slice got;
    bool found;

    MUST(petal_kv_get(kv, text(of), keys->result, &found, &got, WHY));
    assert_int_equal(found, expected != NULL);
    if (expected != NULL)
        assert_int_equal(slice_compare(got, text(expected)), 0);
}

/* What the cursor has from here on, as "key=value key=value". */
static void
expect_rest(petal_kv_cursor *cursor, const char *pairs)
{
    static char all[4096];
    petal_slice at, got;
    size_t length = 0;
    bool found;

    all[0] = '\0';
    while (MUST(petal_kv_cursor_next(cursor, &found, &at, &got, WHY)), found)
        length += (size_t)snprintf(all + length, sizeof all - length, "%s%.*s=%.*s",
                                   length > 0 ? " " : "", (int)at.size, (const char *)at.data,
                                   (int)got.size, got.size > 0 ? (const char *)got.data : "");
    assert_string_equal(all, pairs);
    assert_int_equal(at.size + got.size, 0);
}

static void
expect_pairs(struct keys *keys, const petal_kv_cursor_options *options, const char *pairs)
{
    petal_kv_cursor *cursor;

    MUST(petal_kv_cursor_open(keys->kv, options, &cursor, WHY));
    expect_rest(cursor, pairs);
    petal_kv_cursor_close(cursor);
}

TEST(test_keys_and_values)
{
    petal_family_options families[2] = {{.name = {"v", 1}}, {.name = {"w", 1}}};
    petal_table_options two = {.name = text("two"), .families = families, .family_count = 2};
    struct keys keys;
    petal_table *table;
    petal_kv *same, *none;

    keys_init(&keys);
    MUST(petal_kv_open(keys.base.db, name, NULL, &same, WHY));
    put(&keys, "b", "one");
    MUST(petal_kv_put(same, text("a"), text("two"), NULL, WHY));
    put(&keys, "b", "three");
    put(&keys, "empty", "");
    expect_key(&keys, same, "b", "three");
    expect_pairs(&keys, NULL, "a=two b=three empty=");
    MUST(petal_kv_delete(keys.kv, text("empty"), WHY));
    expect_key(&keys, keys.kv, "empty", NULL);
    assert_int_equal(petal_kv_put(keys.kv, text(""), value, NULL, &keys.error), PETAL_INVALID);
    MUST(petal_table_create(keys.base.db, &two, &table, WHY));
    assert_int_equal(petal_kv_open(keys.base.db, text("two"), NULL, &none, &keys.error),
                     PETAL_INVALID);
    assert_null(none);
    keys_fini(&keys);
}

TEST(test_a_batch_is_of_several_tables)
{
    struct keys keys;
    petal_kv *other;

    keys_init(&keys);
    MUST(petal_kv_open(keys.base.db, text("other"), NULL, &other, WHY));
    put(&keys, "a", "1");
    MUST(petal_kv_batch_put(keys.batch, keys.kv, text("b"), text("2"), WHY));
    MUST(petal_kv_batch_delete(keys.batch, keys.kv, text("a"), WHY));
    MUST(petal_kv_batch_put(keys.batch, other, text("a"), text("3"), WHY));
    MUST(petal_kv_batch_put(keys.batch, other, text("b"), text("4"), WHY));
    MUST(petal_kv_batch_delete(keys.batch, other, text("b"), WHY));
    MUST(petal_kv_batch_delete(keys.batch, other, text("c"), WHY));
    MUST(petal_kv_batch_put(keys.batch, other, text("c"), text("5"), WHY));
    assert_int_equal(petal_kv_batch_put(keys.batch, other, text(""), value, &keys.error),
                     PETAL_INVALID);
    assert_int_equal(petal_kv_batch_delete(keys.batch, other, text(""), &keys.error),
                     PETAL_INVALID);
    expect_key(&keys, other, "a", NULL);
    MUST(petal_write(keys.base.db, keys.batch, NULL, WHY));
    expect_key(&keys, keys.kv, "a", NULL);
    expect_key(&keys, keys.kv, "b", "2");
    expect_key(&keys, other, "a", "3");
    expect_key(&keys, other, "b", NULL); /* the last write to a key holds */
    expect_key(&keys, other, "c", "5");
    keys_fini(&keys);
}

/* ---- many keys at once ---- */

/* Key i is there if i is no multiple of 3; its value is empty if i is one of 5. */
static bool
is_there(unsigned i)
{
    return i % 3 != 0;
}

static petal_slice
many_key(unsigned i)
{
    return text(many_names[i]);
}

static petal_slice
many_value(unsigned i)
{
    return i % 5 == 0 ? (petal_slice){NULL, 0} : many_key(i);
}

static void
expect_many(struct keys *keys, const petal_read_options *options, bool there)
{
    petal_slice asked[MANY], values[MANY];
    bool found[MANY];

    for (unsigned i = 0; i < MANY; i++)
        asked[i] = many_key(i * 7 % MANY);
    memset(found, 1, sizeof found);
    MUST(petal_kv_multi_get(keys->kv, asked, MANY, options, keys->result, found, values, WHY));
    for (unsigned i = 0; i < MANY; i++) {
        unsigned k = i * 7 % MANY;

        assert_int_equal(found[i], there && is_there(k));
        assert_int_equal(
            slice_compare(values[i], there && is_there(k) ? many_value(k) : (petal_slice){NULL, 0}),
            0);
    }
}

TEST(test_many_keys_at_once)
{
    petal_slice asked[3] = {text("key001"), text(""), text("key001")}, values[3];
    petal_read_options options = {.size = 0};
    petal_snapshot *snapshot;
    struct keys keys;
    bool found[3] = {true, true, true};
    uint64_t allocations;

    keys_init(&keys);
    MUST(petal_snapshot_new(keys.base.db, &snapshot, WHY));
    for (unsigned i = 0; i < MANY; i++) {
        if (is_there(i))
            MUST(petal_kv_put(keys.kv, many_key(i), many_value(i), NULL, WHY));
    }
    expect_many(&keys, NULL, true);
    allocations = test_allocator_calls(&keys.base.allocator);
    expect_many(&keys, NULL, true); /* a result that is warm has all it wants */
    assert_int_equal(test_allocator_calls(&keys.base.allocator), allocations);
    MUST(petal_flush(keys.base.db, NULL, WHY));
    expect_many(&keys, NULL, true);
    options.snapshot = snapshot;
    expect_many(&keys, &options, false);
    petal_snapshot_free(snapshot);

    assert_int_equal(
        petal_kv_multi_get(keys.kv, asked, 3, NULL, keys.result, found, values, &keys.error),
        PETAL_INVALID);
    assert_string_equal(keys.error.text, "keys[1] is empty; a key has 1 to 32767 bytes");
    assert_false(found[0] || found[1] || found[2]);
    assert_int_equal(values[0].size, 0);
    asked[1] = text("nobody");
    MUST(petal_kv_multi_get(keys.kv, asked, 3, NULL, keys.result, found, NULL, WHY));
    assert_true(found[0] && !found[1] && found[2]);
    MUST(petal_kv_multi_get(keys.kv, asked, 3, NULL, keys.result, NULL, values, WHY));
    assert_int_equal(slice_compare(values[2], text("key001")), 0);
    MUST(petal_kv_multi_get(keys.kv, NULL, 0, NULL, keys.result, NULL, NULL, WHY));
    options = (petal_read_options){.columns = &(petal_column){0}, .column_count = 1};
    assert_int_equal(
        petal_kv_multi_get(keys.kv, asked, 3, &options, keys.result, found, values, &keys.error),
        PETAL_INVALID);
    assert_string_equal(keys.error.text,
                        "column_count is 1; a key-value table has no columns to choose from");
    keys_fini(&keys);
}

/* What the result holds after a get of so many keys that are there. */
static uint64_t
bytes_held(struct keys *keys, const petal_slice *asked, size_t count, petal_slice *values)
{
    uint64_t before = test_allocator_live_bytes(&keys->base.allocator), held;
    petal_result *result;

    MUST(petal_result_new(keys->base.db, &result, WHY));
    MUST(petal_kv_multi_get(keys->kv, asked, count, NULL, result, NULL, values, WHY));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(slice_compare(values[i], asked[i]), 0);
    held = test_allocator_live_bytes(&keys->base.allocator) - before;
    petal_result_free(result);
    return held;
}

/* The result holds the values' bytes, with room to grow, and nothing else of each key. */
TEST(test_many_keys_hold_the_values_alone)
{
    enum { FEW = 1000, ALL = 20000, BYTES = 20 };
    static char names[ALL][BYTES + 1];
    static petal_slice asked[ALL], values[ALL];
    uint64_t few, all;
    struct keys keys;

    keys_init(&keys);
    for (unsigned i = 0; i < ALL; i++) {
        snprintf(names[i], sizeof names[i], "%0*u", BYTES, i);
        asked[i] = text(names[i]);
        MUST(petal_kv_put(keys.kv, asked[i], asked[i], NULL, WHY));
    }
    MUST(petal_flush(keys.base.db, NULL, WHY));
    MUST(petal_wait_idle(keys.base.db, WHY));
    bytes_held(&keys, asked, ALL, values); /* the cache has the blocks */
    few = bytes_held(&keys, asked, FEW, values);
    all = bytes_held(&keys, asked, ALL, values);
    assert_true((all - few) / (ALL - FEW) <= 2 * BYTES);
    assert_true(few < 400 * 1024);
    keys_fini(&keys);
}

/* ---- under a condition ---- */

static bool
put_if_absent(struct keys *keys, const char *of, const char *put_value)
{
    bool done = true;

    MUST(petal_kv_put_if_absent(keys->kv, text(of), text(put_value), &done, WHY));
    return done;
}

TEST(test_put_if_absent)
{
    struct keys keys;
    bool done = true;

    keys_init(&keys);
    assert_true(put_if_absent(&keys, "a", ""));
    assert_false(put_if_absent(&keys, "a", "1")); /* an empty value is there */
    expect_key(&keys, keys.kv, "a", "");
    MUST(petal_kv_delete(keys.kv, text("a"), WHY));
    assert_true(put_if_absent(&keys, "a", "2"));
    MUST(petal_kv_put_if_absent(keys.kv, text("a"), text("3"), NULL, WHY));
    expect_key(&keys, keys.kv, "a", "2");
    MUST(petal_flush(keys.base.db, NULL, WHY));
    assert_false(put_if_absent(&keys, "a", "4"));
    assert_int_equal(petal_kv_put_if_absent(keys.kv, text(""), value, &done, &keys.error),
                     PETAL_INVALID);
    assert_string_equal(keys.error.text, "the key is empty; a key has 1 to 32767 bytes");
    assert_false(done);
    keys_fini(&keys);
}

/* NULL: it is not there, or goes. */
static bool
swap(struct keys *keys, const char *of, const char *expected, const char *put_value)
{
    petal_slice slices[2];
    bool done = true;

    if (expected != NULL)
        slices[0] = text(expected);
    if (put_value != NULL)
        slices[1] = text(put_value);
    MUST(petal_kv_compare_and_swap(keys->kv, text(of), expected != NULL ? &slices[0] : NULL,
                                   put_value != NULL ? &slices[1] : NULL, &done, WHY));
    return done;
}

TEST(test_compare_and_swap)
{
    struct keys keys;

    keys_init(&keys);
    assert_false(swap(&keys, "a", "", "1"));
    assert_false(swap(&keys, "a", "x", "1"));
    assert_true(swap(&keys, "a", NULL, ""));
    assert_false(swap(&keys, "a", NULL, "1"));
    assert_false(swap(&keys, "a", "x", "1"));
    assert_true(swap(&keys, "a", "", "1"));
    assert_false(swap(&keys, "a", "", "2"));
    assert_false(swap(&keys, "a", "11", "2"));
    assert_true(swap(&keys, "a", "1", "2"));
    assert_false(swap(&keys, "a", "1", NULL));
    expect_key(&keys, keys.kv, "a", "2");
    assert_true(swap(&keys, "a", "2", NULL));
    expect_key(&keys, keys.kv, "a", NULL);
    assert_true(swap(&keys, "a", NULL, NULL));
    keys_fini(&keys);
}

/* A time to live, a durability and a deadline, as petal_put takes them. */
TEST(test_a_put_takes_options)
{
    petal_write_options dies = {.has_ttl = true, .ttl_ms = 1000}, wrong = {.ttl_ms = 1000};
    petal_write_options durable = {.durability = PETAL_FSYNC_WAL, .deadline_ms = 1000};
    petal_stats before, after;
    struct keys keys;

    keys_init(&keys);
    MUST(petal_kv_put(keys.kv, text("a"), text("1"), &dies, WHY));
    MUST(petal_kv_put(keys.kv, text("b"), text("2"), NULL, WHY));
    expect_key(&keys, keys.kv, "a", "1");
    test_clock_advance(&keys.base.clock, 1001);
    expect_key(&keys, keys.kv, "a", NULL);
    expect_key(&keys, keys.kv, "b", "2");
    petal_stats_get(keys.base.db, &before);
    MUST(petal_kv_put(keys.kv, text("a"), text("3"), NULL, WHY));
    petal_stats_get(keys.base.db, &after);
    assert_int_equal(after.log_syncs, before.log_syncs);
    MUST(petal_kv_put(keys.kv, text("a"), text("4"), &durable, WHY));
    petal_stats_get(keys.base.db, &after);
    assert_int_equal(after.log_syncs, before.log_syncs + 1);
    expect_key(&keys, keys.kv, "a", "4");
    assert_int_equal(petal_kv_put(keys.kv, text("a"), text("5"), &wrong, &keys.error),
                     PETAL_INVALID);
    assert_non_null(strstr(keys.error.text, "ttl_ms"));
    expect_key(&keys, keys.kv, "a", "4");
    keys_fini(&keys);
}

/* Slices of literals and of text of the caller's. */
TEST(test_text_is_a_slice)
{
    const char *words = "some words";

    assert_int_equal(PETAL_TEXT("").size, 0);
    assert_int_equal(PETAL_TEXT("a\0b").size, 3);
    assert_true(slice_equal(PETAL_TEXT("some words"), petal_text(words)));
    assert_ptr_equal(petal_text(words).data, words);
    assert_int_equal(petal_text(NULL).size, 0);
    assert_null(petal_text(NULL).data);
}

/* A key whose timestamp is ahead of the clock, as after many increments. */
TEST(test_swaps_ahead_of_the_clock)
{
    struct keys keys;
    petal_family *family;

    keys_init(&keys);
    family = petal_table_family_at(petal_kv_table(keys.kv), 0);
    MUST(petal_put(family, text("a"), slice_make(NULL, 0), INT64_MAX / 2, text("1"), NULL, WHY));
    assert_true(swap(&keys, "a", "1", "2"));
    expect_key(&keys, keys.kv, "a", "2");
    assert_true(swap(&keys, "a", "2", NULL));
    expect_key(&keys, keys.kv, "a", NULL);
    assert_false(swap(&keys, "a", "2", NULL));
    keys_fini(&keys);
}

/* ---- keys in their order ---- */

#define OPTIONS(...) (&(petal_kv_cursor_options){__VA_ARGS__})

static void
put_users(struct keys *keys)
{
    petal_family *family = petal_table_family_at(petal_kv_table(keys->kv), 0);

    put(keys, "a", "1");
    put(keys, "user", "");
    put(keys, "user:1", "x");
    put(keys, "user:2", "y");
    put(keys, "user:3", "z");
    put(keys, "z", "9");
    /* What is no key. */
    MUST(petal_put(family, text("b"), text("q"), PETAL_LATEST, value, NULL, WHY));
    MUST(petal_put(family, text("user:2"), text("q"), PETAL_LATEST, value, NULL, WHY));
}

TEST(test_cursors_by_range_and_prefix)
{
    struct keys keys;

    keys_init(&keys);
    put_users(&keys);
    for (unsigned round = 0; round < 2; round++) { /* in memory, in a file */
        expect_pairs(&keys, NULL, "a=1 user= user:1=x user:2=y user:3=z z=9");
        expect_pairs(&keys, OPTIONS(.reversed = true), "z=9 user:3=z user:2=y user:1=x user= a=1");
        expect_pairs(&keys, OPTIONS(.prefix = text("user:")), "user:1=x user:2=y user:3=z");
        expect_pairs(&keys, OPTIONS(.prefix = text("user:"), .reversed = true),
                     "user:3=z user:2=y user:1=x");
        expect_pairs(&keys, OPTIONS(.from = text("user"), .to = text("user:3")),
                     "user= user:1=x user:2=y");
        expect_pairs(&keys, OPTIONS(.from = text("user"), .to = text("user:3"), .reversed = true),
                     "user:2=y user:1=x user=");
        expect_pairs(&keys, OPTIONS(.from = text("user:3")), "user:3=z z=9");
        expect_pairs(&keys, OPTIONS(.from = text("user:3"), .reversed = true), "z=9 user:3=z");
        expect_pairs(&keys, OPTIONS(.to = text("user")), "a=1");
        expect_pairs(&keys, OPTIONS(.to = text("user"), .reversed = true), "a=1");
        /* A prefix within a range. */
        expect_pairs(&keys, OPTIONS(.prefix = text("user:"), .from = text("user:2")),
                     "user:2=y user:3=z");
        expect_pairs(&keys,
                     OPTIONS(.prefix = text("user:"), .from = text("user:2"), .reversed = true),
                     "user:3=z user:2=y");
        expect_pairs(&keys, OPTIONS(.prefix = text("user:"), .to = text("user:2")), "user:1=x");
        expect_pairs(&keys,
                     OPTIONS(.prefix = text("user"), .from = text("b"), .to = text("user:1")),
                     "user=");
        expect_pairs(&keys, OPTIONS(.prefix = text("user"), .from = text("b"), .to = text("y")),
                     "user= user:1=x user:2=y user:3=z");
        expect_pairs(&keys, OPTIONS(.prefix = text("user"), .from = text("y")), "");
        expect_pairs(&keys, OPTIONS(.prefix = text("user"), .to = text("u")), "");
        expect_pairs(&keys, OPTIONS(.from = text("y"), .to = text("b")), "");
        expect_pairs(&keys, OPTIONS(.from = text("y"), .to = text("b"), .reversed = true), "");
        expect_pairs(&keys, OPTIONS(.from = text("user"), .to = text("user")), "");
        expect_pairs(&keys, OPTIONS(.prefix = text("b")), "");
        MUST(petal_flush(keys.base.db, NULL, WHY));
    }
    keys_fini(&keys);
}

/* A prefix of greatest bytes has no key after it. */
TEST(test_a_prefix_that_nothing_follows)
{
    struct keys keys;

    keys_init(&keys);
    put(&keys, "a", "1");
    put(&keys, "\xff", "2");
    put(&keys, "\xff\xff", "3");
    put(&keys, "\xff\xff\x01", "4");
    expect_pairs(&keys, OPTIONS(.prefix = text("\xff\xff")), "\xff\xff=3 \xff\xff\x01=4");
    expect_pairs(&keys, OPTIONS(.prefix = text("\xff\xff"), .from = text("\xff\xff\x01")),
                 "\xff\xff\x01=4");
    expect_pairs(&keys,
                 OPTIONS(.prefix = text("\xff"), .to = text("\xff\xff\x01"), .reversed = true),
                 "\xff\xff=3 \xff=2");
    keys_fini(&keys);
}

TEST(test_seeks_of_cursors)
{
    petal_kv_cursor *cursor;
    struct keys keys;
    petal_slice at;
    bool found;

    keys_init(&keys);
    put_users(&keys);
    MUST(petal_kv_cursor_open(keys.kv, OPTIONS(.prefix = text("user:")), &cursor, WHY));
    MUST(petal_kv_cursor_seek(cursor, text("user:2"), WHY));
    MUST(petal_kv_cursor_next(cursor, &found, &at, NULL, WHY));
    assert_true(found);
    assert_int_equal(slice_compare(at, text("user:2")), 0);
    MUST(petal_kv_cursor_seek(cursor, text("user:21"), WHY));
    expect_rest(cursor, "user:3=z");
    /* Back from the end, to before the beginning; after the end. */
    MUST(petal_kv_cursor_seek(cursor, text("a"), WHY));
    MUST(petal_kv_cursor_next(cursor, &found, &at, NULL, WHY));
    /* A key that is none leaves it where it is. */
    assert_int_equal(petal_kv_cursor_seek(cursor, text(""), &keys.error), PETAL_INVALID);
    expect_rest(cursor, "user:2=y user:3=z");
    MUST(petal_kv_cursor_seek(cursor, text("user:9"), WHY));
    expect_rest(cursor, "");
    petal_kv_cursor_close(cursor);

    MUST(petal_kv_cursor_open(keys.kv, OPTIONS(.reversed = true), &cursor, WHY));
    MUST(petal_kv_cursor_seek(cursor, text("user:2"), WHY));
    expect_rest(cursor, "user:2=y user:1=x user= a=1");
    MUST(petal_kv_cursor_seek(cursor, text("user:19"), WHY));
    expect_rest(cursor, "user:1=x user= a=1");
    petal_kv_cursor_close(cursor);
    petal_kv_cursor_close(NULL);
    keys_fini(&keys);
}

/* As of the opening, or of the snapshot. */
TEST(test_the_moment_of_cursors)
{
    petal_kv_cursor *cursor;
    petal_snapshot *snapshot;
    struct keys keys;

    keys_init(&keys);
    put(&keys, "a", "1");
    MUST(petal_snapshot_new(keys.base.db, &snapshot, WHY));
    put(&keys, "b", "2");
    MUST(petal_kv_cursor_open(keys.kv, NULL, &cursor, WHY));
    put(&keys, "a", "3");
    put(&keys, "c", "3");
    expect_rest(cursor, "a=1 b=2");
    petal_kv_cursor_close(cursor);
    expect_pairs(&keys, OPTIONS(.snapshot = snapshot), "a=1");
    petal_snapshot_free(snapshot);
    keys_fini(&keys);
}

TEST(test_refused_cursors)
{
    static char bytes[PETAL_MAX_ROW_BYTES + 1];
    petal_slice long_key = {bytes, sizeof bytes};
    petal_kv_cursor *cursor;
    struct keys keys;

    keys_init(&keys);
    assert_int_equal(
        petal_kv_cursor_open(keys.kv, OPTIONS(.prefix = long_key), &cursor, &keys.error),
        PETAL_INVALID);
    assert_string_equal(keys.error.text, "`prefix` has 32768 bytes; a row has at most 32767");
    assert_null(cursor);
    assert_int_equal(petal_kv_cursor_open(keys.kv, OPTIONS(.size = 3), &cursor, &keys.error),
                     PETAL_INVALID);
    MUST(petal_table_drop(petal_kv_table(keys.kv), WHY));
    assert_int_equal(petal_kv_cursor_open(keys.kv, NULL, &cursor, &keys.error), PETAL_NOT_FOUND);
    keys_fini(&keys);
}

/* ---- ranges that are deleted ---- */

static uint64_t
delete_range(struct keys *keys, const char *from, const char *to,
             const petal_delete_rows_options *options)
{
    petal_deleted_rows deleted;

    MUST(petal_kv_delete_range(keys->kv, text(from), text(to), options, &deleted, WHY));
    assert_int_equal(deleted.next.size, 0);
    return deleted.rows;
}

TEST(test_ranges_are_deleted)
{
    petal_column column = {.whole_family = true};
    petal_delete_rows_options options = {.prefix = text("user:"), .batch_rows = 2};
    petal_deleted_rows deleted;
    petal_result *row;
    struct keys keys;

    keys_init(&keys);
    put_users(&keys);
    assert_int_equal(delete_range(&keys, "", "user:3", &options), 2);
    expect_pairs(&keys, NULL, "a=1 user= user:3=z z=9");
    assert_int_equal(delete_range(&keys, "", "", &options), 1);
    assert_int_equal(delete_range(&keys, "a", "b", NULL), 1);
    assert_int_equal(delete_range(&keys, "b", "user", NULL), 0); /* b is none of the keys */
    expect_pairs(&keys, NULL, "user= z=9");
    assert_int_equal(delete_range(&keys, "", "", NULL), 2);
    expect_pairs(&keys, NULL, "");
    /* What is no key stays. */
    MUST(petal_result_new(keys.base.db, &row, WHY));
    MUST(petal_get(petal_kv_table(keys.kv), text("user:2"), NULL, row, WHY));
    assert_int_equal(petal_result_count(row), 1);
    petal_result_free(row);
    options = (petal_delete_rows_options){.columns = &column, .column_count = 1};
    assert_int_equal(
        petal_kv_delete_range(keys.kv, text("a"), text("b"), &options, &deleted, &keys.error),
        PETAL_INVALID);
    assert_int_equal(deleted.rows, 0);
    assert_true(slice_equal(deleted.next, text("a"))); /* to be called again, with other options */
    keys_fini(&keys);
}
