/* number_map.c -- see number_map.h. */
#include "base/number_map.h"

#include <assert.h>

#define LEAST_CAPACITY 16

/* Keys may be small numbers one after the other, so all their bits count; or be chosen by whoever
 * wrote a file, who does not know the address. */
static size_t
home_of(const struct number_map *map, uint64_t key)
{
    key ^= (uintptr_t)map->pairs;
    key *= UINT64_C(0x9e3779b97f4a7c15);
    key ^= key >> 32;
    key *= UINT64_C(0xd6e8feb86659fd93);
    key ^= key >> 32;
    return (size_t)key & (map->capacity - 1);
}

void
number_map_fini(struct number_map *map, const petal_allocator *allocator)
{
    mem_free(allocator, map->pairs, map->capacity * sizeof *map->pairs);
    *map = (struct number_map){0};
}

bool
number_map_reserve(struct number_map *map, const petal_allocator *allocator, size_t more)
{
    struct number_map grown = {.capacity = map->capacity > 0 ? map->capacity : LEAST_CAPACITY};

    if (more > SIZE_MAX / 4 - map->count)
        return false;
    while (grown.capacity / 2 < map->count + more)
        grown.capacity *= 2;
    assert((grown.capacity & (grown.capacity - 1)) == 0);
    if (grown.capacity == map->capacity)
        return true;
    grown.pairs = mem_zalloc(allocator, grown.capacity * sizeof *grown.pairs);
    if (grown.pairs == NULL)
        return false;
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->pairs[i].used)
            number_map_add(&grown, map->pairs[i].key, map->pairs[i].value);
    }
    number_map_fini(map, allocator);
    *map = grown;
    return true;
}

void
number_map_add(struct number_map *map, uint64_t key, uint64_t value)
{
    size_t at;

    assert(map->count < map->capacity / 2);
    for (at = home_of(map, key); map->pairs[at].used;)
        at = (at + 1) & (map->capacity - 1);
    map->pairs[at] = (struct number_pair){key, value, true};
    map->count++;
}

/* Whoever stands after the gap, and has his home at it or before, moves up: so a search may end at
 * the first gap. */
static void
close_gap(struct number_map *map, size_t gap)
{
    size_t mask = map->capacity - 1;

    for (size_t at = (gap + 1) & mask; map->pairs[at].used; at = (at + 1) & mask) {
        size_t home = home_of(map, map->pairs[at].key);

        if (((at - home) & mask) >= ((at - gap) & mask)) {
            map->pairs[gap] = map->pairs[at];
            gap = at;
        }
    }
    map->pairs[gap].used = false;
}

void
number_map_remove(struct number_map *map, uint64_t key, uint64_t value)
{
    size_t at = home_of(map, key);

    while (map->pairs[at].key != key || map->pairs[at].value != value) {
        assert(map->pairs[at].used);
        at = (at + 1) & (map->capacity - 1);
    }
    assert(map->pairs[at].used);
    map->count--;
    close_gap(map, at);
}

bool
number_map_next(const struct number_map *map, uint64_t key, size_t *place, uint64_t *value)
{
    size_t mask = map->capacity - 1, home;

    assert(*place <= map->capacity);
    if (map->capacity == 0)
        return false;
    home = home_of(map, key);
    while (map->pairs[(home + *place) & mask].used) {
        const struct number_pair *pair = &map->pairs[(home + (*place)++) & mask];

        if (pair->key == key) {
            *value = pair->value;
            return true;
        }
    }
    return false;
}
