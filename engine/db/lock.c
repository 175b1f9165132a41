/* lock.c -- see engine/db/lock.h. */
#include "engine/db/lock.h"

#include <errno.h>

static enum petal_status
refuse_busy(const char *path, petal_error *error)
{
    return error_file(error, PETAL_BUSY, path, "%s is locked: the database is open elsewhere",
                      path);
}

static enum petal_status
take_alone(petal_db *db, const char *path, petal_error *error)
{
    const petal_vfs *vfs = db->env.vfs;
    int failed = directory_open_file(&db->directory, path, PETAL_FILE_WRITE | PETAL_FILE_CREATE,
                                     &db->lock_file);

    if (failed != 0)
        return error_io(error, path, failed, "open");
    failed = vfs->lock(vfs->context, db->lock_file, false);
    if (failed == EAGAIN)
        return refuse_busy(path, error);
    return failed == 0 ? PETAL_OK : error_io(error, path, failed, "lock");
}

/* Why a reader may do without, for each of them: engine/db/lock.h. */
static bool
is_none_needed(const petal_db *db, const char *path, int failed)
{
    if (failed == EACCES || failed == EPERM)
        env_log(&db->env, PETAL_LOG_WARNING,
                "%s may not be opened: reading without a lock; nobody must write meanwhile", path);
    return failed == ENOENT || failed == EROFS || failed == EACCES || failed == EPERM ||
           failed == ENOLCK || failed == ENOSYS || failed == EOPNOTSUPP;
}

static enum petal_status
take_shared(petal_db *db, const char *path, petal_error *error)
{
    const petal_vfs *vfs = db->env.vfs;
    const char *action = "open";
    int failed = directory_open_file(&db->directory, path, PETAL_FILE_READ, &db->lock_file);

    if (failed == 0) {
        action = "lock";
        failed = vfs->lock(vfs->context, db->lock_file, true);
    }
    if (failed == EAGAIN)
        return refuse_busy(path, error);
    if (failed == 0 || is_none_needed(db, path, failed))
        return PETAL_OK;
    return error_io(error, path, failed, action);
}

enum petal_status
opener_lock_take(petal_db *db, petal_error *error)
{
    char path[PETAL_PATH_BYTES];

    assert(db->lock_file == NULL);
    filename_lock(path, db->directory.path);
    return db->read_only ? take_shared(db, path, error) : take_alone(db, path, error);
}

enum petal_status
opener_lock_confirm(petal_db *db, petal_error *error)
{
    const petal_vfs *vfs = db->env.vfs;
    char path[PETAL_PATH_BYTES];
    petal_file *file;

    assert(db->read_only);
    if (db->lock_file != NULL)
        return PETAL_OK;
    filename_lock(path, db->directory.path);
    if (directory_open_file(&db->directory, path, PETAL_FILE_READ, &file) != 0)
        return PETAL_OK;
    vfs->close(vfs->context, file);
    return error_file(error, PETAL_BUSY, path,
                      "%s was made while the database was read: it is open elsewhere", path);
}
