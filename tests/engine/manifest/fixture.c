/* fixture.c -- see tests/engine/manifest/fixture.h. */
#include "tests/engine/manifest/fixture.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

void
manifest_fixture_init(struct manifest_fixture *fixture, uint64_t seed)
{
    petal_env given = {.size = sizeof given};

    memset(fixture, 0, sizeof *fixture);
    fixture->vfs = memory_vfs_new();
    test_allocator_init(&fixture->allocator);
    test_random_init(&fixture->random, seed);
    given.allocator = &fixture->allocator.table;
    given.vfs = memory_vfs_table(fixture->vfs);
    given.random = test_random_word;
    given.random_context = &fixture->random;
    env_init(&fixture->env, &given);
    assert_int_equal(directory_open(&fixture->directory, &fixture->env, MANIFEST_DIRECTORY, true),
                     0);
}

void
manifest_fixture_fini(struct manifest_fixture *fixture)
{
    directory_close(&fixture->directory);
    assert_int_equal(memory_vfs_open_files(fixture->vfs), 0);
    memory_vfs_free(fixture->vfs);
    assert_int_equal(test_allocator_live_blocks(&fixture->allocator), 0);
}

int
manifest_fixture_setup(void **state)
{
    *state = test_allocate(sizeof(struct manifest_fixture));
    manifest_fixture_init(*state, 1);
    return 0;
}

int
manifest_fixture_teardown(void **state)
{
    manifest_fixture_fini(*state);
    free(*state);
    return 0;
}

struct manifest *
manifest_fixture_make(struct manifest_fixture *fixture)
{
    struct manifest *manifest;

    MUST(manifest_new(&manifest, &fixture->directory, MANIFEST_IDENTITY, MANIFEST_SALT, WHY));
    return manifest;
}

struct manifest *
manifest_fixture_load(struct manifest_fixture *fixture)
{
    struct manifest *manifest;

    MUST(manifest_load(&manifest, &fixture->directory, WHY));
    return manifest;
}

void
manifest_fixture_check_golden(struct manifest_fixture *fixture, const char *path)
{
    uint8_t *bytes, golden[4096];
    size_t size, golden_size;
    FILE *file;

    assert_int_equal(memory_vfs_read_file(fixture->vfs, MANIFEST_PATH, &bytes, &size), 0);
    if (getenv("PETAL_WRITE_GOLDEN") != NULL) {
        file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, size, file), size);
        fclose(file);
    }
    file = fopen(path, "rb");
    assert_non_null(file);
    golden_size = fread(golden, 1, sizeof golden, file);
    fclose(file);
    assert_int_equal(golden_size, size);
    assert_memory_equal(golden, bytes, size);
    free(bytes);
    assert_int_equal(memory_vfs_write_file(fixture->vfs, MANIFEST_PATH, golden, golden_size), 0);
}
