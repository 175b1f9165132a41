/*
 * sst_verify.c -- proves a store file sound from its bytes on disk; see sst_reader.h.
 *
 * Opens the file anew with a small cache of its own, so nothing is taken from the shared one.
 * First the file is walked frame by frame from offset 0 to the trailer, which leaves no byte out;
 * then the index and the cells are walked in order, the facts are gathered again and compared, and
 * every key is asked of the filter.
 */
#include "sstable/sst_reader.h"

#include "bloom/hash.h"
#include "sstable/bloom_prefix.h"
#include "sstable/sst_reader_parts.h"

#include <assert.h>
#include <inttypes.h>

#define VERIFY_CACHE_BYTES (4u << 20)
#define QUOTE_BYTES        80

struct verification {
    struct sst_reader *reader; /* of its own */
    struct epoch *epoch;
    struct cache *cache;
    struct read_trace trace;
    const struct sst_watch *watch; /* NULL: nobody */

    /* Found frame by frame. */
    uint64_t data_blocks, data_bytes, raw_data_bytes, index_bytes, bloom_chunks, bloom_bytes;
    uint64_t facts_blocks;

    /* Found cell by cell. */
    struct facts_gatherer gatherer;
    uint64_t named_blocks, named_bytes; /* data blocks that the index names */
    uint64_t block_offset;              /* of the data block of `previous` */
    bool has_bloom;                     /* one that this version knows */
    uint64_t bloom_keys;
    struct cell previous;
    uint8_t *previous_memory; /* row and qualifier of `previous` */
    size_t previous_capacity;
    uint8_t *key_memory;
    size_t key_capacity;
};

static enum petal_status
reserve(const struct verification *v, uint8_t **memory, size_t *capacity, size_t size,
        petal_error *error)
{
    void *grown = *memory;

    if (!mem_grow(v->reader->file.source.env->allocator, &grown, capacity, 0, size, 1))
        return error_no_memory(error);
    *memory = grown;
    return PETAL_OK;
}

static enum petal_status
tell(const struct verification *v, uint64_t bytes, petal_error *error)
{
    if (v->watch == NULL || v->watch->go_on(v->watch->argument, bytes))
        return PETAL_OK;
    return error_set(error, PETAL_BUSY, "the verification was given up");
}

/* ---- frame by frame ---- */

static void
count_frame(struct verification *v, const struct block_frame *frame)
{
    uint64_t bytes = (uint64_t)BLOCK_FRAME_BYTES + frame->stored_bytes;

    switch (frame->kind) {
    case BLOCK_DATA:
        v->data_blocks++;
        v->data_bytes += bytes;
        v->raw_data_bytes += frame->raw_bytes;
        break;
    case BLOCK_DATA_INDEX:
    case BLOCK_BLOOM_INDEX:
        v->index_bytes += bytes;
        break;
    case BLOCK_BLOOM:
        v->bloom_chunks++;
        v->bloom_bytes += bytes;
        break;
    case BLOCK_FACTS:
        v->facts_blocks++;
        break;
    }
}

static enum petal_status
verify_frame(struct verification *v, struct readahead *ahead, uint64_t *offset, petal_error *error)
{
    const struct block_source *source = &v->reader->file.source;
    struct block_handle header = {.offset = *offset, .size = BLOCK_FRAME_BYTES};
    const uint8_t *bytes;
    struct block_frame frame;
    struct block_image image;
    struct block_handle handle = {.offset = *offset};
    enum petal_status status;

    assert(*offset < source->limit);
    if (source->limit - *offset <= BLOCK_FRAME_BYTES)
        return error_corrupt(error, source->path, *offset,
                             "%" PRIu64 " bytes at offset %" PRIu64 " belong to no block",
                             source->limit - *offset, *offset);
    status = readahead_read(ahead, source, header, &v->trace, &bytes, error);
    if (status != PETAL_OK)
        return status;
    if (!block_frame_decode(&frame, bytes))
        return error_corrupt(error, source->path, *offset, "no block begins at offset %" PRIu64,
                             *offset);
    handle.size = BLOCK_FRAME_BYTES + frame.stored_bytes;
    status = block_handle_check(source, handle, frame.kind, error);
    if (status == PETAL_OK)
        status = readahead_read(ahead, source, handle, &v->trace, &bytes, error);
    if (status == PETAL_OK)
        status = block_verify(source, handle, frame.kind, bytes, &image, error);
    if (status != PETAL_OK)
        return status;
    count_frame(v, &frame);
    *offset += handle.size;
    return tell(v, handle.size, error);
}

static enum petal_status
error_fact(const struct verification *v, const char *name, uint64_t stored, uint64_t found,
           petal_error *error)
{
    return error_corrupt(error, v->reader->path, v->reader->trailer.facts.offset,
                         "facts block at offset %" PRIu64 " says %s %" PRIu64 ", found %" PRIu64,
                         v->reader->trailer.facts.offset, name, stored, found);
}

struct fact {
    const char *name;
    uint64_t stored, found;
};

static enum petal_status
compare_facts(const struct verification *v, const struct fact *facts, size_t count,
              petal_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (facts[i].stored != facts[i].found)
            return error_fact(v, facts[i].name, facts[i].stored, facts[i].found, error);
    }
    return PETAL_OK;
}

static enum petal_status
verify_frames(struct verification *v, petal_error *error)
{
    const struct file_facts *stored = &v->reader->facts;
    struct readahead ahead;
    uint64_t offset = 0;
    enum petal_status status = PETAL_OK;

    readahead_init(&ahead, v->reader->file.readahead_limit, true);
    while (status == PETAL_OK && offset < v->reader->file.source.limit)
        status = verify_frame(v, &ahead, &offset, error);
    readahead_fini(&ahead, v->reader->file.source.env->allocator);
    if (status != PETAL_OK)
        return status;
    return compare_facts(v,
                         (const struct fact[]){
                             {"data blocks", stored->data_blocks, v->data_blocks},
                             {"data bytes", stored->data_bytes, v->data_bytes},
                             {"raw data bytes", stored->raw_data_bytes, v->raw_data_bytes},
                             {"index bytes", stored->index_bytes, v->index_bytes},
                             {"filter bytes", stored->bloom_bytes, v->bloom_bytes},
                             {"filter chunks", stored->bloom_chunks, v->bloom_chunks},
                             {"facts blocks", 1, v->facts_blocks},
                         },
                         7, error);
}

/* ---- the index ---- */

/* Each data block is named once, in the order of the file. */
static enum petal_status
verify_index(struct verification *v, petal_error *error)
{
    const struct sst_reader *reader = v->reader;
    struct read_context context = {.trace = &v->trace};
    struct index_cursor cursor;
    uint64_t behind = 0;
    unsigned slot = epoch_enter(v->epoch);
    enum petal_status status;

    index_cursor_init(&cursor, &reader->index, true);
    status = index_cursor_first(&cursor, &context, error);
    while (status == PETAL_OK && index_cursor_valid(&cursor)) {
        struct block_handle handle = index_cursor_place(&cursor).handle;

        if (handle.offset < behind) {
            status = error_corrupt(error, reader->path, handle.offset,
                                   "the index names the data block at offset %" PRIu64
                                   " behind one that ends at %" PRIu64,
                                   handle.offset, behind);
            break;
        }
        if (!index_cursor_begins_agree(&cursor)) {
            status = error_corrupt(error, reader->path, handle.offset,
                                   "the levels of the index disagree on what the data block at "
                                   "offset %" PRIu64 " begins",
                                   handle.offset);
            break;
        }
        behind = handle.offset + handle.size;
        v->named_blocks++;
        v->named_bytes += handle.size;
        status = index_cursor_next(&cursor, &context, error);
        epoch_leave(v->epoch, slot);
        slot = epoch_enter(v->epoch);
    }
    index_cursor_release(&cursor);
    epoch_leave(v->epoch, slot);
    if (status != PETAL_OK)
        return status;
    return compare_facts(v,
                         (const struct fact[]){
                             {"data blocks", reader->facts.data_blocks, v->named_blocks},
                             {"data bytes", reader->facts.data_bytes, v->named_bytes},
                         },
                         2, error);
}

/* ---- cell by cell ---- */

static enum petal_status
error_cell(const struct verification *v, const struct sst_iter *iter, const char *what,
           petal_error *error)
{
    char row[QUOTE_BYTES];

    return error_corrupt(error, v->reader->path, iter->block_offset,
                         "data block at offset %" PRIu64 ", row %s: %s", iter->block_offset,
                         error_quote(iter->iter.cell.row, row, sizeof row), what);
}

/* The cell is the first of its block: does the block begin what the index claims? */
static bool
claims_of_index_hold(const struct sst_iter *iter, bool new_row, bool new_column)
{
    uint32_t begins = index_cursor_place(&iter->index).handle.begins;

    return (new_row || (begins & BLOCK_BEGINS_ROW) == 0) && (new_column || begins == 0);
}

/* Order, and what the block claims of its cells. */
static enum petal_status
verify_cell(const struct verification *v, const struct sst_iter *iter, bool same_column,
            petal_error *error)
{
    const struct cell *cell = &iter->iter.cell;

    if (v->gatherer.facts.cells > 0 && cell_compare(&v->previous, cell) >= 0)
        return error_cell(v, iter, "a cell does not sort behind the one before", error);
    if (data_block_is_plain(&iter->cursor.block) &&
        (same_column || cell_is_marker(cell->type) || cell->has_ttl))
        return error_cell(v, iter,
                          "the block is said to have no markers, no times to live and no column "
                          "twice",
                          error);
    if (cell->sequence > iter->cursor.block.sequence_max)
        return error_cell(v, iter, "a sequence is above the block's greatest", error);
    return PETAL_OK;
}

/* The filter must not deny the key whose place is `prefix`. */
static enum petal_status
verify_key(struct verification *v, petal_slice prefix, uint64_t hash, const struct cell *cell,
           petal_error *error)
{
    const struct sst_reader *reader = v->reader;
    struct read_context context = {.trace = &v->trace};
    unsigned slot = epoch_enter(v->epoch);
    bool found = true;
    enum petal_status status =
        bloom_reader_probe(&reader->bloom, prefix, hash, &context, &found, error);
    char row[QUOTE_BYTES];

    epoch_leave(v->epoch, slot);
    v->bloom_keys++;
    if (status != PETAL_OK || found)
        return status;
    return error_corrupt(error, reader->path, reader->trailer.bloom_root.offset,
                         "the Bloom filter denies a key of row %s",
                         error_quote(cell->row, row, sizeof row));
}

/* Whether the cell, which begins a row, begins a prefix of rows. */
static bool
begins_prefix(const struct verification *v, const struct cell *cell)
{
    uint32_t bytes = v->reader->bloom.prefix_bytes;

    assert(bytes > 0);
    return v->gatherer.facts.cells == 0 || !slice_equal(bloom_row_prefix(v->previous.row, bytes),
                                                        bloom_row_prefix(cell->row, bytes));
}

/* Ask the filter for what the cell begins: a row, a prefix of rows, a column, a row's family
 * markers. */
static enum petal_status
verify_in_bloom(struct verification *v, const struct cell *cell, bool new_row, petal_error *error)
{
    const struct bloom_reader *bloom = &v->reader->bloom;
    uint64_t row_hash = bloom_hash_row(v->reader->facts.salt, cell->row.data, cell->row.size);
    uint64_t column_hash =
        cell_is_family_marker(cell->type)
            ? bloom_hash_family_marker(row_hash)
            : bloom_hash_column(row_hash, cell->qualifier.data, cell->qualifier.size);
    struct cell_key key;
    enum petal_status status = reserve(v, &v->key_memory, &v->key_capacity,
                                       cell_key_bound(cell->row.size, cell->qualifier.size), error);

    if (status != PETAL_OK)
        return status;
    cell_key_of(&key, v->key_memory, cell);
    if (new_row && bloom->serves_rows)
        status = verify_key(v, slice_make(key.encoded.data, key.row_prefix), row_hash, cell, error);
    if (new_row && bloom->prefix_bytes > 0 && begins_prefix(v, cell)) {
        petal_slice prefix = bloom_row_prefix(cell->row, bloom->prefix_bytes);

        status = verify_key(v, bloom_prefix_place(&key, bloom->prefix_bytes),
                            bloom_hash_row(bloom->salt, prefix.data, prefix.size), cell, error);
    }
    if (status == PETAL_OK && bloom->serves_columns)
        status = verify_key(v, slice_make(key.encoded.data, key.column_prefix), column_hash, cell,
                            error);
    return status;
}

static enum petal_status
remember(struct verification *v, const struct cell *cell, petal_error *error)
{
    size_t row = cell->row.size;
    size_t qualifier = cell->qualifier.size;
    enum petal_status status =
        reserve(v, &v->previous_memory, &v->previous_capacity, row + qualifier, error);

    if (status != PETAL_OK)
        return status;
    memcpy(v->previous_memory, cell->row.data, row);
    if (qualifier > 0)
        memcpy(v->previous_memory + row, cell->qualifier.data, qualifier);
    v->previous = *cell;
    v->previous.row = slice_make(v->previous_memory, row);
    v->previous.qualifier = slice_make(v->previous_memory + row, qualifier);
    return PETAL_OK;
}

static enum petal_status
visit_cell(struct verification *v, const struct sst_iter *iter, petal_error *error)
{
    const struct cell *cell = &iter->iter.cell;
    bool first = v->gatherer.facts.cells == 0;
    bool new_row = first || !slice_equal(v->previous.row, cell->row);
    bool new_column =
        new_row || cell_is_family_marker(v->previous.type) != cell_is_family_marker(cell->type) ||
        !slice_equal(v->previous.qualifier, cell->qualifier);
    enum petal_status status = verify_cell(v, iter, !new_column, error);

    if (status == PETAL_OK && (first || iter->block_offset != v->block_offset) &&
        !claims_of_index_hold(iter, new_row, new_column))
        status =
            error_cell(v, iter, "the index claims that the block begins the row or column", error);
    assert(first || iter->block_offset >= v->block_offset);
    v->block_offset = iter->block_offset;
    if (status == PETAL_OK && new_column && v->has_bloom)
        status = verify_in_bloom(v, cell, new_row, error);
    if (status == PETAL_OK &&
        facts_gatherer_add(&v->gatherer, cell, new_row, new_column) != PETAL_OK)
        status = error_no_memory(error);
    if (status == PETAL_OK)
        status = remember(v, cell, error);
    return status;
}

static enum petal_status
verify_cells(struct verification *v, petal_error *error)
{
    struct read_context context = {
        .trace = &v->trace, .keep_out_of_cache = true, .whole_file = true};
    struct sst_iter iter;
    struct cell_iter *base = &iter.iter;
    enum petal_status status;

    /* Lazy: so that each block is entered by way of its index key, which must be its first
     * cell's. */
    sst_iter_init(&iter, v->reader, &context, false, true);
    status = base->ops->seek_first(base, error);
    while (status == PETAL_OK && base->valid) {
        uint64_t before = v->block_offset;

        if (base->pending)
            status = base->ops->load(base, error);
        if (status == PETAL_OK)
            status = visit_cell(v, &iter, error);
        if (status == PETAL_OK && v->block_offset > before)
            status = tell(v, v->block_offset - before, error);
        if (status == PETAL_OK)
            status = base->ops->next(base, error);
    }
    base->ops->close(base);
    return status;
}

/* ---- the facts ---- */

static bool
same_qualifiers(const struct file_facts *a, const struct file_facts *b)
{
    if (a->qualifiers_exact != b->qualifiers_exact || a->qualifier_count != b->qualifier_count)
        return false;
    for (uint32_t i = 0; i < a->qualifier_count; i++) {
        if (!slice_equal(a->qualifiers[i], b->qualifiers[i]))
            return false;
    }
    return true;
}

/* Of files that do not record it all times are right. */
static bool
same_deaths(const struct file_facts *stored, const struct file_facts *found)
{
    bool known = stored->death_min != INT64_MIN || stored->death_max != INT64_MAX;

    return !known ||
           (stored->death_min == found->death_min && stored->death_max == found->death_max);
}

static enum petal_status
verify_ranges(const struct verification *v, petal_error *error)
{
    const struct file_facts *stored = &v->reader->facts;
    const struct file_facts *found = &v->gatherer.facts;
    const char *wrong = NULL;

    if (!slice_equal(stored->row_min, found->row_min) ||
        !slice_equal(stored->row_max, found->row_max))
        wrong = "row range";
    else if (stored->time_min != found->time_min || stored->time_max != found->time_max)
        wrong = "time range";
    else if (stored->put_time_min > found->put_time_min)
        wrong = "least timestamp of a put";
    else if (!same_deaths(stored, found))
        wrong = "range of times of death";
    else if (stored->sequence_min > found->sequence_min ||
             stored->sequence_max < found->sequence_max)
        wrong = "sequence range";
    else if (!same_qualifiers(stored, found))
        wrong = "set of qualifiers";
    if (wrong == NULL)
        return PETAL_OK;
    return error_corrupt(error, v->reader->path, v->reader->trailer.facts.offset,
                         "facts block at offset %" PRIu64 ": the %s is not that of the cells",
                         v->reader->trailer.facts.offset, wrong);
}

static enum petal_status
verify_facts(struct verification *v, petal_error *error)
{
    const struct file_facts *stored = &v->reader->facts;
    const struct file_facts *found = &v->gatherer.facts;
    enum petal_status status;

    facts_gatherer_finish(&v->gatherer, v->previous.row);
    status = compare_facts(v,
                           (const struct fact[]){
                               {"cells", stored->cells, found->cells},
                               {"rows", stored->rows, found->rows},
                               {"puts", stored->puts, found->puts},
                               {"deletes", stored->deletes, found->deletes},
                               {"family version deletes", stored->family_version_deletes,
                                found->family_version_deletes},
                               {"column deletes", stored->column_deletes, found->column_deletes},
                               {"family deletes", stored->family_deletes, found->family_deletes},
                               {"cells with a time to live", stored->ttl_cells, found->ttl_cells},
                           },
                           8, error);
    if (status == PETAL_OK)
        status = verify_ranges(v, error);
    if (status != PETAL_OK || !v->has_bloom)
        return status;
    return compare_facts(
        v, (const struct fact[]){{"filter keys", stored->bloom_keys, v->bloom_keys}}, 1, error);
}

/* ---- all ---- */

static enum petal_status
verify_all(struct verification *v, petal_error *error)
{
    enum petal_status status;

    facts_gatherer_init(&v->gatherer, v->reader->file.source.env->allocator);
    v->has_bloom = v->reader->facts.bloom != PETAL_BLOOM_NONE && !v->reader->bloom.unknown;
    status = verify_frames(v, error);
    if (status == PETAL_OK && v->reader->bloom.damaged)
        status = error_corrupt(error, v->reader->path, v->reader->trailer.bloom_root.offset,
                               "the root of the filter index is damaged");
    if (status == PETAL_OK)
        status = verify_index(v, error);
    if (status == PETAL_OK)
        status = verify_cells(v, error);
    if (status == PETAL_OK)
        status = verify_facts(v, error);
    facts_gatherer_fini(&v->gatherer);
    mem_free(v->reader->file.source.env->allocator, v->previous_memory, v->previous_capacity);
    mem_free(v->reader->file.source.env->allocator, v->key_memory, v->key_capacity);
    return status;
}

static enum petal_status
open_and_verify(struct verification *v, const struct sst_reader *reader, petal_error *error)
{
    struct sst_open_options options = {.file_number = 1,
                                       .file_identity = reader->trailer.file_identity,
                                       .cache = v->cache,
                                       .epoch = v->epoch,
                                       .pool = reader->pooled.pool,
                                       .readahead_limit = reader->file.readahead_limit};
    enum petal_status status =
        sst_reader_open(&v->reader, reader->pooled.directory, reader->path, &options, error);

    if (status != PETAL_OK)
        return status;
    status = verify_all(v, error);
    sst_reader_close(v->reader);
    return status;
}

enum petal_status
sst_reader_verify(const struct sst_reader *reader, const struct sst_watch *watch,
                  petal_error *error)
{
    const petal_allocator *allocator = reader->file.source.env->allocator;
    struct verification v = {.watch = watch};
    enum petal_status status;

    v.epoch = mem_alloc_aligned(allocator, CACHE_LINE_BYTES, sizeof *v.epoch);
    if (v.epoch == NULL)
        return error_no_memory(error);
    if (epoch_init(v.epoch) != PETAL_OK) {
        mem_free(allocator, v.epoch, sizeof *v.epoch);
        return error_no_memory(error);
    }
    if (cache_open(&v.cache, allocator, v.epoch, VERIFY_CACHE_BYTES, 1) == PETAL_OK)
        status = open_and_verify(&v, reader, error);
    else
        status = error_no_memory(error);
    cache_close(v.cache);
    epoch_fini(v.epoch);
    mem_free(allocator, v.epoch, sizeof *v.epoch);
    return status;
}
