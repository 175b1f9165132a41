/*
 * snapshot.h -- snapshots of tables on disk: what taking them (engine/table/snapshot.c) and making
 * tables from them (engine/table/restore.c) share.
 *
 * In the manifest a snapshot is a table with an id and store files, but without handles, stores or
 * readers. Its files are further names (links) of the table's files, with their own numbers. So no
 * file is named twice, nothing is counted, and each table or snapshot removes only its own names.
 * Names that a crash left in no edit are removed by the next opening, as other orphan files.
 *
 * A table made from a snapshot gets its own names in turn. Its cells keep their sequences, which
 * are all below those of later writes. A read point (petal_snapshot) older than the table sees of
 * it what had been written by then.
 *
 * Threads: one change at a time, under capture_mutex.
 */
#ifndef PETAL_ENGINE_TABLE_SNAPSHOT_H
#define PETAL_ENGINE_TABLE_SNAPSHOT_H

#include "engine/state/db.h"

/* Delete the snapshots whose time to live is over. REQUIRES: capture_mutex held. */
enum petal_status table_snapshot_expire(petal_db *db, petal_error *error);

/* A copy of the living snapshot of that name, for manifest_copy_table_fini. PETAL_NOT_FOUND.
 * REQUIRES: capture_mutex held. */
enum petal_status table_snapshot_find(petal_db *db, petal_slice name, struct manifest_table *copy,
                                      petal_error *error);

/* Give each store file of `table`, a private copy, a further name, and put its number in place of
 * the one there. The names are durable. On failure none is left. REQUIRES: the files stay. */
enum petal_status table_files_link(petal_db *db, struct manifest_table *table, petal_error *error);

/* Remove the files of `table`, which nothing names any longer. */
void table_files_remove(petal_db *db, const struct manifest_table *table);

/* A new table, which has no files yet. The families of `described` get the ids 0, 1, 2 .. */
enum petal_status table_make_new(petal_db *db, const struct manifest_table *described,
                                 petal_table **table, petal_error *error);

/* Its families get the ids 0, 1, 2 .., as those of another table. */
void table_number_families(struct manifest_table *table);

#endif
