/*
 * run.h -- runs kv-shell on a session's commands and cuts what it prints into what each command
 * printed.
 *
 * kv-shell shows its input (--echo), which parts the commands' output.  On a terminal only its
 * output is one: line editing is not what is tested here.
 */
#ifndef PETAL_TESTS_REPLAY_RUN_H
#define PETAL_TESTS_REPLAY_RUN_H

#include "tests/replay/session.h"

struct session_run {
    struct lines *outputs; /* one for each command of the session */
    size_t count;
    struct lines errors; /* of standard error */
    int exit_status;     /* 128 and the signal for a program that was killed */
};

/*
 * Run `shell`, a path that leads there from any directory, in `directory`, which is empty.  False,
 * after telling stderr why, if it cannot be run.  A shell that takes longer than two minutes is
 * killed.
 */
bool run_session(const char *shell, const struct recorded_session *session, const char *directory,
                 struct session_run *run);
void run_free(struct session_run *run);

#endif
