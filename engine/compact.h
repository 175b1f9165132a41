/*
 * compact.h -- all store files of a store become one run: HBase's major compaction.
 *
 * The job pins the current view, merges all files of the store that are in it, and writes what some reader at or above the
 * oldest read point can need; one manifest edit removes the inputs and adds the outputs; then a view does the same. Files that
 * a flush adds meanwhile stay as they are: they are newer than all inputs. The inputs go when their last reader lets go.
 *
 * Readers, writers and flushes go on during a job. A job that fails before the manifest removes what it wrote and keeps its
 * inputs: a full disk or a damaged input leaves the database as it was. A failed manifest commit leaves both old and new files
 * where they are, as with a flush.
 *
 * Threads: one job at a time in a database, under compact_mutex.
 */
#ifndef PETAL_ENGINE_COMPACT_H
#define PETAL_ENGINE_COMPACT_H

#include "engine/db.h"

/* Files of a run are cut at row borders behind so many bytes, so that a large run can be checked and replaced in pieces. */
#define COMPACT_FILE_BYTES ((uint64_t)2 << 30)

/* Compact one store and wait for it. A store without files is left alone. PETAL_NOT_FOUND: the family was dropped, alone or with its
 * table, before or meanwhile. */
enum petal_status compact_family(petal_family *family, petal_error *error);

#endif
