/*
 * help.h -- the groups and the examples of help.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_HELP_H
#define PETAL_TOOLS_SHELL_SESSION_HELP_H

#include <stddef.h>

/* Lines that begin with two blanks; NULL if the command has none. */
const char *help_examples(const char *name);

/* The name of a group of commands, by its number; NULL after the last. */
const char *help_group(size_t index);

#endif
