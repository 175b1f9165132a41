/* read.c -- see tests/conformance/read.h. */
#include "tests/conformance/read.h"

#include <string.h>

bool
time_range_read(struct reader *reader, petal_slice first, struct time_range *range)
{
    range->given = true;
    if (!slice_number(first, &range->min))
        return reader_fail(reader, "a time range does not begin with a number");
    return reader_take_mark(reader, ',') &&
           reader_take_number(reader, "the end of a time range", &range->limit);
}

bool
recorded_filter_read(struct reader *reader, petal_slice name, struct recorded_filter *filter)
{
    if (filter->given)
        return reader_fail(reader, "there is a second filter");
    filter->given = true;
    if (!reader_take_glued_string(reader, "the string of a filter", &filter->text))
        return false;
    return slice_is(name, "filter") ||
           filter_expression_read(reader, filter->text, &filter->expression);
}

/* ---- options that may be repeated ---- */

/* As HBase's Get and Scan keep what was added to them: a set of columns for each family, or all of
 * it. */
static void
add_column(struct reader *reader, struct recorded_read *read, const struct recorded_column *column,
           size_t *room)
{
    size_t kept = 0;

    for (size_t i = 0; i < read->column_count; i++) {
        const struct recorded_column *other = &read->columns[i];
        bool same_family = slice_equal(other->family, column->family);

        if (same_family && !other->whole_family && !column->whole_family &&
            slice_equal(other->qualifier, column->qualifier))
            return;
        if (!same_family || (!other->whole_family && !column->whole_family))
            read->columns[kept++] = *other;
    }
    read->column_count = kept;
    if (kept == *room) {
        read->columns = arena_grow(reader->arena, read->columns, kept, sizeof *read->columns);
        *room = *room == 0 ? 1 : 2 * *room;
    }
    read->columns[read->column_count++] = *column;
}

static bool
read_family_time_range(struct reader *reader, struct recorded_read *read)
{
    struct recorded_family_time_range ranged = {.range.given = true};
    size_t i = 0;

    if (!reader_take_glued_string(reader, "a family", &ranged.family) ||
        !reader_take_mark(reader, ',') ||
        !reader_take_number(reader, "the beginning of a time range", &ranged.range.min) ||
        !reader_take_mark(reader, ',') ||
        !reader_take_number(reader, "the end of a time range", &ranged.range.limit))
        return false;
    while (i < read->family_time_range_count &&
           !slice_equal(read->family_time_ranges[i].family, ranged.family))
        i++;
    if (i == read->family_time_range_count) {
        read->family_time_ranges =
            arena_grow(reader->arena, read->family_time_ranges, i, sizeof ranged);
        read->family_time_range_count++;
    }
    read->family_time_ranges[i] = ranged;
    return true;
}

/* ---- options ---- */

enum option {
    OPTION_START,
    OPTION_START_EXCLUSIVE,
    OPTION_STOP,
    OPTION_STOP_INCLUSIVE,
    OPTION_PREFIX,
    OPTION_LIMIT,
    OPTION_BATCH,
    OPTION_REVERSED,
    OPTION_RAW,
    OPTION_VERSIONS,
    OPTION_TIME_RANGE,
    OPTION_TIMESTAMP,
    OPTION_STORE_LIMIT,
    OPTION_STORE_OFFSET,
    OPTION_FILTER,
    OPTION_FILTERX,
    OPTION_FAMILY, /* these may be repeated */
    OPTION_COLUMN,
    OPTION_FAMILY_TIME_RANGE
};

/* `none`: a word alone; `string`: a string follows at once; `number`: in the word itself. */
enum option_value { VALUE_NONE, VALUE_STRING, VALUE_NUMBER, VALUE_OTHER };

static const struct option_form {
    const char *name;
    bool scan_only;
    enum option_value value;
} option_forms[] = {
    [OPTION_START] = {"start", true, VALUE_STRING},
    [OPTION_START_EXCLUSIVE] = {"startexclusive", true, VALUE_NONE},
    [OPTION_STOP] = {"stop", true, VALUE_STRING},
    [OPTION_STOP_INCLUSIVE] = {"stopinclusive", true, VALUE_NONE},
    [OPTION_PREFIX] = {"prefix", true, VALUE_STRING},
    [OPTION_LIMIT] = {"limit", true, VALUE_NUMBER},
    [OPTION_BATCH] = {"batch", true, VALUE_NUMBER},
    [OPTION_REVERSED] = {"reversed", true, VALUE_NONE},
    [OPTION_RAW] = {"raw", true, VALUE_NONE},
    [OPTION_VERSIONS] = {"versions", false, VALUE_OTHER},
    [OPTION_TIME_RANGE] = {"timerange", false, VALUE_OTHER},
    [OPTION_TIMESTAMP] = {"timestamp", false, VALUE_NUMBER},
    [OPTION_STORE_LIMIT] = {"storelimit", false, VALUE_NUMBER},
    [OPTION_STORE_OFFSET] = {"storeoffset", false, VALUE_NUMBER},
    [OPTION_FILTER] = {"filter", false, VALUE_OTHER},
    [OPTION_FILTERX] = {"filterx", false, VALUE_OTHER},
    [OPTION_FAMILY] = {"family", false, VALUE_STRING},
    [OPTION_COLUMN] = {"column", false, VALUE_STRING},
    [OPTION_FAMILY_TIME_RANGE] = {"familytimerange", false, VALUE_OTHER},
};
#define OPTION_FORMS (sizeof option_forms / sizeof *option_forms)

/* The next string that does not start with `prefix`; empty if there is none. */
static petal_slice
behind_prefix(struct arena *arena, petal_slice prefix)
{
    petal_slice next = arena_copy(arena, prefix);
    unsigned char *bytes = arena_allocate(arena, prefix.size + 1);

    if (next.size > 0)
        memcpy(bytes, next.data, next.size);
    while (next.size > 0 && bytes[next.size - 1] == 0xFF)
        next.size--;
    if (next.size > 0)
        bytes[next.size - 1]++;
    return (petal_slice){bytes, next.size};
}

/* An option whose value is a string. */
static bool
set_string(struct reader *reader, struct recorded_read *read, enum option option,
           petal_slice string, size_t *room)
{
    struct recorded_column column = {.family = string, .whole_family = option == OPTION_FAMILY};

    switch (option) {
    case OPTION_START:
        read->start = string;
        return true;
    case OPTION_STOP:
        read->stop = string;
        return true;
    case OPTION_PREFIX:
        read->start = string;
        read->stop = behind_prefix(reader->arena, string);
        return true;
    case OPTION_COLUMN:
        if (!reader_take_mark(reader, ',') ||
            !reader_take_string(reader, "a qualifier", &column.qualifier))
            return false;
        break;
    default:
        break;
    }
    add_column(reader, read, &column, room);
    return true;
}

static void
set_number(struct recorded_read *read, enum option option, int64_t number)
{
    switch (option) {
    case OPTION_LIMIT:
        read->limit = number;
        break;
    case OPTION_BATCH:
        read->batch = number;
        break;
    case OPTION_STORE_LIMIT:
        read->has_store_limit = true;
        read->store_limit = number;
        break;
    case OPTION_STORE_OFFSET:
        read->store_offset = number;
        break;
    default: /* timestamp: after the greatest one the end wraps, as HBase's does: it is refused */
        read->time_range = (struct time_range){true, number, (int64_t)((uint64_t)number + 1)};
        break;
    }
}

static void
set_flag(struct recorded_read *read, enum option option)
{
    read->start_exclusive = read->start_exclusive || option == OPTION_START_EXCLUSIVE;
    read->stop_inclusive = read->stop_inclusive || option == OPTION_STOP_INCLUSIVE;
    read->reversed = read->reversed || option == OPTION_REVERSED;
    read->raw = read->raw || option == OPTION_RAW;
}

static bool
set_other(struct reader *reader, struct recorded_read *read, enum option option, petal_slice value)
{
    if (option == OPTION_TIME_RANGE)
        return time_range_read(reader, value, &read->time_range);
    if (option == OPTION_VERSIONS) {
        if (slice_is(value, "all"))
            read->versions = INT64_MAX;
        else if (!slice_number(value, &read->versions))
            return reader_fail(reader, "versions= is not followed by a number or all");
        return true;
    }
    if (value.size > 0)
        return reader_fail(reader, "a string should follow the = at once");
    if (option == OPTION_FAMILY_TIME_RANGE)
        return read_family_time_range(reader, read);
    return recorded_filter_read(reader, slice_of(option_forms[option].name), &read->filter);
}

static bool
set_option(struct reader *reader, struct recorded_read *read, enum option option, petal_slice value,
           size_t *room)
{
    petal_slice string;
    int64_t number;

    switch (option_forms[option].value) {
    case VALUE_NONE:
        set_flag(read, option);
        return true;
    case VALUE_NUMBER:
        if (!slice_number(value, &number))
            return reader_fail(reader, "%s= is not followed by a number of 64 signed bits",
                               option_forms[option].name);
        set_number(read, option, number);
        return true;
    case VALUE_STRING:
        if (value.size > 0)
            return reader_fail(reader, "a string should follow the = at once");
        return reader_take_glued_string(reader, "the string of an option", &string) &&
               set_string(reader, read, option, string, room);
    default:
        return set_other(reader, read, option, value);
    }
}

bool
read_options_read(struct reader *reader, bool scan, struct recorded_read *read)
{
    size_t room = 0;
    bool seen[OPTION_FORMS] = {false};

    *read = (struct recorded_read){.versions = 1};
    while (reader_peek(reader) != NULL) {
        petal_slice name, value;
        bool has_value;
        unsigned i = 0;

        if (!reader_take_option(reader, &name, &has_value, &value))
            return false;
        while (i < OPTION_FORMS && !slice_is(name, option_forms[i].name))
            i++;
        if (i == OPTION_FORMS || (option_forms[i].scan_only && !scan))
            return reader_fail(reader, "'%.*s' is no option of a %s", (int)name.size,
                               (const char *)name.data, scan ? "scan" : "get");
        if (has_value != (option_forms[i].value != VALUE_NONE))
            return reader_fail(reader, "the option %s %s", option_forms[i].name,
                               has_value ? "takes no value" : "needs a value");
        if (seen[i] && i < OPTION_FAMILY)
            return reader_fail(reader, "the option %s is given twice", option_forms[i].name);
        seen[i] = true;
        if (!set_option(reader, read, (enum option)i, value, &room))
            return false;
    }
    return true;
}
