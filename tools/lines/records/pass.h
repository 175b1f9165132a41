/* pass.h -- a command's way from its inputs to its output. */
#ifndef PETAL_TOOLS_LINES_RECORDS_PASS_H
#define PETAL_TOOLS_LINES_RECORDS_PASS_H

#include "tools/lines/records/reader.h"
#include "tools/lines/records/writer.h"

typedef bool (*pass_work)(struct reader *reader, struct writer *writer, void *request);

/* Open the input, NULL for the standard input, and the job's output, to be replaced or, `append`,
 * gone on with; do the work, and finish the output. */
bool pass_run(struct job *job, const char *path, bool append, pass_work work, void *request);

/* All records of files, or, where there is no file, of the standard input; with their hashes, if
 * they are wanted. `idle` (NULL: none) is flushed while a stream waits. */
bool pass_each(struct job *job, const char *const *paths, size_t count, bool hashes,
               struct writer *idle, batch_taker take, void *argument);

#endif
