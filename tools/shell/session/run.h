/*
 * run.h -- runs a command: checks the number of its arguments, times it, and shows its failure;
 * shows mistakes of language.
 *
 * How a failure is shown and whether it ends the shell is session->failure_style's.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_RUN_H
#define PETAL_TOOLS_SHELL_SESSION_RUN_H

#include "tools/shell/session/command.h"

/* `glued`: the line of its duration lacks its end, so that an echo stands behind it. */
void run_command(struct session *session, const struct command *command,
                 const struct value *arguments, size_t count, bool glued, struct value *value);

/* A place in an input, whose first line has the number `line`. */
struct place {
    petal_slice input;
    size_t position; /* what lies behind the end means its last byte */
    unsigned line;
};

/* Show `kind (petal:LINE: message)`, the line and a caret under the place. */
void run_mistake(struct session *session, const struct place *place, const char *kind,
                 const char *message);

/* Fail as Ruby's raise does: show a message with the name of its kind. */
void run_raise(struct session *session, const char *kind, const char *message);

#endif
