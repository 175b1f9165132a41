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
    operation->keep_out_of_cache = chance(maker, 10);
    operation->has_receipt = has(maker, FEATURE_LOOKS) && chance(maker, 15);
    operation->without = (unsigned)below(maker, 1u << PETAL_SKIP_COUNT);
}

static struct model_bytes
some_bytes(const char *bytes, size_t size)
{
    return model_bytes_of(slice_make(bytes, size));
}

static void
pick_leaf(struct maker *maker, enum model_leaf_kind least, unsigned kinds, struct model_leaf *leaf)
{
    *leaf = (struct model_leaf){.kind = least + (unsigned)below(maker, kinds),
                                .compare = (enum petal_compare)(1 + below(maker, 6)),
                                .flag = chance(maker, 50)};
    switch (leaf->kind) {
    case MODEL_LEAF_ROW:
        leaf->bytes = pick_row(maker);
        break;
    case MODEL_LEAF_ROW_PREFIX:
        leaf->bytes = some_bytes(&"ab\xff"[below(maker, 3)], 1);
        break;
    case MODEL_LEAF_FAMILY:
        leaf->bytes =
            model_bytes_of(model_text_family_name((unsigned)below(maker, MODEL_FAMILIES)));
        break;
    case MODEL_LEAF_COLUMN_PREFIX:
        leaf->bytes = some_bytes(&"qrs"[below(maker, 3)], 1);
        break;
    case MODEL_LEAF_QUALIFIER:
        leaf->bytes = pick_qualifier(maker);
        break;
    case MODEL_LEAF_QUALIFIER_PREFIX:
        leaf->bytes = some_bytes(&"qrs"[below(maker, 3)], 1);
        break;
    case MODEL_LEAF_COLUMN_RANGE:
        leaf->bytes = some_bytes(&"qr"[below(maker, 2)], below(maker, 2));
        leaf->more = some_bytes(&"rs"[below(maker, 2)], below(maker, 2));
        break;
    case MODEL_LEAF_VALUE:
        leaf->bytes = pick_value(maker, true);
        break;
    case MODEL_LEAF_VALUE_PREFIX:
        leaf->bytes = some_bytes("...", 1 + below(maker, 3));
        break;
    case MODEL_LEAF_VALUE_CONTAINS:
        leaf->bytes = some_bytes(&"0123456789"[below(maker, 10)], 1);
        leaf->compare = chance(maker, 50) ? PETAL_EQUAL : PETAL_NOT_EQUAL;
        break;
    default:
        leaf->number = pick_timestamp(maker);
        break;
    }
}

static void
pick_list(struct maker *maker, struct operation *operation)
{
    struct model_filter *filter = &operation->read.filter;
    unsigned around = (unsigned)below(maker, 10);

    filter->one_of = chance(maker, 40);
    filter->skip = around < 2;
    /* It sees rows that are deleted, and those past TTL unless all of their file is. */
    filter->while_match = around == 2 && !maker->calm && !has(maker, FEATURE_TTL);
    filter->by_text = chance(maker, 50);
    filter->leaf_count = 1 + below(maker, MODEL_MOST_LEAVES);
    /* HBase's SkipFilter does not ask its member about rows. */
    for (size_t i = 0; i < filter->leaf_count; i++) {
        if (filter->while_match)
            pick_leaf(maker, MODEL_LEAF_ROW, 1, &filter->leaves[i]);
        else if (filter->skip)
            pick_leaf(maker, MODEL_LEAF_FAMILY, MODEL_LEAVES - MODEL_LEAF_FAMILY,
                      &filter->leaves[i]);
        else
            pick_leaf(maker, MODEL_LEAF_ROW, MODEL_LEAVES, &filter->leaves[i]);
    }
}

/* A filter that needs whole rows judges what limits leave of them. */
static void
ask_for_whole_rows(struct operation *operation)
{
    operation->batch = 0;
    operation->read.family_cell_limit = operation->read.family_cell_offset = 0;
}

static void
pick_filter(struct maker *maker, struct operation *operation)
{
    struct model_read *read = &operation->read;
    struct model_filter *filter = &read->filter;

    filter->kind = chance(maker, 50)
                       ? MODEL_FILTER_LIST
                       : (enum model_filter_kind)(1 + below(maker, MODEL_FILTER_PAGE));
    switch (filter->kind) {
    case MODEL_FILTER_NONE:
        break;
    case MODEL_FILTER_FIRST_KEY: /* an offset would leave out the only one */
        read->family_cell_offset = 0;
        break;
    case MODEL_FILTER_COLUMN_PREFIX:
        filter->bytes = some_bytes(&"qrs"[below(maker, 3)], 1);
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
        filter->bytes = some_bytes(&"ab\xff"[below(maker, 3)], 1);
        break;
    case MODEL_FILTER_PAGE:
        filter->number = 1 + (int64_t)below(maker, 4);
        operation->batch = 0;
        break;
    case MODEL_FILTER_LIST:
        pick_list(maker, operation);
        break;
    case MODEL_FILTER_SKIP:
        filter->bytes = pick_qualifier(maker);
        break;
    }
    if (filter->kind == MODEL_FILTER_SKIP || filter->skip || filter->while_match)
        ask_for_whole_rows(operation);
}

void
pick_filter_of_row(struct maker *maker, struct model_filter *filter)
{
    struct operation read = {.kind = OPERATION_GET};

    pick_filter(maker, &read);
    *filter = read.read.filter;
}

/* Lists of a reversed scan take a place in a row that a member asks for the wrong way round, as
 * HBase's do: there the members ask for none. */
static void
settle_filter(struct operation *operation)
{
    struct model_filter *filter = &operation->read.filter;

    for (size_t i = 0; operation->scan.reversed && i < filter->leaf_count; i++) {
        if (filter->leaves[i].kind == MODEL_LEAF_COLUMN_PREFIX ||
            filter->leaves[i].kind == MODEL_LEAF_COLUMN_RANGE)
            filter->leaves[i].kind = MODEL_LEAF_QUALIFIER;
    }
}

void
pick_get(struct maker *maker, struct operation *operation)
{
    for (size_t i = 0; i < OPERATION_ROWS; i++)
        operation->rows[i] = pick_row(maker);
    pick_read(maker, operation);
    if (has(maker, FEATURE_FILTERS) && chance(maker, 10))
        pick_filter(maker, operation);
}

void
pick_scan(struct maker *maker, struct operation *operation)
{
    struct model_scan *scan = &operation->scan;

    operation->kind = OPERATION_SCAN;
    operation->read.raw =
        has(maker, FEATURE_RAW) && !maker->calm && chance(maker, maker->dense ? 60 : 25);
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
    settle_filter(operation);
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
        settle_filter(operation);
    }
    if (choice < 30)
        operation->kind = OPERATION_OPEN_CURSOR;
    else if (choice < 40)
        operation->kind = OPERATION_CLOSE_CURSOR;
    else
        pick_moves(maker, operation);
}
