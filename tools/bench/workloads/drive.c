/* drive.c -- see tools/bench/workloads/drive.h. */
#include "tools/bench/workloads/drive.h"

#include "tools/bench/harness/histogram.h"

#include <pthread.h>
#include <stdlib.h>

#define BATCH        512
#define SAMPLE_EVERY 16
#define ABSENT                                                                                     \
    ((uint64_t)1 << 40) /* added to a number: a key in the same range that is never put */

struct driver {
    const struct bench_drive *drive;
    unsigned index;
    pthread_t thread;
    pthread_barrier_t *start;
    struct bench_histogram times; /* nanoseconds */
    double busy, cpu;             /* seconds */
    uint64_t done;
    uint64_t touched; /* keeps what is read from being optimised away */
    char keys[BATCH][BENCH_KEY_BYTES + 1];
};

/* A value counts as read when its first byte was. */
static void
touch(struct driver *driver, petal_slice value)
{
    if (value.size > 0)
        driver->touched += *(const uint8_t *)value.data;
}

/* ---- single operations ---- */

static void
put(struct driver *driver, void *session, uint64_t number)
{
    char key[BENCH_KEY_BYTES + 1];
    uint8_t value[BENCH_VALUE_BYTES];

    bench_key(key, number);
    bench_value(value, sizeof value, number);
    driver->drive->store->put(session, (petal_slice){key, BENCH_KEY_BYTES},
                              (petal_slice){value, sizeof value});
}

static void
get(struct driver *driver, void *session, const char *key)
{
    bool wanted = driver->drive->kind == BENCH_DRIVE_GET_HIT;
    petal_slice value;

    if (driver->drive->store->get(session, (petal_slice){key, BENCH_KEY_BYTES}, &value) != wanted)
        bench_fail("get", wanted ? "a key that was put is not there"
                                 : "a key that was never put is there");
    if (wanted)
        touch(driver, value);
}

static void
seek(struct driver *driver, void *iterator, const char *key)
{
    const struct bench_store *store = driver->drive->store;
    struct bench_pair pair;
    bool valid = store->seek(iterator, (petal_slice){key, BENCH_KEY_BYTES}, &pair);

    if (!valid)
        bench_fail("seek", "a key that was put is not there");
    for (int i = 1; valid; i++) {
        touch(driver, pair.value);
        if (i == BENCH_SEEK_STEPS)
            break;
        valid = store->next(iterator, &pair);
    }
}

/* ---- a thread's work ---- */

/* `handle` is the session of gets, the iterator of seeks. */
static void
read_batch(struct driver *driver, void *handle, uint64_t count)
{
    bool seeks = driver->drive->kind == BENCH_DRIVE_SEEK;

    for (uint64_t i = 0; i < count; i++) {
        double start = i % SAMPLE_EVERY == 0 ? bench_now() : 0;

        if (seeks)
            seek(driver, handle, driver->keys[i]);
        else
            get(driver, handle, driver->keys[i]);
        if (i % SAMPLE_EVERY == 0)
            bench_histogram_add(&driver->times, (uint64_t)((bench_now() - start) * 1e9));
    }
}

static void
read_all(struct driver *driver, void *handle, uint64_t count)
{
    const struct bench_drive *drive = driver->drive;
    struct bench_random random = {bench_scramble(drive->seed + driver->index)};
    uint64_t other = drive->kind == BENCH_DRIVE_GET_ABSENT ? ABSENT : 0;

    while (driver->done < count) {
        uint64_t batch = count - driver->done < BATCH ? count - driver->done : BATCH;
        double began, cpu;

        for (uint64_t i = 0; i < batch; i++)
            bench_key(driver->keys[i], bench_random_below(&random, drive->rows) | other);
        cpu = bench_clock(CLOCK_THREAD_CPUTIME_ID);
        began = bench_now();
        read_batch(driver, handle, batch);
        driver->busy += bench_now() - began;
        driver->cpu += bench_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
        driver->done += batch;
    }
}

static void
scan(struct driver *driver, void *iterator)
{
    const struct bench_store *store = driver->drive->store;
    double cpu = bench_clock(CLOCK_THREAD_CPUTIME_ID), began = bench_now();
    struct bench_pair pair;

    for (bool valid = store->seek(iterator, (petal_slice){NULL, 0}, &pair); valid;
         valid = store->next(iterator, &pair)) {
        touch(driver, pair.value);
        driver->done++;
    }
    driver->busy = bench_now() - began;
    driver->cpu = bench_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
    if (driver->done != driver->drive->rows)
        bench_fail("scan", "the number of pairs is not the number of rows put");
}

/* Thread t of T puts the numbers t, t + T, t + 2 T … */
static void
put_all(struct driver *driver, void *session)
{
    const struct bench_drive *drive = driver->drive;
    double began = bench_now();

    for (uint64_t number = driver->index; number < drive->count; number += drive->threads) {
        double start = driver->done % SAMPLE_EVERY == 0 ? bench_now() : 0;

        put(driver, session, number);
        if (driver->done++ % SAMPLE_EVERY == 0)
            bench_histogram_add(&driver->times, (uint64_t)((bench_now() - start) * 1e9));
    }
    driver->busy = bench_now() - began;
}

static void *
run_driver(void *argument)
{
    struct driver *driver = argument;
    const struct bench_drive *drive = driver->drive;
    void *session = drive->store->attach(drive->opened);
    bool iterates = drive->kind == BENCH_DRIVE_SEEK || drive->kind == BENCH_DRIVE_SCAN;
    void *iterator = iterates ? drive->store->iterate(session) : NULL;
    uint64_t share =
        drive->count / drive->threads + (driver->index < drive->count % drive->threads);

    pthread_barrier_wait(driver->start);
    if (drive->kind == BENCH_DRIVE_PUT)
        put_all(driver, session);
    else if (drive->kind == BENCH_DRIVE_SCAN)
        scan(driver, iterator);
    else
        read_all(driver, iterates ? iterator : session, share);
    if (iterates)
        drive->store->end_iterate(iterator);
    drive->store->detach(session);
    return NULL;
}

/* ---- all threads ---- */

/* Reads: the sum of the threads' rates.  Puts: the rows by the time of the slowest, processor time with the background's. */
static void
sum_up(const struct bench_drive *drive, const struct driver *drivers, double process_cpu,
       struct bench_measurement *measured)
{
    struct bench_histogram *times = bench_alloc(sizeof *times);
    double cpu = 0, slowest = 0, rate = 0;
    uint64_t done = 0;

    for (unsigned i = 0; i < drive->threads; i++) {
        bench_histogram_merge(times, &drivers[i].times);
        done += drivers[i].done;
        cpu += drivers[i].cpu;
        if (drivers[i].done > 0)
            rate += (double)drivers[i].done / (drivers[i].busy > 0 ? drivers[i].busy : 1e-9);
        if (drivers[i].busy > slowest)
            slowest = drivers[i].busy;
    }
    if (drive->kind == BENCH_DRIVE_PUT) {
        rate = (double)done / (slowest > 0 ? slowest : 1e-9);
        cpu = process_cpu;
    }
    *measured = (struct bench_measurement){
        .per_second = rate,
        .p50_us = (double)bench_histogram_share(times, 0.5) / 1e3,
        .p99_us = (double)bench_histogram_share(times, 0.99) / 1e3,
        .cpu_us = done > 0 ? cpu * 1e6 / (double)done : 0,
    };
    free(times);
}

void
bench_drive_run(const struct bench_drive *drive, struct bench_measurement *measured)
{
    struct driver *drivers = bench_alloc(drive->threads * sizeof *drivers);
    double cpu = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    pthread_barrier_t start;

    if (pthread_barrier_init(&start, NULL, drive->threads) != 0)
        bench_fail("measure", "no barrier");
    for (unsigned i = 0; i < drive->threads; i++) {
        drivers[i].drive = drive;
        drivers[i].index = i;
        drivers[i].start = &start;
        if (pthread_create(&drivers[i].thread, NULL, run_driver, &drivers[i]) != 0)
            bench_fail("measure", "no thread");
    }
    for (unsigned i = 0; i < drive->threads; i++)
        pthread_join(drivers[i].thread, NULL);
    pthread_barrier_destroy(&start);
    sum_up(drive, drivers, bench_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu, measured);
    free(drivers);
}
