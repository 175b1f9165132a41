/*
 * lead.h -- the queue of writers. The first one leads: it commits for the queued writers, too
 * (group commit), and for a few groups more that came meanwhile, if that is quick; then it hands
 * the lead to the first one that was not served.
 *
 * LEADERSHIP. Until it hands on, the leader owns everything marked [leader], in struct petal_db and
 * elsewhere. Functions marked LEADER require it, and assert_leads checks that. The thread that
 * recovers a database leads, too.
 *
 * Threads: any. A place in the queue is on the stack of the waiting thread.
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
    WRITE_WAITS,  /* and spins */
    WRITE_SLEEPS, /* its turn is set with the queue's mutex held */
    WRITE_LEADS,
    WRITE_SERVED
};

struct write_place {
    /* Set by the caller: */
    bool alone; /* wants the lead for other work: is in no group */
    /* Takes long, as a sync does: its thread sleeps meanwhile, no leader serves it after its own
     * group, and when it leads it waits a little for others to share the sync. */
    bool slow;
    size_t bytes; /* what it adds to a group */
    /* The queue's; see engine/state/lead.c: */
    struct write_place *next;  /* towards the newest; the leader's */
    struct write_place *older; /* the tail when it was enqueued */
    _Atomic(int) turn;         /* enum write_turn */
    pthread_cond_t woken;      /* made only when the thread sleeps */
};

/* What the leader serves next. */
struct write_group {
    struct write_place *first, *last;
    unsigned stays; /* groups that this leader has served after the one with its own place */
};

struct write_queue {
    pthread_mutex_t mutex; /* of those that sleep */
    _Atomic(int) patience; /* see look_if_it_helps */
    bool one_processor;
    struct {
        unsigned expected;  /* who may come soon: the last slow group, and those queued after it */
        uint64_t began_us;  /* the slow group that is served */
        uint64_t lasted_us; /* the last one */
        int patience;       /* as that of spinning */
    } slow;                 /* [leader]; see gather in lead.c */
#ifndef NDEBUG
    struct holder leader; /* for assert_leads */
#endif
    /* Written with each write, so alone in its cache line. */
    unsigned char apart_before[CACHE_LINE_BYTES];
    _Atomic(struct write_place *) newest; /* the tail; NULL: the queue is empty */
    unsigned char apart_behind[CACHE_LINE_BYTES];
};

bool write_queue_init(struct write_queue *queue);
void write_queue_fini(struct write_queue *queue);

/*
 * Enqueue the place. Returns when it leads (true) or another leader has served it (false).
 *
 * A leader serves *group, or a part of it that begins with its own place: the places in the queue,
 * up to `most_bytes` together (the leader's own in any case) and up to the next one that wants to
 * be alone. Links from its first to its last do not change meanwhile.
 */
bool write_queue_enter(struct write_queue *queue, struct write_place *place, size_t most_bytes,
                       struct write_group *group);

/*
 * The group is served; `own` is the caller's place. True: the lead is given up. False: *group is
 * the next one, which the caller has to serve, too. That happens only after a place that is neither
 * alone nor slow, a few times, with small groups.
 */
bool write_queue_leave(struct write_queue *queue, struct write_place *own,
                       struct write_group *group);

/* Take the lead for other work than writes; no write runs until write_lead_end. */
void write_lead_alone(struct write_queue *queue, struct write_place *place);
void write_lead_end(struct write_queue *queue, struct write_place *place);

/* The calling thread leads. */
#define assert_leads(db) assert(holder_is_self(&(db)->writers.queue.leader))

#endif
