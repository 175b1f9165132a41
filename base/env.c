/* env.c -- see env.h. */
#include "base/env.h"

#include "base/mem.h"
#include "base/options.h"
#include "base/vfs_posix.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static int64_t
clock_wall_ms(void *context)
{
    struct timespec now = {0, 0};

    (void)context;
    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail for this clock */
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Spread the bits of `x` over the whole word (the finisher of SplitMix64). */
static uint64_t
mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static uint64_t
clock_bits(clockid_t clock)
{
    struct timespec now = {0, 0};

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Where the kernel's source cannot be had: distinct for processes, threads and moments, but
 * guessable. */
static uint64_t
random_from_clocks(void)
{
    uint64_t x = mix(clock_bits(CLOCK_REALTIME));

    x = mix(x ^ clock_bits(CLOCK_MONOTONIC));
    x = mix(x ^ clock_bits(CLOCK_THREAD_CPUTIME_ID));
    x = mix(x ^ (uint64_t)(uintptr_t)&x);
    return mix(x ^ (uint64_t)getpid());
}

static uint64_t
random_from_kernel(void *context)
{
    uint64_t bits;

    (void)context;
    if (getrandom(&bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
        return random_from_clocks();
    return bits;
}

enum petal_status
env_check(const petal_env *given, petal_error *error)
{
    return given == NULL ? PETAL_OK : options_check_size(given->size, "petal_env", error);
}

/* A member of *given, or NULL if it is past the size that the caller knew. */
#define GIVEN(member)                                                                              \
    (size >= offsetof(petal_env, member) + sizeof(given->member) ? given->member : NULL)

void
env_init(struct env *env, const petal_env *given)
{
    static const petal_env none = {.size = sizeof(none)};
    size_t size;

    if (given == NULL)
        given = &none;
    size = given->size == 0 ? sizeof(*given) : given->size;
    *env = (struct env){
        .allocator = GIVEN(allocator),
        .vfs = GIVEN(vfs),
        .clock_context = GIVEN(clock_context),
        .clock_ms = GIVEN(clock_ms),
        .random_context = GIVEN(random_context),
        .random = GIVEN(random),
        .log_context = GIVEN(log_context),
        .log = GIVEN(log),
    };
    if (env->allocator == NULL)
        env->allocator = &mem_default_allocator;
    if (env->vfs == NULL)
        env->vfs = &vfs_posix;
    if (env->clock_ms == NULL)
        env->clock_ms = clock_wall_ms;
    if (env->random == NULL)
        env->random = random_from_kernel;
}

void
env_log(const struct env *env, enum petal_log_level level, const char *format, ...)
{
    char line[ENV_LOG_LINE_BYTES];
    va_list arguments;
    int length;

    if (env->log == NULL)
        return;
    va_start(arguments, format);
    length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (length < 0)
        return; /* a format that cannot be printed */
    if ((size_t)length >= sizeof(line))
        memcpy(line + sizeof(line) - 4, "...", 4);
    for (char *c = line; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
    }
    env->log(env->log_context, level, line);
}
