/*
 * commit.c -- the way of a write: queue, sequence numbers, log, memtables, visible.
 *
 * Before it comes into the queue a writer waits when it must, so that nobody stands behind it
 * (engine/write/pace.h). The leader of the queue takes a group of waiting writes. For the group it makes
 * room in the memtables, reserves memory so that nothing can fail after the log, encodes each write
 * straight into the log's buffer, hands the buffer to the kernel with one call (and syncs once if a
 * member asked for it), adds the cells to the memtables, and publishes the last sequence: from then
 * on readers see all of the group. It may go on so with another group, in which it has no part. A
 * write alone in the queue is a group of one, with no copy but the one into the log and the one
 * into the memtable.
 *
 * A write that depends on what it has read (engine/write/mutate.c) says as of which sequence; the leader
 * refuses it when its rows were written to since.
 */
#include "engine/write/commit.h"

#include "base/coding.h"
#include "engine/flush/flush.h"
#include "engine/options.h"
#include "engine/read/result.h"
#include "engine/wal/wal.h"
#include "engine/write/batch.h"
#include "engine/write/mutate.h"

#include <assert.h>

/* Enough to share a system call among many writers; small enough that the first one does not wait long. */
#define GROUP_BYTES (1u << 20)

/* What a cell takes in a memtable beyond its own bytes, about: key suffix, record header, its share of nodes and filter. */
#define CELL_OVERHEAD_BYTES 100

static struct write_op *
op_of(struct write_place *place)
{
    return (struct write_op *)(void *)place;
}

void
write_lead_alone(petal_db *db, struct write_place *place)
{
    struct write_group group;

    place->alone = true;
    place->slow = true;
    place->bytes = 0;
    write_queue_enter(&db->queue, place, 0, &group);
}

void
write_lead_end(petal_db *db, struct write_place *place)
{
    struct write_group group = {place, place, 0};

    write_queue_leave(&db->queue, place, &group);
}

/* ---- the leader's steps; `last` is the group's last member ---- */

#define FOR_EACH_OP(op, first, last)                                                               \
    for (struct write_op *op = (first); op != NULL;                                                \
         op = &op->place == (last) ? NULL : op_of(op->place.next))

static void
fail_group(struct write_op *first, struct write_place *last, enum petal_status status,
           const petal_error *cause)
{
    FOR_EACH_OP(op, first, last)
    {
        if (op->status == PETAL_OK) {
            op->status = status;
            if (op->error != NULL && op->error != cause)
                *op->error = *cause;
        }
    }
}

static enum petal_status
check_alive(const struct write_op *op)
{
    for (size_t i = 0; i < op->count; i++) {
        enum petal_status status = family_check_writable(op->cells[i].family, op->error);

        if (status != PETAL_OK)
            return status;
    }
    return PETAL_OK;
}

void
write_charge(petal_db *db, petal_family *family)
{
    size_t change;

    store_memtable_charge(family->active, &db->memory, &change);
    db->active_memory += change;
}

/* Reserve memtable memory for every member, store by store. */
static enum petal_status
reserve_group(petal_db *db, struct write_op *first, struct write_place *last)
{
    petal_family *touched = NULL;
    enum petal_status status = PETAL_OK;

    FOR_EACH_OP(op, first, last)
    {
        for (size_t i = 0; op->status == PETAL_OK && i < op->count; i++) {
            const struct cell *cell = &op->cells[i].cell;
            petal_family *family = op->cells[i].family;

            if (family->group_cells++ == 0) {
                family->group_next = touched;
                touched = family;
            }
            family->group_bytes += cell->row.size + cell->qualifier.size + cell->value.size;
        }
    }
    for (petal_family *family = touched; family != NULL; family = family->group_next) {
        if (status == PETAL_OK)
            status = memtable_reserve(family->active->memtable, family->group_cells,
                                      family->group_bytes);
        if (status == PETAL_OK)
            write_charge(db, family);
        family->group_cells = 0;
        family->group_bytes = 0;
    }
    return status;
}

/* Is what the member read still true? An earlier member of the group may have changed it, too. */
static bool
is_current(const petal_db *db, const struct write_op *op)
{
    size_t count = op->row_read ? 1 : op->count;

    if (op->read_point == WRITE_READ_NOTHING)
        return true;
    for (size_t i = 0; i < count; i++) {
        const struct write_cell *write = &op->cells[i];

        if ((op->row_read || write->operation != WRITE_PLAIN) &&
            !row_locks_unchanged(&db->row_locks, write->row_hash, op->read_point))
            return false;
    }
    return true;
}

/* Give timestamps and sequences to the cells of a member; doubles go. */
static void
stamp(petal_db *db, struct write_op *op, int64_t now_ms)
{
    if (now_ms > db->last_timestamp)
        db->last_timestamp = now_ms;
    for (size_t i = 0; i < op->count; i++) {
        struct write_cell *write = &op->cells[i];

        if (write->assigned && !write->resolved) {
            write->resolved = write->least_timestamp > db->last_timestamp;
            write->cell.timestamp = write->resolved ? write->least_timestamp : db->last_timestamp;
        }
    }
    doubles_drop(&op->doubles, &op->cells, &op->count);
    for (size_t i = 0; i < op->count; i++)
        op->cells[i].cell.sequence = db->last_sequence + 1 + i;
}

/* The member's sequences are taken. */
static void
take_sequences(petal_db *db, const struct write_op *op)
{
    for (size_t i = 0; i < op->count; i++)
        row_locks_note(&db->row_locks, op->cells[i].row_hash, op->cells[i].cell.sequence);
    db->last_sequence += op->count;
}

/* Number and log the members; those that fail here are out, the others go on. */
static enum petal_status
log_group(petal_db *db, struct write_op *first, struct write_place *last, int64_t now_ms,
          petal_error *error)
{
    enum petal_durability strongest = PETAL_SKIP_WAL;
    struct wal_file *wal = db->wal;
    struct wal_file_mark before = {0, 0};
    enum petal_status status;

    if (wal != NULL)
        before = wal_file_mark(wal);

    FOR_EACH_OP(op, first, last)
    {
        uint8_t *to = NULL;

        if (op->status != PETAL_OK)
            continue;
        op->outdated = !is_current(db, op);
        if (op->outdated) {
            op->status = PETAL_BUSY;
            continue;
        }
        stamp(db, op, now_ms);
        if (op->count == 1 && op == first && &op->place == last)
            memtable_prepare(op->cells->family->active->memtable, &op->cells->cell,
                             op->cells->row_hash);
        if (op->durability > PETAL_SKIP_WAL) {
            if (wal == NULL) {
                status = wal_current(db, &wal, error);
                if (status != PETAL_OK)
                    return status;
                before = wal_file_mark(wal);
            }
            to = wal_file_begin(wal, record_size(op->cells, op->count));
            if (to == NULL) {
                op->status = error_no_memory(op->error);
                continue;
            }
            record_encode(to, op->cells, op->count);
            wal_file_end(wal, db->last_sequence + op->count);
        }
        take_sequences(db, op);
        if (op->durability > strongest)
            strongest = op->durability;
    }
    status = wal_commit(db, strongest, now_ms, error);
    if (status != PETAL_OK && !wal_file_is_dead(wal))
        wal_file_forget(wal, before);
    return status;
}

enum petal_status
write_apply_cell(petal_db *db, const struct write_cell *write)
{
    petal_family *family = write->family;
    struct store_memtable *active = family->active;
    enum petal_cell_type type = write->cell.type;
    size_t bytes;

    if (atomic_load_explicit(&active->sequence_first, memory_order_relaxed) == 0)
        atomic_store_explicit(&active->sequence_first, write->cell.sequence, memory_order_relaxed);
    /* Before the cell: a reader that sees the cell's sequence published sees these, too. */
    if (cell_is_marker(type))
        atomic_fetch_or_explicit(&active->marker_kinds, marker_kind(type), memory_order_relaxed);
    if (write->cell.has_ttl)
        atomic_fetch_add_explicit(&active->ttl_cells, 1, memory_order_relaxed);
    bytes = write->cell.row.size + write->cell.qualifier.size + write->cell.value.size +
            CELL_OVERHEAD_BYTES;
    family->active_bytes += bytes;
    db->active_bytes += bytes;
    return memtable_add(active->memtable, &write->cell, write->row_hash);
}

static void
apply_group(petal_db *db, struct write_op *first, struct write_place *last)
{
    uint64_t cells = 0, writes = 0;

    FOR_EACH_OP(op, first, last)
    {
        if (op->status != PETAL_OK)
            continue;
        for (size_t i = 0; i < op->count; i++) {
            enum petal_status status = write_apply_cell(db, &op->cells[i]);

            assert(status == PETAL_OK); /* its memory was reserved */
            (void)status;
        }
        cells += op->count;
        writes++;
    }
    atomic_store_explicit(&db->published_timestamp, db->last_timestamp, memory_order_relaxed);
    atomic_store_explicit(&db->published_sequence, db->last_sequence, memory_order_release);
    STATS_ADD_LEADER(db, cells_written, cells);
    STATS_ADD_LEADER(db, batches_written, writes);
    STATS_ADD_LEADER(db, write_groups, 1);
}

/* Numbers, log and memtables, for a group whose memory is reserved. */
static enum petal_status
log_and_apply(petal_db *db, struct write_op *first, struct write_place *last, petal_error *error)
{
    int64_t now_ms = env_clock_ms(&db->env);
    enum petal_status status = PETAL_OK;
    bool synced = false;

    FOR_EACH_OP(op, first, last)
    {
        synced = synced || (op->status == PETAL_OK && op->durability == PETAL_FSYNC_WAL);
    }
    if (synced)
        status = wal_sync_before(db, error);
    if (status == PETAL_OK)
        status = log_group(db, first, last, now_ms, error);
    /* What a dead log holds of the group is unknown, so nothing may follow it there. Without a log nothing happened, and one
     * that lives found the disk full and holds nothing of the group. */
    if (status == PETAL_OK)
        apply_group(db, first, last);
    else if (db->wal != NULL && wal_file_is_dead(db->wal))
        db_fail(db, error);
    return status;
}

/* Serve the group from `first` to `last`. */
static void
lead(petal_db *db, struct write_op *first, struct write_place *last)
{
    petal_error error;
    enum petal_status status;

    error_clear(&error);
    status = db_check_writable(db, &error);
    if (status == PETAL_OK)
        status = flush_make_room(db, &error);
    if (status != PETAL_OK) {
        fail_group(first, last, status, &error);
        return;
    }
    FOR_EACH_OP(op, first, last)
    {
        op->status = check_alive(op);
    }
    status = reserve_group(db, first, last);
    if (status != PETAL_OK) {
        error_set(&error, status, "no memory for the memtable");
        fail_group(first, last, status, &error);
        return;
    }
    status = log_and_apply(db, first, last, &error);
    if (status != PETAL_OK)
        fail_group(first, last, status, &error);
}

enum petal_status
write_submit_admitted(petal_db *db, struct write_op *op)
{
    struct write_group group;

    op->place.alone = false;
    op->place.slow = op->durability == PETAL_FSYNC_WAL;
    op->status = PETAL_OK;
    op->outdated = false;
    if (write_queue_enter(&db->queue, &op->place, GROUP_BYTES, &group)) {
        do
            lead(db, op_of(group.first), group.last);
        while (!write_queue_leave(&db->queue, &op->place, &group));
    }
    return op->status;
}

struct pace_write
write_pace(petal_db *db, const struct write_cell *cells, size_t count, size_t bytes,
           const petal_write_options *options)
{
    return (struct pace_write){.db = db,
                               .cells = cells,
                               .count = count,
                               .bytes = bytes + count * CELL_OVERHEAD_BYTES,
                               .deadline_us = pace_deadline_us(options->deadline_ms)};
}

/* The whole of a write that depends on nothing read. */
static enum petal_status
submit(petal_db *db, struct write_op *op, const petal_write_options *options)
{
    struct pace_write pace = write_pace(db, op->cells, op->count, op->place.bytes, options);
    enum petal_status status = pace_begin(&pace, op->error);

    if (status != PETAL_OK)
        return status;
    status = write_submit_admitted(db, op);
    pace_end(&pace);
    return status;
}

enum petal_status
write_serve(petal_db *db, struct write_op *op)
{
    op->status = PETAL_OK;
    op->outdated = false;
    lead(db, op, &op->place);
    return op->status;
}

/* ---- public calls ---- */

static enum petal_durability
resolve_durability(const petal_write_options *options, const struct write_cell *cells, size_t count)
{
    petal_db *db = cells[0].family->table->db;
    enum petal_durability strongest = PETAL_DURABILITY_DEFAULT;

    if (options->durability != PETAL_DURABILITY_DEFAULT)
        return options->durability;
    for (size_t i = 0; i < count; i++) {
        enum petal_durability own = table_options(cells[i].family->table)->durability;

        if (own == PETAL_DURABILITY_DEFAULT)
            own = db->durability;
        if (own > strongest)
            strongest = own;
    }
    return strongest;
}

void
write_op_init(struct write_op *op, struct write_cell *cells, size_t count, size_t bytes,
              const petal_write_options *options, petal_error *error)
{
    *op = (struct write_op){
        .place = {.bytes = bytes},
        .cells = cells,
        .count = count,
        .read_point = WRITE_READ_NOTHING,
        .durability = resolve_durability(options, cells, count),
        .error = error,
    };
}

enum petal_status
write_options_init(petal_write_options *options, const petal_write_options *given,
                   petal_error *error)
{
    enum petal_status status;

    if (given == NULL) {
        *options = (petal_write_options){.size = sizeof *options};
        return PETAL_OK;
    }
    status = options_copy(options, sizeof *options, given, "petal_write_options", error);
    if (options->result != NULL)
        options->result->count = 0;
    if (status == PETAL_OK)
        status = options_check_ttl(options->has_ttl, options->ttl_ms, error);
    if (status == PETAL_OK && options->durability > PETAL_FSYNC_WAL)
        status = error_set(error, PETAL_INVALID, "%d is no durability; it is 0 to %d",
                           (int)options->durability, (int)PETAL_FSYNC_WAL);
    return status;
}

/* Write the one cell, made with `status`, of a call. */
static enum petal_status
write_single(struct write_cell *write, enum petal_status status, const petal_write_options *given,
             int64_t *sum, petal_error *error)
{
    petal_write_options options;
    const struct cell *cell = &write->cell;
    enum petal_status options_status =
        write_options_init(&options, given, status == PETAL_OK ? error : NULL);
    struct write_op op;
    size_t bytes;

    if (status == PETAL_OK)
        status = options_status;
    if (status != PETAL_OK)
        return status;
    write->cell.has_ttl = options.has_ttl;
    write->cell.ttl_ms = options.ttl_ms;
    if (write->operation != WRITE_PLAIN)
        return mutate_cell(write, &options, sum, error);
    bytes = cell->row.size + cell->qualifier.size + cell->value.size;
    write_op_init(&op, write, 1, bytes, &options, error);
    return submit(write->family->table->db, &op, &options);
}

enum petal_status
petal_put(petal_family *family, petal_slice row, petal_slice qualifier, int64_t timestamp,
          petal_slice value, const petal_write_options *options, petal_error *error)
{
    struct write_cell write;
    enum petal_status status =
        write_cell_make(&write, family, row, qualifier, timestamp, value, PETAL_PUT, error);

    return write_single(&write, status, options, NULL, error);
}

enum petal_status
petal_delete(petal_family *family, petal_slice row, petal_slice qualifier, int64_t timestamp,
             enum petal_cell_type type, const petal_write_options *options, petal_error *error)
{
    struct write_cell write;
    enum petal_status status;

    if (type == PETAL_PUT)
        status = error_set(error, PETAL_INVALID, "a deletion cannot have the type of a put");
    else
        status = write_cell_make(&write, family, row, qualifier, timestamp, slice_make(NULL, 0),
                                 type, error);
    return write_single(&write, status, options, NULL, error);
}

enum petal_status
petal_append(petal_family *family, petal_slice row, petal_slice qualifier, petal_slice value,
             const petal_write_options *options, petal_error *error)
{
    struct write_cell write;
    enum petal_status status =
        write_cell_make(&write, family, row, qualifier, PETAL_LATEST, value, PETAL_PUT, error);

    write.operation = WRITE_APPEND;
    return write_single(&write, status, options, NULL, error);
}

enum petal_status
petal_increment(petal_family *family, petal_slice row, petal_slice qualifier, int64_t amount,
                const petal_write_options *options, int64_t *sum, petal_error *error)
{
    struct write_cell write;
    uint8_t bytes[8];
    enum petal_status status;

    if (sum != NULL)
        *sum = 0;
    put_be64(bytes, (uint64_t)amount);
    status = write_cell_make(&write, family, row, qualifier, PETAL_LATEST,
                             slice_make(bytes, sizeof bytes), PETAL_PUT, error);
    write.operation = WRITE_INCREMENT;
    return write_single(&write, status, options, sum, error);
}

enum petal_status
petal_write(petal_db *db, petal_batch *batch, const petal_write_options *given, petal_error *error)
{
    petal_write_options options;
    struct write_op op;
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = write_options_init(&options, given, error);
    if (status == PETAL_OK)
        status = batch_check(batch, db, &options, error);
    if (status == PETAL_OK)
        status = db_check_opened_for_writing(db, error);
    if (status != PETAL_OK || batch->count == 0)
        return status;
    if (batch->readers > 0)
        return mutate_batch(batch, &options, error);
    write_op_init(&op, batch->cells, batch->count, batch->bytes, &options, error);
    if (batch->has_ttl)
        status = doubles_init(&op.doubles, batch->cells, batch->count, error);
    if (status == PETAL_OK)
        status = submit(db, &op, &options);
    doubles_fini(&op.doubles);
    return status;
}
