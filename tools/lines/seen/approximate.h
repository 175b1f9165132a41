/*
 * approximate.h -- records that were not seen before, by a Bloom filter in memory: what it lets
 * pass wrongly is a record that is not written, though it is new.
 */
#ifndef PETAL_TOOLS_LINES_SEEN_APPROXIMATE_H
#define PETAL_TOOLS_LINES_SEEN_APPROXIMATE_H

#include "tools/lines/records/reader.h"
#include "tools/lines/records/writer.h"

/* `expected`: so many different records are likely, for which the filter is made; 0: not known.
 * With more it grows, so that the rate holds, and a warning says so. It is within the job's
 * memory. */
bool approximate_unique(struct reader *reader, struct writer *writer, double rate,
                        uint64_t expected);

#endif
