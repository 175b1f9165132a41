/*
 * env.h -- the surroundings of a database, resolved: every member is set, but for `log`.
 *
 * Made once from the caller's petal_env when the database opens, then handed down by pointer and
 * never changed, so all threads use it without a lock.  Owns nothing; what it points to outlives
 * it.
 */
#ifndef PETAL_BASE_ENV_H
#define PETAL_BASE_ENV_H

#include "base/error.h"
#include "engine/petal.h"

#define ENV_LOG_LINE_BYTES 512

struct env {
    const petal_allocator *allocator;
    const petal_vfs *vfs;
    void *clock_context;
    int64_t (*clock_ms)(void *context);
    void *random_context;
    uint64_t (*random)(void *context);
    void *log_context;
    void (*log)(void *context, enum petal_log_level level, const char *line); /* NULL: dropped */
};

/* PETAL_INVALID: the size is none that a caller's petal_env can have. `given` may be NULL. */
enum petal_status env_check(const petal_env *given, petal_error *error);

/* `given` may be NULL; its members that are NULL, or lie after its size, become the defaults. */
void env_init(struct env *env, const petal_env *given);

/* Wall clock, milliseconds since 1970.  May step in both directions. */
static inline int64_t
env_clock_ms(const struct env *env)
{
    return env->clock_ms(env->clock_context);
}

/* 64 random bits, for identities and salts. */
static inline uint64_t
env_random(const struct env *env)
{
    return env->random(env->random_context);
}

/* Report an event of background work as one line: control characters become '?', a line that is too
 * long ends in "...".  Allocates nothing. */
void env_log(const struct env *env, enum petal_log_level level, const char *format, ...)
    ERROR_PRINTF(3, 4);

#endif
