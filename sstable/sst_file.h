/*
 * sst_file.h -- an open store file as a source of checked blocks: from the cache, else from the file.
 *
 * A block is verified (checksum, then its whole structure) when it enters memory and is read without checks from
 * then on.  Its place in the file decides nothing about its kind: a block found in the cache has the kind that was
 * checked when it was read, and is refused if another one is asked for.
 *
 * Immutable; any number of threads use it at once.
 */
#ifndef PETAL_SSTABLE_SST_FILE_H
#define PETAL_SSTABLE_SST_FILE_H

#include "cache/cache.h"
#include "sstable/block_io.h"
#include "sstable/read_trace.h"

struct sst_file {
    struct block_source source;
    uint64_t number; /* cache key */
    struct cache *cache;
    enum cache_priority priority;
    bool keep_data; /* data blocks may stay in the cache */
};

/* Read the block from the file and put it in the cache. */
enum petal_status sst_file_fetch_slow(const struct sst_file *file, struct block_handle handle,
                                      enum block_kind kind, const struct read_context *context,
                                      struct cache_block **block, petal_error *error);

static inline enum petal_block_kind
block_cache_kind(enum block_kind kind)
{
    if (kind == BLOCK_DATA)
        return PETAL_BLOCK_DATA;
    return kind == BLOCK_FILTER ? PETAL_BLOCK_FILTER : PETAL_BLOCK_INDEX;
}

/*
 * The block at `handle`, by way of `hint` (may be NULL; cache/cache.h); counted in the context's trace.
 * `kind` is not BLOCK_FACTS.  EPOCH (sst_reader.h).
 */
static inline enum petal_status
sst_file_fetch(const struct sst_file *file, struct block_handle handle, enum block_kind kind,
               _Atomic(struct cache_block *) *hint, const struct read_context *context,
               struct cache_block **block, petal_error *error)
{
    struct cache_block *found = cache_find_hinted(file->cache, hint, file->number, handle.offset);

    if (found == NULL || found->kind != block_cache_kind(kind))
        return sst_file_fetch_slow(file, handle, kind, context, block, error);
    /* A search reads the head of the block and what lies behind it: overlap the cache misses. */
    for (unsigned line = 0; line < 4; line++)
        __builtin_prefetch(found->data + line * CACHE_LINE_BYTES);
    context->trace->blocks_cached[found->kind]++;
    *block = found;
    return PETAL_OK;
}

/* Start loading the lines that a search of a data block or index node reads first, which it would otherwise wait for
 * one after the other. */
static inline void
block_prefetch(const struct cache_block *block)
{
#if defined(__GNUC__)
    uint32_t lines = block->size / CACHE_LINE_BYTES;

    for (uint32_t i = 0; i < 5 && i <= lines; i++)
        __builtin_prefetch(block->data + i * CACHE_LINE_BYTES);
#else
    (void)block;
#endif
}

#endif
