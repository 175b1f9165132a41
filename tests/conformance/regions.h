/*
 * regions.h -- the regions of a case's table, split and merged between its operations. No answer
 * may show it.
 *
 * Answers do depend on what is flushed and compacted together, and when: that decides which cells
 * are dropped. They were recorded with one region and the flushes of the case alone. So there are
 * two limits:
 *
 * - A split or merge flushes what its regions have in memory. A region that has something there is
 *   changed only right before the case flushes.
 * - What a compaction drops of a family that keeps deleted cells depends on the oldest put of all
 *   its input, in whatever row, and `minor` counts the files of the table. There is one region
 *   then.
 */
#ifndef PETAL_TESTS_CONFORMANCE_REGIONS_H
#define PETAL_TESTS_CONFORMANCE_REGIONS_H

#include "tests/conformance/store.h"

struct region_changes {
    uint64_t seed;
    bool tell;               /* print each change */
    uint64_t splits, merges; /* of all cases so far */
    struct test_random random;
};

/* Perhaps change regions before the operation at `index` of the case: all of them are asked for,
 * one after the other. The changes depend on the seed and the case alone; rows to split at are
 * those that it writes and reads. */
enum petal_status region_changes_make(struct region_changes *changes, struct store *store,
                                      const struct recorded_case *recorded, size_t index,
                                      petal_error *error);

#endif
