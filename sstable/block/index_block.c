/*
 * index_block.c -- building, arranging and searching index nodes; see index_block.h.
 *
 * The builder keeps whole keys one after the other and splits off the prefix in finish; keys are
 * sorted, so what the first and the last share all share.
 */
#include "sstable/block/index_block.h"

#include "base/coding.h"

#include <assert.h>

struct index_entry {
    size_t end; /* of its key in the builder's keys */
    struct block_handle handle;
};

struct index_block_builder {
    const petal_allocator *allocator;
    uint8_t *keys;
    size_t keys_used, keys_capacity;
    struct index_entry *entries;
    size_t count, capacity;
    size_t prefix; /* bytes that all keys share */
    uint8_t *out;  /* what the last finish gave */
    size_t out_capacity;
};

/* ---- building ---- */

enum petal_status
index_block_builder_new(struct index_block_builder **builder, const petal_allocator *allocator)
{
    *builder = mem_zalloc(allocator, sizeof **builder);
    if (*builder == NULL)
        return PETAL_NO_MEMORY;
    (*builder)->allocator = allocator;
    return PETAL_OK;
}

void
index_block_builder_free(struct index_block_builder *builder)
{
    if (builder == NULL)
        return;
    mem_free(builder->allocator, builder->keys, builder->keys_capacity);
    mem_free(builder->allocator, builder->entries, builder->capacity * sizeof *builder->entries);
    mem_free(builder->allocator, builder->out, builder->out_capacity);
    mem_free(builder->allocator, builder, sizeof *builder);
}

void
index_block_builder_reset(struct index_block_builder *builder)
{
    builder->keys_used = 0;
    builder->count = 0;
    builder->prefix = 0;
}

static bool
make_room(struct index_block_builder *builder, size_t bytes)
{
    return mem_grow_array(builder->allocator, &builder->keys, &builder->keys_capacity,
                          builder->keys_used, builder->keys_used + bytes, 1) &&
           mem_grow_array(builder->allocator, &builder->entries, &builder->capacity, builder->count,
                          builder->count + 1, sizeof *builder->entries);
}

petal_slice
index_block_builder_key(const struct index_block_builder *builder, size_t index)
{
    size_t start = index == 0 ? 0 : builder->entries[index - 1].end;

    assert(index < builder->count);
    return slice_make(builder->keys + start, builder->entries[index].end - start);
}

enum petal_status
index_block_builder_add(struct index_block_builder *builder, petal_slice key,
                        struct block_handle handle)
{
    assert(key.size > 0 && key.size < INDEX_BLOCK_MAX_BYTES);
    assert(handle.size >> INDEX_BLOCK_SIZE_BITS == 0);
    if (!make_room(builder, key.size))
        return PETAL_NO_MEMORY;
    memcpy(builder->keys + builder->keys_used, key.data, key.size);
    builder->keys_used += key.size;
    builder->entries[builder->count].end = builder->keys_used;
    builder->entries[builder->count].handle = handle;
    if (builder->count++ == 0) {
        builder->prefix = key.size;
    } else {
        petal_slice shared = slice_make(builder->keys, builder->prefix);

        builder->prefix = slice_common_prefix(shared, key);
    }
    assert(index_block_builder_bytes(builder) <= INDEX_BLOCK_MAX_BYTES);
    return PETAL_OK;
}

size_t
index_block_builder_bytes(const struct index_block_builder *builder)
{
    if (builder->count == 0)
        return 0;
    return INDEX_BLOCK_HEADER_BYTES + builder->count * INDEX_BLOCK_ENTRY_BYTES +
           builder->keys_used - (builder->count - 1) * builder->prefix;
}

size_t
index_block_builder_count(const struct index_block_builder *builder)
{
    return builder->count;
}

struct block_handle
index_block_builder_handle(const struct index_block_builder *builder, size_t index)
{
    assert(index < builder->count);
    return builder->entries[index].handle;
}

static void
encode(const struct index_block_builder *builder, uint32_t level, uint8_t *to)
{
    size_t count = builder->count, prefix = builder->prefix;
    uint8_t *heads = to + INDEX_BLOCK_HEADER_BYTES;
    uint8_t *offsets = heads + 8 * count;
    uint8_t *sizes = offsets + 8 * count;
    uint8_t *ends = sizes + 4 * count;
    uint8_t *rests = ends + 4 * count + prefix;
    size_t end = 0;

    put_le32(to, (uint32_t)count);
    put_le32(to + 4, level);
    put_le32(to + 8, (uint32_t)prefix);
    put_le32(to + 12, (uint32_t)(builder->keys_used - count * prefix));
    memcpy(ends + 4 * count, builder->keys, prefix);
    for (size_t i = 0; i < count; i++) {
        petal_slice key = index_block_builder_key(builder, i);

        put_le64(heads + 8 * i, slice_head(key, prefix));
        put_le64(offsets + 8 * i, builder->entries[i].handle.offset);
        put_le32(sizes + 4 * i, builder->entries[i].handle.size | builder->entries[i].handle.begins
                                                                      << INDEX_BLOCK_SIZE_BITS);
        memcpy(rests + end, slice_bytes(key) + prefix, key.size - prefix);
        end += key.size - prefix;
        put_le32(ends + 4 * i, (uint32_t)end);
    }
    assert(end == builder->keys_used - count * prefix);
}

enum petal_status
index_block_builder_finish(struct index_block_builder *builder, uint32_t level, petal_slice *bytes)
{
    size_t size = index_block_builder_bytes(builder);

    assert(builder->count > 0);
    *bytes = slice_make(NULL, 0);
    if (!mem_grow_array(builder->allocator, &builder->out, &builder->out_capacity, 0, size, 1))
        return PETAL_NO_MEMORY;
    encode(builder, level, builder->out);
    *bytes = slice_make(builder->out, size);
    return PETAL_OK;
}

/* ---- arranging ---- */

/* The parts of a stored node whose header gives its size. */
struct stored_node {
    size_t count, prefix_bytes, rest_bytes;
    const uint8_t *heads, *offsets, *sizes, *ends, *prefix, *rests;
};

static bool
take_stored(struct stored_node *stored, const uint8_t *bytes, size_t size)
{
    uint64_t count, prefix, rests;

    if (size < INDEX_BLOCK_HEADER_BYTES || size > INDEX_BLOCK_MAX_BYTES)
        return false;
    count = get_le32(bytes);
    prefix = get_le32(bytes + 8);
    rests = get_le32(bytes + 12);
    /* No overflow: all terms are below 2^37. */
    if (count == 0 ||
        INDEX_BLOCK_HEADER_BYTES + count * INDEX_BLOCK_ENTRY_BYTES + prefix + rests != size)
        return false;
    stored->count = (size_t)count;
    stored->prefix_bytes = (size_t)prefix;
    stored->rest_bytes = (size_t)rests;
    stored->heads = bytes + INDEX_BLOCK_HEADER_BYTES;
    stored->offsets = stored->heads + 8 * stored->count;
    stored->sizes = stored->offsets + 8 * stored->count;
    stored->ends = stored->sizes + 4 * stored->count;
    stored->prefix = stored->ends + 4 * stored->count;
    stored->rests = stored->prefix + stored->prefix_bytes;
    return true;
}

size_t
index_block_memory(const uint8_t *bytes, size_t size, uint32_t entries)
{
    struct stored_node stored;
    size_t groups, bytes_used;

    if (!take_stored(&stored, bytes, size) || stored.count != entries)
        return 0;
    groups = index_block_groups(stored.count);
    bytes_used = index_block_groups_offset(stored.prefix_bytes, groups) +
                 groups * sizeof(struct index_group) + stored.rest_bytes;
    return (bytes_used + CACHE_LINE_BYTES - 1) & ~(size_t)(CACHE_LINE_BYTES - 1);
}

static inline petal_slice
rest_at(const struct index_block *block, uint32_t index)
{
    const struct index_group *group = &block->groups[index / INDEX_GROUP];
    uint32_t start = index == 0                 ? 0
                     : index % INDEX_GROUP != 0 ? group->ends[index % INDEX_GROUP - 1]
                                                : group[-1].ends[INDEX_GROUP - 1];

    assert(index < block->count);
    return slice_make(block->rests + start, group->ends[index % INDEX_GROUP] - start);
}

static inline uint64_t
head_at(const struct index_block *block, uint32_t index)
{
    return block->groups[index / INDEX_GROUP].heads[index % INDEX_GROUP];
}

/* Do an entry's key and block lie after those of the entry before it? */
static inline bool
entry_follows(const struct index_block *block, uint32_t index)
{
    struct block_handle before = index_block_handle(block, index - 1);
    uint64_t offset = index_block_handle(block, index).offset;

    if (offset < before.offset || offset - before.offset < before.size)
        return false;
    if (head_at(block, index - 1) != head_at(block, index))
        return head_at(block, index - 1) < head_at(block, index);
    return slice_compare(rest_at(block, index - 1), rest_at(block, index)) < 0;
}

/* Arrange the stored parts; the heads are those of untrusted bytes still. */
static void
arrange(struct index_block *block, const struct stored_node *stored, uint32_t level,
        uint8_t *memory, size_t size)
{
    struct index_counts counts = {(uint32_t)stored->count, level, (uint32_t)stored->prefix_bytes,
                                  (uint32_t)stored->rest_bytes};
    size_t count = index_block_groups(stored->count);
    uint64_t *samples =
        (uint64_t *)(void *)(memory + index_block_samples_offset(stored->prefix_bytes));
    uint8_t *at = memory + index_block_groups_offset(stored->prefix_bytes, count);
    struct index_group *groups = (struct index_group *)(void *)at;
    uint8_t *rests = at + count * sizeof *groups;

    assert((size_t)(rests - memory) + stored->rest_bytes <= size);
    memcpy(memory, &counts, sizeof counts);
    memcpy(memory + sizeof counts, stored->prefix, stored->prefix_bytes);
    memset(&groups[count - 1], 0, sizeof *groups);
    memset(groups[count - 1].heads, 0xff, sizeof groups->heads);
    for (size_t i = 0; i < stored->count; i++) {
        struct index_group *group = &groups[i / INDEX_GROUP];

        group->heads[i % INDEX_GROUP] = get_le64(stored->heads + 8 * i);
        group->offsets[i % INDEX_GROUP] = get_le64(stored->offsets + 8 * i);
        group->sizes[i % INDEX_GROUP] = get_le32(stored->sizes + 4 * i);
        group->ends[i % INDEX_GROUP] = get_le32(stored->ends + 4 * i);
        if (i % INDEX_GROUP == 0)
            samples[i / INDEX_GROUP] = group->heads[0];
    }
    memcpy(rests, stored->rests, stored->rest_bytes);
    index_block_view(block, memory, size);
}

bool
index_block_make(struct index_block *block, const uint8_t *bytes, size_t size, uint8_t *memory)
{
    struct stored_node stored;
    uint64_t end = 0;

    if (!take_stored(&stored, bytes, size))
        return false;
    arrange(block, &stored, get_le32(bytes + 4), memory,
            index_block_memory(bytes, size, (uint32_t)stored.count));
    for (uint32_t i = 0; i < block->count; i++) {
        uint64_t next = block->groups[i / INDEX_GROUP].ends[i % INDEX_GROUP];

        if (next < end || next > stored.rest_bytes)
            return false;
        if (head_at(block, i) != slice_head(slice_make(block->rests + end, next - end), 0))
            return false;
        if (i > 0 && !entry_follows(block, i))
            return false;
        end = next;
    }
    return end == stored.rest_bytes;
}

/* ---- searching ---- */

/* The same for the entries before `high`, the last of which has the head of the rest of `key`. */
int64_t
index_block_search_equal_heads(const uint8_t *memory, size_t size, petal_slice key, uint32_t high)
{
    struct index_block block;
    uint32_t low = 0;
    size_t groups;
    petal_slice rest;
    uint64_t head;

    index_block_view(&block, memory, size);
    assert(high > 0 && high <= block.count && key.size >= block.prefix.size);
    rest = slice_make(slice_bytes(key) + block.prefix.size, key.size - block.prefix.size);
    head = head_at(&block, high - 1);
    groups = head > 0 ? index_block_count_samples(&block, head - 1) : 0;
    if (groups > 0)
        low = index_block_count_up_to(&block, groups - 1, head - 1);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (slice_compare(rest_at(&block, middle), rest) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return (int64_t)low - 1;
}

int64_t
index_block_search(const struct index_block *block, petal_slice key)
{
    return index_block_search_group(block, key, index_block_probe(block, key, NULL, 0));
}

/*
 * The entry after what is found claims that its block begins a row or a column.  That decides for
 * `key` if the entry is of the key's group: of the row or column whose prefix is the first `size`
 * bytes of `key`.  In front of an FF such a prefix is the beginning of a longer row's or
 * qualifier's, but not when it is `exact`.
 */
int64_t
index_block_search_cell(const struct index_block *block, const struct cell_key *key, bool *begins)
{
    int64_t found = index_block_search(block, key->encoded);
    uint32_t next = (uint32_t)(found + 1);
    const uint8_t *group = slice_bytes(key->encoded);
    size_t shared = block->prefix.size, size, bytes;
    uint32_t claims;
    petal_slice rest;
    bool exact;

    *begins = false;
    if (found < 0 || next == block->count)
        return found;
    claims = index_block_handle(block, next).begins;
    if (claims == 0)
        return found;
    exact = (claims & BLOCK_BEGINS_ROW) == 0 && key->family_class;
    size = (claims & BLOCK_BEGINS_ROW) != 0 ? key->row_prefix : key->column_prefix;
    if (size < shared) { /* and with it the byte after */
        *begins = true;
        return found + 1;
    }
    bytes = size - shared; /* of the group's prefix in the rest */
    /* The time and sequence that follow the prefix in `key` make 8 bytes of it readable. */
    if (bytes > 0 &&
        (head_at(block, next) ^ get_be64(group + shared)) >> (bytes < 8 ? 64 - 8 * bytes : 0) != 0)
        return found;
    rest = rest_at(block, next);
    *begins = rest.size > bytes && memcmp(rest.data, group + shared, bytes) == 0 &&
              (exact || slice_bytes(rest)[bytes] != 0xff);
    return *begins ? found + 1 : found;
}

int64_t
index_block_search_below(const struct index_block *block, petal_slice key)
{
    int64_t found = index_block_search(block, key);
    petal_slice rest;

    if (found < 0)
        return found;
    rest = rest_at(block, (uint32_t)found);
    if (block->prefix.size + rest.size != key.size ||
        index_block_compare_prefix(key, block->prefix) != 0 ||
        !slice_equal(rest, slice_make(slice_bytes(key) + block->prefix.size, rest.size)))
        return found;
    return found - 1;
}

size_t
index_block_key_bytes(const struct index_block *block, uint32_t index)
{
    assert(index < block->count);
    return block->prefix.size + rest_at(block, index).size;
}

void
index_block_key(const struct index_block *block, uint32_t index, uint8_t *buffer)
{
    petal_slice rest;

    assert(index < block->count);
    rest = rest_at(block, index);
    memcpy(buffer, block->prefix.data, block->prefix.size);
    memcpy(buffer + block->prefix.size, rest.data, rest.size);
}

bool
index_block_same_key(const struct index_block *one, uint32_t index, const struct index_block *other,
                     uint32_t other_index)
{
    petal_slice rest, other_rest;
    size_t between; /* bytes by which the other's prefix is longer */

    if (one->prefix.size > other->prefix.size)
        return index_block_same_key(other, other_index, one, index);
    assert(index < one->count && other_index < other->count);
    rest = rest_at(one, index);
    other_rest = rest_at(other, other_index);
    between = other->prefix.size - one->prefix.size;
    return rest.size == between + other_rest.size &&
           memcmp(one->prefix.data, other->prefix.data, one->prefix.size) == 0 &&
           memcmp(rest.data, slice_bytes(other->prefix) + one->prefix.size, between) == 0 &&
           memcmp(slice_bytes(rest) + between, other_rest.data, other_rest.size) == 0;
}
