/* log.c -- see tools/shell/session/log.h; and the command log_level. */
#include "tools/shell/session/log.h"

#include "tools/shell/session/command.h"
#include "tools/shell/session/words_of_values.h"

#include <stdio.h>
#include <time.h>

static const char *const names[LOG_LEVELS] = {"OFF", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"};

/* The level of a name in letters of either case, false for another one. */
static bool
find_threshold(petal_slice name, enum log_threshold *threshold)
{
    for (int level = LOG_OFF; level < LOG_LEVELS; level++) {
        if (equals_ignoring_case(name, names[level])) {
            *threshold = (enum log_threshold)level;
            return true;
        }
    }
    return false;
}

void
log_write(void *context, enum petal_log_level level, const char *line)
{
    const struct log *log = context;
    enum log_threshold weight = level == PETAL_LOG_ERROR     ? LOG_ERROR
                                : level == PETAL_LOG_WARNING ? LOG_WARN
                                                             : LOG_INFO;
    struct timespec now = {0};
    char time[32] = "";
    struct tm local;

    if ((int)weight > atomic_load_explicit(&log->threshold, memory_order_relaxed))
        return;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (localtime_r(&now.tv_sec, &local) != NULL)
        (void)strftime(time, sizeof(time), "%Y-%m-%d %H:%M:%S", &local);
    (void)fprintf(stderr, "%s,%03ld %-5s %s\n", time, now.tv_nsec / 1000000, names[weight], line);
}

COMMAND_FUNCTION(command_log_level)
{
    static const char *const shown[LOG_LEVELS] = {"no messages",         "errors",
                                                  "warnings and errors", "all messages",
                                                  "all messages",        "all messages"};
    enum log_threshold threshold =
        (enum log_threshold)atomic_load_explicit(&session->log->threshold, memory_order_relaxed);

    if (count > 0) {
        petal_slice name = value_to_bytes(&session->arena, &arguments[0]);

        if (!find_threshold(name, &threshold))
            return session_fail(session, SHELL_USAGE,
                                "There is no level '%.*s'; there are OFF ERROR WARN INFO DEBUG "
                                "TRACE",
                                SLICE_UP_TO(100, name));
        atomic_store_explicit(&session->log->threshold, (int)threshold, memory_order_relaxed);
    }
    *result = value_string(slice_of_string(names[threshold]));
    if (output_begin_records(&session->output, "log_level"))
        format_string(&session->output.format, names[threshold]);
    else
        output_plain(&session->output, "Log level %s: %s of the engine are shown", names[threshold],
                     shown[threshold]);
    return SHELL_FINE;
}
