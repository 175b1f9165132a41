/* operation.c -- lists of operations made at random; see tests/model/operation.h. */
#include "tests/model/operation.h"

#include "base/slice.h"
#include "tests/model/text.h"

#include <stdlib.h>

#define ROWS       10
#define QUALIFIERS 5

/* Rows and qualifiers that have tripped stores: prefixes of each other, 00 and FF bytes, the empty
 * qualifier; rows so long that memory for a row has to grow. */
static const petal_slice rows[ROWS] = {{"a", 1},
                                       {"a\0", 2},
                                       {"a\0b", 3},
                                       {"b", 1},
                                       {"b\xff", 2},
                                       {"\xff\xff", 2},
                                       {"ab", 2},
                                       {"aa-long-enough-for-32", 21},
                                       {"ba-long-enough-for-64-bytes-of-memory", 37},
                                       {"c", 1}};
static const petal_slice qualifiers[QUALIFIERS] = {
    {"q", 1}, {"", 0}, {"q\0", 2}, {"r\xff", 2}, {"s", 1}};

struct maker {
    struct test_random random;
    unsigned features;
    size_t rows, qualifiers; /* a list uses so many of them: few for many meetings */
    unsigned tables;
    int64_t now_ms;
    int64_t granule; /* explicit timestamps are multiples of it */
    uint64_t values; /* made so far */
};

static uint64_t
below(struct maker *maker, uint64_t limit)
{
    return test_random_below(&maker->random, limit);
}

static bool
chance(struct maker *maker, unsigned percent)
{
    return test_random_chance(&maker->random, percent);
}

static bool
has(const struct maker *maker, enum operation_feature feature)
{
    return (maker->features & feature) != 0;
}

/* Mostly the first, so that it meets much. */
static unsigned
pick_table(struct maker *maker)
{
    return maker->tables > 1 && chance(maker, 35) ? (unsigned)below(maker, maker->tables) : 0;
}

static struct model_bytes
pick_row(struct maker *maker)
{
    return model_bytes_of(rows[below(maker, maker->rows)]);
}

static struct model_bytes
pick_qualifier(struct maker *maker)
{
    return model_bytes_of(qualifiers[below(maker, maker->qualifiers)]);
}

/* Mostly of the last few granules, at times ahead of the clock. */
static int64_t
pick_timestamp(struct maker *maker)
{
    int64_t timestamp =
        (maker->now_ms / maker->granule + 1 - (int64_t)below(maker, 8)) * maker->granule;

    if (chance(maker, 10))
        timestamp = maker->now_ms - 1 + (int64_t)below(maker, 3);
    return timestamp < 0 ? 0 : timestamp;
}

static void
pick_range(struct maker *maker, int64_t *time_min, int64_t *time_limit)
{
    *time_min = chance(maker, 30) ? 0 : pick_timestamp(maker);
    *time_limit = chance(maker, 30) ? INT64_MAX : pick_timestamp(maker) + (int64_t)below(maker, 2);
    if (*time_limit < *time_min)
        *time_limit = *time_min;
}

/* Mostly a number that no value had before, or one that some value had. */
static struct model_bytes
pick_value(struct maker *maker, bool again)
{
    struct model_bytes value = {0};
    uint64_t number = again ? 1 + below(maker, maker->values + 1) : ++maker->values;
    unsigned kind = (unsigned)below(maker, 10);

    if (kind == 0)
        return value;
    value.size = kind < 4 ? 8 : kind < 6 ? 30 : 4;
    memset(value.bytes, kind < 4 ? 0 : '.', value.size);
    for (size_t i = value.size; i > 0 && number > 0; i--, number /= 10)
        value.bytes[i - 1] = (uint8_t)('0' + number % 10);
    return value;
}

/* ---- writes ---- */

static void
pick_delete(struct maker *maker, struct model_item *item)
{
    static const enum petal_cell_type types[] = {
        PETAL_DELETE,        PETAL_DELETE,        PETAL_DELETE_FAMILY_VERSION,
        PETAL_DELETE_COLUMN, PETAL_DELETE_COLUMN, PETAL_DELETE_FAMILY};

    item->kind = MODEL_DELETE;
    item->type = types[below(maker, sizeof types / sizeof *types)];
    if (item->type == PETAL_DELETE_FAMILY || item->type == PETAL_DELETE_FAMILY_VERSION)
        item->qualifier = (struct model_bytes){0};
    if (item->type == PETAL_DELETE && item->timestamp == PETAL_LATEST &&
        !has(maker, FEATURE_READ_MODIFY_WRITE))
        item->timestamp = pick_timestamp(maker);
}

static void
pick_item(struct maker *maker, struct model_item *item)
{
    unsigned kind = (unsigned)below(maker, 100);

    *item =
        (struct model_item){.family = (unsigned)below(maker, MODEL_FAMILIES),
                            .row = pick_row(maker),
                            .qualifier = pick_qualifier(maker),
                            .timestamp = chance(maker, 30) ? PETAL_LATEST : pick_timestamp(maker)};
    if (kind < 35) {
        pick_delete(maker, item);
    } else if (kind < 43 && has(maker, FEATURE_READ_MODIFY_WRITE)) {
        item->kind = MODEL_INCREMENT;
        item->amount = (int64_t)below(maker, 2000) - 1000;
    } else {
        item->kind = kind < 50 && has(maker, FEATURE_READ_MODIFY_WRITE) ? MODEL_APPEND : MODEL_PUT;
        item->value = pick_value(maker, false);
    }
    if (item->kind == MODEL_APPEND || item->kind == MODEL_INCREMENT)
        item->timestamp = PETAL_LATEST;
}

/* Options of the mutation that the item begins. */
static void
pick_mutation(struct maker *maker, struct model_item *item, bool simple)
{
    item->begins_mutation = true;
    if (has(maker, FEATURE_TTL) && chance(maker, 15)) {
        item->has_ttl = true;
        item->ttl_ms = chance(maker, 20) ? 0 : (int64_t)below(maker, 1500);
    }
    if (simple)
        return;
    item->no_results = chance(maker, 10);
    item->has_time_range = chance(maker, 15);
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
                                          .has_time_range = chance(maker, 15)};
    if (chance(maker, 80))
        condition->value = pick_value(maker, true);
    if (condition->has_time_range)
        pick_range(maker, &condition->time_min, &condition->time_limit);
}

static void
pick_write(struct maker *maker, struct operation *operation)
{
    operation->kind = OPERATION_WRITE;
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

/* ---- reads ---- */

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
    read->has_time_range = chance(maker, 30);
    if (read->has_time_range)
        pick_range(maker, &read->time_min, &read->time_limit);
    if (has(maker, FEATURE_VERSIONS) && chance(maker, 60))
        read->versions = chance(maker, 40) ? PETAL_ALL_VERSIONS : (int32_t)below(maker, 4);
    if (has(maker, FEATURE_CELL_LIMITS)) {
        for (unsigned family = 0; family < MODEL_FAMILIES; family++) {
            read->has_family_range[family] = chance(maker, 8);
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

static void
pick_scan(struct maker *maker, struct operation *operation)
{
    struct model_scan *scan = &operation->scan;

    operation->kind = OPERATION_SCAN;
    operation->read.raw = has(maker, FEATURE_RAW) && chance(maker, 25);
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

/* Mostly over all that there is, so that moves meet many rows and families. */
static void
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

/* ---- lists ---- */

static void
pick_compaction(struct maker *maker, struct operation *operation)
{
    operation->kind = OPERATION_COMPACT;
    if (chance(maker, 40))
        return;
    operation->family = (unsigned)below(maker, MODEL_FAMILIES);
    operation->first_run = below(maker, 4);
    operation->run_count = 1 + below(maker, 4);
}

/* ---- tables ---- */

static void
pick_family(struct maker *maker, struct model_family *family)
{
    *family = (struct model_family){.versions = 1, .keep_deleted = PETAL_KEEP_DELETED_FALSE};
    if (has(maker, FEATURE_VERSIONS) && chance(maker, 70))
        family->versions = 1 + (uint32_t)below(maker, 4);
    if (has(maker, FEATURE_TTL) && chance(maker, 40)) {
        family->has_ttl = true;
        family->ttl_ms = 1000 * (1 + (int64_t)below(maker, 2));
        if (chance(maker, 50))
            family->min_versions = (uint32_t)below(maker, family->versions + 1);
    }
    if (has(maker, FEATURE_KEEP_DELETED) && chance(maker, 40))
        family->keep_deleted = chance(maker, 50) ? PETAL_KEEP_DELETED_TRUE : PETAL_KEEP_DELETED_TTL;
    family->new_version_behavior = has(maker, FEATURE_NEW_VERSION_BEHAVIOR) && chance(maker, 25);
}

/* At times without some family, and READONLY now and then once it is altered. */
static void
pick_schema(struct maker *maker, bool may_lack, struct model_schema *schema)
{
    unsigned sure = (unsigned)below(maker, MODEL_FAMILIES);

    *schema = (struct model_schema){.read_only = may_lack && chance(maker, 5)};
    for (unsigned family = 0; family < MODEL_FAMILIES; family++) {
        pick_family(maker, &schema->families[family]);
        schema->families[family].absent = may_lack && family != sure && chance(maker, 25);
    }
}

static bool
pick_table_change(struct maker *maker, struct operation *operation)
{
    unsigned choice = (unsigned)below(maker, 100);

    operation->table_snapshot = (unsigned)below(maker, MODEL_TABLE_SNAPSHOTS);
    operation->table = (unsigned)below(maker, maker->tables);
    if (choice < 50 && has(maker, FEATURE_SCHEMA)) {
        /* What is gone comes back soon: most of the list is about what is there. */
        operation->kind = choice < 8    ? OPERATION_DROP_TABLE
                          : choice < 24 ? OPERATION_CREATE_TABLE
                          : choice < 30 ? OPERATION_TRUNCATE_TABLE
                                        : OPERATION_ALTER_TABLE;
        pick_schema(maker, chance(maker, 60), &operation->schema);
    } else if (choice < 90 && has(maker, FEATURE_TABLE_SNAPSHOTS)) {
        operation->kind = choice < 65   ? OPERATION_TAKE_TABLE_SNAPSHOT
                          : choice < 74 ? OPERATION_CLONE_TABLE
                          : choice < 83 ? OPERATION_RESTORE_TABLE
                                        : OPERATION_DELETE_TABLE_SNAPSHOT;
        operation->skip_flush = chance(maker, 30);
        operation->ttl_seconds = chance(maker, 20) ? 1 + (uint32_t)below(maker, 3) : 0;
    } else if (has(maker, FEATURE_CHECKPOINTS)) {
        operation->kind = OPERATION_CHECKPOINT;
    } else {
        return false;
    }
    return true;
}

static void
pick_maintenance(struct maker *maker, struct operation *operation)
{
    unsigned choice = (unsigned)below(maker, 100);

    operation->variant = (unsigned)below(maker, 8);
    if (choice >= 70 && pick_table_change(maker, operation))
        return;
    operation->kind = OPERATION_FLUSH;
    operation->whole_database = chance(maker, 50);
    operation->snapshot = 1 + (unsigned)below(maker, MODEL_READ_POINTS);
    operation->family = (unsigned)below(maker, MODEL_FAMILIES + 1);
    if (choice < 20 && has(maker, FEATURE_COMPACTION))
        pick_compaction(maker, operation);
    else if (choice < 45 && has(maker, FEATURE_SNAPSHOTS))
        operation->kind = choice < 32 ? OPERATION_TAKE_SNAPSHOT : OPERATION_FREE_SNAPSHOT;
    else if (choice < 55 && has(maker, FEATURE_RESTARTS))
        operation->kind = choice < 50 ? OPERATION_REOPEN : OPERATION_CRASH;
}

static void
step_clock(struct maker *maker)
{
    maker->now_ms += chance(maker, 70);
    if (chance(maker, 4))
        maker->now_ms += (int64_t)below(maker, 800);
    if (has(maker, FEATURE_CLOCK) && chance(maker, 3))
        maker->now_ms -= (int64_t)below(maker, chance(maker, 20) ? 3000 : 100);
    if (maker->now_ms < 1)
        maker->now_ms = 1;
}

static void
pick_operation(struct maker *maker, struct operation *operation)
{
    unsigned choice = (unsigned)below(maker, 100);

    *operation = (struct operation){.kind = OPERATION_GET};
    step_clock(maker);
    operation->now_ms = maker->now_ms;
    operation->table = pick_table(maker);
    if (choice < 45) {
        pick_write(maker, operation);
    } else if (choice < 57) {
        pick_maintenance(maker, operation);
    } else if (choice < 78) {
        operation->kind = choice < 75 ? OPERATION_GET : OPERATION_GET_ROWS;
        for (size_t i = 0; i < OPERATION_ROWS; i++)
            operation->rows[i] = pick_row(maker);
        pick_read(maker, operation);
    } else {
        pick_scan(maker, operation);
        if (has(maker, FEATURE_CURSORS) && choice < 88)
            pick_cursor(maker, operation);
    }
}

void
operation_list_make(struct operation_list *list, uint64_t seed, size_t count, unsigned features)
{
    struct maker maker = {.features = features, .now_ms = 5000};

    test_random_init(&maker.random, seed);
    maker.rows = 1 + below(&maker, ROWS);
    maker.qualifiers = 1 + below(&maker, QUALIFIERS);
    maker.granule = chance(&maker, 50) ? 10 : 300;
    maker.tables = (features & FEATURE_TABLES) != 0 ? MODEL_TABLES : 1;
    list->count = count;
    list->operations = test_allocate(count * sizeof *list->operations);
    list->table_count = maker.tables;
    for (unsigned table = 0; table < list->table_count; table++)
        pick_schema(&maker, table > 0 && chance(&maker, 50), &list->schemas[table]);
    for (size_t i = 0; i < count; i++)
        pick_operation(&maker, &list->operations[i]);
}

void
operation_list_free(struct operation_list *list)
{
    free(list->operations);
    *list = (struct operation_list){0};
}
