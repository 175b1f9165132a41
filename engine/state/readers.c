/* readers.c -- see readers.h. */
#include "engine/state/readers.h"

#include "base/coding.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define SLOT_BYTES 64
#define MOST_SLOTS 4096 /* further readers share slot 0 */

static int
lock_slot(const struct readers *readers, uint64_t slot, enum petal_lock how)
{
    const petal_vfs *vfs = readers->directory->env->vfs;

    return vfs->lock(vfs->context, readers->file, slot * SLOT_BYTES, 1, how);
}

/* The file system knows no locks, or none of parts of files. */
static bool
cannot_lock(int failed)
{
    return failed == ENOSYS || failed == ENOLCK || failed == EOPNOTSUPP;
}

/* ---- the writer ---- */

enum petal_status
readers_watch(struct readers *readers, petal_error *error)
{
    char path[PETAL_PATH_BYTES];
    int failed;

    assert(readers->file == NULL);
    filename_readers(path, readers->directory->path);
    failed = directory_open_file(readers->directory, path, PETAL_FILE_WRITE | PETAL_FILE_CREATE,
                                 &readers->file);
    return failed == 0 ? PETAL_OK : error_io(error, path, failed, "open");
}

enum petal_status
readers_exclude(struct readers *readers, petal_error *error)
{
    const petal_vfs *vfs = readers->directory->env->vfs;
    char path[PETAL_PATH_BYTES];
    int failed = vfs->lock(vfs->context, readers->file, 0, 0, PETAL_LOCK_EXCLUSIVE);

    filename_readers(path, readers->directory->path);
    if (failed == EAGAIN)
        return error_file(error, PETAL_BUSY, path, "%s is locked: somebody reads the database",
                          path);
    return failed == 0 || cannot_lock(failed) ? PETAL_OK : error_io(error, path, failed, "lock");
}

#define MOST_RANGES 64

/* The states that readers use, in ascending ranges that have none in common. */
struct uses {
    struct {
        uint64_t oldest, newest;
    } ranges[MOST_RANGES + 1];
    size_t count; /* MOST_RANGES at most, between two calls */
};

/* The two ranges that are closest become one, as if what lies between them were in use. */
static void
join_closest(struct uses *uses)
{
    size_t closest = 0;
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i + 1 < uses->count; i++) {
        uint64_t gap = uses->ranges[i + 1].oldest - uses->ranges[i].newest;

        if (gap < least) {
            least = gap;
            closest = i;
        }
    }
    uses->ranges[closest].newest = uses->ranges[closest + 1].newest;
    uses->count--;
    memmove(&uses->ranges[closest + 1], &uses->ranges[closest + 2],
            (uses->count - closest - 1) * sizeof uses->ranges[0]);
}

/* What is no range counts as all states. */
static void
add_use(struct uses *uses, uint64_t oldest, uint64_t newest)
{
    size_t at = 0, end;

    if (oldest > newest) {
        oldest = 0;
        newest = READERS_LOADING;
    }
    while (at < uses->count && uses->ranges[at].newest < oldest)
        at++;
    /* Those that it meets become one with it. */
    for (end = at; end < uses->count && uses->ranges[end].oldest <= newest; end++) {
        if (uses->ranges[end].oldest < oldest)
            oldest = uses->ranges[end].oldest;
        if (uses->ranges[end].newest > newest)
            newest = uses->ranges[end].newest;
    }
    memmove(&uses->ranges[at + 1], &uses->ranges[end],
            (uses->count - end) * sizeof uses->ranges[0]);
    uses->ranges[at].oldest = oldest;
    uses->ranges[at].newest = newest;
    uses->count = uses->count - (end - at) + 1;
    if (uses->count > MOST_RANGES)
        join_closest(uses);
}

/* What cannot be read or tested counts as in use. */
static void
add_slot(const struct readers *readers, uint64_t slot, struct uses *uses)
{
    const petal_vfs *vfs = readers->directory->env->vfs;
    uint8_t states[16];
    size_t got;

    if (lock_slot(readers, slot, PETAL_LOCK_TEST) == 0)
        return;
    if (slot == 0 || vfs->read_at(vfs->context, readers->file, slot * SLOT_BYTES, states,
                                  sizeof states, &got) != 0)
        add_use(uses, 0, READERS_LOADING);
    else if (got == sizeof states) /* else its holder is yet to write it, and then to load */
        add_use(uses, get_le64(states), get_le64(states + 8));
}

static void
take_uses(const struct readers *readers, struct uses *uses)
{
    const petal_vfs *vfs = readers->directory->env->vfs;
    uint64_t size = 0;
    int failed;

    uses->count = 0;
    if (readers->file == NULL)
        return;
    failed = vfs->lock(vfs->context, readers->file, 0, 0, PETAL_LOCK_TEST);
    /* Where slots cannot be locked, readers lock the writer out. */
    if (failed == 0 || cannot_lock(failed))
        return;
    if (vfs->size(vfs->context, readers->file, &size) != 0)
        add_use(uses, 0, READERS_LOADING);
    for (uint64_t slot = 0; slot == 0 || (slot <= MOST_SLOTS && slot * SLOT_BYTES < size); slot++)
        add_slot(readers, slot, uses);
}

static bool
is_used(const struct uses *uses, const struct kept_file *file)
{
    for (size_t i = 0; i < uses->count; i++) {
        if (uses->ranges[i].oldest < file->died && uses->ranges[i].newest >= file->born)
            return true;
    }
    return false;
}

static void
remove_file(const struct readers *readers, const struct kept_file *file)
{
    char path[PETAL_PATH_BYTES];
    int failed;

    if (file->kind == FILENAME_WAL)
        filename_wal(path, readers->directory->path, file->number);
    else
        filename_store_file(path, readers->directory->path, file->number);
    failed = directory_remove(readers->directory, path);
    if (failed != 0)
        env_log(readers->directory->env, PETAL_LOG_WARNING,
                "cannot remove %s, which is not needed any more: error %d", path, failed);
}

/* REQUIRES: the mutex, since before the uses were taken: else a reader may have begun to load, and
 * a file that it needs may have come into the list. */
static void
remove_unused(struct readers *readers, const struct uses *uses)
{
    for (size_t i = 0; i < readers->kept_count;) {
        struct kept_file file = readers->kept[i];

        if (is_used(uses, &file)) {
            i++;
            continue;
        }
        readers->kept[i] = readers->kept[--readers->kept_count];
        remove_file(readers, &file);
    }
}

void
readers_remove(struct readers *readers, enum filename_kind kind, uint64_t number, uint64_t born)
{
    /* A later state than the first without the file: it may stay longer than it has to. */
    struct kept_file file = {kind, number, kind == FILENAME_WAL ? READERS_LOADING : born,
                             readers_state(readers)};
    bool used;
    struct uses uses;

    assert(kind == FILENAME_WAL || kind == FILENAME_STORE_FILE);
    mutex_lock(&readers->mutex);
    take_uses(readers, &uses);
    remove_unused(readers, &uses);
    used = is_used(&uses, &file);
    /* Without memory to note it the file stays, and the next writer removes it. */
    if (used &&
        mem_grow_array(readers->directory->env->allocator, &readers->kept, &readers->kept_capacity,
                       readers->kept_count, readers->kept_count + 1, sizeof *readers->kept))
        readers->kept[readers->kept_count++] = file;
    mutex_unlock(&readers->mutex);
    if (!used)
        remove_file(readers, &file);
}

void
readers_remove_kept(struct readers *readers)
{
    struct uses uses;

    mutex_lock(&readers->mutex);
    if (readers->kept_count > 0) {
        take_uses(readers, &uses);
        remove_unused(readers, &uses);
    }
    mutex_unlock(&readers->mutex);
}

void
readers_leave(struct readers *readers)
{
    const struct env *env = readers->directory->env;

    if (readers->file == NULL)
        return;
    readers_remove_kept(readers);
    env->vfs->close(env->vfs->context, readers->file);
    readers->file = NULL;
    mem_free(env->allocator, readers->kept, readers->kept_capacity * sizeof *readers->kept);
}

/* ---- a reader ---- */

/* The first slot that nobody has. */
static int
take_slot(struct readers *readers)
{
    int failed = EAGAIN;

    for (readers->slot = 0; failed == EAGAIN && readers->slot < MOST_SLOTS;)
        failed = lock_slot(readers, ++readers->slot, PETAL_LOCK_EXCLUSIVE);
    return failed;
}

/* The slot of those that cannot write their own. */
static int
share_slot(struct readers *readers)
{
    readers->slot = 0;
    return lock_slot(readers, 0, PETAL_LOCK_SHARED);
}

static bool
cannot_write(int failed)
{
    return failed == EACCES || failed == EPERM || failed == EROFS || failed == ENOSPC ||
           failed == EDQUOT;
}

enum petal_status
readers_join(struct readers *readers, bool *joined, petal_error *error)
{
    const petal_vfs *vfs = readers->directory->env->vfs;
    char path[PETAL_PATH_BYTES];
    const char *action = "open";
    int failed;

    *joined = false;
    assert(readers->file == NULL);
    filename_readers(path, readers->directory->path);
    failed = directory_open_file(readers->directory, path, PETAL_FILE_WRITE, &readers->file);
    if (failed == 0) {
        action = "lock";
        failed = take_slot(readers);
        if (failed == EAGAIN ||
            (failed == 0 && readers_say(readers, 0, READERS_LOADING, NULL) != PETAL_OK))
            failed = share_slot(readers);
    } else if (cannot_write(failed)) {
        failed = directory_open_file(readers->directory, path, PETAL_FILE_READ, &readers->file);
        if (failed == 0) {
            action = "lock";
            failed = share_slot(readers);
        }
    }
    if (failed == 0) {
        *joined = true;
        return PETAL_OK;
    }
    if (readers->file != NULL)
        vfs->close(vfs->context, readers->file);
    readers->file = NULL;
    if (failed == ENOENT || failed == EACCES || failed == EPERM || failed == EROFS ||
        cannot_lock(failed))
        return PETAL_OK;
    if (failed == EAGAIN) /* also for slot 0: see readers_exclude */
        return error_file(error, PETAL_BUSY, path, "%s is locked: a restore replaces the database",
                          path);
    return error_io(error, path, failed, action);
}

enum petal_status
readers_say(struct readers *readers, uint64_t oldest, uint64_t newest, petal_error *error)
{
    const petal_vfs *vfs = readers->directory->env->vfs;
    uint64_t offset = readers->slot * SLOT_BYTES;
    char path[PETAL_PATH_BYTES];
    uint8_t number[8];
    int failed;

    assert(readers->file != NULL && oldest <= newest);
    if (readers->slot == 0)
        return PETAL_OK;
    put_le64(number, newest);
    failed = vfs->write_at(vfs->context, readers->file, offset + 8, number, sizeof number);
    put_le64(number, oldest);
    if (failed == 0)
        failed = vfs->write_at(vfs->context, readers->file, offset, number, sizeof number);
    filename_readers(path, readers->directory->path);
    return failed == 0 ? PETAL_OK : error_io(error, path, failed, "write");
}
