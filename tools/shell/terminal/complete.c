/* complete.c -- which words fit where the line stops.  See tools/shell/terminal/complete.h. */
#include "tools/shell/terminal/complete.h"

#include "tools/shell/ruby/ruby.h"

#include <stdlib.h>
#include <string.h>

/* The statement at hand, as far as it is typed. */
struct context {
    const char *line;
    size_t size;
    petal_slice command;  /* empty while it is being typed */
    petal_slice table;    /* the first argument */
    petal_slice key;      /* after it stands => */
    petal_slice variable; /* before a dot: it may hold the table */
    size_t argument;      /* commas after the command, outside brackets */
    int braces, brackets;
    bool behind_arrow;
    char quote;    /* that is open, 0 if none is */
    size_t begin;  /* of the word or, after its quote, the string at the end */
    bool has_word; /* the line ends in a name */
    bool is_comment;
};

static bool
is_name_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_' || letter == '?' || letter == '!';
}

static void
begin_statement(struct context *context)
{
    context->command = context->table = context->key = context->variable = (petal_slice){"", 0};
    context->argument = 0;
    context->braces = context->brackets = 0;
    context->behind_arrow = false;
}

/* Does another command follow? */
static bool
takes_command(petal_slice command)
{
    return slice_is(command, "explain") || slice_is(command, "time");
}

/* A name ends: the first one of a statement is its command. */
static void
take_name(struct context *context, petal_slice name)
{
    if (context->command.size == 0 || takes_command(context->command))
        context->command = name;
    else if (!context->behind_arrow)
        context->key = name;
}

static void
take_sign(struct context *context, size_t at)
{
    char letter = context->line[at], next = at + 1 < context->size ? context->line[at + 1] : '\0';
    petal_slice variable = context->command;

    switch (letter) {
    case ';':
    case '\n':
    case '|':
        if (letter != '\n' || (context->braces == 0 && context->argument == 0))
            begin_statement(context);
        break;
    case '=':
        if (next == '>')
            context->behind_arrow = true;
        else if (context->braces == 0 && context->argument == 0)
            begin_statement(context);
        break;
    case '.': /* a variable holds the table */
        begin_statement(context);
        context->variable = variable;
        context->argument = 1;
        break;
    case '{':
        context->braces++;
        context->behind_arrow = false;
        break;
    case '}':
        context->braces--;
        break;
    case '[':
        context->brackets++;
        break;
    case ']':
        context->brackets--;
        break;
    case ',':
        if (context->brackets > 0)
            break;
        context->behind_arrow = false;
        context->argument += context->braces == 0;
        break;
    default:
        break;
    }
}

/* Read a string from after its quote at `at`; the index of the closing one, or the size. */
static size_t
skip_string(struct context *context, size_t at)
{
    char quote = context->line[at];

    context->quote = quote;
    context->begin = ++at;
    while (at < context->size && context->line[at] != quote)
        at += context->line[at] == '\\' ? 2 : 1;
    if (at >= context->size)
        return context->size;
    context->quote = '\0';
    if (context->argument == 0 && context->braces == 0)
        context->table = ((petal_slice){context->line + context->begin, at - context->begin});
    return at;
}

static void
read_context(struct context *context, petal_slice line)
{
    *context = (struct context){.line = line.data, .size = line.size};
    begin_statement(context);
    for (size_t at = 0; at < line.size; at++) {
        char letter = context->line[at];

        if (letter == '#') {
            const char *end = memchr(context->line + at, '\n', line.size - at);

            context->is_comment = end == NULL;
            at = end != NULL ? (size_t)(end - context->line) - 1 : line.size;
        } else if (letter == '\'' || letter == '"') {
            at = skip_string(context, at);
        } else if (is_name_letter(letter)) {
            size_t begin = at;

            while (at < line.size && is_name_letter(context->line[at]))
                at++;
            context->has_word = at == line.size;
            context->begin = begin;
            if (!context->has_word)
                take_name(context, (petal_slice){context->line + begin, at - begin});
            at--;
        } else {
            take_sign(context, at);
        }
    }
    if (context->quote == '\0' && !context->has_word)
        context->begin = line.size;
}

static void
add_list(struct completion *completion, const struct typed *typed, const char *const *list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++)
        completion_add(completion, typed, slice_of_string(list[i]));
}

/* Inside a filter's text its names: what is typed of one is after the last sign. */
static void
complete_filter(struct session *session, const struct context *context, struct typed *typed,
                struct completion *completion)
{
    const char *letters = typed->word.data;
    size_t size = 0;

    while (size < typed->word.size && is_name_letter(letters[typed->word.size - 1 - size]))
        size++;
    completion->begin += typed->word.size - size;
    typed->word = (petal_slice){letters + typed->word.size - size, size};
    typed->behind = "(";
    if (size > 0)
        completion_add_kind(session, completion, typed, WORD_FILTER, context->table);
}

/* After KEY =>: its values, in quotes but for true and false. */
static void
complete_value(struct session *session, const struct context *context, struct typed *typed,
               struct completion *completion)
{
    const char *const *values = completion_values(context->key);
    bool names_column = slice_is(context->key, "COLUMN") || slice_is(context->key, "COLUMNS");
    bool words = values != NULL && (values[0][0] == 't' && strcmp(values[0], "true") == 0);

    if (slice_is(context->key, "FILTER") && context->quote != '\0')
        complete_filter(session, context, typed, completion);
    if (words && context->quote == '\0') {
        typed->before = typed->behind = "";
        add_list(completion, typed, values);
    } else if (!words && (context->quote != '\0' || !context->has_word)) {
        add_list(completion, typed, values);
    }
    if ((names_column || slice_is(context->key, "NAME")) &&
        (context->quote != '\0' || !context->has_word)) {
        if (names_column)
            typed->behind = "";
        completion_add_kind(session, completion, typed, names_column ? WORD_COLUMN : WORD_FAMILY,
                            context->table);
    }
}

/* An argument of the command, or a key of its hash. */
static void
complete_argument(struct session *session, const struct context *context, struct typed *typed,
                  struct completion *completion)
{
    enum word_kind kind = completion_argument(session, context->command, context->argument);

    if (takes_command(context->command)) {
        typed->before = "";
        typed->behind = " ";
        if (context->quote == '\0' && slice_is(context->command, "explain"))
            add_list(completion, typed, (const char *const[]){"get", "scan", NULL});
        else if (context->quote == '\0')
            completion_add_kind(session, completion, typed, WORD_COMMAND, context->table);
        return;
    }
    if (context->braces == 0 && (context->quote != '\0' || !context->has_word)) {
        if (kind == WORD_COLUMN)
            typed->behind = "";
        completion_add_kind(session, completion, typed, kind, context->table);
    }
    if (context->quote == '\0' && (context->braces > 0 || context->argument > 0)) {
        typed->before = "";
        typed->behind = " => ";
        if (context->has_word || context->braces > 0 || kind == WORD_NONE)
            add_list(completion, typed, completion_keys(context->command));
    }
}

/* A variable before the command may hold its table. */
static void
find_table(struct session *session, struct context *context)
{
    petal_slice table;

    if (context->variable.size > 0 && ruby_table_of(session, context->variable, &table))
        context->table = table;
}

void
complete_line(struct session *session, petal_slice line, struct completion *completion)
{
    struct context context;
    struct typed typed;
    enum word_kind kind;

    *completion = (struct completion){.words = NULL};
    read_context(&context, line);
    find_table(session, &context);
    kind = context.variable.size > 0 ? WORD_METHOD : WORD_COMMAND;
    completion->begin = context.begin;
    typed = (struct typed){.word = {context.line + context.begin, line.size - context.begin},
                           .before = context.quote == '\0' ? "'" : "",
                           .behind = context.quote == '"' ? "\"" : "'"};
    if (context.is_comment)
        return;
    if (context.command.size > 0 && context.behind_arrow) {
        complete_value(session, &context, &typed, completion);
    } else if (context.command.size > 0) {
        complete_argument(session, &context, &typed, completion);
    } else if (context.quote == '\0') {
        typed.before = "";
        typed.behind = " ";
        if (typed.word.size > 0 || kind == WORD_METHOD)
            completion_add_kind(session, completion, &typed, kind, context.table);
    }
}

void
completion_free(struct completion *completion)
{
    for (size_t i = 0; i < completion->count; i++)
        text_free(&completion->words[i].text);
    free(completion->words);
    *completion = (struct completion){.words = NULL};
}

size_t
completion_common(const struct completion *completion)
{
    size_t common = completion->count > 0 ? completion->words[0].text.size : 0;

    for (size_t i = 1; i < completion->count; i++) {
        const struct text *text = &completion->words[i].text;
        size_t same = 0;

        while (same < common && same < text->size &&
               text->bytes[same] == completion->words[0].text.bytes[same])
            same++;
        common = same;
    }
    return common;
}
