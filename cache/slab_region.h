/*
 * slab_region.h -- places for slabs, in huge pages where the cache is large: one entry of the
 * processor's translation cache then covers 2 MiB of blocks, and a block that is not in its caches
 * costs one walk through memory less.
 *
 * A region is SLAB_REGION_BYTES on a border of as many and has eight places.  A huge page is in
 * memory as a whole once a byte of it is used, and while one place is in use.  So that memory stays
 * what slabs count:
 * - a new region is made when no other has a free place, so that at most one has places that were
 *   never used;
 * - a place that is given back goes back to the system, and its region does without huge pages
 *   until all eight are in use again; an empty region goes.
 * What slabs do not count is those places, and the untouched end of slabs that fill for the first
 * time.
 *
 * With small capacities, and under a caller's allocator, each slab is an allocation of its own.
 *
 * Threads: none of its own, as slabs (slab.h).
 */
#ifndef PETAL_CACHE_SLAB_REGION_H
#define PETAL_CACHE_SLAB_REGION_H

#include "base/mem.h"

#define SLAB_BYTES          (256u << 10)
#define SLAB_REGION_BYTES   (2u << 20)
#define SLAB_REGION_PLACES  (SLAB_REGION_BYTES / SLAB_BYTES)
#define SLAB_LEAST_FOR_HUGE (UINT64_C(128) << 20) /* capacity */

struct slab_region;

struct slab_regions {
    const petal_allocator *allocator;
    bool huge;
    struct slab_region *regions; /* those with a free place, linked */
};

/* For a cache of `capacity` bytes. */
void slab_regions_init(struct slab_regions *regions, const petal_allocator *allocator,
                       uint64_t capacity);

/* REQUIRES: all places given back, so that no region is left. */
void slab_regions_fini(struct slab_regions *regions);

/* A place of SLAB_BYTES on a border of as many, NULL when there is no memory.  *region: for
 * slab_regions_give. */
void *slab_regions_take(struct slab_regions *regions, struct slab_region **region);
void slab_regions_give(struct slab_regions *regions, void *place, struct slab_region *region);

#endif
