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

void
process_describe_end(char *text, size_t size, const char *name, int status)
{
    snprintf(text, size, "%s ended with %s %d", name, WIFSIGNALED(status) ? "signal" : "status",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}
