/* make_read.c -- random gets, scans and moves of cursors; see tests/model/maker.h. */
#include "tests/model/maker.h"

#include "base/slice.h"
#include "tests/model/text.h"

static void
pick_columns(struct maker *maker, struct model_read *read)
{
    if (chance(maker, 50))
        return;
    read->column_count = 1 + below(maker, 4);
    for (size_t i = 0; i < read->column_count; i++)
        read->columns[i] = (struct model_column){.family = (unsigned)below(maker, MODEL_FAMILIES),
                                                 .qualifier = pick_qualifier(maker),
                                                 .whole_family = read->raw || chance(maker, 15)};
}

static void
pick_read(struct maker *maker, struct operation *operation)
{
    struct model_read *read = &operation->read;

    read->read_point = UINT64_MAX;
    pick_columns(maker, read);
    read->has_time_range = chance_of_range(maker, 30);
    if (read->has_time_range)
        pick_range(maker, &read->time_min, &read->time_limit);
    if (has(maker, FEATURE_VERSIONS) && chance(maker, 60))
        read->versions = chance(maker, 40) ? PETAL_ALL_VERSIONS : (int32_t)below(maker, 4);
    if (has(maker, FEATURE_CELL_LIMITS)) {
        for (unsigned family = 0; family < MODEL_FAMILIES; family++) {
            read->has_family_range[family] = chance_of_range(maker, 8);
            if (read->has_family_range[family])
                pick_range(maker, &read->family_min[family], &read->family_limit[family]);
        }
        if (chance(maker, 10))
            read->family_cell_limit = 1 + below(maker, 4);
        if (chance(maker, 10))
            read->family_cell_offset = below(maker, 4);
    }
    if (has(maker, FEATURE_SNAPSHOTS))
        operation->snapshot = chance(maker, 25) ? 1 + (unsigned)below(maker, MODEL_READ_POINTS) : 0;
    operation->without = (unsigned)below(maker, 1u << PETAL_SKIP_COUNT);
}

static void
pick_filter(struct maker *maker, struct operation *operation)
{
    struct model_read *read = &operation->read;
    struct model_filter *filter = &read->filter;

    filter->kind = (enum model_filter_kind)(1 + below(maker, MODEL_FILTER_SKIP));
    switch (filter->kind) {
    case MODEL_FILTER_NONE:
        break;
    case MODEL_FILTER_FIRST_KEY: /* an offset would leave out the only one */
        read->family_cell_offset = 0;
        break;
    case MODEL_FILTER_COLUMN_PREFIX:
        filter->bytes = model_bytes_of(slice_make(&"qrs"[below(maker, 3)], 1));
        break;
    case MODEL_FILTER_FAMILY:
        filter->bytes =
            model_bytes_of(model_text_family_name((unsigned)below(maker, MODEL_FAMILIES)));
        break;
    case MODEL_FILTER_ROW_RANGES:
        filter->bytes = pick_row(maker);
        filter->more = pick_row(maker);
        break;
    case MODEL_FILTER_FUZZY_ROW:
        filter->bytes = model_bytes_of(slice_make(&"ab\xff"[below(maker, 3)], 1));
        break;
    case MODEL_FILTER_SKIP: /* needs whole rows, and judges what limits leave of them */
        filter->bytes = pick_qualifier(maker);
        operation->batch = 0;
        read->family_cell_limit = read->family_cell_offset = 0;
        break;
    }
}

void
pick_get(struct maker *maker, struct operation *operation)
{
    for (size_t i = 0; i < OPERATION_ROWS; i++)
        operation->rows[i] = pick_row(maker);
    pick_read(maker, operation);
}

void
pick_scan(struct maker *maker, struct operation *operation)
{
    struct model_scan *scan = &operation->scan;

    operation->kind = OPERATION_SCAN;
    operation->read.raw = has(maker, FEATURE_RAW) && !maker->calm && chance(maker, 25);
    pick_read(maker, operation);
    if (chance(maker, 40))
        scan->start_row = pick_row(maker);
    if (chance(maker, 40))
        scan->stop_row = pick_row(maker);
    scan->row_limit = chance(maker, 30) ? 1 + below(maker, 3) : 0;
    if (!has(maker, FEATURE_SCANS))
        return;
    if (chance(maker, 2))
        operation->read.versions = -1;
    scan->start_exclusive = chance(maker, 20);
    scan->stop_inclusive = chance(maker, 20);
    scan->reversed = chance(maker, 30);
    if (chance(maker, 10))
        scan->prefix = pick_row(maker);
    operation->by_rows = chance(maker, 40);
    operation->batch = operation->by_rows && chance(maker, 60) ? 1 + below(maker, 4) : 0;
    if (has(maker, FEATURE_FILTERS) && !operation->read.raw && chance(maker, 25))
        pick_filter(maker, operation);
}

static void
pick_moves(struct maker *maker, struct operation *operation)
{
    operation->kind = OPERATION_MOVE_CURSOR;
    operation->move_count = 1 + below(maker, OPERATION_MOVES);
    for (size_t i = 0; i < operation->move_count; i++)
        operation->moves[i] =
            (struct operation_move){.kind = (enum move_kind)below(maker, MOVE_SEEK + 1),
                                    .times = 1 + below(maker, chance(maker, 20) ? 30 : 3),
                                    .place = {.row = pick_row(maker),
                                              .in_row = chance(maker, 70),
                                              .family = (unsigned)below(maker, MODEL_FAMILIES),
                                              .qualifier = pick_qualifier(maker)}};
}

void
pick_cursor(struct maker *maker, struct operation *operation)
{
    unsigned choice = (unsigned)below(maker, 100);

    operation->cursor = (unsigned)below(maker, OPERATION_CURSORS);
    if (chance(maker, 60)) {
        operation->scan = (struct model_scan){.reversed = chance(maker, 30),
                                              .row_limit = operation->scan.row_limit};
        operation->read = (struct model_read){.read_point = UINT64_MAX,
                                              .versions = operation->read.versions,
                                              .filter = operation->read.filter,
                                              .raw = operation->read.raw};
    }
    if (choice < 30)
        operation->kind = OPERATION_OPEN_CURSOR;
    else if (choice < 40)
        operation->kind = OPERATION_CLOSE_CURSOR;
    else
        pick_moves(maker, operation);
}
