/*
 * mutate.c -- writes that depend on what is there: appends, increments, deletions of the newest
 * version, changes of a row under a condition; and those whose timestamps do, because the family's
 * are ahead of the clock (engine/write/above.h).
 *
 * The cells are copied, the rows read, and the copies completed by what was found: new values,
 * least timestamps, the timestamps to delete. Then they are written like any others, and the write
 * leader refuses them when one of the rows read has been written to since the sequence at which the
 * reading began. So plain writes wait for nothing, and all that one write reads is as of one
 * moment: what changed between two of its reads shows as such a write, too. After a few refusals,
 * or when very many rows are concerned, the reading is done while leading, when nobody else can
 * write.
 *
 * A new version gets its timestamp from the leader: now, or what the old version demands if that is
 * later. The cells for the caller's result are taken from the copies afterwards, in memory that was
 * reserved before.
 */
#include "engine/write/mutate.h"

#include "base/coding.h"
#include "engine/read/options.h"
#include "engine/read/result.h"
#include "engine/state/db.h"
#include "engine/write/above.h"
#include "engine/write/cell.h"
#include "engine/write/commit.h"
#include "engine/write/pace.h"

#include <assert.h>
#include <stdlib.h>

#define TRIES_BEFORE_LEADING 8
#define MOST_LOCKS           64 /* of one write; beyond that it leads */

struct mutate {
    petal_db *db;
    const petal_batch *batch;          /* what is asked */
    const struct condition *condition; /* NULL: none */
    const petal_write_options *options;
    const struct write_cell *
        *readers; /* cells of the batch that need a read, in the order of results */
    struct row_lock_set locks;
    petal_batch work;   /* the completed cells, one for each of the batch's, and their new values */
    petal_result *read; /* of the read at hand */
    bool applied;       /* the condition held */
    petal_error *error;
};

/* ---- the order of reading ---- */

static int
compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* By mutation, row, column; those of one column in the order they were given, deletions last. */
static int
compare_readers(const void *left, const void *right)
{
    const struct write_cell *a = *(const struct write_cell *const *)left;
    const struct write_cell *b = *(const struct write_cell *const *)right;
    int order = compare_numbers(a->mutation, b->mutation);

    if (order == 0)
        order = compare_numbers(a->family->table->id, b->family->table->id);
    if (order == 0)
        order = slice_compare(a->cell.row, b->cell.row);
    if (order == 0 && a->family != b->family)
        order = slice_compare(a->family->name, b->family->name);
    if (order == 0)
        order = slice_compare(a->cell.qualifier, b->cell.qualifier);
    if (order == 0)
        order = compare_numbers(a->operation == WRITE_DELETE_NEWEST,
                                b->operation == WRITE_DELETE_NEWEST);
    return order != 0 ? order : compare_numbers((uintptr_t)a, (uintptr_t)b);
}

/* Does the same read serve both? */
static bool
read_alike(const struct write_cell *a, const struct write_cell *b)
{
    return a->mutation == b->mutation && a->family == b->family &&
           (a->operation == WRITE_DELETE_NEWEST) == (b->operation == WRITE_DELETE_NEWEST) &&
           slice_equal(a->cell.row, b->cell.row) &&
           slice_equal(a->cell.qualifier, b->cell.qualifier);
}

static enum petal_status
list_readers(struct mutate *m)
{
    const petal_batch *batch = m->batch;
    size_t count = 0;

    if (m->condition != NULL && batch->count > 0)
        row_lock_set_add(&m->locks, batch->cells[0].row_hash);
    if (batch->readers == 0)
        return PETAL_OK;
    m->readers = mem_alloc(m->db->env.allocator, batch->readers * sizeof(struct write_cell *));
    if (m->readers == NULL)
        return error_no_memory(m->error);
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->cells[i].operation == WRITE_PLAIN)
            continue;
        m->readers[count++] = &batch->cells[i];
        row_lock_set_add(&m->locks, batch->cells[i].row_hash);
    }
    assert(count == batch->readers);
    qsort(m->readers, count, sizeof *m->readers, compare_readers);
    return PETAL_OK;
}

/* ---- reading and completing ---- */

static struct write_cell *
work_cell(struct mutate *m, const struct write_cell *reader)
{
    assert(reader >= m->batch->cells && reader < m->batch->cells + m->work.count);
    return &m->work.cells[reader - m->batch->cells];
}

/* Is the timestamp of the cell, which was read from the table, among those that the store gave? */
static bool
is_stamped(const petal_table *table, const petal_cell *cell)
{
    const struct table_descriptor *descriptor = table_descriptor(table);

    for (size_t i = 0; i < descriptor->family_count; i++) {
        const petal_family *family = descriptor->families[i];

        if (slice_equal(family->name, cell->family))
            return cell->timestamp <= family_newest(family, false);
    }
    return false;
}

/* Copies of the cells as they were given. Puts without a timestamp get at least that of `judged`,
 * the cell that the condition read (NULL: none); HBase stamps markers by the clock alone. */
static enum petal_status
start_work(struct mutate *m, const petal_cell *judged)
{
    const petal_batch *batch = m->batch;
    bool stamped = judged != NULL && is_stamped(m->condition->table, judged);
    petal_batch *work = &m->work;
    void *cells = work->cells;

    petal_batch_clear(work);
    if (batch->count == 0)
        return PETAL_OK;
    if (!mem_grow(m->db->env.allocator, &cells, &work->capacity, 0, batch->count,
                  sizeof *work->cells))
        return error_no_memory(m->error);
    work->cells = cells;
    work->count = batch->count;
    work->bytes = batch->bytes;
    work->has_ttl = batch->has_ttl;
    memcpy(work->cells, batch->cells, batch->count * sizeof *work->cells);
    for (size_t i = 0; judged != NULL && i < work->count; i++) {
        struct write_cell *write = &work->cells[i];

        if (write->operation == WRITE_PLAIN && write->cell.type == PETAL_PUT && write->assigned) {
            write->least_timestamp = judged->timestamp;
            write->ahead = stamped;
        }
    }
    return PETAL_OK;
}

/* Give the cell a value of `size` bytes, which the caller fills at *to. */
static enum petal_status
replace_value(struct mutate *m, struct cell *cell, size_t size, uint8_t **to)
{
    if (size > PETAL_MAX_VALUE_BYTES)
        return error_set(m->error, PETAL_INVALID, "the value would have %zu bytes; the limit is %u",
                         size, PETAL_MAX_VALUE_BYTES);
    m->work.bytes += size - cell->value.size;
    if (m->work.bytes > PETAL_MAX_BATCH_BYTES)
        return error_set(m->error, PETAL_INVALID, "the batch would exceed %u bytes",
                         PETAL_MAX_BATCH_BYTES);
    *to = batch_take_bytes(&m->work, size);
    if (*to == NULL)
        return error_no_memory(m->error);
    cell->value = slice_make(*to, size);
    return PETAL_OK;
}

static enum petal_status
append_value(struct mutate *m, struct cell *cell, petal_slice old)
{
    petal_slice tail = cell->value;
    uint8_t *to;
    enum petal_status status;

    if (old.size == 0)
        return PETAL_OK;
    status = replace_value(m, cell, old.size + tail.size, &to);
    if (status != PETAL_OK)
        return status;
    memcpy(to, old.data, old.size);
    if (tail.size > 0)
        memcpy(to + old.size, tail.data, tail.size);
    return PETAL_OK;
}

static enum petal_status
increment_value(struct mutate *m, struct cell *cell, petal_slice old)
{
    uint64_t amount = get_be64(cell->value.data);
    uint8_t *to;
    enum petal_status status;

    assert(cell->value.size == 8); /* made so by the calls that increment */
    if (old.size != 8)
        return error_set(m->error, PETAL_INVALID,
                         "the value to increment has %zu bytes; it must have 8", old.size);
    status = replace_value(m, cell, 8, &to);
    if (status == PETAL_OK)
        put_be64(to, get_be64(old.data) + amount);
    return status;
}

/* Complete an append or increment by the version it follows. */
static enum petal_status
follow(struct mutate *m, struct write_cell *write, const petal_cell *old)
{
    struct cell *cell = &write->cell;

    assert(write->operation == WRITE_APPEND || write->operation == WRITE_INCREMENT);
    /* No cell can lie at PETAL_LATEST; there the later write wins. */
    write->least_timestamp =
        old->timestamp < PETAL_LATEST - 1 ? old->timestamp + 1 : old->timestamp;
    /* Nothing that counts is newer. */
    write->looked = old->timestamp == family_newest(write->family, write->of_keys);
    if (!cell->has_ttl) {
        cell->has_ttl = old->has_ttl;
        cell->ttl_ms = old->ttl_ms;
        m->work.has_ttl = m->work.has_ttl || old->has_ttl;
    }
    return write->operation == WRITE_APPEND ? append_value(m, cell, old->value)
                                            : increment_value(m, cell, old->value);
}

/* Complete the `count` readers from `first` on, which one read serves. */
static enum petal_status
complete_column(struct mutate *m, const struct write_cell *const *first, size_t count)
{
    const struct batch_mutation *mutation = batch_mutation_of(m->batch, *first);
    bool deletes = (*first)->operation == WRITE_DELETE_NEWEST;
    bool ranged = mutation->has_time_range && !deletes;
    petal_column column = {(*first)->family, (*first)->cell.qualifier, false};
    petal_read_options options = {
        .columns = &column,
        .column_count = 1,
        .has_time_range = ranged,
        .time_min = ranged ? mutation->time_min : 0,
        .time_limit = ranged ? mutation->time_limit : 0,
        .versions = deletes && count < INT32_MAX ? (int32_t)count : 1,
    };
    enum petal_status status =
        petal_get(column.family->table, (*first)->cell.row, &options, m->read, m->error);

    for (size_t i = 0; status == PETAL_OK && i < count; i++) {
        struct write_cell *write = work_cell(m, first[i]);
        const petal_cell *old = petal_result_cell(m->read, deletes ? i : 0);

        if (old == NULL)
            continue;
        if (deletes) {
            assert(write->operation == WRITE_DELETE_NEWEST);
            write->cell.timestamp = old->timestamp;
            write->resolved = true;
        } else {
            status = follow(m, write, old);
        }
    }
    return status;
}

static bool
gives_result(const struct mutate *m, const struct write_cell *reader)
{
    return m->options->result != NULL && reader->operation != WRITE_DELETE_NEWEST &&
           !batch_mutation_of(m->batch, reader)->no_results;
}

static enum petal_status
reserve_result(struct mutate *m)
{
    size_t count = 0, bytes = 0;

    if (m->options->result == NULL)
        return PETAL_OK;
    for (size_t i = 0; i < m->batch->readers; i++) {
        const struct cell *cell = &work_cell(m, m->readers[i])->cell;

        if (!gives_result(m, m->readers[i]))
            continue;
        count++;
        bytes += cell->row.size + cell->qualifier.size + cell->value.size;
    }
    if (result_reserve(m->options->result, count, bytes) != PETAL_OK)
        return error_no_memory(m->error);
    return PETAL_OK;
}

static void
fill_result(struct mutate *m)
{
    for (size_t i = 0; i < m->batch->readers; i++) {
        if (gives_result(m, m->readers[i]))
            result_add_row_cell(m->options->result, m->readers[i]->family,
                                &work_cell(m, m->readers[i])->cell);
    }
}

/* Read all that is to be read and complete the cells. */
static enum petal_status
read_rows(struct mutate *m)
{
    size_t count = m->batch->readers;
    const petal_cell *judged = NULL;
    enum petal_status status = PETAL_OK;

    m->applied = true;
    if (m->condition != NULL)
        status = condition_read(m->condition, m->read, &m->applied, m->error);
    if (status != PETAL_OK || !m->applied)
        return status;
    if (m->condition != NULL)
        judged = petal_result_cell(m->read, 0);
    status = start_work(m, judged);
    for (size_t i = 0, same; status == PETAL_OK && i < count; i += same) {
        for (same = 1; i + same < count && read_alike(m->readers[i], m->readers[i + same]);)
            same++;
        status = complete_column(m, &m->readers[i], same);
    }
    if (status == PETAL_OK)
        status = above_look(m->db, m->work.cells, m->work.count, m->options->new_version, m->error);
    return status == PETAL_OK ? reserve_result(m) : status;
}

/* ---- writing ---- */

static enum petal_status
init_op(struct mutate *m, struct write_op *op)
{
    const petal_batch *work = &m->work;

    write_op_init(op, work->cells, work->count, work->bytes, m->options, m->error);
    return work->has_ttl && work->count > 1
               ? duplicates_init(&op->duplicates, work->cells, work->count, m->error)
               : PETAL_OK;
}

static bool
has_work(const struct mutate *m)
{
    return m->applied && m->work.count > 0;
}

/* Read and then queue; *outdated when the rows changed in between. */
static enum petal_status
read_and_submit(struct mutate *m, bool *outdated)
{
    uint64_t read_point =
        atomic_load_explicit(&m->db->views.published_sequence, memory_order_acquire);
    struct write_op op;
    enum petal_status status = read_rows(m);

    *outdated = false;
    if (status != PETAL_OK || !has_work(m))
        return status;
    status = init_op(m, &op);
    if (status != PETAL_OK)
        return status;
    op.read_point = read_point;
    op.row_read = m->condition != NULL;
    status = write_submit(m->db, &op);
    duplicates_fini(&op.duplicates);
    assert(!op.outdated || status == PETAL_BUSY);
    *outdated = op.outdated;
    return status;
}

/* Read and write while nobody else can write. */
static enum petal_status
read_and_write_leading(struct mutate *m)
{
    struct write_place place;
    struct write_op op;
    enum petal_status status;

    write_lead_alone(&m->db->writers.queue, &place);
    status = read_rows(m);
    if (status == PETAL_OK && has_work(m))
        status = init_op(m, &op);
    if (status == PETAL_OK && has_work(m)) {
        status = write_serve(m->db, &op);
        duplicates_fini(&op.duplicates);
    }
    write_lead_end(&m->db->writers.queue, &place);
    return status;
}

static enum petal_status
read_and_write(struct mutate *m)
{
    bool outdated = true;
    enum petal_status status = PETAL_OK;

    if (m->locks.count > MOST_LOCKS)
        return read_and_write_leading(m);
    assert(m->locks.count > 0 || m->batch->readers == 0);
    row_locks_acquire(&m->db->writers.row_locks, &m->locks);
    for (unsigned tries = 0; outdated && tries < TRIES_BEFORE_LEADING; tries++)
        status = read_and_submit(m, &outdated);
    if (outdated)
        status = read_and_write_leading(m);
    row_locks_release(&m->db->writers.row_locks, &m->locks);
    return status;
}

/* Do what m says from the beginning to the result; *sum (may be NULL) becomes the number in the
 * first cell. The pace comes before the locks: others that change rows of the same stripes do not
 * wait with this writer. */
static enum petal_status
mutate_run(struct mutate *m, int64_t *sum)
{
    const petal_batch *batch = m->batch;
    const petal_allocator *allocator = m->db->env.allocator;
    struct pace_write pace = {.admitted = 0};
    enum petal_status status = db_check_opened_for_writing(m->db, m->error);

    if (status != PETAL_OK)
        return status;
    status = petal_result_new(m->db, &m->read, m->error);
    m->work.db = m->db;
    m->work.allocator = allocator;
    if (status == PETAL_OK)
        status = list_readers(m);
    if (status == PETAL_OK && batch->count > 0)
        status = pace_begin(&pace, batch->cells, batch->count, batch->bytes,
                            m->options->deadline_ms, m->error);
    if (status == PETAL_OK)
        status = read_and_write(m);
    if (pace.admitted > 0)
        pace_end(&pace);
    if (status == PETAL_OK && has_work(m)) {
        fill_result(m);
        if (sum != NULL)
            *sum = (int64_t)get_be64(m->work.cells[0].cell.value.data);
    }
    batch_fini(&m->work);
    mem_free(allocator, m->readers, batch->readers * sizeof(struct write_cell *));
    petal_result_free(m->read);
    return status;
}

enum petal_status
mutate_plain(struct write_cell *cells, size_t count, size_t bytes, bool has_ttl,
             const petal_write_options *options, petal_error *error)
{
    petal_db *db = cells->family->table->db;
    petal_batch batch = {.db = db,
                         .allocator = db->env.allocator,
                         .cells = cells,
                         .count = count,
                         .bytes = bytes,
                         .has_ttl = has_ttl};
    struct mutate m = {.db = db, .batch = &batch, .options = options, .error = error};
    enum petal_status status;

    m.work.db = db;
    m.work.allocator = db->env.allocator;
    status = read_and_write(&m);
    batch_fini(&m.work);
    return status;
}

enum petal_status
mutate_cell(struct write_cell *write, const petal_write_options *options, int64_t *sum,
            petal_error *error)
{
    petal_db *db = write->family->table->db;
    petal_batch batch = {
        .db = db,
        .allocator = db->env.allocator,
        .cells = write,
        .count = 1,
        .readers = 1,
        .bytes = write_cell_bytes(write),
    };
    struct mutate m = {.db = db, .batch = &batch, .options = options, .error = error};

    assert(write->operation != WRITE_PLAIN);
    return mutate_run(&m, sum);
}

enum petal_status
mutate_batch(const petal_batch *batch, const struct condition *condition,
             const petal_write_options *options, bool *applied, petal_error *error)
{
    struct mutate m = {.db = batch->db,
                       .batch = batch,
                       .condition = condition,
                       .options = options,
                       .error = error};
    enum petal_status status = mutate_run(&m, NULL);

    if (applied != NULL)
        *applied = status == PETAL_OK && m.applied;
    return status;
}
