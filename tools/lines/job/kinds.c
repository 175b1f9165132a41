/* kinds.c -- see kinds.h. */
#include "tools/lines/job/kinds.h"

#include <strings.h>

static const char *const names[] = {[PETAL_BLOOM_KIND_BLOCKED] = "BLOCKED",
                                    [PETAL_BLOOM_KIND_COUNTING] = "COUNTING",
                                    [PETAL_BLOOM_KIND_GROWING] = "GROWING",
                                    [PETAL_BLOOM_KIND_RIBBON] = "RIBBON"};

const char *
kind_name(enum petal_bloom_kind kind)
{
    if (kind < FIRST_KIND || kind > LAST_KIND)
        return "a kind";
    return names[kind];
}

bool
kind_take(void *argument, char *value)
{
    enum petal_bloom_kind *taken = argument;

    for (int kind = FIRST_KIND; kind <= LAST_KIND; kind++) {
        *taken = (enum petal_bloom_kind)kind;
        if (strcasecmp(value, names[kind]) == 0)
            return true;
    }
    return false;
}
