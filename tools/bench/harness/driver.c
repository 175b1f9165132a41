/* driver.c -- see tools/bench/harness/driver.h. */
#include "tools/bench/harness/driver.h"

#include "tools/bench/harness/util.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define MOST_CHUNK   512 /* positions that a thread has in a row */
#define TICK_SECONDS 1e-3

struct bench_crew {
    const struct bench_drive *drive;
    uint64_t chunk;
    pthread_barrier_t start;
    _Atomic(unsigned) running; /* without the one beside */
};

/* Sleep until the next operation's time, and return it. */
static double
wait_for_turn(const struct bench_worker *worker)
{
    const struct bench_drive *drive = worker->drive;
    double due = (double)(worker->calls * drive->threads + worker->index) / drive->rate;

    due = worker->began + floor(due / TICK_SECONDS) * TICK_SECONDS;
    if (bench_now() < due) {
        struct timespec time = {.tv_sec = (time_t)due};

        time.tv_nsec = (long)((due - (double)time.tv_sec) * 1e9);
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
            ;
    }
    return due;
}

/* The one beside has had its turn, however late it came. */
static bool
is_over(const struct bench_worker *worker, double now)
{
    return (worker->until > 0 && now >= worker->until) ||
           (worker->index == worker->drive->threads && worker->calls > 0 &&
            atomic_load(&worker->crew->running) == 0);
}

/* Positions that were prepared together. False: time is up. */
static bool
run_piece(struct bench_worker *worker, uint64_t position, unsigned count)
{
    const struct bench_drive *drive = worker->drive;
    bench_operation *operate = worker->index < drive->threads ? drive->operate : drive->beside;
    double cpu = bench_clock(CLOCK_THREAD_CPUTIME_ID), began = bench_now(), now = began;

    for (worker->slot = 0; worker->slot < count && !is_over(worker, now); worker->slot++) {
        bool timed = worker->untimed == 0;
        double from = drive->rate > 0 ? wait_for_turn(worker) : now;
        uint64_t done;

        if (timed && drive->sample > 1)
            from = bench_now();
        done = operate(worker, position + worker->slot);
        assert(worker->kind < drive->kinds);
        worker->counts[worker->kind] += done;
        worker->calls++;
        worker->untimed = timed ? drive->sample - 1 : worker->untimed - 1;
        if (!timed)
            continue;
        now = worker->ended > 0 ? worker->ended : bench_now();
        bench_histogram_add(&worker->latencies[worker->kind],
                            now > from ? (uint64_t)((now - from) * 1e9) : 0);
        if (worker->ended > 0)
            now = bench_now();
        worker->ended = 0;
    }
    worker->busy += bench_now() - began;
    worker->cpu += bench_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
    return !is_over(worker, now);
}

static bool
run_chunk(struct bench_worker *worker, uint64_t position, uint64_t count)
{
    const struct bench_drive *drive = worker->drive;
    bool prepares = drive->prepared > 0 && worker->index < drive->threads;
    unsigned most = prepares ? drive->prepared : MOST_CHUNK;

    for (uint64_t done = 0; done < count;) {
        unsigned piece = count - done < most ? (unsigned)(count - done) : most;

        if (prepares)
            drive->prepare(worker, position + done, piece);
        if (!run_piece(worker, position + done, piece))
            return false;
        done += piece;
    }
    return true;
}

/* A thread of the crew: its chunks are every so many-th; the one beside has its own positions. */
static void *
work(void *argument)
{
    struct bench_worker *worker = argument;
    struct bench_crew *crew = worker->crew;
    const struct bench_drive *drive = worker->drive;
    bool beside = worker->index == drive->threads;
    uint64_t limit = beside ? UINT64_MAX : drive->operations, chunk = crew->chunk;
    uint64_t stride = beside ? chunk : chunk * drive->threads;
    uint64_t at = beside ? 0 : chunk * worker->index;

    prctl(PR_SET_TIMERSLACK, 1UL); /* else the kernel lets sleepers be 50 microseconds late */
    worker->own = drive->begin(drive->argument, worker->index);
    pthread_barrier_wait(&crew->start);
    worker->began = bench_now();
    if (drive->seconds > 0 && !beside)
        worker->until = worker->began + drive->seconds;
    while (at < limit && run_chunk(worker, at, limit - at < chunk ? limit - at : chunk) &&
           limit - at > stride)
        at += stride;
    worker->stopped = bench_now();
    if (!beside)
        atomic_fetch_sub(&crew->running, 1);
    drive->end(worker->own);
    return NULL;
}

/* Meanwhile: every so often, what they have done so far. */
static void
watch(struct bench_crew *crew, const struct bench_worker *workers, unsigned count)
{
    const struct timespec moment = {.tv_nsec = 20000000};
    struct bench_histogram *so_far = bench_alloc(sizeof *so_far);
    double last = bench_now();

    while (atomic_load(&crew->running) > 0) {
        nanosleep(&moment, NULL);
        if (bench_now() - last < crew->drive->every)
            continue;
        memset(so_far, 0, sizeof *so_far);
        for (unsigned i = 0; i < count; i++)
            bench_histogram_merge(so_far, &workers[i].latencies[0]);
        crew->drive->progress(crew->drive->argument, so_far);
        last = bench_now();
    }
    free(so_far);
}

static void
gather(const struct bench_drive *drive, const struct bench_worker *workers, unsigned count,
       struct bench_driven *driven)
{
    double began = workers[0].began, stopped = 0, rate = 0;
    uint64_t operations = 0;

    for (unsigned i = 0; i < count; i++) {
        const struct bench_worker *worker = &workers[i];
        uint64_t done = 0;

        driven->found += worker->found;
        driven->wrong += worker->wrong;
        driven->given += worker->given;
        driven->answered += worker->answered;
        for (unsigned kind = 0; kind < drive->kinds; kind++) {
            driven->counts[kind] += worker->counts[kind];
            done += worker->counts[kind];
            bench_histogram_merge(&driven->latencies[kind], &worker->latencies[kind]);
        }
        if (i == drive->threads)
            break;
        driven->cpu_seconds += worker->cpu;
        operations += done;
        rate += (double)done / fmax(worker->busy, 1e-9);
        began = fmin(began, worker->began);
        stopped = fmax(stopped, worker->stopped);
    }
    driven->seconds = drive->prepared > 0 && rate > 0 ? (double)operations / rate : stopped - began;
}

void
bench_drive_run(const struct bench_drive *drive, struct bench_driven *driven)
{
    unsigned count = drive->threads + (drive->beside != NULL ? 1 : 0);
    struct bench_worker *workers = bench_alloc(count * sizeof *workers);
    pthread_t *threads = bench_alloc(count * sizeof *threads);
    struct bench_crew crew = {.drive = drive, .running = drive->threads};

    assert(drive->threads > 0 && drive->sample > 0);
    assert(drive->kinds > 0 && drive->kinds <= BENCH_MOST_KINDS);
    crew.chunk = drive->operations / drive->threads / 16;
    crew.chunk = crew.chunk > MOST_CHUNK ? MOST_CHUNK : crew.chunk > 0 ? crew.chunk : 1;
    pthread_barrier_init(&crew.start, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        workers[i] = (struct bench_worker){.drive = drive, .index = i, .crew = &crew};
        workers[i].latencies = bench_alloc(drive->kinds * sizeof *workers[i].latencies);
    }
    for (unsigned i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
            bench_fail("start a thread", "no resources");
    }
    if (drive->progress != NULL)
        watch(&crew, workers, count);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    gather(drive, workers, count, driven);
    for (unsigned i = 0; i < count; i++)
        free(workers[i].latencies);
    pthread_barrier_destroy(&crew.start);
    free(workers);
    free(threads);
}
