/*
 * split.h -- the regions of a table: a region becomes two, two become one.
 *
 * A SPLIT takes the rows from some row on to a new region. Under the leadership the memtables of
 * the region are frozen, so that both begin with empty ones; what is frozen is in both, until the
 * flush thread has written it and each has the files with rows of its own. Files that have rows of
 * both are named by both. So nothing is written for a split but one edit of the manifest. Jobs that
 * run on the region go on: the new region keeps what they took from it. Each of the two rewrites,
 * by its next jobs, its half of what they share (engine/compact/job.h); a file goes when nobody
 * names it.
 *
 * A MERGE of neighbours gives the first the rows and files of the second. Their memtables are
 * flushed before, the last of it while writers wait. A file that reaches from one into the other
 * must be named by both, as after a split: where one has rewritten its rows of it, what the file
 * has of them is old. So such files are compacted first.
 *
 * Readers have the regions of their view. A row is in one region in each view, whose cells are the
 * same before and after; so no border can be seen in an answer.
 *
 * Source: HBase's SplitTableRegionProcedure and MergeTableRegionsProcedure; there a split makes two
 * new regions, and files are shared by reference files.
 *
 * Threads: from any thread, holding no lock.
 */
#ifndef PETAL_ENGINE_REGION_SPLIT_H
#define PETAL_ENGINE_REGION_SPLIT_H

#include "engine/state/db.h"

/* Split the region that has the row before it; `by_itself`: the background does, and may undo it.
 * PETAL_INVALID: the row is the first of a region already, or none; PETAL_NOT_FOUND: the table was
 * dropped. */
enum petal_status region_split(petal_table *table, petal_slice row, bool by_itself,
                               petal_error *error);

/* May regions of the table change? PETAL_NOT_FOUND: it was dropped; or the database is not
 * writable, or a family of it not usable. Under the leadership it stays so. */
enum petal_status region_check_table(const petal_table *table, petal_error *error);

/* Merge the region `upper` into the one before it, which was `lower` when it was looked at.
 * PETAL_NOT_FOUND: there is no such region (any more), or it is the first; PETAL_BUSY: files had to
 * be compacted before, and *give_up (NULL: never) was set meanwhile, or again and again. */
enum petal_status region_merge(petal_table *table, uint32_t lower, uint32_t upper,
                               const _Atomic(bool) *give_up, petal_error *error);

#endif
