/*
 * mend.h -- right checksums for bytes that are to pass for files, and what else a reader asks for
 * before it looks at the rest: without them nearly every input would be turned away at once.
 */
#ifndef PETAL_TESTS_FUZZ_MEND_H
#define PETAL_TESTS_FUZZ_MEND_H

#include "base/checksum.h"
#include "base/coding.h"
#include "engine/manifest/format.h"
#include "engine/wal/file_format.h"
#include "engine/wal/fragment.h"
#include "sstable/block/block_io.h"
#include "sstable/file/trailer.h"

/* ---- store files: frames one after the other, and the trailer ---- */

static inline void
mend_store_file(uint8_t *bytes, size_t size)
{
    static const uint8_t magic[] = {0x89, 'P', 'E', 'T', 'A', 'L', 'S', 'F'};
    uint8_t *trailer;
    uint64_t identity;
    size_t end;

    if (size < TRAILER_BYTES)
        return;
    end = size - TRAILER_BYTES;
    trailer = bytes + end;
    identity = get_le64(trailer + 8);
    for (size_t at = 0; end - at > BLOCK_FRAME_BYTES;) {
        size_t stored = get_le32(bytes + at + 12);

        if (stored > end - at - BLOCK_FRAME_BYTES)
            break;
        put_le64(bytes + at,
                 checksum_at(identity, at, bytes + at + 8, BLOCK_FRAME_BYTES - 8 + stored));
        at += BLOCK_FRAME_BYTES + stored;
    }
    memcpy(trailer + TRAILER_BYTES - 8, magic, 8);
    put_le64(trailer + 16, size);
    put_le64(trailer, checksum_at(identity, end, trailer + 8, TRAILER_BYTES - 8));
}

/* ---- manifests ---- */

static inline void
mend_manifest(uint8_t *bytes, size_t size)
{
    size_t at = MANIFEST_HEADER_BYTES;

    if (size < MANIFEST_HEADER_BYTES)
        return;
    memcpy(bytes, MANIFEST_MAGIC, 8);
    put_le32(bytes + 8, MANIFEST_VERSION);
    put_le32(bytes + 12, MANIFEST_HEADER_BYTES);
    put_le64(bytes + 48, 0);
    put_le64(bytes + MANIFEST_HEADER_CHECKSUM, checksum_at(0, 0, bytes, MANIFEST_HEADER_CHECKSUM));
    while (size - at >= MANIFEST_RECORD_BYTES) {
        size_t left = size - at;
        size_t payload = get_le32(bytes + at + 16);
        size_t record;

        if (payload > left - MANIFEST_RECORD_BYTES)
            payload = left - MANIFEST_RECORD_BYTES;
        record = (MANIFEST_RECORD_BYTES + payload + 7) / 8 * 8;
        if (record > left)
            return;
        put_le32(bytes + at + 16, (uint32_t)payload);
        put_le64(bytes + at, checksum_at(get_le64(bytes + 32), at, bytes + at + 8, record - 8));
        at += record;
    }
}

/* ---- logs ---- */

/* The fragment at `at`, made right; returns the bytes that it takes, 0: there is no room. */
static inline size_t
mend_fragment(uint8_t *bytes, size_t available, size_t at, uint64_t seed)
{
    unsigned length, kind = WAL_FULL;
    uint64_t promise = 0;
    size_t header, payload;

    if (available < WAL_FRAGMENT_MOST_BYTES)
        return 0;
    length = get_le16(bytes + 4);
    if ((length & 0x8000) != 0) {
        kind = bytes[6] % 4 + 1u;
        promise = (bytes[6] & 0x10) != 0 ? get_le64(bytes + 7) % (at + 1) : 0;
    }
    header = wal_fragment_header_bytes((enum wal_fragment_kind)kind, promise);
    payload = length & 0x7fff;
    if (kind == WAL_FIRST || kind == WAL_MIDDLE)
        payload = wal_frame_left(at) - header;
    if (payload > available - header)
        payload = available - header;
    if (header + payload > wal_frame_left(at))
        return 0;
    wal_fragment_seal(bytes, seed, at, (enum wal_fragment_kind)kind, promise, payload);
    return header + payload;
}

/* Sets the header's format and identity; its fields about the log before stay. */
static inline void
mend_log(uint8_t *bytes, size_t size, uint64_t identity, uint64_t number)
{
    uint64_t seed = wal_seed(identity, number);
    size_t at = WAL_HEADER_BYTES;

    if (size < WAL_HEADER_BYTES)
        return;
    memcpy(bytes, WAL_MAGIC, 8);
    put_le32(bytes + 8, WAL_VERSION);
    put_le32(bytes + 12, WAL_HEADER_BYTES);
    put_le64(bytes + 16, identity);
    put_le64(bytes + 24, number);
    put_le64(bytes + WAL_HEADER_CHECKSUM, wal_header_checksum(bytes, WAL_HEADER_BYTES));
    while (at < size) {
        size_t left = wal_frame_left(at), taken;

        if (left <= WAL_FRAGMENT_MOST_BYTES) {
            at += left;
            continue;
        }
        taken = mend_fragment(bytes + at, size - at, at, seed);
        if (taken == 0)
            return;
        at += taken;
    }
}

#endif
