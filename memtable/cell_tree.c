/* cell_tree.c -- reading; see cell_tree.h. */
#include "memtable/cell_tree.h"

#include "memtable/tree_node.h"

void
cell_tree_init(struct cell_tree *tree, struct arena *arena)
{
    tree->arena = arena;
    atomic_init(&tree->root, NULL);
    tree->height = 0;
    tree->leaves = 0;
    tree->inner_nodes = 0;
    tree->approached = NULL;
    tree->approached_leaf = NULL;
    tree->latest_leaf = NULL;
}

/* The child with the place of `key`, or, with `before`, with the place right before it. */
static inline const struct tree_node *
child_for(const struct tree_node *node, petal_slice key, bool before)
{
    const struct tree_inner *inner = (const struct tree_inner *)node;

    for (;;) {
        /* Acquire: the slots that the word names. */
        uint64_t order = atomic_load_explicit(&node->order, memory_order_acquire);
        unsigned rank = node_rank(node, order, key, node_head(node, key, true), !before);
        /* Acquire: the child's content; and it keeps the load below after this one. */
        const struct tree_node *child =
            atomic_load_explicit(&inner->children[child_index(order, rank)], memory_order_acquire);

        prefetch_node(child);
        if (atomic_load_explicit(&node->order, memory_order_relaxed) == order)
            return child;
    }
}

void
cell_tree_seek(const struct cell_tree *tree, petal_slice key, struct cell_tree_position *position)
{
    const struct tree_node *node = atomic_load_explicit(&tree->root, memory_order_acquire);
    const struct tree_leaf *leaf;
    bool within = true;

    while (node != NULL && !node->is_leaf)
        node = child_for(node, key, false);
    leaf = (const struct tree_leaf *)node;
    while (leaf != NULL) {
        node = &leaf->node;
        position->order = atomic_load_explicit(&node->order, memory_order_acquire);
        position->index =
            node_rank(node, position->order, key, node_head(node, key, within), false);
        if (position->index < order_count(position->order))
            break;
        leaf = atomic_load_explicit(&leaf->next, memory_order_acquire);
        within = false;
    }
    position->leaf = leaf;
}

static void
position_at_leaf(struct cell_tree_position *position, const struct tree_leaf *leaf)
{
    position->leaf = leaf;
    position->index = 0;
    if (leaf != NULL)
        position->order = atomic_load_explicit(&leaf->node.order, memory_order_acquire);
}

void
cell_tree_seek_first(const struct cell_tree *tree, struct cell_tree_position *position)
{
    const struct tree_node *node = atomic_load_explicit(&tree->root, memory_order_acquire);

    /*
     * A child before the first separator is replaced by one that begins at the same place: no
     * second look.
     */
    while (node != NULL && !node->is_leaf)
        node = atomic_load_explicit(&((const struct tree_inner *)node)->children[LEFTMOST],
                                    memory_order_acquire);
    position_at_leaf(position, (const struct tree_leaf *)node);
}

/* The first `count` keys of the leaf lie before the place sought: stand at the last of them, if
 * any. */
static void
position_before(struct cell_tree_position *position, const struct tree_leaf *leaf, uint64_t order,
                unsigned count)
{
    assert(leaf->node.is_leaf && count <= order_count(order));
    position->leaf = count > 0 ? leaf : NULL;
    position->order = order;
    position->index = count - 1;
}

void
cell_tree_seek_before(const struct cell_tree *tree, petal_slice key,
                      struct cell_tree_position *position)
{
    const struct tree_node *node = atomic_load_explicit(&tree->root, memory_order_acquire);
    uint64_t order;

    position->leaf = NULL;
    if (node == NULL)
        return;
    while (!node->is_leaf)
        node = child_for(node, key, true);
    order = atomic_load_explicit(&node->order, memory_order_acquire);
    position_before(position, (const struct tree_leaf *)node, order,
                    node_rank(node, order, key, node_head(node, key, true), false));
}

/* The child after the last separator; see child_for. */
static const struct tree_node *
last_child(const struct tree_node *node)
{
    const struct tree_inner *inner = (const struct tree_inner *)node;

    for (;;) {
        uint64_t order = atomic_load_explicit(&node->order, memory_order_acquire);
        const struct tree_node *child = atomic_load_explicit(
            &inner->children[child_index(order, order_count(order))], memory_order_acquire);

        if (atomic_load_explicit(&node->order, memory_order_relaxed) == order)
            return child;
    }
}

void
cell_tree_seek_last(const struct cell_tree *tree, struct cell_tree_position *position)
{
    const struct tree_node *node = atomic_load_explicit(&tree->root, memory_order_acquire);
    uint64_t order;

    position->leaf = NULL;
    if (node == NULL)
        return;
    while (!node->is_leaf)
        node = last_child(node);
    order = atomic_load_explicit(&node->order, memory_order_acquire);
    position_before(position, (const struct tree_leaf *)node, order, order_count(order));
}

/* How many records ahead a walk asks for memory; records lie in order of their arrival, all over
 * the arena. */
#define RECORDS_AHEAD 4

/* Ask for the record's head, key and, where it is small, its value; it may lie in the next leaf,
 * which was asked for long ago. */
static inline void
prefetch_record(const struct cell_tree_position *position, unsigned index)
{
    const struct tree_leaf *leaf = position->leaf;
    uint64_t order = position->order;

    if (index >= order_count(order)) {
        index -= order_count(order);
        leaf = atomic_load_explicit(&leaf->next, memory_order_acquire);
        if (leaf == NULL)
            return;
        order = atomic_load_explicit(&leaf->node.order, memory_order_acquire);
        if (index >= order_count(order))
            return;
    }
    mem_prefetch(leaf->records[order_slot(order, index)], 3);
}

static void
walk_to_leaf(struct cell_tree_position *position, const struct tree_leaf *leaf)
{
    position_at_leaf(position, leaf);
    if (leaf == NULL)
        return;
    prefetch_record(position, RECORDS_AHEAD); /* those before were asked for from the leaf before */
    /* Relaxed: only its address is taken. */
    prefetch_node(atomic_load_explicit(&leaf->next, memory_order_relaxed));
}

void
cell_tree_next(struct cell_tree_position *position)
{
    assert(position->leaf != NULL);
    position->index++;
    if (position->index == order_count(position->order))
        walk_to_leaf(position, atomic_load_explicit(&position->leaf->next, memory_order_acquire));
    else
        prefetch_record(position, position->index + RECORDS_AHEAD);
}

const struct cell_record *
cell_tree_record(const struct cell_tree_position *position)
{
    assert(position->leaf != NULL);
    return position->leaf->records[order_slot(position->order, position->index)];
}
