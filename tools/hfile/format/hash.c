/*
 * hash.c -- see hash.h. All words are little-endian.
 */
#include "tools/hfile/format/hash.h"

#include "tools/hfile/format/format.h"

#include <assert.h>
#include <string.h>

static inline uint32_t
word_at(const uint8_t *bytes)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint32_t word;

    memcpy(&word, bytes, sizeof word);
    return word;
#else
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
#endif
}

static inline uint32_t
rotate(uint32_t word, int bits)
{
    return word << bits | word >> (32 - bits);
}

/* As Java widens a byte: by its sign. */
static inline uint32_t
signed_byte(uint8_t byte)
{
    return (uint32_t)(int32_t)(int8_t)byte;
}

static uint32_t
murmur(const uint8_t *bytes, size_t size, uint32_t seed)
{
    const uint32_t m = 0x5bd1e995u;
    uint32_t hash = seed ^ (uint32_t)size;

    for (; size >= 4; bytes += 4, size -= 4) {
        uint32_t word = word_at(bytes) * m;
        word = (word ^ word >> 24) * m;
        hash = hash * m ^ word;
    }
    if (size >= 3)
        hash ^= signed_byte(bytes[2]) << 16;
    if (size >= 2)
        hash ^= signed_byte(bytes[1]) << 8;
    if (size >= 1)
        hash = (hash ^ signed_byte(bytes[0])) * m;
    hash = (hash ^ hash >> 13) * m;
    return hash ^ hash >> 15;
}

static uint32_t
murmur3(const uint8_t *bytes, size_t size, uint32_t seed)
{
    const uint32_t c1 = 0xcc9e2d51u, c2 = 0x1b873593u;
    uint32_t hash = seed, rest = 0;
    uint32_t length = (uint32_t)size;

    for (; size >= 4; bytes += 4, size -= 4) {
        hash ^= rotate(word_at(bytes) * c1, 15) * c2;
        hash = rotate(hash, 13) * 5 + 0xe6546b64u;
    }
    while (size > 0)
        rest = rest << 8 | bytes[--size];
    hash ^= rotate(rest * c1, 15) * c2;
    hash ^= length;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return hash ^ hash >> 16;
}

struct jenkins {
    uint32_t a, b, c;
};

static void
jenkins_mix(struct jenkins *s)
{
    s->a = (s->a - s->c) ^ rotate(s->c, 4), s->c += s->b;
    s->b = (s->b - s->a) ^ rotate(s->a, 6), s->a += s->c;
    s->c = (s->c - s->b) ^ rotate(s->b, 8), s->b += s->a;
    s->a = (s->a - s->c) ^ rotate(s->c, 16), s->c += s->b;
    s->b = (s->b - s->a) ^ rotate(s->a, 19), s->a += s->c;
    s->c = (s->c - s->b) ^ rotate(s->b, 4), s->b += s->a;
}

static void
jenkins_final(struct jenkins *s)
{
    s->c = (s->c ^ s->b) - rotate(s->b, 14);
    s->a = (s->a ^ s->c) - rotate(s->c, 11);
    s->b = (s->b ^ s->a) - rotate(s->a, 25);
    s->c = (s->c ^ s->b) - rotate(s->b, 16);
    s->a = (s->a ^ s->c) - rotate(s->c, 4);
    s->b = (s->b ^ s->a) - rotate(s->a, 14);
    s->c = (s->c ^ s->b) - rotate(s->b, 24);
}

static uint32_t
jenkins(const uint8_t *bytes, size_t size, uint32_t seed)
{
    uint32_t start = 0xdeadbeefu + (uint32_t)size + seed;
    struct jenkins s = {start, start, start};
    uint8_t last[12] = {0};

    for (; size > 12; bytes += 12, size -= 12) {
        s.a += word_at(bytes);
        s.b += word_at(bytes + 4);
        s.c += word_at(bytes + 8);
        jenkins_mix(&s);
    }
    if (size == 0)
        return s.c;
    memcpy(last, bytes, size);
    s.a += word_at(last);
    s.b += word_at(last + 4);
    s.c += word_at(last + 8);
    jenkins_final(&s);
    return s.c;
}

bool
hfile_hash_is_known(int64_t type)
{
    return type >= HFILE_HASH_JENKINS && type <= HFILE_HASH_MURMUR3;
}

uint32_t
hfile_hash(int type, const void *bytes, size_t size, uint32_t seed)
{
    assert(hfile_hash_is_known(type));
    switch (type) {
    case HFILE_HASH_JENKINS:
        return jenkins(bytes, size, seed);
    case HFILE_HASH_MURMUR3:
        return murmur3(bytes, size, seed);
    case HFILE_HASH_MURMUR:
    default:
        return murmur(bytes, size, seed);
    }
}
