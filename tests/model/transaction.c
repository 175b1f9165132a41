/* transaction.c -- a transaction of the model: a list of writes, made at once when it commits, and
 * what was read and used; see tests/model/database.h. */
#include "tests/model/database.h"

#include "base/slice.h"

#include <string.h>

#define OWN_SEQUENCES 1000
#define OWN_POINT     (MODEL_HELD - 1)

bool
model_transaction_begin(struct model_database *database, enum petal_durability durability)
{
    struct model_transaction *t = &database->transaction;
    int64_t now = database->now_ms, written = database->written_ms;

    if (database->remembered_ms != written && now < written)
        return false;
    *t = (struct model_transaction){.open = true,
                                    .durability = durability,
                                    .first = database->sequence + 1,
                                    .moment = now > written ? now : written};
    database->sequence += OWN_SEQUENCES;
    t->point = database->sequence;
    model_database_set_time(database, now);
    model_database_hold(database, OWN_POINT);
    return true;
}

void
model_transaction_abort(struct model_database *database)
{
    database->transaction.open = false;
    model_database_let_go(database, OWN_POINT);
}

/* ---- what it sees ---- */

void
model_transaction_see(const struct model_database *database, struct model seen[MODEL_TABLES])
{
    const struct model_transaction *t = &database->transaction;

    for (unsigned i = 0; i < MODEL_TABLES; i++) {
        size_t kept = 0;

        model_copy(&seen[i], &database->tables[i].content);
        for (size_t k = 0; k < seen[i].count; k++) {
            if (seen[i].cells[k].sequence <= t->point)
                seen[i].cells[kept++] = seen[i].cells[k];
        }
        seen[i].count = kept;
        seen[i].sequence = t->first - 1 + t->count;
        seen[i].moment = t->moment;
        for (unsigned k = 0; k < MODEL_FAMILIES; k++) {
            if (t->stamped[i][k] > seen[i].stamped[k])
                seen[i].stamped[k] = t->stamped[i][k];
        }
    }
    for (size_t i = 0; i < t->count; i++)
        model_insert(&seen[t->items[i].table], &t->cells[i]);
}

bool
model_transaction_use(struct model_database *database, unsigned table)
{
    uint64_t *used = &database->transaction.used[table];

    if (database->transaction.loaded[table])
        return false;
    if (*used == 0)
        *used = database->changes[table] + 1;
    return *used == database->changes[table] + 1;
}

bool
model_transaction_read(struct model_database *database, const struct model_range *range)
{
    struct model_transaction *t = &database->transaction;

    if (t->range_count == MODEL_MOST_RANGES)
        return false;
    t->ranges[t->range_count++] = *range;
    return true;
}

/* ---- what came between ---- */

static bool
has_row(const struct model_range *range, petal_slice row)
{
    int order = range->is_cut ? slice_compare(row, model_slice(&range->last)) : 0;

    return model_scan_has(&range->scan, row) && (range->scan.reversed ? order >= 0 : order <= 0);
}

/* As far as a filter may have gone on. */
static bool
may_have_row(const struct model_range *range, petal_slice row)
{
    struct model_range wide = *range;

    wide.is_cut = range->is_cut && !range->may_be_more;
    return has_row(&wide, row);
}

/* Was the range written to since, *may_be: or what it may have? */
static bool
is_changed(const struct model_database *database, const struct model_range *range, bool *may_be)
{
    const struct model *content = &database->tables[range->table].content;
    bool changed = false;

    for (size_t i = 0; i < content->count; i++) {
        petal_slice row = model_slice(&content->cells[i].row);

        if (content->cells[i].sequence <= database->transaction.point)
            continue;
        changed = changed || (has_row(range, row) && !range->may_be_more);
        *may_be = *may_be || may_have_row(range, row);
    }
    return changed;
}

static struct model_range
range_of_row(unsigned table, const struct model_bytes *row)
{
    return (struct model_range){
        .table = table, .scan = {.start_row = *row, .stop_row = *row, .stop_inclusive = true}};
}

static bool
is_conflict(const struct model_database *database, bool *may_be)
{
    const struct model_transaction *t = &database->transaction;
    bool conflict = false;

    *may_be = false;
    for (unsigned i = 0; i < MODEL_TABLES; i++)
        conflict = conflict ||
                   (t->used[i] > 0 && (t->used[i] != database->changes[i] + 1 || t->loaded[i]));
    for (size_t i = 0; i < t->range_count; i++)
        conflict = is_changed(database, &t->ranges[i], may_be) || conflict;
    for (size_t i = 0; i < t->count; i++) {
        struct model_range row = range_of_row(t->items[i].table, &t->items[i].row);

        conflict = is_changed(database, &row, may_be) || conflict;
    }
    return conflict;
}

/* ---- writes ---- */

/* *there: the item deletes a newest version. Has that a timestamp that stays? */
static bool
deletes_stamped(const struct model_transaction *t, const struct model *seen,
                const struct model_item *item, bool *there)
{
    struct model_read read = {0};
    const struct model_cell *newest;

    *there = item->kind == MODEL_DELETE && item->type == PETAL_DELETE &&
             item->timestamp == PETAL_LATEST &&
             model_newest(seen, item->family, model_slice(&item->row),
                          model_slice(&item->qualifier), &read, &newest, 1) > 0;
    return *there && (newest->sequence < t->first ||
                      t->items[newest->sequence - t->first].timestamp != PETAL_LATEST);
}

/* Would the cell pass one of the snapshot's if it followed the clock? */
static bool
passes(const struct model_transaction *t, const struct model *seen, int64_t stamped,
       const struct model_cell *cell)
{
    int64_t newest = -1;

    for (size_t i = 0; i < seen->count; i++) {
        const struct model_cell *other = &seen->cells[i];

        if (other->sequence < t->first && model_replaces(cell, other) && other->timestamp > newest)
            newest = other->timestamp;
    }
    return newest == t->moment || (newest > t->moment && newest > stamped);
}

/* As the commit writes it, but that the clock may have gone on. */
static struct model_item
settle(const struct model_item *item, const struct model_cell *cell, bool stamped)
{
    struct model_item settled = *item;

    settled.kind = cell->type == PETAL_PUT ? MODEL_PUT : MODEL_DELETE;
    settled.value = cell->value;
    settled.has_ttl = cell->has_ttl;
    settled.ttl_ms = cell->ttl_ms;
    settled.begins_mutation = settled.settled = true;
    if (stamped)
        settled.timestamp = cell->timestamp;
    else
        settled.given = cell->timestamp;
    return settled;
}

static enum model_outcome
write_item(struct model_transaction *t, struct model seen[MODEL_TABLES],
           const struct model_item *item)
{
    const struct model *content = &seen[item->table];
    int64_t before = content->stamped[item->family];
    bool there, stamped = deletes_stamped(t, content, item, &there);
    struct model_results results;
    enum model_outcome outcome = model_write(seen, item, 1, NULL, &results);

    for (size_t i = 0; outcome == MODEL_WRITTEN && i < content->count; i++) {
        if (content->cells[i].sequence == t->first + t->count) {
            t->cells[t->count] = content->cells[i];
            t->items[t->count] = settle(item, &content->cells[i], stamped);
            t->keeps_moment = t->keeps_moment ||
                              (item->timestamp != PETAL_LATEST && item->timestamp >= t->moment) ||
                              (item->timestamp == PETAL_LATEST && !there &&
                               passes(t, content, before, &content->cells[i]));
        }
    }
    t->count += outcome == MODEL_WRITTEN;
    return outcome;
}

bool
model_transaction_write(struct model_database *database, const struct model_item *items,
                        size_t count, enum petal_status *status)
{
    struct model_transaction *t = &database->transaction;
    struct model_range row = range_of_row(items->table, &items->row);
    enum model_outcome outcome = MODEL_WRITTEN;
    struct model seen[MODEL_TABLES];
    bool may_be = false;

    *status = model_database_check_items(database, items, count);
    if (*status == PETAL_NOT_FOUND)
        return !database->tables[items->table].exists; /* else: is the table used? */
    /* Where it has lost already, timestamps follow on what it does not see. */
    if (t->count + count > MODEL_MOST_ITEMS || is_changed(database, &row, &may_be) ||
        !model_transaction_use(database, items->table))
        return false;
    model_transaction_see(database, seen);
    for (size_t i = 0; outcome == MODEL_WRITTEN && i < count; i++)
        outcome = write_item(t, seen, &items[i]);
    for (unsigned i = 0; i < MODEL_TABLES; i++) {
        memcpy(t->stamped[i], seen[i].stamped, sizeof seen[i].stamped);
        model_free(&seen[i]);
    }
    *status = outcome == MODEL_REFUSED ? PETAL_INVALID : PETAL_OK;
    return outcome != MODEL_TOO_LARGE &&
           (outcome != MODEL_REFUSED || model_transaction_read(database, &row));
}

/* The store's timestamps that differ go on differing in their order. */
static void
follow_clock(const struct model_transaction *t, int64_t clock, struct model_item *items)
{
    for (size_t i = 0; i < t->count; i++) {
        int64_t least = t->items[i].given, steps = 0;

        for (size_t k = 0; k < t->count; k++) {
            bool first = t->items[k].timestamp == PETAL_LATEST && t->items[k].given < least;

            for (size_t j = 0; j < k && first; j++)
                first =
                    t->items[j].timestamp != PETAL_LATEST || t->items[j].given != t->items[k].given;
            steps += first;
        }
        items[i] = t->items[i];
        if (!t->keeps_moment && clock + steps > least)
            items[i].given = clock + steps;
    }
}

/* Not before the moment that it has seen. */
static enum petal_status
write_all(struct model_database *database, bool *unsure)
{
    const struct model_transaction *t = &database->transaction;
    int64_t written = database->written_ms, remembered = database->remembered_ms;
    struct model_item items[MODEL_MOST_ITEMS];
    struct model_results results;
    enum petal_status status;

    if (written < t->moment)
        database->written_ms = database->remembered_ms = t->moment;
    model_database_set_time(database, database->now_ms);
    follow_clock(t,
                 database->now_ms > database->written_ms ? database->now_ms : database->written_ms,
                 items);
    status = model_database_write(database, items, t->count, NULL, &results, unsure);
    if (*unsure) {
        database->written_ms = written;
        database->remembered_ms = remembered;
        model_database_set_time(database, database->now_ms);
    }
    return status;
}

enum petal_status
model_transaction_commit(struct model_database *database, bool *unsure)
{
    struct model_transaction *t = &database->transaction;
    enum petal_status status = PETAL_OK;
    bool may_be = false;

    *unsure = false;
    if (t->count > 0 && is_conflict(database, &may_be))
        status = PETAL_CONFLICT;
    else if (may_be)
        *unsure = true;
    else if (t->count > 0)
        status = write_all(database, unsure);
    if (!*unsure)
        model_transaction_abort(database);
    return status;
}
