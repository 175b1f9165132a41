/*
 * small.h -- the records of a small file A that are in B, or that are not: A is held in memory, B is
 * read once, until all of A was found in it, and then A is read again to be written.
 */
#ifndef PETAL_TOOLS_LINES_EXACT_SMALL_H
#define PETAL_TOOLS_LINES_EXACT_SMALL_H

#include "tools/lines/records/reader.h"
#include "tools/lines/records/writer.h"

/* May A fit into memory, and B not? */
bool small_is_worth_it(const struct reader *a, const struct reader *b);

/* *done false: A does not fit, nothing was written, and both readers are where they were. */
bool small_records(struct reader *a, struct reader *b, bool missing, struct writer *writer,
                   bool *done);

#endif
