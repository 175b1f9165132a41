/*
 * interrupt.h -- Ctrl-C: what runs stops, the shell goes on.
 *
 * A signal sets a flag. Loops over rows, and whoever waits, look at it and end with "Interrupted".
 * A second signal that comes while nobody has looked at the first ends the process, as it does
 * without all this: the database is safe.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_INTERRUPT_H
#define PETAL_TOOLS_SHELL_SESSION_INTERRUPT_H

#include "tools/shell/session/session.h"

enum { STATUS_OF_INTERRUPT = 130 }; /* as shells have it: 128 and the signal's number */

/* Take SIGINT, unless the process was started with it ignored. */
void interrupt_install(void);

/* Keep the signal off, in this thread and those that it starts meanwhile, or let it in again.
 * The library's threads start so, since a signal that one of them takes wakes nobody. */
void interrupt_hold(bool hold);

/* While a script's next line is waited for, a signal ends the process at once. */
void interrupt_ends_process(bool ends);

/* Was there a signal since it was last cleared? */
bool interrupt_pending(void);
void interrupt_clear(void);

/* Wait until there is something to read, or the input's end.  False: a signal came first (errno is
 * EINTR), or waiting failed. */
bool interrupt_wait_input(int file);

/* Fail with "Interrupted" if there was a signal. */
enum shell_status interrupt_check(struct session *session);

/*
 * Run `work` on a thread of its own and wait for it, telling `watch` (NULL: nobody) ten times a
 * second. Interrupted: it goes on in the background, and interrupt_wait_all waits for it; so what
 * it uses must live until then. *status is what it returned.
 */
struct background_work {
    enum petal_status (*run)(void *argument, petal_error *error);
    void *argument;
    void (*watch)(void *argument, bool last); /* on the shell's thread */
    void (*release)(void *argument);          /* when it is over, NULL: nothing */
};
enum shell_status interrupt_wait(struct session *session, const struct background_work *work);

/* Wait for all work that goes on. */
void interrupt_wait_all(void);

#endif
