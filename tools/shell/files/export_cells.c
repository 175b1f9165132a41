/*
 * export_cells.c -- the cells of an export, and their order.  See tools/shell/files/export.h.
 *
 * Timestamps decide what hides what, but at equal ones the later write wins, so the order of lines
 * matters there. A raw scan gives what is equal in row, column and timestamp (a group) by type,
 * markers before puts, and of one type the newest first; a family's markers come before all of its
 * puts at their timestamp. So a group's lines are turned round: markers stand after the puts that
 * they hide. Whether the newest put was written before or after them is not in the cells, but it
 * shows: only a later one is seen by a get, and then its line comes after the markers. Those of
 * families are held back until the family's other cells in the row are out.
 *
 * What is not told apart: a put that is hidden anyway, by a marker with a greater timestamp, and
 * was written after one with its own.
 */
#include "tools/shell/files/export.h"

#include "tools/shell/session/interrupt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WRITE_BYTES = 256 << 10 };

struct order {
    struct cell_export *export;
    struct text row, family, qualifier; /* of the group */
    int64_t timestamp;
    bool begun;
    size_t *lines; /* where the group's lines begin in export->out */
    size_t line_count, line_capacity;
    bool has_marker, has_put; /* in the group */
    struct text last;         /* line held back until the group's end */

    struct text markers, later; /* lines held back until the family's end */
    int64_t *marked;            /* timestamps of those markers, from great to small */
    size_t marked_count, marked_capacity;
    petal_column *wanted; /* the export's columns, by compare_columns */
    struct text scratch;
};

static void
set_text(struct text *text, petal_slice bytes)
{
    text_clear(text);
    text_add_slice(text, bytes);
}

static void
add_line(struct order *order, struct text *to, const petal_cell *cell)
{
    struct cell_export *export = order->export;

    cell_write(to, export->format, petal_table_name(export->table), cell);
}

/* Turn the group's lines round. */
static void
end_group(struct order *order)
{
    struct text *out = &order->export->out;
    size_t end = out->size;

    if (order->line_count > 1) {
        set_text(&order->scratch,
                 (petal_slice){out->bytes + order->lines[0], end - order->lines[0]});
        out->size = order->lines[0];
        for (size_t i = order->line_count; i-- > 0;) {
            text_add(out, order->scratch.bytes + (order->lines[i] - order->lines[0]),
                     end - order->lines[i]);
            end = order->lines[i];
        }
    }
    text_add_slice(out, text_slice(&order->last));
    text_clear(&order->last);
    order->line_count = 0;
    order->has_marker = order->has_put = false;
}

static void
end_family(struct order *order)
{
    end_group(order);
    if (order->marked_count == 0)
        return;
    text_add_slice(&order->export->out, text_slice(&order->markers));
    text_add_slice(&order->export->out, text_slice(&order->later));
    text_clear(&order->markers);
    text_clear(&order->later);
    order->marked_count = 0;
}

static bool
is_marked(const struct order *order, int64_t timestamp)
{
    size_t low = 0, high = order->marked_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (order->marked[middle] > timestamp)
            low = middle + 1;
        else
            high = middle;
    }
    return low < order->marked_count && order->marked[low] == timestamp;
}

/* Does a get of just this version see it? */
static enum petal_status
is_seen(struct order *order, const petal_cell *cell, bool *seen, petal_error *error)
{
    struct cell_export *export = order->export;
    petal_column column = {.qualifier = cell->qualifier};
    petal_read_options options = {.size = sizeof(options),
                                  .columns = &column,
                                  .column_count = 1,
                                  .has_time_range = true,
                                  .time_min = cell->timestamp,
                                  .time_limit =
                                      cell->timestamp < INT64_MAX ? cell->timestamp + 1 : INT64_MAX,
                                  .snapshot = export->scan.read.snapshot};
    enum petal_status outcome =
        petal_table_family(export->table, cell->family, &column.family, error);

    if (outcome == PETAL_OK)
        outcome = petal_get(export->table, cell->row, &options, export->session->result, error);
    *seen = outcome == PETAL_OK && petal_result_count(export->session->result) > 0;
    return outcome;
}

/* Begin the cell's group, if it is not in the one at hand. */
static void
begin_group(struct order *order, const petal_cell *cell)
{
    bool family = order->begun && slices_equal(text_slice(&order->row), cell->row) &&
                  slices_equal(text_slice(&order->family), cell->family);

    if (family && order->timestamp == cell->timestamp &&
        slices_equal(text_slice(&order->qualifier), cell->qualifier))
        return;
    if (!family) {
        end_family(order);
        set_text(&order->row, cell->row);
        set_text(&order->family, cell->family);
    } else {
        end_group(order);
    }
    set_text(&order->qualifier, cell->qualifier);
    order->timestamp = cell->timestamp;
    order->begun = true;
}

static enum petal_status
add_version(struct order *order, const petal_cell *cell, petal_error *error)
{
    enum petal_status outcome = PETAL_OK;
    struct text *to = &order->export->out;
    bool seen = false;

    begin_group(order, cell);
    if (cell->type == PETAL_DELETE_FAMILY || cell->type == PETAL_DELETE_FAMILY_VERSION) {
        order->marked = memory_room(order->marked, order->marked_count, &order->marked_capacity,
                                    sizeof(*order->marked));
        order->marked[order->marked_count++] = cell->timestamp;
        add_line(order, &order->markers, cell);
        return PETAL_OK;
    }
    if (cell->type != PETAL_PUT) {
        order->has_marker = true;
    } else if (!order->has_put) {
        bool marked = is_marked(order, cell->timestamp);

        order->has_put = true;
        if (marked || order->has_marker)
            outcome = is_seen(order, cell, &seen, error);
        if (seen)
            to = marked ? &order->later : &order->last;
    }
    if (!seen) {
        order->lines = memory_room(order->lines, order->line_count, &order->line_capacity,
                                   sizeof(*order->lines));
        order->lines[order->line_count++] = order->export->out.size;
    }
    add_line(order, to, cell);
    return outcome;
}

/* By family; of one family the whole of it first, then by qualifier. */
static int
compare_columns(const void *a, const void *b)
{
    const petal_column *first = a, *second = b;
    int order = slices_compare(petal_family_name(first->family), petal_family_name(second->family));

    if (order == 0)
        order = (int)second->whole_family - (int)first->whole_family;
    return order == 0 ? slices_compare(first->qualifier, second->qualifier) : order;
}

static void
sort_columns(struct order *order)
{
    const struct cell_export *export = order->export;
    size_t bytes = export->column_count * sizeof(*order->wanted);

    if (bytes == 0)
        return;
    order->wanted = memory_allocate(bytes);
    memcpy(order->wanted, export->columns, bytes);
    qsort(order->wanted, export->column_count, sizeof(*order->wanted), compare_columns);
}

/* The first of the wanted columns that is not before this place; NULL after the last. */
static const petal_column *
first_wanted(const struct order *order, petal_slice family, petal_slice qualifier, bool whole)
{
    size_t low = 0, high = order->export->column_count;

    while (low < high) {
        const petal_column *column = &order->wanted[low + (high - low) / 2];
        int place = slices_compare(petal_family_name(column->family), family);

        if (place == 0)
            place = (int)whole - (int)column->whole_family;
        if (place == 0)
            place = slices_compare(column->qualifier, qualifier);
        if (place < 0)
            low += (high - low) / 2 + 1;
        else
            high = low + (high - low) / 2;
    }
    return low < order->export->column_count ? &order->wanted[low] : NULL;
}

/* Of all versions a scan takes no columns, so they are chosen here. A family's markers go with
 * each of its columns. */
static bool
is_wanted(const struct order *order, const petal_cell *cell)
{
    bool marker = cell->type == PETAL_DELETE_FAMILY || cell->type == PETAL_DELETE_FAMILY_VERSION;
    const petal_column *column;

    if (order->export->column_count == 0)
        return true;
    column = first_wanted(order, cell->family, (petal_slice){NULL, 0}, true);
    if (column == NULL || !slices_equal(petal_family_name(column->family), cell->family))
        return false;
    if (marker || column->whole_family)
        return true;
    column = first_wanted(order, cell->family, cell->qualifier, false);
    return column != NULL && slices_equal(petal_family_name(column->family), cell->family) &&
           slices_equal(column->qualifier, cell->qualifier);
}

static enum petal_status
write_all(struct order *order, petal_cursor *cursor, petal_error *error)
{
    struct cell_export *export = order->export;
    enum petal_status outcome;
    const petal_cell *cell;

    while ((outcome = petal_cursor_next(cursor, &cell, error)) == PETAL_OK && cell != NULL) {
        if (!is_wanted(order, cell))
            continue;
        if (export->all_versions)
            outcome = add_version(order, cell, error);
        else
            add_line(order, &export->out, cell);
        export->cells++;
        export->colons += export->format == FILE_HBASE && cell->qualifier.size > 0 &&
                          memchr(cell->qualifier.data, ':', cell->qualifier.size) != NULL;
        if (outcome != PETAL_OK || interrupt_pending())
            break;
        /* Lines of the group at hand stay, since they may have to be turned round. */
        if (export->out.size >= WRITE_BYTES && order->line_count == 0 && !export_write(export))
            break;
    }
    end_family(order);
    return outcome;
}

enum shell_status
export_cells(struct cell_export *export)
{
    struct order order = {.export = export};
    petal_snapshot *snapshot = NULL;
    petal_cursor *cursor = NULL;
    petal_error error;
    enum petal_status outcome = PETAL_OK;

    sort_columns(&order);
    if (export->all_versions) {
        outcome = petal_snapshot_new(export->session->db, &snapshot, &error);
        export->scan.read.snapshot = snapshot;
    }
    if (outcome == PETAL_OK)
        outcome = petal_cursor_open(export->table, &export->scan, &cursor, &error);
    if (outcome == PETAL_OK)
        outcome = write_all(&order, cursor, &error);
    petal_cursor_close(cursor);
    petal_snapshot_free(snapshot);
    text_free(&order.row);
    text_free(&order.family);
    text_free(&order.qualifier);
    text_free(&order.last);
    text_free(&order.markers);
    text_free(&order.later);
    text_free(&order.scratch);
    free(order.lines);
    free(order.marked);
    free(order.wanted);
    if (outcome != PETAL_OK)
        return session_fail_petal(export->session, &error);
    return interrupt_check(export->session);
}
