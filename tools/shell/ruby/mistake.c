/*
 * mistake.c -- shows a syntax error, or an exception that nothing has rescued, with its line and a
 * caret under the place.  See tools/shell/ruby/state.h.
 *
 * mruby knows only the line of an exception.  The caret stands under the name that the exception,
 * or the method that raised it, has in that line.
 */
#include "tools/shell/ruby/state.h"
#include "tools/shell/session/near.h"
#include "tools/shell/session/run.h"

#include <mruby/array.h>
#include <mruby/class.h>
#include <mruby/error.h>
#include <mruby/string.h>
#include <mruby/variable.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool
is_name_letter(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_' || (letter & 0x80) != 0;
}

/* The line of that number, from 1, with its offset in the input. */
static petal_slice
line_of(petal_slice input, int number, size_t *begin)
{
    const char *letters = input.data, *end;

    *begin = 0;
    while (number-- > 1 && (end = memchr(letters + *begin, '\n', input.size - *begin)) != NULL)
        *begin = (size_t)(end + 1 - letters);
    end = memchr(letters + *begin, '\n', input.size - *begin);
    return (petal_slice){letters + *begin,
                         (end != NULL ? (size_t)(end - letters) : input.size) - *begin};
}

static petal_slice
first_word(petal_slice line)
{
    const char *letters = line.data;
    size_t begin = 0, end;

    while (begin < line.size && (letters[begin] == ' ' || letters[begin] == '\t'))
        begin++;
    for (end = begin; end < line.size && is_name_letter(letters[end]);)
        end++;
    return (petal_slice){letters + begin, end - begin};
}

/* Where the line has the name as a whole word; SIZE_MAX: nowhere. */
static size_t
find_name(petal_slice line, petal_slice name)
{
    const char *letters = line.data;
    bool word = name.size > 0 && is_name_letter(*(const char *)name.data);

    if (slice_is(name, "[]") || slice_is(name, "[]="))
        name.size = 1; /* what stands between is not in the name */
    for (size_t at = 0; name.size > 0 && at + name.size <= line.size; at++)
        if (memcmp(letters + at, name.data, name.size) == 0 &&
            !(word && at > 0 && is_name_letter(letters[at - 1])) &&
            !(word && at + name.size < line.size && is_name_letter(letters[at + name.size])))
            return at;
    return SIZE_MAX;
}

petal_slice
ruby_line_with(petal_slice input, int number, petal_slice name, size_t *begin)
{
    for (int above = number; above > 0; above--) {
        petal_slice line = line_of(input, above, begin);

        if (find_name(line, name) != SIZE_MAX)
            return line;
    }
    return line_of(input, number, begin);
}

int
ruby_variable(const struct ruby *ruby, petal_slice name)
{
    for (int i = 0; i < ruby->context->slen; i++) {
        mrb_int size;
        const char *letters = mrb_sym_name_len(ruby->mrb, ruby->context->syms[i], &size);

        if (slices_equal((petal_slice){letters, (size_t)size}, name))
            return i;
    }
    return -1;
}

/* What to type in place of the word of SQL, NULL if it is none or a variable. */
static const char *
sql_of(const struct ruby *ruby, petal_slice word)
{
    return ruby_variable(ruby, word) < 0 ? command_in_place_of(word) : NULL;
}

/* Show a mistake at a position of the line.  Sentences of SQL have another grammar: if the first or
 * second word is one of theirs, say what to type in its place. */
static void
show(struct ruby *ruby, petal_slice line, size_t position, const char *kind, const char *message)
{
    struct place place = {.input = ruby->input, .position = position, .line = ruby->line};
    petal_slice word = first_word(line);
    petal_slice rest = {word.data,
                        line.size - (size_t)((const char *)word.data - (const char *)line.data)};
    const char *instead = sql_of(ruby, word);
    struct text text = {0};

    if (instead == NULL && word.size < rest.size) {
        rest.data = (const char *)rest.data + word.size;
        rest.size -= word.size;
        word = first_word(rest);
        instead = sql_of(ruby, word);
    }
    if (instead != NULL && (strcmp(kind, "SyntaxError") == 0 || strcmp(kind, "NameError") == 0 ||
                            strcmp(kind, "NoMethodError") == 0)) {
        text_add_string(&text, "unknown command '");
        text_add_slice(&text, word);
        text_add_format(&text, "'; %s", instead);
        place.position = (size_t)((const char *)word.data - (const char *)ruby->input.data);
        kind = "NameError";
        message = text_string(&text);
    }
    run_mistake(ruby->session, &place, kind, message);
    text_free(&text);
}

/* ---- Syntax errors --------------------------------------------------------------------------- */

/* What the parser calls its tokens is said in plain words. */
static void
add_parser_message(struct text *text, const char *message)
{
    static const struct {
        const char *token, *words;
    } tokens[] = {{"$end", "end of input"}, {"tSTRING_BEG", "string"}, {"tSTRING", "string"},
                  {"tINTEGER", "number"},   {"tFLOAT", "number"},      {"tLABEL_END", "':'"}};
    static const char before[] = "syntax error, ";

    if (strncmp(message, before, sizeof(before) - 1) == 0)
        message += sizeof(before) - 1;
    while (*message != '\0') {
        size_t size = strcspn(message, " ,") + strspn(message + strcspn(message, " ,"), " ,");
        size_t letters = strcspn(message, " ,");
        petal_slice word = {message, letters};
        bool known = false;

        for (size_t i = 0; i < COUNT_OF(tokens) && !known; i++) {
            known = slice_is(word, tokens[i].token);
            if (known)
                text_add_string(text, tokens[i].words);
        }
        if (!known && letters > 8 && memcmp(message, "keyword_", 8) == 0)
            text_add_format(text, "'%.*s'", (int)letters - 8, message + 8);
        else if (!known)
            text_add_slice(text, word);
        text_add(text, message + letters, size - letters);
        message += size;
    }
}

/* The parser tells where the token that it did not expect ends. */
static size_t
begin_of_token(petal_slice line, size_t end)
{
    const char *letters = line.data;
    size_t at = end > 0 ? end - 1 : 0;

    if (at >= line.size)
        return line.size;
    if (letters[at] == '\'' || letters[at] == '"') {
        size_t begin = at;

        while (begin > 0 && letters[begin - 1] != letters[at])
            begin--;
        return begin > 0 ? begin - 1 : at;
    }
    while (at > 0 && is_name_letter(letters[at]) && is_name_letter(letters[at - 1]))
        at--;
    return at;
}

void
ruby_show_syntax_error(struct ruby *ruby, const struct mrb_parser_state *parser)
{
    const struct mrb_parser_message *error = &parser->error_buffer[0];
    struct text text = {0};
    size_t begin;
    petal_slice line = line_of(ruby->input, error->lineno, &begin);

    petal_slice apart = ruby->source.apart;

    add_parser_message(&text, error->message != NULL ? error->message : "nested too deeply");
    if (strstr(text_string(&text), "unterminated") != NULL && ruby->source.open_string != SIZE_MAX)
        begin = ruby->source.open_string;
    else
        begin += begin_of_token(line, error->column > 0 ? (size_t)error->column : 0);
    if (apart.size > 0 && (const char *)apart.data <= (const char *)ruby->input.data + begin) {
        begin = (size_t)((const char *)apart.data - (const char *)ruby->input.data);
        text_clear(&text);
        if (isdigit(*(const unsigned char *)apart.data))
            text_add_string(&text, "unexpected number");
        else
            text_add_format(&text, "unexpected '%.*s'", SLICE_UP_TO(80, apart));
        text_add_string(&text, "; is a comma missing before it?");
    }
    show(ruby, line, begin, "SyntaxError", text_string(&text));
    text_free(&text);
}

/* ---- Exceptions ------------------------------------------------------------------------------ */

/* Of an entry FILE:LINE:in METHOD of a backtrace; false where that is no line of an input. */
static bool
read_line(mrb_value entry, int *line)
{
    static const char file[] = RUBY_FILE ":";
    petal_slice bytes = mrb_string_p(entry) ? ruby_slice(entry) : (petal_slice){"", 0};
    size_t at = sizeof(file) - 1;

    if (bytes.size <= at || memcmp(bytes.data, file, at) != 0)
        return false;
    *line = (int)strtol((const char *)bytes.data + at, NULL, 10);
    return true;
}

/* Where an exception came from, as far as it is known: the line of the input, the method at work
 * there, and the one that it called. */
struct origin {
    int line;
    petal_slice method, called;
};

/* A method's name is what follows " in " in an entry of another file. */
static petal_slice
method_of_entry(mrb_value entry)
{
    petal_slice bytes = mrb_string_p(entry) ? ruby_slice(entry) : (petal_slice){"", 0};
    const char *found = bytes.size > 0 ? memmem(bytes.data, bytes.size, ":in ", 4) : NULL;

    if (found == NULL)
        return (petal_slice){"", 0};
    bytes.size -= (size_t)(found + 4 - (const char *)bytes.data);
    bytes.data = found + 4;
    return slice_is(bytes, "initialize") ? slice_of_string("new") : bytes;
}

static struct origin
find_origin(mrb_state *mrb, mrb_value exception)
{
    mrb_value backtrace = mrb_exc_backtrace(mrb, exception);
    struct origin origin = {1, {"", 0}, {"", 0}};

    for (mrb_int i = 0; mrb_array_p(backtrace) && i < RARRAY_LEN(backtrace); i++) {
        mrb_value entry = RARRAY_PTR(backtrace)[i];

        if (read_line(entry, &origin.line)) {
            origin.method = method_of_entry(entry);
            break;
        }
        origin.called = method_of_entry(entry);
    }
    return origin;
}

static size_t
first_letter(petal_slice line)
{
    const char *letters = line.data;
    size_t at = 0;

    while (at < line.size && (letters[at] == ' ' || letters[at] == '\t'))
        at++;
    return at;
}

/* Where in the input the exception came from: at its own name, or at that of a method at work. */
static size_t
find_position(struct ruby *ruby, mrb_value exception, const struct origin *origin,
              petal_slice *line)
{
    mrb_state *mrb = ruby->mrb;
    mrb_value name = mrb_iv_get(mrb, exception, mrb_intern_lit(mrb, "@name"));
    bool by_zero = strcmp(mrb_obj_classname(mrb, exception), "ZeroDivisionError") == 0;
    petal_slice names[] = {mrb_symbol_p(name) ? ruby_slice(mrb_sym_str(mrb, mrb_symbol(name)))
                                              : (petal_slice){"", 0},
                           origin->method, origin->called, slice_of_string(by_zero ? "/" : "")};
    size_t begin;

    *line = ruby_line_with(ruby->input, origin->line, names[0], &begin);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (find_name(*line, names[i]) != SIZE_MAX)
            return begin + find_name(*line, names[i]);
    return begin + first_letter(*line);
}

void
ruby_show_exception(struct ruby *ruby, mrb_value exception)
{
    mrb_state *mrb = ruby->mrb;
    const char *kind = mrb_obj_classname(mrb, exception);
    mrb_value message = mrb_funcall(mrb, exception, "message", 0);
    petal_slice bytes = mrb_string_p(message) ? ruby_slice(message) : slice_of_string(kind);
    struct origin origin = find_origin(mrb, exception);
    struct text text = {0};
    petal_slice line;
    size_t position = find_position(ruby, exception, &origin, &line);

    text_add_slice(&text, bytes);
    if (mrb_true_p(mrb_iv_get(mrb, exception, mrb_intern_lit(mrb, "@of_command")))) {
        text_clear(&ruby->session->message);
        text_add_slice(&ruby->session->message, text_slice(&text));
        run_fail(ruby->session, kind);
    } else if (strcmp(kind, "RuntimeError") == 0) {
        ruby->session->place = (struct place){ruby->input, position, ruby->line, 0};
        run_raise(ruby->session, kind, text_string(&text));
    } else {
        show(ruby, line, position, kind, text_string(&text));
    }
    text_free(&text);
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Is the name a key that stands for itself, but for the case of its letters?  Then *key is that. */
static bool
find_key(const struct ruby *ruby, petal_slice name, mrb_value *key)
{
    mrb_state *mrb = ruby->mrb;
    mrb_value keys =
        mrb_const_get(mrb, mrb_obj_value(mrb_module_get(mrb, "Java")), mrb_intern_lit(mrb, "KEYS"));

    for (mrb_int i = 0; i < RARRAY_LEN(keys); i++) {
        *key = RARRAY_PTR(keys)[i];
        if (ruby_slice(*key).size == name.size &&
            strncasecmp(ruby_slice(*key).data, name.data, name.size) == 0)
            return true;
    }
    return false;
}

/* Does a line of the input begin with the name, as one with a command does? */
static bool
begins_statement(const struct ruby *ruby, petal_slice name)
{
    const char *letters = ruby->input.data;
    size_t begin;
    petal_slice line = ruby_line_with(ruby->input, ruby_line_of_command(ruby), name, &begin);

    while (begin > 0 && isspace((unsigned char)letters[begin - 1]))
        begin--;
    return slices_equal(first_word(line), name) &&
           (begin == 0 || strchr(",([{", letters[begin - 1]) == NULL);
}

void
ruby_describe_name(const struct ruby *ruby, petal_slice name, bool called, struct text *text)
{
    const char *nearest = command_nearest(ruby->session, name);
    mrb_value key;

    text_add_string(text, called ? "undefined method '" : "undefined local variable or method '");
    text_add_slice(text, name);
    text_add_string(text, "'");
    if (!called && !begins_statement(ruby, name) && find_key(ruby, name, &key))
        text_add_format(text, "; did you mean %.*s, or text in quotes?", SLICE(ruby_slice(key)));
    else if (!called && !begins_statement(ruby, name))
        text_add_string(text, "; text stands in quotes");
    else if (nearest != NULL)
        text_add_format(text, "; did you mean '%s'?", nearest);
}
