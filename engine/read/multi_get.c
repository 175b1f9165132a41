/* multi_get.c -- see multi_get.h; and petal_multi_get, which is one piece. */
#include "engine/read/multi_get.h"

#include "base/argument.h"
#include "engine/read/cursor.h"
#include "engine/read/fast_batch.h"
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

/* What one call reads, as of one moment. */
struct multi_get {
    petal_table *table;
    /* The piece at hand. */
    const petal_slice *rows;
    petal_result *const *results;
    size_t count;
    bool goes_on;              /* there are pieces after it */
    struct wanted_row *wanted; /* what the pipeline left; NULL before the first */
    size_t wanted_count;
    /* All of them. */
    size_t piece_rows; /* at most */
    petal_read_options options;
    uint64_t deadline_us;                      /* CLOCK_NEVER: none */
    bool fast;                                 /* the pipeline is tried */
    struct read_pin pin;                       /* its view NULL: nothing is pinned yet */
    const struct table_descriptor *descriptor; /* loaded after the pin; NULL: not yet */
    petal_snapshot *snapshot; /* its own, for rows that have to be walked through */
    petal_error *error;
};

/* ---- rows in memory, by the pipeline ---- */

/* The row of the piece is left for later. */
static enum petal_status
want(struct multi_get *gets, size_t index)
{
    if (gets->wanted == NULL)
        gets->wanted =
            mem_alloc(gets->table->db->env.allocator, gets->piece_rows * sizeof *gets->wanted);
    if (gets->wanted == NULL)
        return error_no_memory(gets->error);
    gets->wanted[gets->wanted_count++] =
        (struct wanted_row){gets->rows[index], gets->results[index]};
    return PETAL_OK;
}

/* Enter the epoch, as of the pin if there is one. */
static void
begin(const struct multi_get *gets, struct read_point *point)
{
    if (gets->pin.view != NULL)
        read_begin_pinned(gets->table->db, &gets->pin, point);
    else
        read_begin(gets->table->db, point);
}

/* In stays of one batch of rows each. */
static enum petal_status
get_cached(struct multi_get *gets)
{
    petal_db *db = gets->table->db;
    const petal_column *column = gets->options.columns;
    const petal_snapshot *snapshot = gets->options.snapshot;
    struct fast_question question = {column->family, column->qualifier,
                                     gets->options.keep_out_of_cache};
    enum petal_status status = PETAL_OK;
    struct read_point point;

    begin(gets, &point);
    if (snapshot != NULL)
        read_point_at(&point, snapshot);
    for (size_t i = 0, batch; status == PETAL_OK && i < gets->count; i += batch) {
        uint32_t declined;

        batch = gets->count - i < FAST_BATCH ? gets->count - i : FAST_BATCH;
        declined = fast_batch_get(&question, &point, gets->rows + i, batch, gets->results + i);
        for (size_t k = i; status == PETAL_OK && declined != 0; k++, declined >>= 1) {
            if ((declined & 1) != 0)
                status = want(gets, k);
        }
        if (gets->pin.view == NULL &&
            (gets->wanted_count > 0 || gets->goes_on || i + batch < gets->count)) {
            view_ref(point.view);
            gets->pin = (struct read_pin){point.view, point.sequence};
        }
        if (i + batch < gets->count) {
            read_end(db, &point);
            begin(gets, &point);
        }
    }
    read_end(db, &point);
    return status;
}

/* ---- the others, in the order of the rows: those of one block follow each other ---- */

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

/* *walk: the row has to be walked through, but there is no snapshot, without which a cursor would
 * pin a view of its own and could see another state than the other rows. */
static enum petal_status
get_one(struct multi_get *gets, const struct wanted_row *wanted, bool *walk)
{
    petal_table *table = gets->table;
    const petal_read_options *options = &gets->options;
    enum petal_status status = read_check_row(wanted->row, gets->error);
    struct get_start start;

    if (status == PETAL_OK && gets->deadline_us != CLOCK_NEVER)
        status = leave_time(gets);
    if (status != PETAL_OK)
        return status;
    begin(gets, &start.point);
    get_start_at(&start, table->db, wanted->row);
    status = get_row(table, gets->descriptor, &start, wanted->row, options, wanted->result, walk,
                     gets->error);
    if (status != PETAL_OK || !*walk || options->snapshot == NULL)
        return status;
    *walk = false;
    return cursor_get_row(table, wanted->row, options, wanted->result, gets->error);
}

/* *walk: all is to be read again, as of a snapshot. */
static enum petal_status
get_piece(struct multi_get *gets, bool *walk)
{
    enum petal_status status = PETAL_OK;

    gets->wanted_count = 0;
    if (gets->fast)
        status = get_cached(gets);
    for (size_t i = 0; status == PETAL_OK && !gets->fast && i < gets->count; i++)
        status = want(gets, i);
    if (status != PETAL_OK || gets->wanted_count == 0)
        return status;
    qsort(gets->wanted, gets->wanted_count, sizeof *gets->wanted, compare_wanted);
    if (gets->pin.view == NULL)
        gets->pin = read_pin(gets->table->db, gets->options.snapshot);
    if (gets->descriptor == NULL)
        gets->descriptor = table_descriptor(gets->table);
    for (size_t i = 0; status == PETAL_OK && !*walk && i < gets->wanted_count; i++)
        status = get_one(gets, &gets->wanted[i], walk);
    return status;
}

/* ---- piece by piece ---- */

/* What was read already is older than the snapshot: all is read again. */
static enum petal_status
begin_walk(struct multi_get *gets)
{
    enum petal_status status;

    assert(gets->options.snapshot == NULL && gets->snapshot == NULL);
    status = snapshot_take(gets->table->db, &gets->snapshot, gets->error);
    gets->options.snapshot = gets->snapshot;
    gets->fast = false;
    view_unref(gets->pin.view);
    gets->pin.view = NULL;
    gets->descriptor = NULL;
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
    gets.fast = status == PETAL_OK && options != NULL && fast_get_allows(table, options);
    if (status == PETAL_OK)
        status = get_pieces(&gets, rows, count, take, argument);
    if (gets.pin.view != NULL)
        view_unref(gets.pin.view);
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
