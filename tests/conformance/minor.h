/*
 * minor.h -- the compaction of some files, which no public call asks for: the only look
 * of the conformance program after petal.h.
 */
#ifndef PETAL_TESTS_CONFORMANCE_MINOR_H
#define PETAL_TESTS_CONFORMANCE_MINOR_H

#include "engine/petal.h"

/* Merge the newest `files` runs of each family, all if there are fewer; without a background each
 * flush has left one. */
enum petal_status minor_compaction(petal_table *table, size_t files, petal_error *error);

#endif
