/*
 * qualifier_set.c -- see qualifier_set.h.
 *
 * The bytes live in one block of FACTS_MAX_QUALIFIER_BYTES that never moves, so the sorted slices
 * point into it.
 */
#include "sstable/file/qualifier_set.h"

#include <assert.h>

void
qualifier_set_init(struct qualifier_set *set)
{
    *set = (struct qualifier_set){.exact = true};
}

void
qualifier_set_fini(struct qualifier_set *set, const petal_allocator *allocator)
{
    mem_free(allocator, set->bytes, FACTS_MAX_QUALIFIER_BYTES);
    mem_free(allocator, set->slices, FACTS_MAX_QUALIFIERS * sizeof *set->slices);
    qualifier_set_init(set);
}

uint32_t
qualifiers_lower_bound(const petal_slice *qualifiers, uint32_t count, petal_slice qualifier)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (slice_compare(qualifiers[middle], qualifier) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool
is_at(const struct qualifier_set *set, uint32_t index, petal_slice qualifier)
{
    return index < set->count && slice_equal(set->slices[index], qualifier);
}

static bool
allocate_arrays(struct qualifier_set *set, const petal_allocator *allocator)
{
    if (set->bytes == NULL)
        set->bytes = mem_alloc(allocator, FACTS_MAX_QUALIFIER_BYTES);
    if (set->slices == NULL)
        set->slices = mem_alloc(allocator, FACTS_MAX_QUALIFIERS * sizeof *set->slices);
    return set->bytes != NULL && set->slices != NULL;
}

enum petal_status
qualifier_set_add(struct qualifier_set *set, const petal_allocator *allocator,
                  petal_slice qualifier)
{
    uint32_t place;

    assert(set->count <= FACTS_MAX_QUALIFIERS && set->bytes_used <= FACTS_MAX_QUALIFIER_BYTES);
    if (!set->exact)
        return PETAL_OK;
    if (is_at(set, set->last, qualifier))
        return PETAL_OK;
    if (is_at(set, set->last + 1, qualifier)) {
        set->last++;
        return PETAL_OK;
    }
    place = qualifiers_lower_bound(set->slices, set->count, qualifier);
    set->last = place;
    if (is_at(set, place, qualifier))
        return PETAL_OK;
    if (set->count == FACTS_MAX_QUALIFIERS ||
        qualifier.size > FACTS_MAX_QUALIFIER_BYTES - set->bytes_used) {
        set->exact = false;
        set->count = 0;
        return PETAL_OK;
    }
    if (!allocate_arrays(set, allocator))
        return PETAL_NO_MEMORY;
    assert(place == 0 || slice_compare(set->slices[place - 1], qualifier) < 0);
    assert(place == set->count || slice_compare(qualifier, set->slices[place]) < 0);
    memmove(&set->slices[place + 1], &set->slices[place],
            (set->count - place) * sizeof *set->slices);
    if (qualifier.size > 0)
        memcpy(set->bytes + set->bytes_used, qualifier.data, qualifier.size);
    set->slices[place] = slice_make(set->bytes + set->bytes_used, qualifier.size);
    set->bytes_used += qualifier.size;
    set->count++;
    return PETAL_OK;
}
