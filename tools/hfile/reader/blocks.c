/* blocks.c -- the blocks of a file as they stand in it, and user meta blocks. */
#include "tools/hfile/format/argument.h"
#include "tools/hfile/format/error.h"
#include "tools/hfile/format/key.h"
#include "tools/hfile/format/memory.h"
#include "tools/hfile/reader/index.h"

#include <inttypes.h>

#define READ_AHEAD_BYTES (512u << 10)

static enum petal_status
walk(struct hfile_block_reader *reader,
     bool (*visit)(void *argument, const petal_hfile_block *block), void *argument,
     petal_error *error)
{
    uint64_t end = reader->file->trailer_offset;
    struct hfile_block block;

    reader->read_ahead = READ_AHEAD_BYTES;
    for (uint64_t offset = 0; offset < end; offset += block.header.stored_bytes) {
        enum petal_status status = hfile_block_read_stored(reader, offset, 0, end, &block, error);

        if (status != PETAL_OK)
            return status;
        if (!visit(argument, &block.header))
            return PETAL_OK;
    }
    return PETAL_OK;
}

enum petal_status
petal_hfile_blocks(petal_hfile *file, bool (*visit)(void *argument, const petal_hfile_block *block),
                   void *argument, petal_error *error)
{
    HFILE_RETURN_IF_NULL(file, error);
    HFILE_RETURN_IF_NULL(visit, error);

    struct hfile_block_reader reader;
    enum petal_status status;

    hfile_error_clear(error);
    hfile_block_reader_init(&reader, file);
    status = walk(&reader, visit, argument, error);
    hfile_block_reader_free(&reader);
    return status;
}

/* ---- bytes for the caller ---- */

static enum petal_status
copy(const petal_hfile *file, petal_slice from, void **bytes, size_t *size, petal_error *error)
{
    *bytes = hfile_allocate(file->allocator, from.size);
    if (*bytes == NULL)
        return hfile_error_no_memory(error);
    if (from.size > 0)
        memcpy(*bytes, from.data, from.size);
    *size = from.size;
    return PETAL_OK;
}

void
petal_hfile_release(petal_hfile *file, void *bytes, size_t size)
{
    if (file != NULL)
        hfile_release(file->allocator, bytes, size);
}

/* ---- user meta blocks ---- */

bool
petal_hfile_meta_name(const petal_hfile *file, size_t number, petal_slice *name)
{
    if (file == NULL || name == NULL || number >= file->meta_root.count)
        return false;
    *name = file->meta_root.entries[number].key;
    return true;
}

enum petal_status
petal_hfile_meta_read(petal_hfile *file, size_t number, void **bytes, size_t *size,
                      petal_error *error)
{
    HFILE_RETURN_IF_NULL(bytes, error);
    *bytes = NULL;
    HFILE_RETURN_IF_NULL(size, error);
    *size = 0;
    HFILE_RETURN_IF_NULL(file, error);

    const struct hfile_index_entry *entry;
    struct hfile_block_reader reader;
    enum petal_status status;
    struct hfile_block block;

    hfile_error_clear(error);
    if (number >= file->meta_root.count)
        return hfile_error_set(error, PETAL_NOT_FOUND, file->name,
                               "there is no meta block number %zu", number);
    entry = &file->meta_root.entries[number];
    hfile_block_reader_init(&reader, file);
    status =
        hfile_block_read_kind(&reader, PETAL_HFILE_BLOCK_META, entry->offset, entry->stored_bytes,
                              file->trailer.load_on_open_offset, &block, error);
    if (status == PETAL_OK)
        status = copy(file, block.payload, bytes, size, error);
    hfile_block_reader_free(&reader);
    return status;
}

/* ---- the middle of the file ---- */

/* Of a root of several levels: the entry of the leaf that it names. */
static enum petal_status
copy_key_of_leaf(const petal_hfile *file, struct hfile_block_reader *reader,
                 struct hfile_index_block *leaf, void **bytes, size_t *size, petal_error *error)
{
    const struct hfile_mid_key *mid_key = &file->mid_key;
    struct hfile_block block;
    enum petal_status status;
    const char *wrong = "";

    status = hfile_block_read_kind(reader, PETAL_HFILE_BLOCK_LEAF_INDEX, mid_key->offset,
                                   mid_key->stored_bytes, file->trailer.load_on_open_offset, &block,
                                   error);
    if (status != PETAL_OK)
        return status;
    status = hfile_index_block_parse(leaf, block.payload, &wrong);
    if (status == PETAL_NO_MEMORY)
        return hfile_error_no_memory(error);
    if (status != PETAL_OK || mid_key->number >= leaf->count)
        return hfile_error_corrupt(error, file->name, mid_key->offset,
                                   "block at %" PRIu64
                                   ": it lacks the middle entry of the index%s%s",
                                   mid_key->offset, status == PETAL_OK ? "" : ": ", wrong);
    return copy(file, leaf->entries[mid_key->number].key, bytes, size, error);
}

enum petal_status
petal_hfile_mid_key(petal_hfile *file, void **bytes, size_t *size, petal_error *error)
{
    HFILE_RETURN_IF_NULL(bytes, error);
    *bytes = NULL;
    HFILE_RETURN_IF_NULL(size, error);
    *size = 0;
    HFILE_RETURN_IF_NULL(file, error);

    struct hfile_block_reader reader;
    struct hfile_index_block leaf;
    enum petal_status status;

    hfile_error_clear(error);
    if (file->root.count == 0)
        return hfile_error_set(error, PETAL_NOT_FOUND, file->name, "the file has no cells");
    if (!file->has_mid_key)
        return copy(file, file->root.entries[file->root.count / 2].key, bytes, size, error);
    hfile_block_reader_init(&reader, file);
    hfile_index_block_init(&leaf, file->allocator);
    status = copy_key_of_leaf(file, &reader, &leaf, bytes, size, error);
    hfile_index_block_free(&leaf);
    hfile_block_reader_free(&reader);
    return status;
}
