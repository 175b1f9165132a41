/* sst_file.c -- see sst_file.h. */
#include "sstable/file/sst_file.h"

#include "sstable/block/data_block.h"
#include "sstable/block/index_block.h"
#include "sstable/file/bloom_chunk.h"
#include "sstable/file/facts.h"

#include <assert.h>
#include <inttypes.h>

/* Stored blocks up to this size are read without allocating. */
#define SCRATCH_BYTES 8192

/* Stored blocks beyond that are not read past the cache alone: whoever asks for them keeps the
 * memory. */
#define PRIVATE_STORED_BYTES (128u << 10)
#define STORED_GROWTH        2 /* about what a data block takes in memory for each byte stored */

/* Check the whole structure of a block that is no node, after which it can be read without checks,
 * and make the sequences of its cells what they are to readers.  *note: for the cache (block.h). */
static enum petal_status
settle_structure(const struct sst_file *file, struct block_handle handle, enum block_kind kind,
                 uint8_t *bytes, size_t size, uint32_t *note, petal_error *error)
{
    const petal_allocator *allocator = file->source.env->allocator;
    struct data_block data;
    struct file_facts facts;
    const char *what;
    enum petal_status status = PETAL_CORRUPT;
    bool sound;

    assert(kind != BLOCK_DATA_INDEX && kind != BLOCK_BLOOM_INDEX);
    switch (kind) {
    case BLOCK_DATA:
        sound =
            data_block_check(&data, bytes, size) &&
            (file->sequence_shift == 0 || data_block_shift_sequences(bytes, file->sequence_shift));
        break;
    case BLOCK_BLOOM:
        *note = bloom_chunk_shape(bytes, size);
        sound = *note != 0;
        break;
    default:
        status = facts_decode(&facts, slice_make(bytes, size), allocator, &what);
        facts_fini(&facts, allocator);
        sound = status == PETAL_OK;
        break;
    }
    if (sound)
        return PETAL_OK;
    return status == PETAL_NO_MEMORY ? error_no_memory(error)
                                     : block_error_malformed(&file->source, handle, kind, error);
}

/* The verified image of a data block by way of the reader's own large reads. */
static enum petal_status
read_ahead(const struct sst_file *file, struct block_handle handle,
           const struct read_context *context, struct block_image *image, petal_error *error)
{
    const uint8_t *bytes;
    enum petal_status status = block_handle_check(&file->source, handle, BLOCK_DATA, error);

    if (status == PETAL_OK && !readahead_goes_on(context->ahead, handle))
        read_around_block(file->around, &file->source, handle);
    if (status == PETAL_OK)
        status =
            readahead_read(context->ahead, &file->source, handle, context->trace, &bytes, error);
    return status == PETAL_OK ? block_verify(&file->source, handle, BLOCK_DATA, bytes, image, error)
                              : status;
}

/* Scratch as of block_read. */
static enum petal_status
read_image(const struct sst_file *file, struct block_handle handle, enum block_kind kind,
           const struct read_context *context, uint8_t *scratch, size_t scratch_bytes,
           struct block_image *image, petal_error *error)
{
    image->memory = NULL;
    if (kind == BLOCK_DATA && context->ahead != NULL)
        return read_ahead(file, handle, context, image, error);
    context->trace->file_reads++;
    context->trace->file_bytes_read += handle.size;
    if (kind == BLOCK_DATA)
        read_around_block(file->around, &file->source, handle);
    return block_read(&file->source, handle, kind, scratch, scratch_bytes, image, error);
}

/* Check the decoded bytes of a node and arrange them in a block with a hint for each entry. */
static enum petal_status
arrange_node(const struct sst_file *file, struct block_handle handle, enum block_kind kind,
             const uint8_t *bytes, const struct block_frame *frame, struct cache_block **block,
             petal_error *error)
{
    size_t memory_bytes = index_block_memory(bytes, frame->raw_bytes, frame->entries);
    struct index_block node;
    uint8_t *memory;

    if (memory_bytes == 0)
        return block_error_malformed(&file->source, handle, kind, error);
    *block = cache_allocate(file->cache, memory_bytes, frame->entries, &memory);
    if (*block == NULL)
        return error_no_memory(error);
    if (index_block_make(&node, bytes, frame->raw_bytes, memory))
        return PETAL_OK;
    cache_discard(file->cache, *block);
    *block = NULL;
    return block_error_malformed(&file->source, handle, kind, error);
}

static enum petal_status
make_node(const struct sst_file *file, struct block_handle handle, enum block_kind kind,
          const struct block_image *image, struct cache_block **block, petal_error *error)
{
    const petal_allocator *allocator = file->source.env->allocator;
    size_t size = image->frame.raw_bytes;
    uint8_t *bytes;
    enum petal_status status;

    if (image->frame.codec == BLOCK_CODEC_RAW)
        return arrange_node(file, handle, kind, image->stored, &image->frame, block, error);
    bytes = mem_alloc(allocator, size);
    if (bytes == NULL)
        return error_no_memory(error);
    status = block_image_decode(image, bytes)
                 ? arrange_node(file, handle, kind, bytes, &image->frame, block, error)
                 : block_error_malformed(&file->source, handle, kind, error);
    mem_free(allocator, bytes, size);
    return status;
}

/* Decode and check a verified image; the block is the caller's, and not in the table yet. */
static enum petal_status
make_block(const struct sst_file *file, struct block_handle handle, enum block_kind kind,
           const struct block_image *image, struct cache_block **block, petal_error *error)
{
    uint32_t raw_bytes = image->frame.raw_bytes;
    enum petal_status status;
    uint8_t *bytes;

    *block = NULL;
    if (kind == BLOCK_DATA_INDEX || kind == BLOCK_BLOOM_INDEX)
        return make_node(file, handle, kind, image, block, error);
    if (image->frame.entries > 0)
        return block_error_malformed(&file->source, handle, kind, error);
    *block = cache_allocate(file->cache, raw_bytes, 0, &bytes);
    if (*block == NULL)
        return error_no_memory(error);
    status = block_image_decode(image, bytes)
                 ? settle_structure(file, handle, kind, bytes, raw_bytes, &(*block)->note, error)
                 : block_error_malformed(&file->source, handle, kind, error);
    if (status == PETAL_OK)
        return PETAL_OK;
    cache_discard(file->cache, *block);
    *block = NULL;
    return status;
}

static enum petal_status
read_block(const struct sst_file *file, struct block_handle handle, enum block_kind kind,
           const struct read_context *context, struct cache_block **block, petal_error *error)
{
    uint8_t scratch[SCRATCH_BYTES];
    struct block_image image;
    enum petal_status status =
        read_image(file, handle, kind, context, scratch, sizeof scratch, &image, error);

    *block = NULL;
    if (status != PETAL_OK)
        return status;
    status = make_block(file, handle, kind, &image, block, error);
    block_image_fini(&image, &file->source);
    return status;
}

struct cache_block *
sst_file_make_block(const struct sst_file *file, struct block_handle handle, enum block_kind kind,
                    const uint8_t *bytes, petal_error *error)
{
    struct block_image image;
    struct cache_block *block = NULL;

    if (block_handle_check(&file->source, handle, kind, error) == PETAL_OK &&
        block_verify(&file->source, handle, kind, bytes, &image, error) == PETAL_OK)
        (void)make_block(file, handle, kind, &image, &block, error);
    return block;
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
    status = read_block(file, handle, kind, context, &made, error);
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

/* ---- past the cache ---- */

static bool
goes_past_cache(const struct sst_file *file, struct block_handle handle,
                const struct read_context *context)
{
    struct readahead *ahead = context->ahead;

    /* Handles that are no block's, too: who reads it says so. */
    if (ahead == NULL && (handle.size > PRIVATE_STORED_BYTES || handle.size <= BLOCK_FRAME_BYTES))
        return false;
    if (!file->keep_data || context->keep_out_of_cache)
        return true;
    if (ahead == NULL)
        return file->priority == CACHE_SINGLE &&
               !cache_wants(file->cache, file->number, handle.offset, handle.size * STORED_GROWTH);
    if (!readahead_goes_on(ahead, handle))
        return false;
    if (!readahead_holds(ahead, handle))
        ahead->past_cache = !cache_has_room(file->cache, READAHEAD_MOST_BYTES);
    return ahead->past_cache;
}

/* Memory for `size` bytes, on a cache line's border as in the cache; what was there is lost. */
static bool
reserve(const struct sst_file *file, uint8_t **bytes, size_t *capacity, size_t size)
{
    const petal_allocator *allocator = file->source.env->allocator;

    if (size <= *capacity)
        return true;
    mem_free(allocator, *bytes, *capacity);
    *bytes = mem_alloc_aligned(allocator, CACHE_LINE_BYTES, size + size / 4);
    *capacity = *bytes != NULL ? size + size / 4 : 0;
    return *bytes != NULL;
}

void
sst_private_block_free(struct sst_private_block *block, const petal_allocator *allocator)
{
    mem_free(allocator, block->bytes, block->capacity);
    mem_free(allocator, block->stored, block->stored_capacity);
    *block = (struct sst_private_block){0};
}

/* Read the block with the epoch left meanwhile, unless it was read before. */
static enum petal_status
read_outside(const struct sst_file *file, struct block_handle handle,
             const struct read_context *context, struct sst_private_block *block,
             struct block_image *image, petal_error *error)
{
    bool leaves = context->stay != NULL &&
                  (context->ahead == NULL || !readahead_holds(context->ahead, handle));
    enum petal_status status;

    if (context->ahead == NULL && file->source.mapped == NULL &&
        !reserve(file, &block->stored, &block->stored_capacity, handle.size))
        return error_no_memory(error);
    if (leaves && epoch_interrupt(context->stay) != PETAL_OK)
        return error_no_memory(error);
    status = read_image(file, handle, BLOCK_DATA, context, block->stored, block->stored_capacity,
                        image, error);
    assert(image->memory == NULL);
    if (leaves)
        epoch_resume(context->stay);
    return status;
}

static enum petal_status
read_private(const struct sst_file *file, struct block_handle handle,
             const struct read_context *context, struct sst_private_block *block,
             petal_error *error)
{
    struct block_image image;
    uint32_t none;
    enum petal_status status = read_outside(file, handle, context, block, &image, error);

    if (status != PETAL_OK)
        return status;
    if (!reserve(file, &block->bytes, &block->capacity, image.frame.raw_bytes))
        return error_no_memory(error);
    block->size = image.frame.raw_bytes;
    if (image.frame.entries != 0 || !block_image_decode(&image, block->bytes))
        return block_error_malformed(&file->source, handle, BLOCK_DATA, error);
    status = settle_structure(file, handle, BLOCK_DATA, block->bytes, block->size, &none, error);
    if (status != PETAL_OK)
        return status;
    context->trace->blocks_fetched[PETAL_BLOCK_DATA]++;
    context->trace->bytes_fetched += handle.size;
    return PETAL_OK;
}

enum petal_status
sst_file_load_data(const struct sst_file *file, struct block_handle handle,
                   const struct read_context *context, struct sst_private_block *private_block,
                   struct cache_block **block, petal_error *error)
{
    *block = NULL;
    if (context->only_cached)
        return PETAL_NOT_FOUND;
    if (private_block != NULL && goes_past_cache(file, handle, context))
        return read_private(file, handle, context, private_block, error);
    return sst_file_fetch_slow(file, handle, BLOCK_DATA, context, block, error);
}
