/* orphan_files.c -- see orphan_files.h. */
#include "engine/store/orphan_files.h"

#include "sstable/sst_walk.h"

bool
orphan_tells_of_cut(const struct manifest *manifest, const char *path,
                    const struct file_facts *facts, petal_error *error)
{
    const struct file_owner *owner = &facts->owner;
    char table[80], family[80];

    if (owner->table.size == 0 || manifest_has_known(manifest, owner->table_id, owner->family_id) ||
        (facts->bloom != PETAL_BLOOM_NONE && facts->salt != manifest->salt))
        return false;
    error_corrupt(error, path, 0,
                  "%s was written for table %s, family %s, of which the manifest does not know: it "
                  "was cut short; kv-check salvage takes what there is",
                  path, error_quote(owner->table, table, sizeof table),
                  error_quote(owner->family, family, sizeof family));
    return true;
}

enum petal_status
orphan_check(const struct directory *directory, const struct manifest *manifest, const char *path,
             petal_error *error)
{
    const struct sst_walk_options options = {.file_identity = 0};
    const struct sst_reader *reader = NULL;
    struct sst_walk *walk;
    petal_error cause = {.status = PETAL_OK};
    enum petal_status status = sst_walk_open(&walk, directory, path, &options, &cause);

    if (status == PETAL_OK) {
        reader = sst_walk_reader(walk, &cause);
        status = reader != NULL ? PETAL_OK : cause.status;
    }
    if (status != PETAL_IO && status != PETAL_NO_MEMORY)
        status = PETAL_OK;
    else
        error_copy(error, &cause);
    if (reader != NULL && orphan_tells_of_cut(manifest, path, sst_reader_facts(reader), error))
        status = PETAL_CORRUPT;
    sst_walk_close(walk);
    return status;
}
