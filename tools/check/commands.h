/* commands.h -- the commands of kv-check, and their exit statuses. */
#ifndef PETAL_TOOLS_CHECK_COMMANDS_H
#define PETAL_TOOLS_CHECK_COMMANDS_H

#include <stdbool.h>
#include <stdio.h>

enum check_exit {
    CHECK_SOUND = 0,
    CHECK_FAULTS = 1, /* found, or something is lost */
    CHECK_FAILED = 2  /* it could not be looked at, or the command is wrong */
};

/* Each gets the arguments behind its name. */
int check_verify_main(int argc, char **argv);
int check_dump_main(int argc, char **argv);
int check_salvage_main(int argc, char **argv);

/* Are the arguments a question for help? From then on usages go to the standard output, and are no
 * mistake. */
bool check_help_is_asked(int argc, char **argv);

/* Where usages go, and the status that goes with them. */
FILE *check_usage_output(void);
int check_usage(const char *usage);

#endif
