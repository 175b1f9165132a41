/*
 * vfs_posix.c -- see vfs_posix.h.
 *
 * A petal_file is taken from malloc: the file layer is below the petal_env and has no allocator.
 * A failed sync or close is returned and never tried again: the kernel reports a failed write-back
 * once, then takes the pages for clean, so a second try would succeed without the data.
 */
#include "base/vfs_posix.h"

#include "base/inline.h"
#include "base/mutex.h"
#include "base/wal_window.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == 8, "build with -D_FILE_OFFSET_BITS=64");

#define MAX_FILE_OFFSET ((uint64_t)INT64_MAX)
#define FILE_MODE       0600
#define DIRECTORY_MODE  0700

struct petal_directory {
    int descriptor;
    bool readable; /* else the directory can be searched only: neither listed nor synced */
};

struct petal_file {
    int descriptor; /* -1: it was locked, and this is a child of the process that did */
    petal_file *next_locked, **locked_link; /* guarded by locked_mutex; NULL: it is not locked */
    struct wal_window window;               /* moved by log_store alone */
};

/* openat(2), begun again when a signal interrupts it.  The descriptor, or -1 and errno. */
static int
open_descriptor(int directory, const char *path, int flags)
{
    int descriptor;

    do {
        descriptor = openat(directory, path, flags | O_CLOEXEC | O_NOCTTY, FILE_MODE);
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
posix_open(void *context, petal_directory *directory, const char *name, unsigned flags,
           petal_file **file)
{
    /* O_NONBLOCK: a pipe in the place of a file is refused, not waited for. */
    int open_flags = O_NOFOLLOW | O_NONBLOCK;
    int descriptor, error;

    (void)context;
    assert(strchr(name, '/') == NULL);
    assert((flags & (PETAL_FILE_READ | PETAL_FILE_WRITE)) != 0);
    assert((flags & PETAL_FILE_EXCLUSIVE) == 0 || (flags & PETAL_FILE_CREATE) != 0);
    *file = NULL;
    open_flags |= (flags & PETAL_FILE_WRITE) != 0 ? O_RDWR : O_RDONLY;
    if ((flags & PETAL_FILE_CREATE) != 0)
        open_flags |= O_CREAT;
    if ((flags & PETAL_FILE_EXCLUSIVE) != 0)
        open_flags |= O_EXCL;

    descriptor = open_descriptor(directory->descriptor, name, open_flags);
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
    **file = (petal_file){.descriptor = descriptor};
    wal_window_init(&(*file)->window, (flags & PETAL_FILE_UNMAPPED) != 0);
    return 0;
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
        return 0; /* past the end of any file */
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

/* The kernel takes a hint for so much of a file at once, whatever its own readahead is set to. */
#define READ_AHEAD_BYTES ((uint64_t)128 << 10)

static void
posix_read_ahead(void *context, petal_file *file, uint64_t offset, uint64_t size)
{
    struct stat status;
    uint64_t end;

    (void)context;
    if (fstat(file->descriptor, &status) != 0)
        return;
    end = (uint64_t)status.st_size;
    if (offset < end && size < end - offset)
        end = offset + size;
    for (; offset < end; offset += READ_AHEAD_BYTES) {
        uint64_t piece = end - offset < READ_AHEAD_BYTES ? end - offset : READ_AHEAD_BYTES;

        if (posix_fadvise(file->descriptor, (off_t)offset, (off_t)piece, POSIX_FADV_WILLNEED) != 0)
            return; /* a file system without it: so be it */
    }
}

/* Addresses are too few on systems of 32 bits. */
static int
posix_map(void *context, petal_file *file, uint64_t size, const void **memory)
{
    void *mapped;

    (void)context;
    *memory = NULL;
    if (sizeof(void *) < sizeof(uint64_t))
        return ENOTSUP;
    if (size == 0 || size > MAX_FILE_OFFSET)
        return EINVAL;
    mapped = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, file->descriptor, 0);
    if (mapped == MAP_FAILED)
        return errno;
    /* What lies around a block is none of the next reader's, as a rule. */
    (void)madvise(mapped, (size_t)size, MADV_RANDOM);
    *memory = mapped;
    return 0;
}

static void
posix_unmap(void *context, const void *memory, uint64_t size)
{
    int failure = munmap((void *)(uintptr_t)memory, (size_t)size);

    (void)context;
    assert(failure == 0);
    (void)failure;
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

static NEVER_INLINE int
log_store_outside(petal_file *log, uint64_t offset, const void *bytes, size_t size)
{
    int error;

    if (wal_window_store(&log->window, log->descriptor, offset, bytes, size))
        return 0;
    error = posix_write_at(NULL, log, offset, bytes, size); /* the kernel holds what it took */
    if (error == 0)
        wal_window_wrote(&log->window, offset + size);
    return error;
}

static int
posix_log_store(void *context, petal_file *log, uint64_t offset, const void *bytes, size_t size)
{
    (void)context;
    if (!wal_window_has(&log->window, offset, size))
        return log_store_outside(log, offset, bytes, size);
    wal_window_put(&log->window, offset, bytes, size);
    return 0;
}

static int
posix_sync(void *context, petal_file *file)
{
    int result;

    (void)context;
    wal_window_synced(&file->window);
    do {
#if defined(_POSIX_SYNCHRONIZED_IO) && _POSIX_SYNCHRONIZED_IO > 0
        result = fdatasync(file->descriptor);
#else
        result = fsync(file->descriptor);
#endif
    } while (result != 0 && errno == EINTR); /* interrupted: no write-back has failed */
    wal_window_synced(&file->window);
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

/* ---- locks ---- */

/*
 * A lock belongs to the open file, of which a forked child has a descriptor, too: the lock would
 * outlive the process that took it. So children close theirs at once, without a word to the kernel
 * about the lock.
 */
static struct mutex locked_mutex = {.lock = PTHREAD_MUTEX_INITIALIZER};
static petal_file *locked_files;
static pthread_once_t watch_once = PTHREAD_ONCE_INIT;
static bool forks_are_watched;

static void
prepare_fork(void)
{
    mutex_lock(&locked_mutex);
}

static void
end_fork(void)
{
    mutex_unlock(&locked_mutex);
}

static void
close_locked_files(void)
{
    for (petal_file *file = locked_files; file != NULL; file = file->next_locked) {
        if (file->descriptor >= 0)
            (void)close(file->descriptor);
        file->descriptor = -1;
    }
    end_fork();
}

static void
watch_forks(void)
{
    forks_are_watched = pthread_atfork(prepare_fork, end_fork, close_locked_files) == 0;
}

static void
note_locked(petal_file *file)
{
    assert_held(&locked_mutex);
    if (file->locked_link != NULL)
        return;
    file->next_locked = locked_files;
    file->locked_link = &locked_files;
    if (locked_files != NULL)
        locked_files->locked_link = &file->next_locked;
    locked_files = file;
}

/* flock(2) also locks the open file; for kernels that know no F_OFD_SETLK. */
static int
lock_by_flock(int descriptor, enum petal_lock how)
{
    int result;

    if (how == PETAL_LOCK_TEST)
        return ENOSYS;
    do {
        result = flock(descriptor, (how == PETAL_LOCK_SHARED ? LOCK_SH : LOCK_EX) | LOCK_NB);
    } while (result != 0 && errno == EINTR);
    if (result == 0)
        return 0;
    return errno == EWOULDBLOCK ? EAGAIN : errno;
}

static int
lock_descriptor(int descriptor, uint64_t offset, uint64_t size, enum petal_lock how)
{
#ifdef F_OFD_SETLK
    struct flock range;

    memset(&range, 0, sizeof range); /* no process id */
    range.l_type = how == PETAL_LOCK_SHARED ? F_RDLCK : F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = (off_t)offset;
    range.l_len = (off_t)size;
    if (fcntl(descriptor, how == PETAL_LOCK_TEST ? F_OFD_GETLK : F_OFD_SETLK, &range) == 0)
        return how == PETAL_LOCK_TEST && range.l_type != F_UNLCK ? EAGAIN : 0;
    if (errno == EACCES || errno == EAGAIN)
        return EAGAIN;
    if (errno != EINVAL)
        return errno;
#endif
    return offset == 0 && size == 0 ? lock_by_flock(descriptor, how) : ENOSYS;
}

static int
posix_lock(void *context, petal_file *file, uint64_t offset, uint64_t size, enum petal_lock how)
{
    int error = ENOMEM;

    (void)context;
    if (pthread_once(&watch_once, watch_forks) != 0 || !forks_are_watched)
        return error;
    mutex_lock(&locked_mutex);
    error = lock_descriptor(file->descriptor, offset, size, how);
    if (error == 0 && how != PETAL_LOCK_TEST)
        note_locked(file);
    mutex_unlock(&locked_mutex);
    return error;
}

#define HOLDER_BYTES 20 /* the decimal number, spaces up to 19 bytes, a newline */

void
vfs_posix_note_holder(petal_file *file)
{
    char text[HOLDER_BYTES + 1];
    struct stat status;

    /* With a second name it may be somebody else's file. */
    if (fstat(file->descriptor, &status) != 0 || status.st_nlink != 1)
        return;
    (void)snprintf(text, sizeof text, "%-19ld\n", (long)getpid());
    (void)posix_write_at(NULL, file, 0, text, HOLDER_BYTES);
}

long
vfs_posix_holder(petal_file *file)
{
    char text[HOLDER_BYTES + 1] = "";
    size_t size;
    long holder;

#ifdef F_OFD_GETLK
    struct flock whole_file = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

    if (fcntl(file->descriptor, F_OFD_GETLK, &whole_file) == 0 && whole_file.l_type != F_WRLCK)
        return 0; /* readers hold the lock, and the number is that of an earlier writer */
#endif
    if (posix_read_at(NULL, file, 0, text, HOLDER_BYTES, &size) != 0)
        return 0;
    holder = strtol(text, NULL, 10);
    return holder > 0 ? holder : 0;
}

/* A child that was forked off a moment ago may have the open file still: closing alone would leave
 * the lock with it. */
static void
unlock(int descriptor)
{
#ifdef F_OFD_SETLK
    struct flock whole_file = {.l_type = F_UNLCK, .l_whence = SEEK_SET};

    (void)fcntl(descriptor, F_OFD_SETLK, &whole_file);
#endif
    (void)flock(descriptor, LOCK_UN);
}

static int
posix_close(void *context, petal_file *file)
{
    bool locked;
    int descriptor;

    (void)context;
    mutex_lock(&locked_mutex);
    descriptor = file->descriptor;
    locked = file->locked_link != NULL;
    if (locked) {
        assert(*file->locked_link == file);
        *file->locked_link = file->next_locked;
        if (file->next_locked != NULL)
            file->next_locked->locked_link = file->locked_link;
    }
    mutex_unlock(&locked_mutex);
    if (locked && descriptor >= 0)
        unlock(descriptor);
    if (descriptor >= 0)
        wal_window_close(&file->window, descriptor);
    free(file);
    if (descriptor < 0)
        return 0;
    /* After EINTR, too, the descriptor may be gone and given to another thread: no second try. */
    return close(descriptor) == 0 ? 0 : errno;
}

/* ---- directories ---- */

#ifdef O_PATH
#define SEARCH_ONLY O_PATH
#else
#define SEARCH_ONLY O_SEARCH
#endif

/* Open what leads to the last part of `path`; *last is that part, which may end in slashes.
 * AT_FDCWD: there is nothing before it; -1 and errno: a failure. */
static int
open_parent(const char *path, const char **last)
{
    size_t length = strlen(path);
    char *parent;
    int descriptor;

    while (length > 0 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    *last = path + length;
    if (length == 0)
        return AT_FDCWD;
    parent = strndup(path, length);
    if (parent == NULL)
        return -1;
    descriptor = open_descriptor(AT_FDCWD, parent, SEARCH_ONLY | O_DIRECTORY);
    free(parent);
    return descriptor;
}

/* As open_descriptor, of a directory. One that may not be read can be searched all the same. */
static int
open_readable(int parent, const char *path, bool *readable)
{
    int descriptor = open_descriptor(parent, path, O_RDONLY | O_DIRECTORY);

    *readable = descriptor >= 0;
    if (descriptor < 0 && errno == EACCES)
        descriptor = open_descriptor(parent, path, SEARCH_ONLY | O_DIRECTORY);
    return descriptor;
}

/* Make it and open it, both as an entry of one open directory: a path that is resolved twice may
 * lead to two places. */
static int
make_and_open(const char *path, bool *readable)
{
    const char *last;
    int parent = open_parent(path, &last);
    int descriptor = -1, error;

    if (parent == -1)
        return -1;
    if (mkdirat(parent, last, DIRECTORY_MODE) == 0 || errno == EEXIST)
        descriptor = open_readable(parent, last, readable);
    error = errno;
    if (parent != AT_FDCWD)
        (void)close(parent);
    errno = error;
    return descriptor;
}

static int
posix_open_directory(void *context, const char *path, bool create, petal_directory **directory)
{
    bool readable = false;
    int descriptor =
        create ? make_and_open(path, &readable) : open_readable(AT_FDCWD, path, &readable);

    (void)context;
    *directory = NULL;
    if (descriptor < 0)
        return errno;
    *directory = malloc(sizeof(**directory));
    if (*directory == NULL) {
        (void)close(descriptor);
        return ENOMEM;
    }
    **directory = (petal_directory){descriptor, readable};
    return 0;
}

static void
posix_close_directory(void *context, petal_directory *directory)
{
    (void)context;
    (void)close(directory->descriptor); /* nothing was written through it */
    free(directory);
}

static int
sync_names(int descriptor)
{
    int result;

    do {
        result = fsync(descriptor);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

static int
posix_sync_directory(void *context, petal_directory *directory)
{
    (void)context;
    return directory->readable ? sync_names(directory->descriptor) : EACCES;
}

static int
posix_sync_parent(void *context, petal_directory *directory)
{
    int parent = open_descriptor(directory->descriptor, "..", O_RDONLY | O_DIRECTORY);
    int error;

    (void)context;
    if (parent < 0)
        return errno;
    error = sync_names(parent);
    (void)close(parent);
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
posix_list_directory(void *context, petal_directory *directory,
                     void (*visit)(void *argument, const char *name), void *argument)
{
    /* Opened anew, since a descriptor and its copies share one position. */
    int descriptor = open_descriptor(directory->descriptor, ".", O_RDONLY | O_DIRECTORY);
    const char *name;
    DIR *list;
    int error;

    (void)context;
    if (descriptor < 0)
        return errno;
    list = fdopendir(descriptor);
    if (list == NULL) {
        error = errno;
        (void)close(descriptor);
        return error;
    }
    while ((name = next_name(list, &error)) != NULL)
        visit(argument, name);
    (void)closedir(list); /* nothing was written through it */
    return error;
}

static int
posix_rename(void *context, petal_directory *directory, const char *from, const char *to)
{
    (void)context;
    assert(strchr(from, '/') == NULL && strchr(to, '/') == NULL);
    return renameat(directory->descriptor, from, directory->descriptor, to) == 0 ? 0 : errno;
}

static int
posix_link(void *context, petal_directory *from_directory, const char *from,
           petal_directory *to_directory, const char *to)
{
    (void)context;
    assert(strchr(from, '/') == NULL && strchr(to, '/') == NULL);
    return linkat(from_directory->descriptor, from, to_directory->descriptor, to, 0) == 0 ? 0
                                                                                          : errno;
}

static int
posix_remove(void *context, petal_directory *directory, const char *name)
{
    (void)context;
    assert(strchr(name, '/') == NULL);
    return unlinkat(directory->descriptor, name, 0) == 0 ? 0 : errno;
}

static bool
is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is the directory `wanted` the one at the descriptor, or above it? Closes the descriptor. */
static int
search_upwards(int descriptor, const struct stat *wanted, bool *found)
{
    struct stat here = {.st_ino = 0};
    bool is_root = false;
    int error = fstat(descriptor, &here) == 0 ? 0 : errno;

    *found = error == 0 && is_same(&here, wanted);
    while (error == 0 && !*found && !is_root) {
        struct stat above;
        int parent = open_descriptor(descriptor, "..", SEARCH_ONLY | O_DIRECTORY);

        if (parent < 0 || fstat(parent, &above) != 0)
            error = errno;
        (void)close(descriptor);
        descriptor = parent;
        if (error == 0) {
            *found = is_same(&above, wanted);
            is_root = is_same(&above, &here);
            here = above;
        }
    }
    if (descriptor >= 0)
        (void)close(descriptor);
    return error;
}

static int
posix_contains(void *context, petal_directory *directory, const char *path, bool *contains)
{
    struct stat wanted;
    const char *last;
    int descriptor = open_descriptor(AT_FDCWD, path, SEARCH_ONLY | O_DIRECTORY);

    (void)context;
    *contains = false;
    if (descriptor < 0 && errno == ENOENT) {
        descriptor = open_parent(path, &last);
        if (descriptor == AT_FDCWD)
            descriptor = open_descriptor(AT_FDCWD, ".", SEARCH_ONLY | O_DIRECTORY);
    }
    if (descriptor < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : errno;
    if (fstat(directory->descriptor, &wanted) != 0) {
        int error = errno;

        (void)close(descriptor);
        return error;
    }
    return search_upwards(descriptor, &wanted, contains);
}

static int
posix_free_bytes(void *context, petal_directory *directory, uint64_t *bytes)
{
    struct statvfs status;
    uint64_t blocks, block_bytes;

    (void)context;
    *bytes = 0;
    if (fstatvfs(directory->descriptor, &status) != 0)
        return errno;
    if (status.f_blocks == 0)
        return ENOSYS; /* one without a size, as a tmpfs may be, or that does not tell it */
    blocks = status.f_bavail;
    block_bytes = status.f_frsize;
    *bytes =
        block_bytes == 0 || blocks <= UINT64_MAX / block_bytes ? blocks * block_bytes : UINT64_MAX;
    return 0;
}

const petal_vfs vfs_posix = {
    .context = NULL,
    .open_directory = posix_open_directory,
    .close_directory = posix_close_directory,
    .sync_directory = posix_sync_directory,
    .sync_parent = posix_sync_parent,
    .list_directory = posix_list_directory,
    .open = posix_open,
    .close = posix_close,
    .read_at = posix_read_at,
    .write_at = posix_write_at,
    .log_store = posix_log_store,
    .sync = posix_sync,
    .size = posix_size,
    .lock = posix_lock,
    .rename = posix_rename,
    .link = posix_link,
    .remove = posix_remove,
    .read_ahead = posix_read_ahead,
    .map = posix_map,
    .unmap = posix_unmap,
    .contains = posix_contains,
    .free_bytes = posix_free_bytes,
};

uint64_t
vfs_posix_memory_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);

    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
}

uint32_t
vfs_posix_most_open_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    return limit.rlim_cur < UINT32_MAX ? (uint32_t)limit.rlim_cur : UINT32_MAX;
}
