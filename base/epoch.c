/*
 * epoch.c -- see epoch.h.
 *
 * `current` numbers the epochs.  An item is unlinked, then retired in epoch e = current.  A
 * collection first moves `current` past the newest item, then looks at all slots, and releases the
 * items whose epoch is below every number it saw.
 *
 * Why it is safe.  Take an item retired in epoch e that a collection releases, and any reader.
 * - The collection saw the reader's number n > e.  The reader took n from `current`, which held it
 *   only after a collection had moved it past e, and that came after the unlinking.  Every write to
 *   `current` is a read-modify-write, so reading n synchronises with that move, and what the reader
 *   loads from then on is no older than the unlinking: it cannot reach the item.
 * - The collection saw the slot free, and the reader took it afterwards.  Moving `current`, looking
 *   at the slot, taking it, and the reader's load of `current` after that stand in this order in
 *   the single order of the sequentially consistent operations.  So the load sees the move, and the
 *   reader is in the first case. Without that second load nothing would order the reader's later,
 *   weaker loads after the unlinking.
 * - The reader had left before the look.  Its leaving is a release that the look acquires, so what
 *   it did inside comes before the release of the item.
 */
#include "base/epoch.h"

#include "base/clock.h"
#include "base/inline.h"

#include <assert.h>

/* Readers leave without a fence between giving up the slot and looking for waiters, so one of them
 * may be missed: it looks again. */
#define WAIT_MOST_US 1000

static bool
init_waiting(struct epoch *epoch)
{
    atomic_init(&epoch->waiting, 0);
    if (!clock_condition_init(&epoch->slot_free))
        return false;
    if (mutex_init(&epoch->waiting_mutex))
        return true;
    pthread_cond_destroy(&epoch->slot_free);
    return false;
}

static void
fini_waiting(struct epoch *epoch)
{
    pthread_cond_destroy(&epoch->slot_free);
    mutex_fini(&epoch->waiting_mutex);
}

enum petal_status
epoch_init(struct epoch *epoch)
{
    for (unsigned i = 0; i < EPOCH_SLOTS; i++)
        atomic_init(&epoch->slots[i].entered, 0);
    atomic_init(&epoch->current, 1);
    epoch->oldest = NULL;
    epoch->newest = NULL;
    if (!init_waiting(epoch))
        return PETAL_NO_MEMORY;
    if (mutex_init(&epoch->mutex))
        return PETAL_OK;
    fini_waiting(epoch);
    return PETAL_NO_MEMORY;
}

/* Take the slot if it is free. */
static inline bool
take_slot(struct epoch *epoch, struct epoch_slot *slot)
{
    uint64_t vacant = 0;
    uint64_t before = atomic_load_explicit(&epoch->current, memory_order_acquire);
    uint64_t now;

    /* A failed exchange would still pull the line away from the reader inside: look first. */
    if (atomic_load_explicit(&slot->entered, memory_order_relaxed) != 0 ||
        !atomic_compare_exchange_strong(&slot->entered, &vacant, before))
        return false;
    /* Nothing shared was loaded yet, so the newer number is as true; the load itself is what
     * counts (see the top). */
    now = atomic_load(&epoch->current);
    if (now != before)
        atomic_store_explicit(&slot->entered, now, memory_order_release);
    return true;
}

/* Take the first free slot from `slot` on; EPOCH_SLOTS: there is none. */
static unsigned
take_any_slot(struct epoch *epoch, unsigned slot)
{
    for (unsigned tries = 0; tries < EPOCH_SLOTS; tries++) {
        if (take_slot(epoch, &epoch->slots[slot]))
            return slot;
        slot = (slot + 1) % EPOCH_SLOTS;
    }
    return EPOCH_SLOTS;
}

/* Take another slot than the one chosen first, or sleep until a reader leaves. */
static NEVER_INLINE unsigned
take_other_slot(struct epoch *epoch, unsigned choice)
{
    unsigned slot = take_any_slot(epoch, choice);

    if (slot < EPOCH_SLOTS)
        return slot;
    mutex_lock(&epoch->waiting_mutex);
    atomic_fetch_add(&epoch->waiting, 1);
    while ((slot = take_any_slot(epoch, choice)) == EPOCH_SLOTS)
        mutex_wait(&epoch->waiting_mutex, &epoch->slot_free, clock_us() + WAIT_MOST_US);
    atomic_fetch_sub(&epoch->waiting, 1);
    mutex_unlock(&epoch->waiting_mutex);
    return slot;
}

unsigned
epoch_enter(struct epoch *epoch)
{
    /* pthread_self is an address on the systems at hand; a poor spread costs a few steps, no
     * more. */
    uint64_t self = (uint64_t)(uintptr_t)pthread_self();
    unsigned choice = (unsigned)((self * 0x9E3779B97F4A7C15u) >> 58) % EPOCH_SLOTS;

    return take_slot(epoch, &epoch->slots[choice]) ? choice : take_other_slot(epoch, choice);
}

static NEVER_INLINE void
wake_waiting(struct epoch *epoch)
{
    mutex_lock(&epoch->waiting_mutex);
    pthread_cond_signal(&epoch->slot_free);
    mutex_unlock(&epoch->waiting_mutex);
}

void
epoch_leave(struct epoch *epoch, unsigned slot)
{
    assert(slot < EPOCH_SLOTS);
    assert(atomic_load_explicit(&epoch->slots[slot].entered, memory_order_relaxed) != 0);
    atomic_store_explicit(&epoch->slots[slot].entered, 0, memory_order_release);
    if (atomic_load_explicit(&epoch->waiting, memory_order_relaxed) > 0)
        wake_waiting(epoch);
}

enum petal_status
epoch_interrupt(struct epoch_stay *stay)
{
    enum petal_status status = PETAL_OK;

    assert(stay->slot < EPOCH_SLOTS);
    assert(atomic_load_explicit(&stay->epoch->slots[stay->slot].entered, memory_order_relaxed) !=
           0);
    if (stay->hold != NULL)
        status = stay->hold(stay);
    if (status == PETAL_OK)
        epoch_leave(stay->epoch, stay->slot);
    return status;
}

void
epoch_resume(struct epoch_stay *stay)
{
    stay->slot = epoch_enter(stay->epoch);
}

/* The smallest epoch that a reader inside entered at. */
static uint64_t
oldest_reader(struct epoch *epoch)
{
    uint64_t oldest = UINT64_MAX;

    for (unsigned i = 0; i < EPOCH_SLOTS; i++) {
        uint64_t entered = atomic_load(&epoch->slots[i].entered);

        if (entered != 0 && entered < oldest)
            oldest = entered;
    }
    return oldest;
}

static void
append(struct epoch *epoch, struct epoch_item *item)
{
    assert_held(&epoch->mutex);
    assert(item->release != NULL);
    item->next = NULL;
    item->retired_at = atomic_load_explicit(&epoch->current, memory_order_relaxed);
    assert((epoch->newest == NULL) == (epoch->oldest == NULL));
    assert(epoch->newest == NULL || epoch->newest->retired_at <= item->retired_at);
    if (epoch->newest != NULL)
        epoch->newest->next = item;
    else
        epoch->oldest = item;
    epoch->newest = item;
}

/* Take the items off the list that no reader can see. */
static struct epoch_item *
take_unseen(struct epoch *epoch)
{
    struct epoch_item *first = epoch->oldest;
    struct epoch_item *last = NULL;
    uint64_t limit;

    assert_held(&epoch->mutex);
    if (first == NULL)
        return NULL;
    /* Readers share this line, so it is written only when an item asks for it. */
    if (epoch->newest->retired_at == atomic_load_explicit(&epoch->current, memory_order_relaxed))
        atomic_fetch_add(&epoch->current, 1);
    limit = oldest_reader(epoch);
    while (epoch->oldest != NULL && epoch->oldest->retired_at < limit) {
        last = epoch->oldest;
        epoch->oldest = last->next;
    }
    if (epoch->oldest == NULL)
        epoch->newest = NULL;
    if (last == NULL)
        return NULL;
    last->next = NULL;
    return first;
}

/* Release functions may retire, and so take the mutex. */
static void
release_all(struct epoch *epoch, struct epoch_item *item)
{
    assert_not_held(&epoch->mutex);
    (void)epoch;
    while (item != NULL) {
        struct epoch_item *next = item->next;

        item->release(item);
        item = next;
    }
}

void
epoch_defer(struct epoch *epoch, struct epoch_item *item)
{
    mutex_lock(&epoch->mutex);
    append(epoch, item);
    mutex_unlock(&epoch->mutex);
}

void
epoch_collect(struct epoch *epoch)
{
    struct epoch_item *unseen;

    mutex_lock(&epoch->mutex);
    unseen = take_unseen(epoch);
    mutex_unlock(&epoch->mutex);
    release_all(epoch, unseen);
}

void
epoch_fini(struct epoch *epoch)
{
    assert(oldest_reader(epoch) == UINT64_MAX);
    /* Releasing may retire more. */
    while (epoch->oldest != NULL) {
        struct epoch_item *items = epoch->oldest;

        epoch->oldest = NULL;
        epoch->newest = NULL;
        release_all(epoch, items);
    }
    mutex_fini(&epoch->mutex);
    fini_waiting(epoch);
}
