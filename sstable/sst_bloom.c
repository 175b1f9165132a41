/* sst_bloom.c -- the questions of gets and scans to the Bloom filter of a store file; see
 * sst_reader.h. */
#include "sstable/sst_reader.h"

#include "bloom/hash.h"
#include "sstable/filter/bloom_prefix.h"
#include "sstable/sst_reader_parts.h"

#include <assert.h>

/* The question of a filter of prefixes for the key's row. */
static bool
may_contain_prefix_of(const struct bloom_reader *reader, const struct cell_key *key,
                      const struct read_context *context)
{
    petal_slice prefix = bloom_row_prefix(key->row, reader->prefix_bytes);

    if (reader->prefix_bytes == 0)
        return true;
    return bloom_reader_ask(reader, bloom_prefix_place(key, reader->prefix_bytes), NULL,
                            bloom_hash_row(reader->salt, prefix.data, prefix.size),
                            READ_SAVES_BLOCK, context);
}

bool
sst_reader_may_contain_row(const struct sst_reader *reader, const struct cell_key *key,
                           uint64_t row_hash, const struct read_context *context)
{
    if (!reader->bloom.serves_rows)
        return may_contain_prefix_of(&reader->bloom, key, context);
    return bloom_reader_ask(&reader->bloom, slice_make(key->encoded.data, key->row_prefix), NULL,
                            row_hash, READ_SAVES_BLOCK, context);
}

bool
sst_reader_may_contain_column(const struct sst_reader *reader, const struct cell_key *key,
                              uint64_t column_hash, uint32_t saves,
                              const struct read_context *context)
{
    assert(!key->family_class);
    return !reader->bloom.serves_columns ||
           bloom_reader_ask(&reader->bloom, slice_make(key->encoded.data, key->column_prefix), NULL,
                            column_hash, saves, context);
}

bool
sst_reader_may_contain_family_marker(const struct sst_reader *reader, const struct cell_key *key,
                                     uint64_t marker_hash, uint32_t saves,
                                     const struct read_context *context)
{
    assert(key->family_class);
    if (facts_family_markers(&reader->facts) == 0)
        return false;
    return !reader->bloom.serves_columns ||
           bloom_reader_ask(&reader->bloom, slice_make(key->encoded.data, key->column_prefix), NULL,
                            marker_hash, saves, context);
}

/* Rows and prefixes beyond this length are rare: their places are made in memory of their own. */
#define SHORT_PLACE_BYTES 256

bool
sst_reader_may_contain_prefix(const struct sst_reader *reader, petal_slice beginning,
                              const struct read_context *context)
{
    const struct bloom_reader *bloom = &reader->bloom;
    petal_slice prefix = slice_make(beginning.data, bloom->prefix_bytes);
    const petal_allocator *allocator = reader->file.source.env->allocator;
    size_t bound = cell_key_bound(prefix.size, 0);
    uint8_t short_place[SHORT_PLACE_BYTES];
    uint8_t *place = short_place;
    struct cell_key key;
    bool answer;

    if (bloom->prefix_bytes == 0 || beginning.size < bloom->prefix_bytes)
        return true;
    if (bound > sizeof short_place)
        place = mem_alloc(allocator, bound);
    if (place == NULL)
        return true;
    cell_key_make(&key, place, prefix, slice_make(NULL, 0), true, INT64_MAX, CELL_SEQUENCE_MAX);
    answer = may_contain_prefix_of(bloom, &key, context);
    if (place != short_place)
        mem_free(allocator, place, bound);
    return answer;
}

void
sst_reader_bloom_saved(const struct sst_reader *reader, uint64_t blocks)
{
    for (; blocks > 0 && !reader->bloom.unknown; blocks--)
        bloom_account_credit(reader->bloom.account, READ_SAVES_BLOCK);
}

const struct bloom_rows *
sst_reader_bloom_rows(const struct sst_reader *reader)
{
    return reader->bloom.rows.count > 0 ? &reader->bloom.rows : NULL;
}

bool
sst_reader_ask_chunk(const struct sst_reader *reader, struct bloom_rows_chunk *chunk,
                     uint64_t row_hash, const struct read_context *context)
{
    return bloom_reader_ask(&reader->bloom, slice_make(NULL, 0), chunk, row_hash, READ_SAVES_BLOCK,
                            context);
}
