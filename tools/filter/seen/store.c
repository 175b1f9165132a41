/* store.c -- see store.h. */
#include "tools/filter/seen/store.h"

#include "bloom/petal_bloom.h"
#include "tools/shell/text/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_NAME  "kv-filter.unique"
#define FAMILY_NAME "r"

enum { LONG_ROW_BYTES = 9, BLOCK_BYTES = 16384 };

static const size_t LEAST_MEMORY = (size_t)4 << 20;

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

static enum petal_status
open_table(struct seen_store *store, petal_error *error)
{
    enum petal_status status =
        petal_table_open(store->db, slice_of_string(TABLE_NAME), &store->table, error);

    if (status == PETAL_NOT_FOUND)
        status = create_table(store, error);
    if (status == PETAL_OK)
        status =
            petal_table_family(store->table, slice_of_string(FAMILY_NAME), &store->family, error);
    if (status == PETAL_OK)
        status = petal_batch_new(store->db, &store->batch, error);
    for (size_t i = 0; status == PETAL_OK && i < READER_BATCH; i++)
        status = petal_result_new(store->db, &store->results[i], error);
    return status;
}

static bool
release(struct seen_store *store)
{
    petal_error error;

    petal_batch_free(store->batch);
    for (size_t i = 0; i < READER_BATCH; i++)
        petal_result_free(store->results[i]);
    free(store->rows);
    return petal_close(store->db, &error) == PETAL_OK || cannot(store, &error);
}

bool
seen_open(struct seen_store *store, struct job *job, const char *directory)
{
    size_t half = job->memory_bytes / 2;
    const petal_options options = {.size = sizeof options,
                                   .create = true,
                                   .memory_bytes = half > LEAST_MEMORY ? half : LEAST_MEMORY};
    petal_error error;

    *store = (struct seen_store){.job = job};
    if (petal_open(directory, &options, &store->db, &error) != PETAL_OK)
        return cannot(store, &error);
    if (open_table(store, &error) == PETAL_OK)
        return true;
    (void)cannot(store, &error);
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
    uint64_t hash;

    if (!is_long(record)) {
        row[0] = 'r';
        if (record.size > 0)
            memcpy(row + 1, record.data, record.size);
        return (petal_slice){row, 1 + record.size};
    }
    hash = petal_bloom_hash(record, 0);
    row[0] = 'h';
    for (unsigned i = 0; i < 8; i++)
        row[1 + i] = (char)(hash >> (56 - 8 * i));
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
    if (record.size > SEEN_MOST_BYTES)
        return job_fail(store->job, "a record has %zu bytes; with --state it has at most %u",
                        record.size, SEEN_MOST_BYTES);
    if (petal_get(store->table, make_row(record, row), &options, store->results[0], &error) !=
        PETAL_OK)
        return cannot(store, &error);
    *was_seen = petal_result_count(store->results[0]) > 0;
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
        were_seen[places[i]] = petal_result_count(store->results[i]) > 0;
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
                           qualifier_of(record), PETAL_LATEST, (petal_slice){NULL, 0},
                           &error) == PETAL_OK ||
           cannot(store, &error);
}

bool
seen_commit(struct seen_store *store)
{
    petal_error error;

    if (petal_write(store->db, store->batch, NULL, &error) != PETAL_OK)
        return cannot(store, &error);
    petal_batch_clear(store->batch);
    store->batch_bytes = 0;
    return true;
}
