/* run.c -- see tools/shell/session/run.h. */
#include "tools/shell/session/run.h"

#include "tools/shell/session/interrupt.h"
#include "tools/shell/text/clock.h"

#include <string.h>

static void
show_duration(struct session *session, double seconds, bool glued)
{
    char line[48];

    if (session->no_times || format_is_on(&session->output.format))
        return;
    (void)snprintf(line, sizeof(line), "Took %.4f seconds", seconds);
    if (glued)
        output_unfinished_line(&session->output, slice_of_string(line));
    else
        output_line(&session->output, slice_of_string(line));
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

/* Ctrl-C ends the input at hand, and a script as a whole. */
static void
note_interrupt(struct session *session)
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

static enum shell_status
fail_count(struct session *session, const struct command *command, size_t count)
{
    if (command->most == COMMAND_ANY_NUMBER)
        return session_fail(session, SHELL_USAGE,
                            "wrong number of arguments (given %zu, expected %zu+)", count,
                            command->least);
    if (command->least == command->most)
        return session_fail(session, SHELL_USAGE,
                            "wrong number of arguments (given %zu, expected %zu)", count,
                            command->least);
    return session_fail(session, SHELL_USAGE,
                        "wrong number of arguments (given %zu, expected %zu..%zu)", count,
                        command->least, command->most);
}

/* Show why the command failed, in one line that begins with Ruby's name for such an error. */
static void
show_end(struct session *session, const char *kind)
{
    const char *message = text_string(&session->message);

    if (session->failure_style == FAILURE_ENDS_SCRIPT) {
        output_join(&session->output);
        output_plain(&session->output, "ERROR %s: %s", kind, message);
        return;
    }
    output_finish(&session->output);
    output_flush(&session->output);
    (void)fprintf(stderr, "%s: %s\n", kind, message);
}

void
run_command(struct session *session, const struct command *command, const struct value *arguments,
            size_t count, bool glued, struct value *value)
{
    bool counted = count >= command->least && count <= command->most;
    bool failed, shown = session->failure_style == FAILURE_IS_SHOWN;
    double begin = clock_seconds(CLOCK_MONOTONIC);
    enum shell_status status;

    *value = value_nil();
    text_clear(&session->message);
    output_join(&session->output); /* as HBase, of commands on tables in one line of input */
    session->running = command;
    status = counted ? command->run(session, arguments, count, value)
                     : fail_count(session, command, count);
    failed = session->message.size > 0;
    format_end(&session->output.format);
    if (failed && shown && interrupt_pending())
        output_plain(&session->output, "%s", text_string(&session->message));
    else if (failed && shown)
        output_plain(&session->output, "\nERROR: %s\n\nFor usage try 'help \"%s\"'\n",
                     text_string(&session->message), command->main_name);
    if (!session->ended)
        show_duration(session, clock_seconds(CLOCK_MONOTONIC) - begin, glued || (failed && !shown));
    if (failed && !shown)
        show_end(session, counted ? "RuntimeError" : "ArgumentError");
    if (failed)
        note_failure(session, status);
    else if (!session->failed && status > session->worst)
        session->worst = status; /* it ended well, or with no for an answer */
    if (interrupt_pending())
        note_interrupt(session);
    output_flush(&session->output);
}

/* ---- Mistakes -------------------------------------------------------------------------------- */

/* Add `before`, the line's beginning and its bytes up to the place, and a caret under the place. */
static void
add_caret(struct text *text, petal_slice before)
{
    while (before.size > 0)
        text_add_string(text,
                        *(const char *)text_take_character(&before).data == '\t' ? "\t" : " ");
    text_add_string(text, "^");
}

/* The mistake as it stands behind its kind, then its line and the caret. */
static void
describe_mistake(struct text *text, const struct place *place, const char *kind,
                 const char *message, enum failure_style style)
{
    const char *input = place->input.data;
    size_t size = place->input.size, position = place->position, begin = 0, end;
    unsigned line = place->line;

    if (position >= size)
        position = size > 0 ? size - 1 : 0;
    for (size_t i = 0; i < position; i++) {
        if (input[i] == '\n') {
            begin = i + 1;
            line++;
        }
    }
    for (end = begin; end < size && input[end] != '\n'; end++)
        ;
    text_add_format(text, style == FAILURE_IS_SHOWN ? "%s (petal:%u: " : "%s: (petal):%u: ", kind,
                    line);
    text_add_string(text, message);
    text_add_string(text, style == FAILURE_IS_SHOWN ? ")\n" : "\n");
    text_add(text, input + begin, end - begin);
    text_add_string(text, "\n");
    add_caret(text, (petal_slice){input + begin, position - begin});
}

void
run_mistake(struct session *session, const struct place *place, const char *kind,
            const char *message)
{
    enum failure_style style = session->failure_style;
    struct text text = {0};

    if (style == FAILURE_ENDS_SCRIPT)
        text_add_string(&text, "ERROR ");
    describe_mistake(&text, place, kind, message, style);
    if (style == FAILURE_ENDS_STREAM) {
        output_flush(&session->output);
        (void)fprintf(stderr, "%s\n", text_string(&text));
    } else {
        output_plain_slice(&session->output, text_slice(&text));
    }
    text_free(&text);
    note_failure(session, SHELL_USAGE);
}

void
run_raise(struct session *session, const char *kind, const char *message)
{
    text_clear(&session->message);
    text_add_string(&session->message, message);
    if (session->failure_style == FAILURE_IS_SHOWN)
        output_plain(&session->output, "%s (%s)", kind, message);
    else
        show_end(session, kind);
    note_failure(session, SHELL_USAGE);
}
