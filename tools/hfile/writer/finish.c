/* finish.c -- what stands after the data blocks; see writer.h. */
#include "tools/hfile/writer/writer.h"

#include "tools/hfile/format/argument.h"
#include "tools/hfile/format/error.h"
#include "tools/hfile/format/names.h"
#include "tools/hfile/format/trailer.h"

/* The number of the first meta block by name after `before`, of which there is none at first. */
static size_t
next_meta(const struct hfile_file_info *metas, const petal_slice *before, petal_slice *name,
          petal_slice *bytes)
{
    size_t count = hfile_file_info_count(metas), found = count;
    petal_slice other, value;

    for (size_t i = 0; i < count; i++) {
        hfile_file_info_get(metas, i, &other, &value);
        if ((before == NULL || hfile_slice_compare(other, *before) > 0) &&
            (found == count || hfile_slice_compare(other, *name) < 0)) {
            found = i;
            *name = other;
            *bytes = value;
        }
    }
    return found;
}

/* User meta blocks in the order of their names, each entered in `index`. */
static enum petal_status
write_metas(petal_hfile_writer *writer, struct hfile_index_chunk *index, struct hfile_buffer *block,
            petal_error *error)
{
    size_t count = hfile_file_info_count(&writer->metas);
    petal_slice name = {NULL, 0}, bytes = {NULL, 0}, before;
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; i < count && status == PETAL_OK; i++) {
        struct hfile_block_place place;

        before = name;
        next_meta(&writer->metas, i == 0 ? NULL : &before, &name, &bytes);
        if (!hfile_block_begin(block) || !hfile_buffer_append_slice(block, bytes))
            return hfile_error_no_memory(error);
        status =
            hfile_block_writer_write(&writer->blocks, PETAL_HFILE_BLOCK_META, block, &place, error);
        if (status == PETAL_OK && !hfile_index_chunk_add(index, name, &place))
            status = hfile_error_no_memory(error);
    }
    return status;
}

static enum petal_status
write_meta_index(petal_hfile_writer *writer, const struct hfile_index_chunk *index,
                 struct hfile_buffer *block, petal_error *error)
{
    if (!hfile_block_begin(block) || !hfile_index_chunk_put_root(index, block))
        return hfile_error_no_memory(error);
    return hfile_block_writer_write(&writer->blocks, PETAL_HFILE_BLOCK_ROOT_INDEX, block, NULL,
                                    error);
}

static bool
put_bloom_facts(const petal_hfile_writer *writer, struct hfile_file_info *info)
{
    const char *type = petal_hfile_bloom_type_text(writer->options.bloom);
    uint8_t prefix_bytes[4];

    if (writer->general.keys == 0)
        return true;
    hfile_put_u32(prefix_bytes, writer->options.bloom_prefix_bytes);
    return hfile_file_info_add(info, hfile_text_slice(HFILE_INFO_BLOOM_FILTER_TYPE),
                               hfile_text_slice(type)) &&
           hfile_file_info_add(info, hfile_text_slice(HFILE_INFO_LAST_BLOOM_KEY),
                               hfile_buffer_slice(&writer->general.last_key)) &&
           (writer->options.bloom != PETAL_HFILE_BLOOM_ROW_PREFIX ||
            hfile_file_info_add(info, hfile_text_slice(HFILE_INFO_BLOOM_FILTER_PARAMETER),
                                hfile_slice(prefix_bytes, sizeof prefix_bytes)));
}

static enum petal_status
write_file_info(petal_hfile_writer *writer, struct hfile_buffer *block, uint64_t *offset,
                petal_error *error)
{
    petal_slice last_key = hfile_buffer_slice(&writer->keys[writer->last]);
    struct hfile_block_place place;
    enum petal_status status;

    if (!hfile_written_facts_put(&writer->facts, &writer->options, last_key, &writer->info) ||
        (!writer->options.is_plain &&
         !hfile_written_facts_put_store(&writer->facts, &writer->options, &writer->info)) ||
        !put_bloom_facts(writer, &writer->info) || !hfile_block_begin(block) ||
        !hfile_file_info_write(&writer->info, block))
        return hfile_error_no_memory(error);
    status = hfile_block_writer_write(&writer->blocks, PETAL_HFILE_BLOCK_FILE_INFO, block, &place,
                                      error);
    *offset = place.offset;
    return status;
}

static enum petal_status
write_filters(petal_hfile_writer *writer, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (writer->general.keys > 0)
        status = hfile_bloom_writer_finish(&writer->general, PETAL_HFILE_BLOCK_GENERAL_BLOOM_META,
                                           error);
    if (status == PETAL_OK && writer->delete_family.keys > 0)
        status = hfile_bloom_writer_finish(&writer->delete_family,
                                           PETAL_HFILE_BLOCK_DELETE_FAMILY_BLOOM_META, error);
    return status;
}

static enum petal_status
write_trailer(petal_hfile_writer *writer, struct hfile_trailer *trailer, struct hfile_buffer *block,
              petal_error *error)
{
    trailer->index_bytes = writer->index.payload_bytes;
    trailer->uncompressed_bytes = writer->blocks.uncompressed_bytes + HFILE_TRAILER_BYTES;
    trailer->cells = writer->facts.cells;
    trailer->index_levels = writer->index.levels;
    trailer->first_data_block_offset = writer->first_data_block_offset;
    trailer->last_data_block_offset = writer->last_data_block_offset;
    trailer->comparator = hfile_text_slice(HFILE_COMPARATOR);
    trailer->codec_number = hfile_codec_number_of(writer->options.codec);
    hfile_buffer_clear(block);
    if (!hfile_trailer_write(trailer, block))
        return hfile_error_no_memory(error);
    return hfile_block_writer_put(&writer->blocks, hfile_buffer_slice(block), error);
}

/* What a reader finds by the trailer. */
static enum petal_status
write_load_on_open(petal_hfile_writer *writer, const struct hfile_index_chunk *metas,
                   struct hfile_buffer *block, petal_error *error)
{
    struct hfile_trailer trailer = {.meta_entries = (uint32_t)metas->count};
    enum petal_status status = hfile_index_writer_finish(
        &writer->index, &trailer.load_on_open_offset, &trailer.root_entries, error);

    if (status == PETAL_OK)
        status = write_meta_index(writer, metas, block, error);
    if (status == PETAL_OK)
        status = write_file_info(writer, block, &trailer.file_info_offset, error);
    if (status == PETAL_OK)
        status = write_filters(writer, error);
    if (status == PETAL_OK)
        status = write_trailer(writer, &trailer, block, error);
    return status;
}

static enum petal_status
write_end(petal_hfile_writer *writer, struct hfile_index_chunk *metas, struct hfile_buffer *block,
          petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (writer->encoder.count > 0)
        status = hfile_writer_end_block(writer, error);
    if (status == PETAL_OK)
        status = hfile_writer_write_inline(writer, true, error);
    if (status == PETAL_OK)
        status = write_metas(writer, metas, block, error);
    if (status == PETAL_OK)
        status = write_load_on_open(writer, metas, block, error);
    return status;
}

enum petal_status
petal_hfile_writer_finish(petal_hfile_writer *writer, uint64_t *file_bytes, petal_error *error)
{
    HFILE_RETURN_IF_NULL(writer, error);

    struct hfile_index_chunk metas;
    struct hfile_buffer block;
    enum petal_status status = hfile_writer_check_open(writer, error);

    if (status != PETAL_OK)
        return status;
    hfile_index_chunk_init(&metas, writer->options.allocator);
    hfile_buffer_init(&block, writer->options.allocator);
    status = write_end(writer, &metas, &block, error);
    hfile_index_chunk_free(&metas);
    hfile_buffer_free(&block);
    if (status != PETAL_OK)
        return hfile_writer_fail(writer, status);
    writer->is_finished = true;
    if (file_bytes != NULL)
        *file_bytes = writer->blocks.offset;
    return PETAL_OK;
}
