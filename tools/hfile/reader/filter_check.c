/* filter_check.c -- see filter_check.h. */
#include "tools/hfile/reader/filter_check.h"

#include "tools/hfile/format/bloom.h"
#include "tools/hfile/format/error.h"

#include <inttypes.h>

#define NO_CHUNK SIZE_MAX

void
hfile_filter_check_init(struct hfile_filter_check *check, const petal_hfile *file,
                        enum petal_hfile_filter which)
{
    *check = (struct hfile_filter_check){.which = which, .chunk_number = NO_CHUNK};
    hfile_filter_asker_init(&check->asker, file, which);
    hfile_buffer_init(&check->key_buffer, file->allocator);
    hfile_buffer_init(&check->last_key, file->allocator);
    hfile_buffer_init(&check->made, file->allocator);
}

void
hfile_filter_check_free(struct hfile_filter_check *check)
{
    hfile_filter_asker_free(&check->asker);
    hfile_buffer_free(&check->key_buffer);
    hfile_buffer_free(&check->last_key);
    hfile_buffer_free(&check->made);
}

static const char *
name_of(const struct hfile_filter_check *check)
{
    return check->which == PETAL_HFILE_FILTER_GENERAL ? "general" : "delete family";
}

static const struct hfile_index_block *
chunks_of(const struct hfile_filter_check *check)
{
    return &check->asker.filter->meta.chunks;
}

static enum petal_status
corrupt_chunk(const struct hfile_filter_check *check, size_t number, const char *wrong,
              petal_error *error)
{
    uint64_t offset = chunks_of(check)->entries[number].offset;

    return hfile_error_corrupt(error, check->asker.file->name, offset,
                               "block at %" PRIu64 ": chunk %zu of the %s Bloom filter %s", offset,
                               number, name_of(check), wrong);
}

/* The chunk that was made is the one that is stored. */
static enum petal_status
finish_chunk(struct hfile_filter_check *check, petal_error *error)
{
    petal_slice stored = check->asker.chunk;

    if (check->chunk_number == NO_CHUNK)
        return PETAL_OK;
    check->chunks++;
    check->bytes += stored.size;
    if (hfile_slice_equal(stored, hfile_buffer_slice(&check->made)))
        return PETAL_OK;
    return corrupt_chunk(check, check->chunk_number, "has other bits than its keys make", error);
}

/* No bits, as many bytes as are stored. Chunks come one after the other, each with its first
 * key. */
static enum petal_status
begin_chunk(struct hfile_filter_check *check, size_t number, const struct hfile_filter_key *key,
            petal_error *error)
{
    size_t next = check->chunk_number == NO_CHUNK ? 0 : check->chunk_number + 1;
    enum petal_status status = finish_chunk(check, error);

    if (status != PETAL_OK)
        return status;
    if (number != next)
        return corrupt_chunk(check, next, "has no keys", error);
    if (!hfile_slice_equal(chunks_of(check)->entries[number].key, key->bytes))
        return corrupt_chunk(check, number, "does not begin with the key that it names", error);
    status = hfile_filter_read_chunk(&check->asker, number, error);
    if (status != PETAL_OK)
        return status;
    hfile_buffer_clear(&check->made);
    if (!hfile_buffer_reserve(&check->made, check->asker.chunk.size))
        return hfile_error_no_memory(error);
    memset(check->made.bytes, 0, check->asker.chunk.size);
    check->made.size = check->asker.chunk.size;
    check->chunk_number = number;
    return PETAL_OK;
}

static enum petal_status
add_key(struct hfile_filter_check *check, const struct hfile_filter_key *key, petal_error *error)
{
    const petal_hfile_bloom *facts = &check->asker.filter->meta.facts;
    struct hfile_bloom_hashes hashes;
    enum petal_status status = PETAL_OK;
    size_t number;

    if (!hfile_filter_find_chunk(check->asker.filter, key, &number))
        return hfile_error_corrupt(
            error, check->asker.file->name, check->asker.file->trailer.load_on_open_offset,
            "the %s Bloom filter has no chunk for a key of the file", name_of(check));
    if (number != check->chunk_number)
        status = begin_chunk(check, number, key, error);
    if (status != PETAL_OK)
        return status;
    hashes = hfile_bloom_hash(facts->hash_type, key->bytes.data, key->bytes.size);
    if (!hfile_bloom_contains(check->asker.chunk.data, (uint32_t)check->asker.chunk.size,
                              facts->hash_count, hashes))
        return corrupt_chunk(check, number, "denies a key of the file", error);
    hfile_bloom_add(check->made.bytes, (uint32_t)check->made.size, facts->hash_count, hashes);
    check->keys++;
    return PETAL_OK;
}

static bool
belongs(const struct hfile_filter_check *check, const petal_hfile_cell *cell)
{
    return check->which == PETAL_HFILE_FILTER_GENERAL || cell->type == PETAL_DELETE_FAMILY ||
           cell->type == PETAL_DELETE_FAMILY_VERSION;
}

enum petal_status
hfile_filter_check_add(struct hfile_filter_check *check, const petal_hfile_cell *cell,
                       petal_error *error)
{
    struct hfile_filter_key key;

    if (!belongs(check, cell))
        return PETAL_OK;
    if (!hfile_filter_key_of(check->asker.file, check->which, cell->row, cell->qualifier,
                             &check->key_buffer, &key))
        return hfile_error_no_memory(error);
    if (check->has_last_key && hfile_slice_equal(hfile_buffer_slice(&check->last_key), key.bytes))
        return PETAL_OK;
    hfile_buffer_clear(&check->last_key);
    if (!hfile_buffer_append_slice(&check->last_key, key.bytes))
        return hfile_error_no_memory(error);
    check->has_last_key = true;
    return add_key(check, &key, error);
}

static enum petal_status
corrupt_number(const struct hfile_filter_check *check, const char *what, uint64_t said,
               uint64_t found, petal_error *error)
{
    return hfile_error_corrupt(error, check->asker.file->name,
                               check->asker.file->trailer.load_on_open_offset,
                               "the %s Bloom filter says %" PRIu64 " %s, but there are %" PRIu64,
                               name_of(check), said, what, found);
}

enum petal_status
hfile_filter_check_finish(struct hfile_filter_check *check, petal_error *error)
{
    const petal_hfile_bloom *facts = &check->asker.filter->meta.facts;
    enum petal_status status = finish_chunk(check, error);

    if (status != PETAL_OK)
        return status;
    if (facts->chunks != check->chunks)
        return corrupt_number(check, "chunks", facts->chunks, check->chunks, error);
    if (facts->keys != check->keys)
        return corrupt_number(check, "keys", facts->keys, check->keys, error);
    if (facts->total_bytes != check->bytes)
        return corrupt_number(check, "bytes", facts->total_bytes, check->bytes, error);
    if (check->which == PETAL_HFILE_FILTER_GENERAL && facts->last_key.size > 0 &&
        !hfile_slice_equal(facts->last_key, hfile_buffer_slice(&check->last_key)))
        return hfile_error_corrupt(error, check->asker.file->name,
                                   check->asker.file->trailer.file_info_offset,
                                   "LAST_BLOOM_KEY in FILE_INFO is not the last key of the filter");
    return PETAL_OK;
}
