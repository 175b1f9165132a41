/* index_tree.c -- see index_tree.h. */
#include "sstable/index_tree.h"

#include <assert.h>
#include <inttypes.h>

/* ---- the tree ---- */

static enum petal_status
decode_root(struct index_tree *tree, const struct block_image *image, uint64_t offset,
            petal_error *error)
{
    const petal_allocator *allocator = tree->file->source.env->allocator;
    size_t size = image->frame.raw_bytes;

    tree->root_memory = mem_alloc_aligned(allocator, CACHE_LINE_BYTES, size);
    if (tree->root_memory == NULL)
        return error_no_memory(error);
    tree->root.size = size;
    if (!block_image_decode(image, tree->root_memory) ||
        !index_block_check(&tree->root, tree->root_memory, size) ||
        tree->root.count != image->frame.entries || tree->root.level >= INDEX_MAX_LEVELS) {
        mem_free(allocator, tree->root_memory, size);
        return error_corrupt(error, tree->file->source.path, offset,
                             "%s at offset %" PRIu64
                             ": its checksum is right, its content malformed",
                             block_kind_text(tree->kind), offset);
    }
    tree->hints = mem_alloc(allocator, tree->root.count * sizeof *tree->hints);
    if (tree->hints == NULL) {
        mem_free(allocator, tree->root_memory, size);
        return error_no_memory(error);
    }
    for (uint32_t i = 0; i < tree->root.count; i++)
        atomic_init(&tree->hints[i], NULL);
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
        status = decode_root(tree, &image, root.offset, error);
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

/* Fetch the node that an entry of a node of `level` names, and fill *view. */
static enum petal_status
fetch_node(const struct index_tree *tree, struct index_place place, uint32_t level,
           const struct read_context *context, struct cache_block **node, struct index_block *view,
           petal_error *error)
{
    enum petal_status status =
        sst_file_fetch(tree->file, place.handle, tree->kind, place.hint, context, node, error);

    if (status != PETAL_OK)
        return status;
    block_prefetch(*node);
    index_block_view(view, (*node)->data, (*node)->size);
    if (view->level + 1 != level)
        return error_corrupt(error, tree->file->source.path, place.handle.offset,
                             "%s at offset %" PRIu64 " is of level %" PRIu32
                             " below level %" PRIu32,
                             block_kind_text(tree->kind), place.handle.offset, view->level, level);
    return PETAL_OK;
}

static enum petal_status
error_misplaced(const struct index_tree *tree, struct index_place place, petal_error *error)
{
    return error_corrupt(error, tree->file->source.path, place.handle.offset,
                         "%s at offset %" PRIu64 " does not begin with the key that names it",
                         block_kind_text(tree->kind), place.handle.offset);
}

enum petal_status
index_tree_find(const struct index_tree *tree, petal_slice key, const struct read_context *context,
                struct index_place *place, bool *found, petal_error *error)
{
    struct index_block view;
    const struct index_block *node = &tree->root;
    _Atomic(struct cache_block *) *hints = tree->hints;
    int64_t position = index_block_search(node, key);

    *found = position >= 0;
    if (!*found)
        return PETAL_OK;
    place->handle = index_block_handle(node, (uint32_t)position);
    place->hint = &hints[position];
    while (node->level > 0) {
        struct cache_block *child;
        enum petal_status status =
            fetch_node(tree, *place, node->level, context, &child, &view, error);

        if (status != PETAL_OK)
            return status;
        position = index_block_search(&view, key);
        if (position < 0)
            return error_misplaced(tree, *place, error);
        place->handle = index_block_handle(&view, (uint32_t)position);
        place->hint = &child->hints[position];
        node = &view;
    }
    return PETAL_OK;
}

/* ---- a position ---- */

void
index_cursor_init(struct index_cursor *cursor, const struct index_tree *tree, bool pins)
{
    cursor->tree = tree;
    cursor->pins = pins;
    cursor->depth = 0;
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

static void
start_at_root(struct index_cursor *cursor, uint32_t position)
{
    truncate_path(cursor, 0);
    cursor->steps[0] = (struct index_step){NULL, position};
    cursor->leaf = &cursor->tree->root;
    cursor->depth = 1;
}

/* Go down from the last step, whose node is cursor->leaf, to level 0: to `key`, or to the first entries if NULL. */
static enum petal_status
descend(struct index_cursor *cursor, const petal_slice *key, const struct read_context *context,
        petal_error *error)
{
    while (cursor->leaf->level > 0) {
        struct index_place place = index_cursor_place(cursor);
        uint32_t level = cursor->leaf->level;
        struct cache_block *node;
        int64_t position = 0;
        enum petal_status status =
            fetch_node(cursor->tree, place, level, context, &node, &cursor->leaf_view, error);

        if (status == PETAL_OK && key != NULL) {
            position = index_block_search(&cursor->leaf_view, *key);
            if (position < 0)
                status = error_misplaced(cursor->tree, place, error);
        }
        if (status != PETAL_OK) {
            index_cursor_release(cursor);
            return status;
        }
        if (cursor->pins)
            cache_pin(node);
        cursor->steps[cursor->depth++] = (struct index_step){node, (uint32_t)position};
        cursor->leaf = &cursor->leaf_view;
    }
    return PETAL_OK;
}

/* Whether the entry for `key` is certainly in the leaf at hand; then *position is set. */
static bool
leaf_covers(const struct index_cursor *cursor, petal_slice key, uint32_t *position)
{
    int64_t found = index_block_search(cursor->leaf, key);

    if (found < 0 || found + 1 >= cursor->leaf->count)
        return false;
    *position = (uint32_t)found;
    return true;
}

enum petal_status
index_cursor_seek(struct index_cursor *cursor, petal_slice key, const struct read_context *context,
                  bool *before, petal_error *error)
{
    int64_t position;

    *before = false;
    if (cursor->depth > 1 && leaf_covers(cursor, key, &cursor->steps[cursor->depth - 1].position))
        return PETAL_OK;
    position = index_block_search(&cursor->tree->root, key);
    *before = position < 0;
    start_at_root(cursor, *before ? 0 : (uint32_t)position);
    return descend(cursor, *before ? NULL : &key, context, error);
}

enum petal_status
index_cursor_first(struct index_cursor *cursor, const struct read_context *context,
                   petal_error *error)
{
    start_at_root(cursor, 0);
    return descend(cursor, NULL, context, error);
}

/* Make the node of the last step cursor->leaf again. */
static void
view_last_step(struct index_cursor *cursor)
{
    const struct cache_block *node = cursor->steps[cursor->depth - 1].node;

    if (node == NULL) {
        cursor->leaf = &cursor->tree->root;
        return;
    }
    index_block_view(&cursor->leaf_view, node->data, node->size);
    cursor->leaf = &cursor->leaf_view;
}

enum petal_status
index_cursor_next(struct index_cursor *cursor, const struct read_context *context,
                  petal_error *error)
{
    assert(index_cursor_valid(cursor));
    while (index_cursor_position(cursor) + 1 == cursor->leaf->count) {
        truncate_path(cursor, cursor->depth - 1);
        if (cursor->depth == 0)
            return PETAL_OK;
        view_last_step(cursor);
    }
    cursor->steps[cursor->depth - 1].position++;
    return descend(cursor, NULL, context, error);
}
