/*
 * store.h -- the table of one case, in a database in memory, whose clock stands until it is set.
 *
 * Only what engine/petal.h declares is used.  A store and the answers it gives belong to one
 * thread.
 */
#ifndef PETAL_TESTS_CONFORMANCE_STORE_H
#define PETAL_TESTS_CONFORMANCE_STORE_H

#include "tests/conformance/case.h"
#include "tests/disk/vfs.h"

struct store {
    struct memory_vfs *vfs;
    struct test_clock clock;
    struct test_random random;
    petal_env env;
    petal_options options;
    petal_db *db; /* NULL once reopening failed */
    petal_table *table;
    petal_result *result;
    petal_batch *batch;
};

/* Make the table.  After a failure, too, store_fini is to be called. */
enum petal_status store_init(struct store *store, const struct recorded_case *recorded,
                             petal_error *error);
enum petal_status store_fini(struct store *store, petal_error *error);

/* Run one operation; the answer is made in the arena. */
void store_run(struct store *store, const struct recorded_operation *operation, struct arena *arena,
               struct answer *answer);

/* The answer to a call that ended so: ERROR when the library refused, FAILED when it could not;
 * `fine` else. */
void answer_set_status(struct answer *answer, struct arena *arena, enum answer_kind fine,
                       enum petal_status status, const petal_error *error);

#endif
