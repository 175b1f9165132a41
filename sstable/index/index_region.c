/* index_region.c -- see sstable/index/index_region.h. */
#include "sstable/index/index_region.h"

#include <assert.h>

/* What an index node takes in the cache for each byte as stored: LZ4 makes it about a third, and
 * hints lie beside it. */
#define NODE_GROWTH 4

/* Blocks side by side. */
struct region {
    uint64_t begin, end;
    uint32_t first, count; /* in the node */
    uint32_t wanted;       /* of them */
};

static bool
adjoin(const struct index_block *node, uint32_t left)
{
    struct block_handle handle = index_block_handle(node, left);

    return handle.offset + handle.size == index_block_handle(node, left + 1).offset;
}

/* How many bytes one read may have: the limit, if there is one, is for several. */
static uint64_t
most_bytes(const struct sst_file *file)
{
    const struct readahead_limit *limit = file->readahead_limit;

    return limit != NULL && limit->most / 2 < INDEX_REGION_BYTES ? limit->most / 2
                                                                 : INDEX_REGION_BYTES;
}

/* The neighbours of the block at `position`: those before it up to half of what may be read, then
 * those after. */
static struct region
find_region(const struct index_block *node, uint32_t position, uint64_t most)
{
    struct block_handle handle = index_block_handle(node, position);
    uint64_t begin = handle.offset, end = handle.offset + handle.size;
    uint32_t first = position, last = position;

    assert(position < node->count);
    while (first > 0 && adjoin(node, first - 1) &&
           end - index_block_handle(node, first - 1).offset <= most / 2)
        begin = index_block_handle(node, --first).offset;
    while (last + 1 < node->count && adjoin(node, last)) {
        handle = index_block_handle(node, last + 1);
        if (handle.offset + handle.size - begin > most)
            break;
        end = handle.offset + handle.size;
        last++;
    }
    return (struct region){begin, end, first, last + 1 - first, position - first};
}

/* What the region takes in the cache, about. */
static uint64_t
cached_bytes(enum block_kind kind, const struct region *region)
{
    return (region->end - region->begin) * (kind == BLOCK_BLOOM ? 1 : NODE_GROWTH) +
           region->count * sizeof(struct cache_block);
}

/* A block of a region. */
struct neighbour {
    struct block_handle handle;
    struct cache_block *block; /* NULL: it could not be made */
};

/* Read the region and make its blocks, outside of the epoch. */
static enum petal_status
make_blocks(const struct sst_file *file, enum block_kind kind, const struct region *region,
            struct neighbour *blocks, struct read_trace *trace)
{
    struct readahead window;
    enum petal_status status;

    readahead_init(&window, file->readahead_limit, true);
    status = readahead_fill(&window, &file->source, region->begin, region->end, trace, NULL);
    for (uint32_t i = 0; status == PETAL_OK && i < region->count; i++)
        blocks[i].block = sst_file_make_block(
            file, blocks[i].handle, kind,
            window.window + (size_t)(blocks[i].handle.offset - region->begin), NULL);
    readahead_fini(&window, file->source.env->allocator);
    return status;
}

/* Put the blocks in the cache; the one that is wanted, or NULL. */
static struct cache_block *
insert_blocks(const struct sst_file *file, enum block_kind kind, const struct region *region,
              const struct neighbour *blocks)
{
    struct cache_block *wanted = NULL;

    for (uint32_t i = 0; i < region->count; i++) {
        struct cache_block *block = blocks[i].block;

        if (block == NULL)
            continue;
        block = cache_insert(file->cache, block, file->number, blocks[i].handle.offset,
                             block_cache_kind(kind), file->priority, true);
        if (i == region->wanted && block->kind == block_cache_kind(kind))
            wanted = block;
    }
    return wanted;
}

/* *unreadable: the file could not be read there. */
static struct cache_block *
load_region(const struct sst_file *file, enum block_kind kind, const struct index_block *node,
            const struct region *region, const struct read_context *context, bool *unreadable)
{
    const petal_allocator *allocator = file->source.env->allocator;
    struct neighbour *blocks = mem_alloc(allocator, region->count * sizeof *blocks);
    struct cache_block *wanted = NULL;
    enum petal_status status;

    *unreadable = false;
    if (blocks == NULL)
        return NULL;
    for (uint32_t i = 0; i < region->count; i++)
        blocks[i] = (struct neighbour){.handle = index_block_handle(node, region->first + i)};
    if (context->stay == NULL || epoch_interrupt(context->stay) == PETAL_OK) {
        status = make_blocks(file, kind, region, blocks, context->trace);
        if (context->stay != NULL)
            epoch_resume(context->stay);
        *unreadable = status != PETAL_OK && status != PETAL_NO_MEMORY;
        wanted = insert_blocks(file, kind, region, blocks);
    }
    if (wanted != NULL) {
        context->trace->blocks_fetched[block_cache_kind(kind)]++;
        context->trace->bytes_fetched += blocks[region->wanted].handle.size;
    }
    mem_free(allocator, blocks, region->count * sizeof *blocks);
    return wanted;
}

struct cache_block *
index_region_load(const struct sst_file *file, enum block_kind kind, const struct index_block *node,
                  uint32_t position, const struct read_context *context)
{
    struct cache_block *block;
    struct region region;
    uint64_t room;
    bool unreadable;

    assert(kind != BLOCK_DATA && kind != BLOCK_FACTS);
    if (context->only_cached || file->loading == NULL)
        return NULL;
    region = find_region(node, position, most_bytes(file));
    room = cached_bytes(kind, &region);
    if (region.count == 1 || region.end > file->source.limit ||
        !cache_has_room(file->cache, room) || atomic_exchange(file->loading, true))
        return NULL;
    block = load_region(file, kind, node, &region, context, &unreadable);
    if (!unreadable)
        atomic_store(file->loading, false);
    return block;
}

/* ---- ahead ---- */

void
index_region_read_ahead(const struct sst_file *file, enum block_kind kind,
                        const struct index_block *node, struct readahead_limit *limit)
{
    struct region run;

    assert(kind != BLOCK_DATA && kind != BLOCK_FACTS);
    for (uint32_t first = 0; first < node->count; first += run.count) {
        run = find_region(node, first, UINT64_MAX);
        if (run.count > 1 && run.begin < run.end && run.end <= file->source.limit &&
            readahead_limit_take(limit, (size_t)cached_bytes(kind, &run)))
            block_source_read_ahead(&file->source, run.begin, run.end - run.begin);
    }
}
