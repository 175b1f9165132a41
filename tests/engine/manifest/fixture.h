/*
 * fixture.h -- what the tests of the manifest share: a directory in memory for one, and calls that
 * must succeed.
 */
#ifndef PETAL_TESTS_ENGINE_MANIFEST_FIXTURE_H
#define PETAL_TESTS_ENGINE_MANIFEST_FIXTURE_H

#include "engine/manifest/manifest.h"
#include "tests/disk/vfs.h"
#include "tests/support/test_support.h"

#define MANIFEST_DIRECTORY "/db"
#define MANIFEST_PATH      MANIFEST_DIRECTORY "/MANIFEST"
#define MANIFEST_IDENTITY  0x0123456789ABCDEFu
#define MANIFEST_SALT      0xFEDCBA9876543210u

struct manifest_fixture {
    struct memory_vfs *vfs;
    struct test_allocator allocator;
    struct test_random random;
    struct env env;
    struct directory directory;
};

void manifest_fixture_init(struct manifest_fixture *fixture, uint64_t seed);

/* Nothing may be left open or allocated. */
void manifest_fixture_fini(struct manifest_fixture *fixture);

/* For tests whose *state is a fixture of their own. */
int manifest_fixture_setup(void **state);
int manifest_fixture_teardown(void **state);

struct manifest *manifest_fixture_make(struct manifest_fixture *fixture);
struct manifest *manifest_fixture_load(struct manifest_fixture *fixture);

/* Compares the file with the kept one, and puts that in its place. PETAL_WRITE_GOLDEN writes the
 * kept one anew. FORMAT.md explains these bytes. */
void manifest_fixture_check_golden(struct manifest_fixture *fixture, const char *path);

#endif
