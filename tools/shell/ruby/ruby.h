/*
 * ruby.h -- the shell's language: mruby, in which the commands are methods.
 *
 * An input is one line, or several where Ruby's parser says that more must follow.  Its local
 * variables are those of all inputs of the session.  A mistake or an exception that nothing rescues
 * ends the input; it is shown with its line and a caret under the place.
 *
 * Ruby has a bounded heap.  It sees no files, sockets or processes, except with `unsafe`.
 *
 * The room ruby: Ruby's values for commands, commands as methods, those that are written in Ruby,
 * what scripts use of Java.
 */
#ifndef PETAL_TOOLS_SHELL_RUBY_RUBY_H
#define PETAL_TOOLS_SHELL_RUBY_RUBY_H

#include "tools/shell/session/session.h"

/* Start Ruby as session->ruby, if that has not been done. */
void ruby_open(struct session *session);

/* Does nothing if Ruby was not started. */
void ruby_close(struct session *session);

/* Must more lines follow the input, whose lines each end with \n? */
bool ruby_wants_more(struct session *session, petal_slice input);

/* How many brackets are open in the input that was last asked about. */
unsigned ruby_depth(const struct session *session);

/*
 * Run the input that was last asked about and show the value of its last expression, unless that
 * is nil; `line` is the number of its first line.  The worst status of its commands is entered in
 * session->worst. False: it has a syntax error, which is shown.
 */
bool ruby_run(struct session *session, petal_slice input, unsigned line);

/* Add the commands that make the table, which the shell reads back: the first leaves it writable, and
 * where it takes no writes once it is filled the other one closes it.  Ruby was started. */
void ruby_describe_creation(struct session *session, petal_slice table, struct text *creation,
                            struct text *closing);

/* Tab: what is to be added to the line, which ends at the cursor; where nothing is, the words that may
 * go on with it, in lines of so many columns. */
void ruby_complete(struct session *session, petal_slice line, size_t width, struct text *insert,
                   struct text *words);

#endif
