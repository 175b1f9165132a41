/* pipeline.c -- see tools/shell/files/pipeline.h. */
#include "tools/shell/files/pipeline.h"

#include "tools/shell/text/memory.h"

#include <pthread.h>
#include <stdlib.h>

enum state { STATE_FREE, STATE_TAKEN, STATE_READY };

/* Job number n of the input is in slot n % count. */
struct run {
    const struct pipeline *pipeline;
    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t changed;
    enum state *states;
    size_t next;  /* number of the job to read */
    bool reading; /* a thread is in `read` */
    bool ended;   /* nothing more is to be read */
};

static bool
may_read(const struct run *run)
{
    return !run->reading && run->states[run->next % run->pipeline->job_count] == STATE_FREE;
}

static void *
serve(void *argument)
{
    struct run *run = argument;
    const struct pipeline *pipeline = run->pipeline;

    (void)pthread_mutex_lock(&run->mutex);
    for (;;) {
        size_t slot;
        bool more;

        while (!run->ended && !may_read(run))
            (void)pthread_cond_wait(&run->changed, &run->mutex);
        if (run->ended)
            break;
        slot = run->next % pipeline->job_count;
        run->reading = true;
        (void)pthread_mutex_unlock(&run->mutex);
        more = pipeline->read(pipeline->context, pipeline->jobs[slot]);
        (void)pthread_mutex_lock(&run->mutex);
        run->reading = false;
        if (more) {
            run->states[slot] = STATE_TAKEN;
            run->next++;
        } else {
            run->ended = true;
        }
        (void)pthread_cond_broadcast(&run->changed);
        if (!more)
            break;
        (void)pthread_mutex_unlock(&run->mutex);
        pipeline->work(pipeline->context, pipeline->jobs[slot]);
        (void)pthread_mutex_lock(&run->mutex);
        run->states[slot] = STATE_READY;
        (void)pthread_cond_broadcast(&run->changed);
    }
    (void)pthread_mutex_unlock(&run->mutex);
    return NULL;
}

static void
write_jobs(struct run *run)
{
    const struct pipeline *pipeline = run->pipeline;
    bool more = true;

    (void)pthread_mutex_lock(&run->mutex);
    for (size_t number = 0; more; number++) {
        size_t slot = number % pipeline->job_count;

        while (run->states[slot] != STATE_READY && !(run->ended && number >= run->next))
            (void)pthread_cond_wait(&run->changed, &run->mutex);
        if (run->states[slot] != STATE_READY)
            break;
        (void)pthread_mutex_unlock(&run->mutex);
        more = pipeline->write(pipeline->context, pipeline->jobs[slot]);
        (void)pthread_mutex_lock(&run->mutex);
        run->states[slot] = STATE_FREE;
        (void)pthread_cond_broadcast(&run->changed);
    }
    run->ended = true;
    (void)pthread_cond_broadcast(&run->changed);
    (void)pthread_mutex_unlock(&run->mutex);
}

static void
run_alone(const struct pipeline *pipeline)
{
    void *job = pipeline->jobs[0];

    while (pipeline->read(pipeline->context, job)) {
        pipeline->work(pipeline->context, job);
        if (!pipeline->write(pipeline->context, job))
            break;
    }
}

void
pipeline_run(const struct pipeline *pipeline)
{
    struct run run = {.pipeline = pipeline};
    pthread_t *threads;
    unsigned started = 0;

    if (pipeline->threads == 0) {
        run_alone(pipeline);
        return;
    }
    threads = memory_allocate(pipeline->threads * sizeof(*threads));
    run.states = memory_allocate(pipeline->job_count * sizeof(*run.states));
    for (size_t i = 0; i < pipeline->job_count; i++)
        run.states[i] = STATE_FREE;
    (void)pthread_mutex_init(&run.mutex, NULL);
    (void)pthread_cond_init(&run.changed, NULL);
    while (started < pipeline->threads && pthread_create(&threads[started], NULL, serve, &run) == 0)
        started++;
    if (started > 0)
        write_jobs(&run);
    else
        run_alone(pipeline);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    (void)pthread_cond_destroy(&run.changed);
    (void)pthread_mutex_destroy(&run.mutex);
    free(run.states);
    free(threads);
}
