/*
 * coding.h -- integers as bytes: fixed width little endian (formats), fixed width big
 * endian (comparable keys), varints (LEB128: 7 bits a byte, low first, top bit: more follows).
 *
 * Decoders of variable length take the end of the input and return NULL when it would be
 * passed or the value does not fit; they never read at or after `limit`.
 */
#ifndef PETAL_BASE_CODING_H
#define PETAL_BASE_CODING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VARINT32_MAX_BYTES 5
#define VARINT64_MAX_BYTES 10

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define CODING_LE16(v) __builtin_bswap16(v)
#define CODING_LE32(v) __builtin_bswap32(v)
#define CODING_LE64(v) __builtin_bswap64(v)
#define CODING_BE64(v) (v)
#else
#define CODING_LE16(v) (v)
#define CODING_LE32(v) (v)
#define CODING_LE64(v) (v)
#define CODING_BE64(v) __builtin_bswap64(v)
#endif

static inline uint16_t
get_le16(const void *from)
{
    uint16_t v;
    memcpy(&v, from, sizeof v);
    return CODING_LE16(v);
}

static inline uint32_t
get_le32(const void *from)
{
    uint32_t v;
    memcpy(&v, from, sizeof v);
    return CODING_LE32(v);
}

static inline uint64_t
get_le64(const void *from)
{
    uint64_t v;
    memcpy(&v, from, sizeof v);
    return CODING_LE64(v);
}

static inline uint32_t
get_be32(const void *from)
{
    const uint8_t *bytes = from;

    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static inline uint64_t
get_be64(const void *from)
{
    uint64_t v;
    memcpy(&v, from, sizeof v);
    return CODING_BE64(v);
}

static inline void
put_le16(void *to, uint16_t v)
{
    v = CODING_LE16(v);
    memcpy(to, &v, sizeof v);
}

static inline void
put_le32(void *to, uint32_t v)
{
    v = CODING_LE32(v);
    memcpy(to, &v, sizeof v);
}

static inline void
put_le64(void *to, uint64_t v)
{
    v = CODING_LE64(v);
    memcpy(to, &v, sizeof v);
}

static inline void
put_be64(void *to, uint64_t v)
{
    v = CODING_BE64(v);
    memcpy(to, &v, sizeof v);
}

/* Copy bytes; return the byte after them.  No bytes may be at NULL. */
static inline uint8_t *
put_bytes(uint8_t *to, const void *from, size_t size)
{
    if (size > 0)
        memcpy(to, from, size);
    return to + size;
}

uint8_t *put_varint64_slow(uint8_t *to, uint64_t v);
size_t varint64_size_slow(uint64_t v);

/* Write `v` at `to` (room for the maximum); return the byte after it. */
static inline uint8_t *
put_varint64(uint8_t *to, uint64_t v)
{
    if (v < 0x80) {
        *to = (uint8_t)v;
        return to + 1;
    }
    return put_varint64_slow(to, v);
}

/* Bytes that put_varint64 writes for `v`. */
static inline size_t
varint64_size(uint64_t v)
{
    return v < 0x80 ? 1 : varint64_size_slow(v);
}

const uint8_t *get_varint64(const uint8_t *from, const uint8_t *limit, uint64_t *v);
const uint8_t *get_varint32_slow(const uint8_t *from, const uint8_t *limit, uint32_t *v);

static inline const uint8_t *
get_varint32(const uint8_t *from, const uint8_t *limit, uint32_t *v)
{
    if (from < limit && *from < 0x80) {
        *v = *from;
        return from + 1;
    }
    return get_varint32_slow(from, limit, v);
}

#endif
