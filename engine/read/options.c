/* options.c -- see engine/read/options.h. */
#include "engine/read/options.h"

#include "base/argument.h"
#include "engine/options.h"

#include <assert.h>

/* ---- options ---- */

enum petal_status
read_check_row(petal_slice row, petal_error *error)
{
    if (row.size == 0 || row.size > PETAL_MAX_ROW_BYTES)
        return error_set(error, PETAL_INVALID, "the row has %zu bytes; a row has 1 to %d", row.size,
                         PETAL_MAX_ROW_BYTES);
    return PETAL_OK;
}

enum petal_status
read_check_key(petal_slice key, const char *name, petal_error *error)
{
    if (key.size == 0)
        return error_set(error, PETAL_INVALID, "%s is empty; a key has 1 to %d bytes", name,
                         PETAL_MAX_ROW_BYTES);
    if (key.size > PETAL_MAX_ROW_BYTES)
        return error_set(error, PETAL_INVALID, "%s has %zu bytes; a key has 1 to %d", name,
                         key.size, PETAL_MAX_ROW_BYTES);
    return PETAL_OK;
}

static enum petal_status
check_time_range(int64_t time_min, int64_t time_limit, petal_error *error)
{
    if (time_min < 0 || time_limit < time_min)
        return error_set(error, PETAL_INVALID,
                         "the time range [%lld, %lld) is impossible: it must begin at 0 or later "
                         "and not end before it begins",
                         (long long)time_min, (long long)time_limit);
    return PETAL_OK;
}

static enum petal_status
check_arrays(const petal_read_options *options, petal_error *error)
{
    RETURN_IF_NO_ARRAY(options->columns, options->column_count, error);
    RETURN_IF_NO_ARRAY(options->family_time_ranges, options->family_time_range_count, error);
    for (size_t i = 0; i < options->column_count; i++) {
        petal_slice qualifier = options->columns[i].qualifier;

        if (slice_lacks_bytes(qualifier))
            return error_set(error, PETAL_INVALID,
                             "the qualifier of column %zu has a size of %zu, but its data is NULL",
                             i + 1, qualifier.size);
    }
    return PETAL_OK;
}

enum petal_status
read_options_init(petal_read_options *options, const petal_table *table,
                  const petal_read_options *given, petal_error *error)
{
    enum petal_status status =
        options_copy(options, sizeof *options, given, "petal_read_options", error);

    if (status == PETAL_OK && !options->has_time_range) {
        if (options->time_min != 0 || options->time_limit != 0)
            status = options_check_time_range(false, options->time_min, options->time_limit, error);
        options->time_min = 0;
        options->time_limit = INT64_MAX;
    }
    if (options->versions == 0)
        options->versions = 1;
    if (options->deadline_ms == PETAL_NO_WAIT)
        options->deadline_ms = 0;
    if (status == PETAL_OK)
        status = check_time_range(options->time_min, options->time_limit, error);
    if (status == PETAL_OK)
        status = check_arrays(options, error);
    for (size_t i = 0; status == PETAL_OK && i < options->family_time_range_count; i++) {
        const petal_family_time_range *range = &options->family_time_ranges[i];

        if (range->family == NULL || range->family->table != table)
            return error_set(error, PETAL_INVALID, "time range %zu names a family of another table",
                             i + 1);
        status = check_time_range(range->time_min, range->time_limit, error);
    }
    if (status != PETAL_OK)
        return status;
    if (options->snapshot != NULL && options->snapshot->db != table->db)
        return error_set(error, PETAL_INVALID, "the snapshot is of another database");
    for (size_t i = 0; i < options->column_count; i++) {
        const petal_column *column = &options->columns[i];

        if (column->family == NULL || column->family->table != table)
            return error_set(error, PETAL_INVALID, "column %zu names a family of another table",
                             i + 1);
        if (column->qualifier.size > PETAL_MAX_QUALIFIER_BYTES)
            return error_set(error, PETAL_INVALID, "the qualifier has %zu bytes; the limit is %u",
                             column->qualifier.size, PETAL_MAX_QUALIFIER_BYTES);
    }
    return PETAL_OK;
}

enum petal_status
read_time_is_up(const petal_read_options *options, petal_error *error)
{
    return error_set(error, PETAL_TIMEOUT, "the read's %u milliseconds are over",
                     options->deadline_ms);
}

enum petal_status
read_check_alive(const petal_table *table, const petal_read_options *options, petal_error *error)
{
    if (table_is_dropped(table))
        return table_check_alive(table, error);
    for (size_t i = 0; i < options->column_count; i++) {
        if (family_is_dropped(options->columns[i].family))
            return family_check_alive(options->columns[i].family, error);
    }
    return PETAL_OK;
}

bool
read_asks_family(const petal_read_options *options, const petal_family *family, size_t *named)
{
    bool asked = options->column_count == 0;
    bool whole = asked;

    *named = 0;
    for (size_t i = 0; i < options->column_count; i++) {
        if (options->columns[i].family != family)
            continue;
        asked = true;
        whole = whole || options->columns[i].whole_family;
        (*named)++;
    }
    assert(asked || *named == 0);
    if (whole)
        *named = 0;
    return asked;
}

/* ---- what is asked of one family ---- */

bool
read_has_ttl_cells(const struct store_view *store)
{
    bool has = store->ttl_files > 0;

    for (uint32_t i = 0; !has && i < store->memtable_count; i++)
        has = atomic_load_explicit(&store->memtables[i]->ttl_cells, memory_order_relaxed) > 0;
    return has;
}

void
read_rules(const petal_read_options *options, const petal_family *family,
           const petal_family_options *attributes, const struct store_view *store, bool raw,
           uint64_t sequence, struct visibility_rules *rules)
{
    uint32_t asked = options->versions > 0 ? (uint32_t)options->versions : 0;
    /* Clocks cost more than many a read; without a TTL nobody looks at one. */
    bool can_expire = (attributes->ttl_seconds != 0 && attributes->ttl_seconds < PETAL_FOREVER) ||
                      read_has_ttl_cells(store);

    assert(options->time_min <= options->time_limit && attributes->versions > 0);
    visibility_rules_of(rules, attributes, raw ? VISIBILITY_RAW : VISIBILITY_READ, sequence,
                        can_expire ? env_clock_ms(&family->table->db->env) : 0);
    /*
     * How many versions count before a filter is asked: with one, those that the family keeps; what
     * was asked for is counted after it. The order of writes (NEW_VERSION_BEHAVIOR) counts what
     * was asked before the filter, as HBase's tracker does.
     */
    if (raw)
        rules->versions = options->filter != NULL ? UINT32_MAX : asked;
    else if (asked < attributes->versions &&
             (options->filter == NULL || attributes->new_version_behavior))
        rules->versions = asked;
    rules->time_min = options->time_min;
    rules->time_limit = options->time_limit;
    for (size_t i = 0; i < options->family_time_range_count; i++) {
        const petal_family_time_range *range = &options->family_time_ranges[i];

        if (range->family == family) {
            rules->time_min = range->time_min;
            rules->time_limit = range->time_limit;
        }
    }
}

void
read_count_trace(struct stats_shard *stats, const struct read_trace *trace)
{
    STATS_ADD(stats, filter_probes, trace->bloom_probes);
    STATS_ADD(stats, filter_negatives, trace->bloom_negatives);
    STATS_ADD(stats, filter_unasked, trace->bloom_unasked);
    STATS_ADD(stats, data_cached, trace->blocks_cached[PETAL_BLOCK_DATA]);
    STATS_ADD(stats, data_fetched, trace->blocks_fetched[PETAL_BLOCK_DATA]);
    STATS_ADD(stats, index_cached, trace->blocks_cached[PETAL_BLOCK_INDEX]);
    STATS_ADD(stats, index_fetched, trace->blocks_fetched[PETAL_BLOCK_INDEX]);
    STATS_ADD(stats, filter_cached, trace->blocks_cached[PETAL_BLOCK_FILTER]);
    STATS_ADD(stats, filter_fetched, trace->blocks_fetched[PETAL_BLOCK_FILTER]);
    STATS_ADD(stats, bytes_fetched, trace->bytes_fetched);
    if (trace->file_reads > 0) {
        STATS_ADD(stats, file_reads, trace->file_reads);
        STATS_ADD(stats, file_bytes_read, trace->file_bytes_read);
    }
}
