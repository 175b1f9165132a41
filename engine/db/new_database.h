/*
 * new_database.h -- a database that is put together in a directory of its own, as checkpoints and
 * salvages do: first its store files, then their names are made durable, and only then comes a
 * manifest that names them. So wherever a power cut falls, it is whole or has no manifest, and is
 * refused.
 *
 * It has an identity of its own, so that its logs are never mixed up with those of the database
 * that its cells come from.
 *
 * A copy that replaces what is in its directory (engine/db/copy.h) fills the members itself.
 *
 * Belongs to one thread.
 */
#ifndef PETAL_ENGINE_DB_NEW_DATABASE_H
#define PETAL_ENGINE_DB_NEW_DATABASE_H

#include "engine/manifest/manifest.h"
#include "engine/manifest/names.h"

/* All zero: none is begun. */
struct new_database {
    struct directory directory;
    petal_file *lock_file;  /* held until the end; NULL: not made, and the directory is not ours */
    bool manifest_is_begun; /* there may be a manifest */
    bool manifest_in_doubt; /* nobody knows whether it is this one, or what was there before */
};

/* In a directory that does not exist or is empty; else PETAL_EXISTS. On failure, too,
 * new_database_end is called. REQUIRES: the path fits. */
enum petal_status new_database_begin(struct new_database *made, const struct env *env,
                                     const char *path, petal_error *error);

/* Write the manifest, in the place of another one if there is one; `edit` makes its state from an
 * empty one, and names the store files that were put into the directory. `salt`: of their filters.
 */
enum petal_status new_database_complete(struct new_database *made, uint64_t identity, uint64_t salt,
                                        struct manifest_edit *edit, petal_error *error);

/* `keep` false: all that was begun is removed. */
void new_database_end(struct new_database *made, bool keep);

#endif
