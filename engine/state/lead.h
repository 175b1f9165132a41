/*
 * lead.h -- writers in line. The first one leads: it works for those behind it (a group commit),
 * and for a few groups more that came meanwhile, when that is quick; then it hands the lead to the
 * first one that was not served.
 *
 * LEADERSHIP is what all this is for: until it hands on, the leader owns what is marked [leader],
 * in struct petal_db and elsewhere. Functions marked LEADER need it, and assert_leads says so. Who
 * recovers a database leads, too.
 *
 * Threads: any. A place in the queue lies on the waiting thread's stack.
 */
#ifndef PETAL_ENGINE_STATE_LEAD_H
#define PETAL_ENGINE_STATE_LEAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/mutex.h"

enum write_turn {
    WRITE_WAITS,  /* and looks again and again */
    WRITE_SLEEPS, /* its end is told with the queue's mutex held */
    WRITE_LEADS,
    WRITE_SERVED
};

struct write_place {
    /* Set by the caller: */
    bool alone; /* wants the lead for other work: is in no group */
    /* Takes long, as a sync does: its thread sleeps meanwhile, no leader goes on with it behind his
     * own group, and when it leads it waits a little for others to share the sync. */
    bool slow;
    size_t bytes; /* what it adds to a group */
    /* The queue's; see engine/state/lead.c: */
    struct write_place *next;  /* towards the newest; the leader's */
    struct write_place *older; /* when it came into line */
    _Atomic(int) turn;         /* enum write_turn */
    pthread_cond_t woken;      /* made only when the thread sleeps */
};

/* What the leader is to serve. */
struct write_group {
    struct write_place *first, *last;
    unsigned stays; /* groups served by this leader behind the one with its own place */
};

struct write_queue {
    pthread_mutex_t mutex; /* of those that sleep */
    _Atomic(int) patience; /* see look_if_it_helps */
    bool one_processor;
    struct {
        unsigned
            expected; /* who may soon be in line: the last slow group's, and who stood behind */
        uint64_t began_us;  /* the slow group that is served */
        uint64_t lasted_us; /* the last one */
        int patience;       /* as that of those who look */
    } slow;                 /* [leader]; see gather in lead.c */
#ifndef NDEBUG
    struct holder leader; /* for assert_leads */
#endif
    /* Written with each write: what lies around it in the database is kept out of its cache
     * line. */
    unsigned char apart_before[CACHE_LINE_BYTES];
    _Atomic(struct write_place *) newest; /* NULL: nobody is in line */
    unsigned char apart_behind[CACHE_LINE_BYTES];
};

bool write_queue_init(struct write_queue *queue);
void write_queue_fini(struct write_queue *queue);

/* Lead, if nobody is in line; then the group is the place alone. */
static inline bool
write_queue_enter_free(struct write_queue *queue, struct write_place *place)
{
    struct write_place *newest = NULL;

    place->next = NULL;
    place->older = NULL;
    atomic_init(&place->turn, WRITE_WAITS);
    /* As in write_queue_enter. */
    if (!atomic_compare_exchange_strong_explicit(&queue->newest, &newest, place,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return false;
    HOLDER_SET(&queue->leader, true);
    return true;
}

/* Give the lead up, if nobody is in line behind the place, which was served alone. */
static inline bool
write_queue_leave_free(struct write_queue *queue, struct write_place *place)
{
    struct write_place *newest = place;

    assert(holder_is_self(&queue->leader));
    HOLDER_SET(&queue->leader, false); /* before anybody else can lead */
    /* Release: all that was done. */
    if (atomic_compare_exchange_strong_explicit(&queue->newest, &newest, NULL, memory_order_release,
                                                memory_order_relaxed))
        return true;
    HOLDER_SET(&queue->leader, true);
    return false;
}

/*
 * Take a place at the end. Returns when the place leads (true) or another leader has served it
 * (false).
 *
 * A leader serves *group, or what of it lies from its own place to any last one: the places in
 * line, up to `most_bytes` of them together (the leader's own always) and up to the next one that
 * wants to be alone. Links from its first to its last do not change meanwhile.
 */
bool write_queue_enter(struct write_queue *queue, struct write_place *place, size_t most_bytes,
                       struct write_group *group);

/*
 * The group is served; `own` is the caller's place. true: the lead is given up. false: *group is
 * the next one, for the caller to serve, too: there are such only behind places that are neither
 * alone nor slow, few, and small.
 */
bool write_queue_leave(struct write_queue *queue, struct write_place *own,
                       struct write_group *group);

/* Take the lead for other work than writes; none runs until write_lead_end. */
void write_lead_alone(struct write_queue *queue, struct write_place *place);
void write_lead_end(struct write_queue *queue, struct write_place *place);

/* The calling thread leads. */
#define assert_leads(db) assert(holder_is_self(&(db)->writers.queue.leader))

#endif
