/* process.c -- see process.h. */
#include "tests/support/process.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double
process_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void
process_sleep_us(uint64_t microseconds)
{
    struct timespec time = {(time_t)(microseconds / 1000000),
                            (long)(microseconds % 1000000) * 1000};

    nanosleep(&time, NULL);
}

pid_t
process_begin(void)
{
    pid_t child;

    fflush(NULL); /* or both would write what waits */
    child = fork();
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return child;
}

bool
process_prepare(struct waiting_process *process, int (*action)(const char *argument),
                const char *argument)
{
    int ends[2];
    char word;

    if (pipe(ends) != 0)
        return false;
    process->id = process_begin();
    if (process->id == 0) {
        (void)close(ends[1]);
        _exit(read(ends[0], &word, 1) == 1 ? action(argument) : 255);
    }
    (void)close(ends[0]);
    process->begin = ends[1];
    return process->id > 0;
}

int
process_act(struct waiting_process *process)
{
    int status;
    bool told = write(process->begin, "", 1) == 1;

    (void)close(process->begin);
    if (waitpid(process->id, &status, 0) != process->id || !told || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

void
process_describe_end(char *text, size_t size, const char *name, int status)
{
    snprintf(text, size, "%s ended with %s %d", name, WIFSIGNALED(status) ? "signal" : "status",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}
