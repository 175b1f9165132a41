/* process.c -- see process.h. */
#include "base/process.h"

#include <pthread.h>

_Atomic(uint32_t) process_generation;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool watched;

/* In the child, whose only thread this is. */
static void
begin_child(void)
{
    atomic_fetch_add_explicit(&process_generation, 1, memory_order_relaxed);
}

static void
watch(void)
{
    watched = pthread_atfork(NULL, NULL, begin_child) == 0;
}

bool
process_watch_forks(void)
{
    return pthread_once(&once, watch) == 0 && watched;
}
