/*
 * number_map.h -- a multimap of numbers to numbers: a hash table with open addressing. A key may
 * have several values, also equal ones.
 *
 * Threads: one at a time.
 */
#ifndef PETAL_BASE_NUMBER_MAP_H
#define PETAL_BASE_NUMBER_MAP_H

#include "base/mem.h"

struct number_pair {
    uint64_t key, value;
    bool used;
};

/* Zero is empty. */
struct number_map {
    struct number_pair *pairs;
    size_t count, capacity; /* the capacity is a power of two, or 0 */
};

void number_map_fini(struct number_map *map, const petal_allocator *allocator);

/* Room for `more` pairs beyond those there are; false: no memory. What is removed leaves its room.
 */
bool number_map_reserve(struct number_map *map, const petal_allocator *allocator, size_t more);

/* REQUIRES: there is room. */
void number_map_add(struct number_map *map, uint64_t key, uint64_t value);

/* REQUIRES: the pair is there; one of it goes. */
void number_map_remove(struct number_map *map, uint64_t key, uint64_t value);

/* The values of a key, one with each call; *place is 0 before the first, and the map the same until
 * the last. False: no more. */
bool number_map_next(const struct number_map *map, uint64_t key, size_t *place, uint64_t *value);

#endif
