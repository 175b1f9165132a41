/*
 * make.c -- one filter from its name and arguments, and combinations of filters. What a filter
 * takes is written as a signature, a letter for each argument; what many filters have is checked
 * and filled here, the rest by each kind's `fill`:
 *
 *     s string          e string or open end     b boolean
 *     n count, 32 bits  N count, 64 bits
 *     = comparison      c comparator             C comparator, any comparison with it
 *     | what follows may be left out
 *     + in the first place: once or more often   * in the first place: any number of times
 */
#include "engine/filter/node.h"

#include "base/argument.h"
#include "engine/state/db.h"

static const struct filter_kind *const kinds[] = {
    /* In alphabetic order. */
    &column_count_get_filter,
    &column_pagination_filter,
    &column_prefix_filter,
    &column_range_filter,
    &column_value_filter,
    &dependent_column_filter,
    &family_filter,
    &first_key_only_filter,
    &fuzzy_row_filter,
    &inclusive_stop_filter,
    &key_only_filter,
    &multi_row_range_filter,
    &multiple_column_prefix_filter,
    &page_filter,
    &prefix_filter,
    &qualifier_filter,
    &random_row_filter,
    &row_filter,
    &single_column_value_exclude_filter,
    &single_column_value_filter,
    &timestamps_filter,
    &value_filter,
};

#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

const char *
petal_filter_name(size_t index)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (kinds[i]->in_language && index-- == 0)
            return kinds[i]->name;
    }
    return NULL;
}

/* ---- the signature ---- */

/* The letter of the i-th argument; '\0' after the last. */
static char
letter_at(const char *signature, size_t index)
{
    bool repeated = *signature == '+' || *signature == '*';

    assert(!repeated || signature[1] != '\0');
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
        return argument->kind == PETAL_FILTER_BYTES ? NULL : "it must be a string";
    case 'e':
        return argument->kind == PETAL_FILTER_BYTES || argument->kind == PETAL_FILTER_OPEN
                   ? NULL
                   : "it must be a string";
    case 'b':
        return argument->kind == PETAL_FILTER_BOOLEAN ? NULL : "it must be true or false";
    case '=':
        return argument->kind == PETAL_FILTER_COMPARE && argument->number >= PETAL_LESS &&
                       argument->number <= PETAL_GREATER
                   ? NULL
                   : "it must be a comparison, =, !=, <, <=, > or >=";
    default:
        if (argument->kind != PETAL_FILTER_NUMBER)
            return "it must be a number";
        if (argument->number < 0)
            return "the number must not be negative";
        return letter == 'n' && argument->number > INT32_MAX
                   ? "the number must be at most 2147483647"
                   : NULL;
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
            return filter_refuse_argument(mistake, i, fault);
    }
    return count_fits(signature, count) ? PETAL_OK : filter_refuse(mistake, "too few arguments");
}

/* ---- what many have: strings, a count and then an offset, comparison, comparator ---- */

static struct filter_room
room_of(const struct filter_kind *kind, const petal_filter_argument *arguments, size_t count)
{
    struct filter_room room = {0};

    for (size_t i = 0; i < count; i++) {
        char letter = letter_at(kind->signature, i);

        if (letter == 's' || letter == 'e') {
            room.strings++;
            room.string_bytes += arguments[i].bytes.size;
        }
    }
    if (kind == &multi_row_range_filter) {
        room.ranges = count / 4;
        room.strings = 0;
    }
    if (kind == &timestamps_filter)
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

        if ((letter == 's' || letter == 'e') && filter->kind != &multi_row_range_filter)
            filter_add_string(filter, arguments[i].bytes);
        else if ((letter == 'n' || letter == 'N') && *signature != '*')
            *(i == 0 ? &filter->count : &filter->offset) = arguments[i].number;
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
            return filter_refuse_argument(mistake, i - 1,
                                          "regexstring and substring go with = and != only");
    }
    return PETAL_OK;
}

/* ---- one filter ---- */

enum petal_status
filter_make(const petal_allocator *allocator, uint64_t seed, petal_slice name,
            const petal_filter_argument *arguments, size_t count, petal_filter **filter,
            struct filter_mistake *mistake)
{
    const struct filter_kind *found = NULL;
    struct filter_room room;
    petal_filter *made;
    enum petal_status status;

    *filter = NULL;
    memset(mistake, 0, sizeof *mistake);
    for (size_t i = 0; found == NULL && i < KIND_COUNT; i++) {
        if (slice_equal(slice_from_text(kinds[i]->name), name))
            found = kinds[i];
    }
    if (found == NULL) {
        mistake->unknown_name = true;
        return filter_refuse(mistake, "unknown name");
    }
    status = check_signature(found->signature, arguments, count, mistake);
    if (status != PETAL_OK)
        return status;
    assert(found->signature != NULL);
    room = room_of(found, arguments, count);
    made = filter_new(allocator, found, &room);
    if (made == NULL)
        return PETAL_NO_MEMORY;
    made->seed = seed;
    status = fill_common(made, found->signature, arguments, count, mistake);
    if (status == PETAL_OK && found->fill != NULL)
        status = found->fill(made, arguments, count, mistake);
    assert(status != PETAL_OK || made->free_bytes == (char *)made + made->size);
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
    RETURN_IF_NULL(filter, error);
    *filter = NULL;
    RETURN_IF_NULL(db, error);
    RETURN_IF_NULL(name, error);
    RETURN_IF_NO_ARRAY(arguments, count, error);

    struct filter_mistake mistake;
    char quoted[160];
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    for (size_t i = 0; i < count; i++) {
        if (slice_lacks_bytes(arguments[i].bytes))
            return error_set(error, PETAL_INVALID,
                             "the bytes of argument %zu have a size of %zu, but their data is NULL",
                             i + 1, arguments[i].bytes.size);
    }
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

/* ---- combining ---- */

enum petal_status
filter_combine(const petal_allocator *allocator, enum petal_filter_operation operation,
               petal_filter *const *members, size_t count, petal_filter **filter)
{
    uint64_t filter_count = 1;
    unsigned depth = 0;
    petal_filter *made;

    assert(operation >= PETAL_FILTER_AND && operation <= PETAL_FILTER_WHILE);
    assert(count == 1 || operation == PETAL_FILTER_AND || operation == PETAL_FILTER_OR);
    *filter = NULL;
    for (size_t i = 0; i < count && filter_count <= FILTER_MOST_FILTERS; i++) {
        filter_count += members[i]->filter_count;
        if (members[i]->depth > depth)
            depth = members[i]->depth;
    }
    if (filter_count > FILTER_MOST_FILTERS || depth >= FILTER_MOST_DEPTH)
        return PETAL_INVALID;
    made = filter_new(allocator, filter_list_kinds[operation],
                      &(struct filter_room){.members = count});
    if (made == NULL)
        return PETAL_NO_MEMORY;
    made->depth = depth + 1;
    made->filter_count = (uint32_t)filter_count;
    made->member_count = count;
    for (size_t i = 0; i < count; i++) {
        filter_ref(members[i]);
        made->members[i] = members[i];
        made->needs_rows |= members[i]->needs_rows;
        made->watches_excluded_rows |= members[i]->watches_excluded_rows;
        made->keeps_cells |= members[i]->keeps_cells;
    }
    *filter = made;
    return PETAL_OK;
}

enum petal_status
petal_filter_combine(petal_db *db, enum petal_filter_operation operation,
                     petal_filter *const *members, size_t count, petal_filter **filter,
                     petal_error *error)
{
    RETURN_IF_NULL(filter, error);
    *filter = NULL;
    RETURN_IF_NULL(db, error);
    RETURN_IF_NO_ARRAY(members, count, error);

    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    if (operation < PETAL_FILTER_AND || operation > PETAL_FILTER_WHILE)
        return error_set(error, PETAL_INVALID, "no such way to combine filters: %d",
                         (int)operation);
    if ((operation == PETAL_FILTER_SKIP || operation == PETAL_FILTER_WHILE) && count != 1)
        return error_set(error, PETAL_INVALID, "%s wraps one filter, not %zu",
                         operation == PETAL_FILTER_SKIP ? "SKIP" : "WHILE", count);
    for (size_t i = 0; i < count; i++) {
        if (members[i] == NULL)
            return error_set(error, PETAL_INVALID, "members[%zu] is NULL", i);
    }
    status = filter_combine(db->env.allocator, operation, members, count, filter);
    if (status == PETAL_INVALID)
        return error_set(error, status,
                         "the filter is nested more than %d deep or holds more "
                         "than %u filters",
                         FILTER_MOST_DEPTH, FILTER_MOST_FILTERS);
    return status == PETAL_OK ? PETAL_OK : error_no_memory(error);
}
