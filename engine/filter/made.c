/* made.c -- filters as objects: memory, counting, combining; see engine/filter/made.h. */
#include "engine/filter/made.h"

#include "base/slice.h"
#include "engine/state/db.h"

/* ---- memory ---- */

petal_filter *
filter_new(const petal_allocator *allocator, enum filter_kind kind, const struct filter_room *room)
{
    size_t members = room->members * sizeof(petal_filter *);
    size_t strings = room->strings * sizeof(petal_slice);
    size_t ranges = room->ranges * sizeof(struct row_range);
    size_t timestamps = room->timestamps * sizeof(int64_t);
    size_t size =
        sizeof(petal_filter) + members + strings + ranges + timestamps + room->string_bytes;
    petal_filter *filter = mem_zalloc(allocator, size);
    char *at;

    if (filter == NULL)
        return NULL;
    filter->allocator = allocator;
    atomic_init(&filter->references, 1);
    atomic_init(&filter->run_count, 0);
    filter->size = size;
    filter->kind = kind;
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

    if (bytes.size > 0)
        memcpy(filter->free_bytes, bytes.data, bytes.size);
    filter->free_bytes += bytes.size;
    return copy;
}

void
filter_add_string(petal_filter *filter, petal_slice bytes)
{
    filter->strings[filter->string_count++] = filter_copy(filter, bytes);
}

void
filter_ref(const petal_filter *filter)
{
    petal_filter *counted = (petal_filter *)(uintptr_t)filter;

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
    switch (filter->kind) {
    case FILTER_KIND_AND:
    case FILTER_KIND_OR:
    case FILTER_KIND_SKIP:
    case FILTER_KIND_WHILE:
        for (size_t i = 0; i < filter->member_count; i++) {
            if (filter_needs_family(filter->members[i], family))
                return true;
        }
        return filter->member_count == 0;
    case FILTER_KIND_SINGLE_COLUMN_VALUE:
    case FILTER_KIND_SINGLE_COLUMN_VALUE_EXCLUDE:
        return !filter->if_missing || slice_equal(filter->strings[0], family);
    case FILTER_KIND_COLUMN_VALUE:
        return slice_equal(filter->strings[0], family);
    default:
        return true;
    }
}

/* ---- combining ---- */

enum petal_status
filter_combine(const petal_allocator *allocator, enum petal_filter_operation operation,
               petal_filter *const *members, size_t count, petal_filter **filter)
{
    static const enum filter_kind kinds[] = {
        [PETAL_FILTER_AND] = FILTER_KIND_AND,
        [PETAL_FILTER_OR] = FILTER_KIND_OR,
        [PETAL_FILTER_SKIP] = FILTER_KIND_SKIP,
        [PETAL_FILTER_WHILE] = FILTER_KIND_WHILE,
    };
    bool wraps = operation == PETAL_FILTER_SKIP || operation == PETAL_FILTER_WHILE;
    uint64_t filter_count = 1;
    unsigned depth = 0;
    petal_filter *made;

    *filter = NULL;
    for (size_t i = 0; i < count && filter_count <= FILTER_MOST_FILTERS; i++) {
        filter_count += members[i]->filter_count;
        if (members[i]->depth > depth)
            depth = members[i]->depth;
    }
    if (filter_count > FILTER_MOST_FILTERS || depth >= FILTER_MOST_DEPTH)
        return PETAL_INVALID;
    made = filter_new(allocator, kinds[operation], &(struct filter_room){.members = count});
    if (made == NULL)
        return PETAL_NO_MEMORY;
    made->depth = depth + 1;
    made->filter_count = (uint32_t)filter_count;
    made->needs_rows = wraps;
    made->watches_excluded_rows = operation == PETAL_FILTER_WHILE;
    made->member_count = count;
    for (size_t i = 0; i < count; i++) {
        filter_ref(members[i]);
        made->members[i] = members[i];
        made->needs_rows |= members[i]->needs_rows;
        made->watches_excluded_rows |= members[i]->watches_excluded_rows;
    }
    *filter = made;
    return PETAL_OK;
}

enum petal_status
petal_filter_combine(petal_db *db, enum petal_filter_operation operation,
                     petal_filter *const *members, size_t count, petal_filter **filter,
                     petal_error *error)
{
    enum petal_status status;

    *filter = NULL;
    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    if (operation < PETAL_FILTER_AND || operation > PETAL_FILTER_WHILE)
        return error_set(error, PETAL_INVALID, "no such way to combine filters: %d",
                         (int)operation);
    if ((operation == PETAL_FILTER_SKIP || operation == PETAL_FILTER_WHILE) && count != 1)
        return error_set(error, PETAL_INVALID, "%s wraps one filter, not %zu",
                         operation == PETAL_FILTER_SKIP ? "SKIP" : "WHILE", count);
    for (size_t i = 0; i < count; i++) {
        if (members[i] == NULL)
            return error_set(error, PETAL_INVALID, "member %zu of the combination is NULL", i);
    }
    status = filter_combine(db->env.allocator, operation, members, count, filter);
    if (status == PETAL_INVALID)
        return error_set(error, status,
                         "the filter is nested more than %d deep or holds more "
                         "than %u filters",
                         FILTER_MOST_DEPTH, FILTER_MOST_FILTERS);
    return status == PETAL_OK ? PETAL_OK : error_no_memory(error);
}
