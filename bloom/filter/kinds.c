/* kinds.c -- see kinds.h. */
#include "bloom/filter/kinds.h"

#include <assert.h>

static const struct filter_kind *const kinds[FILTER_KINDS] = {
    [PETAL_BLOOM_KIND_STANDARD] = &filter_standard, [PETAL_BLOOM_KIND_BLOCKED] = &filter_blocked,
    [PETAL_BLOOM_KIND_COUNTING] = &filter_counting, [PETAL_BLOOM_KIND_GROWING] = &filter_growing,
    [PETAL_BLOOM_KIND_RIBBON] = &filter_ribbon,     [PETAL_BLOOM_KIND_FUSE] = &filter_fuse,
};

enum petal_status
filter_find_kind(const struct filter_kind **functions, enum petal_bloom_kind kind,
                 petal_error *error)
{
    assert(filter_kind_name(kind) != NULL);
    *functions = kinds[kind];
    if (*functions != NULL)
        return PETAL_OK;
    return error_set(error, PETAL_UNSUPPORTED, "this library has no filters of kind %s",
                     filter_kind_name(kind));
}
