/*
 * test.h -- a test program of cmocka: each test enters itself into the program's list, in the order
 * of the file, and the shared main runs them.
 *
 *     TEST(a_put_is_read)
 *     {
 *         ...
 *     }
 *
 * A file may have a main of its own, which calls test_run.
 */
#ifndef PETAL_TESTS_SUPPORT_TEST_H
#define PETAL_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/petal.h"

#include <string.h>

/* A test without a state. */
#define TEST(name) TEST_ENTERED(name, unused_state, test_enter(#name, name, NULL, NULL, NULL))

/* `setup` makes `state`, `teardown` ends it; each may be NULL. */
#define TEST_WITH(name, setup, teardown)                                                           \
    TEST_ENTERED(name, state, test_enter(#name, name, setup, teardown, NULL))

/* The test runs once for each element of the array, at which *state points. */
#define TEST_EACH(name, array)                                                                     \
    TEST_ENTERED(name, state,                                                                      \
                 for (size_t i = 0; i < sizeof(array) / sizeof *(array); i++)                      \
                     test_enter(#name, name, NULL, NULL, (void *)&(array)[i]))

/* Once for all tests of the file, before the first and after the last; each may be NULL. */
#define TEST_GROUP(setup, teardown)                                                                \
    __attribute__((constructor)) static void enter_group(void)                                     \
    {                                                                                              \
        test_enter_group(setup, teardown);                                                         \
    }                                                                                              \
    extern int test_group_entered

#define TEST_ENTERED(name, state, enter)                                                           \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void enter_##name(void)                                    \
    {                                                                                              \
        enter;                                                                                     \
    }                                                                                              \
    static void name(void **state __attribute__((unused)))

void test_enter(const char *name, CMUnitTestFunction test, CMFixtureFunction setup,
                CMFixtureFunction teardown, void *state);
void test_enter_group(CMFixtureFunction setup, CMFixtureFunction teardown);

/* Runs all; returns how many failed. */
int test_run(void);

/* Fails the test, with the error's text, unless the status is PETAL_OK. */
void must(enum petal_status status, const petal_error *error);

/* The same of one call: MUST(petal_flush(db, NULL, WHY)). */
#define MUST(call) must(call, WHY)
#define WHY        (&must_error)
extern _Thread_local petal_error must_error;

static inline petal_slice
text(const char *bytes)
{
    return (petal_slice){bytes, strlen(bytes)};
}

#endif
