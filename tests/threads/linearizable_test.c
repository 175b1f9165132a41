/*
 * linearizable_test.c -- threads at random calls of the whole interface on few rows; each short
 * history of calls and answers has an order that explains it (tests/threads/program.h). On a real
 * directory, with the library's own surroundings, which order nothing between threads: meant for
 * ThreadSanitizer, too. PETAL_HISTORIES: how many; else
 * LINEARIZABLE_SECONDS of processor time, or 15.
 */

#include "base/vfs_posix.h"
#include "tests/support/test.h"
#include "tests/threads/program.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define HISTORIES_OF_AN_OPENING 500
#define HISTORIES_WITH_KEEPER   2 /* percent: they write a few files each */
#define PAUSE_OF_THE_TENDER_US  2000
#define OPENINGS_OF_A_DATABASE  4
#define TRANSACTION_PERCENT     25
#define CALLS_OF_A_WORKER       6
#define CALLS_OF_THE_KEEPER     3
#define THREADS                 (PROGRAM_WORKERS + 1)

struct arena {
    struct program program;
    uint64_t seed;
    petal_vfs vfs;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t begun, ended; /* histories; threads that have ended theirs; under the mutex, as is: */
    bool over;
};

struct thread {
    struct arena *arena;
    unsigned index;
    pthread_t thread;
};

static uint64_t seed_of_all;

static void
fail_now(const char *what)
{
    fprintf(stderr, "%s; PETAL_SEED=%" PRIu64 "\n", what, seed_of_all);
    abort();
}

/* Waits for the next history; false: there is none. */
static bool
wait_for_history(struct arena *arena, uint64_t number)
{
    bool is_there;

    pthread_mutex_lock(&arena->mutex);
    while (arena->begun < number && !arena->over)
        pthread_cond_wait(&arena->changed, &arena->mutex);
    is_there = arena->begun >= number;
    pthread_mutex_unlock(&arena->mutex);
    return is_there;
}

static void
say_that_one_has_ended(struct arena *arena)
{
    pthread_mutex_lock(&arena->mutex);
    if (++arena->ended % THREADS == 0)
        pthread_cond_broadcast(&arena->changed);
    pthread_mutex_unlock(&arena->mutex);
}

static void
run_history(struct arena *arena, uint64_t number)
{
    program_begin(&arena->program);
    pthread_mutex_lock(&arena->mutex);
    arena->begun = number;
    pthread_cond_broadcast(&arena->changed);
    while (arena->ended < number * THREADS)
        pthread_cond_wait(&arena->changed, &arena->mutex);
    pthread_mutex_unlock(&arena->mutex);
    if (!program_end(&arena->program))
        fail_now("a history without an order");
}

static bool
is_over(struct arena *arena)
{
    bool over;

    pthread_mutex_lock(&arena->mutex);
    over = arena->over;
    pthread_mutex_unlock(&arena->mutex);
    return over;
}

static void *
work(void *argument)
{
    struct thread *thread = argument;
    struct arena *arena = thread->arena;
    struct test_random random;

    test_random_init(&random, arena->seed * 100 + thread->index);
    for (uint64_t number = 1; wait_for_history(arena, number); number++) {
        if (thread->index < PROGRAM_WORKERS)
            program_work(&arena->program, thread->index, &random, CALLS_OF_A_WORKER);
        else if (test_random_chance(&random, HISTORIES_WITH_KEEPER))
            program_keep(&arena->program, &random,
                         1 + (unsigned)test_random_below(&random, CALLS_OF_THE_KEEPER));
        say_that_one_has_ended(arena);
    }
    return NULL;
}

static void *
tend(void *argument)
{
    struct arena *arena = argument;
    struct test_random random;

    test_random_init(&random, arena->seed * 100 + THREADS);
    while (!is_over(arena)) {
        struct timespec pause = {
            0, 1000 * (long)test_random_below(&random, 2 * PAUSE_OF_THE_TENDER_US)};

        program_tend(&arena->program, &random);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static void
run_opening(struct arena *arena, struct test_random *random, uint64_t histories)
{
    struct thread threads[THREADS];
    pthread_t tender;

    program_open(&arena->program, random);
    arena->seed = test_random_next(random);
    arena->begun = arena->ended = 0;
    arena->over = false;
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i] = (struct thread){arena, i, 0};
        assert_int_equal(pthread_create(&threads[i].thread, NULL, work, &threads[i]), 0);
    }
    assert_int_equal(pthread_create(&tender, NULL, tend, arena), 0);
    for (uint64_t number = 1; number <= histories; number++)
        run_history(arena, number);
    pthread_mutex_lock(&arena->mutex);
    arena->over = true;
    pthread_cond_broadcast(&arena->changed);
    pthread_mutex_unlock(&arena->mutex);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i].thread, NULL), 0);
    assert_int_equal(pthread_join(tender, NULL), 0);
    program_close(&arena->program);
}

/* The disk is not asked: nobody looks at what a power cut leaves, and it would take most of the
 * time. */
static int
sync_nothing(void *context, petal_file *file)
{
    (void)context;
    (void)file;
    return 0;
}

static int
sync_no_directory(void *context, petal_directory *directory)
{
    (void)context;
    (void)directory;
    return 0;
}

static uint64_t
number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text != NULL && *text != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

TEST(every_history_has_an_order)
{
    uint64_t most = number_from("PETAL_HISTORIES", test_long() ? 1000000 : 0), histories = 0,
             calls = 0, refused = 0, transactions = 0, conflicts = 0;
    double seconds = (double)number_from("LINEARIZABLE_SECONDS", test_short() ? 5 : 15);
    struct test_random random;

    seed_of_all = test_seed();
    test_random_init(&random, seed_of_all);
    while (most > 0 ? histories < most : test_seconds_used() < seconds) {
        char *directory = test_directory_new(), *copies = test_directory_new();
        char *copy = test_path(copies, "c");
        struct arena *arena = test_allocate(sizeof *arena);

        arena->vfs = vfs_posix;
        arena->vfs.sync = sync_nothing;
        arena->vfs.sync_directory = arena->vfs.sync_parent = sync_no_directory;
        pthread_mutex_init(&arena->mutex, NULL);
        pthread_cond_init(&arena->changed, NULL);
        program_init(&arena->program, &arena->vfs, NULL, directory, copy, fail_now);
        arena->program.removes_copies = true;
        arena->program.transaction_percent = TRANSACTION_PERCENT;
        for (unsigned i = 0; i < OPENINGS_OF_A_DATABASE; i++) {
            run_opening(arena, &random, HISTORIES_OF_AN_OPENING);
            histories += HISTORIES_OF_AN_OPENING;
        }
        calls += atomic_load(&arena->program.calls);
        refused += atomic_load(&arena->program.refused);
        transactions += atomic_load(&arena->program.transactions);
        conflicts += atomic_load(&arena->program.conflicts);
        free(arena);
        free(copy);
        test_directory_free(copies);
        test_directory_free(directory);
    }
    test_counted("%" PRIu64 " histories of %" PRIu64
                 " calls in %.0f s of processor time, %.0f a second; %" PRIu64
                 " on handles that were gone; %" PRIu64 " commits, of them conflicts %" PRIu64,
                 histories, calls, test_seconds_used(), (double)histories / test_seconds_used(),
                 refused, transactions, conflicts);
}

/* ---- the checker itself ---- */

static void
set_up(struct history *history, unsigned threads)
{
    *history = (struct history){.threads = threads};
}

static struct history_call *
call_at(struct history *history, unsigned thread, uint64_t began, uint64_t ended)
{
    struct history_call *call = history_begin(history, thread, "call");

    call->began = began;
    call->ended = ended;
    return call;
}

TEST(answers_without_an_order_are_noticed)
{
    static struct history history;

    /* A read that ended before the write began does not see it; one beside it may. */
    set_up(&history, 2);
    history_add(call_at(&history, 0, 10, 20), HISTORY_SET, 0, 7);
    history_add(call_at(&history, 1, 1, 5), HISTORY_IS, 0, 7);
    assert_false(history_is_linearizable(&history));
    history.calls[1][0].ended = 12;
    assert_true(history_is_linearizable(&history));
    /* A number goes back. */
    set_up(&history, 2);
    history_add(call_at(&history, 0, 1, 100), HISTORY_SET, 0, 7);
    history_add(call_at(&history, 1, 10, 20), HISTORY_IS, 0, 7);
    history_add(call_at(&history, 1, 30, 40), HISTORY_IS, 0, 0);
    assert_false(history_is_linearizable(&history));
    /* Half a batch. */
    set_up(&history, 2);
    history_add(call_at(&history, 0, 1, 100), HISTORY_SET, 0, 7);
    history_add(&history.calls[0][0], HISTORY_SET, 1, 7);
    history_add(call_at(&history, 1, 10, 20), HISTORY_IS, 0, 7);
    history_add(&history.calls[1][0], HISTORY_IS, 1, 0);
    assert_false(history_is_linearizable(&history));
    /* Two increments that give one sum. */
    set_up(&history, 2);
    for (unsigned thread = 0; thread < 2; thread++) {
        history_add(call_at(&history, thread, 1, 100), HISTORY_ADD, 0, 1);
        history_add(&history.calls[thread][0], HISTORY_IS, 0, 1);
    }
    assert_false(history_is_linearizable(&history));
    history.calls[1][0].steps[1].value = 2;
    assert_true(history_is_linearizable(&history));
    /* What nobody else may see is seen. */
    set_up(&history, 2);
    history_add(call_at(&history, 0, 1, 100), HISTORY_SET, 0, 7);
    history_add(&history.calls[0][0], HISTORY_IS, 0, 7);
    history_add(call_at(&history, 1, 10, 20), HISTORY_IS, 0, 7);
    assert_true(history_is_linearizable(&history));
    history.calls[0][0].unseen = true;
    assert_false(history_is_linearizable(&history));
}
