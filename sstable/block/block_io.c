/* block_io.c -- see block_io.h. */
#include "sstable/block/block_io.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/mem.h"
#include "sstable/block/data_block.h"

#include <assert.h>
#include <inttypes.h>
#include <lz4.h>
#include <lz4hc.h>

enum {
    CHECKSUM_AT = 0,
    KIND_AT = 8,
    CODEC_AT = 9,
    RESERVED_AT = 10,
    STORED_AT = 12,
    RAW_AT = 16,
    ENTRIES_AT = 20,

    CHECKED_FROM = KIND_AT,
    SAVING_SHARE = 16, /* LZ4 has to save one part in so many */
    /* A byte of LZ4 stands for at most so many, one of a packed data block too: 64 rows of 64 bytes
     * take 4.  That bounds the memory that a frame may ask for. */
    LZ4_SHARE = 255,
    PACKED_SHARE = 1024,
    SIZES_BYTES = 10, /* of packed numbers and text: two varints of 32 bits */
    HIGH_LEVEL = 9    /* of LZ4HC: higher ones find nothing more in blocks of a few kilobytes */
};

size_t block_sink_bytes = (size_t)1 << 20;
size_t block_sink_sync_bytes = (size_t)8 << 20;

const char *
block_kind_text(enum block_kind kind)
{
    switch (kind) {
    case BLOCK_DATA:
        return "data block";
    case BLOCK_DATA_INDEX:
        return "index node";
    case BLOCK_BLOOM:
        return "filter chunk";
    case BLOCK_BLOOM_INDEX:
        return "filter index node";
    case BLOCK_FACTS:
        return "facts block";
    }
    return "block of unknown kind";
}

/* ---- writing ---- */

void
block_sink_init(struct block_sink *sink, const struct env *env, struct pooled_file *file,
                const char *path, uint64_t file_identity)
{
    *sink =
        (struct block_sink){.env = env, .file = file, .path = path, .file_identity = file_identity};
}

void
block_sink_fini(struct block_sink *sink)
{
    mem_free(sink->env->allocator, sink->buffer, sink->capacity);
    mem_free(sink->env->allocator, sink->text, sink->text_capacity);
    mem_free(sink->env->allocator, sink->high_state, sizeof(LZ4_streamHC_t));
    sink->buffer = NULL;
    sink->text = NULL;
    sink->text_capacity = 0;
    sink->high_state = NULL;
    sink->capacity = 0;
}

enum petal_status
block_sink_compress_high(struct block_sink *sink)
{
    void *state = mem_alloc(sink->env->allocator, sizeof(LZ4_streamHC_t));

    assert(sink->high_state == NULL);
    if (state == NULL)
        return PETAL_NO_MEMORY;
    sink->high_state = LZ4_initStreamHC(state, sizeof(LZ4_streamHC_t));
    assert(sink->high_state == state); /* memory of an allocator is aligned */
    return PETAL_OK;
}

static enum petal_status
write_buffer(struct block_sink *sink, petal_file *file, petal_error *error)
{
    const petal_vfs *vfs = sink->env->vfs;
    int failure = vfs->write_at(vfs->context, file, sink->flushed, sink->buffer, sink->used);

    if (failure != 0)
        return error_io(error, sink->path, failure, "write");
    sink->flushed += sink->used;
    sink->used = 0;
    if (sink->flushed - sink->synced < block_sink_sync_bytes)
        return PETAL_OK;
    failure = vfs->sync(vfs->context, file);
    if (failure != 0)
        return error_io(error, sink->path, failure, "sync");
    sink->synced = sink->flushed;
    return PETAL_OK;
}

enum petal_status
block_sink_flush(struct block_sink *sink, petal_error *error)
{
    petal_file *file;
    enum petal_status status;

    assert(sink->used <= sink->capacity && sink->synced <= sink->flushed);
    if (sink->used == 0)
        return PETAL_OK;
    status = pooled_file_acquire(sink->file, &file, error);
    if (status != PETAL_OK)
        return status;
    status = write_buffer(sink, file, error);
    pooled_file_release(sink->file);
    return status;
}

size_t
block_sink_memory(const struct block_sink *sink)
{
    return sink->capacity + sink->text_capacity +
           (sink->high_state != NULL ? sizeof(LZ4_streamHC_t) : 0);
}

enum petal_status
block_sink_spill(struct block_sink *sink, petal_error *error)
{
    enum petal_status status = block_sink_flush(sink, error);

    if (status != PETAL_OK)
        return status;
    mem_free(sink->env->allocator, sink->buffer, sink->capacity);
    sink->buffer = NULL;
    sink->capacity = 0;
    return PETAL_OK;
}

/* Room for `size` bytes after what is in the buffer. */
static enum petal_status
sink_reserve(struct block_sink *sink, size_t size, petal_error *error)
{
    enum petal_status status;
    size_t need = size > block_sink_bytes ? size : block_sink_bytes;

    if (sink->capacity - sink->used >= size)
        return PETAL_OK;
    status = block_sink_flush(sink, error);
    if (status != PETAL_OK)
        return status;
    if (!mem_grow_array(sink->env->allocator, &sink->buffer, &sink->capacity, 0, need, 1))
        return error_no_memory(error);
    assert(sink->capacity - sink->used >= size);
    return PETAL_OK;
}

/* Compress to `to` if that gives at most `room` bytes; returns them, 0 if it does not. */
static uint32_t
compress_bytes(const struct block_sink *sink, petal_slice raw, uint8_t *to, size_t room)
{
    if (raw.size == 0 || room == 0)
        return 0;
    if (sink->high_state != NULL) {
        /* Each block by itself; what the state has of others is forgotten without touching it. */
        LZ4_resetStreamHC_fast(sink->high_state, HIGH_LEVEL);
        return (uint32_t)LZ4_compress_HC_continue(sink->high_state, raw.data, (char *)to,
                                                  (int)raw.size, (int)room);
    }
    return (uint32_t)LZ4_compress_default(raw.data, (char *)to, (int)raw.size, (int)room);
}

/* Most bytes that a block may be stored with to be stored otherwise than raw. */
static size_t
most_compressed(size_t size)
{
    return size < SAVING_SHARE ? 0 : size - size / SAVING_SHARE - 1;
}

/* Pack a data block to `to`, where reserve_compressed has made room, and compress its text; returns
 * 0 if that takes more than `room` bytes. */
static uint32_t
compress_data_block(const struct block_sink *sink, petal_slice raw, uint8_t *to, size_t room)
{
    uint8_t sizes[SIZES_BYTES], *packed = to + SIZES_BYTES;
    size_t packed_bytes, text_bytes, used;
    uint32_t compressed;

    packed_bytes = data_block_pack(slice_bytes(raw), raw.size, packed, sink->text, &text_bytes);
    used = (size_t)(put_varint64(put_varint64(sizes, packed_bytes), text_bytes) - sizes);
    assert(used <= SIZES_BYTES);
    memcpy(to, sizes, used);
    memmove(to + used, packed, packed_bytes);
    used += packed_bytes;
    if (used >= room)
        return 0;
    compressed = compress_bytes(sink, slice_make(sink->text, text_bytes), to + used, room - used);
    if (compressed == 0 || raw.size > (used + compressed) * (uint64_t)PACKED_SHARE)
        return 0;
    return (uint32_t)used + compressed;
}

/* Have room for a block that is to be compressed, and for a data block's text. */
static enum petal_status
reserve_compressed(struct block_sink *sink, enum block_kind kind, size_t raw_bytes,
                   petal_error *error)
{
    size_t room = raw_bytes;

    if (kind == BLOCK_DATA) {
        room = SIZES_BYTES + data_block_pack_bound(raw_bytes);
        if (!mem_grow_array(sink->env->allocator, &sink->text, &sink->text_capacity, 0, raw_bytes,
                            1))
            return error_no_memory(error);
    }
    return sink_reserve(sink, BLOCK_FRAME_BYTES + room, error);
}

enum petal_status
block_sink_append(struct block_sink *sink, enum block_kind kind, petal_slice raw, uint32_t entries,
                  bool compress, struct block_handle *handle, petal_error *error)
{
    enum petal_status status;
    uint8_t *frame;
    uint32_t stored = 0;

    assert(raw.size > 0);
    assert((entries > 0) == (kind == BLOCK_DATA_INDEX || kind == BLOCK_BLOOM_INDEX));
    if (raw.size > BLOCK_MAX_RAW_BYTES)
        return error_file(error, PETAL_INVALID, sink->path, "%s of %zu bytes is too large",
                          block_kind_text(kind), raw.size);
    status = compress ? reserve_compressed(sink, kind, raw.size, error)
                      : sink_reserve(sink, BLOCK_FRAME_BYTES + raw.size, error);
    if (status != PETAL_OK)
        return status;
    frame = sink->buffer + sink->used;
    if (compress && kind == BLOCK_DATA)
        stored =
            compress_data_block(sink, raw, frame + BLOCK_FRAME_BYTES, most_compressed(raw.size));
    else if (compress)
        stored = compress_bytes(sink, raw, frame + BLOCK_FRAME_BYTES, most_compressed(raw.size));
    frame[CODEC_AT] = (uint8_t)(stored != 0 ? BLOCK_CODEC_LZ4 : BLOCK_CODEC_RAW);
    if (stored == 0) {
        stored = (uint32_t)raw.size;
        memcpy(frame + BLOCK_FRAME_BYTES, raw.data, raw.size);
    }
    frame[KIND_AT] = (uint8_t)kind;
    put_le16(frame + RESERVED_AT, 0);
    put_le32(frame + STORED_AT, stored);
    put_le32(frame + RAW_AT, (uint32_t)raw.size);
    put_le32(frame + ENTRIES_AT, entries);
    handle->offset = block_sink_offset(sink);
    handle->size = BLOCK_FRAME_BYTES + stored;
    handle->begins = 0;
    put_le64(frame + CHECKSUM_AT, checksum_at(sink->file_identity, handle->offset,
                                              frame + CHECKED_FROM, handle->size - CHECKED_FROM));
    sink->used += handle->size;
    assert(sink->used <= sink->capacity);
    return PETAL_OK;
}

enum petal_status
block_sink_append_bytes(struct block_sink *sink, petal_slice bytes, petal_error *error)
{
    enum petal_status status;

    assert(bytes.size > 0);
    status = sink_reserve(sink, bytes.size, error);
    if (status != PETAL_OK)
        return status;
    memcpy(sink->buffer + sink->used, bytes.data, bytes.size);
    sink->used += bytes.size;
    return PETAL_OK;
}

/* ---- reading ---- */

enum petal_status
block_error_malformed(const struct block_source *source, struct block_handle handle,
                      enum block_kind kind, petal_error *error)
{
    return error_corrupt(error, source->path, handle.offset,
                         "%s at offset %" PRIu64 ": its checksum is right, its content malformed",
                         block_kind_text(kind), handle.offset);
}

enum petal_status
block_source_size(const struct block_source *source, uint64_t *size, petal_error *error)
{
    const petal_vfs *vfs = source->env->vfs;
    petal_file *file;
    int failure;
    enum petal_status status = pooled_file_acquire(source->file, &file, error);

    if (status != PETAL_OK)
        return status;
    failure = vfs->size(vfs->context, file, size);
    pooled_file_release(source->file);
    return failure == 0 ? PETAL_OK : error_io(error, source->path, failure, "take the size of");
}

enum petal_status
block_source_read(const struct block_source *source, uint64_t offset, uint8_t *bytes, size_t size,
                  petal_error *error)
{
    const petal_vfs *vfs = source->env->vfs;
    petal_file *file;
    size_t got = 0;
    int failure;
    enum petal_status status;

    if (source->tail != NULL && offset >= source->tail_begin &&
        offset - source->tail_begin <= source->tail_bytes &&
        size <= source->tail_bytes - (size_t)(offset - source->tail_begin)) {
        memcpy(bytes, source->tail + (offset - source->tail_begin), size);
        return PETAL_OK;
    }
    status = pooled_file_acquire(source->file, &file, error);
    if (status != PETAL_OK)
        return status;
    failure = vfs->read_at(vfs->context, file, offset, bytes, size, &got);
    pooled_file_release(source->file);
    if (failure != 0)
        return error_io(error, source->path, failure, "read");
    if (got != size)
        return error_corrupt(error, source->path, offset,
                             "the file ends after %zu of %zu bytes read at offset %" PRIu64, got,
                             size, offset);
    return PETAL_OK;
}

void
block_source_read_ahead(const struct block_source *source, uint64_t offset, uint64_t size)
{
    const petal_vfs *vfs = source->env->vfs;
    petal_file *file;

    assert(size > 0);
    if (vfs->read_ahead == NULL || pooled_file_acquire(source->file, &file, NULL) != PETAL_OK)
        return;
    vfs->read_ahead(vfs->context, file, offset, size);
    pooled_file_release(source->file);
}

bool
block_frame_decode(struct block_frame *frame, const uint8_t *bytes)
{
    unsigned kind = bytes[KIND_AT];
    unsigned codec = bytes[CODEC_AT];
    uint32_t stored = get_le32(bytes + STORED_AT);
    uint32_t raw = get_le32(bytes + RAW_AT);

    if (kind < BLOCK_DATA || kind > BLOCK_FACTS || codec > BLOCK_CODEC_LZ4)
        return false;
    /* So a compressed data block with a flipped bit in its kind is not treated as one of these. */
    if (codec == BLOCK_CODEC_LZ4 && (kind == BLOCK_BLOOM || kind == BLOCK_FACTS))
        return false;
    if (get_le16(bytes + RESERVED_AT) != 0 || stored == 0 || raw == 0)
        return false;
    if (raw > BLOCK_MAX_RAW_BYTES || stored > raw)
        return false;
    if (codec == BLOCK_CODEC_RAW && stored != raw)
        return false;
    if (raw > (uint64_t)stored * (kind == BLOCK_DATA ? PACKED_SHARE : LZ4_SHARE))
        return false;
    *frame = (struct block_frame){(enum block_kind)kind, (enum block_codec)codec, stored, raw,
                                  get_le32(bytes + ENTRIES_AT)};
    return true;
}

enum petal_status
block_handle_check(const struct block_source *source, struct block_handle handle,
                   enum block_kind kind, petal_error *error)
{
    if (handle.size > BLOCK_FRAME_BYTES && handle.size <= BLOCK_FRAME_BYTES + BLOCK_MAX_RAW_BYTES &&
        handle.offset <= source->limit && handle.size <= source->limit - handle.offset)
        return PETAL_OK;
    return error_corrupt(error, source->path, handle.offset,
                         "%s at offset %" PRIu64 " is said to have %" PRIu32
                         " bytes; blocks end at %" PRIu64,
                         block_kind_text(kind), handle.offset, handle.size, source->limit);
}

enum petal_status
block_verify(const struct block_source *source, struct block_handle handle, enum block_kind kind,
             const uint8_t *bytes, struct block_image *image, petal_error *error)
{
    struct block_frame *frame = &image->frame;
    uint64_t found = get_le64(bytes + CHECKSUM_AT);
    uint64_t expected = checksum_at(source->file_identity, handle.offset, bytes + CHECKED_FROM,
                                    handle.size - CHECKED_FROM);

    assert(handle.size > BLOCK_FRAME_BYTES);
    image->memory = NULL;
    image->stored = bytes + BLOCK_FRAME_BYTES;
    if (found != expected)
        return error_corrupt(error, source->path, handle.offset,
                             "%s at offset %" PRIu64 ": checksum %016" PRIx64 ", its %" PRIu32
                             " bytes give %016" PRIx64,
                             block_kind_text(kind), handle.offset, found, handle.size, expected);
    if (!block_frame_decode(frame, bytes) || frame->stored_bytes != handle.size - BLOCK_FRAME_BYTES)
        return error_corrupt(error, source->path, handle.offset,
                             "%s at offset %" PRIu64 ": malformed frame", block_kind_text(kind),
                             handle.offset);
    if (frame->kind != kind)
        return error_corrupt(error, source->path, handle.offset,
                             "%s at offset %" PRIu64 " where a %s is expected",
                             block_kind_text(frame->kind), handle.offset, block_kind_text(kind));
    return PETAL_OK;
}

enum petal_status
block_read(const struct block_source *source, struct block_handle handle, enum block_kind kind,
           uint8_t *scratch, size_t scratch_bytes, struct block_image *image, petal_error *error)
{
    uint8_t *bytes = scratch, *memory = NULL;
    enum petal_status status = block_handle_check(source, handle, kind, error);

    image->memory = NULL;
    if (status != PETAL_OK)
        return status;
    /* Data blocks alone: what is decoded from them is a copy, which is checked; others may be used
     * where they stand, and somebody might overwrite them meanwhile. */
    if (source->mapped != NULL && kind == BLOCK_DATA)
        return block_verify(source, handle, kind, source->mapped + handle.offset, image, error);
    if (handle.size > scratch_bytes) {
        bytes = memory = mem_alloc(source->env->allocator, handle.size);
        if (memory == NULL)
            return error_no_memory(error);
    }
    status = block_source_read(source, handle.offset, bytes, handle.size, error);
    if (status == PETAL_OK)
        status = block_verify(source, handle, kind, bytes, image, error);
    image->memory = memory;
    image->memory_bytes = handle.size;
    if (status != PETAL_OK)
        block_image_fini(image, source);
    return status;
}

void
block_image_fini(struct block_image *image, const struct block_source *source)
{
    if (image->memory != NULL)
        mem_free(source->env->allocator, image->memory, image->memory_bytes);
    image->memory = NULL;
}

/* See compress_data_block. */
static bool
decode_data_block(const struct block_frame *frame, const uint8_t *stored, uint8_t *to)
{
    const uint8_t *limit = stored + frame->stored_bytes, *from;
    uint32_t packed, text;

    from = get_varint32(stored, limit, &packed);
    from = from == NULL ? NULL : get_varint32(from, limit, &text);
    if (from == NULL || packed > (size_t)(limit - from) || text > frame->raw_bytes)
        return false;
    return LZ4_decompress_safe((const char *)from + packed, (char *)to + frame->raw_bytes - text,
                               (int)(limit - from - packed), (int)text) == (int)text &&
           data_block_unpack(to, frame->raw_bytes, text, slice_make(from, packed));
}

bool
block_image_decode(const struct block_image *image, uint8_t *to)
{
    const struct block_frame *frame = &image->frame;

    if (frame->codec == BLOCK_CODEC_RAW) {
        memcpy(to, image->stored, frame->raw_bytes);
        return true;
    }
    if (frame->kind == BLOCK_DATA)
        return decode_data_block(frame, image->stored, to);
    return LZ4_decompress_safe((const char *)image->stored, (char *)to, (int)frame->stored_bytes,
                               (int)frame->raw_bytes) == (int)frame->raw_bytes;
}
