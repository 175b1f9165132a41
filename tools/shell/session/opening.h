/*
 * opening.h -- a session begins and ends, and its database is opened: at the beginning if there is
 * one, else by the first command that wants or makes one.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_OPENING_H
#define PETAL_TOOLS_SHELL_SESSION_OPENING_H

#include "tools/shell/session/session.h"

/*
 * Begin, with the database in `directory` if there is one, or if `options` say that it is made. One
 * that another process writes to is opened to read, and standard error says so.
 * Prints why when that fails.  What the arguments point to outlives the session.
 */
enum shell_status session_open(struct session *session, const char *directory,
                               const petal_options *options);

/* Begin without a database, in whose directory one is about to be made. */
void session_begin(struct session *session, const char *directory, const petal_options *options);

/* Fail if there is no database in the directory; one that came meanwhile is opened. */
enum shell_status session_want_database(struct session *session);

/* A session that only reads shows what its writer has committed when a command begins; of commands
 * in a loop now and then one does. */
enum shell_status session_refresh(struct session *session);

/*
 * Make the database if there is none.  A command does so when nothing can be wrong with its
 * arguments any more: whoever typed the directory wrong shall not find one there.
 */
enum shell_status session_make_database(struct session *session);

/* Release everything.  Prints why when what was in memory could not be stored. */
enum shell_status session_close(struct session *session);

#endif
