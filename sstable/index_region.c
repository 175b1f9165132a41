/* index_region.c -- see sstable/index_region.h. */
#include "sstable/index_region.h"

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
 * those behind. */
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

/* Memory for a region: its bytes, and what becomes of its blocks. */
struct load {
    size_t size; /* of all */
    struct block_handle *handles;
    struct cache_block **blocks;
    uint8_t *bytes;
};

static bool
take_memory(struct load *load, const struct sst_file *file, const struct region *region)
{
    size_t bytes = (size_t)(region->end - region->begin);
    uint8_t *memory;

    load->size = region->count * (sizeof *load->handles + sizeof *load->blocks) + bytes;
    if (!readahead_limit_take(file->readahead_limit, load->size))
        return false;
    memory = mem_alloc(file->source.env->allocator, load->size);
    if (memory == NULL) {
        readahead_limit_give(file->readahead_limit, load->size);
        return false;
    }
    load->handles = (struct block_handle *)(void *)memory;
    load->blocks = (struct cache_block **)(void *)(load->handles + region->count);
    load->bytes = (uint8_t *)(load->blocks + region->count);
    return true;
}

static void
give_memory(struct load *load, const struct sst_file *file)
{
    mem_free(file->source.env->allocator, load->handles, load->size);
    readahead_limit_give(file->readahead_limit, load->size);
}

/* Read the region and make its blocks, outside of the epoch; those that could not be made are
 * NULL. */
static bool
make_blocks(struct load *load, const struct sst_file *file, enum block_kind kind,
            const struct region *region, struct read_trace *trace)
{
    size_t bytes = (size_t)(region->end - region->begin);

    trace->file_reads++;
    if (block_source_read(&file->source, region->begin, load->bytes, bytes, NULL) != PETAL_OK)
        return false;
    trace->file_bytes_read += bytes;
    for (uint32_t i = 0; i < region->count; i++)
        load->blocks[i] = sst_file_make_block(
            file, load->handles[i], kind,
            load->bytes + (size_t)(load->handles[i].offset - region->begin), NULL);
    return true;
}

/* Put the blocks in the cache; the one that is wanted, or NULL. */
static struct cache_block *
insert_blocks(const struct load *load, const struct sst_file *file, enum block_kind kind,
              const struct region *region)
{
    struct cache_block *wanted = NULL;

    for (uint32_t i = 0; i < region->count; i++) {
        struct cache_block *block = load->blocks[i];

        if (block == NULL)
            continue;
        block = cache_insert(file->cache, block, file->number, load->handles[i].offset,
                             block_cache_kind(kind), file->priority, true);
        if (i == region->wanted && block->kind == block_cache_kind(kind))
            wanted = block;
    }
    return wanted;
}

/* *made false: the region could not be read. */
static struct cache_block *
load_region(const struct sst_file *file, enum block_kind kind, const struct index_block *node,
            const struct region *region, const struct read_context *context, bool *made)
{
    struct cache_block *wanted = NULL;
    struct load load;

    *made = true;
    if (!take_memory(&load, file, region))
        return NULL;
    for (uint32_t i = 0; i < region->count; i++)
        load.handles[i] = index_block_handle(node, region->first + i);
    if (context->stay == NULL || epoch_interrupt(context->stay) == PETAL_OK) {
        *made = make_blocks(&load, file, kind, region, context->trace);
        if (context->stay != NULL)
            epoch_resume(context->stay);
        if (*made)
            wanted = insert_blocks(&load, file, kind, region);
    }
    if (wanted != NULL) {
        context->trace->blocks_fetched[block_cache_kind(kind)]++;
        context->trace->bytes_fetched += load.handles[region->wanted].size;
    }
    give_memory(&load, file);
    return wanted;
}

struct cache_block *
index_region_load(const struct sst_file *file, enum block_kind kind, const struct index_block *node,
                  uint32_t position, const struct read_context *context)
{
    struct cache_block *block;
    struct region region;
    uint64_t room;
    bool made;

    assert(kind != BLOCK_DATA && kind != BLOCK_FACTS);
    if (context->only_cached || file->loading == NULL)
        return NULL;
    region = find_region(node, position, most_bytes(file));
    room = cached_bytes(kind, &region);
    if (region.count == 1 || region.end > file->source.limit ||
        !cache_has_room(file->cache, room) || atomic_exchange(file->loading, true))
        return NULL;
    block = load_region(file, kind, node, &region, context, &made);
    if (made)
        atomic_store(file->loading, false);
    return block;
}

/* ---- ahead ---- */

/* The blocks side by side from the one at `first` on. */
static struct region
find_run(const struct index_block *node, uint32_t first)
{
    struct block_handle handle = index_block_handle(node, first);
    struct region run = {.begin = handle.offset, .first = first, .count = 1};

    while (first + run.count < node->count && adjoin(node, first + run.count - 1))
        run.count++;
    handle = index_block_handle(node, first + run.count - 1);
    run.end = handle.offset + handle.size;
    return run;
}

void
index_region_read_ahead(const struct sst_file *file, enum block_kind kind,
                        const struct index_block *node, struct readahead_limit *limit)
{
    struct region run;

    assert(kind != BLOCK_DATA && kind != BLOCK_FACTS);
    for (uint32_t first = 0; first < node->count; first += run.count) {
        run = find_run(node, first);
        if (run.count > 1 && run.begin < run.end && run.end <= file->source.limit &&
            readahead_limit_take(limit, (size_t)cached_bytes(kind, &run)))
            block_source_read_ahead(&file->source, run.begin, run.end - run.begin);
    }
}
