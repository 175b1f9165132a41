/* cell_tree_insert.c -- writing; see cell_tree.h.  Only the writer runs this. */
#include "memtable/arena.h"
#include "memtable/cell_tree.h"
#include "memtable/tree_node.h"

#include <stddef.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(PETAL_NARROW)
#include <immintrin.h>
#endif

static_assert(sizeof(struct tree_inner) == CELL_TREE_INNER_BYTES &&
                  sizeof(struct tree_leaf) == CELL_TREE_LEAF_BYTES,
              "what the door says");

enum {
    MIDDLE = SLOTS / 2,
    RUN = 7, /* so many inserts side by side make a run */
    /* An edge node's prefix is cut by so much: a growing key soon leaves what the keys share. */
    EDGE_PREFIX_SLACK = 2
};

/* ---- Nodes ------------------------------------------------------------------------ */

/* The writer reads what it stored itself. */
static inline uint64_t
own_order(const struct tree_node *node)
{
    return atomic_load_explicit(&node->order, memory_order_relaxed);
}

static inline bool
is_full(const struct tree_node *node)
{
    return order_count(own_order(node)) == SLOTS;
}

/*
 * Eight-byte numbers are compared four at a time where the processor can (AVX2).  The writer alone
 * may look so: nobody stores heads beside it.  Not with PETAL_NARROW, for tests of the other way.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(PETAL_NARROW)
#define HAS_WIDE
#define WIDE __attribute__((target("avx2,popcnt")))

static inline bool
has_wide(void)
{
    return __builtin_cpu_supports("avx2");
}

/* Four numbers of a node, as signed ones in the same order: only such are compared. */
WIDE static inline __m256i
load_four(const struct tree_node *node, unsigned at)
{
    const __m256i *fours = (const __m256i *)(const void *)node;

    return _mm256_xor_si256(_mm256_load_si256(fours + at), _mm256_set1_epi64x(INT64_MIN));
}

/*
 * The heads below `head`; free slots hold UINT64_MAX and are none.  The node's first two lines are
 * looked at from their beginning, so that no load crosses a line: what lies before the heads is
 * left out of the count.
 */
WIDE static inline unsigned
heads_below_wide(const struct tree_node *node, uint64_t head)
{
    __m256i searched =
        _mm256_broadcastq_epi64(_mm_cvtsi64_si128((int64_t)(head ^ (uint64_t)1 << 63)));
    __m256i first = _mm256_cmpgt_epi64(searched, load_four(node, 0));
    __m256i second = _mm256_cmpgt_epi64(searched, load_four(node, 1));
    __m256i third = _mm256_cmpgt_epi64(searched, load_four(node, 2));
    __m256i fourth = _mm256_cmpgt_epi64(searched, load_four(node, 3));
    __m256i all =
        _mm256_packs_epi16(_mm256_packs_epi32(first, second), _mm256_packs_epi32(third, fourth));
    /* Two bits for each number; packing keeps the first two of the node in front. */
    unsigned bits = (unsigned)_mm256_movemask_epi8(all) & ~15u;

    static_assert(SLOTS == 14 && offsetof(struct tree_node, heads) == 16 &&
                      sizeof(struct tree_node) == 128,
                  "two numbers and fourteen heads");
    return (unsigned)__builtin_popcount(bits) / 2;
}
#endif

static ALWAYS_INLINE unsigned
own_heads_below(const struct tree_node *node, uint64_t head, bool wide)
{
    unsigned below = 0;

#ifdef HAS_WIDE
    if (wide)
        return heads_below_wide(node, head);
#else
    (void)wide;
#endif
#pragma GCC unroll 14
    for (unsigned slot = 0; slot < SLOTS; slot++)
        below += head_at(node, slot) < head;
    return below;
}

/* node_rank for the writer, beside whom no slot is filled: the number of heads is the position. */
static ALWAYS_INLINE unsigned
own_rank(const struct tree_node *node, uint64_t order, petal_slice key, uint64_t head,
         bool or_equal, bool wide)
{
    unsigned below = own_heads_below(node, head, wide);

    assert(below <= order_count(order) && below == own_heads_below(node, head, false));
    if (head_at(node, order_slot(order, below)) == head && below < order_count(order))
        return rank_among_equals(node, order, below, key, head, or_equal);
    return below;
}

/* What is known of the keys that a new node will get. */
struct key_range {
    const struct cell_record *low, *high;   /* bounds, NULL at an edge of the tree */
    const struct cell_record *first, *last; /* of the keys at hand, its own among them */
};

/*
 * Heads of a new node's records in the node that they come from, if that was fenced, else NULL.
 * Where the prefix is the same they are the same, and the keys, which are all over the arena, need
 * not be looked at.
 */
struct known_heads {
    const uint64_t *heads;
    uint32_t prefix_bytes;
};

static const struct known_heads heads_unknown = {NULL, 0};

static void
node_set_prefix(struct tree_node *node, const struct key_range *range)
{
    bool bounded = range->low != NULL && range->high != NULL;
    size_t common;

    if (bounded) {
        common = slice_common_prefix(cell_record_key(range->low), cell_record_key(range->high));
    } else if (range->first == range->last) {
        common = 0; /* one key tells nothing of those to come */
    } else {
        common = slice_common_prefix(cell_record_key(range->first), cell_record_key(range->last));
        common = common < EDGE_PREFIX_SLACK ? 0 : common - EDGE_PREFIX_SLACK;
    }
    node->prefix_bytes = (uint32_t)common;
    node->fenced = bounded || common == 0;
}

/* Nobody else sees the node until it is published with release: plain initialisation. */
static void
node_init(struct tree_node *node, bool is_leaf, const struct cell_record *const *records,
          unsigned count, const struct key_range *range, struct known_heads known)
{
    bool same_heads;

    assert(count > 0 && count <= SLOTS);
    node->is_leaf = is_leaf;
    node->run = 0;
    memcpy(records_of(node), records, count * sizeof records[0]);
    node_set_prefix(node, range);
    same_heads = known.heads != NULL && node->fenced && known.prefix_bytes == node->prefix_bytes;
    if (same_heads) {
        memcpy((void *)node->heads, known.heads, count * sizeof known.heads[0]);
    } else {
        for (unsigned slot = 0; slot < count; slot++)
            atomic_init(&node->heads[slot], node_head(node, cell_record_key(records[slot]), true));
    }
    for (unsigned slot = count; slot < SLOTS; slot++)
        atomic_init(&node->heads[slot], UINT64_MAX);
    atomic_init(&node->order, order_identity(count));
}

static struct tree_leaf *
leaf_new(struct cell_tree *tree, const struct cell_record *const *records, unsigned count,
         const struct key_range *range, struct known_heads known, struct tree_leaf *next)
{
    struct tree_leaf *leaf = arena_take_lines(tree->arena, sizeof *leaf);

    node_init(&leaf->node, true, records, count, range, known);
    atomic_init(&leaf->next, next);
    leaf->previous = NULL;
    tree->leaves++;
    return leaf;
}

/* `children`: count + 1, the leftmost first. */
static struct tree_inner *
inner_new(struct cell_tree *tree, const struct cell_record *const *separators,
          struct tree_node *const *children, unsigned count, const struct key_range *range)
{
    struct tree_inner *inner = arena_take_lines(tree->arena, sizeof *inner);

    node_init(&inner->node, false, separators, count, range, heads_unknown);
    atomic_init(&inner->children[LEFTMOST], children[0]);
    for (unsigned slot = 0; slot < SLOTS; slot++)
        atomic_init(&inner->children[slot], slot < count ? children[slot + 1] : NULL);
    tree->inner_nodes++;
    return inner;
}

/* Fill the next slot; readers see it with the release of the new order. */
static inline void
node_add(struct tree_node *node, unsigned position, const struct cell_record *record, uint64_t head)
{
    uint64_t order = own_order(node);
    unsigned slot = order_count(order);

    assert(slot < SLOTS && position <= slot && head_at(node, slot) == UINT64_MAX);
    records_of(node)[slot] = record;
    atomic_store_explicit(&node->heads[slot], head, memory_order_relaxed);
    atomic_store_explicit(&node->order, order_insert(order, position), memory_order_release);
}

/* ---- The way down ----------------------------------------------------------------- */

/*
 * The bounds of the range of the node below the first `depth` steps: the nearest separators on the
 * way.
 */
static void
path_bounds(const struct tree_path *path, unsigned depth, struct key_range *range)
{
    range->low = NULL;
    range->high = NULL;
    while (depth-- > 0 && (range->low == NULL || range->high == NULL)) {
        const struct tree_node *node = &path->steps[depth].inner->node;
        uint64_t order = own_order(node);
        unsigned rank = path->steps[depth].rank;

        if (range->low == NULL && rank > 0)
            range->low = record_at(node, order_slot(order, rank - 1));
        if (range->high == NULL && rank < order_count(order))
            range->high = record_at(node, order_slot(order, rank));
    }
}

static void
grow_root(struct cell_tree *tree, struct tree_node *left, const struct cell_record *separator,
          struct tree_node *right, const struct key_range *range)
{
    struct tree_node *children[2] = {left, right};
    struct key_range all = {NULL, NULL, range->first, range->last};
    struct tree_inner *root = inner_new(tree, &separator, children, 1, &all);

    tree->height++;
    assert(tree->height <= CELL_TREE_MAX_HEIGHT);
    atomic_store_explicit(&tree->root, &root->node, memory_order_release);
}

/*
 * In place of the node below the first `depth` steps come `left`, `separator`, `right`.  The
 * separator first, the left node after it: a reader that gets `left` must be able to see that it
 * was split.
 */
static void
path_replace(struct cell_tree *tree, struct tree_path *path, unsigned depth, struct tree_node *left,
             const struct cell_record *separator, struct tree_node *right,
             const struct key_range *range)
{
    struct tree_inner *parent;
    unsigned rank, replaced;
    uint64_t order;

    if (depth == 0) {
        grow_root(tree, left, separator, right, range);
        return;
    }
    parent = path->steps[depth - 1].inner;
    rank = path->steps[depth - 1].rank;
    order = own_order(&parent->node);
    replaced = child_index(order, rank);
    assert(!is_full(&parent->node)); /* it was split on the way down */
    /* Relaxed: named by no permutation yet; published with the next one. */
    atomic_store_explicit(&parent->children[order_count(order)], right, memory_order_relaxed);
    node_add(&parent->node, rank, separator,
             node_head(&parent->node, cell_record_key(separator), true));
    atomic_store_explicit(&parent->children[replaced], left, memory_order_release);
}

static void
gather(const struct tree_node *node, const struct cell_record **records)
{
    uint64_t order = own_order(node);

    for (unsigned i = 0; i < order_count(order); i++)
        records[i] = record_at(node, order_slot(order, i));
}

static void
gather_heads(const struct tree_node *node, uint64_t *heads)
{
    uint64_t order = own_order(node);

    for (unsigned i = 0; i < order_count(order); i++)
        heads[i] = head_at(node, order_slot(order, i));
}

/* Split the full inner node below the first `depth` steps; the key goes to its `rank`-th child. */
static NEVER_INLINE void
split_inner(struct cell_tree *tree, struct tree_path *path, unsigned depth,
            struct tree_inner *inner, unsigned rank)
{
    const struct cell_record *separators[SLOTS];
    struct tree_node *children[SLOTS + 1];
    struct tree_inner *left, *right;
    struct key_range whole, part;
    unsigned middle = MIDDLE;
    uint64_t order = own_order(&inner->node);

    assert(is_full(&inner->node) && rank <= SLOTS);
    gather(&inner->node, separators);
    for (unsigned i = 0; i <= SLOTS; i++)
        children[i] =
            atomic_load_explicit(&inner->children[child_index(order, i)], memory_order_relaxed);
    path_bounds(path, depth, &whole);
    whole.first = separators[0];
    whole.last = separators[SLOTS - 1];
    /* The right edge grows by ascending keys: it leaves full nodes after. */
    if (whole.high == NULL && rank == SLOTS)
        middle = SLOTS - 2;

    part = whole;
    part.high = separators[middle];
    left = inner_new(tree, separators, children, middle, &part);
    part = whole;
    part.low = separators[middle];
    right =
        inner_new(tree, separators + middle + 1, children + middle + 1, SLOTS - middle - 1, &part);
    path_replace(tree, path, depth, &left->node, separators[middle], &right->node, &whole);
}

/* node_head of a key in the node's range, for what is short of it or has not its prefix. */
static NEVER_INLINE uint64_t
head_elsewhere(const struct tree_node *node, petal_slice key)
{
    return node_head(node, key, true);
}

static ALWAYS_INLINE uint64_t
own_head(const struct tree_node *node, petal_slice key)
{
    if (!node->fenced || key.size < (size_t)node->prefix_bytes + 8)
        return head_elsewhere(node, key);
    return get_be64(slice_bytes(key) + node->prefix_bytes);
}

static ALWAYS_INLINE struct tree_leaf *
descend_as(struct cell_tree *tree, petal_slice key, struct tree_path *path, bool wide)
{
    struct tree_node *node = atomic_load_explicit(&tree->root, memory_order_relaxed);
    struct path_step *step = path->steps;

    for (; !node->is_leaf; step++) {
        struct tree_inner *inner = (struct tree_inner *)node;
        uint64_t order = own_order(node);
        unsigned rank = own_rank(node, order, key, own_head(node, key), true, wide);

        if (order_count(order) == SLOTS) {
            path->depth = (unsigned)(step - path->steps);
            split_inner(tree, path, path->depth, inner, rank);
            return NULL;
        }
        assert(step < path->steps + CELL_TREE_MAX_HEIGHT);
        *step = (struct path_step){inner, rank};
        node =
            atomic_load_explicit(&inner->children[child_index(order, rank)], memory_order_relaxed);
        prefetch_node(node);
    }
    path->depth = (unsigned)(step - path->steps);
    return (struct tree_leaf *)node;
}

#ifdef HAS_WIDE
WIDE static NEVER_INLINE struct tree_leaf *
descend_wide(struct cell_tree *tree, petal_slice key, struct tree_path *path)
{
    return descend_as(tree, key, path, true);
}
#endif

static NEVER_INLINE struct tree_leaf *
descend_narrow(struct cell_tree *tree, petal_slice key, struct tree_path *path)
{
    return descend_as(tree, key, path, false);
}

/*
 * The leaf that the key belongs to, with the path to it.  NULL when a full inner node was split on
 * the way.
 */
static inline struct tree_leaf *
descend(struct cell_tree *tree, petal_slice key, struct tree_path *path)
{
#ifdef HAS_WIDE
    if (has_wide())
        return descend_wide(tree, key, path);
#endif
    return descend_narrow(tree, key, path);
}

/* ---- Leaves ----------------------------------------------------------------------- */

/* Count inserts side by side: does the key at `rank` come next to the latest slot's? */
static inline void
note_run(struct tree_node *node, uint64_t order, unsigned rank)
{
    unsigned latest = order_count(order) - 1;
    int run = node->run;

    if (rank > 0 && order_slot(order, rank - 1) == latest)
        run = run > 0 ? run + 1 : 1;
    else if (rank <= latest && order_slot(order, rank) == latest)
        run = run < 0 ? run - 1 : -1;
    else
        run = 0;
    node->run = (int8_t)run;
}

static struct tree_leaf *
own_next(const struct tree_leaf *leaf)
{
    return atomic_load_explicit(&leaf->next, memory_order_relaxed);
}

/*
 * The leaves of a split are to be reached by the links of their neighbours, too.  `previous` may
 * be NULL.
 */
static void
link_leaves(struct tree_leaf *previous, struct tree_leaf *first, struct tree_leaf *last)
{
    struct tree_leaf *next = own_next(last);

    first->previous = previous;
    if (next != NULL)
        next->previous = last;
    if (previous != NULL)
        atomic_store_explicit(&previous->next, first, memory_order_release);
}

/* A run ends after the full `leaf`: the record starts a leaf of its own. */
static NEVER_INLINE void
append_leaf(struct cell_tree *tree, struct tree_path *path, struct tree_leaf *leaf,
            const struct cell_record *record)
{
    struct tree_leaf *appended;
    struct key_range range;

    assert(is_full(&leaf->node));
    path_bounds(path, path->depth, &range);
    range.low = record;
    range.first = leaf->records[order_slot(own_order(&leaf->node), 0)];
    range.last = record;
    appended = leaf_new(tree, &record, 1, &range, heads_unknown, own_next(leaf));
    link_leaves(leaf, appended, appended);
    leaf->node.run = 0;
    path_replace(tree, path, path->depth, &leaf->node, record, &appended->node, &range);
}

/* Copy the full `leaf` and the record, which is to be at `rank` with `head`, into two leaves. */
static NEVER_INLINE void
split_leaf(struct cell_tree *tree, struct tree_path *path, struct tree_leaf *leaf,
           const struct cell_record *record, unsigned rank, uint64_t head)
{
    const struct cell_record *records[SLOTS + 1];
    uint64_t heads[SLOTS + 1];
    struct known_heads known = {NULL, leaf->node.prefix_bytes};
    struct tree_leaf *left, *right;
    struct key_range whole, part;
    unsigned middle = MIDDLE;

    assert(is_full(&leaf->node) && rank <= SLOTS);
    gather(&leaf->node, records);
    memmove(records + rank + 1, records + rank, (SLOTS - rank) * sizeof records[0]);
    records[rank] = record;
    if (leaf->node.fenced) {
        gather_heads(&leaf->node, heads);
        memmove(heads + rank + 1, heads + rank, (SLOTS - rank) * sizeof heads[0]);
        heads[rank] = head;
        known.heads = heads;
    }
    if (leaf->node.run >= RUN)
        middle = rank;
    else if (leaf->node.run <= -RUN)
        middle = rank + 1;
    path_bounds(path, path->depth, &whole);
    whole.first = records[0];
    whole.last = records[SLOTS];

    assert(middle > 0 && middle <= SLOTS); /* no side is empty */
    part = whole;
    part.low = records[middle];
    right = leaf_new(
        tree, records + middle, SLOTS + 1 - middle, &part,
        (struct known_heads){known.heads != NULL ? heads + middle : NULL, known.prefix_bytes},
        own_next(leaf));
    part = whole;
    part.high = records[middle];
    left = leaf_new(tree, records, middle, &part, known, right);
    right->previous = left;

    path_replace(tree, path, path->depth, &left->node, records[middle], &right->node, &whole);
    link_leaves(leaf->previous, left, right);
}

static void
insert_first(struct cell_tree *tree, const struct cell_record *record)
{
    struct key_range range = {NULL, NULL, record, record};
    struct tree_leaf *leaf = leaf_new(tree, &record, 1, &range, heads_unknown, NULL);

    atomic_store_explicit(&tree->root, &leaf->node, memory_order_release);
}

/*
 * Does the key belong to the leaf of the last insert, after its record?  Asked where two inserts
 * have gone there side by side: then it most often does.
 */
static NEVER_INLINE bool
continues_run(const struct cell_tree *tree, petal_slice key)
{
    const struct tree_leaf *leaf = tree->latest_leaf;
    unsigned latest = order_count(own_order(&leaf->node)) - 1;
    struct key_range range;

    if (slice_compare(cell_record_key(leaf->records[latest]), key) >= 0)
        return false;
    path_bounds(&tree->path, tree->path.depth, &range);
    return range.high == NULL || slice_compare(key, cell_record_key(range.high)) < 0;
}

/* Full inner nodes are split on the way, one at a time. */
static NEVER_INLINE struct tree_leaf *
descend_again(struct cell_tree *tree, petal_slice key)
{
    struct tree_leaf *leaf;

    do
        leaf = descend(tree, key, &tree->path);
    while (leaf == NULL);
    return leaf;
}

void
cell_tree_approach(struct cell_tree *tree, const struct cell_record *record)
{
    struct tree_leaf *leaf = tree->latest_leaf;

    if (atomic_load_explicit(&tree->root, memory_order_relaxed) == NULL) {
        tree->approached = NULL;
        return;
    }
    tree->approached = record;
    if (leaf != NULL && leaf->node.run > 0 && continues_run(tree, cell_record_key(record))) {
        assert(tree->approached_leaf == leaf);
        return;
    }
    tree->latest_leaf = NULL; /* the path will be another */
    leaf = descend(tree, cell_record_key(record), &tree->path);
    tree->approached_leaf = leaf != NULL ? leaf : descend_again(tree, cell_record_key(record));
}

/* The key belongs to the approached leaf. */
static ALWAYS_INLINE void
insert_as(struct cell_tree *tree, const struct cell_record *record, bool wide)
{
    petal_slice key = cell_record_key(record);
    struct tree_leaf *leaf = tree->approached_leaf;
    uint64_t order = own_order(&leaf->node);
    uint64_t head = own_head(&leaf->node, key);
    unsigned rank = own_rank(&leaf->node, order, key, head, false, wide);

    assert(leaf->node.is_leaf && tree->path.depth == tree->height);
    /* The key is new. */
    assert(rank == order_count(order) || head_at(&leaf->node, order_slot(order, rank)) != head ||
           !slice_equal(key, cell_record_key(leaf->records[order_slot(order, rank)])));
    note_run(&leaf->node, order, rank);
    tree->latest_leaf = order_count(order) < SLOTS ? leaf : NULL;
    if (order_count(order) < SLOTS)
        node_add(&leaf->node, rank, record, head);
    else if (rank == SLOTS && leaf->node.run >= RUN)
        append_leaf(tree, &tree->path, leaf, record);
    else
        split_leaf(tree, &tree->path, leaf, record, rank, head);
}

#ifdef HAS_WIDE
WIDE static NEVER_INLINE void
insert_wide(struct cell_tree *tree, const struct cell_record *record)
{
    insert_as(tree, record, true);
}
#endif

static NEVER_INLINE void
insert_narrow(struct cell_tree *tree, const struct cell_record *record)
{
    insert_as(tree, record, false);
}

void
cell_tree_insert(struct cell_tree *tree, const struct cell_record *record)
{
    if (tree->approached != record) {
        if (atomic_load_explicit(&tree->root, memory_order_relaxed) == NULL) {
            insert_first(tree, record);
            return;
        }
        cell_tree_approach(tree, record);
    }
    tree->approached = NULL;
#ifdef HAS_WIDE
    if (has_wide()) {
        insert_wide(tree, record);
        return;
    }
#endif
    insert_narrow(tree, record);
}

/*
 * Levels that `count` inserts add at most: a new root fills only after several splits of its
 * children, and so on.
 */
static size_t
levels_added(size_t count)
{
    size_t levels = 1;

    assert(count > 0);
    while (count >= 4) {
        count /= 4;
        levels++;
    }
    return levels;
}

/*
 * Each insert may split its leaf and the inner nodes above it. For many there is a better bound: a
 * leaf made meanwhile takes RUN inserts before it splits, but for the full one that a run leaves
 * behind; so two splits for RUN + 1 inserts, and likewise two splits of inner nodes for 8 splits
 * below them. A node that is there already may split at once, and what it leaves behind once more.
 */
size_t
cell_tree_insert_bytes(const struct cell_tree *tree, size_t count)
{
    size_t before, levels, height, leaf_splits, inner_splits, leaves, inner_nodes;

    if (count == 0)
        return 0;
    if (count == 1) /* what follows says the same */
        return cell_tree_insert_one_bytes(tree);
    if (count > SIZE_MAX / 65536)
        return SIZE_MAX;
    /*
     * The last insert counts in full, so that before each of them it can be asked for one more
     * without a refusal.
     */
    before = count - 1;
    levels = before > 0 ? levels_added(before) : 0;
    height = tree->height + levels;
    leaf_splits = 2 * tree->leaves + before / 4 + 1;
    if (leaf_splits > before)
        leaf_splits = before;
    inner_splits = 3 * tree->inner_nodes + leaf_splits / 3 + height;
    if (inner_splits > before * height)
        inner_splits = before * height;
    leaves = 2 * leaf_splits + 2;
    inner_nodes = 2 * inner_splits + levels + 2 * height + 1;
    return leaves * sizeof(struct tree_leaf) + inner_nodes * sizeof(struct tree_inner);
}
