/*
 * history.h -- the lines that a person has typed, kept in a file for the next time.
 *
 * The file is $XDG_STATE_HOME/petal/history, or ~/.local/state/petal/history; nobody but its owner
 * may read it. Each line is added at once, so that it survives whatever ends the shell, and several
 * shells can share the file. It keeps HISTSIZE lines, 1000 if that is not set, none if it is 0;
 * what is older goes when the file has twice as many.
 */
#ifndef PETAL_TOOLS_SHELL_TERMINAL_HISTORY_H
#define PETAL_TOOLS_SHELL_TERMINAL_HISTORY_H

#include <stddef.h>

struct line_history {
    char path[4096]; /* "": nothing is kept */
    size_t greatest; /* lines to keep */
};

/* Find the file and make its directories. */
void line_history_init(struct line_history *lines);

/* Call `add` for the lines that are kept, oldest first. */
void line_history_load(const struct line_history *lines,
                       void (*add)(void *context, const char *line), void *context);

/* Keep a line, with or without its end. */
void line_history_add(const struct line_history *lines, const char *line);

#endif
