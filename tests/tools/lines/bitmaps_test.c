/*
 * bitmaps_test.c -- kv-filter info and merge of bitmaps, which programs make: what the files hold
 * is told, united as the library does it, and what does not fit is refused by name.
 */
#include "bloom/petal_bloom.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAID_BYTES = 8192 };

static char *directory;

static int
set_up(void **state)
{
    (void)state;
    directory = test_directory_new();
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    test_directory_free(directory);
    return 0;
}

/* kv-filter, in the folder above that of the tests. */
static const char *
program(void)
{
    static char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 16);
    char *tests;

    assert_true(size > 0);
    path[size] = '\0';
    tests = strstr(path, "/tests/tools/lines/");
    assert_non_null(tests);
    *tests = '\0';
    return strcat(path, "/kv-filter");
}

/* Run it in the directory; what it says is in said[]. Returns its exit status. */
static int
run(const char *arguments, char said[SAID_BYTES])
{
    char line[8192];
    FILE *pipe;
    size_t size;
    int status;

    (void)snprintf(line, sizeof line, "cd '%s' && '%s' %s 2>&1 </dev/null", directory, program(),
                   arguments);
    pipe = popen(line, "r");
    assert_non_null(pipe);
    size = fread(said, 1, SAID_BYTES - 1, pipe);
    said[size] = '\0';
    status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void
expect(const char *arguments, int status, const char *words)
{
    char said[SAID_BYTES];
    int found = run(arguments, said);

    if (found != status || strstr(said, words) == NULL)
        print_error("kv-filter %s: status %d, and said:\n%s", arguments, found, said);
    assert_int_equal(found, status);
    assert_non_null(strstr(said, words));
}

/* A bitmap of every step-th number below `bits`, in a file. */
static void
save_bitmap(const char *name, uint64_t bits, uint64_t step)
{
    char *path = test_path(directory, name);
    petal_bitmap *bitmap;

    assert_int_equal(petal_bitmap_create(bits, NULL, &bitmap, NULL), PETAL_OK);
    for (uint64_t number = step; number < bits; number += step)
        (void)petal_bitmap_set(bitmap, number);
    assert_int_equal(petal_bitmap_save(bitmap, path, NULL), PETAL_OK);
    petal_bitmap_free(bitmap);
    free(path);
}

/* The same, of those that come once; every twice-th comes twice. */
static void
save_doubles(const char *name, uint64_t numbers, uint64_t step, uint64_t twice)
{
    char *path = test_path(directory, name);
    petal_bitmap2 *doubles;

    assert_int_equal(petal_bitmap2_create(numbers, NULL, &doubles, NULL), PETAL_OK);
    for (uint64_t number = step; number < numbers; number += step)
        (void)petal_bitmap2_add(doubles, number);
    for (uint64_t number = twice; number < numbers; number += twice)
        (void)petal_bitmap2_add(doubles, number);
    assert_int_equal(petal_bitmap2_save(doubles, path, NULL), PETAL_OK);
    petal_bitmap2_free(doubles);
    free(path);
}

TEST_WITH(bitmaps_are_told_and_united, set_up, tear_down)
{
    save_bitmap("twos", 1000, 2);
    save_bitmap("threes", 1000, 3);
    save_bitmap("wide", 2000, 2);
    save_bitmap("empty", 1000, 5000);
    expect("info twos", 0, "holds: a bitmap\n");
    expect("info twos", 0, "numbers: 499\n");
    expect("info threes", 0, "least: 3\n");
    expect("info threes", 0, "greatest: 999\n");
    expect("info empty", 0, "numbers: 0\n");
    expect("merge both twos threes", 0, "");
    expect("info both", 0, "numbers: 666\n");
    expect("merge both empty both", 0, "");
    expect("info --json both", 0, "\"numbers\": 666");
    expect("merge no twos wide", 2, "wide does not go with twos: ");
    expect("check twos", 2, "twos is a bitmap, not a filter");
    expect("info no", 2, "no file no");
}

TEST_WITH(doubles_are_told_and_united, set_up, tear_down)
{
    save_doubles("few", 1000, 2, 4);
    save_doubles("more", 1000, 3, 9);
    save_doubles("wide", 2000, 2, 4);
    save_bitmap("single", 1000, 2);
    expect("info few", 0, "holds: a bitmap of doubles\n");
    expect("info few", 0, "numbers once: 250\n");
    expect("info few", 0, "numbers more than once: 249\n");
    expect("merge both few more", 0, "");
    expect("info both", 0, "numbers it can hold: 1000\n");
    expect("info both", 0, "numbers once: 278\n");
    expect("info both", 0, "numbers more than once: 388\n");
    expect("merge no few wide", 2, "wide does not go with few: ");
    expect("merge no few single", 2, "few is a bitmap of doubles, and single is a bitmap");
}
