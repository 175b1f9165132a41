/*
 * read_only_fixture.h -- what the tests of read-only openings share: a database whose process died,
 * a file layer that cannot be written.
 */
#ifndef PETAL_TESTS_ENGINE_DB_READ_ONLY_FIXTURE_H
#define PETAL_TESTS_ENGINE_DB_READ_ONLY_FIXTURE_H

#include "tests/crash/ledger.h"

#define READ_ONLY_WRITES 120
#define READ_ONLY_FILLER 1500 /* of the ledger */

/* Store files, and a log with more than the memtable's limit in it, of a process that died; nothing
 * is synced. Without READERS, in which readers write. */
void read_only_begin(struct fixture *fixture);

/* For the next opening. */
void read_only_choose(struct fixture *fixture, bool read_only);
void read_only_open(struct fixture *fixture);

/* Every kind of read that there is, all of whose answers must be right. */
void read_only_read_everything(struct fixture *fixture);

/* All calls since the trace began only read. */
void read_only_expect_reads(struct fixture *fixture);

/* Put a file layer above the fixture's on which every opening that could write, and every call that
 * writes, is EROFS, and counts. One at a time. */
void read_only_seal(petal_vfs *sealed, struct fixture *fixture);
extern unsigned read_only_refused;

#endif
