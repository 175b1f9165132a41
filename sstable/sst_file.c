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

/* Hints for the blocks that an index node names.  The count is checked before memory is taken by it. */
static bool
hints_of(const struct block_frame *frame, uint32_t *hints)
{
    bool is_index = frame->kind == BLOCK_DATA_INDEX || frame->kind == BLOCK_BLOOM_INDEX;

    *hints = is_index ? frame->entries : 0;
    return frame->entries <= (is_index ? frame->raw_bytes / INDEX_BLOCK_ENTRY_BYTES : 0);
}

/* Make a checked cache block of what was read. */
static enum petal_status
materialize(const struct sst_file *file, struct block_handle handle,
            const struct block_image *image, struct cache_block **block, petal_error *error)
{
    const struct block_frame *frame = &image->frame;
    bool sound;
    uint32_t hints;
    uint8_t *bytes;

    *block = NULL;
    sound = hints_of(frame, &hints);
    if (sound) {
        *block = cache_allocate(file->cache, frame->raw_bytes, hints, &bytes);
        if (*block == NULL)
            return error_no_memory(error);
        sound = block_image_decode(image, bytes) &&
                check_structure(frame->kind, bytes, frame->raw_bytes, hints);
    }
    if (sound) {
        assert((*block)->size == frame->raw_bytes && (*block)->hint_count == hints);
        return PETAL_OK;
    }
    if (*block != NULL)
        cache_discard(file->cache, *block);
    *block = NULL;
    return error_corrupt(error, file->source.path, handle.offset,
                         "%s at offset %" PRIu64 ": its checksum is right, its content malformed",
                         block_kind_text(frame->kind), handle.offset);
}

static enum petal_status
read_block(const struct sst_file *file, struct block_handle handle, enum block_kind kind,
           struct cache_block **block, petal_error *error)
{
    uint8_t scratch[SCRATCH_BYTES];
    struct block_image image;
    enum petal_status status =
        block_read(&file->source, handle, kind, scratch, sizeof scratch, &image, error);

    if (status != PETAL_OK)
        return status;
    status = materialize(file, handle, &image, block, error);
    block_image_fini(&image, &file->source);
    return status;
}

/* Nobody waits for a disk inside the epoch, nor for memory (cache_allocate). */
static enum petal_status
read_block_outside(const struct sst_file *file, struct block_handle handle, enum block_kind kind,
                   struct epoch_stay *stay, struct cache_block **block, petal_error *error)
{
    enum petal_status status;

    if (stay != NULL && epoch_interrupt(stay) != PETAL_OK)
        return error_no_memory(error);
    status = read_block(file, handle, kind, block, error);
    if (stay != NULL)
        epoch_resume(stay);
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
    status = read_block_outside(file, handle, kind, context->stay, &made, error);
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
