/* driver.c -- see tools/bench/harness/driver.h. */
#include "tools/bench/harness/driver.h"

#include "tools/bench/harness/util.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>

#define MOST_CHUNK   512 /* positions that a thread has in a row */
#define TICK_SECONDS 1e-3

struct bench_crew {
    uint64_t chunk;
    pthread_barrier_t start;
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

/* Positions that were prepared together. */
static void
run_piece(struct bench_worker *worker, uint64_t position, unsigned count)
{
    const struct bench_drive *drive = worker->drive;
    double cpu = bench_clock(CLOCK_THREAD_CPUTIME_ID), began = bench_now(), now = began;

    for (worker->slot = 0; worker->slot < count; worker->slot++) {
        bool timed = worker->untimed == 0;
        double from = drive->rate > 0 ? wait_for_turn(worker) : now;

        if (timed && drive->sample > 1)
            from = bench_now();
        worker->count += drive->operate(worker, position + worker->slot);
        worker->calls++;
        worker->untimed = timed ? drive->sample - 1 : worker->untimed - 1;
        if (!timed)
            continue;
        now = bench_now();
        assert(worker->kind < BENCH_MOST_KINDS);
        bench_histogram_add(&worker->latencies[worker->kind],
                            now > from ? (uint64_t)((now - from) * 1e9) : 0);
    }
    worker->busy += bench_now() - began;
    worker->cpu += bench_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
}

static void
run_chunk(struct bench_worker *worker, uint64_t position, uint64_t count)
{
    const struct bench_drive *drive = worker->drive;
    unsigned most = drive->prepared > 0 ? drive->prepared : MOST_CHUNK;

    for (uint64_t done = 0; done < count;) {
        unsigned piece = count - done < most ? (unsigned)(count - done) : most;

        if (drive->prepared > 0)
            drive->prepare(worker, position + done, piece);
        run_piece(worker, position + done, piece);
        done += piece;
    }
}

/* A thread of the crew: its chunks are every so many-th. */
static void *
work(void *argument)
{
    struct bench_worker *worker = argument;
    const struct bench_drive *drive = worker->drive;
    uint64_t limit = drive->operations, chunk = worker->crew->chunk;

    prctl(PR_SET_TIMERSLACK, 1UL); /* else the kernel lets sleepers be 50 microseconds late */
    worker->own = drive->begin(drive->argument, worker->index);
    pthread_barrier_wait(&worker->crew->start);
    worker->began = bench_now();
    for (uint64_t at = chunk * worker->index; at < limit; at += chunk * drive->threads)
        run_chunk(worker, at, limit - at < chunk ? limit - at : chunk);
    worker->stopped = bench_now();
    drive->end(worker->own);
    return NULL;
}

static void
gather(const struct bench_drive *drive, const struct bench_worker *workers,
       struct bench_driven *driven)
{
    double began = workers[0].began, stopped = 0, rate = 0;

    for (unsigned i = 0; i < drive->threads; i++) {
        const struct bench_worker *worker = &workers[i];

        driven->found += worker->found;
        driven->wrong += worker->wrong;
        driven->given += worker->given;
        driven->answered += worker->answered;
        driven->count += worker->count;
        driven->cpu_seconds += worker->cpu;
        for (unsigned kind = 0; kind < BENCH_MOST_KINDS; kind++) {
            bench_histogram_merge(&driven->latencies, &worker->latencies[kind]);
            bench_histogram_merge(&driven->kinds[kind], &worker->latencies[kind]);
        }
        rate += (double)worker->count / fmax(worker->busy, 1e-9);
        began = fmin(began, worker->began);
        stopped = fmax(stopped, worker->stopped);
    }
    driven->seconds =
        drive->prepared > 0 && rate > 0 ? (double)driven->count / rate : stopped - began;
}

void
bench_drive_run(const struct bench_drive *drive, struct bench_driven *driven)
{
    unsigned count = drive->threads;
    struct bench_worker *workers = bench_alloc(count * sizeof *workers);
    pthread_t *threads = bench_alloc(count * sizeof *threads);
    struct bench_crew crew = {.chunk = drive->operations / count / 16};

    assert(count > 0 && drive->sample > 0);
    crew.chunk = crew.chunk > MOST_CHUNK ? MOST_CHUNK : crew.chunk > 0 ? crew.chunk : 1;
    pthread_barrier_init(&crew.start, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        workers[i] = (struct bench_worker){.drive = drive, .index = i, .crew = &crew};
        workers[i].latencies = bench_alloc(BENCH_MOST_KINDS * sizeof *workers[i].latencies);
    }
    for (unsigned i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
            bench_fail("start a thread", "no resources");
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    gather(drive, workers, driven);
    for (unsigned i = 0; i < count; i++)
        free(workers[i].latencies);
    pthread_barrier_destroy(&crew.start);
    free(workers);
    free(threads);
}
