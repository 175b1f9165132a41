/*
 * epoch.h -- readers use shared, immutable objects without locks or counts; what is replaced is
 * freed when every reader that could have seen it has left (epoch-based reclamation, Fraser 2004).
 *
 * A reader enters, loads shared pointers, uses what they lead to, and leaves.  Whoever replaces
 * an object first makes it unreachable, then retires it: it is released when all readers that had
 * entered before have left.  Entering takes one atomic exchange on a slot of the reader's own, so
 * two readers do not write to a shared line.
 *
 * The slot number (0 .. EPOCH_SLOTS - 1) belongs to the reader until it leaves: it may index other
 * per-reader memory, such as counters, without atomic read-modify-writes.  With more readers inside
 * than slots, epoch_enter sleeps until one leaves; so nothing that blocks for long happens inside.
 * A thread may enter again while inside and takes a second slot; where that can happen in all
 * threads at once, with as many threads as slots, they would wait for one another.
 *
 * A reader that stays inside keeps everything that is retired meanwhile: long work leaves and
 * enters again between its steps, and so does whoever reads from a disk (struct epoch_stay).
 *
 * Threads: all functions from any thread.  None waits for readers but epoch_enter, for a slot.
 */
#ifndef PETAL_BASE_EPOCH_H
#define PETAL_BASE_EPOCH_H

#include "base/mem.h"
#include "base/mutex.h"

#include <stdatomic.h>

#define EPOCH_SLOTS 64

/* Embedded in objects that are retired; needs no memory of its own, so retiring cannot fail. */
struct epoch_item {
    struct epoch_item *next;
    uint64_t retired_at;
    void (*release)(struct epoch_item *item);
};

struct epoch_slot {
    _Alignas(CACHE_LINE_BYTES) _Atomic(uint64_t) entered; /* 0: free; else the epoch at entering */
};

/* The three parts lie on lines of their own: readers write the first and only read the second. */
struct epoch {
    struct epoch_slot slots[EPOCH_SLOTS];
    _Alignas(CACHE_LINE_BYTES) _Atomic(uint64_t) current; /* from 1; written under the mutex */
    _Atomic(uint32_t) waiting;                            /* readers that found no free slot */
    struct mutex waiting_mutex; /* of their condition, which they are told through that */
    pthread_cond_t slot_free;   /* a slot may be free */
    _Alignas(CACHE_LINE_BYTES) struct mutex mutex; /* guards the two below */
    struct epoch_item *oldest, *newest;            /* retired items, in order of retired_at */
};

/* `epoch` lies on a cache line border, as the type says: allocate it with mem_alloc_aligned. */
enum petal_status epoch_init(struct epoch *epoch);

/* Release all items.  REQUIRES: no reader inside, no call on the epoch running. */
void epoch_fini(struct epoch *epoch);

/* Returns the reader's slot. */
unsigned epoch_enter(struct epoch *epoch);
void epoch_leave(struct epoch *epoch, unsigned slot);

/*
 * A stay inside that may be interrupted: for a read from a disk, or because it was long.  What was
 * found inside is good after the interruption only as far as `hold` has seen to it, which is
 * called inside, before leaving: it pins, counts or copies what the reader needs on.  If it fails,
 * so does the interruption, and nothing was left.  The slot may be another one afterwards.
 */
struct epoch_stay {
    struct epoch *epoch;
    unsigned slot;
    enum petal_status (*hold)(struct epoch_stay *stay); /* NULL: nothing needs to be held */
};

/* Leave for a while.  REQUIRES: inside. */
enum petal_status epoch_interrupt(struct epoch_stay *stay);
/* Come back. */
void epoch_resume(struct epoch_stay *stay);

/*
 * Retire `item` (item->release is set): it is released by a later epoch_collect, once no reader can
 * see it.  Whoever retires sees to it that a collection follows when what waits is worth one, since
 * looking at all slots costs more than retiring.
 */
void epoch_defer(struct epoch *epoch, struct epoch_item *item);

/* Release what can be released now: in the calling thread, with no lock of the epoch held.  Release
 * functions may retire other items. */
void epoch_collect(struct epoch *epoch);

#endif
