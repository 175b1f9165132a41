/*
 * source.h -- the numbers of files and streams, as keys, some at a time.
 *
 * A line that is no number is an error that names file and line; of numbers as bytes, a file that
 * ends inside one.
 *
 * What fails is told by job_fail. Belongs to one thread.
 */
#ifndef PETAL_TOOLS_LINES_NUMBERS_SOURCE_H
#define PETAL_TOOLS_LINES_NUMBERS_SOURCE_H

#include "tools/lines/job/job.h"
#include "tools/lines/numbers/number.h"

/* Takes keys, in the order of the input. */
struct source_taker {
    bool (*take)(void *argument, const uint64_t *keys, size_t count);
    void *argument;
};

/* All numbers of the file at `path`, or of the standard input, "-". */
bool source_read(struct job *job, const struct number_form *form, const char *path,
                 const struct source_taker *taker);

#endif
