/*
 * eval.h -- runs an input: evaluates its expressions, times its commands, shows mistakes and the
 * echo.
 *
 * The room eval: a parsed input is run, its commands, methods and variables.
 */
#ifndef PETAL_TOOLS_SHELL_EVAL_EVAL_H
#define PETAL_TOOLS_SHELL_EVAL_EVAL_H

#include "tools/shell/language/lexer.h"
#include "tools/shell/session/session.h"

/*
 * Run what `lexer` has gathered; `line` is the number of its first line.  The worst status of its
 * commands is entered in session->worst.  Afterwards the lexer and the session's arena are clear.
 */
void eval_input(struct session *session, struct lexer *lexer, unsigned line);

#endif
