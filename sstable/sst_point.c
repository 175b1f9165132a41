/*
 * sst_point.c -- see sst_point.h.
 *
 * WHERE TO LOOK.  The index has the first cell key of each block.  What is sought is the end of all
 * keys of the column or row: the last entry below it is that of the last block that can hold one
 * of its cells.  All of them are in that block, unless it begins with one that is not the first;
 * then the block itself, or what the index claims that it begins, says so.
 */
#include "sstable/sst_point.h"

#include "base/inline.h"
#include "sstable/sst_reader_parts.h"

#include <assert.h>

/* Of the bytes that are sought; longer ones are declined. */
#define SOUGHT_BYTES 512

/* The block at `handle`, which is not in the cache, from the file. */
static NEVER_INLINE enum sst_point_answer
read_block(const struct sst_file *file, struct block_handle handle,
           const struct read_context *context, petal_slice *bytes)
{
    const struct sst_private_block *private_block = context->private_block;
    struct cache_block *block;

    assert(context->ahead == NULL);
    if (sst_file_load_data(file, handle, context, context->private_block, &block, NULL) != PETAL_OK)
        return context->only_cached ? SST_POINT_DECLINED : SST_POINT_FAILED;
    *bytes = block != NULL ? slice_make(block->data, block->size)
                           : slice_make(private_block->bytes, private_block->size);
    return SST_POINT_FOUND;
}

/* The bytes of the block below the end of a group of keys; ABSENT where there is none.  *begins:
 * see block_handle. */
static ALWAYS_INLINE enum sst_point_answer
find_block(const struct sst_reader *reader, petal_slice end, const struct read_context *context,
           petal_slice *bytes, uint32_t *begins)
{
    const struct cache_block *block;
    struct index_place place;
    bool found;

    context->trace->seeks++;
    if (index_tree_find(&reader->index, end, context, &place, &found, NULL) != PETAL_OK)
        return SST_POINT_FAILED;
    if (!found)
        return SST_POINT_ABSENT;
    *begins = place.handle.begins;
    block = sst_file_find(&reader->file, place.handle, BLOCK_DATA, place.hint, context);
    if (block == NULL)
        return read_block(&reader->file, place.handle, context, bytes);
    *bytes = slice_make(block->data, block->size);
    return SST_POINT_FOUND;
}

static ALWAYS_INLINE enum sst_point_answer
answer_of(enum data_block_answer answer, const struct read_context *context)
{
    switch (answer) {
    case DATA_BLOCK_HAS:
        context->trace->cells_read++;
        return SST_POINT_FOUND;
    case DATA_BLOCK_LACKS:
        return SST_POINT_ABSENT;
    case DATA_BLOCK_UNTOLD:
        break;
    }
    return SST_POINT_DECLINED;
}

enum sst_point_answer
sst_point_find(const struct sst_reader *reader, const struct data_block_column *column,
               const struct read_context *context, struct data_block_put *put)
{
    uint8_t sought[SOUGHT_BYTES];
    petal_slice block;
    enum sst_point_answer answer;
    uint32_t begins;
    size_t size;

    assert(column->row.size > 0);
    if (cell_key_bound(column->row.size, column->qualifier.size) > sizeof sought)
        return SST_POINT_DECLINED;
    size = cell_column_end(sought, column->row, column->qualifier);
    answer = find_block(reader, slice_make(sought, size), context, &block, &begins);
    if (answer != SST_POINT_FOUND)
        return answer;
    return answer_of(data_block_find_put(slice_bytes(block), block.size, column,
                                         (begins & BLOCK_BEGINS_COLUMN) != 0, put),
                     context);
}

/* ---- by steps ---- */

enum sst_point_answer
sst_point_search_begin(struct sst_point_search *search, const struct sst_reader *reader,
                       const struct data_block_column *column, const struct read_context *context)
{
    assert(column->row.size > 0);
    if (cell_key_bound(column->row.size, column->qualifier.size) > sizeof search->sought)
        return SST_POINT_DECLINED;
    context->trace->seeks++;
    search->reader = reader;
    search->column = column;
    search->sought_bytes = cell_column_end(search->sought, column->row, column->qualifier);
    return index_descent_begin(&search->descent, &reader->index,
                               slice_make(search->sought, search->sought_bytes))
               ? SST_POINT_FOUND
               : SST_POINT_ABSENT;
}

enum sst_point_answer
sst_point_search_enter(struct sst_point_search *search, const struct read_context *context)
{
    return index_descent_enter(&search->descent, &search->reader->index,
                               slice_make(search->sought, search->sought_bytes), context)
               ? SST_POINT_FOUND
               : SST_POINT_DECLINED;
}

enum sst_point_answer
sst_point_search_step(struct sst_point_search *search)
{
    return index_descent_step(&search->descent, &search->reader->index,
                              slice_make(search->sought, search->sought_bytes))
               ? SST_POINT_FOUND
               : SST_POINT_DECLINED;
}

enum sst_point_answer
sst_point_search_reach(struct sst_point_search *search, const struct read_context *context)
{
    const struct index_place *place = &search->descent.place;
    const struct cache_block *block = sst_file_find_loaded(&search->reader->file, place->handle,
                                                           BLOCK_DATA, place->hint, context);

    assert(search->descent.level == 0);
    search->block = block;
    if (block == NULL)
        return SST_POINT_DECLINED;
    search->located = data_block_locate_put(block->data, block->size, search->column);
    return SST_POINT_FOUND;
}

enum sst_point_answer
sst_point_search_end(const struct sst_point_search *search, const struct read_context *context,
                     struct data_block_put *put)
{
    const struct cache_block *block = search->block;
    bool begins = (search->descent.place.handle.begins & BLOCK_BEGINS_COLUMN) != 0;

    return answer_of(
        data_block_take_put(block->data, block->size, search->located, search->column, begins, put),
        context);
}

enum sst_point_answer
sst_point_find_row(const struct sst_reader *reader, petal_slice row, uint64_t sequence,
                   const struct read_context *context, struct data_block_run *run)
{
    uint8_t sought[SOUGHT_BYTES];
    petal_slice block;
    enum sst_point_answer answer;
    uint32_t begins;
    size_t size;

    assert(row.size > 0);
    if (cell_key_bound(row.size, 0) > sizeof sought)
        return SST_POINT_DECLINED;
    size = cell_row_end(sought, row);
    answer = find_block(reader, slice_make(sought, size), context, &block, &begins);
    if (answer != SST_POINT_FOUND)
        return answer;
    return answer_of(data_block_find_row(slice_bytes(block), block.size, row, sequence,
                                         (begins & BLOCK_BEGINS_ROW) != 0, run),
                     context);
}
