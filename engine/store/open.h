/*
 * open.h -- a store as it is when it begins to live: an empty memtable in front of
 * the files that the manifest describes, which are opened.
 */
#ifndef PETAL_ENGINE_STORE_OPEN_H
#define PETAL_ENGINE_STORE_OPEN_H

#include "engine/state/db.h"

/* Do these facts, as they stand in the file, describe the manifest's? `salt`: the database's. */
bool store_file_is_described(const struct file_facts *facts, const struct manifest_file *described,
                             uint64_t salt);

/* Describe a file that was written, as far as its facts do. */
void store_file_describe(struct manifest_file *described, const struct file_facts *facts);

/* Open a store file that the manifest describes, or is about to. */
enum petal_status db_open_file(petal_db *db, const petal_family *family,
                               const struct manifest_file *described, struct store_file **file,
                               petal_error *error);

/*
 * An empty memtable, which becomes the active one, and a store view that holds it and the files
 * that the manifest describes, or is about to: all are opened, but for those that the store of the
 * region before has, whose view is `before` (NULL: there is none). `end`: the region's, empty:
 * open. `without_lost`: but for those that cannot be, which are noted as lost
 * (engine/state/damage.h). REQUIRES: the write leadership, or nobody but the caller knows the
 * family.
 */
enum petal_status store_open(struct store *store, const struct manifest_store *described,
                             petal_slice end, const struct store_view *before, bool without_lost,
                             struct store_view **store_view, petal_error *error);

#endif
