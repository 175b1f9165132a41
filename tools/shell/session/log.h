/*
 * log.h -- the engine's messages about what goes on in the background, on standard error, as far as
 * log_level lets them through.
 *
 * The levels have HBase's names.  The engine has messages of three kinds: of INFO, WARN and ERROR;
 * DEBUG and TRACE let through what INFO does, and OFF nothing.  Messages come from any thread.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_LOG_H
#define PETAL_TOOLS_SHELL_SESSION_LOG_H

#include "engine/petal.h"

#include <stdatomic.h>

enum log_threshold { LOG_OFF, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE, LOG_LEVELS };

struct log {
    atomic_int threshold; /* of enum log_threshold: this and what weighs more is written */
};

/* A petal_env's log; `context` is a struct log. */
void log_write(void *context, enum petal_log_level level, const char *line);

#endif
