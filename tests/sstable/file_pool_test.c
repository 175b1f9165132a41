/*
 * file_pool_test.c -- the bound on open files holds at every moment, an acquired file stays open, readers share handles, failures
 * to open are reported and forgotten.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sstable/file_pool.h"
#include "tests/disk/vfs.h"
#include "tests/support/test_support.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define FILES 12

/* Files "0", "1" ... each of which holds its own name, and a pool of them. */
struct bed {
    struct memory_vfs *vfs;
    struct env env;
    struct directory directory;
    struct file_pool pool;
    uint32_t limit;
    char names[FILES][16];
    struct pooled_file files[FILES];
};

static void
set_up(struct bed *bed, uint32_t limit)
{
    memset(bed, 0, sizeof *bed);
    bed->vfs = memory_vfs_new();
    bed->limit = limit;
    env_init(&bed->env, &(petal_env){.size = sizeof(petal_env), .vfs = memory_vfs_table(bed->vfs)});
    assert_true(file_pool_init(&bed->pool, &bed->env, limit));
    assert_int_equal(directory_open(&bed->directory, &bed->env, ".", false), 0);
    for (unsigned i = 0; i < FILES; i++) {
        snprintf(bed->names[i], sizeof bed->names[i], "./%u", i);
        assert_int_equal(memory_vfs_write_file(bed->vfs, bed->names[i], bed->names[i], 4), 0);
        pooled_file_init(&bed->files[i], &bed->pool, &bed->directory, bed->names[i]);
    }
    assert_int_equal(memory_vfs_open_files(bed->vfs), 0);
}

static void
tear_down(struct bed *bed)
{
    for (unsigned i = 0; i < FILES; i++)
        pooled_file_fini(&bed->files[i]);
    assert_int_equal(memory_vfs_open_files(bed->vfs), 0);
    file_pool_fini(&bed->pool);
    memory_vfs_free(bed->vfs);
}

static petal_file *
acquire(struct bed *bed, unsigned i)
{
    petal_file *file;
    petal_error error;

    assert_int_equal(pooled_file_acquire(&bed->files[i], &file, &error), PETAL_OK);
    assert_true(memory_vfs_open_files(bed->vfs) <= bed->limit);
    return file;
}

static void
release(struct bed *bed, unsigned i)
{
    pooled_file_release(&bed->files[i]);
}

static void
use(struct bed *bed, unsigned i)
{
    (void)acquire(bed, i);
    release(bed, i);
}

/* Whether the file holds what the i-th one does. */
static bool
holds(struct bed *bed, petal_file *file, unsigned i)
{
    char bytes[4];
    size_t got;

    return bed->env.vfs->read_at(bed->env.vfs->context, file, 0, bytes, 4, &got) == 0 && got == 4 &&
           memcmp(bytes, bed->names[i], 4) == 0;
}

/* ---- one thread ---- */

static void
files_are_opened_when_read_and_no_more_than_allowed(void **state)
{
    struct bed bed;

    (void)state;
    set_up(&bed, 3);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < FILES; i++) {
            petal_file *file = acquire(&bed, i);

            assert_true(holds(&bed, file, i));
            release(&bed, i);
        }
    }
    assert_int_equal(memory_vfs_open_files(bed.vfs),
                     3); /* they stay open until others need the room */
    tear_down(&bed);
}

static void
what_fits_is_opened_once(void **state)
{
    struct bed bed;
    uint64_t calls;

    (void)state;
    set_up(&bed, FILES);
    for (unsigned i = 0; i < FILES; i++)
        use(&bed, i);
    calls = memory_vfs_calls(bed.vfs);
    for (unsigned i = 0; i < 5 * FILES; i++)
        use(&bed, (i * 5) % FILES);
    assert_int_equal(memory_vfs_calls(bed.vfs), calls);
    tear_down(&bed);
}

static void
readers_share_a_handle(void **state)
{
    struct bed bed;
    petal_file *first, *second;

    (void)state;
    set_up(&bed, 2);
    first = acquire(&bed, 0);
    second = acquire(&bed, 0);
    assert_ptr_equal(first, second);
    assert_int_equal(memory_vfs_open_files(bed.vfs), 1);
    release(&bed, 0);
    for (unsigned i = 1; i < FILES; i++)
        use(&bed, i);
    assert_true(holds(&bed, second, 0)); /* still acquired once */
    release(&bed, 0);
    tear_down(&bed);
}

static void
acquired_files_stay_open(void **state)
{
    struct bed bed;
    petal_file *held[3];

    (void)state;
    set_up(&bed, 4);
    for (unsigned i = 0; i < 3; i++)
        held[i] = acquire(&bed, i);
    for (unsigned round = 0; round < 20; round++)
        use(&bed, 3 + round % (FILES - 3));
    for (unsigned i = 0; i < 3; i++) {
        assert_true(holds(&bed, held[i], i));
        assert_ptr_equal(acquire(&bed, i), held[i]);
        release(&bed, i);
        release(&bed, i);
    }
    tear_down(&bed);
}

/* A file that is read again and again is passed over by the clock's hand. */
static void
files_in_use_are_kept(void **state)
{
    struct bed bed;
    size_t opened = 0;

    (void)state;
    set_up(&bed, 4);
    memory_vfs_trace(bed.vfs, true);
    for (unsigned round = 0; round < 10 * (FILES - 1); round++) {
        use(&bed, 0);
        use(&bed, 1 + round % (FILES - 1));
    }
    for (size_t i = 0; i < memory_vfs_trace_count(bed.vfs); i++) {
        struct memory_vfs_call call = memory_vfs_trace_at(bed.vfs, i);

        opened += call.operation == MEMORY_VFS_OPEN && strcmp(call.path, bed.names[0]) == 0;
    }
    assert_int_equal(opened, 1);
    tear_down(&bed);
}

static void
a_failed_opening_is_that_readers_error(void **state)
{
    struct bed bed;
    petal_file *file = (petal_file *)&bed;
    petal_error error;

    (void)state;
    set_up(&bed, 2);
    for (unsigned round = 0; round < 4 * FILES; round++) {
        unsigned i = round % FILES;
        /* When the pool is full the first call closes another file, the second one opens. */
        memory_vfs_fail_at(bed.vfs, memory_vfs_open_files(bed.vfs) == 2 ? 2 : 1, EMFILE, false);
        assert_int_equal(pooled_file_acquire(&bed.files[i], &file, &error), PETAL_IO);
        assert_null(file);
        assert_int_equal(error.os_error, EMFILE);
        assert_string_equal(error.file, bed.names[i]);
        assert_int_equal(pooled_file_acquire(&bed.files[i], &file, NULL), PETAL_OK);
        assert_true(holds(&bed, file, i));
        release(&bed, i);
    }
    memory_vfs_fail_at(bed.vfs, 1, EIO, true);
    for (unsigned round = 0; round < 3 * FILES; round++) {
        if (pooled_file_acquire(&bed.files[round % FILES], &file, &error) == PETAL_OK)
            release(&bed, round % FILES);
    }
    memory_vfs_fail_at(bed.vfs, 0, 0, false);
    for (unsigned i = 0; i < FILES; i++)
        use(&bed, i);
    tear_down(&bed);
}

static void
files_go_whether_open_or_not(void **state)
{
    struct bed bed;

    (void)state;
    set_up(&bed, 3);
    for (unsigned i = 0; i < 6; i++)
        use(&bed, i);
    for (unsigned i = 0; i < 6; i++) {
        pooled_file_fini(&bed.files[i]);
        pooled_file_init(&bed.files[i], &bed.pool, &bed.directory, bed.names[i]);
    }
    assert_int_equal(memory_vfs_open_files(bed.vfs), 0);
    for (unsigned i = 0; i < FILES; i++)
        use(&bed, i);
    tear_down(&bed);
}

static void
without_a_pool_a_file_stays_open(void **state)
{
    struct bed bed;
    struct pooled_file single;
    petal_file *file, *again;

    (void)state;
    set_up(&bed, 2);
    pooled_file_init(&single, NULL, &bed.directory, bed.names[0]);
    memory_vfs_fail_at(bed.vfs, 1, EMFILE, false);
    assert_int_equal(pooled_file_acquire(&single, &file, NULL), PETAL_IO);
    assert_int_equal(pooled_file_acquire(&single, &file, NULL), PETAL_OK);
    pooled_file_release(&single);
    assert_int_equal(memory_vfs_open_files(bed.vfs), 1);
    assert_int_equal(pooled_file_acquire(&single, &again, NULL), PETAL_OK);
    assert_ptr_equal(file, again);
    pooled_file_release(&single);
    pooled_file_fini(&single);
    tear_down(&bed);
}

/* ---- many threads ---- */

struct worker {
    struct bed *bed;
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

    if (pooled_file_acquire(&w->bed->files[w->wanted], &file, NULL) != PETAL_OK) {
        w->wrong++;
        return NULL;
    }
    w->wrong += !atomic_load(w->released); /* there was no room before */
    w->wrong += memory_vfs_open_files(w->bed->vfs) > w->bed->limit;
    w->wrong += !holds(w->bed, file, w->wanted);
    pooled_file_release(&w->bed->files[w->wanted]);
    return NULL;
}

/* All handles are in use: who wants another one waits for a release. */
static void
readers_wait_for_room(void **state)
{
    struct bed bed;

    (void)state;
    set_up(&bed, 1);
    for (unsigned round = 0; round < 200; round++) {
        _Atomic(bool) released = false;
        struct worker workers[3];
        pthread_t threads[3];

        (void)acquire(&bed, 0);
        for (unsigned i = 0; i < 3; i++) {
            workers[i] = (struct worker){.bed = &bed, .wanted = 1 + i % 2, .released = &released};
            assert_int_equal(pthread_create(&threads[i], NULL, wait_for_room, &workers[i]), 0);
        }
        atomic_store(&released, true);
        release(&bed, 0);
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_int_equal(workers[i].wrong, 0);
        }
    }
    tear_down(&bed);
}

static void *
work(void *argument)
{
    struct worker *w = argument;
    struct bed *bed = w->bed;
    struct test_random random;

    test_random_init(&random, w->seed);
    for (unsigned round = 0; round < w->rounds; round++) {
        /* Few of them are hot. */
        unsigned i =
            (unsigned)test_random_below(&random, test_random_chance(&random, 50) ? 2 : FILES);
        petal_file *file;

        if (w->may_fail && test_random_chance(&random, 5))
            memory_vfs_fail_at(bed->vfs, 1 + test_random_below(&random, 3), EMFILE, false);
        if (pooled_file_acquire(&bed->files[i], &file, NULL) != PETAL_OK) {
            w->wrong += !w->may_fail;
            continue;
        }
        w->wrong += memory_vfs_open_files(bed->vfs) > bed->limit;
        w->wrong += !holds(bed, file, i) && !w->may_fail;
        pooled_file_release(&bed->files[i]);
    }
    return NULL;
}

static void
run_threads(uint32_t limit, bool may_fail)
{
    struct bed bed;
    struct worker workers[6];
    pthread_t threads[6];
    uint64_t seed = test_seed();

    set_up(&bed, limit);
    for (unsigned i = 0; i < 6; i++) {
        workers[i] = (struct worker){.bed = &bed,
                                     .seed = seed + i,
                                     .rounds = test_long() ? 200000 : 3000,
                                     .may_fail = may_fail};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].wrong, 0);
    }
    memory_vfs_fail_at(bed.vfs, 0, 0, false);
    for (unsigned i = 0; i < FILES; i++)
        use(&bed, i);
    tear_down(&bed);
}

static void
threads_read_through_few_handles(void **state)
{
    (void)state;
    run_threads(1, false);
    run_threads(2, false);
    run_threads(5, false);
    run_threads(FILES, false);
}

static void
threads_go_on_after_failures(void **state)
{
    (void)state;
    run_threads(1, true);
    run_threads(3, true);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_opened_when_read_and_no_more_than_allowed),
        cmocka_unit_test(what_fits_is_opened_once),
        cmocka_unit_test(readers_share_a_handle),
        cmocka_unit_test(acquired_files_stay_open),
        cmocka_unit_test(files_in_use_are_kept),
        cmocka_unit_test(a_failed_opening_is_that_readers_error),
        cmocka_unit_test(files_go_whether_open_or_not),
        cmocka_unit_test(without_a_pool_a_file_stays_open),
        cmocka_unit_test(readers_wait_for_room),
        cmocka_unit_test(threads_read_through_few_handles),
        cmocka_unit_test(threads_go_on_after_failures),
    };

    return cmocka_run_group_tests_name("file_pool", tests, NULL, NULL);
}
