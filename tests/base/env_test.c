/*
 * env_test.c -- the resolved surroundings and the sync points.
 *
 * getrandom is defined here: it stands before the C library's, so that it can fail.
 */
#ifndef PETAL_SYNC_POINTS
#define PETAL_SYNC_POINTS
#endif
#include "base/sync_point.h"

#include "base/env.h"
#include "base/mem.h"
#include "base/vfs_posix.h"
#include "tests/support/test.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The library's own copy may be compiled without sync points; this one is with them. */
#include "base/sync_point.c"

static bool kernel_has_no_random;

ssize_t
getrandom(void *buffer, size_t size, unsigned flags)
{
    if (kernel_has_no_random) {
        errno = ENOSYS;
        return -1;
    }
    return syscall(SYS_getrandom, buffer, size, flags);
}

/* ---- Defaults ---- */

TEST(nothing_given_means_all_defaults)
{
    const petal_env zero = {0};
    const petal_env *const given[] = {NULL, &zero};

    for (size_t i = 0; i < 2; i++) {
        struct env env;
        int64_t before = (int64_t)time(NULL) * 1000;

        env_init(&env, given[i]);
        assert_ptr_equal(env.allocator, &mem_default_allocator);
        assert_ptr_equal(env.vfs, &vfs_posix);
        assert_null(env.log);
        assert_in_range(env_clock_ms(&env), before - 1000, before + 60000);
        assert_int_not_equal(env_random(&env), env_random(&env));
        env_log(&env, PETAL_LOG_ERROR, "dropped: %d", 1);
    }
}

static int64_t
clock_of_test(void *context)
{
    return *(int64_t *)context;
}

static uint64_t
random_of_test(void *context)
{
    return ++*(uint64_t *)context;
}

struct logged {
    unsigned lines;
    enum petal_log_level level;
    char line[2 * ENV_LOG_LINE_BYTES];
};

static void
log_of_test(void *context, enum petal_log_level level, const char *line)
{
    struct logged *logged = context;

    logged->lines++;
    logged->level = level;
    strcpy(logged->line, line);
}

TEST(what_is_given_is_used)
{
    const petal_allocator allocator = {0};
    const petal_vfs vfs = {0};
    int64_t now = -5;
    uint64_t number = 41;
    struct logged logged = {0};
    const petal_env given = {
        .size = sizeof(given) + 100, /* a newer caller, with members unknown here */
        .allocator = &allocator,
        .vfs = &vfs,
        .clock_context = &now,
        .clock_ms = clock_of_test,
        .random_context = &number,
        .random = random_of_test,
        .log_context = &logged,
        .log = log_of_test,
    };
    struct env env;

    env_init(&env, &given);
    assert_ptr_equal(env.allocator, &allocator);
    assert_ptr_equal(env.vfs, &vfs);
    assert_int_equal(env_clock_ms(&env), -5);
    assert_int_equal(env_random(&env), 42);
    env_log(&env, PETAL_LOG_WARNING, "file %d of %s", 7, "two");
    assert_int_equal(logged.lines, 1);
    assert_int_equal(logged.level, PETAL_LOG_WARNING);
    assert_string_equal(logged.line, "file 7 of two");
}

TEST(members_behind_the_given_size_are_not_read)
{
    uint64_t number = 41;
    int64_t now = 9;
    const petal_env given = {
        .size = offsetof(petal_env, random), /* knows the clock, and half of the random source */
        .clock_context = &now,
        .clock_ms = clock_of_test,
        .random_context = &number,
        .random = random_of_test,
        .log = log_of_test,
    };
    struct env env;

    env_init(&env, &given);
    assert_int_equal(env_clock_ms(&env), 9);
    assert_int_not_equal(env_random(&env), 42);
    assert_int_equal(number, 41);
    assert_null(env.log);
}

/* However little of it a caller's header knew. */
TEST(no_size_is_too_short)
{
    const petal_allocator allocator = {0};
    const petal_vfs vfs = {0};
    int64_t now = 9;
    const petal_env whole = {
        .allocator = &allocator,
        .vfs = &vfs,
        .clock_context = &now,
        .clock_ms = clock_of_test,
        .random = random_of_test,
        .log = log_of_test,
    };

    for (size_t size = 1; size <= sizeof whole; size++) {
        petal_env given = whole;
        struct env env;

        given.size = size;
        env_init(&env, &given);
#define KNOWS(member) (size >= offsetof(petal_env, member) + sizeof given.member)
        assert_ptr_equal(env.allocator, KNOWS(allocator) ? &allocator : &mem_default_allocator);
        assert_ptr_equal(env.vfs, KNOWS(vfs) ? &vfs : &vfs_posix);
        assert_true((env.clock_ms == clock_of_test) == KNOWS(clock_ms));
        assert_true((env.clock_context == &now) == KNOWS(clock_context));
        assert_true((env.random == random_of_test) == KNOWS(random));
        assert_true((env.log == log_of_test) == KNOWS(log));
#undef KNOWS
    }
}

TEST(random_numbers_come_without_the_kernel_too)
{
    enum { COUNT = 100 };
    uint64_t numbers[COUNT];
    struct env env;

    env_init(&env, NULL);
    kernel_has_no_random = true;
    for (size_t i = 0; i < COUNT; i++)
        numbers[i] = env_random(&env);
    kernel_has_no_random = false;
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(numbers[i], numbers[j]);
    }
}

/* ---- Log lines ---- */

TEST(a_log_line_is_one_printable_line)
{
    struct logged logged = {0};
    const petal_env given = {.log_context = &logged, .log = log_of_test};
    char text[2 * ENV_LOG_LINE_BYTES];
    struct env env;

    env_init(&env, &given);
    env_log(&env, PETAL_LOG_INFO, "%s", "name\nwith\r\x1b[1m \x7f \xc3\xa4");
    assert_string_equal(logged.line, "name?with??[1m ? \xc3\xa4");

    memset(text, 'x', sizeof(text));
    text[ENV_LOG_LINE_BYTES - 1] = '\0'; /* just fits */
    env_log(&env, PETAL_LOG_INFO, "%s", text);
    assert_string_equal(logged.line, text);
    text[ENV_LOG_LINE_BYTES - 1] = 'x';
    text[ENV_LOG_LINE_BYTES] = '\0'; /* one too long */
    env_log(&env, PETAL_LOG_INFO, "%s", text);
    assert_int_equal(strlen(logged.line), ENV_LOG_LINE_BYTES - 1);
    assert_string_equal(logged.line + ENV_LOG_LINE_BYTES - 6, "xx...");
}

/* ---- Sync points ---- */

static const char *last_point;

static void
note_point(const char *name)
{
    last_point = name;
}

TEST(a_sync_point_calls_the_hook_if_one_is_set)
{
    SYNC_POINT("test:before");
    assert_null(last_point);
    sync_point_set_hook(note_point);
    SYNC_POINT("test:set");
    assert_string_equal(last_point, "test:set");
    sync_point_set_hook(NULL);
    SYNC_POINT("test:after");
    assert_string_equal(last_point, "test:set");
}
