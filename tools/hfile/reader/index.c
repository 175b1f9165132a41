/* index.c -- see index.h. */
#include "tools/hfile/reader/index.h"

#include "tools/hfile/format/error.h"
#include "tools/hfile/format/key.h"

#include <assert.h>
#include <inttypes.h>

void
hfile_index_cursor_init(struct hfile_index_cursor *cursor, const petal_hfile *file)
{
    cursor->file = file;
    hfile_block_reader_init(&cursor->reader, file);
    for (unsigned level = 0; level < HFILE_MOST_INDEX_LEVELS; level++) {
        hfile_index_block_init(&cursor->levels[level].block, file->allocator);
        cursor->levels[level].offset = HFILE_NO_BLOCK;
        cursor->levels[level].at = 0;
    }
}

void
hfile_index_cursor_free(struct hfile_index_cursor *cursor)
{
    for (unsigned level = 0; level < HFILE_MOST_INDEX_LEVELS; level++)
        hfile_index_block_free(&cursor->levels[level].block);
    hfile_block_reader_free(&cursor->reader);
}

static unsigned
bottom(const struct hfile_index_cursor *cursor)
{
    return cursor->file->trailer.index_levels - 1;
}

static const struct hfile_index_block *
block_of(const struct hfile_index_cursor *cursor, unsigned level)
{
    return level == 0 ? &cursor->file->root : &cursor->levels[level].block;
}

static const struct hfile_index_entry *
entry_of(const struct hfile_index_cursor *cursor, unsigned level)
{
    assert(cursor->levels[level].at < block_of(cursor, level)->count);
    return &block_of(cursor, level)->entries[cursor->levels[level].at];
}

/* The block of `level` becomes the one that the entry above it names. REQUIRES: level > 0 */
static enum petal_status
load(struct hfile_index_cursor *cursor, unsigned level, petal_error *error)
{
    const struct hfile_index_entry *entry = entry_of(cursor, level - 1);
    struct hfile_index_level *loaded = &cursor->levels[level];
    enum petal_hfile_block_kind kind = level == bottom(cursor)
                                           ? PETAL_HFILE_BLOCK_LEAF_INDEX
                                           : PETAL_HFILE_BLOCK_INTERMEDIATE_INDEX;
    enum petal_status status;
    struct hfile_block block;
    const char *wrong;

    if (loaded->offset == entry->offset)
        return PETAL_OK;
    loaded->offset = HFILE_NO_BLOCK;
    status = hfile_block_read_kind(&cursor->reader, kind, entry->offset, entry->stored_bytes,
                                   cursor->file->trailer.load_on_open_offset, &block, error);
    if (status != PETAL_OK)
        return status;
    status = hfile_index_block_parse(&loaded->block, block.payload, &wrong);
    if (status == PETAL_NO_MEMORY)
        return hfile_error_no_memory(error);
    if (status != PETAL_OK)
        return hfile_error_corrupt(error, cursor->file->name, entry->offset,
                                   "block at %" PRIu64 ": %s", entry->offset, wrong);
    loaded->offset = entry->offset;
    return PETAL_OK;
}

/* What is no key stands before all keys; blocks that it names are reached by scans alone. */
static int
compare_entry(petal_slice entry_key, const void *key)
{
    petal_hfile_cell cell = {0};

    if (!hfile_key_parse(entry_key, &cell))
        return -1;
    return petal_hfile_compare(&cell, key);
}

enum petal_status
hfile_index_find(struct hfile_index_cursor *cursor, const petal_hfile_cell *key,
                 const struct hfile_index_entry **entry, petal_error *error)
{
    *entry = NULL;
    if (cursor->file->root.count == 0)
        return PETAL_OK;
    for (unsigned level = 0; level <= bottom(cursor); level++) {
        enum petal_status status = level == 0 ? PETAL_OK : load(cursor, level, error);

        if (status != PETAL_OK)
            return status;
        hfile_index_block_find(block_of(cursor, level), key, compare_entry,
                               &cursor->levels[level].at);
    }
    *entry = entry_of(cursor, bottom(cursor));
    return PETAL_OK;
}

/* From the entry of `level` down to the first or last one below it. */
static enum petal_status
descend(struct hfile_index_cursor *cursor, unsigned level, bool to_first,
        const struct hfile_index_entry **entry, petal_error *error)
{
    for (; level < bottom(cursor); level++) {
        enum petal_status status = load(cursor, level + 1, error);

        if (status != PETAL_OK)
            return status;
        cursor->levels[level + 1].at = to_first ? 0 : block_of(cursor, level + 1)->count - 1;
    }
    *entry = entry_of(cursor, bottom(cursor));
    return PETAL_OK;
}

enum petal_status
hfile_index_first(struct hfile_index_cursor *cursor, const struct hfile_index_entry **entry,
                  petal_error *error)
{
    *entry = NULL;
    if (cursor->file->root.count == 0)
        return PETAL_OK;
    cursor->levels[0].at = 0;
    return descend(cursor, 0, true, entry, error);
}

enum petal_status
hfile_index_next(struct hfile_index_cursor *cursor, const struct hfile_index_entry **entry,
                 petal_error *error)
{
    *entry = NULL;
    for (unsigned level = bottom(cursor) + 1; level > 0; level--) {
        struct hfile_index_level *this_level = &cursor->levels[level - 1];

        if (this_level->at + 1 < block_of(cursor, level - 1)->count) {
            this_level->at++;
            return descend(cursor, level - 1, true, entry, error);
        }
    }
    return PETAL_OK;
}

enum petal_status
hfile_index_previous(struct hfile_index_cursor *cursor, const struct hfile_index_entry **entry,
                     petal_error *error)
{
    *entry = NULL;
    for (unsigned level = bottom(cursor) + 1; level > 0; level--) {
        struct hfile_index_level *this_level = &cursor->levels[level - 1];

        if (this_level->at > 0) {
            this_level->at--;
            return descend(cursor, level - 1, false, entry, error);
        }
    }
    return PETAL_OK;
}
