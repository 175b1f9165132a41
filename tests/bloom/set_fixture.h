/*
 * set_fixture.h -- what tests of sets begin with: a disk in memory and the env with it, and the
 * seal of a set's file whose bytes a test has changed.
 */
#ifndef PETAL_TESTS_BLOOM_SET_FIXTURE_H
#define PETAL_TESTS_BLOOM_SET_FIXTURE_H

#include "base/checksum.h"
#include "base/coding.h"
#include "bloom/file/set_file.h"
#include "bloom/petal_bloom.h"
#include "tests/disk/vfs.h"

/* Of the group of tests that runs; a test that puts something else into the env takes it out. */
extern struct memory_vfs *set_vfs;
extern petal_env set_env;

/* Of the group, for cmocka. */
int set_fixture_begin(void **state);
int set_fixture_end(void **state);

/* Put a header's checksum right, so that what lies after it is looked at. */
static inline void
set_seal_header(uint8_t *file)
{
    put_le64(file + 104, checksum_at(0, 0, file, 104));
}

/* Both checksums of a file that has a body. */
static inline void
set_seal(uint8_t *file, size_t size)
{
    put_le64(file + 96, checksum_at(0, 0, file + SET_FILE_PAGE_BYTES, size - SET_FILE_PAGE_BYTES));
    set_seal_header(file);
}

#endif
