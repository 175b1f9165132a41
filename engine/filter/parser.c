/*
 * parser.c -- HBase's filter language (petal_filter_parse).
 *
 *     expression := conjunction (OR conjunction)*
 *     conjunction := wrapped (AND wrapped)*
 *     wrapped    := SKIP wrapped | WHILE wrapped | '(' expression ')' | Name (argument, ...)
 *
 * Operators are upper case; AND and OR follow a blank or ')', all precede a blank or '('.
 * Members of one chain form one list. A parenthesis that is never closed is closed at the end, as
 * in HBase. Blanks between filters are spaces and tabs, between arguments spaces. HBase's own
 * parser fails on some valid texts (an operator, then a parenthesis with OR and then AND); this one
 * goes by precedence.
 */
#include "base/argument.h"
#include "base/slice.h"
#include "engine/filter/filter_spec.h"
#include "engine/state/db.h"

#include <assert.h>
#include <stdio.h>

struct parser {
    petal_db *db;
    const uint8_t *text, *at, *limit;
    unsigned depth;
    petal_error *error;
    /* Of the filter at hand; kept for the next. */
    petal_filter_argument *arguments;
    size_t *offsets; /* of each argument */
    size_t argument_count, argument_capacity, offset_capacity;
    /* Strings without their quotes; the arguments of the current filter point into it. */
    uint8_t *unescaped;
    size_t unescaped_size;
};

/* A growing list of filters, each with a reference. */
struct filters {
    petal_filter **items;
    size_t count, capacity;
};

static enum petal_status parse_expression(struct parser *parser, petal_filter **filter);

/* ---- mistakes ---- */

static enum petal_status
refuse(struct parser *parser, const uint8_t *at, const char *text)
{
    size_t offset = (size_t)(at - parser->text);

    error_set(parser->error, PETAL_INVALID, "%s at byte %zu", text, offset);
    if (parser->error != NULL)
        parser->error->offset = offset;
    return PETAL_INVALID;
}

/* About the whole of one filter: its own text is told. */
static enum petal_status
refuse_filter(struct parser *parser, petal_slice filter, const uint8_t *at, const char *reason)
{
    char quoted[120], text[320];

    snprintf(text, sizeof text, "Incorrect filter string %s: %s",
             error_quote(filter, quoted, sizeof quoted), reason);
    return refuse(parser, at, text);
}

/* ---- blanks and operators ---- */

static void
skip_blanks(struct parser *parser)
{
    while (parser->at < parser->limit && (*parser->at == ' ' || *parser->at == '\t'))
        parser->at++;
}

/* Is the operator here, with what has to precede and follow it? */
static bool
at_operator(const struct parser *parser, const char *name, bool first_may_be)
{
    size_t size = strlen(name);
    const uint8_t *at = parser->at;
    uint8_t before = at > parser->text ? at[-1] : 0;

    if ((size_t)(parser->limit - at) <= size || memcmp(at, name, size) != 0)
        return false;
    if (at[size] != ' ' && at[size] != '(')
        return false;
    return before == ' ' || before == ')' ||
           (first_may_be && (at == parser->text || before == '('));
}

static bool
accept_operator(struct parser *parser, const char *name, bool first_may_be)
{
    if (!at_operator(parser, name, first_may_be))
        return false;
    parser->at += strlen(name);
    skip_blanks(parser);
    return true;
}

/* ---- arguments ---- */

static enum petal_status
add_argument(struct parser *parser, const petal_filter_argument *argument, const uint8_t *at)
{
    const petal_allocator *allocator = parser->db->env.allocator;
    void *arguments = parser->arguments, *offsets = parser->offsets;
    size_t count = parser->argument_count;

    if (!mem_grow(allocator, &arguments, &parser->argument_capacity, count, count + 1,
                  sizeof *parser->arguments))
        return error_no_memory(parser->error);
    parser->arguments = arguments;
    if (!mem_grow(allocator, &offsets, &parser->offset_capacity, count, count + 1,
                  sizeof *parser->offsets))
        return error_no_memory(parser->error);
    parser->offsets = offsets;
    parser->arguments[count] = *argument;
    parser->offsets[count] = (size_t)(at - parser->text);
    parser->argument_count++;
    return PETAL_OK;
}

/* A quoted string, in which two quotes are one. REQUIRES: the closing quote is before `limit`. */
static petal_slice
take_string(struct parser *parser, const uint8_t *limit)
{
    uint8_t *to = parser->unescaped + parser->unescaped_size;
    size_t size = 0;

    assert(parser->at < limit && *parser->at == '\'');
    for (parser->at++; parser->at < limit; parser->at++) {
        if (*parser->at == '\'') {
            parser->at++;
            if (parser->at == limit || *parser->at != '\'')
                break;
        }
        to[size++] = *parser->at;
    }
    parser->unescaped_size += size;
    assert(parser->unescaped_size <= (size_t)(parser->limit - parser->text));
    return slice_make(to, size);
}

static bool
equals_word(petal_slice word, const char *small)
{
    for (size_t i = 0; i < word.size; i++) {
        if (small[i] == '\0' || (slice_bytes(word)[i] | 0x20) != (uint8_t)small[i])
            return false;
    }
    return small[word.size] == '\0';
}

static bool
read_number(petal_slice word, int64_t *number)
{
    const uint8_t *digits = word.data;
    bool negative = word.size > 0 && digits[0] == '-';
    int64_t value = 0;

    for (size_t i = negative ? 1 : 0; i < word.size; i++) {
        int64_t digit = (int64_t)digits[i] - '0';

        if (digit < 0 || digit > 9 || value > (INT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = negative ? -value : value;
    return word.size > (negative ? 1u : 0u);
}

/* A number, true, false or a comparison. */
static bool
read_word(petal_slice word, petal_filter_argument *argument)
{
    static const char *const comparisons[] = {
        [PETAL_LESS] = "<",       [PETAL_LESS_OR_EQUAL] = "<=",    [PETAL_EQUAL] = "=",
        [PETAL_NOT_EQUAL] = "!=", [PETAL_GREATER_OR_EQUAL] = ">=", [PETAL_GREATER] = ">",
    };

    for (int i = PETAL_LESS; i <= PETAL_GREATER; i++) {
        if (slice_equal(slice_from_text(comparisons[i]), word)) {
            *argument = (petal_filter_argument){.kind = PETAL_FILTER_COMPARE, .number = i};
            return true;
        }
    }
    if (equals_word(word, "true") || equals_word(word, "false")) {
        *argument =
            (petal_filter_argument){.kind = PETAL_FILTER_BOOLEAN, .number = word.size == 4 ? 1 : 0};
        return true;
    }
    *argument = (petal_filter_argument){.kind = PETAL_FILTER_NUMBER};
    return read_number(word, &argument->number);
}

static bool
ends_word(uint8_t c)
{
    return c == ' ' || c == ',' || c == ')';
}

/* The arguments of `whole`, a filter with its name, from after the opening parenthesis to the
 * closing one at its end. */
static enum petal_status
parse_arguments(struct parser *parser, petal_slice whole)
{
    const uint8_t *end = slice_bytes(whole) + whole.size - 1;

    assert(parser->at <= end && *end == ')');
    parser->argument_count = 0;
    parser->unescaped_size = 0;
    while (parser->at < end) {
        const uint8_t *from = parser->at;
        petal_filter_argument argument = {.kind = PETAL_FILTER_BYTES};
        enum petal_status status;

        if (*from == ' ' || *from == ',') {
            parser->at++;
            continue;
        }
        if (*from == '\'') {
            argument.bytes = take_string(parser, end);
            if (parser->at < end && !ends_word(*parser->at))
                return refuse_filter(parser, whole, parser->at, "a comma is missing");
        } else {
            while (parser->at < end && !ends_word(*parser->at))
                parser->at++;
            if (!read_word(slice_make(from, (size_t)(parser->at - from)), &argument))
                return refuse_filter(
                    parser, whole, from,
                    "this must be a string in quotes, a number, true, false or a comparison");
        }
        status = add_argument(parser, &argument, from);
        if (status != PETAL_OK)
            return status;
    }
    parser->at = end + 1;
    return PETAL_OK;
}

/* ---- one filter ---- */

/* From here up to and with the first closing parenthesis outside of quotes; NULL: there is none. */
static const uint8_t *
find_end(const struct parser *parser)
{
    bool quoted = false;

    for (const uint8_t *at = parser->at; at < parser->limit; at++) {
        if (*at == '\'' && at + 1 < parser->limit && at[1] == '\'')
            at++;
        else if (*at == '\'')
            quoted = !quoted;
        else if (*at == ')' && !quoted)
            return at + 1;
    }
    return NULL;
}

static enum petal_status
parse_filter(struct parser *parser, petal_filter **filter)
{
    const uint8_t *from = parser->at, *end = find_end(parser);
    struct filter_mistake mistake;
    petal_slice whole, name;
    const char *known;
    size_t index = 0;
    enum petal_status status;

    if (end == NULL)
        return refuse(parser, from, "Incorrect Filter String");
    while (parser->at < end && *parser->at != '(' && *parser->at != ' ')
        parser->at++;
    whole = slice_make(from, (size_t)(end - from));
    name = slice_make(from, (size_t)(parser->at - from));
    while (parser->at < end && *parser->at == ' ')
        parser->at++;
    if (name.size == whole.size)
        return refuse(parser, from, "Incorrect Filter Name");
    while ((known = petal_filter_name(index)) != NULL && !slice_equal(name, slice_from_text(known)))
        index++;
    if (known == NULL) {
        char quoted[120], text[160];

        snprintf(text, sizeof text, "Filter Name %s not supported",
                 error_quote(name, quoted, sizeof quoted));
        return refuse(parser, from, text);
    }
    if (parser->at == end || *parser->at != '(')
        return refuse(parser, parser->at, "Incorrect Filter String");
    parser->at++;
    status = parse_arguments(parser, whole);
    if (status != PETAL_OK)
        return status;
    status = filter_make(parser->db->env.allocator, 0, name, parser->arguments,
                         parser->argument_count, filter, &mistake);
    if (status == PETAL_NO_MEMORY)
        return error_no_memory(parser->error);
    if (status == PETAL_OK && (*filter)->comparator.kind >= COMPARATOR_LONG) {
        petal_filter_free(*filter);
        *filter = NULL;
        return refuse_filter(parser, whole, from,
                             "this comparator cannot be written in the filter language");
    }
    if (status == PETAL_OK)
        return PETAL_OK;
    assert(!mistake.unknown_name);
    if (mistake.has_argument)
        from = parser->text + parser->offsets[mistake.argument];
    return refuse_filter(parser, whole, from, mistake.reason);
}

/* ---- combinations ---- */

static enum petal_status
combine(struct parser *parser, const uint8_t *at, enum petal_filter_operation operation,
        petal_filter *const *members, size_t count, petal_filter **filter)
{
    enum petal_status status =
        filter_combine(parser->db->env.allocator, operation, members, count, filter);

    if (status == PETAL_INVALID)
        return refuse(parser, at, "The filter is nested too deeply or too large");
    return status == PETAL_OK ? PETAL_OK : error_no_memory(parser->error);
}

/* What is wanted at an operator's operand, when the text ends instead. */
static enum petal_status
check_operand(struct parser *parser, const uint8_t *at, const char *reason)
{
    if (parser->at < parser->limit && *parser->at != ')')
        return PETAL_OK;
    return refuse(parser, at, reason);
}

static enum petal_status
parse_parenthesis(struct parser *parser, petal_filter **filter)
{
    enum petal_status status;

    parser->at++;
    status = parse_expression(parser, filter);
    if (status != PETAL_OK)
        return status;
    /* At the end of the text it counts as closed. */
    if (parser->at < parser->limit) {
        parser->at++;
        skip_blanks(parser);
    }
    return PETAL_OK;
}

static enum petal_status
parse_wrapped(struct parser *parser, petal_filter **filter)
{
    const uint8_t *from = parser->at;
    enum petal_filter_operation operation = PETAL_FILTER_SKIP;
    petal_filter *member = NULL;
    enum petal_status status;

    *filter = NULL;
    if (++parser->depth > FILTER_MOST_DEPTH)
        return refuse(parser, from, "The filter is nested too deeply or too large");
    if (accept_operator(parser, "WHILE", true)) {
        operation = PETAL_FILTER_WHILE;
    } else if (!accept_operator(parser, "SKIP", true)) {
        status = parser->at < parser->limit && *parser->at == '('
                     ? parse_parenthesis(parser, filter)
                     : parse_filter(parser, filter);
        skip_blanks(parser);
        parser->depth--;
        return status;
    }
    status = check_operand(parser, from,
                           operation == PETAL_FILTER_SKIP
                               ? "Incorrect input string - a SKIP wraps a filter"
                               : "Incorrect input string - a WHILE wraps a filter");
    if (status == PETAL_OK)
        status = parse_wrapped(parser, &member);
    if (status == PETAL_OK)
        status = combine(parser, from, operation, &member, 1, filter);
    petal_filter_free(member);
    parser->depth--;
    return status;
}

/* Operands with one operator between them: AND between wrapped ones, OR between conjunctions. */
static enum petal_status
parse_chain(struct parser *parser, enum petal_filter_operation operation, petal_filter **filter)
{
    bool is_and = operation == PETAL_FILTER_AND;
    struct filters members = {NULL, 0, 0};
    const uint8_t *from = parser->at;
    enum petal_status status;

    *filter = NULL;
    for (;;) {
        const uint8_t *at;
        petal_filter *member;

        status = is_and ? parse_wrapped(parser, &member)
                        : parse_chain(parser, PETAL_FILTER_AND, &member);
        if (status == PETAL_OK) {
            void *items = members.items;

            if (mem_grow(parser->db->env.allocator, &items, &members.capacity, members.count,
                         members.count + 1, sizeof *members.items)) {
                members.items = items;
                members.items[members.count++] = member;
            } else {
                petal_filter_free(member);
                status = error_no_memory(parser->error);
            }
        }
        at = parser->at;
        if (status != PETAL_OK || !accept_operator(parser, is_and ? "AND" : "OR", false))
            break;
        status = check_operand(parser, at,
                               is_and ? "Incorrect input string - an AND needs two filters"
                                      : "Incorrect input string - an OR needs two filters");
        if (status != PETAL_OK)
            break;
    }
    assert(status != PETAL_OK || members.count > 0);
    if (status == PETAL_OK && members.count == 1)
        filter_ref(*filter = members.items[0]);
    else if (status == PETAL_OK)
        status = combine(parser, from, operation, members.items, members.count, filter);
    for (size_t i = 0; i < members.count; i++)
        petal_filter_free(members.items[i]);
    mem_free(parser->db->env.allocator, members.items, members.capacity * sizeof *members.items);
    return status;
}

/* Up to a closing parenthesis or the end. */
static enum petal_status
parse_expression(struct parser *parser, petal_filter **filter)
{
    enum petal_status status;

    *filter = NULL;
    skip_blanks(parser);
    if (parser->at == parser->limit || *parser->at == ')')
        return refuse(parser, parser->at, "Incorrect Filter String");
    status = parse_chain(parser, PETAL_FILTER_OR, filter);
    if (status == PETAL_OK && parser->at < parser->limit && *parser->at != ')') {
        const uint8_t *at = parser->at;
        petal_filter *another = NULL;

        petal_filter_free(*filter);
        *filter = NULL;
        /* Two filters without an operator, if it is one; else what is wrong with it. */
        status = parse_wrapped(parser, &another);
        petal_filter_free(another);
        if (status == PETAL_OK)
            status = refuse(parser, at, "Incorrect Filter String");
    }
    return status;
}

enum petal_status
petal_filter_parse(petal_db *db, petal_slice text, petal_filter **filter, petal_error *error)
{
    RETURN_IF_NULL(filter, error);
    *filter = NULL;
    RETURN_IF_NULL(db, error);
    RETURN_IF_NO_BYTES(text, error);

    const petal_allocator *allocator = db->env.allocator;
    const uint8_t *start = text.size > 0 ? text.data : (const uint8_t *)"";
    struct parser parser = {
        .db = db, .text = start, .at = start, .limit = start + text.size, .error = error};
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    if (text.size == 0)
        return refuse(&parser, start, "Incorrect Filter String");
    parser.unescaped = mem_alloc(allocator, text.size);
    if (parser.unescaped == NULL)
        return error_no_memory(error);
    status = *start == ')' ? PETAL_OK : parse_expression(&parser, filter);
    if (status == PETAL_OK && parser.at < parser.limit) {
        status = refuse(&parser, parser.at, "Mismatched parenthesis");
        petal_filter_free(*filter);
        *filter = NULL;
    }
    mem_free(allocator, parser.arguments, parser.argument_capacity * sizeof *parser.arguments);
    mem_free(allocator, parser.offsets, parser.offset_capacity * sizeof *parser.offsets);
    mem_free(allocator, parser.unescaped, text.size);
    return status;
}
