/*
 * sst_iter.c -- the iterator over a store file; see sst_reader.h.
 *
 * STATES.  `index` names the block of the current cell.
 *   loaded   there is a current block, `block` or private_block, `cursor` is attached to it and at
 *            the cell
 *   pending  there is none, the cell's place is the key of the index entry, parsed into place_short
 *            or place_memory
 *   no cell  a block may be there all the same, attached and named by the index: a search begins in
 *   it
 * An error leaves no cell, no block, no pins; so does the end, unless `backwards`.
 *
 * BACKWARDS.  Who finds a row by seek_before seeks its beginning next, and reads on up to the row
 * after.  At the border of blocks that asks for the same ones in turn: that before the row, since
 * only there it is seen whether the row begins in it, those of the row, that after it.  So once
 * seek_before was used, blocks that are left are kept; three are held, the current one included.
 * On the way back a block is then read once, but for some of rows that are larger than a block.
 *
 * Every block change happens inside the epoch; afterwards pins keep block and index nodes, unless
 * `borrow`.
 *
 * READING.  Who does not borrow reads blocks that are not in the cache through `ahead`, and
 * forwards into private_block where the cache is not to have them (sst_file.h).  Backwards blocks
 * are kept, so each has memory of its own.
 *
 * READS FROM THE FILE interrupt the stay in the epoch, this iterator's own or that of who borrows
 * (sst_file.c).  At that moment there is no current block, and what is needed on, the nodes of the
 * index path and the blocks kept, is pinned: always, or by sst_iter_hold.  A block that was fetched
 * is pinned before the next one is.
 */
#include "sstable/sst_reader.h"

#include "sstable/sst_reader_parts.h"

#include <assert.h>
#include <inttypes.h>

/* ---- blocks ---- */

static void
let_go(struct sst_iter *iter, struct cache_block **block)
{
    if (*block != NULL && iter->pins)
        cache_unpin(iter->reader->file.cache, *block);
    *block = NULL;
}

/* The current block, forwards, is left: it goes, unless it is to be kept. */
static void
pass_block(struct sst_iter *iter)
{
    assert(!iter->keeps_passed || (!iter->in_private && iter->passed == NULL && iter->pins));
    if (iter->keeps_passed && iter->block != NULL) {
        iter->passed = iter->block;
        iter->block = NULL;
        iter->keeps_passed = false;
    }
    let_go(iter, &iter->block);
    iter->in_private = false;
}

static bool
has_block(const struct sst_iter *iter)
{
    assert(!iter->in_private || iter->block == NULL);
    return iter->block != NULL || iter->in_private;
}

/* Backwards: keep the current block, if there is one: beside it there is room.  A private one is
 * left: the first block at most, where the way turned. */
static void
keep_block(struct sst_iter *iter)
{
    unsigned free = 0;

    assert(iter->backwards);
    iter->in_private = false;
    if (iter->block == NULL)
        return;
    while (iter->kept[free].block != NULL)
        free++;
    assert(free < SST_KEPT_BLOCKS);
    iter->kept[free] = (struct sst_kept_block){iter->block, iter->block_offset};
    iter->block = NULL;
}

/* The kept block at `offset`, NULL if there is none. */
static struct sst_kept_block *
find_kept(struct sst_iter *iter, uint64_t offset)
{
    for (unsigned i = 0; i < SST_KEPT_BLOCKS; i++) {
        if (iter->kept[i].block != NULL && iter->kept[i].offset == offset)
            return &iter->kept[i];
    }
    return NULL;
}

/* Make room beside a current block: of a full set the hindmost goes, which is asked for last on
 * the way back. */
static void
thin_kept(struct sst_iter *iter)
{
    struct sst_kept_block *hindmost = &iter->kept[0];

    for (unsigned i = 0; i < SST_KEPT_BLOCKS; i++) {
        if (iter->kept[i].block == NULL)
            return;
        if (iter->kept[i].offset > hindmost->offset)
            hindmost = &iter->kept[i];
    }
    let_go(iter, &hindmost->block);
}

/* The way back leads on from the current block: what lies before it was kept on another one. */
static void
forget_other_ways(struct sst_iter *iter)
{
    for (unsigned i = 0; i < SST_KEPT_BLOCKS; i++) {
        if (iter->kept[i].block != NULL && iter->kept[i].offset < iter->block_offset)
            let_go(iter, &iter->kept[i].block);
    }
}

/* There is no current block any more. */
static void
leave_block(struct sst_iter *iter)
{
    if (iter->backwards) {
        keep_block(iter);
    } else {
        pass_block(iter);
    }
}

/* No cell any more, and nothing held: the end, or an error. */
static enum petal_status
end(struct sst_iter *iter, enum petal_status status)
{
    pass_block(iter);
    for (unsigned i = 0; iter->backwards && i < SST_KEPT_BLOCKS; i++)
        let_go(iter, &iter->kept[i].block);
    index_cursor_release(&iter->index);
    iter->iter.valid = false;
    iter->iter.pending = false;
    return status;
}

/* Is the block that the index names the current one? */
static bool
at_index(const struct sst_iter *iter)
{
    return has_block(iter) && iter->block_offset == index_cursor_place(&iter->index).handle.offset;
}

/* Make the block at `place` the current one, from the cache or the file. */
static enum petal_status
fetch_block(struct sst_iter *iter, struct index_place place, petal_error *error)
{
    const struct sst_file *file = &iter->reader->file;
    const struct read_context *context = &iter->context;
    bool may_be_private = context->ahead != NULL && !iter->backwards;
    struct cache_block *block = sst_file_find(file, place.handle, BLOCK_DATA, place.hint, context);
    enum petal_status status = PETAL_OK;

    assert(!has_block(iter)); /* or the interruption of the stay would have had to hold it */
    if (block == NULL)
        status = sst_file_load_data(file, place.handle, context,
                                    may_be_private ? &iter->private_block : NULL, &block, error);
    if (status != PETAL_OK)
        return status;
    if (block == NULL) {
        iter->in_private = true;
        return PETAL_OK;
    }
    if (iter->pins)
        cache_pin(block);
    if (iter->backwards)
        thin_kept(iter);
    iter->block = block;
    return PETAL_OK;
}

/* Attach the cursor to the current block, unpositioned. */
static enum petal_status
attach_block(struct sst_iter *iter, petal_error *error)
{
    const uint8_t *data = iter->in_private ? iter->private_block.bytes : iter->block->data;
    size_t size = iter->in_private ? iter->private_block.size : iter->block->size;

    return data_block_cursor_attach(&iter->cursor, data, size) == PETAL_OK ? PETAL_OK
                                                                           : error_no_memory(error);
}

/* Make the block that the index names the current one, unless it is: from those kept, or
 * fetched; attached, unpositioned. */
static enum petal_status
load_block(struct sst_iter *iter, petal_error *error)
{
    struct index_place place = index_cursor_place(&iter->index);
    struct sst_kept_block *kept = NULL;
    enum petal_status status = PETAL_OK;

    if (at_index(iter))
        return PETAL_OK;
    leave_block(iter);
    if (iter->backwards)
        kept = find_kept(iter, place.handle.offset);
    if (kept != NULL) {
        iter->block = kept->block;
        kept->block = NULL;
    } else {
        status = fetch_block(iter, place, error);
    }
    if (status != PETAL_OK)
        return status;
    iter->block_offset = place.handle.offset;
    return attach_block(iter, error);
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

/* Memory for a key and its parts; NULL: there is none. Keys of ordinary length need no
 * allocation: gets come here, too. */
static uint8_t *
place_memory(struct sst_iter *iter, size_t bytes)
{
    if (bytes <= sizeof iter->place_short)
        return iter->place_short;
    return mem_grow_array(iter->reader->file.source.env->allocator, &iter->place_memory,
                          &iter->place_capacity, 0, bytes, 1)
               ? iter->place_memory
               : NULL;
}

/* Take the place of the block that the index names from its key, and leave the block unread. */
static enum petal_status
stand_before_block(struct sst_iter *iter, petal_error *error)
{
    struct cell *cell = &iter->iter.cell;
    struct cell_key key;
    uint8_t *place;

    leave_block(iter);
    place = place_memory(iter, 2 * index_cursor_key_bytes(&iter->index));
    if (place == NULL)
        return error_no_memory(error);
    if (!index_cursor_key(&iter->index, place, &key)) {
        struct block_handle handle = index_cursor_place(&iter->index).handle;

        return error_corrupt(error, iter->reader->path, handle.offset,
                             "the index names the data block at offset %" PRIu64
                             " by bytes that are no cell key",
                             handle.offset);
    }
    cell->row = key.row;
    cell->qualifier = key.qualifier;
    cell->timestamp = key.timestamp;
    cell->sequence = key.sequence + iter->reader->file.sequence_shift;
    cell->type = key.family_class ? PETAL_DELETE_FAMILY : PETAL_PUT;
    cell->value = slice_make(NULL, 0);
    cell->has_ttl = false;
    cell->ttl_ms = 0;
    iter->iter.valid = true;
    iter->iter.pending = true;
    return PETAL_OK;
}

static enum petal_status
error_misplaced(const struct sst_iter *iter, petal_error *error)
{
    uint64_t offset = index_cursor_place(&iter->index).handle.offset;

    return error_corrupt(error, iter->reader->path, offset,
                         "the data block at offset %" PRIu64
                         " does not begin with the cell that the index names",
                         offset);
}

/* Who goes on from a cell must not come to it again: a file whose blocks are not in the order of
 * their cells is refused where a step from one to another shows it. */
static enum petal_status
error_out_of_order(const struct sst_iter *iter, uint64_t offset, petal_error *error)
{
    return error_corrupt(error, iter->reader->path, offset,
                         "the data block at offset %" PRIu64 " is out of order", offset);
}

/* Load the block that the iterator stands before, and stand at its first cell, which must be where
 * the index said. */
static enum petal_status
enter_block(struct sst_iter *iter, petal_error *error)
{
    struct cell place = iter->iter.cell;
    enum petal_status status = load_block(iter, error);

    if (status != PETAL_OK)
        return status;
    data_block_cursor_first(&iter->cursor, &iter->iter.cell);
    if (cell_compare(&place, &iter->iter.cell) != 0)
        return error_misplaced(iter, error);
    return at_cell(iter);
}

/* ---- moving, inside the epoch ---- */

/* To the first cell of the block that the index names.  It must lie after `last`, the cell at hand
 * (NULL: no matter). */
static enum petal_status
to_first_cell(struct sst_iter *iter, const struct cell *last, petal_error *error)
{
    uint64_t offset = index_cursor_place(&iter->index).handle.offset;
    bool held = iter->backwards && (at_index(iter) || find_kept(iter, offset) != NULL);
    enum petal_status status = stand_before_block(iter, error);

    if (status == PETAL_OK && last != NULL && cell_compare(last, &iter->iter.cell) >= 0)
        return error_out_of_order(iter, offset, error);
    return status == PETAL_OK && (!iter->lazy || held) ? enter_block(iter, error) : status;
}

static enum petal_status
no_cell(struct sst_iter *iter)
{
    iter->iter.valid = false;
    iter->iter.pending = false;
    return PETAL_OK;
}

/* To the first cell of the following block; `last` as for to_first_cell. */
static enum petal_status
next_block(struct sst_iter *iter, const struct cell *last, petal_error *error)
{
    enum petal_status status;

    if (iter->backwards && index_cursor_at_last(&iter->index))
        return no_cell(iter);
    status = index_cursor_next(&iter->index, &iter->context, error);
    if (status != PETAL_OK || !index_cursor_valid(&iter->index))
        return end(iter, status);
    return to_first_cell(iter, last, error);
}

/* From the last cell of its block. */
static enum petal_status
step_to_next_block(struct sst_iter *iter, petal_error *error)
{
    struct cell last = iter->iter.cell;

    return next_block(iter, &last, error);
}

/*
 * The key as the index knows it, whose sequences are those that stand in the file: *own, made in
 * memory for places, where they are others to readers. NULL: no memory. No cell of such a file has
 * the sequence 0, so it sorts after all of them for a sequence below all that they are to readers.
 */
static const struct cell_key *
key_in_index(struct sst_iter *iter, const struct cell_key *key, struct cell_key *own)
{
    uint64_t shift = iter->reader->file.sequence_shift;
    size_t size = key->encoded.size;
    uint8_t *bytes;

    if (shift == 0)
        return key;
    assert(size > CELL_KEY_SUFFIX_BYTES);
    bytes = place_memory(iter, size);
    if (bytes == NULL)
        return NULL;
    *own = *key;
    own->sequence = key->sequence > shift ? key->sequence - shift : 0;
    memcpy(bytes, key->encoded.data, size);
    put_be64(bytes + size - 8, ~own->sequence);
    own->encoded = slice_make(bytes, size);
    return own;
}

static enum petal_status
seek_inside(struct sst_iter *iter, const struct cell_key *key, petal_error *error)
{
    const struct cell_key *in_index;
    struct cell_key own;
    bool before;
    enum petal_status status;

    /* After a cell of its block a place is certain; the first one may have others before it, in
     * another block. */
    if (iter->backwards && has_block(iter) &&
        data_block_cursor_seek(&iter->cursor, key, &iter->iter.cell) && iter->cursor.cell > 0)
        return at_cell(iter);
    in_index = key_in_index(iter, key, &own);
    if (in_index == NULL)
        return error_no_memory(error);
    status = index_cursor_seek(&iter->index, in_index, &iter->context, &before, error);
    if (status != PETAL_OK)
        return status;
    if (!before) {
        status = load_block(iter, error);
        if (status != PETAL_OK)
            return status;
        if (data_block_cursor_seek(&iter->cursor, key, &iter->iter.cell))
            return at_cell(iter);
    }
    status = before ? to_first_cell(iter, NULL, error) : next_block(iter, NULL, error);
    if (status == PETAL_OK && iter->iter.valid && cell_compare_key(&iter->iter.cell, key) < 0)
        return error_out_of_order(iter, index_cursor_place(&iter->index).handle.offset, error);
    return status;
}

static enum petal_status
first_inside(struct sst_iter *iter, petal_error *error)
{
    enum petal_status status = index_cursor_first(&iter->index, &iter->context, error);

    return status == PETAL_OK ? to_first_cell(iter, NULL, error) : status;
}

static enum petal_status
seek_before_inside(struct sst_iter *iter, const struct cell_key *key, petal_error *error)
{
    struct cell *cell = &iter->iter.cell;
    const struct cell_key *in_index = NULL;
    struct cell_key own;
    bool found;
    enum petal_status status;

    /* Before a cell of its block a place is certain; the last one may have others after it, in
     * another block. */
    if (key != NULL && has_block(iter) && data_block_cursor_seek_before(&iter->cursor, key, cell) &&
        iter->cursor.cell + 1 < iter->cursor.block.cells)
        return at_cell(iter);
    if (key != NULL) {
        in_index = key_in_index(iter, key, &own);
        if (in_index == NULL)
            return error_no_memory(error);
    }
    status = index_cursor_seek_before(&iter->index, key != NULL ? &in_index->encoded : NULL,
                                      &iter->context, &found, error);
    if (status != PETAL_OK)
        return status;
    if (!found)
        return no_cell(iter);
    status = load_block(iter, error);
    if (status != PETAL_OK)
        return status;
    forget_other_ways(iter);
    if (key == NULL) {
        data_block_cursor_last(&iter->cursor, cell);
        return at_cell(iter);
    }
    if (!data_block_cursor_seek_before(&iter->cursor, key, cell))
        return error_misplaced(iter, error);
    return at_cell(iter);
}

static enum petal_status
load_and_step(struct sst_iter *iter, petal_error *error)
{
    enum petal_status status = enter_block(iter, error);

    if (status != PETAL_OK)
        return status;
    if (data_block_cursor_next(&iter->cursor, &iter->iter.cell))
        return at_cell(iter);
    return step_to_next_block(iter, error);
}

/* ---- the iterator's operations ---- */

static void
enter(struct sst_iter *iter)
{
    if (!iter->borrow)
        iter->stay.slot = epoch_enter(iter->stay.epoch);
}

/* Leave the epoch; after an error nothing is held. */
static enum petal_status
leave(struct sst_iter *iter, enum petal_status status)
{
    if (status != PETAL_OK)
        end(iter, status);
    if (!iter->borrow)
        epoch_leave(iter->stay.epoch, iter->stay.slot);
    return status;
}

/* ---- reversed scans ---- */

/* Is it the place where the row begins that the cursor stands in? */
static bool
begins_row_at_hand(const struct sst_iter *iter, const struct cell_key *key)
{
    return key != NULL && has_block(iter) && iter->cursor.cell < iter->cursor.block.cells &&
           key->family_class && key->timestamp == INT64_MAX && key->sequence == CELL_SEQUENCE_MAX &&
           slice_equal(key->row, iter->iter.cell.row);
}

/* To the beginning of the row at hand, where it is certain: after a cell of its block. */
static bool
stay_in_row(struct sst_iter *iter, const struct cell_key *key)
{
    const struct data_block_cursor *cursor = &iter->cursor;
    bool moves;

    if (!iter->reversed || !iter->backwards || !begins_row_at_hand(iter, key))
        return false;
    moves = cursor->cell > cursor->row_first;
    if (moves)
        data_block_cursor_back(&iter->cursor, cursor->cell - cursor->row_first, &iter->iter.cell);
    if (cursor->cell == 0)
        return false;
    iter->iter.valid = true;
    iter->context.trace->cells_read += moves;
    return true;
}

/* From a row at hand to the cell before it, if that is in the block. */
static bool
step_before_row(struct sst_iter *iter, const struct cell_key *key)
{
    const struct data_block_cursor *cursor = &iter->cursor;

    if (!iter->reversed || !iter->backwards || !begins_row_at_hand(iter, key) || cursor->row == 0)
        return false;
    data_block_cursor_back(&iter->cursor, cursor->cell - cursor->row_first + 1, &iter->iter.cell);
    at_cell(iter);
    return true;
}

static void
note_last(struct sst_iter *iter)
{
    iter->last_offset = iter->block_offset;
    iter->last_cell = iter->iter.valid ? iter->cursor.cell : UINT32_MAX;
    iter->ends_there = false;
}

/* A seek was done: has it gone to or before the cell that seek_before found? */
static void
note_end(struct sst_iter *iter)
{
    iter->ends_there =
        iter->reversed && iter->backwards && iter->iter.valid && !iter->iter.pending &&
        (iter->block_offset != iter->last_offset ? iter->block_offset < iter->last_offset
                                                 : iter->cursor.cell <= iter->last_cell);
}

static bool
at_end_of_row(const struct sst_iter *iter)
{
    return iter->ends_there && iter->cursor.cell == iter->last_cell &&
           iter->block_offset == iter->last_offset;
}

static enum petal_status
sst_iter_seek(struct cell_iter *base, const struct cell_key *key, petal_error *error)
{
    struct sst_iter *iter = (struct sst_iter *)base;
    enum petal_status status = PETAL_OK;

    if (iter->first != NULL && slice_compare(key->encoded, iter->first->encoded) < 0)
        key = iter->first;
    iter->context.trace->seeks++;
    if (!stay_in_row(iter, key)) {
        enter(iter);
        status = leave(iter, seek_inside(iter, key, error));
    }
    note_end(iter);
    return status;
}

static enum petal_status
sst_iter_seek_first(struct cell_iter *base, petal_error *error)
{
    struct sst_iter *iter = (struct sst_iter *)base;

    iter->ends_there = false;
    enter(iter);
    iter->context.trace->seeks++;
    return leave(iter, iter->first != NULL ? seek_inside(iter, iter->first, error)
                                           : first_inside(iter, error));
}

static enum petal_status
sst_iter_seek_before(struct cell_iter *base, const struct cell_key *key, petal_error *error)
{
    struct sst_iter *iter = (struct sst_iter *)base;
    enum petal_status status = PETAL_OK;

    iter->context.trace->seeks++;
    if (!step_before_row(iter, key)) {
        enter(iter);
        iter->backwards = true;
        status = leave(iter, seek_before_inside(iter, key, error));
    }
    if (iter->first != NULL && base->valid && cell_compare_key(&base->cell, iter->first) < 0)
        no_cell(iter);
    note_last(iter);
    return status;
}

static enum petal_status
sst_iter_next(struct cell_iter *base, petal_error *error)
{
    struct sst_iter *iter = (struct sst_iter *)base;

    assert(base->valid);
    if (!base->pending && at_end_of_row(iter))
        return no_cell(iter);
    if (!base->pending && data_block_cursor_next(&iter->cursor, &base->cell)) {
        iter->context.trace->cells_read++;
        return PETAL_OK;
    }
    enter(iter);
    return leave(iter,
                 base->pending ? load_and_step(iter, error) : step_to_next_block(iter, error));
}

static bool
sst_iter_step(struct cell_iter *base)
{
    struct sst_iter *iter = (struct sst_iter *)base;

    assert(base->valid && !base->pending);
    if (iter->cursor.cell + 1 == iter->cursor.block.cells)
        return false;
    data_block_cursor_next(&iter->cursor, &base->cell);
    iter->context.trace->cells_read++;
    return true;
}

/* The facts of the block say of all its cells at once what has to be asked of each one otherwise:
 * are they within the run's limits? */
static bool
block_fits(const struct data_block *block, const struct cell_run *run)
{
    return data_block_is_plain(block) && block->sequence_max <= run->read_point &&
           block->timestamp_min >= run->time_min && block->timestamp_max < run->time_limit;
}

static size_t
sst_iter_take_run(struct cell_iter *base, struct cell_run *run)
{
    struct sst_iter *iter = (struct sst_iter *)base;
    const struct data_block *block = &iter->cursor.block;
    size_t count;

    assert(base->valid && !base->pending);
    if (!block_fits(block, run) ||
        (run->before.size > 0 && !data_block_ends_before(block, run->before)))
        return 0;
    count = data_block_cursor_run(&iter->cursor, run, &base->cell);
    iter->context.trace->cells_read += count > 0 ? count - 1 : 0;
    return count;
}

static size_t
sst_iter_plain_in_row(const struct cell_iter *base, const struct cell_run *run)
{
    const struct sst_iter *iter = (const struct sst_iter *)base;
    const struct data_block *block = &iter->cursor.block;

    assert(base->valid && !base->pending);
    if (!block_fits(block, run))
        return 0;
    return iter->cursor.row_end - iter->cursor.cell;
}

static void
sst_iter_go_back(struct cell_iter *base, size_t back, const petal_cell *cell)
{
    struct sst_iter *iter = (struct sst_iter *)base;

    (void)cell;
    assert(base->valid && !base->pending);
    data_block_cursor_back(&iter->cursor, back, &base->cell);
    iter->context.trace->cells_read -= back;
}

static enum petal_status
sst_iter_next_kept(struct cell_iter *base, bool *stepped, petal_error *error)
{
    struct sst_iter *iter = (struct sst_iter *)base;
    enum petal_status status;

    *stepped = iter->passed == NULL && iter->pins && !iter->in_private && !iter->backwards;
    if (!*stepped)
        return PETAL_OK;
    iter->keeps_passed = true;
    status = sst_iter_next(base, error);
    iter->keeps_passed = false;
    return status;
}

static void
sst_iter_forget(struct cell_iter *base)
{
    struct sst_iter *iter = (struct sst_iter *)base;

    let_go(iter, &iter->passed);
}

static enum petal_status
sst_iter_load(struct cell_iter *base, petal_error *error)
{
    struct sst_iter *iter = (struct sst_iter *)base;

    assert(base->valid && base->pending);
    enter(iter);
    return leave(iter, enter_block(iter, error));
}

static void
sst_iter_close(struct cell_iter *base)
{
    struct sst_iter *iter = (struct sst_iter *)base;

    end(iter, PETAL_OK);
    let_go(iter, &iter->passed);
    data_block_cursor_fini(&iter->cursor);
    readahead_fini(&iter->ahead, iter->reader->file.source.env->allocator);
    sst_private_block_free(&iter->private_block, iter->reader->file.source.env->allocator);
    if (iter->place_memory != NULL)
        mem_free(iter->reader->file.source.env->allocator, iter->place_memory,
                 iter->place_capacity);
    iter->place_memory = NULL;
    iter->place_capacity = 0;
}

static const struct cell_iter_ops sst_iter_ops = {.seek = sst_iter_seek,
                                                  .seek_first = sst_iter_seek_first,
                                                  .seek_before = sst_iter_seek_before,
                                                  .next = sst_iter_next,
                                                  .step = sst_iter_step,
                                                  .take_run = sst_iter_take_run,
                                                  .go_back = sst_iter_go_back,
                                                  .plain_in_row = sst_iter_plain_in_row,
                                                  .next_kept = sst_iter_next_kept,
                                                  .forget = sst_iter_forget,
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
    iter->pins = !borrow;
    if (!borrow) {
        iter->stay = (struct epoch_stay){.epoch = reader->epoch};
        iter->context.stay = &iter->stay;
        iter->context.ahead = &iter->ahead;
    }
    iter->lazy = lazy;
    iter->reversed = false;
    iter->first = NULL;
    iter->backwards = false;
    iter->ends_there = false;
    iter->block = NULL;
    iter->passed = NULL;
    iter->keeps_passed = false;
    iter->in_private = false;
    iter->private_block = (struct sst_private_block){0};
    readahead_init(&iter->ahead, reader->file.readahead_limit, context->whole_file);
    for (unsigned i = 0; i < SST_KEPT_BLOCKS; i++)
        iter->kept[i].block = NULL;
    iter->place_memory = NULL;
    iter->place_capacity = 0;
    index_cursor_init(&iter->index, &reader->index, !borrow);
    data_block_cursor_init(&iter->cursor, reader->file.source.env->allocator);
}

void
sst_iter_hold(struct sst_iter *iter)
{
    if (iter->pins)
        return;
    iter->pins = true;
    if (iter->block != NULL)
        cache_pin(iter->block);
    for (unsigned i = 0; i < SST_KEPT_BLOCKS; i++) {
        if (iter->kept[i].block != NULL)
            cache_pin(iter->kept[i].block);
    }
    index_cursor_hold(&iter->index);
}
