/* make_write.c -- random writes; see tests/model/maker.h. */
#include "tests/model/maker.h"

#include "base/slice.h"

#include <stdlib.h>

/* Of a put or a marker. */
static int64_t
pick_write_timestamp(struct maker *maker, bool is_put)
{
    if (!maker->calm)
        return chance(maker, maker->dense ? 5 : 30) ? PETAL_LATEST : pick_timestamp(maker);
    if (!maker->past_puts)
        return PETAL_LATEST;
    return maker->now_ms - (int64_t)below(maker, CALM_PAST_MS) - (is_put ? 0 : CALM_PAST_MS);
}

static void
pick_delete(struct maker *maker, struct model_item *item)
{
    static const enum petal_cell_type types[] = {
        PETAL_DELETE,        PETAL_DELETE,        PETAL_DELETE_FAMILY_VERSION,
        PETAL_DELETE_COLUMN, PETAL_DELETE_COLUMN, PETAL_DELETE_FAMILY};

    item->kind = MODEL_DELETE;
    item->timestamp = pick_write_timestamp(maker, false);
    do
        item->type = types[below(maker, sizeof types / sizeof *types)];
    while (maker->calm && !maker->roomy &&
           (item->type == PETAL_DELETE || item->type == PETAL_DELETE_FAMILY_VERSION));
    if (maker->calm && (item->type == PETAL_DELETE || item->type == PETAL_DELETE_FAMILY_VERSION))
        item->timestamp = chance(maker, 30) ? PETAL_LATEST : pick_write_timestamp(maker, true);
    if (item->type == PETAL_DELETE_FAMILY || item->type == PETAL_DELETE_FAMILY_VERSION)
        item->qualifier = (struct model_bytes){0};
    if (item->type == PETAL_DELETE && item->timestamp == PETAL_LATEST &&
        !has(maker, FEATURE_READ_MODIFY_WRITE))
        item->timestamp = pick_timestamp(maker);
}

static void
meet_hot_column(struct maker *maker, struct model_item *item)
{
    item->row = maker->hot_row;
    item->family = maker->hot_family;
    if (chance(maker, 60)) {
        item->kind = MODEL_INCREMENT;
        item->amount = 1;
    }
    if (item->kind != MODEL_DELETE || item->type == PETAL_DELETE ||
        item->type == PETAL_DELETE_COLUMN)
        item->qualifier = maker->hot_qualifier;
    if (chance(maker, 80))
        item->timestamp = PETAL_LATEST;
}

static void
pick_item(struct maker *maker, struct model_item *item)
{
    unsigned kind = (unsigned)below(maker, 100);

    *item = (struct model_item){.family = (unsigned)below(maker, MODEL_FAMILIES),
                                .row = pick_row(maker),
                                .qualifier = pick_qualifier(maker),
                                .timestamp = pick_write_timestamp(maker, true)};
    if (kind < (maker->dense ? 55 : 35)) {
        pick_delete(maker, item);
    } else if (kind >= 55 && kind < 63 && has(maker, FEATURE_READ_MODIFY_WRITE)) {
        item->kind = MODEL_INCREMENT;
        item->amount = (int64_t)below(maker, 2000) - 1000;
    } else {
        item->kind = kind >= 63 && kind < 70 && has(maker, FEATURE_READ_MODIFY_WRITE) ? MODEL_APPEND
                                                                                      : MODEL_PUT;
        item->value = pick_value(maker, false);
    }
    if (maker->rest > 0 && chance(maker, 70))
        meet_hot_column(maker, item);
    if (item->kind == MODEL_APPEND || item->kind == MODEL_INCREMENT)
        item->timestamp = PETAL_LATEST;
}

/* Options of the mutation that the item begins. */
static void
pick_mutation(struct maker *maker, struct model_item *item, bool simple)
{
    item->begins_mutation = true;
    if (has(maker, FEATURE_TTL) && !maker->calm && chance(maker, 15)) {
        item->has_ttl = true;
        item->ttl_ms = chance(maker, 20) ? 0 : (int64_t)below(maker, 1500);
    }
    if (simple)
        return;
    item->no_results = chance(maker, 10);
    item->has_time_range = chance_of_range(maker, 15);
    if (item->has_time_range)
        pick_range(maker, &item->time_min, &item->time_limit);
}

static void
pick_condition(struct maker *maker, struct operation *operation)
{
    struct model_condition *condition = &operation->condition;

    operation->has_condition = chance(maker, 80);
    *condition = (struct model_condition){.family = (unsigned)below(maker, MODEL_FAMILIES),
                                          .row = operation->items[0].row,
                                          .qualifier = pick_qualifier(maker),
                                          .absent = chance(maker, 40),
                                          .compare = (enum petal_compare)(1 + below(maker, 6)),
                                          .compare_empty = chance(maker, 50),
                                          .has_time_range = chance_of_range(maker, 15)};
    if (chance(maker, 80))
        condition->value = pick_value(maker, true);
    if (condition->has_time_range)
        pick_range(maker, &condition->time_min, &condition->time_limit);
    if (has(maker, FEATURE_FILTERS) && chance(maker, 20))
        pick_filter_of_row(maker, &condition->filter);
}

/* By family, then in cell order as HBase has it. */
static int
compare_items(const void *left, const void *right)
{
    const struct model_item *a = left, *b = right;
    enum petal_cell_type types[2] = {a->kind == MODEL_PUT ? PETAL_PUT : a->type,
                                     b->kind == MODEL_PUT ? PETAL_PUT : b->type};
    int order = (int)a->family - (int)b->family;

    if (order == 0)
        order = slice_compare(model_slice(&a->row), model_slice(&b->row));
    if (order == 0)
        order = slice_compare(model_slice(&a->qualifier), model_slice(&b->qualifier));
    if (order == 0 && a->timestamp != b->timestamp)
        order = a->timestamp > b->timestamp ? -1 : 1;
    return order == 0 ? (int)types[1] - (int)types[0] : order;
}

/* Puts and deletions of one table. */
static void
pick_bulk(struct maker *maker, struct operation *operation)
{
    size_t picked = 1 + below(maker, MODEL_MOST_ITEMS);
    struct model_item *items = operation->items;

    operation->kind = OPERATION_WRITE;
    operation->bulk = true;
    operation->below = !maker->calm && chance(maker, 40);
    for (size_t i = 0; i < picked; i++) {
        do
            pick_item(maker, &items[i]);
        while (items[i].kind == MODEL_APPEND || items[i].kind == MODEL_INCREMENT);
        items[i].table = operation->table;
        pick_mutation(maker, &items[i], true);
        if (items[i].timestamp == PETAL_LATEST)
            items[i].timestamp = maker->now_ms;
        if (i > 0 && chance(maker, 50)) { /* meets the one before */
            items[i].row = items[i - 1].row;
            items[i].family = items[i - 1].family;
            if (!maker->calm)
                items[i].timestamp = items[i - 1].timestamp;
        }
    }
    qsort(items, picked, sizeof *items, compare_items);
    operation->item_count = 1;
    for (size_t i = 1; i < picked; i++) {
        if (compare_items(&items[operation->item_count - 1], &items[i]) != 0)
            items[operation->item_count++] = items[i];
    }
}

void
pick_write(struct maker *maker, struct operation *operation)
{
    if (has(maker, FEATURE_BULKS) && chance(maker, 8)) {
        pick_bulk(maker, operation);
        return;
    }
    operation->kind = OPERATION_WRITE;
    operation->durability = chance(maker, 15)   ? PETAL_FSYNC_WAL
                            : chance(maker, 10) ? PETAL_ASYNC_WAL
                                                : PETAL_DURABILITY_DEFAULT;
    operation->single = chance(maker, 70);
    operation->item_count = operation->single ? 1 : 1 + below(maker, MODEL_MOST_ITEMS);
    operation->changes_row =
        !operation->single && has(maker, FEATURE_CONDITIONS) && chance(maker, 40);
    for (size_t i = 0; i < operation->item_count; i++) {
        struct model_item *item = &operation->items[i];

        pick_item(maker, item);
        if (operation->changes_row)
            item->row = operation->items[0].row;
        item->table = operation->table;
        if (i == 0 || chance(maker, 50)) {
            pick_mutation(maker, item, operation->single);
            if (i > 0 && !operation->changes_row)
                item->table = pick_table(maker);
        } else {
            item->table = item[-1].table;
            item->has_ttl = item[-1].has_ttl;
            item->ttl_ms = item[-1].ttl_ms;
            item->no_results = item[-1].no_results;
            item->has_time_range = item[-1].has_time_range;
            item->time_min = item[-1].time_min;
            item->time_limit = item[-1].time_limit;
        }
        if (i > 0 && chance(maker, 30)) { /* the same column again, it may be of another table */
            item->row = item[-1].row;
            item->family = item[-1].family;
            if (item->kind != MODEL_DELETE || item->type == PETAL_DELETE ||
                item->type == PETAL_DELETE_COLUMN)
                item->qualifier = item[-1].qualifier;
        }
    }
    if (operation->changes_row)
        pick_condition(maker, operation);
}

/* Mostly one that is open, as a prefix or the low end of a range. */
static struct model_bytes
pick_end(struct maker *maker)
{
    return chance(maker, 50) ? pick_row(maker) : (struct model_bytes){0};
}

void
pick_delete_rows(struct maker *maker, struct operation *operation)
{
    operation->kind = OPERATION_DELETE_ROWS;
    operation->of_keys = has(maker, FEATURE_KEY_VALUE) && chance(maker, 25);
    operation->one_row = !operation->of_keys && chance(maker, 40);
    operation->single = chance(maker, 50);
    operation->rows[0] = operation->one_row ? pick_row(maker) : pick_end(maker);
    operation->rows[1] = pick_end(maker);
    if (chance(maker, 30)) {
        operation->scan.prefix = pick_row(maker);
        operation->scan.prefix.size = 1;
    }
    operation->items[0].timestamp = pick_write_timestamp(maker, false);
    operation->items[0].table = operation->table;
    operation->item_count = 1;
    /* With crashes in one batch: what is left of a call that was cut is all or nothing. */
    operation->batch = has(maker, FEATURE_CRASHES) ? 0 : below(maker, 4);
    /* Who makes the writes before a crash once more has no read points of then. */
    if (!operation->one_row && has(maker, FEATURE_SNAPSHOTS) && !has(maker, FEATURE_CRASHES) &&
        chance(maker, 20))
        operation->snapshot = 1 + (unsigned)below(maker, MODEL_READ_POINTS);
}

/* What is asked for at once; or in which range. */
static void
pick_values(struct maker *maker, struct operation *operation)
{
    struct model_scan *scan = &operation->scan;

    for (size_t i = 0; i < OPERATION_ROWS; i++)
        operation->rows[i] = pick_row(maker);
    if (operation->kind != OPERATION_SCAN_VALUES)
        return;
    scan->start_row = pick_end(maker);
    scan->stop_row = pick_end(maker);
    scan->reversed = chance(maker, 50);
    if (chance(maker, 40)) {
        scan->prefix = pick_row(maker);
        scan->prefix.size = 1;
    }
    operation->move_count = below(maker, 2); /* a seek */
}

/* A deletion would hide the past puts that come later. */
void
pick_key_value(struct maker *maker, struct operation *operation)
{
    static const enum operation_kind reads[] = {OPERATION_GET_VALUE, OPERATION_GET_VALUES,
                                                OPERATION_SCAN_VALUES};
    struct model_item *item = operation->items;
    bool is_delete = !maker->past_puts && chance(maker, 25);

    operation->kind = chance(maker, 50) ? reads[below(maker, 3)] : OPERATION_PUT_VALUE;
    pick_values(maker, operation);
    operation->item_count = 1;
    *item = (struct model_item){.kind = is_delete ? MODEL_DELETE : MODEL_PUT,
                                .type = PETAL_DELETE_COLUMN,
                                .table = (unsigned)below(maker, maker->tables),
                                .row = pick_row(maker),
                                .timestamp = PETAL_LATEST,
                                .begins_mutation = true};
    if (!is_delete)
        item->value = pick_value(maker, false);
    if (maker->rest > 0 && chance(maker, 70))
        item->row = maker->hot_row;
    operation->way = (enum value_way)below(maker, is_delete ? WAY_IF_ABSENT : WAYS);
    if (is_delete && chance(maker, 30))
        operation->way = WAY_SWAP;
    if (operation->way < WAY_IF_ABSENT)
        return;
    operation->condition =
        (struct model_condition){.row = item->row,
                                 .absent = operation->way == WAY_IF_ABSENT || chance(maker, 40),
                                 .compare = PETAL_EQUAL,
                                 .compare_empty = true,
                                 .value = pick_value(maker, true)};
}
