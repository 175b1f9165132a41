/* range.c -- see range.h. */
#include "engine/read/range.h"

#include "engine/read/bounds.h"
#include "engine/state/db.h"

#include <assert.h>

static enum petal_status
check_end(petal_slice end, const char *name, petal_error *error)
{
    return end.size <= PETAL_MAX_ROW_BYTES
               ? PETAL_OK
               : error_set(error, PETAL_INVALID, "`%s` has %zu bytes; a row has at most %d", name,
                           end.size, PETAL_MAX_ROW_BYTES);
}

enum petal_status
row_range_check(const struct row_range *range, petal_error *error)
{
    enum petal_status status = check_end(range->from, "from", error);

    if (status == PETAL_OK)
        status = check_end(range->to, "to", error);
    return status == PETAL_OK ? check_end(range->prefix, "prefix", error) : status;
}

/* Is one end of the range, where it has one, inside of the prefix? Else the prefix says it all, and
 * says more than two ends do: filters know prefixes. */
static bool
is_narrower(const struct row_range *range, petal_slice behind_prefix)
{
    return slice_compare(range->from, range->prefix) > 0 ||
           (range->to.size > 0 &&
            (behind_prefix.size == 0 || slice_compare(range->to, behind_prefix) < 0));
}

/* The range without its prefix, which the ends say as well. */
static void
cut_to_prefix(struct row_range *range, petal_slice behind_prefix)
{
    if (slice_compare(range->from, range->prefix) < 0)
        range->from = range->prefix;
    if (range->to.size == 0 ||
        (behind_prefix.size > 0 && slice_compare(range->to, behind_prefix) > 0))
        range->to = behind_prefix;
    range->prefix = slice_make(NULL, 0);
}

static enum petal_status
open_between(petal_table *table, petal_scan_options *scan, const struct row_range *range,
             petal_cursor **cursor, petal_error *error)
{
    scan->prefix = range->prefix;
    scan->start_row = scan->reversed ? range->to : range->from;
    scan->stop_row = scan->reversed ? range->from : range->to;
    scan->start_exclusive = scan->stop_inclusive = scan->reversed;
    return petal_cursor_open(table, scan, cursor, error);
}

enum petal_status
row_range_open(petal_table *table, const petal_scan_options *options, const struct row_range *range,
               petal_cursor **cursor, petal_error *error)
{
    const petal_allocator *allocator = table->db->env.allocator;
    petal_scan_options scan = *options;
    struct row_range cut = *range;
    uint8_t *behind;
    petal_slice behind_prefix;
    enum petal_status status;

    *cursor = NULL;
    if (range->prefix.size == 0)
        return open_between(table, &scan, range, cursor, error);
    behind = mem_alloc(allocator, range->prefix.size);
    if (behind == NULL)
        return error_no_memory(error);
    behind_prefix = scan_bounds_behind_prefix(behind, range->prefix);
    if (is_narrower(range, behind_prefix))
        cut_to_prefix(&cut, behind_prefix);
    status = open_between(table, &scan, &cut, cursor, error);
    mem_free(allocator, behind, range->prefix.size);
    return status;
}

petal_slice
row_behind(uint8_t *room, petal_slice row)
{
    assert(row.size > 0 && row.size <= PETAL_MAX_ROW_BYTES);
    if (row.size == PETAL_MAX_ROW_BYTES)
        return scan_bounds_behind_prefix(room, row);
    memcpy(room, row.data, row.size);
    room[row.size] = 0;
    return slice_make(room, row.size + 1);
}
