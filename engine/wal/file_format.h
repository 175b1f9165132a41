/*
 * file_format.h -- what writer and replay of the WAL share: sizes, offsets, checksums.
 *
 *   header of the file                        header of a fragment
 *    0  8  magic "PETALLOG"                    0  8  checksum of the 16 bytes that follow and the payload
 *    8  4  version                             8  8  promise: the file was synced up to this offset
 *   12  4  bytes of this header               16  4  bytes of payload
 *   16  8  identity of the database           20  1  kind
 *   24  8  number of the WAL                  21  3  zero
 *   32  8  number of the WAL before it
 *   40  8  its final length
 *   48  8  its last sequence
 *   56  8  how far it was synced
 *   64  8  checksum of the 64 bytes before
 *
 * Little endian.  The header's checksum has a seed that any reader knows, so that a WAL of another database is recognised
 * as such; the fragments' is bound to the database, the WAL and the offset.  In every version the checksum is the last that the
 * header has, so a header of another version is told from a torn one.
 */
#ifndef PETAL_ENGINE_WAL_FILE_FORMAT_H
#define PETAL_ENGINE_WAL_FILE_FORMAT_H

#include "base/checksum.h"
#include "base/coding.h"
#include "engine/wal/file.h"

#define WAL_MAGIC                 "PETALLOG"
#define WAL_VERSION               2u
#define WAL_HEADER_BYTES          72
#define WAL_HEADER_CHECKSUM       64 /* where it stands */
#define WAL_LEAST_HEADER_BYTES    64 /* of any version */
#define WAL_FRAGMENT_HEADER_BYTES 24
#define WAL_CHECKSUM_BYTES        8

enum wal_fragment_kind { WAL_FULL = 1, WAL_FIRST = 2, WAL_MIDDLE = 3, WAL_LAST = 4 };

/* The seed of a WAL's fragments.  Numbers are small and alike: mixed, so that no two WALs differ by
 * an offset's multiple. */
static inline uint64_t
wal_seed(uint64_t database_identity, uint64_t number)
{
    uint64_t mixed = number + 0x9E3779B97F4A7C15u;

    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return database_identity ^ mixed ^ (mixed >> 31);
}

/* Of the fragment whose header lies at `header`, `offset` in the file, with `payload_bytes` behind
 * the header. */
static inline uint64_t
wal_fragment_checksum(uint64_t seed, uint64_t offset, const uint8_t *header, size_t payload_bytes)
{
    return checksum_at(seed, offset, header + WAL_CHECKSUM_BYTES,
                       WAL_FRAGMENT_HEADER_BYTES - WAL_CHECKSUM_BYTES + payload_bytes);
}

/* Of a header of `header_bytes` bytes. */
static inline uint64_t
wal_header_checksum(const uint8_t *header, size_t header_bytes)
{
    return checksum_at(0, 0, header, header_bytes - WAL_CHECKSUM_BYTES);
}

/* Bytes from `offset` to the end of its frame. */
static inline size_t
wal_frame_left(uint64_t offset)
{
    return WAL_FRAME_BYTES - (size_t)(offset & (WAL_FRAME_BYTES - 1));
}

#endif
