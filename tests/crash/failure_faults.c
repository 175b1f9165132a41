/* failure_faults.c -- see tests/crash/failure_faults.h. */
#include "tests/crash/failure_faults.h"

#include "tests/disk/state.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

_Thread_local struct failure_site *failure_site_now;

/* ---- sites ---- */

/* The section; in programs that link the library without sites there is none. */
extern struct failure_site *const __start_failure_sites[] __attribute__((weak));
extern struct failure_site *const __stop_failure_sites[] __attribute__((weak));

/* In the names under which sets are saved (bloom/file/set_file.h); digits follow. */
#define SET_MARK ".saving-"

static struct failure_site *sites[FAILURE_MOST_SITES];
static size_t site_count;

/* Code in a header stands in several objects. */
static bool
is_same(const struct failure_site *one, const struct failure_site *other)
{
    return one->line == other->line && strcmp(one->file, other->file) == 0 &&
           strcmp(one->called, other->called) == 0;
}

size_t
failure_sites_find(void)
{
    for (struct failure_site *const *at = __start_failure_sites;
         site_count == 0 || at < __stop_failure_sites; at++) {
        size_t number = 0;

        if (at == __stop_failure_sites)
            break;
        if ((*at)->number >= 0)
            continue;
        while (number < site_count && !is_same(sites[number], *at))
            number++;
        assert(number < FAILURE_MOST_SITES);
        if (number == site_count)
            sites[site_count++] = *at;
        (*at)->number = (int)number;
    }
    return site_count;
}

const struct failure_site *
failure_site_at(size_t number)
{
    assert(number < site_count);
    return sites[number];
}

const char *
failure_call_name(enum failure_call call)
{
    static const char *const names[] = {
        "open",   "create", "close",  "read",           "write",          "store",       "sync",
        "size",   "map",    "lock",   "open directory", "sync directory", "sync parent", "list",
        "rename", "link",   "remove", "contains",       "memory",
    };

    return names[call];
}

/* ---- what fails ---- */

/* Which calls fail of the same cause as the first one. */
static bool
is_of_the_cause(const struct failure_faults *faults, enum failure_call call)
{
    const unsigned makes = 1u << FAILURE_CREATE | 1u << FAILURE_WRITE | 1u << FAILURE_STORE |
                           1u << FAILURE_RENAME | 1u << FAILURE_LINK;
    unsigned calls = 1u << faults->first;

    switch (faults->plan.error) {
    case ENOSPC:
    case EDQUOT:
        calls |= makes;
        break;
    case EROFS:
        calls |= makes | 1u << FAILURE_REMOVE;
        break;
    case EMFILE:
    case ENFILE:
        calls |= 1u << FAILURE_OPEN | 1u << FAILURE_CREATE | 1u << FAILURE_OPEN_DIRECTORY;
        break;
    case EIO:
        calls |= ~(1u << FAILURE_MEMORY);
        break;
    default:
        break;
    }
    return (calls >> call & 1u) != 0;
}

/* A call that fails is about this file, too. */
static void
note_path(struct failure_faults *faults, const char *path)
{
    const char *last = strrchr(path, '/'), *mark;
    char name[sizeof faults->paths[0]];

    snprintf(name, sizeof name, "%s", last == NULL ? path : last + 1);
    /* Each try to save a set makes a name of its own: they are one file. */
    mark = strstr(name, SET_MARK);
    if (mark != NULL)
        name[mark - name + (ptrdiff_t)strlen(SET_MARK)] = '\0';
    if (failure_faults_names(faults, name) || faults->path_count == FAILURE_MOST_PATHS)
        return;
    memcpy(faults->paths[faults->path_count++], name, sizeof name);
}

/* Sets are saved under names of their own beside their files, in a directory of which nothing else
 * is found by such a path. */
static bool
is_of_set(const char *failed, const char *name)
{
    size_t length = strlen(name);

    return strcmp(failed, ".") == 0 ||
           (failed[0] == '.' && strncmp(failed + 1, name, length) == 0 &&
            strncmp(failed + 1 + length, SET_MARK, strlen(SET_MARK)) == 0);
}

/* Whether this call fails. REQUIRES: the mutex. */
static bool
must_fail(struct failure_faults *faults, enum failure_call call, const char *path)
{
    struct failure_site *site = failure_site_now;
    struct failure_plan *plan = &faults->plan;
    bool fails;

    failure_site_now = NULL;
    if (site == NULL) {
        faults->unknown++;
        return false;
    }
    if (faults->visits[site->number].count++ == 0)
        faults->visits[site->number].call = call;
    if (plan->site < 0)
        return false;
    if (faults->failed == 0) {
        fails = site->number == plan->site && faults->visits[site->number].count == plan->visit;
        if (fails)
            faults->first = call;
    } else {
        fails = plan->length != FAILURE_ONCE && is_of_the_cause(faults, call) &&
                (plan->length == FAILURE_FOR_GOOD || faults->failed <= plan->while_calls);
    }
    if (plan->error == FAILURE_SHORT_READ && call != FAILURE_READ)
        fails = false;
    if (faults->failed > 0 && site->number == plan->then && !faults->then_failed)
        fails = faults->then_failed = true;
    if (!fails)
        return false;
    faults->failed++;
    faults->failed_at[site->number]++;
    faults->calls_failed |= 1u << call;
    if (path != NULL)
        note_path(faults, path);
    return true;
}

bool
failure_faults_names(struct failure_faults *faults, const char *path)
{
    const char *last = strrchr(path, '/');
    bool named = false;

    last = last == NULL ? path : last + 1;
    if (strcmp(last, "MANIFEST") == 0 && failure_faults_names(faults, "MANIFEST.tmp"))
        return true; /* under which it was made */
    pthread_mutex_lock(&faults->mutex);
    for (size_t i = 0; i < faults->path_count; i++)
        named = named || strcmp(faults->paths[i], last) == 0 || is_of_set(faults->paths[i], last);
    pthread_mutex_unlock(&faults->mutex);
    return named;
}

static bool
enter(struct failure_faults *faults, enum failure_call call, const char *path)
{
    pthread_mutex_lock(&faults->mutex);
    return must_fail(faults, call, path);
}

static int
leave(struct failure_faults *faults, int result)
{
    pthread_mutex_unlock(&faults->mutex);
    return result;
}

/* Whether a call that fails has done its work, where it cannot be done in part. */
static bool
has_done(const struct failure_faults *faults)
{
    return faults->plan.effect == FAILURE_DID_ALL;
}

/* The disk's own way to fail, which says what becomes of unsynced bytes. */
static void
let_disk_fail(struct failure_faults *faults)
{
    memory_vfs_fail_at(faults->disk, 1, faults->plan.error, false);
}

/* ---- files ---- */

static int
open_file(void *context, petal_directory *directory, const char *name, unsigned flags,
          petal_file **file)
{
    struct failure_faults *faults = context;
    const petal_vfs *below = faults->below;
    bool fails =
        enter(faults, (flags & PETAL_FILE_CREATE) != 0 ? FAILURE_CREATE : FAILURE_OPEN, name);
    int result;

    *file = NULL;
    if (!fails || has_done(faults))
        result = below->open(below->context, directory, name, flags, file);
    if (fails && *file != NULL)
        below->close(below->context, *file);
    if (fails)
        *file = NULL;
    return leave(faults, fails ? faults->plan.error : result);
}

static int
close_file(void *context, petal_file *file)
{
    struct failure_faults *faults = context;
    bool fails = enter(faults, FAILURE_CLOSE, file->path);
    int result = faults->below->close(faults->below->context, file);

    return leave(faults, fails ? faults->plan.error : result);
}

/* How many of `size` bytes a failed call has moved. */
static size_t
moved(const struct failure_faults *faults, size_t size)
{
    switch (faults->plan.effect) {
    case FAILURE_DID_HALF:
        return size / 2;
    case FAILURE_DID_MOST:
        return size > 0 ? size - 1 : 0;
    case FAILURE_DID_ALL:
        return size;
    default:
        return 0;
    }
}

static int
read_at(void *context, petal_file *file, uint64_t offset, void *buffer, size_t size,
        size_t *read_bytes)
{
    struct failure_faults *faults = context;
    bool fails = enter(faults, FAILURE_READ, file->path);
    int result =
        faults->below->read_at(faults->below->context, file, offset, buffer, size, read_bytes);

    if (fails) {
        size_t kept = has_done(faults) ? 0 : moved(faults, *read_bytes);

        memset((uint8_t *)buffer + kept, 0xE7, size - kept);
        *read_bytes = faults->plan.error == FAILURE_SHORT_READ ? kept : 0;
        result = faults->plan.error == FAILURE_SHORT_READ ? 0 : faults->plan.error;
    }
    return leave(faults, result);
}

static int
write_at(void *context, petal_file *file, uint64_t offset, const void *bytes, size_t size)
{
    struct failure_faults *faults = context;
    bool fails = enter(faults, FAILURE_WRITE, file->path);
    int result = faults->below->write_at(faults->below->context, file, offset, bytes,
                                         fails ? moved(faults, size) : size);

    return leave(faults, fails ? faults->plan.error : result);
}

static int
log_store(void *context, petal_file *file, uint64_t offset, const void *bytes, size_t size)
{
    struct failure_faults *faults = context;
    bool fails = enter(faults, FAILURE_STORE, file->path);
    int result;

    if (fails)
        result = faults->below->write_at(faults->below->context, file, offset, bytes,
                                         moved(faults, size));
    else
        result = faults->below->log_store(faults->below->context, file, offset, bytes, size);
    return leave(faults, fails ? faults->plan.error : result);
}

static int
sync_file(void *context, petal_file *file)
{
    struct failure_faults *faults = context;
    bool fails = enter(faults, FAILURE_SYNC, file->path);
    int result;

    if (fails && !has_done(faults))
        let_disk_fail(faults);
    result = faults->below->sync(faults->below->context, file);
    return leave(faults, fails ? faults->plan.error : result);
}

static int
size_of(void *context, petal_file *file, uint64_t *size)
{
    struct failure_faults *faults = context;
    bool fails = enter(faults, FAILURE_SIZE, file->path);
    int result = faults->below->size(faults->below->context, file, size);

    if (fails)
        *size = 0;
    return leave(faults, fails ? faults->plan.error : result);
}

static int
map(void *context, petal_file *file, uint64_t size, const void **memory)
{
    struct failure_faults *faults = context;
    bool fails = enter(faults, FAILURE_MAP, file->path);
    int result =
        fails ? faults->plan.error : faults->below->map(faults->below->context, file, size, memory);

    if (fails)
        *memory = NULL;
    return leave(faults, result);
}

static void
unmap(void *context, const void *memory, uint64_t size)
{
    struct failure_faults *faults = context;

    faults->below->unmap(faults->below->context, memory, size);
}

static int
lock_file(void *context, petal_file *file, bool shared)
{
    struct failure_faults *faults = context;
    bool fails = enter(faults, FAILURE_LOCK, file->path);

    return leave(faults, fails ? faults->plan.error
                               : faults->below->lock(faults->below->context, file, shared));
}

/* ---- directories ---- */

static int
open_directory(void *context, const char *path, bool create, petal_directory **directory)
{
    struct failure_faults *faults = context;
    const petal_vfs *below = faults->below;
    bool fails = enter(faults, FAILURE_OPEN_DIRECTORY, path);
    int result = 0;

    *directory = NULL;
    if (!fails || has_done(faults))
        result = below->open_directory(below->context, path, create, directory);
    if (fails && *directory != NULL)
        below->close_directory(below->context, *directory);
    if (fails)
        *directory = NULL;
    return leave(faults, fails ? faults->plan.error : result);
}

static void
close_directory(void *context, petal_directory *directory)
{
    struct failure_faults *faults = context;

    faults->below->close_directory(faults->below->context, directory);
}

static int
sync_directory(void *context, petal_directory *directory)
{
    struct failure_faults *faults = context;
    bool fails = enter(faults, FAILURE_SYNC_DIRECTORY, directory->path);
    int result;

    if (fails && !has_done(faults))
        let_disk_fail(faults);
    result = faults->below->sync_directory(faults->below->context, directory);
    return leave(faults, fails ? faults->plan.error : result);
}

static int
sync_parent(void *context, petal_directory *directory)
{
    struct failure_faults *faults = context;
    bool fails = enter(faults, FAILURE_SYNC_PARENT, directory->path);
    int result;

    if (fails && !has_done(faults))
        let_disk_fail(faults);
    result = faults->below->sync_parent(faults->below->context, directory);
    return leave(faults, fails ? faults->plan.error : result);
}

static int
list_directory(void *context, petal_directory *directory,
               void (*visit)(void *argument, const char *name), void *argument)
{
    struct failure_faults *faults = context;
    bool fails = enter(faults, FAILURE_LIST, directory->path);
    int result = 0;

    if (!fails || has_done(faults))
        result = faults->below->list_directory(faults->below->context, directory, visit, argument);
    return leave(faults, fails ? faults->plan.error : result);
}

static int
rename_file(void *context, petal_directory *directory, const char *from, const char *to)
{
    struct failure_faults *faults = context;
    bool fails = enter(faults, FAILURE_RENAME, from);
    int result = 0;

    if (fails)
        note_path(faults, to);
    if (!fails || has_done(faults))
        result = faults->below->rename(faults->below->context, directory, from, to);
    return leave(faults, fails ? faults->plan.error : result);
}

static int
link_file(void *context, petal_directory *from_directory, const char *from,
          petal_directory *to_directory, const char *to)
{
    struct failure_faults *faults = context;
    bool fails = enter(faults, FAILURE_LINK, from);
    int result = 0;

    if (fails)
        note_path(faults, to);
    if (!fails || has_done(faults))
        result =
            faults->below->link(faults->below->context, from_directory, from, to_directory, to);
    return leave(faults, fails ? faults->plan.error : result);
}

static int
remove_file(void *context, petal_directory *directory, const char *name)
{
    struct failure_faults *faults = context;
    bool fails = enter(faults, FAILURE_REMOVE, name);
    int result = 0;

    if (!fails || has_done(faults))
        result = faults->below->remove(faults->below->context, directory, name);
    return leave(faults, fails ? faults->plan.error : result);
}

static int
contains_path(void *context, petal_directory *directory, const char *path, bool *contains)
{
    struct failure_faults *faults = context;
    bool fails = enter(faults, FAILURE_CONTAINS, path);

    *contains = false;
    return leave(
        faults, fails ? faults->plan.error
                      : faults->below->contains(faults->below->context, directory, path, contains));
}

/* ---- memory ---- */

static void *
allocate(void *context, size_t alignment, size_t size)
{
    struct failure_faults *faults = context;
    bool fails = enter(faults, FAILURE_MEMORY, NULL);

    leave(faults, 0);
    return fails ? NULL
                 : faults->memory_below->allocate(faults->memory_below->context, alignment, size);
}

static void
release(void *context, void *memory, size_t size)
{
    struct failure_faults *faults = context;

    faults->memory_below->release(faults->memory_below->context, memory, size);
}

/* ---- life ---- */

void
failure_faults_init(struct failure_faults *faults, struct memory_vfs *disk,
                    const petal_allocator *memory)
{
    pthread_mutexattr_t recursive;

    memset(faults, 0, sizeof *faults);
    faults->disk = disk;
    faults->below = memory_vfs_table(disk);
    faults->memory_below = memory;
    faults->plan.site = faults->plan.then = -1;
    faults->vfs = (petal_vfs){.context = faults,
                              .open_directory = open_directory,
                              .close_directory = close_directory,
                              .sync_directory = sync_directory,
                              .sync_parent = sync_parent,
                              .list_directory = list_directory,
                              .open = open_file,
                              .close = close_file,
                              .read_at = read_at,
                              .write_at = write_at,
                              .log_store = log_store,
                              .sync = sync_file,
                              .size = size_of,
                              .lock = lock_file,
                              .rename = rename_file,
                              .link = link_file,
                              .remove = remove_file,
                              .map = map,
                              .unmap = unmap,
                              .contains = contains_path};
    faults->allocator = (petal_allocator){faults, allocate, release};
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&faults->mutex, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

void
failure_faults_fini(struct failure_faults *faults)
{
    pthread_mutex_destroy(&faults->mutex);
}

void
failure_faults_plan(struct failure_faults *faults, const struct failure_plan *plan)
{
    pthread_mutex_lock(&faults->mutex);
    memset(faults->visits, 0, sizeof faults->visits);
    faults->plan = *plan;
    memory_vfs_revert_on_failed_sync(faults->disk, plan->reverts);
    faults->failed = 0;
    faults->then_failed = false;
    memset(faults->failed_at, 0, sizeof faults->failed_at);
    faults->calls_failed = 0;
    faults->path_count = 0;
    pthread_mutex_unlock(&faults->mutex);
}

void
failure_faults_forget_visits(struct failure_faults *faults)
{
    pthread_mutex_lock(&faults->mutex);
    memset(faults->visits, 0, sizeof faults->visits);
    pthread_mutex_unlock(&faults->mutex);
}

void
failure_faults_heal(struct failure_faults *faults)
{
    pthread_mutex_lock(&faults->mutex);
    faults->plan.site = faults->plan.then = -1;
    memory_vfs_fail_at(faults->disk, 0, 0, false);
    pthread_mutex_unlock(&faults->mutex);
}
