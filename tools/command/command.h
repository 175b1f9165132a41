/*
 * command.h -- a program that is a list of commands, `PROGRAM COMMAND [options] ...`: its help, its
 * version, its arguments, and its exit statuses.
 */
#ifndef PETAL_TOOLS_COMMAND_COMMAND_H
#define PETAL_TOOLS_COMMAND_COMMAND_H

#include "tools/command/option.h"

enum command_exit {
    COMMAND_FINE = 0,
    COMMAND_FAULTS = 1, /* found, or something is lost */
    COMMAND_FAILED = 2  /* it could not be done, or the command is wrong */
};

struct command {
    const char *name, *meaning;
    /* What --help prints: the program, the command and its arguments, in brackets what may be left
     * out, in lines that begin with more than two blanks if they are more than one. */
    const char *usage;
    int (*run)(const struct command *command, int argc, char **argv); /* after its name */
};

struct program {
    const char *name;
    const struct command *const *commands;
    size_t command_count;
    const char *notes; /* below the list of commands */
};

/* Run what the arguments of main ask for; returns the exit status. */
int program_run(const struct program *program, int argc, char **argv);

/*
 * Take the options, which stand anywhere before "--", their values after them or, "--name=value",
 * after an equals sign, out of the arguments; places[] gets the others, "-" among them, of which
 * there are `least` to `most`: how many, or -1 when a mistake was told.
 */
int command_take_arguments(const struct command *command, int argc, char **argv,
                           const struct command_option *options, size_t option_count,
                           const char **places, int least, int most);

#endif
