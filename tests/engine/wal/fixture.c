/* fixture.c -- see tests/engine/wal/fixture.h. */
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include "tests/disk/paths.h"
#include "tests/engine/wal/fixture.h"
#include "tests/support/test.h"

void
wal_fixture_init(struct wal_fixture *fixture)
{
    petal_env given = {.size = sizeof given};
    const petal_vfs *table;

    memset(fixture, 0, sizeof *fixture);
    fixture->vfs = memory_vfs_new();
    table = memory_vfs_table(fixture->vfs);
    test_allocator_init(&fixture->allocator);
    given.allocator = &fixture->allocator.table;
    given.vfs = table;
    env_init(&fixture->env, &given);
    assert_int_equal(vfs_make_directory(table, WAL_FIXTURE_DIRECTORY), 0);
    assert_int_equal(vfs_sync_directory(table, "/"), 0);
    assert_int_equal(
        directory_open(&fixture->directory, &fixture->env, WAL_FIXTURE_DIRECTORY, false), 0);
}

void
wal_fixture_fini(struct wal_fixture *fixture)
{
    directory_close(&fixture->directory);
    assert_int_equal(memory_vfs_open_files(fixture->vfs), 0);
    memory_vfs_free(fixture->vfs);
    assert_int_equal(test_allocator_live_blocks(&fixture->allocator), 0);
}

int
wal_fixture_setup(void **state)
{
    *state = test_allocate(sizeof(struct wal_fixture));
    wal_fixture_init(*state);
    return 0;
}

int
wal_fixture_teardown(void **state)
{
    wal_fixture_fini(*state);
    free(*state);
    return 0;
}

enum petal_status
wal_fixture_create(struct wal_fixture *fixture, uint64_t number, const struct wal_file *predecessor,
                   struct wal_file **wal)
{
    struct wal_identity identity = {
        .database_identity = WAL_FIXTURE_IDENTITY,
        .number = number,
    };
    char path[PETAL_PATH_BYTES];
    petal_error error;
    enum petal_status status;

    if (predecessor != NULL) {
        identity.predecessor_number = wal_file_number(predecessor);
        identity.predecessor_length = wal_file_length(predecessor);
        identity.predecessor_synced = wal_file_synced_length(predecessor);
        identity.predecessor_last_sequence = wal_file_stored_sequence(predecessor);
    }
    filename_wal(path, WAL_FIXTURE_DIRECTORY, number);
    status = wal_file_create(wal, &fixture->directory, path, number, false, &error);
    if (status != PETAL_OK)
        return status;
    wal_file_identify(*wal, &identity);
    status = wal_file_store(*wal, &error);
    if (status != PETAL_OK) {
        wal_file_close(*wal);
        *wal = NULL;
    }
    return status;
}

struct wal_file *
wal_fixture_must_create(struct wal_fixture *fixture, uint64_t number,
                        const struct wal_file *predecessor)
{
    struct wal_file *wal;

    assert_int_equal(wal_fixture_create(fixture, number, predecessor, &wal), PETAL_OK);
    return wal;
}

uint8_t
wal_fixture_byte(size_t number, size_t at)
{
    return (uint8_t)((number + 1) * 167 + at * 13 + (at >> 8));
}

void
wal_fixture_add(struct wal_fixture *fixture, struct wal_file *wal, size_t size)
{
    size_t number = fixture->written;
    uint8_t *to = wal_file_begin(wal, size);

    assert_non_null(to);
    assert_true(number < WAL_FIXTURE_RECORDS);
    for (size_t i = 0; i < size; i++)
        to[i] = wal_fixture_byte(number, i);
    wal_file_end(wal, number + 1);
    fixture->sizes[fixture->written++] = size;
}

struct replayed {
    const struct wal_fixture *fixture;
    size_t count;
};

static enum petal_status
check_record(void *argument, const struct wal_record *record, petal_error *error)
{
    struct replayed *replayed = argument;
    const uint8_t *bytes = record->payload.data;

    (void)error;
    assert_non_null(record->path);
    assert_true(record->offset >= 64);
    assert_true(replayed->count < replayed->fixture->written);
    assert_int_equal(record->payload.size, replayed->fixture->sizes[replayed->count]);
    for (size_t i = 0; i < record->payload.size; i++) {
        if (bytes[i] != wal_fixture_byte(replayed->count, i))
            fail_msg("record %zu differs at byte %zu", replayed->count, i);
    }
    replayed->count++;
    return PETAL_OK;
}

enum petal_status
wal_fixture_replay(struct wal_fixture *fixture, struct memory_vfs *vfs, struct wal_promise promise,
                   struct wal_replay *replay, size_t *count, petal_error *error)
{
    struct replayed replayed = {.fixture = fixture};
    struct env env = fixture->env;
    struct directory directory = fixture->directory;
    enum petal_status status;

    if (vfs != NULL) {
        env.vfs = memory_vfs_table(vfs);
        assert_int_equal(directory_open(&directory, &env, WAL_FIXTURE_DIRECTORY, false), 0);
    }
    *replay = (struct wal_replay){
        .directory = &directory,
        .database_identity = WAL_FIXTURE_IDENTITY,
        .oldest_log = 1,
        .promise = promise,
        .visit = check_record,
        .argument = &replayed,
    };
    status = wal_replay(replay, error);
    if (vfs != NULL)
        directory_close(&directory);
    *count = replayed.count;
    return status;
}
