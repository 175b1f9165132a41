/* commit.h -- what the engine's other parts need of the write path (engine/write/commit.c). */
#ifndef PETAL_ENGINE_WRITE_COMMIT_H
#define PETAL_ENGINE_WRITE_COMMIT_H

#include "engine/state/db.h"
#include "engine/write/doubles.h"
#include "engine/write/pace.h"

#define WRITE_READ_NOTHING UINT64_MAX

/* One write in the queue; lies on the stack of its thread. Made by write_op_init. */
struct write_op {
    struct write_place place; /* first member; place.bytes: rows, qualifiers and values */
    struct write_cell *cells;
    size_t count;
    struct doubles doubles; /* among the cells; see write_op_init */
    enum petal_durability durability;
    /* The sequence as of which the rows of all cells were read whose operation is not plain, or WRITE_READ_NOTHING. With
     * `row_read` all cells are of one row, and that was read. */
    uint64_t read_point;
    bool row_read;
    /* The write failed for no other reason than that one of these rows was written to since: read again. */
    bool outdated;
    enum petal_status status;
    petal_error *error;
};

/* A write of `count` > 0 cells with `bytes` bytes; resolves its durability. When one of several cells has a time to live of its
 * own, doubles_init comes before the submission, and doubles_fini behind it. */
void write_op_init(struct write_op *op, struct write_cell *cells, size_t count, size_t bytes,
                   const petal_write_options *options, petal_error *error);

/* Fill `options` with what the caller gave, defaults behind its size; what it has for results is
 * made empty. PETAL_INVALID: a field has no value that is one. */
enum petal_status write_options_init(petal_write_options *options, const petal_write_options *given,
                                     petal_error *error);

/* What the write of these cells, with so many bytes in rows, qualifiers and values, is to ask of
 * its pace; count > 0. */
struct pace_write write_pace(petal_db *db, const struct write_cell *cells, size_t count,
                             size_t bytes, const petal_write_options *options);

/* Queue the write, which pace_begin has let go on, and wait until it is done. */
enum petal_status write_submit_admitted(petal_db *db, struct write_op *op);

/* Do the write without a place in the queue. REQUIRES: the caller leads alone. */
enum petal_status write_serve(petal_db *db, struct write_op *op);

/* Take the write leadership for other work; no write runs until write_lead_end. */
void write_lead_alone(petal_db *db, struct write_place *place);
void write_lead_end(petal_db *db, struct write_place *place);

/* Charge what the family's active memtable has grown by. LEADER. */
void write_charge(petal_db *db, petal_family *family);

/* Add a cell, whose room is reserved, to its store's active memtable. LEADER. */
enum petal_status write_apply_cell(petal_db *db, const struct write_cell *write);

#endif
