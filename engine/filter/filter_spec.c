/* filter_spec.c -- filters as objects: memory, reference counts, properties; see filter_spec.h. */
#include "engine/filter/node.h"

/* ---- memory ---- */

petal_filter *
filter_new(const petal_allocator *allocator, const struct filter_kind *kind,
           const struct filter_room *room)
{
    size_t members = room->members * sizeof(petal_filter *);
    size_t strings = room->strings * sizeof(petal_slice);
    size_t ranges = room->ranges * sizeof(struct row_range);
    size_t timestamps = room->timestamps * sizeof(int64_t);
    size_t size =
        sizeof(petal_filter) + members + strings + ranges + timestamps + room->string_bytes;
    petal_filter *filter = mem_zalloc(allocator, size);
    char *at;

    assert(kind != NULL && kind->name != NULL);
    if (filter == NULL)
        return NULL;
    filter->allocator = allocator;
    atomic_init(&filter->references, 1);
    atomic_init(&filter->run_count, 0);
    filter->size = size;
    filter->kind = kind;
    filter->needs_rows = kind->needs_rows;
    filter->watches_excluded_rows = kind->watches_excluded_rows;
    filter->keeps_cells = kind->keeps_cells;
    filter->depth = 1;
    filter->filter_count = 1;
    at = (char *)(filter + 1);
    filter->members = (petal_filter **)(void *)at;
    filter->strings = (petal_slice *)(void *)(at += members);
    filter->ranges = (struct row_range *)(void *)(at += strings);
    filter->timestamps = (int64_t *)(void *)(at + ranges);
    filter->free_bytes = (char *)(filter->timestamps + room->timestamps);
    return filter;
}

petal_slice
filter_copy(petal_filter *filter, petal_slice bytes)
{
    petal_slice copy = slice_make(filter->free_bytes, bytes.size);

    assert(bytes.size <= (size_t)((char *)filter + filter->size - filter->free_bytes));
    if (bytes.size > 0)
        memcpy(filter->free_bytes, bytes.data, bytes.size);
    filter->free_bytes += bytes.size;
    return copy;
}

void
filter_add_string(petal_filter *filter, petal_slice bytes)
{
    assert((void *)&filter->strings[filter->string_count] < (void *)filter->free_bytes);
    filter->strings[filter->string_count++] = filter_copy(filter, bytes);
}

void
filter_ref(const petal_filter *filter)
{
    petal_filter *counted = (petal_filter *)(uintptr_t)filter;

    assert(atomic_load_explicit(&counted->references, memory_order_relaxed) > 0);
    atomic_fetch_add_explicit(&counted->references, 1, memory_order_relaxed);
}

void
petal_filter_free(petal_filter *filter)
{
    const petal_allocator *allocator;

    if (filter == NULL ||
        atomic_fetch_sub_explicit(&filter->references, 1, memory_order_acq_rel) != 1)
        return;
    allocator = filter->allocator;
    assert(filter->depth <= FILTER_MOST_DEPTH);
    /* As deep as FILTER_MOST_DEPTH. */
    for (size_t i = 0; i < filter->member_count; i++)
        petal_filter_free(filter->members[i]);
    comparator_fini(&filter->comparator, allocator);
    mem_free(allocator, filter, filter->size);
}

/* ---- what others ask of a filter ---- */

bool
filter_needs_rows(const petal_filter *filter)
{
    return filter->needs_rows;
}

bool
filter_watches_excluded_rows(const petal_filter *filter)
{
    return filter->watches_excluded_rows;
}

bool
filter_needs_family(const petal_filter *filter, petal_slice family)
{
    return filter->kind->needs_family == NULL || filter->kind->needs_family(filter, family);
}

/* ---- refusing ---- */

enum petal_status
filter_refuse(struct filter_mistake *mistake, const char *reason)
{
    size_t size = strlen(reason);

    assert(size < sizeof mistake->reason);
    memcpy(mistake->reason, reason, size + 1);
    return PETAL_INVALID;
}

enum petal_status
filter_refuse_argument(struct filter_mistake *mistake, size_t argument, const char *reason)
{
    mistake->has_argument = true;
    mistake->argument = argument;
    return filter_refuse(mistake, reason);
}
