/*
 * fragment.h -- the pieces of records in a WAL: their headers, checksums and promises.
 *
 *   header of a fragment
 *    0  4  checksum of what follows
 *    4  2  payload bytes + 1; top bit: marked
 *   only of marked ones:
 *    6  1  kind; 10 (hex): with a promise
 *   only with a promise:
 *    7  8  promise
 *   15  4  checksum of the promise
 *
 * Little endian.  A fragment that is not marked is a whole record without a promise.
 *
 * CHECKSUMS are the low halves of XXH3-64, seeded with the database, the WAL and the offset, so
 * bytes written elsewhere or earlier do not pass.  A reader goes from the front and expects a
 * fragment only where the one before it ends.  So after a power cut it checks one place that may
 * hold anything, and 32 bits let that pass once in four billion cuts, as often as damage.  Only
 * promises are searched for at every byte after a bad place; so they have a second checksum, and
 * both must be right.
 *
 * A PROMISE is the offset up to which the WAL was synced when the fragment was written.  It is in
 * the first fragment after the sync, and again in the first one that begins in each page of
 * WAL_PROMISE_BYTES: a power cut or damage spoils whole pages, and every other page after the sync
 * still has the promise.
 */
#ifndef PETAL_ENGINE_WAL_FRAGMENT_H
#define PETAL_ENGINE_WAL_FRAGMENT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/checksum.h"
#include "base/coding.h"
#include "engine/wal/file.h"

#define WAL_FRAGMENT_LEAST_BYTES  6 /* header of a fragment that is not marked */
#define WAL_FRAGMENT_MARKED_BYTES 7 /* without a promise */
#define WAL_FRAGMENT_MOST_BYTES                                                                    \
    19 /* with one; no fragment begins where no more are left in a frame */
#define WAL_PROMISE_BYTES 4096

enum wal_fragment_kind { WAL_FULL = 1, WAL_FIRST = 2, WAL_MIDDLE = 3, WAL_LAST = 4 };

struct wal_fragment {
    const uint8_t *payload;
    size_t header_bytes, payload_bytes;
    uint64_t promise; /* 0: none */
    enum wal_fragment_kind kind;
};

/* The identity of a WAL's checksums.  Numbers are small and alike: mixed, so that no two WALs
 * differ by an offset's multiple. */
static inline uint64_t
wal_seed(uint64_t database_identity, uint64_t number)
{
    uint64_t mixed = number + 0x9E3779B97F4A7C15u;

    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return database_identity ^ mixed ^ (mixed >> 31);
}

/* Bytes from `offset` to the end of its frame. */
static inline size_t
wal_frame_left(uint64_t offset)
{
    return WAL_FRAME_BYTES - (size_t)(offset & (WAL_FRAME_BYTES - 1));
}

/* Bytes of the header of a fragment with this promise; 0: without one. */
static inline size_t
wal_fragment_header_bytes(enum wal_fragment_kind kind, uint64_t promise)
{
    if (promise > 0)
        return WAL_FRAGMENT_MOST_BYTES;
    return kind == WAL_FULL ? WAL_FRAGMENT_LEAST_BYTES : WAL_FRAGMENT_MARKED_BYTES;
}

/* Fill the header at `header`, after which the payload stands; `offset` in the file.  REQUIRES: it
 * fits in what is left of the frame. */
void wal_fragment_seal(uint8_t *header, uint64_t seed, uint64_t offset, enum wal_fragment_kind kind,
                       uint64_t promise, size_t payload_bytes);

/* The same for a whole record without a promise. */
static inline void
wal_fragment_seal_record(uint8_t *header, uint64_t seed, uint64_t offset, size_t payload_bytes)
{
    assert(WAL_FRAGMENT_LEAST_BYTES + payload_bytes <= wal_frame_left(offset));
    put_le16(header + 4, (uint16_t)(payload_bytes + 1));
    put_le32(header, (uint32_t)checksum_at(seed, offset, header + 4, payload_bytes + 2));
}

/* Could the bytes at `offset` of the file begin a fragment?  `available`: how many there are, up to
 * the end of the frame.  Looks at the header alone. */
bool wal_fragment_parse(struct wal_fragment *fragment, const uint8_t *bytes, size_t available,
                        uint64_t offset);

/* Are its checksums right?  REQUIRES: parsed. */
bool wal_fragment_is_whole(const struct wal_fragment *fragment, uint64_t seed, const uint8_t *bytes,
                           uint64_t offset);

#endif
