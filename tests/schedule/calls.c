/* calls.c -- what programs linked with --wrap call in place of pthread_*, sleeps and the clock; see
 * schedule.h. Outside of a schedule these are the calls themselves. Compiled without
 * instrumentation. */
#include "tests/schedule/points.h"
#include "tests/schedule/schedule.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As the linker names them. */
#define DECLARE(type, name, ...)                                                                   \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

DECLARE(int, pthread_mutex_lock, pthread_mutex_t *mutex);
DECLARE(int, pthread_mutex_trylock, pthread_mutex_t *mutex);
DECLARE(int, pthread_mutex_unlock, pthread_mutex_t *mutex);
DECLARE(int, pthread_mutex_init, pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
DECLARE(int, pthread_cond_wait, pthread_cond_t *condition, pthread_mutex_t *mutex);
DECLARE(int, pthread_cond_timedwait, pthread_cond_t *condition, pthread_mutex_t *mutex,
        const struct timespec *until);
DECLARE(int, pthread_cond_signal, pthread_cond_t *condition);
DECLARE(int, pthread_cond_broadcast, pthread_cond_t *condition);
DECLARE(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes,
        void *(*start)(void *), void *argument);
DECLARE(int, pthread_join, pthread_t thread, void **result);
DECLARE(int, pthread_once, pthread_once_t *once, void (*function)(void));
DECLARE(int, sched_yield, void);
DECLARE(int, nanosleep, const struct timespec *time, struct timespec *left);
DECLARE(int, clock_nanosleep, clockid_t clock, int flags, const struct timespec *time,
        struct timespec *left);
DECLARE(int, clock_gettime, clockid_t clock, struct timespec *now);

/* ---- mutexes: what was done under one is known to who takes it next ---- */

#define MUTEX_SLOTS 4096

static struct mutex_clock {
    const void *mutex;
    uint64_t schedule; /* the slot is free in any other */
    struct vector_clock clock;
} mutex_clocks[MUTEX_SLOTS];
static uint64_t schedules;

void
calls_begin(void)
{
    schedules++;
}

static struct vector_clock *
clock_of(const void *mutex)
{
    uint64_t at = ((uintptr_t)mutex * 0x9E3779B97F4A7C15u) >> 52;

    for (unsigned tries = 0; tries < MUTEX_SLOTS; tries++, at = (at + 1) % MUTEX_SLOTS) {
        struct mutex_clock *slot = &mutex_clocks[at];

        if (slot->schedule != schedules)
            *slot = (struct mutex_clock){.mutex = mutex, .schedule = schedules};
        if (slot->mutex == mutex)
            return &slot->clock;
    }
    schedule_fail(__FILE__, __LINE__, "more mutexes than MUTEX_SLOTS");
}

static uint64_t
ns_of(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static void
take(pthread_mutex_t *mutex)
{
    while (__real_pthread_mutex_trylock(mutex) == EBUSY)
        point_wait(mutex, POINT_NEVER);
    vector_clock_join(point_clock(), clock_of(mutex));
}

static void
give(pthread_mutex_t *mutex)
{
    vector_clock_join(clock_of(mutex), point_clock());
    point_clock()->steps[point_task()]++;
    __real_pthread_mutex_unlock(mutex);
    point_wake(mutex, true);
}

int
__wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!point_is_ours())
        return __real_pthread_mutex_lock(mutex);
    point();
    take(mutex);
    return 0;
}

int
__wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    int error;

    if (point_is_ours())
        point();
    error = __real_pthread_mutex_trylock(mutex);
    if (error == 0 && point_is_ours())
        vector_clock_join(point_clock(), clock_of(mutex));
    return error;
}

int
__wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (!point_is_ours())
        return __real_pthread_mutex_unlock(mutex);
    give(mutex);
    point();
    return 0;
}

/* ---- conditions ---- */

static bool
wait_for_condition(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_ns)
{
    bool woken = true;

    point();
    give(mutex);
    if (schedule_random(32) == 0)
        point_yield(); /* woken in vain */
    else
        woken = point_wait(condition, until_ns);
    take(mutex);
    return woken;
}

int
__wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    if (!point_is_ours())
        return __real_pthread_cond_wait(condition, mutex);
    wait_for_condition(condition, mutex, POINT_NEVER);
    return 0;
}

int
__wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                              const struct timespec *until)
{
    if (!point_is_ours())
        return __real_pthread_cond_timedwait(condition, mutex, until);
    return wait_for_condition(condition, mutex, ns_of(until)) ? 0 : ETIMEDOUT;
}

int
__wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    if (!point_is_ours())
        return __real_pthread_cond_signal(condition);
    point_wake(condition, false);
    point();
    return 0;
}

int
__wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
    if (!point_is_ours())
        return __real_pthread_cond_broadcast(condition);
    point_wake(condition, true);
    point();
    return 0;
}

/* ---- threads ---- */

struct start {
    void *(*start)(void *);
    void *argument, *task;
};

/* Threads of a schedule by their handles; ended ones stay until they are joined. */
static struct {
    pthread_t thread;
    void *task;
} threads[MOST_TASKS];

static void *
run_thread(void *argument)
{
    struct start start = *(struct start *)argument;
    void *result;

    free(argument);
    point_begin_task(start.task);
    result = start.start(start.argument);
    point_end_task(start.task);
    return result;
}

int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                      void *argument)
{
    struct start *made;
    unsigned place = 0;
    int error;

    if (!point_is_ours())
        return __real_pthread_create(thread, attributes, start, argument);
    made = malloc(sizeof *made);
    schedule_check(made != NULL);
    *made = (struct start){start, argument, point_new_task()};
    while (threads[place].task != NULL)
        place++;
    threads[place].task = made->task;
    error = __real_pthread_create(thread, attributes, run_thread, made);
    schedule_check(error == 0);
    threads[place].thread = *thread;
    point();
    return 0;
}

int
__wrap_pthread_join(pthread_t thread, void **result)
{
    for (unsigned i = 0; point_is_ours() && i < MOST_TASKS; i++) {
        void *task = threads[i].task;

        if (task == NULL || !pthread_equal(threads[i].thread, thread))
            continue;
        while (!point_task_has_ended(task))
            point_wait(task, POINT_NEVER);
        vector_clock_join(point_clock(), point_clock_of(task));
        threads[i].task = NULL;
        break;
    }
    return __real_pthread_join(thread, result);
}

/* What the function waits for cannot be another thread of ours, which would wait for this call. */
int
__wrap_pthread_once(pthread_once_t *once, void (*function)(void))
{
    int error;

    if (!point_is_ours())
        return __real_pthread_once(once, function);
    point_hold(true);
    error = __real_pthread_once(once, function);
    point_hold(false);
    return error;
}

/* ---- time ---- */

int
__wrap_sched_yield(void)
{
    if (!point_is_ours())
        return __real_sched_yield();
    point_yield();
    return 0;
}

static void
sleep_for(uint64_t ns)
{
    static const char sleep;
    uint64_t until = point_time_ns() + ns;

    while (point_wait(&sleep, until))
        ;
}

int
__wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    if (!point_is_ours())
        return __real_nanosleep(time, left);
    sleep_for(ns_of(time));
    return 0;
}

int
__wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                       struct timespec *left)
{
    if (!point_is_ours() || flags != 0)
        return __real_clock_nanosleep(clock, flags, time, left);
    sleep_for(ns_of(time));
    return 0;
}

/* The time of day goes on with the monotonic clock, from a day of 2023. */
int
__wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    uint64_t ns;

    if (!point_is_ours())
        return __real_clock_gettime(clock, now);
    point();
    ns = point_time_ns() + (clock == CLOCK_REALTIME ? UINT64_C(1700000000000000000) : 0);
    *now =
        (struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    return 0;
}

/* A mutex at this address is a new one. */
int
__wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    if (point_is_ours())
        memset(clock_of(mutex), 0, sizeof(struct vector_clock));
    return __real_pthread_mutex_init(mutex, attributes);
}
