/*
 * watch.h -- a long work of a command: a line on the terminal says how far it is, and Ctrl-C ends
 * it at the next step, so that it can put away what is half.
 */
#ifndef PETAL_TOOLS_COMMAND_WATCH_H
#define PETAL_TOOLS_COMMAND_WATCH_H

#include "tools/shell/text/progress.h"

struct watch {
    struct progress progress;
};

/* `what` lives as long; quiet: no line. From here on Ctrl-C, SIGTERM and SIGHUP are asked for only
 * by watch_go_on. */
void watch_begin(struct watch *watch, const char *what, bool quiet);

/* For what the libraries ask now and then, with the watch as their argument: false after Ctrl-C. */
bool watch_go_on(void *watch, uint64_t done, uint64_t total);

void watch_end(struct watch *watch);

#endif
