/*
 * temporary.h -- files without names, in the job's --temporary directory: whatever ends the
 * process, nothing of them stays.
 *
 * What fails is said by job_fail. Ctrl-C ends writing and reading.
 */
#ifndef PETAL_TOOLS_LINES_RECORDS_TEMPORARY_H
#define PETAL_TOOLS_LINES_RECORDS_TEMPORARY_H

#include "tools/lines/job/job.h"

/* The descriptor, which the caller closes; -1: it failed. */
int temporary_open(struct job *job);

bool temporary_write(struct job *job, int descriptor, const void *bytes, size_t size,
                     uint64_t offset);

/* To a size that nothing was written beyond. */
bool temporary_resize(struct job *job, int descriptor, uint64_t size);

/* Just so many bytes. */
bool temporary_read(struct job *job, int descriptor, void *bytes, size_t size, uint64_t offset);

#endif
