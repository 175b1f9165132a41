/* packed_numbers.c -- see sstable/block/packed_numbers.h. */
#include "sstable/block/packed_numbers.h"

#include <assert.h>

/* Bits of a number that one load of 8 bytes gives, wherever in a byte its first bit is.  Wider
 * numbers take 64, which begin with a byte. */
#define LOADED_BITS 57

/* How a group is stored. */
struct plan {
    uint64_t base;
    unsigned bits, far;
};

static unsigned
bits_of(uint64_t number)
{
    return number == 0 ? 0 : 64 - (unsigned)__builtin_clzll(number);
}

static uint64_t
low_bits(unsigned bits)
{
    return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* ---- writing ---- */

/* Find base and width with which the numbers take the fewest bytes. */
static void
make_plan(struct plan *plan, const uint64_t *numbers, size_t count)
{
    uint8_t having[65] = {0}; /* numbers of so many bits */
    unsigned most = 0, above = 0;
    size_t least;

    *plan = (struct plan){.base = count > 0 ? numbers[0] : 0};
    for (size_t i = 1; i < count; i++)
        plan->base = numbers[i] < plan->base ? numbers[i] : plan->base;
    for (size_t i = 0; i < count; i++) {
        unsigned bits = bits_of(numbers[i] - plan->base);

        having[bits]++;
        most = bits > most ? bits : most;
    }
    plan->bits = most > LOADED_BITS ? 64 : most;
    least = (count * plan->bits + 7) / 8;
    for (unsigned bits = most; bits-- > 0;) {
        size_t bytes;

        above += having[bits + 1];
        bytes = (count * bits + 7) / 8 + above * (size_t)(1 + (most - bits + 6) / 7);
        if (bits <= LOADED_BITS && bytes < least) {
            plan->bits = bits;
            plan->far = above;
            least = bytes;
        }
    }
}

/* Write the lower bits of what each number is above the base. */
static uint8_t *
put_bits(uint8_t *to, const uint64_t *numbers, size_t count, const struct plan *plan)
{
    uint64_t pending = 0;
    unsigned used = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t number = (numbers[i] - plan->base) & low_bits(plan->bits);

        pending |= number << used;
        used += plan->bits;
        if (used < 64)
            continue;
        put_le64(to, pending);
        to += 8;
        used -= 64;
        pending = used == 0 ? 0 : number >> (plan->bits - used);
    }
    for (; used > 0; used = used > 8 ? used - 8 : 0) {
        *to++ = (uint8_t)pending;
        pending >>= 8;
    }
    return to;
}

uint8_t *
packed_numbers_put(uint8_t *to, const uint64_t *numbers, size_t count, enum packing packing,
                   uint64_t *before)
{
    uint64_t differences[PACKED_GROUP];
    struct plan plan;
    size_t first = 0;

    assert(count >= 1 && count <= PACKED_GROUP);
    for (size_t i = 0; packing == PACKED_DIFFERENCES && i < count; i++) {
        differences[i] = numbers[i] - *before;
        *before = numbers[i];
    }
    if (packing == PACKED_DIFFERENCES) {
        numbers = differences;
        first = 1;
    }
    make_plan(&plan, numbers + first, count - first);
    *to++ = (uint8_t)plan.bits;
    *to++ = (uint8_t)plan.far;
    to = put_varint64(to, plan.base);
    if (first == 1)
        to = put_varint64(to, numbers[0]);
    to = put_bits(to, numbers + first, count - first, &plan);
    for (size_t i = first; plan.far > 0 && i < count; i++) {
        uint64_t upper = (numbers[i] - plan.base) >> plan.bits;

        if (upper == 0)
            continue;
        *to++ = (uint8_t)i;
        to = put_varint64(to, upper);
    }
    return to;
}

/* ---- reading ---- */

static const uint8_t *
get_far(const uint8_t *from, const uint8_t *limit, uint64_t *numbers, size_t count,
        const struct plan *plan)
{
    for (unsigned i = 0; from != NULL && i < plan->far; i++) {
        uint64_t upper;
        size_t index;

        if (from == limit || *from >= count)
            return NULL;
        index = *from++;
        from = get_varint64(from, limit, &upper);
        if (from != NULL)
            numbers[index] += upper << plan->bits;
    }
    return from;
}

const uint8_t *
packed_numbers_get(const uint8_t *from, const uint8_t *limit, uint64_t *numbers, size_t count,
                   enum packing packing, uint64_t *before)
{
    uint8_t bytes[8 * PACKED_GROUP + 8]; /* a load of the last number passes the end */
    size_t first = packing == PACKED_DIFFERENCES ? 1 : 0, size;
    struct plan plan;
    uint64_t mask;

    assert(count >= 1 && count <= PACKED_GROUP);
    if (limit - from < 2)
        return NULL;
    plan.bits = *from++;
    plan.far = *from++;
    if (plan.bits > LOADED_BITS && (plan.bits != 64 || plan.far != 0))
        return NULL;
    from = get_varint64(from, limit, &plan.base);
    if (from != NULL && first == 1)
        from = get_varint64(from, limit, &numbers[0]);
    size = ((count - first) * plan.bits + 7) / 8;
    if (from == NULL || size > (size_t)(limit - from))
        return NULL;
    memcpy(bytes, from, size);
    mask = low_bits(plan.bits);
    for (size_t i = first, at = 0; i < count; i++, at += plan.bits)
        numbers[i] = plan.base + (get_le64(bytes + at / 8) >> at % 8 & mask);
    from = get_far(from + size, limit, numbers, count, &plan);
    if (from == NULL || packing == PACKED_AS_THEY_ARE)
        return from;
    for (size_t i = 0; i < count; i++)
        numbers[i] = *before += numbers[i];
    return from;
}
