/*
 * state.h -- Ruby at work, for the files that share it.
 *
 * Functions that mruby calls leave by longjmp when they raise, so nothing that they hold has to be
 * given back: what they allocate is in the session's arena or is Ruby's.
 */
#ifndef PETAL_TOOLS_SHELL_RUBY_STATE_H
#define PETAL_TOOLS_SHELL_RUBY_STATE_H

#include "tools/shell/ruby/ruby.h"
#include "tools/shell/ruby/source.h"
#include "tools/shell/session/command.h"

#include <mruby.h>
#include <mruby/compile.h>

/* How the lines of inputs are named in backtraces.  A shorter name mruby would pack, and lend for a
 * moment only. */
#define RUBY_FILE "kv-shell"

/* Instructions of an input that are run again and again: offsets of the first, and after the last.
 */
struct ruby_loop {
    size_t begin, end;
};

struct ruby {
    mrb_state *mrb; /* its ud is this */
    mrbc_context *context;
    struct session *session;
    size_t heap_bytes;
    bool running, refused; /* an input; the latest growth of the heap */
    struct RClass *table_class, *filter_class, *end_class;
    struct RClass *home; /* PetalShell: what is Ruby's of the shell, but for the prelude */
    struct RClass *shell, *failure_class; /* what commands in Ruby call, and what that raises */
    bool has_commands;                    /* in Ruby: they were read */
    enum shell_status status;             /* of such a command that has not failed */
    struct command absent;                /* HBase's for what Petal has not, that was called last */
    struct text absent_name;
    unsigned conversions; /* of arguments, at work in one another */
    petal_slice input;    /* at work */
    unsigned line;        /* number of its first line */
    struct source source;
    struct mrb_parser_state *parser; /* of the source; NULL: it was not parsed */
    struct ruby_loop *loops;
    size_t loop_count, loop_capacity;
    mrb_int variables; /* of the inputs up to now: so many registers are kept */
};

static inline struct ruby *
ruby_of(mrb_state *mrb)
{
    return mrb->ud;
}

static inline struct session *
ruby_session(mrb_state *mrb)
{
    return ruby_of(mrb)->session;
}

/* Nothing needs the arena any more, except arguments whose conversion called what is at work. */
static inline void
ruby_clear_arena(struct ruby *ruby)
{
    if (ruby->conversions == 0)
        arena_clear(&ruby->session->arena);
}

/* ---- tools/shell/ruby/convert.c ---- */

/* The value as commands take it, in the session's arena.  Raises ArgumentError when lists and
 * hashes are too deep in one another, and what an object's to_s raises. */
struct value ruby_to_value(mrb_state *mrb, mrb_value object);
mrb_value ruby_from_value(mrb_state *mrb, const struct value *value);

petal_slice ruby_slice(mrb_value string);
mrb_value ruby_string(mrb_state *mrb, petal_slice bytes);

/* ---- tools/shell/ruby/command.c ---- */

/* Define the commands as methods of `main` and of tables. */
void ruby_define_commands(struct ruby *ruby);

/* End the input if `exit`, Ctrl-C or a failure says so: raise what no `rescue` takes. */
void ruby_check_end(struct ruby *ruby);

/* ---- tools/shell/ruby/kernel.c ---- */

/* puts, sleep and the like; how strings and numbers are shown. */
void ruby_define_kernel(mrb_state *mrb);

/* ---- tools/shell/ruby/regexp.c ---- */

void ruby_define_regexp(mrb_state *mrb);

/* ---- tools/shell/ruby/java.c ---- */

/* What the prelude's classes of Java's call. */
void ruby_define_java(struct ruby *ruby);

/* ---- tools/shell/ruby/shell.c, store.c, schema.c, regions.c, receipt.c, complete.c ---- */

struct ruby_function {
    const char *name;
    mrb_value (*function)(mrb_state *mrb, mrb_value self);
};

void ruby_define_shell(struct ruby *ruby);
void ruby_define_store(struct ruby *ruby);
void ruby_define_schema(struct ruby *ruby);
void ruby_define_regions(struct ruby *ruby);
void ruby_define_receipt(struct ruby *ruby);
void ruby_define_variables(struct ruby *ruby);
void ruby_define_functions(struct ruby *ruby, const struct ruby_function *functions, size_t count);

/* Raise Shell::Failure with the session's message; the latter only if the status is not fine. */
void ruby_fail(mrb_state *mrb, enum shell_status status) __attribute__((noreturn));
void ruby_check(mrb_state *mrb, enum shell_status status);
void ruby_check_petal(mrb_state *mrb, enum petal_status status, const petal_error *error);

/* The text that is the only argument of the function at hand. */
petal_slice ruby_name(mrb_state *mrb);
petal_table *ruby_table(mrb_state *mrb, petal_slice name);

/* A module or class of tools/shell/ruby/commands/, which is read if that has not been done. */
mrb_value ruby_module(mrb_state *mrb, const char *name);

/* ---- tools/shell/ruby/loops.c ---- */

/* Note the loops of the instructions. */
void ruby_find_loops(struct ruby *ruby, const struct RProc *proc);

/* What names the outermost loop or method that the command at hand is called in; 0: none. */
uintptr_t ruby_loop_of_command(const struct ruby *ruby);

/* The number of the line in the input that runs, from 1; 0: it is not known. */
int ruby_line_of_command(const struct ruby *ruby);

/* ---- tools/shell/ruby/mistake.c ---- */

/* Where the line of the input begins that calls the command at hand, which has the name. */
size_t ruby_place_of_command(struct ruby *ruby, petal_slice name);

void ruby_show_syntax_error(struct ruby *ruby, const struct mrb_parser_state *parser);
void ruby_show_exception(struct ruby *ruby, mrb_value exception);

/* Words that complain about a name that nothing has. */
mrb_value ruby_describe_name(const struct ruby *ruby, petal_slice name, bool called);

#endif
