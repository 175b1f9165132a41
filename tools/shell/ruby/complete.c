/*
 * complete.c -- Tab, by tools/shell/ruby/commands/complete.rb; and the local variables, which that
 * asks for.  See tools/shell/ruby/ruby.h and tools/shell/ruby/state.h.
 */
#include "tools/shell/ruby/state.h"

#include <mruby/array.h>
#include <mruby/class.h>
#include <mruby/error.h>
#include <mruby/string.h>
#include <mruby/variable.h>

struct tab {
    petal_slice line;
    size_t width;
    struct text *insert, *words;
};

static mrb_value
call_tab(mrb_state *mrb, void *context)
{
    const struct tab *tab = context;
    mrb_value answer;

    answer = mrb_funcall(mrb, ruby_module(mrb, "Complete"), "tab", 2, ruby_string(mrb, tab->line),
                         mrb_int_value(mrb, (mrb_int)tab->width));
    text_add_slice(tab->insert, ruby_slice(RARRAY_PTR(answer)[0]));
    text_add_slice(tab->words, ruby_slice(RARRAY_PTR(answer)[1]));
    return mrb_nil_value();
}

/* What cannot be listed is not offered. */
void
ruby_complete(struct session *session, petal_slice line, size_t width, struct text *insert,
              struct text *words)
{
    mrb_state *mrb = session->ruby->mrb;
    struct tab tab = {line, width, insert, words};
    int arena = mrb_gc_arena_save(mrb);
    mrb_bool failed;

    (void)mrb_protect_error(mrb, call_tab, &tab, &failed);
    mrb_gc_arena_restore(mrb, arena);
    ruby_clear_arena(session->ruby);
}

/* The number of the local variable of that name, from 0; -1: there is none. */
static int
find_variable(const struct ruby *ruby, petal_slice name)
{
    for (int i = 0; i < ruby->context->slen; i++) {
        mrb_int size;
        const char *letters = mrb_sym_name_len(ruby->mrb, ruby->context->syms[i], &size);

        if (slices_equal((petal_slice){letters, (size_t)size}, name))
            return i;
    }
    return -1;
}

/* Shell.variable?(name) */
static mrb_value
is_variable(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return mrb_bool_value(find_variable(ruby_of(mrb), ruby_name(mrb)) >= 0);
}

/* Shell.variable(name): the name of the table that a local variable holds, or nil. */
static mrb_value
table_in_variable(mrb_state *mrb, mrb_value self)
{
    const struct ruby *ruby = ruby_of(mrb);
    int place = find_variable(ruby, ruby_name(mrb));
    mrb_value value;

    (void)self;
    if (place < 0 || place + 1 >= ruby->variables)
        return mrb_nil_value();
    value = mrb->c->cibase->stack[place + 1]; /* after `self` */
    if (!mrb_obj_is_kind_of(mrb, value, ruby->table_class))
        return mrb_nil_value();
    return mrb_iv_get(mrb, value, mrb_intern_lit(mrb, "@name"));
}

void
ruby_define_variables(struct ruby *ruby)
{
    static const struct ruby_function functions[] = {{"variable", table_in_variable},
                                                     {"variable?", is_variable}};

    ruby_define_functions(ruby, functions, COUNT_OF(functions));
}
