/*
 * count_test.c -- a count of several regions where the system has no room for threads: it counts
 * with those that there are, and with none in the one that asks.
 *
 * The program has a function of the name of the thread library's, which the linker takes in its
 * place.
 */
#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/shell/commands.h"
#include "tools/shell/ruby/ruby.h"
#include "tools/shell/session/opening.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic(int) room = INT_MAX; /* for so many more threads */

int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
               void *argument)
{
    typedef int function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *real = dlsym(RTLD_NEXT, "pthread_create");

    if (real == NULL)
        abort();
    return room-- > 0 ? (*(function **)&real)(thread, attributes, start, argument) : EAGAIN;
}

static void
run(struct session *session, const char *input)
{
    struct text text = {0};

    text_add_format(&text, "%s\n", input);
    assert_false(ruby_wants_more(session, text_slice(&text)));
    (void)ruby_run(session, text_slice(&text), 1);
    text_free(&text);
}

/* Count a table of four regions, with room for so many threads. */
static void
count_with(int threads)
{
    const petal_options options = {.size = sizeof(options), .create = true};
    struct session session = {.commands = shell_commands(), .no_times = true, .conversation = true};
    char *directory = test_directory_new(), printed[256] = "";
    FILE *file = tmpfile();

    assert_non_null(file);
    output_init(&session.output, file, false);
    assert_int_equal(session_open(&session, directory, &options), SHELL_FINE);
    ruby_open(&session);
    run(&session, "create 't', 'f', SPLITS => ['b', 'c', 'd']");
    run(&session, "%w[a b c d e].each { |row| put 't', row, 'f:a', row }");
    rewind(file);
    assert_int_equal(ftruncate(fileno(file), 0), 0);
    room = threads;
    run(&session, "count 't', INTERVAL => 1000");
    room = INT_MAX;
    ruby_close(&session);
    rewind(file);
    printed[fread(printed, 1, sizeof(printed) - 1, file)] = '\0';
    assert_string_equal(printed, "5 row(s)\n=> 5\n");
    assert_int_equal(session_close(&session), SHELL_FINE);
    (void)fclose(file);
    test_directory_free(directory);
}

TEST(no_thread_can_be_started)
{
    count_with(0);
}

TEST(one_thread_can_be_started)
{
    count_with(1);
}

int
main(void)
{
    return test_run();
}
