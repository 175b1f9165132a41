/* store.c -- see store.h. */
#include "tools/lines/seen/store.h"

#include "bloom/petal_bloom.h"
#include "tools/shell/text/text.h"

#include <assert.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_NAME  "kv-filter.seen"
#define FAMILY_NAME "r"
#define RUNS_ROW    "m"

enum { LONG_ROW_BYTES = 9, BLOCK_BYTES = 16384, NUMBER_BYTES = 8 };

/* Cells of the row of runs. */
enum { LAST_RUN = 'l', UNFINISHED_RUN = 'u' };

static const size_t LEAST_MEMORY = (size_t)4 << 20;

/* NUMBER_BYTES of them, big endian: the order of the bytes is that of the numbers. */
static void
put_number(char *bytes, uint64_t number)
{
    for (unsigned i = 0; i < NUMBER_BYTES; i++)
        bytes[i] = (char)(number >> (56 - 8 * i));
}

static uint64_t
get_number(const char *bytes)
{
    uint64_t number = 0;

    for (unsigned i = 0; i < NUMBER_BYTES; i++)
        number = number << 8 | (unsigned char)bytes[i];
    return number;
}

static bool
cannot(struct seen_store *store, const petal_error *error)
{
    return job_fail(store->job, "%s", error->text);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static enum petal_status
create_table(struct seen_store *store, petal_error *error)
{
    const petal_family_options family = {
        .size = sizeof family, .name = slice_of_string(FAMILY_NAME), .block_bytes = BLOCK_BYTES};
    const petal_table_options table = {.size = sizeof table,
                                       .name = slice_of_string(TABLE_NAME),
                                       .families = &family,
                                       .family_count = 1};

    return petal_table_create(store->db, &table, &store->table, error);
}

/* Of petal_table_list: a table is enough. */
static bool
see_table(void *has_tables, petal_table *table)
{
    (void)table;
    *(bool *)has_tables = true;
    return false;
}

/* A database with tables, of which none is ours, is somebody else's. */
static bool
open_table(struct seen_store *store, const char *directory)
{
    bool has_tables = false;
    petal_error error;
    enum petal_status status =
        petal_table_open(store->db, slice_of_string(TABLE_NAME), &store->table, &error);

    if (status == PETAL_NOT_FOUND) {
        status = petal_table_list(store->db, see_table, &has_tables, &error);
        if (has_tables)
            return job_fail(store->job,
                            "%s is a Petal database without a table %s: it is another program's, "
                            "or of an earlier version",
                            directory, TABLE_NAME);
        if (status == PETAL_OK)
            status = create_table(store, &error);
    }
    return status == PETAL_OK || cannot(store, &error);
}

static enum petal_status
make_ready(struct seen_store *store, petal_error *error)
{
    enum petal_status status =
        petal_table_family(store->table, slice_of_string(FAMILY_NAME), &store->family, error);

    if (status == PETAL_OK)
        status = petal_batch_new(store->db, &store->batch, error);
    for (size_t i = 0; status == PETAL_OK && i < READER_BATCH; i++)
        status = petal_result_new(store->db, &store->results[i], error);
    return status;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* A qualifier of RUNS_ROW. */
static petal_slice
unfinished_qualifier(uint64_t run, char *bytes)
{
    bytes[0] = UNFINISHED_RUN;
    put_number(bytes + 1, run);
    return (petal_slice){bytes, 1 + NUMBER_BYTES};
}

/* One cell of RUNS_ROW: the last run, or one that has not finished. */
static bool
take_run(struct seen_store *store, const petal_cell *cell)
{
    const char *qualifier = cell->qualifier.data;

    if (cell->qualifier.size == 1 && qualifier[0] == LAST_RUN && cell->value.size == NUMBER_BYTES) {
        store->run = get_number(cell->value.data) + 1;
        return true;
    }
    if (cell->qualifier.size == 1 + NUMBER_BYTES && qualifier[0] == UNFINISHED_RUN) {
        store->unfinished[store->unfinished_count++] = get_number(qualifier + 1);
        return true;
    }
    return job_fail(store->job, "the table %s has a run that kv-filter did not write", TABLE_NAME);
}

/* Qualifiers are in order, and so are the numbers of unfinished runs. */
static bool
load_runs(struct seen_store *store)
{
    petal_result *result = store->results[0];
    petal_error error;
    size_t count;

    if (petal_get(store->table, slice_of_string(RUNS_ROW), NULL, result, &error) != PETAL_OK)
        return cannot(store, &error);
    count = petal_result_count(result);
    store->unfinished = malloc((count + 1) * sizeof *store->unfinished);
    if (store->unfinished == NULL)
        return job_fail(store->job, "out of memory: no room for %zu runs", count);
    for (size_t i = 0; i < count; i++) {
        if (!take_run(store, petal_result_cell(result, i)))
            return false;
    }
    return true;
}

/* The run gets its number for good, before a record has it. */
static enum petal_status
begin_run(struct seen_store *store, petal_batch *batch, petal_error *error)
{
    const petal_slice row = slice_of_string(RUNS_ROW);
    char last = LAST_RUN, unfinished[1 + NUMBER_BYTES], number[NUMBER_BYTES];
    int64_t version = (int64_t)store->run;
    enum petal_status status;

    put_number(number, store->run);
    status = petal_batch_put(batch, store->family, row, (petal_slice){&last, 1}, version,
                             (petal_slice){number, sizeof number}, error);
    if (status == PETAL_OK && !store->keeps_groups)
        status =
            petal_batch_put(batch, store->family, row, unfinished_qualifier(store->run, unfinished),
                            version, (petal_slice){NULL, 0}, error);
    return status;
}

static enum petal_status
finish_run(struct seen_store *store, petal_batch *batch, petal_error *error)
{
    char unfinished[1 + NUMBER_BYTES];

    return petal_batch_delete(batch, store->family, slice_of_string(RUNS_ROW),
                              unfinished_qualifier(store->run, unfinished), (int64_t)store->run,
                              PETAL_DELETE_COLUMN, error);
}

static bool
change_runs(struct seen_store *store,
            enum petal_status (*change)(struct seen_store *, petal_batch *, petal_error *))
{
    petal_batch *batch;
    petal_error error;
    enum petal_status status = petal_batch_new(store->db, &batch, &error);

    if (status != PETAL_OK)
        return cannot(store, &error);
    status = change(store, batch, &error);
    if (status == PETAL_OK)
        status = petal_write(store->db, batch, NULL, &error);
    petal_batch_free(batch);
    return status == PETAL_OK || cannot(store, &error);
}

/* What a run has recorded that was killed, or whose reader stopped, is not seen. */
static bool
is_seen(const struct seen_store *store, const petal_result *result)
{
    uint64_t run;
    size_t from = 0, to = store->unfinished_count;

    if (petal_result_count(result) == 0)
        return false;
    run = (uint64_t)petal_result_cell(result, 0)->timestamp;
    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (store->unfinished[middle] == run)
            return false;
        if (store->unfinished[middle] < run)
            from = middle + 1;
        else
            to = middle;
    }
    return true;
}

bool
seen_finish(struct seen_store *store)
{
    if (!store->has_begun || store->keeps_groups)
        return true;
    return change_runs(store, finish_run);
}

/* ---- Opening and closing --------------------------------------------------------------------- */

static bool
release(struct seen_store *store)
{
    petal_error error;

    petal_batch_free(store->batch);
    for (size_t i = 0; i < READER_BATCH; i++)
        petal_result_free(store->results[i]);
    free(store->rows);
    free(store->unfinished);
    return petal_close(store->db, &error) == PETAL_OK || cannot(store, &error);
}

/* Names that a database has when its creator was killed before it was one. */
static bool
is_of_petal(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "LOCK") == 0 ||
           strncmp(name, "MANIFEST", 8) == 0 || (name[0] >= '0' && name[0] <= '9');
}

/* Of a directory that holds no database: is there nothing else in it either? */
static bool
may_create(struct seen_store *store, const char *directory)
{
    DIR *listing = opendir(directory);
    const struct dirent *entry;
    bool is_free = true;

    if (listing == NULL)
        return true; /* not there; what else is wrong petal_open says */
    while (is_free && (entry = readdir(listing)) != NULL)
        is_free = is_of_petal(entry->d_name);
    (void)closedir(listing);
    return is_free || job_fail(store->job,
                               "%s is not empty, and no state of kv-filter unique: none is made "
                               "in it",
                               directory);
}

static bool
open_database(struct seen_store *store, const char *directory)
{
    size_t half = store->job->memory_bytes / 2;
    petal_options options = {.size = sizeof options,
                             .memory_bytes = half > LEAST_MEMORY ? half : LEAST_MEMORY};
    petal_error error;
    enum petal_status status = petal_open(directory, &options, &store->db, &error);

    if (status == PETAL_NOT_FOUND) {
        if (!may_create(store, directory))
            return false;
        options.create = true;
        status = petal_open(directory, &options, &store->db, &error);
    }
    return status == PETAL_OK || cannot(store, &error);
}

bool
seen_open(struct seen_store *store, struct job *job, const char *directory, bool keeps_groups)
{
    petal_error error;

    *store = (struct seen_store){.job = job, .keeps_groups = keeps_groups, .run = 1};
    if (!open_database(store, directory))
        return false;
    if (open_table(store, directory) &&
        (make_ready(store, &error) == PETAL_OK || cannot(store, &error)) && load_runs(store))
        return true;
    (void)release(store);
    return false;
}

bool
seen_close(struct seen_store *store)
{
    return release(store);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool
is_long(petal_slice record)
{
    return record.size >= PETAL_MAX_ROW_BYTES;
}

static size_t
row_bytes(petal_slice record)
{
    return is_long(record) ? LONG_ROW_BYTES : 1 + record.size;
}

/* Of row_bytes bytes. */
static petal_slice
make_row(petal_slice record, char *row)
{
    if (!is_long(record)) {
        row[0] = 'r';
        if (record.size > 0)
            memcpy(row + 1, record.data, record.size);
        return (petal_slice){row, 1 + record.size};
    }
    row[0] = 'h';
    put_number(row + 1, petal_bloom_hash(record, 0));
    return (petal_slice){row, LONG_ROW_BYTES};
}

static petal_slice
qualifier_of(petal_slice record)
{
    return is_long(record) ? record : (petal_slice){NULL, 0};
}

static bool
have_rows(struct seen_store *store, size_t size)
{
    char *grown;

    if (size <= store->rows_capacity)
        return true;
    grown = realloc(store->rows, size);
    if (grown == NULL)
        return job_fail(store->job, "out of memory: no room for %zu bytes of rows", size);
    store->rows = grown;
    store->rows_capacity = size;
    return true;
}

/* ---- Questions and answers ------------------------------------------------------------------- */

static bool
ask_long(struct seen_store *store, petal_slice record, bool *was_seen)
{
    const petal_column column = {.family = store->family, .qualifier = record};
    const petal_read_options options = {
        .size = sizeof options, .columns = &column, .column_count = 1};
    char row[LONG_ROW_BYTES];
    petal_error error;

    *was_seen = false;
    assert(record.size <= SEEN_MOST_BYTES);
    if (petal_get(store->table, make_row(record, row), &options, store->results[0], &error) !=
        PETAL_OK)
        return cannot(store, &error);
    *was_seen = is_seen(store, store->results[0]);
    return true;
}

static bool
ask_short(struct seen_store *store, const petal_slice *rows, const size_t *places, size_t count,
          bool *were_seen)
{
    petal_error error;

    if (count > 0 &&
        petal_multi_get(store->table, rows, count, NULL, store->results, &error) != PETAL_OK)
        return cannot(store, &error);
    for (size_t i = 0; i < count; i++)
        were_seen[places[i]] = is_seen(store, store->results[i]);
    return true;
}

bool
seen_ask(struct seen_store *store, const petal_slice *records, size_t count, bool *were_seen)
{
    petal_slice rows[READER_BATCH];
    size_t places[READER_BATCH], row_count = 0, bytes = 0, used = 0;

    assert(count <= READER_BATCH);
    for (size_t i = 0; i < count; i++)
        bytes += row_bytes(records[i]);
    if (!have_rows(store, bytes))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (is_long(records[i])) {
            if (!ask_long(store, records[i], &were_seen[i]))
                return false;
            continue;
        }
        rows[row_count] = make_row(records[i], store->rows + used);
        used += rows[row_count].size;
        places[row_count++] = i;
    }
    return ask_short(store, rows, places, row_count, were_seen);
}

bool
seen_add(struct seen_store *store, petal_slice record)
{
    petal_error error;

    assert(record.size <= SEEN_MOST_BYTES);
    if (!have_rows(store, row_bytes(record)))
        return false;
    store->batch_bytes += record.size;
    return petal_batch_put(store->batch, store->family, make_row(record, store->rows),
                           qualifier_of(record), (int64_t)store->run, (petal_slice){NULL, 0},
                           &error) == PETAL_OK ||
           cannot(store, &error);
}

bool
seen_commit(struct seen_store *store)
{
    petal_error error;

    if (petal_batch_count(store->batch) == 0)
        return true;
    if (!store->has_begun && !change_runs(store, begin_run))
        return false;
    store->has_begun = true;
    if (petal_write(store->db, store->batch, NULL, &error) != PETAL_OK)
        return cannot(store, &error);
    petal_batch_clear(store->batch);
    store->batch_bytes = 0;
    return true;
}
