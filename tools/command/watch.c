/* watch.c -- see watch.h. */
#include "tools/command/watch.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t interrupted;

static void
interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

void
watch_begin(struct watch *watch, const char *what, bool quiet)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};

    *watch = (struct watch){0};
    if (!quiet)
        progress_begin(&watch->progress, what, "bytes");
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

bool
watch_go_on(void *watch, uint64_t done, uint64_t total)
{
    struct watch *own = watch;

    progress_update(&own->progress, done, total, done);
    return !interrupted;
}

void
watch_end(struct watch *watch)
{
    progress_end(&watch->progress);
}
