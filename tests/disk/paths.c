/* paths.c -- see tests/disk/paths.h. */
#include "tests/disk/paths.h"

#include "tests/support/test_support.h"

#include <stdlib.h>
#include <string.h>

int
vfs_make_directory(const petal_vfs *vfs, const char *path)
{
    petal_directory *directory;
    int error = vfs->open_directory(vfs->context, path, true, &directory);

    if (error == 0)
        vfs->close_directory(vfs->context, directory);
    return error;
}

int
vfs_sync_directory(const petal_vfs *vfs, const char *path)
{
    petal_directory *directory;
    int error = vfs->open_directory(vfs->context, path, false, &directory);

    if (error != 0)
        return error;
    error = vfs->sync_directory(vfs->context, directory);
    vfs->close_directory(vfs->context, directory);
    return error;
}

int
vfs_list_directory(const petal_vfs *vfs, const char *path,
                   void (*visit)(void *argument, const char *name), void *argument)
{
    petal_directory *directory;
    int error = vfs->open_directory(vfs->context, path, false, &directory);

    if (error != 0)
        return error;
    error = vfs->list_directory(vfs->context, directory, visit, argument);
    vfs->close_directory(vfs->context, directory);
    return error;
}

/* Open the directory of `path`; the name in it is what follows the last '/'. */
static int
open_holder(const petal_vfs *vfs, const char *path, petal_directory **directory, const char **name)
{
    const char *slash = strrchr(path, '/');
    char *holder = test_strdup(slash == NULL ? "." : path);
    int error;

    if (slash != NULL)
        holder[slash == path ? 1 : slash - path] = '\0';
    *name = slash == NULL ? path : slash + 1;
    error = vfs->open_directory(vfs->context, holder, false, directory);
    free(holder);
    return error;
}

int
vfs_open(const petal_vfs *vfs, const char *path, unsigned flags, petal_file **file)
{
    petal_directory *directory;
    const char *name;
    int error = open_holder(vfs, path, &directory, &name);

    *file = NULL;
    if (error != 0)
        return error;
    error = vfs->open(vfs->context, directory, name, flags, file);
    vfs->close_directory(vfs->context, directory);
    return error;
}

int
vfs_remove(const petal_vfs *vfs, const char *path)
{
    petal_directory *directory;
    const char *name;
    int error = open_holder(vfs, path, &directory, &name);

    if (error != 0)
        return error;
    error = vfs->remove(vfs->context, directory, name);
    vfs->close_directory(vfs->context, directory);
    return error;
}

int
vfs_rename(const petal_vfs *vfs, const char *from, const char *to)
{
    petal_directory *directory;
    const char *name;
    int error = open_holder(vfs, from, &directory, &name);

    if (error != 0)
        return error;
    error = vfs->rename(vfs->context, directory, name, strrchr(to, '/') + 1);
    vfs->close_directory(vfs->context, directory);
    return error;
}

int
vfs_link(const petal_vfs *vfs, const char *from, const char *to)
{
    petal_directory *from_directory, *to_directory;
    const char *from_name, *to_name;
    int error = open_holder(vfs, from, &from_directory, &from_name);

    if (error != 0)
        return error;
    error = open_holder(vfs, to, &to_directory, &to_name);
    if (error == 0) {
        error = vfs->link(vfs->context, from_directory, from_name, to_directory, to_name);
        vfs->close_directory(vfs->context, to_directory);
    }
    vfs->close_directory(vfs->context, from_directory);
    return error;
}
