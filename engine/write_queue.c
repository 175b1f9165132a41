/* write_queue.c -- see write_queue.h. */
#include "engine/write_queue.h"

#include <assert.h>

bool
write_queue_init(struct write_queue *queue)
{
    queue->first = NULL;
    queue->last = NULL;
    return pthread_mutex_init(&queue->mutex, NULL) == 0;
}

void
write_queue_fini(struct write_queue *queue)
{
    assert(queue->first == NULL);
    pthread_mutex_destroy(&queue->mutex);
}

/* The last place of the group that begins with the first in line. REQUIRES: mutex held. */
static struct write_place *
last_of_group(const struct write_queue *queue, size_t most_bytes)
{
    struct write_place *last = queue->first;
    size_t bytes = last->bytes;

    while (!last->alone && last->next != NULL && !last->next->alone &&
           bytes + last->next->bytes <= most_bytes) {
        last = last->next;
        bytes += last->bytes;
    }
    return last;
}

bool
write_queue_enter(struct write_queue *queue, struct write_place *place, size_t most_bytes)
{
    bool served;

    place->next = NULL;
    place->served = false;
    place->waiting = false;
    pthread_mutex_lock(&queue->mutex);
    place->leads = queue->first == NULL;
    if (place->leads)
        queue->first = place;
    else
        queue->last->next = place;
    queue->last = place;
    if (!place->leads) {
        pthread_cond_init(&place->turn, NULL);
        place->waiting = true;
        while (!place->leads && !place->served)
            pthread_cond_wait(&place->turn, &queue->mutex);
        pthread_cond_destroy(&place->turn);
    }
    served = place->served;
    if (!served)
        place->group_last = last_of_group(queue, most_bytes);
    pthread_mutex_unlock(&queue->mutex);
    return !served;
}

void
write_queue_leave(struct write_queue *queue, struct write_place *last)
{
    struct write_place *place;

    pthread_mutex_lock(&queue->mutex);
    for (;;) {
        place = queue->first;
        assert(place != NULL);
        queue->first = place->next;
        place->served = true;
        if (place->waiting)
            pthread_cond_signal(&place->turn);
        if (place == last)
            break;
    }
    if (queue->first == NULL) {
        queue->last = NULL;
    } else {
        queue->first->leads = true;
        pthread_cond_signal(&queue->first->turn);
    }
    pthread_mutex_unlock(&queue->mutex);
}
