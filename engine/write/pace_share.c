/* pace_share.c -- see engine/write/pace_share.h. */
#include "engine/write/pace_share.h"

#include "engine/state/progress.h"

#include <math.h>

/* How far `value` is on the way from `from` to `to`. */
static double
share_of(double value, double from, double to)
{
    if (value <= from)
        return 0;
    return value < to ? (value - from) / (to - from) : 1;
}

double
pace_share(uint64_t memory, uint64_t memory_limit, size_t runs)
{
    double pressure = share_of((double)memory, (double)memory_limit / 2, (double)memory_limit);
    double share = pressure > 0 ? 2 * (1 - pressure) : INFINITY;
    double of_runs = 1;

    if (runs <= STORE_SLOW_RUNS)
        return share;
    for (size_t i = STORE_SLOW_RUNS; i < runs; i++)
        of_runs *= PACE_RUN_FACTOR;
    return of_runs < share ? of_runs : share;
}

uint64_t
pace_time(uint64_t bytes, double share, uint64_t rate)
{
    double allowed = share * (double)(rate != 0 ? rate : PACE_FIRST_RATE);

    if (allowed < (double)PACE_LEAST_RATE)
        allowed = (double)PACE_LEAST_RATE;
    return (uint64_t)((double)bytes * 1e6 / allowed); /* 0 for an infinite share */
}
