/* pairs_test.c -- keys and values of kv-bench's workloads; records over plain keys. */
#include "tools/bench/keys/pairs.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/bench/keys/fields.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- pairs ---- */

TEST(test_keys)
{
    const struct bench_pairs pairs = {.key_bytes = 5, .value_bytes = 10};
    char key[24], before[24], absent[24];

    for (uint64_t n = 1; n < 49999; n++) {
        bench_pairs_key(&pairs, n - 1, false, before);
        bench_pairs_key(&pairs, n - 1, true, absent);
        assert_int_equal(bench_pairs_key(&pairs, n, false, key).size, 5);
        assert_true(memcmp(before, absent, 5) < 0 && memcmp(absent, key, 5) < 0);
    }
    assert_true(bench_pairs_fit(5, 50000));
    assert_false(bench_pairs_fit(5, 50001));
    assert_false(bench_pairs_fit(16, 0));
    assert_true(bench_pairs_fit(20, UINT64_MAX / 2));
    assert_false(bench_pairs_fit(20, UINT64_MAX));
    assert_false(bench_pairs_fit(BENCH_MOST_KEY_BYTES + 1, 5));
}

/* Blocks of values compress to half, and a little more for what says so. */
TEST(test_values)
{
    enum { BLOCK = 16384 };
    static const size_t sizes[] = {100, 1000, 4096};
    char *block = test_allocate(BLOCK), *compressed = test_allocate(LZ4_COMPRESSBOUND(BLOCK));

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct bench_pairs pairs = {.key_bytes = 16, .value_bytes = sizes[i]};
        size_t used = 0;
        double share;

        for (uint64_t n = 0; used + sizes[i] <= BLOCK; n++, used += sizes[i]) {
            petal_slice value = bench_pairs_value(&pairs, n, (uint8_t *)block + used);

            assert_int_equal(value.size, sizes[i]);
            assert_true(bench_pairs_is_right(&pairs, n, value));
        }
        share =
            (double)LZ4_compress_default(block, compressed, (int)used, LZ4_COMPRESSBOUND(BLOCK)) /
            (double)used;
        assert_true(share > 0.44 && share < 0.58);
    }
    free(block);
    free(compressed);
}

TEST(test_other_values_are_wrong)
{
    static const size_t sizes[] = {2, 7, 15, 16, 100};
    uint8_t value[100], other[100];

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct bench_pairs pairs = {.key_bytes = 16, .value_bytes = sizes[i]};

        bench_pairs_value(&pairs, 7, value);
        assert_true(bench_pairs_is_right(&pairs, 7, (petal_slice){value, sizes[i]}));
        assert_false(bench_pairs_is_right(&pairs, 7, (petal_slice){value, sizes[i] - 1}));
        assert_false(bench_pairs_is_right(&pairs, 7, bench_pairs_value(&pairs, 8, other)));
        value[0] ^= 1;
        assert_false(bench_pairs_is_right(&pairs, 7, (petal_slice){value, sizes[i]}));
    }
    assert_true(bench_pairs_is_right(&(struct bench_pairs){0}, 7, (petal_slice){value, 0}));
}

/* Spread: keys far apart, in no order; values told apart by their beginnings. */
TEST(test_spread_pairs)
{
    const struct bench_pairs pairs = {
        .key_bytes = BENCH_KEY_BYTES, .value_bytes = 100, .spread = true};
    char key[BENCH_KEY_BYTES + 1], before[BENCH_KEY_BYTES + 1], absent[BENCH_KEY_BYTES + 1];
    uint8_t room[100];
    unsigned rising = 0;

    for (uint64_t n = 1; n < 1000; n++) {
        petal_slice value = bench_pairs_value(&pairs, n, room);

        assert_int_equal(bench_pairs_key(&pairs, n, false, key).size, BENCH_KEY_BYTES);
        bench_pairs_key(&pairs, n - 1, false, before);
        bench_pairs_key(&pairs, n, true, absent);
        assert_memory_not_equal(key, absent, BENCH_KEY_BYTES);
        rising += memcmp(before, key, BENCH_KEY_BYTES) < 0;
        assert_true(bench_pairs_is_right(&pairs, n, value));
        assert_false(bench_pairs_is_right(&pairs, n - 1, value));
        assert_false(bench_pairs_is_right(&pairs, n, (petal_slice){room, sizeof room - 1}));
    }
    assert_true(rising > 400 && rising < 600);
}

/* ---- records over a store of plain keys: a sorted array ---- */

struct entry {
    char key[32], value[32];
    size_t key_bytes, value_bytes;
};

struct array {
    struct entry entries[64];
    size_t count, batches, at;
};

static struct array array;

static size_t
place_of(petal_slice key, bool *there)
{
    size_t i = 0;
    int order = 1;

    for (; i < array.count; i++) {
        const struct entry *entry = &array.entries[i];
        size_t least = entry->key_bytes < key.size ? entry->key_bytes : key.size;

        order = memcmp(entry->key, key.data, least);
        if (order == 0)
            order = (entry->key_bytes > key.size) - (entry->key_bytes < key.size);
        if (order >= 0)
            break;
    }
    *there = i < array.count && order == 0;
    return i;
}

static void
put(petal_slice key, petal_slice value)
{
    bool there;
    size_t i = place_of(key, &there);
    struct entry *entry = &array.entries[i];

    assert_true(array.count < 64 && key.size <= 32 && value.size <= 32);
    if (!there)
        memmove(entry + 1, entry, (array.count++ - i) * sizeof *entry);
    memcpy(entry->key, key.data, key.size);
    memcpy(entry->value, value.data, value.size);
    entry->key_bytes = key.size;
    entry->value_bytes = value.size;
}

static void
put_many(void *session, const struct bench_pair *pairs, size_t count)
{
    assert_ptr_equal(session, &array);
    array.batches++;
    for (size_t i = 0; i < count; i++)
        put(pairs[i].key, pairs[i].value);
}

/* From one buffer, so that each step overwrites the last one. */
static bool
show(struct bench_pair *pair)
{
    static struct entry shown;

    memset(&shown, 'x', sizeof shown);
    if (array.at >= array.count)
        return false;
    shown = array.entries[array.at];
    *pair = (struct bench_pair){{shown.key, shown.key_bytes}, {shown.value, shown.value_bytes}};
    return true;
}

static void *
iterate(void *session)
{
    return session;
}

static bool
seek(void *iterator, petal_slice key, struct bench_pair *pair)
{
    bool there;

    (void)iterator;
    array.at = place_of(key, &there);
    return show(pair);
}

static bool
next(void *iterator, struct bench_pair *pair)
{
    (void)iterator;
    array.at++;
    return show(pair);
}

static void
end_iterate(void *iterator)
{
    (void)iterator;
}

static const struct bench_store plain = {.name = "array",
                                         .put_many = put_many,
                                         .iterate = iterate,
                                         .seek = seek,
                                         .next = next,
                                         .end_iterate = end_iterate};

static void
check_field(const struct bench_field *field, const char *name, const char *value)
{
    assert_int_equal(field->name.size, strlen(name));
    assert_memory_equal(field->name.data, name, strlen(name));
    assert_int_equal(field->value.size, strlen(value));
    assert_memory_equal(field->value.data, value, strlen(value));
}

/* One row's name begins another's: the byte 0 keeps them apart. */
TEST(test_records)
{
    const struct bench_field two[] = {{bench_text("a"), bench_text("1")},
                                      {bench_text("b"), bench_text("22")}};
    const struct bench_field changed = {bench_text("b"), bench_text("3")};
    struct bench_field fields[BENCH_MOST_FIELDS];
    struct bench_record record;

    array = (struct array){0};
    bench_record_init(&record, &plain, &array);
    bench_record_put(&record, bench_text("user1"), two, 2);
    bench_record_put(&record, bench_text("user12"), two, 2);
    bench_record_put(&record, bench_text("user2"), two, 1);
    bench_record_put(&record, bench_text("user1"), &changed, 1);
    assert_int_equal(array.batches, 4);
    assert_int_equal(array.count, 5);
    assert_int_equal(bench_record_get(&record, bench_text("user1"), fields, 10), 2);
    check_field(&fields[0], "a", "1");
    check_field(&fields[1], "b", "3");
    assert_int_equal(bench_record_get(&record, bench_text("user12"), fields, 10), 2);
    check_field(&fields[1], "b", "22");
    assert_int_equal(bench_record_get(&record, bench_text("user1"), fields, 1), 1);
    assert_int_equal(bench_record_get(&record, bench_text("user"), fields, 10), 0);
    assert_int_equal(bench_record_get(&record, bench_text("user3"), fields, 10), 0);
    assert_int_equal(bench_record_scan(&record, bench_text("user1"), 1), 2);
    assert_int_equal(bench_record_scan(&record, bench_text("user1"), 2), 4);
    assert_int_equal(bench_record_scan(&record, bench_text("user1"), 9), 5);
    assert_int_equal(bench_record_scan(&record, bench_text("user"), 2), 4);
    assert_int_equal(bench_record_scan(&record, bench_text("user2"), 2), 1);
    assert_int_equal(bench_record_scan(&record, bench_text("user3"), 2), 0);
    bench_record_free(&record);
}
