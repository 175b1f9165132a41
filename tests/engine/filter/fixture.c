/* fixture.c -- see tests/engine/filter/fixture.h. */
#include "tests/engine/filter/fixture.h"

#include "base/slice.h"

#include <stdio.h>
#include <stdlib.h>

petal_db *
filter_fake_db(const petal_allocator *allocator)
{
    static petal_db db;
    petal_env env = {.size = sizeof env, .allocator = allocator};

    env_init(&db.env, &env);
    return &db;
}

/* Up to `end`, which is replaced. */
static petal_slice
take(char **at, char end)
{
    char *from = *at, *found = strchr(from, end);

    if (found == NULL) {
        fprintf(stderr, "a cell without '%c': %s\n", end, from);
        abort();
    }
    *at = found + 1;
    return slice_make(from, (size_t)(found - from));
}

void
filter_table_init(struct filter_table *table, const char *cells)
{
    char *at = table->text;

    snprintf(table->text, sizeof table->text, "%s ", cells);
    table->count = 0;
    while (*at != '\0' && table->count < FILTER_MOST_CELLS) {
        petal_cell *cell = &table->cells[table->count++];

        memset(cell, 0, sizeof *cell);
        cell->type = PETAL_PUT;
        cell->row = take(&at, '/');
        cell->family = take(&at, ':');
        cell->qualifier = take(&at, '@');
        cell->timestamp = strtoll(take(&at, '=').data, NULL, 10);
        cell->value = take(&at, ' ');
    }
}

/* ---- one row ---- */

struct reader {
    const struct filter_table *table;
    struct filter_run *run;
    const petal_filter *filter;
    struct filter_read *read;
    /* Where each cell's value went, as the filter shows it. */
    char values[FILTER_MOST_CELLS][8];
    petal_cell kept[FILTER_MOST_CELLS];
    size_t kept_count;
    char sought[100]; /* rows before it are not shown */
    size_t sought_size;
    char answer[4000];
};

static bool
is_before(const struct reader *reader, petal_slice a, petal_slice b)
{
    int order = slice_compare(a, b);

    return reader->read->reversed ? order > 0 : order < 0;
}

static void
seek(struct reader *reader, petal_slice row)
{
    memcpy(reader->sought, row.data, row.size);
    reader->sought_size = row.size;
}

static void
keep(struct reader *reader, const petal_cell *cell)
{
    petal_cell shown = *cell;
    char *value = reader->values[reader->kept_count];

    filter_run_transform(reader->run, &shown);
    if (shown.value.data != cell->value.data) {
        memcpy(value, shown.value.data, shown.value.size);
        shown.value.data = value;
    }
    reader->kept[reader->kept_count++] = shown;
}

static bool
same_column(const petal_cell *a, const petal_cell *b)
{
    return slice_equal(a->family, b->family) && slice_equal(a->qualifier, b->qualifier);
}

/* At the first cell of a family in a row: whether the family is ended. */
static bool
family_is_ended(struct reader *reader, const petal_cell *cell)
{
    bool ended;

    if (filter_run_enter_family(reader->run, cell->family, &ended) != PETAL_OK)
        abort();
    return ended;
}

static bool
comes_before(const petal_cell *cell, const struct filter_ahead *place)
{
    int order;

    if (place->none)
        return true;
    order = slice_compare(cell->qualifier, place->qualifier);
    return order < 0 || (order == 0 && cell->timestamp > place->timestamp);
}

/* Show the cells from `first` to `last`, all of one row. */
static void
show_row(struct reader *reader, size_t first, size_t last)
{
    const petal_cell *cells = reader->table->cells;

    for (size_t i = first; i < last;) {
        const petal_cell *cell = &cells[i++];
        struct filter_hint hint;
        struct filter_ahead ahead;
        enum filter_code code;
        bool enters = i - 1 == first || !slice_equal(cells[i - 2].family, cell->family);

        if (enters && family_is_ended(reader, cell)) {
            while (i < last && slice_equal(cells[i].family, cell->family))
                i++;
            continue;
        }
        reader->read->cells_shown++;
        if (filter_run_cell(reader->run, cell, &code, NULL) != PETAL_OK)
            abort();
        if (code <= FILTER_INCLUDE_AND_NEXT_ROW)
            keep(reader, cell);
        if (code == FILTER_INCLUDE_AND_NEXT_COLUMN || code == FILTER_NEXT_COLUMN) {
            while (i < last && same_column(&cells[i], cell))
                i++;
        } else if (code == FILTER_INCLUDE_AND_NEXT_ROW || code == FILTER_NEXT_ROW) {
            while (i < last && slice_equal(cells[i].family, cell->family))
                i++;
        } else if (code == FILTER_SEEK && filter_run_hint(reader->run, cell, &hint)) {
            if (hint.row_only)
                seek(reader, hint.row);
            while (i < last && slice_equal(cells[i].family, cell->family) &&
                   (hint.row_only || slice_compare(cells[i].qualifier, hint.qualifier) < 0))
                i++;
        } else if (code >= FILTER_SKIP && reader->read->follows_ahead &&
                   filter_run_ahead(reader->run, cell, &ahead)) {
            while (i < last && slice_equal(cells[i].family, cell->family) &&
                   comes_before(&cells[i], &ahead))
                i++;
        }
    }
}

static void
tell_row(struct reader *reader)
{
    char *to = reader->answer + strlen(reader->answer);

    for (size_t i = 0; i < reader->kept_count; i++) {
        const petal_cell *cell = &reader->kept[i];

        to += sprintf(to, "%s", to > reader->answer ? " " : "");
        if (i == 0)
            to += sprintf(to, "%.*s/", (int)cell->row.size, (const char *)cell->row.data);
        to += sprintf(to, "%.*s:%.*s=", (int)cell->family.size, (const char *)cell->family.data,
                      (int)cell->qualifier.size, (const char *)cell->qualifier.data);
        for (size_t k = 0; k < cell->value.size; k++) {
            char c = ((const char *)cell->value.data)[k];

            to += c >= ' ' ? sprintf(to, "%c", c) : sprintf(to, "<%d>", c);
        }
    }
}

/* False: the read ends. */
static bool
read_row(struct reader *reader, size_t first, size_t last)
{
    petal_slice row = reader->table->cells[first].row, next;
    struct filter_run *run = reader->run;
    bool none;

    if (filter_run_done(run))
        return false;
    if (reader->sought_size > 0 &&
        is_before(reader, row, slice_make(reader->sought, reader->sought_size)))
        return true;
    reader->read->rows_shown++;
    reader->kept_count = 0;
    if (filter_run_skips_row(run, row)) {
        if (filter_watches_excluded_rows(reader->filter))
            show_row(reader, first, last);
        reader->kept_count = 0;
        if (reader->read->follows_bounds && filter_run_next_row(run, row, &next, &none)) {
            if (none)
                return false;
            seek(reader, next);
        }
    } else {
        show_row(reader, first, last);
        if (reader->kept_count > 0 && filter_needs_rows(reader->filter))
            filter_run_row_cells(run, reader->kept, &reader->kept_count);
        if (reader->kept_count > 0 && filter_run_drops_row(run))
            reader->kept_count = 0;
    }
    tell_row(reader);
    filter_run_reset(run);
    return true;
}

const char *
filter_read(const struct filter_table *table, const petal_allocator *allocator,
            const petal_filter *filter, struct filter_read *read)
{
    static struct reader reader;
    size_t starts[FILTER_MOST_CELLS + 1], rows = 0;
    petal_slice first;
    bool none = false;

    memset(&reader, 0, sizeof reader);
    reader.table = table;
    reader.filter = filter;
    reader.read = read;
    read->rows_shown = read->cells_shown = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (i == 0 || !slice_equal(table->cells[i].row, table->cells[i - 1].row))
            starts[rows++] = i;
    }
    starts[rows] = table->count;
    if (filter_run_new(&reader.run, allocator, filter, read->reversed) != PETAL_OK)
        abort();
    if (read->follows_bounds && filter_run_first_row(reader.run, &first, &none) && !none)
        seek(&reader, first);
    for (size_t i = 0; !none && i < rows; i++) {
        size_t row = read->reversed ? rows - 1 - i : i;

        if (!read_row(&reader, starts[row], starts[row + 1]))
            break;
    }
    filter_run_free(reader.run);
    return reader.answer;
}
