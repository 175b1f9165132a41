/*
 * fixture.h -- for tests of writes that depend on what is there: a database in memory with one
 * table, calls that must succeed, and cells as text.
 */
#ifndef PETAL_TESTS_ENGINE_WRITE_FIXTURE_H
#define PETAL_TESTS_ENGINE_WRITE_FIXTURE_H

#include "base/slice.h"
#include "tests/crash/ledger.h"

struct write_fixture {
    struct fixture base;
    petal_table *table;
    petal_family *f, *g; /* three versions each */
    petal_result *read, *given;
    petal_batch *batch;
    petal_write_options options; /* with `given` for results */
};

/* The clock stands at 1000. */
void write_fixture_init(struct write_fixture *w);
void write_fixture_fini(struct write_fixture *w);

/* The handles and objects of an open database, and their release. */
void write_fixture_attach(struct write_fixture *w);
void write_fixture_detach(struct write_fixture *w);

/* "row/family:qualifier=value@timestamp ...": a number of 8 bytes as #n, a time to live after it
 * as +n. Good until the next call. */
const char *write_fixture_describe(const petal_result *result);

/* All versions of the row; the cells of the latest write. */
void write_fixture_expect_row(struct write_fixture *w, const char *row, const char *cells);
void write_fixture_expect_given(struct write_fixture *w, const char *cells);

void write_fixture_put(petal_family *family, const char *row, const char *qualifier,
                       int64_t timestamp, const char *value);

/* In f. */
int64_t write_fixture_increment(struct write_fixture *w, const char *row, const char *qualifier,
                                int64_t amount);

/* Into fixture->batch. */
void write_fixture_begin(struct write_fixture *w, const petal_mutation_options *options);
void write_fixture_batch_put(struct write_fixture *w, petal_family *family, const char *row,
                             const char *qualifier, int64_t timestamp, const char *value);
void write_fixture_batch_append(struct write_fixture *w, petal_family *family, const char *row,
                                const char *qualifier, const char *value);
void write_fixture_batch_increment(struct write_fixture *w, petal_family *family, const char *row,
                                   const char *qualifier, int64_t amount);

/* Write the batch and clear it. */
void write_fixture_write_batch(struct write_fixture *w);

#endif
