/* writers.c -- see tools/bench/workloads/writers.h. */
#include "tools/bench/workloads/writers.h"

#include "tools/bench/harness/util.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

/* What a writer takes at once. A pass that makes cells deletes some at the end of their chunk. */
#define CHUNK_CELLS 1024

struct bench_writer {
    struct bench_writers *all;
    pthread_t thread;
    unsigned index;
    uint64_t operations; /* since the schedule began */
    _Atomic(uint64_t) bytes;
    uint8_t *value;
    char key[BENCH_MOST_KEY_BYTES];
    struct bench_histogram latencies;
};

/* Sleep until the next operation's time. Returns that time; now, without a rate. */
static double
wait_for_turn(struct bench_writer *writer)
{
    const struct bench_writers *all = writer->all;
    double now = bench_now(), due;

    if (all->rate == 0)
        return now;
    due = (double)(writer->operations * all->thread_count + writer->index) / all->rate;
    due = all->began + floor(due / BENCH_TICK_SECONDS) * BENCH_TICK_SECONDS;
    if (now < due) {
        struct timespec time = {.tv_sec = (time_t)due};

        time.tv_nsec = (long)((due - (double)time.tv_sec) * 1e9);
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
            ;
    }
    return due;
}

static void
operate(struct bench_writer *writer, uint64_t number, bool deletes)
{
    const struct bench_dataset *dataset = writer->all->dataset;
    petal_slice key = {writer->key, dataset->key_bytes}, none = {NULL, 0};
    petal_family *family = bench_dataset_family(dataset, number);
    double due = wait_for_turn(writer), late;
    uint64_t bytes = dataset->key_bytes;
    petal_error error;

    bench_dataset_key(dataset, number, false, writer->key);
    if (deletes) {
        bench_check(
            petal_delete(family, key, none, PETAL_LATEST, PETAL_DELETE_COLUMN, NULL, &error),
            &error, "delete");
    } else {
        petal_slice value = {writer->value, dataset->value_bytes};

        bench_dataset_value(dataset, writer->all->pass, number, writer->value);
        bench_check(petal_put(family, key, none, PETAL_LATEST, value, NULL, &error), &error, "put");
        bytes += dataset->value_bytes;
    }
    late = bench_now() - due;
    bench_histogram_add(&writer->latencies, late > 0 ? (uint64_t)(late * 1e9) : 0);
    atomic_store_explicit(&writer->bytes, writer->bytes + bytes, memory_order_relaxed);
    writer->operations++;
}

static void
write_chunk(struct bench_writer *writer, uint64_t from, uint64_t limit)
{
    const struct bench_pass *pass = writer->all->pass;

    for (uint64_t at = from; at < limit; at++) {
        uint64_t number = bench_pass_number(pass, at);

        operate(writer, number, pass->overwrite && bench_pass_deletes(pass, number));
    }
    if (pass->overwrite || pass->delete_share == 0)
        return;
    for (uint64_t at = from; at < limit; at++) {
        uint64_t number = bench_pass_number(pass, at);

        if (bench_pass_deletes(pass, number))
            operate(writer, number, true);
    }
}

static void *
write_chunks(void *argument)
{
    struct bench_writer *writer = argument;
    struct bench_writers *all = writer->all;

    prctl(PR_SET_TIMERSLACK, 1UL); /* else the kernel lets sleepers be 50 microseconds late */
    for (;;) {
        uint64_t from = atomic_fetch_add(&all->next_chunk, 1) * CHUNK_CELLS;
        uint64_t limit = from + CHUNK_CELLS;

        if (from >= all->pass->cells)
            break;
        write_chunk(writer, from, limit < all->pass->cells ? limit : all->pass->cells);
    }
    atomic_fetch_sub(&all->running, 1);
    return NULL;
}

void
bench_writers_init(struct bench_writers *writers, const struct bench_dataset *dataset,
                   unsigned thread_count, double rate)
{
    writers->dataset = dataset;
    writers->thread_count = thread_count;
    writers->rate = rate;
    writers->began = bench_now();
    writers->writers = bench_alloc(thread_count * sizeof *writers->writers);
    for (unsigned i = 0; i < thread_count; i++) {
        writers->writers[i].all = writers;
        writers->writers[i].index = i;
        writers->writers[i].value = bench_alloc(dataset->value_bytes + 1);
    }
}

void
bench_writers_free(struct bench_writers *writers)
{
    for (unsigned i = 0; i < writers->thread_count; i++)
        free(writers->writers[i].value);
    free(writers->writers);
}

void
bench_writers_begin(struct bench_writers *writers, const struct bench_pass *pass)
{
    writers->pass = pass;
    atomic_store(&writers->next_chunk, 0);
    atomic_store(&writers->running, writers->thread_count);
    for (unsigned i = 0; i < writers->thread_count; i++) {
        if (pthread_create(&writers->writers[i].thread, NULL, write_chunks, &writers->writers[i]) !=
            0)
            bench_fail("start a thread", "no resources");
    }
}

bool
bench_writers_running(const struct bench_writers *writers)
{
    return atomic_load(&writers->running) > 0;
}

void
bench_writers_join(struct bench_writers *writers)
{
    for (unsigned i = 0; i < writers->thread_count; i++)
        pthread_join(writers->writers[i].thread, NULL);
}

void
bench_writers_latencies(const struct bench_writers *writers, struct bench_histogram *histogram)
{
    for (unsigned i = 0; i < writers->thread_count; i++)
        bench_histogram_merge(histogram, &writers->writers[i].latencies);
}

uint64_t
bench_writers_bytes(const struct bench_writers *writers)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < writers->thread_count; i++)
        bytes += atomic_load_explicit(&writers->writers[i].bytes, memory_order_relaxed);
    return bytes;
}
