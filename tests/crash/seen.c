/* seen.c -- see tests/crash/seen.h. */
#include "tests/crash/seen.h"

#include "tests/support/test_support.h"

#include <stdlib.h>
#include <string.h>

void
seen_free(struct seen *seen)
{
    for (size_t i = 0; i < seen->capacity; i++)
        free(seen->places[i].world);
    free(seen->places);
    memset(seen, 0, sizeof *seen);
}

/* Where it is, or the empty place that is to have it.  REQUIRES: there is an empty one. */
static struct seen_place *
place_of(const struct seen *seen, uint64_t hash)
{
    size_t at = (size_t)hash & (seen->capacity - 1);

    while (seen->places[at].hash != 0 && seen->places[at].hash != hash)
        at = (at + 1) & (seen->capacity - 1);
    return &seen->places[at];
}

static void
grow(struct seen *seen)
{
    struct seen old = *seen;

    if (2 * old.count < old.capacity)
        return;
    seen->capacity = old.capacity == 0 ? 1024 : 2 * old.capacity;
    seen->places = test_allocate(seen->capacity * sizeof *seen->places);
    memset(seen->places, 0, seen->capacity * sizeof *seen->places);
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.places[i].hash != 0)
            *place_of(seen, old.places[i].hash) = old.places[i];
    }
    free(old.places);
}

const struct world *
seen_find(const struct seen *seen, uint64_t hash)
{
    return seen->count == 0 ? NULL : place_of(seen, hash)->world;
}

void
seen_add(struct seen *seen, uint64_t hash, const struct world *world)
{
    struct seen_place *place;

    grow(seen);
    place = place_of(seen, hash);
    if (place->hash != 0)
        return;
    place->hash = hash;
    place->world = memcpy(test_allocate(sizeof *world), world, sizeof *world);
    seen->count++;
}
