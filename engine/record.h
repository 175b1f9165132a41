/*
 * record.h -- a write as the payload of a log record.
 *
 *     first sequence     u64, little endian; the i-th cell has first sequence + i
 *     cell count         varint, at least 1
 *     cells, each:
 *       table id         varint
 *       family id        varint
 *       type             u8; RECORD_ASSIGNED is added when the store assigned the timestamp
 *       timestamp        u64, little endian
 *       row, qualifier, value: varint length and bytes, each
 *
 * Nothing follows the last cell. Checksums and lengths are the log's (wal.h).
 */
#ifndef PETAL_ENGINE_RECORD_H
#define PETAL_ENGINE_RECORD_H

#include "base/cell.h"

#define RECORD_ASSIGNED 0x80

/* One cell of a write on its way to log and memtable. */
struct write_cell {
    petal_family *family;
    uint64_t row_hash;
    struct cell cell; /* sequence and an assigned timestamp are filled in by the write leader */
    bool
        assigned; /* the store assigns the timestamp: now, or with `resolved` that of an existing version */
    bool resolved; /* cell.timestamp is set already */
};

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
