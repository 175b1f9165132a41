/* slab_test.c -- slabs: classes, where objects lie, who owns them, which slabs go. */
#include "cache/slab.h"

#include "tests/support/test_support.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MOST_OBJECTS 4000

struct bed {
    struct test_allocator allocator;
    struct slab_set set;
    struct slab_regions regions;
};

static void
bed_init(struct bed *bed)
{
    test_allocator_init(&bed->allocator);
    slab_set_init(&bed->set);
    assert_int_equal(slab_regions_init(&bed->regions, &bed->allocator.table, 0), PETAL_OK);
}

static void
bed_fini(struct bed *bed)
{
    slab_set_fini(&bed->set, &bed->regions);
    slab_regions_fini(&bed->regions);
    assert_int_equal(test_allocator_live_bytes(&bed->allocator), 0);
}

/* Any address will do. */
static struct cache_block *
owner_of(size_t number)
{
    return (struct cache_block *)(uintptr_t)(64 + 64 * number);
}

static void *
take(struct bed *bed, uint32_t bytes, size_t number)
{
    void *object = slab_take(&bed->set, bytes, owner_of(number));

    if (object == NULL) {
        struct slab *slab = slab_new(&bed->regions, bytes);

        assert_non_null(slab);
        assert_int_equal((uintptr_t)slab % SLAB_BYTES, 0);
        slab_set_add(&bed->set, slab);
        object = slab_take(&bed->set, bytes, owner_of(number));
    }
    assert_non_null(object);
    assert_int_equal((uintptr_t)object % CACHE_LINE_BYTES, 0);
    return object;
}

static void
give(struct bed *bed, void *object)
{
    slab_free(&bed->regions, slab_give(&bed->set, object));
}

static uint64_t
live_slabs(struct bed *bed)
{
    return test_allocator_live_blocks(&bed->allocator);
}

static void
classes_are_close_to_what_is_asked_for(void **state)
{
    unsigned classes = 1;
    uint32_t before = SLAB_LEAST_OBJECT;

    (void)state;
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

/* Of every class two slabs, all bytes of all objects written: none lies in another, in a header or behind the end. */
static void
objects_lie_apart(void **state)
{
    struct bed bed;
    static uint8_t *objects[2 * SLAB_OBJECTS];

    (void)state;
    for (uint32_t bytes = SLAB_LEAST_OBJECT; bytes <= SLAB_MOST_OBJECT;
         bytes = slab_object_bytes(bytes) + 1) {
        uint32_t size = slab_object_bytes(bytes);
        size_t count = 0;

        bed_init(&bed);
        while (count < 2 * (SLAB_BYTES / size - 1) && count < 2 * SLAB_OBJECTS) {
            objects[count] = take(&bed, size, count);
            memset(objects[count], (int)(count % 251), size);
            assert_in_range((uintptr_t)objects[count] % SLAB_BYTES + size, size + 64, SLAB_BYTES);
            count++;
        }
        for (size_t i = 0; i < count; i++) {
            for (uint32_t at = 0; at < size; at++)
                assert_int_equal(objects[i][at], i % 251);
            give(&bed, objects[i]);
        }
        bed_fini(&bed);
    }
}

static void
empty_slabs_go(void **state)
{
    struct bed bed;
    static void *objects[MOST_OBJECTS];
    size_t count = 0;

    (void)state;
    bed_init(&bed);
    for (uint32_t bytes = 2048; bytes <= 4096; bytes += 256)
        for (size_t i = 0; i < 300; i++, count++)
            objects[count] = take(&bed, bytes, count);
    assert_in_range(live_slabs(&bed), 9 * 3, 9 * 6);
    for (size_t i = 0; i < count; i++)
        give(&bed, objects[i]);
    assert_int_equal(live_slabs(&bed), 0);
    assert_int_equal(bed.set.used_bytes, 0);
    assert_int_equal(bed.set.touched_bytes, 0);
    bed_fini(&bed);
}

/* What the set says it holds is what was touched, and no more. */
static void
what_is_touched_is_counted(void **state)
{
    struct bed bed;
    void *objects[20];

    (void)state;
    bed_init(&bed);
    for (size_t i = 0; i < 20; i++)
        objects[i] = take(&bed, 5000, i);
    assert_int_equal(bed.set.used_bytes, 20 * 5120);
    assert_in_range(bed.set.touched_bytes, 20 * 5120, 20 * 5120 + 8 * 1024);
    for (size_t i = 0; i < 10; i++)
        give(&bed, objects[i]);
    assert_int_equal(bed.set.used_bytes, 10 * 5120);
    assert_in_range(bed.set.touched_bytes, 20 * 5120, 20 * 5120 + 8 * 1024);
    for (size_t i = 0; i < 10; i++)
        objects[i] = take(&bed, 4700, i);
    assert_in_range(bed.set.touched_bytes, 20 * 5120, 20 * 5120 + 8 * 1024);
    for (size_t i = 0; i < 20; i++)
        give(&bed, objects[i]);
    bed_fini(&bed);
}

static void
the_emptiest_is_closed_and_its_owners_named(void **state)
{
    struct bed bed;
    struct cache_block *owners[SLAB_OBJECTS];
    void *objects[300], *another;

    (void)state;
    bed_init(&bed);
    for (size_t i = 0; i < 31 * 3; i++)
        objects[i] = take(&bed, 8192, i);
    /* All that was touched is in use. */
    assert_int_equal(slab_close_emptiest(&bed.set, owners), 0);
    for (size_t i = 0; i < 31 * 3; i++)
        if (i / 31 == 1 ? i % 31 >= 2 : i % 31 == 7)
            give(&bed, objects[i]);
    assert_int_equal(slab_close_emptiest(&bed.set, owners), 2);
    assert_true(owners[0] == owner_of(31) && owners[1] == owner_of(32));
    assert_true(slab_is_closing(objects[31]) && !slab_is_closing(objects[0]));
    assert_int_equal(bed.set.used_bytes, 60 * 8192);
    /* The others are used first. */
    objects[7] = take(&bed, 8192, 7);
    objects[69] = take(&bed, 8192, 69);
    assert_true(slab_is_closing(objects[31]));
    assert_false(slab_is_closing(objects[7]) || slab_is_closing(objects[69]));
    /* Then the closed one opens again rather than that there is a new one. */
    another = take(&bed, 8192, 100);
    assert_int_equal(live_slabs(&bed), 3);
    assert_false(slab_is_closing(objects[31]));
    give(&bed, another);
    /* A closed slab goes with its last object. */
    assert_int_equal(slab_close_emptiest(&bed.set, owners), 2);
    give(&bed, objects[31]);
    assert_int_equal(live_slabs(&bed), 3);
    give(&bed, objects[32]);
    assert_int_equal(live_slabs(&bed), 2);
    assert_int_equal(bed.set.closed_bytes, 0);
    for (size_t i = 0; i < 31 * 3; i++)
        if (i / 31 != 1)
            give(&bed, objects[i]);
    bed_fini(&bed);
}

/* Two threads may add a slab each where one would do. */
static void
a_slab_that_was_not_needed_is_used_next_or_goes_with_the_set(void **state)
{
    struct bed bed;
    void *first, *next;

    (void)state;
    bed_init(&bed);
    first = take(&bed, 30000, 1);
    slab_set_add(&bed.set, slab_new(&bed.regions, 30000));
    assert_int_equal(live_slabs(&bed), 2);
    give(&bed, first);
    assert_int_equal(live_slabs(&bed), 1);
    next = take(&bed, 30000, 2);
    assert_int_equal(live_slabs(&bed), 1);
    slab_set_add(&bed.set, slab_new(&bed.regions, 5000));
    give(&bed, next);
    assert_int_equal(live_slabs(&bed), 1);
    bed_fini(&bed);
}

static void
no_memory(void **state)
{
    struct bed bed;

    (void)state;
    bed_init(&bed);
    test_allocator_fail_at(&bed.allocator, 1, true);
    assert_null(slab_new(&bed.regions, 2000));
    assert_null(slab_take(&bed.set, 2000, owner_of(1)));
    bed_fini(&bed);
}

/* Against a plain list of what is in use. */
static void
anything_in_any_order(void **state)
{
    static struct {
        uint8_t *object;
        uint32_t bytes;
    } all[MOST_OBJECTS];
    struct cache_block *owners[SLAB_OBJECTS];
    struct test_random random;
    struct bed bed;
    size_t in_use = 0;

    (void)state;
    bed_init(&bed);
    test_random_init(&random, test_seed());
    for (unsigned step = 0; step < 100000; step++) {
        bool grow = step / 10000 % 2 == 0;

        if (test_random_chance(&random, 200)) {
            slab_close_emptiest(&bed.set, owners);
        } else if (in_use < MOST_OBJECTS && test_random_below(&random, 10) < (grow ? 7u : 4u)) {
            uint32_t bytes = 1024 + (uint32_t)test_random_below(&random, 31 * 1024);

            all[in_use].object = take(&bed, bytes, in_use);
            all[in_use].bytes = bytes;
            all[in_use].object[0] = all[in_use].object[bytes - 1] = (uint8_t)bytes;
            in_use++;
        } else if (in_use > 0) {
            size_t i = (size_t)test_random_below(&random, in_use);

            assert_int_equal(all[i].object[0], (uint8_t)all[i].bytes);
            assert_int_equal(all[i].object[all[i].bytes - 1], (uint8_t)all[i].bytes);
            give(&bed, all[i].object);
            all[i] = all[--in_use];
        }
        assert_int_equal(bed.set.slab_count, live_slabs(&bed));
    }
    while (in_use > 0)
        give(&bed, all[--in_use].object);
    assert_int_equal(live_slabs(&bed), 0);
    bed_fini(&bed);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_close_to_what_is_asked_for),
        cmocka_unit_test(objects_lie_apart),
        cmocka_unit_test(empty_slabs_go),
        cmocka_unit_test(what_is_touched_is_counted),
        cmocka_unit_test(the_emptiest_is_closed_and_its_owners_named),
        cmocka_unit_test(a_slab_that_was_not_needed_is_used_next_or_goes_with_the_set),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(anything_in_any_order),
    };

    return cmocka_run_group_tests_name("slab", tests, NULL, NULL);
}
