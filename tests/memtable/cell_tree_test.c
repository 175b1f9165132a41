/*
 * cell_tree_test.c -- the tree against a sorted array: order and seeks under arrival orders that
 * reach each kind of split, and the bound of the memory that inserts take.  Readers beside a
 * writer: memtable_test.c.
 */
#include "memtable/arena.h"
#include "memtable/cell_tree.h"
#include "memtable/tree_node.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KEY_BYTES = 64 };

struct test_key {
    size_t size;
    uint8_t bytes[MAX_KEY_BYTES];
};

static petal_slice
key_slice(const struct test_key *key)
{
    return slice_make(key->bytes, key->size);
}

static int
compare_keys(const void *a, const void *b)
{
    return slice_compare(key_slice(a), key_slice(b));
}

enum key_style { PLAIN_NUMBERS, FEW_BYTES, SHARED_PREFIX, RANDOM_BYTES, KEY_STYLES };

static void
make_key(struct test_random *random, enum key_style style, size_t number, struct test_key *key)
{
    static const uint8_t few[] = {0x00, 0x01, 0x7f, 0x80, 0xff};

    switch (style) {
    case PLAIN_NUMBERS:
        key->size = (size_t)snprintf((char *)key->bytes, MAX_KEY_BYTES, "user%08zu", number * 3);
        return;
    case FEW_BYTES:
        key->size = 1 + test_random_below(random, 12);
        for (size_t i = 0; i < key->size; i++)
            key->bytes[i] = few[test_random_below(random, sizeof few)];
        return;
    case SHARED_PREFIX:
        memset(key->bytes, (int)('a' + test_random_below(random, 3)), 40);
        key->size = 40 + test_random_below(random, 5);
        test_random_bytes(random, key->bytes + 40, key->size - 40);
        return;
    default:
        key->size = 1 + test_random_below(random, 20);
        test_random_bytes(random, key->bytes, key->size);
    }
}

/* `*count` keys, sorted and different; *count is lowered by the doubles. */
static struct test_key *
sorted_keys(struct test_random *random, enum key_style style, size_t *count)
{
    struct test_key *keys = test_allocate(*count * sizeof *keys);
    size_t kept = 0;

    for (size_t i = 0; i < *count; i++)
        make_key(random, style, i, &keys[i]);
    qsort(keys, *count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < *count; i++)
        if (kept == 0 || compare_keys(&keys[kept - 1], &keys[i]) != 0)
            keys[kept++] = keys[i];
    *count = kept;
    return keys;
}

enum arrival {
    ASCENDING,
    DESCENDING,
    SHUFFLED,
    ZIGZAG,
    MANY_RUNS,
    UP_THEN_DOWN,
    HALF_UP_HALF_DOWN,
    SPLIT_EACH_LEAF,
    ARRIVALS
};

static void
shuffle(struct test_random *random, size_t *order, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = test_random_below(random, i);
        size_t swapped = order[i - 1];

        order[i - 1] = order[other];
        order[other] = swapped;
    }
}

/* Indexes of the sorted keys in the order in which they are to come. */
static size_t *
arrival_order(struct test_random *random, enum arrival arrival, size_t count)
{
    size_t *order = test_allocate(count * sizeof *order);
    size_t run = 1 + test_random_below(random, 40);

    for (size_t i = 0; i < count; i++) {
        order[i] = i;
        if (arrival == DESCENDING)
            order[i] = count - 1 - i;
        else if (arrival == ZIGZAG)
            order[i] = i % 2 == 0 ? i / 2 : count - 1 - i / 2;
    }
    if (arrival == SHUFFLED)
        shuffle(random, order, count);
    if (arrival == MANY_RUNS) /* several ascending streams take turns */
        for (size_t i = 0, stream = 0, at = 0; i < count; i++, at += run) {
            if (at >= count)
                at = ++stream;
            order[i] = at;
        }
    if (arrival == HALF_UP_HALF_DOWN) /* the first half fills its leaves exactly */
        for (size_t i = count / 28 * 14, last = count; i < count; i++)
            order[i] = --last;
    if (arrival == SPLIT_EACH_LEAF) { /* a run leaves full leaves, and of each 15th key one more */
        size_t at = 0;

        for (size_t i = 0; i < count; i++)
            if (i % 15 != 7)
                order[at++] = i;
        for (size_t i = 7; i < count; i += 15)
            order[at++] = i;
    }
    if (arrival == UP_THEN_DOWN) /* a run up, then down into the gap before its end */
        for (size_t i = 0; i + 2 * run <= count; i += 2 * run)
            for (size_t k = 0; k < run; k++)
                order[i + run + k] = i + 2 * run - 1 - k;
    return order;
}

struct fixture {
    struct test_allocator allocator;
    struct arena arena;
    struct cell_tree tree;
};

static void
fixture_init(struct fixture *fixture)
{
    test_allocator_init(&fixture->allocator);
    arena_init(&fixture->arena, &fixture->allocator.table);
    cell_tree_init(&fixture->tree, &fixture->arena);
}

static void
fixture_fini(struct fixture *fixture)
{
    arena_fini(&fixture->arena);
    assert_int_equal(test_allocator_live_blocks(&fixture->allocator), 0);
}

/* REQUIRES: reserved. */
static void
insert_key(struct fixture *fixture, const struct test_key *key)
{
    struct cell_record *record = arena_take_record(&fixture->arena, sizeof *record + MAX_KEY_BYTES);

    memset(record, 0, sizeof *record);
    record->key_bytes = (uint32_t)key->size;
    memcpy(record->bytes, key->bytes, key->size);
    arena_trim_record(&fixture->arena, record, sizeof *record + key->size);
    cell_tree_insert(&fixture->tree, record);
}

static void
reserve_keys(struct fixture *fixture, size_t count)
{
    size_t record = arena_record_bytes(sizeof(struct cell_record) + MAX_KEY_BYTES);

    assert_true(arena_reserve(&fixture->arena,
                              cell_tree_insert_bytes(&fixture->tree, count) + count * record));
}

static size_t
node_bytes(const struct cell_tree *tree)
{
    return tree->leaves * sizeof(struct tree_leaf) + tree->inner_nodes * sizeof(struct tree_inner);
}

/*
 * Insert `count` keys for which memory is reserved: no allocation, no more bytes than were said,
 * and before each key enough of them left for what is said of one.
 */
static void
insert_batch(struct fixture *fixture, const struct test_key *keys, const size_t *order,
             size_t count)
{
    uint64_t calls = test_allocator_calls(&fixture->allocator);
    size_t limit = node_bytes(&fixture->tree) + cell_tree_insert_bytes(&fixture->tree, count);

    for (size_t i = 0; i < count; i++) {
        assert_true(node_bytes(&fixture->tree) + cell_tree_insert_bytes(&fixture->tree, 1) <=
                    limit);
        insert_key(fixture, &keys[order[i]]);
    }
    assert_true(node_bytes(&fixture->tree) <= limit);
    assert_int_equal(test_allocator_calls(&fixture->allocator), calls);
}

/* In batches of random size, now and then all that is left. */
static void
insert_all(struct fixture *fixture, struct test_random *random, const struct test_key *keys,
           const size_t *order, size_t count)
{
    size_t batch;

    for (size_t done = 0; done < count; done += batch) {
        batch = 1 + test_random_below(random, test_random_chance(random, 20) ? 1000 : 8);
        if (batch > count - done || test_random_chance(random, 1))
            batch = count - done;
        reserve_keys(fixture, batch);
        insert_batch(fixture, keys, order + done, batch);
    }
}

static void
assert_at(const struct cell_tree_position *position, const struct test_key *keys, size_t index,
          size_t count)
{
    if (index == count) {
        assert_null(position->leaf);
        return;
    }
    assert_non_null(position->leaf);
    assert_true(slice_equal(cell_record_key(cell_tree_record(position)), key_slice(&keys[index])));
}

static void
assert_all_in_order(const struct fixture *fixture, const struct test_key *keys, size_t count)
{
    struct cell_tree_position position;

    cell_tree_seek_first(&fixture->tree, &position);
    for (size_t i = 0; i < count; i++) {
        assert_at(&position, keys, i, count);
        cell_tree_next(&position);
    }
    assert_null(position.leaf);
    cell_tree_seek_last(&fixture->tree, &position);
    assert_at(&position, keys, count - 1, count);
}

static size_t
model_seek(const struct test_key *keys, size_t count, petal_slice key)
{
    size_t first = 0;

    while (count > 0) {
        if (slice_compare(key_slice(&keys[first + count / 2]), key) < 0) {
            first += count / 2 + 1;
            count -= count / 2 + 1;
        } else {
            count /= 2;
        }
    }
    return first;
}

static void
assert_seek(const struct fixture *fixture, const struct test_key *keys, size_t count,
            const struct test_key *key)
{
    size_t at = model_seek(keys, count, key_slice(key));
    struct cell_tree_position position;

    cell_tree_seek(&fixture->tree, key_slice(key), &position);
    assert_at(&position, keys, at, count);
    cell_tree_seek_before(&fixture->tree, key_slice(key), &position);
    assert_at(&position, keys, at > 0 ? at - 1 : count, count);
    if (at > 0) {
        cell_tree_next(&position);
        assert_at(&position, keys, at, count);
    }
}

/* At each key, right before and right after it, and at its beginnings. */
static void
assert_all_seeks(const struct fixture *fixture, const struct test_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct test_key key = keys[i];

        assert_seek(fixture, keys, count, &key);
        key.bytes[key.size++] = 0;
        assert_seek(fixture, keys, count, &key);
        key.size -= 2;
        assert_seek(fixture, keys, count, &key);
        key.size = key.size / 2;
        assert_seek(fixture, keys, count, &key);
        key = keys[i];
        key.bytes[key.size - 1]--;
        assert_seek(fixture, keys, count, &key);
        key.bytes[key.size - 1] = (uint8_t)(key.bytes[key.size - 1] + 2);
        assert_seek(fixture, keys, count, &key);
    }
}

TEST(order_and_seeks_are_those_of_a_sorted_array)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned style = 0; style < KEY_STYLES; style++)
        for (unsigned arrival = 0; arrival < ARRIVALS; arrival++)
            for (size_t limit = 1; limit <= 20000; limit = limit * 3 + 1) {
                struct fixture fixture;
                size_t count = limit;
                struct test_key *keys = sorted_keys(&random, style, &count);
                size_t *order = arrival_order(&random, arrival, count);

                fixture_init(&fixture);
                insert_all(&fixture, &random, keys, order, count);
                assert_all_in_order(&fixture, keys, count);
                assert_all_seeks(&fixture, keys, count);
                fixture_fini(&fixture);
                free(order);
                free(keys);
            }
}

TEST(an_empty_tree_has_no_place)
{
    struct cell_tree_position position;
    struct fixture fixture;

    fixture_init(&fixture);
    cell_tree_seek_first(&fixture.tree, &position);
    assert_null(position.leaf);
    cell_tree_seek(&fixture.tree, slice_from_text("x"), &position);
    assert_null(position.leaf);
    cell_tree_seek_before(&fixture.tree, slice_from_text("x"), &position);
    assert_null(position.leaf);
    cell_tree_seek_last(&fixture.tree, &position);
    assert_null(position.leaf);
    fixture_fini(&fixture);
}

/* A position that was taken early still leads to each key that was there. */
TEST(a_position_outlives_splits)
{
    struct test_random random;
    size_t count = 4000, shown = 0;
    struct cell_tree_position position;
    struct fixture fixture;
    struct test_key *keys;
    size_t *order;

    test_random_init(&random, test_seed());
    keys = sorted_keys(&random, RANDOM_BYTES, &count);
    order = arrival_order(&random, SHUFFLED, count);
    fixture_init(&fixture);
    insert_all(&fixture, &random, keys, order, count / 2);
    cell_tree_seek_first(&fixture.tree, &position);
    for (size_t next = count / 2; position.leaf != NULL; shown++) {
        petal_slice before = cell_record_key(cell_tree_record(&position));

        for (unsigned i = 0; i < 3 && next < count; i++, next++) {
            reserve_keys(&fixture, 1);
            insert_key(&fixture, &keys[order[next]]);
        }
        cell_tree_next(&position);
        if (position.leaf != NULL)
            assert_true(slice_compare(before, cell_record_key(cell_tree_record(&position))) < 0);
    }
    assert_true(shown >= count / 2);
    assert_all_in_order(&fixture, keys, count);
    fixture_fini(&fixture);
    free(order);
    free(keys);
}

/* Leaves that were made, copied ones included, for a thousand keys. */
static size_t
leaves_for(enum arrival arrival)
{
    size_t count = 100000, leaves, *order;
    struct test_random random;
    struct fixture fixture;
    struct test_key *keys;

    test_random_init(&random, test_seed());
    keys = sorted_keys(&random, PLAIN_NUMBERS, &count);
    order = arrival_order(&random, arrival, count);
    fixture_init(&fixture);
    insert_all(&fixture, &random, keys, order, count);
    leaves = fixture.tree.leaves / 100;
    fixture_fini(&fixture);
    free(order);
    free(keys);
    return leaves;
}

/*
 * 1000 keys fill 71 leaves.  A run up copies none, a run down each once.  No order is worse than
 * halves that fill up: two leaves for seven keys.
 */
TEST(runs_take_few_leaves)
{
    assert_in_range(leaves_for(ASCENDING), 71, 72);
    assert_in_range(leaves_for(DESCENDING), 140, 155);
    assert_in_range(leaves_for(SHUFFLED), 140, 240);
    assert_in_range(leaves_for(MANY_RUNS), 71, 2000 / 7);
    assert_in_range(leaves_for(UP_THEN_DOWN), 71, 2000 / 7);
    assert_in_range(leaves_for(HALF_UP_HALF_DOWN), 71, 2000 / 7);
}

/* A batch in which each key splits a leaf, and the inner nodes above are full, too. */
TEST(the_bound_holds_when_each_insert_splits)
{
    struct test_random random;
    size_t count = 60000, run = count / 15 * 14, *order;
    struct fixture fixture;
    struct test_key *keys;

    test_random_init(&random, test_seed());
    keys = sorted_keys(&random, PLAIN_NUMBERS, &count);
    order = arrival_order(&random, SPLIT_EACH_LEAF, count);
    for (size_t batch = 1; batch <= count - run; batch = batch * 4 + 1) {
        fixture_init(&fixture);
        reserve_keys(&fixture, run);
        insert_batch(&fixture, keys, order, run);
        reserve_keys(&fixture, batch);
        insert_batch(&fixture, keys, order + run, batch);
        fixture_fini(&fixture);
    }
    free(order);
    free(keys);
}

TEST(impossible_sizes_are_refused)
{
    struct fixture fixture;

    fixture_init(&fixture);
    assert_true(cell_tree_insert_bytes(&fixture.tree, 0) == 0);
    assert_true(cell_tree_insert_bytes(&fixture.tree, SIZE_MAX) == SIZE_MAX);
    assert_false(arena_reserve(&fixture.arena, SIZE_MAX));
    assert_false(arena_reserve(&fixture.arena, SIZE_MAX - 8));
    assert_int_equal(arena_bytes(&fixture.arena), 0);
    fixture_fini(&fixture);
}

/* Pieces that fill a reservation to the last byte, with leftovers of earlier ones in front. */
TEST(an_arena_keeps_what_it_reserved)
{
    struct test_random random;
    struct fixture fixture;

    test_random_init(&random, test_seed());
    fixture_init(&fixture);
    for (unsigned round = 0; round < 2000; round++) {
        size_t left = 64 * (1 + test_random_below(&random, 400));
        uint64_t calls;

        assert_true(arena_reserve(&fixture.arena, left));
        calls = test_allocator_calls(&fixture.allocator);
        if (test_random_chance(&random, 20)) /* more is at hand than is taken */
            continue;
        while (left > 0) {
            size_t size = 64 * (1 + test_random_below(&random, left / 64));
            bool lines = test_random_chance(&random, 50);
            uint8_t *piece = lines ? arena_take_lines(&fixture.arena, size)
                                   : arena_take_record(&fixture.arena, size);

            assert_true((uintptr_t)piece % (lines ? 64 : ARENA_RECORD_ALIGNMENT) == 0);
            memset(piece, 0xa5, size);
            left -= size;
        }
        assert_int_equal(test_allocator_calls(&fixture.allocator), calls);
    }
    fixture_fini(&fixture);
}
