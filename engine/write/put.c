/*
 * put.c -- the public calls that write. What the caller gave is checked and made cells; the writer
 * waits as its pace asks (engine/write/pace.h) and hands the cells to the leader
 * (engine/write/commit.h). What depends on what is there is read before that
 * (engine/write/mutate.h).
 */
#include "engine/write/commit.h"

#include "base/argument.h"
#include "base/coding.h"
#include "base/inline.h"
#include "engine/options.h"
#include "engine/read/options.h"
#include "engine/read/result.h"
#include "engine/write/batch.h"
#include "engine/write/cell.h"
#include "engine/write/condition.h"
#include "engine/write/mutate.h"
#include "engine/write/pace.h"

static const petal_write_options defaults = {.size = sizeof defaults};

/* Fill `options` with what the caller gave, defaults after its size; what it has for results is
 * made empty. PETAL_INVALID: a field has no value that is one. */
static enum petal_status
take_options(petal_write_options *options, const petal_write_options *given, petal_error *error)
{
    enum petal_status status;

    if (given == NULL) {
        *options = defaults;
        return PETAL_OK;
    }
    status = options_copy(options, sizeof *options, given, "petal_write_options", error);
    if (options->result != NULL)
        options->result->count = 0;
    if (status == PETAL_OK)
        status = options_check_ttl(options->has_ttl, options->ttl_ms, error);
    return status == PETAL_OK ? options_check_durability(options->durability, error) : status;
}

/* Write cells that depend on nothing read. `mortal`: one of several has its own time to live. */
static enum petal_status
submit(petal_db *db, struct write_cell *cells, size_t count, size_t bytes, bool mortal,
       const petal_write_options *options, bool *outdated, petal_error *error)
{
    struct write_op op;
    enum petal_status status = PETAL_OK;

    write_op_init(&op, cells, count, bytes, options, error);
    if (mortal)
        status = duplicates_init(&op.duplicates, cells, count, error);
    if (status == PETAL_OK)
        status = write_submit(db, &op);
    *outdated = op.outdated;
    if (op.duplicates.order != NULL)
        duplicates_fini(&op.duplicates);
    return status;
}

/* Is this write timed? Approximate: other writers may read the same count. */
static inline bool
write_is_due(const petal_db *db)
{
    return atomic_load_explicit(&db->stats[STATS_LEADER].batches_written, memory_order_relaxed) %
               LATENCY_ONE_OF ==
           0;
}

/* Write cells that depend on nothing read, as submit. */
static enum petal_status
write_plain(struct write_cell *cells, size_t count, size_t bytes, bool mortal,
            const petal_write_options *options, petal_error *error)
{
    petal_db *db = cells->family->table->db;
    struct pace_write pace = {.admitted = 0};
    uint64_t began = write_is_due(db) ? clock_ns() : 0;
    bool outdated = options->new_version;
    enum petal_status status = PETAL_OK;

    if (!pace_is_free(db, bytes + count * MEMTABLE_CELL_OVERHEAD_BYTES))
        status = pace_begin(&pace, cells, count, bytes, options->deadline_ms, error);
    if (status != PETAL_OK)
        return status;
    if (!outdated)
        status = submit(db, cells, count, bytes, mortal, options, &outdated, error);
    if (outdated)
        status = mutate_plain(cells, count, bytes, mortal, options, error);
    if (pace.admitted > 0)
        pace_end(&pace);
    if (began != 0)
        latency_end(&db->latencies, PETAL_LATENCY_WRITE, began);
    return status;
}

/* Write the one cell, made with `status`, of a call with options. */
static enum petal_status
write_as(struct write_cell *write, enum petal_status status, const petal_write_options *given,
         int64_t *sum, petal_error *error)
{
    petal_write_options options;
    enum petal_status options_status =
        take_options(&options, given, status == PETAL_OK ? error : NULL);

    if (status == PETAL_OK)
        status = options_status;
    if (status != PETAL_OK)
        return status;
    write->cell.has_ttl = options.has_ttl;
    write->cell.ttl_ms = options.ttl_ms;
    if (write->operation != WRITE_PLAIN)
        return mutate_cell(write, &options, sum, error);
    return write_plain(write, 1, write_cell_bytes(write), false, &options, error);
}

/* Write the one cell, made with `status`, of a call. */
static ALWAYS_INLINE enum petal_status
write_single(struct write_cell *write, enum petal_status status, const petal_write_options *given,
             int64_t *sum, petal_error *error)
{
    if (status == PETAL_OK && given == NULL && write->operation == WRITE_PLAIN)
        return write_plain(write, 1, write_cell_bytes(write), false, &defaults, error);
    return write_as(write, status, given, sum, error);
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

/* Without bytes, empty or too long: told here, for below it is called a row. */
static SELDOM enum petal_status
refuse_key(petal_slice key, petal_error *error)
{
    RETURN_IF_NO_BYTES(key, error);
    return read_check_key(key, "the key", error);
}

enum petal_status
petal_kv_put(petal_kv *kv, petal_slice key, petal_slice value, const petal_write_options *options,
             petal_error *error)
{
    struct write_cell write;
    enum petal_status status;

    RETURN_IF_NULL(kv, error);
    if (key.data == NULL || key.size - 1 >= PETAL_MAX_ROW_BYTES)
        return refuse_key(key, error);
    status = write_cell_make(&write, kv->family, key, slice_make(NULL, 0), PETAL_LATEST, value,
                             PETAL_PUT, error);
    write.of_keys = true;
    return write_single(&write, status, options, NULL, error);
}

enum petal_status
petal_kv_delete(petal_kv *kv, petal_slice key, petal_error *error)
{
    struct write_cell write;
    enum petal_status status;

    RETURN_IF_NULL(kv, error);
    if (key.data == NULL || key.size - 1 >= PETAL_MAX_ROW_BYTES)
        return refuse_key(key, error);
    status = write_cell_make(&write, kv->family, key, slice_make(NULL, 0), PETAL_LATEST,
                             slice_make(NULL, 0), PETAL_DELETE_COLUMN, error);
    write.of_keys = true;
    return write_single(&write, status, NULL, NULL, error);
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
    RETURN_IF_NULL(db, error);
    RETURN_IF_NULL(batch, error);

    petal_write_options options;
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = take_options(&options, given, error);
    if (status == PETAL_OK)
        status = batch_check(batch, db, &options, error);
    if (status == PETAL_OK)
        status = db_check_opened_for_writing(db, error);
    if (status != PETAL_OK || batch->count == 0)
        return status;
    if (batch->readers > 0)
        return mutate_batch(batch, NULL, &options, NULL, error);
    return write_plain(batch->cells, batch->count, batch->bytes, batch->has_ttl, &options, error);
}

enum petal_status
petal_mutate_row(petal_table *table, petal_slice row, const petal_condition *given,
                 petal_batch *batch, const petal_write_options *given_options, bool *applied,
                 petal_error *error)
{
    petal_write_options options;
    struct condition condition;
    enum petal_status status;

    if (applied != NULL)
        *applied = false;
    RETURN_IF_NULL(table, error);
    RETURN_IF_NO_BYTES(row, error);
    RETURN_IF_NULL(batch, error);
    if (db_enter(table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = take_options(&options, given_options, error);
    if (status == PETAL_OK)
        status = read_check_row(row, error);
    if (status == PETAL_OK)
        status = table_check_alive(table, error);
    if (status == PETAL_OK)
        status = batch_check(batch, table->db, &options, error);
    for (size_t i = 0; status == PETAL_OK && i < batch->count; i++) {
        const struct write_cell *write = &batch->cells[i];

        if (write->family->table != table || !slice_equal(write->cell.row, row))
            status =
                error_set(error, PETAL_INVALID, "cell %zu of the batch is of another row", i + 1);
    }
    if (status != PETAL_OK)
        return status;
    if (given == NULL) {
        status = petal_write(table->db, batch, given_options, error);
        if (applied != NULL)
            *applied = status == PETAL_OK;
        return status;
    }
    status = condition_init(&condition, table, row, given, error);
    return status == PETAL_OK ? mutate_batch(batch, &condition, &options, applied, error) : status;
}
