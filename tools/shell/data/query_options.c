/*
 * query_options.c -- the keys of get, scan and count that choose versions, times and filters, and
 * those that say how to go about it.  See tools/shell/data/query.h.
 */
#include "tools/shell/data/filter_object.h"
#include "tools/shell/data/query.h"
#include "tools/shell/session/near.h"

#include <string.h>

enum { FILTER_CHARACTERS = 400 }; /* longer ones are not shown again in a message */

/* ---- Filters --------------------------------------------------------------------------------- */

/* Cut the place and the reason off the library's text: what is left is HBase's.  Returns the
 * reason, "" without one. */
static const char *
part_reason(char *text)
{
    static const char incorrect[] = "Incorrect filter string ", place[] = " at byte ";
    char *end = NULL;

    for (char *found = text; (found = strstr(found, place)) != NULL; found++)
        end = found;
    if (end != NULL)
        *end = '\0';
    if (strncmp(text, incorrect, sizeof(incorrect) - 1) != 0)
        return "";
    /* Behind the filter's own text, which ends with a parenthesis or is cut. */
    end = NULL;
    for (char *found = text; (found = strstr(found, ": ")) != NULL; found++)
        if (found[-1] == ')' || found[-1] == '.')
            end = found;
    if (end == NULL)
        return "";
    *end = '\0';
    return end + 2;
}

/* Of a filter that there is not, one that is near. */
static void
suggest_filter(struct session *session)
{
    static const char before[] = "Filter Name ", behind[] = " not supported";
    const char *message = text_string(&session->message), *end = strstr(message, behind);
    petal_slice name, nearest = {NULL, 0};
    unsigned least = 0;

    if (strncmp(message, before, sizeof(before) - 1) != 0 || end == NULL)
        return;
    name =
        (petal_slice){message + sizeof(before) - 1, (size_t)(end - message) - (sizeof(before) - 1)};
    for (size_t i = 0; petal_filter_name(i) != NULL; i++)
        near_consider_bytes(name, slice_of_string(petal_filter_name(i)), &nearest, &least);
    near_suggest(session, nearest);
}

/* HBase's message, which scripts read; reason and place are shown below it. */
static enum shell_status
fail_filter(struct session *session, petal_slice filter, const petal_error *error)
{
    char text[PETAL_ERROR_TEXT_BYTES];
    const char *reason;

    if (error->status != PETAL_INVALID)
        return session_fail_petal(session, error);
    (void)snprintf(text, sizeof(text), "%s", error->text);
    reason = part_reason(text);
    text_clear(&session->message);
    text_add_string(&session->message, text);
    suggest_filter(session);
    if (session_gives_reasons(session) && filter.size > 0 && filter.size <= FILTER_CHARACTERS &&
        error->offset <= filter.size) {
        /* The filter's text, and a caret with the reason under the place of the mistake. */
        struct text before = {0};

        text_add_binary(&before, (petal_slice){filter.data, (size_t)error->offset});
        text_add_string(&session->message, "\n  ");
        text_add_binary(&session->message, filter);
        text_add_format(&session->message, "\n  %*s^%s%s", (int)before.size, "",
                        reason[0] != '\0' ? " " : "", reason);
        text_free(&before);
    }
    return SHELL_USAGE;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Read true or false; false when it is neither. */
static bool
read_boolean(struct session *session, const struct value *hash, const char *key, bool *boolean)
{
    const struct value *value = query_given(hash, key);

    if (value != NULL && value->kind == VALUE_BOOLEAN)
        *boolean = value->as.boolean;
    if (value == NULL || value->kind == VALUE_BOOLEAN)
        return true;
    (void)query_fail_key(session, key, value, "it must be true or false");
    return false;
}

/* A value that is one item or an array of them. */
static const struct value *
items_of(const struct value *value, size_t *count)
{
    bool array = value != NULL && value->kind == VALUE_ARRAY;

    *count = array ? value->count : value != NULL;
    return array ? value->as.items : value;
}

static enum shell_status
read_without(struct session *session, struct query *query, const struct value *hash)
{
    size_t count;
    const struct value *items = items_of(query_given(hash, "WITHOUT"), &count);

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
            (void)query_fail_key(session, "WITHOUT", &items[i], text_string(&words));
            text_free(&words);
            return SHELL_USAGE;
        }
        query->scan.read.without |= PETAL_WITHOUT(skip);
    }
    return SHELL_FINE;
}

/* Keys that only a scan has. */
static enum shell_status
read_scan_options(struct session *session, struct query *query, const struct value *hash)
{
    const struct value *batch = query_given(hash, "BATCH");
    const struct value *bytes = query_given(hash, "MAX_RESULT_SIZE");
    const struct value *metrics = query_given(hash, "METRICS"), *items;
    petal_scan_options *scan = &query->scan;
    bool partial = false, all = false;
    int64_t number;
    size_t count;

    if (!read_boolean(session, hash, "REVERSED", &scan->reversed) ||
        !read_boolean(session, hash, "RAW", &scan->raw) ||
        !read_boolean(session, hash, "ALLOW_PARTIAL_RESULTS", &partial))
        return SHELL_USAGE;
    if (batch != NULL) {
        if (!value_to_integer(batch, &number))
            return query_fail_key(session, "BATCH", batch, "it must be a number");
        scan->batch = number > 0 ? (uint64_t)number : 0;
    }
    if (bytes != NULL) { /* which cuts rows only where partial results are allowed */
        if (!value_to_integer(bytes, &number))
            return query_fail_key(session, "MAX_RESULT_SIZE", bytes, "it must be a number");
        query->piece_bytes = partial && number > 0 ? (uint64_t)number : 0;
    }

    /* As in HBase METRICS alone chooses some; none are all. */
    if (!read_boolean(session, hash, "ALL_METRICS", &all))
        return SHELL_USAGE;
    items = items_of(metrics, &count);
    for (size_t i = 0; i < count; i++) {
        petal_slice word = value_to_bytes(&session->arena, &items[i]);

        if (!slice_is(word, "ROWS_SCANNED") && !slice_is(word, "ROWS_FILTERED"))
            return query_fail_key(session, "METRICS", &items[i],
                                  "there are ROWS_SCANNED and ROWS_FILTERED; see also explain");
        query->metrics |=
            slice_is(word, "ROWS_SCANNED") ? METRIC_ROWS_SCANNED : METRIC_ROWS_FILTERED;
    }
    if (count == 0 && (all || metrics != NULL))
        query->metrics = METRIC_ROWS_SCANNED | METRIC_ROWS_FILTERED;
    /* Rows are counted where no filter hides what was scanned. */
    if (query->metrics != 0 && query->filter != NULL)
        return session_fail(session, SHELL_USAGE,
                            "Metrics are counted without a FILTER only; see also explain");
    for (size_t i = 0; i < scan->read.column_count; i++)
        if (scan->raw && !query->columns[i].whole_family)
            return session_fail(session, SHELL_USAGE, "Cannot specify any column for a raw scan");
    return SHELL_FINE;
}

enum shell_status
query_read_options(struct session *session, struct query *query, const struct value *hash)
{
    /* Keys that change nothing here must still have one of HBase's words. */
    static const struct {
        const char *key, *words[3];
    } keys[] = {{"READ_TYPE", {"DEFAULT", "STREAM", "PREAD"}},
                {"ISOLATION_LEVEL", {"READ_COMMITTED", "READ_UNCOMMITTED", NULL}},
                {"CONSISTENCY", {"STRONG", "TIMELINE", NULL}}};
    const struct value *range = query_given(hash, "TIMERANGE");
    const struct value *stamp = query_given(hash, "TIMESTAMP");
    const struct value *versions = query_given(hash, "VERSIONS");
    const struct value *filter = query_given(hash, "FILTER");
    const struct value *length = query_given(hash, "MAXLENGTH");
    const struct value *cache = query_given(hash, "CACHE_BLOCKS");
    const struct value *format = query_given(hash, "FORMATTER");
    const struct value *of_class = query_given(hash, "FORMATTER_CLASS");
    petal_read_options *read = &query->scan.read;
    int64_t number, limit;
    petal_error error;

    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        const struct value *value = query_given(hash, keys[i].key);
        bool known = value == NULL;

        for (size_t j = 0; j < 3 && !known && keys[i].words[j] != NULL; j++)
            known = slice_is(value_to_bytes(&session->arena, value), keys[i].words[j]);
        if (!known)
            return query_fail_key(session, keys[i].key, value, "there is no such word");
    }

    if (stamp != NULL) {
        if (!value_to_integer(stamp, &number) || number < 0 || number == INT64_MAX)
            return query_fail_key(session, "TIMESTAMP", stamp,
                                  "it must be a number of milliseconds");
        read->time_min = number;
        read->time_limit = number + 1;
        read->has_time_range = true;
    }
    if (range != NULL) {
        const struct value *ends = range->as.items;

        if (range->kind != VALUE_ARRAY || range->count != 2 ||
            !value_to_integer(&ends[0], &number) || !value_to_integer(&ends[1], &limit) ||
            limit < number)
            return session_fail(session, SHELL_USAGE, "maxStamp is smaller than minStamp");
        if (number < 0)
            return session_fail(session, SHELL_USAGE, "Timestamp cannot be negative");
        read->time_min = number;
        read->time_limit = limit;
        read->has_time_range = true;
    }
    if (versions != NULL) { /* a scan takes what is below 1 as 1 */
        if (!value_to_integer(versions, &number))
            return query_fail_key(session, "VERSIONS", versions, "it must be a number");
        if (number <= 0 && query->kind == QUERY_GET)
            return session_fail(session, SHELL_USAGE, "versions must be positive");
        if (number > PETAL_ALL_VERSIONS)
            number = PETAL_ALL_VERSIONS;
        read->versions = number > 1 ? (int32_t)number : 1;
    }
    if (filter != NULL && filter->kind == VALUE_OBJECT) {
        query_end(query);
        if (filter_object_make(session, filter, &query->filter) != SHELL_FINE)
            return SHELL_USAGE;
        read->filter = query->filter;
    } else if (filter != NULL) {
        if (filter->kind != VALUE_STRING)
            return query_fail_key(session, "FILTER", filter, "it must be a filter in quotes");
        query_end(query);
        if (petal_filter_parse(session->db, filter->as.bytes, &query->filter, &error) != PETAL_OK)
            return fail_filter(session, filter->as.bytes, &error);
        read->filter = query->filter;
    }
    if (read_without(session, query, hash) != SHELL_FINE)
        return SHELL_USAGE;

    if (length != NULL) {
        if (length->kind != VALUE_INTEGER)
            return query_fail_key(session, "MAXLENGTH", length, "it must be a number");
        query->greatest_length = length->as.integer > 0 ? (uint64_t)length->as.integer : 0;
    }
    read->keep_out_of_cache = query->kind == QUERY_COUNT;
    if (cache != NULL) {
        petal_slice word = value_to_bytes(&session->arena, cache);

        if (!slice_is(word, "true") && !slice_is(word, "false"))
            return session_fail(session, SHELL_USAGE,
                                "Expected CACHE_BLOCKS value to be a boolean or the string "
                                "'true' or 'false'");
        read->keep_out_of_cache = slice_is(word, "false");
    }
    if (of_class != NULL &&
        !slice_is(value_to_bytes(&session->arena, of_class), "org.apache.hadoop.hbase.util.Bytes"))
        return query_fail_key(session, "FORMATTER_CLASS", of_class,
                              "there is only 'org.apache.hadoop.hbase.util.Bytes'");
    if (format != NULL && convert_find(session, value_to_bytes(&session->arena, format),
                                       &query->format) != SHELL_FINE)
        return SHELL_USAGE;
    return query->kind == QUERY_GET ? SHELL_FINE : read_scan_options(session, query, hash);
}
