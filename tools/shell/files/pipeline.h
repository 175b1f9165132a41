/*
 * pipeline.h -- jobs that are read one after the other, worked on by several threads at once, and
 * written in the order they were read.
 *
 * `read` and `write` are never called twice at a time; `read` and `work` run in threads of the
 * pipeline, `write` in the caller's. A job is with one of them at a time, so its own state needs no
 * lock.  What the context holds is shared.
 */
#ifndef PETAL_TOOLS_SHELL_FILES_PIPELINE_H
#define PETAL_TOOLS_SHELL_FILES_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>

struct pipeline {
    void *context;
    void **jobs; /* the caller's; at least threads + 2 of them */
    size_t job_count;
    unsigned threads; /* 0: the caller does all */

    bool (*read)(void *context, void *job); /* false: there is no more */
    void (*work)(void *context, void *job);
    bool (*write)(void *context, void *job); /* false: stop, what comes after is not wanted */
};

/* Returns when all is written, or when `write` said stop and the threads have ended. */
void pipeline_run(const struct pipeline *pipeline);

#endif
