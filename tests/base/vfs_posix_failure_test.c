/*
 * vfs_posix_failure_test.c -- each system call of the file layer fails, with each error, at each
 * visit: a call that a signal interrupts begins again, a short one goes on, all else is returned as
 * it is and leaves no descriptor after.
 *
 * The program has functions of the names of the system calls, which the linker takes in place of
 * the C library's. A call that base/vfs_posix.c or base/wal_window.c makes and that is not among
 * them fails the test: the names that their object files lack are the list.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/vfs_posix.h"
#include "tests/support/test_support.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* ---- system calls that fail ---- */

/* clang-format off */
#define CALLS(X)                                                                                   \
    X(openat) X(fstat) X(fstatvfs) X(pread) X(pwrite) X(fdatasync) X(fsync) X(flock) X(fcntl)      \
    X(close) X(mkdirat) X(renameat) X(linkat) X(unlinkat) X(posix_fadvise) X(fdopendir) X(readdir) \
    X(mmap) X(madvise) X(mlock) X(pwritev) X(ftruncate) X(fstatfs) X(getrlimit)
/* clang-format on */

enum call {
#define CALL(name) CALL_##name,
    CALLS(CALL)
#undef CALL
        CALL_COUNT
};

static const char *const call_names[] = {
#define CALL(name) #name,
    CALLS(CALL)
#undef CALL
};

static struct {
    bool on;
    unsigned visits[CALL_COUNT];
    int call; /* that fails at this visit; -1: none */
    unsigned visit;
    int error;
    bool is_short;              /* each read and write moves a byte only */
    const struct statvfs *told; /* of every file system; NULL: what is so */
} faults;

/* The C library's own function. */
static void *
real(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);

    if (function == NULL)
        abort();
    return function;
}

#define REAL(type, name) (*(type *)&(void *){real(name)})

static bool
fails(enum call call)
{
    if (!faults.on)
        return false;
    faults.visits[call]++;
    if ((int)call != faults.call || faults.visits[call] != faults.visit)
        return false;
    errno = faults.error;
    return true;
}

int
openat(int directory, const char *path, int flags, ...)
{
    va_list arguments;
    int mode;

    va_start(arguments, flags);
    mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
    va_end(arguments);
    return fails(CALL_openat) ? -1 : (int)syscall(SYS_openat, directory, path, flags, mode);
}

int
fstat(int descriptor, struct stat *status)
{
    return fails(CALL_fstat) ? -1 : fstatat(descriptor, "", status, AT_EMPTY_PATH);
}

int
fstatvfs(int descriptor, struct statvfs *status)
{
    typedef int function(int, struct statvfs *);

    if (fails(CALL_fstatvfs))
        return -1;
    if (faults.told == NULL)
        return REAL(function *, "fstatvfs")(descriptor, status);
    *status = *faults.told;
    return 0;
}

ssize_t
pread(int descriptor, void *bytes, size_t size, off_t offset)
{
    if (fails(CALL_pread))
        return -1;
    return syscall(SYS_pread64, descriptor, bytes, faults.is_short && size > 1 ? 1 : size, offset);
}

ssize_t
pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
    if (fails(CALL_pwrite))
        return faults.error == 0 ? 0 : -1;
    return syscall(SYS_pwrite64, descriptor, bytes, faults.is_short && size > 1 ? 1 : size, offset);
}

int
fdatasync(int descriptor)
{
    return fails(CALL_fdatasync) ? -1 : (int)syscall(SYS_fdatasync, descriptor);
}

int
fsync(int descriptor)
{
    return fails(CALL_fsync) ? -1 : (int)syscall(SYS_fsync, descriptor);
}

int
flock(int descriptor, int operation)
{
    return fails(CALL_flock) ? -1 : (int)syscall(SYS_flock, descriptor, operation);
}

int
fcntl(int descriptor, int command, ...)
{
    va_list arguments;
    void *argument;

    va_start(arguments, command);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    return fails(CALL_fcntl) ? -1 : (int)syscall(SYS_fcntl, descriptor, command, argument);
}

/* It has closed, whatever it says. */
int
close(int descriptor)
{
    int result = (int)syscall(SYS_close, descriptor);

    return fails(CALL_close) ? -1 : result;
}

int
mkdirat(int directory, const char *path, mode_t mode)
{
    return fails(CALL_mkdirat) ? -1 : (int)syscall(SYS_mkdirat, directory, path, mode);
}

int
renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    return fails(CALL_renameat)
               ? -1
               : (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, 0);
}

int
linkat(int from_directory, const char *from, int to_directory, const char *to, int flags)
{
    return fails(CALL_linkat)
               ? -1
               : (int)syscall(SYS_linkat, from_directory, from, to_directory, to, flags);
}

int
unlinkat(int directory, const char *path, int flags)
{
    return fails(CALL_unlinkat) ? -1 : (int)syscall(SYS_unlinkat, directory, path, flags);
}

int
posix_fadvise(int descriptor, off_t offset, off_t size, int advice)
{
    if (fails(CALL_posix_fadvise))
        return faults.error;
    return (int)syscall(SYS_fadvise64, descriptor, offset, size, advice);
}

/* Those of the C library make the calls. */
DIR *
fdopendir(int descriptor)
{
    typedef DIR *function(int);

    return fails(CALL_fdopendir) ? NULL : REAL(function *, "fdopendir")(descriptor);
}

struct dirent *
readdir(DIR *directory)
{
    typedef struct dirent *function(DIR *);

    return fails(CALL_readdir) ? NULL : REAL(function *, "readdir")(directory);
}

void *
mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset)
{
    if (fails(CALL_mmap))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, address, size, protection, flags, descriptor, offset);
}

int
madvise(void *address, size_t size, int advice)
{
    return fails(CALL_madvise) ? -1 : (int)syscall(SYS_madvise, address, size, advice);
}

int
mlock(const void *address, size_t size)
{
    return fails(CALL_mlock) ? -1 : (int)syscall(SYS_mlock, address, size);
}

ssize_t
pwritev(int descriptor, const struct iovec *vectors, int count, off_t offset)
{
    typedef ssize_t function(int, const struct iovec *, int, off_t);

    if (fails(CALL_pwritev))
        return faults.error == 0 ? 0 : -1;
    return REAL(function *, "pwritev")(descriptor, vectors, faults.is_short ? 1 : count, offset);
}

int
ftruncate(int descriptor, off_t size)
{
    return fails(CALL_ftruncate) ? -1 : (int)syscall(SYS_ftruncate, descriptor, size);
}

int
fstatfs(int descriptor, struct statfs *status)
{
    return fails(CALL_fstatfs) ? -1 : (int)syscall(SYS_fstatfs, descriptor, status);
}

int
getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
    return fails(CALL_getrlimit) ? -1 : (int)syscall(SYS_prlimit64, 0, resource, NULL, limit);
}

/* What the object files lack and is no system call, or one that is tried elsewhere. */
static const char *const harmless[] = {
    "__assert_fail",
    "__errno_location",
    "free",
    "malloc",
    "memcpy",
    "memset",
    "strcmp",
    "strchr",
    "strcmp",
    "strlen",
    "strndup",
    "sysconf",
    "pthread_atfork",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_once",
    "pthread_self",
    "pthread_mutex_init",
    "closedir",
    "wal_window_",
    "mutex_",
    "_GLOBAL_OFFSET_TABLE_",
    "__asan_",
    "__ubsan_",
    "__tsan_",
    "__stack_chk_fail",
    "__gcov",
    "__sanitizer",
    "llvm_",
    "munmap", /* it does not fail of what was mapped */
    "getpid",
    "snprintf",
    "__snprintf_chk",
    "strtol",
    "__isoc23_strtol",
};

static bool
is_known(const char *name)
{
    for (size_t i = 0; i < CALL_COUNT; i++) {
        if (strcmp(name, call_names[i]) == 0)
            return true;
    }
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        if (strncmp(name, harmless[i], strlen(harmless[i])) == 0)
            return true;
    }
    return false;
}

static char *object_files;

static void
test_every_system_call_is_known(void **state)
{
    char command[600], name[200];
    unsigned unknown = 0, seen = 0;
    FILE *names;

    (void)state;
    snprintf(command, sizeof command,
             "cd '%s' && nm -u vfs_posix.o wal_window.o | awk 'NF == 2 {print $NF}'", object_files);
    names = popen(command, "r");
    assert_non_null(names);
    while (fscanf(names, "%199s", name) == 1) {
        seen++;
        if (is_known(name))
            continue;
        print_error("base/ calls %s, which is not made to fail\n", name);
        unknown++;
    }
    pclose(names);
    assert_true(seen > 20);
    assert_int_equal(unknown, 0);
}

/* ---- what the file layer does ---- */

struct files {
    char *path;
    petal_directory *directory;
    petal_file *file;
};

static void
ignore_name(void *argument, const char *name)
{
    *(size_t *)argument += strlen(name);
}

#define VFS (&vfs_posix)

static int
do_open(struct files *files)
{
    petal_file *file;
    int error =
        VFS->open(NULL, files->directory, "other", PETAL_FILE_WRITE | PETAL_FILE_CREATE, &file);

    assert_true((error == 0) == (file != NULL));
    if (error == 0) {
        faults.on = false;
        VFS->close(NULL, file);
    }
    return error;
}

static int
do_close(struct files *files)
{
    int error = VFS->close(NULL, files->file);

    files->file = NULL;
    return error;
}

static int
do_read(struct files *files)
{
    char bytes[8] = "";
    size_t got;
    int error = VFS->read_at(NULL, files->file, 0, bytes, 8, &got);

    if (error == 0) {
        assert_int_equal(got, 8);
        assert_memory_equal(bytes, "contents", 8);
    }
    return error;
}

static int
do_write(struct files *files)
{
    int error = VFS->write_at(NULL, files->file, 0, "contents", 8);

    faults.on = false;
    if (error == 0)
        assert_int_equal(do_read(files), 0);
    return error;
}

static int
do_sync(struct files *files)
{
    return VFS->sync(NULL, files->file);
}

static int
do_size(struct files *files)
{
    uint64_t size;
    int error = VFS->size(NULL, files->file, &size);

    assert_int_equal(size, error == 0 ? 8 : 0);
    return error;
}

static int
do_lock(struct files *files)
{
    return VFS->lock(NULL, files->file, 0, 0, PETAL_LOCK_EXCLUSIVE);
}

static int
do_open_directory(struct files *files)
{
    petal_directory *directory;
    int error = VFS->open_directory(NULL, files->path, false, &directory);

    if (error == 0)
        VFS->close_directory(NULL, directory);
    return error;
}

static int
do_make_directory(struct files *files)
{
    char *path = test_path(files->path, "made");
    petal_directory *directory;
    int error = VFS->open_directory(NULL, path, true, &directory);

    if (error == 0)
        VFS->close_directory(NULL, directory);
    free(path);
    return error;
}

static int
do_sync_directory(struct files *files)
{
    return VFS->sync_directory(NULL, files->directory);
}

static int
do_sync_parent(struct files *files)
{
    return VFS->sync_parent(NULL, files->directory);
}

static int
do_list(struct files *files)
{
    size_t bytes = 0;
    int error = VFS->list_directory(NULL, files->directory, ignore_name, &bytes);

    assert_true(error != 0 || bytes > 0);
    return error;
}

static int
do_rename(struct files *files)
{
    return VFS->rename(NULL, files->directory, "file", "renamed");
}

static int
do_link(struct files *files)
{
    return VFS->link(NULL, files->directory, "file", files->directory, "linked");
}

static int
do_remove(struct files *files)
{
    return VFS->remove(NULL, files->directory, "file");
}

static int
do_contains(struct files *files)
{
    char *path = test_path(files->path, "deep/new");
    bool contains;
    int error = VFS->contains(NULL, files->directory, path, &contains);

    free(path);
    assert_false(contains); /* "deep" is not there */
    if (error != 0)
        return error;
    path = test_path(files->path, "new");
    error = VFS->contains(NULL, files->directory, path, &contains);
    free(path);
    if (error != 0)
        return error;
    assert_true(contains);
    error = VFS->contains(NULL, files->directory, "/", &contains);
    assert_false(contains);
    return error != 0 ? error : VFS->contains(NULL, files->directory, "nowhere", &contains);
}

static int
do_free_bytes(struct files *files)
{
    uint64_t bytes;

    return VFS->free_bytes(NULL, files->directory, &bytes);
}

static int
do_read_ahead(struct files *files)
{
    VFS->read_ahead(NULL, files->file, 0, 8);
    return 0;
}

static int
do_map(struct files *files)
{
    const void *memory;
    int error = VFS->map(NULL, files->file, 8, &memory);

    if (error == 0) {
        assert_memory_equal(memory, "contents", 8);
        VFS->unmap(NULL, memory, 8);
    }
    assert_true((error == 0) == (memory != NULL));
    return error;
}

/* As a log is written: so many small stores that a window is made for the last ones, a sync, as
 * many again. What makes windows may fail: then they are written, and it is no failure. */
#define STORES      80
#define STORE_BYTES 16

static int
do_store(struct files *files)
{
    char bytes[STORE_BYTES], stored[STORES][STORE_BYTES];
    petal_file *log;
    size_t got;
    int error =
        VFS->open(NULL, files->directory, "log", PETAL_FILE_WRITE | PETAL_FILE_CREATE, &log);

    for (unsigned i = 0; error == 0 && i < STORES; i++) {
        memset(bytes, 'a' + (char)(i % 26), sizeof bytes);
        error = VFS->log_store(NULL, log, i * sizeof bytes, bytes, sizeof bytes);
        if (error == 0 && i == STORES / 2)
            error = VFS->sync(NULL, log);
    }
    if (error == 0)
        error = VFS->read_at(NULL, log, 0, stored, sizeof stored, &got);
    for (unsigned i = 0; error == 0 && i < STORES; i++) {
        memset(bytes, 'a' + (char)(i % 26), sizeof bytes);
        assert_memory_equal(stored[i], bytes, sizeof bytes);
    }
    if (log != NULL)
        VFS->close(NULL, log);
    return error;
}

static const struct {
    const char *name;
    int (*act)(struct files *files);
} acts[] = {
    {"open", do_open},
    {"close", do_close},
    {"read", do_read},
    {"write", do_write},
    {"sync", do_sync},
    {"size", do_size},
    {"lock", do_lock},
    {"open directory", do_open_directory},
    {"make directory", do_make_directory},
    {"sync directory", do_sync_directory},
    {"sync parent", do_sync_parent},
    {"list", do_list},
    {"rename", do_rename},
    {"link", do_link},
    {"remove", do_remove},
    {"contains", do_contains},
    {"free bytes", do_free_bytes},
    {"read ahead", do_read_ahead},
    {"map", do_map},
    {"store", do_store},
};

/* ---- failing ---- */

static size_t
count_descriptors(void)
{
    DIR *list = opendir("/proc/self/fd");
    size_t count = 0;

    while (list != NULL && readdir(list) != NULL)
        count++;
    if (list != NULL)
        closedir(list);
    return count;
}

/* What the act must return when the call fails so. */
static int
expected(size_t act, enum call call, int error)
{
    bool begins_again = call == CALL_openat || call == CALL_pread || call == CALL_pwrite ||
                        call == CALL_fdatasync || call == CALL_fsync || call == CALL_flock;

    if (error == EINTR && begins_again)
        return 0;
    if (call == CALL_close) /* told where something was written */
        return acts[act].act == do_close ? error : 0;
    if (call == CALL_mkdirat && error == EEXIST)
        return ENOENT; /* another one has it, they say, and it is not there */
    if (call == CALL_openat && error == EACCES &&
        (acts[act].act == do_open_directory || acts[act].act == do_make_directory))
        return -1; /* the directory is opened to be searched, or its parent is not opened */
    if (call == CALL_fcntl && error == EINVAL)
        return 0; /* flock does it */
    if (call == CALL_fcntl && (error == EACCES || error == EAGAIN))
        return EAGAIN;
    if (call == CALL_pwrite && error == 0)
        return EIO; /* no progress, and no reason */
    if (call == CALL_fstat && acts[act].act == do_read_ahead)
        return 0;
    /* Hints, and what windows of logs are made of. */
    if (call >= CALL_madvise || (call == CALL_mmap && acts[act].act == do_store))
        return 0;
    return call == CALL_posix_fadvise ? 0 : error;
}

static int
run(size_t act, int call, unsigned visit, int error, bool is_short)
{
    size_t descriptors = count_descriptors();
    struct files files = {.path = test_directory_new()};
    int result;

    faults.on = false;
    assert_int_equal(VFS->open_directory(NULL, files.path, false, &files.directory), 0);
    assert_int_equal(
        VFS->open(NULL, files.directory, "file", PETAL_FILE_WRITE | PETAL_FILE_CREATE, &files.file),
        0);
    assert_int_equal(VFS->write_at(NULL, files.file, 0, "contents", 8), 0);
    memset(faults.visits, 0, sizeof faults.visits);
    faults.call = call;
    faults.visit = visit;
    faults.error = error;
    faults.is_short = is_short;
    faults.on = true;
    result = acts[act].act(&files);
    faults.on = faults.is_short = false;
    if (files.file != NULL)
        VFS->close(NULL, files.file);
    VFS->close_directory(NULL, files.directory);
    test_directory_free(files.path);
    assert_int_equal(count_descriptors(), descriptors);
    return result;
}

/* Of a call that is made again and again in an act, so many fail with each error; the others with
 * the first ones. */
#define ALL_ERRORS    3
#define COMMON_ERRORS 3

static void
test_every_system_call_fails(void **state)
{
    static const int errors[] = {EIO,   ENOSPC, EINTR,  EDQUOT, EMFILE, ENFILE, EAGAIN,
                                 EROFS, EACCES, ENOMEM, EPERM,  EXDEV,  EINVAL, 0};
    uint64_t tried = 0, wrong = 0;

    (void)state;
    for (size_t act = 0; act < sizeof acts / sizeof *acts; act++) {
        unsigned visits[CALL_COUNT];

        assert_int_equal(run(act, -1, 0, 0, false), 0);
        memcpy(visits, faults.visits, sizeof visits);
        for (unsigned visit = 1, call = 0; call < CALL_COUNT;
             visit < visits[call] ? visit++ : (visit = 1, call++)) {
            for (size_t i = 0; visit <= visits[call] && i < sizeof errors / sizeof *errors; i++) {
                int error = errors[i], wanted, result;

                if (error == 0 && call != CALL_pwrite && call != CALL_pwritev)
                    continue;
                if (visit > ALL_ERRORS && i >= COMMON_ERRORS)
                    continue;
                wanted = expected(act, call, error);
                result = run(act, (int)call, visit, error, false);
                tried++;
                if (result == wanted || (wanted == -1 && (result == 0 || result == error)))
                    continue;
                print_error("%s, visit %u of %s fails with %d: %d is returned, not %d\n",
                            acts[act].name, visit, call_names[call], error, result, wanted);
                wrong++;
            }
        }
    }
    test_counted("%" PRIu64 " failures of system calls", tried);
    assert_true(tried > 250);
    assert_int_equal(wrong, 0);
}

static void
test_short_calls_go_on(void **state)
{
    (void)state;
    for (size_t act = 0; act < sizeof acts / sizeof *acts; act++)
        assert_int_equal(run(act, -1, 0, 0, true), 0);
}

/* Also of a file system that has more than fits into a number, or does not tell its size. */
static void
test_free_bytes_are_what_the_file_system_tells(void **state)
{
    static const struct {
        struct statvfs told;
        uint64_t bytes; /* 0: not known */
    } systems[] = {
        {{.f_blocks = 100, .f_bfree = 50, .f_bavail = 30, .f_bsize = 65536, .f_frsize = 512},
         30 * 512},
        {{.f_blocks = UINT64_MAX, .f_bavail = UINT64_MAX / 512, .f_frsize = 512},
         UINT64_MAX / 512 * 512},
        {{.f_blocks = UINT64_MAX, .f_bavail = UINT64_MAX / 512 + 1, .f_frsize = 512}, UINT64_MAX},
        {{.f_bavail = 30, .f_bsize = 512, .f_frsize = 512}, 0},
    };
    char *path = test_directory_new();
    petal_directory *directory;
    uint64_t bytes;

    (void)state;
    assert_int_equal(VFS->open_directory(NULL, path, false, &directory), 0);
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        faults.told = &systems[i].told;
        assert_int_equal(VFS->free_bytes(NULL, directory, &bytes),
                         systems[i].bytes == 0 ? ENOSYS : 0);
        assert_true(bytes == systems[i].bytes);
    }
    faults.told = NULL;
    VFS->close_directory(NULL, directory);
    test_directory_free(path);
}

int
main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_system_call_is_known),
        cmocka_unit_test(test_every_system_call_fails),
        cmocka_unit_test(test_short_calls_go_on),
        cmocka_unit_test(test_free_bytes_are_what_the_file_system_tells),
    };
    char *end;
    int failed;

    if (count < 1)
        return 2;
    object_files = test_strdup(arguments[0]);
    end = strstr(object_files, "tests/base/vfs_posix_failure_test");
    if (end == NULL)
        return 2;
    memcpy(end, "base", sizeof "base");
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(object_files);
    return failed;
}
