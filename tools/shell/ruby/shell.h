/*
 * shell.h -- commands that are written in Ruby, in tools/shell/ruby/commands/: the methods of the
 * module Commands.  What they call of the session and the store is the module Shell.
 *
 * They are read when the first of them is run, so that a shell that starts does not wait for them.
 */
#ifndef PETAL_TOOLS_SHELL_RUBY_SHELL_H
#define PETAL_TOOLS_SHELL_RUBY_SHELL_H

#include "tools/shell/session/command.h"

/* Runs the method that has the main name of session->running. */
COMMAND_FUNCTION(command_in_ruby);

/* tools/shell/ruby/receipt.c */
COMMAND_FUNCTION(command_explain);

#endif
