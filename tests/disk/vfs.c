/*
 * vfs.c -- see tests/disk/vfs.h.
 *
 * Each call of the table goes: call_begin (locks, numbers the call, decides its fate), the work
 * that its fate leaves to do, call_end (traces, unlocks).
 */
#include "tests/disk/state.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOG_WINDOW_BYTES 4096

/* ---- The fate of a call ---- */

enum fate {
    FATE_WORKS,
    FATE_FAILS,     /* as planned */
    FATE_IN_FLIGHT, /* the power fails while it runs */
    FATE_OFF        /* there is no machine to run it */
};

/* A call under way. */
struct call {
    struct memory_vfs *vfs;
    struct memory_vfs_call record;
    const void *bytes; /* of a write, else NULL */
    char *path;        /* of the record, if it was put together for the call */
    enum fate fate;
    int error; /* what it returns, whatever its work returns; 0 if it works */
};

static void
lock_for_call(struct memory_vfs *vfs, enum memory_vfs_operation operation)
{
    if (vfs->pause != NULL)
        vfs->pause(vfs->pause_argument, operation);
    pthread_mutex_lock(&vfs->mutex);
}

static void
decide_fate(struct call *call)
{
    struct memory_vfs *vfs = call->vfs;
    uint64_t number = call->record.number;

    call->fate = FATE_WORKS;
    call->error = 0;
    if (vfs->watcher != NULL) {
        vfs->calls--; /* for what it plans */
        vfs->watcher(vfs->watcher_argument, &call->record, call->bytes);
        vfs->calls++;
    }
    if (vfs->off) {
        call->fate = FATE_OFF;
        call->error = EIO;
    } else if (vfs->cut_call != 0 && number >= vfs->cut_call) {
        vfs->off = true;
        call->fate = FATE_IN_FLIGHT;
        call->error = EIO;
    } else if (vfs->fail_first != 0 && number >= vfs->fail_first && number <= vfs->fail_last) {
        vfs->failures++;
        call->fate = FATE_FAILS;
        call->error = vfs->fail_error;
    }
}

static struct call
call_begin(struct memory_vfs *vfs, enum memory_vfs_operation operation, const char *path,
           uint64_t offset, size_t size)
{
    struct call call = {.vfs = vfs};

    lock_for_call(vfs, operation);
    call.record = (struct memory_vfs_call){.number = ++vfs->calls,
                                           .operation = operation,
                                           .path = path,
                                           .offset = offset,
                                           .size = size};
    decide_fate(&call);
    return call;
}

/* "begin/name", of the first `length` bytes of `begin`. */
static char *
join(const char *begin, size_t length, const char *name)
{
    char *path = test_allocate(length + strlen(name) + 2);

    memcpy(path, begin, length);
    path[length] = '/';
    strcpy(path + length + 1, name);
    return path;
}

static char *
path_in(const petal_directory *directory, const char *name)
{
    size_t length = strlen(directory->path);

    while (length > 0 && directory->path[length - 1] == '/')
        length--;
    return name == NULL ? test_strdup(directory->path) : join(directory->path, length, name);
}

/* The same on an open file.  A dead one is of a machine that is gone: its calls do not count
 * here. */
static struct call
call_begin_write(petal_file *file, enum memory_vfs_operation operation, uint64_t offset,
                 const void *bytes, size_t size)
{
    struct call call = {.vfs = file->vfs, .bytes = bytes, .fate = FATE_OFF, .error = EIO};

    lock_for_call(file->vfs, operation);
    if (file->dead)
        return call;
    call.record = (struct memory_vfs_call){.number = ++file->vfs->calls,
                                           .operation = operation,
                                           .path = file->path,
                                           .offset = offset,
                                           .size = size};
    decide_fate(&call);
    return call;
}

static struct call
call_begin_file(petal_file *file, enum memory_vfs_operation operation, uint64_t offset, size_t size)
{
    return call_begin_write(file, operation, offset, NULL, size);
}

/* The same on an open directory: on what has the name there, or on itself, `name` NULL. `to`
 * and `creates` are those of struct memory_vfs_call. */
static struct call
call_begin_names(petal_directory *directory, enum memory_vfs_operation operation, const char *name,
                 const char *to, bool creates)
{
    struct memory_vfs *vfs = directory->vfs;
    struct call call = {.vfs = vfs, .fate = FATE_OFF, .error = EIO};

    assert(name == NULL || strchr(name, '/') == NULL);
    lock_for_call(vfs, operation);
    if (directory->dead)
        return call;
    call.path = path_in(directory, name);
    call.record = (struct memory_vfs_call){.number = ++vfs->calls,
                                           .operation = operation,
                                           .path = call.path,
                                           .to = to,
                                           .creates = creates};
    decide_fate(&call);
    return call;
}

static struct call
call_begin_in(petal_directory *directory, enum memory_vfs_operation operation, const char *name)
{
    return call_begin_names(directory, operation, name, NULL, false);
}

/* Whether it fails after it has done its work. */
static bool
call_has_done_all(const struct call *call)
{
    return call->fate == FATE_FAILS && call->vfs->fail_effect == MEMORY_DID_ALL;
}

/* How many of `size` bytes it moves. */
static size_t
call_moves(const struct call *call, size_t size)
{
    if (call->fate != FATE_FAILS)
        return size;
    switch (call->vfs->fail_effect) {
    case MEMORY_DID_HALF:
        return size / 2;
    case MEMORY_DID_MOST:
        return size > 0 ? size - 1 : 0;
    case MEMORY_DID_ALL:
        return size;
    default:
        return 0;
    }
}

/* Whether the call changes the files, though its caller may never hear of it. */
static bool
call_takes_effect(const struct call *call)
{
    return call->fate == FATE_WORKS || call->fate == FATE_IN_FLIGHT || call_has_done_all(call);
}

static void
record_call(struct memory_vfs *vfs, struct memory_vfs_call record)
{
    if (vfs->trace_count == vfs->trace_capacity) {
        vfs->trace_capacity = vfs->trace_capacity == 0 ? 64 : 2 * vfs->trace_capacity;
        vfs->trace = test_reallocate(vfs->trace, vfs->trace_capacity * sizeof(*vfs->trace));
    }
    record.path = test_strdup(record.path);
    record.to = NULL;
    vfs->trace[vfs->trace_count++] = record;
}

/* `error` is what the work has come to.  Returns what the call returns. */
static int
call_end(struct call *call, int error)
{
    struct memory_vfs *vfs = call->vfs;

    if (call->error != 0)
        error = call->error;
    if (vfs->tracing && call->record.path != NULL) {
        call->record.error = error;
        record_call(vfs, call->record);
    }
    free(call->path);
    pthread_mutex_unlock(&vfs->mutex);
    return error;
}

/* ---- Files ---- */

static petal_file *
file_new(struct memory_vfs *vfs, struct memory_node *node, const char *path, unsigned flags)
{
    petal_file *file = test_allocate(sizeof(*file));

    *file = (petal_file){.vfs = vfs,
                         .node = node,
                         .path = test_strdup(path),
                         .writable = (flags & PETAL_FILE_WRITE) != 0,
                         .next = vfs->files};
    memory_tree_ref(node);
    vfs->files = file;
    return file;
}

static void
file_free(petal_file *file)
{
    memory_tree_unref(file->node);
    free(file->path);
    free(file);
}

static int
memory_open(void *context, petal_directory *directory, const char *name, unsigned flags,
            petal_file **file)
{
    struct call call =
        call_begin_names(directory, MEMORY_VFS_OPEN, name, NULL, (flags & PETAL_FILE_CREATE) != 0);
    struct memory_node *node;
    int error = 0;

    (void)context;
    assert((flags & (PETAL_FILE_READ | PETAL_FILE_WRITE)) != 0);
    assert((flags & PETAL_FILE_EXCLUSIVE) == 0 || (flags & PETAL_FILE_CREATE) != 0);
    *file = NULL;
    if (call_takes_effect(&call))
        error = memory_state_file(directory->node, name, flags, &node);
    if (call.fate == FATE_WORKS && error == 0)
        *file = file_new(directory->vfs, node, call.path, flags);
    return call_end(&call, error);
}

static void
drop_locks(struct memory_vfs *vfs, const petal_file *holder)
{
    size_t kept = 0;

    for (size_t i = 0; i < vfs->lock_count; i++) {
        if (vfs->locks[i].holder != holder)
            vfs->locks[kept++] = vfs->locks[i];
    }
    vfs->lock_count = kept;
}

static int
memory_close(void *context, petal_file *file)
{
    struct memory_vfs *vfs = context;
    struct call call = call_begin_file(file, MEMORY_VFS_CLOSE, 0, 0);
    struct petal_file **link = &vfs->files;
    int error;

    while (*link != file)
        link = &(*link)->next;
    *link = file->next;
    drop_locks(vfs, file);
    error = call_end(&call, 0);
    pthread_mutex_lock(&vfs->mutex); /* the node's count */
    file_free(file);
    pthread_mutex_unlock(&vfs->mutex);
    return error;
}

/* What it has not read is garbage. */
static void
fail_read(struct call *call, uint8_t *buffer, size_t size, size_t *read_bytes)
{
    size_t kept = call_has_done_all(call) ? 0 : call_moves(call, *read_bytes);

    memset(buffer + kept, 0xE7, size - kept);
    *read_bytes = call->error == MEMORY_SHORT_READ ? kept : 0;
    if (call->error == MEMORY_SHORT_READ)
        call->error = 0;
}

static int
memory_read_at(void *context, petal_file *file, uint64_t offset, void *buffer, size_t size,
               size_t *read_bytes)
{
    struct call call = call_begin_file(file, MEMORY_VFS_READ, offset, size);
    const struct memory_bytes *live = &memory_tree_file(file->node)->live;

    (void)context;
    *read_bytes = 0;
    if ((call.fate == FATE_WORKS || call.fate == FATE_FAILS) && offset < live->size) {
        *read_bytes = size < live->size - offset ? size : (size_t)(live->size - offset);
        memcpy(buffer, live->data + offset, *read_bytes);
    }
    if (call.fate == FATE_FAILS)
        fail_read(&call, buffer, size, read_bytes);
    return call_end(&call, 0);
}

/* A copy: what is mapped is written no more. */
static int
memory_map(void *context, petal_file *file, uint64_t size, const void **memory)
{
    struct call call = call_begin_file(file, MEMORY_VFS_MAP, 0, (size_t)size);
    const struct memory_bytes *live = &memory_tree_file(file->node)->live;

    *memory = NULL;
    if (call.fate == FATE_WORKS && size > 0 && size <= live->size) {
        *memory = memcpy(test_allocate((size_t)size), live->data, (size_t)size);
        ((struct memory_vfs *)context)->mappings++;
    }
    return call_end(&call, *memory != NULL ? 0 : EINVAL);
}

static void
memory_unmap(void *context, const void *memory, uint64_t size)
{
    struct memory_vfs *vfs = context;

    (void)size;
    pthread_mutex_lock(&vfs->mutex);
    assert(vfs->mappings > 0);
    vfs->mappings--;
    pthread_mutex_unlock(&vfs->mutex);
    free((void *)(uintptr_t)memory);
}

static uint64_t
free_bytes_of(struct memory_vfs *vfs)
{
    uint64_t used;

    if (vfs->capacity == UINT64_MAX)
        return UINT64_MAX;
    used = memory_tree_used_bytes(vfs->root);
    return used < vfs->capacity ? vfs->capacity - used : 0;
}

/* How many of `size` bytes at `offset` the disk has room for. */
static size_t
room_for(struct memory_vfs *vfs, const struct memory_file *file, uint64_t offset, size_t size)
{
    uint64_t free_bytes, limit;

    if (vfs->capacity == UINT64_MAX || (offset + size <= file->live.size && !vfs->copy_on_write))
        return size;
    free_bytes = free_bytes_of(vfs);
    if (vfs->copy_on_write)
        return size < free_bytes ? size : (size_t)free_bytes;
    limit = file->live.size + free_bytes; /* how long the file may become */
    if (offset >= limit)
        return 0;
    return size < limit - offset ? size : (size_t)(limit - offset);
}

static int
store(struct call *call, petal_file *file, uint64_t offset, const void *bytes, size_t size)
{
    struct memory_file *target = memory_tree_file(file->node);
    size_t stored;

    if (call->fate == FATE_OFF)
        return 0;
    if (!file->writable)
        return EBADF;
    if (offset > MEMORY_FILE_MAX_BYTES || size > MEMORY_FILE_MAX_BYTES - offset)
        return EFBIG;
    stored = room_for(file->vfs, target, offset, call_moves(call, size));
    memory_file_write(target, (size_t)offset, bytes, stored);
    return stored < size ? ENOSPC : 0;
}

static int
memory_write_at(void *context, petal_file *file, uint64_t offset, const void *bytes, size_t size)
{
    struct call call = call_begin_write(file, MEMORY_VFS_WRITE, offset, bytes, size);

    (void)context;
    return call_end(&call, store(&call, file, offset, bytes, size));
}

/* Make room for a store into a mapping; false: there is none. */
static bool
write_zeros_ahead(struct memory_vfs *vfs, struct memory_file *file, uint64_t end)
{
    static const uint8_t zeros[3 * LOG_WINDOW_BYTES];
    size_t ahead = (size_t)(end / LOG_WINDOW_BYTES + 2) * LOG_WINDOW_BYTES - file->live.size;

    if (end <= file->live.size)
        return true;
    if (ahead > sizeof zeros)
        return false;
    memory_file_write(file, file->live.size, zeros, room_for(vfs, file, file->live.size, ahead));
    return end <= file->live.size;
}

/* Store through the mapping, if the call works, or comes to its middle. */
static int
store_mapped(struct call *call, petal_file *log, uint64_t offset, const void *bytes, size_t size)
{
    struct memory_file *target = memory_tree_file(log->node);

    if (!call_takes_effect(call) || !log->writable || offset > MEMORY_FILE_MAX_BYTES - size ||
        !write_zeros_ahead(log->vfs, target, offset + size))
        return store(call, log, offset, bytes, size);
    memory_file_store(target, (size_t)offset, bytes, size);
    return 0;
}

static int
memory_log_store(void *context, petal_file *log, uint64_t offset, const void *bytes, size_t size)
{
    struct call call = call_begin_write(log, MEMORY_VFS_LOG_STORE, offset, bytes, size);

    (void)context;
    if (log->vfs->wal_windows)
        return call_end(&call, store_mapped(&call, log, offset, bytes, size));
    return call_end(&call, store(&call, log, offset, bytes, size));
}

static int
memory_sync(void *context, petal_file *file)
{
    struct memory_vfs *vfs = context;
    struct call call = call_begin_file(file, MEMORY_VFS_SYNC, 0, 0);

    if (call.fate == FATE_WORKS || call_has_done_all(&call))
        memory_file_sync(memory_tree_file(file->node));
    else if (call.fate == FATE_FAILS)
        memory_file_fail_sync(memory_tree_file(file->node), vfs->sync_failure);
    return call_end(&call, 0);
}

static int
memory_size(void *context, petal_file *file, uint64_t *size)
{
    struct call call = call_begin_file(file, MEMORY_VFS_SIZE, 0, 0);

    (void)context;
    *size = call.fate == FATE_WORKS ? memory_tree_file(file->node)->live.size : 0;
    return call_end(&call, 0);
}

/* A holder that asks again changes the kind of its lock, if the others let it. */
static int
take_lock(struct memory_vfs *vfs, struct lock wanted)
{
    size_t own = SIZE_MAX;

    for (size_t i = 0; i < vfs->lock_count; i++) {
        const struct lock *lock = &vfs->locks[i];

        if (lock->node != wanted.node || lock->last < wanted.first || lock->first > wanted.last)
            continue;
        if (lock->holder == wanted.holder)
            own = i;
        else if (lock->how == PETAL_LOCK_EXCLUSIVE || wanted.how != PETAL_LOCK_SHARED)
            return EAGAIN;
    }
    if (wanted.how == PETAL_LOCK_TEST)
        return 0;
    if (own == SIZE_MAX) {
        vfs->locks = test_reallocate(vfs->locks, (vfs->lock_count + 1) * sizeof(*vfs->locks));
        own = vfs->lock_count++;
    }
    vfs->locks[own] = wanted;
    return 0;
}

static int
memory_lock(void *context, petal_file *file, uint64_t offset, uint64_t size, enum petal_lock how)
{
    struct memory_vfs *vfs = context;
    struct call call = call_begin_file(file, MEMORY_VFS_LOCK, offset, 0);
    struct lock wanted = {file->node, file, offset, size == 0 ? UINT64_MAX : offset + size - 1,
                          how};

    if (call.fate != FATE_WORKS)
        return call_end(&call, 0);
    if (!file->writable && how == PETAL_LOCK_EXCLUSIVE)
        return call_end(&call, EBADF);
    return call_end(&call, take_lock(vfs, wanted));
}

/* ---- Directories ---- */

static petal_directory *
directory_new(struct memory_vfs *vfs, struct memory_node *node, const char *path)
{
    petal_directory *directory = test_allocate(sizeof(*directory));

    *directory = (petal_directory){
        .vfs = vfs, .node = node, .path = test_strdup(path), .next = vfs->directories};
    memory_tree_ref(node);
    vfs->directories = directory;
    return directory;
}

static void
directory_free(petal_directory *directory)
{
    memory_tree_unref(directory->node);
    free(directory->path);
    free(directory);
}

static int
memory_open_directory(void *context, const char *path, bool create, petal_directory **directory)
{
    struct memory_vfs *vfs = context;
    struct call call = call_begin(vfs, MEMORY_VFS_OPEN_DIRECTORY, path, 0, 0);
    struct memory_node *node;
    int error = 0;

    *directory = NULL;
    if (call_takes_effect(&call) && create)
        error = memory_tree_create(vfs->root, path, true, &node);
    if (error == 0 || error == EEXIST)
        error = memory_state_directory(vfs, path, &node);
    if (call.fate == FATE_WORKS && error == 0)
        *directory = directory_new(vfs, node, path);
    return call_end(&call, error);
}

static void
memory_close_directory(void *context, petal_directory *directory)
{
    struct memory_vfs *vfs = context;
    petal_directory **link = &vfs->directories;

    pthread_mutex_lock(&vfs->mutex);
    while (*link != directory)
        link = &(*link)->next;
    *link = directory->next;
    directory_free(directory);
    pthread_mutex_unlock(&vfs->mutex);
}

/* The fate of the call is that of the names in `directory`. */
static int
sync_names(struct call *call, struct memory_node *directory)
{
    if (call->fate == FATE_WORKS || call_has_done_all(call))
        memory_tree_sync_names(directory);
    else if (call->fate == FATE_FAILS)
        memory_tree_fail_sync_names(directory);
    return call_end(call, 0);
}

static int
memory_sync_directory(void *context, petal_directory *directory)
{
    struct call call = call_begin_in(directory, MEMORY_VFS_SYNC_DIRECTORY, NULL);

    (void)context;
    return sync_names(&call, directory->node);
}

static int
memory_sync_parent(void *context, petal_directory *directory)
{
    struct call call = call_begin_in(directory, MEMORY_VFS_SYNC_PARENT, NULL);

    (void)context;
    return sync_names(&call, memory_tree_parent(directory->node));
}

static int
memory_list_directory(void *context, petal_directory *directory,
                      void (*visit)(void *argument, const char *name), void *argument)
{
    struct call call = call_begin_in(directory, MEMORY_VFS_LIST_DIRECTORY, NULL);
    struct memory_names list = {NULL, 0};
    int error;

    (void)context;
    if (call.fate == FATE_WORKS || call_has_done_all(&call))
        list = memory_state_copy_names(directory->node);
    error = call_end(&call, 0);
    memory_state_visit_names(&list, visit, argument);
    return error;
}

static int
memory_rename(void *context, petal_directory *directory, const char *from, const char *to)
{
    struct call call = call_begin_names(directory, MEMORY_VFS_RENAME, from, to, false);

    (void)context;
    assert(strchr(to, '/') == NULL);
    return call_end(&call,
                    call_takes_effect(&call) ? memory_tree_rename(directory->node, from, to) : 0);
}

static int
memory_link(void *context, petal_directory *from_directory, const char *from,
            petal_directory *to_directory, const char *to)
{
    struct call call = call_begin_names(from_directory, MEMORY_VFS_LINK, from, to, false);
    int error = 0;

    (void)context;
    assert(strchr(to, '/') == NULL);
    if (call_takes_effect(&call) && from_directory->vfs->link_error != 0)
        error = from_directory->vfs->link_error;
    else if (call_takes_effect(&call))
        error = memory_tree_link(from_directory->node, from, to_directory->node, to);
    return call_end(&call, error);
}

static int
memory_remove(void *context, petal_directory *directory, const char *name)
{
    struct call call = call_begin_in(directory, MEMORY_VFS_REMOVE, name);

    (void)context;
    return call_end(&call,
                    call_takes_effect(&call) ? memory_tree_remove(directory->node, name) : 0);
}

/* Where the path leads; without its last part if that is not there. */
static int
find_place(struct memory_vfs *vfs, const char *path, struct memory_node **node)
{
    int error = memory_state_directory(vfs, path, node);

    if (error == ENOENT) {
        char *parent = test_strdup(path);
        size_t length = strlen(parent);

        while (length > 0 && parent[length - 1] == '/')
            length--;
        while (length > 0 && parent[length - 1] != '/')
            length--;
        parent[length] = '\0';
        error = memory_state_directory(vfs, parent, node);
        free(parent);
    }
    return error;
}

static int
memory_contains(void *context, petal_directory *directory, const char *path, bool *contains)
{
    struct call call = call_begin_names(directory, MEMORY_VFS_CONTAINS, NULL, path, false);
    struct memory_node *node = NULL;

    *contains = false;
    if (call.fate != FATE_WORKS || find_place(context, path, &node) != 0)
        return call_end(&call, 0);
    while (node != directory->node && node != memory_tree_parent(node))
        node = memory_tree_parent(node);
    *contains = node == directory->node;
    return call_end(&call, 0);
}

static int
memory_free_bytes(void *context, petal_directory *directory, uint64_t *bytes)
{
    struct call call = call_begin_in(directory, MEMORY_VFS_FREE_BYTES, NULL);
    struct memory_vfs *vfs = context;

    *bytes = call.fate == FATE_WORKS ? free_bytes_of(vfs) : 0;
    return call_end(&call, 0);
}

/* ---- Life ---- */

static struct memory_vfs *
vfs_with_root(struct memory_node *root)
{
    struct memory_vfs *vfs = test_allocate(sizeof(*vfs));
    pthread_mutexattr_t attributes;

    memset(vfs, 0, sizeof(*vfs));
    vfs->table = (petal_vfs){
        .context = vfs,
        .open_directory = memory_open_directory,
        .close_directory = memory_close_directory,
        .sync_directory = memory_sync_directory,
        .sync_parent = memory_sync_parent,
        .list_directory = memory_list_directory,
        .open = memory_open,
        .close = memory_close,
        .read_at = memory_read_at,
        .write_at = memory_write_at,
        .log_store = memory_log_store,
        .sync = memory_sync,
        .size = memory_size,
        .lock = memory_lock,
        .rename = memory_rename,
        .link = memory_link,
        .remove = memory_remove,
        .map = memory_map,
        .unmap = memory_unmap,
        .contains = memory_contains,
        .free_bytes = memory_free_bytes,
    };
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&vfs->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    vfs->root = root;
    vfs->capacity = UINT64_MAX;
    vfs->fail_effect = MEMORY_DID_HALF;
    return vfs;
}

struct memory_vfs *
memory_vfs_new(void)
{
    return vfs_with_root(memory_tree_new());
}

void
memory_vfs_free(struct memory_vfs *vfs)
{
    while (vfs->files != NULL) {
        petal_file *file = vfs->files;

        vfs->files = file->next;
        file_free(file);
    }
    while (vfs->directories != NULL) {
        petal_directory *directory = vfs->directories;

        vfs->directories = directory->next;
        directory_free(directory);
    }
    memory_vfs_trace(vfs, false);
    free(vfs->locks);
    memory_tree_unref(vfs->root);
    pthread_mutex_destroy(&vfs->mutex);
    free(vfs);
}

const petal_vfs *
memory_vfs_table(struct memory_vfs *vfs)
{
    return &vfs->table;
}

struct memory_vfs *
memory_vfs_clone(struct memory_vfs *vfs)
{
    struct memory_vfs *clone;

    pthread_mutex_lock(&vfs->mutex);
    clone = vfs_with_root(memory_tree_clone(vfs->root));
    clone->off = vfs->off;
    clone->sync_failure = vfs->sync_failure;
    clone->capacity = vfs->capacity;
    clone->wal_windows = vfs->wal_windows;
    clone->copy_on_write = vfs->copy_on_write;
    clone->link_error = vfs->link_error;
    pthread_mutex_unlock(&vfs->mutex);
    return clone;
}
