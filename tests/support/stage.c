/* stage.c -- see tests/support/stage.h. */
#include "tests/support/stage.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int at; /* the step */

void
stage_reach(int step)
{
    pthread_mutex_lock(&mutex);
    at = step;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

void
stage_wait_for(int step)
{
    pthread_mutex_lock(&mutex);
    while (at < step)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

bool
stage_is_at(int step)
{
    bool is_at;

    pthread_mutex_lock(&mutex);
    is_at = at == step;
    pthread_mutex_unlock(&mutex);
    return is_at;
}

bool
stage_pass(int before, int after)
{
    bool passed;

    pthread_mutex_lock(&mutex);
    passed = at == before;
    if (passed) {
        at = after;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&mutex);
    return passed;
}
