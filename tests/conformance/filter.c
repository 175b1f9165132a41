/* filter.c -- see tests/conformance/filter.h. */
#include "tests/conformance/filter.h"

#include <stdlib.h>
#include <string.h>

#define DEEPEST      100 /* members within members */
#define MOST_MEMBERS 1000

enum petal_compare
compare_of(petal_slice word)
{
    static const char *const operators[] = {"<", "<=", "=", "!=", ">=", ">"};

    for (int i = 0; i < 6; i++) {
        if (slice_is(word, operators[i]))
            return (enum petal_compare)(i + PETAL_LESS);
    }
    return 0;
}

/* ---- parsing ---- */

struct filter_parser {
    struct reader *reader;
    const char *text;
    size_t size, at;
    int depth;
};

static bool
fail(struct filter_parser *parser, const char *what)
{
    return reader_fail(parser->reader, "filterx, byte %zu: %s", parser->at + 1, what);
}

static void
skip_spaces(struct filter_parser *parser)
{
    while (parser->at < parser->size && parser->text[parser->at] == ' ')
        parser->at++;
}

/* Take `c`, spaces in front of it included, if it comes next. */
static bool
take_if(struct filter_parser *parser, char c)
{
    skip_spaces(parser);
    if (parser->at == parser->size || parser->text[parser->at] != c)
        return false;
    parser->at++;
    return true;
}

/* A run of letters, digits, - and the characters of operators. */
static petal_slice
take_run(struct filter_parser *parser)
{
    size_t from;

    skip_spaces(parser);
    from = parser->at;
    while (parser->at < parser->size) {
        char c = parser->text[parser->at];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!letter && (c == 0 || strchr("0123456789-<=!>", c) == NULL))
            break;
        parser->at++;
    }
    return (petal_slice){parser->text + from, parser->at - from};
}

/* After the opening quote. */
static bool
take_quoted(struct filter_parser *parser, petal_slice *bytes)
{
    char *copy = arena_allocate(parser->reader->arena, parser->size - parser->at + 1);
    size_t length = 0;

    for (; parser->at < parser->size; parser->at++) {
        char c = parser->text[parser->at];

        if (c == '\'') {
            parser->at++;
            if (parser->at == parser->size || parser->text[parser->at] != '\'') {
                *bytes = (petal_slice){copy, length};
                return true;
            }
        }
        copy[length++] = c;
    }
    return fail(parser, "a string is not closed");
}

static bool
read_argument(struct filter_parser *parser, petal_filter_argument *argument)
{
    petal_slice run;

    *argument = (petal_filter_argument){.kind = PETAL_FILTER_BYTES};
    if (take_if(parser, '\''))
        return take_quoted(parser, &argument->bytes);
    run = take_run(parser);
    if (slice_is(run, "null")) {
        argument->kind = PETAL_FILTER_OPEN;
    } else if (slice_is(run, "true") || slice_is(run, "false")) {
        argument->kind = PETAL_FILTER_BOOLEAN;
        argument->number = slice_is(run, "true");
    } else if (compare_of(run) != 0) {
        argument->kind = PETAL_FILTER_COMPARE;
        argument->number = compare_of(run);
    } else if (slice_number(run, &argument->number)) {
        argument->kind = PETAL_FILTER_NUMBER;
    } else {
        return fail(parser, "there should be a string, number, true, false, null or operator");
    }
    return true;
}

/* After the opening parenthesis. */
static bool
read_arguments(struct filter_parser *parser, struct filter_expression *expression)
{
    if (take_if(parser, ')'))
        return true;
    do {
        expression->arguments =
            arena_grow(parser->reader->arena, expression->arguments, expression->argument_count,
                       sizeof *expression->arguments);
        if (!read_argument(parser, &expression->arguments[expression->argument_count++]))
            return false;
    } while (take_if(parser, ','));
    return take_if(parser, ')') || fail(parser, "there should be , or )");
}

static bool read_expression(struct filter_parser *parser, struct filter_expression **expression);

static bool
read_members(struct filter_parser *parser, struct filter_expression *expression)
{
    bool single =
        expression->operation == PETAL_FILTER_SKIP || expression->operation == PETAL_FILTER_WHILE;

    do {
        expression->members = arena_grow(parser->reader->arena, expression->members,
                                         expression->member_count, sizeof *expression->members);
        if (!read_expression(parser, &expression->members[expression->member_count]))
            return false;
        if (++expression->member_count > (single ? 1 : MOST_MEMBERS))
            return fail(parser, single ? "skip and while have one member" : "too many members");
    } while (take_if(parser, ','));
    return take_if(parser, ')') || fail(parser, "there should be , or )");
}

static bool
read_expression(struct filter_parser *parser, struct filter_expression **expression)
{
    static const struct {
        const char *name;
        enum petal_filter_operation operation;
    } combinations[] = {{"and", PETAL_FILTER_AND},
                        {"or", PETAL_FILTER_OR},
                        {"skip", PETAL_FILTER_SKIP},
                        {"while", PETAL_FILTER_WHILE}};
    struct filter_expression *made = arena_allocate(parser->reader->arena, sizeof *made);
    petal_slice name = take_run(parser);
    bool fine;

    *expression = made;
    if (name.size == 0)
        return fail(parser, "there should be and, or, skip, while or the name of a filter");
    if (!take_if(parser, '('))
        return fail(parser, "there should be (");
    for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++) {
        if (slice_is(name, combinations[i].name))
            made->operation = combinations[i].operation;
    }
    if (made->operation == 0) {
        made->name = arena_copy(parser->reader->arena, name).data; /* a zero byte follows */
        return read_arguments(parser, made);
    }
    if (++parser->depth > DEEPEST)
        return fail(parser, "too many levels of combinations");
    fine = read_members(parser, made);
    parser->depth--;
    return fine;
}

bool
filter_expression_read(struct reader *reader, petal_slice text,
                       const struct filter_expression **expression)
{
    struct filter_parser parser = {.reader = reader, .text = text.data, .size = text.size};
    struct filter_expression *made;

    if (!read_expression(&parser, &made))
        return false;
    skip_spaces(&parser);
    if (parser.at < parser.size)
        return fail(&parser, "something stands behind the end");
    *expression = made;
    return true;
}

/* ---- making ---- */

static enum petal_status
make_expression(petal_db *db, const struct filter_expression *expression, petal_filter **made,
                petal_error *error)
{
    petal_filter **members;
    enum petal_status status = PETAL_OK;

    *made = NULL;
    if (expression->name != NULL)
        return petal_filter_make(db, expression->name, expression->arguments,
                                 expression->argument_count, made, error);
    members = calloc(expression->member_count, sizeof *members);
    if (members == NULL)
        return PETAL_NO_MEMORY;
    for (size_t i = 0; status == PETAL_OK && i < expression->member_count; i++)
        status = make_expression(db, expression->members[i], &members[i], error);
    if (status == PETAL_OK)
        status = petal_filter_combine(db, expression->operation, members, expression->member_count,
                                      made, error);
    for (size_t i = 0; i < expression->member_count; i++)
        petal_filter_free(members[i]);
    free(members);
    return status;
}

enum petal_status
recorded_filter_make(petal_db *db, const struct recorded_filter *filter, petal_filter **made,
                     petal_error *error)
{
    *made = NULL;
    if (!filter->given)
        return PETAL_OK;
    if (filter->expression != NULL)
        return make_expression(db, filter->expression, made, error);
    return petal_filter_parse(db, filter->text, made, error);
}
