/* index_tree.c -- see index_tree.h. */
#include "sstable/index/index_tree.h"

#include "sstable/index/index_region.h"

#include "base/inline.h"

#include <assert.h>
#include <inttypes.h>

/* ---- the tree ---- */

static enum petal_status
decode_root(struct index_tree *tree, const struct block_image *image, struct block_handle handle,
            petal_error *error)
{
    const petal_allocator *allocator = tree->file->source.env->allocator;
    size_t size = image->frame.raw_bytes, memory_bytes = 0;
    size_t hint_bytes = image->frame.entries * sizeof *tree->hints;
    uint8_t *bytes = mem_alloc(allocator, size);
    enum petal_status status = PETAL_CORRUPT;

    if (bytes == NULL)
        return error_no_memory(error);
    if (block_image_decode(image, bytes))
        memory_bytes = index_block_memory(bytes, size, image->frame.entries);
    if (memory_bytes > 0) {
        tree->root_memory = mem_alloc_aligned(allocator, CACHE_LINE_BYTES, memory_bytes);
        tree->hints = mem_alloc_aligned(allocator, CACHE_LINE_BYTES, hint_bytes);
        if (tree->root_memory == NULL || tree->hints == NULL)
            status = PETAL_NO_MEMORY;
        else if (index_block_make(&tree->root, bytes, size, tree->root_memory) &&
                 tree->root.level < INDEX_MAX_LEVELS)
            status = PETAL_OK;
    }
    mem_free(allocator, bytes, size);
    if (status != PETAL_OK) {
        mem_free(allocator, tree->root_memory, memory_bytes);
        mem_free(allocator, tree->hints, hint_bytes);
        return status == PETAL_NO_MEMORY
                   ? error_no_memory(error)
                   : block_error_malformed(&tree->file->source, handle, tree->kind, error);
    }
    for (uint32_t i = 0; i < tree->root.count; i++)
        cache_hint_init(&tree->hints[i]);
    return PETAL_OK;
}

enum petal_status
index_tree_open(struct index_tree *tree, const struct sst_file *file, enum block_kind kind,
                struct block_handle root, petal_error *error)
{
    struct block_image image;
    enum petal_status status;

    *tree = (struct index_tree){.file = file, .kind = kind};
    status = block_read(&file->source, root, kind, NULL, 0, &image, error);
    if (status == PETAL_OK) {
        status = decode_root(tree, &image, root, error);
        block_image_fini(&image, &file->source);
    }
    if (status != PETAL_OK)
        *tree = (struct index_tree){0};
    return status;
}

void
index_tree_close(struct index_tree *tree)
{
    const petal_allocator *allocator;

    if (tree->file == NULL)
        return;
    allocator = tree->file->source.env->allocator;
    mem_free(allocator, tree->root_memory, tree->root.size);
    mem_free(allocator, tree->hints, tree->root.count * sizeof *tree->hints);
    *tree = (struct index_tree){0};
}

size_t
index_tree_memory(const struct index_tree *tree)
{
    return tree->root.size + tree->root.count * sizeof *tree->hints;
}

static NEVER_INLINE enum petal_status
error_level(const struct index_tree *tree, struct index_place place, uint32_t found, uint32_t above,
            petal_error *error)
{
    return error_corrupt(error, tree->file->source.path, place.handle.offset,
                         "%s at offset %" PRIu64 " is of level %" PRIu32 " below level %" PRIu32,
                         block_kind_text(tree->kind), place.handle.offset, found, above);
}

NEVER_INLINE enum petal_status
index_tree_load(const struct index_tree *tree, const struct index_place *place,
                enum block_kind kind, const struct read_context *context,
                struct cache_block **block, petal_error *error)
{
    const struct index_block *node = &tree->root;
    struct index_block view;

    if (place->node != NULL) {
        index_block_view(&view, place->node->data, place->node->size);
        node = &view;
    }
    *block = index_region_load(tree->file, kind, node, place->position, context);
    return *block != NULL
               ? PETAL_OK
               : sst_file_fetch_slow(tree->file, place->handle, kind, context, block, error);
}

/* Fetch the node at `place`, which one of `level` names. */
static ALWAYS_INLINE enum petal_status
fetch_node(const struct index_tree *tree, const struct index_place *place, uint32_t level,
           const struct read_context *context, struct cache_block **node, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    uint32_t found;

    *node = sst_file_find(tree->file, place->handle, tree->kind, place->hint, context);
    if (*node == NULL)
        status = index_tree_load(tree, place, tree->kind, context, node, error);
    if (status != PETAL_OK)
        return status;
    found = index_block_level((*node)->data);
    return found + 1 == level ? PETAL_OK : error_level(tree, *place, found, level, error);
}

static enum petal_status
error_misplaced(const struct index_tree *tree, struct index_place place, petal_error *error)
{
    return error_corrupt(error, tree->file->source.path, place.handle.offset,
                         "%s at offset %" PRIu64 " does not begin with the key that names it",
                         block_kind_text(tree->kind), place.handle.offset);
}

/* The entry of a node for the key; its hint will be asked for, too. */
static ALWAYS_INLINE int64_t
search_node(const struct index_block *node, petal_slice key, const struct cache_hint *hints)
{
    return index_block_search_group(node, key, index_block_probe(node, key, hints, sizeof *hints));
}

/* The entry of a node (NULL: the root) at `position`, below 0: false. */
static ALWAYS_INLINE bool
take_place(const struct index_tree *tree, const struct cache_block *node,
           const struct index_block *view, int64_t position, struct index_place *place)
{
    if (position < 0)
        return false;
    place->handle = index_block_handle(view, (uint32_t)position);
    place->hint = &(node != NULL ? node->hints : tree->hints)[position];
    place->node = node;
    place->position = (uint32_t)position;
    return true;
}

enum petal_status
index_tree_find(const struct index_tree *tree, petal_slice key, const struct read_context *context,
                struct index_place *place, bool *found, petal_error *error)
{
    struct index_block view;

    *found = take_place(tree, NULL, &tree->root, search_node(&tree->root, key, tree->hints), place);
    if (!*found)
        return PETAL_OK;
    for (uint32_t level = tree->root.level; level > 0; level--) {
        struct cache_block *node;
        enum petal_status status = fetch_node(tree, place, level, context, &node, error);

        if (status != PETAL_OK)
            return status;
        index_block_view(&view, node->data, node->size);
        if (!take_place(tree, node, &view, search_node(&view, key, node->hints), place))
            return error_misplaced(tree, *place, error);
    }
    return PETAL_OK;
}

/* ---- a search by steps ---- */

bool
index_descent_begin(struct index_descent *descent, const struct index_tree *tree, petal_slice key)
{
    descent->level = tree->root.level;
    return take_place(tree, NULL, &tree->root, search_node(&tree->root, key, tree->hints),
                      &descent->place);
}

bool
index_descent_enter(struct index_descent *descent, const struct index_tree *tree, petal_slice key,
                    const struct read_context *context)
{
    const struct cache_block *node = sst_file_find_loaded(tree->file, descent->place.handle,
                                                          tree->kind, descent->place.hint, context);
    struct index_block view;

    assert(descent->level > 0);
    descent->node = node;
    if (node == NULL || index_block_level(node->data) + 1 != descent->level)
        return false;
    index_block_view(&view, node->data, node->size);
    descent->probe = index_block_probe(&view, key, node->hints, sizeof *node->hints);
    return true;
}

bool
index_descent_step(struct index_descent *descent, const struct index_tree *tree, petal_slice key)
{
    const struct cache_block *node = descent->node;
    struct index_block view;

    assert(descent->level > 0 && node != NULL);
    descent->level--;
    index_block_view(&view, node->data, node->size);
    return take_place(tree, node, &view, index_block_search_group(&view, key, descent->probe),
                      &descent->place);
}

/* ---- a position ---- */

void
index_cursor_init(struct index_cursor *cursor, const struct index_tree *tree, bool pins)
{
    cursor->tree = tree;
    cursor->pins = pins;
    cursor->depth = 0;
}

void
index_cursor_hold(struct index_cursor *cursor)
{
    if (cursor->pins)
        return;
    cursor->pins = true;
    for (uint32_t i = 0; i < cursor->depth; i++) {
        if (cursor->steps[i].node != NULL)
            cache_pin(cursor->steps[i].node);
    }
}

/* Take the steps from `depth` on off the path. */
static void
truncate_path(struct index_cursor *cursor, uint32_t depth)
{
    if (cursor->pins) {
        for (uint32_t i = depth; i < cursor->depth; i++) {
            if (cursor->steps[i].node != NULL)
                cache_unpin(cursor->tree->file->cache, cursor->steps[i].node);
        }
    }
    cursor->depth = depth;
}

void
index_cursor_release(struct index_cursor *cursor)
{
    truncate_path(cursor, 0);
}

/* Which entry of a node. */
struct index_target {
    enum { TARGET_FIRST, TARGET_LAST, TARGET_CELL, TARGET_BELOW } where;
    const struct cell_key *cell; /* CELL: where its search begins (index_block_search_cell) */
    petal_slice key;             /* BELOW: the last entry below it */
    bool before; /* CELL turned out to be the first one of a block, and became FIRST */
};

/* The entry of `node`, -1 if there is none. */
static inline int64_t
find_target(const struct index_block *node, struct index_target *target)
{
    int64_t found;

    switch (target->where) {
    case TARGET_FIRST:
        return 0;
    case TARGET_LAST:
        return (int64_t)node->count - 1;
    case TARGET_CELL:
        found = index_block_search_cell(node, target->cell, &target->before);
        if (target->before)
            target->where = TARGET_FIRST;
        return found;
    default:
        return index_block_search_below(node, target->key);
    }
}

/* Go down from the last step, whose node is cursor->leaf, to the target at level 0. */
static enum petal_status
descend(struct index_cursor *cursor, struct index_target *target,
        const struct read_context *context, petal_error *error)
{
    while (cursor->leaf->level > 0) {
        struct index_place place = index_cursor_place(cursor);
        uint32_t level = cursor->leaf->level;
        struct cache_block *node;
        int64_t position = 0;
        enum petal_status status = fetch_node(cursor->tree, &place, level, context, &node, error);

        if (status == PETAL_OK) {
            index_block_view(&cursor->leaf_view, node->data, node->size);
            position = find_target(&cursor->leaf_view, target);
            if (position < 0)
                status = error_misplaced(cursor->tree, place, error);
        }
        if (status != PETAL_OK) {
            index_cursor_release(cursor);
            return status;
        }
        assert(cursor->depth < INDEX_MAX_LEVELS);
        if (cursor->pins)
            cache_pin(node);
        cursor->steps[cursor->depth++] = (struct index_step){node, (uint32_t)position};
        cursor->leaf = &cursor->leaf_view;
    }
    return PETAL_OK;
}

/* Whether the entry for a key is certainly in the leaf at hand; then it is made the position. */
static bool
leaf_covers(struct index_cursor *cursor, struct index_target *target)
{
    int64_t found;

    assert(cursor->depth > 1);
    found = find_target(cursor->leaf, target);
    if (found < 0 || (found + 1 >= cursor->leaf->count && !target->before))
        return false;
    cursor->steps[cursor->depth - 1].position = (uint32_t)found;
    return true;
}

/* Go down from the root, where the target's entry is `position`. */
static enum petal_status
descend_from_root(struct index_cursor *cursor, uint32_t position, struct index_target *target,
                  const struct read_context *context, petal_error *error)
{
    index_cursor_release(cursor);
    cursor->steps[0] = (struct index_step){NULL, position};
    cursor->leaf = &cursor->tree->root;
    cursor->depth = 1;
    return descend(cursor, target, context, error);
}

enum petal_status
index_cursor_seek(struct index_cursor *cursor, const struct cell_key *key,
                  const struct read_context *context, bool *before, petal_error *error)
{
    struct index_target target = {.where = TARGET_CELL, .cell = key};
    enum petal_status status = PETAL_OK;

    if (cursor->depth <= 1 || !leaf_covers(cursor, &target)) {
        int64_t position = find_target(&cursor->tree->root, &target);

        if (position < 0) {
            *before = true;
            return index_cursor_first(cursor, context, error);
        }
        status = descend_from_root(cursor, (uint32_t)position, &target, context, error);
    }
    *before = target.before;
    return status;
}

enum petal_status
index_cursor_first(struct index_cursor *cursor, const struct read_context *context,
                   petal_error *error)
{
    struct index_target target = {.where = TARGET_FIRST};

    return descend_from_root(cursor, 0, &target, context, error);
}

enum petal_status
index_cursor_seek_before(struct index_cursor *cursor, const petal_slice *key,
                         const struct read_context *context, bool *found, petal_error *error)
{
    struct index_target target = {.where = TARGET_LAST};
    int64_t position;

    *found = true;
    if (key != NULL)
        target = (struct index_target){.where = TARGET_BELOW, .key = *key};
    if (key != NULL && cursor->depth > 1 && leaf_covers(cursor, &target))
        return PETAL_OK;
    position = find_target(&cursor->tree->root, &target);
    *found = position >= 0;
    if (!*found)
        return PETAL_OK;
    return descend_from_root(cursor, (uint32_t)position, &target, context, error);
}

/* The node of a step: the root, or *view made of it. */
static const struct index_block *
node_of_step(const struct index_cursor *cursor, uint32_t step, struct index_block *view)
{
    const struct cache_block *node = cursor->steps[step].node;

    if (node == NULL)
        return &cursor->tree->root;
    index_block_view(view, node->data, node->size);
    return view;
}

bool
index_cursor_key(const struct index_cursor *cursor, uint8_t *memory, struct cell_key *key)
{
    size_t size = index_cursor_key_bytes(cursor);

    index_block_key(cursor->leaf, index_cursor_position(cursor), memory);
    return cell_key_parse(slice_make(memory, size), memory + size, key);
}

bool
index_cursor_at_last(const struct index_cursor *cursor)
{
    struct index_block view;

    assert(index_cursor_valid(cursor));
    for (uint32_t i = 0; i < cursor->depth; i++)
        if (cursor->steps[i].position + 1 < node_of_step(cursor, i, &view)->count)
            return false;
    return true;
}

bool
index_cursor_between(const struct index_cursor *first, const struct index_cursor *last,
                     struct index_block *view, uint32_t *from, uint32_t *to)
{
    assert(first->tree == last->tree && first->depth == last->depth);
    for (uint32_t i = 0; i < first->depth; i++) {
        if (first->steps[i].position == last->steps[i].position)
            continue;
        *view = *node_of_step(first, i, view);
        *from = first->steps[i].position;
        *to = last->steps[i].position;
        return *from < *to;
    }
    return false;
}

bool
index_cursor_levels_agree(const struct index_cursor *cursor)
{
    uint32_t step = cursor->depth - 1, position = cursor->steps[step].position;
    uint32_t begins = index_cursor_place(cursor).handle.begins;

    for (; step > 0 && cursor->steps[step].position == 0; step--) {
        uint32_t position_above = cursor->steps[step - 1].position;
        struct index_block view;
        const struct index_block *above = node_of_step(cursor, step - 1, &view);

        if (index_block_handle(above, position_above).begins != begins ||
            !index_block_same_key(above, position_above, cursor->leaf, position))
            return false;
    }
    return true;
}

/* Make the node of the last step cursor->leaf again. */
static void
view_last_step(struct index_cursor *cursor)
{
    cursor->leaf = node_of_step(cursor, cursor->depth - 1, &cursor->leaf_view);
}

enum petal_status
index_cursor_next(struct index_cursor *cursor, const struct read_context *context,
                  petal_error *error)
{
    struct index_target first = {.where = TARGET_FIRST};
    struct block_handle left;
    uint64_t end, come_to;
    enum petal_status status;

    assert(index_cursor_valid(cursor));
    if (index_cursor_position(cursor) + 1 < cursor->leaf->count) {
        cursor->steps[cursor->depth - 1].position++;
        return PETAL_OK;
    }
    left = index_cursor_place(cursor).handle;
    end = left.offset + left.size;
    do {
        truncate_path(cursor, cursor->depth - 1);
        if (cursor->depth == 0)
            return PETAL_OK;
        view_last_step(cursor);
    } while (index_cursor_position(cursor) + 1 == cursor->leaf->count);
    cursor->steps[cursor->depth - 1].position++;
    status = descend(cursor, &first, context, error);
    if (status != PETAL_OK)
        return status;
    /* Blocks ascend within each node. They must from node to node, too: nodes that were named many
     * times would be walked without end. */
    come_to = index_cursor_place(cursor).handle.offset;
    if (come_to >= end)
        return PETAL_OK;
    index_cursor_release(cursor);
    return error_corrupt(error, cursor->tree->file->source.path, come_to,
                         "the index names the block at offset %" PRIu64
                         " behind one that ends at %" PRIu64,
                         come_to, end);
}
