/*
 * mistake.c -- shows a syntax error, or an exception that nothing has rescued, with its line and a
 * caret under the place, as tools/shell/ruby/commands/mistake.rb says.  See tools/shell/ruby/state.h.
 */
#include "tools/shell/ruby/state.h"
#include "tools/shell/session/run.h"

#include <mruby/array.h>
#include <mruby/class.h>
#include <mruby/error.h>
#include <mruby/string.h>
#include <mruby/variable.h>

#include <string.h>

/* Call the function of the module Mistake, which tells of a mistake. */
static mrb_value
call(mrb_state *mrb, const char *name, mrb_int count, const mrb_value *arguments)
{
    return mrb_funcall_argv(mrb, ruby_module(mrb, "Mistake"), mrb_intern_cstr(mrb, name), count,
                            arguments);
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

struct search {
    petal_slice name;
    size_t *position;
};

static mrb_value
call_place(mrb_state *mrb, void *context)
{
    const struct search *search = context;
    const struct ruby *ruby = ruby_of(mrb);
    mrb_value arguments[] = {ruby_string(mrb, ruby->input),
                             mrb_int_value(mrb, ruby_line_of_command(ruby)),
                             ruby_string(mrb, search->name)};

    *search->position = (size_t)mrb_integer(call(mrb, "place", COUNT_OF(arguments), arguments));
    return mrb_nil_value();
}

/* As of what is said of a mistake, there is room beyond the heap's bound, also after Ctrl-C. */
size_t
ruby_place_of_command(struct ruby *ruby, petal_slice name)
{
    size_t position = 0;
    struct search search = {name, &position};
    int arena = mrb_gc_arena_save(ruby->mrb);
    bool running = ruby->running;
    mrb_bool failed;

    ruby->running = false;
    (void)mrb_protect_error(ruby->mrb, call_place, &search, &failed);
    ruby->running = running;
    mrb_gc_arena_restore(ruby->mrb, arena);
    return position;
}
