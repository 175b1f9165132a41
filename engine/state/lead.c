/*
 * lead.c -- see engine/state/lead.h.
 *
 * A writer enqueues itself by compare-and-swap: it becomes the tail (`newest`) and points at the
 * previous one (`older`), so it is never in the queue without being linked. If the queue was empty
 * it leads. Only the leader links the places forward (`next`), when it has to walk, and only the
 * leader removes places, by setting their `turn`.
 *
 * Memory order.
 * - A place is filled before the exchange, which is a release; the leader loads `newest` with
 *   acquire. All changes of `newest` are read-modify-writes, so the load synchronizes with every
 *   exchange in the queue, not only with the last.
 * - The work of one leader happens before that of the next: through the place's turn, stored with
 *   release and loaded with acquire, or, if the queue is empty, through `newest` itself: the
 *   exchange of the one that leaves is a release, that of the next writer an acquire.
 * - Once its turn is set, a place may be gone: its links are read before that. A sleeper looks at
 *   its turn with the mutex held, and is woken with it held, so its condition variable lives long
 *   enough.
 *
 * Unless somebody syncs, a turn comes much sooner than a sleeper wakes. So a waiter spins for a
 * microsecond or two before it sleeps, and yields in between, as long as that helps. For the same
 * reason the leader does not hand on at once: the next one may sleep or have no processor, with all
 * others waiting for it, and on another processor everything that leaders touch would have to come
 * from this one's cache.
 *
 * SLOW GROUPS. When a sync ends, the writers that shared it come back soon, but a little too late
 * for the next sync, which the first one in the queue has begun: so of eight writers four would
 * share one. A slow leader therefore waits, for at most a quarter of the time that the last slow
 * group took, until as many writers are in the queue as were then: a quarter of a sync against half
 * the syncs. If they do not come, it soon gives that up.
 */
#include "engine/state/lead.h"

#include "base/clock.h"

#include <assert.h>
#include <sched.h>
#include <unistd.h>

/* How often a waiter spins, about a microsecond in all, and how often it yields, before it
 * sleeps. */
#define MOST_LOOKS  32
#define MOST_YIELDS 2

/* A spin in vain costs patience, a successful one restores it; without patience only one of
 * PROBE_INTERVAL waits begins with a spin. */
#define MOST_PATIENCE  32
#define PROBE_INTERVAL 16

/* How long a slow leader waits for others at most; and after how many waits in vain, one after the
 * other, it does so only now and then. */
#define MOST_GATHER_US     50000
#define MOST_SLOW_PATIENCE 4

/* No more writers in the queue than this are counted. */
#define MOST_EXPECTED 256

/* How many groups a leader serves only for others, and how large each may be: its caller waits for
 * no more than some microseconds. */
#define MOST_STAYS 8
#define STAY_BYTES ((size_t)16 << 10)

bool
write_queue_init(struct write_queue *queue)
{
    atomic_init(&queue->newest, NULL);
    atomic_init(&queue->patience, MOST_PATIENCE);
    queue->slow.expected = 0;
    queue->slow.patience = MOST_SLOW_PATIENCE;
    queue->one_processor = sysconf(_SC_NPROCESSORS_ONLN) == 1;
    HOLDER_SET(&queue->leader, false);
    return pthread_mutex_init(&queue->mutex, NULL) == 0;
}

void
write_queue_fini(struct write_queue *queue)
{
    assert(atomic_load_explicit(&queue->newest, memory_order_relaxed) == NULL);
    pthread_mutex_destroy(&queue->mutex);
}

/* ---- waiting ---- */

static inline void
pause_shortly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

static inline bool
has_turn(const struct write_place *place)
{
    /* Acquire: what the leader did for this place, or before it handed on. */
    return atomic_load_explicit(&place->turn, memory_order_acquire) != WRITE_WAITS;
}

/* Spin until it is the place's turn; false: it does not come soon. */
static bool
look_for_turn(const struct write_place *place)
{
    for (int i = 0; i < MOST_LOOKS; i++) {
        if (has_turn(place))
            return true;
        pause_shortly();
    }
    for (int i = 0; i < MOST_YIELDS; i++) {
        sched_yield();
        if (has_turn(place))
            return true;
    }
    return false;
}

/* Is it worth trying? Below zero, patience counts the waits until the next try. */
static bool
patience_tries(int patience)
{
    return patience > 0 || patience <= -PROBE_INTERVAL;
}

/* Patience after a try with this result, or after a wait without a try (`found` false). */
static int
patience_behind(int patience, int most, bool found)
{
    if (found)
        return patience < 0 ? 1 : patience + (patience < most);
    return patience < 0 && patience_tries(patience) ? 0 : patience - 1;
}

/* Patience is a guess: lost updates do no harm. */
static bool
look_if_it_helps(struct write_queue *queue, const struct write_place *place)
{
    int patience = atomic_load_explicit(&queue->patience, memory_order_relaxed), changed;
    bool found;

    if (queue->one_processor || place->slow)
        return false;
    found = patience_tries(patience) && look_for_turn(place);
    changed = patience_behind(patience, MOST_PATIENCE, found);
    if (changed != patience)
        atomic_store_explicit(&queue->patience, changed, memory_order_relaxed);
    return found;
}

static void
sleep_until_turn(struct write_queue *queue, struct write_place *place)
{
    int turn = WRITE_WAITS;

    pthread_cond_init(&place->woken, NULL);
    pthread_mutex_lock(&queue->mutex);
    /* Release: the condition variable. Acquire where it fails: as in look_for_turn. */
    if (atomic_compare_exchange_strong_explicit(&place->turn, &turn, WRITE_SLEEPS,
                                                memory_order_acq_rel, memory_order_acquire)) {
        while (atomic_load_explicit(&place->turn, memory_order_relaxed) == WRITE_SLEEPS)
            pthread_cond_wait(&place->woken, &queue->mutex);
    }
    pthread_mutex_unlock(&queue->mutex);
    pthread_cond_destroy(&place->woken);
}

/* Set the turn of a waiting place, which may be gone then. `*locked`: is the mutex held? */
static void
tell(struct write_queue *queue, struct write_place *place, enum write_turn turn, bool *locked)
{
    int before = WRITE_WAITS;

    assert(turn == WRITE_LEADS || turn == WRITE_SERVED);
    /* Acquire where it fails: the condition variable. */
    if (atomic_compare_exchange_strong_explicit(&place->turn, &before, (int)turn,
                                                memory_order_acq_rel, memory_order_acquire))
        return;
    if (!*locked)
        pthread_mutex_lock(&queue->mutex);
    *locked = true;
    atomic_store_explicit(&place->turn, (int)turn, memory_order_release);
    pthread_cond_signal(&place->woken);
}

/* ---- the line ---- */

/* Link forward from `from`, which is in the queue, to the newest. Links that exist already have no
 * gaps, from the first place on. LEADER. */
static void
link_forward(struct write_queue *queue, const struct write_place *from)
{
    struct write_place *place = atomic_load_explicit(&queue->newest, memory_order_acquire);

    assert(place != NULL);
    while (place != from && place->older->next == NULL) {
        place->older->next = place;
        place = place->older;
    }
}

/* The last place of the group that begins with `first`; `quick`: the group has no slow one.
 * LEADER. */
static struct write_place *
last_of_group(struct write_queue *queue, struct write_place *first, size_t most_bytes, bool quick)
{
    struct write_place *last = first;
    size_t bytes = last->bytes;

    if (first->alone)
        return first;
    link_forward(queue, first);
    while (last->next != NULL && !last->next->alone && !(quick && last->next->slow) &&
           bytes + last->next->bytes <= most_bytes) {
        last = last->next;
        bytes += last->bytes;
    }
    return last;
}

/* ---- slow groups ---- */

/* The number of places in the queue from `first` on, at most `most`. LEADER. */
static unsigned
count_in_line(struct write_queue *queue, const struct write_place *first, unsigned most)
{
    const struct write_place *place = atomic_load_explicit(&queue->newest, memory_order_acquire);
    unsigned count = 1;

    for (; place != first && count < most; place = place->older)
        count++;
    return count;
}

/* The slow place leads: wait for others to share its sync, and note when its group begins. */
static void
gather(struct write_queue *queue, const struct write_place *own)
{
    unsigned expected = queue->slow.expected;
    uint64_t now = clock_us(), until = now + queue->slow.lasted_us / 4;
    bool all;

    assert(holder_is_self(&queue->leader) && own->slow && !own->alone);
    all = expected <= 1 || count_in_line(queue, own, expected) == expected;
    if (!all) {
        if (until > now + MOST_GATHER_US)
            until = now + MOST_GATHER_US;
        while (patience_tries(queue->slow.patience) && !all && now < until) {
            sched_yield();
            all = count_in_line(queue, own, expected) == expected;
            now = clock_us();
        }
        queue->slow.patience = patience_behind(queue->slow.patience, MOST_SLOW_PATIENCE, all);
    }
    queue->slow.began_us = now;
}

/* The slow group is served: note its size and duration for gather. LEADER. */
static void
note_slow(struct write_queue *queue, const struct write_group *group)
{
    const struct write_place *place = group->first;

    queue->slow.lasted_us = clock_us() - queue->slow.began_us;
    queue->slow.expected = 1;
    for (; place != group->last; place = place->next)
        queue->slow.expected++;
}

bool
write_queue_enter(struct write_queue *queue, struct write_place *place, size_t most_bytes,
                  struct write_group *group)
{
    struct write_place *newest = NULL;

    place->next = NULL;
    place->older = NULL;
    atomic_init(&place->turn, WRITE_WAITS);
    while (!atomic_compare_exchange_weak_explicit(&queue->newest, &newest, place,
                                                  memory_order_acq_rel, memory_order_relaxed))
        place->older = newest;
    if (newest != NULL) {
        if (!look_if_it_helps(queue, place))
            sleep_until_turn(queue, place);
        if (atomic_load_explicit(&place->turn, memory_order_relaxed) == WRITE_SERVED)
            return false;
    }
    HOLDER_SET(&queue->leader, true);
    *group = (struct write_group){place, place, 0};
    if (place->slow && !place->alone)
        gather(queue, place);
    if (place->slow || newest != NULL)
        group->last = last_of_group(queue, place, most_bytes, false);
    return true;
}

/* Does the caller serve the next group, too? */
static bool
may_stay(const struct write_place *own, const struct write_group *group,
         const struct write_place *next)
{
    return !own->alone && !own->slow && !next->alone && !next->slow && next->bytes <= STAY_BYTES &&
           group->stays < MOST_STAYS;
}

/* Set the turns of the places from `first` to `last`, except the caller's: they are served. */
static void
tell_served(struct write_queue *queue, struct write_place *first, struct write_place *last,
            const struct write_place *own, bool *locked)
{
    for (struct write_place *place = first, *next; place != NULL; place = next) {
        next = place != last ? place->next : NULL;
        if (place != own)
            tell(queue, place, WRITE_SERVED, locked);
    }
}

bool
write_queue_leave(struct write_queue *queue, struct write_place *own, struct write_group *group)
{
    struct write_place *first = group->first, *last = group->last, *newest = last, *next = NULL;
    bool stays = false, locked = false;

    assert(holder_is_self(&queue->leader));
    if (own->slow && !own->alone)
        note_slow(queue, group);
    HOLDER_SET(&queue->leader, false); /* before anybody is told to lead */
    /* Release: everything done as the leader. */
    if (!atomic_compare_exchange_strong_explicit(&queue->newest, &newest, NULL,
                                                 memory_order_release, memory_order_relaxed)) {
        link_forward(queue, last);
        next = last->next;
        assert(next != NULL);
        if (own->slow && !own->alone)
            queue->slow.expected += count_in_line(queue, next, MOST_EXPECTED);
        stays = may_stay(own, group, next);
    }
    /* Before the next leader: they may be back in the queue when it makes its group. */
    if (first != own || last != own)
        tell_served(queue, first, last, own, &locked);
    if (next != NULL && !stays)
        tell(queue, next, WRITE_LEADS, &locked);
    if (locked)
        pthread_mutex_unlock(&queue->mutex);
    if (stays) {
        HOLDER_SET(&queue->leader, true);
        group->first = next;
        group->last = last_of_group(queue, next, STAY_BYTES, true);
        group->stays++;
    }
    return !stays;
}

void
write_lead_alone(struct write_queue *queue, struct write_place *place)
{
    struct write_group group;

    place->alone = true;
    place->slow = true;
    place->bytes = 0;
    write_queue_enter(queue, place, 0, &group);
}

void
write_lead_end(struct write_queue *queue, struct write_place *place)
{
    struct write_group group = {place, place, 0};

    write_queue_leave(queue, place, &group);
}
