/* commands.h -- the commands of kv-check, their arguments, and their exit statuses. */
#ifndef PETAL_TOOLS_CHECK_COMMANDS_H
#define PETAL_TOOLS_CHECK_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

enum check_exit {
    CHECK_SOUND = 0,
    CHECK_FAULTS = 1, /* found, or something is lost */
    CHECK_FAILED = 2  /* it could not be looked at, or the command is wrong */
};

struct check_command {
    const char *name, *meaning;
    const char *usage;                 /* what --help prints */
    int (*run)(int argc, char **argv); /* with the arguments behind its name */
};

extern const struct check_command check_verify;
extern const struct check_command check_dump;
extern const struct check_command check_salvage;

/* An option of a command: a flag, or with a value. */
struct check_option {
    const char *name;
    bool *flag;                                /* set; NULL: it has a value */
    bool (*take)(void *argument, char *value); /* which it may change; false: it is none */
    void *argument;
    const char *wants; /* what a value must be */
};

/*
 * Take the options, which stand anywhere before "--", out of the arguments; places[] gets the
 * others, of which there must be `place_count`. False: the mistake was told.
 */
bool check_take_arguments(const struct check_command *command, int argc, char **argv,
                          const struct check_option *options, size_t option_count,
                          const char **places, size_t place_count);

#endif
