/*
 * failure_work.h -- work that comes by every place of the library that can fail: each piece begins
 * with files as an earlier piece left them, and does a few steps.
 */
#ifndef PETAL_TESTS_CRASH_FAILURE_WORK_H
#define PETAL_TESTS_CRASH_FAILURE_WORK_H

#include "tests/crash/failure_run.h"

#define FAILURE_MOST_STEPS 10

/* A step does nothing where the database is not open or lacks what it needs. */
typedef void failure_step(struct failure_run *run);

struct failure_work {
    const char *name;
    failure_step *prepare[FAILURE_MOST_STEPS]; /* after the common beginning; NULL ends them */
    failure_step *steps[FAILURE_MOST_STEPS];
    bool from_nothing;                 /* without the common beginning */
    struct memory_vfs *(*files)(void); /* on these, without preparing; NULL: none */
    /* It reads each file more than once, and says itself whether all was read in the end: what
     * fails once only need not be told. What is salvaged is compared with what there was. */
    bool looks_again;
    uint64_t power_cut;    /* not 0: the seed of one that comes when it is prepared */
    bool only_what_is_new; /* it costs much: nothing fails of what other work comes by */
};

extern const struct failure_work failure_works[];
extern const size_t failure_work_count;

/* A run of it before its steps; the files are prepared once. */
void failure_work_begin(const struct failure_work *work, struct failure_run *run);

/* Do all steps; `plan`, may be NULL, is made at the beginning of `step`. `visited`, may be NULL, is
 * told after each step. */
void failure_work_do(const struct failure_work *work, struct failure_run *run, size_t step,
                     const struct failure_plan *plan,
                     void (*visited)(void *argument, size_t step,
                                     const struct failure_faults *faults),
                     void *argument);

/* Release what was prepared. */
void failure_works_end(void);

#endif
