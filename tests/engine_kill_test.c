/*
 * engine_kill_test.c -- a real process on real files is killed while it opens, writes and flushes in the background. It
 * reports each acknowledged write over a pipe. What the next opening finds must be a prefix of the writes, batches whole,
 * with every write that was reported. The work goes on in the same directory, which is opened again now by the
 * checking process, now by the next victim.  Prints its seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/engine_fixture.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 100
#define ROUNDS_PER_PLACE                                                                           \
    10                   /* then a new directory: without compaction, files only grow in number */
#define MOST_WRITES 4000 /* of one victim */
#define FILLER      400

/* What the victim tells: first that it is open, with the number of writes it found, then each number it wrote. */
enum victim_exit { VICTIM_DONE, VICTIM_CANNOT_OPEN, VICTIM_FOUND_WRONG, VICTIM_CANNOT_WRITE };

static petal_options
small_memtables(void)
{
    return (petal_options){.create = true,
                           .cache_bytes = (size_t)64 << 10,
                           .memtable_bytes = (size_t)64 << 10,
                           .log_sync_interval_ms = 1000};
}

static void
tell(int pipe_end, uint64_t number)
{
    if (write(pipe_end, &number, sizeof number) != (ssize_t)sizeof number)
        _exit(VICTIM_DONE); /* the parent is gone */
}

/* The life of a victim, in a process of its own. */
static _Noreturn void
victim(const char *directory, int pipe_end)
{
    petal_options options = small_memtables();
    struct ledger ledger = {.filler = FILLER};
    struct ledger_state state;
    petal_error error = {0};
    petal_db *db;
    uint64_t number;

    if (petal_open(directory, &options, &db, &error) != PETAL_OK ||
        ledger_create(&ledger, db, &error) != PETAL_OK ||
        ledger_read(&ledger, &state, &error) != PETAL_OK) {
        fprintf(stderr, "victim: %s\n", error.text);
        _exit(VICTIM_CANNOT_OPEN);
    }
    number = ledger_last(&state);
    if (!ledger_is_after(&state, number))
        _exit(VICTIM_FOUND_WRONG);
    tell(pipe_end, number);
    for (uint64_t last = number + MOST_WRITES; number < last;) {
        if (ledger_write(&ledger, ++number, PETAL_SYNC_WAL, &error) != PETAL_OK) {
            fprintf(stderr, "victim: %s\n", error.text);
            _exit(VICTIM_CANNOT_WRITE);
        }
        tell(pipe_end, number);
    }
    for (;;)
        pause();
}

static void
sleep_microseconds(uint64_t microseconds)
{
    struct timespec time = {(time_t)(microseconds / 1000000),
                            (long)(microseconds % 1000000) * 1000};

    nanosleep(&time, NULL);
}

/* Keep the last number told. */
static bool
hear(int pipe_end, uint64_t *number)
{
    uint64_t told;

    if (read(pipe_end, &told, sizeof told) != (ssize_t)sizeof told)
        return false;
    *number = told;
    return true;
}

/* Start a victim, kill it, and give the last number it told; *acknowledged is left as it is when it told none. */
static void
start_and_kill(const char *directory, struct test_random *random, bool while_opening,
               uint64_t *acknowledged)
{
    int ends[2], status = 0;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        victim(directory, ends[1]);
    }
    close(ends[1]);
    if (!while_opening)
        hear(ends[0], acknowledged);
    sleep_microseconds(while_opening ? test_random_below(random, 4000)
                                     : 1000 + test_random_below(random, 24000));
    kill(child, SIGKILL);
    while (hear(ends[0], acknowledged))
        ;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status))
        print_error("the victim ended by itself: %d\n", WEXITSTATUS(status));
    assert_true(WIFSIGNALED(status));
}

/* Returns the number of writes found. */
static uint64_t
open_and_check(const char *directory, uint64_t acknowledged)
{
    petal_options options = small_memtables();
    struct ledger ledger = {.filler = FILLER};
    petal_error error;
    petal_db *db;
    uint64_t count;

    must(petal_open(directory, &options, &db, &error), &error);
    must(ledger_create(&ledger, db, &error), &error);
    count = ledger_must_be_prefix(&ledger);
    /* One write may have been stored and not told of. */
    assert_true(count == acknowledged || count == acknowledged + 1);
    must(petal_close(db, &error), &error);
    return count;
}

static void
test_killed_processes_lose_nothing(void **state)
{
    unsigned rounds = test_long() ? 20 * ROUNDS : ROUNDS;
    uint64_t acknowledged = 0, writes = 0;
    struct test_random random;
    char *directory = NULL;

    (void)state;
    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < rounds; round++) {
        uint64_t before;

        if (round % ROUNDS_PER_PLACE == 0) {
            if (directory != NULL)
                test_directory_free(directory);
            directory = test_directory_new();
            acknowledged = 0;
        }
        before = acknowledged;
        start_and_kill(directory, &random, round % 4 == 3, &acknowledged);
        assert_true(acknowledged >= before);
        writes += acknowledged - before;
        /* Two in three times the next victim recovers, and may be killed while it does. */
        if (round % 3 == 2 || round % ROUNDS_PER_PLACE == ROUNDS_PER_PLACE - 1)
            acknowledged = open_and_check(directory, acknowledged);
    }
    test_directory_free(directory);
    print_message("%u kills, %" PRIu64 " acknowledged writes\n", rounds, writes);
    assert_true(writes > rounds);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_killed_processes_lose_nothing)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
