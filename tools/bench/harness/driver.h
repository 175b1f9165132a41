/*
 * driver.h -- the one driver of what is timed: some threads do operations, as fast as they can or
 * to a schedule, and the time of each operation is taken.
 *
 * The room harness: threads, clocks, processes, options and files of whoever measures; it knows no
 * store.
 *
 * A workload is a struct bench_drive: how much of it, and its functions. What an operation needs
 * ahead of it (the key of a get) is made by `prepare`, some hundreds at a time and outside of the
 * clock, so that rates tell of the store; writes make theirs while the clock runs, as a program
 * would, since a store's background works meanwhile.
 *
 * Which thread does which positions follows from their numbers alone: so random sources of threads
 * give the same each time.
 *
 * With a rate each operation has its time on a schedule that does not wait for anybody, and its
 * latency counts from that time: an operation that stands after a stalled one is late, too, and is
 * counted as such (else a stall would cost one sample: "coordinated omission"). All that is due
 * within a millisecond is due at its begin: to sleep before each operation would cost more than the
 * operation.
 *
 * Threads: each has a worker of its own.
 */
#ifndef PETAL_TOOLS_BENCH_HARNESS_DRIVER_H
#define PETAL_TOOLS_BENCH_HARNESS_DRIVER_H

#include "tools/bench/harness/histogram.h"

#define BENCH_MOST_KINDS 5

struct bench_worker {
    const struct bench_drive *drive;
    unsigned index; /* of the thread */
    void *own;      /* what drive->begin made */
    unsigned slot;  /* of the operation at hand among those that were prepared together */

    /* An operation sets or adds to these. */
    unsigned kind; /* of the operation, below BENCH_MOST_KINDS; those with one kind leave it at 0 */
    uint64_t found, wrong, given, answered; /* answers with a value; wrong ones; bytes in and out */

    /* The driver's. */
    struct bench_crew *crew;
    unsigned untimed;                  /* operations until the next whose time is taken */
    uint64_t calls, count;             /* count: what operations counted for */
    double began, stopped, busy, cpu;  /* seconds */
    struct bench_histogram *latencies; /* nanoseconds; one for each kind */
};

/* What all threads did together. */
struct bench_driven {
    uint64_t count; /* operations */
    uint64_t found, wrong, given, answered;
    double seconds;     /* operations divided by these are the rate of all threads */
    double cpu_seconds; /* of the threads, while the clock ran */
    struct bench_histogram latencies, kinds[BENCH_MOST_KINDS]; /* of all, and of each kind */
};

/* The operation at a position; how many it counts for. */
typedef uint64_t bench_operation(struct bench_worker *worker, uint64_t position);

struct bench_drive {
    void *argument; /* of begin */
    unsigned threads;
    uint64_t operations; /* of all threads */
    double rate;         /* a second, of all threads; 0: as fast as they can */
    unsigned sample;     /* the time of one in so many is taken: a look at the clock costs 40 ns */
    unsigned prepared;   /* so many are prepared at a time; 0: none */
    void *(*begin)(void *argument, unsigned index); /* in the thread, before the start */
    void (*end)(void *own);
    void (*prepare)(struct bench_worker *worker, uint64_t position, unsigned count);
    bench_operation *operate;
};

/* `driven` is all zero before. */
void bench_drive_run(const struct bench_drive *drive, struct bench_driven *driven);

#endif
