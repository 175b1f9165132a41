/*
 * top.h -- the most frequent records, counted exactly, in a bounded memory: what came first is
 * counted in memory; when that is full, records that are not in it wait in a temporary file, in
 * parts that are counted one after the other.
 */
#ifndef PETAL_TOOLS_LINES_EXACT_TOP_H
#define PETAL_TOOLS_LINES_EXACT_TOP_H

#include "tools/lines/exact/best.h"
#include "tools/lines/records/reader.h"

/* Offers each different record of the input. */
bool top_records(struct reader *reader, struct best *best);

#endif
