/*
 * shrink.c -- delta debugging: what can be left out while the list still fails is left out, first
 * in large pieces, then one by one, until nothing more can go.
 */
#include "tests/model/shrink.h"

#include <stdlib.h>
#include <string.h>

static bool
fails(const struct operation_list *list, const struct run_settings *setting)
{
    struct run_answers answers;
    struct run_difference difference;
    bool same;

    run_model(list, &answers);
    same = run_engine(list, setting, &answers, &difference);
    if (!same)
        model_text_free(&difference.got);
    run_answers_free(&answers);
    return !same;
}

/* The list without `count` operations from `first` on, if that still fails. */
static bool
take_out(struct operation_list *list, size_t first, size_t count,
         const struct run_settings *setting)
{
    struct operation_list less = *list;
    size_t tail = list->count - first - count;

    less.count = list->count - count;
    less.operations = test_allocate(less.count * sizeof *less.operations);
    memcpy(less.operations, list->operations, first * sizeof *less.operations);
    memcpy(less.operations + first, list->operations + first + count,
           tail * sizeof *less.operations);
    if (!fails(&less, setting)) {
        free(less.operations);
        return false;
    }
    free(list->operations);
    *list = less;
    return true;
}

static bool
shrink_operations(struct operation_list *list, const struct run_settings *setting)
{
    bool changed = false;

    for (size_t size = list->count / 2 > 0 ? list->count / 2 : 1; size > 0; size /= 2) {
        for (size_t end = list->count;
             end >= size;) { /* the last first: most are behind the failure */
            if (take_out(list, end - size, size, setting))
                changed = true;
            end -= size;
            end = end < list->count ? end : list->count;
        }
    }
    return changed;
}

/* Keep what `changed` is if the list still fails with it at `index`. */
static bool
try_instead(struct operation_list *list, size_t index, const struct operation *changed,
            const struct run_settings *setting)
{
    struct operation before = list->operations[index];

    list->operations[index] = *changed;
    if (memcmp(&before, changed, sizeof before) != 0 && fails(list, setting))
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
shrink_write(struct operation_list *list, size_t index, const struct run_settings *setting)
{
    struct operation *operation = &list->operations[index];
    bool changed = false;
    struct operation less;

    for (size_t i = operation->item_count; operation->item_count > 1 && i-- > 0;) {
        less = *operation;
        less.item_count--;
        memmove(&less.items[i], &less.items[i + 1], (less.item_count - i) * sizeof *less.items);
        settle_mutations(&less);
        changed |= try_instead(list, index, &less, setting);
    }
    for (size_t i = 0; i < operation->item_count; i++) {
        less = *operation;
        less.items[i].has_ttl = less.items[i].has_time_range = less.items[i].no_results = false;
        settle_mutations(&less);
        changed |= try_instead(list, index, &less, setting);
    }
    less = *operation;
    less.changes_row = less.has_condition = false;
    changed |= try_instead(list, index, &less, setting);
    less = *operation;
    less.single = true;
    less.items[0].has_time_range = less.items[0].no_results = false;
    if (less.item_count == 1 && !less.changes_row)
        changed |= try_instead(list, index, &less, setting);
    return changed;
}

static bool
shrink_read(struct operation_list *list, size_t index, const struct run_settings *setting)
{
    struct operation *operation = &list->operations[index];
    bool changed = false;
    struct operation less;

#define WITHOUT(change)                                                                            \
    less = *operation;                                                                             \
    change;                                                                                        \
    changed |= try_instead(list, index, &less, setting)
    WITHOUT(less.read.column_count = 0);
    WITHOUT(less.read.column_count -= less.read.column_count > 1);
    WITHOUT(less.read.has_time_range = false);
    WITHOUT(memset(less.read.has_family_range, 0, sizeof less.read.has_family_range));
    WITHOUT(less.read.family_cell_limit = 0);
    WITHOUT(less.read.family_cell_offset = 0);
    WITHOUT(less.read.versions = PETAL_ALL_VERSIONS);
    WITHOUT(less.snapshot = 0);
    WITHOUT(less.table = 0);
    WITHOUT(less.batch = 0);
    WITHOUT(less.by_rows = less.batch > 0);
    WITHOUT(less.without = 0);
    WITHOUT((less.scan = (struct model_scan){.reversed = less.scan.reversed}));
    WITHOUT(less.scan.reversed = false);
    WITHOUT(less.read.filter.kind = MODEL_FILTER_NONE);
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
shrink_schema(struct operation_list *list, struct model_schema *schema,
              const struct run_settings *setting)
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
            if (fails(list, setting)) {
                changed = true;
                present--;
                continue;
            }
            *schema = before;
        }
        schema->families[i] = plain;
        if (memcmp(&before, schema, sizeof before) != 0 && fails(list, setting))
            changed = true;
        else
            *schema = before;
    }
    return changed;
}

static bool
shrink_schemas(struct operation_list *list, const struct run_settings *setting)
{
    bool changed = false;

    while (list->table_count > 1) {
        list->table_count--;
        if (!fails(list, setting)) {
            list->table_count++;
            break;
        }
        changed = true;
    }
    for (unsigned i = 0; i < list->table_count; i++)
        changed |= shrink_schema(list, &list->schemas[i], setting);
    for (size_t i = 0; i < list->count; i++) {
        if (list->operations[i].kind == OPERATION_CREATE_TABLE ||
            list->operations[i].kind == OPERATION_ALTER_TABLE)
            changed |= shrink_schema(list, &list->operations[i].schema, setting);
    }
    return changed;
}

void
shrink_list(struct operation_list *list, const struct run_settings *setting)
{
    bool changed = true;

    while (changed) {
        changed = shrink_operations(list, setting);
        for (size_t i = 0; i < list->count; i++) {
            if (list->operations[i].kind == OPERATION_WRITE)
                changed |= shrink_write(list, i, setting);
            if (list->operations[i].kind >= OPERATION_GET)
                changed |= shrink_read(list, i, setting);
        }
        changed |= shrink_schemas(list, setting);
    }
}
