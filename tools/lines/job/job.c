/* job.c -- see job.h. */
#include "tools/lines/job/job.h"

#include "tools/command/value.h"

#include <assert.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { OWN_OPTIONS = 16, JOB_OPTIONS = 5 };

/* A read from an idle pipe, or a write to one that nobody reads, is to end by the signal. */
static void
let_signals_interrupt_calls(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction action;

        sigaction(signals[i], NULL, &action);
        action.sa_flags &= ~SA_RESTART;
        sigaction(signals[i], &action, NULL);
    }
}

static bool
check_memory(struct job *job)
{
    return job->memory_bytes >= JOB_MIN_MEMORY ||
           job_fail(job, "--memory %zu is too little; it must be 1M or more", job->memory_bytes);
}

static uint64_t
random_salt(void)
{
    uint64_t salt;

    if (getrandom(&salt, sizeof salt, GRND_NONBLOCK) != (ssize_t)sizeof salt)
        salt = (uint64_t)time(NULL);
    return salt;
}

static int
begin(struct job *job, const struct command *command, int argc, char **argv,
      const struct command_option *own, size_t own_count, const char **places, int least, int most)
{
    const char *directory = getenv("TMPDIR");
    const struct command_option common[JOB_OPTIONS] = {
        {"-z", &job->zero_terminated, NULL, NULL, NULL},
        {"--quiet", &job->quiet, NULL, NULL, NULL},
        {"--output", NULL, command_take_text, &job->output, "a file"},
        {"--temporary", NULL, command_take_text, &job->temporary, "a directory"},
        {"--memory", NULL, value_take_size, &job->memory_bytes, VALUE_SIZE_WANTS}};
    struct command_option options[OWN_OPTIONS + JOB_OPTIONS];
    int count;

    assert(own_count <= OWN_OPTIONS);
    *job = (struct job){.command = command,
                        .salt = random_salt(),
                        .memory_bytes = JOB_DEFAULT_MEMORY,
                        .temporary = directory != NULL && *directory != '\0' ? directory : "/tmp"};
    if (own_count > 0)
        memcpy(options, own, own_count * sizeof *own);
    memcpy(options + own_count, common, sizeof common);
    count = command_take_arguments(command, argc, argv, options, own_count + JOB_OPTIONS, places,
                                   least, most);
    if (count < 0 || !check_memory(job))
        return -1;
    watch_begin(&job->watch, command->name, job->quiet);
    let_signals_interrupt_calls();
    return count;
}

void
job_phase(struct job *job, const char *what)
{
    progress_end(&job->watch.progress);
    if (!job->quiet)
        progress_begin(&job->watch.progress, what, "bytes");
}

bool
job_go_on(struct job *job, uint64_t done, uint64_t total)
{
    return watch_go_on(&job->watch, done, total);
}

bool
job_is_interrupted(void)
{
    struct watch unseen = {0};

    return !watch_go_on(&unseen, 0, 0);
}

static void
say(struct job *job, const char *format, va_list arguments)
{
    progress_hide(&job->watch.progress);
    (void)fprintf(stderr, "kv-filter %s: ", job->command->name);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
}

bool
job_fail(struct job *job, const char *format, ...)
{
    va_list arguments;

    if (job->failed)
        return false;
    job->failed = true;
    va_start(arguments, format);
    say(job, format, arguments);
    va_end(arguments);
    return false;
}

void
job_warn(struct job *job, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(job, format, arguments);
    va_end(arguments);
}

static int
end(struct job *job, bool fine)
{
    watch_end(&job->watch);
    if (fine && !job->failed)
        return COMMAND_FINE;
    if (!job->failed)
        job_fail(job, "%s", job_is_interrupted() ? "interrupted" : "it could not be done");
    return COMMAND_FAILED;
}

int
job_run(const struct command *command, int argc, char **argv, const struct command_option *own,
        size_t own_count, int least, int most, job_work work, void *request)
{
    const char **places = calloc((size_t)argc + 1, sizeof *places);
    int count = -1, status = COMMAND_FAILED;
    struct job job;

    if (places != NULL)
        count = begin(&job, command, argc, argv, own, own_count, places, least, most);
    if (count >= 0)
        status = end(&job, work(&job, request, places, (size_t)count));
    free(places);
    return status;
}
