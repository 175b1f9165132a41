/*
 * index_block.h -- a node of an index: sorted keys, each with the handle of the block that begins
 * there.
 *
 * Serves the data index (keys are the real first cell key of each block) and the Bloom index
 * (keys are prefixes, base/cell.h), at every level: an entry of an inner node names the node below
 * by its first key. The common prefix of all keys stands once; after it each key has an 8-byte
 * head; heads that are equal are told apart by the rest of the keys.
 *
 * STORED: sstable/FORMAT.md, "Index block".
 *
 * IN MEMORY the node is arranged for who searches it, who waits for cache lines more than for
 * anything else: first what every search looks at, then in groups of INDEX_GROUP entries what one
 * search looks at of one group only.
 *
 *     the counts of the header, prefix, padding to 8
 *     samples: the head of each group's first entry
 *     padding to a cache line, groups (struct index_group), rests
 *
 * Both searches, of the samples and of a group's heads, are branch-free.  Between them the caller
 * may do something else while the group is loading.
 *
 * Checked once when it enters memory (index_block_make), then read without checks; immutable. Keys
 * ascend, and so do the blocks, which do not overlap: a node names none twice.  Whether a block
 * begins with the key that names it is not part of that check.
 */
#ifndef PETAL_SSTABLE_BLOCK_INDEX_BLOCK_H
#define PETAL_SSTABLE_BLOCK_INDEX_BLOCK_H

#include "base/cell.h"
#include "base/coding.h"
#include "base/mem.h"
#include "base/short_bytes.h"
#include "sstable/block/format.h"

#define INDEX_BLOCK_HEADER_BYTES 16
#define INDEX_BLOCK_ENTRY_BYTES  24         /* without the rest */
#define INDEX_BLOCK_MAX_BYTES    (1u << 30) /* of a block; larger ones are refused */
#define INDEX_BLOCK_SIZE_BITS    30 /* of a frame's size; above it stands what the block begins */

/* ---- building ---- */

struct index_block_builder;

enum petal_status index_block_builder_new(struct index_block_builder **builder,
                                          const petal_allocator *allocator);
void index_block_builder_free(struct index_block_builder *builder); /* NULL: no-op */

/* REQUIRES: key sorts after the one before; all together stay below INDEX_BLOCK_MAX_BYTES.
 * Copies the key.  On failure (PETAL_NO_MEMORY) the builder is as before. */
enum petal_status index_block_builder_add(struct index_block_builder *builder, petal_slice key,
                                          struct block_handle handle);

/* Bytes that finish would give, exactly; 0 without entries. */
size_t index_block_builder_bytes(const struct index_block_builder *builder);
size_t index_block_builder_count(const struct index_block_builder *builder);

/* Of one entry; the key is good until the next add or reset.  REQUIRES: index < count. */
petal_slice index_block_builder_key(const struct index_block_builder *builder, size_t index);
struct block_handle index_block_builder_handle(const struct index_block_builder *builder,
                                               size_t index);

/* The node's bytes, good until the next finish or free.  REQUIRES: at least one entry. */
enum petal_status index_block_builder_finish(struct index_block_builder *builder, uint32_t level,
                                             petal_slice *bytes);

/* Forget the entries, keep the memory. */
void index_block_builder_reset(struct index_block_builder *builder);

/* ---- reading ---- */

/* Entries of a group: their heads are one cache line. */
#define INDEX_GROUP 8

/* Three cache lines.  After the last entry of a node heads are all FF, the rest is 0. */
struct index_group {
    _Alignas(CACHE_LINE_BYTES) uint64_t heads[INDEX_GROUP];
    uint64_t offsets[INDEX_GROUP];
    uint32_t sizes[INDEX_GROUP]; /* as stored, with what the blocks begin */
    uint32_t ends[INDEX_GROUP];
};

/* What the memory of a node begins with. */
struct index_counts {
    uint32_t count, level, prefix_bytes, rest_bytes;
};

struct index_block {
    const uint8_t *memory; /* on the border of a cache line */
    size_t size;           /* of it */
    uint32_t count;        /* at least 1 */
    uint32_t level;        /* 0: entries name data blocks or Bloom chunks */
    uint32_t group_count;
    petal_slice prefix;
    const uint64_t *samples;
    const struct index_group *groups;
    const uint8_t *rests;
};

/* Where in the memory they are. */
static inline size_t
index_block_samples_offset(size_t prefix_bytes)
{
    return (sizeof(struct index_counts) + prefix_bytes + 7) & ~(size_t)7;
}

static inline size_t
index_block_groups_offset(size_t prefix_bytes, size_t group_count)
{
    return (index_block_samples_offset(prefix_bytes) + 8 * group_count + CACHE_LINE_BYTES - 1) &
           ~(size_t)(CACHE_LINE_BYTES - 1);
}

static inline size_t
index_block_groups(size_t count)
{
    return (count + INDEX_GROUP - 1) / INDEX_GROUP;
}

/* Bytes of memory for the stored node of untrusted `bytes`; 0: its header does not give its size,
 * or not so many entries. */
size_t index_block_memory(const uint8_t *bytes, size_t size, uint32_t entries);

/* Full check of untrusted bytes, which are arranged in `memory`: index_block_memory of them, on the
 * border of a cache line.  False if malformed.  Also fills *block. */
bool index_block_make(struct index_block *block, const uint8_t *bytes, size_t size,
                      uint8_t *memory);

static inline uint32_t
index_block_level(const uint8_t *memory)
{
    return ((const struct index_counts *)(const void *)memory)->level;
}

/* Fill *block from memory that index_block_make has filled before. */
static ALWAYS_INLINE void
index_block_view(struct index_block *block, const uint8_t *memory, size_t size)
{
    const struct index_counts *counts = (const struct index_counts *)(const void *)memory;
    size_t group_count = index_block_groups(counts->count);
    const uint8_t *groups = memory + index_block_groups_offset(counts->prefix_bytes, group_count);

    assert((uintptr_t)memory % CACHE_LINE_BYTES == 0);
    block->memory = memory;
    block->size = size;
    block->count = counts->count;
    block->level = counts->level;
    block->group_count = (uint32_t)group_count;
    block->prefix = slice_make(memory + sizeof *counts, counts->prefix_bytes);
    block->samples =
        (const uint64_t *)(const void *)(memory + index_block_samples_offset(counts->prefix_bytes));
    block->groups = (const struct index_group *)(const void *)groups;
    block->rests = groups + group_count * sizeof *block->groups;
}

/* Index of the last entry whose key is <= `key`, or -1 when all are greater. */
int64_t index_block_search(const struct index_block *block, petal_slice key);

/*
 * The same in the caller, in two steps: of a node that was viewed for one search, only what that
 * needs is then made.  The first one finds the group and starts loading it; with `beside` (may be
 * NULL), an array of `beside_bytes` for each entry, also what of that belongs to the group.
 */
struct index_probe {
    uint64_t head;  /* of the key's rest, after the prefix .. */
    int64_t group;  /* that it is in; -1: all entries are above the key */
    bool is_behind; /* all entries are below the key, which does not begin with the prefix */
};
static ALWAYS_INLINE struct index_probe index_block_probe(const struct index_block *block,
                                                          petal_slice key, const void *beside,
                                                          size_t beside_bytes);
static ALWAYS_INLINE int64_t index_block_search_group(const struct index_block *block,
                                                      petal_slice key, struct index_probe probe);

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
    const struct index_group *group = &block->groups[index / INDEX_GROUP];
    uint32_t size = group->sizes[index % INDEX_GROUP];

    assert(index < block->count);
    return (struct block_handle){.offset = group->offsets[index % INDEX_GROUP],
                                 .size = size & ((1u << INDEX_BLOCK_SIZE_BITS) - 1),
                                 .begins = size >> INDEX_BLOCK_SIZE_BITS};
}

/* Copy the whole key of an entry to `buffer` (index_block_key_bytes of them). */
size_t index_block_key_bytes(const struct index_block *block, uint32_t index);
void index_block_key(const struct index_block *block, uint32_t index, uint8_t *buffer);

/* Have an entry of one node and an entry of another the same key? */
bool index_block_same_key(const struct index_block *one, uint32_t index,
                          const struct index_block *other, uint32_t other_index);

/* ---- what is inlined ---- */

/*
 * Number of the samples that are at most `head`.  The first step leaves a power of two less one, so
 * that the others need no count.  Which half goes on is said to be unforeseeable: the compiler then
 * moves by a condition instead of a branch.
 */
static ALWAYS_INLINE size_t
index_block_count_samples(const struct index_block *block, uint64_t head)
{
    const uint64_t *base = block->samples, *upper;
    size_t count = block->group_count, step = (size_t)1 << (31 - __builtin_clz((uint32_t)count));

    assert(count > 0);
    upper = base + (count - step + 1);
    base = UNFORESEEABLE(base[step - 1] <= head) ? upper : base;
    for (step /= 2; step > 0; step /= 2) {
        upper = base + step;
        base = UNFORESEEABLE(upper[-1] <= head) ? upper : base;
    }
    return (size_t)(base - block->samples);
}

/* Number of the heads in the node's first groups up to `group`, whose first one is, that are at
 * most `head`. */
static ALWAYS_INLINE uint32_t
index_block_count_up_to(const struct index_block *block, size_t group, uint64_t head)
{
    const uint64_t *heads = block->groups[group].heads;
    size_t at = 4 * (size_t)(heads[4] <= head);
    uint32_t count;

    at += 2 * (size_t)(heads[at + 2] <= head);
    at += (size_t)(heads[at + 1] <= head);
    count = (uint32_t)(group * INDEX_GROUP + at + 1);
    return count < block->count ? count : block->count; /* after the last are heads that are FF */
}

/*
 * -1 if `key` lies before all that begin with the prefix, 1 if after, 0 if it begins with it,
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

int64_t index_block_search_equal_heads(const uint8_t *memory, size_t size, petal_slice key,
                                       uint32_t high);

static ALWAYS_INLINE struct index_probe
index_block_probe(const struct index_block *block, petal_slice key, const void *beside,
                  size_t beside_bytes)
{
    int order = index_block_compare_prefix(key, block->prefix);
    size_t prefix = block->prefix.size;
    struct index_probe probe = {.group = -1};

    if (order < 0)
        return probe;
    if (order > 0) {
        probe.is_behind = true;
        return probe;
    }
    probe.head =
        key.size - prefix >= 8 ? get_be64(slice_bytes(key) + prefix) : slice_head(key, prefix);
    probe.group = (int64_t)index_block_count_samples(block, probe.head) - 1;
    if (probe.group >= 0) {
        mem_prefetch(&block->groups[probe.group], sizeof *block->groups / CACHE_LINE_BYTES);
        if (beside != NULL)
            mem_prefetch((const uint8_t *)beside + (size_t)probe.group * INDEX_GROUP * beside_bytes,
                         (unsigned)(INDEX_GROUP * beside_bytes / CACHE_LINE_BYTES));
    }
    return probe;
}

static ALWAYS_INLINE int64_t
index_block_search_group(const struct index_block *block, petal_slice key, struct index_probe probe)
{
    uint32_t high;

    if (probe.group < 0)
        return probe.is_behind ? (int64_t)block->count - 1 : -1;
    high = index_block_count_up_to(block, (size_t)probe.group, probe.head);
    if (block->groups[(high - 1) / INDEX_GROUP].heads[(high - 1) % INDEX_GROUP] == probe.head)
        return index_block_search_equal_heads(block->memory, block->size, key, high);
    return (int64_t)high - 1;
}

#endif
