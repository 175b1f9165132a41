/*
 * index_block.c -- building and searching index nodes; see index_block.h.
 *
 * The builder keeps whole keys one behind the other and splits off the prefix in finish; keys are
 * sorted, so what the first and the last share all share.
 */
#include "sstable/index_block.h"

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
    void *keys = builder->keys, *entries = builder->entries;

    if (!mem_grow(builder->allocator, &keys, &builder->keys_capacity, builder->keys_used,
                  builder->keys_used + bytes, 1))
        return false;
    builder->keys = keys;
    if (!mem_grow(builder->allocator, &entries, &builder->capacity, builder->count,
                  builder->count + 1, sizeof *builder->entries))
        return false;
    builder->entries = entries;
    return true;
}

static petal_slice
key_at(const struct index_block_builder *builder, size_t index)
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

petal_slice
index_block_builder_first_key(const struct index_block_builder *builder)
{
    assert(builder->count > 0);
    return key_at(builder, 0);
}

struct block_handle
index_block_builder_first_handle(const struct index_block_builder *builder)
{
    assert(builder->count > 0);
    return builder->entries[0].handle;
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
        petal_slice key = key_at(builder, i);

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
    void *out = builder->out;

    assert(builder->count > 0);
    *bytes = slice_make(NULL, 0);
    if (!mem_grow(builder->allocator, &out, &builder->out_capacity, 0, size, 1))
        return PETAL_NO_MEMORY;
    builder->out = out;
    encode(builder, level, builder->out);
    *bytes = slice_make(builder->out, size);
    return PETAL_OK;
}

/* ---- reading ---- */

static inline petal_slice
rest_at(const struct index_block *block, uint32_t index)
{
    uint32_t start = index == 0 ? 0 : get_le32(block->ends + 4 * (size_t)index - 4);

    return slice_make(block->rests + start, get_le32(block->ends + 4 * (size_t)index) - start);
}

static inline uint64_t
head_at(const struct index_block *block, uint32_t index)
{
    return get_le64(block->heads + 8 * (size_t)index);
}

/* Do an entry's key and block lie behind those of the entry before it? */
static inline bool
entry_follows(const struct index_block *block, uint32_t index)
{
    struct block_handle before = index_block_handle(block, index - 1);
    uint64_t offset = get_le64(block->offsets + 8 * (size_t)index);

    if (offset < before.offset || offset - before.offset < before.size)
        return false;
    if (head_at(block, index - 1) != head_at(block, index))
        return head_at(block, index - 1) < head_at(block, index);
    return slice_compare(rest_at(block, index - 1), rest_at(block, index)) < 0;
}

bool
index_block_check(struct index_block *block, const uint8_t *bytes, size_t size)
{
    uint64_t count, rests, end = 0;

    if (size < INDEX_BLOCK_HEADER_BYTES || size > INDEX_BLOCK_MAX_BYTES)
        return false;
    count = get_le32(bytes);
    rests = get_le32(bytes + 12);
    /* No overflow: all terms are below 2^37. */
    if (count == 0 ||
        INDEX_BLOCK_HEADER_BYTES + count * INDEX_BLOCK_ENTRY_BYTES + get_le32(bytes + 8) + rests !=
            size)
        return false;
    index_block_view(block, bytes, size);
    for (uint32_t i = 0; i < block->count; i++) {
        uint64_t next = get_le32(block->ends + 4 * (size_t)i);

        if (next < end || next > rests)
            return false;
        if (head_at(block, i) != slice_head(slice_make(block->rests + end, next - end), 0))
            return false;
        if (i > 0 && !entry_follows(block, i))
            return false;
        end = next;
    }
    return end == rests;
}

/* The same for the entries before `high`, the last of which has the head of the rest of `key`. */
int64_t
index_block_search_equal_heads(const uint8_t *bytes, size_t size, petal_slice key, uint32_t high)
{
    struct index_block block;
    uint32_t low;
    petal_slice rest;
    uint64_t head;

    index_block_view(&block, bytes, size);
    assert(high > 0 && high <= block.count && key.size >= block.prefix.size);
    rest = slice_make(slice_bytes(key) + block.prefix.size, key.size - block.prefix.size);
    head = head_at(&block, high - 1);
    low = head == 0 ? 0 : index_block_count_up_to(&block, high, head - 1);
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
    return index_block_search_inline(block, key);
}

/*
 * The entry behind what is found claims that its block begins a row or a column.  That decides for
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
    claims = get_le32(block->sizes + 4 * (size_t)next) >> INDEX_BLOCK_SIZE_BITS;
    if (claims == 0)
        return found;
    exact = (claims & BLOCK_BEGINS_ROW) == 0 && key->family_class;
    size = (claims & BLOCK_BEGINS_ROW) != 0 ? key->row_prefix : key->column_prefix;
    if (size < shared) { /* and with it the byte behind */
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
