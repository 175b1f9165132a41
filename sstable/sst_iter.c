/*
 * sst_iter.c -- the iterator over a store file; see sst_reader.h.
 *
 * STATES.  `index` names the block of the current cell; not positioned: no cell.
 *   loaded   block != NULL, `cursor` is attached to it and at the cell
 *   pending  block == NULL, the cell's place is the key of the index entry, parsed into place_short or place_memory
 * An error or the end leaves no cell, no block, no pins.
 *
 * Every block change happens inside the epoch; afterwards pins keep block and index nodes, unless `borrow`.
 */
#include "sstable/sst_reader.h"

#include "sstable/sst_reader_parts.h"

#include <assert.h>
#include <inttypes.h>

static struct sst_iter *
iter_of(struct cell_iter *iter)
{
    return (struct sst_iter *)iter;
}

/* ---- blocks ---- */

static void
drop_block(struct sst_iter *iter)
{
    if (iter->block != NULL && !iter->borrow)
        cache_unpin(iter->reader->file.cache, iter->block);
    iter->block = NULL;
}

/* No cell any more: the end, or an error. */
static enum petal_status
end(struct sst_iter *iter, enum petal_status status)
{
    drop_block(iter);
    index_cursor_release(&iter->index);
    iter->iter.valid = false;
    iter->iter.pending = false;
    return status;
}

/* Fetch the block that the index names and attach to it, unpositioned. */
static enum petal_status
load_block(struct sst_iter *iter, petal_error *error)
{
    struct index_place place = index_cursor_place(&iter->index);
    struct cache_block *block;
    enum petal_status status = sst_file_fetch(&iter->reader->file, place.handle, BLOCK_DATA,
                                              place.hint, &iter->context, &block, error);

    if (status != PETAL_OK)
        return status;
    block_prefetch(block);
    if (data_block_cursor_attach(&iter->cursor, block->data, block->size) != PETAL_OK)
        return error_no_memory(error);
    if (!iter->borrow)
        cache_pin(block);
    drop_block(iter);
    iter->block = block;
    iter->block_offset = place.handle.offset;
    iter->plain = data_block_is_plain(&iter->cursor.block);
    iter->block_sequence_max = iter->cursor.block.sequence_max;
    return PETAL_OK;
}

static enum petal_status
at_cell(struct sst_iter *iter)
{
    iter->iter.valid = true;
    iter->iter.pending = false;
    iter->context.trace->cells_read++;
    return PETAL_OK;
}

/* ---- pending ---- */

/* Memory for a key and its parts; NULL: there is none. Keys of ordinary length need no allocation: gets come here, too. */
static uint8_t *
place_memory(struct sst_iter *iter, size_t bytes)
{
    void *memory = iter->place_memory;
    bool grown;

    if (bytes <= sizeof iter->place_short)
        return iter->place_short;
    grown = mem_grow(iter->reader->file.source.env->allocator, &memory, &iter->place_capacity, 0,
                     bytes, 1);
    iter->place_memory = memory;
    return grown ? iter->place_memory : NULL;
}

/* Take the place of the block that the index names from its key, and leave the block unread. */
static enum petal_status
stand_before_block(struct sst_iter *iter, petal_error *error)
{
    const struct index_block *leaf = iter->index.leaf;
    uint32_t position = index_cursor_position(&iter->index);
    size_t size = index_block_key_bytes(leaf, position);
    struct cell *cell = &iter->iter.cell;
    struct cell_key key;
    uint8_t *place;

    drop_block(iter);
    place = place_memory(iter, 2 * size);
    if (place == NULL)
        return error_no_memory(error);
    index_block_key(leaf, position, place);
    if (!cell_key_parse(slice_make(place, size), place + size, &key)) {
        struct block_handle handle = index_cursor_place(&iter->index).handle;

        return error_corrupt(error, iter->reader->path, handle.offset,
                             "the index names the data block at offset %" PRIu64
                             " by bytes that are no cell key",
                             handle.offset);
    }
    cell->row = key.row;
    cell->qualifier = key.qualifier;
    cell->timestamp = key.timestamp;
    cell->sequence = key.sequence;
    cell->type = key.family_class ? PETAL_DELETE_FAMILY : PETAL_PUT;
    cell->value = slice_make(NULL, 0);
    iter->plain = false;
    iter->block_sequence_max = UINT64_MAX;
    iter->iter.valid = true;
    iter->iter.pending = true;
    return PETAL_OK;
}

/* Load the block that the index names and stand at its first cell. */
static enum petal_status
enter_block(struct sst_iter *iter, petal_error *error)
{
    enum petal_status status = load_block(iter, error);

    if (status != PETAL_OK)
        return status;
    data_block_cursor_first(&iter->cursor, &iter->iter.cell);
    return at_cell(iter);
}

/* The same for a pending iterator, whose cell must be where the index said. */
static enum petal_status
enter_pending_block(struct sst_iter *iter, petal_error *error)
{
    struct cell place = iter->iter.cell;
    enum petal_status status = enter_block(iter, error);
    uint64_t offset;

    if (status != PETAL_OK || cell_compare(&place, &iter->iter.cell) == 0)
        return status;
    offset = index_cursor_place(&iter->index).handle.offset;
    return error_corrupt(error, iter->reader->path, offset,
                         "the data block at offset %" PRIu64
                         " does not begin with the cell that the index names",
                         offset);
}

/* ---- moving, inside the epoch ---- */

/* To the first cell of the following block. */
static enum petal_status
next_block(struct sst_iter *iter, petal_error *error)
{
    enum petal_status status = index_cursor_next(&iter->index, &iter->context, error);

    if (status != PETAL_OK || !index_cursor_valid(&iter->index))
        return end(iter, status);
    return iter->lazy ? stand_before_block(iter, error) : enter_block(iter, error);
}

static enum petal_status
seek_inside(struct sst_iter *iter, const struct cell_key *key, petal_error *error)
{
    bool before;
    enum petal_status status =
        index_cursor_seek(&iter->index, key->encoded, &iter->context, &before, error);

    if (status != PETAL_OK)
        return status;
    if (before)
        return iter->lazy ? stand_before_block(iter, error) : enter_block(iter, error);
    if (iter->block == NULL ||
        iter->block_offset != index_cursor_place(&iter->index).handle.offset) {
        status = load_block(iter, error);
        if (status != PETAL_OK)
            return status;
    }
    if (data_block_cursor_seek(&iter->cursor, key, &iter->iter.cell))
        return at_cell(iter);
    return next_block(iter, error);
}

static enum petal_status
first_inside(struct sst_iter *iter, petal_error *error)
{
    enum petal_status status = index_cursor_first(&iter->index, &iter->context, error);

    if (status != PETAL_OK)
        return status;
    return iter->lazy ? stand_before_block(iter, error) : enter_block(iter, error);
}

static enum petal_status
load_and_step(struct sst_iter *iter, petal_error *error)
{
    enum petal_status status = enter_pending_block(iter, error);

    if (status != PETAL_OK)
        return status;
    if (data_block_cursor_next(&iter->cursor, &iter->iter.cell))
        return at_cell(iter);
    return next_block(iter, error);
}

/* ---- the iterator's operations ---- */

static unsigned
enter(struct sst_iter *iter)
{
    return iter->borrow ? 0 : epoch_enter(iter->reader->epoch);
}

/* Leave the epoch; after an error nothing is held. */
static enum petal_status
leave(struct sst_iter *iter, unsigned slot, enum petal_status status)
{
    if (status != PETAL_OK)
        end(iter, status);
    if (!iter->borrow)
        epoch_leave(iter->reader->epoch, slot);
    return status;
}

static enum petal_status
sst_iter_seek(struct cell_iter *base, const struct cell_key *key, petal_error *error)
{
    struct sst_iter *iter = iter_of(base);
    unsigned slot = enter(iter);

    iter->context.trace->seeks++;
    return leave(iter, slot, seek_inside(iter, key, error));
}

static enum petal_status
sst_iter_seek_first(struct cell_iter *base, petal_error *error)
{
    struct sst_iter *iter = iter_of(base);
    unsigned slot = enter(iter);

    iter->context.trace->seeks++;
    return leave(iter, slot, first_inside(iter, error));
}

static enum petal_status
sst_iter_next(struct cell_iter *base, petal_error *error)
{
    struct sst_iter *iter = iter_of(base);
    unsigned slot;

    assert(base->valid);
    if (!base->pending && data_block_cursor_next(&iter->cursor, &base->cell)) {
        iter->context.trace->cells_read++;
        return PETAL_OK;
    }
    slot = enter(iter);
    return leave(iter, slot, base->pending ? load_and_step(iter, error) : next_block(iter, error));
}

static enum petal_status
sst_iter_load(struct cell_iter *base, petal_error *error)
{
    struct sst_iter *iter = iter_of(base);
    unsigned slot = enter(iter);

    assert(base->valid && base->pending);
    return leave(iter, slot, enter_pending_block(iter, error));
}

static void
sst_iter_close(struct cell_iter *base)
{
    struct sst_iter *iter = iter_of(base);

    end(iter, PETAL_OK);
    data_block_cursor_fini(&iter->cursor);
    mem_free(iter->reader->file.source.env->allocator, iter->place_memory, iter->place_capacity);
    iter->place_memory = NULL;
    iter->place_capacity = 0;
}

static const struct cell_iter_ops sst_iter_ops = {.seek = sst_iter_seek,
                                                  .seek_first = sst_iter_seek_first,
                                                  .next = sst_iter_next,
                                                  .load = sst_iter_load,
                                                  .close = sst_iter_close};

void
sst_iter_init(struct sst_iter *iter, const struct sst_reader *reader,
              const struct read_context *context, bool borrow, bool lazy)
{
    iter->iter.ops = &sst_iter_ops;
    iter->iter.valid = false;
    iter->iter.pending = false;
    iter->reader = reader;
    iter->context = *context;
    iter->borrow = borrow;
    iter->lazy = lazy;
    iter->plain = false;
    iter->block_sequence_max = UINT64_MAX;
    iter->block = NULL;
    iter->place_memory = NULL;
    iter->place_capacity = 0;
    index_cursor_init(&iter->index, &reader->index, !borrow);
    data_block_cursor_init(&iter->cursor, reader->file.source.env->allocator);
}
