/*
 * command.h -- the commands of the shell.
 *
 * A command is handed its evaluated arguments, their number checked already.  It prints what it has
 * to say and returns how it ended; *result, nil before, is what an echo shows.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_COMMAND_H
#define PETAL_TOOLS_SHELL_SESSION_COMMAND_H

#include "tools/shell/session/session.h"

#define COMMAND_ANY_NUMBER SIZE_MAX

/* What a command has to do with the session's database. */
enum command_database {
    DATABASE_WANTED, /* the command is not run where there is none, nor in a transaction */
    DATABASE_MADE,   /* by the command itself, once it knows that it will need it; the same */
    DATABASE_ROWS,   /* wanted; reads and writes only by tools/shell/data/rows.h */
    DATABASE_FACTS,  /* wanted; changes nothing and shows no rows */
    DATABASE_UNUSED
};

struct command {
    const char *name;
    const char *main_name; /* differs from the name for an alias */
    enum shell_status (*run)(struct session *session, const struct value *arguments, size_t count,
                             struct value *result);
    /* Its argument is a call that is not run: its name (a symbol), then its arguments. */
    bool takes_call;
    enum command_database database;
    /*
     * What the arguments are, a letter for each: t table, s snapshot, c command, f family, q column
     * (those after it, too), p file, n namespace, - anything else.
     */
    const char *kinds;
    size_t least, most; /* arguments */
};

const struct command *command_find(const struct session *session, petal_slice name);

/* A command need not look at all that it is handed. */
#define COMMAND_FUNCTION(name)                                                                     \
    enum shell_status name(                                                                        \
        struct session *session, const struct value *arguments __attribute__((unused)),            \
        size_t count __attribute__((unused)), struct value *result __attribute__((unused)))

/* tools/shell/session/log.c */
COMMAND_FUNCTION(command_log_level);

/* tools/shell/session/command.c */
COMMAND_FUNCTION(command_exit);

#endif
