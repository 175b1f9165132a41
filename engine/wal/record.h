/*
 * record.h -- a write as the payload of a WAL record.
 *
 *     cells              varint: twice their number, at least 1; plus 1 when the sequence is stated
 *     first sequence     varint, when it is stated; the i-th cell has first sequence + i
 *     cells, each:
 *       flags            u8: half the type in the low three bits, enum record_flags above; type 0:
 *                        more flags follow
 *       more flags       u8: half the type, RECORD_AHEAD; only so
 *       table, family    varints; not with RECORD_SAME_FAMILY
 *       timestamp        signed varint, less the one before; not with RECORD_SAME_TIMESTAMP
 *       time to live     signed varint, milliseconds; only with RECORD_HAS_TTL
 *       row              varint length and bytes; not with RECORD_SAME_ROW
 *       qualifier, value: varint length and bytes, each
 *
 * Nothing follows the last cell. A signed varint is a varint of 2v, or of -2v - 1 for v < 0.
 * Checksums and lengths are the WAL's (engine/wal/file.h).
 *
 * RECORDS BUILD UPON EACH OTHER, for those that follow in a WAL are read in that order or not at
 * all: what the record before ended with is the BASE of the next. Its sequence is the one that
 * follows, and "the cell before" its first cell is the last one of the record before. Where there
 * is no base, or another sequence comes, the record states it; then the cell before its first has
 * timestamp 0 and no family. RECORD_SAME_ROW never reaches beyond the record.
 */
#ifndef PETAL_ENGINE_WAL_RECORD_H
#define PETAL_ENGINE_WAL_RECORD_H

#include "base/cell.h"
#include "base/coding.h"
#include "base/mem.h"
#include "engine/state/db.h"
#include "engine/wal/file.h"

enum record_flags {
    RECORD_SAME_FAMILY = 0x08, /* as the cell before */
    RECORD_SAME_TIMESTAMP = 0x10,
    RECORD_SAME_ROW = 0x20,
    RECORD_HAS_TTL = 0x40, /* of the cell's own */
    RECORD_ASSIGNED = 0x80 /* the timestamp is the store's clock */
};

/* Among the flags that few cells have: the store gave the timestamp, ahead of its clock. */
#define RECORD_AHEAD 0x08u

/* What the record before ended with, for a writer and for a reader; zeros: there is none. */
struct record_base {
    uint64_t next_sequence; /* 0: none, and the rest means nothing */
    int64_t timestamp;
    uint32_t table_id;
    uint16_t family_id;
};

/* What has to be read before a cell can be written. */
enum write_operation {
    WRITE_PLAIN,         /* nothing */
    WRITE_APPEND,        /* `value` goes after the newest version's */
    WRITE_INCREMENT,     /* `value`, 8 bytes big endian, is added to the newest version's */
    WRITE_DELETE_NEWEST, /* the timestamp of the newest version, or of the k-th newest */
};

/* One cell of a write on its way to the WAL and the memtable. */
struct write_cell {
    petal_family *family;
    struct store *store; /* of its row: the leader's */
    uint64_t row_hash;
    struct cell cell; /* sequence and an assigned timestamp are filled in by the write leader */
    int64_t least_timestamp; /* an assigned timestamp is this one if it is later than now; else 0 */
    uint32_t mutation;       /* of its batch that it belongs to */
    enum write_operation operation;
    /* The store assigns the timestamp: now, or with `resolved` one that depends on an existing
     * version. */
    bool assigned;
    bool resolved; /* cell.timestamp is set, and says nothing of the store's clock */
    /* .. but is the store's own, and counts as stamped (petal_family). Before it is set: so does
     * the one that least_timestamp was taken from, in whatever family. */
    bool ahead;
    bool of_keys; /* of a key-value table: an assigned timestamp is above all that the key has */
    /* The row was looked at for timestamps that an assigned one has to be above: least_timestamp
     * says so. */
    bool looked;
};

/* Of row, qualifier and value. */
static inline size_t
write_cell_bytes(const struct write_cell *write)
{
    return write->cell.row.size + write->cell.qualifier.size + write->cell.value.size;
}

/* Bytes that record_encode writes for these cells upon this base. */
size_t record_size(const struct record_base *base, const struct write_cell *cells, size_t count);

/* Encode cells, whose sequences and timestamps are set, at `to`; the base is that of the next
 * record then. */
void record_encode(uint8_t *to, struct record_base *base, const struct write_cell *cells,
                   size_t count);

/* Does a record of this one cell say nothing but flags, row, qualifier and value, the first two in
 * lengths of one byte?  Most do: encoding these apart saves an eighth of a put's instructions. */
static inline bool
record_is_short(const struct record_base *base, const struct write_cell *write)
{
    const struct cell *cell = &write->cell;

    return base->next_sequence == cell->sequence && base->timestamp == cell->timestamp &&
           base->table_id == write->family->table->id && base->family_id == write->family->id &&
           !(cell->has_ttl | write->ahead) && (cell->row.size | cell->qualifier.size) < 0x80;
}

/* Bytes of such a record. */
static inline size_t
record_short_size(const struct write_cell *write)
{
    return 4 + varint64_size(write->cell.value.size) + write_cell_bytes(write);
}

static inline uint8_t *
record_put_short(uint8_t *to, petal_slice field)
{
    *to++ = (uint8_t)field.size;
    mem_copy_short(to, field.data, field.size);
    return to + field.size;
}

/* record_encode of it.  REQUIRES: it is short. */
static inline void
record_encode_short(uint8_t *to, struct record_base *base, const struct write_cell *write)
{
    const struct cell *cell = &write->cell;

    to[0] = 1 << 1;
    to[1] = (uint8_t)((unsigned)cell->type / 2 | RECORD_SAME_FAMILY | RECORD_SAME_TIMESTAMP |
                      (write->assigned && !write->resolved ? RECORD_ASSIGNED : 0u));
    to = record_put_short(to + 2, cell->row);
    to = record_put_short(to, cell->qualifier);
    to = put_varint64(to, cell->value.size);
    base->next_sequence++;
    if (cell->value.size > 0)
        memcpy(to, cell->value.data, cell->value.size);
}

/* One cell as decoded; slices point into the record. */
struct record_cell {
    uint32_t table_id;
    uint16_t family_id;
    bool assigned;
    bool ahead; /* the store gave the timestamp, but its clock was behind it */
    struct cell cell;
};

struct record_reader {
    const uint8_t *from, *limit;
    uint64_t next_sequence;
    uint64_t remaining; /* cells */
    petal_slice row;    /* of the cell before in the record; empty: there is none */
    struct record_base *base;
};

/* Begin reading an untrusted payload of a WAL.  `base`: zeros at the beginning of a WAL; after all
 * cells are read it is the base of the next record.  False: malformed. */
bool record_open(struct record_reader *reader, struct record_base *base, petal_slice payload);

/* The next cell while reader->remaining > 0. False: malformed. */
bool record_next(struct record_reader *reader, struct record_cell *cell);

/* The error of a cell of the record, whose table or family the manifest has never known. */
enum petal_status record_cell_unknown(const struct record_cell *cell,
                                      const struct wal_record *record, petal_error *error);

/* All cells were read and nothing is left. */
bool record_at_end(const struct record_reader *reader);

/* Hand each cell of the record to `visit`, which may refuse it. PETAL_CORRUPT: it is malformed.
 * `base`: as for record_open; the first record of a WAL makes it zeros. */
typedef enum petal_status record_visit(void *argument, const struct wal_record *record,
                                       const struct record_cell *cell, petal_error *error);
enum petal_status record_visit_cells(struct record_base *base, const struct wal_record *record,
                                     record_visit *visit, void *argument, petal_error *error);

#endif
