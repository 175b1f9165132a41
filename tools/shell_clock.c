/* shell_clock.c -- see shell_clock.h. */
#include "tools/shell_clock.h"

double
clock_seconds(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
