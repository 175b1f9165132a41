/* filter.c -- see filter.h. */
#include "tools/hfile/reader/filter.h"

#include "tools/hfile/format/argument.h"
#include "tools/hfile/format/bloom.h"
#include "tools/hfile/format/error.h"
#include "tools/hfile/format/key.h"

#include <assert.h>
#include <inttypes.h>

#define NO_CHUNK SIZE_MAX

void
hfile_filter_asker_init(struct hfile_filter_asker *asker, const petal_hfile *file,
                        enum petal_hfile_filter filter)
{
    assert(file->filters[filter].is_there);
    *asker = (struct hfile_filter_asker){
        .file = file, .filter = &file->filters[filter], .chunk_number = NO_CHUNK};
    hfile_block_reader_init(&asker->reader, file);
}

void
hfile_filter_asker_free(struct hfile_filter_asker *asker)
{
    hfile_block_reader_free(&asker->reader);
}

/* ---- keys ---- */

static petal_slice
prefix_of(petal_slice row, size_t size)
{
    return hfile_slice(row.data, row.size < size ? row.size : size);
}

bool
hfile_filter_key_of(const petal_hfile *file, enum petal_hfile_filter filter, petal_slice row,
                    petal_slice qualifier, struct hfile_buffer *buffer,
                    struct hfile_filter_key *key)
{
    enum petal_hfile_bloom_type type =
        filter == PETAL_HFILE_FILTER_GENERAL ? file->info.bloom_type : PETAL_HFILE_BLOOM_ROW;
    petal_hfile_cell column;

    *key = (struct hfile_filter_key){.bytes = row, .is_column = type == PETAL_HFILE_BLOOM_ROWCOL};
    if (type == PETAL_HFILE_BLOOM_ROW_PREFIX)
        key->bytes = prefix_of(row, file->info.bloom_prefix_bytes);
    if (!key->is_column)
        return true;
    column = hfile_bloom_column_key(row, qualifier);
    hfile_buffer_clear(buffer);
    if (!hfile_key_append(&column, buffer))
        return false;
    key->bytes = hfile_buffer_slice(buffer);
    return true;
}

/* Of serialised keys; what is none stands before all. */
static int
compare_columns(petal_slice a, petal_slice b)
{
    petal_hfile_cell first = {0}, second = {0};
    bool first_is_key = hfile_key_parse(a, &first), second_is_key = hfile_key_parse(b, &second);

    if (!first_is_key || !second_is_key)
        return first_is_key - second_is_key;
    return petal_hfile_compare(&first, &second);
}

static int
compare_bytes(petal_slice a, petal_slice b, bool are_columns)
{
    return are_columns ? compare_columns(a, b) : hfile_slice_compare(a, b);
}

static int
compare_entry(petal_slice entry_key, const void *key)
{
    const struct hfile_filter_key *asked = key;

    return compare_bytes(entry_key, asked->bytes, asked->is_column);
}

bool
hfile_filter_find_chunk(const struct hfile_filter *filter, const struct hfile_filter_key *key,
                        size_t *number)
{
    return hfile_index_block_find(&filter->meta.chunks, key, compare_entry, number);
}

/* ---- one question ---- */

enum petal_status
hfile_filter_read_chunk(struct hfile_filter_asker *asker, size_t number, petal_error *error)
{
    const struct hfile_index_entry *entry = &asker->filter->meta.chunks.entries[number];
    struct hfile_block block;
    enum petal_status status;

    if (asker->chunk_number == number)
        return PETAL_OK;
    asker->chunk_number = NO_CHUNK;
    status = hfile_block_read_kind(&asker->reader, PETAL_HFILE_BLOCK_BLOOM_CHUNK, entry->offset,
                                   entry->stored_bytes, asker->file->trailer.load_on_open_offset,
                                   &block, error);
    if (status != PETAL_OK)
        return status;
    if (block.payload.size == 0 || block.payload.size > HFILE_BLOOM_MOST_CHUNK_BYTES)
        return hfile_error_corrupt(error, asker->file->name, entry->offset,
                                   "block at %" PRIu64
                                   ": a chunk of a Bloom filter cannot have %zu bytes",
                                   entry->offset, block.payload.size);
    asker->chunk_number = number;
    asker->chunk = block.payload;
    return PETAL_OK;
}

enum petal_status
hfile_filter_ask(struct hfile_filter_asker *asker, const struct hfile_filter_key *key, bool *answer,
                 petal_error *error)
{
    const petal_hfile_bloom *facts = &asker->filter->meta.facts;
    struct hfile_bloom_hashes hashes;
    enum petal_status status;
    size_t number;

    *answer = false;
    if (!hfile_filter_find_chunk(asker->filter, key, &number))
        return PETAL_OK;
    status = hfile_filter_read_chunk(asker, number, error);
    if (status != PETAL_OK)
        return status;
    hashes = hfile_bloom_hash(facts->hash_type, key->bytes.data, key->bytes.size);
    *answer = hfile_bloom_contains(asker->chunk.data, (uint32_t)asker->chunk.size,
                                   facts->hash_count, hashes);
    return PETAL_OK;
}

/* ---- for callers ---- */

bool
petal_hfile_bloom_get(const petal_hfile *file, enum petal_hfile_filter filter,
                      petal_hfile_bloom *bloom)
{
    if (file == NULL || bloom == NULL || (unsigned)filter >= HFILE_FILTERS ||
        !file->filters[filter].is_there)
        return false;
    *bloom = file->filters[filter].meta.facts;
    return true;
}

bool
petal_hfile_bloom_chunk(const petal_hfile *file, enum petal_hfile_filter filter, size_t number,
                        uint64_t *offset, uint32_t *stored_bytes, petal_slice *first_key)
{
    const struct hfile_index_entry *entry;

    if (file == NULL || offset == NULL || stored_bytes == NULL || first_key == NULL ||
        (unsigned)filter >= HFILE_FILTERS || !file->filters[filter].is_there ||
        number >= file->filters[filter].meta.chunks.count)
        return false;
    entry = &file->filters[filter].meta.chunks.entries[number];
    *offset = entry->offset;
    *stored_bytes = entry->stored_bytes;
    *first_key = entry->key;
    return true;
}

static enum petal_status
ask_once(const petal_hfile *file, enum petal_hfile_filter filter, petal_slice row,
         petal_slice qualifier, bool *answer, petal_error *error)
{
    struct hfile_filter_asker asker;
    struct hfile_filter_key key;
    struct hfile_buffer buffer;
    enum petal_status status;

    hfile_buffer_init(&buffer, file->allocator);
    if (!hfile_filter_key_of(file, filter, row, qualifier, &buffer, &key))
        return hfile_error_no_memory(error);
    hfile_filter_asker_init(&asker, file, filter);
    status = hfile_filter_ask(&asker, &key, answer, error);
    hfile_filter_asker_free(&asker);
    hfile_buffer_free(&buffer);
    return status;
}

/* The arguments of a question, qualifier NULL: of the row; without an answer it is true. */
static enum petal_status
check_question(const petal_hfile *file, petal_slice row, const petal_slice *qualifier, bool *answer,
               petal_error *error)
{
    HFILE_RETURN_IF_NULL(answer, error);
    *answer = true;
    HFILE_RETURN_IF_NULL(file, error);
    HFILE_RETURN_IF_NO_BYTES(row, error);
    if (qualifier != NULL)
        HFILE_RETURN_IF_NO_BYTES(*qualifier, error);
    hfile_error_clear(error);
    if (row.size <= PETAL_HFILE_MAX_ROW_BYTES)
        return hfile_check_readable(file, error);
    return hfile_error_set(error, PETAL_INVALID, file->name,
                           "the row has %zu bytes; the most is %d", row.size,
                           PETAL_HFILE_MAX_ROW_BYTES);
}

enum petal_status
petal_hfile_bloom_ask(petal_hfile *file, enum petal_hfile_filter filter, petal_slice row,
                      const petal_slice *qualifier, bool *answer, petal_error *error)
{
    const petal_slice none = {NULL, 0};
    enum petal_status status = check_question(file, row, qualifier, answer, error);

    if (status != PETAL_OK || (unsigned)filter >= HFILE_FILTERS || !file->filters[filter].is_there)
        return status;
    return ask_once(file, filter, row, qualifier == NULL ? none : *qualifier, answer, error);
}

static bool
is_in_row_range(const petal_hfile *file, petal_slice row)
{
    const petal_hfile_info *info = &file->info;

    return info->has_data_blocks && hfile_slice_compare(row, info->first_row) >= 0 &&
           (info->last_key.size == 0 || hfile_slice_compare(row, info->last_row) <= 0);
}

enum petal_status
petal_hfile_may_contain(petal_hfile *file, petal_slice row, const petal_slice *qualifier,
                        bool *answer, petal_error *error)
{
    const petal_slice none = {NULL, 0};
    enum petal_status status = check_question(file, row, qualifier, answer, error);

    if (status != PETAL_OK)
        return status;
    *answer = is_in_row_range(file, row);
    if (!*answer || !file->filters[PETAL_HFILE_FILTER_GENERAL].is_there)
        return PETAL_OK;
    if (file->info.bloom_type != PETAL_HFILE_BLOOM_ROWCOL)
        return ask_once(file, PETAL_HFILE_FILTER_GENERAL, row, none, answer, error);
    if (qualifier == NULL)
        return PETAL_OK;
    /* A marker of the family is entered with the empty qualifier, and counts for all columns. */
    status = ask_once(file, PETAL_HFILE_FILTER_GENERAL, row, *qualifier, answer, error);
    if (status != PETAL_OK || *answer)
        return status;
    return ask_once(file, PETAL_HFILE_FILTER_GENERAL, row, none, answer, error);
}

enum petal_status
petal_hfile_may_contain_delete_family(petal_hfile *file, petal_slice row, bool *answer,
                                      petal_error *error)
{
    const petal_slice none = {NULL, 0};
    enum petal_status status = check_question(file, row, NULL, answer, error);

    if (status != PETAL_OK)
        return status;
    *answer = is_in_row_range(file, row) &&
              (!file->info.has_delete_family_cells || file->info.delete_family_cells > 0);
    if (!*answer || !file->filters[PETAL_HFILE_FILTER_DELETE_FAMILY].is_there)
        return PETAL_OK;
    return ask_once(file, PETAL_HFILE_FILTER_DELETE_FAMILY, row, none, answer, error);
}
