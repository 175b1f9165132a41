/*
 * failure_regions.h -- steps of work (tests/crash/failure_work.h) on tables of several regions: the
 * ledger's, and a table `regions` of FAILURE_REGION_CELLS cells, whatever is split and merged.
 */
#ifndef PETAL_TESTS_CRASH_FAILURE_REGIONS_H
#define PETAL_TESTS_CRASH_FAILURE_REGIONS_H

#include "tests/crash/failure_run.h"

/* Make the table `regions`, and have it in store files; nothing fails meanwhile. */
void failure_step_fill_regions(struct failure_run *run);
/* Flush once more what the last of its regions has, so that it has more files than the others. */
void failure_step_fill_last_region(struct failure_run *run);

/* The table `made` (FAILURE_MADE), which begins with several regions. */
void failure_step_create_with_splits(struct failure_run *run);

/* Before rows, in the middle, and back. */
void failure_step_split(struct failure_run *run);
/* So often that the lists of regions need more room. */
void failure_step_split_often(struct failure_run *run);
void failure_step_split_middle(struct failure_run *run);
void failure_step_merge(struct failure_run *run);

void failure_step_compact_regions(struct failure_run *run);
/* By scans both ways, and within a transaction that has written to several regions. */
void failure_step_read_regions(struct failure_run *run);

#endif
