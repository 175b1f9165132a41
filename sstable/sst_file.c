/* sst_file.c -- see sst_file.h. */
#include "sstable/sst_file.h"

#include "bloom/bloom.h"
#include "sstable/data_block.h"
#include "sstable/index_block.h"

#include <assert.h>
#include <inttypes.h>

/* Stored blocks up to this size are read without allocating. */
#define SCRATCH_BYTES 8192

/* The whole structure of a block, after which it can be read without checks. */
static bool
check_structure(enum block_kind kind, const uint8_t *bytes, size_t size, uint32_t entries)
{
    struct data_block data;
    struct index_block node;
    struct bloom_filter filter;

    switch (kind) {
    case BLOCK_DATA:
        return data_block_check(&data, bytes, size);
    case BLOCK_DATA_INDEX:
    case BLOCK_BLOOM_INDEX:
        return index_block_check(&node, bytes, size) && node.count == entries;
    case BLOCK_BLOOM:
        return bloom_open(&filter, bytes, size);
    case BLOCK_FACTS:
        break;
    }
    return false;
}

/* Read, decode and check a block; it is the caller's, and not in the table yet. */
static enum petal_status
read_block(const struct sst_file *file, struct block_handle handle, enum block_kind kind,
           struct cache_block **block, petal_error *error)
{
    uint8_t scratch[SCRATCH_BYTES];
    bool is_index = kind == BLOCK_DATA_INDEX || kind == BLOCK_BLOOM_INDEX;
    struct block_image image;
    uint32_t hints;
    uint8_t *bytes;
    bool sound;
    enum petal_status status =
        block_read(&file->source, handle, kind, scratch, sizeof scratch, &image, error);

    *block = NULL;
    if (status != PETAL_OK)
        return status;
    /* An index node has hints for the blocks that it names.  Their count is checked before
     * memory is taken by it. */
    hints = is_index ? image.frame.entries : 0;
    sound = image.frame.entries <= (is_index ? image.frame.raw_bytes / INDEX_BLOCK_ENTRY_BYTES : 0);
    if (sound) {
        *block = cache_allocate(file->cache, image.frame.raw_bytes, hints, &bytes);
        if (*block == NULL)
            status = error_no_memory(error);
        else
            sound = block_image_decode(&image, bytes) &&
                    check_structure(kind, bytes, image.frame.raw_bytes, hints);
    }
    if (!sound) {
        if (*block != NULL)
            cache_discard(file->cache, *block);
        *block = NULL;
        status =
            error_corrupt(error, file->source.path, handle.offset,
                          "%s at offset %" PRIu64 ": its checksum is right, its content malformed",
                          block_kind_text(kind), handle.offset);
    }
    block_image_fini(&image, &file->source);
    return status;
}

enum petal_status
sst_file_fetch_slow(const struct sst_file *file, struct block_handle handle, enum block_kind kind,
                    const struct read_context *context, struct cache_block **block,
                    petal_error *error)
{
    enum petal_block_kind cache_kind = block_cache_kind(kind);
    bool keep = kind != BLOCK_DATA || (file->keep_data && !context->keep_out_of_cache);
    struct cache_block *made;
    enum petal_status status;

    assert(kind != BLOCK_FACTS);
    *block = NULL;
    if (context->only_cached)
        return PETAL_NOT_FOUND;
    /* Nobody waits for a disk inside the epoch, nor for memory (cache_allocate). */
    if (context->stay != NULL && epoch_interrupt(context->stay) != PETAL_OK)
        return error_no_memory(error);
    status = read_block(file, handle, kind, &made, error);
    if (context->stay != NULL)
        epoch_resume(context->stay);
    if (status != PETAL_OK)
        return status;
    made = cache_insert(file->cache, made, file->number, handle.offset, cache_kind, file->priority,
                        keep);
    if (made->kind != cache_kind)
        return error_corrupt(error, file->source.path, handle.offset,
                             "the block at offset %" PRIu64
                             " is named as a %s and as something else",
                             handle.offset, block_kind_text(kind));
    context->trace->blocks_fetched[cache_kind]++;
    context->trace->bytes_fetched += handle.size;
    *block = made;
    return PETAL_OK;
}
