/* file.c -- see file.h. */
#include "tools/hfile/reader/file.h"

#include "tools/hfile/format/argument.h"
#include "tools/hfile/format/error.h"
#include "tools/hfile/format/memory.h"
#include "tools/hfile/format/options.h"
#include "tools/hfile/reader/block.h"
#include "tools/hfile/reader/facts.h"
#include "tools/hfile/reader/path_source.h"

#include <inttypes.h>

/* The load-on-open section of most files, in one read. */
#define READ_AHEAD_BYTES (256u << 10)

/* ---- the trailer ---- */

static enum petal_status
read_trailer(petal_hfile *file, petal_error *error)
{
    uint64_t size = file->source.size;
    size_t tail_bytes = size < sizeof file->tail ? (size_t)size : sizeof file->tail;
    enum petal_status status;

    if (tail_bytes < 4)
        return hfile_error_corrupt(error, file->name, 0,
                                   "this is no HFile: it has %" PRIu64 " bytes", size);
    status = file->source.read_at(file->source.context, size - tail_bytes, file->tail, tail_bytes,
                                  error);
    if (status == PETAL_OK)
        status = hfile_trailer_parse(hfile_slice(file->tail, tail_bytes), size, file->name,
                                     &file->trailer, error);
    if (status != PETAL_OK)
        return status;
    file->trailer_offset = size - hfile_trailer_size(file->trailer.major_version);
    return PETAL_OK;
}

/* ---- the load-on-open section ---- */

static enum petal_status
parse_failed(const petal_hfile *file, enum petal_status status, uint64_t offset, const char *wrong,
             petal_error *error)
{
    if (status == PETAL_NO_MEMORY)
        return hfile_error_no_memory(error);
    if (status == PETAL_UNSUPPORTED)
        return hfile_error_unsupported(error, file->name, "%s", wrong);
    return hfile_error_corrupt(error, file->name, offset, "block at %" PRIu64 ": %s", offset,
                               wrong);
}

static enum petal_status
load_data_root(petal_hfile *file, const struct hfile_block *block, petal_error *error)
{
    enum petal_status status;
    const char *wrong;
    petal_slice rest;

    status = hfile_index_block_parse_root(&file->root, block->payload, file->trailer.root_entries,
                                          &rest, &wrong);
    if (status != PETAL_OK)
        return parse_failed(file, status, block->header.offset, wrong, error);
    if (rest.size == 0)
        return PETAL_OK;
    file->has_mid_key = hfile_mid_key_parse(rest, &file->mid_key);
    if (!file->has_mid_key)
        return parse_failed(file, PETAL_CORRUPT, block->header.offset,
                            "the root of the index is longer than its entries", error);
    return PETAL_OK;
}

static enum petal_status
load_meta_root(petal_hfile *file, const struct hfile_block *block, petal_error *error)
{
    enum petal_status status;
    const char *wrong;
    petal_slice rest;

    status = hfile_index_block_parse_root(&file->meta_root, block->payload,
                                          file->trailer.meta_entries, &rest, &wrong);
    if (status == PETAL_OK && rest.size > 0) {
        wrong = "the index of meta blocks is longer than its entries";
        status = PETAL_CORRUPT;
    }
    if (status != PETAL_OK)
        return parse_failed(file, status, block->header.offset, wrong, error);
    return PETAL_OK;
}

static enum petal_status
load_file_info(petal_hfile *file, const struct hfile_block *block, petal_error *error)
{
    enum petal_status status;
    const char *wrong;

    status = hfile_file_info_parse(block->payload, &file->file_info, &wrong);
    if (status != PETAL_OK)
        return parse_failed(file, status, block->header.offset, wrong, error);
    return hfile_facts_from_file_info(file, error);
}

/* A general filter without a type is not used; HBase leaves it out as well. */
static enum petal_status
load_filter(petal_hfile *file, const struct hfile_block *block, petal_error *error)
{
    bool is_general = block->header.kind == PETAL_HFILE_BLOCK_GENERAL_BLOOM_META;
    struct hfile_filter *filter =
        &file->filters[is_general ? PETAL_HFILE_FILTER_GENERAL : PETAL_HFILE_FILTER_DELETE_FAMILY];
    enum petal_status status;
    const char *wrong;

    if (!is_general && block->header.kind != PETAL_HFILE_BLOCK_DELETE_FAMILY_BLOOM_META)
        return parse_failed(file, PETAL_CORRUPT, block->header.offset,
                            "it does not belong between FILE_INFO and trailer", error);
    if (filter->is_there)
        return parse_failed(file, PETAL_CORRUPT, block->header.offset,
                            "the file has two Bloom filters of one kind", error);
    status = hfile_bloom_meta_parse(&filter->meta, block->payload, &wrong);
    if (status != PETAL_OK)
        return parse_failed(file, status, block->header.offset, wrong, error);
    if (is_general)
        hfile_file_info_find(&file->file_info, hfile_text_slice(HFILE_INFO_LAST_BLOOM_KEY),
                             &filter->meta.facts.last_key);
    filter->is_there = !is_general || file->info.bloom_type != PETAL_HFILE_BLOOM_NONE;
    return PETAL_OK;
}

typedef enum petal_status block_loader(petal_hfile *file, const struct hfile_block *block,
                                       petal_error *error);

/* The block at *offset, of this kind; *offset becomes that of its end. */
static enum petal_status
load_block(petal_hfile *file, struct hfile_block_reader *reader, enum petal_hfile_block_kind kind,
           block_loader *loader, uint64_t *offset, petal_error *error)
{
    struct hfile_block block;
    enum petal_status status =
        hfile_block_read_kind(reader, kind, *offset, 0, file->trailer_offset, &block, error);

    if (status != PETAL_OK)
        return status;
    *offset += block.header.stored_bytes;
    return loader(file, &block, error);
}

/* Both roots, and they end where FILE_INFO begins. */
static enum petal_status
load_roots(petal_hfile *file, struct hfile_block_reader *reader, petal_error *error)
{
    uint64_t offset = file->trailer.load_on_open_offset;
    enum petal_status status;

    if (file->is_index_encoded)
        return PETAL_OK;
    status = load_block(file, reader, PETAL_HFILE_BLOCK_ROOT_INDEX, load_data_root, &offset, error);
    if (status == PETAL_OK)
        status =
            load_block(file, reader, PETAL_HFILE_BLOCK_ROOT_INDEX, load_meta_root, &offset, error);
    if (status == PETAL_OK && offset != file->trailer.file_info_offset)
        return parse_failed(file, PETAL_CORRUPT, offset, "FILE_INFO is not where the trailer says",
                            error);
    return status == PETAL_OK ? hfile_facts_from_root(file, error) : status;
}

static enum petal_status
load_filters(petal_hfile *file, struct hfile_block_reader *reader, uint64_t offset,
             petal_error *error)
{
    while (offset < file->trailer_offset) {
        struct hfile_block block;
        enum petal_status status =
            hfile_block_read(reader, offset, 0, file->trailer_offset, &block, error);

        if (status == PETAL_OK)
            status = load_filter(file, &block, error);
        if (status != PETAL_OK)
            return status;
        offset += block.header.stored_bytes;
    }
    return PETAL_OK;
}

/* FILE_INFO first: it says whether the rest can be read. */
static enum petal_status
load_section(petal_hfile *file, struct hfile_block_reader *reader, petal_error *error)
{
    uint64_t offset = file->trailer.file_info_offset;
    enum petal_status status =
        load_block(file, reader, PETAL_HFILE_BLOCK_FILE_INFO, load_file_info, &offset, error);

    if (status == PETAL_OK)
        status = load_filters(file, reader, offset, error);
    return status == PETAL_OK ? load_roots(file, reader, error) : status;
}

static enum petal_status
load(petal_hfile *file, petal_error *error)
{
    struct hfile_block_reader reader;
    enum petal_status status = read_trailer(file, error);

    if (status == PETAL_OK)
        status = hfile_facts_from_trailer(file, error);
    if (status != PETAL_OK)
        return status;
    hfile_block_reader_init(&reader, file);
    reader.read_ahead = READ_AHEAD_BYTES;
    status = load_section(file, &reader, error);
    hfile_block_reader_free(&reader);
    return status;
}

/* ---- opening and closing ---- */

static enum petal_status
take_options(const petal_hfile_read_options *given, petal_hfile_read_options *options,
             petal_error *error)
{
    enum petal_status status =
        hfile_options_take(given, options, sizeof *options, "petal_hfile_read_options", error);

    if (options->allocator == NULL)
        options->allocator = &hfile_default_allocator;
    return status;
}

static petal_hfile *
make_file(const petal_hfile_source *source, const petal_hfile_read_options *options)
{
    petal_hfile *file = hfile_allocate_zeroed(options->allocator, sizeof *file);
    const char *name = source->name == NULL ? "" : source->name;
    size_t name_bytes = strlen(name) + 1;

    if (file == NULL)
        return NULL;
    file->name = hfile_allocate(options->allocator, name_bytes);
    if (file->name == NULL) {
        hfile_release(options->allocator, file, sizeof *file);
        return NULL;
    }
    memcpy(file->name, name, name_bytes);
    file->allocator = options->allocator;
    file->source = *source;
    file->no_checksums = options->no_checksums;
    file->facts_only = options->facts_only;
    hfile_index_block_init(&file->root, file->allocator);
    hfile_index_block_init(&file->meta_root, file->allocator);
    hfile_file_info_init(&file->file_info, file->allocator);
    for (size_t i = 0; i < HFILE_FILTERS; i++)
        hfile_bloom_meta_init(&file->filters[i].meta, file->allocator);
    return file;
}

static enum petal_status
open_taken(const petal_hfile_source *source, const petal_hfile_read_options *options,
           petal_hfile **file, petal_error *error)
{
    petal_hfile *made = make_file(source, options);
    enum petal_status status;

    if (made == NULL) {
        if (source->close != NULL)
            source->close(source->context);
        return hfile_error_no_memory(error);
    }
    status = load(made, error);
    if (status != PETAL_OK) {
        petal_hfile_close(made);
        return status;
    }
    *file = made;
    return PETAL_OK;
}

enum petal_status
petal_hfile_open_source(const petal_hfile_source *source,
                        const petal_hfile_read_options *given_options, petal_hfile **file,
                        petal_error *error)
{
    HFILE_RETURN_IF_NULL(file, error);
    *file = NULL;
    HFILE_RETURN_IF_NULL(source, error);
    HFILE_RETURN_IF_NULL(source->read_at, error);

    petal_hfile_read_options options;
    enum petal_status status;

    hfile_error_clear(error);
    status = take_options(given_options, &options, error);
    if (status == PETAL_OK)
        return open_taken(source, &options, file, error);
    if (source->close != NULL)
        source->close(source->context);
    return status;
}

static enum petal_status
check_name(const char *path, petal_error *error)
{
    switch (petal_hfile_name_kind_of(path)) {
    case PETAL_HFILE_NAME_REFERENCE:
        return hfile_error_unsupported(
            error, path, "by its name this is a reference to half of a file of another region");
    case PETAL_HFILE_NAME_LINK:
    case PETAL_HFILE_NAME_LINK_REFERENCE:
        return hfile_error_unsupported(error, path, "by its name this is a link to another file");
    case PETAL_HFILE_NAME_STORE_FILE:
    case PETAL_HFILE_NAME_MOB:
    default:
        return PETAL_OK;
    }
}

enum petal_status
petal_hfile_open(const char *path, const petal_hfile_read_options *given_options,
                 petal_hfile **file, petal_error *error)
{
    HFILE_RETURN_IF_NULL(file, error);
    *file = NULL;
    HFILE_RETURN_IF_NULL(path, error);

    petal_hfile_read_options options;
    petal_hfile_source source;
    enum petal_status status;

    hfile_error_clear(error);
    status = take_options(given_options, &options, error);
    if (status == PETAL_OK)
        status = check_name(path, error);
    if (status == PETAL_OK)
        status = hfile_path_source_open(path, options.allocator, &source, error);
    return status == PETAL_OK ? open_taken(&source, &options, file, error) : status;
}

void
petal_hfile_close(petal_hfile *file)
{
    if (file == NULL)
        return;
    for (size_t i = 0; i < HFILE_FILTERS; i++)
        hfile_bloom_meta_free(&file->filters[i].meta);
    hfile_file_info_free(&file->file_info);
    hfile_index_block_free(&file->meta_root);
    hfile_index_block_free(&file->root);
    if (file->source.close != NULL)
        file->source.close(file->source.context);
    hfile_release(file->allocator, file->name, strlen(file->name) + 1);
    hfile_release(file->allocator, file, sizeof *file);
}

enum petal_status
hfile_check_readable(const petal_hfile *file, petal_error *error)
{
    if (!file->facts_only)
        return PETAL_OK;
    return hfile_error_set(error, PETAL_INVALID, file->name,
                           "the file was opened for its facts only");
}
