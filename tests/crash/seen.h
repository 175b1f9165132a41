/*
 * seen.h -- files that were opened already, known by their hash, and what the database in them
 * held.
 */
#ifndef PETAL_TESTS_CRASH_SEEN_H
#define PETAL_TESTS_CRASH_SEEN_H

#include "tests/crash/world.h"

struct seen_place {
    uint64_t hash; /* 0: an empty place */
    struct world *world;
};

/* All zero: nothing was seen. */
struct seen {
    struct seen_place *places;
    size_t count, capacity;
};

void seen_free(struct seen *seen);

/* What the files with this hash held; NULL: they were not seen. */
const struct world *seen_find(const struct seen *seen, uint64_t hash);
void seen_add(struct seen *seen, uint64_t hash, const struct world *world);

#endif
