/*
 * key_sort.c -- see key_sort.h.
 *
 * Radix sort from the highest byte that differs, in place: each key is carried to its pile, and the
 * one that lay there is carried on (McIlroy, Bostic and McIlroy 1993). Small piles are sorted by
 * insertion.
 */
#include "tools/lines/numbers/key_sort.h"

enum { PILES = 256, SMALL = 32 };

static void
sort_small(uint64_t *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t key = keys[i];
        size_t at = i;

        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* In how many of the low bits do keys differ? */
static unsigned
differing_bits(const uint64_t *keys, size_t count)
{
    uint64_t differ = 0;

    for (size_t i = 1; i < count; i++)
        differ |= keys[i] ^ keys[0];
    return differ != 0 ? 64 - (unsigned)__builtin_clzll(differ) : 0;
}

/* Pile p comes to lie from begins[p] to begins[p + 1]. */
static void
carry_to_piles(uint64_t *keys, size_t count, unsigned shift, size_t begins[PILES + 1])
{
    size_t next[PILES];

    for (size_t p = 0; p <= PILES; p++)
        begins[p] = 0;
    for (size_t i = 0; i < count; i++)
        begins[(keys[i] >> shift) % PILES + 1]++;
    for (size_t p = 0; p < PILES; p++) {
        begins[p + 1] += begins[p];
        next[p] = begins[p];
    }
    for (size_t p = 0; p < PILES; p++) {
        while (next[p] < begins[p + 1]) {
            uint64_t key = keys[next[p]];
            size_t pile = (key >> shift) % PILES;

            while (pile != p) {
                uint64_t other = keys[next[pile]];

                keys[next[pile]++] = key;
                key = other;
                pile = (key >> shift) % PILES;
            }
            keys[next[p]++] = key;
        }
    }
}

void
key_sort(uint64_t *keys, size_t count)
{
    size_t begins[PILES + 1];
    unsigned bits, shift;

    if (count <= SMALL) {
        sort_small(keys, count);
        return;
    }
    bits = differing_bits(keys, count);
    if (bits == 0)
        return;
    shift = bits > 8 ? bits - 8 : 0;
    carry_to_piles(keys, count, shift, begins);
    /* At most eight deep: each step leaves eight bits fewer that differ. */
    for (size_t p = 0; shift > 0 && p < PILES; p++)
        key_sort(keys + begins[p], begins[p + 1] - begins[p]);
}
