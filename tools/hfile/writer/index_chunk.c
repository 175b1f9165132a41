/* index_chunk.c -- see index_chunk.h. */
#include "tools/hfile/writer/index_chunk.h"

#include <assert.h>

/* Offset and stored bytes of a block. */
#define PLACE_BYTES 12
#define START_BYTES 4

void
hfile_index_chunk_init(struct hfile_index_chunk *chunk, const petal_allocator *allocator)
{
    *chunk = (struct hfile_index_chunk){.count = 0};
    hfile_buffer_init(&chunk->entries, allocator);
    hfile_buffer_init(&chunk->starts, allocator);
}

void
hfile_index_chunk_free(struct hfile_index_chunk *chunk)
{
    hfile_buffer_free(&chunk->entries);
    hfile_buffer_free(&chunk->starts);
}

void
hfile_index_chunk_clear(struct hfile_index_chunk *chunk)
{
    hfile_buffer_clear(&chunk->entries);
    hfile_buffer_clear(&chunk->starts);
    chunk->count = 0;
    chunk->root_bytes = 0;
}

static bool
append_place(struct hfile_buffer *to, const struct hfile_block_place *place)
{
    return hfile_buffer_append_u64(to, place->offset) &&
           hfile_buffer_append_u32(to, place->stored_bytes);
}

bool
hfile_index_chunk_add(struct hfile_index_chunk *chunk, petal_slice key,
                      const struct hfile_block_place *place)
{
    uint32_t start = (uint32_t)chunk->entries.size;

    /* A start has 32 bits. */
    if (chunk->entries.size + PLACE_BYTES + key.size > UINT32_MAX ||
        !hfile_buffer_reserve(&chunk->starts, START_BYTES) ||
        !hfile_buffer_reserve(&chunk->entries, PLACE_BYTES + key.size))
        return false;
    hfile_buffer_append_u32(&chunk->starts, start);
    append_place(&chunk->entries, place);
    hfile_buffer_append_slice(&chunk->entries, key);
    chunk->count++;
    chunk->root_bytes += PLACE_BYTES + hfile_vint_bytes((int64_t)key.size) + key.size;
    return true;
}

void
hfile_index_chunk_get(const struct hfile_index_chunk *chunk, size_t number, petal_slice *key,
                      struct hfile_block_place *place)
{
    const uint8_t *starts = chunk->starts.bytes + number * START_BYTES;
    size_t begin = hfile_get_u32(starts), end = chunk->entries.size;
    const uint8_t *entry = chunk->entries.bytes + begin;

    assert(number < chunk->count);
    if (number + 1 < chunk->count)
        end = hfile_get_u32(starts + START_BYTES);
    place->offset = hfile_get_u64(entry);
    place->stored_bytes = hfile_get_u32(entry + 8);
    *key = hfile_slice(entry + PLACE_BYTES, end - begin - PLACE_BYTES);
}

uint64_t
hfile_index_chunk_leaf_bytes(const struct hfile_index_chunk *chunk)
{
    return START_BYTES + (uint64_t)(chunk->count + 1) * START_BYTES + chunk->entries.size;
}

bool
hfile_index_chunk_put_leaf(const struct hfile_index_chunk *chunk, struct hfile_buffer *payload)
{
    return hfile_buffer_append_u32(payload, (uint32_t)chunk->count) &&
           hfile_buffer_append_slice(payload, hfile_buffer_slice(&chunk->starts)) &&
           hfile_buffer_append_u32(payload, (uint32_t)chunk->entries.size) &&
           hfile_buffer_append_slice(payload, hfile_buffer_slice(&chunk->entries));
}

bool
hfile_index_chunk_put_root(const struct hfile_index_chunk *chunk, struct hfile_buffer *payload)
{
    for (size_t i = 0; i < chunk->count; i++) {
        struct hfile_block_place place;
        petal_slice key;

        hfile_index_chunk_get(chunk, i, &key, &place);
        if (!append_place(payload, &place) ||
            !hfile_buffer_append_vint(payload, (int64_t)key.size) ||
            !hfile_buffer_append_slice(payload, key))
            return false;
    }
    return true;
}
