/* index_writer.c -- see index_writer.h. */
#include "sstable/index/index_writer.h"

#include <assert.h>

struct kept_block {
    size_t end, key_bytes; /* of the block's key, before which it lies itself */
    size_t raw_bytes;
    uint32_t entries, begins; /* of the frame, and of the handle (format.h) */
};

void
index_writer_init(struct index_writer *writer, struct block_sink *sink, enum block_kind kind,
                  bool compress)
{
    assert(kind == BLOCK_DATA_INDEX || kind == BLOCK_BLOOM_INDEX);
    *writer = (struct index_writer){.sink = sink, .kind = kind, .compress = compress};
}

static void
free_kept(struct index_writer *writer)
{
    const petal_allocator *allocator = writer->sink->env->allocator;

    for (unsigned i = 0; i < INDEX_KEPT; i++) {
        struct kept_blocks *kept = &writer->kept[i];

        mem_free(allocator, kept->bytes, kept->capacity);
        mem_free(allocator, kept->blocks, kept->blocks_capacity * sizeof *kept->blocks);
        *kept = (struct kept_blocks){.written = kept->written};
    }
}

void
index_writer_fini(struct index_writer *writer)
{
    for (unsigned i = 0; i < INDEX_MAX_LEVELS; i++) {
        index_block_builder_free(writer->levels[i].builder);
        writer->levels[i].builder = NULL;
    }
    free_kept(writer);
}

size_t
index_writer_memory(const struct index_writer *writer)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < INDEX_KEPT; i++)
        bytes += writer->kept[i].capacity +
                 writer->kept[i].blocks_capacity * sizeof *writer->kept[i].blocks;
    return bytes;
}

static enum petal_status level_add(struct index_writer *writer, unsigned level, petal_slice key,
                                   struct block_handle handle, petal_error *error);

/* ---- what is kept back ---- */

/* Write what was kept back to be named in `level`, and name it there. */
static enum petal_status
write_region(struct index_writer *writer, enum index_kept level, petal_error *error)
{
    struct kept_blocks *kept = &writer->kept[level];
    bool nodes = level == INDEX_KEPT_NODES;
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < kept->count; i++) {
        const struct kept_block *block = &kept->blocks[i];
        const uint8_t *key = kept->bytes + block->end - block->key_bytes;
        struct block_handle handle;

        status = block_sink_append(writer->sink, nodes ? writer->kind : BLOCK_BLOOM,
                                   slice_make(key - block->raw_bytes, block->raw_bytes),
                                   block->entries, nodes && writer->compress, &handle, error);
        if (status == PETAL_OK) {
            kept->written += handle.size;
            handle.begins = block->begins;
            status = level_add(writer, level, slice_make(key, block->key_bytes), handle, error);
        }
    }
    kept->used = kept->count = 0;
    return status;
}

/* Keep a copy of a block back that `level` is going to name by its first key. */
static enum petal_status
keep_block(struct index_writer *writer, enum index_kept level, petal_slice raw, petal_slice key,
           uint32_t entries, uint32_t begins, petal_error *error)
{
    const petal_allocator *allocator = writer->sink->env->allocator;
    struct kept_blocks *kept = &writer->kept[level];
    size_t end = kept->used + raw.size + key.size;

    assert(raw.size > 0 && key.size > 0);
    if (!mem_grow_array(allocator, &kept->bytes, &kept->capacity, kept->used, end, 1) ||
        !mem_grow_array(allocator, &kept->blocks, &kept->blocks_capacity, kept->count,
                        kept->count + 1, sizeof *kept->blocks))
        return error_no_memory(error);
    memcpy(kept->bytes + kept->used, raw.data, raw.size);
    memcpy(kept->bytes + kept->used + raw.size, key.data, key.size);
    kept->blocks[kept->count++] = (struct kept_block){end, key.size, raw.size, entries, begins};
    kept->used = end;
    return kept->used >= INDEX_REGION_FULL_BYTES ? write_region(writer, level, error) : PETAL_OK;
}

enum petal_status
index_writer_add_chunk(struct index_writer *writer, petal_slice chunk, petal_slice key,
                       petal_error *error)
{
    assert(writer->kind == BLOCK_BLOOM_INDEX);
    return keep_block(writer, INDEX_KEPT_CHUNKS, chunk, key, 0, 0, error);
}

enum petal_status
index_writer_spill(struct index_writer *writer, petal_error *error)
{
    enum petal_status status = write_region(writer, INDEX_KEPT_CHUNKS, error);

    if (status == PETAL_OK)
        status = write_region(writer, INDEX_KEPT_NODES, error);
    free_kept(writer);
    return status;
}

/* ---- levels ---- */

/* Write a node of so many entries. */
static enum petal_status
write_node(struct index_writer *writer, petal_slice bytes, uint32_t entries,
           struct block_handle *handle, petal_error *error)
{
    enum petal_status status = block_sink_append(writer->sink, writer->kind, bytes, entries,
                                                 writer->compress, handle, error);

    if (status == PETAL_OK)
        writer->upper_bytes += handle->size;
    return status;
}

/* Write the builder's entries as one node, or keep them for it, name it in the level above, and
 * start the next. */
static enum petal_status
close_node(struct index_writer *writer, struct index_block_builder *builder, unsigned level,
           petal_error *error)
{
    uint32_t entries = (uint32_t)index_block_builder_count(builder);
    uint32_t begins = index_block_builder_handle(builder, 0).begins;
    petal_slice key = index_block_builder_key(builder, 0);
    struct block_handle handle;
    petal_slice bytes;
    enum petal_status status;

    assert(level < INDEX_MAX_LEVELS && entries > 0);
    if (index_block_builder_finish(builder, level, &bytes) != PETAL_OK) {
        status = error_no_memory(error);
    } else if (level == 0) {
        status = keep_block(writer, INDEX_KEPT_NODES, bytes, key, entries, begins, error);
    } else {
        status = write_node(writer, bytes, entries, &handle, error);
        handle.begins = begins;
        if (status == PETAL_OK)
            status = level_add(writer, level + 1, key, handle, error);
    }
    index_block_builder_reset(builder);
    return status;
}

/* Add to a level that is split: to the node at hand, or to a new one when that is full. */
static enum petal_status
add_to_node(struct index_writer *writer, struct index_block_builder *builder, unsigned level,
            petal_slice key, struct block_handle handle, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (index_block_builder_count(builder) >= INDEX_NODE_ENTRIES &&
        index_block_builder_bytes(builder) + INDEX_BLOCK_ENTRY_BYTES + key.size > INDEX_NODE_BYTES)
        status = close_node(writer, builder, level, error);
    if (status == PETAL_OK && index_block_builder_add(builder, key, handle) != PETAL_OK)
        status = error_no_memory(error);
    return status;
}

/* The level has outgrown a root: write it as small nodes.  The last of them stays open. */
static enum petal_status
split_level(struct index_writer *writer, unsigned level, petal_error *error)
{
    struct index_level *at = &writer->levels[level];
    struct index_block_builder *large = at->builder;
    enum petal_status status = PETAL_OK;

    assert(!at->split);
    if (index_block_builder_new(&at->builder, writer->sink->env->allocator) != PETAL_OK) {
        at->builder = large;
        return error_no_memory(error);
    }
    at->split = true;
    for (size_t i = 0; status == PETAL_OK && i < index_block_builder_count(large); i++)
        status = add_to_node(writer, at->builder, level, index_block_builder_key(large, i),
                             index_block_builder_handle(large, i), error);
    index_block_builder_free(large);
    return status;
}

static enum petal_status
level_add(struct index_writer *writer, unsigned level, petal_slice key, struct block_handle handle,
          petal_error *error)
{
    struct index_level *at = &writer->levels[level];

    assert(level < INDEX_MAX_LEVELS && key.size > 0);
    if (level + 1 == INDEX_MAX_LEVELS)
        return error_file(error, PETAL_INVALID, writer->sink->path,
                          "the index would need more than %d levels", INDEX_MAX_LEVELS);
    if (at->builder == NULL &&
        index_block_builder_new(&at->builder, writer->sink->env->allocator) != PETAL_OK) {
        at->builder = NULL;
        return error_no_memory(error);
    }
    if (at->split)
        return add_to_node(writer, at->builder, level, key, handle, error);
    if (index_block_builder_add(at->builder, key, handle) != PETAL_OK)
        return error_no_memory(error);
    if (index_block_builder_count(at->builder) > INDEX_NODE_ENTRIES &&
        index_block_builder_bytes(at->builder) > INDEX_ROOT_BYTES)
        return split_level(writer, level, error);
    return PETAL_OK;
}

enum petal_status
index_writer_add(struct index_writer *writer, petal_slice key, struct block_handle handle,
                 petal_error *error)
{
    return level_add(writer, 0, key, handle, error);
}

enum petal_status
index_writer_finish_nodes(struct index_writer *writer, petal_error *error)
{
    enum petal_status status = write_region(writer, INDEX_KEPT_CHUNKS, error);

    assert(status != PETAL_OK || writer->levels[0].builder != NULL);
    for (unsigned level = 0; status == PETAL_OK && writer->levels[level].split; level++) {
        status = close_node(writer, writer->levels[level].builder, level, error);
        if (status == PETAL_OK && level == 0)
            status = write_region(writer, INDEX_KEPT_NODES, error);
    }
    return status;
}

enum petal_status
index_writer_finish_root(struct index_writer *writer, struct block_handle *root, petal_error *error)
{
    struct index_block_builder *builder;
    unsigned level = 0;
    petal_slice bytes;

    while (writer->levels[level].split) /* the first one that was not is one node */
        level++;
    builder = writer->levels[level].builder;
    assert(builder != NULL && index_writer_pending_bytes(writer) == 0);
    if (index_block_builder_finish(builder, level, &bytes) != PETAL_OK)
        return error_no_memory(error);
    return write_node(writer, bytes, (uint32_t)index_block_builder_count(builder), root, error);
}
