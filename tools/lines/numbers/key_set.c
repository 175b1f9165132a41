/* key_set.c -- see key_set.h. */
#include "tools/lines/numbers/key_set.h"

#include "bloom/petal_bloom.h"

#include <assert.h>
#include <stdlib.h>

struct key_set {
    uint64_t low, high;
    petal_bitmap *bitmap;   /* ASCEND_DISTINCT */
    petal_bitmap2 *doubles; /* ASCEND_DOUBLES */
};

/* Of cache misses that one after the other would take, so many are had at once. */
enum { TOGETHER = 32 };

static uint64_t
most_keys(enum ascend_mode mode, size_t bytes)
{
    uint64_t keys = (uint64_t)bytes * (mode == ASCEND_DOUBLES ? 4 : 8);

    return keys < PETAL_BITMAP_MAX_BITS / 2 ? keys : PETAL_BITMAP_MAX_BITS / 2;
}

bool
key_set_fits(enum ascend_mode mode, uint64_t low, uint64_t high, size_t bytes)
{
    assert(low <= high);
    return high - low < most_keys(mode, bytes);
}

bool
key_set_create(struct job *job, enum ascend_mode mode, uint64_t low, uint64_t high,
               struct key_set **set)
{
    uint64_t keys = high - low + 1;
    petal_error error;
    enum petal_status status;

    assert(low <= high);
    *set = calloc(1, sizeof **set);
    if (*set == NULL)
        return job_fail(job, "out of memory");
    (*set)->low = low;
    (*set)->high = high;
    if (mode == ASCEND_DOUBLES)
        status = petal_bitmap2_create(keys, NULL, &(*set)->doubles, &error);
    else
        status = petal_bitmap_create(keys, NULL, &(*set)->bitmap, &error);
    if (status == PETAL_OK)
        return true;
    free(*set);
    *set = NULL;
    return job_fail(job, "%s", error.text);
}

void
key_set_free(struct key_set *set)
{
    if (set == NULL)
        return;
    petal_bitmap_free(set->bitmap);
    petal_bitmap2_free(set->doubles);
    free(set);
}

static void
add_distinct(struct key_set *set, const uint64_t *keys, size_t count)
{
    /* Reads of memory overlap, changes of it do not: what is in cache by then is changed at
     * once. */
    for (size_t i = 0; i < count; i++)
        (void)petal_bitmap_test(set->bitmap, keys[i] - set->low);
    for (size_t i = 0; i < count; i++)
        (void)petal_bitmap_set(set->bitmap, keys[i] - set->low);
}

static void
add_doubles(struct key_set *set, const uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)petal_bitmap2_get(set->doubles, keys[i] - set->low);
    for (size_t i = 0; i < count; i++)
        (void)petal_bitmap2_add(set->doubles, keys[i] - set->low);
}

void
key_set_add(struct key_set *set, const uint64_t *keys, size_t count)
{
    for (size_t done = 0; done < count; done += TOGETHER) {
        size_t some = count - done < TOGETHER ? count - done : TOGETHER;

        if (set->doubles != NULL)
            add_doubles(set, keys + done, some);
        else
            add_distinct(set, keys + done, some);
    }
}

static bool
visit_distinct(const struct key_set *set, const struct ascend_visitor *visitor)
{
    uint64_t end = 0, first = petal_bitmap_next_set(set->bitmap, 0);

    for (; first != PETAL_BITMAP_NONE; first = petal_bitmap_next_set(set->bitmap, end)) {
        end = petal_bitmap_next_clear(set->bitmap, first);
        if (end == PETAL_BITMAP_NONE)
            end = petal_bitmap_bits(set->bitmap);
        if (!visitor->take(visitor->argument, set->low + first, set->low + (end - 1)))
            return false;
    }
    return true;
}

static bool
visit_doubles(const struct key_set *set, const struct ascend_visitor *visitor)
{
    uint64_t at = petal_bitmap2_next(set->doubles, PETAL_BITMAP2_MORE, 0);

    for (; at != PETAL_BITMAP_NONE;
         at = petal_bitmap2_next(set->doubles, PETAL_BITMAP2_MORE, at + 1)) {
        if (!visitor->take(visitor->argument, set->low + at, set->low + at))
            return false;
    }
    return true;
}

bool
key_set_visit(const struct key_set *set, const struct ascend_visitor *visitor)
{
    return set->doubles != NULL ? visit_doubles(set, visitor) : visit_distinct(set, visitor);
}
