/* slab_region_test.c -- places for slabs: which region they come from, what goes back to the
 * system, and when. */
#include "cache/slab_region.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"

#define MOST_PLACES (3 * SLAB_REGION_PLACES)

struct place {
    uint8_t *memory;
    struct slab_region *region;
};

static void
take(struct slab_regions *regions, struct place *place)
{
    place->memory = slab_regions_take(regions, &place->region);
    assert_non_null(place->memory);
    assert_int_equal((uintptr_t)place->memory % SLAB_BYTES, 0);
    memset(place->memory, 1, SLAB_BYTES);
}

static void
give(struct slab_regions *regions, struct place *place)
{
    slab_regions_give(regions, place->memory, place->region);
}

static void
open_huge(struct slab_regions *regions)
{
    slab_regions_init(regions, &mem_default_allocator, SLAB_LEAST_FOR_HUGE);
    assert_true(regions->huge);
}

TEST(places_fill_one_region_before_the_next)
{
    struct place places[MOST_PLACES];
    struct slab_regions regions;

    open_huge(&regions);
    for (size_t i = 0; i < MOST_PLACES; i++) {
        take(&regions, &places[i]);
        assert_ptr_equal(places[i].region, places[i - i % SLAB_REGION_PLACES].region);
        for (size_t before = 0; before < i; before++)
            assert_ptr_not_equal(places[i].memory, places[before].memory);
    }
    for (size_t i = 0; i < MOST_PLACES; i++)
        give(&regions, &places[i]);
    slab_regions_fini(&regions);
}

TEST(a_free_place_is_taken_before_a_new_region_is_made)
{
    struct place places[2 * SLAB_REGION_PLACES], again;
    struct slab_regions regions;

    open_huge(&regions);
    for (size_t i = 0; i < 2 * SLAB_REGION_PLACES; i++)
        take(&regions, &places[i]);
    give(&regions, &places[3]);
    take(&regions, &again);
    assert_ptr_equal(again.memory, places[3].memory);
    places[3] = again;
    for (size_t i = 0; i < SLAB_REGION_PLACES; i++)
        give(&regions, &places[i]);
    assert_null(regions.regions); /* the emptied one went, the other is full */
    for (size_t i = SLAB_REGION_PLACES; i < 2 * SLAB_REGION_PLACES; i++)
        give(&regions, &places[i]);
    slab_regions_fini(&regions);
}

/* What was discarded reads as zeros; its neighbours keep their bytes. */
TEST(what_is_given_back_goes_to_the_system)
{
    struct place places[SLAB_REGION_PLACES], again;
    struct slab_regions regions;

    open_huge(&regions);
    for (size_t i = 0; i < SLAB_REGION_PLACES; i++)
        take(&regions, &places[i]);
    give(&regions, &places[5]);
    again.memory = slab_regions_take(&regions, &again.region);
    assert_ptr_equal(again.memory, places[5].memory);
    for (size_t i = 0; i < SLAB_BYTES; i++)
        assert_int_equal(again.memory[i], 0);
    assert_int_equal(places[4].memory[SLAB_BYTES - 1], 1);
    assert_int_equal(places[6].memory[0], 1);
    for (size_t i = 0; i < SLAB_REGION_PLACES; i++)
        give(&regions, &places[i]);
    slab_regions_fini(&regions);
}

TEST(small_caches_and_other_allocators_have_no_regions)
{
    struct test_allocator allocator;
    struct slab_regions regions;
    struct place place;

    slab_regions_init(&regions, &mem_default_allocator, SLAB_LEAST_FOR_HUGE - 1);
    take(&regions, &place);
    assert_null(place.region);
    give(&regions, &place);
    slab_regions_fini(&regions);

    test_allocator_init(&allocator);
    slab_regions_init(&regions, &allocator.table, SLAB_LEAST_FOR_HUGE);
    take(&regions, &place);
    assert_int_equal(test_allocator_live_bytes(&allocator), SLAB_BYTES);
    give(&regions, &place);
    assert_int_equal(test_allocator_live_bytes(&allocator), 0);
    slab_regions_fini(&regions);
}
