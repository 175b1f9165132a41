/*
 * run.h -- runs a command: checks the number of its arguments, times it, and shows its failure;
 * shows mistakes of language.
 *
 * Commands in a loop have one line with their duration, which is shown after the outermost loop.
 *
 * How a failure is shown and whether it ends the shell is session->failure_style's.  If the
 * commands come from a file, its name and the number of the line stand before the message.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_RUN_H
#define PETAL_TOOLS_SHELL_SESSION_RUN_H

#include "tools/shell/session/command.h"

/* Fails if the session has a transaction and the command cannot be part of it. */
enum shell_status run_check_transaction(struct session *session, const struct command *command);

/*
 * `glued`: the line of its duration lacks its end, so that an echo stands after it.
 *
 * Returns NULL, or, where a failure ends the shell or a transaction, the class of the exception
 * that the caller must raise with session->message.
 */
const char *run_command(struct session *session, const struct command *command,
                        const struct value *arguments, size_t count, bool glued,
                        struct value *value);

/* The command was given `count` arguments, too few or too many: say how many it takes, and if two
 * strings were typed as one, show where a comma is missing. */
enum shell_status run_fail_count(struct session *session, const struct command *command,
                                 size_t count);

/* The loop whose commands were timed, if there is one, has ended: show its duration. */
void run_end_loop(struct session *session);

/* Nothing has rescued what run_command made the caller raise: show session->message, and end the
 * shell, if failures do that, with one line that begins with the class. */
void run_fail(struct session *session, const char *kind);

/* Show `kind (petal:LINE: message)`, or `FILE:LINE: kind: message`, the line and a caret under the
 * place. */
void run_mistake(struct session *session, const struct place *place, const char *kind,
                 const char *message);

/* Fail as Ruby's raise does: show a message with the name of its kind. */
void run_raise(struct session *session, const char *kind, const char *message);

/* Ctrl-C, which is pending, ends the input at hand, and a script as a whole. */
void run_note_interrupt(struct session *session);

#endif
