/*
 * readers_test.c -- the registry of readers: which files stay for whom, however many readers there
 * are.
 */
#include "engine/state/readers.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#define MOST_READERS 200
#define FEW_READERS  64
#define STATES       1000

struct use {
    uint64_t oldest, newest;
};

struct registry {
    struct fixture base;
    struct env env;
    struct directory directory;
    struct readers writer, readers[MOST_READERS];
    struct use uses[MOST_READERS];
    size_t count;
    uint64_t next_file;
};

static int
setup(void **state)
{
    struct registry *registry = test_allocate(sizeof *registry);

    memset(registry, 0, sizeof *registry);
    fixture_init(&registry->base, test_seed());
    env_init(&registry->env, &registry->base.env);
    assert_int_equal(directory_open(&registry->directory, &registry->env, FIXTURE_DIRECTORY, true),
                     0);
    registry->writer.directory = &registry->directory;
    assert_true(mutex_init(&registry->writer.mutex));
    MUST(readers_watch(&registry->writer, WHY));
    *state = registry;
    return 0;
}

static void
leave(struct registry *registry)
{
    struct readers *reader = &registry->readers[--registry->count];

    readers_leave(reader);
    mutex_fini(&reader->mutex);
}

static int
teardown(void **state)
{
    struct registry *registry = *state;

    while (registry->count > 0)
        leave(registry);
    readers_leave(&registry->writer);
    mutex_fini(&registry->writer.mutex);
    directory_close(&registry->directory);
    fixture_fini(&registry->base);
    free(registry);
    return 0;
}

static void
say(struct registry *registry, size_t reader, uint64_t oldest, uint64_t newest)
{
    registry->uses[reader] = (struct use){oldest, newest};
    MUST(readers_say(&registry->readers[reader], oldest, newest, WHY));
}

static void
join(struct registry *registry, uint64_t oldest, uint64_t newest)
{
    struct readers *reader = &registry->readers[registry->count];
    bool joined;

    *reader = (struct readers){.directory = &registry->directory};
    assert_true(mutex_init(&reader->mutex));
    MUST(readers_join(reader, &joined, WHY));
    assert_true(joined);
    say(registry, registry->count++, oldest, newest);
}

/* A file that was a part of these states is removed. Does it stay? */
static bool
stays(struct registry *registry, uint64_t born, uint64_t died)
{
    char path[PETAL_PATH_BYTES];
    uint64_t number = ++registry->next_file;

    filename_store_file(path, FIXTURE_DIRECTORY, number);
    assert_int_equal(memory_vfs_write_file(registry->base.vfs, path, "file", 4), 0);
    readers_note_state(&registry->writer, died);
    readers_remove(&registry->writer, FILENAME_STORE_FILE, number, born);
    return memory_vfs_exists(registry->base.vfs, path);
}

static bool
is_used(const struct registry *registry, uint64_t born, uint64_t died)
{
    for (size_t i = 0; i < registry->count; i++) {
        if (registry->uses[i].oldest < died && registry->uses[i].newest >= born)
            return true;
    }
    return false;
}

TEST_WITH(a_crowd_that_went_on_keeps_nothing, setup, teardown)
{
    struct registry *registry = *state;

    for (size_t i = 0; i < MOST_READERS; i++)
        join(registry, 5, 5);
    assert_true(stays(registry, 4, 6));
    assert_false(stays(registry, 4, 5));
    for (size_t i = 0; i < MOST_READERS; i++)
        say(registry, i, 6, 6 + i % 3);
    readers_remove_kept(&registry->writer);
    assert_int_equal(registry->writer.kept_count, 0);
    assert_false(stays(registry, 4, 6));
    assert_true(stays(registry, 4, 7));
}

/* More states than are told apart: what is far from all of them goes. */
TEST_WITH(a_scattered_crowd_keeps_what_lies_between, setup, teardown)
{
    struct registry *registry = *state;

    for (size_t i = 1; i < MOST_READERS; i++)
        join(registry, 8 + 2 * i, 8 + 2 * i);
    join(registry, STATES, READERS_LOADING);
    assert_false(stays(registry, 1, 10));
    assert_false(stays(registry, 10 + 2 * MOST_READERS, STATES));
    assert_true(stays(registry, 10, 11));
    assert_true(stays(registry, STATES - 1, STATES + 1));
}

/* Whatever they use: of few readers exactly that stays, of many at least that. */
TEST_WITH(what_is_used_stays, setup, teardown)
{
    struct registry *registry = *state;
    struct test_random *random = &registry->base.random;

    for (unsigned round = 0; round < (test_long() ? 400 : 40); round++) {
        size_t readers = 1 + test_random_below(random, MOST_READERS);

        while (registry->count > readers)
            leave(registry);
        while (registry->count < readers)
            join(registry, 1, 1);
        for (size_t i = 0; i < readers; i++) {
            uint64_t oldest = 1 + test_random_below(random, STATES);
            uint64_t newest = oldest + test_random_below(random, 1 + STATES / readers);

            say(registry, i, oldest,
                test_random_below(random, 1000) == 0 ? READERS_LOADING : newest);
        }
        for (unsigned i = 0; i < 30; i++) {
            uint64_t born = 1 + test_random_below(random, STATES);
            uint64_t died = born + 1 + test_random_below(random, 20);
            bool used = is_used(registry, born, died), stayed = stays(registry, born, died);

            assert_true(stayed || !used);
            assert_true(used || !stayed || readers > FEW_READERS);
        }
    }
}
