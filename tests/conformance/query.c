/* query.c -- see tests/conformance/query.h. */
#include "tests/conformance/query.h"

#define MOST_RESULTS 1000000 /* of one scan: more means that it does not end */

/* ---- options ---- */

static enum petal_status
set_columns(struct store *store, const struct recorded_read *read, struct arena *arena,
            petal_read_options *options, petal_error *error)
{
    petal_column *columns = arena_allocate(arena, (read->column_count + 1) * sizeof *columns);

    for (size_t i = 0; i < read->column_count; i++) {
        enum petal_status status =
            petal_table_family(store->table, read->columns[i].family, &columns[i].family, error);

        if (status != PETAL_OK)
            return status;
        columns[i].qualifier = read->columns[i].qualifier;
        columns[i].whole_family = read->columns[i].whole_family;
    }
    options->columns = columns;
    options->column_count = read->column_count;
    return PETAL_OK;
}

static void
set_family_time_ranges(struct store *store, const struct recorded_read *read, struct arena *arena,
                       petal_read_options *options)
{
    size_t count = 0;
    petal_family_time_range *ranges =
        arena_allocate(arena, (read->family_time_range_count + 1) * sizeof *ranges);

    for (size_t i = 0; i < read->family_time_range_count; i++) {
        const struct recorded_family_time_range *ranged = &read->family_time_ranges[i];

        /* HBase's families look for their own range in the read: one for a family that is not there
         * says nothing. */
        if (petal_table_family(store->table, ranged->family, &ranges[count].family, NULL) !=
            PETAL_OK)
            continue;
        ranges[count].time_min = ranged->range.min;
        ranges[count++].time_limit = ranged->range.limit;
    }
    options->family_time_ranges = ranges;
    options->family_time_range_count = count;
}

/*
 * HBase looks at the limit after each cell that it gives, and only then, as `cells seen >= limit +
 * offset`.  So a limit of 0 gives one cell after the offset; a negative offset leaves nothing out
 * and shortens the limit.
 */
static void
set_family_limits(const struct recorded_read *read, petal_read_options *options)
{
    int64_t offset = read->store_offset, limit = read->store_limit;

    options->family_cell_offset = offset > 0 ? (uint64_t)offset : 0;
    if (!read->has_store_limit || limit < 0)
        return;
    if (offset < 0)
        limit += offset;
    options->family_cell_limit = limit > 1 ? (uint64_t)limit : 1;
}

static int32_t
versions_of(const struct recorded_read *read)
{
    if (read->versions <= 0)
        return -1;
    return read->versions > PETAL_ALL_VERSIONS ? PETAL_ALL_VERSIONS : (int32_t)read->versions;
}

static enum petal_status
make_options(struct store *store, const struct recorded_read *read, struct arena *arena,
             petal_read_options *options, petal_filter **filter, petal_error *error)
{
    enum petal_status status;

    *filter = NULL;
    *options = (petal_read_options){.size = sizeof *options,
                                    .versions = versions_of(read),
                                    .has_time_range = read->time_range.given,
                                    .time_min = read->time_range.min,
                                    .time_limit = read->time_range.limit};
    set_family_limits(read, options);
    status = set_columns(store, read, arena, options, error);
    if (status != PETAL_OK)
        return status;
    set_family_time_ranges(store, read, arena, options);
    status = recorded_filter_make(store->db, &read->filter, filter, error);
    options->filter = *filter;
    return status;
}

/* ---- reading ---- */

static void
add_result(const petal_result *result, struct arena *arena, struct answer *answer)
{
    answer_add_result(arena, answer);
    for (size_t i = 0; i < petal_result_count(result); i++)
        answer_add_cell(arena, answer, petal_result_cell(result, i));
}

static void
run_get(struct store *store, const struct recorded_operation *operation,
        const petal_read_options *options, struct arena *arena, struct answer *answer)
{
    petal_error error = {.status = PETAL_OK};
    enum petal_status status =
        petal_get(store->table, operation->row, options, store->result, &error);

    if (status == PETAL_OK)
        add_result(store->result, arena, answer);
    answer_set_status(answer, arena, ANSWER_RESULT, status, &error);
}

static void
run_scan(struct store *store, const struct recorded_read *read, const petal_read_options *options,
         struct arena *arena, struct answer *answer)
{
    petal_scan_options scan = {.read = *options,
                               .start_row = read->start,
                               .stop_row = read->stop,
                               .row_limit = read->limit > 0 ? (uint64_t)read->limit : 0,
                               .start_exclusive = read->start_exclusive,
                               .stop_inclusive = read->stop_inclusive,
                               .reversed = read->reversed,
                               .raw = read->raw,
                               .batch = read->batch > 0 ? (uint64_t)read->batch : 0};
    petal_cursor *cursor;
    petal_error error = {.status = PETAL_OK};
    enum petal_status status;

    status = petal_cursor_open(store->table, &scan, &cursor, &error);
    while (status == PETAL_OK) {
        status = petal_cursor_next_row(cursor, store->result, &error);
        if (status != PETAL_OK || petal_result_count(store->result) == 0)
            break;
        add_result(store->result, arena, answer);
        if (answer->result_count == MOST_RESULTS) {
            status = PETAL_IO;
            snprintf(error.text, sizeof error.text, "the scan does not end");
        }
    }
    petal_cursor_close(cursor);
    answer_set_status(answer, arena, ANSWER_RESULTS, status, &error);
}

void
query_run(struct store *store, const struct recorded_operation *operation, struct arena *arena,
          struct answer *answer)
{
    petal_read_options options;
    petal_filter *filter;
    petal_error error = {.status = PETAL_OK};
    enum petal_status status =
        make_options(store, &operation->read, arena, &options, &filter, &error);

    if (status != PETAL_OK)
        answer_set_status(answer, arena, ANSWER_ERROR, status, &error);
    else if (operation->kind == OPERATION_GET)
        run_get(store, operation, &options, arena, answer);
    else
        run_scan(store, &operation->read, &options, arena, answer);
    petal_filter_free(filter);
}
