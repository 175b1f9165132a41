/* commit.h -- one write on its way through the queue, and the steps of the leader that recovery
 * takes, too. */
#ifndef PETAL_ENGINE_WRITE_COMMIT_H
#define PETAL_ENGINE_WRITE_COMMIT_H

#include "engine/state/db.h"
#include "engine/write/duplicates.h"

#define WRITE_READ_NOTHING UINT64_MAX

/* One write in the queue; lies on the stack of its thread. Made by write_op_init. */
struct write_op {
    struct write_place place; /* first member; place.bytes: rows, qualifiers and values */
    struct write_cell *cells;
    size_t count;
    struct duplicates duplicates; /* among the cells; see write_op_init */
    enum petal_durability durability;
    /* The sequence as of which rows were read, those of all cells whose operation is not plain or
     * that were looked at (engine/write/above.h), or WRITE_READ_NOTHING. With `row_read` all cells
     * are of one row, which was read. */
    uint64_t read_point;
    bool row_read;
    /* The write failed only because one of these rows was written to since, or had to be read and
     * was not: read again. */
    bool outdated;
    enum petal_status status;
    petal_error *error;
};

/* The durability of a write to the table that gives none. */
static inline enum petal_durability
write_durability_of(const petal_table *table)
{
    enum petal_durability own = table_options(table)->durability;

    return own != PETAL_DURABILITY_DEFAULT ? own : table->db->durability;
}

/* A write of `count` > 0 cells with `bytes` bytes; resolves its durability, the strongest of its
 * tables'. If one of several cells has its own time to live, call duplicates_init before the
 * submission, and duplicates_fini after it. */
void write_op_init(struct write_op *op, struct write_cell *cells, size_t count, size_t bytes,
                   const petal_write_options *options, petal_error *error);

/* Queue the write, which pace_begin has admitted, and wait until it is done. */
enum petal_status write_submit(petal_db *db, struct write_op *op);

/* Do the write without a place in the queue. REQUIRES: the caller leads alone. LEADER. */
enum petal_status write_serve(petal_db *db, struct write_op *op);

/* Charge the growth of the store's active memtable. LEADER. */
void write_charge(petal_db *db, struct store *store);

/* Add a cell to its store's active memtable. REQUIRES: its memory is reserved. LEADER. */
enum petal_status write_apply_cell(petal_db *db, const struct write_cell *write);

#endif
