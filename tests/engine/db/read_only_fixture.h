/*
 * read_only_fixture.h -- what the tests of read-only openings share: a database whose process died,
 * images of its directory, a file layer that cannot be written.
 */
#ifndef PETAL_TESTS_ENGINE_DB_READ_ONLY_FIXTURE_H
#define PETAL_TESTS_ENGINE_DB_READ_ONLY_FIXTURE_H

#include "tests/crash/ledger.h"

#define READ_ONLY_WRITES 120
#define READ_ONLY_FILLER 1500 /* of the ledger */

/* Store files, and a log with more than the memtable's limit in it, of a process that died; nothing
 * is synced. */
void read_only_begin(struct fixture *fixture);

/* For the next opening. */
void read_only_choose(struct fixture *fixture, bool read_only);
void read_only_open(struct fixture *fixture);

/* Every kind of read that there is, all of whose answers must be right. */
void read_only_read_everything(struct fixture *fixture);

/* Names and contents of all files. */
struct read_only_image {
    struct memory_vfs *vfs;
    uint64_t hash;
    size_t files;
};

struct read_only_image read_only_image(struct fixture *fixture);
void read_only_expect_unchanged(struct fixture *fixture, const struct read_only_image *before);

/* All calls since the trace began only read. */
void read_only_expect_reads(struct fixture *fixture);

/* A file layer on which every opening that could write, and every call that writes, is EROFS, and a
 * count of them. */
struct read_only_seal {
    petal_vfs table;
    const petal_vfs *below;
    unsigned refused;
};

/* Put it above the fixture's. */
void read_only_seal(struct read_only_seal *sealed, struct fixture *fixture);

/* Its function, for layers that replace it. */
int read_only_sealed_size(void *context, petal_file *file, uint64_t *size);

#endif
