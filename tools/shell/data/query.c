/* query.c -- see tools/shell/data/query.h. */
#include "tools/shell/data/query.h"
#include "tools/shell/text/near.h"

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

const struct value *
query_given(const struct value *hash, const char *key)
{
    const struct value *value = value_hash_get(hash, key);

    return value != NULL && value->kind == VALUE_NIL ? NULL : value;
}

static void
note_unless_known(struct session *session, const struct value *key, const char *const *known,
                  size_t count)
{
    const char *nearest = NULL;
    unsigned least = 0;
    struct text line = {0};

    for (size_t i = 0; i < count && key->kind == VALUE_STRING; i++) {
        if (slice_is(key->as.bytes, known[i]))
            return;
        near_consider(key->as.bytes, known[i], &nearest, &least);
    }
    text_add_string(&line, "kv-shell: the key ");
    value_inspect(&line, key);
    text_add_string(&line, " is unknown here and changes nothing");
    if (nearest != NULL)
        text_add_format(&line, "; did you mean %s?", nearest);
    text_add_string(&line, "\n");
    session_note(session, &line);
    text_free(&line);
}

void
query_note_unknown(struct session *session, const struct value *hash, const char *const *known,
                   size_t count)
{
    for (size_t i = 0; i < hash->count; i++)
        note_unless_known(session, &hash->as.pairs[i].key, known, count);
}

enum shell_status
query_fail_key(struct session *session, const char *key, const struct value *value, const char *why)
{
    text_clear(&session->scratch);
    value_inspect(&session->scratch, value);
    return session_fail(session, SHELL_USAGE, "%s => %.200s: %s", key,
                        text_string(&session->scratch), why);
}

/* ---- Columns --------------------------------------------------------------------------------- */

/* Take out the family's columns of one sort: a family named after its columns replaces them, and
 * the other way round. */
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

/* Take 'q:toInt' apart at its first colon, and keep the converter. */
static enum shell_status
read_format(struct session *session, struct query *query, petal_column *column)
{
    struct column_format format = {.family = column->family};
    petal_slice name;
    bool has_format;
    enum shell_status status;

    column_part(column->qualifier, &format.qualifier, &name, &has_format);
    if (!has_format)
        return SHELL_FINE;
    status = convert_find(session, name, &format.conversion);
    if (status != SHELL_FINE)
        return status;
    column->qualifier = format.qualifier;
    query->formats = arena_room(&session->arena, query->formats, query->format_count,
                                &query->format_capacity, sizeof(*query->formats));
    query->formats[query->format_count++] = format;
    return SHELL_FINE;
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
    status = session_family(session, query->table, family, &column.family);
    if (status == SHELL_FINE)
        status = read_format(session, query, &column);
    if (status != SHELL_FINE)
        return status;
    drop_columns(query, &column);
    query->columns = arena_room(&session->arena, query->columns, query->scan.read.column_count,
                                &query->capacity, sizeof(*query->columns));
    query->scan.read.columns = query->columns;
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
    const struct value *value = query_given(hash, "COLUMNS");

    if (value == NULL)
        value = query_given(hash, "COLUMN");
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

/* ---- get ------------------------------------------------------------------------------------- */

/*
 * HBase's get refuses a hash that names neither columns nor times, unless nothing is in it but keys
 * of the other kinds.  *rest is what it shows then.
 */
static bool
selects(struct session *session, const struct value *hash, struct value *rest)
{
    static const char *const selecting[] = {"COLUMN",    "COLUMNS",    "TIMERANGE",
                                            "TIMESTAMP", "ATTRIBUTES", "AUTHORIZATIONS"};
    static const char *const others[] = {"MAXLENGTH",    "FORMATTER",        "FORMATTER_CLASS",
                                         "FILTER",       "CONSISTENCY",      "WITHOUT",
                                         "CACHE_BLOCKS", "REGION_REPLICA_ID"};

    for (size_t i = 0; i < COUNT_OF(selecting); i++)
        if (query_given(hash, selecting[i]) != NULL)
            return true;
    *rest = (struct value){.kind = VALUE_HASH};
    rest->as.pairs = arena_allocate(&session->arena, (hash->count + 1) * sizeof(struct value_pair));
    for (size_t i = 0; i < hash->count; i++) {
        const struct value_pair *pair = &hash->as.pairs[i];
        bool other = false;

        for (size_t j = 0; j < COUNT_OF(others); j++)
            other = other ||
                    (pair->key.kind == VALUE_STRING && slice_is(pair->key.as.bytes, others[j]));
        if (!other)
            rest->as.pairs[rest->count++] = *pair;
    }
    return rest->count == 0;
}

/* HBase's message, and below it why: `rest` is what selects nothing. */
static enum shell_status
fail_selection(struct session *session, const struct value *rest)
{
    const struct value *versions = query_given(rest, "VERSIONS");
    int64_t number;

    text_clear(&session->scratch);
    value_inspect(&session->scratch, rest);
    (void)session_fail(session, SHELL_USAGE, "Failed parse of %.400s, Hash",
                       text_string(&session->scratch));
    if (!session_gives_reasons(session))
        return SHELL_USAGE;
    if (versions != NULL && (!value_to_integer(versions, &number) || number < 1))
        text_add_string(&session->message,
                        "\nVERSIONS must be a number, at least 1; it stands beside "
                        "COLUMN, TIMERANGE or TIMESTAMP");
    else if (versions != NULL)
        text_add_string(&session->message,
                        "\nVERSIONS stands beside COLUMN, TIMERANGE or TIMESTAMP, "
                        "as in COLUMN => 'f:q', VERSIONS => 3");
    else
        text_add_string(&session->message, "\nA get has no such key; help 'get' shows those that "
                                           "it has");
    return SHELL_USAGE;
}

static enum shell_status
read_common(struct session *session, struct query *query, const struct value *hash)
{
    enum shell_status status = read_columns(session, query, hash);

    return status == SHELL_FINE ? query_read_options(session, query, hash) : status;
}

static enum shell_status
open_table(struct session *session, const struct value *argument, enum query_kind kind,
           struct query *query)
{
    *query = (struct query){.kind = kind, .interval = USUAL_INTERVAL};
    query->scan.read.size = sizeof(query->scan.read);
    if (argument->kind != VALUE_STRING && argument->kind != VALUE_SYMBOL)
        return session_fail(session, SHELL_USAGE, "Table name must be of type String");
    return session_enabled_table(session, argument, &query->table);
}

enum shell_status
query_read_get(struct session *session, const struct value *arguments, size_t count,
               struct query *query)
{
    enum shell_status status = open_table(session, &arguments[0], QUERY_GET, query);

    if (status != SHELL_FINE)
        return status;
    query->row = value_to_bytes(&session->arena, &arguments[1]);
    if (query->row.size == 0)
        return session_fail(session, SHELL_USAGE, "Row length is 0");
    for (size_t i = 2; i < count && status == SHELL_FINE; i++) {
        const struct value *argument = &arguments[i];
        struct value rest;

        if (argument->kind == VALUE_ARRAY) {
            status = add_columns(session, query, argument->as.items, argument->count);
        } else if (argument->kind == VALUE_HASH && !selects(session, argument, &rest)) {
            status = fail_selection(session, &rest);
        } else if (argument->kind == VALUE_HASH) {
            status = read_common(session, query, argument);
        } else if (argument->kind != VALUE_NIL) {
            status = add_columns(session, query, argument, 1);
        }
    }
    return status;
}

/* ---- scan and count -------------------------------------------------------------------------- */

/* The least row after all that begin with `prefix`; empty when there is none. */
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

/* After how many rows a count tells of its progress. */
static enum shell_status
read_interval(struct session *session, struct query *query, const struct value *interval)
{
    if (interval->kind != VALUE_INTEGER || interval->as.integer < 1)
        return query_fail_key(session, "INTERVAL", interval, "it must be a number, at least 1");
    query->interval = interval->as.integer;
    return SHELL_FINE;
}

/* What a scan has and a get has not: where it begins and ends, and how many rows. */
static enum shell_status
read_range(struct session *session, struct query *query, const struct value *hash)
{
    static const char *const keys[] = {"STARTROW", "STOPROW", "ROWPREFIXFILTER"};
    const struct value *inclusive = query_given(hash, "INCLUDE_STOPROW");
    const struct value *limit = query_given(hash, "LIMIT");
    const struct value *interval = query_given(hash, "INTERVAL");
    petal_slice rows[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    petal_scan_options *scan = &query->scan;

    for (size_t i = 0; i < 3; i++) {
        const struct value *value = query_given(hash, keys[i]);

        if (value == NULL)
            continue;
        if (value->kind != VALUE_STRING)
            return query_fail_key(session, keys[i], value, "it must be a string");
        rows[i] = value->as.bytes;
    }
    if (inclusive != NULL && inclusive->kind != VALUE_BOOLEAN)
        return query_fail_key(session, "INCLUDE_STOPROW", inclusive, "it must be true or false");
    scan->start_row = rows[0];
    scan->stop_row = rows[1];
    /* Equal ends mean that one row. */
    scan->stop_inclusive = (inclusive != NULL && inclusive->as.boolean) ||
                           (rows[0].size > 0 && slices_equal(rows[0], rows[1]));
    if (query_given(hash, "ROWPREFIXFILTER") != NULL) {
        /* Reversed, the end lies above the start, and nothing is found: so in HBase. */
        scan->start_row = rows[2];
        scan->stop_row = behind_prefix(&session->arena, rows[2]);
        scan->stop_inclusive = false;
    }
    if (limit != NULL) {
        if (limit->kind != VALUE_INTEGER)
            return query_fail_key(session, "LIMIT", limit, "it must be a number");
        scan->row_limit = limit->as.integer > 0 ? (uint64_t)limit->as.integer : 0;
    }
    if (interval != NULL && query->kind == QUERY_COUNT)
        return read_interval(session, query, interval);
    return SHELL_FINE;
}

enum shell_status
query_read_scan(struct session *session, enum query_kind kind, const struct value *arguments,
                size_t count, struct query *query)
{
    enum shell_status status = open_table(session, &arguments[0], kind, query);
    const struct value *hash = &arguments[1];

    if (status != SHELL_FINE || count == 1)
        return status;
    if (kind == QUERY_COUNT && hash->kind == VALUE_INTEGER)
        return read_interval(session, query, hash);
    if (hash->kind != VALUE_HASH)
        return session_fail(session, SHELL_USAGE,
                            "Options are a hash such as {LIMIT => 10}, not %s", value_class(hash));
    status = read_common(session, query, hash);
    return status == SHELL_FINE ? read_range(session, query, hash) : status;
}

void
query_end(struct query *query)
{
    petal_filter_free(query->filter);
    query->filter = NULL;
}
