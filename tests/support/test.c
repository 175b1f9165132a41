/* test.c -- see test.h. */
#include "tests/support/test.h"

#include <stdlib.h>

#define MOST_TESTS 100

int main(void);

static struct {
    struct CMUnitTest tests[MOST_TESTS];
    size_t count;
    CMFixtureFunction setup, teardown;
} entered;

void
test_enter(const char *name, CMUnitTestFunction test, CMFixtureFunction setup,
           CMFixtureFunction teardown, void *state)
{
    if (entered.count == MOST_TESTS) {
        print_error("more than %d tests in a program\n", MOST_TESTS);
        abort();
    }
    entered.tests[entered.count++] = (struct CMUnitTest){.name = name,
                                                         .test_func = test,
                                                         .setup_func = setup,
                                                         .teardown_func = teardown,
                                                         .initial_state = state};
}

void
test_enter_group(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    entered.setup = setup;
    entered.teardown = teardown;
}

int
test_run(void)
{
    return _cmocka_run_group_tests("tests", entered.tests, entered.count, entered.setup,
                                   entered.teardown);
}

/* The program's, unless its test file has one. */
__attribute__((weak)) int
main(void)
{
    return test_run();
}

_Thread_local petal_error must_error;

void
must(enum petal_status status, const petal_error *error)
{
    if (status != PETAL_OK)
        print_error("%s: %s\n", petal_status_text(status), error != NULL ? error->text : "");
    assert_int_equal(status, PETAL_OK);
}
