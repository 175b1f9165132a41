/* query.h -- gets and scans of a recorded case, asked of its store. */
#ifndef PETAL_TESTS_CONFORMANCE_QUERY_H
#define PETAL_TESTS_CONFORMANCE_QUERY_H

#include "tests/conformance/store.h"

/* Run a get or scan; the answer is made in the arena. */
void query_run(struct store *store, const struct recorded_operation *operation, struct arena *arena,
               struct answer *answer);

#endif
