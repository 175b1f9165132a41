/*
 * index_tree.h -- an index of an open store file: its root in memory, its lower nodes through the
 * cache.
 *
 * Beside each entry, root or cached node, lies a hint: where in the cache the block was that the
 * entry names.  So a hot search goes from node to node without the cache's hash table.
 *
 * The tree is immutable but for the hints, which any thread may write; a cursor belongs to one
 * thread. All functions but open and close are EPOCH (sst_reader.h), also those of a cursor that
 * pins.
 */
#ifndef PETAL_SSTABLE_INDEX_INDEX_TREE_H
#define PETAL_SSTABLE_INDEX_INDEX_TREE_H

#include "sstable/block/index_block.h"
#include "sstable/file/sst_file.h"

struct index_tree {
    const struct sst_file *file;
    enum block_kind kind; /* of the nodes */
    struct index_block root;
    uint8_t *root_memory;
    struct cache_hint *hints; /* of the root's entries */
};

/* A block that an index names, and where. */
struct index_place {
    struct block_handle handle;
    struct cache_hint *hint;
    const struct cache_block *node; /* whose entry it is; NULL: the root's */
    uint32_t position;
};

/* Reads the root. */
enum petal_status index_tree_open(struct index_tree *tree, const struct sst_file *file,
                                  enum block_kind kind, struct block_handle root,
                                  petal_error *error);
void index_tree_close(struct index_tree *tree); /* all zero: no-op */

/* Bytes of root and hints. */
size_t index_tree_memory(const struct index_tree *tree);

/* The block whose key is the last at or below `key`; *found false when all keys are above. */
enum petal_status index_tree_find(const struct index_tree *tree, petal_slice key,
                                  const struct read_context *context, struct index_place *place,
                                  bool *found, petal_error *error);

/* The node or Bloom chunk of `kind` at the place, which is not in the cache: with those beside it
 * in the file (index_region.h), or alone.  The context's stay is interrupted, so that the place's
 * node may be gone afterwards. */
enum petal_status index_tree_load(const struct index_tree *tree, const struct index_place *place,
                                  enum block_kind kind, const struct read_context *context,
                                  struct cache_block **block, petal_error *error);

/*
 * index_tree_find by steps, for several searches at once: each step ends by starting to load what
 * the next one looks at.  Only what is cached is found.
 */
struct index_descent {
    struct index_place place;       /* of the node that is next, of a block after the last step */
    uint32_t level;                 /* of the node that names it; 0: a block */
    const struct cache_block *node; /* that was entered .. */
    struct index_probe probe;       /* .. and where in it the key is */
};

/* False: all keys are above. */
bool index_descent_begin(struct index_descent *descent, const struct index_tree *tree,
                         petal_slice key);

/* Have what the place's hint leads to. */
static inline void
index_descent_load(const struct index_descent *descent)
{
    cache_hint_prefetch_whole(descent->place.hint,
                              descent->level > 0 ? INDEX_PREFETCH_LINES : DATA_PREFETCH_LINES);
}

/* Enter the node that was loaded, and step to what it names.  False: the node is not cached, or not
 * as it should be.  REQUIRES: descent->level > 0. */
bool index_descent_enter(struct index_descent *descent, const struct index_tree *tree,
                         petal_slice key, const struct read_context *context);
bool index_descent_step(struct index_descent *descent, const struct index_tree *tree,
                        petal_slice key);

/* ---- a position ---- */

struct index_step {
    struct cache_block *node; /* NULL: the root */
    uint32_t position;
};

struct index_cursor {
    const struct index_tree *tree;
    bool pins;      /* nodes on the path are pinned, so the position outlives the epoch */
    uint32_t depth; /* steps on the path; 0: not positioned */
    const struct index_block *leaf; /* the node of the last step: the root or leaf_view */
    struct index_block leaf_view;
    struct index_step steps[INDEX_MAX_LEVELS];
};

void index_cursor_init(struct index_cursor *cursor, const struct index_tree *tree, bool pins);

/* Pin the nodes on the path, those to come as well. */
void index_cursor_hold(struct index_cursor *cursor);

/* Give up the position and the pins. */
void index_cursor_release(struct index_cursor *cursor);

/*
 * Position at the block where the search for the first cell at or after `key` begins: the last
 * entry at or below it.  Where the next one names a block that begins the key's row or column, it
 * is that one, and *before is set: the block's first cell is the one.  The same where all entries
 * are above: then it is the first.  After an error it is not positioned.
 */
enum petal_status index_cursor_seek(struct index_cursor *cursor, const struct cell_key *key,
                                    const struct read_context *context, bool *before,
                                    petal_error *error);
enum petal_status index_cursor_first(struct index_cursor *cursor,
                                     const struct read_context *context, petal_error *error);

/* Position at the last entry below `key`, NULL: at the last of all.  *found false when there is
 * none: the position stays. After an error it is not positioned. */
enum petal_status index_cursor_seek_before(struct index_cursor *cursor, const petal_slice *key,
                                           const struct read_context *context, bool *found,
                                           petal_error *error);

/* Step; after the last entry it is not positioned.  REQUIRES: positioned. */
enum petal_status index_cursor_next(struct index_cursor *cursor, const struct read_context *context,
                                    petal_error *error);

static inline bool
index_cursor_valid(const struct index_cursor *cursor)
{
    return cursor->depth > 0;
}

/* REQUIRES for these: positioned. */

/* The inner nodes' entries on the path that are for the entry's block have its key, and say of what
 * the block begins what the entry says. */
bool index_cursor_levels_agree(const struct index_cursor *cursor);

/* No entry follows. */
bool index_cursor_at_last(const struct index_cursor *cursor);

/* The entries between the two positions, of the level at which they part: the node that has them,
 * made in *view, and the positions in it. False: they are the same. */
bool index_cursor_between(const struct index_cursor *first, const struct index_cursor *last,
                          struct index_block *view, uint32_t *from, uint32_t *to);

static inline uint32_t
index_cursor_position(const struct index_cursor *cursor)
{
    return cursor->steps[cursor->depth - 1].position;
}

/* The entry's key, a cell key, taken apart in memory: twice as many bytes.  False: it is none. */
static inline size_t
index_cursor_key_bytes(const struct index_cursor *cursor)
{
    return index_block_key_bytes(cursor->leaf, index_cursor_position(cursor));
}
bool index_cursor_key(const struct index_cursor *cursor, uint8_t *memory, struct cell_key *key);

static inline struct index_place
index_cursor_place(const struct index_cursor *cursor)
{
    const struct index_step *step = &cursor->steps[cursor->depth - 1];
    struct cache_hint *hints = step->node != NULL ? step->node->hints : cursor->tree->hints;

    return (struct index_place){index_block_handle(cursor->leaf, step->position),
                                &hints[step->position], step->node, step->position};
}

#endif
