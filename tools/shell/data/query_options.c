/*
 * query_options.c -- the keys of get, scan and count that choose versions, times and filters, and
 * those that say how to go about it.  See tools/shell/data/query.h.
 */
#include "tools/shell/data/filter_object.h"
#include "tools/shell/data/query.h"
#include "tools/shell/session/near.h"

#include <inttypes.h>
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
    /* After the filter's own text, which ends with a parenthesis or is cut. */
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

/* Keys that change nothing here must still have one of HBase's words. */
static enum shell_status
check_words(struct session *session, const struct value *hash)
{
    static const struct {
        const char *key, *words[3];
    } keys[] = {{"READ_TYPE", {"DEFAULT", "STREAM", "PREAD"}},
                {"ISOLATION_LEVEL", {"READ_COMMITTED", "READ_UNCOMMITTED", NULL}},
                {"CONSISTENCY", {"STRONG", "TIMELINE", NULL}}};

    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        const struct value *value = query_given(hash, keys[i].key);
        bool known = value == NULL;

        for (size_t j = 0; j < COUNT_OF(keys[i].words) && !known && keys[i].words[j] != NULL; j++)
            known = slice_is(value_to_bytes(&session->arena, value), keys[i].words[j]);
        if (!known)
            return query_fail_key(session, keys[i].key, value, "there is no such word");
    }
    return SHELL_FINE;
}

/* HBase's message, and below it what a time range is. */
static enum shell_status
fail_time_range(struct session *session, const struct value *range, bool two)
{
    (void)session_fail(session, SHELL_USAGE, "maxStamp is smaller than minStamp");
    if (!session_gives_reasons(session))
        return SHELL_USAGE;
    text_add_string(&session->message, "\nTIMERANGE => ");
    value_inspect(&session->message, range);
    text_add_string(&session->message,
                    two ? " ends before it begins: it is [from, before]"
                        : " must be two numbers: [from, before]; TIMESTAMP => n is one time");
    return SHELL_USAGE;
}

static void
note_empty_time_range(struct session *session, int64_t time)
{
    struct text line = {0};

    text_add_format(&line,
                    "kv-shell: TIMERANGE => [%" PRId64 ", %" PRId64
                    "] has no time in it, since the second one is left out; TIMESTAMP => %" PRId64
                    " is that time alone\n",
                    time, time, time);
    session_note(session, &line);
    text_free(&line);
}

/* TIMERANGE, which outdoes TIMESTAMP. */
static enum shell_status
read_times(struct session *session, struct query *query, const struct value *hash)
{
    const struct value *stamp = query_given(hash, "TIMESTAMP");
    const struct value *range = query_given(hash, "TIMERANGE");
    petal_read_options *read = &query->scan.read;
    int64_t number, limit;

    if (stamp != NULL) {
        if (!value_to_integer(stamp, &number) || number < 0 || number == INT64_MAX)
            return query_fail_key(session, "TIMESTAMP", stamp,
                                  "it must be a number of milliseconds");
        read->time_min = number;
        read->time_limit = number + 1;
        read->has_time_range = true;
    }
    if (range != NULL) {
        bool two = range->kind == VALUE_ARRAY && range->count == 2 &&
                   value_to_integer(&range->as.items[0], &number) &&
                   value_to_integer(&range->as.items[1], &limit);

        if (!two || limit < number)
            return fail_time_range(session, range, two);
        if (number < 0)
            return session_fail(session, SHELL_USAGE, "Timestamp cannot be negative");
        if (limit == number)
            note_empty_time_range(session, number);
        read->time_min = number;
        read->time_limit = limit;
        read->has_time_range = true;
    }
    return SHELL_FINE;
}

/* A scan takes what is below 1 as 1. */
static enum shell_status
read_versions(struct session *session, struct query *query, const struct value *hash)
{
    const struct value *versions = query_given(hash, "VERSIONS");
    int64_t number;

    if (versions == NULL)
        return SHELL_FINE;
    if (!value_to_integer(versions, &number))
        return query_fail_key(session, "VERSIONS", versions, "it must be a number");
    if (number <= 0 && query->kind == QUERY_GET)
        return session_fail(session, SHELL_USAGE, "versions must be positive");
    if (number > PETAL_ALL_VERSIONS)
        number = PETAL_ALL_VERSIONS;
    query->scan.read.versions = number > 1 ? (int32_t)number : 1;
    return SHELL_FINE;
}

/* A filter in quotes, or an object of Java's. */
static enum shell_status
read_filter(struct session *session, struct query *query, const struct value *hash)
{
    const struct value *filter = query_given(hash, "FILTER");
    petal_error error;

    if (filter == NULL)
        return SHELL_FINE;
    if (filter->kind != VALUE_FILTER && filter->kind != VALUE_STRING)
        return query_fail_key(session, "FILTER", filter, "it must be a filter in quotes");
    query_end(query);
    if (filter->kind == VALUE_FILTER) {
        if (filter_object_make(session, filter, &query->filter) != SHELL_FINE)
            return SHELL_USAGE;
    } else if (petal_filter_parse(session->db, filter->as.bytes, &query->filter, &error) !=
               PETAL_OK) {
        return fail_filter(session, filter->as.bytes, &error);
    }
    query->scan.read.filter = query->filter;
    return SHELL_FINE;
}

static enum shell_status
read_cache_blocks(struct session *session, struct query *query, const struct value *hash)
{
    const struct value *cache = query_given(hash, "CACHE_BLOCKS");
    petal_slice word;

    query->scan.read.keep_out_of_cache = query->kind == QUERY_COUNT;
    if (cache == NULL)
        return SHELL_FINE;
    word = value_to_bytes(&session->arena, cache);
    if (!slice_is(word, "true") && !slice_is(word, "false"))
        return session_fail(session, SHELL_USAGE,
                            "Expected CACHE_BLOCKS value to be a boolean or the string "
                            "'true' or 'false'");
    query->scan.read.keep_out_of_cache = slice_is(word, "false");
    return SHELL_FINE;
}

/* How values are shown. */
static enum shell_status
read_formatter(struct session *session, struct query *query, const struct value *hash)
{
    const struct value *format = query_given(hash, "FORMATTER");
    const struct value *of_class = query_given(hash, "FORMATTER_CLASS");

    if (of_class != NULL &&
        !slice_is(value_to_bytes(&session->arena, of_class), "org.apache.hadoop.hbase.util.Bytes"))
        return query_fail_key(session, "FORMATTER_CLASS", of_class,
                              "there is only 'org.apache.hadoop.hbase.util.Bytes'");
    return format == NULL
               ? SHELL_FINE
               : convert_find(session, value_to_bytes(&session->arena, format), &query->format);
}

static enum shell_status
read_length(struct session *session, struct query *query, const struct value *hash)
{
    const struct value *length = query_given(hash, "MAXLENGTH");

    if (length == NULL)
        return SHELL_FINE;
    if (length->kind != VALUE_INTEGER)
        return query_fail_key(session, "MAXLENGTH", length, "it must be a number");
    query->greatest_length = length->as.integer > 0 ? (uint64_t)length->as.integer : 0;
    return SHELL_FINE;
}

enum shell_status
query_read_options(struct session *session, struct query *query, const struct value *hash)
{
    static enum shell_status (*const steps[])(struct session *, struct query *,
                                              const struct value *) = {
        read_times,  read_versions,     read_filter,   read_without,
        read_length, read_cache_blocks, read_formatter};
    enum shell_status status = check_words(session, hash);

    for (size_t i = 0; i < COUNT_OF(steps) && status == SHELL_FINE; i++)
        status = steps[i](session, query, hash);
    if (status == SHELL_FINE && query->kind != QUERY_GET)
        status = read_scan_options(session, query, hash);
    return status;
}
