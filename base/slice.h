/* slice.h -- helpers for petal_slice, the one pointer-and-length type. */
#ifndef PETAL_BASE_SLICE_H
#define PETAL_BASE_SLICE_H

#include "engine/petal.h"

#include <string.h>

static inline petal_slice
slice_make(const void *data, size_t size)
{
    return (petal_slice){data, size};
}

static inline petal_slice
slice_from_text(const char *text)
{
    return (petal_slice){text, strlen(text)};
}

/* It has a size, but no bytes: no caller can mean that. */
static inline bool
slice_lacks_bytes(petal_slice a)
{
    return a.data == NULL && a.size > 0;
}

/* Unsigned bytewise; a prefix comes first.  <0, 0, >0. */
static inline int
slice_compare(petal_slice a, petal_slice b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common == 0 ? 0 : memcmp(a.data, b.data, common);

    if (order != 0)
        return order;
    return a.size < b.size ? -1 : a.size > b.size;
}

static inline bool
slice_equal(petal_slice a, petal_slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline const uint8_t *
slice_bytes(petal_slice a)
{
    return (const uint8_t *)a.data;
}

#endif
