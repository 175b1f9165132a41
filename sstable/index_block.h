/*
 * index_block.h -- a node of an index: sorted keys, each with the handle of the block that begins
 * there.
 *
 * Serves the data index (keys are the real first cell key of each block) and the Bloom index
 * (keys are prefixes, base/cell.h), at every level: an entry of an inner node names the node below
 * by its first key. The common prefix of all keys stands once; behind it each key has an 8-byte
 * head in one array, searched branch-free; heads that are equal are told apart by the rest of the
 * keys.
 *
 * LAYOUT (little endian), n entries:
 *
 *     offset size
 *      0     4   n, at least 1
 *      4     4   level; 0: entries name data blocks or Bloom chunks
 *      8     4   length of the prefix
 *     12     4   bytes of all rests
 *     16     8n  heads: the first 8 bytes of the key's rest, filled with 00, read as a big endian
 *            number
 *            8n  offsets of the blocks' frames
 *            4n  sizes of the blocks' frames; in the two highest bits what the blocks begin (enum
 *                block_begins)
 *            4n  ends of the rests, from the first rest; a rest begins where the one before ends
 *                prefix
 *                rests: of each key what follows the prefix
 *
 * Checked once when it enters memory (index_block_check), then read without checks; immutable. Keys
 * ascend, and so do the blocks, which do not overlap: a node names none twice.  Whether a block
 * begins with the key that names it is not part of that check.
 */
#ifndef PETAL_SSTABLE_INDEX_BLOCK_H
#define PETAL_SSTABLE_INDEX_BLOCK_H

#include "base/cell.h"
#include "base/coding.h"
#include "base/mem.h"
#include "sstable/format.h"
#include "sstable/short_bytes.h"

#define INDEX_BLOCK_HEADER_BYTES 16
#define INDEX_BLOCK_ENTRY_BYTES  24         /* without the rest */
#define INDEX_BLOCK_MAX_BYTES    (1u << 30) /* of a block; larger ones are refused */
#define INDEX_BLOCK_SIZE_BITS    30 /* of a frame's size; above it stands what the block begins */

/* ---- building ---- */

struct index_block_builder;

enum petal_status index_block_builder_new(struct index_block_builder **builder,
                                          const petal_allocator *allocator);
void index_block_builder_free(struct index_block_builder *builder); /* NULL: no-op */

/* REQUIRES: key sorts behind the one before; all together stay below INDEX_BLOCK_MAX_BYTES.
 * Copies the key.  On failure (PETAL_NO_MEMORY) the builder is as before. */
enum petal_status index_block_builder_add(struct index_block_builder *builder, petal_slice key,
                                          struct block_handle handle);

/* Bytes that finish would give, exactly; 0 without entries. */
size_t index_block_builder_bytes(const struct index_block_builder *builder);
size_t index_block_builder_count(const struct index_block_builder *builder);

/* Good until the next add or reset.  REQUIRES for both: at least one entry. */
petal_slice index_block_builder_first_key(const struct index_block_builder *builder);
struct block_handle index_block_builder_first_handle(const struct index_block_builder *builder);

/* The node's bytes, good until the next finish or free.  REQUIRES: at least one entry. */
enum petal_status index_block_builder_finish(struct index_block_builder *builder, uint32_t level,
                                             petal_slice *bytes);

/* Forget the entries, keep the memory. */
void index_block_builder_reset(struct index_block_builder *builder);

/* ---- reading ---- */

struct index_block {
    const uint8_t *bytes;
    size_t size;
    uint32_t count; /* at least 1 */
    uint32_t level; /* 0: entries name data blocks or Bloom chunks */
    petal_slice prefix;
    const uint8_t *heads, *ends, *offsets, *sizes, *rests;
};

/* Full check of untrusted bytes; false if malformed.  Also fills *block. */
bool index_block_check(struct index_block *block, const uint8_t *bytes, size_t size);

static inline uint32_t
index_block_level(const uint8_t *bytes)
{
    return get_le32(bytes + 4);
}

/* Fill *block from bytes that index_block_check has accepted before. */
static inline void
index_block_view(struct index_block *block, const uint8_t *bytes, size_t size)
{
    size_t count = get_le32(bytes), prefix = get_le32(bytes + 8);

    block->bytes = bytes;
    block->size = size;
    block->count = (uint32_t)count;
    block->level = index_block_level(bytes);
    block->heads = bytes + INDEX_BLOCK_HEADER_BYTES;
    block->offsets = block->heads + 8 * count;
    block->sizes = block->offsets + 8 * count;
    block->ends = block->sizes + 4 * count;
    block->prefix = slice_make(block->ends + 4 * count, prefix);
    block->rests = block->ends + 4 * count + prefix;
}

/* Index of the last entry whose key is <= `key`, or -1 when all are greater. */
int64_t index_block_search(const struct index_block *block, petal_slice key);

/* The same in the caller: of a node that was viewed for one search, only what that needs is then
 * made. */
static ALWAYS_INLINE int64_t index_block_search_inline(const struct index_block *block,
                                                       petal_slice key);

/*
 * The same for a search of cells: where the blocks up to that entry's certainly hold no cell at or
 * after `key`, because the next one begins the key's row or column, it is the next entry, and
 * *begins is set.
 */
int64_t index_block_search_cell(const struct index_block *block, const struct cell_key *key,
                                bool *begins);

/* The same of the last entry whose key is < `key`. */
int64_t index_block_search_below(const struct index_block *block, petal_slice key);

/* REQUIRES for these: index < count. */
static inline struct block_handle
index_block_handle(const struct index_block *block, uint32_t index)
{
    uint32_t size = get_le32(block->sizes + 4 * (size_t)index);

    assert(index < block->count);
    return (struct block_handle){.offset = get_le64(block->offsets + 8 * (size_t)index),
                                 .size = size & ((1u << INDEX_BLOCK_SIZE_BITS) - 1),
                                 .begins = size >> INDEX_BLOCK_SIZE_BITS};
}

/* Copy the whole key of an entry to `buffer` (index_block_key_bytes of them). */
size_t index_block_key_bytes(const struct index_block *block, uint32_t index);
void index_block_key(const struct index_block *block, uint32_t index, uint8_t *buffer);

/* ---- what is inlined ---- */

/*
 * Number of the first `count` heads that are at most `head`.  The first step leaves a power of two
 * less one, so that the others need no count.  Which half goes on is said to be unforeseeable: the
 * compiler then moves by a condition instead of a branch.
 */
static ALWAYS_INLINE uint32_t
index_block_count_up_to(const struct index_block *block, uint32_t count, uint64_t head)
{
    const uint8_t *base = block->heads;
    size_t step = (size_t)1 << (31 - __builtin_clz(count));
    const uint8_t *upper = base + 8 * (count - step + 1);

    assert(count > 0);
    base = UNFORESEEABLE(get_le64(base + 8 * step - 8) <= head) ? upper : base;
    for (step /= 2; step > 0; step /= 2) {
        upper = base + 8 * step;
        base = UNFORESEEABLE(get_le64(upper - 8) <= head) ? upper : base;
    }
    return (uint32_t)((size_t)(base - block->heads) / 8);
}

/*
 * -1 if `key` lies before all that begin with the prefix, 1 if behind, 0 if it begins with it,
 * too.
 */
static ALWAYS_INLINE int
index_block_compare_prefix(petal_slice key, petal_slice prefix)
{
    size_t common = key.size < prefix.size ? key.size : prefix.size;
    int order = short_bytes_compare(key.data, prefix.data, common);

    if (order != 0)
        return order < 0 ? -1 : 1;
    return key.size < prefix.size ? -1 : 0;
}

int64_t index_block_search_equal_heads(const uint8_t *bytes, size_t size, petal_slice key,
                                       uint32_t high);

static ALWAYS_INLINE int64_t
index_block_search_inline(const struct index_block *block, petal_slice key)
{
    int order = index_block_compare_prefix(key, block->prefix);
    size_t prefix = block->prefix.size;
    uint32_t high;
    uint64_t head;

    if (order != 0)
        return order < 0 ? -1 : (int64_t)block->count - 1;
    head = key.size - prefix >= 8 ? get_be64(slice_bytes(key) + prefix) : slice_head(key, prefix);
    high = index_block_count_up_to(block, block->count, head);
    if (high > 0 && get_le64(block->heads + 8 * (size_t)high - 8) == head)
        return index_block_search_equal_heads(block->bytes, block->size, key, high);
    return (int64_t)high - 1;
}

#endif
