/* fragment.c -- see fragment.h. */
#include "engine/wal/fragment.h"

#include "base/checksum.h"
#include "base/coding.h"

#include <assert.h>

#define MARKED         0x8000u /* of the length */
#define HAS_PROMISE    0x10u   /* of the kind */
#define CHECKSUM_BYTES 4
#define PROMISE_OFFSET 7

static uint32_t
checksum_of(uint64_t seed, uint64_t offset, const uint8_t *header, size_t bytes)
{
    return (uint32_t)checksum_at(seed, offset, header + CHECKSUM_BYTES, bytes - CHECKSUM_BYTES);
}

static uint32_t
checksum_of_promise(uint64_t seed, uint64_t offset, const uint8_t *header)
{
    return (uint32_t)checksum_at(seed, offset + PROMISE_OFFSET, header + PROMISE_OFFSET, 8);
}

void
wal_fragment_seal(uint8_t *header, uint64_t seed, uint64_t offset, enum wal_fragment_kind kind,
                  uint64_t promise, size_t payload_bytes)
{
    size_t header_bytes = wal_fragment_header_bytes(kind, promise);
    unsigned length = (unsigned)payload_bytes + 1;

    assert(header_bytes + payload_bytes <= wal_frame_left(offset));
    assert(promise <= offset);
    if (header_bytes > WAL_FRAGMENT_LEAST_BYTES) {
        length |= MARKED;
        header[6] = (uint8_t)(promise > 0 ? kind | HAS_PROMISE : kind);
    }
    if (promise > 0) {
        put_le64(header + PROMISE_OFFSET, promise);
        put_le32(header + PROMISE_OFFSET + 8, checksum_of_promise(seed, offset, header));
    }
    put_le16(header + CHECKSUM_BYTES, (uint16_t)length);
    put_le32(header, checksum_of(seed, offset, header, header_bytes + payload_bytes));
}

/* Fills all but payload; `kind` as stored. */
static bool
parse_header(struct wal_fragment *fragment, unsigned *kind, const uint8_t *bytes, size_t available)
{
    unsigned length;

    if (available < WAL_FRAGMENT_LEAST_BYTES)
        return false;
    length = get_le16(bytes + CHECKSUM_BYTES);
    fragment->header_bytes = WAL_FRAGMENT_LEAST_BYTES;
    fragment->promise = 0;
    *kind = WAL_FULL;
    if ((length & MARKED) != 0) {
        if (available < WAL_FRAGMENT_MARKED_BYTES)
            return false;
        fragment->header_bytes = WAL_FRAGMENT_MARKED_BYTES;
        *kind = bytes[6];
        if (*kind == WAL_FULL) /* without a promise it is not marked */
            return false;
        if ((*kind & HAS_PROMISE) != 0) {
            if (available < WAL_FRAGMENT_MOST_BYTES)
                return false;
            fragment->header_bytes = WAL_FRAGMENT_MOST_BYTES;
            fragment->promise = get_le64(bytes + PROMISE_OFFSET);
            if (fragment->promise == 0)
                return false;
            *kind &= ~HAS_PROMISE;
        }
        length &= ~MARKED;
    }
    if (length == 0)
        return false;
    fragment->payload_bytes = length - 1;
    return true;
}

bool
wal_fragment_parse(struct wal_fragment *fragment, const uint8_t *bytes, size_t available,
                   uint64_t offset)
{
    unsigned kind = 0;

    assert(available <= wal_frame_left(offset));
    if (!parse_header(fragment, &kind, bytes, available) || kind < WAL_FULL || kind > WAL_LAST ||
        fragment->payload_bytes > available - fragment->header_bytes || fragment->promise > offset)
        return false;
    if ((kind == WAL_FIRST || kind == WAL_MIDDLE) &&
        fragment->header_bytes + fragment->payload_bytes != wal_frame_left(offset))
        return false;
    fragment->kind = (enum wal_fragment_kind)kind;
    fragment->payload = bytes + fragment->header_bytes;
    return true;
}

bool
wal_fragment_is_whole(const struct wal_fragment *fragment, uint64_t seed, const uint8_t *bytes,
                      uint64_t offset)
{
    size_t all = fragment->header_bytes + fragment->payload_bytes;

    assert(all <= wal_frame_left(offset));
    if (fragment->promise > 0 &&
        get_le32(bytes + PROMISE_OFFSET + 8) != checksum_of_promise(seed, offset, bytes))
        return false;
    return get_le32(bytes) == checksum_of(seed, offset, bytes, all);
}
