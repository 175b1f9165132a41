/* run.c -- see tools/shell/session/run.h. */
#include "tools/shell/session/run.h"

#include "tools/shell/session/interrupt.h"
#include "tools/shell/session/opening.h"
#include "tools/shell/text/clock.h"

#include <string.h>

static void
show_duration(struct session *session, double seconds, bool glued)
{
    char line[48];

    if (session->no_times || format_is_on(&session->output.format) ||
        (session->output.document && !session->output.terminal))
        return;
    (void)snprintf(line, sizeof(line), "Took %.4f seconds", seconds);
    if (glued)
        output_unfinished_line(&session->output, slice_of_string(line));
    else
        output_line(&session->output, slice_of_string(line));
}

void
run_end_loop(struct session *session)
{
    if (session->timed_loop != 0 && !session->ended)
        show_duration(session, session->loop_end - session->loop_begin, false);
    session->timed_loop = 0;
}

/* Of a command that began then.  Those in one loop have a duration together, shown after it. */
static void
take_duration(struct session *session, double begin, bool glued)
{
    double end = clock_seconds(CLOCK_MONOTONIC);

    if (session->ended)
        return;
    if (session->loop == 0) {
        show_duration(session, end - begin, glued);
        return;
    }
    if (session->timed_loop == 0)
        session->loop_begin = begin;
    session->timed_loop = session->loop;
    session->loop_end = end;
}

/* The first failure says how the program ends. */
static void
note_failure(struct session *session, enum shell_status status)
{
    if (!session->failed)
        session->worst = status;
    session->failed = true;
    if (session->failure_style != FAILURE_IS_SHOWN || session->stop_at_failure)
        session->ended = true;
}

void
run_note_interrupt(struct session *session)
{
    session->interrupted = true;
    if (session->conversation) {
        interrupt_clear();
        return;
    }
    session->ended = true;
    session->exit_status = STATUS_OF_INTERRUPT;
}

/* ---- Commands -------------------------------------------------------------------------------- */

/* The number of the line that the place is in; *begin receives where that begins in the input. */
static unsigned
line_of(const struct place *place, size_t *begin)
{
    const char *input = place->input.data;
    size_t end = place->position < place->input.size ? place->position : place->input.size;
    unsigned line = place->line;

    *begin = 0;
    for (size_t i = 0; i < end; i++) {
        /* What lies after the last line's end is in that line. */
        if (input[i] == '\n' && i + 1 < place->input.size) {
            *begin = i + 1;
            line++;
        }
    }
    return line;
}

/* Add `before`, the line's beginning and its bytes up to the place, and a caret under the place. */
static void
add_caret(struct text *text, petal_slice before)
{
    while (before.size > 0)
        text_add_string(text,
                        *(const char *)text_take_character(&before).data == '\t' ? "\t" : " ");
    text_add_string(text, "^");
}

/* The line of the input that begins there. */
static petal_slice
line_at(const struct place *place, size_t begin)
{
    const char *input = place->input.data;
    size_t end = begin;

    while (end < place->input.size && input[end] != '\n')
        end++;
    return (petal_slice){input + begin, end - begin};
}

/* Arguments are too few, and two of them were typed as one: show where the comma goes. */
static void
add_missing_comma(struct text *text, const struct place *place)
{
    struct place comma = *place;
    size_t begin;

    comma.position = place->comma;
    (void)line_of(&comma, &begin);
    text_add_string(text, "\nA comma is missing here:\n");
    text_add_slice(text, line_at(place, begin));
    text_add_string(text, "\n");
    add_caret(text, (petal_slice){(const char *)place->input.data + begin, place->comma - begin});
}

/* Where the command at hand was called, for what is said of its failure. */
static void
find_place(struct session *session)
{
    if (session->find_place != NULL)
        session->find_place(session);
}

enum shell_status
run_fail_count(struct session *session, const struct command *command, size_t count)
{
    char expected[48];

    if (command->most == COMMAND_ANY_NUMBER)
        (void)snprintf(expected, sizeof(expected), "%zu+", command->least);
    else if (command->least == command->most)
        (void)snprintf(expected, sizeof(expected), "%zu", command->least);
    else
        (void)snprintf(expected, sizeof(expected), "%zu..%zu", command->least, command->most);
    (void)session_fail(session, SHELL_USAGE, "wrong number of arguments (given %zu, expected %s)",
                       count, expected);
    find_place(session);
    if (count < command->least && session->place.comma > 0 && session_gives_reasons(session))
        add_missing_comma(&session->message, &session->place);
    return SHELL_USAGE;
}

/* The file and line of a script that the place is in. */
static void
add_origin(struct text *text, const struct session *session, const struct place *place)
{
    size_t begin;

    if (session->script != NULL)
        text_add_format(text, "%s:%u: ", session->script, line_of(place, &begin));
}

/* Show why the command failed where the shell goes on: as HBase does, or in one line that says
 * where.  A verdict is no error of the command, so it is shown as it is. */
static void
show_failure(struct session *session)
{
    struct text text = {0};
    bool complains = !interrupt_pending() && !session->verdict;

    add_origin(&text, session, &session->place);
    if (complains)
        text_add_string(&text, session->script != NULL ? "ERROR: " : "\nERROR: ");
    text_add_slice(&text, text_slice(&session->message));
    if (complains && session->script == NULL && session->refused)
        text_add_string(&text, "\n");
    else if (complains && session->script == NULL)
        text_add_format(&text, "\n\nFor usage try 'help \"%s\"'\n",
                        session->failed_command->main_name);
    output_error(&session->output, text_slice(&text));
    text_free(&text);
}

void
run_fail(struct session *session, const char *kind)
{
    struct output *output = &session->output;
    struct text text = {0};

    if (session->failure_style == FAILURE_IS_SHOWN) {
        show_failure(session);
        note_failure(session, session->failure);
        return;
    }
    add_origin(&text, session, &session->place);
    if (session->failure_style == FAILURE_ENDS_SCRIPT)
        text_add_string(&text, "ERROR ");
    text_add_format(&text, "%s: ", kind);
    text_add_slice(&text, text_slice(&session->message));
    if (session->failure_style == FAILURE_ENDS_STREAM) {
        output_finish(output);
        output_flush(output);
        (void)fprintf(stderr, "%s\n", text_string(&text));
    } else {
        if (output->errors == NULL)
            output_join(output);
        output_error(output, text_slice(&text));
    }
    text_free(&text);
    note_failure(session, SHELL_USAGE);
}

enum shell_status
run_check_transaction(struct session *session, const struct command *command)
{
    if (session->transaction == NULL ||
        (command->database != DATABASE_WANTED && command->database != DATABASE_MADE))
        return SHELL_FINE;
    return session_fail(session, SHELL_USAGE,
                        "%s cannot be part of a transaction: only reads and writes of rows can, "
                        "such as get, scan and put",
                        command->name);
}

const char *
run_command(struct session *session, const struct command *command, const struct value *arguments,
            size_t count, bool glued, struct value *value)
{
    bool counted = count >= command->least && count <= command->most;
    bool wanted = command->database != DATABASE_UNUSED && command->database != DATABASE_MADE;
    /* In a transaction a failure is raised, so that the block does not commit without it. */
    bool shown = session->failure_style == FAILURE_IS_SHOWN && session->transaction == NULL;
    bool failed;
    const char *kind = NULL;
    double begin;
    enum shell_status status;

    if (session->timed_loop != session->loop)
        run_end_loop(session);
    begin = clock_seconds(CLOCK_MONOTONIC);
    *value = value_nil();
    session->output.document = false;
    session->verdict = false;
    session->refused = false;
    text_clear(&session->message);
    output_join(&session->output); /* as HBase, of commands on tables in one line of input */
    if (session->output.errors != NULL)
        output_flush(&session->output); /* before what the command may say of its input */
    session->running = command;
    status = run_check_transaction(session, command);
    if (status == SHELL_FINE && !counted)
        status = run_fail_count(session, command, count);
    if (status == SHELL_FINE && wanted)
        status = session_want_database(session);
    if (status == SHELL_FINE && wanted)
        status = session_refresh(session);
    if (status == SHELL_FINE)
        status = command->run(session, arguments, count, value);
    failed = session->message.size > 0;
    format_end(&session->output.format);
    if (failed) {
        session->failed_command = command;
        session->failure = status;
        find_place(session);
    }
    if (failed && shown)
        show_failure(session);
    take_duration(session, begin, glued || (failed && !shown));
    if (failed && !shown)
        kind = counted ? "RuntimeError" : "ArgumentError";
    if (kind != NULL && interrupt_pending())
        run_fail(session, kind);
    else if (failed && shown)
        note_failure(session, status);
    else if (!failed && !session->failed && status > session->worst)
        session->worst = status; /* it ended well, or with no for an answer */
    if (interrupt_pending()) {
        run_note_interrupt(session);
        kind = NULL;
    }
    output_flush(&session->output);
    return kind;
}

/* ---- Mistakes -------------------------------------------------------------------------------- */

/* The mistake, then its line and the caret. */
static void
describe_mistake(const struct session *session, struct text *text, const struct place *place,
                 const char *kind, const char *message)
{
    enum failure_style style = session->failure_style;
    const char *input = place->input.data;
    size_t size = place->input.size, position = place->position, begin;
    unsigned line = line_of(place, &begin);

    if (position >= size)
        position = size > 0 ? size - 1 : 0;
    add_origin(text, session, place);
    if (style == FAILURE_ENDS_SCRIPT)
        text_add_string(text, "ERROR ");
    if (session->script != NULL)
        text_add_format(text, "%s: %s\n", kind, message);
    else if (style == FAILURE_IS_SHOWN)
        text_add_format(text, "%s (petal:%u: %s)\n", kind, line, message);
    else
        text_add_format(text, "%s: (petal):%u: %s\n", kind, line, message);
    text_add_slice(text, line_at(place, begin));
    text_add_string(text, "\n");
    add_caret(text, (petal_slice){input + begin, position - begin});
}

void
run_mistake(struct session *session, const struct place *place, const char *kind,
            const char *message)
{
    struct text text = {0};

    describe_mistake(session, &text, place, kind, message);
    if (session->failure_style == FAILURE_ENDS_STREAM) {
        output_flush(&session->output);
        (void)fprintf(stderr, "%s\n", text_string(&text));
    } else {
        output_error(&session->output, text_slice(&text));
    }
    text_free(&text);
    note_failure(session, SHELL_USAGE);
}

void
run_raise(struct session *session, const char *kind, const char *message)
{
    struct text text = {0};

    text_clear(&session->message);
    text_add_string(&session->message, message);
    if (session->failure_style != FAILURE_IS_SHOWN) {
        run_fail(session, kind);
        return;
    }
    add_origin(&text, session, &session->place);
    text_add_format(&text, session->script != NULL ? "%s: %s" : "%s (%s)", kind, message);
    output_error(&session->output, text_slice(&text));
    text_free(&text);
    note_failure(session, SHELL_USAGE);
}
