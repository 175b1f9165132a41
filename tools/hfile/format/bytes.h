/*
 * bytes.h -- integers as HFiles have them, written to memory, and taken from bytes that nobody
 * vouches for: what takes from a struct hfile_bytes never passes its end, and leaves it where it
 * was when it fails.
 *
 * Big-endian integers of fixed size; Hadoop's vint (WritableUtils); the varint of protobuf, seven
 * bits a byte, lowest first, which data block encodings use as well.
 */
#ifndef PETAL_HFILE_FORMAT_BYTES_H
#define PETAL_HFILE_FORMAT_BYTES_H

#include "engine/petal.h"

#include <string.h>

#define HFILE_MOST_VINT_BYTES   9
#define HFILE_MOST_VARINT_BYTES 10

/* ---- slices ---- */

static inline petal_slice
hfile_slice(const void *data, size_t size)
{
    return (petal_slice){data, size};
}

static inline petal_slice
hfile_text_slice(const char *text)
{
    return (petal_slice){text, strlen(text)};
}

static inline const uint8_t *
hfile_slice_bytes(petal_slice slice)
{
    return (const uint8_t *)slice.data;
}

/* Unsigned bytewise; a prefix comes first. <0, 0, >0. */
static inline int
hfile_slice_compare(petal_slice a, petal_slice b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common == 0 ? 0 : memcmp(a.data, b.data, common);

    if (order != 0)
        return order;
    return a.size < b.size ? -1 : a.size > b.size;
}

static inline bool
hfile_slice_equal(petal_slice a, petal_slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* ---- integers in memory ---- */

static inline uint16_t
hfile_get_u16(const uint8_t *from)
{
    return (uint16_t)(from[0] << 8 | from[1]);
}

static inline uint32_t
hfile_get_u32(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

static inline uint64_t
hfile_get_u64(const uint8_t *from)
{
    return (uint64_t)hfile_get_u32(from) << 32 | hfile_get_u32(from + 4);
}

static inline void
hfile_put_u16(uint8_t *to, uint16_t value)
{
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

static inline void
hfile_put_u32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static inline void
hfile_put_u64(uint8_t *to, uint64_t value)
{
    hfile_put_u32(to, (uint32_t)(value >> 32));
    hfile_put_u32(to + 4, (uint32_t)value);
}

/*
 * vint: -112..127 is one byte. Otherwise the first byte is -113..-120 for a value >= 0, or
 * -121..-128 for one below 0, of which the complement is stored; 1..8 bytes follow, highest first.
 */
static inline size_t
hfile_vint_bytes(int64_t value)
{
    uint64_t magnitude = value < 0 ? ~(uint64_t)value : (uint64_t)value;
    size_t bytes = 1;

    if (value >= -112 && value <= 127)
        return 1;
    for (; magnitude != 0; magnitude >>= 8)
        bytes++;
    return bytes;
}

/* Returns the bytes written, at most HFILE_MOST_VINT_BYTES. */
static inline size_t
hfile_put_vint(uint8_t *to, int64_t value)
{
    uint64_t magnitude = value < 0 ? ~(uint64_t)value : (uint64_t)value;
    size_t bytes = hfile_vint_bytes(value);

    if (bytes == 1) {
        to[0] = (uint8_t)value;
        return 1;
    }
    to[0] = (uint8_t)((value < 0 ? -120 : -112) - (int)(bytes - 1));
    for (size_t i = bytes - 1; i > 0; i--, magnitude >>= 8)
        to[i] = (uint8_t)magnitude;
    return bytes;
}

static inline size_t
hfile_varint_bytes(uint64_t value)
{
    size_t bytes = 1;

    for (; value >= 0x80; value >>= 7)
        bytes++;
    return bytes;
}

/* Returns the bytes written, at most HFILE_MOST_VARINT_BYTES. */
static inline size_t
hfile_put_varint(uint8_t *to, uint64_t value)
{
    size_t bytes = 0;

    for (; value >= 0x80; value >>= 7)
        to[bytes++] = (uint8_t)(value | 0x80);
    to[bytes++] = (uint8_t)value;
    return bytes;
}

/* ---- taking from bytes that have an end ---- */

struct hfile_bytes {
    const uint8_t *at, *end;
};

static inline struct hfile_bytes
hfile_bytes_of(petal_slice slice)
{
    static const uint8_t none[1];
    const uint8_t *begin = slice.size == 0 ? none : hfile_slice_bytes(slice);

    return (struct hfile_bytes){begin, begin + slice.size};
}

static inline size_t
hfile_bytes_left(const struct hfile_bytes *bytes)
{
    return (size_t)(bytes->end - bytes->at);
}

static inline bool
hfile_take_u8(struct hfile_bytes *bytes, uint8_t *value)
{
    if (bytes->at == bytes->end)
        return false;
    *value = *bytes->at++;
    return true;
}

static inline bool
hfile_take_u16(struct hfile_bytes *bytes, uint16_t *value)
{
    if (hfile_bytes_left(bytes) < 2)
        return false;
    *value = hfile_get_u16(bytes->at);
    bytes->at += 2;
    return true;
}

static inline bool
hfile_take_u32(struct hfile_bytes *bytes, uint32_t *value)
{
    if (hfile_bytes_left(bytes) < 4)
        return false;
    *value = hfile_get_u32(bytes->at);
    bytes->at += 4;
    return true;
}

static inline bool
hfile_take_u64(struct hfile_bytes *bytes, uint64_t *value)
{
    if (hfile_bytes_left(bytes) < 8)
        return false;
    *value = hfile_get_u64(bytes->at);
    bytes->at += 8;
    return true;
}

static inline bool
hfile_take_slice(struct hfile_bytes *bytes, uint64_t size, petal_slice *slice)
{
    if (hfile_bytes_left(bytes) < size)
        return false;
    *slice = hfile_slice(bytes->at, (size_t)size);
    bytes->at += size;
    return true;
}

static inline bool
hfile_take_vint(struct hfile_bytes *bytes, int64_t *value)
{
    size_t more;
    uint64_t magnitude = 0;
    int first;

    if (bytes->at == bytes->end)
        return false;
    first = (int8_t)*bytes->at;
    if (first >= -112) {
        *value = first;
        bytes->at++;
        return true;
    }
    more = (size_t)(first < -120 ? -120 - first : -112 - first);
    if (hfile_bytes_left(bytes) < 1 + more)
        return false;
    for (size_t i = 1; i <= more; i++)
        magnitude = magnitude << 8 | bytes->at[i];
    *value = (int64_t)(first < -120 ? ~magnitude : magnitude);
    bytes->at += 1 + more;
    return true;
}

/* Fails also when the number has more than 64 bits. */
static inline bool
hfile_take_varint(struct hfile_bytes *bytes, uint64_t *value)
{
    uint64_t number = 0;
    const uint8_t *at = bytes->at;

    for (unsigned shift = 0; at < bytes->end && shift < 64; shift += 7) {
        uint8_t byte = *at++;

        if (shift == 63 && byte > 1)
            return false;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = number;
            bytes->at = at;
            return true;
        }
    }
    return false;
}

/* The same for one of at most 31 bits, a length of an encoded cell. */
static inline bool
hfile_take_length(struct hfile_bytes *bytes, uint32_t *value)
{
    const uint8_t *begin = bytes->at;
    uint64_t number;

    if (begin < bytes->end && *begin < 0x80) {
        *value = *begin;
        bytes->at++;
        return true;
    }
    if (!hfile_take_varint(bytes, &number))
        return false;
    if (number > INT32_MAX) {
        bytes->at = begin;
        return false;
    }
    *value = (uint32_t)number;
    return true;
}

#endif
