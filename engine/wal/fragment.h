/*
 * fragment.h -- the pieces of records in a WAL: their headers, checksums and promises.
 *
 *   header of a fragment                       the same in version 2
 *    0  4  checksum of what follows             0  8  checksum of the 16 bytes behind and payload
 *    4  2  payload bytes + 1; top bit: marked   8  8  promise
 *   only of marked ones:                       16  4  bytes of payload
 *    6  1  kind; 10 (hex): with a promise      20  1  kind
 *   only with a promise:                       21  3  zero
 *    7  8  promise
 *   15  4  checksum of the promise
 *
 * Little endian.  A fragment that is not marked is a whole record without a promise.
 *
 * CHECKSUMS are bound to the database, the WAL and the offset, so that nothing which was written
 * elsewhere or earlier passes.  Of version 3 they are the low halves of XXH3-64.  A reader takes
 * fragments from the front and believes in one only where the one before ends, so of what a power
 * cut tears one is checked at a place where it does not belong: 32 bits let it pass once in four
 * billion cuts, as often as damage.  Promises alone are searched for at every byte behind a bad
 * place; so they have a second checksum, and both must be right.
 *
 * A PROMISE says that the WAL was synced up to an offset when the fragment was written.  It stands
 * in the first fragment behind the sync, and again in the first one that begins in each page of
 * WAL_PROMISE_BYTES: what a power cut loses or damage spoils is a page, or some of them, and any
 * other page behind the sync tells of it still.
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

#define WAL_FRAGMENT_LEAST_BYTES  6  /* header of a fragment that is not marked */
#define WAL_FRAGMENT_MARKED_BYTES 7  /* without a promise */
#define WAL_FRAGMENT_MOST_BYTES   19 /* with one */
#define WAL_PROMISE_BYTES         4096
#define WAL_FRAGMENT_V2_BYTES     24

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

/* Where no more bytes than this are left in a frame, no fragment begins. */
static inline size_t
wal_frame_padding(unsigned version)
{
    return version == 2 ? WAL_FRAGMENT_V2_BYTES : WAL_FRAGMENT_MOST_BYTES;
}

/* Bytes of the header of a fragment with this promise; 0: without one. */
static inline size_t
wal_fragment_header_bytes(enum wal_fragment_kind kind, uint64_t promise)
{
    if (promise > 0)
        return WAL_FRAGMENT_MOST_BYTES;
    return kind == WAL_FULL ? WAL_FRAGMENT_LEAST_BYTES : WAL_FRAGMENT_MARKED_BYTES;
}

/* Fill the header at `header`, behind which the payload stands; `offset` in the file.  REQUIRES: it
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
bool wal_fragment_parse(struct wal_fragment *fragment, unsigned version, const uint8_t *bytes,
                        size_t available, uint64_t offset);

/* Are its checksums right?  REQUIRES: parsed. */
bool wal_fragment_is_whole(const struct wal_fragment *fragment, unsigned version, uint64_t seed,
                           const uint8_t *bytes, uint64_t offset);

#endif
