/* shell_query.c -- see shell_query.h. */
#include "tools/shell_query.h"

#include <string.h>

enum { USUAL_INTERVAL = 1000 };

void
column_part(petal_slice column, petal_slice *family, petal_slice *qualifier, bool *has_qualifier)
{
    const char *begin = column.data;
    const char *colon = column.size > 0 ? memchr(begin, ':', column.size) : NULL;

    *has_qualifier = colon != NULL;
    *family = column;
    *qualifier = (petal_slice){"", 0};
    if (colon != NULL) {
        family->size = (size_t)(colon - begin);
        *qualifier = (petal_slice){colon + 1, column.size - family->size - 1};
    }
}

static enum shell_status
fail_key(struct session *session, const char *key, const struct value *value, const char *why)
{
    text_clear(&session->scratch);
    value_inspect(&session->scratch, value);
    return session_fail(session, SHELL_USAGE, "%s => %.200s: %s", key,
                        text_string(&session->scratch), why);
}

/* ---- Columns ----------------------------------------------------------------------------------- */

/* Take out the family's columns of one sort: a family named after its columns replaces them, and the other way round. */
static void
drop_columns(struct query *query, const petal_column *added)
{
    petal_read_options *read = &query->scan.read;
    size_t kept = 0;

    for (size_t i = 0; i < read->column_count; i++) {
        const petal_column *column = &query->columns[i];
        bool same = !column->whole_family && !added->whole_family &&
                    slices_equal(column->qualifier, added->qualifier);

        if (column->family == added->family &&
            (same || column->whole_family || added->whole_family))
            continue;
        query->columns[kept++] = *column;
    }
    read->column_count = kept;
}

static enum shell_status
add_column(struct session *session, struct query *query, petal_slice text)
{
    petal_column column = {.family = NULL};
    petal_slice family;
    bool has_qualifier;
    enum shell_status status;

    column_part(text, &family, &column.qualifier, &has_qualifier);
    column.whole_family = !has_qualifier;
    if (column.qualifier.size > 0 && memchr(column.qualifier.data, ':', column.qualifier.size)) {
        text_clear(&session->scratch);
        text_add_binary(&session->scratch, text);
        return session_fail(session, SHELL_USAGE,
                            "Column %.200s: converters are not supported by this version",
                            text_string(&session->scratch));
    }
    status = session_family(session, query->table, family, &column.family);
    if (status != SHELL_FINE)
        return status;
    drop_columns(query, &column);
    if (query->scan.read.column_count == query->capacity) {
        petal_column *old = query->columns;

        query->capacity = 2 * query->capacity + 8;
        query->columns = arena_allocate(&session->arena, query->capacity * sizeof(*old));
        if (query->scan.read.column_count > 0)
            memcpy(query->columns, old, query->scan.read.column_count * sizeof(*old));
        query->scan.read.columns = query->columns;
    }
    query->columns[query->scan.read.column_count++] = column;
    return SHELL_FINE;
}

static enum shell_status
add_columns(struct session *session, struct query *query, const struct value *items, size_t count)
{
    enum shell_status status = SHELL_FINE;

    for (size_t i = 0; i < count && status == SHELL_FINE; i++) {
        if (items[i].kind == VALUE_NIL || items[i].kind == VALUE_HASH ||
            items[i].kind == VALUE_ARRAY)
            return session_fail(session, SHELL_USAGE, "a column must be a string");
        status = add_column(session, query, value_to_bytes(&session->arena, &items[i]));
    }
    return status;
}

static enum shell_status
read_columns(struct session *session, struct query *query, const struct value *hash)
{
    const struct value *value = value_hash_get(hash, "COLUMNS");

    if (value == NULL)
        value = value_hash_get(hash, "COLUMN");
    if (value == NULL)
        return SHELL_FINE;
    if (value->kind == VALUE_STRING)
        return add_columns(session, query, value, 1);
    if (value->kind == VALUE_ARRAY)
        return add_columns(session, query, value->as.items, value->count);
    if (query->kind != QUERY_GET)
        return session_fail(session, SHELL_USAGE,
                            "COLUMNS must be specified as a String or an Array");
    text_clear(&session->scratch);
    value_inspect(&session->scratch, hash);
    return session_fail(session, SHELL_USAGE, "Failed parse column argument type %.400s, Hash",
                        text_string(&session->scratch));
}

/* ---- Times, versions, skip reasons ------------------------------------------------------------------ */

static enum shell_status
read_time_range(struct session *session, struct query *query, const struct value *hash)
{
    const struct value *range = value_hash_get(hash, "TIMERANGE");
    const struct value *stamp = value_hash_get(hash, "TIMESTAMP");
    petal_read_options *read = &query->scan.read;

    if (stamp != NULL) {
        if (stamp->kind != VALUE_INTEGER || stamp->as.integer < 0 || stamp->as.integer == INT64_MAX)
            return fail_key(session, "TIMESTAMP", stamp, "a number of milliseconds is wanted");
        read->time_min = stamp->as.integer;
        read->time_limit = stamp->as.integer + 1;
        read->has_time_range = true;
    }
    if (range != NULL) {
        const struct value *ends = range->as.items;

        if (range->kind != VALUE_ARRAY || range->count != 2 || ends[0].kind != VALUE_INTEGER ||
            ends[1].kind != VALUE_INTEGER || ends[1].as.integer < ends[0].as.integer)
            return session_fail(session, SHELL_USAGE, "maxStamp is smaller than minStamp");
        if (ends[0].as.integer < 0)
            return session_fail(session, SHELL_USAGE, "Timestamp cannot be negative");
        read->time_min = ends[0].as.integer;
        read->time_limit = ends[1].as.integer;
        read->has_time_range = true;
    }
    return SHELL_FINE;
}

/* More than one version can be asked of families that keep only one. */
static enum shell_status
check_versions(struct session *session, const struct query *query, const struct value *hash)
{
    const struct value *versions = value_hash_get(hash, "VERSIONS");

    if (versions == NULL)
        return SHELL_FINE;
    if (versions->kind != VALUE_INTEGER)
        return fail_key(session, "VERSIONS", versions, "a number is wanted");
    if (versions->as.integer <= 0 && query->kind == QUERY_GET)
        return session_fail(session, SHELL_USAGE, "versions must be positive");
    for (size_t i = 0; i < petal_table_family_count(query->table); i++) {
        petal_family_options options = {.size = sizeof(options)};

        petal_family_describe(petal_table_family_at(query->table, i), &options);
        if (options.versions > 1 && versions->as.integer > 1)
            return session_fail(session, SHELL_USAGE,
                                "VERSIONS above 1 is not supported by this version");
    }
    return SHELL_FINE;
}

static enum shell_status
read_without(struct session *session, struct query *query, const struct value *hash)
{
    const struct value *value = value_hash_get(hash, "WITHOUT");
    const struct value *items = value;
    size_t count = 1;

    if (value == NULL)
        return SHELL_FINE;
    if (value->kind == VALUE_ARRAY) {
        items = value->as.items;
        count = value->count;
    }
    for (size_t i = 0; i < count; i++) {
        petal_slice word = value_to_bytes(&session->arena, &items[i]);
        int skip = PETAL_SKIP_FOUND_NEWER;

        while (skip < PETAL_SKIP_COUNT && !slice_is(word, petal_skip_text((enum petal_skip)skip)))
            skip++;
        if (skip == PETAL_SKIP_COUNT) {
            struct text words = {0};

            for (int j = PETAL_SKIP_FOUND_NEWER; j < PETAL_SKIP_COUNT; j++)
                text_add_format(&words, "%s'%s'",
                                j > PETAL_SKIP_FOUND_NEWER ? ", " : "use some of ",
                                petal_skip_text((enum petal_skip)j));
            (void)fail_key(session, "WITHOUT", &items[i], text_string(&words));
            text_free(&words);
            return SHELL_USAGE;
        }
        query->scan.read.without |= PETAL_WITHOUT(skip);
    }
    return SHELL_FINE;
}

static enum shell_status
read_shape(struct session *session, struct query *query, const struct value *hash)
{
    const struct value *length = value_hash_get(hash, "MAXLENGTH");
    const struct value *cache = value_hash_get(hash, "CACHE_BLOCKS");

    if (length != NULL) {
        if (length->kind != VALUE_INTEGER)
            return fail_key(session, "MAXLENGTH", length, "a number is wanted");
        query->greatest_length = length->as.integer > 0 ? (uint64_t)length->as.integer : 0;
    }
    query->scan.read.keep_out_of_cache = query->kind == QUERY_COUNT;
    if (cache != NULL) {
        petal_slice word = value_to_bytes(&session->arena, cache);

        if (!slice_is(word, "true") && !slice_is(word, "false"))
            return session_fail(session, SHELL_USAGE,
                                "Expected CACHE_BLOCKS value to be a boolean or the string "
                                "'true' or 'false'");
        query->scan.read.keep_out_of_cache = slice_is(word, "false");
    }
    return SHELL_FINE;
}

/* Keys that would change the answer and that this version does not have, at a value that does so. */
static enum shell_status
refuse_unsupported(struct session *session, const struct value *hash)
{
    static const char *const keys[] = {"FILTER",      "REVERSED", "RAW",       "BATCH",
                                       "ALL_METRICS", "METRICS",  "FORMATTER", "FORMATTER_CLASS"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct value *value = value_hash_get(hash, keys[i]);
        bool idle = value == NULL || value->kind == VALUE_NIL ||
                    (value->kind == VALUE_BOOLEAN && !value->as.boolean) ||
                    (value->kind == VALUE_INTEGER && value->as.integer <= 0) ||
                    (value->kind == VALUE_ARRAY && value->count == 0) ||
                    (value->kind == VALUE_STRING && slice_is(value->as.bytes, "toStringBinary"));

        if (!idle)
            return session_fail(session, SHELL_USAGE, "%s is not supported by this version",
                                keys[i]);
    }
    return SHELL_FINE;
}

/* Keys that change nothing here must still have one of HBase's words. */
static enum shell_status
check_words(struct session *session, const struct value *hash)
{
    static const struct {
        const char *key, *words[3];
    } keys[] = {{"READ_TYPE", {"DEFAULT", "STREAM", "PREAD"}},
                {"ISOLATION_LEVEL", {"READ_COMMITTED", "READ_UNCOMMITTED", NULL}},
                {"CONSISTENCY", {"STRONG", "TIMELINE", NULL}}};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct value *value = value_hash_get(hash, keys[i].key);
        bool known = value == NULL;

        for (size_t j = 0; j < 3 && !known && keys[i].words[j] != NULL; j++)
            known = slice_is(value_to_bytes(&session->arena, value), keys[i].words[j]);
        if (!known)
            return fail_key(session, keys[i].key, value, "there is no such word");
    }
    return SHELL_FINE;
}

static enum shell_status
read_common(struct session *session, struct query *query, const struct value *hash)
{
    enum shell_status status = refuse_unsupported(session, hash);

    if (status == SHELL_FINE)
        status = check_words(session, hash);
    if (status == SHELL_FINE)
        status = read_columns(session, query, hash);
    if (status == SHELL_FINE)
        status = read_time_range(session, query, hash);
    if (status == SHELL_FINE)
        status = check_versions(session, query, hash);
    if (status == SHELL_FINE)
        status = read_without(session, query, hash);
    if (status == SHELL_FINE)
        status = read_shape(session, query, hash);
    return status;
}

/* ---- get ----------------------------------------------------------------------------------------- */

/* HBase's get refuses a hash that names neither columns nor times nor anything else that selects. */
static bool
selects(const struct value *hash)
{
    static const char *const selecting[] = {"COLUMN", "COLUMNS", "TIMERANGE", "TIMESTAMP",
                                            "FILTER"};
    static const char *const shaping[] = {"MAXLENGTH",  "FORMATTER",    "FORMATTER_CLASS",
                                          "WITHOUT",    "CACHE_BLOCKS", "ATTRIBUTES",
                                          "CONSISTENCY"};
    size_t others = hash->count;

    for (size_t i = 0; i < sizeof(selecting) / sizeof(selecting[0]); i++)
        if (value_hash_get(hash, selecting[i]) != NULL)
            return true;
    for (size_t i = 0; i < sizeof(shaping) / sizeof(shaping[0]); i++)
        others -= value_hash_get(hash, shaping[i]) != NULL;
    return others == 0;
}

static enum shell_status
read_get_argument(struct session *session, struct query *query, const struct value *argument)
{
    if (argument->kind == VALUE_ARRAY)
        return add_columns(session, query, argument->as.items, argument->count);
    if (argument->kind != VALUE_HASH)
        return add_columns(session, query, argument, 1);
    if (!selects(argument)) {
        text_clear(&session->scratch);
        value_inspect(&session->scratch, argument);
        return session_fail(session, SHELL_USAGE, "Failed parse of %.400s, Hash",
                            text_string(&session->scratch));
    }
    return read_common(session, query, argument);
}

static enum shell_status
open_table(struct session *session, const struct value *argument, enum query_kind kind, bool header,
           struct query *query)
{
    petal_slice name;

    *query = (struct query){.kind = kind, .interval = USUAL_INTERVAL};
    query->scan.read.size = sizeof(query->scan.read);
    if (argument->kind != VALUE_STRING && argument->kind != VALUE_SYMBOL)
        return session_fail(session, SHELL_USAGE, "Table name must be of type String");
    if (session_table_name(session, argument, &name) != SHELL_FINE)
        return SHELL_USAGE;
    if (header && kind == QUERY_GET)
        output_header(&session->output, "COLUMN", "CELL");
    else if (header && kind == QUERY_SCAN)
        output_header(&session->output, "ROW", "COLUMN+CELL");
    return session_table(session, name, &query->table);
}

enum shell_status
query_read_get(struct session *session, const struct value *arguments, size_t count, bool header,
               struct query *query)
{
    enum shell_status status = open_table(session, &arguments[0], QUERY_GET, header, query);

    if (status != SHELL_FINE)
        return status;
    query->row = value_to_bytes(&session->arena, &arguments[1]);
    if (query->row.size == 0)
        return session_fail(session, SHELL_USAGE, "Row length is 0");
    for (size_t i = 2; i < count && status == SHELL_FINE; i++)
        status = read_get_argument(session, query, &arguments[i]);
    return status;
}

/* ---- scan and count -------------------------------------------------------------------------------- */

/* The least row behind all that begin with `prefix`; empty when there is none. */
static petal_slice
behind_prefix(struct arena *arena, petal_slice prefix)
{
    uint8_t *row = arena_copy(arena, prefix.data, prefix.size);
    size_t size = prefix.size;

    while (size > 0 && row[size - 1] == 0xff)
        size--;
    if (size > 0)
        row[size - 1]++;
    return (petal_slice){row, size};
}

static enum shell_status
read_range(struct session *session, struct query *query, const struct value *hash)
{
    static const char *const keys[] = {"STARTROW", "STOPROW", "ROWPREFIXFILTER"};
    petal_slice rows[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    petal_scan_options *scan = &query->scan;

    for (size_t i = 0; i < 3; i++) {
        const struct value *value = value_hash_get(hash, keys[i]);

        if (value == NULL || value->kind == VALUE_NIL)
            continue;
        if (value->kind != VALUE_STRING)
            return fail_key(session, keys[i], value, "a string is wanted");
        rows[i] = value->as.bytes;
    }
    scan->start_row = rows[0];
    scan->stop_row = rows[1];
    if (rows[2].size > 0) {
        scan->start_row = rows[2];
        scan->stop_row = behind_prefix(&session->arena, rows[2]);
    } else if (rows[0].size > 0 && slices_equal(rows[0], rows[1])) {
        /* Equal ends mean that one row. */
        char *next = arena_allocate(&session->arena, rows[0].size + 1);

        memcpy(next, rows[0].data, rows[0].size);
        next[rows[0].size] = '\0';
        scan->stop_row = (petal_slice){next, rows[0].size + 1};
    }
    return SHELL_FINE;
}

static enum shell_status
read_numbers(struct session *session, struct query *query, const struct value *hash)
{
    const struct value *limit = value_hash_get(hash, "LIMIT");
    const struct value *interval = value_hash_get(hash, "INTERVAL");

    if (limit != NULL) {
        if (limit->kind != VALUE_INTEGER)
            return fail_key(session, "LIMIT", limit, "a number is wanted");
        query->scan.row_limit = limit->as.integer > 0 ? (uint64_t)limit->as.integer : 0;
    }
    if (interval != NULL) {
        if (interval->kind != VALUE_INTEGER)
            return fail_key(session, "INTERVAL", interval, "a number is wanted");
        query->interval = interval->as.integer;
    }
    return SHELL_FINE;
}

enum shell_status
query_read_scan(struct session *session, enum query_kind kind, const struct value *arguments,
                size_t count, bool header, struct query *query)
{
    enum shell_status status = open_table(session, &arguments[0], kind, header, query);
    const struct value *hash = &arguments[1];

    if (status != SHELL_FINE || count == 1)
        return status;
    if (kind == QUERY_COUNT && hash->kind == VALUE_INTEGER) {
        query->interval = hash->as.integer;
        return SHELL_FINE;
    }
    if (hash->kind != VALUE_HASH)
        return session_fail(session, SHELL_USAGE, "a hash such as {LIMIT => 10} is wanted, not %s",
                            value_class(hash));
    status = read_common(session, query, hash);
    if (status == SHELL_FINE)
        status = read_range(session, query, hash);
    if (status == SHELL_FINE)
        status = read_numbers(session, query, hash);
    return status;
}
