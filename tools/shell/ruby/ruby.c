/* ruby.c -- starts mruby, and runs inputs.  See tools/shell/ruby/ruby.h. */
#include "tools/shell/ruby/ruby.h"

#include "tools/shell/data/rows.h"
#include "tools/shell/ruby/state.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/session/run.h"

#include <mruby/array.h>
#include <mruby/error.h>
#include <mruby/irep.h>
#include <mruby/proc.h>
#include <mruby/string.h>
#include <mruby/variable.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Scripts may fill the heap; parsing and what is said of an error have room beyond that. */
enum { MOST_HEAP_BYTES = 256 << 20, RESERVE_BYTES = 32 << 20, LONG_INPUT_BYTES = 4096 };

/* Blocks see so many variables of an input: mruby has their number in a byte of its flags. */
enum { MOST_VARIABLES = 253, ENV_FLAGS = 0x1fffff };

/* Compiled from prelude.rb. */
extern const uint8_t ruby_prelude[];

/* The parts of mruby that scripts see: by these they reach no files and no processes.  A part is
 * there once it has been initialized by the function that mruby's own start calls. */
#define PARTS(part)                                                                                \
    part(compar_ext) part(enum_ext) part(string_ext) part(numeric_ext) part(array_ext)             \
        part(hash_ext) part(range_ext) part(proc_ext) part(symbol_ext) part(object_ext)            \
            part(fiber) part(enumerator) part(enum_lazy) part(toplevel_ext) part(kernel_ext)       \
                part(class_ext) part(pack) part(sprintf) part(time) part(struct) part(random)      \
                    part(math) part(rational) part(complex) part(metaprog) part(method) part(eval) \
                        part(objectspace)
#define UNSAFE_PARTS(part) part(io) part(socket)

#define DECLARE(part) extern void GENERATED_TMP_mrb_mruby_##part##_gem_init(mrb_state *mrb);
PARTS(DECLARE)
UNSAFE_PARTS(DECLARE)

#define LIST(part) GENERATED_TMP_mrb_mruby_##part##_gem_init,
static void (*const parts[])(mrb_state *mrb) = {PARTS(LIST)};
static void (*const unsafe_parts[])(mrb_state *mrb) = {UNSAFE_PARTS(LIST)};

/*
 * May the heap grow by so much?  When it may not, mruby collects garbage and asks again: then an
 * eighth of the heap must have become free, or a full heap would be searched for each object.
 */
static bool
may_grow(struct ruby *ruby, size_t more)
{
    size_t most = MOST_HEAP_BYTES + (ruby->running ? 0 : RESERVE_BYTES);
    bool asks_again = ruby->refused;

    if (ruby->running && interrupt_pending())
        return false; /* a loop that calls no command ends so, if it allocates */
    ruby->refused = false;
    if (more <= most && ruby->heap_bytes <= most - more)
        return !asks_again || ruby->heap_bytes <= MOST_HEAP_BYTES / 8 * 7 || !ruby->running;
    ruby->refused = !asks_again;
    return false;
}

/* Ruby's heap has a bound: beyond it NoMemoryError is raised. */
static void *
allocate(mrb_state *mrb, void *memory, size_t size, void *context)
{
    struct ruby *ruby = context;
    size_t before = memory != NULL ? malloc_usable_size(memory) : 0;
    void *grown;

    (void)mrb;
    if (size == 0) {
        ruby->heap_bytes -= before;
        free(memory);
        return NULL;
    }
    if (size > before && !may_grow(ruby, size - before))
        return NULL;
    grown = realloc(memory, size);
    if (grown != NULL)
        ruby->heap_bytes += malloc_usable_size(grown) - before;
    return grown;
}

/* Start it; what it needs is there, or the program cannot run. */
static mrb_value
prepare(mrb_state *mrb, void *context)
{
    struct ruby *ruby = context;
    int arena = mrb_gc_arena_save(mrb);

    for (size_t i = 0; i < COUNT_OF(parts); i++)
        parts[i](mrb);
    for (size_t i = 0; ruby->session->unsafe && i < COUNT_OF(unsafe_parts); i++)
        unsafe_parts[i](mrb);
    ruby_define_shell(ruby);
    ruby_define_commands(ruby);
    ruby_define_kernel(mrb);
    ruby_define_regexp(mrb);
    ruby_define_java(ruby);
    ruby_define_store(ruby);
    ruby_define_schema(ruby);
    ruby_define_regions(ruby);
    ruby_define_receipt(ruby);
    ruby_define_variables(ruby);
    (void)mrb_load_irep(mrb, ruby_prelude);
    mrb_gc_arena_restore(mrb, arena);
    ruby->context = mrbc_context_new(mrb);
    ruby->context->capture_errors = true;
    (void)mrbc_filename(mrb, ruby->context, RUBY_FILE);
    return mrb_nil_value();
}

void
ruby_open(struct session *session)
{
    struct ruby *ruby;
    mrb_bool failed = false;

    if (session->ruby != NULL)
        return;
    ruby = memory_allocate(sizeof(*ruby));
    *ruby = (struct ruby){.session = session};
    ruby->mrb = mrb_open_core(allocate, ruby);
    if (ruby->mrb != NULL) {
        ruby->mrb->ud = ruby;
        (void)mrb_protect_error(ruby->mrb, prepare, ruby, &failed);
    }
    if (ruby->mrb == NULL || failed || ruby->mrb->exc != NULL) {
        (void)fputs("kv-shell: Ruby cannot be started\n", stderr);
        exit(3);
    }
    session->ruby = ruby;
}

static void
forget_parser(struct ruby *ruby)
{
    if (ruby->parser != NULL)
        mrb_parser_free(ruby->parser);
    ruby->parser = NULL;
    source_free(&ruby->source);
}

void
ruby_close(struct session *session)
{
    struct ruby *ruby = session->ruby;

    if (ruby == NULL)
        return;
    forget_parser(ruby);
    mrbc_context_free(ruby->mrb, ruby->context);
    mrb_close(ruby->mrb);
    free(ruby->loops);
    text_free(&ruby->absent_name);
    free(ruby);
    session->ruby = NULL;
    session->find_place = NULL;
}

/* ---- Parsing --------------------------------------------------------------------------------- */

struct parse {
    struct ruby *ruby;
    const struct text *text;
    struct mrb_parser_state *parser; /* NULL: there was no memory for it */
};

static mrb_value
run_parser(mrb_state *mrb, void *context)
{
    struct parse *parse = context;
    struct mrb_parser_state *parser = mrb_parser_new(mrb);

    if (parser == NULL)
        return mrb_nil_value();
    parse->parser = parser;
    parser->s = parse->text->bytes;
    parser->send = parse->text->bytes + parse->text->size;
    parser->capture_errors = true;
    parse->ruby->context->lineno = 1;
    mrb_parser_parse(parser, parse->ruby->context);
    return mrb_nil_value();
}

/* The state of the parser after the text, NULL without memory. */
static struct mrb_parser_state *
parse(struct ruby *ruby, const struct text *text)
{
    struct parse parse = {.ruby = ruby, .text = text};
    mrb_bool failed;

    (void)mrb_protect_error(ruby->mrb, run_parser, &parse, &failed);
    ruby->mrb->exc = NULL;
    return parse.parser;
}

/* Is a string, a bracket or a body still open? */
static bool
is_open(const struct mrb_parser_state *parser)
{
    const char *message = parser->nerr > 0 ? parser->error_buffer[0].message : NULL;

    if (message != NULL)
        return strstr(message, "unexpected end of file") != NULL ||
               strstr(message, "unexpected $end") != NULL ||
               strstr(message, "meets end of file") != NULL ||
               strstr(message, "heredoc delimiter") != NULL;
    return parser->parsing_heredoc != NULL || parser->heredocs_from_nextline != NULL ||
           parser->lex_strterm != NULL;
}

/* Of a long list each line but the last ends so: no need to parse all of it again and again. */
static bool
goes_on(petal_slice input)
{
    const char *letters = input.data;
    size_t size = input.size;

    while (size > 0 && (letters[size - 1] == '\n' || letters[size - 1] == ' '))
        size--;
    if (size > 0 && letters[size - 1] == '\\')
        return size == input.size - 1;
    return size > LONG_INPUT_BYTES && strchr(",[{(", letters[size - 1]) != NULL;
}

bool
ruby_wants_more(struct session *session, petal_slice input)
{
    struct ruby *ruby = session->ruby;
    int arena = mrb_gc_arena_save(ruby->mrb);

    forget_parser(ruby);
    if (goes_on(input))
        return true;
    source_read(&ruby->source, input);
    ruby->parser = parse(ruby, &ruby->source.text);
    mrb_gc_arena_restore(ruby->mrb, arena);
    return ruby->parser != NULL && is_open(ruby->parser);
}

unsigned
ruby_depth(const struct session *session)
{
    return session->ruby->source.depth;
}

/* ---- Running --------------------------------------------------------------------------------- */

static void
show_echo(struct ruby *ruby, mrb_value value)
{
    struct session *session = ruby->session;

    if (mrb_nil_p(value) || format_is_on(&session->output.format))
        return;
    value = mrb_inspect(ruby->mrb, value);
    text_clear(&session->scratch);
    text_add_string(&session->scratch, "=> ");
    text_add_slice(&session->scratch, ruby_slice(value));
    output_join(&session->output);
    output_plain_slice(&session->output, text_slice(&session->scratch));
}

/* Show what became of the input: the value of its last expression, or an exception. */
static mrb_value
show_outcome(mrb_state *mrb, void *context)
{
    struct ruby *ruby = ruby_of(mrb);
    mrb_value *value = context;

    if (interrupt_pending()) {
        text_clear(&ruby->session->message);
        run_note_interrupt(ruby->session);
    }
    run_end_loop(ruby->session);
    if (ruby->session->interrupted) {
        if (ruby->session->message.size == 0) /* no command has said how far it came */
            output_error(&ruby->session->output, slice_of_string("Interrupted"));
    } else if (mrb_exception_p(*value)) {
        if (!mrb_obj_is_kind_of(mrb, *value, ruby->end_class))
            ruby_show_exception(ruby, *value);
    } else if (!ruby->session->ended) {
        show_echo(ruby, *value);
    }
    return mrb_nil_value();
}

/* Blocks of earlier inputs share the variables with this one, which may have more of them. */
static void
share_variables(mrb_state *mrb, const struct RProc *proc)
{
    struct REnv *shared = mrb_vm_ci_env(mrb->c->cibase);

    if (shared != NULL && MRB_ENV_LEN(shared) < proc->body.irep->nlocals)
        shared->flags = ((shared->flags & ~255U) | proc->body.irep->nlocals) & ENV_FLAGS;
}

static mrb_value
run_input(mrb_state *mrb, void *context)
{
    struct mrb_parser_state *parser = context;
    struct ruby *ruby = ruby_of(mrb);
    struct RProc *proc = NULL;
    mrb_value value;

    if (ruby->context->slen > MOST_VARIABLES) {
        ruby->context->slen = ruby->variables > 0 ? (int)ruby->variables - 1 : 0;
        mrb_raise(mrb, mrb_class_get(mrb, "SyntaxError"),
                  "there are at most 253 local variables: use $global ones, or a hash");
    }
    proc = mrb_generate_code(mrb, parser);
    if (proc == NULL) {
        ruby->context->slen = ruby->variables > 0 ? (int)ruby->variables - 1 : 0;
        mrb_raise(mrb, mrb_class_get(mrb, "SyntaxError"), "the input is too complex");
    }
    ruby_find_loops(ruby, proc);
    share_variables(mrb, proc);
    ruby->running = true;
    value = mrb_vm_run(mrb, proc, mrb_top_self(mrb), ruby->variables);
    ruby->running = false;
    ruby->variables = proc->body.irep->nlocals;
    if (mrb->exc != NULL)
        value = mrb_obj_value(mrb->exc);
    mrb->exc = NULL;
    return value;
}

static void
run_parsed(struct ruby *ruby, struct mrb_parser_state *parser)
{
    mrb_state *mrb = ruby->mrb;
    mrb_bool failed;
    mrb_value value = mrb_protect_error(mrb, run_input, parser, &failed);

    ruby->running = false;
    ruby->conversions = 0;
    rows_abort(ruby->session); /* one that a fiber left open */
    mrb->exc = NULL;
    mrb_gc_protect(mrb, value);
    value = mrb_protect_error(mrb, show_outcome, &value, &failed);
    mrb->exc = NULL;
    if (failed) /* what the value's inspect raised */
        (void)mrb_protect_error(mrb, show_outcome, &value, &failed);
    mrb->exc = NULL;
}

bool
ruby_run(struct session *session, petal_slice input, unsigned line)
{
    struct ruby *ruby = session->ruby;
    int arena = mrb_gc_arena_save(ruby->mrb);
    bool whole = true;

    ruby->input = input;
    ruby->line = line;
    session->interrupted = false;
    if (ruby->parser == NULL) {
        source_read(&ruby->source, input);
        ruby->parser = parse(ruby, &ruby->source.text);
    }
    if (ruby->parser == NULL)
        run_raise(session, "NoMemoryError", "the input is too long");
    else
        whole = ruby->parser->nerr == 0 && !is_open(ruby->parser);
    if (!whole)
        ruby_show_syntax_error(ruby, ruby->parser);
    else if (ruby->parser != NULL)
        run_parsed(ruby, ruby->parser);
    forget_parser(ruby);
    mrb_gc_arena_restore(ruby->mrb, arena);
    output_finish(&session->output);
    output_flush(&session->output);
    arena_clear(&session->arena);
    return whole;
}
