/*
 * lasting.h -- records that no run with this state has seen before.
 *
 * New records are gathered, written, and then recorded. So whatever ends a run, nothing is lost: a
 * record that is recorded was written before (what is a file was synced before); one that was
 * written and not yet recorded is written again by the next run.
 */
#ifndef PETAL_TOOLS_FILTER_SEEN_LASTING_H
#define PETAL_TOOLS_FILTER_SEEN_LASTING_H

#include "tools/filter/records/reader.h"
#include "tools/filter/records/writer.h"

bool lasting_unique(struct reader *reader, struct writer *writer, const char *directory);

#endif
