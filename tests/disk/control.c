/*
 * control.c -- the tests' side of tests/disk/vfs.h: planning faults, cutting the power, looking at
 * files and at the trace.
 */
#include "tests/disk/state.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Finding things ---- */

int
memory_state_file(struct memory_node *root, const char *path, unsigned flags,
                  struct memory_node **node)
{
    int error = memory_tree_find(root, path, node);

    if (error == ENOENT && (flags & PETAL_FILE_CREATE) != 0)
        return memory_tree_create(root, path, false, node);
    if (error == 0 && (flags & PETAL_FILE_EXCLUSIVE) != 0)
        return EEXIST;
    if (error == 0 && memory_tree_is_directory(*node))
        return EISDIR;
    return error;
}

int
memory_state_directory(struct memory_vfs *vfs, const char *path, struct memory_node **directory)
{
    int error = memory_tree_find(vfs->root, path, directory);

    return error == 0 && !memory_tree_is_directory(*directory) ? ENOTDIR : error;
}

struct memory_names
memory_state_copy_names(struct memory_node *directory)
{
    struct memory_names list = {.count = memory_tree_name_count(directory)};

    list.names = test_allocate(list.count * sizeof(*list.names));
    for (size_t i = 0; i < list.count; i++)
        list.names[i] = test_strdup(memory_tree_name_at(directory, i));
    return list;
}

void
memory_state_visit_names(struct memory_names *list, void (*visit)(void *argument, const char *name),
                         void *argument)
{
    for (size_t i = 0; i < list->count; i++) {
        visit(argument, list->names[i]);
        free(list->names[i]);
    }
    free(list->names);
}

/* ---- Faults ---- */

uint64_t
memory_vfs_calls(struct memory_vfs *vfs)
{
    uint64_t calls;

    pthread_mutex_lock(&vfs->mutex);
    calls = vfs->calls;
    pthread_mutex_unlock(&vfs->mutex);
    return calls;
}

void
memory_vfs_fail_at(struct memory_vfs *vfs, uint64_t n, int error, bool permanently)
{
    pthread_mutex_lock(&vfs->mutex);
    vfs->fail_first = n == 0 ? 0 : vfs->calls + n;
    vfs->fail_last = permanently ? UINT64_MAX : vfs->fail_first;
    vfs->fail_error = error;
    pthread_mutex_unlock(&vfs->mutex);
}

uint64_t
memory_vfs_failures(struct memory_vfs *vfs)
{
    uint64_t failures;

    pthread_mutex_lock(&vfs->mutex);
    failures = vfs->failures;
    pthread_mutex_unlock(&vfs->mutex);
    return failures;
}

void
memory_vfs_set_effect(struct memory_vfs *vfs, enum memory_effect effect)
{
    pthread_mutex_lock(&vfs->mutex);
    vfs->fail_effect = effect;
    pthread_mutex_unlock(&vfs->mutex);
}

void
memory_vfs_set_sync_failure(struct memory_vfs *vfs, enum memory_sync_failure failure)
{
    pthread_mutex_lock(&vfs->mutex);
    vfs->sync_failure = failure;
    pthread_mutex_unlock(&vfs->mutex);
}

enum memory_sync_failure
memory_vfs_sync_failure(struct memory_vfs *vfs)
{
    enum memory_sync_failure failure;

    pthread_mutex_lock(&vfs->mutex);
    failure = vfs->sync_failure;
    pthread_mutex_unlock(&vfs->mutex);
    return failure;
}

void
memory_vfs_set_capacity(struct memory_vfs *vfs, uint64_t bytes)
{
    pthread_mutex_lock(&vfs->mutex);
    vfs->capacity = bytes;
    pthread_mutex_unlock(&vfs->mutex);
}

uint64_t
memory_vfs_used(struct memory_vfs *vfs)
{
    uint64_t used;

    pthread_mutex_lock(&vfs->mutex);
    used = memory_tree_used_bytes(vfs->root);
    pthread_mutex_unlock(&vfs->mutex);
    return used;
}

void
memory_vfs_copy_on_write(struct memory_vfs *vfs, bool copy)
{
    pthread_mutex_lock(&vfs->mutex);
    vfs->copy_on_write = copy;
    pthread_mutex_unlock(&vfs->mutex);
}

bool
memory_vfs_copies_on_write(struct memory_vfs *vfs)
{
    bool copies;

    pthread_mutex_lock(&vfs->mutex);
    copies = vfs->copy_on_write;
    pthread_mutex_unlock(&vfs->mutex);
    return copies;
}

void
memory_vfs_refuse_links(struct memory_vfs *vfs, int error)
{
    pthread_mutex_lock(&vfs->mutex);
    vfs->link_error = error;
    pthread_mutex_unlock(&vfs->mutex);
}

void
memory_vfs_use_log_windows(struct memory_vfs *vfs, bool use)
{
    pthread_mutex_lock(&vfs->mutex);
    vfs->wal_windows = use;
    pthread_mutex_unlock(&vfs->mutex);
}

void
memory_vfs_cut_at(struct memory_vfs *vfs, uint64_t n)
{
    pthread_mutex_lock(&vfs->mutex);
    vfs->cut_call = n == 0 ? 0 : vfs->calls + n;
    pthread_mutex_unlock(&vfs->mutex);
}

bool
memory_vfs_is_off(struct memory_vfs *vfs)
{
    bool off;

    pthread_mutex_lock(&vfs->mutex);
    off = vfs->off;
    pthread_mutex_unlock(&vfs->mutex);
    return off;
}

/* No process has anything open, and the machine is on. */
static void
end_processes(struct memory_vfs *vfs)
{
    for (petal_file *file = vfs->files; file != NULL; file = file->next)
        file->dead = true;
    for (petal_directory *open = vfs->directories; open != NULL; open = open->next)
        open->dead = true;
    vfs->lock_count = 0;
    vfs->fail_first = 0;
    vfs->cut_call = 0;
    vfs->off = false;
}

void
memory_vfs_power_cut(struct memory_vfs *vfs, enum memory_cut cut, uint64_t seed)
{
    struct test_random random;

    test_random_init(&random, seed);
    pthread_mutex_lock(&vfs->mutex);
    memory_tree_power_cut(vfs->root, cut, &random);
    end_processes(vfs);
    pthread_mutex_unlock(&vfs->mutex);
}

size_t
memory_vfs_pending(struct memory_vfs *vfs)
{
    size_t pending;

    pthread_mutex_lock(&vfs->mutex);
    pending = memory_tree_pending(vfs->root);
    pthread_mutex_unlock(&vfs->mutex);
    return pending;
}

void
memory_vfs_power_cut_one(struct memory_vfs *vfs, size_t index, bool survives)
{
    pthread_mutex_lock(&vfs->mutex);
    assert(index < memory_tree_pending(vfs->root));
    memory_tree_cut_one(vfs->root, index, survives);
    end_processes(vfs);
    pthread_mutex_unlock(&vfs->mutex);
}

void
memory_vfs_switch_off(struct memory_vfs *vfs)
{
    pthread_mutex_lock(&vfs->mutex);
    vfs->off = true;
    pthread_mutex_unlock(&vfs->mutex);
}

void
memory_vfs_process_death(struct memory_vfs *vfs)
{
    pthread_mutex_lock(&vfs->mutex);
    end_processes(vfs);
    pthread_mutex_unlock(&vfs->mutex);
}

/* ---- Looking at the files ---- */

int
memory_vfs_read_file(struct memory_vfs *vfs, const char *path, uint8_t **bytes, size_t *size)
{
    struct memory_node *node;
    int error;

    *bytes = NULL;
    *size = 0;
    pthread_mutex_lock(&vfs->mutex);
    error = memory_state_file(vfs->root, path, 0, &node);
    if (error == 0) {
        const struct memory_bytes *live = &memory_tree_file(node)->live;

        *size = live->size;
        *bytes = test_allocate(*size);
        if (*size > 0)
            memcpy(*bytes, live->data, *size);
    }
    pthread_mutex_unlock(&vfs->mutex);
    return error;
}

/* Make the names of the directory that holds `path` durable. */
static void
sync_parent(struct memory_vfs *vfs, const char *path)
{
    char *parent = test_strdup(path);
    size_t length = strlen(parent);
    struct memory_node *directory;

    while (length > 0 && parent[length - 1] == '/')
        length--;
    while (length > 0 && parent[length - 1] != '/')
        length--;
    parent[length] = '\0';
    if (memory_tree_find(vfs->root, length == 0 ? "." : parent, &directory) == 0)
        memory_tree_sync_names(directory);
    free(parent);
}

int
memory_vfs_write_file(struct memory_vfs *vfs, const char *path, const void *bytes, size_t size)
{
    struct memory_node *node;
    int error;

    pthread_mutex_lock(&vfs->mutex);
    error = memory_state_file(vfs->root, path, PETAL_FILE_CREATE, &node);
    if (error == 0) {
        memory_file_replace(memory_tree_file(node), bytes, size);
        sync_parent(vfs, path);
    }
    pthread_mutex_unlock(&vfs->mutex);
    return error;
}

bool
memory_vfs_exists(struct memory_vfs *vfs, const char *path)
{
    struct memory_node *node;
    int error;

    pthread_mutex_lock(&vfs->mutex);
    error = memory_tree_find(vfs->root, path, &node);
    pthread_mutex_unlock(&vfs->mutex);
    return error == 0;
}

uint64_t
memory_vfs_hash(struct memory_vfs *vfs)
{
    uint64_t hash;

    pthread_mutex_lock(&vfs->mutex);
    hash = memory_tree_hash(vfs->root);
    pthread_mutex_unlock(&vfs->mutex);
    return hash;
}

int
memory_vfs_list(struct memory_vfs *vfs, const char *path,
                void (*visit)(void *argument, const char *name), void *argument)
{
    struct memory_names list = {NULL, 0};
    struct memory_node *directory;
    int error;

    pthread_mutex_lock(&vfs->mutex);
    error = memory_state_directory(vfs, path, &directory);
    if (error == 0)
        list = memory_state_copy_names(directory);
    pthread_mutex_unlock(&vfs->mutex);
    memory_state_visit_names(&list, visit, argument);
    return error;
}

static void
count_name(void *argument, const char *name)
{
    (void)name;
    ++*(size_t *)argument;
}

size_t
memory_vfs_count_files(struct memory_vfs *vfs, const char *path)
{
    size_t count = 0;

    (void)memory_vfs_list(vfs, path, count_name, &count);
    return count;
}

size_t
memory_vfs_open_files(struct memory_vfs *vfs)
{
    size_t count = 0;

    pthread_mutex_lock(&vfs->mutex);
    for (const petal_file *file = vfs->files; file != NULL; file = file->next)
        count++;
    count += vfs->mappings;
    pthread_mutex_unlock(&vfs->mutex);
    return count;
}

size_t
memory_vfs_open_directories(struct memory_vfs *vfs)
{
    size_t count = 0;

    pthread_mutex_lock(&vfs->mutex);
    for (const petal_directory *open = vfs->directories; open != NULL; open = open->next)
        count++;
    pthread_mutex_unlock(&vfs->mutex);
    return count;
}

/* ---- Trace ---- */

void
memory_vfs_watch(struct memory_vfs *vfs, memory_vfs_watcher *watch, void *argument)
{
    pthread_mutex_lock(&vfs->mutex);
    vfs->watcher = watch;
    vfs->watcher_argument = argument;
    pthread_mutex_unlock(&vfs->mutex);
}

void
memory_vfs_pause(struct memory_vfs *vfs, memory_vfs_pauser *pause, void *argument)
{
    vfs->pause = pause;
    vfs->pause_argument = argument;
}

static void
forget_trace(struct memory_vfs *vfs)
{
    for (size_t i = 0; i < vfs->trace_count; i++)
        free((char *)vfs->trace[i].path);
    free(vfs->trace);
    vfs->trace = NULL;
    vfs->trace_count = vfs->trace_capacity = 0;
}

void
memory_vfs_trace(struct memory_vfs *vfs, bool on)
{
    pthread_mutex_lock(&vfs->mutex);
    vfs->tracing = on;
    if (!on)
        forget_trace(vfs);
    pthread_mutex_unlock(&vfs->mutex);
}

size_t
memory_vfs_trace_count(struct memory_vfs *vfs)
{
    size_t count;

    pthread_mutex_lock(&vfs->mutex);
    count = vfs->trace_count;
    pthread_mutex_unlock(&vfs->mutex);
    return count;
}

struct memory_vfs_call
memory_vfs_trace_at(struct memory_vfs *vfs, size_t index)
{
    struct memory_vfs_call call;

    pthread_mutex_lock(&vfs->mutex);
    assert(index < vfs->trace_count);
    call = vfs->trace[index];
    pthread_mutex_unlock(&vfs->mutex);
    return call;
}

void
memory_vfs_trace_print(struct memory_vfs *vfs, FILE *out)
{
    static const char *const names[] = {
        "open",           "close",  "read", "write",          "log_store",      "sync",
        "size",           "map",    "lock", "open_directory", "sync_directory", "sync_parent",
        "list_directory", "rename", "link", "remove",         "contains",       "free_bytes",
    };
    size_t count = memory_vfs_trace_count(vfs);

    for (size_t i = 0; i < count; i++) {
        struct memory_vfs_call call = memory_vfs_trace_at(vfs, i);

        fprintf(out, "%6llu %-14s %s offset %llu size %zu%s%s\n", (unsigned long long)call.number,
                names[call.operation], call.path, (unsigned long long)call.offset, call.size,
                call.error == 0 ? "" : ": ", call.error == 0 ? "" : strerror(call.error));
    }
}
