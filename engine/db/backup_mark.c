/* backup_mark.c -- see backup_mark.h. */
#include "engine/db/backup_mark.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MARK_BEGINS "Petal backup of the database "
#define MARK_BYTES  256 /* more than it has */

static void
mark_path(char path[PETAL_PATH_BYTES], const struct directory *directory)
{
    size_t length = strlen(directory->path);

    assert(length + sizeof "/" BACKUP_MARK_NAME <= PETAL_PATH_BYTES);
    memcpy(path, directory->path, length);
    memcpy(path + length, "/" BACKUP_MARK_NAME, sizeof "/" BACKUP_MARK_NAME);
}

static size_t
mark_text(char text[MARK_BYTES], uint64_t identity)
{
    return (size_t)snprintf(text, MARK_BYTES,
                            MARK_BEGINS "%016" PRIx64 "\n"
                                        "The next backup replaces what is here. \"kv-shell NEW "
                                        "restore THIS\" makes a database of it.\n",
                            identity);
}

static enum backup_mark
judge_mark(const char *text, size_t bytes, uint64_t identity)
{
    const size_t begins = sizeof MARK_BEGINS - 1;
    char ours[MARK_BYTES];

    (void)mark_text(ours, identity);
    if (bytes < begins + 17 || memcmp(text, MARK_BEGINS, begins) != 0 || text[begins + 16] != '\n')
        return BACKUP_MARK_UNREADABLE;
    return memcmp(text, ours, begins + 17) == 0 ? BACKUP_MARK_OURS : BACKUP_MARK_OF_ANOTHER;
}

enum petal_status
backup_mark_read(const struct directory *directory, uint64_t identity, enum backup_mark *mark,
                 petal_error *error)
{
    const petal_vfs *vfs = directory->env->vfs;
    char path[PETAL_PATH_BYTES], text[MARK_BYTES];
    petal_file *file;
    uint64_t bytes = 0;
    size_t got = 0;
    int failed;

    *mark = BACKUP_MARK_NONE;
    mark_path(path, directory);
    failed = directory_open_file(directory, path, PETAL_FILE_READ, &file);
    if (failed == ENOENT)
        return PETAL_OK;
    if (failed != 0)
        return error_io(error, path, failed, "open");
    failed = vfs->size(vfs->context, file, &bytes);
    if (failed == 0)
        failed = vfs->read_at(vfs->context, file, 0, text, sizeof text, &got);
    vfs->close(vfs->context, file);
    if (failed != 0)
        return error_io(error, path, failed, "read");
    if (got != (bytes < sizeof text ? (size_t)bytes : sizeof text))
        return error_corrupt(error, path, got, "%s has become shorter", path);
    *mark = judge_mark(text, got, identity);
    return PETAL_OK;
}

enum petal_status
backup_mark_write(struct directory *directory, uint64_t identity, petal_error *error)
{
    const petal_vfs *vfs = directory->env->vfs;
    char path[PETAL_PATH_BYTES], text[MARK_BYTES];
    size_t bytes = mark_text(text, identity);
    const char *action = "create";
    petal_file *file;
    int failed, closed;

    mark_path(path, directory);
    failed = directory_open_file(directory, path, PETAL_FILE_WRITE | PETAL_FILE_CREATE, &file);
    if (failed != 0)
        return error_io(error, path, failed, action);
    action = "write";
    failed = vfs->write_at(vfs->context, file, 0, text, bytes);
    if (failed == 0) {
        action = "sync";
        failed = vfs->sync(vfs->context, file);
    }
    closed = vfs->close(vfs->context, file);
    if (failed != 0 || closed != 0)
        return error_io(error, path, failed != 0 ? failed : closed, action);
    failed = directory_sync(directory);
    return failed == 0 ? PETAL_OK : error_unknown(error, directory->path, failed, "sync directory");
}
