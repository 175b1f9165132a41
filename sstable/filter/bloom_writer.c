/* bloom_writer.c -- see sstable/filter/bloom_writer.h. */
#include "sstable/filter/bloom_writer.h"

#include "bloom/hash.h"
#include "sstable/filter/bloom_prefix.h"

#include <assert.h>

void
bloom_writer_init(struct bloom_writer *writer, struct block_sink *sink,
                  const struct sst_options *options)
{
    assert(options->bloom != PETAL_BLOOM_NONE && options->bloom != PETAL_BLOOM_DEFAULT);
    assert(options->bloom != PETAL_BLOOM_ROW_PREFIX ||
           (options->bloom_prefix_bytes > 0 && options->bloom_prefix_bytes <= PETAL_MAX_ROW_BYTES));
    *writer = (struct bloom_writer){.sink = sink, .options = options};
    bloom_plan_init(&writer->plan, (enum bloom_layout)options->bloom_layout,
                    options->bloom_error_rate);
    index_writer_init(&writer->index, sink, BLOCK_BLOOM_INDEX,
                      options->compression == PETAL_COMPRESSION_LZ4);
}

void
bloom_writer_fini(struct bloom_writer *writer)
{
    const petal_allocator *allocator = writer->sink->env->allocator;

    mem_free(allocator, writer->hashes, writer->hash_capacity * sizeof *writer->hashes);
    mem_free(allocator, writer->first_key, writer->first_key_capacity);
    mem_free(allocator, writer->prefix, writer->prefix_capacity);
    mem_free(allocator, writer->chunk, writer->chunk_capacity);
    mem_free(allocator, writer->work, writer->work_capacity);
    writer->hashes = NULL;
    writer->first_key = NULL;
    writer->prefix = NULL;
    writer->chunk = NULL;
    writer->work = NULL;
    index_writer_fini(&writer->index);
}

/* How many keys the next chunk may take. */
static uint64_t
keys_of_next_chunk(const struct bloom_writer *writer)
{
    uint64_t limit = writer->options->block_bytes / 4;

    if (writer->data_blocks > 0)
        limit = writer->data_bytes / writer->data_blocks;
    if (limit > writer->options->block_bytes)
        limit = writer->options->block_bytes;
    limit -= (uint64_t)((double)limit * writer->plan.rate);
    if (limit < BLOOM_CHUNK_MIN_BYTES)
        limit = BLOOM_CHUNK_MIN_BYTES;
    return bloom_plan_capacity(&writer->plan, (size_t)limit - BLOCK_FRAME_BYTES);
}

void
bloom_writer_note_block(struct bloom_writer *writer, uint32_t stored_bytes)
{
    assert(stored_bytes > 0);
    writer->data_blocks++;
    writer->data_bytes += stored_bytes;
    /* The first chunk was begun on a guess of the size of blocks. */
    if (writer->data_blocks == 1 && writer->hash_count > 0) {
        uint64_t keys = keys_of_next_chunk(writer);

        if (keys < writer->chunk_keys)
            writer->chunk_keys = keys;
    }
}

/* What a key of the Bloom filter is. */
enum bloom_key { KEY_ROW, KEY_COLUMN, KEY_PREFIX };

/* Keep the place at which a chunk begins: a prefix of the cell's key. */
static enum petal_status
begin_chunk(struct bloom_writer *writer, const struct cell *cell, enum bloom_key of,
            petal_error *error)
{
    struct cell_key key;

    assert(writer->hash_count == 0);
    if (!mem_grow_array(writer->sink->env->allocator, &writer->first_key,
                        &writer->first_key_capacity, 0,
                        cell_key_bound(cell->row.size, cell->qualifier.size), 1))
        return error_no_memory(error);
    cell_key_of(&key, writer->first_key, cell);
    if (of == KEY_PREFIX)
        writer->first_key_bytes =
            bloom_prefix_place(&key, writer->options->bloom_prefix_bytes).size;
    else
        writer->first_key_bytes = of == KEY_ROW ? key.row_prefix : key.column_prefix;
    writer->chunk_keys = keys_of_next_chunk(writer);
    assert(writer->first_key_bytes > 0 && writer->first_key_bytes <= key.encoded.size);
    assert(writer->chunk_keys > 0);
    return PETAL_OK;
}

/* Every key must be found before the filter may rule anything out: else memory failed us. */
static enum petal_status
probe_chunk(const struct bloom_writer *writer, size_t size, petal_error *error)
{
    struct bloom_filter filter;
    bool sound = bloom_open(&filter, writer->chunk, size);

    for (size_t i = 0; sound && i < writer->hash_count; i++)
        sound = bloom_may_contain(&filter, writer->hashes[i]);
    if (sound)
        return PETAL_OK;
    return error_corrupt(error, writer->sink->path, block_sink_offset(writer->sink),
                         "memory is unreliable: a filter chunk just built denies a key of its own");
}

/* Room for a chunk of so many bytes. */
static enum petal_status
reserve_chunk(struct bloom_writer *writer, size_t size, petal_error *error)
{
    return mem_grow_array(writer->sink->env->allocator, &writer->chunk, &writer->chunk_capacity, 0,
                          size, 1)
               ? PETAL_OK
               : error_no_memory(error);
}

/* In the least size that can be built; *size 0: in none. */
static enum petal_status
build_ribbon(struct bloom_writer *writer, size_t *size, petal_error *error)
{
    *size = 0;
    for (unsigned larger = 0; *size == 0 && larger < BLOOM_RIBBON_SIZES; larger++) {
        struct bloom_ribbon ribbon =
            bloom_ribbon_shape(writer->hash_count, writer->plan.rate, larger);
        size_t bytes = bloom_ribbon_bytes(&ribbon);
        enum petal_status status = reserve_chunk(writer, bytes, error);

        if (status != PETAL_OK)
            return status;
        if (!mem_grow_array(writer->sink->env->allocator, &writer->work, &writer->work_capacity, 0,
                            bloom_ribbon_work_bytes(&ribbon), 1))
            return error_no_memory(error);
        if (bloom_ribbon_build(&ribbon, writer->hashes, writer->hash_count, writer->work,
                               writer->chunk))
            *size = bytes;
    }
    return PETAL_OK;
}

/* A chunk of the hashes at hand.  Where no RIBBON chunk can be built of them it is a STANDARD
 * one. */
static enum petal_status
build_chunk(struct bloom_writer *writer, size_t *size, petal_error *error)
{
    struct bloom_shape shape = bloom_plan_shape(&writer->plan, writer->hash_count);
    enum petal_status status;

    if (shape.layout == BLOOM_RIBBON) {
        struct bloom_plan standard;

        status = build_ribbon(writer, size, error);
        if (status != PETAL_OK || *size > 0)
            return status;
        bloom_plan_init(&standard, BLOOM_STANDARD, writer->plan.rate);
        shape = bloom_plan_shape(&standard, writer->hash_count);
    }
    *size = bloom_bytes(&shape);
    status = reserve_chunk(writer, *size, error);
    if (status == PETAL_OK)
        bloom_build(&shape, writer->hashes, writer->hash_count, writer->chunk);
    return status;
}

/* Build a chunk of the hashes at hand, and give it to the index. */
static enum petal_status
close_chunk(struct bloom_writer *writer, petal_error *error)
{
    enum petal_status status;
    size_t size;

    assert(writer->hash_count > 0 && writer->hash_count <= BLOOM_MAX_KEYS);
    status = build_chunk(writer, &size, error);
    if (status == PETAL_OK)
        status = probe_chunk(writer, size, error);
    if (status != PETAL_OK)
        return status;
    writer->keys += writer->hash_count;
    writer->chunks++;
    writer->hash_count = 0;
    return index_writer_add_chunk(&writer->index, slice_make(writer->chunk, size),
                                  slice_make(writer->first_key, writer->first_key_bytes), error);
}

static enum petal_status
add_hash(struct bloom_writer *writer, const struct cell *cell, enum bloom_key of, uint64_t hash,
         petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (writer->hash_count > 0 && writer->hash_count >= writer->chunk_keys)
        status = close_chunk(writer, error);
    if (status == PETAL_OK && writer->hash_count == 0)
        status = begin_chunk(writer, cell, of, error);
    if (status != PETAL_OK)
        return status;
    if (!mem_grow_array(writer->sink->env->allocator, &writer->hashes, &writer->hash_capacity,
                        writer->hash_count, writer->hash_count + 1, sizeof *writer->hashes))
        return error_no_memory(error);
    writer->hashes[writer->hash_count++] = hash;
    return PETAL_OK;
}

/* The cell begins a row: add its prefix, unless it is that of the row before. */
static enum petal_status
add_prefix(struct bloom_writer *writer, const struct cell *cell, petal_error *error)
{
    petal_slice prefix = bloom_row_prefix(cell->row, writer->options->bloom_prefix_bytes);

    assert(prefix.size > 0 && prefix.size <= writer->options->bloom_prefix_bytes);
    if (slice_equal(slice_make(writer->prefix, writer->current_prefix_bytes), prefix))
        return PETAL_OK;
    if (!mem_grow_array(writer->sink->env->allocator, &writer->prefix, &writer->prefix_capacity, 0,
                        prefix.size, 1))
        return error_no_memory(error);
    memcpy(writer->prefix, prefix.data, prefix.size);
    writer->current_prefix_bytes = prefix.size;
    return add_hash(writer, cell, KEY_PREFIX,
                    bloom_hash_row(writer->options->salt, prefix.data, prefix.size), error);
}

enum petal_status
bloom_writer_add(struct bloom_writer *writer, const struct cell *cell, bool new_row,
                 petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (writer->options->bloom == PETAL_BLOOM_ROW_PREFIX)
        return new_row ? add_prefix(writer, cell, error) : PETAL_OK;
    if (new_row) {
        writer->row_hash = bloom_hash_row(writer->options->salt, cell->row.data, cell->row.size);
        if (writer->options->bloom != PETAL_BLOOM_ROWCOL)
            status = add_hash(writer, cell, KEY_ROW, writer->row_hash, error);
    }
    if (status == PETAL_OK && writer->options->bloom != PETAL_BLOOM_ROW) {
        uint64_t hash =
            cell_is_family_marker(cell->type)
                ? bloom_hash_family_marker(writer->row_hash)
                : bloom_hash_column(writer->row_hash, cell->qualifier.data, cell->qualifier.size);

        status = add_hash(writer, cell, KEY_COLUMN, hash, error);
    }
    return status;
}

enum petal_status
bloom_writer_finish_chunks(struct bloom_writer *writer, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    assert(writer->hash_count > 0 || writer->chunks > 0);
    if (writer->hash_count > 0)
        status = close_chunk(writer, error);
    return status == PETAL_OK ? index_writer_finish_nodes(&writer->index, error) : status;
}

enum petal_status
bloom_writer_finish_root(struct bloom_writer *writer, struct block_handle *root, petal_error *error)
{
    assert(writer->hash_count == 0);
    return index_writer_finish_root(&writer->index, root, error);
}
