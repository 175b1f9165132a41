/* model.c -- see model.h. */
#include "tests/model/model.h"

#include "base/slice.h"
#include "tests/support/test_support.h"

#include <assert.h>
#include <stdlib.h>

#define KINDS (1 + (PETAL_DELETE_FAMILY - PETAL_PUT) / 2)

struct model_bytes
model_bytes_of(petal_slice slice)
{
    struct model_bytes bytes = {.size = slice.size};

    assert(slice.size <= MODEL_BYTES);
    if (slice.size > 0)
        memcpy(bytes.bytes, slice.data, slice.size);
    return bytes;
}

petal_slice
model_slice(const struct model_bytes *bytes)
{
    return slice_make(bytes->bytes, bytes->size);
}

static int
compare(const struct model_bytes *a, const struct model_bytes *b)
{
    return slice_compare(model_slice(a), model_slice(b));
}

void
model_init(struct model *model, const struct model_family families[MODEL_FAMILIES])
{
    *model = (struct model){0};
    memcpy(model->families, families, sizeof model->families);
}

void
model_free(struct model *model)
{
    free(model->cells);
    *model = (struct model){0};
}

void
model_copy(struct model *to, const struct model *from)
{
    *to = *from;
    to->capacity = from->count;
    to->cells = test_allocate(from->count * sizeof *from->cells);
    if (from->count > 0)
        memcpy(to->cells, from->cells, from->count * sizeof *from->cells);
}

/* ---- the order of cells ---- */

static bool
stands_before(const struct model_cell *a, const struct model_cell *b)
{
    int order;

    if (a->family != b->family)
        return a->family < b->family;
    order = compare(&a->row, &b->row);
    if (order != 0)
        return order < 0;
    if (model_is_family_marker(a) != model_is_family_marker(b))
        return model_is_family_marker(a);
    order = compare(&a->qualifier, &b->qualifier);
    if (order != 0)
        return order < 0;
    if (a->timestamp != b->timestamp)
        return a->timestamp > b->timestamp;
    return a->sequence > b->sequence;
}

void
model_insert(struct model *model, const struct model_cell *cell)
{
    size_t place = 0;

    if (model->count == model->capacity) {
        model->capacity = model->capacity == 0 ? 64 : 2 * model->capacity;
        model->cells = test_reallocate(model->cells, model->capacity * sizeof *model->cells);
    }
    while (place < model->count && stands_before(&model->cells[place], cell))
        place++;
    memmove(&model->cells[place + 1], &model->cells[place],
            (model->count - place) * sizeof *model->cells);
    model->cells[place] = *cell;
    model->count++;
}

size_t
model_row_cells(const struct model *model, size_t first)
{
    size_t end = first;

    while (end < model->count && model->cells[end].family == model->cells[first].family &&
           compare(&model->cells[end].row, &model->cells[first].row) == 0)
        end++;
    assert(end - first <= MODEL_MOST_ROW_CELLS);
    return end - first;
}

/* ---- writes ---- */

/* The timestamp that the store assigns. */
static int64_t
latest(const struct model *model)
{
    if (model->moment > 0)
        return model->moment;
    return model->now_ms > model->written_ms ? model->now_ms : model->written_ms;
}

size_t
model_newest(const struct model *model, unsigned family, petal_slice row, petal_slice qualifier,
             const struct model_read *read, const struct model_cell **newest, size_t most)
{
    struct model_read column = *read;
    struct model_answer answer = {0};
    size_t count;

    column.columns[0] =
        (struct model_column){.family = family, .qualifier = model_bytes_of(qualifier)};
    column.column_count = 1;
    column.versions = (int32_t)most;
    column.read_point = UINT64_MAX;
    model_get(model, &column, row, &answer);
    count = answer.count;
    if (count > 0)
        memcpy(newest, answer.cells, count * sizeof *newest);
    model_answer_free(&answer);
    return count;
}

/* The version that an append or increment starts from; NULL if there is none. */
static const struct model_cell *
old_version(const struct model *model, const struct model_item *item)
{
    struct model_read read = {.has_time_range = item->has_time_range,
                              .time_min = item->time_min,
                              .time_limit = item->time_limit};
    const struct model_cell *old;

    return model_newest(model, item->family, model_slice(&item->row), model_slice(&item->qualifier),
                        &read, &old, 1) == 1
               ? old
               : NULL;
}

static bool
add_number(struct model_bytes *value, const struct model_cell *old, int64_t amount)
{
    uint64_t sum = 0;

    if (old != NULL && old->value.size != 8)
        return false;
    for (size_t i = 0; old != NULL && i < 8; i++)
        sum = sum << 8 | old->value.bytes[i];
    sum += (uint64_t)amount;
    value->size = 8;
    for (size_t i = 0; i < 8; i++)
        value->bytes[i] = (uint8_t)(sum >> (56 - 8 * i));
    return true;
}

/* What an append or increment becomes. */
static enum model_outcome
make_from_old(const struct model *model, const struct model_item *item, struct model_cell *cell)
{
    const struct model_cell *old = old_version(model, item);

    cell->timestamp = latest(model);
    if (old != NULL && old->timestamp + 1 > cell->timestamp)
        cell->timestamp = old->timestamp + 1;
    if (!item->has_ttl && old != NULL) {
        cell->has_ttl = old->has_ttl;
        cell->ttl_ms = old->ttl_ms;
    }
    if (item->kind == MODEL_INCREMENT)
        return add_number(&cell->value, old, item->amount) ? MODEL_WRITTEN : MODEL_REFUSED;
    if (old == NULL)
        return MODEL_WRITTEN;
    if (old->value.size + item->value.size > MODEL_BYTES)
        return MODEL_TOO_LARGE;
    cell->value = old->value;
    memcpy(&cell->value.bytes[old->value.size], item->value.bytes, item->value.size);
    cell->value.size += item->value.size;
    return MODEL_WRITTEN;
}

static bool
is_delete_of_newest(const struct model_item *item)
{
    return item->kind == MODEL_DELETE && item->type == PETAL_DELETE &&
           item->timestamp == PETAL_LATEST && !item->settled;
}

bool
model_replaces(const struct model_cell *cell, const struct model_cell *other)
{
    return cell->family == other->family && compare(&cell->row, &other->row) == 0 &&
           (model_is_family_marker(cell) || model_is_family_marker(other) ||
            compare(&cell->qualifier, &other->qualifier) == 0);
}

/* What the store gives is above what the cell replaces and the store gave before; of keys, above
 * all. */
static void
rise(const struct model *model, const struct model_item *item, struct model_cell *cell)
{
    int64_t most = item->of_keys ? PETAL_LATEST - 1 : model->stamped[cell->family];
    int64_t clock = latest(model);

    for (size_t i = 0; i < model->count; i++) {
        const struct model_cell *other = &model->cells[i];
        int64_t next =
            other->timestamp < PETAL_LATEST - 1 ? other->timestamp + 1 : PETAL_LATEST - 1;

        if (model_replaces(cell, other) && other->timestamp > clock && other->timestamp <= most &&
            next > cell->timestamp)
            cell->timestamp = next;
    }
}

/* The timestamp of the k-th newest version, k being the place of the item among those of its column
 * and mutation. */
static int64_t
newest_timestamp(const struct model *model, const struct model_item *items, size_t index,
                 bool *there)
{
    const struct model_cell *newest[MODEL_MOST_ITEMS];
    const struct model_item *item = &items[index];
    struct model_read read = {0};
    size_t wanted = 1, found;

    for (size_t i = index; i > 0 && !items[i].begins_mutation; i--) {
        const struct model_item *other = &items[i - 1];

        wanted += is_delete_of_newest(other) && other->table == item->table &&
                  other->family == item->family && compare(&other->row, &item->row) == 0 &&
                  compare(&other->qualifier, &item->qualifier) == 0;
    }
    found = model_newest(model, item->family, model_slice(&item->row),
                         model_slice(&item->qualifier), &read, newest, wanted);
    *there = found == wanted;
    return *there ? newest[wanted - 1]->timestamp : latest(model);
}

/* Add the cell after those of its mutation, which begin at `first`, whose row, family and
 * qualifier are not greater. */
static void
add_result(struct model_results *results, size_t first, const struct model_cell *cell)
{
    size_t place = results->count++;

    for (; place > first; place--) {
        const struct model_cell *other = &results->cells[place - 1];
        int order = compare(&other->row, &cell->row);

        if (order == 0)
            order = (int)other->family - (int)cell->family;
        if (order == 0)
            order = compare(&other->qualifier, &cell->qualifier);
        if (order <= 0)
            break;
        results->cells[place] = *other;
    }
    results->cells[place] = *cell;
}

/* In a write with a time to live, a later cell of the same place, timestamp and type stands for
 * this one. */
static bool
is_replaced(const struct model_item *items, const struct model_cell *cells, size_t count, size_t at)
{
    bool lives_shortly = false, replaced = false;

    for (size_t i = 0; i < count; i++) {
        lives_shortly = lives_shortly || cells[i].has_ttl;
        replaced =
            replaced ||
            (i > at && items[i].table == items[at].table && cells[i].family == cells[at].family &&
             cells[i].timestamp == cells[at].timestamp && cells[i].type == cells[at].type &&
             slice_equal(model_slice(&cells[i].row), model_slice(&cells[at].row)) &&
             slice_equal(model_slice(&cells[i].qualifier), model_slice(&cells[at].qualifier)));
    }
    return lives_shortly && replaced;
}

/* What the item becomes. */
static enum model_outcome
make_cell(const struct model *model, const struct model_item *items, size_t index,
          int64_t least_put_timestamp, struct model_cell *cell, bool *given)
{
    const struct model_item *item = &items[index];
    bool there = false;

    *cell = (struct model_cell){.family = item->family,
                                .row = item->row,
                                .qualifier = item->qualifier,
                                .value = item->value,
                                .timestamp = item->timestamp,
                                .type = item->kind == MODEL_DELETE ? item->type : PETAL_PUT,
                                .has_ttl = item->has_ttl,
                                .ttl_ms = item->ttl_ms};
    *given = true;
    if (item->kind == MODEL_APPEND || item->kind == MODEL_INCREMENT) {
        enum model_outcome outcome = make_from_old(model, item, cell);

        rise(model, item, cell);
        return outcome;
    }
    if (is_delete_of_newest(item))
        cell->timestamp = newest_timestamp(model, items, index, &there);
    else if (item->timestamp == PETAL_LATEST)
        cell->timestamp = latest(model);
    if (item->kind == MODEL_PUT && item->timestamp == PETAL_LATEST &&
        cell->timestamp < least_put_timestamp)
        cell->timestamp = least_put_timestamp;
    *given = item->timestamp == PETAL_LATEST && !there;
    if (*given && !item->settled)
        rise(model, item, cell);
    else if (*given)
        cell->timestamp = item->given;
    return MODEL_WRITTEN;
}

/* What comes after the deletion of its row in one write is not hidden by it. */
static void
rise_above_deletions(const struct model_item *items, struct model_cell *cells, const bool *given,
                     size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (given[i] && model_is_family_marker(&cells[i]) && items[i].table == items[at].table &&
            cells[i].family == cells[at].family && compare(&cells[i].row, &cells[at].row) == 0 &&
            cells[i].timestamp > cells[at].timestamp)
            cells[at].timestamp = cells[i].timestamp;
    }
}

/* The cells of the write are in; which of their timestamps count? `judged` does, in its family. */
static void
note_stamped(struct model *tables, const struct model_item *items, const struct model_cell *cells,
             const bool *given, size_t count, const int64_t *before, int64_t judged)
{
    for (size_t i = 0; i < count; i++) {
        struct model *model = &tables[items[i].table];
        int64_t *stamped = &model->stamped[cells[i].family];
        int64_t counted = items[i].settled ? *stamped : before[i]; /* one after the other */
        int64_t clock = latest(model), most = counted > clock ? counted : clock;

        if (given[i] && (cells[i].timestamp - 1 <= most || cells[i].timestamp == judged) &&
            cells[i].timestamp > *stamped)
            *stamped = cells[i].timestamp;
        model->raised = model->raised || (given[i] && cells[i].timestamp > clock);
    }
}

enum model_outcome
model_write(struct model *tables, const struct model_item *items, size_t count,
            const struct model_cell *judged, struct model_results *results)
{
    int64_t least_put_timestamp = judged != NULL ? judged->timestamp : 0;
    bool judged_counts =
        judged != NULL && judged->timestamp <= tables[items[0].table].stamped[judged->family];
    struct model_cell cells[MODEL_MOST_ITEMS];
    bool given[MODEL_MOST_ITEMS]; /* the store gives the timestamp */
    int64_t before[MODEL_MOST_ITEMS];
    uint64_t sequence = tables[items[0].table].sequence;
    size_t first_result = 0; /* of the mutation */

    results->count = 0;
    assert(count <= MODEL_MOST_ITEMS);
    for (size_t i = 0; i < count; i++) { /* all reads, before any write */
        enum model_outcome outcome =
            make_cell(&tables[items[i].table], items, i, least_put_timestamp, &cells[i], &given[i]);

        if (outcome != MODEL_WRITTEN)
            return outcome;
        if (given[i])
            rise_above_deletions(items, cells, given, i);
    }
    for (size_t i = 0; i < count; i++) {
        before[i] = tables[items[i].table].stamped[cells[i].family];
        tables[items[i].table].raised = false;
    }
    for (size_t i = 0; i < count; i++) {
        struct model *model = &tables[items[i].table];

        cells[i].sequence = model->sequence = ++sequence;
        if (!is_replaced(items, cells, count, i))
            model_insert(model, &cells[i]);
        if (items[i].begins_mutation)
            first_result = results->count;
        if ((items[i].kind == MODEL_APPEND || items[i].kind == MODEL_INCREMENT) &&
            !items[i].no_results)
            add_result(results, first_result, &cells[i]);
    }
    note_stamped(tables, items, cells, given, count, before,
                 judged_counts ? least_put_timestamp : -1);
    for (size_t i = 0; i < count; i++)
        tables[items[i].table].written_ms = latest(&tables[items[i].table]);
    return MODEL_WRITTEN;
}

void
model_load(struct model *model, const struct model_item *items, size_t count, bool below)
{
    uint64_t runs[MODEL_FAMILIES] = {0};
    bool given;
    uint64_t first = below ? model->lowest - KINDS : model->sequence + 1;

    for (size_t i = 0; i < count; i++) {
        struct model_cell cell;

        (void)make_cell(model, items, i, 0, &cell, &given);
        cell.sequence = first + (uint64_t)(cell.type - PETAL_PUT) / 2;
        cell.run = UINT64_MAX;
        if (cell.sequence > runs[cell.family])
            runs[cell.family] = cell.sequence;
        model_insert(model, &cell);
    }
    for (size_t i = 0; i < model->count; i++) {
        if (model->cells[i].run == UINT64_MAX)
            model->cells[i].run = runs[model->cells[i].family];
    }
    model->sequence += KINDS;
    if (below)
        model->lowest = first;
}

static bool
filter_condition_holds(const struct model *model, const struct model_condition *condition,
                       struct model_read *read, const struct model_cell **judged)
{
    struct model_answer answer = {0};
    bool holds;

    read->filter = condition->filter;
    read->read_point = UINT64_MAX;
    model_get(model, read, model_slice(&condition->row), &answer);
    holds = answer.count > 0;
    *judged = holds ? answer.cells[0] : NULL;
    model_answer_free(&answer);
    return holds;
}

bool
model_condition_holds(const struct model *model, const struct model_condition *condition,
                      const struct model_cell **judged)
{
    struct model_read read = {.has_time_range = condition->has_time_range,
                              .time_min = condition->time_min,
                              .time_limit = condition->time_limit};
    const struct model_cell *cell;
    bool found;
    int order;

    if (condition->filter.kind != MODEL_FILTER_NONE)
        return filter_condition_holds(model, condition, &read, judged);
    found = model_newest(model, condition->family, model_slice(&condition->row),
                         model_slice(&condition->qualifier), &read, &cell, 1) == 1;
    *judged = found ? cell : NULL;
    if (condition->absent)
        return !found;
    if (condition->value.size == 0 && !condition->compare_empty)
        return (found && cell->value.size > 0) == (condition->compare == PETAL_NOT_EQUAL);
    if (!found)
        return false;
    order = compare(&condition->value, &cell->value);
    switch (condition->compare) {
    case PETAL_LESS:
        return order < 0;
    case PETAL_LESS_OR_EQUAL:
        return order <= 0;
    case PETAL_EQUAL:
        return order == 0;
    case PETAL_NOT_EQUAL:
        return order != 0;
    case PETAL_GREATER_OR_EQUAL:
        return order >= 0;
    case PETAL_GREATER:
        return order > 0;
    }
    return false;
}
