/*
 * failure_questions.h -- steps of work (tests/crash/failure_work.h) that ask a gallery
 * (tests/damage/gallery.h) questions in every way: what does not tell of a failure answers as ever.
 */
#ifndef PETAL_TESTS_CRASH_FAILURE_QUESTIONS_H
#define PETAL_TESTS_CRASH_FAILURE_QUESTIONS_H

#include "tests/crash/failure_run.h"

/* The gallery's files, which stay those of this room. */
struct memory_vfs *failure_questions_files(void);
void failure_questions_end(void);

/* Of some rows; of several at once, and of seeks; of families and tables by scans. */
void failure_step_ask_of_rows(struct failure_run *run);
void failure_step_ask_of_many(struct failure_run *run);
void failure_step_ask_by_scans(struct failure_run *run);

#endif
