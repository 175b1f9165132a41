/* multi_get.c -- several rows as of one moment. */
#include "engine/read/cursor.h"
#include "engine/read/get.h"
#include "engine/read/result.h"
#include "engine/read/straight_batch.h"

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

/* What one call reads, as of one moment. */
struct multi_get {
    petal_table *table;
    const petal_slice *rows;
    petal_result *const *results;
    size_t count;
    petal_read_options options;
    struct get_moment moment;  /* its view NULL: not yet pinned */
    struct wanted_row *wanted; /* what the pipeline left; room for `count`, NULL before the first */
    size_t wanted_count;
    petal_error *error;
};

/* ---- what is in memory, by the straight way ---- */

static enum petal_status
leave_for_later(struct multi_get *gets, size_t first, uint32_t declined)
{
    const petal_allocator *allocator = gets->table->db->env.allocator;

    if (declined != 0 && gets->wanted == NULL)
        gets->wanted = mem_alloc(allocator, gets->count * sizeof *gets->wanted);
    if (declined != 0 && gets->wanted == NULL)
        return error_no_memory(gets->error);
    for (size_t i = first; declined != 0; i++, declined >>= 1) {
        if ((declined & 1) != 0)
            gets->wanted[gets->wanted_count++] =
                (struct wanted_row){gets->rows[i], gets->results[i]};
    }
    return PETAL_OK;
}

/* In stays of one batch of rows each. */
static enum petal_status
get_cached(struct multi_get *gets)
{
    petal_db *db = gets->table->db;
    const petal_column *column = gets->options.columns;
    const petal_snapshot *snapshot = gets->options.snapshot;
    struct straight_question question = {column->family, column->qualifier,
                                         gets->options.keep_out_of_cache};
    enum petal_status status = PETAL_OK;
    struct read_point point;

    read_begin(db, &point);
    if (snapshot != NULL)
        point.sequence = snapshot_sequence(snapshot);
    for (size_t i = 0, batch; status == PETAL_OK && i < gets->count; i += batch) {
        batch = gets->count - i < STRAIGHT_BATCH ? gets->count - i : STRAIGHT_BATCH;
        status = leave_for_later(
            gets, i,
            straight_batch_get(&question, &point, gets->rows + i, batch, gets->results + i));
        if (gets->moment.pin.view == NULL && (gets->wanted_count > 0 || i + batch < gets->count)) {
            view_ref(point.view);
            gets->moment.pin = (struct read_pin){point.view, point.sequence};
        }
        if (i + batch < gets->count) {
            read_end(db, &point);
            read_begin_pinned(db, &gets->moment.pin, &point);
        }
    }
    read_end(db, &point);
    return status;
}

/* ---- the others, one by one in the order of the rows: those of one block follow each other
 * ---- */

/* From one view. *walk: it cannot be done so, since rows have to be walked through. */
static enum petal_status
get_pinned(struct multi_get *gets, bool *walk)
{
    enum petal_status status = PETAL_OK;

    gets->moment.descriptor = table_descriptor(gets->table);
    assert(gets->moment.pin.view != NULL);
    for (size_t i = 0; status == PETAL_OK && !*walk && i < gets->wanted_count; i++) {
        const struct wanted_row *wanted = &gets->wanted[i];

        status = read_check_row(wanted->row, gets->error);
        if (status == PETAL_OK)
            status = get_row(gets->table, &gets->moment, wanted->row, &gets->options,
                             wanted->result, walk, gets->error);
    }
    return status;
}

/* As of a snapshot: a cursor, by which a row is walked through, pins a view of its own. */
static enum petal_status
get_at_snapshot(struct multi_get *gets)
{
    petal_table *table = gets->table;
    petal_read_options *options = &gets->options;
    petal_snapshot *snapshot = NULL;
    enum petal_status status = PETAL_OK;

    if (options->snapshot == NULL) {
        status = petal_snapshot_new(table->db, &snapshot, gets->error);
        options->snapshot = snapshot;
    }
    for (size_t i = 0; status == PETAL_OK && i < gets->wanted_count; i++) {
        const struct wanted_row *wanted = &gets->wanted[i];
        bool walk = false;

        status = read_check_row(wanted->row, gets->error);
        if (status == PETAL_OK)
            status = get_row(table, NULL, wanted->row, options, wanted->result, &walk, gets->error);
        if (status == PETAL_OK && walk)
            status = cursor_get_row(table, wanted->row, options, wanted->result, gets->error);
    }
    petal_snapshot_free(snapshot);
    return status;
}

static enum petal_status
want_all(struct multi_get *gets)
{
    gets->wanted_count = 0;
    if (gets->wanted == NULL)
        gets->wanted =
            mem_alloc(gets->table->db->env.allocator, gets->count * sizeof *gets->wanted);
    if (gets->wanted == NULL)
        return error_no_memory(gets->error);
    for (size_t i = 0; i < gets->count; i++)
        gets->wanted[gets->wanted_count++] = (struct wanted_row){gets->rows[i], gets->results[i]};
    return PETAL_OK;
}

static void
sort_wanted(struct multi_get *gets)
{
    qsort(gets->wanted, gets->wanted_count, sizeof *gets->wanted, compare_wanted);
}

static enum petal_status
get_wanted(struct multi_get *gets)
{
    enum petal_status status;
    bool walk = false;

    sort_wanted(gets);
    if (gets->options.snapshot != NULL)
        return get_at_snapshot(gets);
    if (gets->moment.pin.view == NULL)
        gets->moment.pin = read_pin(gets->table->db);
    status = get_pinned(gets, &walk);
    if (status != PETAL_OK || !walk)
        return status;
    /* What was read already is of another moment than the snapshot will be. */
    status = want_all(gets);
    if (status != PETAL_OK)
        return status;
    sort_wanted(gets);
    return get_at_snapshot(gets);
}

static enum petal_status
get_all(struct multi_get *gets, const petal_read_options *given)
{
    enum petal_status status = get_options_init(&gets->options, gets->table, given, gets->error);

    if (status != PETAL_OK)
        return status;
    if (given != NULL && straight_allows(gets->table, given))
        status = get_cached(gets);
    else
        status = want_all(gets);
    if (status == PETAL_OK && gets->wanted_count > 0)
        status = get_wanted(gets);
    if (gets->moment.pin.view != NULL)
        view_unref(gets->moment.pin.view);
    mem_free(gets->table->db->env.allocator, gets->wanted, gets->count * sizeof *gets->wanted);
    return status;
}

enum petal_status
petal_multi_get(petal_table *table, const petal_slice *rows, size_t count,
                const petal_read_options *given, petal_result *const *results, petal_error *error)
{
    struct multi_get gets = {
        .table = table, .rows = rows, .results = results, .count = count, .error = error};
    enum petal_status status;

    for (size_t i = 0; i < count; i++)
        results[i]->count = 0;
    if (db_enter(table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    if (count == 0)
        return PETAL_OK;
    status = get_all(&gets, given);
    for (size_t i = 0; status != PETAL_OK && i < count; i++)
        results[i]->count = 0;
    return status;
}
