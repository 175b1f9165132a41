/* failure_regions.c -- see tests/crash/failure_regions.h. */
#include "tests/crash/failure_regions.h"

#include "base/slice.h"

#include <stdio.h>

#define ROWS         120
#define ROW_BYTES    300
#define VALUE_BYTES  200
#define FAMILIES     2
#define MORE_REGIONS 17 /* than arrays of regions have room for at first */

_Static_assert(ROWS *FAMILIES == FAILURE_REGION_CELLS, "each row has a cell in each family");

static petal_table *
regions_of(struct failure_run *run)
{
    petal_table *table = NULL;
    petal_error error;

    if (run->fixture.db == NULL)
        return NULL;
    return petal_table_open(run->fixture.db, slice_from_text("regions"), &table, &error) == PETAL_OK
               ? table
               : NULL;
}

/* So long that keys with it need memory of their own. */
static petal_slice
name_row(char row[ROW_BYTES], unsigned number)
{
    memset(row, 'r', ROW_BYTES);
    (void)snprintf(row, ROW_BYTES, "%05u", number);
    return slice_make(row, ROW_BYTES);
}

/* ---- filling ---- */

static void
put_rows(petal_table *table, unsigned first)
{
    char row[ROW_BYTES], value[VALUE_BYTES];

    for (unsigned i = first; i < ROWS; i++) {
        for (size_t at = 0; at < sizeof value; at++)
            value[at] = (char)(at * 31 + i * 7 + (at * i) / 13);
        for (size_t k = 0; k < FAMILIES; k++)
            MUST(petal_put(petal_table_family_at(table, k), name_row(row, i), slice_from_text("q"),
                           PETAL_LATEST, slice_make(value, sizeof value), NULL, WHY));
    }
}

void
failure_step_fill_regions(struct failure_run *run)
{
    petal_family_options families[FAMILIES] = {{.name = slice_from_text("f"), .block_bytes = 1024},
                                               {.name = slice_from_text("g"), .block_bytes = 1024}};
    petal_table_options options = {
        .name = slice_from_text("regions"), .families = families, .family_count = FAMILIES};
    petal_table *table;

    MUST(petal_table_create(run->fixture.db, &options, &table, WHY));
    put_rows(table, 0);
    MUST(petal_flush(run->fixture.db, table, WHY));
}

void
failure_step_fill_last_region(struct failure_run *run)
{
    petal_table *table = regions_of(run);

    for (unsigned i = 0; i < 4; i++) {
        put_rows(table, ROWS - 5);
        MUST(petal_flush(run->fixture.db, table, WHY));
    }
}

/* ---- changing ---- */

void
failure_step_create_with_splits(struct failure_run *run)
{
    const petal_slice splits[] = {slice_from_text("m"), slice_from_text("d"), slice_from_text("t")};
    petal_family_options families[FAMILIES] = {{.name = slice_from_text("f")},
                                               {.name = slice_from_text("g")}};
    petal_table_options options = {.name = slice_from_text("made"),
                                   .families = families,
                                   .family_count = FAMILIES,
                                   .splits = splits,
                                   .split_count = sizeof splits / sizeof *splits};
    petal_table *table;
    petal_error error;
    enum petal_status status;

    if (run->fixture.db == NULL)
        return;
    status = petal_table_create(run->fixture.db, &options, &table, &error);
    failure_changed(run, FAILURE_MADE, true, status);
    failure_told(run, "create", status, &error);
}

static void
split(struct failure_run *run, petal_table *table, petal_slice row)
{
    petal_error error;

    failure_told(run, "split", petal_table_split(table, row, 0, &error), &error);
}

void
failure_step_split(struct failure_run *run)
{
    petal_table *table = regions_of(run);
    char row[ROW_BYTES];

    if (table == NULL)
        return;
    split(run, run->ledger.tables[0], slice_from_text("row"));
    split(run, run->ledger.tables[1], slice_from_text("\x80\xff"));
    split(run, table, name_row(row, ROWS / 4));
}

void
failure_step_split_often(struct failure_run *run)
{
    petal_table *table = regions_of(run);
    char row[ROW_BYTES];

    for (unsigned i = 1; table != NULL && i <= MORE_REGIONS; i++)
        split(run, table, name_row(row, i * ROWS / (MORE_REGIONS + 1)));
}

void
failure_step_split_middle(struct failure_run *run)
{
    petal_table *table = regions_of(run);

    if (table != NULL)
        split(run, table, slice_make(NULL, 0));
}

struct first_two {
    uint32_t ids[2];
    size_t count;
};

static bool
note_region(void *argument, const petal_region_info *info)
{
    struct first_two *two = argument;

    two->ids[two->count++] = info->id;
    return two->count < 2;
}

static void
merge_first(struct failure_run *run, petal_table *table)
{
    struct first_two two = {.count = 0};
    petal_error error;
    enum petal_status status = petal_table_regions(table, note_region, &two, &error);

    if (status == PETAL_OK && two.count == 2)
        status = petal_table_merge(table, two.ids[0], two.ids[1], &error);
    failure_told(run, "merge", status, &error);
}

void
failure_step_merge(struct failure_run *run)
{
    petal_table *table = regions_of(run);

    if (table == NULL)
        return;
    merge_first(run, run->ledger.tables[0]);
    merge_first(run, run->ledger.tables[1]);
    merge_first(run, table);
}

void
failure_step_compact_regions(struct failure_run *run)
{
    petal_table *tables[] = {run->ledger.tables[0], run->ledger.tables[1], regions_of(run)};
    petal_error error;

    for (size_t i = 0; tables[2] != NULL && i < sizeof tables / sizeof *tables; i++)
        failure_told(run, "compact", petal_compact(tables[i], NULL, &error), &error);
}

/* ---- reading ---- */

static void
count_cells(struct failure_run *run, const char *what, petal_cursor *cursor,
            enum petal_status status, petal_error *error)
{
    const petal_cell *cell = NULL;
    size_t cells = 0;

    do {
        if (status == PETAL_OK)
            status = petal_cursor_next(cursor, &cell, error);
        cells += status == PETAL_OK && cell != NULL;
    } while (status == PETAL_OK && cell != NULL);
    petal_cursor_close(cursor);
    if (failure_told(run, what, status, error) && cells != FAILURE_REGION_CELLS)
        failure_problem(run, "%s gave %zu cells, not %d", what, cells, FAILURE_REGION_CELLS);
}

/* What it writes replaces what is there. */
static void
scan_written(struct failure_run *run, petal_table *table)
{
    const petal_slice value = slice_from_text("value");
    petal_transaction *transaction;
    petal_cursor *cursor = NULL;
    char row[ROW_BYTES];
    petal_error error;
    enum petal_status status = petal_transaction_begin(run->fixture.db, NULL, &transaction, &error);

    if (!failure_told(run, "begin", status, &error))
        return;
    for (unsigned i = 0; status == PETAL_OK && i < ROWS; i += ROWS / 6)
        status =
            petal_transaction_put(transaction, petal_table_family_at(table, 0), name_row(row, i),
                                  slice_from_text("q"), PETAL_LATEST, value, NULL, &error);
    if (status == PETAL_OK)
        status = petal_transaction_scan(transaction, table, NULL, &cursor, &error);
    count_cells(run, "a scan of a transaction", cursor, status, &error);
    status = petal_transaction_commit(transaction, &error);
    failure_told(run, "commit", status, &error);
}

void
failure_step_read_regions(struct failure_run *run)
{
    const petal_scan_options reversed = {.reversed = true};
    petal_table *table = regions_of(run);
    petal_cursor *cursor;
    petal_error error;
    enum petal_status status;

    if (table == NULL)
        return;
    status = petal_cursor_open(table, NULL, &cursor, &error);
    count_cells(run, "a scan over regions", cursor, status, &error);
    status = petal_cursor_open(table, &reversed, &cursor, &error);
    count_cells(run, "a reversed scan over regions", cursor, status, &error);
    scan_written(run, table);
}
