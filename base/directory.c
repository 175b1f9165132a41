/* directory.c -- see directory.h. */
#include "base/directory.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

int
directory_open(struct directory *directory, const struct env *env, const char *path, bool create)
{
    size_t length = strlen(path);
    int failed;

    assert(length < sizeof directory->path);
    directory->env = env;
    directory->handle = NULL;
    directory->sync_failed = 0;
    memcpy(directory->path, path, length + 1);
    if (!mutex_init(&directory->sync_mutex))
        return ENOMEM;
    failed = env->vfs->open_directory(env->vfs->context, path, create, &directory->handle);
    if (failed != 0) {
        directory->handle = NULL;
        mutex_fini(&directory->sync_mutex);
    }
    return failed;
}

void
directory_close(struct directory *directory)
{
    const petal_vfs *vfs;

    if (directory->handle == NULL)
        return;
    vfs = directory->env->vfs;
    vfs->close_directory(vfs->context, directory->handle);
    directory->handle = NULL;
    mutex_fini(&directory->sync_mutex);
}

/* By what the file at `path` is found in the directory. */
static const char *
name_in(const struct directory *directory, const char *path)
{
    size_t length = strlen(directory->path);

    assert(directory->handle != NULL);
    assert(strncmp(path, directory->path, length) == 0 && path[length] == '/');
    assert(strchr(path + length + 1, '/') == NULL);
    return path + length + 1;
}

int
directory_open_file(const struct directory *directory, const char *path, unsigned flags,
                    petal_file **file)
{
    const petal_vfs *vfs = directory->env->vfs;

    return vfs->open(vfs->context, directory->handle, name_in(directory, path), flags, file);
}

int
directory_rename(const struct directory *directory, const char *from, const char *to)
{
    const petal_vfs *vfs = directory->env->vfs;

    return vfs->rename(vfs->context, directory->handle, name_in(directory, from),
                       name_in(directory, to));
}

int
directory_link(const struct directory *from_directory, const char *from,
               const struct directory *to_directory, const char *to)
{
    const petal_vfs *vfs = from_directory->env->vfs;

    assert(from_directory->env == to_directory->env);
    if (vfs->link == NULL)
        return ENOSYS;
    return vfs->link(vfs->context, from_directory->handle, name_in(from_directory, from),
                     to_directory->handle, name_in(to_directory, to));
}

int
directory_remove(const struct directory *directory, const char *path)
{
    const petal_vfs *vfs = directory->env->vfs;

    return vfs->remove(vfs->context, directory->handle, name_in(directory, path));
}

int
directory_sync(struct directory *directory)
{
    const petal_vfs *vfs = directory->env->vfs;
    int failed;

    assert(directory->handle != NULL);
    mutex_lock(&directory->sync_mutex);
    if (directory->sync_failed == 0)
        directory->sync_failed = vfs->sync_directory(vfs->context, directory->handle);
    failed = directory->sync_failed;
    mutex_unlock(&directory->sync_mutex);
    return failed;
}

void
directory_forgive_failed_sync(struct directory *directory)
{
    assert(directory->handle != NULL);
    mutex_lock(&directory->sync_mutex);
    directory->sync_failed = 0;
    mutex_unlock(&directory->sync_mutex);
}

int
directory_sync_parent(const struct directory *directory)
{
    const petal_vfs *vfs = directory->env->vfs;

    assert(directory->handle != NULL);
    return vfs->sync_parent(vfs->context, directory->handle);
}

int
directory_contains(const struct directory *directory, const char *path, bool *contains)
{
    const petal_vfs *vfs = directory->env->vfs;

    assert(directory->handle != NULL);
    *contains = false;
    if (vfs->contains == NULL)
        return 0;
    return vfs->contains(vfs->context, directory->handle, path, contains);
}

uint64_t
directory_free_bytes(const struct directory *directory)
{
    const petal_vfs *vfs = directory->env->vfs;
    uint64_t bytes;

    assert(directory->handle != NULL);
    if (vfs->free_bytes == NULL || vfs->free_bytes(vfs->context, directory->handle, &bytes) != 0)
        return UINT64_MAX;
    return bytes;
}

int
directory_list(const struct directory *directory, void (*visit)(void *argument, const char *name),
               void *argument)
{
    const petal_vfs *vfs = directory->env->vfs;

    assert(directory->handle != NULL);
    return vfs->list_directory(vfs->context, directory->handle, visit, argument);
}
