/* sync_point.c -- see sync_point.h.  The hook is the one global variable, and only in builds for
 * tests. */
#include "base/sync_point.h"

#ifdef PETAL_SYNC_POINTS

#include <stdatomic.h>
#include <stddef.h>

static _Atomic(sync_point_function *) current_hook;

void
sync_point_set_hook(sync_point_function *hook)
{
    /* Release, with the acquire below: the hook sees what the test prepared before setting it. */
    atomic_store_explicit(&current_hook, hook, memory_order_release);
}

void
sync_point_reach(const char *name)
{
    sync_point_function *hook = atomic_load_explicit(&current_hook, memory_order_acquire);

    if (hook != NULL)
        hook(name);
}

#endif
