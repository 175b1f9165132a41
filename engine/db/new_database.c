/* new_database.c -- see new_database.h. */
#include "engine/db/new_database.h"

#include <errno.h>

static void
note_name(void *argument, const char *name)
{
    bool *is_empty = argument;

    (void)name;
    *is_empty = false;
}

static enum petal_status
refuse_full(const struct new_database *made, petal_error *error)
{
    const char *path = made->directory.path;

    return error_file(error, PETAL_EXISTS, path, "%s is a directory that is not empty", path);
}

static enum petal_status
make_file(const struct new_database *made, const char *path, petal_file **file, petal_error *error)
{
    int failed = directory_open_file(
        &made->directory, path, PETAL_FILE_WRITE | PETAL_FILE_CREATE | PETAL_FILE_EXCLUSIVE, file);

    if (failed == EEXIST)
        return refuse_full(made, error);
    return failed == 0 ? PETAL_OK : error_io(error, path, failed, "create");
}

/* Whoever makes the lock file has the directory. It and the registry of readers are part of the
 * database, which may be opened where nothing can be written. */
static enum petal_status
take_lock(struct new_database *made, petal_error *error)
{
    const petal_vfs *vfs = made->directory.env->vfs;
    char path[PETAL_PATH_BYTES];
    petal_file *readers;
    enum petal_status status;
    int failed;

    filename_lock(path, made->directory.path);
    status = make_file(made, path, &made->lock_file, error);
    if (status != PETAL_OK)
        return status;
    failed = vfs->lock(vfs->context, made->lock_file, 0, 0, PETAL_LOCK_EXCLUSIVE);
    if (failed != 0)
        return error_io(error, path, failed, "lock");
    filename_readers(path, made->directory.path);
    status = make_file(made, path, &readers, error);
    if (status == PETAL_OK)
        vfs->close(vfs->context, readers);
    return status;
}

enum petal_status
new_database_begin(struct new_database *made, const struct env *env, const char *path,
                   petal_error *error)
{
    bool is_empty = true;
    int failed = directory_open(&made->directory, env, path, true);
    enum petal_status status;

    if (failed == ENOTDIR)
        return error_file(error, PETAL_EXISTS, path,
                          "%s, or what it would lie in, is not a directory", path);
    if (failed != 0)
        return error_io(error, path, failed, "make directory");
    failed = directory_list(&made->directory, note_name, &is_empty);
    if (failed != 0)
        return error_io(error, path, failed, "list directory");
    status = is_empty ? take_lock(made, error) : refuse_full(made, error);
    if (status != PETAL_OK)
        return status;
    failed = directory_sync_parent(&made->directory);
    return failed == 0 ? PETAL_OK
                       : error_unknown(error, path, failed, "sync the directory that holds");
}

enum petal_status
new_database_complete(struct new_database *made, uint64_t identity, uint64_t salt,
                      struct manifest_edit *edit, petal_error *error)
{
    struct manifest *manifest;
    int failed = directory_sync(&made->directory);
    enum petal_status status;

    if (failed != 0)
        return error_unknown(error, made->directory.path, failed, "sync directory");
    status = manifest_new(&manifest, &made->directory, identity, salt, error);
    if (status != PETAL_OK)
        return status;
    made->manifest_is_begun = true;
    status = manifest_commit(manifest, edit, error);
    made->manifest_in_doubt = manifest_is_dead(manifest);
    manifest_free(manifest);
    return status;
}

/* The manifest goes first, for good: one that came back with the power must find its files. Where
 * that cannot be had, it is a database, which needs its files. */
static bool
remove_manifest(struct new_database *made)
{
    char path[PETAL_PATH_BYTES];
    int failed;

    filename_manifest_temporary(path, made->directory.path);
    directory_remove(&made->directory, path);
    filename_manifest(path, made->directory.path);
    failed = directory_remove(&made->directory, path);
    directory_forgive_failed_sync(&made->directory); /* what counts is removed since */
    return (failed == 0 || failed == ENOENT) && directory_sync(&made->directory) == 0;
}

static void
remove_store_file(void *argument, const char *name)
{
    struct new_database *made = argument;
    char path[PETAL_PATH_BYTES];
    uint64_t number;

    if (filename_parse(name, &number) != FILENAME_STORE_FILE)
        return;
    filename_store_file(path, made->directory.path, number);
    directory_remove(&made->directory, path);
}

static void
remove_all(struct new_database *made)
{
    char path[PETAL_PATH_BYTES];

    if (made->manifest_is_begun && !remove_manifest(made)) {
        env_log(made->directory.env, PETAL_LOG_WARNING, "what was begun in %s stays there",
                made->directory.path);
        return;
    }
    (void)directory_list(&made->directory, remove_store_file, made);
    filename_readers(path, made->directory.path);
    directory_remove(&made->directory, path);
    filename_lock(path, made->directory.path);
    directory_remove(&made->directory, path);
}

void
new_database_end(struct new_database *made, bool keep)
{
    if (made->lock_file != NULL) {
        const petal_vfs *vfs = made->directory.env->vfs;

        if (!keep)
            remove_all(made);
        vfs->close(vfs->context, made->lock_file);
    }
    directory_close(&made->directory);
}
