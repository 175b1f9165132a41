/*
 * delete_rows.c -- whole rows are deleted: one at once, many in batches.
 *
 * Each batch has a cursor of its own, which begins after the rows that are done: so it does not
 * walk over the markers of this call, and keeps no memtables and files beyond its batch. All
 * cursors read as of one snapshot, so that the call ends even when others add rows as fast.
 */
#include "engine/write/delete_rows.h"

#include "base/argument.h"
#include "base/clock.h"
#include "engine/options.h"
#include "engine/read/range.h"
#include "engine/state/db.h"
#include "engine/state/read_point.h"
#include "engine/wal/wal.h"
#include "engine/write/batch.h"
#include "engine/write/commit.h"
#include "memtable/memtable.h"

#include <assert.h>

#define DEFAULT_BATCH_ROWS 1000
#define BATCH_BYTES        ((size_t)1 << 20)
#define WIDE_ROW_CELLS     32   /* after so many cells of a row a seek is cheaper */
#define MOST_HIDDEN_CELLS  4096 /* milliseconds of walking; then the call may end */

/* ---- one row ---- */

static enum petal_status
fill_with_row(petal_batch *batch, petal_table *table, petal_slice row, int64_t timestamp,
              const petal_write_options *options, petal_error *error)
{
    petal_mutation_options mutation = {.has_ttl = options->has_ttl, .ttl_ms = options->ttl_ms};
    enum petal_status status;

    petal_batch_clear(batch);
    status = petal_batch_mutation(batch, &mutation, error);
    return status == PETAL_OK ? petal_batch_delete_row(batch, table, row, timestamp, error)
                              : status;
}

/* Did an alter put other families in place of those that a batch, refused with `status`, names? */
static bool
was_altered(enum petal_status status, const petal_table *table,
            const struct table_descriptor *before)
{
    return status == PETAL_NOT_FOUND && !table_is_dropped(table) &&
           table_descriptor(table) != before;
}

enum petal_status
petal_delete_row(petal_table *table, petal_slice row, int64_t timestamp,
                 const petal_write_options *given, petal_error *error)
{
    RETURN_IF_NULL(table, error);
    RETURN_IF_NO_BYTES(row, error);

    petal_write_options options, of_batch;
    petal_batch *batch;
    const struct table_descriptor *before;
    enum petal_status status = petal_batch_new(table->db, &batch, error);

    if (status != PETAL_OK)
        return status;
    status = options_copy(&options, sizeof options, given, "petal_write_options", error);
    options.size = sizeof options;
    of_batch = options;
    of_batch.has_ttl = false;
    of_batch.ttl_ms = 0;
    do {
        before = table_descriptor(table);
        if (status == PETAL_OK || status == PETAL_NOT_FOUND)
            status = fill_with_row(batch, table, row, timestamp, &options, error);
        if (status == PETAL_OK)
            status = petal_write(table->db, batch, &of_batch, error);
    } while (was_altered(status, table, before));
    petal_batch_free(batch);
    return status;
}

/* ---- many rows ---- */

struct delete_rows {
    petal_table *table;
    struct row_range range;            /* those that are not done: `from` is in done.next_bytes */
    petal_delete_rows_options options; /* defaults filled in */
    bool of_keys;                      /* the rows are keys */
    uint64_t deadline_us;              /* CLOCK_NEVER: none */
    petal_snapshot *snapshot;          /* made for this call, or NULL */
    petal_batch *batch;
    bool ended; /* no row is left */
    petal_deleted_rows done;
    petal_slice walked; /* not empty: no row below it is left that is not in the batch; in `room` */
    uint8_t room[PETAL_MAX_ROW_BYTES]; /* of that row, and before of the row that a seek is for */
    petal_error *error;
};

static enum petal_status
take_options(petal_delete_rows_options *options, const petal_delete_rows_options *given,
             petal_error *error)
{
    enum petal_status status =
        options_copy(options, sizeof *options, given, "petal_delete_rows_options", error);

    if (status != PETAL_OK)
        return status;
    RETURN_IF_NO_BYTES(options->prefix, error);
    if (!options->has_timestamp && options->timestamp != 0)
        return error_set(error, PETAL_INVALID, "timestamp is set, but has_timestamp is not");
    if (options->timestamp < 0)
        return error_set(error, PETAL_INVALID, "timestamp %lld is negative",
                         (long long)options->timestamp);
    if (!options->has_timestamp)
        options->timestamp = PETAL_LATEST;
    if (options->batch_rows == 0)
        options->batch_rows = DEFAULT_BATCH_ROWS;
    return options_check_durability(options->durability, error);
}

static bool
is_full(const struct delete_rows *d, uint64_t rows)
{
    const petal_batch *batch = d->batch;

    return rows == d->options.batch_rows ||
           batch->bytes + batch->count * MEMTABLE_CELL_OVERHEAD_BYTES >= BATCH_BYTES;
}

static petal_slice
last_row(const petal_batch *batch)
{
    assert(batch->count > 0);
    return batch->cells[batch->count - 1].cell.row;
}

static enum petal_status
add_columns(struct delete_rows *d, petal_slice row)
{
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < d->options.column_count; i++) {
        const petal_column *column = &d->options.columns[i];

        status = petal_batch_delete(
            d->batch, column->family, row,
            column->whole_family ? slice_make(NULL, 0) : column->qualifier, d->options.timestamp,
            column->whole_family ? PETAL_DELETE_FAMILY : PETAL_DELETE_COLUMN, d->error);
        if (status == PETAL_OK)
            d->batch->cells[d->batch->count - 1].of_keys = d->of_keys;
    }
    return status;
}

static enum petal_status
add_row(struct delete_rows *d, petal_slice row)
{
    return d->options.column_count > 0
               ? add_columns(d, row)
               : petal_batch_delete_row(d->batch, d->table, row, d->options.timestamp, d->error);
}

/* The cursor's next cell. NULL: there is none, or it walked over deleted rows for so long that the
 * call may end here: d->walked is the row that it came to. It is above d->range.from, so each call
 * comes forward. */
static enum petal_status
next_cell(struct delete_rows *d, petal_cursor *cursor, const petal_cell **cell)
{
    enum petal_status status;
    petal_slice at;

    do {
        status = cursor_next_within(cursor, MOST_HIDDEN_CELLS, cell, &at, d->error);
    } while (at.size > 0 && slice_compare(at, d->range.from) <= 0);
    if (at.size > 0) {
        memcpy(d->room, at.data, at.size);
        d->walked = slice_make(d->room, at.size);
    }
    return status;
}

/* Fill the batch with what deletes the first rows of those that are not done. */
static enum petal_status
fill_from(struct delete_rows *d, petal_cursor *cursor, uint64_t *rows)
{
    const petal_cell *cell;
    unsigned cells_of_row = 0;
    enum petal_status status = next_cell(d, cursor, &cell);

    /* A full batch ends at a cell of another row: so it is known whether there is more to do. */
    while (status == PETAL_OK && cell != NULL) {
        if (*rows == 0 || !slice_equal(cell->row, last_row(d->batch))) {
            if (is_full(d, *rows))
                break;
            status = add_row(d, cell->row);
            cells_of_row = 0;
            ++*rows;
        } else if (++cells_of_row == WIDE_ROW_CELLS) {
            petal_slice next = row_behind(d->room, cell->row);

            if (next.size == 0)
                break;
            status = petal_cursor_seek(cursor, next, NULL, slice_make(NULL, 0), d->error);
        }
        if (status == PETAL_OK)
            status = next_cell(d, cursor, &cell);
    }
    d->ended = cell == NULL && d->walked.size == 0;
    return status;
}

static enum petal_status
fill_batch(struct delete_rows *d, uint64_t *rows)
{
    petal_scan_options scan = {
        .read = {.columns = d->options.columns,
                 .column_count = d->options.column_count,
                 .keep_out_of_cache = true,
                 .snapshot = d->options.snapshot},
    };
    petal_cursor *cursor;
    enum petal_status status = row_range_open(d->table, &scan, &d->range, &cursor, d->error);

    petal_batch_clear(d->batch);
    d->walked = slice_make(NULL, 0);
    *rows = 0;
    if (status == PETAL_OK)
        status = fill_from(d, cursor, rows);
    petal_cursor_close(cursor);
    return status;
}

/* What a write may wait; one whose call is late is written all the same if it need not wait: so
 * each call comes forward. */
static uint32_t
milliseconds_left(const struct delete_rows *d)
{
    uint64_t now;

    if (d->deadline_us == CLOCK_NEVER)
        return d->options.deadline_ms;
    now = clock_us();
    return now + 1000 < d->deadline_us ? (uint32_t)((d->deadline_us - now) / 1000) : PETAL_NO_WAIT;
}

static enum petal_status
write_batch(struct delete_rows *d)
{
    petal_write_options options = {.durability = d->options.durability,
                                   .deadline_ms = milliseconds_left(d)};

    return petal_write(d->table->db, d->batch, &options, d->error);
}

/* The rows of the batch, if it has any, are deleted: go on after them and what was walked over. */
static void
advance(struct delete_rows *d, uint64_t rows)
{
    petal_slice next = d->range.from;

    if (rows > 0) {
        next = row_behind(d->done.next_bytes, last_row(d->batch));
        d->ended = d->ended || next.size == 0;
    }
    if (!d->ended && slice_compare(next, d->walked) < 0) {
        memcpy(d->done.next_bytes, d->walked.data, d->walked.size);
        next = slice_make(d->done.next_bytes, d->walked.size);
    }
    d->done.rows += rows;
    d->done.next = d->range.from = next;
}

static enum petal_status
delete_batch(struct delete_rows *d, uint64_t *rows)
{
    const struct table_descriptor *before;
    enum petal_status status;

    do {
        before = table_descriptor(d->table);
        status = fill_batch(d, rows);
        if (status == PETAL_OK && *rows > 0)
            status = write_batch(d);
    } while (was_altered(status, d->table, before));
    if (status == PETAL_OK)
        advance(d, *rows);
    return status;
}

/* Tell what is done. May the call go on, if there is more to do? */
static enum petal_status
check_going_on(const struct delete_rows *d)
{
    bool wanted = d->options.watch == NULL || d->options.watch(d->options.argument, &d->done);

    if (d->ended)
        return PETAL_OK;
    if (!wanted)
        return error_set(d->error, PETAL_BUSY, "the deletion was given up after %llu rows",
                         (unsigned long long)d->done.rows);
    if (d->deadline_us != CLOCK_NEVER && clock_us() >= d->deadline_us)
        return error_set(d->error, PETAL_TIMEOUT,
                         "the deletion's %u milliseconds are over; it has deleted %llu rows",
                         d->options.deadline_ms, (unsigned long long)d->done.rows);
    return PETAL_OK;
}

/* Nothing was there and so nothing written: what took it may still wait for its sync. */
static enum petal_status
sync_if_asked(const struct delete_rows *d)
{
    petal_db *db = d->table->db;
    enum petal_durability durability = d->options.durability;
    enum petal_status status;

    if (durability == PETAL_DURABILITY_DEFAULT)
        durability = write_durability_of(d->table);
    if (durability != PETAL_FSYNC_WAL || d->done.rows > 0)
        return PETAL_OK;
    status = db_check_writable(db, d->error);
    return status == PETAL_OK ? wal_sync_all(db, d->error) : status;
}

static enum petal_status
delete_batches(struct delete_rows *d)
{
    petal_db *db = d->table->db;
    uint64_t rows;
    enum petal_status status = petal_batch_new(db, &d->batch, d->error);

    if (status == PETAL_OK && d->options.snapshot == NULL) {
        status = snapshot_take(db, &d->snapshot, d->error);
        d->options.snapshot = d->snapshot;
    }
    while (status == PETAL_OK && !d->ended) {
        status = delete_batch(d, &rows);
        if (status == PETAL_OK && (rows > 0 || !d->ended))
            status = check_going_on(d);
    }
    if (status == PETAL_OK)
        status = sync_if_asked(d);
    petal_snapshot_free(d->snapshot);
    petal_batch_free(d->batch);
    return status;
}

/* `next` may lie in what is written to. */
static void
tell_done(petal_deleted_rows *deleted, uint64_t rows, petal_slice next)
{
    if (next.size > 0)
        memmove(deleted->next_bytes, next.data, next.size);
    deleted->next = slice_make(deleted->next_bytes, next.size);
    deleted->rows = rows;
}

petal_slice
deleted_rows_begin(petal_deleted_rows *deleted, petal_slice from)
{
    bool is_row = from.size <= PETAL_MAX_ROW_BYTES && !slice_lacks_bytes(from);

    if (deleted == NULL)
        return from;
    tell_done(deleted, 0, is_row ? from : slice_make(NULL, 0));
    return is_row ? deleted->next : from;
}

/* `made` is new, and zeroed. */
static enum petal_status
delete_rows_init(struct delete_rows *made, petal_table *table, const struct row_range *range,
                 const petal_delete_rows_options *options, petal_error *error)
{
    enum petal_status status = take_options(&made->options, options, error);
    uint32_t milliseconds = made->options.deadline_ms;

    made->table = table;
    made->error = error;
    made->range = *range;
    made->range.prefix = made->options.prefix;
    made->deadline_us = milliseconds != 0 && milliseconds != PETAL_NO_WAIT
                            ? clock_us() + (uint64_t)milliseconds * 1000
                            : CLOCK_NEVER;
    if (status == PETAL_OK)
        status = row_range_check(&made->range, error);
    if (status != PETAL_OK)
        return status;
    tell_done(&made->done, 0, range->from);
    made->range.from = made->done.next;
    return PETAL_OK;
}

enum petal_status
petal_delete_rows(petal_table *table, petal_slice from, petal_slice to,
                  const petal_delete_rows_options *options, petal_deleted_rows *deleted,
                  petal_error *error)
{
    return delete_rows(table, from, to, options, false, deleted, error);
}

enum petal_status
delete_rows(petal_table *table, petal_slice from, petal_slice to,
            const petal_delete_rows_options *options, bool of_keys, petal_deleted_rows *deleted,
            petal_error *error)
{
    const petal_allocator *allocator;
    struct row_range range = {.from = deleted_rows_begin(deleted, from), .to = to};
    struct delete_rows *d;
    enum petal_status status;

    RETURN_IF_NULL(table, error);
    RETURN_IF_NO_BYTES(from, error);
    RETURN_IF_NO_BYTES(to, error);
    allocator = table->db->env.allocator;
    status = db_enter(table->db, error);
    if (status == PETAL_OK)
        status = db_check_opened_for_writing(table->db, error);
    if (status != PETAL_OK)
        return status;
    d = mem_zalloc(allocator, sizeof *d);
    if (d == NULL)
        return error_no_memory(error);
    d->of_keys = of_keys;
    status = delete_rows_init(d, table, &range, options, error);
    if (status == PETAL_OK)
        status = delete_batches(d);
    if (deleted != NULL && d->done.next.data != NULL)
        tell_done(deleted, d->done.rows, status == PETAL_OK ? slice_make(NULL, 0) : d->done.next);
    mem_free(allocator, d, sizeof *d);
    return status;
}
