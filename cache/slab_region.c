/* slab_region.c -- see slab_region.h. */
#include "cache/slab_region.h"

#include <assert.h>

#define ALL_PLACES ((1u << SLAB_REGION_PLACES) - 1)

struct slab_region {
    struct slab_region *next, *previous;
    uint8_t *memory;
    unsigned free; /* a bit for each place */
    bool split;    /* it lost a place, and does without huge pages */
};

void
slab_regions_init(struct slab_regions *regions, const petal_allocator *allocator, uint64_t capacity)
{
    *regions = (struct slab_regions){.allocator = allocator,
                                     .huge = capacity >= SLAB_LEAST_FOR_HUGE &&
                                             mem_is_discardable(allocator)};
}

void
slab_regions_fini(struct slab_regions *regions)
{
    assert(regions->regions == NULL);
    (void)regions;
}

/* ---- regions ---- */

static void
enlist(struct slab_regions *regions, struct slab_region *region)
{
    region->previous = NULL;
    region->next = regions->regions;
    if (region->next != NULL)
        region->next->previous = region;
    regions->regions = region;
}

static void
unlist(struct slab_regions *regions, struct slab_region *region)
{
    assert(region->previous != NULL || regions->regions == region);
    if (region->previous != NULL)
        region->previous->next = region->next;
    else
        regions->regions = region->next;
    if (region->next != NULL)
        region->next->previous = region->previous;
}

static struct slab_region *
add_region(struct slab_regions *regions)
{
    struct slab_region *region = mem_alloc(regions->allocator, sizeof *region);

    if (region == NULL)
        return NULL;
    region->memory = mem_alloc_aligned(regions->allocator, SLAB_REGION_BYTES, SLAB_REGION_BYTES);
    if (region->memory == NULL) {
        mem_free(regions->allocator, region, sizeof *region);
        return NULL;
    }
    region->free = ALL_PLACES;
    region->split = false;
    enlist(regions, region);
    return region;
}

/* A place of a region that has a free one. */
static uint8_t *
take_place(struct slab_regions *regions, struct slab_region *region)
{
    unsigned index;

    assert(region->free != 0);
    index = (unsigned)__builtin_ctz(region->free);
    region->free &= ~(1u << index);
    if (region->free == 0) {
        unlist(regions, region);
        if (region->split)
            mem_advise_huge_pages(regions->allocator, region->memory, SLAB_REGION_BYTES, true);
        region->split = false;
    }
    return region->memory + (size_t)index * SLAB_BYTES;
}

/* True: the region is empty and left the list. */
static bool
give_place(struct slab_regions *regions, struct slab_region *region, uint8_t *place)
{
    size_t index = (size_t)(place - region->memory) / SLAB_BYTES;

    assert(index < SLAB_REGION_PLACES && (region->free & 1u << index) == 0);
    if (region->free == 0)
        enlist(regions, region);
    region->free |= 1u << index;
    if (region->free == ALL_PLACES) {
        unlist(regions, region);
        return true;
    }
    /* First the advice: else the system may fill up what was discarded, to make a huge page of
     * it. */
    if (!region->split)
        mem_advise_huge_pages(regions->allocator, region->memory, SLAB_REGION_BYTES, false);
    region->split = true;
    (void)mem_discard_pages(regions->allocator, place, SLAB_BYTES);
    return false;
}

/* ---- places ---- */

void *
slab_regions_take(struct slab_regions *regions, struct slab_region **region)
{
    *region = NULL;
    if (!regions->huge)
        return mem_alloc_aligned(regions->allocator, SLAB_BYTES, SLAB_BYTES);
    *region = regions->regions != NULL ? regions->regions : add_region(regions);
    return *region != NULL ? take_place(regions, *region) : NULL;
}

void
slab_regions_give(struct slab_regions *regions, void *place, struct slab_region *region)
{
    if (region == NULL) {
        mem_free(regions->allocator, place, SLAB_BYTES);
        return;
    }
    if (!give_place(regions, region, place))
        return;
    mem_free(regions->allocator, region->memory, SLAB_REGION_BYTES);
    mem_free(regions->allocator, region, sizeof *region);
}
