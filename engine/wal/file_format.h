/*
 * file_format.h -- what writer and replay of the WAL share: the header of the file.  Fragments are
 * fragment.h's.
 *
 *    0  8  magic "PETALLOG"
 *    8  4  version
 *   12  4  bytes of this header
 *   16  8  identity of the database
 *   24  8  number of the WAL
 *   32  8  number of the WAL before it
 *   40  8  its final length
 *   48  8  its last sequence
 *   56  8  how far it was synced
 *   64  8  checksum of the 64 bytes before
 *
 * Little endian.  The seed of the header's checksum does not depend on the database, so a WAL of
 * another database is recognised.  In any version the checksum is the last field of the header,
 * which has at least these 72 bytes, so a header of another version differs from a torn one.
 */
#ifndef PETAL_ENGINE_WAL_FILE_FORMAT_H
#define PETAL_ENGINE_WAL_FILE_FORMAT_H

#include "base/checksum.h"
#include "base/coding.h"
#include "engine/wal/file.h"

#define WAL_MAGIC                 "PETALLOG"
#define WAL_VERSION               1u
#define WAL_HEADER_BYTES          72
#define WAL_HEADER_CHECKSUM       64 /* where it stands */
#define WAL_HEADER_CHECKSUM_BYTES 8

/* The checksum of a header of `header_bytes` bytes. */
static inline uint64_t
wal_header_checksum(const uint8_t *header, size_t header_bytes)
{
    return checksum_at(0, 0, header, header_bytes - WAL_HEADER_CHECKSUM_BYTES);
}

#endif
