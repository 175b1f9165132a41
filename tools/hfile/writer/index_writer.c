/* index_writer.c -- see index_writer.h. Blocks are cut where HBase cuts them. */
#include "tools/hfile/writer/index_writer.h"

#include "tools/hfile/format/error.h"
#include "tools/hfile/format/index_block.h"

#include <assert.h>

#define SUM_BYTES 8

void
hfile_index_writer_init(struct hfile_index_writer *writer, struct hfile_block_writer *blocks,
                        const petal_hfile_write_options *options)
{
    *writer = (struct hfile_index_writer){.blocks = blocks,
                                          .most_bytes = options->index_block_bytes,
                                          .least_entries = options->index_block_entries,
                                          .levels = 1};
    hfile_index_chunk_init(&writer->leaf, options->allocator);
    hfile_index_chunk_init(&writer->root, options->allocator);
    hfile_buffer_init(&writer->sums, options->allocator);
    hfile_buffer_init(&writer->block, options->allocator);
}

void
hfile_index_writer_free(struct hfile_index_writer *writer)
{
    hfile_index_chunk_free(&writer->leaf);
    hfile_index_chunk_free(&writer->root);
    hfile_buffer_free(&writer->sums);
    hfile_buffer_free(&writer->block);
}

bool
hfile_index_writer_add(struct hfile_index_writer *writer, petal_slice key,
                       const struct hfile_block_place *place)
{
    if (!hfile_index_chunk_add(&writer->leaf, key, place))
        return false;
    writer->data_blocks++;
    return true;
}

static enum petal_status
write_block(struct hfile_index_writer *writer, enum petal_hfile_block_kind kind,
            struct hfile_block_place *place, petal_error *error)
{
    writer->payload_bytes += writer->block.size - HFILE_BLOCK_HEADER_BYTES;
    return hfile_block_writer_write(writer->blocks, kind, &writer->block, place, error);
}

/* Write a leaf or intermediate block, of which `parent` gets an entry. */
static enum petal_status
write_chunk(struct hfile_index_writer *writer, enum petal_hfile_block_kind kind,
            struct hfile_index_chunk *chunk, struct hfile_index_chunk *parent, petal_error *error)
{
    struct hfile_block_place place, first;
    enum petal_status status;
    petal_slice key;

    if (!hfile_block_begin(&writer->block) || !hfile_index_chunk_put_leaf(chunk, &writer->block))
        return hfile_error_no_memory(error);
    status = write_block(writer, kind, &place, error);
    if (status != PETAL_OK)
        return status;
    hfile_index_chunk_get(chunk, 0, &key, &first);
    if (!hfile_index_chunk_add(parent, key, &place))
        return hfile_error_no_memory(error);
    hfile_index_chunk_clear(chunk);
    return PETAL_OK;
}

enum petal_status
hfile_index_writer_write_leaf(struct hfile_index_writer *writer, bool is_end, petal_error *error)
{
    enum petal_status status;

    if (writer->leaf.count == 0)
        return PETAL_OK;
    if (is_end && writer->root.count == 0) {
        struct hfile_index_chunk leaf = writer->leaf;

        writer->leaf = writer->root;
        writer->root = leaf;
        return PETAL_OK;
    }
    if (!is_end && hfile_index_chunk_leaf_bytes(&writer->leaf) < writer->most_bytes)
        return PETAL_OK;
    status = write_chunk(writer, PETAL_HFILE_BLOCK_LEAF_INDEX, &writer->leaf, &writer->root, error);
    if (status == PETAL_OK && !hfile_buffer_append_u64(&writer->sums, writer->data_blocks))
        return hfile_error_no_memory(error);
    writer->levels = 2;
    return status;
}

/* Where the middle data block is entered: a leaf, and the entry's number in it. */
static void
find_middle(const struct hfile_index_writer *writer, uint8_t *mid_key)
{
    uint64_t middle = (writer->data_blocks - 1) / 2, before = 0;
    struct hfile_block_place place;
    petal_slice key;
    size_t leaf = 0;

    for (; hfile_get_u64(writer->sums.bytes + leaf * SUM_BYTES) <= middle; leaf++)
        before = hfile_get_u64(writer->sums.bytes + leaf * SUM_BYTES);
    assert(leaf < writer->root.count);
    hfile_index_chunk_get(&writer->root, leaf, &key, &place);
    hfile_put_u64(mid_key, place.offset);
    hfile_put_u32(mid_key + 8, place.stored_bytes);
    hfile_put_u32(mid_key + 12, (uint32_t)(middle - before));
}

/* The root's entries go into intermediate blocks, the entries of these become the root. */
static enum petal_status
write_level(struct hfile_index_writer *writer, petal_error *error)
{
    struct hfile_index_chunk parent, *chunk = &writer->leaf;
    enum petal_status status = PETAL_OK;

    assert(chunk->count == 0);
    hfile_index_chunk_init(&parent, writer->root.entries.allocator);
    for (size_t i = 0; i < writer->root.count && status == PETAL_OK; i++) {
        struct hfile_block_place place;
        petal_slice key;

        hfile_index_chunk_get(&writer->root, i, &key, &place);
        if (!hfile_index_chunk_add(chunk, key, &place))
            status = hfile_error_no_memory(error);
        else if (i + 1 == writer->root.count ||
                 (i >= writer->least_entries && chunk->root_bytes >= writer->most_bytes))
            status =
                write_chunk(writer, PETAL_HFILE_BLOCK_INTERMEDIATE_INDEX, chunk, &parent, error);
    }
    hfile_index_chunk_free(&writer->root);
    writer->root = parent;
    writer->levels++;
    return status;
}

/* A root that names data blocks stays whole, however large it is, as in HBase: intermediate blocks
 * stand above leaves. */
static bool
wants_level(const struct hfile_index_writer *writer)
{
    return writer->levels > 1 && writer->root.root_bytes > writer->most_bytes &&
           writer->root.count > writer->least_entries && writer->levels < HFILE_MOST_INDEX_LEVELS;
}

enum petal_status
hfile_index_writer_finish(struct hfile_index_writer *writer, uint64_t *root_offset,
                          uint32_t *root_entries, petal_error *error)
{
    uint8_t mid_key[HFILE_MID_KEY_BYTES];
    size_t mid_key_bytes = 0;
    enum petal_status status = PETAL_OK;
    struct hfile_block_place place;

    assert(writer->leaf.count == 0);
    if (writer->levels > 1) {
        find_middle(writer, mid_key);
        mid_key_bytes = sizeof mid_key;
    }
    while (status == PETAL_OK && wants_level(writer))
        status = write_level(writer, error);
    if (status != PETAL_OK)
        return status;
    if (!hfile_block_begin(&writer->block) ||
        !hfile_index_chunk_put_root(&writer->root, &writer->block) ||
        !hfile_buffer_append(&writer->block, mid_key, mid_key_bytes))
        return hfile_error_no_memory(error);
    status = write_block(writer, PETAL_HFILE_BLOCK_ROOT_INDEX, &place, error);
    *root_offset = place.offset;
    *root_entries = (uint32_t)writer->root.count;
    return status;
}
