/*
 * sst_file.h -- an open store file as a source of checked blocks: from the cache, else from the
 * file.
 *
 * A block is verified (checksum, then its whole structure) when it enters memory and is read
 * without checks from then on.  Its place in the file decides nothing about its kind: a block found
 * in the cache has the kind that was checked when it was read, and is refused if another one is
 * asked for.
 *
 * Immutable; any number of threads use it at once.
 */
#ifndef PETAL_SSTABLE_FILE_SST_FILE_H
#define PETAL_SSTABLE_FILE_SST_FILE_H

#include "base/inline.h"
#include "cache/cache.h"
#include "sstable/block/block_io.h"
#include "sstable/file/readahead.h"

/* About those in front of the records in a block of 4 KiB, and in front of a node's groups. */
#define DATA_PREFETCH_LINES  8
#define INDEX_PREFETCH_LINES 3

struct sst_file {
    struct block_source source;
    uint64_t number; /* cache key */
    struct cache *cache;
    enum cache_priority priority;
    bool keep_data;                          /* data blocks may stay in the cache */
    struct readahead_limit *readahead_limit; /* NULL: there is none */
    /* A region (index_region.h) is being loaded by some thread, or none is to be any more.  NULL:
     * none ever. */
    _Atomic(bool) *loading;
    struct read_around *around;
    /* Added to the sequences in data blocks when they enter memory (sst_reader_shift_sequences). */
    uint64_t sequence_shift;
};

/* Read the block from the file, the context's stay interrupted meanwhile, and put it in the cache;
 * PETAL_NOT_FOUND if the context wants only cached ones. */
enum petal_status sst_file_fetch_slow(const struct sst_file *file, struct block_handle handle,
                                      enum block_kind kind, const struct read_context *context,
                                      struct cache_block **block, petal_error *error);

/* A data block in memory of its reader's own, which is used again, read there past the cache. */
struct sst_private_block {
    uint8_t *bytes;
    size_t size, capacity;
    uint8_t *stored; /* of one that was read alone: as it stands in the file */
    size_t stored_capacity;
};

/*
 * A data block that is not in the cache: put there, or read past it into `private_block`, where
 * *block is NULL; counted as fetched.  It goes past the cache where the cache would not keep it,
 * where context->ahead goes through the file while the cache has no room left, and where a point
 * needs it (no context->ahead) that the cache does not want: so what points have in the cache stays
 * there, and decoding needs no memory.  `private_block` NULL: never.  Through context->ahead if
 * there is one; the context's stay is interrupted where that reads from the file.  PETAL_NOT_FOUND
 * if the context wants only cached ones.  On failure the private block is nothing, and has to be
 * freed all the same.
 */
enum petal_status sst_file_load_data(const struct sst_file *file, struct block_handle handle,
                                     const struct read_context *context,
                                     struct sst_private_block *private_block,
                                     struct cache_block **block, petal_error *error);
void sst_private_block_free(struct sst_private_block *block, const petal_allocator *allocator);

/* Verify the block at `handle`, whose bytes were read, decode and check it: for cache_insert, not
 * in the table yet.  NULL: the error, which may be NULL, says why. */
struct cache_block *sst_file_make_block(const struct sst_file *file, struct block_handle handle,
                                        enum block_kind kind, const uint8_t *bytes,
                                        petal_error *error);

static inline enum petal_block_kind
block_cache_kind(enum block_kind kind)
{
    if (kind == BLOCK_DATA)
        return PETAL_BLOCK_DATA;
    return kind == BLOCK_BLOOM ? PETAL_BLOCK_FILTER : PETAL_BLOCK_INDEX;
}

/* As sst_file_find, of a block that has been loading. */
static ALWAYS_INLINE struct cache_block *
sst_file_find_loaded(const struct sst_file *file, struct block_handle handle, enum block_kind kind,
                     struct cache_hint *hint, const struct read_context *context)
{
    struct cache_block *found =
        hint != NULL ? cache_hint_block(hint, file->number, handle.offset) : NULL;

    if (found == NULL)
        found = cache_look(file->cache, hint, file->number, handle.offset);
    if (found == NULL || found->kind != block_cache_kind(kind))
        return NULL;
    cache_touch(found);
    context->trace->blocks_cached[found->kind]++;
    return found;
}

/* The block at `handle`, by way of `hint` (may be NULL; cache/cache.h), if it is in the cache;
 * counted in the context's trace, else NULL.  `kind` is not BLOCK_FACTS.  EPOCH (sst_reader.h). */
static ALWAYS_INLINE struct cache_block *
sst_file_find(const struct sst_file *file, struct block_handle handle, enum block_kind kind,
              struct cache_hint *hint, const struct read_context *context)
{
    /* A search reads a data block's arrays, a node's samples: overlap the cache misses, that of
     * the descriptor too. */
    if (hint != NULL && kind != BLOCK_BLOOM)
        cache_hint_prefetch(hint, kind == BLOCK_DATA ? DATA_PREFETCH_LINES : INDEX_PREFETCH_LINES);
    return sst_file_find_loaded(file, handle, kind, hint, context);
}

#endif
