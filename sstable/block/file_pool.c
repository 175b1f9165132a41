/*
 * file_pool.c -- see file_pool.h.
 *
 * THE STATE of a pooled file is one word: whether it is open, whether it was used again since the
 * clock's hand came by, and how many have it acquired. Only a word that says "open, used by nobody"
 * becomes "closed", by compare and exchange under the mutex; only one that says "open" is counted
 * up. So whoever counts up has the handle, and whoever closes has it alone.
 *
 * ROOM. A reader that finds all files acquired counts itself as waiting and looks once more; a
 * release counts down and looks for waiters. Both orders are sequentially consistent, so one of the
 * two sees the other.
 */
#include "sstable/block/file_pool.h"

#include <assert.h>

#define STATE_OPEN  0x80000000u
#define STATE_USED  0x40000000u
#define STATE_COUNT 0x3fffffffu

bool
file_pool_init(struct file_pool *pool, const struct env *env, uint32_t limit)
{
    assert(limit > 0);
    *pool = (struct file_pool){.env = env, .limit = limit};
    if (!mutex_init(&pool->mutex))
        return false;
    if (pthread_cond_init(&pool->changed, NULL) == 0)
        return true;
    mutex_fini(&pool->mutex);
    return false;
}

void
file_pool_fini(struct file_pool *pool)
{
    assert(pool->open == 0 && pool->hand == NULL);
    pthread_cond_destroy(&pool->changed);
    mutex_fini(&pool->mutex);
}

void
pooled_file_init(struct pooled_file *file, struct file_pool *pool,
                 const struct directory *directory, const char *path)
{
    *file = (struct pooled_file){
        .pool = pool, .directory = directory, .path = path, .flags = PETAL_FILE_READ};
}

/* ---- the ring ---- */

/* Where the hand comes by last. */
static void
ring_add(struct file_pool *pool, struct pooled_file *file)
{
    struct pooled_file *hand = pool->hand;

    assert_held(&pool->mutex);
    assert(file->next == NULL);
    if (hand == NULL) {
        file->next = file->before = pool->hand = file;
        return;
    }
    file->next = hand;
    file->before = hand->before;
    file->before->next = hand->before = file;
}

static void
ring_remove(struct file_pool *pool, struct pooled_file *file)
{
    assert_held(&pool->mutex);
    assert(file->next != NULL && file->before->next == file && file->next->before == file);
    if (pool->hand == file)
        pool->hand = file->next == file ? NULL : file->next;
    file->before->next = file->next;
    file->next->before = file->before;
    file->next = file->before = NULL;
}

/* Take the handle of a file that nobody reads out of the ring; NULL: all are read. Files that
 * were used since the hand came by last are passed over in the first round. */
static petal_file *
take_idle(struct file_pool *pool)
{
    assert_held(&pool->mutex);
    /* The second round may find used again what the first has passed; the third asks no more. */
    for (uint32_t steps = 3 * pool->limit; pool->hand != NULL && steps > 0; steps--) {
        struct pooled_file *file = pool->hand;
        uint32_t state = atomic_load_explicit(&file->state, memory_order_seq_cst);

        pool->hand = file->next;
        if ((state & STATE_COUNT) != 0)
            continue;
        if ((state & STATE_USED) != 0 && steps > pool->limit) {
            atomic_compare_exchange_strong_explicit(&file->state, &state, state & ~STATE_USED,
                                                    memory_order_relaxed, memory_order_relaxed);
            continue;
        }
        if (atomic_compare_exchange_strong_explicit(&file->state, &state, 0, memory_order_seq_cst,
                                                    memory_order_relaxed)) {
            ring_remove(pool, file);
            return file->file;
        }
    }
    return NULL;
}

/* ---- opening ---- */

static void
wake(struct file_pool *pool)
{
    pthread_cond_broadcast(&pool->changed);
}

static int
close_handle(const struct pooled_file *file, petal_file *handle)
{
    const petal_vfs *vfs = file->directory->env->vfs;

    return vfs->close(vfs->context, handle);
}

/* Get one of the handles that the limit allows; *idle: one to be closed first, or NULL. The
 * mutex is given up while waiting. */
static void
reserve_handle(struct file_pool *pool, petal_file **idle)
{
    *idle = NULL;
    assert_held(&pool->mutex);
    while (pool->open == pool->limit) {
        *idle = take_idle(pool);
        if (*idle != NULL)
            return; /* its place is taken over */
        atomic_fetch_add_explicit(&pool->waiting, 1, memory_order_seq_cst);
        *idle = take_idle(pool);
        if (*idle == NULL)
            mutex_wait(&pool->mutex, &pool->changed, CLOCK_NEVER);
        atomic_fetch_sub_explicit(&pool->waiting, 1, memory_order_relaxed);
        if (*idle != NULL)
            return;
    }
    pool->open++;
    assert(pool->open <= pool->limit);
}

static enum petal_status
open_path(const struct pooled_file *file, petal_file **handle, petal_error *error)
{
    int failure = directory_open_file(file->directory, file->path, file->flags, handle);
    const char *what = (file->flags & PETAL_FILE_CREATE) != 0 ? "create" : "open";

    return failure == 0 ? PETAL_OK : error_io(error, file->path, failure, what);
}

/* The handle is the file's from now on, and acquired once. That is no use yet that would set it
 * apart from the others. */
static void
install(struct pooled_file *file, petal_file *handle)
{
    assert(atomic_load_explicit(&file->state, memory_order_relaxed) == 0 && handle != NULL);
    file->file = handle;
    atomic_store_explicit(&file->state, STATE_OPEN | 1, memory_order_release);
}

/* Open a file that nobody else opens. The mutex is given up meanwhile. */
static enum petal_status
open_file(struct file_pool *pool, struct pooled_file *file, petal_error *error)
{
    petal_file *idle, *handle;
    enum petal_status status;

    assert_held(&pool->mutex);
    assert(!file->opening);
    file->opening = true;
    reserve_handle(pool, &idle);
    mutex_unlock(&pool->mutex);
    /* What was read loses nothing, and what was written is yet to be synced, by another handle. */
    if (idle != NULL)
        (void)close_handle(file, idle);
    status = open_path(file, &handle, error);
    mutex_lock(&pool->mutex);
    file->opening = false;
    if (status == PETAL_OK) {
        install(file, handle);
        ring_add(pool, file);
    } else {
        pool->open--;
    }
    wake(pool);
    return status;
}

/* Count up if it is open. */
static bool
try_acquire(struct pooled_file *file)
{
    uint32_t state = atomic_load_explicit(&file->state, memory_order_relaxed);

    while ((state & STATE_OPEN) != 0) {
        if (atomic_compare_exchange_weak_explicit(&file->state, &state, (state + 1) | STATE_USED,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    }
    return false;
}

static enum petal_status
acquire_closed(struct pooled_file *file, petal_error *error)
{
    struct file_pool *pool = file->pool;
    enum petal_status status = PETAL_OK;

    mutex_lock(&pool->mutex);
    while (!try_acquire(file)) {
        if (file->opening) {
            mutex_wait(&pool->mutex, &pool->changed, CLOCK_NEVER);
            continue;
        }
        status = open_file(pool, file, error);
        break;
    }
    mutex_unlock(&pool->mutex);
    return status;
}

/* Without a pool the first to acquire it is alone: the one who makes its reader. */
static enum petal_status
acquire_unpooled(struct pooled_file *file, petal_error *error)
{
    petal_file *handle;
    enum petal_status status = open_path(file, &handle, error);

    if (status == PETAL_OK)
        install(file, handle);
    return status;
}

enum petal_status
pooled_file_acquire(struct pooled_file *file, petal_file **opened, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (!try_acquire(file))
        status = file->pool != NULL ? acquire_closed(file, error) : acquire_unpooled(file, error);
    *opened = status == PETAL_OK ? file->file : NULL;
    return status;
}

void
pooled_file_release(struct pooled_file *file)
{
    struct file_pool *pool = file->pool;
    uint32_t before = atomic_fetch_sub_explicit(&file->state, 1, memory_order_seq_cst);

    assert((before & STATE_COUNT) > 0);
    if ((before & STATE_COUNT) > 1 || pool == NULL ||
        atomic_load_explicit(&pool->waiting, memory_order_seq_cst) == 0)
        return;
    mutex_lock(&pool->mutex);
    wake(pool);
    mutex_unlock(&pool->mutex);
}

int
pooled_file_fini(struct pooled_file *file)
{
    struct file_pool *pool = file->pool;
    bool is_open;
    int failure;

    assert((atomic_load_explicit(&file->state, memory_order_relaxed) & STATE_COUNT) == 0);
    if (pool == NULL) {
        petal_file *handle = file->file;

        file->file = NULL;
        return handle != NULL ? close_handle(file, handle) : 0;
    }
    mutex_lock(&pool->mutex);
    is_open = file->next != NULL;
    if (is_open)
        ring_remove(pool, file);
    mutex_unlock(&pool->mutex);
    if (!is_open)
        return 0;
    failure = close_handle(file, file->file);
    mutex_lock(&pool->mutex);
    pool->open--;
    wake(pool);
    mutex_unlock(&pool->mutex);
    return failure;
}
