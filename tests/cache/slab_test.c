/* slab_test.c -- slabs: classes, where objects lie, who owns them, which slabs go. */
#include "cache/slab.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"

#define MOST_OBJECTS 4000

struct fixture {
    struct test_allocator allocator;
    struct slab_set set;
};

static void
fixture_init(struct fixture *fixture)
{
    test_allocator_init(&fixture->allocator);
    slab_set_init(&fixture->set, &fixture->allocator.table, 0);
}

static void
fixture_fini(struct fixture *fixture)
{
    slab_set_fini(&fixture->set);
    assert_int_equal(test_allocator_live_bytes(&fixture->allocator), 0);
}

/* Any address will do. */
static struct cache_block *
owner_of(size_t number)
{
    return (struct cache_block *)(uintptr_t)(64 + 64 * number);
}

static void *
take(struct fixture *fixture, uint32_t bytes, size_t number)
{
    void *object = slab_take(&fixture->set, bytes, owner_of(number));

    assert_non_null(object);
    assert_int_equal((uintptr_t)object % CACHE_LINE_BYTES, 0);
    return object;
}

static void
give(struct fixture *fixture, void *object)
{
    slab_give(&fixture->set, object);
}

static uint64_t
live_slabs(struct fixture *fixture)
{
    return test_allocator_live_blocks(&fixture->allocator);
}

TEST(classes_are_close_to_what_is_asked_for)
{
    unsigned classes = 1;
    uint32_t before = SLAB_LEAST_OBJECT;

    for (uint32_t bytes = SLAB_LEAST_OBJECT; bytes <= SLAB_MOST_OBJECT; bytes++) {
        uint32_t object = slab_object_bytes(bytes);

        assert_in_range(object, bytes, bytes + bytes / 8);
        assert_int_equal(object % CACHE_LINE_BYTES, 0);
        assert_int_equal(slab_object_bytes(object), object);
        classes += object != before;
        before = object;
    }
    assert_int_equal(classes, SLAB_CLASSES);
    assert_int_equal(before, SLAB_MOST_OBJECT);
}

/* Of every class two slabs, all bytes of all objects written: none lies in another, in a header or
 * after the end. */
TEST(objects_lie_apart)
{
    struct fixture fixture;
    static uint8_t *objects[2 * SLAB_OBJECTS];

    for (uint32_t bytes = SLAB_LEAST_OBJECT; bytes <= SLAB_MOST_OBJECT;
         bytes = slab_object_bytes(bytes) + 1) {
        uint32_t size = slab_object_bytes(bytes);
        size_t count = 0;

        fixture_init(&fixture);
        while (count < 2 * (SLAB_BYTES / size - 1) && count < 2 * SLAB_OBJECTS) {
            objects[count] = take(&fixture, size, count);
            memset(objects[count], (int)(count % 251), size);
            assert_in_range((uintptr_t)objects[count] % SLAB_BYTES + size, size + 64, SLAB_BYTES);
            count++;
        }
        for (size_t i = 0; i < count; i++) {
            for (uint32_t at = 0; at < size; at++)
                assert_int_equal(objects[i][at], i % 251);
            give(&fixture, objects[i]);
        }
        fixture_fini(&fixture);
    }
}

TEST(empty_slabs_go_but_for_a_spare)
{
    struct fixture fixture;
    static void *objects[MOST_OBJECTS];
    size_t count = 0;

    fixture_init(&fixture);
    for (uint32_t bytes = 2048; bytes <= 4096; bytes += 256)
        for (size_t i = 0; i < 300; i++, count++)
            objects[count] = take(&fixture, bytes, count);
    assert_in_range(live_slabs(&fixture), 9 * 3, 9 * 6);
    for (size_t i = 0; i < count; i++)
        give(&fixture, objects[i]);
    assert_int_equal(live_slabs(&fixture), 1);
    assert_int_equal(fixture.set.slab_count, 1);
    assert_int_equal(fixture.set.used_bytes, 0);
    assert_in_range(fixture.set.touched_bytes, 1, SLAB_BYTES);
    slab_drop_spare(&fixture.set);
    assert_int_equal(live_slabs(&fixture), 0);
    assert_int_equal(fixture.set.touched_bytes, 0);
    assert_null(fixture.set.spare);
    fixture_fini(&fixture);
}

/* One object more and one less than fill a slab, again and again. */
TEST(a_slab_on_the_border_is_not_made_again)
{
    enum { FULL = 31 };
    struct fixture fixture;
    void *objects[FULL + 1];
    uint64_t calls, touched;

    fixture_init(&fixture);
    for (size_t i = 0; i <= FULL; i++)
        objects[i] = take(&fixture, 8192, i);
    assert_int_equal(live_slabs(&fixture), 2);
    calls = test_allocator_calls(&fixture.allocator);
    touched = fixture.set.touched_bytes;
    for (unsigned step = 0; step < 1000; step++) {
        give(&fixture, objects[FULL]);
        objects[FULL] = take(&fixture, 8192, FULL);
    }
    assert_int_equal(test_allocator_calls(&fixture.allocator), calls);
    give(&fixture, objects[FULL]);
    assert_int_equal(fixture.set.touched_bytes, touched);
    assert_int_equal(fixture.set.used_bytes, FULL * 8192);
    for (size_t i = 0; i < FULL; i++)
        give(&fixture, objects[i]);
    assert_int_equal(live_slabs(&fixture), 1);
    fixture_fini(&fixture);
}

/* The spare is for its class, after slabs in use and before closed ones. */
TEST(a_spare_is_taken_when_no_other_has_room)
{
    enum { FULL = 31 };
    struct fixture fixture;
    struct cache_block *owners[SLAB_OBJECTS];
    void *objects[2 * FULL], *other;

    fixture_init(&fixture);
    for (size_t i = 0; i < 2 * FULL; i++)
        objects[i] = take(&fixture, 8192, i);
    for (size_t i = FULL; i < 2 * FULL; i++)
        give(&fixture, objects[i]);
    give(&fixture, objects[0]);
    objects[0] = take(&fixture, 8192, 0);
    assert_int_equal((uintptr_t)objects[0] / SLAB_BYTES, (uintptr_t)objects[1] / SLAB_BYTES);
    other = take(&fixture, 2000, 100);
    assert_int_equal(live_slabs(&fixture), 3);
    give(&fixture, objects[0]);
    assert_int_equal(slab_close_emptiest(&fixture.set, owners), FULL - 1);
    objects[0] = take(&fixture, 8192, 0);
    assert_int_equal((uintptr_t)objects[0] / SLAB_BYTES, (uintptr_t)objects[FULL] / SLAB_BYTES);
    assert_true(slab_is_closing(objects[1]) && !slab_is_closing(objects[0]));
    assert_int_equal(live_slabs(&fixture), 3);
    /* A closed one that becomes empty is none, and the next empty one puts it out. */
    for (size_t i = 1; i < FULL; i++)
        give(&fixture, objects[i]);
    assert_int_equal(live_slabs(&fixture), 2);
    give(&fixture, objects[0]);
    assert_int_equal(live_slabs(&fixture), 2);
    give(&fixture, other);
    assert_int_equal(live_slabs(&fixture), 1);
    assert_in_range(fixture.set.touched_bytes, 2048, 8192);
    fixture_fini(&fixture);
}

/* What the set says it holds is what was touched, and no more. */
TEST(what_is_touched_is_counted)
{
    struct fixture fixture;
    void *objects[20];

    fixture_init(&fixture);
    for (size_t i = 0; i < 20; i++)
        objects[i] = take(&fixture, 5000, i);
    assert_int_equal(fixture.set.used_bytes, 20 * 5120);
    assert_in_range(fixture.set.touched_bytes, 20 * 5120, 20 * 5120 + 8 * 1024);
    for (size_t i = 0; i < 10; i++)
        give(&fixture, objects[i]);
    assert_int_equal(fixture.set.used_bytes, 10 * 5120);
    assert_in_range(fixture.set.touched_bytes, 20 * 5120, 20 * 5120 + 8 * 1024);
    for (size_t i = 0; i < 10; i++)
        objects[i] = take(&fixture, 4700, i);
    assert_in_range(fixture.set.touched_bytes, 20 * 5120, 20 * 5120 + 8 * 1024);
    for (size_t i = 0; i < 20; i++)
        give(&fixture, objects[i]);
    fixture_fini(&fixture);
}

TEST(the_emptiest_is_closed_and_its_owners_named)
{
    struct fixture fixture;
    struct cache_block *owners[SLAB_OBJECTS];
    void *objects[300], *another;

    fixture_init(&fixture);
    for (size_t i = 0; i < 31 * 3; i++)
        objects[i] = take(&fixture, 8192, i);
    /* All that was touched is in use. */
    assert_int_equal(slab_close_emptiest(&fixture.set, owners), 0);
    for (size_t i = 0; i < 31 * 3; i++)
        if (i / 31 == 1 ? i % 31 >= 2 : i % 31 == 7)
            give(&fixture, objects[i]);
    assert_int_equal(slab_close_emptiest(&fixture.set, owners), 2);
    assert_true(owners[0] == owner_of(31) && owners[1] == owner_of(32));
    assert_true(slab_is_closing(objects[31]) && !slab_is_closing(objects[0]));
    assert_int_equal(fixture.set.used_bytes, 60 * 8192);
    /* The others are used first. */
    objects[7] = take(&fixture, 8192, 7);
    objects[69] = take(&fixture, 8192, 69);
    assert_true(slab_is_closing(objects[31]));
    assert_false(slab_is_closing(objects[7]) || slab_is_closing(objects[69]));
    /* Then the closed one opens again rather than that there is a new one. */
    another = take(&fixture, 8192, 100);
    assert_int_equal(live_slabs(&fixture), 3);
    assert_false(slab_is_closing(objects[31]));
    give(&fixture, another);
    /* A closed slab goes with its last object. */
    assert_int_equal(slab_close_emptiest(&fixture.set, owners), 2);
    give(&fixture, objects[31]);
    assert_int_equal(live_slabs(&fixture), 3);
    give(&fixture, objects[32]);
    assert_int_equal(live_slabs(&fixture), 2);
    assert_int_equal(fixture.set.closed_bytes, 0);
    assert_null(fixture.set.spare);
    for (size_t i = 0; i < 31 * 3; i++)
        if (i / 31 != 1)
            give(&fixture, objects[i]);
    fixture_fini(&fixture);
}

TEST(no_memory)
{
    struct fixture fixture;

    fixture_init(&fixture);
    test_allocator_fail_at(&fixture.allocator, 1, true);
    assert_null(slab_take(&fixture.set, 2000, owner_of(1)));
    fixture_fini(&fixture);
}

/* Against a plain list of what is in use. */
TEST(anything_in_any_order)
{
    static struct {
        uint8_t *object;
        uint32_t bytes;
    } all[MOST_OBJECTS];
    struct cache_block *owners[SLAB_OBJECTS];
    struct test_random random;
    struct fixture fixture;
    size_t in_use = 0;

    fixture_init(&fixture);
    test_random_init(&random, test_seed());
    for (unsigned step = 0; step < 100000; step++) {
        bool grow = step / 10000 % 2 == 0;

        if (test_random_chance(&random, 200)) {
            if (test_random_chance(&random, 2))
                slab_drop_spare(&fixture.set);
            slab_close_emptiest(&fixture.set, owners);
        } else if (in_use < MOST_OBJECTS && test_random_below(&random, 10) < (grow ? 7u : 4u)) {
            uint32_t bytes = 1024 + (uint32_t)test_random_below(&random, 31 * 1024);

            all[in_use].object = take(&fixture, bytes, in_use);
            all[in_use].bytes = bytes;
            all[in_use].object[0] = all[in_use].object[bytes - 1] = (uint8_t)bytes;
            in_use++;
        } else if (in_use > 0) {
            size_t i = (size_t)test_random_below(&random, in_use);

            assert_int_equal(all[i].object[0], (uint8_t)all[i].bytes);
            assert_int_equal(all[i].object[all[i].bytes - 1], (uint8_t)all[i].bytes);
            give(&fixture, all[i].object);
            all[i] = all[--in_use];
        }
        assert_int_equal(fixture.set.slab_count, live_slabs(&fixture));
    }
    while (in_use > 0)
        give(&fixture, all[--in_use].object);
    slab_drop_spare(&fixture.set);
    assert_int_equal(live_slabs(&fixture), 0);
    fixture_fini(&fixture);
}
