/* block.c -- see block.h. */
#include "tools/hfile/reader/block.h"

#include "tools/hfile/format/block_header.h"
#include "tools/hfile/format/checksum.h"
#include "tools/hfile/format/error.h"

#include <assert.h>
#include <inttypes.h>

void
hfile_block_reader_init(struct hfile_block_reader *reader, const petal_hfile *file)
{
    *reader = (struct hfile_block_reader){
        .file = file, .codec = {.kind = file->codec, .allocator = file->allocator}};
    hfile_buffer_init(&reader->window, file->allocator);
    hfile_buffer_init(&reader->unpacked, file->allocator);
}

void
hfile_block_reader_free(struct hfile_block_reader *reader)
{
    hfile_codec_free(&reader->codec);
    hfile_buffer_free(&reader->window);
    hfile_buffer_free(&reader->unpacked);
}

/* ---- the window ---- */

static bool
is_in_window(const struct hfile_block_reader *reader, uint64_t offset, size_t size)
{
    return offset >= reader->window_offset &&
           offset - reader->window_offset <= reader->window.size &&
           size <= reader->window.size - (size_t)(offset - reader->window_offset);
}

/* What the window has from `offset` on moves to its begin; returns how much that is. */
static size_t
keep_in_window(struct hfile_block_reader *reader, uint64_t offset)
{
    size_t kept = 0;

    if (is_in_window(reader, offset, 0)) {
        kept = reader->window.size - (size_t)(offset - reader->window_offset);
        memmove(reader->window.bytes, reader->window.bytes + (reader->window.size - kept), kept);
    }
    reader->window_offset = offset;
    reader->window.size = kept;
    return kept;
}

/* REQUIRES: offset + size <= limit, which lies in the file. */
static enum petal_status
read_window(struct hfile_block_reader *reader, uint64_t offset, size_t size, uint64_t limit,
            const uint8_t **bytes, petal_error *error)
{
    const petal_hfile_source *source = &reader->file->source;
    struct hfile_buffer *window = &reader->window;
    enum petal_status status;
    size_t kept, wanted = size;

    assert(limit <= source->size && offset <= limit && size <= limit - offset);
    if (!is_in_window(reader, offset, size)) {
        if (wanted < reader->read_ahead)
            wanted =
                limit - offset < reader->read_ahead ? (size_t)(limit - offset) : reader->read_ahead;
        if (wanted > window->capacity && !hfile_buffer_reserve(window, wanted - window->size))
            return hfile_error_no_memory(error);
        kept = keep_in_window(reader, offset);
        status = source->read_at(source->context, offset + kept, window->bytes + kept,
                                 wanted - kept, error);
        if (status != PETAL_OK) {
            window->size = 0;
            return status;
        }
        window->size = wanted;
    }
    *bytes = window->bytes + (offset - reader->window_offset);
    return PETAL_OK;
}

/* ---- blocks ---- */

static enum petal_status
corrupt(const struct hfile_block_reader *reader, uint64_t offset, const char *wrong,
        petal_error *error)
{
    return hfile_error_corrupt(error, reader->file->name, offset, "block at %" PRIu64 ": %s",
                               offset, wrong);
}

enum petal_status
hfile_block_read_header(struct hfile_block_reader *reader, uint64_t offset, uint64_t limit,
                        petal_hfile_block *header, petal_error *error)
{
    enum petal_status status;
    const uint8_t *bytes;
    const char *wrong;

    if (offset > limit || limit - offset < HFILE_BLOCK_HEADER_BYTES)
        return corrupt(reader, offset, "there is no room for a block's header", error);
    status = read_window(reader, offset, HFILE_BLOCK_HEADER_BYTES, limit, &bytes, error);
    if (status != PETAL_OK)
        return status;
    if (!hfile_block_header_parse(bytes, header, &wrong))
        return corrupt(reader, offset, wrong, error);
    header->offset = offset;
    if (header->stored_bytes > limit - offset)
        return corrupt(reader, offset, "the block is longer than the file has room for", error);
    return PETAL_OK;
}

/* Reads all of a block whose size the caller knows at once. */
static enum petal_status
expect(struct hfile_block_reader *reader, uint64_t offset, uint32_t stored_bytes, uint64_t limit,
       petal_error *error)
{
    const uint8_t *bytes;

    if (stored_bytes < HFILE_BLOCK_HEADER_BYTES || offset > limit ||
        stored_bytes > limit - offset || stored_bytes > HFILE_MOST_BLOCK_BYTES)
        return hfile_error_corrupt(error, reader->file->name, offset,
                                   "the index names a block of %" PRIu32 " bytes at %" PRIu64
                                   ", where none can be",
                                   stored_bytes, offset);
    return read_window(reader, offset, stored_bytes, limit, &bytes, error);
}

enum petal_status
hfile_block_read_stored(struct hfile_block_reader *reader, uint64_t offset, uint32_t stored_bytes,
                        uint64_t limit, struct hfile_block *block, petal_error *error)
{
    petal_hfile_block *header = &block->header;
    enum petal_status status = PETAL_OK;
    const uint8_t *bytes;
    uint64_t wrong;

    if (stored_bytes > 0)
        status = expect(reader, offset, stored_bytes, limit, error);
    if (status == PETAL_OK)
        status = hfile_block_read_header(reader, offset, limit, header, error);
    if (status != PETAL_OK)
        return status;
    if (stored_bytes > 0 && header->stored_bytes != stored_bytes)
        return hfile_error_corrupt(error, reader->file->name, offset,
                                   "block at %" PRIu64 ": it has %" PRIu32
                                   " bytes, but the index says %" PRIu32,
                                   offset, header->stored_bytes, stored_bytes);
    status = read_window(reader, offset, header->stored_bytes, limit, &bytes, error);
    if (status != PETAL_OK)
        return status;
    header->checksum_is_right =
        reader->file->no_checksums ||
        hfile_checksums_are_right(header->checksum, header->bytes_per_checksum, bytes,
                                  header->data_bytes, bytes + header->data_bytes, &wrong);
    block->payload = hfile_slice(bytes + HFILE_BLOCK_HEADER_BYTES,
                                 header->data_bytes - HFILE_BLOCK_HEADER_BYTES);
    return PETAL_OK;
}

/* In place of the stored payload. */
static enum petal_status
unpack(struct hfile_block_reader *reader, struct hfile_block *block, petal_error *error)
{
    uint64_t offset = block->header.offset;
    size_t size = block->header.uncompressed_bytes;
    enum petal_status status;
    const char *wrong;

    if (!hfile_codec_can_hold(reader->codec.kind, block->payload.size, size))
        return corrupt(reader, offset, "it claims more bytes than can be packed into what it has",
                       error);
    hfile_buffer_clear(&reader->unpacked);
    if (!hfile_buffer_reserve(&reader->unpacked, size + 1))
        return hfile_error_no_memory(error);
    status = hfile_codec_uncompress(&reader->codec, block->payload.data, block->payload.size,
                                    reader->unpacked.bytes, size, &wrong);
    if (status == PETAL_NO_MEMORY)
        return hfile_error_no_memory(error);
    if (status == PETAL_UNSUPPORTED)
        return hfile_error_unsupported(error, reader->file->name,
                                       "this library was built without %s",
                                       petal_hfile_codec_text(reader->codec.kind));
    if (status != PETAL_OK)
        return corrupt(reader, offset, wrong, error);
    block->payload = hfile_slice(reader->unpacked.bytes, size);
    return PETAL_OK;
}

enum petal_status
hfile_block_read(struct hfile_block_reader *reader, uint64_t offset, uint32_t stored_bytes,
                 uint64_t limit, struct hfile_block *block, petal_error *error)
{
    enum petal_status status =
        hfile_block_read_stored(reader, offset, stored_bytes, limit, block, error);

    if (status != PETAL_OK)
        return status;
    if (!block->header.checksum_is_right)
        return corrupt(reader, offset, "its checksum is wrong", error);
    if (reader->codec.kind != PETAL_HFILE_CODEC_NONE)
        return unpack(reader, block, error);
    if (block->payload.size != block->header.uncompressed_bytes)
        return corrupt(reader, offset, "it is not compressed, but has two sizes", error);
    return PETAL_OK;
}

enum petal_status
hfile_block_read_kind(struct hfile_block_reader *reader, enum petal_hfile_block_kind kind,
                      uint64_t offset, uint32_t stored_bytes, uint64_t limit,
                      struct hfile_block *block, petal_error *error)
{
    enum petal_status status = hfile_block_read(reader, offset, stored_bytes, limit, block, error);

    if (status != PETAL_OK || block->header.kind == kind)
        return status;
    return hfile_error_corrupt(error, reader->file->name, offset,
                               "block at %" PRIu64 ": it is of kind %s, where %s should be", offset,
                               petal_hfile_block_kind_text(block->header.kind),
                               petal_hfile_block_kind_text(kind));
}
