/* duplicates.c -- see duplicates.h. */
#include "engine/write/duplicates.h"

#include "base/mem.h"
#include "engine/state/db.h"

#include <assert.h>
#include <stdlib.h>

static int
compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* 0: one column, or the family markers of one row, and one type. */
static int
compare_columns(const struct write_cell *a, const struct write_cell *b)
{
    int order = compare_numbers((uintptr_t)a->family, (uintptr_t)b->family);

    /* Equal rows have equal hashes, so this is an order of rows as good as any. */
    if (order == 0)
        order = compare_numbers(a->row_hash, b->row_hash);
    if (order == 0)
        order = slice_compare(a->cell.row, b->cell.row);
    if (order == 0)
        order = slice_compare(a->cell.qualifier, b->cell.qualifier);
    return order != 0 ? order : compare_numbers(a->cell.type, b->cell.type);
}

static int
compare_cells(const void *left, const void *right)
{
    const struct write_cell *a = *(struct write_cell *const *)left;
    const struct write_cell *b = *(struct write_cell *const *)right;
    int order = compare_columns(a, b);

    if (order == 0)
        order = compare_numbers((uint64_t)a->cell.timestamp, (uint64_t)b->cell.timestamp);
    return order != 0 ? order : compare_numbers((uintptr_t)a, (uintptr_t)b);
}

void
duplicates_fini(struct duplicates *duplicates)
{
    if (duplicates->order == NULL)
        return;
    mem_free(duplicates->allocator, duplicates->order,
             duplicates->count * sizeof *duplicates->order);
    mem_free(duplicates->allocator, duplicates->kept, duplicates->count * sizeof *duplicates->kept);
    *duplicates = (struct duplicates){.allocator = duplicates->allocator};
}

enum petal_status
duplicates_init(struct duplicates *duplicates, struct write_cell *cells, size_t count,
                petal_error *error)
{
    const petal_allocator *allocator = cells[0].family->table->db->env.allocator;
    bool possible = false;

    assert(count > 0);
    *duplicates = (struct duplicates){.allocator = allocator, .count = count};
    duplicates->order = mem_alloc(allocator, count * sizeof *duplicates->order);
    if (duplicates->order == NULL)
        return error_no_memory(error);
    for (size_t i = 0; i < count; i++)
        duplicates->order[i] = &cells[i];
    qsort(duplicates->order, count, sizeof *duplicates->order, compare_cells);
    for (size_t i = 1; i < count && !possible; i++)
        possible = compare_columns(duplicates->order[i - 1], duplicates->order[i]) == 0;
    if (possible)
        duplicates->kept = mem_alloc(allocator, count * sizeof *duplicates->kept);
    if (duplicates->kept != NULL)
        return PETAL_OK;
    duplicates_fini(duplicates);
    return possible ? error_no_memory(error) : PETAL_OK;
}

void
duplicates_drop(struct duplicates *duplicates, struct write_cell **cells, size_t *count)
{
    struct write_cell **order = duplicates->order;
    size_t kept = 0;

    assert(order != NULL && duplicates->kept != NULL && *count == duplicates->count);
    qsort(order, *count, sizeof *order, compare_cells);
    for (size_t i = 0; i < *count; i++) {
        /* Marked by the sequence 0, which no cell has. */
        bool replaced = i + 1 < *count && compare_columns(order[i], order[i + 1]) == 0 &&
                        order[i]->cell.timestamp == order[i + 1]->cell.timestamp;

        order[i]->cell.sequence = replaced ? 0 : 1;
        /* The store has assigned the timestamp, whichever cell has it. */
        if (replaced)
            order[i + 1]->ahead = order[i + 1]->ahead || order[i]->ahead;
    }
    for (size_t i = 0; i < *count; i++) {
        if ((*cells)[i].cell.sequence != 0)
            duplicates->kept[kept++] = (*cells)[i];
    }
    assert(kept > 0 && kept <= *count); /* the last of any duplicates stays */
    *cells = duplicates->kept;
    *count = kept;
}
