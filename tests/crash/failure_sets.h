/*
 * failure_sets.h -- steps of work (tests/crash/failure_work.h) with sets by themselves
 * (bloom/petal_bloom.h): filters, bitmaps and counts that are made, saved, loaded and mapped. They
 * need no database.
 */
#ifndef PETAL_TESTS_CRASH_FAILURE_SETS_H
#define PETAL_TESTS_CRASH_FAILURE_SETS_H

#include "tests/crash/failure_run.h"

/* Makes one set of each kind, and saves it over the one that is there. */
void failure_step_save_sets(struct failure_run *run);

/* What savers that died leave beside them. */
void failure_step_leave_sets(struct failure_run *run);

/* Builds filters of all keys, in memory and over files. */
void failure_step_build_filters(struct failure_run *run);

/* Each is there whole, as one of the savings has left it. */
void failure_step_load_sets(struct failure_run *run);
void failure_step_map_sets(struct failure_run *run);

#endif
