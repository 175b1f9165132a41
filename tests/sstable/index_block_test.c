/*
 * index_block_test.c -- index nodes against a sorted array of keys: a search finds what a walk
 * finds; damaged bytes are refused or read within bounds (nodes, stored and arranged, lie in memory
 * of exactly their size).
 */
#include "base/cell.h"
#include "base/checksum.h"
#include "sstable/block/index_block.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdlib.h>

#define MAX_KEYS      300
#define MAX_KEY_BYTES 64

/* Sorted, distinct keys. */
struct keys {
    size_t count;
    size_t sizes[MAX_KEYS];
    uint8_t bytes[MAX_KEYS][MAX_KEY_BYTES];
};

static petal_slice
key_at(const struct keys *keys, size_t index)
{
    return slice_make(keys->bytes[index], keys->sizes[index]);
}

/* Put `key` in its place; a key twice is left out. */
static void
keys_add(struct keys *keys, petal_slice key)
{
    size_t at = keys->count;

    while (at > 0 && slice_compare(key_at(keys, at - 1), key) >= 0)
        at--;
    if (at < keys->count && slice_equal(key_at(keys, at), key))
        return;
    assert_true(keys->count < MAX_KEYS && key.size <= MAX_KEY_BYTES);
    for (size_t i = keys->count++; i > at; i--) {
        keys->sizes[i] = keys->sizes[i - 1];
        memcpy(keys->bytes[i], keys->bytes[i - 1], MAX_KEY_BYTES);
    }
    keys->sizes[at] = key.size;
    memcpy(keys->bytes[at], key.data, key.size);
}

/*
 * Keys of a shared prefix and up to `more` bytes of few kinds; so heads are often equal, or cut
 * off by the end.
 */
static void
keys_random(struct keys *keys, struct test_random *random, size_t count, size_t prefix, size_t more)
{
    static const uint8_t kinds[] = {0x00, 0x01, 0x80, 0xff};
    uint8_t key[MAX_KEY_BYTES];

    keys->count = 0;
    memset(key, 'p', prefix);
    for (size_t i = 0; i < count; i++) {
        size_t size = prefix + test_random_below(random, more + 1);

        for (size_t j = prefix; j < size; j++)
            key[j] = test_random_chance(random, 60)
                         ? 0xff
                         : kinds[test_random_below(random, sizeof kinds)];
        if (size > 0)
            keys_add(keys, slice_make(key, size));
    }
    if (keys->count == 0)
        keys_add(keys, slice_from_text("k"));
}

static struct block_handle
handle_of(size_t index)
{
    return (struct block_handle){.offset = 0x1122334455000000u + index * 4096,
                                 .size = (uint32_t)(4000 + index % 96)};
}

static enum petal_status
add_all(struct index_block_builder *builder, const struct keys *keys)
{
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < keys->count; i++)
        status = index_block_builder_add(builder, key_at(keys, i), handle_of(i));
    return status;
}

/* The node in memory of exactly its size. */
static petal_slice
build(const struct keys *keys, uint32_t level)
{
    struct index_block_builder *builder;
    petal_slice bytes, first;
    void *copy;

    assert_int_equal(index_block_builder_new(&builder, &mem_default_allocator), PETAL_OK);
    assert_int_equal(index_block_builder_bytes(builder), 0);
    assert_int_equal(add_all(builder, keys), PETAL_OK);
    first = index_block_builder_key(builder, 0);
    assert_true(slice_equal(first, key_at(keys, 0)));
    assert_int_equal(index_block_builder_count(builder), keys->count);
    assert_int_equal(index_block_builder_finish(builder, level, &bytes), PETAL_OK);
    assert_int_equal(bytes.size, index_block_builder_bytes(builder));
    copy = malloc(bytes.size);
    assert_non_null(copy);
    memcpy(copy, bytes.data, bytes.size);
    index_block_builder_free(builder);
    return slice_make(copy, bytes.size);
}

static void
release(petal_slice bytes)
{
    free((void *)(uintptr_t)bytes.data);
}

/* Arrange stored bytes in memory, which the caller frees.  False: they are refused. */
static bool
arrange(struct index_block *block, const uint8_t *bytes, size_t size, uint8_t **memory)
{
    uint32_t entries = size >= INDEX_BLOCK_HEADER_BYTES ? get_le32(bytes) : 1;
    size_t memory_bytes = index_block_memory(bytes, size, entries);
    bool good;

    *memory = NULL;
    if (memory_bytes == 0)
        return false;
    *memory = aligned_alloc(CACHE_LINE_BYTES, memory_bytes);
    assert_non_null(*memory);
    good = index_block_make(block, bytes, size, *memory);
    if (good)
        assert_int_equal(block->size, memory_bytes);
    return good;
}

static void
search_and_compare(const struct index_block *block, const struct keys *keys, petal_slice key)
{
    int64_t want = -1;

    while (want + 1 < (int64_t)keys->count &&
           slice_compare(key_at(keys, (size_t)(want + 1)), key) <= 0)
        want++;
    assert_int_equal(index_block_search(block, key), want);
    if (want >= 0 && slice_equal(key_at(keys, (size_t)want), key))
        want--;
    assert_int_equal(index_block_search_below(block, key), want);
}

/* Search for the key, its beginnings, and what lies just before and after it. */
static void
search_around(const struct index_block *block, const struct keys *keys, petal_slice key,
              struct test_random *random)
{
    uint8_t other[MAX_KEY_BYTES + 1] = {0};

    search_and_compare(block, keys, key);
    memcpy(other, key.data, key.size);
    search_and_compare(block, keys, slice_make(other, key.size + 1));
    for (unsigned i = 0; i < 8; i++) {
        size_t at = test_random_below(random, key.size);
        uint8_t change = (uint8_t)(1u << test_random_below(random, 8));

        other[at] ^= change;
        search_and_compare(block, keys, slice_make(other, key.size));
        other[at] ^= change;
        search_and_compare(block, keys, slice_make(other, at));
    }
}

static void
compare_node(petal_slice bytes, const struct keys *keys, uint32_t level, struct test_random *random)
{
    struct index_block block;
    uint8_t *memory;

    assert_true(arrange(&block, bytes.data, bytes.size, &memory));
    assert_int_equal(block.count, keys->count);
    assert_int_equal(block.level, level);
    for (uint32_t i = 0; i < block.count; i++) {
        struct block_handle handle = index_block_handle(&block, i);
        uint8_t key[MAX_KEY_BYTES];

        assert_int_equal(handle.offset, handle_of(i).offset);
        assert_int_equal(handle.size, handle_of(i).size);
        assert_int_equal(index_block_key_bytes(&block, i), keys->sizes[i]);
        index_block_key(&block, i, key);
        assert_memory_equal(key, keys->bytes[i], keys->sizes[i]);
        search_around(&block, keys, key_at(keys, i), random);
    }
    search_and_compare(&block, keys, slice_make(NULL, 0));
    search_and_compare(&block, keys,
                       slice_from_text("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"));
    free(memory);
}

TEST(random_keys_come_back_and_are_found)
{
    static struct keys keys;
    struct test_random random;
    unsigned rounds = test_long() ? 20000 : 400;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < rounds; round++) {
        size_t count = 1 + test_random_below(&random, round % 4 == 0 ? MAX_KEYS - 1 : 12);
        uint32_t level = (uint32_t)(round % 3);
        petal_slice bytes;

        keys_random(&keys, &random, count, test_random_below(&random, 30),
                    test_random_below(&random, 30));
        bytes = build(&keys, level);
        compare_node(bytes, &keys, level, &random);
        release(bytes);
    }
}

TEST(equal_heads_are_told_apart_by_what_follows)
{
    static struct keys keys;
    struct test_random random;
    petal_slice bytes;

    test_random_init(&random, 7);
    keys.count = 0;
    keys_add(&keys, slice_from_text("a"));
    for (unsigned i = 0; i < 200; i++) {
        uint8_t key[] = {'b',
                         0xff,
                         0xff,
                         0xff,
                         0xff,
                         0xff,
                         0xff,
                         0xff,
                         (uint8_t)(i / 16),
                         (uint8_t)(i % 16 * 17)};

        keys_add(&keys, slice_make(key, sizeof key));
    }
    keys_add(&keys, slice_from_text("c"));
    bytes = build(&keys, 0);
    compare_node(bytes, &keys, 0, &random);
    release(bytes);
}

TEST(reset_forgets)
{
    static struct keys keys;
    struct index_block_builder *builder;
    petal_slice bytes;
    uint64_t digest;

    keys.count = 0;
    keys_add(&keys, slice_from_text("kiwi"));
    keys_add(&keys, slice_from_text("lemon"));
    assert_int_equal(index_block_builder_new(&builder, &mem_default_allocator), PETAL_OK);
    assert_int_equal(add_all(builder, &keys), PETAL_OK);
    assert_int_equal(index_block_builder_finish(builder, 1, &bytes), PETAL_OK);
    digest = checksum_at(0, 0, bytes.data, bytes.size);
    index_block_builder_reset(builder);
    assert_int_equal(index_block_builder_count(builder), 0);
    assert_int_equal(index_block_builder_add(builder, slice_from_text("apple"), handle_of(9)),
                     PETAL_OK);
    index_block_builder_reset(builder);
    assert_int_equal(add_all(builder, &keys), PETAL_OK);
    assert_int_equal(index_block_builder_finish(builder, 1, &bytes), PETAL_OK);
    assert_true(checksum_at(0, 0, bytes.data, bytes.size) == digest);
    index_block_builder_free(builder);
    index_block_builder_free(NULL);
}

/* ---- damaged bytes ---- */

static volatile uint64_t sink;

/* Is the node refused?  If not, read all of it, and search for each of `keys`. */
static bool
refused_or_readable(const uint8_t *bytes, size_t size, const struct keys *keys)
{
    struct index_block block;
    uint8_t *memory;

    if (!arrange(&block, bytes, size, &memory)) {
        free(memory);
        return true;
    }
    for (uint32_t i = 0; i < block.count; i++) {
        size_t key_bytes = index_block_key_bytes(&block, i);
        uint8_t *key = malloc(key_bytes + 1);

        assert_non_null(key);
        index_block_key(&block, i, key);
        sink = sink + index_block_handle(&block, i).offset + checksum_at(0, 0, key, key_bytes);
        sink = sink + (uint64_t)index_block_search(&block, slice_make(key, key_bytes));
        free(key);
    }
    for (size_t i = 0; i < keys->count; i++) {
        int64_t found = index_block_search(&block, key_at(keys, i));
        int64_t below = index_block_search_below(&block, key_at(keys, i));

        assert_true(found >= -1 && found < (int64_t)block.count);
        assert_true(below == found || below == found - 1);
        assert_true(below >= -1);
    }
    free(memory);
    return false;
}

#define SMALL_NODES 3

static void
small_keys(struct keys *keys, unsigned which)
{
    keys->count = 0;
    keys_add(keys, slice_from_text("user0000"));
    if (which > 0) {
        keys_add(keys, slice_from_text("user0017"));
        keys_add(keys, slice_from_text("user0017, and more"));
        keys_add(keys, slice_from_text("user9"));
    }
    if (which > 1)
        keys_add(keys, slice_make("\x00\xff", 2));
}

TEST(every_changed_byte_is_refused_or_read_in_bounds)
{
    static struct keys keys;
    unsigned kept = 0, refused = 0;

    for (unsigned which = 0; which < SMALL_NODES; which++) {
        petal_slice built;
        uint8_t *bytes;

        small_keys(&keys, which);
        built = build(&keys, 0);
        bytes = (uint8_t *)(uintptr_t)built.data;
        for (size_t at = 0; at < built.size; at++) {
            for (unsigned change = 1; change < 256; change++) {
                bytes[at] ^= (uint8_t)change;
                if (refused_or_readable(bytes, built.size, &keys))
                    refused++;
                else
                    kept++;
                bytes[at] ^= (uint8_t)change;
            }
        }
        release(built);
    }
    /* Handles and the prefix may be anything; counts, lengths, heads and rests may not. */
    assert_true(kept > 0 && refused > 0);
}

TEST(several_changed_bytes_are_refused_or_read_in_bounds)
{
    static struct keys keys;
    struct test_random random;
    unsigned rounds = test_long() ? 5000000 : 200000;
    petal_slice built;
    uint8_t *bytes;

    test_random_init(&random, test_seed());
    small_keys(&keys, 2);
    built = build(&keys, 0);
    bytes = malloc(built.size);
    assert_non_null(bytes);
    for (unsigned round = 0; round < rounds; round++) {
        memcpy(bytes, built.data, built.size);
        for (unsigned i = 0; i < 3; i++) {
            /* Mostly in the header and in the ends: sizes. */
            size_t at =
                test_random_below(&random, test_random_chance(&random, 50) ? 16 : built.size);

            bytes[at] = test_random_chance(&random, 50) ? (uint8_t)(bytes[at] + 1)
                                                        : (uint8_t)test_random_next(&random);
        }
        refused_or_readable(bytes, built.size, &keys);
    }
    free(bytes);
    release(built);
}

TEST(every_other_length_is_refused)
{
    static struct keys keys;

    for (unsigned which = 0; which < SMALL_NODES; which++) {
        petal_slice built;

        small_keys(&keys, which);
        built = build(&keys, 0);
        for (size_t size = 0; size <= built.size + 25; size++) {
            uint8_t *bytes = calloc(1, size + (size == 0));

            assert_non_null(bytes);
            memcpy(bytes, built.data, size < built.size ? size : built.size);
            assert_int_equal(refused_or_readable(bytes, size, &keys), size != built.size);
            free(bytes);
        }
        release(built);
    }
}

TEST(a_node_without_entries_is_refused)
{
    uint8_t bytes[INDEX_BLOCK_HEADER_BYTES] = {0};
    assert_int_equal(index_block_memory(bytes, sizeof bytes, 0), 0);
}

/* ---- memory, format ---- */

TEST(built_bytes_are_those_of_version_1)
{
    static const uint64_t golden[SMALL_NODES] = {0xceb869533e96663b, 0x1b0ac2a984996e5b,
                                                 0x13123332b36437be};
    static struct keys keys;

    for (unsigned which = 0; which < SMALL_NODES; which++) {
        petal_slice bytes;
        uint64_t digest;

        small_keys(&keys, which);
        bytes = build(&keys, which);
        digest = checksum_at(0, 0, bytes.data, bytes.size);
        release(bytes);
        if (digest != golden[which])
            fail_msg("block %u: 0x%016llx", which, (unsigned long long)digest);
    }
}
