/* block_writer.c -- see block_writer.h. */
#include "tools/hfile/writer/block_writer.h"

#include "tools/hfile/format/block_header.h"
#include "tools/hfile/format/checksum.h"
#include "tools/hfile/format/error.h"

#include <assert.h>

void
hfile_block_writer_init(struct hfile_block_writer *writer, const petal_hfile_sink *sink,
                        const petal_hfile_write_options *options)
{
    *writer = (struct hfile_block_writer){
        .sink = *sink,
        .codec = {.kind = options->codec, .allocator = options->allocator},
        .checksum = options->checksum,
        .bytes_per_checksum = options->bytes_per_checksum,
    };
    for (size_t kind = 0; kind < HFILE_BLOCK_KINDS; kind++)
        writer->previous[kind] = -1;
    hfile_buffer_init(&writer->stored, options->allocator);
}

void
hfile_block_writer_free(struct hfile_block_writer *writer)
{
    hfile_codec_free(&writer->codec);
    hfile_buffer_free(&writer->stored);
}

bool
hfile_block_begin(struct hfile_buffer *block)
{
    static const uint8_t header[HFILE_BLOCK_HEADER_BYTES];

    hfile_buffer_clear(block);
    return hfile_buffer_append(block, header, sizeof header);
}

enum petal_status
hfile_block_writer_put(struct hfile_block_writer *writer, petal_slice bytes, petal_error *error)
{
    petal_error details;
    enum petal_status status;

    hfile_error_clear(&details);
    status = writer->sink.write(writer->sink.context, bytes.data, bytes.size, &details);
    if (status == PETAL_OK)
        writer->offset += bytes.size;
    else if (details.status == PETAL_OK)
        return hfile_error_set(error, status, writer->sink.name, "the sink took no more bytes");
    else if (error != NULL)
        *error = details;
    return status;
}

/* A block's payload as it is to be stored, in *stored, which has room for the header. */
static enum petal_status
compress(struct hfile_block_writer *writer, struct hfile_buffer *block,
         struct hfile_buffer **stored, petal_error *error)
{
    size_t payload_bytes = block->size - HFILE_BLOCK_HEADER_BYTES, size;
    enum petal_status status;

    *stored = block;
    if (writer->codec.kind == PETAL_HFILE_CODEC_NONE)
        return PETAL_OK;
    *stored = &writer->stored;
    hfile_buffer_clear(&writer->stored);
    if (!hfile_buffer_reserve(&writer->stored,
                              HFILE_BLOCK_HEADER_BYTES +
                                  hfile_codec_bound(writer->codec.kind, payload_bytes)))
        return hfile_error_no_memory(error);
    status =
        hfile_codec_compress(&writer->codec, block->bytes + HFILE_BLOCK_HEADER_BYTES, payload_bytes,
                             writer->stored.bytes + HFILE_BLOCK_HEADER_BYTES, &size);
    if (status == PETAL_NO_MEMORY)
        return hfile_error_no_memory(error);
    if (status != PETAL_OK)
        return hfile_error_set(error, status, writer->sink.name, "a block could not be compressed");
    writer->stored.size = HFILE_BLOCK_HEADER_BYTES + size;
    return PETAL_OK;
}

/* Of the index's blocks HBase counts the leaves alone; its root is the first of the two. */
static bool
is_counted(const struct hfile_block_writer *writer, enum petal_hfile_block_kind kind)
{
    return kind != PETAL_HFILE_BLOCK_INTERMEDIATE_INDEX &&
           !(kind == PETAL_HFILE_BLOCK_ROOT_INDEX && writer->previous[kind] < 0);
}

static enum petal_status
too_large(const struct hfile_block_writer *writer, size_t bytes, petal_error *error)
{
    return hfile_error_set(error, PETAL_INVALID, writer->sink.name,
                           "a block of %zu bytes is larger than this library reads", bytes);
}

enum petal_status
hfile_block_writer_write(struct hfile_block_writer *writer, enum petal_hfile_block_kind kind,
                         struct hfile_buffer *block, struct hfile_block_place *place,
                         petal_error *error)
{
    size_t payload_bytes = block->size - HFILE_BLOCK_HEADER_BYTES, data_bytes, checksums_bytes;
    struct hfile_buffer *stored;
    petal_hfile_block header;
    enum petal_status status;

    assert(block->size >= HFILE_BLOCK_HEADER_BYTES);
    if (payload_bytes > HFILE_MOST_PAYLOAD_BYTES)
        return too_large(writer, payload_bytes, error);
    status = compress(writer, block, &stored, error);
    if (status != PETAL_OK)
        return status;
    data_bytes = stored->size;
    checksums_bytes = (size_t)hfile_checksums_size(data_bytes, writer->bytes_per_checksum);
    if (data_bytes + checksums_bytes > HFILE_MOST_BLOCK_BYTES)
        return too_large(writer, data_bytes, error);
    if (!hfile_buffer_reserve(stored, checksums_bytes))
        return hfile_error_no_memory(error);
    header = (petal_hfile_block){.kind = kind,
                                 .stored_bytes = (uint32_t)(data_bytes + checksums_bytes),
                                 .data_bytes = (uint32_t)data_bytes,
                                 .uncompressed_bytes = (uint32_t)payload_bytes,
                                 .previous_offset = writer->previous[kind],
                                 .checksum = writer->checksum,
                                 .bytes_per_checksum = writer->bytes_per_checksum};
    hfile_block_header_write(&header, stored->bytes);
    hfile_checksums_put(writer->checksum, writer->bytes_per_checksum, stored->bytes, data_bytes,
                        stored->bytes + data_bytes);
    if (is_counted(writer, kind))
        writer->uncompressed_bytes += HFILE_BLOCK_HEADER_BYTES + payload_bytes;
    writer->previous[kind] = (int64_t)writer->offset;
    if (place != NULL)
        *place = (struct hfile_block_place){writer->offset, header.stored_bytes};
    return hfile_block_writer_put(writer, hfile_slice(stored->bytes, header.stored_bytes), error);
}
