/*
 * assertions.h -- does the library of a store carry assertions, which make it slower?  Asked of the
 * library that is linked, by a mistake that they notice.
 *
 * Threads: one; none of a store's may run in this process (tools/bench/harness/child.h).
 */
#ifndef PETAL_TOOLS_BENCH_STORES_ASSERTIONS_H
#define PETAL_TOOLS_BENCH_STORES_ASSERTIONS_H

#include "tools/bench/stores/store.h"

enum bench_assertions { BENCH_ASSERTIONS_UNKNOWN, BENCH_ASSERTIONS_OFF, BENCH_ASSERTIONS_ON };

/* A child opens a store in a directory of its own and misuses it; what came of it is remembered for
 * as long as this process lives. Unknown: it could not be opened. */
enum bench_assertions bench_assertions_of(const struct bench_store *store);

/* "on", "off" or "?" */
const char *bench_assertions_text(enum bench_assertions assertions);

#endif
