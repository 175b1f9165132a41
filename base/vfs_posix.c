/*
 * vfs_posix.c -- see vfs_posix.h.
 *
 * A petal_file is taken from malloc: the file layer is below the petal_env and has no allocator.
 * A failed sync or close is returned and never tried again: the kernel reports a failed write-back
 * once, then takes the pages for clean, so a second try would succeed without the data.
 */
#include "base/vfs_posix.h"

#include "base/log_window.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == 8, "build with -D_FILE_OFFSET_BITS=64");

#define MAX_FILE_OFFSET ((uint64_t)INT64_MAX)
#define FILE_MODE       0600
#define DIRECTORY_MODE  0700

struct petal_file {
    int descriptor;
    struct log_window window; /* moved by log_store alone */
};

/* open(2), begun again when a signal interrupts it.  The descriptor, or -1 and errno. */
static int
open_descriptor(const char *path, int flags)
{
    int descriptor;

    do {
        descriptor = open(path, flags | O_CLOEXEC | O_NOCTTY, FILE_MODE);
    } while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

static int
check_regular(int descriptor)
{
    struct stat status;

    if (fstat(descriptor, &status) != 0)
        return errno;
    if (S_ISREG(status.st_mode))
        return 0;
    return S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
}

static int
posix_open(void *context, const char *path, unsigned flags, petal_file **file)
{
    /* O_NONBLOCK: a pipe in the place of a file is refused, not waited for. */
    int open_flags = O_NOFOLLOW | O_NONBLOCK;
    int descriptor, error;

    (void)context;
    assert((flags & (PETAL_FILE_READ | PETAL_FILE_WRITE)) != 0);
    assert((flags & PETAL_FILE_EXCLUSIVE) == 0 || (flags & PETAL_FILE_CREATE) != 0);
    *file = NULL;
    open_flags |= (flags & PETAL_FILE_WRITE) != 0 ? O_RDWR : O_RDONLY;
    if ((flags & PETAL_FILE_CREATE) != 0)
        open_flags |= O_CREAT;
    if ((flags & PETAL_FILE_EXCLUSIVE) != 0)
        open_flags |= O_EXCL;

    descriptor = open_descriptor(path, open_flags);
    if (descriptor < 0)
        return errno;
    error = check_regular(descriptor);
    if (error == 0) {
        *file = malloc(sizeof(**file));
        error = *file == NULL ? ENOMEM : 0;
    }
    if (error != 0) {
        (void)close(descriptor); /* nothing was written through it */
        return error;
    }
    (*file)->descriptor = descriptor;
    log_window_init(&(*file)->window, (flags & PETAL_FILE_UNMAPPED) != 0);
    return 0;
}

static int
posix_close(void *context, petal_file *file)
{
    int descriptor = file->descriptor;

    (void)context;
    log_window_close(&file->window, descriptor);
    free(file);
    /* After EINTR, too, the descriptor may be gone and given to another thread: no second try. */
    return close(descriptor) == 0 ? 0 : errno;
}

static int
posix_read_at(void *context, petal_file *file, uint64_t offset, void *buffer, size_t size,
              size_t *read_bytes)
{
    char *to = buffer;
    size_t done = 0;

    (void)context;
    *read_bytes = 0;
    if (offset > MAX_FILE_OFFSET)
        return 0; /* behind the end of any file */
    if (size > MAX_FILE_OFFSET - offset)
        size = (size_t)(MAX_FILE_OFFSET - offset);
    while (done < size) {
        ssize_t got = pread(file->descriptor, to + done, size - done, (off_t)(offset + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    *read_bytes = done;
    return 0;
}

static int
posix_write_at(void *context, petal_file *file, uint64_t offset, const void *bytes, size_t size)
{
    const char *from = bytes;
    size_t done = 0;

    (void)context;
    if (offset > MAX_FILE_OFFSET || size > MAX_FILE_OFFSET - offset)
        return EFBIG;
    while (done < size) {
        ssize_t put = pwrite(file->descriptor, from + done, size - done, (off_t)(offset + done));

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        if (put == 0)
            return EIO; /* no progress and no reason: not to be tried for ever */
        done += (size_t)put;
    }
    return 0;
}

static int
posix_log_store(void *context, petal_file *log, uint64_t offset, const void *bytes, size_t size)
{
    int error;

    if (log_window_store(&log->window, log->descriptor, offset, bytes, size))
        return 0;
    error = posix_write_at(context, log, offset, bytes, size); /* the kernel holds what it took */
    if (error == 0)
        log_window_wrote(&log->window, offset + size);
    return error;
}

static int
posix_sync(void *context, petal_file *file)
{
    int result;

    (void)context;
    log_window_synced(&file->window);
    do {
#if defined(_POSIX_SYNCHRONIZED_IO) && _POSIX_SYNCHRONIZED_IO > 0
        result = fdatasync(file->descriptor);
#else
        result = fsync(file->descriptor);
#endif
    } while (result != 0 && errno == EINTR); /* interrupted: no write-back has failed */
    log_window_synced(&file->window);
    return result == 0 ? 0 : errno;
}

static int
posix_size(void *context, petal_file *file, uint64_t *size)
{
    struct stat status;

    (void)context;
    *size = 0;
    if (fstat(file->descriptor, &status) != 0)
        return errno;
    *size = (uint64_t)status.st_size;
    return 0;
}

/* flock(2) also locks the open file; for kernels that know no F_OFD_SETLK. */
static int
lock_by_flock(int descriptor, bool shared)
{
    int result;

    do {
        result = flock(descriptor, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB);
    } while (result != 0 && errno == EINTR);
    if (result == 0)
        return 0;
    return errno == EWOULDBLOCK ? EAGAIN : errno;
}

static int
posix_lock(void *context, petal_file *file, bool shared)
{
#ifdef F_OFD_SETLK
    struct flock whole_file;

    (void)context;
    memset(&whole_file, 0, sizeof(whole_file)); /* start 0, length 0: to the end; no process id */
    whole_file.l_type = shared ? F_RDLCK : F_WRLCK;
    whole_file.l_whence = SEEK_SET;
    if (fcntl(file->descriptor, F_OFD_SETLK, &whole_file) == 0)
        return 0;
    if (errno == EACCES || errno == EAGAIN)
        return EAGAIN;
    if (errno != EINVAL)
        return errno;
#else
    (void)context;
#endif
    return lock_by_flock(file->descriptor, shared);
}

static int
posix_make_directory(void *context, const char *path)
{
    (void)context;
    return mkdir(path, DIRECTORY_MODE) == 0 ? 0 : errno;
}

static int
posix_sync_directory(void *context, const char *path)
{
    int descriptor = open_descriptor(path, O_RDONLY | O_DIRECTORY);
    int result, error;

    (void)context;
    if (descriptor < 0)
        return errno;
    do {
        result = fsync(descriptor);
    } while (result != 0 && errno == EINTR);
    error = result == 0 ? 0 : errno;
    if (close(descriptor) != 0 && error == 0)
        error = errno;
    return error;
}

/* The next name but "." and "..", or NULL with *error 0 at the end. */
static const char *
next_name(DIR *directory, int *error)
{
    for (;;) {
        const struct dirent *entry;

        errno = 0; /* how readdir tells an error from the end */
        entry = readdir(directory);
        *error = entry == NULL ? errno : 0;
        if (entry == NULL)
            return NULL;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            return entry->d_name;
    }
}

static int
posix_list_directory(void *context, const char *path,
                     void (*visit)(void *argument, const char *name), void *argument)
{
    int descriptor = open_descriptor(path, O_RDONLY | O_DIRECTORY);
    const char *name;
    DIR *directory;
    int error;

    (void)context;
    if (descriptor < 0)
        return errno;
    directory = fdopendir(descriptor);
    if (directory == NULL) {
        error = errno;
        (void)close(descriptor);
        return error;
    }
    while ((name = next_name(directory, &error)) != NULL)
        visit(argument, name);
    (void)closedir(directory); /* nothing was written through it */
    return error;
}

static int
posix_rename(void *context, const char *from, const char *to)
{
    (void)context;
    return rename(from, to) == 0 ? 0 : errno;
}

static int
posix_link(void *context, const char *from, const char *to)
{
    (void)context;
    return link(from, to) == 0 ? 0 : errno;
}

static int
posix_remove(void *context, const char *path)
{
    (void)context;
    return unlink(path) == 0 ? 0 : errno;
}

const petal_vfs vfs_posix = {
    .context = NULL,
    .open = posix_open,
    .close = posix_close,
    .read_at = posix_read_at,
    .write_at = posix_write_at,
    .log_store = posix_log_store,
    .sync = posix_sync,
    .size = posix_size,
    .lock = posix_lock,
    .make_directory = posix_make_directory,
    .sync_directory = posix_sync_directory,
    .list_directory = posix_list_directory,
    .rename = posix_rename,
    .link = posix_link,
    .remove = posix_remove,
};

uint32_t
vfs_posix_most_open_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    return limit.rlim_cur < UINT32_MAX ? (uint32_t)limit.rlim_cur : UINT32_MAX;
}
