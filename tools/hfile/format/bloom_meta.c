/* bloom_meta.c -- see bloom_meta.h. */
#include "tools/hfile/format/bloom_meta.h"

#include "tools/hfile/format/format.h"
#include "tools/hfile/format/hash.h"

/* HBase chooses 7 or 8; a get sets or asks so many bits. */
#define MOST_HASHES 64

void
hfile_bloom_meta_init(struct hfile_bloom_meta *meta, const petal_allocator *allocator)
{
    *meta = (struct hfile_bloom_meta){0};
    hfile_index_block_init(&meta->chunks, allocator);
    hfile_buffer_init(&meta->comparator, allocator);
}

void
hfile_bloom_meta_free(struct hfile_bloom_meta *meta)
{
    hfile_index_block_free(&meta->chunks);
    hfile_buffer_free(&meta->comparator);
}

static bool
take_numbers(struct hfile_bytes *rest, petal_hfile_bloom *facts)
{
    uint32_t version, hash_count, hash_type;

    if (!hfile_take_u32(rest, &version) || !hfile_take_u64(rest, &facts->total_bytes) ||
        !hfile_take_u32(rest, &hash_count) || !hfile_take_u32(rest, &hash_type) ||
        !hfile_take_u64(rest, &facts->keys) || !hfile_take_u64(rest, &facts->most_keys) ||
        !hfile_take_u32(rest, &facts->chunks))
        return false;
    facts->version = (int)version;
    facts->hash_count = (int)hash_count;
    facts->hash_type = (int)hash_type;
    return true;
}

static bool
take_comparator(struct hfile_bytes *rest, petal_slice *comparator)
{
    int64_t size;

    return hfile_take_vint(rest, &size) && size >= 0 &&
           hfile_take_slice(rest, (uint64_t)size, comparator);
}

enum petal_status
hfile_bloom_meta_parse(struct hfile_bloom_meta *meta, petal_slice payload, const char **wrong)
{
    struct hfile_bytes rest = hfile_bytes_of(payload);
    petal_hfile_bloom *facts = &meta->facts;
    enum petal_status status;
    petal_slice comparator, left;

    *wrong = "the description of the Bloom filter is cut short";
    if (!take_numbers(&rest, facts))
        return PETAL_CORRUPT;
    *wrong = "the Bloom filter is of an unknown version";
    if (facts->version != HFILE_BLOOM_META_VERSION)
        return PETAL_UNSUPPORTED;
    *wrong = "the Bloom filter is of an unknown hash type";
    if (!hfile_hash_is_known(facts->hash_type))
        return PETAL_UNSUPPORTED;
    *wrong = "the Bloom filter has no hashes, or too many";
    if (facts->hash_count < 1 || facts->hash_count > MOST_HASHES)
        return PETAL_CORRUPT;
    *wrong = "the description of the Bloom filter is cut short";
    if (!take_comparator(&rest, &comparator))
        return PETAL_CORRUPT;
    hfile_buffer_clear(&meta->comparator);
    if (!hfile_buffer_append_slice(&meta->comparator, comparator))
        return PETAL_NO_MEMORY;
    facts->comparator = hfile_buffer_slice(&meta->comparator);

    status = hfile_index_block_parse_root(
        &meta->chunks, hfile_slice(rest.at, hfile_bytes_left(&rest)), facts->chunks, &left, wrong);
    if (status != PETAL_OK)
        return status;
    *wrong = "the description of the Bloom filter is longer than its chunks";
    return left.size == 0 ? PETAL_OK : PETAL_CORRUPT;
}
