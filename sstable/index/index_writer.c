/* index_writer.c -- see index_writer.h. */
#include "sstable/index/index_writer.h"

#include <assert.h>

void
index_writer_init(struct index_writer *writer, struct block_sink *sink, enum block_kind kind,
                  bool compress)
{
    assert(kind == BLOCK_DATA_INDEX || kind == BLOCK_BLOOM_INDEX);
    *writer = (struct index_writer){.sink = sink, .kind = kind, .compress = compress};
    block_region_init(&writer->region, sink->env->allocator);
}

void
index_writer_fini(struct index_writer *writer)
{
    for (unsigned i = 0; i < INDEX_MAX_LEVELS; i++) {
        index_block_builder_free(writer->levels[i].builder);
        writer->levels[i].builder = NULL;
    }
    block_region_fini(&writer->region);
}

static enum petal_status level_add(struct index_writer *writer, unsigned level, petal_slice key,
                                   struct block_handle handle, petal_error *error);

/* Write a node of so many entries. */
static enum petal_status
write_node(struct index_writer *writer, petal_slice bytes, uint32_t entries,
           struct block_handle *handle, petal_error *error)
{
    enum petal_status status = block_sink_append(writer->sink, writer->kind, bytes, entries,
                                                 writer->compress, handle, error);

    if (status == PETAL_OK)
        writer->bytes += handle->size;
    return status;
}

enum petal_status
index_writer_add_region(struct index_writer *writer, struct block_region *region,
                        enum block_kind kind, unsigned level, uint64_t *bytes, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < region->count; i++) {
        const struct kept_block *block = &region->blocks[i];
        struct block_handle handle;

        status = block_sink_append(writer->sink, kind, block_region_raw(region, i), block->entries,
                                   kind == writer->kind && writer->compress, &handle, error);
        if (status == PETAL_OK) {
            *bytes += handle.size;
            handle.begins = block->begins;
            status = level_add(writer, level, block_region_key(region, i), handle, error);
        }
    }
    block_region_clear(region);
    return status;
}

/* Write the nodes that were kept back. */
static enum petal_status
write_region(struct index_writer *writer, petal_error *error)
{
    return index_writer_add_region(writer, &writer->region, writer->kind, 1, &writer->bytes, error);
}

/* Keep a node of level 0 back. */
static enum petal_status
keep_node(struct index_writer *writer, petal_slice bytes, uint32_t entries,
          const struct index_block_builder *builder, petal_error *error)
{
    if (!block_region_add(&writer->region, bytes, index_block_builder_key(builder, 0), entries,
                          index_block_builder_handle(builder, 0).begins))
        return error_no_memory(error);
    return block_region_is_full(&writer->region) ? write_region(writer, error) : PETAL_OK;
}

/* Write the builder's entries as one node, or keep them for it, name it in the level above, and
 * start the next. */
static enum petal_status
close_node(struct index_writer *writer, struct index_block_builder *builder, unsigned level,
           petal_error *error)
{
    uint32_t entries = (uint32_t)index_block_builder_count(builder);
    struct block_handle handle;
    petal_slice bytes;
    enum petal_status status;

    assert(level < INDEX_MAX_LEVELS && entries > 0);
    if (index_block_builder_finish(builder, level, &bytes) != PETAL_OK) {
        status = error_no_memory(error);
    } else if (level == 0) {
        status = keep_node(writer, bytes, entries, builder, error);
    } else {
        status = write_node(writer, bytes, entries, &handle, error);
        handle.begins = index_block_builder_handle(builder, 0).begins;
        if (status == PETAL_OK)
            status =
                level_add(writer, level + 1, index_block_builder_key(builder, 0), handle, error);
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
index_writer_spill(struct index_writer *writer, petal_error *error)
{
    enum petal_status status = write_region(writer, error);

    block_region_fini(&writer->region);
    return status;
}

enum petal_status
index_writer_finish_nodes(struct index_writer *writer, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    assert(writer->levels[0].builder != NULL);
    for (unsigned level = 0; status == PETAL_OK && writer->levels[level].split; level++) {
        status = close_node(writer, writer->levels[level].builder, level, error);
        if (status == PETAL_OK && level == 0)
            status = write_region(writer, error);
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
    assert(builder != NULL && writer->region.count == 0);
    if (index_block_builder_finish(builder, level, &bytes) != PETAL_OK)
        return error_no_memory(error);
    return write_node(writer, bytes, (uint32_t)index_block_builder_count(builder), root, error);
}
