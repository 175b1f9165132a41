/* util.h -- what the benchmarks share: keys and values, random numbers, times, memory that must be
 * there. */
#ifndef PETAL_TOOLS_BENCH_HARNESS_UTIL_H
#define PETAL_TOOLS_BENCH_HARNESS_UTIL_H

#include "engine/petal.h"

#include <stdio.h>
#include <time.h>

#define BENCH_KEY_BYTES      16
#define BENCH_MOST_KEY_BYTES 1024 /* of a key whose size is chosen */

/* A bijective scramble of 64 bits (splitmix64's finaliser): distinct numbers give distinct, well
 * spread ones. */
uint64_t bench_scramble(uint64_t x);

struct bench_random {
    uint64_t state;
};
uint64_t bench_random_next(struct bench_random *random);
/* 0 .. limit - 1 */
uint64_t bench_random_below(struct bench_random *random, uint64_t limit);

/* 16 hexadecimal digits of the scrambled number: keys of a data set lie evenly over one range. */
void bench_key(char key[BENCH_KEY_BYTES + 1], uint64_t number);

/* `size` decimal digits of the number, zeros in front: keys in the order of their numbers. */
void bench_decimal_key(char *key, size_t size, uint64_t number);

/* `size` bytes for key `number`, of which about half can be compressed away. */
void bench_value(uint8_t *value, size_t size, uint64_t number);

/* Seconds of a clock; of the monotonic one. */
double bench_clock(clockid_t clock);
double bench_now(void);

/* These print what failed and end the program with status 3. */
void *bench_alloc(size_t size);
void bench_check(enum petal_status status, const petal_error *error, const char *action);
void bench_fail(const char *action, const char *reason);

/* A call of Petal's that must succeed: its last argument is &error, which stands here. */
#define BENCH_MUST(action, call)                                                                   \
    do {                                                                                           \
        petal_error error;                                                                         \
        bench_check(call, &error, action);                                                         \
    } while (0)

petal_slice bench_text(const char *text);

#endif
