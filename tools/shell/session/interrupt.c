/* interrupt.c -- see tools/shell/session/interrupt.h. */
#include "tools/shell/session/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { LOOK_MS = 100 };

static atomic_int pending, reading; /* a thread of an import may look, too */

static void
take_signal(int number)
{
    if (pending != 0 || reading != 0) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
    pending = 1;
}

void
interrupt_install(void)
{
    /* Restarted: what is being printed is printed. */
    struct sigaction action = {.sa_handler = take_signal, .sa_flags = SA_RESTART}, before;

    if (sigaction(SIGINT, NULL, &before) != 0 || before.sa_handler == SIG_IGN)
        return;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
}

bool
interrupt_pending(void)
{
    return pending != 0;
}

void
interrupt_hold(bool hold)
{
    sigset_t interrupt;

    (void)sigemptyset(&interrupt);
    (void)sigaddset(&interrupt, SIGINT);
    (void)pthread_sigmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &interrupt, NULL);
}

void
interrupt_ends_process(bool ends)
{
    reading = ends;
}

void
interrupt_clear(void)
{
    pending = 0;
}

bool
interrupt_wait_input(int file)
{
    struct pollfd input = {.fd = file, .events = POLLIN};

    while (!interrupt_pending()) {
        int ready = poll(&input, 1, LOOK_MS);

        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
    }
    errno = EINTR;
    return false;
}

enum shell_status
interrupt_check(struct session *session)
{
    if (pending == 0)
        return SHELL_FINE;
    return session_fail(session, SHELL_USAGE, "Interrupted");
}

/* ---- Work that can be left alone ------------------------------------------------------------- */

/* Shared by the thread that works and the one that waits. */
struct job {
    struct background_work work;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool done;
    enum petal_status status;
    petal_error error;
    struct job *next; /* of those that were left alone; of the shell's thread */
};

static struct job *left_alone;

static void *
run_job(void *argument)
{
    struct job *job = argument;
    enum petal_status status = job->work.run(job->work.argument, &job->error);

    (void)pthread_mutex_lock(&job->mutex);
    job->status = status;
    job->done = true;
    (void)pthread_cond_signal(&job->ended);
    (void)pthread_mutex_unlock(&job->mutex);
    return NULL;
}

static void
job_free(struct job *job)
{
    (void)pthread_cond_destroy(&job->ended);
    (void)pthread_mutex_destroy(&job->mutex);
    if (job->work.release != NULL)
        job->work.release(job->work.argument);
    free(job);
}

/* Signals are the shell's: a thread would take them and wake nobody. */
static bool
start(struct job *job)
{
    sigset_t all, before;
    bool started;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&job->thread, NULL, run_job, job) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* Until the job is done or a signal comes; false: the latter. */
static bool
wait_for(struct job *job)
{
    bool done;

    (void)pthread_mutex_lock(&job->mutex);
    while (!job->done && !interrupt_pending()) {
        struct timespec until;

        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        (void)pthread_cond_timedwait(&job->ended, &job->mutex, &until);
        if (!job->done && job->work.watch != NULL)
            job->work.watch(job->work.argument, false);
    }
    done = job->done;
    if (job->work.watch != NULL)
        job->work.watch(job->work.argument, true);
    (void)pthread_mutex_unlock(&job->mutex);
    return done;
}

enum shell_status
interrupt_wait(struct session *session, const struct background_work *work)
{
    struct job *job = memory_allocate(sizeof(*job));
    enum shell_status status = SHELL_FINE;

    *job = (struct job){.work = *work};
    (void)pthread_mutex_init(&job->mutex, NULL);
    (void)pthread_cond_init(&job->ended, NULL);
    if (!start(job)) {
        job_free(job);
        return session_fail(session, SHELL_DATA, "no thread can be started");
    }
    if (!wait_for(job)) {
        job->next = left_alone;
        left_alone = job;
        return interrupt_check(session);
    }
    if (job->status != PETAL_OK)
        status = session_fail_petal(session, &job->error);
    (void)pthread_join(job->thread, NULL);
    job_free(job);
    return status;
}

void
interrupt_wait_all(void)
{
    while (left_alone != NULL) {
        struct job *job = left_alone;

        left_alone = job->next;
        (void)pthread_join(job->thread, NULL);
        job_free(job);
    }
}
