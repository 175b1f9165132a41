/*
 * data_block.c -- any bytes as a data block, as they are and as a packed one: refused, or iterated
 * and searched within bounds.
 */
#include "sstable/data_block.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static volatile uint64_t sink;

static void
touch(petal_slice bytes)
{
    for (size_t i = 0; i < bytes.size; i++)
        sink = sink + slice_bytes(bytes)[i];
}

static void
touch_cell(const struct cell *cell)
{
    touch(cell->row);
    touch(cell->qualifier);
    touch(cell->value);
    sink = sink + (cell->has_ttl ? (uint64_t)cell->ttl_ms : 0);
}

/* Seek to the place of `cell`, and to places beside it. */
static void
seek_around(struct data_block_cursor *seeker, const struct cell *cell)
{
    uint8_t *buffer = malloc(cell_key_bound(cell->row.size, cell->qualifier.size));

    for (unsigned beside = 0; buffer != NULL && beside < 4; beside++) {
        struct cell_key key;
        struct cell found;

        cell_key_make(
            &key, buffer,
            slice_make(cell->row.data, cell->row.size - (cell->row.size > 1 && beside == 1)),
            cell->qualifier, beside == 2, cell->timestamp, cell->sequence + (beside == 3));
        if (data_block_cursor_seek(seeker, &key, &found)) {
            touch_cell(&found);
            if (data_block_cursor_next(seeker, &found))
                touch_cell(&found);
        }
        if (data_block_cursor_seek_before(seeker, &key, &found)) {
            touch_cell(&found);
            if (data_block_cursor_next(seeker, &found))
                touch_cell(&found);
        }
    }
    free(buffer);
}

static void
read_block(const uint8_t *bytes, size_t size)
{
    struct data_block block;
    struct data_block_cursor walker, seeker;
    struct cell cell;
    unsigned seeks = 0;

    if (!data_block_check(&block, bytes, size))
        return;
    data_block_cursor_init(&walker, &mem_default_allocator);
    data_block_cursor_init(&seeker, &mem_default_allocator);
    if (data_block_cursor_attach(&walker, bytes, size) == PETAL_OK &&
        data_block_cursor_attach(&seeker, bytes, size) == PETAL_OK) {
        data_block_cursor_first(&walker, &cell);
        do {
            touch_cell(&cell);
            if (seeks++ < 1000)
                seek_around(&seeker, &cell);
        } while (data_block_cursor_next(&walker, &cell));
    }
    data_block_cursor_fini(&walker);
    data_block_cursor_fini(&seeker);
}

/* The first two bytes say how long the block is that the others are to give. */
static void
read_packed(const uint8_t *input, size_t size)
{
    size_t raw = size < 2 ? 0 : input[0] | (size_t)input[1] << 8;
    uint8_t *bytes = raw == 0 ? NULL : malloc(raw);

    if (bytes != NULL && data_block_unpack(input + 2, size - 2, bytes, raw))
        read_block(bytes, raw);
    free(bytes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    uint8_t *bytes = malloc(size + (size == 0));

    if (bytes != NULL && size > 0)
        memcpy(bytes, input, size);
    if (bytes != NULL && data_block_unfold(bytes, size))
        read_block(bytes, size);
    free(bytes);
    read_packed(input, size);
    return 0;
}
