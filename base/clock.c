/* clock.c -- see clock.h. */
#include "base/clock.h"

#include <time.h>

uint64_t
clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

uint64_t
clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct timespec
timespec_of(uint64_t microseconds)
{
    return (struct timespec){.tv_sec = (time_t)(microseconds / 1000000),
                             .tv_nsec = (long)(microseconds % 1000000) * 1000};
}

bool
clock_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    bool done;

    if (pthread_condattr_init(&attributes) != 0)
        return false;
    done = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
           pthread_cond_init(condition, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return done;
}

void
clock_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_us)
{
    struct timespec until = timespec_of(until_us);

    if (until_us == CLOCK_NEVER)
        pthread_cond_wait(condition, mutex);
    else
        pthread_cond_timedwait(condition, mutex, &until);
}

void
clock_sleep(uint64_t microseconds)
{
    struct timespec left = timespec_of(microseconds);

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) != 0)
        ;
}
