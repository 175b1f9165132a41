/*
 * readers.h -- the registry READERS: which states of the database the readers in other openings
 * use, so that the writer removes no file that one of them may still need.
 *
 * A state is numbered by the manifest (engine/manifest/state.h). A reader has a slot of the file,
 * which says from which state to which it reads:
 *
 *   at 64 * n, n > 0:   0  8  the oldest state      8  8  the newest one; all ones: it is loading
 *
 * It holds an exclusive lock on the slot's first byte, which ends with its process. A slot without
 * a lock is nobody's, whatever it says. Slot 0 is for all readers that may not write here, or found
 * no space to: they share a lock on it, and may use any state. Nothing of the file is synced, since
 * no reader outlives a power cut.
 *
 * WHY NO FILE GOES TOO EARLY. A reader says that it is loading before it reads the manifest. The
 * writer commits that a file is no part of the next state before it looks at the slots. So a reader
 * whose slot the writer saw as it was before will read that manifest or a later one, and never asks
 * for the file. Each of the two numbers is written by one call, in an order in which any mixture of
 * old and new ones covers what the reader uses.
 *
 * The writer waits for nobody: what it may not remove yet it keeps in a list, and tries again when
 * it removes the next one, and now and then. What is left when it closes nothing names: the next
 * writer removes it.
 */
#ifndef PETAL_ENGINE_STATE_READERS_H
#define PETAL_ENGINE_STATE_READERS_H

#include "base/directory.h"
#include "base/error.h"
#include "base/mutex.h"
#include "engine/manifest/names.h"

#include <stdatomic.h>

#define READERS_LOADING UINT64_MAX

struct kept_file {
    enum filename_kind kind; /* a log or a store file */
    uint64_t number;
    uint64_t born, died; /* a part of the states from `born` on, of none from `died` on */
};

/* The engine's other openings of the database, seen from this one. Zeros but for the directory at
 * first. */
struct readers {
    const struct directory *directory;
    petal_file *file;        /* NULL: there is no registry */
    uint64_t slot;           /* the reader's; 0: of those that may use any state */
    _Atomic(uint64_t) state; /* the writer's newest */
    struct mutex mutex;      /* guards what follows */
    struct kept_file *kept;
    size_t kept_count, kept_capacity;
};

/* Remove what is still kept, if it may go; a reader is one no more. */
void readers_leave(struct readers *readers);

/* ---- the writer ---- */

/* Open the registry, and make it if there is none. REQUIRES: LOCK is held. */
enum petal_status readers_watch(struct readers *readers, petal_error *error);

/* Let there be no reader until readers_leave, which needs a lock on all slots, those to come
 * included: whoever would join is PETAL_BUSY. PETAL_BUSY: there is one. REQUIRES: LOCK is held,
 * which keeps those away that cannot lock a slot. */
enum petal_status readers_exclude(struct readers *readers, petal_error *error);

/* A state is durable. */
static inline void
readers_note_state(struct readers *readers, uint64_t number)
{
    atomic_store_explicit(&readers->state, number, memory_order_release);
}

static inline uint64_t
readers_state(const struct readers *readers)
{
    return atomic_load_explicit(&readers->state, memory_order_acquire);
}

/* Remove a log or store file that the newest state does not have: at once, or when no reader needs
 * it. `born`: of a store file, the state that was the newest one when it was made, or an earlier
 * one; a log is read only while a reader is loading. Any thread. */
void readers_remove(struct readers *readers, enum filename_kind kind, uint64_t number,
                    uint64_t born);

/* Remove what was kept and is not needed any more. Any thread. */
void readers_remove_kept(struct readers *readers);

/* ---- a reader ---- */

/*
 * Take a slot, loading. *joined false: there is no registry, or nothing in it can be locked here.
 * PETAL_BUSY: readers are excluded.
 */
enum petal_status readers_join(struct readers *readers, bool *joined, petal_error *error);

/* Say which states are used; `newest` READERS_LOADING: any from the oldest one on. REQUIRES:
 * joined. */
enum petal_status readers_say(struct readers *readers, uint64_t oldest, uint64_t newest,
                              petal_error *error);

#endif
