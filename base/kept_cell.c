/* kept_cell.c -- see kept_cell.h. */
#include "base/kept_cell.h"

bool
kept_cell_keep(struct kept_cell *kept, const petal_allocator *allocator, const struct cell *cell)
{
    size_t row = cell->row.size, qualifier = cell->qualifier.size;

    if (!mem_grow_array(allocator, &kept->memory, &kept->capacity, 0, row + qualifier, 1))
        return false;
    if (row > 0)
        memcpy(kept->memory, cell->row.data, row);
    if (qualifier > 0)
        memcpy(kept->memory + row, cell->qualifier.data, qualifier);
    kept->cell = *cell;
    kept->cell.row = slice_make(kept->memory, row);
    kept->cell.qualifier = slice_make(qualifier > 0 ? kept->memory + row : NULL, qualifier);
    kept->cell.value = slice_make(NULL, 0);
    kept->is_kept = true;
    return true;
}

void
kept_cell_fini(struct kept_cell *kept, const petal_allocator *allocator)
{
    mem_free(allocator, kept->memory, kept->capacity);
    *kept = (struct kept_cell){.is_kept = false};
}
