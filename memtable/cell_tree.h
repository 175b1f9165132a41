/*
 * cell_tree.h -- the order of a memtable's cells: a B+-tree for one writer and readers that take
 * no lock.
 *
 * RECORDS.  A cell lies in the arena as a struct cell_record: fixed header, cell key (base/cell.h),
 * value, its own time to live if it has one.  It is immutable once it is in the tree.  Separators
 * of inner nodes are records, too: the first of the right side.
 *
 * NODES have 14 slots.  Slots are filled in order of arrival and never changed or reused.  The
 * order of their keys is one word, the PERMUTATION (Masstree: Mao, Kohler, Morris, EuroSys 2012):
 *
 *     bits 60..63   number of slots in use
 *     bits 4p..4p+3 slot of the p-th smallest key
 *
 * An insert fills the next slot, then stores the new word with release.  A reader that loads the
 * word with acquire sees the old order or the new one, with all the slots that it names: there is
 * no torn state.  A word, a header word and 14 heads are two cache lines; with 14 records and two
 * links a leaf is four.
 *
 * HEADS.  A slot holds eight bytes of its key, those after the node's PREFIX, as a number that
 * orders like them.  A search counts the heads below the searched one, without branches; only
 * among equal heads whole keys are compared.  The prefix is fixed when the node is made.  Where
 * both bounds of the node's range are known (separators above it) it is what they share: then all
 * keys of the range have it.  At the edges of the tree it is a guess from the keys at hand, and a
 * key without it gets the head 0 or UINT64_MAX, by the side it lies on: that keeps the order.
 *
 * SPLITS COPY.  A full node is never changed again.  Its content goes into two fresh nodes: the
 * separator with the right one enters the parent by a permutation, then the left one replaces the
 * old node in the parent's child pointer, then the link of the leaf before is redirected.  The old
 * node stays as it was, for readers inside, until the arena is freed.  Full inner nodes are split
 * on the way down, so a parent always has room.  A run of ascending inserts copies nothing: the
 * full leaf stays, and the new cell starts a leaf linked after it.  Nor does it search: the way to
 * the leaf of the last insert is good until that leaf splits.
 *
 * WHY READERS MISS NOTHING.  A reader loads a published sequence S (acquire), then the root.  Let
 * T be the tree when the writer published S.  All stores up to T happen before the reader's loads,
 * so of each field it sees T's value or a later one.
 * 1. Each node it meets is in T or was made later.  So is the root; a child pointer holds what it
 *    held at T, or later, or, in a node made later, what was current then.  The same holds for
 *    `next` of a leaf.
 * 2. No node ever loses a cell.  A leaf of T holds all of T's cells of its range; one made later
 *    began as a complete copy of them (or, after a run, of a range in which T has none).
 * 3. The reader comes to the right child.  A child pointer may lead to the left copy of a split
 *    whose separator the loaded permutation lacks.  But then the separator was published before
 *    the pointer was, so loading the permutation again after the pointer (acquire) shows another
 *    word, and the node is searched again.  Words only grow, so an equal one was there throughout.
 * 4. Walking the leaves neither skips nor repeats.  The lower bound of a leaf's range never
 *    changes, and its `next` leads to a leaf whose lower bound is its own upper bound; also when
 *    both are old nodes.  The one thing that moves is the upper bound of a leaf which a run left
 *    behind: it falls, over keys that the leaf does not hold and T has not.  Such a leaf is full,
 *    its `next` leads to the run's leaf.  So a seek that finds nothing in its leaf searches the
 *    next one, rather than take its first cell.
 * 5. Looking for the last record before a key goes down to the child whose lower bound is below the
 *    key and whose upper bound is not, and needs no leaf but the one it comes to.  A lower bound is
 *    a record, the first one of the range (no record goes, no split leaves its left side empty):
 *    so only the leftmost leaf can have none below the key, and then there is none.  By 3 the leaf
 *    is the right one; where a run has lowered its upper bound since, by 4 that was over keys that
 *    T has not.
 * Cells above S may be seen or not; the engine filters by sequence.
 *
 * Threads: one writer; any number of readers.
 */
#ifndef PETAL_MEMTABLE_CELL_TREE_H
#define PETAL_MEMTABLE_CELL_TREE_H

#include "memtable/record.h"

#include <stdatomic.h>

struct arena;
struct tree_node;
struct tree_leaf;
struct tree_inner;

enum {
    CELL_TREE_MAX_HEIGHT =
        32 /* a level has at most a quarter as many splits as the one below, and some */
};

/* Inner nodes from the root on, and how many of their separators are not above the key. */
struct tree_path {
    unsigned depth;
    struct path_step {
        struct tree_inner *inner;
        unsigned rank;
    } steps[CELL_TREE_MAX_HEIGHT];
};

struct cell_tree {
    struct arena *arena;
    _Atomic(struct tree_node *) root; /* NULL: empty */
    /* The writer's own: */
    unsigned height;            /* levels of inner nodes */
    size_t leaves, inner_nodes; /* made so far; bounds for cell_tree_insert_bytes */
    /* What cell_tree_approach found; NULL, or good until the next insert. */
    const struct cell_record *approached;
    struct tree_leaf *approached_leaf;
    struct tree_path path; /* of the insert that is going on, or was approached */
    /* The leaf of the last insert, if it has not split; `path` leads there.  NULL: none. */
    struct tree_leaf *latest_leaf;
};

/* Takes its nodes from `arena`, which outlives it; nothing needs to be released. */
void cell_tree_init(struct cell_tree *tree, struct arena *arena);

/*
 * Arena bytes that inserting `count` records takes at most; SIZE_MAX when that is no number of
 * bytes.  With so much reserved, before each of these inserts there is still as much left as the
 * function then says for one.  WRITER.
 */
size_t cell_tree_insert_bytes(const struct cell_tree *tree, size_t count);

/* The same for one record. */
#define CELL_TREE_LEAF_BYTES  256
#define CELL_TREE_INNER_BYTES 384

static inline size_t
cell_tree_insert_one_bytes(const struct cell_tree *tree)
{
    return 2 * CELL_TREE_LEAF_BYTES + (2 * tree->height + 1) * CELL_TREE_INNER_BYTES;
}

/* REQUIRES: cell_tree_insert_bytes reserved; no record with an equal key in the tree.  WRITER. */
void cell_tree_insert(struct cell_tree *tree, const struct cell_record *record);

/*
 * Find the place of a record that may be inserted next, and ask for its memory: the insert then
 * does not wait for it.  Takes what the insert would have taken for nodes on the way.  REQUIRES: as
 * cell_tree_insert.  WRITER.
 */
void cell_tree_approach(struct cell_tree *tree, const struct cell_record *record);

/* The record approached, if any, is not inserted: its memory may become another's.  WRITER. */
static inline void
cell_tree_turn_back(struct cell_tree *tree)
{
    tree->approached = NULL;
}

/* A place in the tree, good as long as the tree.  Stays on its record when others are inserted. */
struct cell_tree_position {
    const struct tree_leaf *leaf; /* NULL: at no record */
    uint64_t order;               /* the leaf's permutation as loaded */
    unsigned index;               /* in it */
};

/*
 * To the first record at or after `key`; to the first record; to the last one before `key`; to the
 * last one; to the following one.  Where there is none, leaf is NULL.  REQUIRES for next: leaf not
 * NULL.
 */
void cell_tree_seek(const struct cell_tree *tree, petal_slice key,
                    struct cell_tree_position *position);
void cell_tree_seek_first(const struct cell_tree *tree, struct cell_tree_position *position);
void cell_tree_seek_before(const struct cell_tree *tree, petal_slice key,
                           struct cell_tree_position *position);
void cell_tree_seek_last(const struct cell_tree *tree, struct cell_tree_position *position);
void cell_tree_next(struct cell_tree_position *position);

/* REQUIRES: leaf not NULL. */
const struct cell_record *cell_tree_record(const struct cell_tree_position *position);

#endif
