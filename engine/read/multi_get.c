/* multi_get.c -- several rows as of one moment. */
#include "engine/read/cursor.h"
#include "engine/read/get.h"
#include "engine/read/result.h"

#include <assert.h>
#include <stdlib.h>

struct wanted_row {
    petal_slice row;
    petal_result *result;
};

static int
compare_wanted(const void *a, const void *b)
{
    return slice_compare(((const struct wanted_row *)a)->row, ((const struct wanted_row *)b)->row);
}

/* From one view. *walk: it cannot be done so, since rows have to be walked through. */
static enum petal_status
get_pinned(petal_table *table, const struct wanted_row *wanted, size_t count,
           const petal_read_options *options, bool *walk, petal_error *error)
{
    struct get_moment moment = {.pin = read_pin(table->db)};
    enum petal_status status = PETAL_OK;

    moment.descriptor = table_descriptor(table);
    assert(options->snapshot == NULL);
    for (size_t i = 0; status == PETAL_OK && !*walk && i < count; i++) {
        status = read_check_row(wanted[i].row, error);
        if (status == PETAL_OK)
            status = get_row(table, &moment, wanted[i].row, options, wanted[i].result, walk, error);
    }
    view_unref(moment.pin.view);
    return status;
}

/* One by one, as of a snapshot: a cursor, by which a row is walked through, pins a view of its
 * own. */
static enum petal_status
get_at_snapshot(petal_table *table, const struct wanted_row *wanted, size_t count,
                petal_read_options *options, petal_error *error)
{
    petal_snapshot *snapshot = NULL;
    enum petal_status status = PETAL_OK;

    if (options->snapshot == NULL) {
        status = petal_snapshot_new(table->db, &snapshot, error);
        options->snapshot = snapshot;
    }
    for (size_t i = 0; status == PETAL_OK && i < count; i++) {
        bool walk = false;

        status = read_check_row(wanted[i].row, error);
        if (status == PETAL_OK)
            status = get_row(table, NULL, wanted[i].row, options, wanted[i].result, &walk, error);
        if (status == PETAL_OK && walk)
            status = cursor_get_row(table, wanted[i].row, options, wanted[i].result, error);
    }
    petal_snapshot_free(snapshot);
    return status;
}

enum petal_status
petal_multi_get(petal_table *table, const petal_slice *rows, size_t count,
                const petal_read_options *given, petal_result *const *results, petal_error *error)
{
    petal_db *db = table->db;
    petal_read_options options;
    struct wanted_row *wanted;
    enum petal_status status;
    bool walk;

    for (size_t i = 0; i < count; i++)
        results[i]->count = 0;
    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    if (count == 0)
        return PETAL_OK;
    status = get_options_init(&options, table, given, error);
    if (status != PETAL_OK)
        return status;
    wanted = mem_alloc(db->env.allocator, count * sizeof *wanted);
    if (wanted == NULL)
        return error_no_memory(error);
    for (size_t i = 0; i < count; i++)
        wanted[i] = (struct wanted_row){rows[i], results[i]};
    /* In the order of the rows: those of one block follow each other. */
    qsort(wanted, count, sizeof *wanted, compare_wanted);
    walk = options.snapshot != NULL;
    if (!walk)
        status = get_pinned(table, wanted, count, &options, &walk, error);
    if (status == PETAL_OK && walk)
        status = get_at_snapshot(table, wanted, count, &options, error);
    for (size_t i = 0; status != PETAL_OK && i < count; i++)
        results[i]->count = 0;
    mem_free(db->env.allocator, wanted, count * sizeof *wanted);
    return status;
}
