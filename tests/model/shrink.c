/*
 * shrink.c -- delta debugging: what can be left out while the list still fails is left out, first
 * in large pieces, then one by one, until nothing more can go.
 */
#include "tests/model/shrink.h"

#include <stdlib.h>
#include <string.h>

struct shrinker {
    struct operation_list *list;
    bool (*fails)(const struct operation_list *list, const void *argument);
    const void *argument;
};

static bool
fails(const struct shrinker *shrinker, const struct operation_list *list)
{
    return shrinker->fails(list, shrinker->argument);
}

/* The list without `count` operations from `first` on, if that still fails. */
static bool
take_out(struct shrinker *shrinker, size_t first, size_t count)
{
    struct operation_list *list = shrinker->list;
    struct operation_list less = *list;
    size_t tail = list->count - first - count;

    less.count = list->count - count;
    less.operations = test_allocate(less.count * sizeof *less.operations);
    memcpy(less.operations, list->operations, first * sizeof *less.operations);
    memcpy(less.operations + first, list->operations + first + count,
           tail * sizeof *less.operations);
    if (!fails(shrinker, &less)) {
        free(less.operations);
        return false;
    }
    free(list->operations);
    *list = less;
    return true;
}

static bool
shrink_operations(struct shrinker *shrinker)
{
    const struct operation_list *list = shrinker->list;
    bool changed = false;

    for (size_t size = list->count / 2 > 0 ? list->count / 2 : 1; size > 0; size /= 2) {
        for (size_t end = list->count;
             end >= size;) { /* the last first: most are after the failure */
            if (take_out(shrinker, end - size, size))
                changed = true;
            end -= size;
            end = end < list->count ? end : list->count;
        }
    }
    return changed;
}

/* Keep what `changed` is if the list still fails with it at `index`. */
static bool
try_instead(struct shrinker *shrinker, size_t index, const struct operation *changed)
{
    struct operation_list *list = shrinker->list;
    struct operation before = list->operations[index];

    list->operations[index] = *changed;
    if (memcmp(&before, changed, sizeof before) != 0 && fails(shrinker, shrinker->list))
        return true;
    list->operations[index] = before;
    return false;
}

/* Items of one mutation share its options. */
static void
settle_mutations(struct operation *operation)
{
    operation->items[0].begins_mutation = true;
    for (size_t i = 1; i < operation->item_count; i++) {
        struct model_item *item = &operation->items[i];

        if (item->begins_mutation)
            continue;
        item->has_ttl = item[-1].has_ttl;
        item->ttl_ms = item[-1].ttl_ms;
        item->no_results = item[-1].no_results;
        item->has_time_range = item[-1].has_time_range;
        item->time_min = item[-1].time_min;
        item->time_limit = item[-1].time_limit;
    }
}

static bool
shrink_write(struct shrinker *shrinker, size_t index)
{
    struct operation *operation = &shrinker->list->operations[index];
    bool changed = false;
    struct operation less;

    for (size_t i = operation->item_count; operation->item_count > 1 && i-- > 0;) {
        less = *operation;
        less.item_count--;
        memmove(&less.items[i], &less.items[i + 1], (less.item_count - i) * sizeof *less.items);
        settle_mutations(&less);
        changed |= try_instead(shrinker, index, &less);
    }
    for (size_t i = 0; i < operation->item_count; i++) {
        less = *operation;
        less.items[i].has_ttl = less.items[i].has_time_range = less.items[i].no_results = false;
        settle_mutations(&less);
        changed |= try_instead(shrinker, index, &less);
    }
    less = *operation;
    less.condition.filter = (struct model_filter){.kind = MODEL_FILTER_NONE};
    changed |= try_instead(shrinker, index, &less);
    less = *operation;
    less.changes_row = less.has_condition = false;
    changed |= try_instead(shrinker, index, &less);
    less = *operation;
    less.in_transaction = false;
    changed |= try_instead(shrinker, index, &less);
    less = *operation;
    less.durability = PETAL_DURABILITY_DEFAULT;
    changed |= try_instead(shrinker, index, &less);
    less = *operation;
    less.single = true;
    less.items[0].has_time_range = less.items[0].no_results = false;
    if (less.item_count == 1 && !less.changes_row)
        changed |= try_instead(shrinker, index, &less);
    return changed;
}

static bool
shrink_read(struct shrinker *shrinker, size_t index)
{
    struct operation *operation = &shrinker->list->operations[index];
    bool changed = false;
    struct operation less;

#define WITHOUT(change)                                                                            \
    less = *operation;                                                                             \
    change;                                                                                        \
    changed |= try_instead(shrinker, index, &less)
    WITHOUT(less.read.column_count = 0);
    WITHOUT(less.read.column_count -= less.read.column_count > 1);
    WITHOUT(less.read.has_time_range = false);
    WITHOUT(memset(less.read.has_family_range, 0, sizeof less.read.has_family_range));
    WITHOUT(less.read.family_cell_limit = 0);
    WITHOUT(less.read.family_cell_offset = 0);
    WITHOUT(less.read.versions = PETAL_ALL_VERSIONS);
    WITHOUT(less.snapshot = 0);
    WITHOUT(less.in_transaction = false);
    WITHOUT(less.table = 0);
    WITHOUT(less.batch = 0);
    WITHOUT(less.by_rows = less.batch > 0);
    WITHOUT(less.without = 0);
    WITHOUT((less.scan = (struct model_scan){.reversed = less.scan.reversed}));
    WITHOUT(less.scan.reversed = false);
    WITHOUT((less.read.filter = (struct model_filter){.kind = MODEL_FILTER_NONE}));
    WITHOUT(less.read.filter.leaf_count -= less.read.filter.leaf_count > 1);
    WITHOUT(less.read.filter.by_text = false);
    WITHOUT(less.has_receipt = false);
    WITHOUT(less.move_count -= less.move_count > 1);
    for (size_t i = 0; i < operation->move_count && operation->move_count > 1; i++) {
        WITHOUT(memmove(&less.moves[i], &less.moves[i + 1],
                        (--less.move_count - i) * sizeof *less.moves));
    }
    for (size_t i = 0; i < operation->move_count; i++) {
        WITHOUT(less.moves[i].times = 1);
        WITHOUT(less.moves[i].place.in_row = false);
    }
#undef WITHOUT
    return changed;
}

/* As few attributes and families as fail still. */
static bool
shrink_schema(struct shrinker *shrinker, struct model_schema *schema)
{
    bool changed = false;
    size_t present = 0;

    for (unsigned i = 0; i < MODEL_FAMILIES; i++)
        present += !schema->families[i].absent;
    for (unsigned i = 0; i < MODEL_FAMILIES; i++) {
        static const struct model_family plain = {.versions = 1,
                                                  .keep_deleted = PETAL_KEEP_DELETED_FALSE};
        struct model_schema before = *schema;

        if (before.families[i].absent)
            continue;
        if (present > 1) {
            schema->families[i].absent = true;
            if (fails(shrinker, shrinker->list)) {
                changed = true;
                present--;
                continue;
            }
            *schema = before;
        }
        if ((shrinker->list->features & FEATURE_CALM) != 0) /* which rests on them */
            continue;
        schema->families[i] = plain;
        if (memcmp(&before, schema, sizeof before) != 0 && fails(shrinker, shrinker->list))
            changed = true;
        else
            *schema = before;
    }
    return changed;
}

static bool
shrink_schemas(struct shrinker *shrinker)
{
    struct operation_list *list = shrinker->list;
    bool changed = false;

    while (list->table_count > 1) {
        list->table_count--;
        if (!fails(shrinker, shrinker->list)) {
            list->table_count++;
            break;
        }
        changed = true;
    }
    for (unsigned i = 0; i < list->table_count; i++)
        changed |= shrink_schema(shrinker, &list->schemas[i]);
    for (size_t i = 0; i < list->count; i++) {
        if (list->operations[i].kind == OPERATION_CREATE_TABLE ||
            list->operations[i].kind == OPERATION_ALTER_TABLE)
            changed |= shrink_schema(shrinker, &list->operations[i].schema);
    }
    return changed;
}

/* The crash is at the first call, is a simple one, or is none. */
static bool
shrink_crash(struct shrinker *shrinker, size_t index)
{
    struct operation *operation = &shrinker->list->operations[index];
    bool changed = false;
    struct operation less = *operation;

    less.crash = (struct operation_crash){.calls = 0};
    if (try_instead(shrinker, index, &less))
        return true;
    for (size_t i = OPERATION_RECOVERIES; i-- > 0;) {
        less = *operation;
        less.crash.recovery_calls[i] = 0;
        changed |= try_instead(shrinker, index, &less);
    }
    less = *operation;
    less.crash.full_bytes = 0;
    changed |= try_instead(shrinker, index, &less);
    less = *operation;
    less.crash.dies = true;
    if (!try_instead(shrinker, index, &less)) {
        less = *operation;
        less.crash.cut = 0;
        changed |= try_instead(shrinker, index, &less);
    }
    return changed;
}

static bool
shrink_full_disk(struct shrinker *shrinker, size_t index)
{
    struct operation less = shrinker->list->operations[index];

    less.full_operations = 0;
    return try_instead(shrinker, index, &less);
}

void
shrink_list(struct operation_list *list,
            bool (*fails_still)(const struct operation_list *list, const void *argument),
            const void *argument)
{
    struct shrinker shrinker = {.list = list, .fails = fails_still, .argument = argument};
    bool changed = true;

    while (changed) {
        changed = shrink_operations(&shrinker);
        for (size_t i = 0; i < list->count; i++) {
            if (list->operations[i].crash.calls > 0)
                changed |= shrink_crash(&shrinker, i);
            if (list->operations[i].full_operations > 0)
                changed |= shrink_full_disk(&shrinker, i);
            if (list->operations[i].kind == OPERATION_WRITE)
                changed |= shrink_write(&shrinker, i);
            if (list->operations[i].kind >= OPERATION_GET)
                changed |= shrink_read(&shrinker, i);
        }
        changed |= shrink_schemas(&shrinker);
    }
}
