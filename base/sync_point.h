/*
 * sync_point.h -- named places in the code at which a race test can stop a thread.
 *
 * SYNC_POINT("flush:installed") does nothing, and costs nothing, unless the library is compiled
 * with -DPETAL_SYNC_POINTS.  Then it calls the hook that the test has set, in the thread that
 * came by and with the locks which that thread holds.  Names are "part:what has happened".
 */
#ifndef PETAL_BASE_SYNC_POINT_H
#define PETAL_BASE_SYNC_POINT_H

#ifdef PETAL_SYNC_POINTS

/* Called from several threads at once. */
typedef void sync_point_function(const char *name);

/* NULL: none.  A thread that is inside the old hook stays in it: join the threads before what it
 * uses goes. */
void sync_point_set_hook(sync_point_function *hook);

void sync_point_reach(const char *name);

#define SYNC_POINT(name) sync_point_reach(name)

#else

#define SYNC_POINT(name) ((void)0)

#endif

#endif
