/* kinds.c -- see kinds.h. */
#include "tools/filter/job/kinds.h"

#include <strings.h>

static const char *const names[] = {
    [PETAL_BLOOM_KIND_STANDARD] = "STANDARD", [PETAL_BLOOM_KIND_BLOCKED] = "BLOCKED",
    [PETAL_BLOOM_KIND_COUNTING] = "COUNTING", [PETAL_BLOOM_KIND_GROWING] = "GROWING",
    [PETAL_BLOOM_KIND_RIBBON] = "RIBBON",     [PETAL_BLOOM_KIND_FUSE] = "FUSE"};

const char *
kind_name(enum petal_bloom_kind kind)
{
    if (kind < PETAL_BLOOM_KIND_STANDARD || kind > PETAL_BLOOM_KIND_FUSE)
        return "a kind";
    return names[kind];
}

bool
kind_take(void *argument, char *value)
{
    enum petal_bloom_kind *taken = argument;

    for (int kind = PETAL_BLOOM_KIND_STANDARD; kind <= PETAL_BLOOM_KIND_FUSE; kind++) {
        *taken = (enum petal_bloom_kind)kind;
        if (strcasecmp(value, names[kind]) == 0)
            return true;
    }
    return false;
}
