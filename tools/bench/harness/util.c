/* util.c -- see tools/bench/harness/util.h. */
#include "tools/bench/harness/util.h"

#include <stdlib.h>
#include <string.h>

uint64_t
bench_scramble(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

uint64_t
bench_random_next(struct bench_random *random)
{
    return bench_scramble(random->state++);
}

uint64_t
bench_random_below(struct bench_random *random, uint64_t limit)
{
    return (uint64_t)(((unsigned __int128)bench_random_next(random) * limit) >> 64);
}

void
bench_key(char key[BENCH_KEY_BYTES + 1], uint64_t number)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t scrambled = bench_scramble(number);

    for (int i = BENCH_KEY_BYTES - 1; i >= 0; i--) {
        key[i] = digits[scrambled & 15];
        scrambled >>= 4;
    }
    key[BENCH_KEY_BYTES] = '\0';
}

void
bench_decimal_key(char *key, size_t size, uint64_t number)
{
    for (size_t i = size; i > 0; i--) {
        key[i - 1] = (char)('0' + number % 10);
        number /= 10;
    }
}

void
bench_value(uint8_t *value, size_t size, uint64_t number)
{
    size_t noise = size / 2;
    struct bench_random random = {bench_scramble(number) * 3};

    for (size_t i = 0; i < noise; i += 8) {
        uint64_t bits = bench_random_next(&random);

        memcpy(value + i, &bits, noise - i < 8 ? noise - i : 8);
    }
    memset(value + noise, 'v', size - noise);
}

double
bench_clock(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

double
bench_now(void)
{
    return bench_clock(CLOCK_MONOTONIC);
}

void
bench_fail(const char *action, const char *reason)
{
    fprintf(stderr, "kv-bench: cannot %s: %s\n", action, reason);
    exit(3);
}

void *
bench_alloc(size_t size)
{
    void *memory = calloc(1, size);

    if (memory == NULL)
        bench_fail("go on", "out of memory");
    return memory;
}

void
bench_check(enum petal_status status, const petal_error *error, const char *action)
{
    if (status != PETAL_OK)
        bench_fail(action, error->text[0] != '\0' ? error->text : petal_status_text(status));
}

petal_slice
bench_text(const char *text)
{
    return (petal_slice){text, strlen(text)};
}
