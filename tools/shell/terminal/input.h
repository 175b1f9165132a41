/*
 * input.h -- where the shell's lines come from: a terminal, a stream, or a text.
 *
 * On a terminal libedit edits the line, with a history (tools/shell/terminal/history.h); Tab
 * completes it (tools/shell/ruby/commands/complete.rb).
 *
 * The room terminal: lines that people type: editing, history, completion by Tab.
 */
#ifndef PETAL_TOOLS_SHELL_TERMINAL_INPUT_H
#define PETAL_TOOLS_SHELL_TERMINAL_INPUT_H

#include "tools/shell/session/session.h"

/*
 * Run all commands of a text (its lines parted by newlines), a stream, or a person at a terminal. A
 * syntax error in an input of several lines ends them: what follows, such as the rest of a block,
 * would be run for itself.  At a terminal the lines that wait by then, of the same paste, are
 * dropped. A text returns false when it ended inside an input.
 */
bool input_run_text(struct session *session, const char *text);
void input_run_stream(struct session *session, FILE *stream);
void input_run_terminal(struct session *session);

/* The same for a stream whose commands' questions are answered from standard input. */
void input_run_script(struct session *session, FILE *stream);

/* After such an error: what follows is not run, and that is said. */
void input_leave_rest(struct session *session);

#endif
