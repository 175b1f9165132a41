/* cells.c -- see cells.h. */
#include "tools/hfile/format/cells.h"

#include "tools/hfile/format/memory.h"

#define LEAST_CAPACITY 512

void
hfile_cells_init(struct hfile_cells *cells, const petal_allocator *allocator)
{
    *cells = (struct hfile_cells){.allocator = allocator};
    hfile_buffer_init(&cells->keys, allocator);
    hfile_tag_dictionary_init(&cells->dictionary, allocator);
}

void
hfile_cells_free(struct hfile_cells *cells)
{
    hfile_release(cells->allocator, cells->cells, cells->capacity * sizeof *cells->cells);
    hfile_buffer_free(&cells->keys);
    hfile_tag_dictionary_free(&cells->dictionary);
    hfile_cells_init(cells, cells->allocator);
}

enum petal_status
hfile_cells_grow(struct hfile_cells *cells, const char **wrong)
{
    size_t capacity = cells->capacity == 0 ? LEAST_CAPACITY : cells->capacity * 2;
    petal_hfile_cell *grown;

    if (cells->count >= HFILE_MOST_CELLS_OF_BLOCK) {
        *wrong = "the block has more than a million cells";
        return PETAL_CORRUPT;
    }
    grown = hfile_allocate(cells->allocator, capacity * sizeof *grown);
    if (grown == NULL)
        return PETAL_NO_MEMORY;
    if (cells->count > 0)
        memcpy(grown, cells->cells, cells->count * sizeof *grown);
    hfile_release(cells->allocator, cells->cells, cells->capacity * sizeof *grown);
    cells->cells = grown;
    cells->capacity = capacity;
    return PETAL_OK;
}

static void
move_slice(petal_slice *slice, const uint8_t *from, const uint8_t *to)
{
    slice->data = to + (hfile_slice_bytes(*slice) - from);
}

bool
hfile_cells_grow_keys(struct hfile_cells *cells, size_t size)
{
    struct hfile_buffer grown;

    hfile_buffer_init(&grown, cells->allocator);
    if (!hfile_buffer_reserve(&grown, cells->keys.capacity + cells->keys.capacity / 2 + size))
        return false;
    hfile_buffer_append_slice(&grown, hfile_buffer_slice(&cells->keys));
    for (size_t i = 0; i < cells->count; i++) {
        petal_hfile_cell *cell = &cells->cells[i];

        move_slice(&cell->row, cells->keys.bytes, grown.bytes);
        move_slice(&cell->family, cells->keys.bytes, grown.bytes);
        move_slice(&cell->qualifier, cells->keys.bytes, grown.bytes);
        if (cells->has_tags_in_keys && cell->tags.size > 0)
            move_slice(&cell->tags, cells->keys.bytes, grown.bytes);
    }
    hfile_buffer_free(&cells->keys);
    cells->keys = grown;
    return true;
}
