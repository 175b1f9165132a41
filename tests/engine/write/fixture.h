/*
 * fixture.h -- for tests of writes that depend on what is there: a database in memory with one table, calls that must
 * succeed, and cells as text.
 */
#ifndef PETAL_TESTS_ENGINE_WRITE_FIXTURE_H
#define PETAL_TESTS_ENGINE_WRITE_FIXTURE_H

#include "base/slice.h"
#include "tests/crash/ledger.h"

struct world {
    struct fixture fixture;
    petal_table *table;
    petal_family *f, *g; /* three versions each */
    petal_result *read, *given;
    petal_batch *batch;
    petal_write_options options; /* with `given` for results */
};

static inline petal_slice
text(const char *bytes)
{
    return slice_from_text(bytes);
}

/* The clock stands at 1000. */
void world_init(struct world *w);
void world_fini(struct world *w);

/* The handles and objects of an open database, and their release. */
void world_attach(struct world *w);
void world_detach(struct world *w);

/* "row/family:qualifier=value@timestamp ...": a number of 8 bytes as #n, a time to live behind it as +n. Good until the
 * next call. */
const char *world_describe(const petal_result *result);

/* All versions of the row; the cells of the latest write. */
void world_expect_row(struct world *w, const char *row, const char *cells);
void world_expect_given(struct world *w, const char *cells);

void world_put(petal_family *family, const char *row, const char *qualifier, int64_t timestamp,
               const char *value);

/* In f. */
int64_t world_increment(struct world *w, const char *row, const char *qualifier, int64_t amount);
void world_append(struct world *w, const char *row, const char *qualifier, const char *value);

/* Three versions, at 10, 20 and 30, of f:a in rows r and s and of g:a in r. */
void world_put_versions(struct world *w);

/* Into world->batch. */
void world_begin(struct world *w, const petal_mutation_options *options);
void world_batch_put(struct world *w, petal_family *family, const char *row, const char *qualifier,
                     int64_t timestamp, const char *value);
void world_batch_append(struct world *w, petal_family *family, const char *row,
                        const char *qualifier, const char *value);
void world_batch_increment(struct world *w, petal_family *family, const char *row,
                           const char *qualifier, int64_t amount);
void world_batch_delete_newest(struct world *w, petal_family *family, const char *row,
                               const char *qualifier);

/* Write the batch and clear it. */
void world_write_batch(struct world *w);

#endif
