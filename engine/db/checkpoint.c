/*
 * checkpoint.c -- petal_checkpoint: a copy of the database as of one moment, in a directory of its
 * own.
 *
 * What is in the copy is a capture (engine/flush/capture.h). Its files are linked under the numbers
 * they have, their names made durable, and only then comes a manifest that names them. So wherever
 * a power cut falls, the copy is whole or has no manifest. The copy has an identity of its own, so
 * that logs of the two are never mixed up, and the salt of the original, which the filters in the
 * files need.
 */
#include "base/argument.h"
#include "engine/flush/flush.h"
#include "engine/table/link.h"

#include <errno.h>

struct checkpoint {
    petal_db *db;
    struct directory directory;
    petal_file *lock_file; /* held until the copy is complete; NULL: not made */
    struct capture *capture;
    size_t linked;          /* files, in the order of the capture's state */
    bool manifest_is_begun; /* there may be a manifest */
};

/* ---- the directory ---- */

static void
note_name(void *argument, const char *name)
{
    bool *is_empty = argument;

    (void)name;
    *is_empty = false;
}

static enum petal_status
refuse_existing(const struct checkpoint *checkpoint, petal_error *error)
{
    return error_file(error, PETAL_EXISTS, checkpoint->directory.path, "%s exists already",
                      checkpoint->directory.path);
}

/* An empty directory will do: what a failed checkpoint leaves can be used again. */
static enum petal_status
check_empty(const struct checkpoint *checkpoint, petal_error *error)
{
    bool is_empty = true;
    int failed = directory_list(&checkpoint->directory, note_name, &is_empty);

    if (failed != 0)
        return error_io(error, checkpoint->directory.path, failed, "list directory");
    return is_empty ? PETAL_OK : refuse_existing(checkpoint, error);
}

/* Whoever makes the lock file has the directory; it is part of the copy, which may be opened where
 * nothing can be written. */
static enum petal_status
take_lock(struct checkpoint *checkpoint, petal_error *error)
{
    const petal_vfs *vfs = checkpoint->db->env.vfs;
    char path[PETAL_PATH_BYTES];
    int failed;

    filename_lock(path, checkpoint->directory.path);
    failed = directory_open_file(&checkpoint->directory, path,
                                 PETAL_FILE_WRITE | PETAL_FILE_CREATE | PETAL_FILE_EXCLUSIVE,
                                 &checkpoint->lock_file);
    if (failed == EEXIST)
        return refuse_existing(checkpoint, error);
    if (failed != 0)
        return error_io(error, path, failed, "create");
    failed = vfs->lock(vfs->context, checkpoint->lock_file, false);
    return failed == 0 ? PETAL_OK : error_io(error, path, failed, "lock");
}

static enum petal_status
make_directory(struct checkpoint *checkpoint, const char *path, petal_error *error)
{
    int failed = directory_open(&checkpoint->directory, &checkpoint->db->env, path, true);
    enum petal_status status;

    if (failed == ENOTDIR)
        return refuse_existing(checkpoint, error);
    if (failed != 0)
        return error_io(error, path, failed, "make directory");
    status = check_empty(checkpoint, error);
    if (status == PETAL_OK)
        status = take_lock(checkpoint, error);
    if (status != PETAL_OK)
        return status;
    failed = directory_sync_parent(&checkpoint->directory);
    return failed == 0 ? PETAL_OK
                       : error_unknown(error, path, failed, "sync the directory that holds");
}

/* ---- files ---- */

/* Call `visit` for each file of the capture until one call fails. */
static enum petal_status
for_each_file(struct checkpoint *checkpoint,
              enum petal_status (*visit)(struct checkpoint *checkpoint, uint64_t number,
                                         petal_error *error),
              petal_error *error)
{
    const struct manifest *state = &checkpoint->capture->state;
    enum petal_status status = PETAL_OK;

    for (size_t t = 0; t < state->table_count; t++) {
        const struct manifest_table *table = state->tables[t];

        for (size_t f = 0; f < table->family_count; f++) {
            const struct manifest_family *family = &table->families[f];

            for (size_t i = 0; status == PETAL_OK && i < family->file_count; i++)
                status = visit(checkpoint, family->files[i].number, error);
        }
    }
    return status;
}

static enum petal_status
link_file(struct checkpoint *checkpoint, uint64_t number, petal_error *error)
{
    const petal_db *db = checkpoint->db;
    char from[PETAL_PATH_BYTES], to[PETAL_PATH_BYTES];

    filename_store_file(from, db->directory.path, number);
    filename_store_file(to, checkpoint->directory.path, number);
    checkpoint->linked++;
    return file_link_or_copy(&db->directory, from, &checkpoint->directory, to, error);
}

/* Also of the one at which linking failed: who knows how far it came? PETAL_NOT_FOUND ends the
 * walk. */
static enum petal_status
unlink_file(struct checkpoint *checkpoint, uint64_t number, petal_error *error)
{
    char path[PETAL_PATH_BYTES];

    (void)error;
    if (checkpoint->linked == 0)
        return PETAL_NOT_FOUND;
    checkpoint->linked--;
    filename_store_file(path, checkpoint->directory.path, number);
    directory_remove(&checkpoint->directory, path);
    return PETAL_OK;
}

/* ---- the manifest ---- */

/* The captured state without logs: all they held is in files. */
static enum petal_status
write_manifest(struct checkpoint *checkpoint, petal_error *error)
{
    const struct env *env = &checkpoint->db->env;
    struct manifest *state = &checkpoint->capture->state, *made;
    struct manifest_edit edit;
    enum petal_status status =
        manifest_new(&made, &checkpoint->directory, env_random(env), checkpoint->db->salt, error);

    if (status != PETAL_OK)
        return status;
    state->oldest_log = state->next_file_number;
    state->promise = (struct wal_promise){0, 0};
    manifest_edit_init(&edit, env->allocator);
    manifest_edit_snapshot(&edit, state);
    checkpoint->manifest_is_begun = true;
    status = manifest_commit(made, &edit, error);
    manifest_edit_fini(&edit);
    manifest_free(made);
    return status;
}

static enum petal_status
fill_directory(struct checkpoint *checkpoint, petal_error *error)
{
    enum petal_status status =
        flush_capture(checkpoint->db, NULL, false, &checkpoint->capture, error);
    int failed;

    if (status == PETAL_OK)
        status = for_each_file(checkpoint, link_file, error);
    if (status != PETAL_OK)
        return status;
    failed = directory_sync(&checkpoint->directory);
    if (failed != 0)
        return error_unknown(error, checkpoint->directory.path, failed, "sync directory");
    return write_manifest(checkpoint, error);
}

/*
 * After a failure. The manifest goes first, for good: one that came back with the power must find
 * its files. Where that cannot be had the files stay.
 */
static void
remove_made(struct checkpoint *checkpoint)
{
    char path[PETAL_PATH_BYTES];
    int failed;

    if (checkpoint->manifest_is_begun) {
        filename_manifest_temporary(path, checkpoint->directory.path);
        directory_remove(&checkpoint->directory, path);
        filename_manifest(path, checkpoint->directory.path);
        failed = directory_remove(&checkpoint->directory, path);
        directory_forgive_failed_sync(&checkpoint->directory); /* what counts is removed since */
        /* With a manifest it is a database, which needs its files. */
        if ((failed != 0 && failed != ENOENT) || directory_sync(&checkpoint->directory) != 0) {
            env_log(&checkpoint->db->env, PETAL_LOG_WARNING,
                    "a failed checkpoint left its files in %s", checkpoint->directory.path);
            return;
        }
    }
    if (checkpoint->capture != NULL)
        (void)for_each_file(checkpoint, unlink_file, NULL);
    if (checkpoint->lock_file != NULL) {
        filename_lock(path, checkpoint->directory.path);
        directory_remove(&checkpoint->directory, path);
    }
}

enum petal_status
petal_checkpoint(petal_db *db, const char *directory, petal_error *error)
{
    RETURN_IF_NULL(db, error);
    RETURN_IF_NULL(directory, error);

    struct checkpoint checkpoint = {.db = db};
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    if (!filename_directory_fits(directory))
        return error_set(error, PETAL_INVALID, "the path of the directory is empty or too long");
    mutex_lock(&db->capture_mutex);
    status = db_check_writable(db, error);
    if (status == PETAL_OK)
        status = make_directory(&checkpoint, directory, error);
    if (status == PETAL_OK)
        status = fill_directory(&checkpoint, error);
    if (status != PETAL_OK)
        remove_made(&checkpoint);
    else
        env_log(&db->env, PETAL_LOG_INFO, "checkpoint of %zu store files in %s", checkpoint.linked,
                directory);
    if (checkpoint.lock_file != NULL)
        db->env.vfs->close(db->env.vfs->context, checkpoint.lock_file);
    directory_close(&checkpoint.directory);
    capture_unref(checkpoint.capture);
    mutex_unlock(&db->capture_mutex);
    return status;
}
