/* history.c -- see tests/conformance/history.h. */
#include "tests/conformance/history.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is there ---- */

/* A read's time, and the end of its time range in one family. */
struct moment {
    int64_t now_ms;
    int64_t time_limit;
};

static bool
is_marker(const struct history_cell *cell)
{
    return cell->type != PETAL_PUT;
}

static bool
is_family_marker(const struct history_cell *cell)
{
    return cell->type == PETAL_DELETE_FAMILY || cell->type == PETAL_DELETE_FAMILY_VERSION;
}

static bool
same_row(const struct history_cell *a, const struct history_cell *b)
{
    return a->family == b->family && slice_equal(a->row, b->row);
}

static bool
same_column(const struct history_cell *a, const struct history_cell *b)
{
    return same_row(a, b) && slice_equal(a->qualifier, b->qualifier);
}

static bool
exists(const struct history_cell *cell, const struct moment *moment)
{
    const petal_family_options *family = cell->family;
    bool has_ttl = family->ttl_seconds != 0 && family->ttl_seconds < PETAL_FOREVER;

    if (cell->has_ttl && (cell->ttl_ms < 0 || cell->ttl_ms <= INT64_MAX - cell->timestamp) &&
        cell->timestamp + cell->ttl_ms < moment->now_ms)
        return false;
    return !has_ttl || family->min_versions > 0 ||
           cell->timestamp >= moment->now_ms - (int64_t)family->ttl_seconds * 1000;
}

/* A marker that takes part in hiding. */
static bool
works(const struct history_cell *marker, const struct moment *moment)
{
    return is_marker(marker) && exists(marker, moment) &&
           (marker->family->keep_deleted_cells <= PETAL_KEEP_DELETED_FALSE ||
            marker->timestamp < moment->time_limit);
}

/* By their places and timestamps, whichever was written first. */
static bool
matches(const struct history_cell *marker, const struct history_cell *put)
{
    if (!same_row(marker, put) || (!is_family_marker(marker) && !same_column(marker, put)))
        return false;
    if (marker->type == PETAL_DELETE || marker->type == PETAL_DELETE_FAMILY_VERSION)
        return marker->timestamp == put->timestamp;
    return marker->timestamp >= put->timestamp;
}

/* A marker that was written after the put hides it. */
static bool
is_deleted(const struct history *history, size_t index, const struct moment *moment)
{
    for (size_t i = index + 1; i < history->count; i++) {
        if (works(&history->cells[i], moment) &&
            matches(&history->cells[i], &history->cells[index]))
            return true;
    }
    return false;
}

/* ---- in the order of writes ---- */

/* Of the column's puts up to `index` inclusive that live, those beyond VERSIONS die. */
static void
bury_surplus(const struct history *history, size_t index, bool *living)
{
    for (size_t i = 0; i <= index; i++) {
        uint32_t versions = history->cells[i].family->versions;
        uint32_t above = 0;

        for (size_t k = 0; living[i] && k <= index; k++)
            above += living[k] && same_column(&history->cells[k], &history->cells[i]) &&
                     history->cells[k].timestamp > history->cells[i].timestamp;
        living[i] = living[i] && above < (versions > 0 ? versions : 1);
    }
}

/* Write the put's row again, and see whether it lives to the end. */
static bool
lives(const struct history *history, size_t index, const struct moment *moment)
{
    const struct history_cell *put = &history->cells[index];
    bool *living = test_allocate((history->count + 1) * sizeof *living);
    bool result;

    memset(living, 0, history->count * sizeof *living);
    for (size_t i = 0; i < history->count; i++) {
        const struct history_cell *cell = &history->cells[i];

        if (!same_row(cell, put) || !exists(cell, moment) ||
            (is_marker(cell) && !works(cell, moment)))
            continue;
        for (size_t k = 0; k < i; k++) {
            if (is_marker(cell) ? matches(cell, &history->cells[k])
                                : same_column(cell, &history->cells[k]) &&
                                      cell->timestamp == history->cells[k].timestamp)
                living[k] = false;
        }
        living[i] = !is_marker(cell);
        bury_surplus(history, i, living);
    }
    result = living[index];
    free(living);
    return result;
}

/* ---- noting ---- */

static const petal_family_options *
find_family(const struct history *history, petal_slice name)
{
    for (size_t i = 0; i < history->recorded->family_count; i++) {
        if (slice_equal(history->recorded->families[i].name, name))
            return &history->recorded->families[i];
    }
    return NULL;
}

static void
add(struct history *history, const struct history_cell *cell)
{
    history->cells = arena_grow(history->arena, history->cells, history->count, sizeof *cell);
    history->cells[history->count++] = *cell;
}

/* The timestamp of the column's newest put but `skip`, -1 if there is none: as it was before the
 * operation. */
static int64_t
newest(const struct history *history, const struct history_cell *of, size_t skip)
{
    struct history before = *history;
    const struct moment moment = {history->now_ms, INT64_MAX};
    int64_t below = INT64_MAX;

    while (before.count > 0 && before.cells[before.count - 1].operation == history->operation)
        before.count--;
    for (;;) {
        int64_t found = -1;

        for (size_t i = 0; i < before.count; i++) {
            const struct history_cell *cell = &before.cells[i];

            if (!is_marker(cell) && same_column(cell, of) && cell->timestamp < below &&
                cell->timestamp > found && exists(cell, &moment) &&
                (of->family->new_version_behavior ? lives(&before, i, &moment)
                                                  : !is_deleted(&before, i, &moment)))
                found = cell->timestamp;
        }
        if (found < 0 || skip-- == 0)
            return found;
        below = found;
    }
}

/* How many {latest} of the column this mutation has noted. */
static size_t
count_latest(const struct history *history, size_t first, const struct history_cell *of)
{
    size_t count = 0;

    for (size_t i = first; i < history->count; i++)
        count += history->cells[i].type == PETAL_DELETE && same_column(&history->cells[i], of);
    return count;
}

static enum petal_cell_type
type_of(enum item_kind kind)
{
    switch (kind) {
    case ITEM_VERSION:
    case ITEM_LATEST:
        return PETAL_DELETE;
    case ITEM_COLUMN:
        return PETAL_DELETE_COLUMN;
    case ITEM_FAMILY:
    case ITEM_ROW:
        return PETAL_DELETE_FAMILY;
    case ITEM_FAMILY_VERSION:
        return PETAL_DELETE_FAMILY_VERSION;
    default:
        return PETAL_PUT;
    }
}

static void
note_item(struct history *history, const struct recorded_mutation *mutation,
          const struct recorded_item *item, size_t first)
{
    struct history_cell cell = {.row = mutation->row,
                                .qualifier = item->qualifier,
                                .type = type_of(item->kind),
                                .timestamp = item->timestamp,
                                .has_ttl = mutation->options.has_ttl,
                                .ttl_ms = mutation->options.ttl_ms,
                                .operation = history->operation};

    if (is_family_marker(&cell))
        cell.qualifier = slice_of("");
    if (cell.timestamp == PETAL_LATEST)
        cell.timestamp = history->now_ms;
    if (item->kind == ITEM_ROW) {
        for (size_t i = 0; i < history->recorded->family_count; i++) {
            cell.family = &history->recorded->families[i];
            add(history, &cell);
        }
        return;
    }
    cell.family = find_family(history, item->family);
    if (cell.family == NULL)
        return;
    if (item->kind == ITEM_LATEST) {
        size_t before = count_latest(history, first, &cell);
        int64_t found = newest(history, &cell, before);

        cell.second_latest = before > 0;
        cell.timestamp = found >= 0 ? found : history->now_ms;
    } else if (item->kind == ITEM_APPEND || item->kind == ITEM_INCREMENT) {
        int64_t found = newest(history, &cell, 0);

        cell.timestamp = found >= history->now_ms ? found + 1 : history->now_ms;
    }
    add(history, &cell);
}

void
history_note(struct history *history, const struct recorded_step *step)
{
    const struct recorded_operation *operation = &step->operation;
    const struct answer *answer = &step->answer;

    history->operation++;
    if (operation->kind == OPERATION_CLOCK)
        history->now_ms = operation->clock_ms;
    if (operation->kind == OPERATION_FLUSH || operation->kind == OPERATION_REOPEN)
        history->flushed = history->operation;
    if (operation->kind == OPERATION_FLUSH || operation->kind == OPERATION_REOPEN ||
        operation->kind == OPERATION_COMPACT || operation->kind == OPERATION_MINOR)
        history->rewritten = history->operation;
    if (operation->kind == OPERATION_COMPACT)
        history->compacted = history->flushed;
    if (answer->kind == ANSWER_ERROR || answer->kind == ANSWER_FALSE)
        return;
    for (size_t i = 0; i < operation->mutation_count; i++) {
        const struct recorded_mutation *mutation = &operation->mutations[i];
        size_t first = history->count;

        if (answer->kind == ANSWER_BATCH && !slice_is(answer->members[i], "ok"))
            continue;
        for (size_t k = 0; k < mutation->item_count; k++)
            note_item(history, mutation, &mutation->items[k], first);
    }
}

/* ---- differences ---- */

/* A read whose two answers differ. */
struct difference {
    const struct history *history;
    const struct recorded_read *read;
    const struct answer *expected, *actual;
    bool names_columns;
};

/* What a rule says of one cell that only one of the answers has. */
typedef bool cell_rule(const struct difference *difference, const petal_cell *cell);

static const petal_family_options *
family_of(const struct difference *difference, const petal_cell *cell)
{
    return find_family(difference->history, cell->family);
}

static struct moment
moment_in(const struct difference *difference, const petal_cell *cell)
{
    const struct recorded_read *read = difference->read;
    struct moment moment = {difference->history->now_ms, INT64_MAX};

    if (read->time_range.given)
        moment.time_limit = read->time_range.limit;
    for (size_t i = 0; i < read->family_time_range_count; i++) {
        if (slice_equal(read->family_time_ranges[i].family, cell->family))
            moment.time_limit = read->family_time_ranges[i].range.limit;
    }
    return moment;
}

/* The last write of this cell; history->count if the script has none. */
static size_t
find_cell(const struct difference *difference, const petal_cell *cell)
{
    const struct history *history = difference->history;
    const petal_family_options *family = family_of(difference, cell);

    for (size_t i = history->count; i-- > 0;) {
        const struct history_cell *written = &history->cells[i];

        if (written->family == family && written->type == cell->type &&
            written->timestamp == cell->timestamp && slice_equal(written->row, cell->row) &&
            slice_equal(written->qualifier, cell->qualifier))
            return i;
    }
    return history->count;
}

/* Cells that one answer has alone, and those of them of which a rule holds. */
struct tally {
    size_t all, fitting;
};

static struct tally
tally_alone(const struct difference *difference, const struct answer *answer, cell_rule *rule)
{
    const struct answer *other =
        answer == difference->actual ? difference->expected : difference->actual;
    struct tally tally = {0, 0};

    for (size_t i = 0; i < answer->result_count; i++) {
        for (size_t k = 0; k < answer->results[i].count; k++) {
            const petal_cell *cell = &answer->results[i].cells[k];

            if (answer_has_cell(other, cell))
                continue;
            tally.all++;
            tally.fitting += rule(difference, cell);
        }
    }
    return tally;
}

/* Whether the answer has a newer cell of the cell's column, which the other lacks and of which the
 * rule holds. */
static bool
stands_behind(const struct difference *difference, const struct answer *answer,
              const petal_cell *cell, cell_rule *rule)
{
    const struct answer *other =
        answer == difference->actual ? difference->expected : difference->actual;

    for (size_t i = 0; i < answer->result_count; i++) {
        for (size_t k = 0; k < answer->results[i].count; k++) {
            const petal_cell *newer = &answer->results[i].cells[k];

            if (newer->timestamp > cell->timestamp && slice_equal(newer->row, cell->row) &&
                slice_equal(newer->family, cell->family) &&
                slice_equal(newer->qualifier, cell->qualifier) && !answer_has_cell(other, newer) &&
                rule(difference, newer))
                return true;
        }
    }
    return false;
}

/* Whether the read counts what it gives, so that one cell more pushes others out. */
static bool
counts_cells(const struct recorded_read *read)
{
    return read->has_store_limit || read->store_offset > 0 || read->limit > 0 || read->batch > 0;
}

/* ---- kept-marker ---- */

/* Another put of the column came before the marker when that was flushed. */
static bool
stands_behind_put(const struct history *history, const struct history_cell *marker)
{
    for (size_t i = 0; i < history->count; i++) {
        const struct history_cell *put = &history->cells[i];

        if (!is_marker(put) && same_column(put, marker) && put->timestamp > marker->timestamp &&
            put->operation < history->flushed)
            return true;
    }
    return false;
}

/* A marker of the script that HBase's flush or compaction may have stepped over: it stood after a
 * put of its column. */
static bool
is_stepped_over(const struct difference *difference, const petal_cell *cell)
{
    const struct history *history = difference->history;
    size_t index = find_cell(difference, cell);
    const struct history_cell *marker = &history->cells[index];

    if (index == history->count || !is_marker(marker) || marker->operation >= history->flushed)
        return false;
    if (is_family_marker(marker) &&
        (marker->operation >= history->compacted ||
         marker->family->keep_deleted_cells <= PETAL_KEEP_DELETED_FALSE))
        return false;
    return stands_behind_put(history, marker);
}

static bool
is_nothing(const struct difference *difference, const petal_cell *cell)
{
    (void)difference;
    (void)cell;
    return false;
}

static bool
explains_kept_marker(const struct difference *difference)
{
    struct tally kept = tally_alone(difference, difference->actual, is_stepped_over);
    struct tally lost = tally_alone(difference, difference->expected, is_nothing);

    return difference->read->raw && kept.fitting > 0 &&
           (counts_cells(difference->read) || (kept.fitting == kept.all && lost.all == 0));
}

/* ---- deleted-again ---- */

/* A marker of the put's column that was written before it and stood after another put when HBase's
 * flush may have stepped over it. */
static bool
is_below_stepped_over(const struct difference *difference, size_t index,
                      const struct moment *moment)
{
    const struct history *history = difference->history;

    for (size_t i = 0; i < index; i++) {
        const struct history_cell *marker = &history->cells[i];

        if (works(marker, moment) && marker->operation < history->flushed &&
            matches(marker, &history->cells[index]) && stands_behind_put(history, marker))
            return true;
    }
    return false;
}

static bool
is_deleted_put(const struct difference *difference, const petal_cell *cell)
{
    const struct moment moment = moment_in(difference, cell);
    size_t index = find_cell(difference, cell);

    return index < difference->history->count && cell->type == PETAL_PUT &&
           (is_deleted(difference->history, index, &moment) ||
            is_below_stepped_over(difference, index, &moment));
}

static bool
is_behind_deleted(const struct difference *difference, const petal_cell *cell)
{
    return stands_behind(difference, difference->expected, cell, is_deleted_put);
}

static bool
explains_deleted_again(const struct difference *difference)
{
    struct tally shown = tally_alone(difference, difference->expected, is_deleted_put);
    struct tally behind = tally_alone(difference, difference->actual, is_behind_deleted);

    return !difference->read->raw && shown.fitting > 0 &&
           (counts_cells(difference->read) ||
            (shown.fitting == shown.all && behind.fitting == behind.all));
}

/* ---- order-of-writes ---- */

static bool
is_ruled_by_writes(const struct difference *difference, const petal_cell *cell, bool living)
{
    const struct moment moment = moment_in(difference, cell);
    size_t index = find_cell(difference, cell);

    return index < difference->history->count && cell->type == PETAL_PUT &&
           family_of(difference, cell)->new_version_behavior &&
           lives(difference->history, index, &moment) == living;
}

static bool
is_living(const struct difference *difference, const petal_cell *cell)
{
    return is_ruled_by_writes(difference, cell, true);
}

static bool
is_dead(const struct difference *difference, const petal_cell *cell)
{
    return is_ruled_by_writes(difference, cell, false);
}

static bool
is_right(const struct difference *difference, const petal_cell *cell)
{
    return is_living(difference, cell) ||
           stands_behind(difference, difference->expected, cell, is_dead);
}

static bool
is_wrong(const struct difference *difference, const petal_cell *cell)
{
    return is_dead(difference, cell) ||
           stands_behind(difference, difference->actual, cell, is_living);
}

/* A cell of the script that HBase's compaction of all files may have lost for counting kept markers
 * as versions. */
static bool
is_counted_out(const struct difference *difference, const petal_cell *cell)
{
    const struct history *history = difference->history;
    const petal_family_options *family = family_of(difference, cell);
    size_t index = find_cell(difference, cell);

    return index < history->count && history->cells[index].operation < history->compacted &&
           family->new_version_behavior && family->keep_deleted_cells > PETAL_KEEP_DELETED_FALSE;
}

static bool
explains_order_of_writes(const struct difference *difference)
{
    bool raw = difference->read->raw;
    struct tally right =
        tally_alone(difference, difference->actual, raw ? is_counted_out : is_right);
    struct tally wrong = tally_alone(difference, difference->expected, raw ? is_nothing : is_wrong);

    return right.fitting + wrong.fitting > 0 &&
           (counts_cells(difference->read) ||
            (right.fitting == right.all && wrong.fitting == wrong.all));
}

/* ---- next-column ---- */

/* An older version of a column in which the filter has had its next column. */
static bool
is_past_next_column(const struct difference *difference, const petal_cell *cell)
{
    if (!family_of(difference, cell)->new_version_behavior)
        return false;
    for (size_t i = 0; i < difference->actual->result_count; i++) {
        const struct answer_result *result = &difference->actual->results[i];

        for (size_t k = 0; k < result->count; k++) {
            if (result->cells[k].timestamp > cell->timestamp &&
                slice_equal(result->cells[k].row, cell->row) &&
                slice_equal(result->cells[k].family, cell->family) &&
                slice_equal(result->cells[k].qualifier, cell->qualifier))
                return true;
        }
    }
    return false;
}

static bool
explains_next_column(const struct difference *difference)
{
    return difference->names_columns && difference->read->filter.given &&
           tally_alone(difference, difference->expected, is_past_next_column).fitting > 0;
}

/* ---- expired-latest ---- */

/* Of a column that a mutation deleted two latest versions of, where MIN_VERSIONS keeps versions
 * past TTL. */
static bool
is_of_two_latest(const struct difference *difference, const petal_cell *cell)
{
    const struct history *history = difference->history;
    const petal_family_options *family = family_of(difference, cell);

    for (size_t i = 0; i < history->count; i++) {
        const struct history_cell *written = &history->cells[i];

        if (written->second_latest && written->family == family &&
            slice_equal(written->row, cell->row) &&
            slice_equal(written->qualifier, cell->qualifier))
            return family->min_versions > 0 && family->ttl_seconds > 0;
    }
    return false;
}

static bool
explains_expired_latest(const struct difference *difference)
{
    struct tally more = tally_alone(difference, difference->actual, is_of_two_latest);
    struct tally less = tally_alone(difference, difference->expected, is_of_two_latest);

    return more.all + less.all > 0 && more.fitting == more.all && less.fitting == less.all;
}

/* ---- min-versions ---- */

/* Whether a put of a family with MIN_VERSIONS stood after one with its own TTL when HBase's flush
 * or compaction may have dropped it; in a read that is not raw no marker hides it. */
static bool
stood_behind_own_ttl(const struct difference *difference, size_t index, const struct moment *moment)
{
    const struct history *history = difference->history;
    const struct history_cell *put = &history->cells[index];

    if (is_marker(put) || put->operation >= history->rewritten || put->family->min_versions == 0 ||
        !exists(put, moment) || (!difference->read->raw && is_deleted(history, index, moment)))
        return false;
    for (size_t i = 0; i < history->count; i++) {
        const struct history_cell *other = &history->cells[i];

        if (i != index && !is_marker(other) && same_column(other, put) && other->has_ttl &&
            other->timestamp >= put->timestamp && other->operation < history->rewritten)
            return true;
    }
    return false;
}

/* One of the writes of the cell did. */
static bool
is_behind_own_ttl(const struct difference *difference, const petal_cell *cell)
{
    const struct history *history = difference->history;
    const struct moment moment = moment_in(difference, cell);

    for (size_t i = 0; cell->type == PETAL_PUT && i < history->count; i++) {
        const struct history_cell *written = &history->cells[i];

        if (written->family == family_of(difference, cell) &&
            written->timestamp == cell->timestamp && slice_equal(written->row, cell->row) &&
            slice_equal(written->qualifier, cell->qualifier) &&
            stood_behind_own_ttl(difference, i, &moment))
            return true;
    }
    return false;
}

/* With deleted cells kept, markers stay as long as such puts do: a compaction of all files drops
 * those older than every put. */
static bool
is_kept_with_put(const struct difference *difference, const struct history_cell *marker)
{
    const struct history *history = difference->history;

    if (marker->family->min_versions == 0 || marker->operation >= history->rewritten ||
        marker->family->keep_deleted_cells <= PETAL_KEEP_DELETED_FALSE)
        return false;
    for (size_t i = 0; i < history->count; i++) {
        if (history->cells[i].has_ttl && history->cells[i].family == marker->family &&
            history->cells[i].operation < history->rewritten)
            return true;
    }
    return false;
}

/* What Petal shows alone: such a put, or, raw, a marker that stays. */
static bool
is_kept(const struct difference *difference, const petal_cell *cell)
{
    const struct history *history = difference->history;
    size_t index = find_cell(difference, cell);

    if (is_behind_own_ttl(difference, cell))
        return true;
    return difference->read->raw && index < history->count && is_marker(&history->cells[index]) &&
           (is_stepped_over(difference, cell) ||
            is_kept_with_put(difference, &history->cells[index]));
}

/* What HBase shows alone: an older version in place of such a put, or one that a marker that stays
 * hides, although it was written later; or what it has brought back (deleted-again). */
static bool
is_beside_kept(const struct difference *difference, const petal_cell *cell)
{
    const struct history *history = difference->history;
    const struct moment moment = moment_in(difference, cell);
    size_t index = find_cell(difference, cell);

    if (stands_behind(difference, difference->actual, cell, is_behind_own_ttl) ||
        (!difference->read->raw && is_deleted_put(difference, cell)))
        return true;
    for (size_t i = 0; i < index && index < history->count; i++) {
        const struct history_cell *marker = &history->cells[i];

        if (works(marker, &moment) && matches(marker, &history->cells[index]) &&
            is_kept_with_put(difference, marker))
            return true;
    }
    return false;
}

static bool
explains_min_versions(const struct difference *difference)
{
    struct tally more = tally_alone(difference, difference->actual, is_kept);
    struct tally less = tally_alone(difference, difference->expected, is_beside_kept);

    return more.fitting + less.fitting > 0 &&
           (counts_cells(difference->read) ||
            (more.fitting == more.all && less.fitting == less.all));
}

bool
history_explains(const struct history *history, enum difference_rule rule,
                 const struct recorded_step *step, const struct answer *actual)
{
    static bool (*const rules[RULES])(const struct difference *difference) = {
        [RULE_KEPT_MARKER] = explains_kept_marker,
        [RULE_DELETED_AGAIN] = explains_deleted_again,
        [RULE_ORDER_OF_WRITES] = explains_order_of_writes,
        [RULE_NEXT_COLUMN] = explains_next_column,
        [RULE_EXPIRED_LATEST] = explains_expired_latest,
        [RULE_MIN_VERSIONS] = explains_min_versions,
    };
    struct difference difference = {.history = history,
                                    .read = &step->operation.read,
                                    .expected = &step->answer,
                                    .actual = actual};

    if ((step->operation.kind != OPERATION_GET && step->operation.kind != OPERATION_SCAN) ||
        step->answer.kind == ANSWER_ERROR || actual->kind == ANSWER_ERROR ||
        actual->kind == ANSWER_FAILED)
        return false;
    for (size_t i = 0; i < difference.read->column_count; i++)
        difference.names_columns =
            difference.names_columns || !difference.read->columns[i].whole_family;
    return rules[rule](&difference);
}
