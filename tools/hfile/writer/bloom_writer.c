/* bloom_writer.c -- see bloom_writer.h. Chunks are those that HBase makes of the same keys. */
#include "tools/hfile/writer/bloom_writer.h"

#include "tools/hfile/format/error.h"
#include "tools/hfile/format/memory.h"

#include <assert.h>

#define HASH_TYPE HFILE_HASH_MURMUR

void
hfile_bloom_writer_init(struct hfile_bloom_writer *writer, struct hfile_block_writer *blocks,
                        bool is_rowcol, const petal_hfile_write_options *options)
{
    bool is_shape;

    *writer = (struct hfile_bloom_writer){
        .blocks = blocks, .allocator = options->allocator, .is_rowcol = is_rowcol};
    is_shape = hfile_bloom_shape_of(options->bloom_chunk_bytes, options->bloom_error_rate,
                                    is_rowcol, &writer->shape);
    assert(is_shape);
    (void)is_shape;
    hfile_buffer_init(&writer->last_key, options->allocator);
    hfile_index_chunk_init(&writer->written, options->allocator);
}

void
hfile_bloom_writer_free(struct hfile_bloom_writer *writer)
{
    for (size_t i = 0; i < writer->capacity; i++) {
        hfile_buffer_free(&writer->chunks[i].first_key);
        hfile_buffer_free(&writer->chunks[i].block);
    }
    hfile_release(writer->allocator, writer->chunks, writer->capacity * sizeof *writer->chunks);
    hfile_buffer_free(&writer->last_key);
    hfile_index_chunk_free(&writer->written);
}

/* Room for one more chunk after the full ones. */
static bool
reserve_chunk(struct hfile_bloom_writer *writer)
{
    size_t capacity = writer->capacity + 1;
    struct hfile_bloom_chunk *chunks;

    if (writer->full < writer->capacity)
        return true;
    chunks = hfile_allocate(writer->allocator, capacity * sizeof *chunks);
    if (chunks == NULL)
        return false;
    if (writer->capacity > 0)
        memcpy(chunks, writer->chunks, writer->capacity * sizeof *chunks);
    hfile_buffer_init(&chunks[writer->capacity].first_key, writer->allocator);
    hfile_buffer_init(&chunks[writer->capacity].block, writer->allocator);
    hfile_release(writer->allocator, writer->chunks, writer->capacity * sizeof *chunks);
    writer->chunks = chunks;
    writer->capacity = capacity;
    return true;
}

static bool
begin_chunk(struct hfile_bloom_writer *writer, petal_slice first_key)
{
    struct hfile_bloom_chunk *chunk;

    if (!reserve_chunk(writer))
        return false;
    chunk = &writer->chunks[writer->full];
    hfile_buffer_clear(&chunk->first_key);
    if (!hfile_buffer_append_slice(&chunk->first_key, first_key) ||
        !hfile_block_begin(&chunk->block) ||
        !hfile_buffer_reserve(&chunk->block, writer->shape.bytes))
        return false;
    memset(chunk->block.bytes + chunk->block.size, 0, writer->shape.bytes);
    chunk->block.size += writer->shape.bytes;
    chunk->shape = writer->shape;
    chunk->keys = 0;
    writer->is_filling = true;
    return true;
}

/* Chunks that become full wait for the end of the data block, as they do in HBase. */
static void
end_chunk(struct hfile_bloom_writer *writer)
{
    writer->full++;
    writer->is_filling = false;
}

static bool
is_full(const struct hfile_bloom_writer *writer)
{
    return writer->is_filling &&
           writer->chunks[writer->full].keys >= writer->chunks[writer->full].shape.max_keys;
}

bool
hfile_bloom_writer_add(struct hfile_bloom_writer *writer, petal_slice key)
{
    struct hfile_bloom_chunk *chunk;

    if (writer->keys > 0 && hfile_slice_equal(hfile_buffer_slice(&writer->last_key), key))
        return true;
    hfile_buffer_clear(&writer->last_key);
    if (!hfile_buffer_append_slice(&writer->last_key, key))
        return false;
    if (is_full(writer))
        end_chunk(writer);
    if (!writer->is_filling && !begin_chunk(writer, key))
        return false;
    chunk = &writer->chunks[writer->full];
    hfile_bloom_add(chunk->block.bytes + HFILE_BLOCK_HEADER_BYTES, chunk->shape.bytes,
                    chunk->shape.hash_count, hfile_bloom_hash(HASH_TYPE, key.data, key.size));
    chunk->keys++;
    writer->keys++;
    return true;
}

static enum petal_status
write_chunk(struct hfile_bloom_writer *writer, struct hfile_bloom_chunk *chunk, petal_error *error)
{
    struct hfile_block_place place;
    enum petal_status status;

    hfile_bloom_fold(chunk->block.bytes + HFILE_BLOCK_HEADER_BYTES, &chunk->shape, chunk->keys);
    chunk->block.size = HFILE_BLOCK_HEADER_BYTES + chunk->shape.bytes;
    status = hfile_block_writer_write(writer->blocks, PETAL_HFILE_BLOCK_BLOOM_CHUNK, &chunk->block,
                                      &place, error);
    if (status != PETAL_OK)
        return status;
    writer->bytes += chunk->shape.bytes;
    writer->most_keys += chunk->shape.max_keys;
    return hfile_index_chunk_add(&writer->written, hfile_buffer_slice(&chunk->first_key), &place)
               ? PETAL_OK
               : hfile_error_no_memory(error);
}

enum petal_status
hfile_bloom_writer_write_chunks(struct hfile_bloom_writer *writer, bool is_end, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (is_full(writer) || (is_end && writer->is_filling))
        end_chunk(writer);
    for (size_t i = 0; i < writer->full && status == PETAL_OK; i++)
        status = write_chunk(writer, &writer->chunks[i], error);
    if (writer->is_filling && writer->full > 0) {
        struct hfile_bloom_chunk filling = writer->chunks[writer->full];

        writer->chunks[writer->full] = writer->chunks[0];
        writer->chunks[0] = filling;
    }
    writer->full = 0;
    return status;
}

static bool
put_meta(const struct hfile_bloom_writer *writer, struct hfile_buffer *payload)
{
    petal_slice comparator =
        writer->is_rowcol ? hfile_text_slice(HFILE_BLOOM_ROWCOL_COMPARATOR) : hfile_slice(NULL, 0);

    return hfile_block_begin(payload) &&
           hfile_buffer_append_u32(payload, HFILE_BLOOM_META_VERSION) &&
           hfile_buffer_append_u64(payload, writer->bytes) &&
           hfile_buffer_append_u32(payload, (uint32_t)writer->shape.hash_count) &&
           hfile_buffer_append_u32(payload, HASH_TYPE) &&
           hfile_buffer_append_u64(payload, writer->keys) &&
           hfile_buffer_append_u64(payload, writer->most_keys) &&
           hfile_buffer_append_u32(payload, (uint32_t)writer->written.count) &&
           hfile_buffer_append_vint(payload, (int64_t)comparator.size) &&
           hfile_buffer_append_slice(payload, comparator) &&
           hfile_index_chunk_put_root(&writer->written, payload);
}

enum petal_status
hfile_bloom_writer_finish(struct hfile_bloom_writer *writer, enum petal_hfile_block_kind kind,
                          petal_error *error)
{
    struct hfile_buffer payload;
    enum petal_status status;

    assert(writer->keys > 0 && writer->full == 0 && !writer->is_filling);
    hfile_buffer_init(&payload, writer->allocator);
    status = put_meta(writer, &payload)
                 ? hfile_block_writer_write(writer->blocks, kind, &payload, NULL, error)
                 : hfile_error_no_memory(error);
    hfile_buffer_free(&payload);
    return status;
}
