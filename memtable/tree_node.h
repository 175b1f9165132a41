/*
 * tree_node.h -- the nodes of cell_tree.h, their permutations, and the search in one; private to
 * cell_tree.c (reading) and cell_tree_insert.c (writing).
 *
 * A reader reads of a node: `order`, `next` and `children` (atomic, may change); `heads` of all
 * slots, filled or not (atomic, since a slot may be filled at that moment; its value then does not
 * count); records of the slots that a permutation names (constant by then); prefix_bytes, fenced
 * and is_leaf (constant).  The rest is the writer's.
 */
#ifndef PETAL_MEMTABLE_TREE_NODE_H
#define PETAL_MEMTABLE_TREE_NODE_H

#include "base/cell.h"
#include "base/coding.h"
#include "base/inline.h"
#include "base/mem.h"
#include "memtable/cell_tree.h"

#include <assert.h>

enum {
    SLOTS = 14,
    LEFTMOST = SLOTS /* index of the child before the first separator */
};

/* Two cache lines; children or links and records follow. */
struct tree_node {
    _Atomic(uint64_t) order;
    uint32_t prefix_bytes; /* the prefix: the first bytes of slot 0's key, for one */
    bool fenced;           /* all keys that belong here have the prefix (or it is empty) */
    bool is_leaf;
    int8_t run; /* inserts in a row that went right after (> 0) or before (< 0) the last; writer */
    _Atomic(uint64_t) heads[SLOTS]; /* UINT64_MAX until filled */
};

struct tree_leaf {
    _Alignas(CACHE_LINE_BYTES) struct tree_node node;
    const struct cell_record *records[SLOTS];
    _Atomic(struct tree_leaf *) next;
    struct tree_leaf *previous; /* writer */
};

/* Separators last: a search mostly does without them. */
struct tree_inner {
    _Alignas(CACHE_LINE_BYTES) struct tree_node node;
    _Atomic(struct tree_node *) children[SLOTS + 1]; /* after the slot's separator; LEFTMOST */
    const struct cell_record *separators[SLOTS];
};

/* The cells of a leaf or the separators of an inner node. */
static inline const struct cell_record *
record_at(const struct tree_node *node, unsigned slot)
{
    return node->is_leaf ? ((const struct tree_leaf *)node)->records[slot]
                         : ((const struct tree_inner *)node)->separators[slot];
}

static inline const struct cell_record **
records_of(struct tree_node *node)
{
    return node->is_leaf ? ((struct tree_leaf *)node)->records
                         : ((struct tree_inner *)node)->separators;
}

static_assert(sizeof(struct tree_leaf) == 4 * CACHE_LINE_BYTES, "a leaf is four cache lines");

/* ---- Permutations ----------------------------------------------------------------- */

static inline unsigned
order_count(uint64_t order)
{
    return (unsigned)(order >> 60);
}

/* 0 for the position after the last. */
static inline unsigned
order_slot(uint64_t order, unsigned position)
{
    return (unsigned)(order >> 4 * position) & 15;
}

/* The next free slot enters at `position`. */
static inline uint64_t
order_insert(uint64_t order, unsigned position)
{
    uint64_t count = order_count(order);
    uint64_t below = ((uint64_t)1 << 4 * position) - 1;
    uint64_t slots = order & (((uint64_t)1 << 60) - 1);

    assert(position <= count && count < SLOTS);
    return (slots & below) | count << 4 * position | (slots & ~below) << 4 | (count + 1) << 60;
}

/* Slots 0 .. count - 1 in this order. */
static inline uint64_t
order_identity(unsigned count)
{
    uint64_t used = ((uint64_t)1 << 4 * count) - 1;

    assert(count <= SLOTS);
    return (UINT64_C(0x0EDCBA9876543210) & used) | (uint64_t)count << 60;
}

/* ---- Search in a node ------------------------------------------------------------- */

static inline uint64_t
head_behind(petal_slice key, size_t prefix_bytes)
{
    if (key.size >= prefix_bytes + 8)
        return get_be64(slice_bytes(key) + prefix_bytes);
    return slice_head(key, prefix_bytes);
}

/* slice_compare of the key's first `common` bytes, which it has, and the record's. */
static inline int
prefix_side(petal_slice key, const struct cell_record *record, size_t common)
{
    if (common > 0 && common <= 8 && key.size >= 8) { /* a record's key always has more */
        uint64_t own = get_be64(slice_bytes(key)) >> (64 - 8 * common);
        uint64_t prefix = get_be64(record->bytes) >> (64 - 8 * common);

        return (own > prefix) - (own < prefix);
    }
    return common == 0 ? 0 : memcmp(key.data, record->bytes, common);
}

/* The head of a key that may lack the prefix. */
static inline uint64_t
head_clamped(const struct tree_node *node, petal_slice key)
{
    size_t common = key.size < node->prefix_bytes ? key.size : node->prefix_bytes;
    int side = prefix_side(key, record_at(node, 0), common);

    if (side == 0 && common == node->prefix_bytes)
        return head_behind(key, common);
    return side <= 0 ? 0 : UINT64_MAX;
}

/* `within`: the key is known to belong to the node's range. */
static inline uint64_t
node_head(const struct tree_node *node, petal_slice key, bool within)
{
    if (within && node->fenced)
        return head_behind(key, node->prefix_bytes);
    return head_clamped(node, key);
}

/*
 * A head is a constant once its slot is in a permutation, and what is loaded before does not
 * count: relaxed.
 */
static inline uint64_t
head_at(const struct tree_node *node, unsigned slot)
{
    return atomic_load_explicit(&node->heads[slot], memory_order_relaxed);
}

/* Position of the first head that is not below `head`, for a node that is being added to. */
static inline unsigned
heads_below_slowly(const struct tree_node *node, uint64_t order, uint64_t head)
{
    unsigned below = 0;

    while (below < order_count(order) && head_at(node, order_slot(order, below)) < head)
        below++;
    return below;
}

/*
 * The same by counting over all slots.  Unfilled ones hold UINT64_MAX and do not count.  One that
 * is filled at this moment, and is not in `order`, may: the neighbours show it.  The tests are
 * joined without branches, since where in the node a key lies cannot be predicted; that all is
 * well can.
 */
static inline unsigned
heads_below(const struct tree_node *node, uint64_t order, uint64_t head)
{
    unsigned below = 0, before, count = order_count(order);
    unsigned before_wrong, behind_wrong;

#pragma GCC unroll 14
    for (unsigned slot = 0; slot < SLOTS; slot++)
        below += head_at(node, slot) < head;
    before = below - (below > 0);
    before_wrong = (head_at(node, order_slot(order, before)) < head) != (below > 0);
    behind_wrong = head_at(node, order_slot(order, below)) < head;
    behind_wrong &= below < count;
    if ((before_wrong | behind_wrong) != 0 || below > count)
        return heads_below_slowly(node, order, head);
    return below;
}

static inline bool
record_is_left(const struct cell_record *record, petal_slice key, bool or_equal)
{
    int side = slice_compare(cell_record_key(record), key);

    return side < 0 || (or_equal && side == 0);
}

/* Among the equal heads from `first` on: binary search by whole keys. */
static inline unsigned
rank_among_equals(const struct tree_node *node, uint64_t order, unsigned first, petal_slice key,
                  uint64_t head, bool or_equal)
{
    unsigned limit = first + 1;

    while (limit < order_count(order) && head_at(node, order_slot(order, limit)) == head)
        limit++;
    while (first < limit) {
        unsigned middle = (first + limit) / 2;

        if (record_is_left(record_at(node, order_slot(order, middle)), key, or_equal))
            first = middle + 1;
        else
            limit = middle;
    }
    return first;
}

/* The number of keys below `key`, or not above it. */
static inline unsigned
node_rank(const struct tree_node *node, uint64_t order, petal_slice key, uint64_t head,
          bool or_equal)
{
    unsigned below = heads_below(node, order, head);

    /* Mostly there is none after, then that slot is any: one test to predict, not two. */
    if (head_at(node, order_slot(order, below)) == head && below < order_count(order))
        return rank_among_equals(node, order, below, key, head, or_equal);
    return below;
}

/* ---- Ways between nodes ----------------------------------------------------------- */

/* A node is some lines side by side: ask for them at once rather than one after the other. */
static ALWAYS_INLINE void
prefetch_node(const void *node)
{
    mem_prefetch(node, 4);
}

/* Index in `children` of the child that `rank` separators are not above of. */
static inline unsigned
child_index(uint64_t order, unsigned rank)
{
    return order_slot(order << 4 | LEFTMOST, rank);
}

#endif
