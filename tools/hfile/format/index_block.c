/* index_block.c -- see index_block.h. */
#include "tools/hfile/format/index_block.h"

#include "tools/hfile/format/memory.h"

/* Offset and stored bytes. */
#define PLACE_BYTES 12

void
hfile_index_block_init(struct hfile_index_block *block, const petal_allocator *allocator)
{
    *block = (struct hfile_index_block){0};
    hfile_buffer_init(&block->payload, allocator);
}

void
hfile_index_block_free(struct hfile_index_block *block)
{
    hfile_release(block->payload.allocator, block->entries,
                  block->capacity * sizeof *block->entries);
    hfile_buffer_free(&block->payload);
    hfile_index_block_init(block, block->payload.allocator);
}

/* REQUIRES: so many entries can be in the payload. */
static bool
reserve(struct hfile_index_block *block, size_t count)
{
    struct hfile_index_entry *entries;

    if (count <= block->capacity)
        return true;
    entries = hfile_allocate(block->payload.allocator, count * sizeof *entries);
    if (entries == NULL)
        return false;
    hfile_release(block->payload.allocator, block->entries,
                  block->capacity * sizeof *block->entries);
    block->entries = entries;
    block->capacity = count;
    return true;
}

static bool
copy_payload(struct hfile_index_block *block, petal_slice payload)
{
    block->count = 0;
    hfile_buffer_clear(&block->payload);
    return hfile_buffer_append_slice(&block->payload, payload);
}

static bool
take_place(struct hfile_bytes *rest, struct hfile_index_entry *entry)
{
    return hfile_take_u64(rest, &entry->offset) && hfile_take_u32(rest, &entry->stored_bytes);
}

enum petal_status
hfile_index_block_parse_root(struct hfile_index_block *block, petal_slice payload, uint32_t count,
                             petal_slice *rest, const char **wrong)
{
    struct hfile_bytes bytes;

    *wrong = "the root of the index is shorter than its entries";
    if (count > payload.size / (PLACE_BYTES + 1))
        return PETAL_CORRUPT;
    if (!copy_payload(block, payload) || !reserve(block, count))
        return PETAL_NO_MEMORY;
    bytes = hfile_bytes_of(hfile_buffer_slice(&block->payload));
    for (uint32_t i = 0; i < count; i++) {
        struct hfile_index_entry *entry = &block->entries[i];
        int64_t size;

        if (!take_place(&bytes, entry) || !hfile_take_vint(&bytes, &size) || size < 0 ||
            !hfile_take_slice(&bytes, (uint64_t)size, &entry->key))
            return PETAL_CORRUPT;
    }
    block->count = count;
    *rest = hfile_slice(bytes.at, hfile_bytes_left(&bytes));
    return PETAL_OK;
}

/* REQUIRES: number < n */
static bool
parse_entry(struct hfile_bytes area, const uint8_t *offsets, uint32_t number,
            struct hfile_index_entry *entry)
{
    uint32_t begin = hfile_get_u32(offsets + (size_t)number * 4);
    uint32_t end = hfile_get_u32(offsets + (size_t)number * 4 + 4);
    size_t size = hfile_bytes_left(&area);

    if (begin > end || end > size || end - begin < PLACE_BYTES)
        return false;
    area.end = area.at + end;
    area.at += begin;
    return take_place(&area, entry) &&
           hfile_take_slice(&area, end - begin - PLACE_BYTES, &entry->key);
}

enum petal_status
hfile_index_block_parse(struct hfile_index_block *block, petal_slice payload, const char **wrong)
{
    struct hfile_bytes bytes;
    petal_slice offsets;
    uint32_t count;

    *wrong = "the block of the index is shorter than its entries";
    if (!copy_payload(block, payload))
        return PETAL_NO_MEMORY;
    bytes = hfile_bytes_of(hfile_buffer_slice(&block->payload));
    if (!hfile_take_u32(&bytes, &count) ||
        !hfile_take_slice(&bytes, ((uint64_t)count + 1) * 4, &offsets) ||
        count > hfile_bytes_left(&bytes) / PLACE_BYTES)
        return PETAL_CORRUPT;
    *wrong = "the block of the index has no entries";
    if (count == 0)
        return PETAL_CORRUPT;
    if (!reserve(block, count))
        return PETAL_NO_MEMORY;
    *wrong = "the places of entries in the block of the index are wrong";
    for (uint32_t i = 0; i < count; i++) {
        if (!parse_entry(bytes, offsets.data, i, &block->entries[i]))
            return PETAL_CORRUPT;
    }
    block->count = count;
    return PETAL_OK;
}

bool
hfile_index_block_find(const struct hfile_index_block *block, const void *key,
                       int (*compare)(petal_slice entry_key, const void *key), size_t *number)
{
    size_t low = 0, high = block->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(block->entries[middle].key, key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    *number = low == 0 ? 0 : low - 1;
    return low > 0;
}

bool
hfile_mid_key_parse(petal_slice bytes, struct hfile_mid_key *mid_key)
{
    struct hfile_bytes rest = hfile_bytes_of(bytes);

    return bytes.size == HFILE_MID_KEY_BYTES && hfile_take_u64(&rest, &mid_key->offset) &&
           hfile_take_u32(&rest, &mid_key->stored_bytes) && hfile_take_u32(&rest, &mid_key->number);
}
