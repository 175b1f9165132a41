/*
 * model.h -- what the soak knows of its data: slots in memory that outlives the processes which are
 * killed, and the cells that a slot's state means.
 *
 * A slot is a row and belongs to one writer. It holds two states: the one whose write was
 * acknowledged last, and, while a write is under way, the one that this write makes. A single store
 * of `word` acknowledges. So after a kill the row must be what one of the two says, and nothing
 * else.
 *
 * Slots of kind WHOLE are a row in both tables, written by batches only: "first" has up to six
 * columns in three families and a sum over them, "second" the same sum. Slots of kind SINGLE are a
 * row of one table, changed by one call after the other: a plain value, a counter, a text that is
 * appended to, a column with versions at times of its own, a cell with a time to live.
 *
 * Threads: a slot is written by its writer, or by a process that is alone with it; acknowledged and
 * attempted are for all.
 */
#ifndef PETAL_TESTS_SOAK_MODEL_H
#define PETAL_TESTS_SOAK_MODEL_H

#include "engine/petal.h"

#include <stdatomic.h>

#define SOAK_WRITERS    4
#define SOAK_PER_WRITER 2400
#define SOAK_SLOTS      (SOAK_WRITERS * SOAK_PER_WRITER)
#define SOAK_COLUMNS    6
#define SOAK_VERSIONS   3
#define SOAK_FAMILIES   3
#define SOAK_TABLES     2
#define SOAK_PIECES     8 /* that a text has at most */
#define SOAK_ROW_BYTES  16

enum soak_table { SOAK_FIRST, SOAK_SECOND };

struct soak_version {
    int64_t time;
    uint64_t made;
};

/* What was made by the slot's n-th write has the bytes of (slot, column, n). 0: not there. */
struct soak_state {
    uint64_t generation; /* number of the write that made it */
    int64_t time;        /* the last one given to a cell by the writer */
    /* WHOLE */
    bool in_first;
    uint64_t made[SOAK_COLUMNS];
    uint64_t made_in_second;
    /* SINGLE */
    uint64_t plain;
    bool counted;
    int64_t count;
    uint64_t text;
    uint32_t pieces;
    uint32_t version_count;
    struct soak_version versions[SOAK_VERSIONS]; /* newest first */
    uint64_t mortal;
    int64_t lives_until, dead_after; /* of the mortal cell: surely there until, surely gone after */
};

struct soak_slot {
    _Atomic(uint32_t)
        word; /* SOAK_OTHER: states[1] is acknowledged; SOAK_PENDING: the other one is under way */
    _Atomic(uint64_t) acknowledged, attempted; /* generations */
    struct soak_state states[2];
};
#define SOAK_OTHER   1u
#define SOAK_PENDING 2u

/* Shared by all processes of a soak. */
struct soak_shared {
    uint64_t seed;
    const char *root; /* the directory of it all */
    _Atomic(bool) stop;
    _Atomic(bool) failed;
    char failure[2048];
    _Atomic(bool) opened; /* by the process that runs now */
    _Atomic(uint64_t) writes, reads, flushes, compactions, checkpoints, table_snapshots, alters;
    _Atomic(uint64_t) checked_rows, in_flight_there, in_flight_not;
    _Atomic(uint64_t) disk_idle, disk_least, live_bytes; /* of the last thorough look */
    struct soak_slot slots[SOAK_SLOTS];
};

/* ---- states ---- */

bool soak_is_whole(uint32_t slot);
enum soak_table soak_table_of(uint32_t slot); /* of SINGLE slots */
const struct soak_state *soak_acknowledged(const struct soak_slot *slot);

/* The state to be made next, a copy of the one acknowledged with the next generation. */
struct soak_state *soak_begin(struct soak_slot *slot);
void soak_attempt(struct soak_slot *slot);     /* the write begins */
void soak_acknowledge(struct soak_slot *slot); /* it has returned */
void soak_give_up(struct soak_slot *slot);     /* it had not happened: nothing is under way */

/* ---- bytes ---- */

uint64_t soak_hash(uint64_t hash, const void *bytes, size_t size);
void soak_row(uint32_t slot, char row[SOAK_ROW_BYTES + 1]);
/* The slot of a row; SOAK_SLOTS: none has such a row. */
uint32_t soak_slot_of_row(petal_slice row);

#define SOAK_MOST_VALUE 6000
/* The bytes that a write of that generation gives to a column; returns their number. */
size_t soak_value(uint8_t *value, uint32_t slot, unsigned column, uint64_t generation);
#define SOAK_COLUMN_SECOND  6
#define SOAK_COLUMN_PLAIN   7
#define SOAK_COLUMN_VERSION 8
#define SOAK_COLUMN_MORTAL  9
#define SOAK_COLUMN_PIECE   16 /* and the number of the piece; at most SOAK_PIECE_BYTES of it */
#define SOAK_PIECE_BYTES    48

/* ---- cells ---- */

struct soak_cell {
    const char *family, *qualifier;
    const uint8_t *value;
    size_t value_size;
    int64_t time;      /* -1: any */
    bool may_be_there; /* not must */
};

#define SOAK_MOST_CELLS 12
struct soak_cells {
    struct soak_cell cells[SOAK_MOST_CELLS];
    size_t count, used;
    uint8_t bytes[(SOAK_COLUMNS + 4) * SOAK_MOST_VALUE];
};

/* The cells of the slot's row in a table, in their order, with so many versions; `began` and
 * `ended`: when it was read. */
void soak_expect(struct soak_cells *cells, uint32_t slot, const struct soak_state *state,
                 enum soak_table table, unsigned versions, int64_t began, int64_t ended);

#define SOAK_SUM_BYTES 16
/* The sum of a WHOLE slot's state: the generation, and a hash of its columns in "first", 0 when it
 * has none. */
void soak_sum(uint8_t sum[SOAK_SUM_BYTES], uint32_t slot, const struct soak_state *state);

/* ---- failure ---- */

/* Keep the first failure and end the process with status 3. */
void soak_fail(struct soak_shared *shared, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));
void soak_must(struct soak_shared *shared, enum petal_status status, const petal_error *error,
               const char *action);

#endif
