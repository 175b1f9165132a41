/* database.c -- scenarios of whole databases in memory: the random program of
 * tests/threads/program.h, whole and in parts. */
#include "tests/schedule/scenario.h"

#include "tests/disk/vfs.h"
#include "tests/threads/program.h"

#include <pthread.h>

#define MOST_THREADS (PROGRAM_WORKERS + 2)

static void
fail(const char *what)
{
    schedule_fail(__FILE__, __LINE__, what);
}

struct play {
    struct program program;
    unsigned worker_calls, keeper_calls, tender_calls, transaction_percent;
    uint64_t seed;
};

struct player {
    struct play *play;
    unsigned index;
    pthread_t thread;
};

static void *
run_player(void *argument)
{
    struct player *player = argument;
    struct play *play = player->play;
    struct test_random random;

    test_random_init(&random, play->seed + player->index);
    if (player->index < PROGRAM_WORKERS)
        program_work(&play->program, player->index, &random, play->worker_calls);
    else if (player->index == PROGRAM_KEEPER)
        program_keep(&play->program, &random, play->keeper_calls);
    else
        for (unsigned i = 0; i < play->tender_calls; i++)
            program_tend(&play->program, &random);
    return NULL;
}

/* A history, in a database that is new. */
static void
run_play(struct play *play)
{
    struct memory_vfs *vfs = memory_vfs_new();
    char directory[] = "/db", copy[] = "/copy";
    struct player players[MOST_THREADS];
    struct test_random random;

    history_orders_threads = true;
    play->seed = schedule_random(UINT64_MAX / 2);
    test_random_init(&random, play->seed);
    program_init(&play->program, memory_vfs_table(vfs), &schedule_allocator, directory, copy, fail);
    play->program.transaction_percent = play->transaction_percent;
    program_open(&play->program, &random);
    program_begin(&play->program);
    for (unsigned i = 0; i < MOST_THREADS; i++) {
        players[i] = (struct player){.play = play, .index = i};
        schedule_check(pthread_create(&players[i].thread, NULL, run_player, &players[i]) == 0);
    }
    for (unsigned i = 0; i < MOST_THREADS; i++)
        schedule_check(pthread_join(players[i].thread, NULL) == 0);
    if (!program_end(&play->program))
        fail("a history without an order");
    program_close(&play->program);
    memory_vfs_free(vfs);
}

static void
writers_and_readers_agree(void *unused)
{
    static struct play play;

    (void)unused;
    play = (struct play){.worker_calls = 5};
    run_play(&play);
}

static void
flushes_and_compactions_change_no_answer(void *unused)
{
    static struct play play;

    (void)unused;
    play = (struct play){.worker_calls = 5, .tender_calls = 3};
    run_play(&play);
}

static void
tables_are_replaced_in_one_step(void *unused)
{
    static struct play play;

    (void)unused;
    play = (struct play){.worker_calls = 4, .keeper_calls = 3, .tender_calls = 1};
    run_play(&play);
}

static void
transactions_happen_at_once(void *unused)
{
    static struct play play;

    (void)unused;
    play = (struct play){.worker_calls = 4,
                         .keeper_calls = (unsigned)schedule_random(2),
                         .tender_calls = (unsigned)schedule_random(3),
                         .transaction_percent = 70};
    run_play(&play);
}

const struct scenario database_scenarios[] = {
    {"writers_and_readers_agree", writers_and_readers_agree, 4},
    {"flushes_and_compactions_change_no_answer", flushes_and_compactions_change_no_answer, 6},
    {"tables_are_replaced_in_one_step", tables_are_replaced_in_one_step, 4},
    {"transactions_happen_at_once", transactions_happen_at_once, 8},
    {NULL, NULL, 0}};
