/* packed_numbers.c -- see sstable/packed_numbers.h. */
#include "sstable/packed_numbers.h"

#include "base/coding.h"

#include <assert.h>
#include <stdbool.h>

/* What the bits of a number say; stored. */
enum mode {
    FROM_BASE = 0,   /* the number less the base */
    FROM_BEFORE = 1, /* the number less the one before, less the base; the first stands apart */
    BESIDE_BEFORE =
        2 /* the number less the one before, zigzag: the sign is the lowest bit; the base is 0 */
};

#define MODE_BITS       2
#define MOST_EXCEPTIONS 63
/* Beyond the bits: what a load of the last number reads. */
#define SLACK 9

static inline unsigned
bits_of(uint64_t v)
{
    return v == 0 ? 0 : 64 - (unsigned)__builtin_clzll(v);
}

static inline uint64_t
low_bits(unsigned width)
{
    return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

/* ---- writing ---- */

/* A way to write a group. */
struct way {
    enum mode mode;
    uint64_t first, base; /* `first` not with FROM_BASE */
    unsigned width, exceptions;
    size_t bytes;
    size_t count;                /* numbers that take bits */
    uint64_t bits[PACKED_GROUP]; /* them */
};

/* The width with which the numbers take the fewest bytes. */
static void
choose_width(struct way *way)
{
    uint8_t having[65] = {0}; /* numbers with so many bits */
    unsigned most = 0, above = 0;

    for (size_t i = 0; i < way->count; i++) {
        unsigned bits = bits_of(way->bits[i]);

        having[bits]++;
        most = bits > most ? bits : most;
    }
    way->width = most;
    way->exceptions = 0;
    way->bytes = (way->count * most + 7) / 8;
    for (unsigned width = most; width-- > 0;) {
        size_t bytes;

        above += having[width + 1];
        if (above > MOST_EXCEPTIONS)
            break;
        bytes = (way->count * width + 7) / 8 + above * (size_t)(1 + (most - width + 6) / 7);
        if (bytes < way->bytes) {
            way->width = width;
            way->exceptions = above;
            way->bytes = bytes;
        }
    }
    way->bytes += varint64_size(way->base);
    if (way->mode != FROM_BASE)
        way->bytes += varint64_size(way->first);
}

static void
measure(struct way *way, enum mode mode, const uint64_t *numbers, size_t count)
{
    way->mode = mode;
    way->first = numbers[0];
    way->base = 0;
    way->count = mode == FROM_BASE ? count : count - 1;
    for (size_t i = 0; i < way->count; i++)
        way->bits[i] = mode == FROM_BASE ? numbers[i] : numbers[i + 1] - numbers[i];
    if (mode == BESIDE_BEFORE) {
        for (size_t i = 0; i < way->count; i++)
            way->bits[i] = zigzag64(way->bits[i]);
    } else if (way->count > 0) {
        way->base = way->bits[0];
        for (size_t i = 1; i < way->count; i++)
            way->base = way->bits[i] < way->base ? way->bits[i] : way->base;
        for (size_t i = 0; i < way->count; i++)
            way->bits[i] -= way->base;
    }
    choose_width(way);
}

static uint8_t *
put_way(uint8_t *to, const struct way *way)
{
    uint64_t mask = low_bits(way->width), pending = 0;
    unsigned used = 0;

    *to++ = (uint8_t)(way->mode | way->exceptions << MODE_BITS);
    *to++ = (uint8_t)way->width;
    if (way->mode != FROM_BASE)
        to = put_varint64(to, way->first);
    to = put_varint64(to, way->base);
    for (size_t i = 0; i < way->count; i++) {
        uint64_t v = way->bits[i] & mask;

        pending |= v << used;
        used += way->width;
        if (used >= 64) {
            put_le64(to, pending);
            to += 8;
            used -= 64;
            pending = used == 0 ? 0 : v >> (way->width - used);
        }
    }
    for (; used > 0; used = used > 8 ? used - 8 : 0) {
        *to++ = (uint8_t)pending;
        pending >>= 8;
    }
    for (size_t i = 0; way->exceptions > 0 && i < way->count; i++) {
        if (way->bits[i] <= mask)
            continue;
        *to++ = (uint8_t)i;
        to = put_varint64(to, way->bits[i] >> way->width);
    }
    return to;
}

uint8_t *
packed_numbers_put(uint8_t *to, const uint64_t *numbers, size_t count, enum packed_hint hint)
{
    struct way ways[2];
    size_t repeated = 0, ascending = 0;
    unsigned best = 0;
    enum mode other;

    assert(count >= 1 && count <= PACKED_GROUP);
    for (size_t i = 1; i < count; i++) {
        repeated += numbers[i] == numbers[i - 1];
        ascending += numbers[i] >= numbers[i - 1];
    }
    assert(hint != PACKED_ASCENDING || ascending == count - 1);
    other = hint == PACKED_ASCENDING || ascending == count - 1 ? FROM_BEFORE : BESIDE_BEFORE;
    measure(&ways[0], hint == PACKED_ASCENDING ? FROM_BEFORE : FROM_BASE, numbers, count);
    /* Numbers that jump to and fro are no nearer to one another than to the least. */
    if (hint == PACKED_ANY && (other == FROM_BEFORE || repeated >= count / 4)) {
        measure(&ways[1], other, numbers, count);
        best = ways[1].bytes < ways[0].bytes;
    }
    return put_way(to, &ways[best]);
}

/* ---- reading ---- */

/* A group's head. */
struct group {
    unsigned mode, exceptions, width;
    uint64_t first, base;
    size_t count;          /* numbers that take bits */
    const uint8_t *bits;   /* them */
    const uint8_t *behind; /* the exceptions */
};

static bool
take_head(struct group *group, const uint8_t *from, const uint8_t *limit, size_t count)
{
    size_t bytes;

    assert(count >= 1 && count <= PACKED_GROUP);
    if (limit - from < 2)
        return false;
    group->mode = from[0] & ((1u << MODE_BITS) - 1);
    group->exceptions = from[0] >> MODE_BITS;
    group->width = from[1];
    group->first = 0;
    if (group->mode > BESIDE_BEFORE || group->width > 64)
        return false;
    group->count = group->mode == FROM_BASE ? count : count - 1;
    from += 2;
    if (group->mode != FROM_BASE)
        from = get_varint64(from, limit, &group->first);
    from = from == NULL ? NULL : get_varint64(from, limit, &group->base);
    bytes = (group->count * group->width + 7) / 8;
    if (from == NULL || bytes > (size_t)(limit - from))
        return false;
    group->bits = from;
    group->behind = from + bytes;
    return true;
}

/* What the processor loads at once holds a number of so many bits wherever it begins. */
#define NARROW 57

/* The numbers' bits, without those of exceptions, and the base added to each. */
static void
unpack(const struct group *group, uint64_t base, uint64_t *numbers)
{
    uint8_t bytes[PACKED_GROUP * 8 + SLACK];
    const size_t width = group->width, count = group->count;
    const uint64_t mask = low_bits(group->width);
    size_t at = 0;

    memcpy(bytes, group->bits, (size_t)(group->behind - group->bits));
    memset(bytes + (group->behind - group->bits), 0, SLACK);
    for (size_t i = 0; width <= NARROW && i < count; i++, at += width)
        numbers[i] = base + (get_le64(bytes + at / 8) >> at % 8 & mask);
    for (size_t i = 0; width > NARROW && i < count; i++, at += width) {
        const uint8_t *from = bytes + at / 8;
        uint64_t v = get_le64(from) >> at % 8;

        if (at % 8 + width > 64)
            v |= (uint64_t)from[8] << (64 - at % 8);
        numbers[i] = base + (v & mask);
    }
}

/* Step over the exceptions, and give their upper bits to the numbers unless these are NULL. */
static const uint8_t *
take_exceptions(const struct group *group, const uint8_t *limit, uint64_t *numbers)
{
    const uint8_t *from = group->behind;

    for (unsigned i = 0; i < group->exceptions; i++) {
        uint64_t upper;
        size_t index;

        if (from == limit)
            return NULL;
        index = *from++;
        from = get_varint64(from, limit, &upper);
        if (from == NULL || index >= group->count || group->width == 64)
            return NULL;
        if (numbers != NULL)
            numbers[index] += upper << group->width;
    }
    return from;
}

const uint8_t *
packed_numbers_get(const uint8_t *from, const uint8_t *limit, uint64_t *numbers, size_t count)
{
    struct group group;
    uint64_t *bits, sum;

    if (!take_head(&group, from, limit, count))
        return NULL;
    bits = numbers + (count - group.count);
    unpack(&group, group.base, bits);
    from = group.exceptions == 0 ? group.behind : take_exceptions(&group, limit, bits);
    if (group.mode == FROM_BASE)
        return from;
    numbers[0] = sum = group.first;
    if (group.mode == FROM_BEFORE) {
        for (size_t i = 0; i < group.count; i++)
            bits[i] = sum += bits[i];
    } else {
        for (size_t i = 0; i < group.count; i++)
            bits[i] = sum += unzigzag64(bits[i] - group.base);
    }
    return from;
}

const uint8_t *
packed_numbers_skip(const uint8_t *from, const uint8_t *limit, size_t count)
{
    struct group group;

    return take_head(&group, from, limit, count) ? take_exceptions(&group, limit, NULL) : NULL;
}
