/*
 * view_bin.h -- views that no reader can see any more, until a thread that may take its time releases them: memtables go with them, and
 * store files that were compacted away, which costs system calls.
 *
 * A view gets here from whoever finds that its last reader has left, which may be another reader in the middle of a get: it only puts
 * the view in and says so.
 *
 * Threads: all functions from any thread.
 */
#ifndef PETAL_ENGINE_STATE_VIEW_BIN_H
#define PETAL_ENGINE_STATE_VIEW_BIN_H

#include "engine/state/view.h"

#include <pthread.h>

struct view_bin {
    _Atomic(struct view *) newest; /* linked by next_in_bin */
    pthread_mutex_t mutex;         /* held while views are released */
    void (*tell)(void *argument);  /* that there is something; must not wait */
    void *argument;
};

bool view_bin_init(struct view_bin *bin, void (*tell)(void *argument), void *argument);

/* REQUIRES: empty. */
void view_bin_fini(struct view_bin *bin);

/* Takes over a reference. */
void view_bin_put(struct view_bin *bin, struct view *view);
bool view_bin_is_empty(struct view_bin *bin);

/* Release what is in it; when it returns what was in it before is gone, also if another thread is at it. REQUIRES: no lock held that
 * readers or writers wait for. */
void view_bin_empty(struct view_bin *bin);

#endif
