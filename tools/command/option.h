/*
 * option.h -- options of command lines: "--name", "--name VALUE" and "--name=VALUE".
 */
#ifndef PETAL_TOOLS_COMMAND_OPTION_H
#define PETAL_TOOLS_COMMAND_OPTION_H

#include "tools/shell/text/text.h"

/* A flag, or an option with a value. */
struct command_option {
    const char *name;
    bool *flag;                                /* set; NULL: it has a value */
    bool (*take)(void *argument, char *value); /* may change the value; false: it is wrong */
    void *argument;
    const char *wants; /* what a value must be */
};

/* For `take`: the text itself, to a `const char **`; the first refuses an empty one. */
bool command_take_text(void *argument, char *value);
bool command_take_any_text(void *argument, char *value);

/*
 * Take the option at argv[*at] with its value, which may be the next argument; *at goes to the last
 * argument used.  False: `why` gets what is wrong.
 */
bool option_take(const struct command_option *options, size_t count, int argc, char **argv, int *at,
                 struct text *why);

/* Take a value for the option, which is called `name` where the value is wrong. */
bool option_take_value(const struct command_option *option, const char *name, char *value,
                       struct text *why);

#endif
