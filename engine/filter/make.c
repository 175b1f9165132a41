/*
 * make.c -- one filter from its name and arguments. What a filter takes is written as a signature, a letter for each
 * argument; the general part checks it and fills what many filters have, a few fill the rest by themselves.
 */
#include "engine/filter/made.h"

#include "base/slice.h"
#include "engine/state/db.h"

#include <stdio.h>
#include <stdlib.h>

/*
 *     s string          e string or open end     b boolean
 *     n count, 32 bits  N count, 64 bits
 *     = comparison      c comparator             C comparator, any comparison with it
 *     | what follows may be left out             + in the first place: once or more often; *: any number of times
 */
struct filter_name {
    const char *name;
    enum filter_kind kind;
    const char *signature;
    bool in_language;
    bool needs_rows;
};

/* In alphabetic order. */
static const struct filter_name names[] = {
    {"ColumnCountGetFilter", FILTER_KIND_COLUMN_COUNT_GET, "n", true, false},
    {"ColumnPaginationFilter", FILTER_KIND_COLUMN_PAGINATION, "nn", true, false},
    {"ColumnPrefixFilter", FILTER_KIND_COLUMN_PREFIX, "s", true, false},
    {"ColumnRangeFilter", FILTER_KIND_COLUMN_RANGE, "ebeb", true, false},
    {"ColumnValueFilter", FILTER_KIND_COLUMN_VALUE, "ss=c", true, false},
    {"DependentColumnFilter", FILTER_KIND_DEPENDENT_COLUMN, "ss|b|=C", true, true},
    {"FamilyFilter", FILTER_KIND_FAMILY, "=c", true, false},
    {"FirstKeyOnlyFilter", FILTER_KIND_FIRST_KEY_ONLY, "", true, false},
    {"FuzzyRowFilter", FILTER_KIND_FUZZY_ROW, "+ss", false, false},
    {"InclusiveStopFilter", FILTER_KIND_INCLUSIVE_STOP, "s", true, false},
    {"KeyOnlyFilter", FILTER_KIND_KEY_ONLY, "|b", true, false},
    {"MultiRowRangeFilter", FILTER_KIND_MULTI_ROW_RANGE, "+sbsb", false, false},
    {"MultipleColumnPrefixFilter", FILTER_KIND_MULTIPLE_COLUMN_PREFIX, "*s", true, false},
    {"PageFilter", FILTER_KIND_PAGE, "N", true, true},
    {"PrefixFilter", FILTER_KIND_PREFIX, "s", true, false},
    {"QualifierFilter", FILTER_KIND_QUALIFIER, "=c", true, false},
    {"RandomRowFilter", FILTER_KIND_RANDOM_ROW, "s", false, true},
    {"RowFilter", FILTER_KIND_ROW, "=c", true, false},
    {"SingleColumnValueExcludeFilter", FILTER_KIND_SINGLE_COLUMN_VALUE_EXCLUDE, "ss=c|bb", true,
     true},
    {"SingleColumnValueFilter", FILTER_KIND_SINGLE_COLUMN_VALUE, "ss=c|bb", true, true},
    {"TimestampsFilter", FILTER_KIND_TIMESTAMPS, "*N", true, false},
    {"ValueFilter", FILTER_KIND_VALUE, "=c", true, false},
};

#define NAME_COUNT (sizeof names / sizeof names[0])

const char *
petal_filter_name(size_t index)
{
    for (size_t i = 0; i < NAME_COUNT; i++) {
        if (names[i].in_language && index-- == 0)
            return names[i].name;
    }
    return NULL;
}

static const struct filter_name *
find_name(petal_slice name)
{
    for (size_t i = 0; i < NAME_COUNT; i++) {
        if (slice_equal(slice_from_text(names[i].name), name))
            return &names[i];
    }
    return NULL;
}

/* ---- refusing ---- */

static enum petal_status
refuse(struct filter_mistake *mistake, const char *reason)
{
    size_t size = strlen(reason);

    if (size >= sizeof mistake->reason)
        size = sizeof mistake->reason - 1;
    memmove(mistake->reason, reason, size);
    mistake->reason[size] = '\0';
    return PETAL_INVALID;
}

static enum petal_status
refuse_argument(struct filter_mistake *mistake, size_t argument, const char *reason)
{
    mistake->has_argument = true;
    mistake->argument = argument;
    return refuse(mistake, reason);
}

/* ---- the signature ---- */

/* The letter of the i-th argument; '\0' behind the last. */
static char
letter_at(const char *signature, size_t index)
{
    bool repeated = *signature == '+' || *signature == '*';

    if (repeated) {
        signature++;
        return signature[index % strlen(signature)];
    }
    for (; *signature != '\0'; signature++) {
        if (*signature != '|' && index-- == 0)
            return *signature;
    }
    return '\0';
}

static bool
count_fits(const char *signature, size_t count)
{
    size_t letters = 0;

    if (*signature == '+' || *signature == '*')
        return count % strlen(signature + 1) == 0 && (count > 0 || *signature == '*');
    for (; *signature != '\0'; signature++) {
        if (*signature != '|')
            letters++;
        else if (letters == count)
            return true;
    }
    return letters == count;
}

/* Why the argument is not what the letter says; NULL: it is. */
static const char *
argument_fault(char letter, const petal_filter_argument *argument)
{
    switch (letter) {
    case 's':
    case 'c':
    case 'C':
        return argument->kind == PETAL_FILTER_BYTES ? NULL : "a string is wanted";
    case 'e':
        return argument->kind == PETAL_FILTER_BYTES || argument->kind == PETAL_FILTER_OPEN
                   ? NULL
                   : "a string is wanted";
    case 'b':
        return argument->kind == PETAL_FILTER_BOOLEAN ? NULL : "true or false is wanted";
    case '=':
        return argument->kind == PETAL_FILTER_COMPARE && argument->number >= PETAL_LESS &&
                       argument->number <= PETAL_GREATER
                   ? NULL
                   : "a comparison is wanted";
    default:
        if (argument->kind != PETAL_FILTER_NUMBER)
            return "a number is wanted";
        if (argument->number < 0)
            return "the number must not be negative";
        return letter == 'n' && argument->number > INT32_MAX ? "the number is too large" : NULL;
    }
}

static enum petal_status
check_signature(const char *signature, const petal_filter_argument *arguments, size_t count,
                struct filter_mistake *mistake)
{
    for (size_t i = 0; i < count; i++) {
        char letter = letter_at(signature, i);
        const char *fault =
            letter == '\0' ? "too many arguments" : argument_fault(letter, &arguments[i]);

        if (fault != NULL)
            return refuse_argument(mistake, i, fault);
    }
    return count_fits(signature, count) ? PETAL_OK : refuse(mistake, "too few arguments");
}

/* ---- what many have: strings, comparison, comparator ---- */

static struct filter_room
room_of(const struct filter_name *name, const petal_filter_argument *arguments, size_t count)
{
    struct filter_room room = {0};

    for (size_t i = 0; i < count; i++) {
        char letter = letter_at(name->signature, i);

        if (letter == 's' || letter == 'e') {
            room.strings++;
            room.string_bytes += arguments[i].bytes.size;
        }
    }
    if (name->kind == FILTER_KIND_MULTI_ROW_RANGE) {
        room.ranges = count / 4;
        room.strings = 0;
    }
    if (name->kind == FILTER_KIND_TIMESTAMPS)
        room.timestamps = count;
    return room;
}

static enum petal_status
fill_common(petal_filter *filter, const char *signature, const petal_filter_argument *arguments,
            size_t count, struct filter_mistake *mistake)
{
    for (size_t i = 0; i < count; i++) {
        char letter = letter_at(signature, i);
        enum petal_status status = PETAL_OK;

        if ((letter == 's' || letter == 'e') && filter->kind != FILTER_KIND_MULTI_ROW_RANGE)
            filter_add_string(filter, arguments[i].bytes);
        else if (letter == '=')
            filter->compare = (enum petal_compare)arguments[i].number;
        else if (letter == 'c' || letter == 'C')
            status = comparator_init(&filter->comparator, filter->allocator, arguments[i].bytes,
                                     mistake->reason);
        if (status != PETAL_OK) {
            mistake->has_argument = true; /* comparator_init has told the reason */
            mistake->argument = i;
            return status;
        }
        if (letter == 'c' && comparator_is_unordered(&filter->comparator) &&
            filter->compare != PETAL_EQUAL && filter->compare != PETAL_NOT_EQUAL)
            return refuse_argument(mistake, i - 1,
                                   "regexstring and substring go with = and != only");
    }
    return PETAL_OK;
}

/* ---- filters that fill more ---- */

static int
compare_slices(const void *a, const void *b)
{
    return slice_compare(*(const petal_slice *)a, *(const petal_slice *)b);
}

static enum petal_status
fill_prefixes(petal_filter *filter, struct filter_mistake *mistake)
{
    if (filter->string_count > 0)
        qsort(filter->strings, filter->string_count, sizeof *filter->strings, compare_slices);
    for (size_t i = 1; i < filter->string_count; i++) {
        if (slice_equal(filter->strings[i - 1], filter->strings[i]))
            return refuse(mistake, "prefixes must be distinct");
    }
    return PETAL_OK;
}

static enum petal_status
fill_fuzzy(petal_filter *filter, struct filter_mistake *mistake)
{
    for (size_t i = 0; i < filter->string_count; i += 2) {
        petal_slice mask = filter->strings[i + 1];

        if (filter->strings[i].size != mask.size)
            return refuse_argument(mistake, i + 1, "the mask is not as long as its pattern");
        if (mask.size > filter->longest)
            filter->longest = mask.size;
        for (size_t k = 0; k < mask.size; k++) {
            if (slice_bytes(mask)[k] > 1)
                return refuse_argument(mistake, i + 1, "a mask has bytes 0 and 1 only");
        }
    }
    return PETAL_OK;
}

static int
compare_numbers(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;

    return first < second ? -1 : first > second;
}

static void
fill_timestamps(petal_filter *filter, const petal_filter_argument *arguments, size_t count)
{
    for (size_t i = 0; i < count; i++)
        filter->timestamps[i] = arguments[i].number;
    filter->timestamp_count = count;
    if (count > 0)
        qsort(filter->timestamps, count, sizeof *filter->timestamps, compare_numbers);
}

/* A decimal number such as 0.25; without the C library, whose decimal point depends on the locale. */
static enum petal_status
fill_chance(petal_filter *filter, uint64_t seed, struct filter_mistake *mistake)
{
    const uint8_t *text = slice_bytes(filter->strings[0]);
    size_t size = filter->strings[0].size, digits = 0;
    bool negative = size > 0 && text[0] == '-';
    double value = 0, place = 0;

    for (size_t i = negative ? 1 : 0; i < size; i++) {
        if (text[i] == '.' && place == 0) {
            place = 1;
        } else if (text[i] >= '0' && text[i] <= '9') {
            digits++;
            if (place == 0) {
                value = value * 10 + (text[i] - '0');
            } else {
                place /= 10;
                value += place * (text[i] - '0');
            }
        } else {
            digits = 0;
            break;
        }
    }
    if (digits == 0)
        return refuse_argument(mistake, 0, "the chance is not a decimal number");
    filter->chance = negative ? -value : value;
    filter->seed = seed;
    return PETAL_OK;
}

/* ---- ranges of rows ---- */

/* The lower start first; of equal ones that which takes its row in. */
static int
compare_starts(const void *a, const void *b)
{
    const struct row_range *first = a, *second = b;
    int order = slice_compare(first->start, second->start);

    return order != 0 ? order : second->start_inclusive - first->start_inclusive;
}

/* Does `next`, which does not start before `range`, overlap it or touch it? */
static bool
joins(const struct row_range *range, const struct row_range *next)
{
    int order = slice_compare(next->start, range->stop);

    return range->stop.size == 0 || order < 0 ||
           (order == 0 && (range->stop_inclusive || next->start_inclusive));
}

static void
extend(struct row_range *range, const struct row_range *next)
{
    int order = slice_compare(next->stop, range->stop);

    if (range->stop.size == 0)
        return;
    if (next->stop.size == 0 || order > 0) {
        range->stop = next->stop;
        range->stop_inclusive = next->stop_inclusive;
    } else if (order == 0) {
        range->stop_inclusive |= next->stop_inclusive;
    }
}

/*
 * The union of the ranges, as disjoint ones in order. HBase merges them as well, but forgets that of two equal starts one may
 * take its row in.
 */
static enum petal_status
fill_ranges(petal_filter *filter, const petal_filter_argument *arguments, size_t count,
            struct filter_mistake *mistake)
{
    struct row_range *ranges = filter->ranges;
    size_t used = 0, merged = 0;

    for (size_t i = 0; i < count; i += 4) {
        struct row_range range = {filter_copy(filter, arguments[i].bytes),
                                  filter_copy(filter, arguments[i + 2].bytes),
                                  arguments[i + 1].number != 0, arguments[i + 3].number != 0};
        int order = slice_compare(range.start, range.stop);

        range.start_inclusive |= range.start.size == 0;
        if (range.stop.size > 0 && (order > 0 || (order == 0 && !range.stop_inclusive)))
            return refuse_argument(mistake, i, "the range ends before it begins");
        /* One row that is left out: nothing. */
        if (range.stop.size == 0 || order < 0 || range.start_inclusive)
            ranges[used++] = range;
    }
    if (used > 0)
        qsort(ranges, used, sizeof *ranges, compare_starts);
    for (size_t i = 0; i < used; i++) {
        if (merged > 0 && joins(&ranges[merged - 1], &ranges[i]))
            extend(&ranges[merged - 1], &ranges[i]);
        else
            ranges[merged++] = ranges[i];
    }
    filter->range_count = merged;
    return PETAL_OK;
}

/* ---- one filter ---- */

/* An empty string is an open end, too. */
static void
fill_column_range(petal_filter *filter, const petal_filter_argument *arguments)
{
    filter->has_min = arguments[0].bytes.size > 0;
    filter->min_inclusive = arguments[1].number != 0;
    filter->has_max = arguments[2].bytes.size > 0;
    filter->max_inclusive = arguments[3].number != 0;
}

static enum petal_status
fill_own(petal_filter *filter, uint64_t seed, const petal_filter_argument *arguments, size_t count,
         struct filter_mistake *mistake)
{
    switch (filter->kind) {
    case FILTER_KIND_COLUMN_PAGINATION:
        filter->offset = arguments[1].number;
        filter->count = arguments[0].number;
        return PETAL_OK;
    case FILTER_KIND_COLUMN_COUNT_GET:
    case FILTER_KIND_PAGE:
        filter->count = arguments[0].number;
        return PETAL_OK;
    case FILTER_KIND_COLUMN_RANGE:
        fill_column_range(filter, arguments);
        return PETAL_OK;
    case FILTER_KIND_DEPENDENT_COLUMN:
        filter->drop = count > 2 && arguments[2].number != 0;
        return PETAL_OK;
    case FILTER_KIND_KEY_ONLY:
        filter->length_as_value = count > 0 && arguments[0].number != 0;
        return PETAL_OK;
    case FILTER_KIND_SINGLE_COLUMN_VALUE:
    case FILTER_KIND_SINGLE_COLUMN_VALUE_EXCLUDE:
        filter->if_missing = count > 4 && arguments[4].number != 0;
        filter->latest_only = count <= 4 || arguments[5].number != 0;
        return PETAL_OK;
    case FILTER_KIND_FUZZY_ROW:
        return fill_fuzzy(filter, mistake);
    case FILTER_KIND_MULTI_ROW_RANGE:
        return fill_ranges(filter, arguments, count, mistake);
    case FILTER_KIND_MULTIPLE_COLUMN_PREFIX:
        return fill_prefixes(filter, mistake);
    case FILTER_KIND_RANDOM_ROW:
        return fill_chance(filter, seed, mistake);
    case FILTER_KIND_TIMESTAMPS:
        fill_timestamps(filter, arguments, count);
        return PETAL_OK;
    default:
        return PETAL_OK;
    }
}

enum petal_status
filter_make(const petal_allocator *allocator, uint64_t seed, petal_slice name,
            const petal_filter_argument *arguments, size_t count, petal_filter **filter,
            struct filter_mistake *mistake)
{
    const struct filter_name *found = find_name(name);
    struct filter_room room;
    petal_filter *made;
    enum petal_status status;

    *filter = NULL;
    memset(mistake, 0, sizeof *mistake);
    if (found == NULL) {
        mistake->unknown_name = true;
        return refuse(mistake, "unknown name");
    }
    status = check_signature(found->signature, arguments, count, mistake);
    if (status != PETAL_OK)
        return status;
    room = room_of(found, arguments, count);
    made = filter_new(allocator, found->kind, &room);
    if (made == NULL)
        return PETAL_NO_MEMORY;
    made->needs_rows = found->needs_rows;
    made->watches_excluded_rows = found->kind == FILTER_KIND_COLUMN_COUNT_GET;
    status = fill_common(made, found->signature, arguments, count, mistake);
    if (status == PETAL_OK)
        status = fill_own(made, seed, arguments, count, mistake);
    if (status == PETAL_OK)
        *filter = made;
    else
        petal_filter_free(made);
    return status;
}

enum petal_status
petal_filter_make(petal_db *db, const char *name, const petal_filter_argument *arguments,
                  size_t count, petal_filter **filter, petal_error *error)
{
    struct filter_mistake mistake;
    char quoted[160];
    enum petal_status status;

    *filter = NULL;
    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = filter_make(db->env.allocator, env_random(&db->env), slice_from_text(name), arguments,
                         count, filter, &mistake);
    if (status == PETAL_OK)
        return status;
    if (status == PETAL_NO_MEMORY)
        return error_no_memory(error);
    error_quote(slice_from_text(name), quoted, sizeof quoted);
    if (mistake.unknown_name)
        return error_set(error, status, "Filter Name %s not supported", quoted);
    if (!mistake.has_argument)
        return error_set(error, status, "%s: %s", quoted, mistake.reason);
    return error_set(error, status, "%s, argument %zu: %s", quoted, mistake.argument + 1,
                     mistake.reason);
}
