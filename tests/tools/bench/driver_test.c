/* driver_test.c -- kv-bench's driver: every position once, the same thread's each time; prepared
 * ahead; schedules. */
#include "tools/bench/harness/driver.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/bench/harness/util.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POSITIONS 5000

static _Atomic(unsigned) seen[POSITIONS], owner[POSITIONS]; /* how often; by which thread, from 1 */
static _Atomic(unsigned) begun, ended;

struct own {
    uint64_t prepared_from;
    unsigned prepared;
};

static void *
begin(void *argument, unsigned index)
{
    assert_non_null(argument);
    (void)index;
    begun++;
    return calloc(1, sizeof(struct own));
}

static void
end(void *own)
{
    ended++;
    free(own);
}

static void
prepare(struct bench_worker *worker, uint64_t position, unsigned count)
{
    struct own *own = worker->own;

    own->prepared_from = position;
    own->prepared = count;
}

static uint64_t
count_position(struct bench_worker *worker, uint64_t position)
{
    struct own *own = worker->own;

    seen[position % POSITIONS]++;
    owner[position % POSITIONS] = worker->index + 1;
    worker->found++;
    worker->kind = position % 2;
    if (worker->drive->prepared > 0) {
        assert_true(worker->slot < own->prepared && own->prepared <= worker->drive->prepared);
        assert_true(own->prepared_from + worker->slot == position);
    }
    return position % 2 + 1;
}

static struct bench_driven *
run(struct bench_drive drive)
{
    struct bench_driven *driven = bench_alloc(sizeof *driven);

    drive.argument = &begun;
    drive.begin = begin;
    drive.end = end;
    drive.prepare = prepare;
    drive.operate = count_position;
    drive.sample = drive.sample > 0 ? drive.sample : 1;
    begun = ended = 0;
    for (size_t i = 0; i < POSITIONS; i++)
        seen[i] = 0;
    bench_drive_run(&drive, driven);
    assert_int_equal(begun, drive.threads);
    assert_int_equal(ended, begun);
    return driven;
}

static void
check_all(uint64_t operations)
{
    for (uint64_t i = 0; i < POSITIONS; i++)
        assert_int_equal(seen[i], i < operations);
}

TEST(test_every_position_once)
{
    static const uint64_t counts[] = {1, 3, 7, 100, 511, 512, 513, 4999};

    for (unsigned threads = 1; threads <= 5; threads += 2) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            for (unsigned prepared = 0; prepared <= 64; prepared += 32) {
                struct bench_driven *driven = run((struct bench_drive){
                    .threads = threads, .operations = counts[i], .prepared = prepared});

                check_all(counts[i]);
                assert_int_equal(driven->count, counts[i] + counts[i] / 2); /* odd ones are two */
                assert_int_equal(driven->found, counts[i]);
                assert_int_equal(driven->latencies.total, counts[i]);
                assert_int_equal(driven->kinds[0].total, (counts[i] + 1) / 2);
                assert_int_equal(driven->kinds[1].total, counts[i] / 2);
                assert_true(driven->seconds >= 0);
                free(driven);
            }
        }
    }
}

TEST(test_threads_have_the_same_positions_again)
{
    unsigned before[POSITIONS];

    free(run((struct bench_drive){.threads = 3, .operations = POSITIONS}));
    for (size_t i = 0; i < POSITIONS; i++)
        before[i] = owner[i];
    free(run((struct bench_drive){.threads = 3, .operations = POSITIONS}));
    for (size_t i = 0; i < POSITIONS; i++)
        assert_int_equal(owner[i], before[i]);
}

TEST(test_some_are_timed)
{
    struct bench_driven *driven =
        run((struct bench_drive){.threads = 1, .operations = 1600, .sample = 16});

    assert_int_equal(driven->latencies.total, 100);
    free(driven);
}

/* 100 operations at 1,000 a second: none begins before its time. */
TEST(test_schedule)
{
    struct bench_driven *driven =
        run((struct bench_drive){.threads = 2, .operations = 100, .rate = 1000});

    check_all(100);
    assert_true(driven->seconds >= 0.09);
    free(driven);
}
