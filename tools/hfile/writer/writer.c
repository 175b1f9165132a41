/* writer.c -- writers are made and freed, and take what does not belong to a cell; see writer.h. */
#include "tools/hfile/writer/writer.h"

#include "tools/hfile/format/argument.h"
#include "tools/hfile/format/error.h"
#include "tools/hfile/format/memory.h"
#include "tools/hfile/format/trailer.h"
#include "tools/hfile/writer/options.h"

#define QUOTED_BYTES 100

/* ---- making and freeing ---- */

static void
init_parts(petal_hfile_writer *writer, const petal_hfile_sink *sink)
{
    const petal_hfile_write_options *options = &writer->options;
    struct hfile_cell_layout layout = {.has_tags = options->with_tags,
                                       .has_sequences = options->with_sequences};

    hfile_block_writer_init(&writer->blocks, sink, options);
    writer->blocks.sink.name = writer->name;
    hfile_encoder_init(&writer->encoder, hfile_encoding_of(options->encoding), &layout,
                       options->allocator);
    hfile_index_writer_init(&writer->index, &writer->blocks, options);
    hfile_bloom_writer_init(&writer->general, &writer->blocks,
                            options->bloom == PETAL_HFILE_BLOOM_ROWCOL, options);
    hfile_bloom_writer_init(&writer->delete_family, &writer->blocks, false, options);
    hfile_buffer_init(&writer->bloom_key, options->allocator);
    hfile_buffer_init(&writer->keys[0], options->allocator);
    hfile_buffer_init(&writer->keys[1], options->allocator);
    hfile_buffer_init(&writer->first_key, options->allocator);
    hfile_buffer_init(&writer->key_before, options->allocator);
    hfile_buffer_init(&writer->separator, options->allocator);
    hfile_written_facts_init(&writer->facts, options->allocator);
    hfile_file_info_init(&writer->info, options->allocator);
    hfile_file_info_init(&writer->metas, options->allocator);
    writer->first_data_block_offset = writer->last_data_block_offset = HFILE_NO_BLOCK;
}

enum petal_status
petal_hfile_writer_new(const petal_hfile_sink *sink, const petal_hfile_write_options *given,
                       petal_hfile_writer **writer, petal_error *error)
{
    HFILE_RETURN_IF_NULL(writer, error);
    *writer = NULL;
    HFILE_RETURN_IF_NULL(sink, error);

    petal_hfile_write_options options;
    petal_hfile_writer *made;
    enum petal_status status;
    size_t name_bytes;

    hfile_error_clear(error);
    status = hfile_write_options_take(given, &options, error);
    if (status != PETAL_OK)
        return status;
    if (sink->write == NULL || sink->name == NULL)
        return hfile_error_null(error, sink->write == NULL ? "sink->write" : "sink->name");
    made = hfile_allocate_zeroed(options.allocator, sizeof *made);
    if (made == NULL)
        return hfile_error_no_memory(error);
    name_bytes = strlen(sink->name) + 1;
    made->name = hfile_allocate(options.allocator, name_bytes);
    if (made->name == NULL) {
        hfile_release(options.allocator, made, sizeof *made);
        return hfile_error_no_memory(error);
    }
    memcpy(made->name, sink->name, name_bytes);
    made->options = options;
    init_parts(made, sink);
    *writer = made;
    return PETAL_OK;
}

void
petal_hfile_writer_free(petal_hfile_writer *writer)
{
    const petal_allocator *allocator;

    if (writer == NULL)
        return;
    allocator = writer->options.allocator;
    hfile_block_writer_free(&writer->blocks);
    hfile_encoder_free(&writer->encoder);
    hfile_index_writer_free(&writer->index);
    hfile_bloom_writer_free(&writer->general);
    hfile_bloom_writer_free(&writer->delete_family);
    hfile_buffer_free(&writer->bloom_key);
    hfile_buffer_free(&writer->keys[0]);
    hfile_buffer_free(&writer->keys[1]);
    hfile_buffer_free(&writer->first_key);
    hfile_buffer_free(&writer->key_before);
    hfile_buffer_free(&writer->separator);
    hfile_written_facts_free(&writer->facts);
    hfile_file_info_free(&writer->info);
    hfile_file_info_free(&writer->metas);
    hfile_release(allocator, writer->name, strlen(writer->name) + 1);
    hfile_release(allocator, writer, sizeof *writer);
}

uint64_t
petal_hfile_writer_bytes(const petal_hfile_writer *writer)
{
    return writer != NULL ? writer->blocks.offset : 0;
}

uint64_t
petal_hfile_writer_cells(const petal_hfile_writer *writer)
{
    return writer != NULL ? writer->facts.cells : 0;
}

/* ---- failures ---- */

enum petal_status
hfile_writer_fail(petal_hfile_writer *writer, enum petal_status status)
{
    writer->failed = status;
    return status;
}

enum petal_status
hfile_writer_check_open(const petal_hfile_writer *writer, petal_error *error)
{
    hfile_error_clear(error);
    if (writer->failed != PETAL_OK)
        return hfile_error_set(error, writer->failed, writer->name,
                               "the file cannot be continued: an earlier call failed");
    if (writer->is_finished)
        return hfile_error_set(error, PETAL_INVALID, writer->name, "the file is finished");
    return PETAL_OK;
}

/* ---- entries of the caller's ---- */

static enum petal_status
enter(petal_hfile_writer *writer, struct hfile_file_info *entries, petal_slice key,
      petal_slice value, petal_error *error)
{
    char quoted[QUOTED_BYTES];
    petal_slice there;

    if (key.size == 0 || hfile_file_info_find(entries, key, &there))
        return hfile_error_set(error, PETAL_INVALID, writer->name, "\"%s\" is %s",
                               hfile_error_quote(key, quoted, sizeof quoted),
                               key.size == 0 ? "no name" : "there already");
    if (key.size > HFILE_MOST_PAYLOAD_BYTES / 4 || value.size > HFILE_MOST_PAYLOAD_BYTES / 2)
        return hfile_error_set(error, PETAL_INVALID, writer->name, "\"%s\" is too long",
                               hfile_error_quote(key, quoted, sizeof quoted));
    return hfile_file_info_add(entries, key, value)
               ? PETAL_OK
               : hfile_writer_fail(writer, hfile_error_no_memory(error));
}

enum petal_status
petal_hfile_writer_info(petal_hfile_writer *writer, petal_slice key, petal_slice value,
                        petal_error *error)
{
    HFILE_RETURN_IF_NULL(writer, error);
    HFILE_RETURN_IF_NO_BYTES(key, error);
    HFILE_RETURN_IF_NO_BYTES(value, error);

    enum petal_status status = hfile_writer_check_open(writer, error);
    char quoted[QUOTED_BYTES];

    if (status != PETAL_OK)
        return status;
    if (hfile_is_reserved_name(key))
        return hfile_error_set(error, PETAL_INVALID, writer->name,
                               "\"%s\" is an entry that the writer makes itself",
                               hfile_error_quote(key, quoted, sizeof quoted));
    return enter(writer, &writer->info, key, value, error);
}

enum petal_status
petal_hfile_writer_meta(petal_hfile_writer *writer, petal_slice name, petal_slice bytes,
                        petal_error *error)
{
    HFILE_RETURN_IF_NULL(writer, error);
    HFILE_RETURN_IF_NO_BYTES(name, error);
    HFILE_RETURN_IF_NO_BYTES(bytes, error);

    enum petal_status status = hfile_writer_check_open(writer, error);

    return status == PETAL_OK ? enter(writer, &writer->metas, name, bytes, error) : status;
}
