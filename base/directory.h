/*
 * directory.h -- an open directory, and the names of its files in messages.
 *
 * Files are found by their names in the directory, never by the path that led there: that path is
 * resolved once, when the directory is opened, and is only told to people from then on. The calls
 * take the whole path of a file, since that is what messages need, and go by its last part. It
 * begins with the directory's path as that was given, which led there when it was opened.
 *
 * They return 0 or an errno value, as those of petal_vfs do, which they are. Threads: all functions
 * from any thread between opening and closing.
 */
#ifndef PETAL_BASE_DIRECTORY_H
#define PETAL_BASE_DIRECTORY_H

#include "base/env.h"
#include "base/mutex.h"

/* Room for every path of a database, its final 0 included. */
#define PETAL_PATH_BYTES 1024

struct directory {
    const struct env *env;
    petal_directory *handle; /* NULL: it is not open */
    struct mutex sync_mutex; /* a leaf, held during syncs; valid while the directory is open */
    int sync_failed;         /* the first sync that failed, or 0; guarded by it */
    char path[PETAL_PATH_BYTES];
};

/* `create`: make it if it is absent. On failure it is not open, and knows its path. REQUIRES: the
 * path fits. */
int directory_open(struct directory *directory, const struct env *env, const char *path,
                   bool create);
void directory_close(struct directory *directory); /* one that is not open: no-op */

int directory_open_file(const struct directory *directory, const char *path, unsigned flags,
                        petal_file **file);
int directory_rename(const struct directory *directory, const char *from, const char *to);
int directory_link(const struct directory *from_directory, const char *from,
                   const struct directory *to_directory, const char *to);
int directory_remove(const struct directory *directory, const char *path);
/*
 * Make the names in it durable, of whichever thread they are. What a failed sync could not write
 * passes for clean, and the next one succeeds without it; nor does the kernel tell of a failure
 * twice on one descriptor. So a name is durable only if no sync has failed between its making and
 * the sync that is to cover it, also one of another thread: syncs take turns, and after one that
 * failed all later ones do, with its error, without being tried.
 */
int directory_sync(struct directory *directory);
/* After a failed sync: try again. For who relies on no name that was made before. */
void directory_forgive_failed_sync(struct directory *directory);
int directory_sync_parent(const struct directory *directory);
/* Whether the path, of whatever place, leads to the directory or into it, or would if it were made;
 * false also where the file layer does not know. */
int directory_contains(const struct directory *directory, const char *path, bool *contains);
/* Bytes that its file system has room for; UINT64_MAX: nobody knows. */
uint64_t directory_free_bytes(const struct directory *directory);
int directory_list(const struct directory *directory,
                   void (*visit)(void *argument, const char *name), void *argument);

#endif
