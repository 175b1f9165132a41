/*
 * fixture.h -- a database directory in memory, logs written by a plan, and what a replay of them
 * gives.
 *
 * Record i of a database has bytes that follow from i and its size alone, so a replayed record is
 * checked against its number, and a replay is right when it gives the records 0, 1, 2 … up to some
 * count.
 */
#ifndef PETAL_TESTS_ENGINE_WAL_FIXTURE_H
#define PETAL_TESTS_ENGINE_WAL_FIXTURE_H

#include "base/env.h"
#include "engine/manifest/names.h"
#include "engine/wal/file.h"
#include "tests/disk/vfs.h"
#include "tests/support/test_support.h"

#define WAL_FIXTURE_DIRECTORY "/db"
#define WAL_FIXTURE_IDENTITY  0x0123456789ABCDEFu
#define WAL_FIXTURE_RECORDS   4096

struct wal_fixture {
    struct memory_vfs *vfs;
    struct test_allocator allocator;
    struct env env;
    struct directory directory;
    size_t sizes[WAL_FIXTURE_RECORDS]; /* of the records written, by number */
    size_t written;
};

void wal_fixture_init(struct wal_fixture *fixture);
void wal_fixture_fini(struct wal_fixture *fixture);

/* For tests whose *state is a fixture of their own. */
int wal_fixture_setup(void **state);
int wal_fixture_teardown(void **state);

/* Create log `number` after `predecessor` (may be NULL: none), which stays as it is from then on,
 * and store its header. */
enum petal_status wal_fixture_create(struct wal_fixture *fixture, uint64_t number,
                                     const struct wal_file *predecessor, struct wal_file **wal);

/* The same, as a test. */
struct wal_file *wal_fixture_must_create(struct wal_fixture *fixture, uint64_t number,
                                         const struct wal_file *predecessor);

/* Buffer the next record. */
void wal_fixture_add(struct wal_fixture *fixture, struct wal_file *wal, size_t size);

/* Byte `at` of record `number`. */
uint8_t wal_fixture_byte(size_t number, size_t at);

/* Replay with the environment's files replaced by those of `vfs` (NULL: the fixture's).  Aborts the
 * test when a record is not the one that was written; *count: how many came. */
enum petal_status wal_fixture_replay(struct wal_fixture *fixture, struct memory_vfs *vfs,
                                     struct wal_promise promise, struct wal_replay *replay,
                                     size_t *count, petal_error *error);

#endif
