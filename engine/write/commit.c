/*
 * commit.c -- the leader's work: room, sequence numbers, log, memtables, publication.
 *
 * A writer that has to wait does so before it enters the queue, so that nobody is queued after it
 * (engine/write/pace.h). The leader of the queue takes a group of waiting writes. It makes room in
 * the memtables, reserves memory so that nothing can fail after the log, encodes each write
 * directly into the log's buffer, hands the buffer to the kernel with one call (and syncs once if a
 * member asked for it), adds the cells to the memtables, and publishes the last sequence: from then
 * on readers see all of the group. It may go on with another group, of other writers only.
 *
 * INVARIANTS.
 * - What is published is in the memtables, and what is in the memtables was stored in the log,
 *   unless it skips the log: so no reader sees anything that is lost if the process dies.
 * - Groups are logged, applied and published by one leader after the other, whole and in the order
 *   of their sequences. Publishing the last sequence is a release, and readers load it with
 *   acquire: they see a prefix of all writes. A write that has returned was published before.
 * - Between log and memtable nothing can fail: memory is reserved before the log is written.
 * - A failed log is dead, and db_fail comes before the lead is given up: no later group is
 *   acknowledged.
 *
 * A write that depends on what it has read (engine/write/mutate.c) carries the sequence as of which
 * it read; the leader refuses it if its rows were written to since, and refuses a write that should
 * have read and has not (engine/write/above.h).
 */
#include "engine/write/commit.h"

#include "base/inline.h"
#include "engine/flush/flush.h"
#include "engine/wal/wal.h"
#include "engine/write/above.h"

#include <assert.h>

/* Large enough for many writers to share a system call, small enough that the first one does not
 * wait long. */
#define GROUP_BYTES (1u << 20)

static struct write_op *
op_of(struct write_place *place)
{
    return (struct write_op *)(void *)place;
}

static inline bool
is_one_cell(const struct write_op *first, const struct write_place *last)
{
    return &first->place == last && first->count == 1;
}

/* The members of a group, of which `last` is the last. */
#define FOR_EACH_OP(op, first, last)                                                               \
    for (struct write_op *op = (first); op != NULL;                                                \
         op = &op->place == (last) ? NULL : op_of(op->place.next))

void
write_op_init(struct write_op *op, struct write_cell *cells, size_t count, size_t bytes,
              const petal_write_options *options, petal_error *error)
{
    enum petal_durability durability = options->durability;

    assert(count > 0);
    for (size_t i = 0; options->durability == PETAL_DURABILITY_DEFAULT && i < count; i++) {
        enum petal_durability own = write_durability_of(cells[i].family->table);

        if (own > durability)
            durability = own;
    }
    assert(durability != PETAL_DURABILITY_DEFAULT);
    /* One by one: what of the place is the queue's stays as it is. */
    op->place.alone = false;
    op->place.slow = durability == PETAL_FSYNC_WAL;
    op->place.bytes = bytes;
    op->cells = cells;
    op->count = count;
    op->duplicates.order = NULL;
    op->durability = durability;
    op->read_point = WRITE_READ_NOTHING;
    op->row_read = false;
    op->outdated = false;
    op->status = PETAL_OK;
    op->error = error;
}

/* Is there nothing for make_room to do? LEADER. */
static bool
has_room(const petal_db *db)
{
    uint64_t limit = memory_budget_memtable_limit(&db->memory);

    if (db->writers.active_bytes < db->memtable_bytes / 2 && db->writers.active_memory <= limit / 4)
        return true;
    return db->wal->spare_asked && !flush_is_due(db);
}

/* Freeze the memtables when they are full; while a commit holds the locks, only when they are half
 * as much over. The next log is made when they are half full. LEADER. */
static enum petal_status
make_room(petal_db *db, petal_error *error)
{
    uint64_t limit = memory_budget_memtable_limit(&db->memory);
    struct flush_job *job;
    enum petal_status status;

    if (has_room(db))
        return PETAL_OK;
    wal_ask_for_spare(db);
    if (!flush_is_due(db))
        return PETAL_OK;
    if (db->writers.active_bytes >= db->memtable_bytes + db->memtable_bytes / 2 ||
        db->writers.active_memory > limit / 4 * 3)
        status = flush_freeze_largest(db, &job, error);
    else
        status = flush_try_to_freeze_largest(db, &job, error);
    if (status == PETAL_OK && job != NULL)
        flush_enqueue(db, job);
    return status;
}

void
write_charge(petal_db *db, struct store *store)
{
    size_t change;

    assert_leads(db);
    store_memtable_charge(store->active, &db->memory, &change);
    db->writers.active_memory += change;
}

/* Reserve memtable memory for every member, store by store. */
static enum petal_status
reserve_group(petal_db *db, struct write_op *first, struct write_place *last)
{
    struct store *touched = NULL;
    enum petal_status status = PETAL_OK;

    if (is_one_cell(first, last) && first->status == PETAL_OK &&
        memtable_has_room(first->cells->store->active->memtable, &first->cells->cell))
        return PETAL_OK;
    FOR_EACH_OP(op, first, last)
    {
        for (size_t i = 0; op->status == PETAL_OK && i < op->count; i++) {
            struct store *store = op->cells[i].store;

            if (store->group_cells++ == 0) {
                store->group_next = touched;
                touched = store;
            }
            store->group_bytes += write_cell_bytes(&op->cells[i]);
        }
    }
    for (struct store *store = touched; store != NULL; store = store->group_next) {
        if (status == PETAL_OK) {
            bool grown;

            status = memtable_reserve(store->active->memtable, store->group_cells,
                                      store->group_bytes, &grown);
            if (grown)
                write_charge(db, store);
        }
        assert(store->group_cells > 0);
        store->group_cells = 0;
        store->group_bytes = 0;
    }
    return status;
}

/* Are the rows that the member read unchanged? An earlier member of the group counts, too. */
static bool
is_current(const petal_db *db, const struct write_op *op)
{
    size_t count = op->row_read ? 1 : op->count;

    assert(op->read_point <= db->writers.last_sequence);
    for (size_t i = 0; i < count; i++) {
        const struct write_cell *write = &op->cells[i];

        if ((op->row_read || write->operation != WRITE_PLAIN || write->looked) &&
            !row_locks_unchanged(&db->writers.row_locks, write->row_hash, op->read_point))
            return false;
    }
    return true;
}

/* Does the timestamp follow on one that the store gave in the family? */
static bool
counts_as_stamped(const petal_db *db, const struct write_cell *write)
{
    int64_t stamped = family_newest(write->family, false);

    if (stamped < db->writers.last_timestamp)
        stamped = db->writers.last_timestamp;
    return write->cell.timestamp - 1 <= stamped;
}

/* Give timestamps and sequences to the cells of a member, and drop duplicates. False: a row has to
 * be read first, and nothing is done. */
static bool
stamp(petal_db *db, struct write_op *op, int64_t now_ms)
{
    int64_t clock;

    if (now_ms > db->writers.last_timestamp)
        db->writers.last_timestamp = now_ms;
    clock = db->writers.last_timestamp;
    for (size_t i = 0; i < op->count; i++) {
        if (above_is_asked(&op->cells[i], clock))
            return false;
    }
    for (size_t i = 0; i < op->count; i++) {
        struct write_cell *write = &op->cells[i];

        if (write->assigned && !write->resolved) {
            write->resolved = write->least_timestamp > clock;
            write->cell.timestamp = write->resolved ? write->least_timestamp : clock;
            write->ahead = write->resolved && (write->ahead || counts_as_stamped(db, write));
        }
    }
    if (op->duplicates.order != NULL)
        duplicates_drop(&op->duplicates, &op->cells, &op->count);
    assert(op->count > 0);
    for (size_t i = 0; i < op->count; i++)
        op->cells[i].cell.sequence = db->writers.last_sequence + 1 + i;
    return true;
}

/* Note that the family has a cell of that timestamp. */
static inline void
note_timestamp(const struct write_cell *write)
{
    if (write->ahead || (write->assigned && !write->resolved))
        family_note_stamped(write->family, write->cell.timestamp);
    else
        family_note_given(write->family, write->cell.timestamp);
}

/*
 * Store what was buffered since the mark. How much of the group a dead log holds is unknown, so
 * nothing may follow it there. A log that is not dead found the disk full and holds nothing of the
 * group.
 */
static enum petal_status
end_log(petal_db *db, enum petal_durability strongest, struct wal_file_mark before, int64_t now_ms,
        petal_error *error)
{
    struct wal_file *wal = db->wal->current;
    enum petal_status status = wal_commit(db, strongest, now_ms, error);

    if (status == PETAL_OK)
        return PETAL_OK;
    if (wal_file_is_dead(wal))
        db_fail(db, error);
    else
        wal_file_forget(wal, before);
    return status;
}

/* Number the members and log them; a member that fails here drops out, the others go on. */
static enum petal_status
log_group(petal_db *db, struct write_op *first, struct write_place *last, int64_t now_ms,
          petal_error *error)
{
    enum petal_durability strongest = PETAL_SKIP_WAL;
    struct wal_file *wal = db->wal->current;
    struct wal_file_mark before = {0, 0};
    enum petal_status status;

    if (wal != NULL)
        before = wal_file_mark(wal);
    FOR_EACH_OP(op, first, last)
    {
        if (op->status != PETAL_OK)
            continue;
        op->outdated =
            (op->read_point != WRITE_READ_NOTHING && !is_current(db, op)) || !stamp(db, op, now_ms);
        if (op->outdated) {
            op->status = PETAL_BUSY;
            continue;
        }
        if (is_one_cell(first, last))
            memtable_prepare(op->cells->store->active->memtable, &op->cells->cell,
                             op->cells->row_hash);
        if (op->durability > PETAL_SKIP_WAL) {
            if (wal == NULL) {
                status = wal_current(db, &wal, error);
                if (status != PETAL_OK)
                    return status;
                before = wal_file_mark(wal);
            }
            if (!wal_file_add(wal, op->cells, op->count)) {
                op->status = error_no_memory(op->error);
                continue;
            }
        }
        /* From here on the member's sequences are taken. */
        for (size_t i = 0; i < op->count; i++) {
            row_locks_note(&db->writers.row_locks, op->cells[i].row_hash,
                           op->cells[i].cell.sequence);
            note_timestamp(&op->cells[i]);
        }
        db->writers.last_sequence += op->count;
        if (op->durability > strongest)
            strongest = op->durability;
    }
    return end_log(db, strongest, before, now_ms, error);
}

enum petal_status
write_apply_cell(petal_db *db, const struct write_cell *write)
{
    struct store *store = write->store;
    struct store_memtable *active = store->active;
    size_t bytes = write_cell_bytes(write) + MEMTABLE_CELL_OVERHEAD_BYTES;

    assert_leads(db);
    if (atomic_load_explicit(&active->sequence_first, memory_order_relaxed) == 0) {
        atomic_store_explicit(&active->sequence_first, write->cell.sequence, memory_order_relaxed);
        store_note_written(store, &db->writers.written);
    }
    /* Before the cell: a reader that sees the cell's sequence published sees these, too. */
    store_memtable_note_cell(active, &write->cell);
    store->active_bytes += bytes;
    db->writers.active_bytes += bytes;
    return memtable_add(active->memtable, &write->cell, write->row_hash);
}

/* Make everything written visible to readers. */
static ALWAYS_INLINE void
publish(petal_db *db, uint64_t cells, uint64_t writes)
{
    assert(db->writers.last_sequence >=
           atomic_load_explicit(&db->views.published_sequence, memory_order_relaxed) + cells);
    atomic_store_explicit(&db->views.published_timestamp, db->writers.last_timestamp,
                          memory_order_relaxed);
    atomic_store_explicit(&db->views.published_sequence, db->writers.last_sequence,
                          memory_order_release);
    STATS_ADD_LEADER(db, cells_written, cells);
    STATS_ADD_LEADER(db, batches_written, writes);
    STATS_ADD_LEADER(db, write_groups, 1);
}

/* Add the members' cells to the memtables, then make all of them visible at once. */
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
    publish(db, cells, writes);
}

/* Serve the group from `first` to `last`. */
static void
lead(petal_db *db, struct write_op *first, struct write_place *last)
{
    bool synced = false;
    petal_error error;
    enum petal_status status;

    assert_leads(db);
    status = db_is_writable(db) ? make_room(db, &error) : db_check_writable(db, &error);
    if (status == PETAL_OK) {
        FOR_EACH_OP(op, first, last)
        {
            for (size_t i = 0; op->status == PETAL_OK && i < op->count; i++) {
                struct write_cell *write = &op->cells[i];

                if (family_is_writable(write->family))
                    write->store = family_store_of_row(write->family, write->cell.row);
                else
                    op->status = family_check_writable(write->family, op->error);
            }
            synced = synced || (op->status == PETAL_OK && op->durability == PETAL_FSYNC_WAL);
        }
        status = reserve_group(db, first, last);
        if (status != PETAL_OK)
            error_set(&error, status, "no memory for the memtable");
    }
    if (status == PETAL_OK) {
        int64_t now_ms = env_clock_ms(&db->env);

        if (synced)
            status = wal_sync_before(db, &error);
        if (status == PETAL_OK)
            status = log_group(db, first, last, now_ms, &error);
        if (status == PETAL_OK)
            apply_group(db, first, last);
    }
    if (status == PETAL_OK)
        return;
    FOR_EACH_OP(op, first, last)
    {
        if (op->status == PETAL_OK) {
            op->status = status;
            error_copy(op->error, &error);
        }
    }
}

enum petal_status
write_submit(petal_db *db, struct write_op *op)
{
    struct write_group group;

    assert(op->count > 0 && op->durability != PETAL_DURABILITY_DEFAULT);
    op->status = PETAL_OK;
    op->outdated = false;
    if (write_queue_enter(&db->writers.queue, &op->place, GROUP_BYTES, &group)) {
        do
            lead(db, op_of(group.first), group.last);
        while (!write_queue_leave(&db->writers.queue, &op->place, &group));
    }
    return op->status;
}

enum petal_status
write_serve(petal_db *db, struct write_op *op)
{
    assert_leads(db);
    op->status = PETAL_OK;
    op->outdated = false;
    lead(db, op, &op->place);
    return op->status;
}
