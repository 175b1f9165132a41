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

/* The same, but as the store is to have it: all of it or a part. `open`: what is open of the file,
 * of this store or another; NULL: nothing. */
enum petal_status db_open_described(petal_db *db, const petal_family *family,
                                    const struct manifest_file *described, struct store_file *open,
                                    struct store_file **file, petal_error *error);

/*
 * An empty memtable, which becomes the active one, and a store view that holds it and the files
 * that the manifest describes, or is about to. `open` has the addresses of what is open by now of
 * the family's files, by their numbers, since regions share files; those that are opened are added:
 * it is empty before the first region, and the caller's to release (NULL: there are no files).
 * `end`: the region's, empty: open. `without_lost`: but for those that cannot be opened, which are
 * noted as lost (engine/state/damage.h). REQUIRES: the write leadership, or nobody but the caller
 * knows the family; the views of the regions before still are.
 */
enum petal_status store_open(struct store *store, const struct manifest_store *described,
                             petal_slice end, struct number_map *open, bool without_lost,
                             struct store_view **store_view, petal_error *error);

#endif
