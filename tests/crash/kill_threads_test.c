/*
 * kill_threads_test.c -- threads write, flush single tables or all, and compact, on files in
 * memory, and stand still for a moment at any file call.  Before some of these calls the files are
 * copied: so they would be, had the process been killed there.  Each copy is opened: what it holds
 * must be a prefix of the writes, with every write that had been acknowledged by then; had the
 * power failed, any prefix.  Prints its seed; what the threads make of it differs from run to run.
 */

#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define LIVES       4 /* databases */
#define WRITES      800
#define FILLER      500
#define MOST_COPIES 100

/* The files as a kill would leave them. */
struct copy {
    struct memory_vfs *vfs;
    uint64_t acknowledged; /* before the copy was made */
    uint64_t attempted;    /* after it */
};

static struct {
    struct fixture fixture;
    struct ledger ledger;
    struct test_random random;
    _Atomic(uint64_t) acknowledged, attempted;
    _Atomic(bool) at_work, failed;
    pthread_mutex_t mutex; /* guards what follows */
    struct copy copies[MOST_COPIES];
    size_t copy_count;
} life = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- the file layer ---- */

static void
copy_files(void)
{
    pthread_mutex_lock(&life.mutex);
    if (life.copy_count < MOST_COPIES) {
        struct copy *copy = &life.copies[life.copy_count++];

        copy->acknowledged = atomic_load(&life.acknowledged);
        copy->vfs = memory_vfs_clone(life.fixture.vfs);
        copy->attempted = atomic_load(&life.attempted);
    }
    pthread_mutex_unlock(&life.mutex);
}

static void
linger(void *unused, enum memory_vfs_operation operation)
{
    (void)unused;
    if (!atomic_load(&life.at_work) || operation == MEMORY_VFS_READ ||
        operation == MEMORY_VFS_SIZE || operation == MEMORY_VFS_CLOSE)
        return;
    if (test_random_chance(&life.random, 10)) {
        struct timespec time = {.tv_nsec = (long)test_random_below(&life.random, 1000000)};

        nanosleep(&time, NULL);
    }
    if (test_random_chance(&life.random, 5))
        copy_files();
}

/* ---- the threads ---- */

static void *
flush_tables(void *argument)
{
    while (atomic_load(&life.at_work)) {
        uint64_t which = test_random_below(&life.random, LEDGER_TABLES + 1);
        petal_table *table = which < LEDGER_TABLES ? life.ledger.tables[which] : NULL;
        struct timespec time = {.tv_nsec = (long)test_random_below(&life.random, 4000000)};

        nanosleep(&time, NULL);
        if (petal_flush(life.fixture.db, table, NULL) != PETAL_OK)
            atomic_store(&life.failed, true);
    }
    return argument;
}

static void *
compact_tables(void *argument)
{
    while (atomic_load(&life.at_work)) {
        struct timespec time = {.tv_nsec = (long)test_random_below(&life.random, 20000000)};

        nanosleep(&time, NULL);
        if (petal_compact(life.ledger.tables[test_random_below(&life.random, LEDGER_TABLES)], NULL,
                          NULL) != PETAL_OK)
            atomic_store(&life.failed, true);
    }
    return argument;
}

static void
write_all(void)
{
    for (uint64_t number = 1; number <= WRITES; number++) {
        atomic_store(&life.attempted, number);
        MUST(ledger_write(&life.ledger, number, PETAL_SYNC_WAL, WHY));
        atomic_store(&life.acknowledged, number);
    }
}

static void
begin_life(uint64_t seed)
{
    fixture_init(&life.fixture, seed);
    test_random_init(&life.random, seed);
    memory_vfs_pause(life.fixture.vfs, linger, NULL);
    life.fixture.options.memtable_bytes = (size_t)64 << 10;
    life.fixture.options.log_sync_interval_ms = 1;
    fixture_must_open(&life.fixture);
    life.ledger = (struct ledger){.filler = FILLER};
    MUST(ledger_create(&life.ledger, life.fixture.db, WHY));
    atomic_store(&life.acknowledged, 0);
    atomic_store(&life.attempted, 0);
    atomic_store(&life.failed, false);
    life.copy_count = 0;
}

/* On `vfs` there is a prefix of the writes, of `least` to `most`. */
static void
check_prefix(struct memory_vfs *vfs, uint64_t least, uint64_t most)
{
    struct ledger ledger = {.filler = FILLER};
    struct fixture after;
    uint64_t count;

    fixture_init_on(&after, vfs, 1);
    fixture_must_open(&after);
    count = ledger_must_find(&ledger, after.db);
    if (count < least || count > most)
        print_error("%" PRIu64 " writes are there, not %" PRIu64 " to %" PRIu64 "\n", count, least,
                    most);
    assert_in_range(count, least, most);
    assert_true(fixture_directory_is_clean(&after));
    fixture_fini(&after);
}

/* As the process left it, as the power did when it failed at that moment, and as it did when
 * another process had opened it. */
static void
check_copy(const struct copy *copy, uint64_t seed)
{
    struct memory_vfs *cut = memory_vfs_clone(copy->vfs);

    for (unsigned i = 0; i < 3; i++) {
        struct memory_vfs *files = memory_vfs_clone(copy->vfs);
        bool opened;

        files = fixture_further_state(files, i, seed, &opened);
        check_prefix(files, opened ? copy->acknowledged : 0, copy->attempted);
    }
    memory_vfs_power_cut(cut, MEMORY_CUT_RANDOM, seed);
    check_prefix(copy->vfs, copy->acknowledged, copy->attempted);
    check_prefix(cut, 0, copy->attempted);
}

static size_t
live(uint64_t seed)
{
    pthread_t flusher, compactor;

    begin_life(seed);
    atomic_store(&life.at_work, true);
    assert_int_equal(pthread_create(&flusher, NULL, flush_tables, NULL), 0);
    assert_int_equal(pthread_create(&compactor, NULL, compact_tables, NULL), 0);
    write_all();
    atomic_store(&life.at_work, false);
    pthread_join(flusher, NULL);
    pthread_join(compactor, NULL);
    assert_false(atomic_load(&life.failed));
    fixture_fini(&life.fixture);
    for (size_t i = 0; i < life.copy_count; i++)
        check_copy(&life.copies[i], seed + i);
    return life.copy_count;
}

TEST(test_nothing_is_lost_wherever_a_kill_comes)
{
    unsigned lives = test_long() ? 50 * LIVES : LIVES;
    uint64_t seed = test_seed();
    size_t copies = 0;

    for (unsigned i = 0; i < lives; i++)
        copies += live(seed + i);
    test_counted("%zu copies of a directory in which threads write", copies);
    assert_true(copies > lives);
}
