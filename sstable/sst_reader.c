/* sst_reader.c -- opening a store file, and what is known of it; see sst_reader.h. */
#include "sstable/sst_reader.h"

#include "sstable/index/index_region.h"
#include "sstable/sst_reader_parts.h"

#include <assert.h>
#include <inttypes.h>

/* ---- opening ---- */

static enum petal_status
read_trailer(struct sst_reader *reader, uint64_t size, uint64_t expected_identity,
             petal_error *error)
{
    struct block_source *source = &reader->file.source;
    enum petal_status status = trailer_read(&reader->trailer, source, size, error);

    assert(source->file_identity == 0);
    if (status != PETAL_OK)
        return status;
    source->limit = size - TRAILER_BYTES;
    source->file_identity = reader->trailer.file_identity;
    return trailer_check_identity(&reader->trailer, expected_identity, reader->path, error);
}

static enum petal_status
decode_facts(struct sst_reader *reader, const struct block_image *image, petal_error *error)
{
    const petal_allocator *allocator = reader->file.source.env->allocator;
    uint64_t offset = reader->trailer.facts.offset;
    const char *what;
    enum petal_status status;

    reader->facts_memory_bytes = image->frame.raw_bytes;
    reader->facts_memory = mem_alloc(allocator, reader->facts_memory_bytes);
    if (reader->facts_memory == NULL)
        return error_no_memory(error);
    if (!block_image_decode(image, reader->facts_memory))
        return error_corrupt(error, reader->path, offset,
                             "facts block at offset %" PRIu64 " cannot be decompressed", offset);
    status =
        facts_decode(&reader->facts, slice_make(reader->facts_memory, reader->facts_memory_bytes),
                     allocator, &what);
    if (status == PETAL_NO_MEMORY)
        return error_no_memory(error);
    if (status != PETAL_OK)
        return error_corrupt(error, reader->path, offset, "facts block at offset %" PRIu64 ": %s",
                             offset, what);
    reader->facts.file_bytes = reader->trailer.file_bytes;
    reader->facts.stated_shift = reader->trailer.stated_shift;
    return PETAL_OK;
}

static enum petal_status
read_facts(struct sst_reader *reader, petal_error *error)
{
    const struct block_source *source = &reader->file.source;
    struct block_image image;
    enum petal_status status =
        block_read(source, reader->trailer.facts, BLOCK_FACTS, NULL, 0, &image, error);

    if (status != PETAL_OK)
        return status;
    status = decode_facts(reader, &image, error);
    block_image_fini(&image, source);
    return status;
}

/* What stands at the end of a file of `size` bytes. */
static enum petal_status
read_parts(struct sst_reader *reader, uint64_t size, uint64_t expected_identity, petal_error *error)
{
    enum petal_status status = read_trailer(reader, size, expected_identity, error);

    if (status == PETAL_OK)
        status = read_facts(reader, error);
    if (status == PETAL_OK)
        status = index_tree_open(&reader->index, &reader->file, BLOCK_DATA_INDEX,
                                 reader->trailer.data_root, error);
    if (status == PETAL_OK)
        status = bloom_reader_open(&reader->bloom, &reader->file, &reader->facts,
                                   reader->trailer.bloom_root, &reader->account, error);
    return status;
}

/* How much of the end holds what opening needs, about: roots grow with the file up to a size. */
static size_t
guess_tail(uint64_t file_bytes)
{
    uint64_t bytes = file_bytes / SST_TAIL_SHARE;

    if (bytes < SST_TAIL_LEAST_BYTES)
        bytes = SST_TAIL_LEAST_BYTES;
    if (bytes > SST_TAIL_MOST_BYTES)
        bytes = SST_TAIL_MOST_BYTES;
    return (size_t)(bytes < file_bytes ? bytes : file_bytes);
}

/*
 * The same, by one read as a rule: of the file's end, where trailer, facts and roots stand, and of
 * a small file filter and index as well (FORMAT.md).  A part that the guess does not cover is read
 * separately.  If the tail cannot be read, each part is: so damage in the tail to bytes that opening
 * does not need does no harm.
 */
static enum petal_status
read_tail(struct sst_reader *reader, uint64_t size, uint64_t expected_identity, petal_error *error)
{
    struct block_source *source = &reader->file.source;
    const petal_allocator *allocator = source->env->allocator;
    size_t tail_bytes = guess_tail(size);
    uint8_t *tail = NULL;
    enum petal_status status;

    if (tail_bytes > 0) {
        tail = mem_alloc(allocator, tail_bytes);
        if (tail == NULL)
            return error_no_memory(error);
        if (block_source_read(source, size - tail_bytes, tail, tail_bytes, NULL) == PETAL_OK) {
            source->tail = tail;
            source->tail_begin = size - tail_bytes;
            source->tail_bytes = tail_bytes;
        }
    }
    status = read_parts(reader, size, expected_identity, error);
    source->tail = NULL;
    mem_free(allocator, tail, tail_bytes);
    return status;
}

/* Where that cannot be done, the file is read without. */
static void
map_file(struct sst_reader *reader, petal_file *file, uint64_t size)
{
    const petal_vfs *vfs = reader->file.source.env->vfs;
    const void *memory;

    assert(reader->file.source.mapped == NULL && reader->trailer.file_bytes == size);
    if (vfs->map == NULL || vfs->map(vfs->context, file, size, &memory) != 0)
        return;
    reader->file.source.mapped = memory;
}

static void
unmap_file(struct sst_reader *reader)
{
    const petal_vfs *vfs = reader->file.source.env->vfs;

    if (reader->file.source.mapped == NULL)
        return;
    vfs->unmap(vfs->context, reader->file.source.mapped, reader->trailer.file_bytes);
    reader->file.source.mapped = NULL;
}

static enum petal_status
open_parts(struct sst_reader *reader, const struct sst_open_options *options, petal_error *error)
{
    uint64_t size = 0;
    petal_file *file;
    enum petal_status status = pooled_file_acquire(&reader->pooled, &file, error);

    if (status != PETAL_OK)
        return status;
    status = block_source_size(&reader->file.source, &size, error);
    if (status == PETAL_OK)
        status = read_tail(reader, size, options->file_identity, error);
    if (status == PETAL_OK && !read_around_init(&reader->around, options->readahead_limit, size,
                                                reader->file.source.env->allocator))
        status = error_no_memory(error);
    if (status == PETAL_OK && options->map)
        map_file(reader, file, size);
    pooled_file_release(&reader->pooled);
    return status;
}

enum petal_status
sst_reader_open(struct sst_reader **reader, const struct directory *directory, const char *path,
                const struct sst_open_options *options, petal_error *error)
{
    const struct env *env = directory->env;
    struct sst_reader *made = mem_zalloc(env->allocator, sizeof *made);
    enum petal_status status;

    assert(options->file_number != 0 && options->cache != NULL && options->epoch != NULL);
    *reader = NULL;
    if (made == NULL)
        return error_no_memory(error);
    made->file = (struct sst_file){.source = {.env = env},
                                   .number = options->file_number,
                                   .cache = options->cache,
                                   .priority = options->in_memory ? CACHE_MEMORY : CACHE_SINGLE,
                                   .keep_data = !options->no_block_cache,
                                   .readahead_limit = options->readahead_limit,
                                   .loading = &made->loading,
                                   .around = &made->around};
    made->epoch = options->epoch;
    made->path_bytes = strlen(path) + 1;
    made->path = mem_alloc(env->allocator, made->path_bytes);
    if (made->path == NULL) {
        sst_reader_close(made);
        return error_no_memory(error);
    }
    memcpy(made->path, path, made->path_bytes);
    made->file.source.path = made->path;
    pooled_file_init(&made->pooled, options->pool, directory, made->path);
    made->file.source.file = &made->pooled;
    status = open_parts(made, options, error);
    if (status != PETAL_OK) {
        sst_reader_close(made);
        return status;
    }
    *reader = made;
    return PETAL_OK;
}

void
sst_reader_read_ahead(const struct sst_reader *reader, struct readahead_limit *limit)
{
    const struct index_tree *bloom = &reader->bloom.tree;

    if (bloom->file != NULL)
        index_region_read_ahead(&reader->file,
                                bloom->root.level > 0 ? BLOCK_BLOOM_INDEX : BLOCK_BLOOM,
                                &bloom->root, limit);
    if (reader->index.root.level > 0)
        index_region_read_ahead(&reader->file, BLOCK_DATA_INDEX, &reader->index.root, limit);
}

void
sst_reader_close(struct sst_reader *reader)
{
    const struct env *env;

    if (reader == NULL)
        return;
    env = reader->file.source.env;
    unmap_file(reader);
    if (reader->file.source.file != NULL)
        pooled_file_fini(&reader->pooled);
    read_around_fini(&reader->around, env->allocator);
    bloom_reader_close(&reader->bloom);
    index_tree_close(&reader->index);
    facts_fini(&reader->facts, env->allocator);
    mem_free(env->allocator, reader->facts_memory, reader->facts_memory_bytes);
    mem_free(env->allocator, reader->path, reader->path_bytes);
    mem_free(env->allocator, reader, sizeof *reader);
}

bool
sst_reader_shift_sequences(struct sst_reader *reader, uint64_t shift)
{
    struct file_facts *facts = &reader->facts;

    assert(reader->file.sequence_shift == 0);
    if (shift == 0)
        return true;
    if (facts->sequence_min == 0 || facts->sequence_max >= CELL_SEQUENCE_END ||
        shift >= CELL_SEQUENCE_END - facts->sequence_max)
        return false;
    facts->sequence_min += shift;
    facts->sequence_max += shift;
    reader->file.sequence_shift = shift;
    return true;
}

/* ---- asking ---- */

const struct file_facts *
sst_reader_facts(const struct sst_reader *reader)
{
    return &reader->facts;
}

/* Nothing is held of a filter that is not there. */
size_t
sst_reader_memory(const struct sst_reader *reader)
{
    return sizeof *reader + reader->path_bytes + reader->facts_memory_bytes +
           reader->facts.qualifier_count * sizeof *reader->facts.qualifiers +
           index_tree_memory(&reader->index) + index_tree_memory(&reader->bloom.tree) +
           reader->bloom.rows.memory_bytes + read_around_memory(&reader->around);
}

const char *
sst_reader_path(const struct sst_reader *reader)
{
    return reader->path;
}

/* ---- middle and parts ---- */

/* The row of an entry, if it is behind `low`. */
static enum petal_status
take_row(const struct sst_reader *reader, const struct index_block *node, uint32_t position,
         petal_slice low, uint8_t *row, size_t *row_bytes)
{
    const petal_allocator *allocator = reader->file.source.env->allocator;
    size_t bytes = index_block_key_bytes(node, position);
    uint8_t *memory = mem_alloc(allocator, 2 * bytes);
    struct cell_key key;

    if (memory == NULL)
        return PETAL_NO_MEMORY;
    index_block_key(node, position, memory);
    if (cell_key_parse(slice_make(memory, bytes), memory + bytes, &key) &&
        key.row.size <= PETAL_MAX_ROW_BYTES && slice_compare(key.row, low) > 0) {
        memcpy(row, key.row.data, key.row.size);
        *row_bytes = key.row.size;
    }
    mem_free(allocator, memory, 2 * bytes);
    return PETAL_OK;
}

/* From the middle of the entries on, then from there back: blocks of `low` itself are passed. */
static enum petal_status
find_middle(const struct sst_reader *reader, const struct index_cursor *first,
            const struct index_cursor *last, petal_slice low, uint8_t *row, size_t *row_bytes)
{
    enum petal_status status = PETAL_OK;
    struct index_block node;
    uint32_t from, to, middle;

    if (!index_cursor_between(first, last, &node, &from, &to))
        return PETAL_OK;
    middle = from + (to - from + 1) / 2;
    for (uint32_t i = middle; status == PETAL_OK && *row_bytes == 0 && i <= to; i++)
        status = take_row(reader, &node, i, low, row, row_bytes);
    return status;
}

/* Of the blocks of two entries, and those between. */
static uint64_t
bytes_between(const struct index_cursor *first, const struct index_cursor *last)
{
    struct block_handle low = index_cursor_place(first).handle;
    struct block_handle high = index_cursor_place(last).handle;

    return high.offset >= low.offset ? high.offset + high.size - low.offset : 0;
}

/* A key of the beginning of the row, in memory of `bytes`. */
static bool
make_key(const struct sst_reader *reader, petal_slice row, struct cell_key *key, uint8_t **memory,
         size_t *bytes)
{
    *bytes = cell_key_bound(row.size, 0);
    *memory = mem_alloc(reader->file.source.env->allocator, *bytes);
    if (*memory == NULL)
        return false;
    cell_key_make(key, *memory, row, slice_make(NULL, 0), true, INT64_MAX, CELL_SEQUENCE_MAX);
    return true;
}

enum petal_status
sst_reader_middle(const struct sst_reader *reader, petal_slice low, petal_slice high, uint8_t *row,
                  size_t *row_bytes, uint64_t *bytes, petal_error *error)
{
    const petal_allocator *allocator = reader->file.source.env->allocator;
    struct epoch_stay stay = {.epoch = reader->epoch};
    struct read_trace trace = {0};
    struct read_context context = {.trace = &trace, .stay = &stay};
    struct index_cursor first, last;
    struct cell_key low_key, high_key;
    uint8_t *low_memory = NULL, *high_memory = NULL;
    size_t low_bytes = 0, high_bytes = 0;
    bool before, found = false;
    enum petal_status status = PETAL_OK;

    *row_bytes = 0;
    *bytes = 0;
    if (slice_compare(low, reader->facts.row_min) < 0)
        low = reader->facts.row_min; /* before which there is nothing to cut off */
    if ((low.size > 0 && !make_key(reader, low, &low_key, &low_memory, &low_bytes)) ||
        (high.size > 0 && !make_key(reader, high, &high_key, &high_memory, &high_bytes)))
        status = error_no_memory(error);
    index_cursor_init(&first, &reader->index, true);
    index_cursor_init(&last, &reader->index, true);
    stay.slot = epoch_enter(stay.epoch);
    if (status == PETAL_OK)
        status = low.size > 0 ? index_cursor_seek(&first, &low_key, &context, &before, error)
                              : index_cursor_first(&first, &context, error);
    if (status == PETAL_OK)
        status = index_cursor_seek_before(&last, high.size > 0 ? &high_key.encoded : NULL, &context,
                                          &found, error);
    if (status == PETAL_OK && found) {
        *bytes = bytes_between(&first, &last);
        if (find_middle(reader, &first, &last, low, row, row_bytes) != PETAL_OK)
            status = error_no_memory(error);
    }
    index_cursor_release(&first);
    index_cursor_release(&last);
    epoch_leave(stay.epoch, stay.slot);
    mem_free(allocator, low_memory, low_bytes);
    mem_free(allocator, high_memory, high_bytes);
    return status;
}

/* Where in the file rows from `row` on begin, about: in the middle of a block that begins before.
 * EPOCH. */
static enum petal_status
offset_of_row(const struct sst_reader *reader, petal_slice row, const struct read_context *context,
              uint64_t *offset, petal_error *error)
{
    struct index_cursor cursor;
    struct block_handle handle;
    struct cell_key key;
    uint8_t *memory;
    size_t memory_bytes;
    bool begins;
    enum petal_status status;

    if (!make_key(reader, row, &key, &memory, &memory_bytes))
        return error_no_memory(error);
    index_cursor_init(&cursor, &reader->index, true);
    status = index_cursor_seek(&cursor, &key, context, &begins, error);
    if (status == PETAL_OK) {
        handle = index_cursor_place(&cursor).handle;
        *offset = handle.offset + (begins ? 0 : handle.size / 2);
    }
    index_cursor_release(&cursor);
    mem_free(reader->file.source.env->allocator, memory, memory_bytes);
    return status;
}

/* The end of the last data block. EPOCH. */
static enum petal_status
offset_of_end(const struct sst_reader *reader, const struct read_context *context, uint64_t *offset,
              petal_error *error)
{
    struct index_cursor cursor;
    struct block_handle handle;
    bool found;
    enum petal_status status;

    *offset = 0;
    index_cursor_init(&cursor, &reader->index, true);
    status = index_cursor_seek_before(&cursor, NULL, context, &found, error);
    if (status == PETAL_OK && found) {
        handle = index_cursor_place(&cursor).handle;
        *offset = handle.offset + handle.size;
    }
    index_cursor_release(&cursor);
    return status;
}

enum petal_status
sst_reader_part(const struct sst_reader *reader, petal_slice low, petal_slice high, uint64_t *bytes,
                petal_error *error)
{
    const struct file_facts *facts = &reader->facts;
    struct epoch_stay stay = {.epoch = reader->epoch};
    struct read_trace trace = {0};
    struct read_context context = {.trace = &trace, .stay = &stay};
    uint64_t begin = 0, end, all;
    enum petal_status status;

    stay.slot = epoch_enter(stay.epoch);
    status = offset_of_end(reader, &context, &all, error);
    end = all;
    if (status == PETAL_OK && slice_compare(low, facts->row_min) > 0)
        status = offset_of_row(reader, low, &context, &begin, error);
    if (status == PETAL_OK && high.size > 0 && slice_compare(high, facts->row_max) <= 0)
        status = offset_of_row(reader, high, &context, &end, error);
    epoch_leave(stay.epoch, stay.slot);
    if (status != PETAL_OK)
        return status;
    if (end > all)
        end = all;
    *bytes = 0;
    if (begin < end)
        *bytes = (uint64_t)((double)(end - begin) / (double)all * (double)facts->file_bytes);
    return PETAL_OK;
}
