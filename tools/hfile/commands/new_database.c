/* new_database.c -- see new_database.h. */
#include "tools/hfile/commands/new_database.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static bool
is_itself_or_parent(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

struct new_database
new_database_look(const char *path)
{
    struct new_database database = {.path = path};
    DIR *entries = opendir(path);
    struct dirent *entry;

    if (entries == NULL) {
        database.directory_is_new = errno == ENOENT;
        database.is_new = database.directory_is_new;
        return database;
    }
    errno = 0;
    while ((entry = readdir(entries)) != NULL && is_itself_or_parent(entry->d_name))
        ;
    database.is_new = entry == NULL && errno == 0;
    closedir(entries);
    return database;
}

/* A database is files alone; what has come next to them stays, and so does the directory then. */
void
new_database_take_back(const struct new_database *database)
{
    DIR *entries = database->is_new ? opendir(database->path) : NULL;
    struct dirent *entry;

    if (entries == NULL)
        return;
    while ((entry = readdir(entries)) != NULL) {
        if (!is_itself_or_parent(entry->d_name))
            (void)unlinkat(dirfd(entries), entry->d_name, 0);
    }
    closedir(entries);
    if (database->directory_is_new)
        (void)rmdir(database->path);
}
