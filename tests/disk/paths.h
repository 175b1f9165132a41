/*
 * paths.h -- calls of a petal_vfs on files named by paths, for tests that look after a file now
 * and then: the file's directory is opened for the one call. They return 0 or an errno value.
 */
#ifndef PETAL_TESTS_DISK_PATHS_H
#define PETAL_TESTS_DISK_PATHS_H

#include "engine/petal.h"

/* EEXIST is 0. */
int vfs_make_directory(const petal_vfs *vfs, const char *path);
int vfs_sync_directory(const petal_vfs *vfs, const char *path);
int vfs_list_directory(const petal_vfs *vfs, const char *path,
                       void (*visit)(void *argument, const char *name), void *argument);
int vfs_open(const petal_vfs *vfs, const char *path, unsigned flags, petal_file **file);
int vfs_remove(const petal_vfs *vfs, const char *path);

/* REQUIRES: both are in one directory. */
int vfs_rename(const petal_vfs *vfs, const char *from, const char *to);
int vfs_link(const petal_vfs *vfs, const char *from, const char *to);

#endif
