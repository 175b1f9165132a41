/* ties.c -- see tests/conformance/ties.h. */
#include "tests/conformance/ties.h"

static void
add(struct arena *arena, struct tie_list *list, struct tie_cell cell)
{
    list->cells = arena_grow(arena, list->cells, list->count, sizeof cell);
    list->cells[list->count++] = cell;
}

static bool
same_column(const struct tie_cell *a, const struct tie_cell *b)
{
    return slice_equal(a->row, b->row) && slice_equal(a->family, b->family) &&
           slice_equal(a->qualifier, b->qualifier);
}

/* ---- noting ---- */

static void
note_put(struct tie_ledger *ledger, struct tie_cell put)
{
    bool tied = false;

    put.inside = false;
    for (size_t i = 0; i < ledger->markers.count; i++) {
        const struct tie_cell *marker = &ledger->markers.cells[i];

        if (marker->timestamp != put.timestamp || !slice_equal(marker->row, put.row) ||
            (!marker->any_family && !slice_equal(marker->family, put.family)) ||
            (!marker->any_qualifier && !slice_equal(marker->qualifier, put.qualifier)))
            continue;
        tied = true;
        put.inside = put.inside || marker->operation == ledger->operation;
    }
    if (tied)
        add(ledger->arena, &ledger->ties, put);
    add(ledger->arena, &ledger->puts, put);
}

/* A put of a check with the clock's time may have the time of a cell of the row, if that is
 * later. */
static void
note_checked_put(struct tie_ledger *ledger, struct tie_cell put)
{
    size_t before = ledger->puts.count;

    for (size_t i = 0; i < before; i++) {
        struct tie_cell copy = put;

        copy.timestamp = ledger->puts.cells[i].timestamp;
        if (slice_equal(ledger->puts.cells[i].row, put.row) && copy.timestamp > ledger->now_ms)
            note_put(ledger, copy);
    }
}

/* An append or increment writes at the clock, or at the old cell's time + 1 if that is later. */
static void
note_change(struct tie_ledger *ledger, struct tie_cell put)
{
    size_t before = ledger->puts.count;

    for (size_t i = 0; i < before; i++) {
        struct tie_cell copy = put;
        int64_t old = ledger->puts.cells[i].timestamp;

        if (!same_column(&ledger->puts.cells[i], &put) || old < ledger->now_ms || old == INT64_MAX)
            continue;
        copy.timestamp = old + 1;
        note_put(ledger, copy);
    }
    note_put(ledger, put);
}

/* {latest} stamps its marker with the time of a version of the column, or with the clock's. */
static void
note_latest(struct tie_ledger *ledger, struct tie_cell marker)
{
    for (size_t i = 0; i < ledger->puts.count; i++) {
        struct tie_cell copy = marker;

        copy.timestamp = ledger->puts.cells[i].timestamp;
        if (same_column(&ledger->puts.cells[i], &marker))
            add(ledger->arena, &ledger->markers, copy);
    }
    add(ledger->arena, &ledger->markers, marker);
}

static void
note_item(struct tie_ledger *ledger, petal_slice row, const struct recorded_item *item,
          bool checked)
{
    struct tie_cell cell = {.row = row,
                            .family = item->family,
                            .qualifier = item->qualifier,
                            .timestamp = item->timestamp,
                            .operation = ledger->operation};
    bool now = item->timestamp == PETAL_LATEST;

    if (now)
        cell.timestamp = ledger->now_ms;
    switch (item->kind) {
    case ITEM_PUT:
        if (now && checked)
            note_checked_put(ledger, cell);
        note_put(ledger, cell);
        return;
    case ITEM_APPEND:
    case ITEM_INCREMENT:
        note_change(ledger, cell);
        return;
    case ITEM_LATEST:
        note_latest(ledger, cell);
        return;
    default:
        cell.any_family = item->kind == ITEM_ROW;
        cell.any_qualifier = item->kind != ITEM_VERSION && item->kind != ITEM_COLUMN;
        add(ledger->arena, &ledger->markers, cell);
        return;
    }
}

void
ties_note(struct tie_ledger *ledger, const struct recorded_step *step)
{
    const struct recorded_operation *operation = &step->operation;
    const struct answer *answer = &step->answer;

    ledger->operation++;
    if (operation->kind == OPERATION_CLOCK)
        ledger->now_ms = operation->clock_ms;
    if (answer->kind == ANSWER_ERROR || answer->kind == ANSWER_FALSE)
        return;
    for (size_t i = 0; i < operation->mutation_count; i++) {
        const struct recorded_mutation *mutation = &operation->mutations[i];

        if (answer->kind == ANSWER_BATCH && !slice_is(answer->members[i], "ok"))
            continue;
        for (size_t k = 0; k < mutation->item_count; k++)
            note_item(ledger, mutation->row, &mutation->items[k],
                      operation->kind == OPERATION_CHECK);
    }
}

/* ---- explaining ---- */

static bool
row_is_tied(const struct tie_ledger *ledger, bool only_inside, petal_slice row)
{
    for (size_t i = 0; i < ledger->ties.count; i++) {
        if ((!only_inside || ledger->ties.cells[i].inside) &&
            slice_equal(ledger->ties.cells[i].row, row))
            return true;
    }
    return false;
}

static bool
any_is_tied(const struct tie_ledger *ledger, bool only_inside)
{
    for (size_t i = 0; i < ledger->ties.count; i++) {
        if (!only_inside || ledger->ties.cells[i].inside)
            return true;
    }
    return false;
}

static bool
cell_is_tied(const struct tie_ledger *ledger, bool only_inside, const petal_cell *cell)
{
    for (size_t i = 0; i < ledger->ties.count; i++) {
        const struct tie_cell *tie = &ledger->ties.cells[i];

        if ((!only_inside || tie->inside) && slice_equal(tie->row, cell->row) &&
            (tie->any_family || slice_equal(tie->family, cell->family)))
            return true;
    }
    return false;
}

/* Whether `answer` has a tied cell that `other` lacks. */
static bool
has_tied_cell_alone(const struct tie_ledger *ledger, bool only_inside, const struct answer *answer,
                    const struct answer *other)
{
    for (size_t i = 0; i < answer->result_count; i++) {
        for (size_t k = 0; k < answer->results[i].count; k++) {
            const petal_cell *cell = &answer->results[i].cells[k];

            if (cell_is_tied(ledger, only_inside, cell) && !answer_has_cell(other, cell))
                return true;
        }
    }
    return false;
}

/* What a write read decides what it writes, in any family: from then on the row may differ as a
 * whole. */
static bool
explain_write(struct tie_ledger *ledger, bool only_inside,
              const struct recorded_operation *operation)
{
    bool tied = false;

    for (size_t i = 0; i < operation->mutation_count; i++) {
        petal_slice row = operation->mutations[i].row;

        if (!row_is_tied(ledger, only_inside, row))
            continue;
        tied = true;
        add(ledger->arena, &ledger->ties,
            (struct tie_cell){.row = row, .any_family = true, .inside = only_inside});
    }
    return tied;
}

bool
ties_explain(struct tie_ledger *ledger, bool only_inside, const struct recorded_step *step,
             const struct answer *actual)
{
    const struct recorded_operation *operation = &step->operation;
    const struct answer *expected = &step->answer;
    bool read = operation->kind == OPERATION_GET || operation->kind == OPERATION_SCAN;

    if (!any_is_tied(ledger, only_inside) || actual->kind == ANSWER_FAILED)
        return false;
    if (!read)
        return explain_write(ledger, only_inside, operation);
    if (actual->kind == ANSWER_ERROR || expected->kind == ANSWER_ERROR)
        return false;
    /* A filter may decide on cells that it does not show; in a scan, on what comes after them. */
    if (operation->read.filter.given)
        return (operation->kind == OPERATION_SCAN && any_is_tied(ledger, only_inside)) ||
               row_is_tied(ledger, only_inside, operation->row);
    return has_tied_cell_alone(ledger, only_inside, actual, expected) ||
           has_tied_cell_alone(ledger, only_inside, expected, actual);
}
