/*
 * shell.c -- runs the commands that are written in Ruby; of the module Shell, which they call, what
 * prints, fails and asks.  See tools/shell/ruby/shell.h and tools/shell/ruby/state.h.
 *
 * What fails raises Shell::Failure with the session's message and a status.
 */
#include "tools/shell/ruby/shell.h"

#include "tools/shell/print/wrap.h"
#include "tools/shell/ruby/state.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/session/words_of_values.h"

#include <mruby/array.h>
#include <mruby/class.h>
#include <mruby/dump.h>
#include <mruby/error.h>
#include <mruby/irep.h>
#include <mruby/numeric.h>
#include <mruby/proc.h>
#include <mruby/string.h>
#include <mruby/variable.h>

#include <stdlib.h>

/* Compiled from tools/shell/ruby/commands/. */
extern const uint8_t ruby_commands[];

/* ---- Running --------------------------------------------------------------------------------- */

struct call {
    const struct value *arguments;
    size_t count;
    struct value result;
};

/* In a frame of its own: what runs at the top takes the registers of the frame that it is called
 * from.  Its modules are in one of its own, so that scripts may have any names. */
static mrb_value
load_commands(mrb_state *mrb, mrb_value self)
{
    mrb_irep *irep = mrb_read_irep(mrb, ruby_commands);
    struct RProc *proc = mrb_proc_new(mrb, irep);

    (void)self;
    mrb_irep_decref(mrb, irep);
    MRB_PROC_SET_TARGET_CLASS(proc, ruby_of(mrb)->home);
    (void)mrb_top_run(mrb, proc, mrb_top_self(mrb), 0);
    if (mrb->exc != NULL)
        mrb_exc_raise(mrb, mrb_obj_value(mrb->exc));
    ruby_of(mrb)->has_commands = true;
    return mrb_nil_value();
}

mrb_value
ruby_module(mrb_state *mrb, const char *name)
{
    const struct ruby *ruby = ruby_of(mrb);

    if (!ruby->has_commands)
        (void)mrb_funcall(mrb, mrb_obj_value(ruby->shell), "load_commands", 0);
    return mrb_const_get(mrb, mrb_obj_value(ruby->home), mrb_intern_cstr(mrb, name));
}

static mrb_value
run_call(mrb_state *mrb, void *context)
{
    struct call *call = context;
    struct ruby *ruby = ruby_of(mrb);
    mrb_value arguments = mrb_ary_new_capa(mrb, (mrb_int)call->count), result;

    for (size_t i = 0; i < call->count; i++)
        mrb_ary_push(mrb, arguments, ruby_from_value(mrb, &call->arguments[i]));
    result = mrb_funcall(mrb, ruby_module(mrb, "Commands"), "run", 2,
                         mrb_symbol_value(mrb_intern_cstr(mrb, ruby->session->running->main_name)),
                         arguments);
    call->result = ruby_to_value(mrb, result);
    return mrb_nil_value();
}

/* What was raised becomes the session's message. */
static enum shell_status
take_failure(struct ruby *ruby, mrb_value exception)
{
    mrb_state *mrb = ruby->mrb;
    mrb_value status = mrb_iv_get(mrb, exception, mrb_intern_lit(mrb, "@status"));
    mrb_value message;

    if (interrupt_pending())
        return interrupt_check(ruby->session);
    message = mrb_obj_as_string(mrb, exception);
    text_clear(&ruby->session->message);
    text_add_slice(&ruby->session->message, ruby_slice(message));
    return mrb_integer_p(status) ? (enum shell_status)mrb_integer(status) : SHELL_DATA;
}

COMMAND_FUNCTION(command_in_ruby)
{
    struct ruby *ruby = session->ruby;
    struct call call = {arguments, count, value_nil()};
    int arena = mrb_gc_arena_save(ruby->mrb);
    enum shell_status status;
    mrb_value exception;
    mrb_bool failed;

    ruby->status = SHELL_FINE;
    ruby->conversions++; /* the arena stays as it is */
    exception = mrb_protect_error(ruby->mrb, run_call, &call, &failed);
    ruby->conversions--;
    status = failed ? take_failure(ruby, exception) : ruby->status;
    mrb_gc_arena_restore(ruby->mrb, arena);
    *result = call.result;
    return status;
}

void
ruby_fail(mrb_state *mrb, enum shell_status status)
{
    struct ruby *ruby = ruby_of(mrb);
    mrb_value exception = mrb_exc_new_str(mrb, ruby->failure_class,
                                          ruby_string(mrb, text_slice(&ruby->session->message)));

    text_clear(&ruby->session->message);
    mrb_iv_set(mrb, exception, mrb_intern_lit(mrb, "@status"), mrb_int_value(mrb, (mrb_int)status));
    mrb_exc_raise(mrb, exception);
}

void
ruby_check(mrb_state *mrb, enum shell_status status)
{
    if (status != SHELL_FINE)
        ruby_fail(mrb, status);
}

void
ruby_check_petal(mrb_state *mrb, enum petal_status status, const petal_error *error)
{
    if (status != PETAL_OK)
        ruby_fail(mrb, session_fail_petal(ruby_session(mrb), error));
}

petal_slice
ruby_name(mrb_state *mrb)
{
    mrb_value name;

    mrb_get_args(mrb, "S", &name);
    return ruby_slice(name);
}

petal_table *
ruby_table(mrb_state *mrb, petal_slice name)
{
    petal_table *table;
    petal_error error;

    ruby_check_petal(mrb, petal_table_open(ruby_session(mrb)->db, name, &table, &error), &error);
    return table;
}

/* Shell.fail(status, message) */
static mrb_value
shell_fail(mrb_state *mrb, mrb_value self)
{
    mrb_value message;
    mrb_int status;

    (void)self;
    mrb_get_args(mrb, "iS", &status, &message);
    (void)session_fail(ruby_session(mrb), SHELL_USAGE, "%.*s", SLICE(ruby_slice(message)));
    ruby_fail(mrb, (enum shell_status)status);
}

/* Shell.status = status, of a command that has not failed. */
static mrb_value
set_status(mrb_state *mrb, mrb_value self)
{
    mrb_int status;

    (void)self;
    mrb_get_args(mrb, "i", &status);
    ruby_of(mrb)->status = (enum shell_status)status;
    return mrb_nil_value();
}

/* ---- Printing -------------------------------------------------------------------------------- */

static struct output *
output_of(mrb_state *mrb)
{
    return &ruby_session(mrb)->output;
}

static mrb_value
print_line(mrb_state *mrb, mrb_value self)
{
    output_line(output_of(mrb), ruby_name(mrb));
    return self;
}

static mrb_value
print_plain(mrb_state *mrb, mrb_value self)
{
    output_plain_slice(output_of(mrb), ruby_name(mrb));
    return self;
}

static mrb_value
print_message(mrb_state *mrb, mrb_value self)
{
    output_message(output_of(mrb), ruby_name(mrb));
    return self;
}

static mrb_value
print_document(mrb_state *mrb, mrb_value self)
{
    output_document(output_of(mrb), ruby_name(mrb));
    return self;
}

/* Shell.header(first, second or nothing) */
static mrb_value
print_header(mrb_state *mrb, mrb_value self)
{
    const char *first, *second = NULL;

    mrb_get_args(mrb, "z|z!", &first, &second);
    output_header(output_of(mrb), first, second);
    return self;
}

/* Shell.table(first, second, longest) */
static mrb_value
print_table(mrb_state *mrb, mrb_value self)
{
    const char *first, *second;
    mrb_int longest;

    mrb_get_args(mrb, "zzi", &first, &second, &longest);
    output_table(output_of(mrb), first, second, (unsigned)longest);
    return self;
}

static mrb_value
print_columns(mrb_state *mrb, mrb_value self)
{
    mrb_value first, second;

    mrb_get_args(mrb, "SS", &first, &second);
    output_columns(output_of(mrb), ruby_slice(first), ruby_slice(second));
    return self;
}

static mrb_value
print_parts(mrb_state *mrb, mrb_value self)
{
    mrb_value first, second;

    mrb_get_args(mrb, "SS", &first, &second);
    output_parts(output_of(mrb), ruby_slice(first), ruby_slice(second));
    return self;
}

/* Shell.records(names): with a format, begin a set of records with these columns; else false. */
static mrb_value
begin_records(mrb_state *mrb, mrb_value self)
{
    struct format *format = &output_of(mrb)->format;
    const char *names;

    (void)self;
    mrb_get_args(mrb, "z", &names);
    if (format_is_on(format))
        format_begin(format, names);
    return mrb_bool_value(format_is_on(format));
}

/* Shell.record(field, ..): bytes, a list of a text that is shown as it is, numbers, true, false,
 * nil. */
static mrb_value
add_record(mrb_state *mrb, mrb_value self)
{
    struct format *format = &output_of(mrb)->format;
    const mrb_value *fields;
    mrb_int count;

    mrb_get_args(mrb, "*", &fields, &count);
    for (mrb_int i = 0; i < count; i++) {
        mrb_value field = fields[i];

        if (mrb_string_p(field))
            format_bytes(format, ruby_slice(field));
        else if (mrb_array_p(field))
            format_text(format, ruby_slice(mrb_obj_as_string(mrb, mrb_ary_ref(mrb, field, 0))));
        else if (mrb_integer_p(field))
            format_integer(format, mrb_integer(field));
        else if (mrb_float_p(field))
            format_real(format, mrb_float(field));
        else if (mrb_nil_p(field))
            format_null(format);
        else
            format_boolean(format, mrb_true_p(field));
    }
    return self;
}

static mrb_value
has_records(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return mrb_bool_value(format_is_on(&output_of(mrb)->format));
}

/* Shell.width: of a line of help, 80 where there is no terminal. */
static mrb_value
line_width(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return mrb_int_value(mrb, (mrb_int)output_width(output_of(mrb)));
}

/* Shell.terminal? */
static mrb_value
is_terminal(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return mrb_bool_value(output_of(mrb)->terminal);
}

/* Shell.wrap(text, indent): in lines of the width. */
static mrb_value
wrap_text(mrb_state *mrb, mrb_value self)
{
    struct text *text = &ruby_session(mrb)->scratch;
    mrb_int indent;
    mrb_value given;

    (void)self;
    mrb_get_args(mrb, "Si", &given, &indent);
    text_clear(text);
    wrap_add(text, ruby_slice(given), output_width(output_of(mrb)), (unsigned)indent);
    return ruby_string(mrb, text_slice(text));
}

/* Shell.wrap_example(text) */
static mrb_value
wrap_example(mrb_state *mrb, mrb_value self)
{
    struct text *text = &ruby_session(mrb)->scratch;
    petal_slice example = ruby_name(mrb);

    (void)self;
    text_clear(text);
    wrap_add_example(text, example, output_width(output_of(mrb)));
    return ruby_string(mrb, text_slice(text));
}

/* How a text is shown: as HBase shows bytes, and as a literal that the shell reads back. */
static mrb_value
show_with(mrb_state *mrb, void (*add)(struct text *text, petal_slice bytes))
{
    struct text *text = &ruby_session(mrb)->scratch;
    petal_slice bytes = ruby_name(mrb);

    text_clear(text);
    add(text, bytes);
    return ruby_string(mrb, text_slice(text));
}

static mrb_value
show_binary(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return show_with(mrb, text_add_binary);
}

static mrb_value
show_literal(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return show_with(mrb, text_add_literal);
}

/* Shell.time(milliseconds), as cells show theirs. */
static mrb_value
show_time(mrb_state *mrb, mrb_value self)
{
    struct text *text = &ruby_session(mrb)->scratch;
    mrb_int milliseconds;

    (void)self;
    mrb_get_args(mrb, "i", &milliseconds);
    text_clear(text);
    text_add_time(text, milliseconds);
    return ruby_string(mrb, text_slice(text));
}

/* ---- Values ---------------------------------------------------------------------------------- */

static mrb_value
read_with(mrb_state *mrb, bool (*read)(const struct value *value, int64_t *number))
{
    struct value value;
    mrb_value argument;
    int64_t number;

    mrb_get_args(mrb, "o", &argument);
    value = ruby_to_value(mrb, argument);
    return read(&value, &number) ? mrb_int_value(mrb, number) : mrb_nil_value();
}

/* Shell.number(value), Shell.size(value): numbers, given as such or as text; nil: it is none. */
static mrb_value
read_number(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return read_with(mrb, value_read_number);
}

static mrb_value
read_size(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return read_with(mrb, value_read_size);
}

/* Shell.interval(text): "1 DAY 2 HOURS" in seconds, 0 for what is no time. */
static mrb_value
read_interval(mrb_state *mrb, mrb_value self)
{
    (void)self;
    return mrb_int_value(mrb, parse_interval(ruby_name(mrb)));
}

/* Shell.real(text): nil if it is no number. */
static mrb_value
read_real(mrb_state *mrb, mrb_value self)
{
    const char *text;
    double number;
    char *end;

    (void)self;
    mrb_get_args(mrb, "z", &text);
    number = strtod(text, &end);
    return end != text && *end == '\0' ? mrb_float_value(mrb, number) : mrb_nil_value();
}

/* Shell.size_text(bytes): "65536 B (64KB)" */
static mrb_value
show_size(mrb_state *mrb, mrb_value self)
{
    struct text *text = &ruby_session(mrb)->scratch;
    mrb_int bytes;

    (void)self;
    mrb_get_args(mrb, "i", &bytes);
    text_clear(text);
    text_add_size(text, (uint64_t)bytes);
    return ruby_string(mrb, text_slice(text));
}

/* ---- The session ----------------------------------------------------------------------------- */

/* Shell.note(line): on standard error, once a session. */
static mrb_value
tell_note(mrb_state *mrb, mrb_value self)
{
    struct text line = {0};
    petal_slice note = ruby_name(mrb);

    text_add_slice(&line, note);
    text_add_string(&line, "\n");
    session_note(ruby_session(mrb), &line);
    text_free(&line);
    return self;
}

/* Shell.yes?: the answer to a question that was printed. */
static mrb_value
ask(mrb_state *mrb, mrb_value self)
{
    bool yes;

    (void)self;
    ruby_check(mrb, session_ask(ruby_session(mrb), &yes));
    return mrb_bool_value(yes);
}

void
ruby_define_shell(struct ruby *ruby)
{
    static const struct ruby_function functions[] = {
        {"load_commands", load_commands},
        {"fail", shell_fail},
        {"status=", set_status},
        {"line", print_line},
        {"plain", print_plain},
        {"message", print_message},
        {"document", print_document},
        {"header", print_header},
        {"table", print_table},
        {"columns", print_columns},
        {"parts", print_parts},
        {"records", begin_records},
        {"record", add_record},
        {"records?", has_records},
        {"width", line_width},
        {"terminal?", is_terminal},
        {"wrap", wrap_text},
        {"wrap_example", wrap_example},
        {"binary", show_binary},
        {"literal", show_literal},
        {"time", show_time},
        {"number", read_number},
        {"size", read_size},
        {"interval", read_interval},
        {"real", read_real},
        {"size_text", show_size},
        {"note", tell_note},
        {"yes?", ask},
    };

    ruby->home = mrb_define_module(ruby->mrb, "PetalShell");
    ruby->shell = mrb_define_module_under(ruby->mrb, ruby->home, "Shell");
    ruby->failure_class =
        mrb_define_class_under(ruby->mrb, ruby->shell, "Failure", ruby->mrb->eStandardError_class);
    ruby_define_functions(ruby, functions, COUNT_OF(functions));
}

void
ruby_define_functions(struct ruby *ruby, const struct ruby_function *functions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mrb_define_module_function(ruby->mrb, ruby->shell, functions[i].name, functions[i].function,
                                   MRB_ARGS_ANY());
}
