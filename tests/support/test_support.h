/*
 * test_support.h -- what many tests need: an allocator that counts and fails, a clock that is set
 * by hand, a seeded random source, temporary directories.
 *
 * Threads: the allocator, the clock and the random source may be used by several threads at once.
 * Memory for the tests themselves comes from test_allocate and its like, which end the program when
 * there is none.
 */
#ifndef PETAL_TESTS_SUPPORT_TEST_SUPPORT_H
#define PETAL_TESTS_SUPPORT_TEST_SUPPORT_H

#include "engine/petal.h"

#include <stdatomic.h>

/* ---- Memory of the tests themselves --------------------------------------------------------- */

void *test_allocate(size_t size); /* size 0 gives memory, too */
void *test_reallocate(void *memory, size_t size);
char *test_strdup(const char *text);

/* ---- The allocator under test
 * ------------------------------------------------------------------ */

/*
 * Counts, fails on demand, and checks that each block comes back whole, once, and with the size
 * that was asked for: else it prints what it saw and aborts.
 */
struct test_allocator {
    petal_allocator table; /* give its address to the library */
    _Atomic(uint64_t) calls;
    _Atomic(uint64_t) fail_first, fail_last; /* numbers of the calls that fail; 0: none */
    _Atomic(uint64_t) live_bytes, live_blocks, peak_bytes, failures;
    _Atomic(uint64_t) limit; /* of live bytes */
};

void test_allocator_init(struct test_allocator *allocator);

/* The n-th allocation from now (1: the next) fails, once or from then on.  n 0: none fails. */
void test_allocator_fail_at(struct test_allocator *allocator, uint64_t n, bool permanently);

/* An allocation that would pass so many live bytes fails, too. */
void test_allocator_limit(struct test_allocator *allocator, uint64_t bytes);

uint64_t test_allocator_calls(struct test_allocator *allocator);
uint64_t test_allocator_failures(struct test_allocator *allocator);

/* What the library has not released. */
uint64_t test_allocator_live_bytes(struct test_allocator *allocator);
uint64_t test_allocator_live_blocks(struct test_allocator *allocator);

/* The most bytes that were held at once since the peak was forgotten. */
void test_allocator_forget_peak(struct test_allocator *allocator);
uint64_t test_allocator_peak_bytes(struct test_allocator *allocator);

/* ---- Clock
 * ----------------------------------------------------------------------------------------- */

struct test_clock {
    _Atomic(int64_t) now_ms;
};

void test_clock_set(struct test_clock *clock, int64_t now_ms);
void test_clock_advance(struct test_clock *clock, int64_t ms); /* may be negative */

/* For petal_env.clock_ms, with the clock as its context. */
int64_t test_clock_ms(void *clock);

/* ---- Random
 * -------------------------------------------------------------------------------------------- */

/* SplitMix64: any seed is good; equal seeds give equal numbers, on one thread. */
struct test_random {
    _Atomic(uint64_t) state;
};

void test_random_init(struct test_random *random, uint64_t seed);
uint64_t test_random_next(struct test_random *random);
uint64_t test_random_below(struct test_random *random, uint64_t limit); /* limit > 0 */
bool test_random_chance(struct test_random *random, unsigned percent);
void test_random_bytes(struct test_random *random, void *bytes, size_t size);

/* For petal_env.random, with the random source as its context. */
uint64_t test_random_word(void *random);

/* The number in the environment variable PETAL_SEED, else a fixed one; printed each time. */
uint64_t test_seed(void);

/* One line of what a test has tried, with the program's name and the seed: "counted: NAME, seed N:
 * ...".  tests/run.sh and the table at the end of CI show such lines. */
void test_counted(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether PETAL_LONG is set: the big loops are asked for. */
bool test_long(void);

/* Whether PETAL_SHORT is: each step costs much, as under a sanitizer; random states may be
 * fewer. */
bool test_short(void);

/* Of a processor by this process, which other programs do not take away. */
double test_seconds_used(void);

/* ---- Threads
 * ---------------------------------------------------------------------------------------------- */

/* Of this process. */
size_t test_thread_count(void);

/* Wait until there are no more than there were before: one that was joined is seen a moment longer.
 * False: one goes on. */
bool test_threads_end(size_t before);

/* ---- Temporary directories
 * -------------------------------------------------------------------------------- */

/* A new, empty directory below $TMPDIR or /tmp. */
char *test_directory_new(void);

/* Remove it with all that is in it, and release the path. */
void test_directory_free(char *path);

/* Remove a directory with all that is in it; false: it is not there, or something of it stays. */
bool test_remove_tree(const char *path);

/* "directory/name", to be released with free. */
char *test_path(const char *directory, const char *name);

#endif
