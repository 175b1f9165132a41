/*
 * work.h -- the kinds of work that the crash tests cut: each is what is there before, and the steps
 * that are cut.
 */
#ifndef PETAL_TESTS_CRASH_WORK_H
#define PETAL_TESTS_CRASH_WORK_H

#include "tests/crash/life.h"

#define WORK_MOST_STEPS 24

struct work {
    const char *name;
    enum life_options options;
    bool log_windows;   /* logs are stored through mappings */
    bool copy_on_write; /* so the file system does */
    bool small_steps;   /* store files are written and synced a few blocks at a time */
    bool no_links;      /* the file system has no hard links */
    bool fresh;         /* there is no database before */
    struct step before[WORK_MOST_STEPS], steps[WORK_MOST_STEPS];
    bool closes; /* at the end, else the process dies */
};

size_t work_count(void);
const struct work *work_at(size_t index);

#endif
