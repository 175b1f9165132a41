/*
 * transaction.c -- transactions over rows; the public calls are described in petal.h.
 *
 * BEGINNING takes, while leading, PETAL_MAX_TRANSACTION_CELLS sequences that no other write gets,
 * and a snapshot after them. So the transaction's own cells, with those sequences, are newer than
 * all that the snapshot shows, and older than all that is written later; a write since is one with
 * a sequence from the first of them on. (A bulk that is loaded below everything may get some of
 * them, or lower ones: its table tells of it.) The cells lie in memtables of their own
 * (engine/read/own.h), for the reads, and in a batch, for the commit.
 *
 * COMMITTING searches what was read and written for newer cells (engine/transaction/conflict.h),
 * then leads, searches what came in between, and serves the batch. A row that was not written to
 * since has what the snapshot shows: so what the batch's cells took from it still holds. Timestamps
 * that own reads saw move to the commit's moment without passing any, or not at all.
 */
#include "base/argument.h"
#include "base/coding.h"
#include "engine/options.h"
#include "engine/read/get.h"
#include "engine/read/newest.h"
#include "engine/read/options.h"
#include "engine/read/result.h"
#include "engine/state/read_point.h"
#include "engine/transaction/conflict.h"
#include "engine/write/batch.h"
#include "engine/write/commit.h"
#include "engine/write/pace.h"

#include <assert.h>
#include <stdlib.h>

/* A table that was used, as it was then. */
struct used_table {
    petal_table *table;
    const struct table_descriptor *descriptor;
};

struct petal_transaction {
    petal_db *db;
    petal_transaction_options options;
    petal_snapshot *snapshot; /* registered; its sequence is the last of the transaction's own */
    uint64_t first_sequence;  /* of its own; 0: it has none */
    int64_t moment;           /* what PETAL_LATEST is to its own reads */
    bool keeps_moment;        /* and after the commit, too */
    petal_batch *batch;
    struct own_cells own;
    struct used_table *tables;
    size_t table_count, table_capacity;
    struct own_range *ranges; /* that were read; own their ends, of which one row's is the same */
    size_t range_count, range_capacity;
    bool lost; /* there was no memory for a range */
    petal_result *read;
    struct write_cell **order; /* for the commit: see order_assigned; NULL: nothing to order */
    size_t order_count;
};

/* ---- what was used ---- */

static enum petal_status
use_table(petal_transaction *t, petal_table *table, petal_error *error)
{
    void *tables = t->tables;

    if (table->db != t->db)
        return error_set(error, PETAL_INVALID, "the table belongs to another database");
    if (table_check_alive(table, error) != PETAL_OK)
        return PETAL_NOT_FOUND;
    for (size_t i = 0; i < t->table_count; i++) {
        if (t->tables[i].table == table)
            return PETAL_OK;
    }
    if (!mem_grow(t->db->env.allocator, &tables, &t->table_capacity, t->table_count,
                  t->table_count + 1, sizeof *t->tables))
        return error_no_memory(error);
    t->tables = tables;
    t->tables[t->table_count++] = (struct used_table){table, table_descriptor(table)};
    return PETAL_OK;
}

/* By table and low end. */
static int
compare_ranges(const void *left, const void *right)
{
    const struct own_range *a = left, *b = right;
    int order = a->table == b->table ? slice_compare(a->low, b->low)
                                     : ((uintptr_t)a->table < (uintptr_t)b->table ? -1 : 1);

    return order != 0 ? order : a->excludes_low - b->excludes_low;
}

static void
free_end(const petal_transaction *t, petal_slice end)
{
    mem_free(t->db->env.allocator, (void *)(uintptr_t)end.data, end.size);
}

static void
free_range(const petal_transaction *t, const struct own_range *range)
{
    if (range->high.data != range->low.data)
        free_end(t, range->high);
    free_end(t, range->low);
}

/* Join the range, which begins no earlier, to the one; false: there is a gap between them. */
static bool
join(const petal_transaction *t, struct own_range *one, struct own_range *range)
{
    int order = one->high.size == 0 ? 1 : slice_compare(one->high, range->low);

    if (one->table != range->table || order < 0 ||
        (order == 0 && (one->excludes_high || range->excludes_low)))
        return false;
    if (one->high.size == 0)
        order = 1;
    else
        order = range->high.size == 0 ? -1 : slice_compare(one->high, range->high);
    if (order < 0 || (order == 0 && one->excludes_high)) {
        petal_slice high = one->high;

        one->high = range->high;
        one->excludes_high = range->excludes_high;
        if (range->low.data != range->high.data)
            free_end(t, range->low);
        if (high.data != one->low.data)
            free_end(t, high);
    } else {
        free_range(t, range);
    }
    return true;
}

/* So what is read again and again is kept once, and searched once. */
static void
join_ranges(petal_transaction *t)
{
    size_t count = 0;

    qsort(t->ranges, t->range_count, sizeof *t->ranges, compare_ranges);
    for (size_t i = 0; i < t->range_count; i++) {
        if (count == 0 || !join(t, &t->ranges[count - 1], &t->ranges[i]))
            t->ranges[count++] = t->ranges[i];
    }
    t->range_count = count;
}

static bool
copy_end(const petal_transaction *t, petal_slice *end)
{
    void *bytes;

    if (end->size == 0) {
        *end = slice_make(NULL, 0);
        return true;
    }
    bytes = mem_alloc(t->db->env.allocator, end->size);
    if (bytes != NULL)
        memcpy(bytes, end->data, end->size);
    *end = slice_make(bytes, end->size);
    return bytes != NULL;
}

/* Room for one range more. The array grows only if it is half full of ranges that are apart. */
static bool
has_room_for_range(petal_transaction *t)
{
    void *ranges = t->ranges;
    bool room;

    if (t->range_count < t->range_capacity)
        return true;
    if (t->range_count > 0)
        join_ranges(t);
    room = mem_grow(t->db->env.allocator, &ranges, &t->range_capacity, t->range_count,
                    2 * t->range_count + 1, sizeof *t->ranges);
    t->ranges = ranges;
    return room;
}

static void
note_range(void *argument, const struct own_range *range)
{
    petal_transaction *t = argument;
    struct own_range noted = *range;
    bool one_row = slice_equal(range->low, range->high);

    if (!has_room_for_range(t) || !copy_end(t, &noted.low)) {
        t->lost = true;
        return;
    }
    if (one_row) {
        noted.high = noted.low;
    } else if (!copy_end(t, &noted.high)) {
        free_end(t, noted.low);
        t->lost = true;
        return;
    }
    t->ranges[t->range_count++] = noted;
}

/* ---- begin and end ---- */

static void
release(petal_transaction *t)
{
    const petal_allocator *allocator = t->db->env.allocator;
    petal_db *db = t->db;

    own_leave_all(&t->own);
    own_fini(&t->own);
    for (size_t i = 0; i < t->range_count; i++)
        free_range(t, &t->ranges[i]);
    mem_free(allocator, t->ranges, t->range_capacity * sizeof *t->ranges);
    mem_free(allocator, t->tables, t->table_capacity * sizeof *t->tables);
    petal_result_free(t->read);
    mem_free(allocator, t->order, t->batch != NULL ? t->batch->count * sizeof(*t->order) : 0);
    petal_batch_free(t->batch);
    if (t->snapshot != NULL)
        atomic_fetch_add_explicit(&db->open.snapshot, 1, memory_order_relaxed);
    petal_snapshot_free(t->snapshot);
    mem_free(allocator, t, sizeof *t);
    atomic_fetch_sub_explicit(&db->open.transaction, 1, memory_order_release);
}

/* Take the sequences and the snapshot after them. */
static enum petal_status
take_snapshot(petal_transaction *t, petal_error *error)
{
    petal_db *db = t->db;
    struct write_place place;
    enum petal_status status;

    if (db->read_only)
        return petal_snapshot_new(db, &t->snapshot, error);
    write_lead_alone(&db->writers.queue, &place);
    if (db->writers.last_sequence >= CELL_SEQUENCE_END - PETAL_MAX_TRANSACTION_CELLS) {
        write_lead_end(&db->writers.queue, &place);
        return error_set(error, PETAL_INVALID, "the database has no sequences left");
    }
    t->first_sequence = db->writers.last_sequence + 1;
    db->writers.last_sequence += PETAL_MAX_TRANSACTION_CELLS;
    atomic_store_explicit(&db->views.published_sequence, db->writers.last_sequence,
                          memory_order_release);
    t->moment = env_clock_ms(&db->env);
    if (t->moment < db->writers.last_timestamp)
        t->moment = db->writers.last_timestamp;
    status = snapshot_take(db, &t->snapshot, error);
    write_lead_end(&db->writers.queue, &place);
    return status;
}

enum petal_status
petal_transaction_begin(petal_db *db, const petal_transaction_options *given,
                        petal_transaction **transaction, petal_error *error)
{
    RETURN_IF_NULL(transaction, error);
    *transaction = NULL;
    RETURN_IF_NULL(db, error);

    petal_transaction_options options;
    petal_transaction *t;
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = options_copy(&options, sizeof options, given, "petal_transaction_options", error);
    if (status == PETAL_OK)
        status = options_check_durability(options.durability, error);
    if (status != PETAL_OK)
        return status;
    t = mem_zalloc(db->env.allocator, sizeof *t);
    if (t == NULL)
        return error_no_memory(error);
    t->db = db;
    t->options = options;
    t->own.allocator = db->env.allocator;
    t->own.note = note_range;
    t->own.argument = t;
    atomic_fetch_add_explicit(&db->open.transaction, 1, memory_order_relaxed);
    status = petal_batch_new(db, &t->batch, error);
    if (status == PETAL_OK)
        status = petal_result_new(db, &t->read, error);
    if (status == PETAL_OK)
        status = take_snapshot(t, error);
    if (status == PETAL_OK) {
        /* petal_close names the transaction, not what is in it. */
        atomic_fetch_sub_explicit(&db->open.snapshot, 1, memory_order_relaxed);
        *transaction = t;
    } else
        release(t);
    return status;
}

void
petal_transaction_abort(petal_transaction *transaction)
{
    if (transaction != NULL && !db_is_of_another_process(transaction->db))
        release(transaction);
}

/* ---- reading ---- */

/* The snapshot, with the writes up to here. */
static petal_snapshot
snapshot_now(petal_transaction *t)
{
    petal_snapshot now = {
        .db = t->db, .sequence = t->snapshot->sequence, .view = t->snapshot->view, .own = &t->own};

    if (t->first_sequence > 0)
        now.sequence = t->first_sequence - 1 + t->batch->count;
    return now;
}

static enum petal_status
get_row_of(petal_transaction *t, petal_table *table, petal_slice row,
           const petal_read_options *given, petal_result *result, petal_error *error)
{
    petal_snapshot now = snapshot_now(t);
    petal_read_options options;
    bool walk = true;
    enum petal_status status = get_options_init(&options, table, given, error);

    result_clear(result);
    if (status == PETAL_OK)
        status = read_check_row(row, error);
    if (status == PETAL_OK)
        status = own_set_snapshot(&options, &now, error);
    if (status == PETAL_OK)
        status = use_table(t, table, error);
    if (status != PETAL_OK)
        return status;
    note_range(t, &(struct own_range){.table = table, .low = row, .high = row});
    if (t->lost)
        return error_no_memory(error);
    if (t->batch->count == 0) {
        struct get_start start;

        get_start_at(&start, t->db, row);
        read_begin(t->db, &start.point);
        status =
            get_row(table, table_descriptor(table), &start, row, &options, result, &walk, error);
    }
    return status == PETAL_OK && walk ? cursor_get_row(table, row, &options, result, error)
                                      : status;
}

enum petal_status
petal_transaction_get(petal_transaction *transaction, petal_table *table, petal_slice row,
                      const petal_read_options *options, petal_result *result, petal_error *error)
{
    RETURN_IF_NULL(result, error);
    result_clear(result);
    RETURN_IF_NULL(transaction, error);
    RETURN_IF_NULL(table, error);
    RETURN_IF_NO_BYTES(row, error);
    if (db_enter(transaction->db, error) != PETAL_OK)
        return PETAL_INVALID;
    return get_row_of(transaction, table, row, options, result, error);
}

enum petal_status
petal_transaction_multi_get(petal_transaction *transaction, petal_table *table,
                            const petal_slice *rows, size_t count,
                            const petal_read_options *options, petal_result *const *results,
                            petal_error *error)
{
    RETURN_IF_NULL(transaction, error);
    RETURN_IF_NULL(table, error);
    RETURN_IF_NO_ARRAY(rows, count, error);
    RETURN_IF_NO_ARRAY(results, count, error);

    enum petal_status status = db_enter(transaction->db, error);

    for (size_t i = 0; status == PETAL_OK && i < count; i++) {
        if (results[i] == NULL)
            status = error_set(error, PETAL_INVALID, "results[%zu] is NULL", i);
        else
            status = petal_transaction_get(transaction, table, rows[i], options, results[i], error);
    }
    for (size_t i = 0; status != PETAL_OK && i < count; i++) {
        if (results[i] != NULL)
            result_clear(results[i]);
    }
    return status;
}

enum petal_status
petal_transaction_scan(petal_transaction *transaction, petal_table *table,
                       const petal_scan_options *options, petal_cursor **cursor, petal_error *error)
{
    RETURN_IF_NULL(cursor, error);
    *cursor = NULL;
    RETURN_IF_NULL(transaction, error);
    RETURN_IF_NULL(table, error);

    petal_snapshot now;
    enum petal_status status = db_enter(transaction->db, error);

    if (status == PETAL_OK)
        status = use_table(transaction, table, error);
    if (status != PETAL_OK)
        return status;
    now = snapshot_now(transaction);
    return own_cursor_open(table, options, &now, cursor, error);
}

/* ---- writing ---- */

/* Has the commit to assign the timestamp? */
static bool
is_open(const struct write_cell *write)
{
    return write->assigned && !write->resolved;
}

/* What the cell's timestamp is to the transaction's own reads. */
static int64_t
own_timestamp(const petal_transaction *t, const struct write_cell *write)
{
    if (!is_open(write))
        return write->cell.timestamp;
    return write->least_timestamp > t->moment ? write->least_timestamp : t->moment;
}

/* The greatest timestamp of the family that counts (engine/write/above.h), those of here too. */
static int64_t
greatest_stamped(const petal_transaction *t, const struct own_store *store)
{
    int64_t greatest = family_newest(store->family, false);

    if (greatest < t->moment)
        greatest = t->moment;
    return greatest < store->ahead ? store->ahead : greatest;
}

/* Does the snapshot have a timestamp there that the cell is not above, and would pass if it
 * followed the clock? Then nothing here follows it. */
static enum petal_status
look_at_moment(petal_transaction *t, const struct newest_question *asked, int64_t stamped,
               petal_error *error)
{
    struct newest_question question = *asked;
    int64_t newest = NEWEST_NONE;
    enum petal_status status = PETAL_OK;

    question.own = NULL;
    question.time_min = t->moment;
    question.time_max = family_newest(asked->family, true);
    if (!t->keeps_moment && question.time_min <= question.time_max)
        status = read_newest(&question, &newest, error);
    t->keeps_moment = t->keeps_moment || newest == t->moment || newest > stamped;
    return status;
}

/* As above_look, as of the snapshot, for the batch's last cell: an assigned timestamp is above
 * those that count. */
static enum petal_status
raise_timestamp(petal_transaction *t, struct own_store *store, struct write_cell *write,
                petal_error *error)
{
    int64_t stamped = greatest_stamped(t, store), newest = NEWEST_NONE;
    struct newest_question question = {.family = write->family,
                                       .row = write->cell.row,
                                       .row_hash = write->row_hash,
                                       .qualifier = write->cell.qualifier,
                                       .whole_row = cell_is_family_marker(write->cell.type),
                                       .time_min = t->moment + 1,
                                       .time_max = stamped,
                                       .own = store->memtable->memtable};
    enum petal_status status = PETAL_OK;

    if (!is_open(write) || write->looked)
        return PETAL_OK;
    status = look_at_moment(t, &question, stamped, error);
    if (status == PETAL_OK && question.time_min <= question.time_max)
        status = read_newest(&question, &newest, error);
    /* No cell can lie at PETAL_LATEST; there the later write wins. */
    if (newest != NEWEST_NONE && newest >= write->least_timestamp)
        write->least_timestamp = newest < PETAL_LATEST - 1 ? newest + 1 : newest;
    write->ahead = write->least_timestamp > t->moment && write->least_timestamp - 1 <= stamped;
    if (write->ahead && write->least_timestamp > store->ahead)
        store->ahead = write->least_timestamp;
    write->looked = true;
    return status;
}

/* Do for the batch's cell all that can fail. */
static enum petal_status
prepare(petal_transaction *t, struct write_cell *write, petal_error *error)
{
    struct own_store *store;
    enum petal_status status = own_store(&t->own, write->family, &store);

    if (status != PETAL_OK)
        return error_no_memory(error);
    status = raise_timestamp(t, store, write, error);
    if (status == PETAL_OK &&
        memtable_reserve(store->memtable->memtable, 1, write_cell_bytes(write), NULL) != PETAL_OK)
        status = error_no_memory(error);
    return status;
}

/* Show it to the transaction's reads. */
static void
show(petal_transaction *t, size_t index)
{
    const struct write_cell *write = &t->batch->cells[index];
    struct cell cell = write->cell;
    struct own_store *store;
    enum petal_status status = own_store(&t->own, write->family, &store);

    assert(status == PETAL_OK); /* it is there */
    cell.timestamp = own_timestamp(t, write);
    cell.sequence = t->first_sequence + index;
    assert(cell.sequence <= t->snapshot->sequence);
    store_memtable_note_cell(store->memtable, &cell);
    if (atomic_load_explicit(&store->memtable->sequence_first, memory_order_relaxed) == 0)
        atomic_store_explicit(&store->memtable->sequence_first, cell.sequence,
                              memory_order_relaxed);
    t->keeps_moment = t->keeps_moment || (!write->assigned && cell.timestamp >= t->moment);
    status = memtable_add(store->memtable->memtable, &cell, write->row_hash);
    assert(status == PETAL_OK); /* its memory was reserved */
    (void)status;
}

/* The end of a call that has added the cells from `first` on, of a family each, to the batch: show
 * all of them, or on failure take all of them back. */
static enum petal_status
end_write(petal_transaction *t, size_t first, enum petal_status status, petal_error *error)
{
    petal_batch *batch = t->batch;

    for (size_t i = first; status == PETAL_OK && i < batch->count; i++)
        status = prepare(t, &batch->cells[i], error);
    if (status == PETAL_OK) {
        for (size_t i = first; i < batch->count; i++)
            show(t, i);
        return PETAL_OK;
    }
    while (batch->count > first)
        batch->bytes -= write_cell_bytes(&batch->cells[--batch->count]);
    return status;
}

/* The beginning of a call that writes `cells` cells to the table. */
static enum petal_status
begin_write(petal_transaction *t, petal_table *table, size_t cells, petal_error *error)
{
    enum petal_status status = db_enter(t->db, error);

    if (status == PETAL_OK)
        status = db_check_opened_for_writing(t->db, error);
    if (status == PETAL_OK && t->batch->count + cells > PETAL_MAX_TRANSACTION_CELLS)
        status = error_set(error, PETAL_INVALID, "the transaction would exceed %u cells",
                           PETAL_MAX_TRANSACTION_CELLS);
    return status == PETAL_OK ? use_table(t, table, error) : status;
}

static enum petal_status
put_cell(petal_transaction *t, petal_family *family, petal_slice row, petal_slice qualifier,
         int64_t timestamp, int64_t least, petal_slice value, const petal_mutation_options *options,
         petal_error *error)
{
    enum petal_status status = begin_write(t, family->table, 1, error);

    if (status == PETAL_OK)
        status = family_check_alive(family, error);
    if (status == PETAL_OK && (options != NULL || t->batch->mutation_count > 0))
        status = petal_batch_mutation(t->batch, options, error);
    if (status == PETAL_OK)
        status = petal_batch_put(t->batch, family, row, qualifier, timestamp, value, error);
    if (status != PETAL_OK)
        return status;
    t->batch->cells[t->batch->count - 1].least_timestamp = least;
    return end_write(t, t->batch->count - 1, PETAL_OK, error);
}

enum petal_status
petal_transaction_put(petal_transaction *transaction, petal_family *family, petal_slice row,
                      petal_slice qualifier, int64_t timestamp, petal_slice value,
                      const petal_mutation_options *options, petal_error *error)
{
    RETURN_IF_NULL(transaction, error);
    RETURN_IF_NULL(family, error);
    return put_cell(transaction, family, row, qualifier, timestamp, 0, value, options, error);
}

/* The newest version of the column, as this transaction sees it; NULL: there is none. */
static enum petal_status
read_newest_version(petal_transaction *t, petal_family *family, petal_slice row,
                    petal_slice qualifier, const petal_cell **cell, petal_error *error)
{
    petal_column column = {family, qualifier, false};
    petal_read_options options = {.columns = &column, .column_count = 1};
    enum petal_status status = get_row_of(t, family->table, row, &options, t->read, error);

    *cell = status == PETAL_OK ? petal_result_cell(t->read, 0) : NULL;
    return status;
}

static bool
is_at_version(const struct cell_iter *iter, const petal_cell *version)
{
    return iter->valid && iter->cell.timestamp == version->timestamp &&
           slice_equal(iter->cell.row, version->row) &&
           slice_equal(iter->cell.qualifier, version->qualifier);
}

/* *unstamped: the version was put here, with a timestamp that the commit assigns. */
static enum petal_status
find_unstamped(petal_transaction *t, petal_family *family, const petal_cell *version,
               bool *unstamped, petal_error *error)
{
    size_t bytes = cell_key_bound(version->row.size, version->qualifier.size);
    uint8_t *buffer = mem_alloc(t->db->env.allocator, bytes);
    struct own_store *store;
    struct memtable_iter own;
    struct cell_key key;
    enum petal_status status;

    if (buffer == NULL || own_store(&t->own, family, &store) != PETAL_OK) {
        mem_free(t->db->env.allocator, buffer, bytes);
        return error_no_memory(error);
    }
    cell_key_make(&key, buffer, version->row, version->qualifier, false, version->timestamp,
                  CELL_SEQUENCE_MAX);
    memtable_iter_init(&own, store->memtable->memtable);
    status = own.iter.ops->seek(&own.iter, &key, error);
    while (status == PETAL_OK && is_at_version(&own.iter, version) &&
           own.iter.cell.type != PETAL_PUT)
        status = own.iter.ops->next(&own.iter, error);
    if (status == PETAL_OK && is_at_version(&own.iter, version))
        *unstamped = t->batch->cells[own.iter.cell.sequence - t->first_sequence].assigned;
    own.iter.ops->close(&own.iter);
    mem_free(t->db->env.allocator, buffer, bytes);
    return status;
}

enum petal_status
petal_transaction_delete(petal_transaction *transaction, petal_family *family, petal_slice row,
                         petal_slice qualifier, int64_t timestamp, enum petal_cell_type type,
                         petal_error *error)
{
    RETURN_IF_NULL(transaction, error);
    RETURN_IF_NULL(family, error);
    RETURN_IF_NO_BYTES(row, error);
    RETURN_IF_NO_BYTES(qualifier, error);

    petal_transaction *t = transaction;
    const petal_cell *newest = NULL;
    bool unstamped = false;
    struct write_cell *write;
    enum petal_status status = begin_write(t, family->table, 1, error);

    if (status == PETAL_OK)
        status = family_check_alive(family, error);
    if (status == PETAL_OK && type == PETAL_DELETE && timestamp == PETAL_LATEST)
        status = read_newest_version(t, family, row, qualifier, &newest, error);
    if (status == PETAL_OK && newest != NULL)
        status = find_unstamped(t, family, newest, &unstamped, error);
    if (status == PETAL_OK && t->batch->mutation_count > 0)
        status = petal_batch_mutation(t->batch, NULL, error);
    if (status == PETAL_OK)
        status = petal_batch_delete(t->batch, family, row, qualifier, timestamp, type, error);
    if (status != PETAL_OK)
        return status;
    write = &t->batch->cells[t->batch->count - 1];
    if (write->operation == WRITE_DELETE_NEWEST) {
        write->operation = WRITE_PLAIN;
        t->batch->readers--;
        if (unstamped) {
            write->least_timestamp = newest->timestamp > t->moment ? newest->timestamp : 0;
            write->looked = true; /* it lies at the version, not above it */
        } else if (newest != NULL) {
            write->cell.timestamp = newest->timestamp;
            write->resolved = true;
        }
    }
    return end_write(t, t->batch->count - 1, PETAL_OK, error);
}

enum petal_status
petal_transaction_delete_row(petal_transaction *transaction, petal_table *table, petal_slice row,
                             int64_t timestamp, petal_error *error)
{
    RETURN_IF_NULL(transaction, error);
    RETURN_IF_NULL(table, error);
    RETURN_IF_NO_BYTES(row, error);

    const struct table_descriptor *descriptor = table_descriptor(table);
    petal_transaction *t = transaction;
    size_t first = t->batch->count;
    enum petal_status status = begin_write(t, table, descriptor->family_count, error);

    if (status == PETAL_OK && t->batch->mutation_count > 0)
        status = petal_batch_mutation(t->batch, NULL, error);
    for (size_t i = 0; status == PETAL_OK && i < descriptor->family_count; i++)
        status = petal_batch_delete(t->batch, descriptor->families[i], row, slice_make(NULL, 0),
                                    timestamp, PETAL_DELETE_FAMILY, error);
    return end_write(t, first, status, error);
}

/* Put what follows on the version, whose time to live it gets. */
static enum petal_status
put_after(petal_transaction *t, petal_family *family, petal_slice row, petal_slice qualifier,
          const petal_cell *old, petal_slice value, petal_error *error)
{
    petal_mutation_options options = {.has_ttl = old != NULL && old->has_ttl,
                                      .ttl_ms = old != NULL && old->has_ttl ? old->ttl_ms : 0};
    int64_t least = 0;

    if (old != NULL && old->timestamp >= t->moment)
        least = old->timestamp < PETAL_LATEST - 1 ? old->timestamp + 1 : old->timestamp;
    return put_cell(t, family, row, qualifier, PETAL_LATEST, least, value,
                    options.has_ttl ? &options : NULL, error);
}

enum petal_status
petal_transaction_append(petal_transaction *transaction, petal_family *family, petal_slice row,
                         petal_slice qualifier, petal_slice value, petal_error *error)
{
    RETURN_IF_NULL(transaction, error);
    RETURN_IF_NULL(family, error);
    RETURN_IF_NO_BYTES(row, error);
    RETURN_IF_NO_BYTES(qualifier, error);
    RETURN_IF_NO_BYTES(value, error);

    const petal_allocator *allocator = transaction->db->env.allocator;
    const petal_cell *old;
    size_t bytes, before;
    uint8_t *joined;
    enum petal_status status = begin_write(transaction, family->table, 1, error);

    if (status == PETAL_OK)
        status = read_newest_version(transaction, family, row, qualifier, &old, error);
    if (status != PETAL_OK)
        return status;
    before = old != NULL ? old->value.size : 0;
    if (value.size > PETAL_MAX_VALUE_BYTES || before + value.size > PETAL_MAX_VALUE_BYTES)
        return error_set(error, PETAL_INVALID, "the value would have more than %u bytes",
                         PETAL_MAX_VALUE_BYTES);
    bytes = before + value.size;
    joined = mem_alloc(allocator, bytes + 1);
    if (joined == NULL)
        return error_no_memory(error);
    if (before > 0)
        memcpy(joined, old->value.data, before);
    if (value.size > 0)
        memcpy(joined + before, value.data, value.size);
    status = put_after(transaction, family, row, qualifier, old, slice_make(joined, bytes), error);
    mem_free(allocator, joined, bytes + 1);
    return status;
}

enum petal_status
petal_transaction_increment(petal_transaction *transaction, petal_family *family, petal_slice row,
                            petal_slice qualifier, int64_t amount, int64_t *sum, petal_error *error)
{
    if (sum != NULL)
        *sum = 0;
    RETURN_IF_NULL(transaction, error);
    RETURN_IF_NULL(family, error);
    RETURN_IF_NO_BYTES(row, error);
    RETURN_IF_NO_BYTES(qualifier, error);

    const petal_cell *old;
    uint8_t bytes[8];
    uint64_t number;
    enum petal_status status = begin_write(transaction, family->table, 1, error);

    if (status == PETAL_OK)
        status = read_newest_version(transaction, family, row, qualifier, &old, error);
    if (status != PETAL_OK)
        return status;
    if (old != NULL && old->value.size != sizeof bytes)
        return error_set(error, PETAL_INVALID,
                         "the value to increment has %zu bytes; it must have 8", old->value.size);
    number = (old != NULL ? get_be64(old->value.data) : 0) + (uint64_t)amount;
    put_be64(bytes, number);
    status =
        put_after(transaction, family, row, qualifier, old, slice_make(bytes, sizeof bytes), error);
    if (status == PETAL_OK && sum != NULL)
        *sum = (int64_t)number;
    return status;
}

/* ---- commit ---- */

/* PETAL_CONFLICT, unless the tables are as they were. Certain only for the LEADER. */
static enum petal_status
check_tables(const petal_transaction *t, petal_error *error)
{
    char quoted[160];

    for (size_t i = 0; i < t->table_count; i++) {
        const struct used_table *used = &t->tables[i];
        bool dropped = table_is_dropped(used->table);
        bool altered = table_descriptor(used->table) != used->descriptor;

        if (dropped || altered ||
            atomic_load_explicit(&used->table->loaded_below, memory_order_relaxed) >
                t->snapshot->sequence)
            return error_set(error, PETAL_CONFLICT,
                             "table %s was %s since the transaction began; nothing of it is "
                             "written",
                             error_quote(used->table->name, quoted, sizeof quoted),
                             dropped   ? "dropped"
                             : altered ? "altered"
                                       : "loaded below");
    }
    return PETAL_OK;
}

/* Was anything that was read or is written here written to since? */
static enum petal_status
check_rows(const petal_transaction *t, uint64_t since, bool leads, petal_error *error)
{
    const petal_batch *batch = t->batch;
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < t->range_count; i++)
        status = conflict_check(&t->ranges[i], since, leads, error);
    for (size_t i = 0; status == PETAL_OK && i < batch->count; i++) {
        const struct write_cell *write = &batch->cells[i];
        struct own_range range = {
            .table = write->family->table, .low = write->cell.row, .high = write->cell.row};

        if (i > 0 && batch->cells[i - 1].family->table == range.table &&
            slice_equal(batch->cells[i - 1].cell.row, range.low))
            continue;
        status = conflict_check(&range, since, leads, error);
    }
    return status;
}

static int
compare_assigned(const void *left, const void *right)
{
    const struct write_cell *a = *(struct write_cell *const *)left;
    const struct write_cell *b = *(struct write_cell *const *)right;

    return (a->least_timestamp > b->least_timestamp) - (a->least_timestamp < b->least_timestamp);
}

/* Sort the cells whose timestamps the commit assigns by those that own reads saw; no need if all of
 * these are the moment, and follow the clock. */
static enum petal_status
order_assigned(petal_transaction *t, petal_error *error)
{
    petal_batch *batch = t->batch;
    bool needed = t->keeps_moment;

    for (size_t i = 0; i < batch->count && !needed; i++)
        needed = is_open(&batch->cells[i]) && batch->cells[i].least_timestamp > t->moment;
    if (!needed)
        return PETAL_OK;
    t->order = mem_alloc(t->db->env.allocator, batch->count * sizeof(*t->order));
    if (t->order == NULL)
        return error_no_memory(error);
    for (size_t i = 0; i < batch->count; i++) {
        if (is_open(&batch->cells[i]))
            t->order[t->order_count++] = &batch->cells[i];
    }
    qsort(t->order, t->order_count, sizeof(*t->order), compare_assigned);
    return PETAL_OK;
}

/* Of the commit's moment, but what differed for own reads still differs, in the same order, each as
 * little ahead as that allows. LEADER. */
static void
assign_timestamps(petal_transaction *t)
{
    int64_t next = t->keeps_moment ? t->moment : env_clock_ms(&t->db->env);

    if (!t->keeps_moment && next < t->db->writers.last_timestamp)
        next = t->db->writers.last_timestamp;
    for (size_t i = 0; i < t->order_count; i++) {
        struct write_cell *write = t->order[i];
        int64_t stamped = family_newest(write->family, false);

        if (i > 0 && write->least_timestamp > t->order[i - 1]->least_timestamp)
            next++;
        write->cell.timestamp = next > write->least_timestamp ? next : write->least_timestamp;
        write->ahead =
            write->ahead || write->cell.timestamp <= next || write->cell.timestamp - 1 <= stamped;
        write->resolved = true;
    }
}

static enum petal_status
check_and_write(petal_transaction *t, struct write_op *op, petal_error *error)
{
    petal_db *db = t->db;
    uint64_t checked = atomic_load_explicit(&db->views.published_sequence, memory_order_acquire);
    struct write_place place;
    enum petal_status status = check_rows(t, t->first_sequence - 1, false, error);

    if (status != PETAL_OK)
        return status;
    write_lead_alone(&db->writers.queue, &place);
    status = check_tables(t, error);
    if (status == PETAL_OK && db->writers.last_sequence > checked)
        status = check_rows(t, checked, true, error);
    if (status == PETAL_OK) {
        /* The clock may have been set back since; its own reads have seen the moment. */
        if (db->writers.last_timestamp < t->moment)
            db->writers.last_timestamp = t->moment;
        assign_timestamps(t);
        status = write_serve(db, op);
    }
    assert(!op->outdated);
    write_lead_end(&db->writers.queue, &place);
    return status;
}

static enum petal_status
commit(petal_transaction *t, petal_error *error)
{
    petal_batch *batch = t->batch;
    petal_write_options options = {.size = sizeof options, .durability = t->options.durability};
    struct pace_write pace = {.admitted = 0};
    struct write_op op;
    enum petal_status status;

    own_leave_all(&t->own);
    if (t->lost)
        return error_no_memory(error);
    if (batch->count == 0)
        return PETAL_OK;
    assert(batch->readers == 0);
    status = check_tables(t, error);
    if (status == PETAL_OK)
        status = order_assigned(t, error);
    if (status != PETAL_OK)
        return status;
    if (t->range_count > 0)
        join_ranges(t);
    write_op_init(&op, batch->cells, batch->count, batch->bytes, &options, error);
    if (batch->has_ttl && batch->count > 1)
        status = duplicates_init(&op.duplicates, batch->cells, batch->count, error);
    if (status != PETAL_OK)
        return status;
    status =
        pace_begin(&pace, batch->cells, batch->count, batch->bytes, t->options.deadline_ms, error);
    if (status == PETAL_OK)
        status = check_and_write(t, &op, error);
    if (pace.admitted > 0)
        pace_end(&pace);
    duplicates_fini(&op.duplicates);
    return status;
}

enum petal_status
petal_transaction_commit(petal_transaction *transaction, petal_error *error)
{
    RETURN_IF_NULL(transaction, error);

    enum petal_status status = db_enter(transaction->db, error);

    if (status != PETAL_OK)
        return status;
    status = commit(transaction, error);
    release(transaction);
    return status;
}
