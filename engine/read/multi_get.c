/* multi_get.c -- see multi_get.h; and petal_multi_get, which is one piece. */
#include "engine/read/multi_get.h"

#include "base/argument.h"
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
    /* The piece at hand. */
    const petal_slice *rows;
    petal_result *const *results;
    size_t count;
    bool goes_on;              /* there are pieces behind it */
    struct wanted_row *wanted; /* what the pipeline left; NULL before the first */
    size_t wanted_count;
    /* All of them. */
    size_t piece_rows; /* at most */
    petal_read_options options;
    uint64_t deadline_us;     /* CLOCK_NEVER: none */
    bool straight;            /* the pipeline is tried */
    struct get_moment moment; /* its view NULL: not yet pinned; its descriptor likewise */
    petal_snapshot *snapshot; /* of its own, for rows that have to be walked through */
    petal_error *error;
};

/* ---- what is in memory, by the straight way ---- */

static enum petal_status
leave_for_later(struct multi_get *gets, size_t first, uint32_t declined)
{
    const petal_allocator *allocator = gets->table->db->env.allocator;

    if (declined != 0 && gets->wanted == NULL)
        gets->wanted = mem_alloc(allocator, gets->piece_rows * sizeof *gets->wanted);
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

    if (gets->moment.pin.view != NULL)
        read_begin_pinned(db, &gets->moment.pin, &point);
    else
        read_begin(db, &point);
    if (snapshot != NULL)
        point.sequence = snapshot_sequence(snapshot);
    for (size_t i = 0, batch; status == PETAL_OK && i < gets->count; i += batch) {
        batch = gets->count - i < STRAIGHT_BATCH ? gets->count - i : STRAIGHT_BATCH;
        status = leave_for_later(
            gets, i,
            straight_batch_get(&question, &point, gets->rows + i, batch, gets->results + i));
        if (gets->moment.pin.view == NULL &&
            (gets->wanted_count > 0 || gets->goes_on || i + batch < gets->count)) {
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

    if (gets->moment.descriptor == NULL)
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

/* Of the call's time the next row may take what is left. */
static enum petal_status
leave_time(struct multi_get *gets)
{
    uint64_t now = clock_us();

    if (now >= gets->deadline_us)
        return read_time_is_up(&gets->options, gets->error);
    gets->options.deadline_ms = (uint32_t)((gets->deadline_us - now + 999) / 1000);
    return PETAL_OK;
}

/* As of a snapshot: a cursor, by which a row is walked through, pins a view of its own. */
static enum petal_status
get_at_snapshot(struct multi_get *gets)
{
    petal_table *table = gets->table;
    petal_read_options *options = &gets->options;
    enum petal_status status = PETAL_OK;

    assert(options->snapshot != NULL);
    for (size_t i = 0; status == PETAL_OK && i < gets->wanted_count; i++) {
        const struct wanted_row *wanted = &gets->wanted[i];
        bool walk = false;

        status = read_check_row(wanted->row, gets->error);
        if (status == PETAL_OK && gets->deadline_us != CLOCK_NEVER)
            status = leave_time(gets);
        if (status == PETAL_OK)
            status = get_row(table, NULL, wanted->row, options, wanted->result, &walk, gets->error);
        if (status == PETAL_OK && walk)
            status = cursor_get_row(table, wanted->row, options, wanted->result, gets->error);
    }
    return status;
}

static enum petal_status
want_all(struct multi_get *gets)
{
    if (gets->wanted == NULL)
        gets->wanted =
            mem_alloc(gets->table->db->env.allocator, gets->piece_rows * sizeof *gets->wanted);
    if (gets->wanted == NULL)
        return error_no_memory(gets->error);
    for (size_t i = 0; i < gets->count; i++)
        gets->wanted[gets->wanted_count++] = (struct wanted_row){gets->rows[i], gets->results[i]};
    return PETAL_OK;
}

/* *walk as get_pinned says it. */
static enum petal_status
get_piece(struct multi_get *gets, bool *walk)
{
    enum petal_status status;

    gets->wanted_count = 0;
    status = gets->straight ? get_cached(gets) : want_all(gets);
    if (status != PETAL_OK || gets->wanted_count == 0)
        return status;
    qsort(gets->wanted, gets->wanted_count, sizeof *gets->wanted, compare_wanted);
    if (gets->options.snapshot != NULL)
        return get_at_snapshot(gets);
    if (gets->moment.pin.view == NULL)
        gets->moment.pin = read_pin(gets->table->db);
    return get_pinned(gets, walk);
}

/* ---- piece by piece ---- */

/* What was read already is of another moment than the snapshot is: all is read again. */
static enum petal_status
begin_walk(struct multi_get *gets)
{
    enum petal_status status;

    assert(gets->options.snapshot == NULL && gets->snapshot == NULL);
    status = petal_snapshot_new(gets->table->db, &gets->snapshot, gets->error);
    gets->options.snapshot = gets->snapshot;
    gets->straight = false;
    return status;
}

static enum petal_status
get_pieces(struct multi_get *gets, const petal_slice *rows, size_t count, multi_get_take *take,
           void *argument)
{
    enum petal_status status = PETAL_OK;

    for (size_t first = 0; status == PETAL_OK && first < count;) {
        size_t left = count - first;
        bool walk = false;

        gets->rows = rows + first;
        gets->goes_on = left > gets->piece_rows;
        gets->count = gets->goes_on ? gets->piece_rows : left;
        for (size_t i = 0; i < gets->count; i++)
            gets->results[i]->count = 0;
        status = get_piece(gets, &walk);
        if (status == PETAL_OK && walk) {
            status = begin_walk(gets);
            first = 0;
            continue;
        }
        if (status == PETAL_OK && take != NULL)
            status = take(argument, first, gets->results, gets->count, gets->error);
        first += gets->count;
    }
    return status;
}

enum petal_status
multi_get_pieces(petal_table *table, const petal_slice *rows, size_t count,
                 const petal_read_options *options, petal_result *const *results,
                 size_t result_count, multi_get_take *take, void *argument, petal_error *error)
{
    struct multi_get gets = {
        .table = table, .results = results, .piece_rows = result_count, .error = error};
    uint64_t began = clock_ns();
    enum petal_status status = get_options_init(&gets.options, table, options, error);

    assert(result_count > 0);
    gets.deadline_us = status == PETAL_OK && gets.options.deadline_ms > 0
                           ? clock_us() + (uint64_t)gets.options.deadline_ms * 1000
                           : CLOCK_NEVER;
    gets.straight = status == PETAL_OK && options != NULL && straight_allows(table, options);
    if (status == PETAL_OK)
        status = get_pieces(&gets, rows, count, take, argument);
    if (gets.moment.pin.view != NULL)
        view_unref(gets.moment.pin.view);
    petal_snapshot_free(gets.snapshot);
    mem_free(table->db->env.allocator, gets.wanted, gets.piece_rows * sizeof *gets.wanted);
    latency_end(&table->db->latencies, PETAL_LATENCY_MULTI_GET, began);
    return status;
}

/* ---- what the caller gave ---- */

static enum petal_status
empty_results(petal_result *const *results, size_t count, petal_error *error)
{
    size_t missing = count;

    RETURN_IF_NO_ARRAY(results, count, error);
    for (size_t i = count; i-- > 0;) {
        if (results[i] == NULL)
            missing = i;
        else
            results[i]->count = 0;
    }
    if (missing < count)
        return error_set(error, PETAL_INVALID, "results[%zu] is NULL", missing);
    return PETAL_OK;
}

static enum petal_status
check_rows(const petal_slice *rows, size_t count, petal_error *error)
{
    RETURN_IF_NO_ARRAY(rows, count, error);
    for (size_t i = 0; i < count; i++) {
        if (slice_lacks_bytes(rows[i]))
            return error_set(error, PETAL_INVALID,
                             "rows[%zu] has a size of %zu, but its data is NULL", i, rows[i].size);
    }
    return PETAL_OK;
}

enum petal_status
petal_multi_get(petal_table *table, const petal_slice *rows, size_t count,
                const petal_read_options *given, petal_result *const *results, petal_error *error)
{
    enum petal_status status = empty_results(results, count, error);

    if (status != PETAL_OK)
        return status;
    RETURN_IF_NULL(table, error);
    status = check_rows(rows, count, error);
    if (status != PETAL_OK)
        return status;
    if (db_enter(table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    if (count == 0)
        return PETAL_OK;
    status = multi_get_pieces(table, rows, count, given, results, count, NULL, NULL, error);
    for (size_t i = 0; status != PETAL_OK && i < count; i++)
        results[i]->count = 0;
    return status;
}
