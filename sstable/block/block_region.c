/* block_region.c -- see sstable/block/block_region.h. */
#include "sstable/block/block_region.h"

#include "base/mem.h"

void
block_region_init(struct block_region *region, const petal_allocator *allocator)
{
    *region = (struct block_region){.allocator = allocator};
}

void
block_region_fini(struct block_region *region)
{
    mem_free(region->allocator, region->bytes, region->capacity);
    mem_free(region->allocator, region->blocks, region->blocks_capacity * sizeof *region->blocks);
    block_region_init(region, region->allocator);
}

bool
block_region_add(struct block_region *region, petal_slice raw, petal_slice key, uint32_t entries,
                 uint32_t begins)
{
    size_t used = region->used;

    assert(raw.size > 0 && key.size > 0);
    if (!mem_grow_array(region->allocator, &region->bytes, &region->capacity, used,
                        used + raw.size + key.size, 1) ||
        !mem_grow_array(region->allocator, &region->blocks, &region->blocks_capacity, region->count,
                        region->count + 1, sizeof *region->blocks))
        return false;
    memcpy(region->bytes + used, raw.data, raw.size);
    memcpy(region->bytes + used + raw.size, key.data, key.size);
    region->blocks[region->count++] = (struct kept_block){.raw = used,
                                                          .key = used + raw.size,
                                                          .raw_bytes = raw.size,
                                                          .key_bytes = key.size,
                                                          .entries = entries,
                                                          .begins = begins};
    region->used = used + raw.size + key.size;
    return true;
}
