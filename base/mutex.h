/*
 * mutex.h -- a mutex that knows its holder if assertions are compiled: a function that needs a lock
 * says assert_held; taking one twice, or releasing another thread's, fails an assertion. Under
 * NDEBUG it is a pthread_mutex_t and nothing more.
 *
 * Threads: any.
 */
#ifndef PETAL_BASE_MUTEX_H
#define PETAL_BASE_MUTEX_H

#include "base/clock.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef NDEBUG
/* Who holds something: a thread, or nobody. */
struct holder {
    _Atomic(uintptr_t) thread; /* 0: nobody */
};

static inline void
holder_set(struct holder *holder, bool self)
{
    atomic_store_explicit(&holder->thread, self ? (uintptr_t)pthread_self() : 0,
                          memory_order_relaxed);
}

static inline bool
holder_is_self(const struct holder *holder)
{
    return atomic_load_explicit(&holder->thread, memory_order_relaxed) == (uintptr_t)pthread_self();
}

#define HOLDER_SET(holder, self) holder_set(holder, self)
#else
#define HOLDER_SET(holder, self) ((void)0)
#endif

struct mutex {
    pthread_mutex_t lock;
#ifndef NDEBUG
    struct holder holder;
#endif
};

/* The calling thread holds the mutex; it does not. */
#define assert_held(mutex)     assert(holder_is_self(&(mutex)->holder))
#define assert_not_held(mutex) assert(!holder_is_self(&(mutex)->holder))

/* False: the system has no room for it. */
static inline bool
mutex_init(struct mutex *mutex)
{
    HOLDER_SET(&mutex->holder, false);
    return pthread_mutex_init(&mutex->lock, NULL) == 0;
}

/* REQUIRES: nobody holds it. */
static inline void
mutex_fini(struct mutex *mutex)
{
    pthread_mutex_destroy(&mutex->lock);
}

static inline void
mutex_lock(struct mutex *mutex)
{
    assert_not_held(mutex);
    pthread_mutex_lock(&mutex->lock);
    HOLDER_SET(&mutex->holder, true);
}

/* False: a thread holds it, perhaps this one. */
static inline bool
mutex_try_lock(struct mutex *mutex)
{
    if (pthread_mutex_trylock(&mutex->lock) != 0)
        return false;
    HOLDER_SET(&mutex->holder, true);
    return true;
}

static inline void
mutex_unlock(struct mutex *mutex)
{
    assert_held(mutex);
    HOLDER_SET(&mutex->holder, false);
    pthread_mutex_unlock(&mutex->lock);
}

/* clock_wait; the mutex is held before and after. */
static inline void
mutex_wait(struct mutex *mutex, pthread_cond_t *condition, uint64_t until_us)
{
    assert_held(mutex);
    HOLDER_SET(&mutex->holder, false);
    clock_wait(condition, &mutex->lock, until_us);
    HOLDER_SET(&mutex->holder, true);
}

#endif
