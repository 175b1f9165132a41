/*
 * file_pool_test.c -- the bound on open files holds at every moment, an acquired file stays open,
 * readers share handles, failures to open are reported and forgotten.
 */

#include "sstable/block/file_pool.h"
#include "tests/disk/vfs.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define FILES 12

/* Files "0", "1" ... each of which holds its own name, and a pool of them. */
struct fixture {
    struct memory_vfs *vfs;
    struct env env;
    struct directory directory;
    struct file_pool pool;
    uint32_t limit;
    char names[FILES][16];
    struct pooled_file files[FILES];
};

static void
set_up(struct fixture *fixture, uint32_t limit)
{
    memset(fixture, 0, sizeof *fixture);
    fixture->vfs = memory_vfs_new();
    fixture->limit = limit;
    env_init(&fixture->env,
             &(petal_env){.size = sizeof(petal_env), .vfs = memory_vfs_table(fixture->vfs)});
    assert_true(file_pool_init(&fixture->pool, &fixture->env, limit));
    assert_int_equal(directory_open(&fixture->directory, &fixture->env, ".", false), 0);
    for (unsigned i = 0; i < FILES; i++) {
        snprintf(fixture->names[i], sizeof fixture->names[i], "./%u", i);
        assert_int_equal(
            memory_vfs_write_file(fixture->vfs, fixture->names[i], fixture->names[i], 4), 0);
        pooled_file_init(&fixture->files[i], &fixture->pool, &fixture->directory,
                         fixture->names[i]);
    }
    assert_int_equal(memory_vfs_open_files(fixture->vfs), 0);
}

static void
tear_down(struct fixture *fixture)
{
    for (unsigned i = 0; i < FILES; i++)
        pooled_file_fini(&fixture->files[i]);
    assert_int_equal(memory_vfs_open_files(fixture->vfs), 0);
    file_pool_fini(&fixture->pool);
    memory_vfs_free(fixture->vfs);
}

static petal_file *
acquire(struct fixture *fixture, unsigned i)
{
    petal_file *file;
    petal_error error;

    assert_int_equal(pooled_file_acquire(&fixture->files[i], &file, &error), PETAL_OK);
    assert_true(memory_vfs_open_files(fixture->vfs) <= fixture->limit);
    return file;
}

static void
release(struct fixture *fixture, unsigned i)
{
    pooled_file_release(&fixture->files[i]);
}

static void
use(struct fixture *fixture, unsigned i)
{
    (void)acquire(fixture, i);
    release(fixture, i);
}

/* Whether the file holds what the i-th one does. */
static bool
holds(struct fixture *fixture, petal_file *file, unsigned i)
{
    char bytes[4];
    size_t got;

    return fixture->env.vfs->read_at(fixture->env.vfs->context, file, 0, bytes, 4, &got) == 0 &&
           got == 4 && memcmp(bytes, fixture->names[i], 4) == 0;
}

/* ---- one thread ---- */

TEST(files_are_opened_when_read_and_no_more_than_allowed)
{
    struct fixture fixture;

    set_up(&fixture, 3);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < FILES; i++) {
            petal_file *file = acquire(&fixture, i);

            assert_true(holds(&fixture, file, i));
            release(&fixture, i);
        }
    }
    assert_int_equal(memory_vfs_open_files(fixture.vfs),
                     3); /* they stay open until others need the room */
    tear_down(&fixture);
}

TEST(what_fits_is_opened_once)
{
    struct fixture fixture;
    uint64_t calls;

    set_up(&fixture, FILES);
    for (unsigned i = 0; i < FILES; i++)
        use(&fixture, i);
    calls = memory_vfs_calls(fixture.vfs);
    for (unsigned i = 0; i < 5 * FILES; i++)
        use(&fixture, (i * 5) % FILES);
    assert_int_equal(memory_vfs_calls(fixture.vfs), calls);
    tear_down(&fixture);
}

TEST(readers_share_a_handle)
{
    struct fixture fixture;
    petal_file *first, *second;

    set_up(&fixture, 2);
    first = acquire(&fixture, 0);
    second = acquire(&fixture, 0);
    assert_ptr_equal(first, second);
    assert_int_equal(memory_vfs_open_files(fixture.vfs), 1);
    release(&fixture, 0);
    for (unsigned i = 1; i < FILES; i++)
        use(&fixture, i);
    assert_true(holds(&fixture, second, 0)); /* still acquired once */
    release(&fixture, 0);
    tear_down(&fixture);
}

TEST(acquired_files_stay_open)
{
    struct fixture fixture;
    petal_file *held[3];

    set_up(&fixture, 4);
    for (unsigned i = 0; i < 3; i++)
        held[i] = acquire(&fixture, i);
    for (unsigned round = 0; round < 20; round++)
        use(&fixture, 3 + round % (FILES - 3));
    for (unsigned i = 0; i < 3; i++) {
        assert_true(holds(&fixture, held[i], i));
        assert_ptr_equal(acquire(&fixture, i), held[i]);
        release(&fixture, i);
        release(&fixture, i);
    }
    tear_down(&fixture);
}

/* A file that is read again and again is passed over by the clock's hand. */
TEST(files_in_use_are_kept)
{
    struct fixture fixture;
    size_t opened = 0;

    set_up(&fixture, 4);
    memory_vfs_trace(fixture.vfs, true);
    for (unsigned round = 0; round < 10 * (FILES - 1); round++) {
        use(&fixture, 0);
        use(&fixture, 1 + round % (FILES - 1));
    }
    for (size_t i = 0; i < memory_vfs_trace_count(fixture.vfs); i++) {
        struct memory_vfs_call call = memory_vfs_trace_at(fixture.vfs, i);

        opened += call.operation == MEMORY_VFS_OPEN && strcmp(call.path, fixture.names[0]) == 0;
    }
    assert_int_equal(opened, 1);
    tear_down(&fixture);
}

TEST(a_failed_opening_is_that_readers_error)
{
    struct fixture fixture;
    petal_file *file = (petal_file *)&fixture;
    petal_error error;

    set_up(&fixture, 2);
    for (unsigned round = 0; round < 4 * FILES; round++) {
        unsigned i = round % FILES;
        /* When the pool is full the first call closes another file, the second one opens. */
        memory_vfs_fail_at(fixture.vfs, memory_vfs_open_files(fixture.vfs) == 2 ? 2 : 1, EMFILE,
                           false);
        assert_int_equal(pooled_file_acquire(&fixture.files[i], &file, &error), PETAL_IO);
        assert_null(file);
        assert_int_equal(error.os_error, EMFILE);
        assert_string_equal(error.file, fixture.names[i]);
        assert_int_equal(pooled_file_acquire(&fixture.files[i], &file, NULL), PETAL_OK);
        assert_true(holds(&fixture, file, i));
        release(&fixture, i);
    }
    memory_vfs_fail_at(fixture.vfs, 1, EIO, true);
    for (unsigned round = 0; round < 3 * FILES; round++) {
        if (pooled_file_acquire(&fixture.files[round % FILES], &file, &error) == PETAL_OK)
            release(&fixture, round % FILES);
    }
    memory_vfs_fail_at(fixture.vfs, 0, 0, false);
    for (unsigned i = 0; i < FILES; i++)
        use(&fixture, i);
    tear_down(&fixture);
}

TEST(files_go_whether_open_or_not)
{
    struct fixture fixture;

    set_up(&fixture, 3);
    for (unsigned i = 0; i < 6; i++)
        use(&fixture, i);
    for (unsigned i = 0; i < 6; i++) {
        pooled_file_fini(&fixture.files[i]);
        pooled_file_init(&fixture.files[i], &fixture.pool, &fixture.directory, fixture.names[i]);
    }
    assert_int_equal(memory_vfs_open_files(fixture.vfs), 0);
    for (unsigned i = 0; i < FILES; i++)
        use(&fixture, i);
    tear_down(&fixture);
}

TEST(without_a_pool_a_file_stays_open)
{
    struct fixture fixture;
    struct pooled_file single;
    petal_file *file, *again;

    set_up(&fixture, 2);
    pooled_file_init(&single, NULL, &fixture.directory, fixture.names[0]);
    memory_vfs_fail_at(fixture.vfs, 1, EMFILE, false);
    assert_int_equal(pooled_file_acquire(&single, &file, NULL), PETAL_IO);
    assert_int_equal(pooled_file_acquire(&single, &file, NULL), PETAL_OK);
    pooled_file_release(&single);
    assert_int_equal(memory_vfs_open_files(fixture.vfs), 1);
    assert_int_equal(pooled_file_acquire(&single, &again, NULL), PETAL_OK);
    assert_ptr_equal(file, again);
    pooled_file_release(&single);
    pooled_file_fini(&single);
    tear_down(&fixture);
}

/* ---- many threads ---- */

struct worker {
    struct fixture *fixture;
    unsigned wanted; /* of waits_for_room */
    uint64_t seed;
    unsigned rounds;
    bool may_fail;
    unsigned wrong; /* cmocka's asserts belong to the main thread */
    _Atomic(bool) *released;
};

static void *
wait_for_room(void *argument)
{
    struct worker *w = argument;
    petal_file *file;

    if (pooled_file_acquire(&w->fixture->files[w->wanted], &file, NULL) != PETAL_OK) {
        w->wrong++;
        return NULL;
    }
    w->wrong += !atomic_load(w->released); /* there was no room before */
    w->wrong += memory_vfs_open_files(w->fixture->vfs) > w->fixture->limit;
    w->wrong += !holds(w->fixture, file, w->wanted);
    pooled_file_release(&w->fixture->files[w->wanted]);
    return NULL;
}

/* All handles are in use: who wants another one waits for a release. */
TEST(readers_wait_for_room)
{
    struct fixture fixture;

    set_up(&fixture, 1);
    for (unsigned round = 0; round < 200; round++) {
        _Atomic(bool) released = false;
        struct worker workers[3];
        pthread_t threads[3];

        (void)acquire(&fixture, 0);
        for (unsigned i = 0; i < 3; i++) {
            workers[i] =
                (struct worker){.fixture = &fixture, .wanted = 1 + i % 2, .released = &released};
            assert_int_equal(pthread_create(&threads[i], NULL, wait_for_room, &workers[i]), 0);
        }
        atomic_store(&released, true);
        release(&fixture, 0);
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_int_equal(workers[i].wrong, 0);
        }
    }
    tear_down(&fixture);
}

static void *
work(void *argument)
{
    struct worker *w = argument;
    struct fixture *fixture = w->fixture;
    struct test_random random;

    test_random_init(&random, w->seed);
    for (unsigned round = 0; round < w->rounds; round++) {
        /* Few of them are hot. */
        unsigned i =
            (unsigned)test_random_below(&random, test_random_chance(&random, 50) ? 2 : FILES);
        petal_file *file;

        if (w->may_fail && test_random_chance(&random, 5))
            memory_vfs_fail_at(fixture->vfs, 1 + test_random_below(&random, 3), EMFILE, false);
        if (pooled_file_acquire(&fixture->files[i], &file, NULL) != PETAL_OK) {
            w->wrong += !w->may_fail;
            continue;
        }
        w->wrong += memory_vfs_open_files(fixture->vfs) > fixture->limit;
        w->wrong += !holds(fixture, file, i) && !w->may_fail;
        pooled_file_release(&fixture->files[i]);
    }
    return NULL;
}

static void
run_threads(uint32_t limit, bool may_fail)
{
    struct fixture fixture;
    struct worker workers[6];
    pthread_t threads[6];
    uint64_t seed = test_seed();

    set_up(&fixture, limit);
    for (unsigned i = 0; i < 6; i++) {
        workers[i] = (struct worker){.fixture = &fixture,
                                     .seed = seed + i,
                                     .rounds = test_long() ? 200000 : 3000,
                                     .may_fail = may_fail};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].wrong, 0);
    }
    memory_vfs_fail_at(fixture.vfs, 0, 0, false);
    for (unsigned i = 0; i < FILES; i++)
        use(&fixture, i);
    tear_down(&fixture);
}

TEST(threads_read_through_few_handles)
{
    run_threads(1, false);
    run_threads(2, false);
    run_threads(5, false);
    run_threads(FILES, false);
}

TEST(threads_go_on_after_failures)
{
    run_threads(1, true);
    run_threads(3, true);
}
