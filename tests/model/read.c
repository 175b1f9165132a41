/* read.c -- gets and scans of the model; see model.h. */
#include "tests/model/model.h"

#include "base/slice.h"
#include "tests/model/text.h"
#include "tests/support/test_support.h"

#include <stdlib.h>

void
model_answer_free(struct model_answer *answer)
{
    free(answer->cells);
    *answer = (struct model_answer){0};
}

static void
answer_add(struct model_answer *answer, const struct model_cell *cell)
{
    if (answer->count == answer->capacity) {
        answer->capacity = answer->capacity == 0 ? 64 : 2 * answer->capacity;
        answer->cells = test_reallocate(answer->cells, answer->capacity * sizeof *answer->cells);
    }
    answer->cells[answer->count++] = cell;
}

/* ---- one row of one family ---- */

/* The filter by the column; by the row see passes_row. */
static bool
passes_column(const struct model_filter *filter, const struct model_cell *cell)
{
    petal_slice bytes = model_slice(&filter->bytes), qualifier = model_slice(&cell->qualifier);

    if (filter->kind == MODEL_FILTER_LIST)
        return filter->skip || model_filter_passes(filter, cell);
    if (filter->kind == MODEL_FILTER_FAMILY)
        return slice_equal(model_text_family_name(cell->family), bytes);
    return filter->kind != MODEL_FILTER_COLUMN_PREFIX ||
           (qualifier.size >= bytes.size &&
            slice_equal(slice_make(qualifier.data, bytes.size), bytes));
}

static bool
asks_column(const struct model_read *read, const struct model_cell *cell)
{
    for (size_t i = 0; i < read->column_count; i++) {
        const struct model_column *column = &read->columns[i];

        if (column->family == cell->family &&
            (column->whole_family ||
             slice_equal(model_slice(&column->qualifier), model_slice(&cell->qualifier))))
            return true;
    }
    return read->column_count == 0;
}

static uint32_t
wanted_versions(const struct model_read *read)
{
    return read->versions == 0 ? 1 : (uint32_t)read->versions;
}

/* How many passing versions of the cell's column a filter is shown: one more than are asked for;
 * but HBase leaves the empty qualifier cell by cell, unless the read names qualifiers. */
static uint64_t
most_shown(const struct model_read *read, const struct model_cell *cell)
{
    bool whole = read->column_count == 0;

    for (size_t i = 0; i < read->column_count; i++)
        whole = whole || (read->columns[i].family == cell->family && read->columns[i].whole_family);
    return cell->qualifier.size == 0 && whole ? UINT64_MAX : (uint64_t)wanted_versions(read) + 1;
}

/* Rules 5 and 6. Versions that a filter refuses are not counted among those asked for, but among
 * those that the family keeps; in the order of writes among both. */
static void
read_versions(const struct model_rules *rules, const struct model_read *read,
              const struct model_cell *cells, size_t count, struct model_answer *answer)
{
    uint32_t most = rules->family->versions, rank = 0;
    uint64_t wanted = wanted_versions(read), given = 0;
    bool living[MODEL_MOST_ROW_CELLS];

    if (wanted_versions(read) < most && rules->family->new_version_behavior)
        most = wanted_versions(read);
    model_find_living(rules, cells, count, living);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && !model_same_column(&cells[i], &cells[i - 1]))
            rank = 0, given = 0;
        if (!living[i] || cells[i].timestamp < rules->time_min ||
            cells[i].timestamp >= rules->time_limit)
            continue;
        rank++;
        if (rank > most || given == (read->as_shown ? most_shown(read, &cells[i]) : wanted) ||
            (model_is_expired(rules, &cells[i]) && rank > rules->family->min_versions) ||
            !asks_column(read, &cells[i]) || !passes_column(&read->filter, &cells[i]))
            continue;
        given++;
        answer_add(answer, &cells[i]);
    }
}

/* HBase's order inside a row: family markers have the empty qualifier; type before sequence. */
static int
compare_raw(const void *left, const void *right)
{
    const struct model_cell *a = *(const struct model_cell *const *)left,
                            *b = *(const struct model_cell *const *)right;
    int order = slice_compare(model_slice(&a->qualifier), model_slice(&b->qualifier));

    if (order != 0)
        return order;
    if (a->timestamp != b->timestamp)
        return a->timestamp > b->timestamp ? -1 : 1;
    if (a->type != b->type)
        return a->type > b->type ? -1 : 1;
    return a->sequence > b->sequence ? -1 : 1;
}

static void
read_raw(const struct model_rules *rules, const struct model_read *read,
         const struct model_cell *cells, size_t count, struct model_answer *answer)
{
    const struct model_cell *sorted[MODEL_MOST_ROW_CELLS];
    size_t left = 0;
    uint32_t puts = 0;

    for (size_t i = 0; i < count; i++) {
        if (cells[i].sequence <= rules->read_point && !model_is_dead(&cells[i], rules->now_ms) &&
            cells[i].timestamp >= rules->time_min && cells[i].timestamp < rules->time_limit)
            sorted[left++] = &cells[i];
    }
    qsort(sorted, left, sizeof *sorted, compare_raw);
    for (size_t i = 0; i < left; i++) {
        bool same_column = i > 0 && slice_equal(model_slice(&sorted[i]->qualifier),
                                                model_slice(&sorted[i - 1]->qualifier));

        if (!same_column)
            puts = 0;
        if (same_column && sorted[i]->timestamp == sorted[i - 1]->timestamp &&
            sorted[i]->type == sorted[i - 1]->type)
            continue;
        puts += !model_is_marker(sorted[i]);
        if (puts <= wanted_versions(read))
            answer_add(answer, sorted[i]);
    }
}

/* Leave out what lies before the place. */
static void
drop_cells(const struct model_place *place, struct model_answer *answer, size_t before)
{
    size_t kept = before;

    for (size_t i = before; i < answer->count; i++) {
        const struct model_cell *cell = answer->cells[i];
        bool drop = false;

        if (place != NULL && place->in_row &&
            slice_equal(model_slice(&cell->row), model_slice(&place->row)))
            drop =
                cell->family < place->family ||
                (cell->family == place->family &&
                 slice_compare(model_slice(&cell->qualifier), model_slice(&place->qualifier)) < 0);
        if (!drop)
            answer->cells[kept++] = cell;
    }
    answer->count = kept;
}

static void
read_family(const struct model *model, const struct model_read *read, size_t first, size_t count,
            const struct model_place *place, struct model_answer *answer)
{
    const struct model_cell *cells = &model->cells[first];
    unsigned family = cells->family;
    struct model_rules rules = {.family = &model->families[family],
                                .read_point = read->read_point,
                                .now_ms = model->now_ms,
                                .time_min = 0,
                                .time_limit = INT64_MAX};
    size_t before = answer->count, offset, left;

    if (read->has_family_range[family]) {
        rules.time_min = read->family_min[family];
        rules.time_limit = read->family_limit[family];
    } else if (read->has_time_range) {
        rules.time_min = read->time_min;
        rules.time_limit = read->time_limit;
    }
    if (read->raw)
        read_raw(&rules, read, cells, count, answer);
    else
        read_versions(&rules, read, cells, count, answer);
    drop_cells(place, answer, before);
    left = answer->count - before;
    offset = read->family_cell_offset < left ? (size_t)read->family_cell_offset : left;
    left -= offset;
    if (read->family_cell_limit > 0 && left > read->family_cell_limit)
        left = (size_t)read->family_cell_limit;
    for (size_t i = 0; i < left; i++)
        answer->cells[before + i] = answer->cells[before + offset + i];
    answer->count = before + left;
}

static bool
asks_family(const struct model_read *read, unsigned family)
{
    for (size_t i = 0; i < read->column_count; i++) {
        if (read->columns[i].family == family)
            return true;
    }
    return read->column_count == 0;
}

/* ---- rows ---- */

static void
read_row(const struct model *model, const struct model_read *read, petal_slice row,
         const struct model_place *place, struct model_answer *answer)
{
    if (read->versions < 0)
        return;
    for (size_t first = 0, count; first < model->count; first += count) {
        count = model_row_cells(model, first);
        if (asks_family(read, model->cells[first].family) &&
            slice_equal(model_slice(&model->cells[first].row), row))
            read_family(model, read, first, count, place, answer);
    }
}

static bool
passes_row(const struct model_filter *filter, petal_slice row)
{
    petal_slice bytes = model_slice(&filter->bytes);

    switch (filter->kind) {
    case MODEL_FILTER_ROW_RANGES:
        return slice_equal(row, bytes) || slice_compare(row, model_slice(&filter->more)) >= 0;
    case MODEL_FILTER_FUZZY_ROW:
        return row.size >= 2 && slice_bytes(row)[1] == slice_bytes(bytes)[0];
    default:
        return true;
    }
}

/* Of a whole row. */
static bool
is_skipped(const struct model *model, const struct model_read *read, petal_slice row)
{
    struct model_answer whole = {0};
    struct model_read shown = *read;
    bool skipped = false;

    if (read->filter.kind != MODEL_FILTER_SKIP && !read->filter.skip)
        return false;
    shown.as_shown = true;
    read_row(model, &shown, row, NULL, &whole);
    for (size_t i = 0; i < whole.count; i++)
        skipped = skipped || (read->filter.kind == MODEL_FILTER_SKIP
                                  ? slice_equal(model_slice(&whole.cells[i]->qualifier),
                                                model_slice(&read->filter.bytes))
                                  : !model_filter_passes(&read->filter, whole.cells[i]));
    model_answer_free(&whole);
    return skipped;
}

/* WHILE, whose leaves ask for rows: it is asked about all that have something stored in the
 * families that are read. */
static bool
ends_at(const struct model *model, const struct model_read *read, const struct model_bytes *row)
{
    struct model_cell any = {.row = *row};
    bool stored = false;

    if (!read->filter.while_match || model_filter_passes(&read->filter, &any))
        return false;
    for (size_t i = 0; i < model->count; i++)
        stored = stored || (asks_family(read, model->cells[i].family) &&
                            model->cells[i].sequence <= read->read_point &&
                            slice_equal(model_slice(&model->cells[i].row), model_slice(row)));
    return stored;
}

bool
model_scan_has(const struct model_scan *scan, petal_slice row)
{
    petal_slice start = model_slice(&scan->start_row), stop = model_slice(&scan->stop_row);
    petal_slice prefix = model_slice(&scan->prefix);
    int sign = scan->reversed ? -1 : 1;

    if (prefix.size > 0)
        return row.size >= prefix.size && slice_equal(slice_make(row.data, prefix.size), prefix);
    if (start.size > 0) {
        int order = sign * slice_compare(row, start);

        if (order < 0 || (order == 0 && scan->start_exclusive))
            return false;
    }
    if (stop.size > 0) {
        int order = sign * slice_compare(row, stop);

        if (order > 0 || (order == 0 && !scan->stop_inclusive))
            return false;
    }
    return true;
}

static bool
is_before(const struct model_scan *scan, const struct model_bytes *row,
          const struct model_bytes *place)
{
    int order = slice_compare(model_slice(row), model_slice(place));

    return scan->reversed ? order > 0 : order < 0;
}

/* The row that comes next in the direction of the scan; NULL if there is none. */
static const struct model_bytes *
next_row(const struct model *model, bool reversed, const struct model_bytes *last)
{
    const struct model_bytes *next = NULL;
    int sign = reversed ? -1 : 1;

    for (size_t i = 0; i < model->count; i++) {
        const struct model_bytes *row = &model->cells[i].row;

        if ((last == NULL || sign * slice_compare(model_slice(row), model_slice(last)) > 0) &&
            (next == NULL || sign * slice_compare(model_slice(row), model_slice(next)) < 0))
            next = row;
    }
    return next;
}

/* The whole row: what decides on rows does not see a place in it. */
static bool
gives_cells(const struct model *model, const struct model_read *read, petal_slice row)
{
    struct model_answer whole = {0};
    bool gives;

    if (read->filter.kind != MODEL_FILTER_PAGE)
        return false;
    read_row(model, read, row, NULL, &whole);
    gives = whole.count > 0;
    model_answer_free(&whole);
    return gives;
}

void
model_scan_from(const struct model *model, const struct model_read *read,
                const struct model_scan *scan, const struct model_place *place,
                struct model_answer *answer)
{
    const struct model_bytes *row = NULL;
    uint64_t rows = 0, pages = 0;

    while ((row = next_row(model, scan->reversed, row)) != NULL) {
        size_t before = answer->count;

        if (!model_scan_has(scan, model_slice(row)) ||
            !passes_row(&read->filter, model_slice(row)) ||
            (place != NULL && is_before(scan, row, &place->row)) ||
            is_skipped(model, read, model_slice(row)))
            continue;
        if (ends_at(model, read, row) ||
            (read->filter.kind == MODEL_FILTER_PAGE && pages == (uint64_t)read->filter.number))
            return;
        if (scan->row_limit > 0 && rows == scan->row_limit)
            return;
        read_row(model, read, model_slice(row), place, answer);
        if (read->filter.kind == MODEL_FILTER_FIRST_KEY && answer->count > before)
            answer->count = before + 1;
        rows += answer->count > before;
        pages += gives_cells(model, read, model_slice(row));
    }
}

void
model_scan(const struct model *model, const struct model_read *read, const struct model_scan *scan,
           struct model_answer *answer)
{
    if (read->versions >= 0)
        model_scan_from(model, read, scan, NULL, answer);
}

/* A scan of one row, for a filter. */
void
model_get(const struct model *model, const struct model_read *read, petal_slice row,
          struct model_answer *answer)
{
    struct model_scan scan = {
        .start_row = model_bytes_of(row), .stop_row = model_bytes_of(row), .stop_inclusive = true};

    if (read->filter.kind == MODEL_FILTER_NONE)
        read_row(model, read, row, NULL, answer);
    else
        model_scan(model, read, &scan, answer);
}
