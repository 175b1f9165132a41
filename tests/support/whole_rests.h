/*
 * whole_rests.h -- a data block as files of versions 1 and 2 hold it: records begin with the whole
 * rest of their row, and all have offsets.
 */
#ifndef PETAL_TESTS_SUPPORT_WHOLE_RESTS_H
#define PETAL_TESTS_SUPPORT_WHOLE_RESTS_H

#include "base/slice.h"

/* The same cells as the block that the builder made; to be freed, in memory of exactly its size. */
petal_slice block_with_whole_rests(petal_slice block);

#endif
