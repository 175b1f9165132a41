/*
 * snapshot.h -- snapshots of tables on disk: what making them (engine/table/snapshot.c) and making
 * tables of them (engine/table/restore.c) share.
 *
 * In the manifest a snapshot is a table of its own, with an id and store files but without handles,
 * stores or readers. Its files are further names of the table's, with numbers of their own. So no
 * file is ever named twice, nothing is counted, and whoever drops, compacts or deletes takes away
 * his own names only. Names that a cut left without an edit that names them go at the next opening,
 * as other left-overs.
 *
 * A table that is made of a snapshot gets names of its own in turn. Its cells keep their sequences,
 * which are all below those of later writes. A read point (petal_snapshot) older than the table
 * sees of it what had been written by then.
 *
 * Threads: one change at a time, under capture_mutex.
 */
#ifndef PETAL_ENGINE_TABLE_SNAPSHOT_H
#define PETAL_ENGINE_TABLE_SNAPSHOT_H

#include "engine/state/db.h"

/* Delete the snapshots whose time is over. REQUIRES: capture_mutex held. */
enum petal_status table_snapshot_expire(petal_db *db, petal_error *error);

/* A copy of the living snapshot of that name, for manifest_copy_table_fini. PETAL_NOT_FOUND.
 * REQUIRES: capture_mutex held. */
enum petal_status table_snapshot_find(petal_db *db, petal_slice name, struct manifest_table *copy,
                                      petal_error *error);

/*
 * Give each store file of `table`, a copy that does not change otherwise, a further name, and put
 * its number in place of the one there. The names are durable. On failure none is left. REQUIRES:
 * the files stay meanwhile.
 */
enum petal_status table_files_link(petal_db *db, struct manifest_table *table, petal_error *error);

/* Remove the files of `table`, which nothing names any more. */
void table_files_remove(petal_db *db, const struct manifest_table *table);

/* Add what makes `table`, with its families and files, under an id and name of its own; the
 * families get ids 0, 1, 2 ... */
void table_files_edit(struct manifest_edit *edit, const struct manifest_table *table, uint32_t id,
                      petal_slice name, const struct manifest_snapshot *snapshot);

#endif
