/*
 * fixture.h -- what the tests of regions share: one table "t" of a family f with small blocks,
 * whose rows are numbered, and what is told of its regions and files.
 */
#ifndef PETAL_TESTS_ENGINE_REGION_FIXTURE_H
#define PETAL_TESTS_ENGINE_REGION_FIXTURE_H

#include "base/slice.h"
#include "tests/crash/ledger.h"

#define REGION_MOST 64 /* of a table here */

struct region_fixture {
    struct fixture base;
    petal_table *table;
};

/* An open database without jobs in the background, and the table, of one region. */
void regions_begin(struct region_fixture *fixture);
/* The same, with regions that begin at these rows, a blank between two. */
void regions_begin_split(struct region_fixture *fixture, const char *splits);
/* An open database with jobs in the background, whose regions are split above REGION_LIMIT, and no
 * table yet. */
#define REGION_LIMIT ((uint64_t)64 << 10) /* the least that may be asked for */
void regions_begin_growing(struct region_fixture *fixture);
/* Rows 0 to REGION_ROWS - 1, in six flushes: what they have is six limits, and not compressed. */
#define REGION_ROWS 1200
void regions_grow(struct region_fixture *fixture, unsigned turn);
/* The same database with a table that has grown, was split, and has its first `rows` rows left. */
void regions_begin_small(struct region_fixture *fixture, unsigned rows);
/* What is left behind is a fault. */
void regions_end(struct region_fixture *fixture);
/* Close and open, with the options as they are now. */
void regions_reopen(struct region_fixture *fixture);

/* Another table of that name. */
enum petal_status regions_create(struct fixture *fixture, const char *name, const char *splits,
                                 petal_table **table, petal_error *error);

/* Row `number`, "row 00042"; the rows first .. end - 1, with values of a few hundred bytes that
 * tell `turn`. */
petal_slice regions_row(char room[16], unsigned number);
void regions_put(petal_table *table, unsigned first, unsigned end, unsigned turn);
void regions_delete(petal_table *table, unsigned first, unsigned end);
void regions_flush(struct region_fixture *fixture);

/* As a test: scans both ways and gets give the rows first .. end - 1 with the values of that turn,
 * and no others. `snapshot` may be NULL. */
void regions_expect_rows(petal_table *table, unsigned first, unsigned end, unsigned turn,
                         const petal_snapshot *snapshot);

/* "row:value " of each cell of the family, for values that are short. */
const char *regions_text(petal_table *table, char text[4096]);
void regions_put_text(petal_table *table, const char *row, const char *value);

struct region_seen {
    uint32_t id;
    uint64_t files, cells, file_bytes, memtable_bytes;
    char start[64], end[64];
};

/* All regions; the number of them. */
size_t regions_list(petal_table *table, struct region_seen seen[REGION_MOST]);
/* As a test: the regions but the first begin at these rows, a blank between two. */
void regions_expect(petal_table *table, const char *starts);

enum petal_status regions_split_at(petal_table *table, const char *row, petal_error *error);
void regions_must_split(petal_table *table, const char *row);
void regions_must_split_before(petal_table *table, unsigned number);
/* The region at that place with the next one. */
enum petal_status regions_merge_at(petal_table *table, size_t place, petal_error *error);
void regions_must_merge(petal_table *table, size_t place);

/* All files of the region that has the row become one. */
void regions_compact(petal_table *table, petal_slice row);

/* Store files in the directory. */
size_t regions_files(struct region_fixture *fixture);

#endif
