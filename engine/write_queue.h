/*
 * write_queue.h -- writers in line. The first one leads: it may work for those behind it (a group commit), then it
 * hands the lead to the first one that was not served.
 *
 * Threads: any. A place in the queue lies on the waiting thread's stack.
 */
#ifndef PETAL_ENGINE_WRITE_QUEUE_H
#define PETAL_ENGINE_WRITE_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct write_place {
    bool
        alone; /* wants the lead for other work: is in no group. Set by the caller, as is `bytes` */
    size_t bytes; /* what it adds to a group */
    struct write_place *next;
    bool leads; /* guarded by the queue's mutex, as is `served` */
    bool served;
    bool waiting;
    struct write_place *group_last; /* of a place that leads: see write_queue_enter */
    pthread_cond_t turn;            /* made only when the thread has to wait */
};

struct write_queue {
    pthread_mutex_t mutex;
    struct write_place *first, *last;
};

bool write_queue_init(struct write_queue *queue);
void write_queue_fini(struct write_queue *queue);

/*
 * Take a place at the end. Returns when the place leads (true) or another leader has served it (false).
 *
 * A leader may serve a group, up to place->group_last: the places in line, up to `most_bytes` of them together (the leader's own always)
 * and up to the next one that wants to be alone. Links between the leader and that last place do not change while the caller leads.
 */
bool write_queue_enter(struct write_queue *queue, struct write_place *place, size_t most_bytes);

/* Give up the lead: all places up to and including `last` are served. REQUIRES: the caller leads, `last` is in line. */
void write_queue_leave(struct write_queue *queue, struct write_place *last);

#endif
