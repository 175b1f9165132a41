/* command.c -- commands as methods of `main` and of tables.  See tools/shell/ruby/state.h. */
#include "tools/shell/data/commands.h"
#include "tools/shell/data/rows.h"
#include "tools/shell/ruby/shell.h"
#include "tools/shell/ruby/state.h"
#include "tools/shell/session/run.h"

#include <mruby/array.h>
#include <mruby/class.h>
#include <mruby/error.h>
#include <mruby/proc.h>
#include <mruby/string.h>
#include <mruby/variable.h>

#include <string.h>

/* The commands that take a table first.  As in HBase an echo stands after the duration of those of
 * cells, in one line. */
static const struct table_command {
    const char *name;
    bool glued;
} table_commands[] = {
    {"append", true},    {"count", true},    {"delete", true},      {"deleteall", true},
    {"describe", false}, {"disable", false}, {"drop", false},       {"enable", false},
    {"flush", false},    {"get", true},      {"get_counter", true}, {"get_splits", true},
    {"incr", true},      {"put", true},      {"scan", true},        {"snapshot", false}};

void
ruby_check_end(struct ruby *ruby)
{
    if (ruby->session->ended || ruby->session->interrupted)
        mrb_raise(ruby->mrb, ruby->end_class, "exit");
}

/* Where the command that failed was called: its line, and where it may lack a comma. */
static void
find_place(struct session *session)
{
    struct ruby *ruby = session->ruby;

    session->place =
        (struct place){.input = ruby->input, .line = ruby->line, .comma = ruby->source.comma};
    session->place.position = ruby_place_of_command(ruby, slice_of_string(session->running->name));
}

/* Two strings side by side may be one argument by mistake: if the command has as many as it wants,
 * nothing else tells. */
static void
note_joined(struct ruby *ruby, const struct command *command, size_t count)
{
    struct text line = {0};

    if (ruby->source.joined.size == 0 || count < command->least)
        return;
    text_add_string(&line, "kv-shell: strings side by side are one text, ");
    text_add_slice(&line, ruby->source.joined);
    text_add_string(&line, ": is a comma missing?\n");
    session_note(ruby->session, &line);
    text_free(&line);
}

/* A failure that ends the shell unless it is rescued. */
static void
raise_failure(struct ruby *ruby, const char *kind)
{
    mrb_state *mrb = ruby->mrb;
    mrb_value message = ruby_string(mrb, text_slice(&ruby->session->message));
    mrb_value exception = mrb_exc_new_str(mrb, mrb_class_get(mrb, kind), message);

    mrb_iv_set(mrb, exception, mrb_intern_lit(mrb, "@of_command"), mrb_true_value());
    mrb_exc_raise(mrb, exception);
}

/* Run the command with values from the session's arena, which is clear afterwards. */
static mrb_value
run(struct ruby *ruby, const struct command *command, const struct value *values, size_t count,
    bool glued)
{
    struct session *session = ruby->session;
    struct value value;
    const char *kind;
    mrb_value result;

    session->loop = ruby_loop_of_command(ruby);
    kind = run_command(session, command, values, count, glued, &value);
    result = ruby_from_value(ruby->mrb, &value);
    ruby_clear_arena(ruby);
    ruby_check_end(ruby);
    if (kind != NULL)
        raise_failure(ruby, kind);
    return result;
}

/* Arguments of a command on their way to values. */
struct conversion_of_arguments {
    const mrb_value *arguments;
    struct value *values;
    mrb_int count;
};

static mrb_value
convert_each(mrb_state *mrb, void *context)
{
    struct conversion_of_arguments *conversion = context;

    for (mrb_int i = 0; i < conversion->count; i++)
        conversion->values[i] = ruby_to_value(mrb, conversion->arguments[i]);
    return mrb_nil_value();
}

/*
 * Room for values before the arguments, which are converted.  An object's to_s may run commands of
 * its own: they leave the arena as it is.
 */
static struct value *
convert_arguments(struct ruby *ruby, size_t before, const mrb_value *arguments, mrb_int count)
{
    struct value *values =
        arena_allocate(&ruby->session->arena, (before + (size_t)count) * sizeof(*values));
    struct conversion_of_arguments conversion = {arguments, values + before, count};
    mrb_value exception;
    mrb_bool failed;

    ruby->conversions++;
    exception = mrb_protect_error(ruby->mrb, convert_each, &conversion, &failed);
    ruby->conversions--;
    if (!failed)
        return values;
    ruby_clear_arena(ruby);
    mrb_exc_raise(ruby->mrb, exception);
}

static const void *
lent_pointer(mrb_state *mrb)
{
    return mrb_cptr(mrb_proc_cfunc_env_get(mrb, 0));
}

static mrb_value
call_command(mrb_state *mrb, mrb_value self)
{
    struct ruby *ruby = ruby_of(mrb);
    const struct command *command = lent_pointer(mrb);
    const mrb_value *arguments;
    mrb_int count;

    (void)self;
    ruby_check_end(ruby);
    mrb_get_args(mrb, "*", &arguments, &count);
    note_joined(ruby, command, (size_t)count);
    return run(ruby, command, convert_arguments(ruby, 0, arguments, count), (size_t)count, false);
}

/* import of a class of Java's is not the command import. */
static mrb_value
call_import(mrb_state *mrb, mrb_value self)
{
    const mrb_value *arguments;
    mrb_int count;

    mrb_get_args(mrb, "*", &arguments, &count);
    if (count == 1 && !mrb_string_p(arguments[0]))
        return mrb_funcall(mrb, self, "java_import", 1, arguments[0]);
    return call_command(mrb, self);
}

static mrb_value
name_of_table(mrb_state *mrb, mrb_value table)
{
    return mrb_obj_as_string(mrb, mrb_iv_get(mrb, table, mrb_intern_lit(mrb, "@name")));
}

static mrb_value
call_on_table(mrb_state *mrb, mrb_value self)
{
    struct ruby *ruby = ruby_of(mrb);
    const struct table_command *of_table = lent_pointer(mrb);
    const struct command *command = command_find(ruby->session, slice_of_string(of_table->name));
    const mrb_value *arguments;
    struct value *values;
    mrb_int count;

    ruby_check_end(ruby);
    mrb_get_args(mrb, "*", &arguments, &count);
    values = convert_arguments(ruby, 1, arguments, count);
    values[0] = ruby_to_value(mrb, name_of_table(mrb, self));
    note_joined(ruby, command, (size_t)count + 1);
    return run(ruby, command, values, (size_t)count + 1, of_table->glued);
}

static mrb_value
columns_of_table(mrb_state *mrb, mrb_value self)
{
    mrb_value name = name_of_table(mrb, self);
    mrb_value columns = mrb_ary_new(mrb);
    struct session *session = ruby_of(mrb)->session;
    petal_table *table;
    petal_error error;

    if (session->db == NULL ||
        petal_table_open(session->db, ruby_slice(name), &table, &error) != PETAL_OK)
        return columns;
    for (size_t i = 0; i < petal_table_family_count(table); i++) {
        mrb_value column = ruby_string(mrb, petal_family_name(petal_table_family_at(table, i)));

        mrb_ary_push(mrb, columns, mrb_str_cat_lit(mrb, column, ":"));
    }
    return columns;
}

/* ---- explain get .., time get .., help get --------------------------------------------------- */

/* The prefix that the name begins with and what follows it; NULL: it has none. */
static const char *
take_prefix(petal_slice *name)
{
    static const char *const prefixes[] = {"explain", "time", "help"};

    for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
        size_t size = strlen(prefixes[i]);

        if (name->size > size + 1 && memcmp(name->data, prefixes[i], size) == 0 &&
            ((const char *)name->data)[size] == '_') {
            *name = (petal_slice){(const char *)name->data + size + 1, name->size - size - 1};
            return prefixes[i];
        }
    }
    return NULL;
}

/* The command of the first prefix gets the other names as symbols, then the arguments. */
static mrb_value
call_prefixed(struct ruby *ruby, petal_slice name, const mrb_value *arguments, mrb_int count)
{
    const struct command *command =
        command_find(ruby->session, slice_of_string(take_prefix(&name)));
    petal_slice names[2];
    size_t named = 0;
    struct value *values = convert_arguments(ruby, COUNT_OF(names), arguments, count);
    const struct command *called;
    const char *prefix;

    if (command->takes_call && (prefix = take_prefix(&name)) != NULL)
        names[named++] = slice_of_string(prefix);
    names[named++] = name;
    called = command_find(ruby->session, name);
    if (called != NULL)
        note_joined(ruby, called, (size_t)count);
    values += COUNT_OF(names) - named;
    for (size_t i = 0; i < named; i++)
        values[i] = value_string(names[i]);
    return run(ruby, command, values, named + (size_t)count, false);
}

/* Is it one of HBase's commands for what Petal has not?  Then it is ruby->absent. */
static bool
find_absent(struct ruby *ruby, petal_slice name)
{
    mrb_state *mrb = ruby->mrb;
    mrb_value limits;

    limits = mrb_funcall(mrb, ruby_module(mrb, "Absent"), "limits", 1, ruby_string(mrb, name));
    if (!mrb_array_p(limits))
        return false;
    text_clear(&ruby->absent_name);
    text_add_slice(&ruby->absent_name, name);
    ruby->absent = (struct command){.name = text_string(&ruby->absent_name),
                                    .main_name = text_string(&ruby->absent_name),
                                    .run = command_in_ruby,
                                    .database = DATABASE_UNUSED,
                                    .least = (size_t)mrb_integer(RARRAY_PTR(limits)[0]),
                                    .most = COMMAND_ANY_NUMBER};
    if (mrb_integer_p(RARRAY_PTR(limits)[1]))
        ruby->absent.most = (size_t)mrb_integer(RARRAY_PTR(limits)[1]);
    return true;
}

static mrb_value
call_missing(mrb_state *mrb, mrb_value self)
{
    struct ruby *ruby = ruby_of(mrb);
    const mrb_value *arguments;
    mrb_value exception;
    petal_slice name, rest;
    mrb_sym symbol;
    mrb_int count;

    (void)self;
    ruby_check_end(ruby);
    mrb_get_args(mrb, "n*", &symbol, &arguments, &count);
    name = rest = ruby_slice(mrb_sym_str(mrb, symbol));
    if (take_prefix(&rest) != NULL)
        return call_prefixed(ruby, name, arguments, count);
    if (find_absent(ruby, name)) {
        mrb_get_args(mrb, "n*", &symbol, &arguments, &count); /* the stack may have moved */
        return run(ruby, &ruby->absent, convert_arguments(ruby, 0, arguments, count), (size_t)count,
                   false);
    }
    exception = mrb_exc_new_str(mrb, mrb_class_get(mrb, count > 0 ? "NoMethodError" : "NameError"),
                                ruby_describe_name(ruby, name, count > 0));
    mrb_iv_set(mrb, exception, mrb_intern_lit(mrb, "@name"), mrb_symbol_value(symbol));
    mrb_exc_raise(mrb, exception);
}

/* Shell.abort_transaction; after a commit it does nothing. */
static mrb_value
abort_transaction(mrb_state *mrb, mrb_value self)
{
    rows_abort(ruby_session(mrb));
    return self;
}

/* ---- Definitions ----------------------------------------------------------------------------- */

static void
define(mrb_state *mrb, struct RClass *class, const char *name, mrb_func_t function,
       const void *lent)
{
    mrb_value pointer = mrb_cptr_value(mrb, (void *)(uintptr_t)lent);
    struct RProc *proc = mrb_proc_new_cfunc_with_env(mrb, function, 1, &pointer);
    mrb_method_t method;

    MRB_METHOD_FROM_PROC(method, proc);
    mrb_define_method_raw(mrb, class, mrb_intern_cstr(mrb, name), method);
}

static void
define_list(struct ruby *ruby, const struct command *list)
{
    struct RClass *main = mrb_singleton_class_ptr(ruby->mrb, mrb_top_self(ruby->mrb));
    int arena = mrb_gc_arena_save(ruby->mrb);

    for (; list->name != NULL; list++) {
        define(ruby->mrb, main, list->name,
               strcmp(list->name, "import") == 0 ? call_import : call_command, list);
        mrb_gc_arena_restore(ruby->mrb, arena);
    }
}

/* The beginning and the end of `transaction`; prelude.rb runs the block in between. */
static void
define_transaction(struct ruby *ruby)
{
    static const struct command commit = {.name = "transaction",
                                          .main_name = "transaction",
                                          .run = command_commit,
                                          .database = DATABASE_ROWS};
    static const struct ruby_function functions[] = {{"abort_transaction", abort_transaction}};
    struct RClass *shell = mrb_singleton_class_ptr(ruby->mrb, mrb_obj_value(ruby->shell));

    define(ruby->mrb, shell, "begin_transaction", call_command,
           command_find(ruby->session, slice_of_string("transaction")));
    define(ruby->mrb, shell, "commit_transaction", call_command, &commit);
    ruby_define_functions(ruby, functions, COUNT_OF(functions));
}

void
ruby_define_commands(struct ruby *ruby)
{
    mrb_state *mrb = ruby->mrb;
    struct RClass *main = mrb_singleton_class_ptr(mrb, mrb_top_self(mrb));
    struct RClass *hbase = mrb_define_module(mrb, "Hbase");

    ruby->end_class = mrb_define_class(mrb, "SystemExit", mrb->eException_class);
    ruby->table_class = mrb_define_class_under(mrb, hbase, "Table", mrb->object_class);
    ruby->session->find_place = find_place;
    define_list(ruby, ruby->session->commands);
    mrb_define_method(mrb, main, "method_missing", call_missing, MRB_ARGS_ANY());
    for (size_t i = 0; i < COUNT_OF(table_commands); i++)
        define(mrb, ruby->table_class, table_commands[i].name, call_on_table, &table_commands[i]);
    mrb_define_method(mrb, ruby->table_class, "get_all_columns", columns_of_table, MRB_ARGS_NONE());
    define_transaction(ruby);
}
