/*
 * change.h -- what commits to the manifest have in common.
 */
#ifndef PETAL_ENGINE_STORE_CHANGE_H
#define PETAL_ENGINE_STORE_CHANGE_H

#include "engine/state/db.h"

/* Add the counters as they stand to an edit. REQUIRES: manifest_mutex held. */
void db_edit_counters(petal_db *db, struct manifest_edit *edit);

/* manifest_commit; a failure that leaves the manifest's state unknown turns the database read-only. REQUIRES: the same. */
enum petal_status db_commit(petal_db *db, const struct manifest_edit *edit, petal_error *error);

/* Take the family's store out of a view that is not published yet: its memtable is gone, its files go with the last
 * reader. REQUIRES: leadership, manifest_mutex, view_mutex, and the drop committed. */
void family_remove_store(petal_family *family, struct view *view);

#endif
