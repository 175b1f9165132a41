/*
 * simulation_test.c -- a store that grows, in numbers only: how many runs it has, how often its
 * writers stop, and how much is rewritten, when the picks of engine/compact/policy.h are carried
 * out as engine/compact/compactor.h says.
 *
 * A memtable is UNIT bytes. Two threads compact, each one memtable in a unit of time, the second
 * one's jobs interrupted by smaller ones. Writers give up to `rate` memtables in a unit of time,
 * slowed and stopped as engine/write/pace.h says. Time is that of the simulation: nothing is
 * measured.
 */
#include "engine/compact/policy.h"
#include "engine/state/progress.h"

#include "engine/write/pace.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#define UNIT        100
#define MOST_NESTED 16
#define ROUNDING    1e-9

struct simulated_job {
    uint64_t bytes;       /* 0: none */
    double left;          /* units of time */
    uint64_t interrupted; /* bytes */
    unsigned number;
};

struct simulation {
    struct policy_run runs[2 * STORE_MOST_RUNS];
    unsigned owner[2 * STORE_MOST_RUNS]; /* the job that has it; 0: none */
    size_t count;
    struct simulated_job first;
    struct simulated_job second[MOST_NESTED]; /* each interrupts the one before */
    size_t nested;
    unsigned job_number;
    double rate;
    double filled; /* of the memtable that takes writes */
    /* What came of it. */
    double time, stopped, flushed, rewritten;
    size_t greatest;
};

static bool
take(struct simulation *s, uint64_t max_bytes, bool all_files_first, struct simulated_job *job)
{
    struct policy_limits limits = {
        .min_bytes = UNIT, .max_bytes = max_bytes, .all_files_first = all_files_first};
    struct policy_pick pick;

    policy_pick(s->runs, s->count, &limits, &pick);
    if (pick.count == 0)
        return false;
    *job = (struct simulated_job){
        .bytes = pick.bytes, .left = (double)pick.bytes / UNIT, .number = ++s->job_number};
    for (size_t i = pick.first; i < pick.first + pick.count; i++) {
        s->runs[i].busy = true;
        s->owner[i] = job->number;
    }
    s->rewritten += (double)pick.bytes / UNIT;
    return true;
}

static void
end(struct simulation *s, struct simulated_job *job)
{
    size_t first = 0, behind;

    while (s->owner[first] != job->number)
        first++;
    for (behind = first; behind < s->count && s->owner[behind] == job->number; behind++)
        continue;
    s->runs[first] = (struct policy_run){.bytes = job->bytes, .cells = 10};
    s->owner[first] = 0;
    memmove(&s->runs[first + 1], &s->runs[behind], (s->count - behind) * sizeof s->runs[0]);
    memmove(&s->owner[first + 1], &s->owner[behind], (s->count - behind) * sizeof s->owner[0]);
    s->count -= behind - first - 1;
    job->bytes = 0;
}

/* One that interrupts the last of the second thread's. */
static bool
interrupt(struct simulation *s)
{
    struct simulated_job *job = &s->second[s->nested - 1];
    uint64_t done = job->bytes - (uint64_t)(job->left * UNIT);

    assert_true(s->nested < MOST_NESTED);
    if (!take(s, policy_bytes_within(job->bytes, done, job->interrupted), false, job + 1))
        return false;
    job->interrupted += job[1].bytes;
    s->nested++;
    return true;
}

static void
begin_jobs(struct simulation *s)
{
    const uint64_t small = (uint64_t)POLICY_SMALL_FLUSHES * UNIT;

    if (s->first.bytes == 0)
        take(s, UINT64_MAX, true, &s->first);
    if (s->nested == 0 &&
        take(s, policy_bytes_beside(s->first.bytes, small), s->first.bytes == 0, &s->second[0]))
        s->nested = 1;
    while (s->nested > 0 && interrupt(s))
        continue;
}

static double
writing_rate(const struct simulation *s)
{
    double share = pace_share(0, 1, s->count);

    if (s->count >= STORE_MOST_RUNS)
        return 0;
    return share < s->rate ? share : s->rate;
}

static void
work_on(struct simulation *s, struct simulated_job *job, double time)
{
    job->left -= time;
    if (job->left < ROUNDING)
        end(s, job);
}

/* Up to what happens next: the memtable is full, or a job ends. */
static void
step(struct simulation *s)
{
    double rate = writing_rate(s), time = rate > 0 ? (1 - s->filled) / rate : INFINITY;
    struct simulated_job *second = s->nested > 0 ? &s->second[s->nested - 1] : NULL;

    if (s->first.bytes > 0 && s->first.left < time)
        time = s->first.left;
    if (second != NULL && second->left < time)
        time = second->left;
    if (second != NULL && time > 1) /* it may be interrupted before it has ended */
        time = 1;
    assert_true(time < INFINITY); /* else they would wait for ever */
    s->time += time;
    s->stopped += rate > 0 ? 0 : time;
    s->filled += rate * time;
    if (s->first.bytes > 0)
        work_on(s, &s->first, time);
    if (second != NULL) {
        work_on(s, second, time);
        s->nested -= second->bytes == 0;
    }
    if (s->filled < 1 - ROUNDING)
        return;
    s->filled = 0;
    s->flushed++;
    s->owner[s->count] = 0;
    s->runs[s->count++] = (struct policy_run){.bytes = UNIT, .cells = 10};
    if (s->count > s->greatest)
        s->greatest = s->count;
}

static void
grow(struct simulation *s, double flushes)
{
    while (s->flushed < flushes) {
        begin_jobs(s);
        step(s);
    }
}

/* From nothing to 100,000 memtables: nobody is ever stopped, and a byte is rewritten not many times
 * more often than its logarithm says. */
TEST(a_growing_store_stops_nobody)
{
    static const double rates[] = {1, 0.3, 0.1, 0.05, 0.01};

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct simulation s = {.rate = rates[i]};

        for (double flushes = 100; flushes <= 100000; flushes *= 10) {
            grow(&s, flushes);
            print_message("rate %.2f, %6.0f memtables: at most %zu runs, %.1f times rewritten, in "
                          "%.0f, stopped %.0f\n",
                          rates[i], flushes, s.greatest, s.rewritten / s.flushed, s.time,
                          s.stopped);
            assert_true(s.stopped == 0);
            assert_true(s.rewritten / s.flushed < 1 + log2(flushes));
        }
        assert_true(s.greatest < STORE_MOST_RUNS);
    }
}

/* While all files of a large store become one, writers that give all they can are slowed; and those
 * that give a twentieth of what a compaction rewrites are not. */
TEST(a_long_job_stops_nobody)
{
    static const double sizes[] = {160, 1600, 16000, 160000};

    for (int fast = 0; fast < 2; fast++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct simulation s = {.rate = fast ? 1 : 0.05, .count = 4};
            uint64_t bytes = (uint64_t)(sizes[i] * UNIT);

            s.runs[0] = (struct policy_run){.bytes = bytes, .cells = 10};
            for (size_t k = 1; k < s.count; k++)
                s.runs[k] = (struct policy_run){.bytes = bytes / 5, .cells = 10};
            begin_jobs(&s);
            assert_true(s.first.bytes > bytes);
            for (unsigned job = s.first.number; s.first.number == job && s.first.bytes > 0;) {
                step(&s);
                if (s.first.bytes > 0)
                    begin_jobs(&s);
            }
            print_message("a job of %.0f beside %s writers: %.0f memtables came, at most %zu runs, "
                          "stopped %.0f\n",
                          sizes[i] * 8 / 5, fast ? "fast" : "slow", s.flushed, s.greatest,
                          s.stopped);
            assert_true(s.stopped == 0);
            assert_true(s.greatest < STORE_MOST_RUNS);
            assert_true(s.flushed > 0.04 * s.time);
        }
    }
}
