/* clock.c -- see tools/shell/text/clock.h. */
#include "tools/shell/text/clock.h"

double
clock_seconds(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
