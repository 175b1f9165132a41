/*
 * record.h -- a write as the payload of a WAL record.
 *
 *     first sequence     u64, little endian; the i-th cell has first sequence + i
 *     cell count         varint, at least 1
 *     cells, each:
 *       table id         varint
 *       family id        varint
 *       type             u8; RECORD_ASSIGNED is added when the store assigned the timestamp, RECORD_HAS_TTL when the
 *                        cell has a time to live of its own
 *       timestamp        u64, little endian
 *       time to live     i64, little endian, milliseconds; only with RECORD_HAS_TTL
 *       row, qualifier, value: varint length and bytes, each
 *
 * Nothing follows the last cell. Checksums and lengths are the WAL's (engine/wal/file.h).
 */
#ifndef PETAL_ENGINE_WAL_RECORD_H
#define PETAL_ENGINE_WAL_RECORD_H

#include "base/cell.h"

#define RECORD_ASSIGNED 0x80
#define RECORD_HAS_TTL  0x40

/* What has to be read before a cell can be written. */
enum write_operation {
    WRITE_PLAIN,         /* nothing */
    WRITE_APPEND,        /* `value` goes behind the newest version's */
    WRITE_INCREMENT,     /* `value`, 8 bytes big endian, is added to the newest version's */
    WRITE_DELETE_NEWEST, /* the timestamp of the newest version, or of the k-th newest */
};

/* One cell of a write on its way to the WAL and the memtable. */
struct write_cell {
    petal_family *family;
    uint64_t row_hash;
    struct cell cell; /* sequence and an assigned timestamp are filled in by the write leader */
    int64_t least_timestamp; /* an assigned timestamp is this one if it is later than now; else 0 */
    uint32_t mutation;       /* of its batch that it belongs to */
    enum write_operation operation;
    /* The store assigns the timestamp: now, or with `resolved` one that depends on an existing
     * version. */
    bool assigned;
    bool resolved; /* cell.timestamp is set, and says nothing of the store's clock */
};

/* Of row, qualifier and value. */
static inline size_t
write_cell_bytes(const struct write_cell *write)
{
    return write->cell.row.size + write->cell.qualifier.size + write->cell.value.size;
}

/* Bytes that record_encode writes for these cells. */
size_t record_size(const struct write_cell *cells, size_t count);

/* Encode cells, whose sequences and timestamps are set, at `to`. */
void record_encode(uint8_t *to, const struct write_cell *cells, size_t count);

/* One cell as decoded; slices point into the record. */
struct record_cell {
    uint32_t table_id;
    uint16_t family_id;
    bool assigned;
    struct cell cell;
};

struct record_reader {
    const uint8_t *from, *limit;
    uint64_t next_sequence;
    uint64_t remaining; /* cells */
};

/* Begin reading an untrusted payload. False: malformed. */
bool record_open(struct record_reader *reader, petal_slice payload);

/* The next cell while reader->remaining > 0. False: malformed. */
bool record_next(struct record_reader *reader, struct record_cell *cell);

/* All cells were read and nothing is left. */
bool record_at_end(const struct record_reader *reader);

#endif
