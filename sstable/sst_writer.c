/*
 * sst_writer.c -- see sst_writer.h.
 *
 * Invariants: the file's bytes up to sink.flushed are complete blocks; `data` holds the cells
 * after the last data block.
 */
#include "sstable/sst_writer.h"

#include "bloom/hash.h"
#include "sstable/block/data_block.h"
#include "sstable/file/facts.h"
#include "sstable/file/trailer.h"
#include "sstable/filter/bloom_writer.h"

#include <assert.h>
#include <inttypes.h>

/* What a cell adds to a block beside row, qualifier and value, about. */
#define CELL_OVERHEAD_BYTES 12

struct sst_writer {
    const struct env *env;
    const struct directory *directory;
    char *path;
    size_t path_bytes;
    struct sst_options options;
    struct pooled_file file;
    bool finished;
    enum petal_status failure; /* the first one */

    struct block_sink sink;
    struct data_block_builder data;
    struct index_writer index;
    bool has_bloom;
    struct bloom_writer bloom;
    struct facts_gatherer gatherer;

    /* The data block being built. */
    uint8_t *first_key;
    size_t first_key_bytes, first_key_capacity;
    enum succession begins; /* what its first cell is */
};

/* ---- opening ---- */

static void
init_parts(struct sst_writer *writer)
{
    const struct sst_options *options = &writer->options;
    bool compress = options->compression == PETAL_COMPRESSION_LZ4;

    block_sink_init(&writer->sink, writer->env, &writer->file, writer->path,
                    options->file_identity);
    data_block_builder_init(&writer->data, writer->env->allocator);
    index_writer_init(&writer->index, &writer->sink, BLOCK_DATA_INDEX, compress);
    facts_gatherer_init(&writer->gatherer, writer->env->allocator);
    writer->has_bloom = options->bloom != PETAL_BLOOM_NONE;
    if (writer->has_bloom)
        bloom_writer_init(&writer->bloom, &writer->sink, options);
}

static void
fill_defaults(struct sst_options *options)
{
    if (options->compression == PETAL_COMPRESSION_DEFAULT)
        options->compression = PETAL_COMPRESSION_LZ4;
    if (options->bloom == PETAL_BLOOM_DEFAULT)
        options->bloom = PETAL_BLOOM_ROW;
    if (options->bloom_layout == 0)
        options->bloom_layout = BLOOM_BLOCKED;
    if (options->bloom != PETAL_BLOOM_ROW_PREFIX)
        options->bloom_prefix_bytes = 0;
}

/* Later it is opened for writing alone, should the pool close it meanwhile. */
static enum petal_status
create_file(struct sst_writer *writer, petal_error *error)
{
    enum petal_status status;
    petal_file *file;

    pooled_file_init(&writer->file, writer->options.pool, writer->directory, writer->path);
    writer->file.flags = PETAL_FILE_WRITE | PETAL_FILE_CREATE | PETAL_FILE_EXCLUSIVE;
    status = pooled_file_acquire(&writer->file, &file, error);
    if (status != PETAL_OK)
        return status;
    writer->file.flags = PETAL_FILE_WRITE;
    pooled_file_release(&writer->file);
    return PETAL_OK;
}

enum petal_status
sst_writer_open(struct sst_writer **writer, const struct directory *directory, const char *path,
                const struct sst_options *options, petal_error *error)
{
    const struct env *env = directory->env;
    struct sst_writer *made = mem_zalloc(env->allocator, sizeof *made);
    enum petal_status status;

    assert(options->block_bytes > 0 && options->block_bytes <= 16u << 20);
    *writer = NULL;
    if (made == NULL)
        return error_no_memory(error);
    made->env = env;
    made->directory = directory;
    made->options = *options;
    fill_defaults(&made->options);
    made->path_bytes = strlen(path) + 1;
    made->path = mem_alloc(env->allocator, made->path_bytes);
    if (made->path == NULL) {
        mem_free(env->allocator, made, sizeof *made);
        return error_no_memory(error);
    }
    memcpy(made->path, path, made->path_bytes);
    status = create_file(made, error);
    if (status != PETAL_OK) {
        (void)pooled_file_fini(&made->file);
        mem_free(env->allocator, made->path, made->path_bytes);
        mem_free(env->allocator, made, sizeof *made);
        return status;
    }
    init_parts(made);
    if (made->options.high_compression && block_sink_compress_high(&made->sink) != PETAL_OK) {
        sst_writer_free(made);
        return error_no_memory(error);
    }
    *writer = made;
    return PETAL_OK;
}

void
sst_writer_free(struct sst_writer *writer)
{
    const petal_allocator *allocator;

    if (writer == NULL)
        return;
    allocator = writer->env->allocator;
    if (!writer->finished) {
        (void)pooled_file_fini(&writer->file);
        directory_remove(writer->directory, writer->path);
    }
    if (writer->has_bloom)
        bloom_writer_fini(&writer->bloom);
    facts_gatherer_fini(&writer->gatherer);
    index_writer_fini(&writer->index);
    data_block_builder_fini(&writer->data);
    block_sink_fini(&writer->sink);
    mem_free(allocator, writer->first_key, writer->first_key_capacity);
    mem_free(allocator, writer->path, writer->path_bytes);
    mem_free(allocator, writer, sizeof *writer);
}

/* ---- adding ---- */

static enum petal_status
write_data_block(struct sst_writer *writer, petal_error *error)
{
    struct file_facts *facts = &writer->gatherer.facts;
    struct block_handle handle;
    petal_slice bytes;
    bool compress = writer->options.compression == PETAL_COMPRESSION_LZ4;
    enum petal_status status;

    assert(data_block_builder_cells(&writer->data) > 0 && writer->begins != OUT_OF_ORDER);
    status = data_block_builder_finish(&writer->data, writer->begins == SAME_COLUMN, &bytes);

    if (status != PETAL_OK)
        return error_no_memory(error);
    status = block_sink_append(&writer->sink, BLOCK_DATA, bytes, 0, compress, &handle, error);
    if (status != PETAL_OK)
        return status;
    if (writer->begins != SAME_COLUMN)
        handle.begins = BLOCK_BEGINS_COLUMN;
    if (writer->begins == NEW_ROW)
        handle.begins |= BLOCK_BEGINS_ROW;
    status = index_writer_add(
        &writer->index, slice_make(writer->first_key, writer->first_key_bytes), handle, error);
    if (status != PETAL_OK)
        return status;
    facts->data_blocks++;
    facts->data_bytes += handle.size;
    facts->raw_data_bytes += bytes.size;
    if (writer->has_bloom)
        bloom_writer_note_block(&writer->bloom, handle.size);
    data_block_builder_reset(&writer->data);
    return PETAL_OK;
}

static enum petal_status
begin_data_block(struct sst_writer *writer, const struct cell *cell, enum succession succession,
                 petal_error *error)
{
    struct cell_key key;

    assert(data_block_builder_cells(&writer->data) == 0 && succession != OUT_OF_ORDER);
    if (!mem_grow_array(writer->env->allocator, &writer->first_key, &writer->first_key_capacity, 0,
                        cell_key_bound(cell->row.size, cell->qualifier.size), 1))
        return error_no_memory(error);
    cell_key_of(&key, writer->first_key, cell);
    writer->first_key_bytes = key.encoded.size;
    writer->begins = succession;
    return PETAL_OK;
}

/* Would the block be too large with another `bytes`? */
static bool
is_full(const struct sst_writer *writer, size_t bytes)
{
    size_t limit = writer->options.block_bytes;

    return data_block_builder_bytes_bound(&writer->data) + bytes > limit &&
           data_block_builder_bytes(&writer->data) + bytes > limit;
}

static enum petal_status
add_to_block(struct sst_writer *writer, const struct cell *cell, enum succession succession,
             petal_error *error)
{
    enum petal_status status = PETAL_OK;
    size_t cell_bytes = (succession == NEW_ROW ? cell->row.size : 0) + cell->qualifier.size +
                        cell->value.size + CELL_OVERHEAD_BYTES;

    if (data_block_builder_cells(&writer->data) > 0 && is_full(writer, cell_bytes))
        status = write_data_block(writer, error);
    if (status == PETAL_OK && data_block_builder_cells(&writer->data) == 0)
        status = begin_data_block(writer, cell, succession, error);
    if (status == PETAL_OK && data_block_builder_add(&writer->data, cell) != PETAL_OK)
        status = error_no_memory(error);
    return status;
}

static enum petal_status
add_cell(struct sst_writer *writer, const struct cell *cell, petal_error *error)
{
    enum succession succession = facts_gatherer_succession(&writer->gatherer, cell);
    char row[64];
    enum petal_status status;

    if (succession == OUT_OF_ORDER)
        return error_file(error, PETAL_INVALID, writer->path,
                          "cell %" PRIu64 " of row %s is not in order behind the one before",
                          writer->gatherer.facts.cells, error_quote(cell->row, row, sizeof row));
    status = add_to_block(writer, cell, succession, error);
    if (status == PETAL_OK && succession != SAME_COLUMN && writer->has_bloom)
        status = bloom_writer_add(&writer->bloom, cell, succession == NEW_ROW, error);
    if (status == PETAL_OK && facts_gatherer_add(&writer->gatherer, cell, succession) != PETAL_OK)
        status = error_no_memory(error);
    return status;
}

static enum petal_status
error_failed_before(const struct sst_writer *writer, petal_error *error)
{
    return error_file(error, writer->failure, writer->path, "writing this file has failed before");
}

enum petal_status
sst_writer_add(struct sst_writer *writer, const struct cell *cell, petal_error *error)
{
    assert(!writer->finished);
    if (writer->failure != PETAL_OK)
        return error_failed_before(writer, error);
    writer->failure = add_cell(writer, cell, error);
    return writer->failure;
}

uint64_t
sst_writer_bytes(const struct sst_writer *writer)
{
    return block_sink_offset(&writer->sink) + data_block_builder_bytes_bound(&writer->data) +
           index_writer_pending_bytes(&writer->index) +
           (writer->has_bloom ? bloom_writer_pending_bytes(&writer->bloom) : 0);
}

size_t
sst_writer_memory(const struct sst_writer *writer)
{
    const struct bloom_writer *bloom = &writer->bloom;
    size_t bytes = sizeof *writer + block_sink_memory(&writer->sink) +
                   data_block_builder_memory(&writer->data) + index_writer_memory(&writer->index) +
                   writer->gatherer.last.capacity + writer->first_key_capacity;

    if (writer->has_bloom)
        bytes += bloom->hash_capacity * sizeof *bloom->hashes + bloom->chunk_capacity +
                 bloom->work_capacity + index_writer_memory(&bloom->index);
    return bytes;
}

enum petal_status
sst_writer_spill(struct sst_writer *writer, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    assert(!writer->finished);
    if (writer->failure != PETAL_OK)
        return error_failed_before(writer, error);
    if (writer->has_bloom)
        status = index_writer_spill(&writer->bloom.index, error);
    if (status == PETAL_OK)
        status = index_writer_spill(&writer->index, error);
    if (status == PETAL_OK)
        status = block_sink_spill(&writer->sink, error);
    writer->failure = status;
    return status;
}

/* ---- finishing ---- */

static void
complete_facts(struct sst_writer *writer)
{
    struct file_facts *facts = &writer->gatherer.facts;

    assert(facts->data_blocks > 0 && facts->data_blocks <= facts->cells);
    facts_gatherer_finish(&writer->gatherer);
    facts->index_bytes = index_writer_node_bytes(&writer->index);
    facts->block_bytes = writer->options.block_bytes;
    facts->compression = writer->options.compression;
    facts->origin = writer->options.origin;
    facts->owner = writer->options.owner;
    if (facts->sequence_max < writer->options.sequence_max)
        facts->sequence_max = writer->options.sequence_max;
    facts->written_ms = writer->options.written_ms;
    facts->bloom = writer->options.bloom;
    if (!writer->has_bloom)
        return;
    facts->index_bytes += index_writer_node_bytes(&writer->bloom.index);
    facts->bloom_bytes = writer->bloom.index.kept[INDEX_KEPT_CHUNKS].written;
    facts->bloom_prefix_bytes = writer->options.bloom_prefix_bytes;
    facts->bloom_layout = writer->options.bloom_layout;
    facts->bloom_hash_version = BLOOM_HASH_VERSION;
    facts->bloom_error_rate = writer->options.bloom_error_rate;
    facts->bloom_keys = writer->bloom.keys;
    facts->bloom_chunks = writer->bloom.chunks;
    facts->salt = writer->options.salt;
}

static enum petal_status
write_facts(struct sst_writer *writer, struct block_handle *handle, petal_error *error)
{
    const petal_allocator *allocator = writer->env->allocator;
    size_t size = facts_encoded_bytes(&writer->gatherer.facts);
    uint8_t *bytes = mem_alloc(allocator, size);
    enum petal_status status;

    if (bytes == NULL)
        return error_no_memory(error);
    facts_encode(&writer->gatherer.facts, bytes);
    status = block_sink_append(&writer->sink, BLOCK_FACTS, slice_make(bytes, size), 0, false,
                               handle, error);
    mem_free(allocator, bytes, size);
    return status;
}

/* All that follows the cells. */
static enum petal_status
write_tail(struct sst_writer *writer, petal_error *error)
{
    bool of_bulk = writer->options.origin == FILE_ORIGIN_BULK;
    struct trailer trailer = {.file_identity = writer->options.file_identity,
                              .stated_shift = of_bulk ? 1 : 0};
    uint8_t bytes[TRAILER_BYTES];
    enum petal_status status = write_data_block(writer, error);

    /* What opening needs stands together at the end, in front of it what the first get needs. */
    if (status == PETAL_OK)
        status = index_writer_finish_nodes(&writer->index, error);
    if (status == PETAL_OK && writer->has_bloom)
        status = bloom_writer_finish_chunks(&writer->bloom, error);
    if (status == PETAL_OK)
        status = index_writer_finish_root(&writer->index, &trailer.data_root, error);
    if (status == PETAL_OK && writer->has_bloom)
        status = bloom_writer_finish_root(&writer->bloom, &trailer.bloom_root, error);
    if (status != PETAL_OK)
        return status;
    complete_facts(writer);
    status = write_facts(writer, &trailer.facts, error);
    if (status != PETAL_OK)
        return status;
    assert(data_block_builder_cells(&writer->data) == 0);
    trailer.file_bytes = block_sink_offset(&writer->sink) + TRAILER_BYTES;
    writer->gatherer.facts.file_bytes = trailer.file_bytes;
    writer->gatherer.facts.stated_shift = trailer.stated_shift;
    trailer_encode(&trailer, bytes);
    status = block_sink_append_bytes(&writer->sink, slice_make(bytes, sizeof bytes), error);
    if (status == PETAL_OK)
        status = block_sink_flush(&writer->sink, error);
    return status;
}

static enum petal_status
sync_and_close(struct sst_writer *writer, petal_error *error)
{
    const petal_vfs *vfs = writer->env->vfs;
    petal_file *file;
    int failure;
    enum petal_status status;

    assert(writer->sink.used == 0 && writer->sink.flushed == writer->gatherer.facts.file_bytes);
    status = pooled_file_acquire(&writer->file, &file, error);
    if (status != PETAL_OK)
        return status;
    failure = vfs->sync(vfs->context, file);
    pooled_file_release(&writer->file);
    if (failure != 0)
        return error_io(error, writer->path, failure, "sync");
    failure = pooled_file_fini(&writer->file);
    return failure == 0 ? PETAL_OK : error_io(error, writer->path, failure, "close");
}

enum petal_status
sst_writer_finish(struct sst_writer *writer, const struct file_facts **facts, petal_error *error)
{
    assert(!writer->finished);
    if (facts != NULL)
        *facts = NULL;
    if (writer->failure != PETAL_OK)
        return error_failed_before(writer, error);
    if (writer->gatherer.facts.cells == 0)
        return error_file(error, PETAL_INVALID, writer->path,
                          "a store file must have at least one cell");
    writer->failure = write_tail(writer, error);
    if (writer->failure == PETAL_OK)
        writer->failure = sync_and_close(writer, error);
    if (writer->failure != PETAL_OK)
        return writer->failure;
    writer->finished = true;
    if (facts != NULL)
        *facts = &writer->gatherer.facts;
    return PETAL_OK;
}

/* ---- shifting ---- */

static enum petal_status
write_trailer(const struct trailer *trailer, const struct env *env, petal_file *file,
              const char *path, petal_error *error)
{
    const petal_vfs *vfs = env->vfs;
    uint8_t bytes[TRAILER_BYTES];
    int failure;

    trailer_encode(trailer, bytes);
    failure =
        vfs->write_at(vfs->context, file, trailer->file_bytes - TRAILER_BYTES, bytes, sizeof bytes);
    if (failure != 0)
        return error_io(error, path, failure, "write");
    failure = vfs->sync(vfs->context, file);
    return failure == 0 ? PETAL_OK : error_io(error, path, failure, "sync");
}

enum petal_status
sst_state_shift(const struct directory *directory, struct file_pool *pool, const char *path,
                uint64_t shift, petal_error *error)
{
    struct pooled_file pooled;
    struct block_source source = {.env = directory->env, .file = &pooled, .path = path};
    struct trailer trailer;
    uint64_t size = 0;
    petal_file *file;
    int failure;
    enum petal_status status;

    assert(shift < CELL_SEQUENCE_END);
    pooled_file_init(&pooled, pool, directory, path);
    pooled.flags = PETAL_FILE_READ | PETAL_FILE_WRITE;
    status = pooled_file_acquire(&pooled, &file, error);
    if (status != PETAL_OK)
        return status;
    status = block_source_size(&source, &size, error);
    if (status == PETAL_OK)
        status = trailer_read(&trailer, &source, size, error);
    if (status == PETAL_OK) {
        trailer.stated_shift = shift + 1;
        status = write_trailer(&trailer, directory->env, file, path, error);
    }
    pooled_file_release(&pooled);
    failure = pooled_file_fini(&pooled);
    if (status == PETAL_OK && failure != 0)
        status = error_io(error, path, failure, "close");
    return status;
}
