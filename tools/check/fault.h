/* fault.h -- one fault as kv-check prints it, and those who look for them; see petal.h. */
#ifndef PETAL_TOOLS_CHECK_FAULT_H
#define PETAL_TOOLS_CHECK_FAULT_H

#include "tools/check/commands.h"
#include "tools/command/print.h"
#include "tools/command/watch.h"

/* A verification or salvage at work. */
struct fault_watch {
    struct print *print;
    struct watch watch;
    bool json;
    bool quiet;      /* what is harmless is not told */
    uint64_t unread; /* files that could not be looked at */
};

/* Take --json, --quiet and the places out of the arguments. False: the mistake was told. */
bool fault_take_arguments(struct fault_watch *watch, const struct command *command, int argc,
                          char **argv, const char **places, int place_count);

/* For petal_check_options, whose argument is a struct fault_watch. */
void fault_print(void *argument, const petal_fault *fault);
bool fault_go_on(void *argument, uint64_t done, uint64_t total);

/* What was looked at. */
void fault_print_counts(struct print *print, const petal_check_counts *counts);

#endif
