/*
 * open.h -- the store of a family as it is when it begins to live: an empty memtable in front of
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

/* An empty memtable, which becomes the active one, and a store view that holds it and the files
 * that the manifest describes, or is about to: all are opened. `without_lost`: but for those that
 * cannot be, which are noted as lost (engine/state/damage.h). REQUIRES: the write leadership, or
 * nobody but the caller knows the family. */
enum petal_status family_open_store(petal_family *family, const struct manifest_family *described,
                                    bool without_lost, struct store_view **store,
                                    petal_error *error);

#endif
