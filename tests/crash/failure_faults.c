/* failure_faults.c -- see tests/crash/failure_faults.h. */
#include "tests/crash/failure_faults.h"

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

/* ---- what fails ---- */

/* Which calls fail of the same cause as the first one. */
static bool
is_of_the_cause(const struct failure_faults *faults, unsigned call)
{
    const unsigned makes = 1u << FAILURE_CREATE | 1u << MEMORY_VFS_WRITE |
                           1u << MEMORY_VFS_LOG_STORE | 1u << MEMORY_VFS_RENAME |
                           1u << MEMORY_VFS_LINK;
    unsigned calls = 1u << faults->first;

    switch (faults->plan.error) {
    case ENOSPC:
    case EDQUOT:
        calls |= makes;
        break;
    case EROFS:
        calls |= makes | 1u << MEMORY_VFS_REMOVE;
        break;
    case EMFILE:
    case ENFILE:
        calls |= 1u << MEMORY_VFS_OPEN | 1u << FAILURE_CREATE | 1u << MEMORY_VFS_OPEN_DIRECTORY;
        break;
    case EIO:
        calls |= ~(1u << FAILURE_MEMORY);
        break;
    default:
        break;
    }
    return (calls >> call & 1u) != 0;
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

static bool
is_named(const struct failure_faults *faults, const char *path)
{
    const char *last = strrchr(path, '/');
    bool named = false;

    last = last == NULL ? path : last + 1;
    if (strcmp(last, "MANIFEST") == 0 && is_named(faults, "MANIFEST.tmp"))
        return true; /* under which it was made */
    for (size_t i = 0; i < faults->path_count; i++)
        named = named || strcmp(faults->paths[i], last) == 0 || is_of_set(faults->paths[i], last);
    return named;
}

bool
failure_faults_names(struct failure_faults *faults, const char *path)
{
    bool named;

    pthread_mutex_lock(&faults->mutex);
    named = is_named(faults, path);
    pthread_mutex_unlock(&faults->mutex);
    return named;
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
    if (is_named(faults, name) || faults->path_count == FAILURE_MOST_PATHS)
        return;
    memcpy(faults->paths[faults->path_count++], name, sizeof name);
}

/* Whether this call fails. REQUIRES: the mutex. */
static bool
must_fail(struct failure_faults *faults, unsigned call, const char *path, const char *to)
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
    if (plan->error == MEMORY_SHORT_READ && call != MEMORY_VFS_READ)
        fails = false;
    if (faults->failed > 0 && site->number == plan->then && !faults->then_failed)
        fails = faults->then_failed = true;
    if (!fails)
        return false;
    faults->failed++;
    faults->failed_at[site->number]++;
    faults->calls_failed |= 1u << call;
    if (path == NULL || strstr(path, ".sst") == NULL)
        faults->failed_but_stores |= 1u << call;
    if (path != NULL)
        note_path(faults, path);
    if (to != NULL)
        note_path(faults, to);
    return true;
}

/* Before each call of the disk, which has a way to fail of its own: it says what becomes of
 * unsynced bytes. */
static void
watch_call(void *argument, const struct memory_vfs_call *call, const void *bytes)
{
    struct failure_faults *faults = argument;
    unsigned asked = call->creates ? (unsigned)FAILURE_CREATE : (unsigned)call->operation;

    (void)bytes;
    pthread_mutex_lock(&faults->mutex);
    if (must_fail(faults, asked, call->path, call->to))
        memory_vfs_fail_at(faults->disk, 1, faults->plan.error, false);
    pthread_mutex_unlock(&faults->mutex);
}

static void *
allocate(void *context, size_t alignment, size_t size)
{
    struct failure_faults *faults = context;
    bool fails;

    pthread_mutex_lock(&faults->mutex);
    fails = must_fail(faults, FAILURE_MEMORY, NULL, NULL);
    pthread_mutex_unlock(&faults->mutex);
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
    memset(faults, 0, sizeof *faults);
    faults->disk = disk;
    faults->memory_below = memory;
    faults->plan.site = faults->plan.then = -1;
    faults->allocator = (petal_allocator){faults, allocate, release};
    pthread_mutex_init(&faults->mutex, NULL);
    failure_faults_watch(faults, true);
}

void
failure_faults_watch(struct failure_faults *faults, bool watch)
{
    memory_vfs_watch(faults->disk, watch ? watch_call : NULL, faults);
}

void
failure_faults_fini(struct failure_faults *faults)
{
    failure_faults_watch(faults, false);
    pthread_mutex_destroy(&faults->mutex);
}

void
failure_faults_plan(struct failure_faults *faults, const struct failure_plan *plan)
{
    memory_vfs_set_sync_failure(faults->disk,
                                plan->reverts ? MEMORY_SYNC_REVERTS : MEMORY_SYNC_LOSES);
    memory_vfs_set_effect(faults->disk, plan->effect);
    pthread_mutex_lock(&faults->mutex);
    memset(faults->visits, 0, sizeof faults->visits);
    faults->plan = *plan;
    faults->failed = 0;
    faults->then_failed = false;
    memset(faults->failed_at, 0, sizeof faults->failed_at);
    faults->calls_failed = faults->failed_but_stores = 0;
    faults->path_count = 0;
    pthread_mutex_unlock(&faults->mutex);
}

void
failure_faults_heal(struct failure_faults *faults)
{
    pthread_mutex_lock(&faults->mutex);
    faults->plan.site = faults->plan.then = -1;
    pthread_mutex_unlock(&faults->mutex);
    memory_vfs_fail_at(faults->disk, 0, 0, false);
}
