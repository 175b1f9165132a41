/*
 * file.c -- writing one WAL file; see engine/wal/file.h and, for the bytes,
 * engine/wal/file_format.h and engine/wal/fragment.h.
 *
 * The buffer holds what follows the stored bytes, exactly as it will stand in the file: one store
 * moves it there.  A record that fits in its frame is encoded in its place.  A larger one is
 * encoded at the end of the room that its fragments will take; wal_file_end moves the pieces down,
 * first to last, leaving gaps for the headers.  A piece never moves up, so none is overwritten
 * before its turn.
 */
#include "engine/wal/file.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>

#include "base/inline.h"
#include "base/mem.h"
#include "base/mutex.h"
#include "engine/manifest/names.h"
#include "engine/wal/file_format.h"
#include "engine/wal/fragment.h"
#include "engine/wal/record.h"

#define BUFFER_LEAST_BYTES ((size_t)64 << 10)
/* A buffer beyond this was grown for a rare, huge record: it is given back once it is stored. */
#define BUFFER_KEPT_BYTES ((size_t)4 << 20)

struct wal_file {
    /* The leader's. */
    const struct env *env;
    petal_file *file;
    uint64_t seed;
    uint8_t *buffer;
    size_t used, capacity;
    uint64_t buffer_offset;  /* of the buffer's first byte in the file */
    bool undecided;          /* records after buffer_offset could not be taken back yet */
    size_t begun;            /* where the record begun has its first header, in the buffer */
    size_t begun_bytes;      /* its payload */
    uint64_t begun_total;    /* with all its headers; 0: none is begun */
    uint64_t begun_promise;  /* in its first header; 0: none */
    uint64_t begun_later;    /* in those that follow; 0: none */
    uint64_t sequence;       /* greatest buffered */
    uint64_t promise;        /* the latest in a fragment */
    uint64_t promise_due;    /* a fragment that begins here or later has to repeat it */
    struct record_base base; /* of the next record */

    /* Written by the leader after a store, read by any thread. */
    _Atomic(uint64_t) stored_length, stored_sequence;

    /* Written under sync_mutex after a sync, read by any thread. */
    _Alignas(CACHE_LINE_BYTES) _Atomic(uint64_t) synced_length;
    _Atomic(uint64_t) synced_sequence;
    struct mutex
        sync_mutex; /* one fdatasync at a time: the kernel tells of a failed one only once */

    struct mutex failure_mutex; /* leaf; guards `failure` */
    _Atomic(bool) failed;
    petal_error failure;

    uint64_t number;
    char path[PETAL_PATH_BYTES];
};

/* ---- failure ---- */

/* Keep the first cause, which is in *cause afterwards. */
static void
fail_with(struct wal_file *wal, petal_error *cause)
{
    mutex_lock(&wal->failure_mutex);
    if (!atomic_load_explicit(&wal->failed, memory_order_relaxed)) {
        wal->failure = *cause;
        atomic_store_explicit(&wal->failed, true, memory_order_release);
    }
    *cause = wal->failure;
    mutex_unlock(&wal->failure_mutex);
}

/* PETAL_IO, also where a sync found the disk full: nobody knows what the file holds. */
static enum petal_status
wal_file_fail(struct wal_file *wal, int os_error, const char *action, petal_error *error)
{
    petal_error cause;

    error_unknown(&cause, wal->path, os_error, action);
    fail_with(wal, &cause);
    return error_copy(error, &cause);
}

void
wal_file_condemn(struct wal_file *wal, const petal_error *cause)
{
    petal_error kept = *cause;

    fail_with(wal, &kept);
}

static enum petal_status
wal_file_check(struct wal_file *wal, petal_error *error)
{
    enum petal_status status;

    if (!atomic_load_explicit(&wal->failed, memory_order_acquire))
        return PETAL_OK;
    mutex_lock(&wal->failure_mutex);
    status = error_copy(error, &wal->failure);
    mutex_unlock(&wal->failure_mutex);
    return status;
}

/* ---- open and close ---- */

static void
encode_header(uint8_t *header, const struct wal_identity *identity)
{
    memcpy(header, WAL_MAGIC, 8);
    put_le32(header + 8, WAL_VERSION);
    put_le32(header + 12, WAL_HEADER_BYTES);
    put_le64(header + 16, identity->database_identity);
    put_le64(header + 24, identity->number);
    put_le64(header + 32, identity->predecessor_number);
    put_le64(header + 40, identity->predecessor_length);
    put_le64(header + 48, identity->predecessor_last_sequence);
    put_le64(header + 56, identity->predecessor_synced);
    put_le64(header + WAL_HEADER_CHECKSUM, wal_header_checksum(header, WAL_HEADER_BYTES));
}

static bool
init_locks(struct wal_file *wal)
{
    if (!mutex_init(&wal->sync_mutex))
        return false;
    if (mutex_init(&wal->failure_mutex))
        return true;
    mutex_fini(&wal->sync_mutex);
    return false;
}

static struct wal_file *
wal_file_allocate(const struct env *env, const char *path, uint64_t number)
{
    struct wal_file *wal = mem_alloc_aligned(env->allocator, CACHE_LINE_BYTES, sizeof *wal);

    if (wal == NULL)
        return NULL;
    memset(wal, 0, sizeof *wal);
    wal->buffer = mem_alloc(env->allocator, BUFFER_LEAST_BYTES);
    if (wal->buffer == NULL || !init_locks(wal)) {
        mem_free(env->allocator, wal->buffer, BUFFER_LEAST_BYTES);
        mem_free(env->allocator, wal, sizeof *wal);
        return NULL;
    }
    wal->env = env;
    wal->capacity = BUFFER_LEAST_BYTES;
    wal->number = number;
    wal->promise_due = UINT64_MAX;
    memcpy(wal->path, path, strlen(path) + 1);
    atomic_init(&wal->stored_length, 0);
    atomic_init(&wal->stored_sequence, 0);
    atomic_init(&wal->synced_length, 0);
    atomic_init(&wal->synced_sequence, 0);
    atomic_init(&wal->failed, false);
    return wal;
}

enum petal_status
wal_file_create(struct wal_file **created, const struct directory *directory, const char *path,
                uint64_t number, bool unmapped, petal_error *error)
{
    const unsigned flags = PETAL_FILE_WRITE | PETAL_FILE_CREATE | PETAL_FILE_EXCLUSIVE;
    struct wal_file *wal;
    int failed;

    assert(strlen(path) < PETAL_PATH_BYTES);
    *created = NULL;
    wal = wal_file_allocate(directory->env, path, number);
    if (wal == NULL)
        return error_no_memory(error);
    failed = directory_open_file(directory, path, unmapped ? flags | PETAL_FILE_UNMAPPED : flags,
                                 &wal->file);
    if (failed != 0) {
        wal->file = NULL;
        wal_file_close(wal);
        return error_io(error, path, failed, "create");
    }
    *created = wal;
    return PETAL_OK;
}

void
wal_file_identify(struct wal_file *wal, const struct wal_identity *identity)
{
    assert(identity->number == wal->number && identity->predecessor_number < identity->number);
    assert(identity->predecessor_synced <= identity->predecessor_length);
    assert(wal->buffer_offset == 0 && wal->used == 0);
    wal->seed = wal_seed(identity->database_identity, identity->number);
    assert(wal->capacity >= WAL_HEADER_BYTES);
    encode_header(wal->buffer, identity);
    wal->used = WAL_HEADER_BYTES;
}

void
wal_file_close(struct wal_file *wal)
{
    const petal_allocator *allocator;

    if (wal == NULL)
        return;
    allocator = wal->env->allocator;
    if (wal->file != NULL)
        wal->env->vfs->close(wal->env->vfs->context, wal->file);
    mutex_fini(&wal->sync_mutex);
    mutex_fini(&wal->failure_mutex);
    mem_free(allocator, wal->buffer, wal->capacity);
    mem_free(allocator, wal, sizeof *wal);
}

/* ---- records ---- */

/* Make the buffer, which is too small, hold `need` bytes. */
static bool
grow(struct wal_file *wal, size_t need)
{
    /* Doubled while small; a huge record gets what it needs. */
    size_t capacity = need < BUFFER_KEPT_BYTES / 2 ? wal->capacity * 2 : need;
    uint8_t *buffer;

    if (capacity < need)
        capacity = need;
    buffer = mem_alloc(wal->env->allocator, capacity);
    if (buffer == NULL)
        return false;
    memcpy(buffer, wal->buffer, wal->used);
    mem_free(wal->env->allocator, wal->buffer, wal->capacity);
    wal->buffer = buffer;
    wal->capacity = capacity;
    return true;
}

/* Relaxed: a promise is a number that a completed sync made true; it orders nothing. */
static inline uint64_t
newest_promise(const struct wal_file *wal)
{
    return atomic_load_explicit(&wal->synced_length, memory_order_relaxed);
}

/* The promise that a fragment has to have which begins at `offset`; 0: none. */
static inline uint64_t
promise_at(const struct wal_file *wal, uint64_t synced, uint64_t offset)
{
    return synced != wal->promise || offset >= wal->promise_due ? synced : 0;
}

/* A record that does not lie in one fragment in the room that there is. */
static NEVER_INLINE uint8_t *
begin_elsewhere(struct wal_file *wal, size_t size)
{
    uint64_t at = wal->buffer_offset + wal->used, synced = newest_promise(wal);
    size_t left = wal_frame_left(at), padding = 0, total;

    if (left <= WAL_FRAGMENT_MOST_BYTES) { /* a tail too short for any header and one byte */
        padding = left;
        left = WAL_FRAME_BYTES;
    }
    if (size > (size_t)2 * PETAL_MAX_BATCH_BYTES) /* keeps the sums below in range */
        return NULL;
    wal->begun_promise = promise_at(wal, synced, at + padding);
    wal->begun_later = synced; /* each of them begins a page */
    total = wal_fragment_header_bytes(WAL_FULL, wal->begun_promise) + size;
    if (total > left) {
        size_t header = wal_fragment_header_bytes(WAL_FIRST, wal->begun_promise);
        size_t later = wal_fragment_header_bytes(WAL_LAST, synced);
        size_t rest = size - (left - header), most = WAL_FRAME_BYTES - later;

        total = header + size + later * ((rest + most - 1) / most);
    }
    if (wal->used + padding + total > wal->capacity && !grow(wal, wal->used + padding + total))
        return NULL;
    if (padding > 0)
        memset(wal->buffer + wal->used, 0, padding);
    wal->begun = wal->used + padding;
    wal->begun_bytes = size;
    wal->begun_total = total;
    return wal->buffer + wal->begun + (total - size);
}

uint8_t *
wal_file_begin(struct wal_file *wal, size_t size)
{
    uint64_t at = wal->buffer_offset + wal->used;
    size_t left = wal_frame_left(at), total = WAL_FRAGMENT_LEAST_BYTES + size;

    /* In its place, as it is. */
    if (left <= WAL_FRAGMENT_MOST_BYTES || total > left || total > wal->capacity - wal->used ||
        promise_at(wal, newest_promise(wal), at) != 0)
        return begin_elsewhere(wal, size);
    wal->begun = wal->used;
    wal->begun_bytes = size;
    wal->begun_total = total;
    wal->begun_promise = 0;
    return wal->buffer + wal->used + WAL_FRAGMENT_LEAST_BYTES;
}

static inline void
seal_fragment(struct wal_file *wal, size_t at, size_t payload_bytes, enum wal_fragment_kind kind,
              uint64_t promise)
{
    uint64_t offset = wal->buffer_offset + at;

    assert(at + wal_fragment_header_bytes(kind, promise) + payload_bytes <= wal->capacity);
    assert(promise <= wal_file_length(wal));
    wal_fragment_seal(wal->buffer + at, wal->seed, offset, kind, promise, payload_bytes);
    if (promise > 0) {
        wal->promise = promise;
        wal->promise_due = (offset | (WAL_PROMISE_BYTES - 1)) + 1;
    }
}

/* Cut the record begun into fragments, moving its pieces down to their places. */
static NEVER_INLINE void
seal_fragments(struct wal_file *wal)
{
    size_t at = wal->begun;
    size_t from = at + (size_t)wal->begun_total - wal->begun_bytes;
    size_t remaining = wal->begun_bytes;
    uint64_t promise = wal->begun_promise;
    enum wal_fragment_kind kind = WAL_FIRST;

    while (remaining > 0) {
        size_t header = wal_fragment_header_bytes(kind, promise);
        size_t room = wal_frame_left(wal->buffer_offset + at) - header;
        size_t piece = remaining < room ? remaining : room;

        assert(from >= at + header); /* no piece moves up */
        if (piece == remaining)
            kind = WAL_LAST;
        memmove(wal->buffer + at + header, wal->buffer + from, piece);
        seal_fragment(wal, at, piece, kind, promise);
        at += header + piece;
        from += piece;
        remaining -= piece;
        kind = WAL_MIDDLE;
        promise = wal->begun_later;
    }
    assert(at == wal->begun + wal->begun_total);
}

void
wal_file_end(struct wal_file *wal, uint64_t last_sequence)
{
    size_t header = wal_fragment_header_bytes(WAL_FULL, wal->begun_promise);

    assert(wal->begun_total > 0);
    if (wal->begun_total == wal->begun_bytes + header)
        seal_fragment(wal, wal->begun, wal->begun_bytes, WAL_FULL, wal->begun_promise);
    else
        seal_fragments(wal);
    wal->used = wal->begun + (size_t)wal->begun_total;
    wal->begun_total = 0;
    if (last_sequence > wal->sequence)
        wal->sequence = last_sequence;
}

static NEVER_INLINE bool
add_anywhere(struct wal_file *wal, const struct write_cell *cells, size_t count)
{
    uint8_t *to = wal_file_begin(wal, record_size(&wal->base, cells, count));

    if (to == NULL)
        return false;
    record_encode(to, &wal->base, cells, count);
    wal_file_end(wal, cells[count - 1].cell.sequence);
    return true;
}

bool
wal_file_add(struct wal_file *wal, const struct write_cell *cells, size_t count)
{
    uint64_t at = wal->buffer_offset + wal->used;
    size_t payload = record_short_size(cells);
    size_t total = WAL_FRAGMENT_LEAST_BYTES + payload;
    uint8_t *header = wal->buffer + wal->used;

    if (count > 1 || !record_is_short(&wal->base, cells) ||
        wal_frame_left(at) < WAL_FRAGMENT_MOST_BYTES + payload ||
        total > wal->capacity - wal->used || promise_at(wal, newest_promise(wal), at) != 0)
        return add_anywhere(wal, cells, count);
    /* One cell in one fragment, in its place. */
    record_encode_short(header + WAL_FRAGMENT_LEAST_BYTES, &wal->base, cells);
    wal_fragment_seal_record(header, wal->seed, at, payload);
    wal->begun_total = 0;
    wal->used += total;
    wal->sequence = cells->cell.sequence;
    return true;
}

struct wal_file_mark
wal_file_mark(const struct wal_file *wal)
{
    return (struct wal_file_mark){wal->used, wal->sequence};
}

void
wal_file_forget(struct wal_file *wal, struct wal_file_mark mark)
{
    assert(mark.used <= wal->used && mark.sequence <= wal->sequence);
    assert(mark.sequence >= wal_file_stored_sequence(wal));
    wal->used = mark.used;
    wal->sequence = mark.sequence;
    wal->begun_total = 0;
    /* What was taken back may have had the promise, and what the next record would build upon. */
    wal->promise_due = 0;
    wal->base = (struct record_base){0};
}

/* ---- store and sync ---- */

static void
shrink(struct wal_file *wal)
{
    uint8_t *buffer;

    assert(wal->used == 0);
    buffer = mem_alloc(wal->env->allocator, BUFFER_LEAST_BYTES);
    if (buffer == NULL)
        return; /* the large one serves as well */
    mem_free(wal->env->allocator, wal->buffer, wal->capacity);
    wal->buffer = buffer;
    wal->capacity = BUFFER_LEAST_BYTES;
}

/* REQUIRES: sync_mutex held. */
static enum petal_status
sync_locked(struct wal_file *wal, petal_error *error)
{
    const petal_vfs *vfs = wal->env->vfs;
    /* What is stored now, perhaps more than when the caller came. */
    uint64_t length = wal_file_length(wal);
    uint64_t sequence = wal_file_stored_sequence(wal);
    int failed = vfs->sync(vfs->context, wal->file);

    if (failed != 0)
        return wal_file_fail(wal, failed, "sync", error);
    assert(length >= wal_file_synced_length(wal) && sequence >= wal_file_synced_sequence(wal));
    atomic_store_explicit(&wal->synced_sequence, sequence, memory_order_release);
    atomic_store_explicit(&wal->synced_length, length, memory_order_release);
    return PETAL_OK;
}

/* Overwrite with zeros what a failed store left after the stored bytes; see engine/wal/file.h. */
static enum petal_status
erase_tail(struct wal_file *wal, petal_error *error)
{
    static const uint8_t zeros[4096];
    const petal_vfs *vfs = wal->env->vfs;
    uint64_t at = wal->buffer_offset, size = 0;
    enum petal_status status;
    int failed = vfs->size(vfs->context, wal->file, &size);

    wal->undecided = wal->undecided && size > at;
    if (failed == 0 && size <= at)
        return PETAL_OK;
    while (failed == 0 && at < size) {
        size_t piece = size - at < sizeof zeros ? (size_t)(size - at) : sizeof zeros;

        failed = vfs->log_store(vfs->context, wal->file, at, zeros, piece);
        at += piece;
    }
    wal->undecided = failed == ENOSPC || failed == EDQUOT;
    if (wal->undecided)
        return error_io(error, wal->path, failed, "take back what did not fit in");
    if (failed != 0)
        return wal_file_fail(wal, failed, "take back what did not fit in", error);
    mutex_lock(&wal->sync_mutex);
    status = wal_file_check(wal, error);
    if (status == PETAL_OK) {
        failed = vfs->sync(vfs->context, wal->file);
        if (failed != 0)
            status = wal_file_fail(wal, failed, "sync", error);
    }
    mutex_unlock(&wal->sync_mutex);
    return status;
}

/* A store failed. */
static enum petal_status
fail_store(struct wal_file *wal, int os_error, petal_error *error)
{
    enum petal_status status;

    if (os_error != ENOSPC && os_error != EDQUOT)
        return wal_file_fail(wal, os_error, "write to", error);
    status = erase_tail(wal, error);
    if (status == PETAL_OK)
        return error_io(error, wal->path, os_error, "write to");
    if (wal->undecided && error != NULL)
        error->status = PETAL_IO;
    return wal->undecided ? PETAL_IO : status;
}

/* What stands in the way of a store; PETAL_OK: nothing does any more. */
static NEVER_INLINE enum petal_status
clear_way(struct wal_file *wal, petal_error *error)
{
    return wal_file_is_dead(wal) ? wal_file_check(wal, error) : erase_tail(wal, error);
}

enum petal_status
wal_file_decide(struct wal_file *wal, petal_error *error)
{
    return wal->undecided ? clear_way(wal, error) : PETAL_OK;
}

enum petal_status
wal_file_store(struct wal_file *wal, petal_error *error)
{
    const petal_vfs *vfs = wal->env->vfs;
    int failed;

    if (wal_file_is_dead(wal) || wal->undecided) {
        enum petal_status status = clear_way(wal, error);

        if (status != PETAL_OK)
            return status;
    }
    if (wal->used == 0)
        return PETAL_OK;
    failed = vfs->log_store(vfs->context, wal->file, wal->buffer_offset, wal->buffer, wal->used);
    if (failed != 0)
        return fail_store(wal, failed, error);
    assert(wal->sequence >= wal_file_stored_sequence(wal));
    wal->buffer_offset += wal->used;
    wal->used = 0;
    wal->begun_total = 0;
    if (wal->capacity > BUFFER_KEPT_BYTES)
        shrink(wal);
    /* Release: a thread that loads these syncs a file that has the bytes. */
    atomic_store_explicit(&wal->stored_sequence, wal->sequence, memory_order_release);
    atomic_store_explicit(&wal->stored_length, wal->buffer_offset, memory_order_release);
    return PETAL_OK;
}

enum petal_status
wal_file_sync(struct wal_file *wal, petal_error *error)
{
    /* Length and sequence are published one after the other, so either may be the newer. */
    uint64_t length = wal_file_length(wal);
    uint64_t sequence = wal_file_stored_sequence(wal);
    enum petal_status status;

    mutex_lock(&wal->sync_mutex);
    status = wal_file_check(wal, error);
    if (status == PETAL_OK &&
        (wal_file_synced_length(wal) < length || wal_file_synced_sequence(wal) < sequence))
        status = sync_locked(wal, error);
    mutex_unlock(&wal->sync_mutex);
    return status;
}

/* ---- what it is and how far ---- */

bool
wal_file_is_dead(const struct wal_file *wal)
{
    return atomic_load_explicit(&wal->failed, memory_order_acquire);
}

bool
wal_file_is_empty(const struct wal_file *wal)
{
    return wal->sequence == 0;
}

uint64_t
wal_file_number(const struct wal_file *wal)
{
    return wal->number;
}

uint64_t
wal_file_length(const struct wal_file *wal)
{
    return atomic_load_explicit(&wal->stored_length, memory_order_acquire);
}

uint64_t
wal_file_synced_length(const struct wal_file *wal)
{
    return atomic_load_explicit(&wal->synced_length, memory_order_acquire);
}

uint64_t
wal_file_stored_sequence(const struct wal_file *wal)
{
    return atomic_load_explicit(&wal->stored_sequence, memory_order_acquire);
}

uint64_t
wal_file_synced_sequence(const struct wal_file *wal)
{
    return atomic_load_explicit(&wal->synced_sequence, memory_order_acquire);
}
