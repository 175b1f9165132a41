/* lock.c -- see engine/db/lock.h. */
#include "engine/db/lock.h"

#include "base/vfs_posix.h"
#include "engine/manifest/names.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

/* Another opener has the database open; `what` happened to the lock file. */
static enum petal_status
refuse_busy(const struct directory *directory, petal_file *lock, const char *path, const char *what,
            petal_error *error)
{
    long holder = directory->env->vfs == &vfs_posix ? vfs_posix_holder(lock) : 0;

    if (holder == 0)
        return error_file(error, PETAL_BUSY, path, "%s %.40s: the database is open elsewhere", path,
                          what);
    if (holder == (long)getpid())
        return error_file(error, PETAL_BUSY, path,
                          "%s %.40s: the database is open already, in this process", path, what);
    return error_file(error, PETAL_BUSY, path,
                      "%s %.40s: the database is open already, in process %ld", path, what, holder);
}

static enum petal_status
take_alone(const struct directory *directory, const char *path, petal_file **lock,
           petal_error *error)
{
    const petal_vfs *vfs = directory->env->vfs;
    int failed = directory_open_file(directory, path, PETAL_FILE_WRITE | PETAL_FILE_CREATE, lock);

    if (failed != 0)
        return error_io(error, path, failed, "open");
    failed = vfs->lock(vfs->context, *lock, 0, 0, PETAL_LOCK_EXCLUSIVE);
    if (failed == EAGAIN)
        return refuse_busy(directory, *lock, path, "is locked", error);
    if (failed == 0 && vfs == &vfs_posix)
        vfs_posix_note_holder(*lock);
    return failed == 0 ? PETAL_OK : error_io(error, path, failed, "lock");
}

/* Why a reader may do without, for each of them: engine/db/lock.h. */
static bool
is_none_needed(const struct directory *directory, const char *path, int failed)
{
    if (failed == EACCES || failed == EPERM)
        env_log(directory->env, PETAL_LOG_WARNING,
                "%s may not be opened: the database is read without its lock, so nobody may write "
                "to it meanwhile",
                path);
    return failed == ENOENT || failed == EROFS || failed == EACCES || failed == EPERM ||
           failed == ENOLCK || failed == ENOSYS || failed == EOPNOTSUPP;
}

static enum petal_status
take_shared(const struct directory *directory, const char *path, petal_file **lock,
            petal_error *error)
{
    const petal_vfs *vfs = directory->env->vfs;
    const char *action = "open";
    int failed = directory_open_file(directory, path, PETAL_FILE_READ, lock);

    if (failed == 0) {
        action = "lock";
        failed = vfs->lock(vfs->context, *lock, 0, 0, PETAL_LOCK_SHARED);
    }
    if (failed == EAGAIN)
        return refuse_busy(directory, *lock, path, "is locked", error);
    if (failed == 0 || is_none_needed(directory, path, failed))
        return PETAL_OK;
    return error_io(error, path, failed, action);
}

enum petal_status
opener_lock_take(const struct directory *directory, bool shared, petal_file **lock,
                 petal_error *error)
{
    char path[PETAL_PATH_BYTES];

    assert(*lock == NULL);
    filename_lock(path, directory->path);
    return shared ? take_shared(directory, path, lock, error)
                  : take_alone(directory, path, lock, error);
}

enum petal_status
opener_lock_confirm(const struct directory *directory, const petal_file *lock, petal_error *error)
{
    const petal_vfs *vfs = directory->env->vfs;
    char path[PETAL_PATH_BYTES];
    petal_file *file;

    if (lock != NULL)
        return PETAL_OK;
    filename_lock(path, directory->path);
    if (directory_open_file(directory, path, PETAL_FILE_READ, &file) != 0)
        return PETAL_OK;
    (void)refuse_busy(directory, file, path, "was made while the database was read", error);
    vfs->close(vfs->context, file);
    return PETAL_BUSY;
}
