/* link.c -- see engine/table/link.h. */
#include "engine/table/link.h"

#include <errno.h>

#include "base/mem.h"

#define PIECE_BYTES ((size_t)256 << 10)

/* Does the error say that the file system makes no such link: none at all, not to another one, not
 * one more of this file? */
static bool
cannot_link(int os_error)
{
    return os_error == EXDEV || os_error == EPERM || os_error == EMLINK || os_error == EOPNOTSUPP ||
           os_error == ENOTSUP || os_error == ENOSYS;
}

/* A copy that is made. */
struct copying {
    const char *from, *to;
    const struct file_watch *watch; /* NULL: nobody watches */
    uint8_t *piece;
};

static enum petal_status
copy_bytes(const struct copying *copying, const petal_vfs *vfs, petal_file *source,
           petal_file *target, petal_error *error)
{
    const char *from = copying->from, *to = copying->to;
    const struct file_watch *watch = copying->watch;
    uint8_t *piece = copying->piece;
    uint64_t bytes = 0;
    size_t got = 0;
    int failed = vfs->size(vfs->context, source, &bytes);

    if (failed != 0)
        return error_io(error, from, failed, "take the size of");
    for (uint64_t offset = 0; offset < bytes; offset += got) {
        size_t wanted = bytes - offset < PIECE_BYTES ? (size_t)(bytes - offset) : PIECE_BYTES;

        failed = vfs->read_at(vfs->context, source, offset, piece, wanted, &got);
        if (failed != 0)
            return error_io(error, from, failed, "read");
        if (got != wanted)
            return error_corrupt(error, from, offset + got, "%s ends after %llu of %llu bytes",
                                 from, (unsigned long long)(offset + got),
                                 (unsigned long long)bytes);
        failed = vfs->write_at(vfs->context, target, offset, piece, got);
        if (failed != 0)
            return error_io(error, to, failed, "write");
        if (watch != NULL && !watch->go_on(watch->argument, got))
            return error_set(error, PETAL_BUSY, "the copy was given up");
    }
    failed = vfs->sync(vfs->context, target);
    return failed == 0 ? PETAL_OK : error_io(error, to, failed, "sync");
}

/* To a file that does not exist yet. */
static enum petal_status
copy_into(const struct copying *copying, const struct directory *directory, petal_file *source,
          petal_error *error)
{
    const petal_vfs *vfs = directory->env->vfs;
    const char *to = copying->to;
    enum petal_status status;
    petal_file *target;
    int failed = directory_open_file(
        directory, to, PETAL_FILE_WRITE | PETAL_FILE_CREATE | PETAL_FILE_EXCLUSIVE, &target);

    if (failed != 0)
        return error_io(error, to, failed, "create");
    status = copy_bytes(copying, vfs, source, target, error);
    failed = vfs->close(vfs->context, target);
    if (status == PETAL_OK && failed != 0)
        status = error_io(error, to, failed, "close");
    if (status != PETAL_OK)
        directory_remove(directory, to);
    return status;
}

enum petal_status
file_copy(const struct directory *from_directory, const char *from,
          const struct directory *to_directory, const char *to, const struct file_watch *watch,
          petal_error *error)
{
    const struct env *env = from_directory->env;
    struct copying copying = {from, to, watch, mem_alloc(env->allocator, PIECE_BYTES)};
    enum petal_status status;
    petal_file *source;
    int failed;

    if (copying.piece == NULL)
        return error_no_memory(error);
    failed = directory_open_file(from_directory, from, PETAL_FILE_READ, &source);
    if (failed == 0) {
        status = copy_into(&copying, to_directory, source, error);
        env->vfs->close(env->vfs->context, source);
    } else {
        status = error_io(error, from, failed, "open");
    }
    mem_free(env->allocator, copying.piece, PIECE_BYTES);
    return status;
}

enum petal_status
file_link(const struct directory *from_directory, const char *from,
          const struct directory *to_directory, const char *to, bool *made, petal_error *error)
{
    int failed = directory_link(from_directory, from, to_directory, to);

    *made = failed == 0;
    /* Whether a link that failed was made cannot be known. */
    if (failed != 0 && failed != EEXIST)
        (void)directory_remove(to_directory, to);
    return *made || cannot_link(failed) ? PETAL_OK : error_io(error, to, failed, "make the link");
}

enum petal_status
file_link_or_copy(const struct directory *from_directory, const char *from,
                  const struct directory *to_directory, const char *to, petal_error *error)
{
    bool made;
    enum petal_status status = file_link(from_directory, from, to_directory, to, &made, error);

    return status != PETAL_OK || made
               ? status
               : file_copy(from_directory, from, to_directory, to, NULL, error);
}
