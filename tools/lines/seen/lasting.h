/*
 * lasting.h -- records that no run with this state has seen before.
 *
 * New records are gathered, written, and then recorded. In a file that is appended to (--output) a
 * group is on the disk before it is recorded, so whatever ends a run, nothing is lost: what was
 * written and not yet recorded is written again by the next run. What goes to the standard output,
 * nobody knows whether it arrived: there the records of a run were seen only once all of it is
 * written, and those of any other run are written again by the next.
 */
#ifndef PETAL_TOOLS_LINES_SEEN_LASTING_H
#define PETAL_TOOLS_LINES_SEEN_LASTING_H

#include "tools/lines/records/reader.h"
#include "tools/lines/records/writer.h"

bool lasting_unique(struct reader *reader, struct writer *writer, const char *directory);

#endif
