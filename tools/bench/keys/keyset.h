/*
 * keyset.h -- which numbers of 0 .. count - 1 have a pair in the store: a bit each. So every answer
 * can be checked.
 *
 * It is kept beside a store that is kept, in a file of its own: a line of text that says what was
 * written there, then the bits. The line ends in "open" from a store's opening to its closing:
 * after a crash nobody knows what is in it.
 *
 * Threads: add and remove from any number of them; the others, one.
 */
#ifndef PETAL_TOOLS_BENCH_KEYS_KEYSET_H
#define PETAL_TOOLS_BENCH_KEYS_KEYSET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct bench_keyset {
    uint64_t count;
    _Atomic(uint64_t) *words;
};

void bench_keyset_init(struct bench_keyset *set, uint64_t count);
void bench_keyset_free(struct bench_keyset *set);

bool bench_keyset_has(const struct bench_keyset *set, uint64_t number);
void bench_keyset_add(struct bench_keyset *set, uint64_t number);
void bench_keyset_remove(struct bench_keyset *set, uint64_t number);
void bench_keyset_clear(struct bench_keyset *set);
uint64_t bench_keyset_total(const struct bench_keyset *set);

/* Write down that what `description` tells, one line, is open, or that it is closed and holds the
 * set. */
void bench_keyset_save(const struct bench_keyset *set, const char *path, const char *description,
                       bool closed);

/* Read what was written down for that description; ends the program, saying why, when that cannot
 * be. */
void bench_keyset_load(struct bench_keyset *set, const char *path, const char *description);

#endif
