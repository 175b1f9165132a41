/*
 * hash_sort.c -- see hash_sort.h.  The bits that tell evenly spread hashes apart are sorted by
 * radix, lowest first; then few stand wrong, none far, and insertion mends that.  Hashes that are
 * not spread, which would make insertion take quadratic time, are sorted by all their bits.
 */
#include "bloom/hash_sort.h"

#include <assert.h>
#include <string.h>

#define DIGIT_BITS 8
#define DIGITS     (1u << DIGIT_BITS)

/* Sorted by so many digits, of up to FEW_KEYS evenly spread hashes most are in their places, and of
 * any that fit into memory with the other number of digits. Both odd: see bloom_hash_sort. */
#define FEW_KEYS    (UINT64_C(1) << 27)
#define FEW_DIGITS  3
#define MANY_DIGITS 5

/* Steps of insertion for each hash before it is given up. */
#define MOST_STEPS 64

/* From one array to the other, stable, by one digit. */
static void
sort_digit(const uint64_t *from, size_t count, uint64_t *to, unsigned shift)
{
    size_t ends[DIGITS] = {0}, before = 0;

    for (size_t i = 0; i < count; i++)
        ends[from[i] >> shift & (DIGITS - 1)]++;
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        size_t of_digit = ends[digit];

        ends[digit] = before;
        before += of_digit;
    }
    for (size_t i = 0; i < count; i++)
        to[ends[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

/* Into an array that is sorted, from one that is almost, each hash once.  How many there are then;
 * SIZE_MAX: it is not almost sorted. */
static size_t
insert_all(const uint64_t *from, size_t count, uint64_t *to)
{
    size_t used = 0, steps_left = count < SIZE_MAX / MOST_STEPS ? count * MOST_STEPS : SIZE_MAX;

    for (size_t i = 0; i < count; i++) {
        uint64_t hash = from[i];
        size_t at = used;

        while (at > 0 && to[at - 1] > hash)
            at--;
        if (at > 0 && to[at - 1] == hash)
            continue;
        if (used - at > steps_left)
            return SIZE_MAX;
        steps_left -= used - at;
        memmove(to + at + 1, to + at, (used - at) * sizeof *to);
        to[at] = hash;
        used++;
    }
    return used;
}

static size_t
sort_by_all_bits(uint64_t *hashes, size_t count, uint64_t *spare)
{
    size_t used = 0;

    for (unsigned shift = 0; shift < 64; shift += 2 * DIGIT_BITS) {
        sort_digit(hashes, count, spare, shift);
        sort_digit(spare, count, hashes, shift + DIGIT_BITS);
    }
    for (size_t i = 0; i < count; i++) {
        if (used == 0 || hashes[used - 1] != hashes[i])
            hashes[used++] = hashes[i];
    }
    return used;
}

size_t
bloom_hash_sort(uint64_t *hashes, size_t count, uint64_t *spare, unsigned shared_bits)
{
    unsigned digits = count <= FEW_KEYS ? FEW_DIGITS : MANY_DIGITS;
    unsigned shift = 64 - digits * DIGIT_BITS - (shared_bits < 24 ? shared_bits : 24);
    uint64_t *from = hashes, *to = spare;
    size_t used;

    assert(shared_bits <= 32 && digits % 2 == 1);
    if (count == 0)
        return 0;
    for (unsigned digit = 0; digit < digits; digit++, shift += DIGIT_BITS) {
        sort_digit(from, count, to, shift);
        from = to;
        to = from == hashes ? spare : hashes;
    }
    assert(from == spare);
    used = insert_all(spare, count, hashes);
    if (used != SIZE_MAX)
        return used;
    memcpy(hashes, spare, count * sizeof *hashes);
    return sort_by_all_bits(hashes, count, spare);
}
