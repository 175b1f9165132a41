/* above.c -- see above.h. */
#include "engine/write/above.h"

#include "engine/read/newest.h"
#include "engine/state/db.h"

#include <assert.h>
#include <stdlib.h>

/* Is it about all columns? */
static bool
is_of_row(const struct write_cell *write)
{
    return cell_is_family_marker(write->cell.type);
}

static void
raise(struct write_cell *write, int64_t least)
{
    if (write->least_timestamp < least)
        write->least_timestamp = least;
}

static enum petal_status
look_at_row(struct write_cell *write, int64_t clock, bool always, petal_error *error)
{
    int64_t most = write->of_keys ? PETAL_LATEST - 1 : family_newest(write->family, false);
    int64_t newest = NEWEST_NONE;
    struct newest_question question = {.family = write->family,
                                       .row = write->cell.row,
                                       .row_hash = write->row_hash,
                                       .qualifier = write->cell.qualifier,
                                       .whole_row = is_of_row(write),
                                       .time_min = always ? clock : clock + 1,
                                       .time_max = most};
    enum petal_status status = PETAL_OK;

    if (question.time_min <= most)
        status = read_newest(&question, &newest, error);
    if (status != PETAL_OK)
        return status;
    write->looked = true;
    /* The leader's clock may have been set back since. */
    raise(write, clock);
    /* No cell can lie at PETAL_LATEST; there the later write wins. */
    if (newest != NEWEST_NONE)
        raise(write, newest < PETAL_LATEST - 1 ? newest + 1 : newest);
    return PETAL_OK;
}

/* ---- deletions of rows ---- */

static int
compare_rows(const struct write_cell *a, const struct write_cell *b)
{
    if (a->family != b->family)
        return (uintptr_t)a->family < (uintptr_t)b->family ? -1 : 1;
    if (a->row_hash != b->row_hash)
        return a->row_hash < b->row_hash ? -1 : 1;
    return slice_compare(a->cell.row, b->cell.row);
}

/* Those of one row in the order of the write. */
static int
compare_cells(const void *left, const void *right)
{
    const struct write_cell *a = *(struct write_cell *const *)left;
    const struct write_cell *b = *(struct write_cell *const *)right;
    int order = compare_rows(a, b);

    return order != 0 ? order : (a > b) - (a < b);
}

/* A cell after the deletion of its row in the same write is not hidden by it. */
static enum petal_status
follow_deletions(petal_db *db, struct write_cell *cells, size_t count, petal_error *error)
{
    const petal_allocator *allocator = db->env.allocator;
    struct write_cell **order = mem_alloc(allocator, count * sizeof(struct write_cell *));
    int64_t least = 0;

    if (order == NULL)
        return error_no_memory(error);
    for (size_t i = 0; i < count; i++)
        order[i] = &cells[i];
    qsort(order, count, sizeof(struct write_cell *), compare_cells);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_rows(order[i - 1], order[i]) != 0)
            least = 0;
        if (order[i]->assigned && !order[i]->resolved)
            raise(order[i], least);
        if (is_of_row(order[i]) && order[i]->looked && order[i]->least_timestamp > least)
            least = order[i]->least_timestamp;
    }
    mem_free(allocator, order, count * sizeof(struct write_cell *));
    return PETAL_OK;
}

enum petal_status
above_look(petal_db *db, struct write_cell *cells, size_t count, bool always, petal_error *error)
{
    int64_t stamped = atomic_load_explicit(&db->views.published_timestamp, memory_order_acquire);
    int64_t clock = 0;
    bool deletions = false;
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < count; i++) {
        struct write_cell *write = &cells[i];

        if (!write->assigned || write->resolved || (!always && !above_is_asked(write, stamped)))
            continue;
        if (clock == 0) {
            clock = env_clock_ms(&db->env);
            clock = clock > stamped ? clock : stamped;
        }
        status = look_at_row(write, clock, always, error);
        deletions = deletions || (is_of_row(write) && write->least_timestamp > clock);
    }
    return status == PETAL_OK && deletions && count > 1 ? follow_deletions(db, cells, count, error)
                                                        : status;
}
