/*
 * session.h -- a recorded shell session: its header, and its commands with what they printed.
 */
#ifndef PETAL_TESTS_REPLAY_SESSION_H
#define PETAL_TESTS_REPLAY_SESSION_H

#include "tests/replay/lines.h"

enum session_mode {
    MODE_PIPE,    /* interactive, commands on standard input, output to a pipe */
    MODE_SCRIPT,  /* -n FILE */
    MODE_PIPE_N,  /* -n, commands on standard input */
    MODE_TERMINAL /* interactive, output to a terminal */
};

struct recorded_command {
    size_t line;          /* in the file */
    struct lines input;   /* as typed */
    struct lines answers; /* to its questions */
    struct lines output;
};

struct recorded_session {
    char *path;
    char *name; /* group/name, without .session */
    char *mode_name, *note, *error_line;
    enum session_mode mode;
    unsigned columns; /* of a terminal */
    int exit_status;
    struct recorded_command *commands;
    size_t count;
};

/* Read a file; false, after telling stderr why, if it is no session. */
bool session_read(const char *path, struct recorded_session *session);
void session_free(struct recorded_session *session);

#endif
