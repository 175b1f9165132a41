/*
 * mistake.c -- shows a syntax error, or an exception that nothing has rescued, with its line and a
 * caret under the place, as tools/shell/ruby/commands/mistake.rb says.  See tools/shell/ruby/state.h.
 */
#include "tools/shell/ruby/state.h"
#include "tools/shell/session/run.h"

#include <mruby/array.h>
#include <mruby/class.h>
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

/* Call the function of the module Mistake, which tells of a mistake. */
static mrb_value
call(mrb_state *mrb, const char *name, mrb_int count, const mrb_value *arguments)
{
    ruby_load_commands(mrb);
    return mrb_funcall_argv(mrb, mrb_obj_value(mrb_module_get(mrb, "Mistake")),
                            mrb_intern_cstr(mrb, name), count, arguments);
}

/* Show a mistake: [kind, position, message]. */
static void
show(struct ruby *ruby, mrb_value mistake)
{
    const mrb_value *parts = RARRAY_PTR(mistake);
    struct place place = {
        .input = ruby->input, .position = (size_t)mrb_integer(parts[1]), .line = ruby->line};

    run_mistake(ruby->session, &place, mrb_str_to_cstr(ruby->mrb, parts[0]),
                mrb_str_to_cstr(ruby->mrb, parts[2]));
}

static mrb_value
place_value(mrb_state *mrb, bool known, size_t place)
{
    return known ? mrb_int_value(mrb, (mrb_int)place) : mrb_nil_value();
}

void
ruby_show_syntax_error(struct ruby *ruby, const struct mrb_parser_state *parser)
{
    const struct mrb_parser_message *error = &parser->error_buffer[0];
    const struct source *source = &ruby->source;
    mrb_state *mrb = ruby->mrb;
    size_t apart = source->apart.size > 0
                       ? (size_t)((const char *)source->apart.data - (const char *)ruby->input.data)
                       : 0;
    mrb_value arguments[] = {
        ruby_string(mrb, ruby->input),
        mrb_str_new_cstr(mrb, error->message != NULL ? error->message : "nested too deeply"),
        mrb_int_value(mrb, error->lineno),
        mrb_int_value(mrb, error->column),
        place_value(mrb, source->open_string != SIZE_MAX, source->open_string),
        place_value(mrb, source->apart.size > 0, apart),
        ruby_string(mrb, source->apart)};

    show(ruby, call(mrb, "syntax", COUNT_OF(arguments), arguments));
}

void
ruby_show_exception(struct ruby *ruby, mrb_value exception)
{
    mrb_state *mrb = ruby->mrb;
    mrb_value arguments[] = {ruby_string(mrb, ruby->input), exception};
    mrb_value mistake = call(mrb, "exception", COUNT_OF(arguments), arguments);
    const mrb_value *parts = RARRAY_PTR(mistake);
    const char *kind = mrb_str_to_cstr(mrb, parts[0]);

    if (mrb_true_p(mrb_iv_get(mrb, exception, mrb_intern_lit(mrb, "@of_command")))) {
        text_clear(&ruby->session->message);
        text_add_slice(&ruby->session->message, ruby_slice(parts[2]));
        run_fail(ruby->session, kind);
    } else if (strcmp(kind, "RuntimeError") == 0) {
        ruby->session->place =
            (struct place){ruby->input, (size_t)mrb_integer(parts[1]), ruby->line, 0};
        run_raise(ruby->session, kind, mrb_str_to_cstr(mrb, parts[2]));
    } else {
        show(ruby, mistake);
    }
}

mrb_value
ruby_describe_name(const struct ruby *ruby, petal_slice name, bool called)
{
    mrb_state *mrb = ruby->mrb;
    mrb_value arguments[] = {ruby_string(mrb, ruby->input),
                             mrb_int_value(mrb, ruby_line_of_command(ruby)), ruby_string(mrb, name),
                             mrb_bool_value(called)};

    return call(mrb, "name", COUNT_OF(arguments), arguments);
}
