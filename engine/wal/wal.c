/* wal.c -- see engine/wal/wal.h. */
#include "engine/wal/wal.h"

#include "base/clock.h"
#include "base/inline.h"

#include <assert.h>

#define COPY_BYTES ((size_t)64 << 10)

/* ---- the current WAL and the spare ---- */

/* An empty WAL with its name on the medium; NULL after a failure. */
static enum petal_status
make_file(petal_db *db, uint64_t number, struct wal_file **wal, petal_error *error)
{
    struct wal_chain *chain = db->wal;
    char path[PETAL_PATH_BYTES];
    enum petal_status status;

    filename_wal(path, db->directory.path, number);
    status = wal_file_create(wal, &db->directory, path, number, chain->unmapped, error);
    if (status != PETAL_OK)
        return status;
    status = db_sync_directory(db, error);
    if (status != PETAL_OK) {
        wal_file_close(*wal);
        *wal = NULL;
    }
    return status;
}

/* Close a WAL in which there is nothing, and remove its file. */
static void
discard_file(petal_db *db, struct wal_file *wal)
{
    char path[PETAL_PATH_BYTES];
    int failed;

    filename_wal(path, db->directory.path, wal_file_number(wal));
    wal_file_close(wal);
    failed = directory_remove(&db->directory, path);
    if (failed != 0)
        env_log(&db->env, PETAL_LOG_WARNING, "cannot remove unused log %s: error %d", path, failed);
}

/* The spare becomes the current WAL; 0. Without one the number of a WAL to make, noted in the same
 * breath: a flush that looks now must not take it for one that is gone, and a spare that is ready
 * only now, with a lesser number, comes too late. */
static uint64_t
take_spare_or_number(petal_db *db)
{
    struct wal_chain *chain = db->wal;
    uint64_t number = 0;

    mutex_lock(&chain->mutex);
    if (chain->spare != NULL) {
        chain->current = chain->spare;
        chain->newest = wal_file_number(chain->current);
        chain->spare = NULL;
    } else {
        number = chain->in_making = db_take_file_number(db);
    }
    mutex_unlock(&chain->mutex);
    return number;
}

static enum petal_status
create_current(petal_db *db, uint64_t number, petal_error *error)
{
    struct wal_chain *chain = db->wal;
    struct wal_file *wal = NULL;
    enum petal_status status = make_file(db, number, &wal, error);

    mutex_lock(&chain->mutex);
    chain->current = wal;
    chain->in_making = 0;
    if (wal != NULL)
        chain->newest = number;
    mutex_unlock(&chain->mutex);
    return status;
}

/* How far the predecessor of the next WAL is synced; one that is gone needs no promise. */
static uint64_t
predecessor_synced(petal_db *db)
{
    struct wal_chain *chain = db->wal;
    uint64_t synced = 0;

    mutex_lock(&chain->mutex);
    for (size_t i = 0; i < chain->closed_count; i++) {
        const struct closed_wal *closed = &chain->closed[i];

        if (closed->number == chain->predecessor_number)
            synced = closed->file != NULL ? wal_file_synced_length(closed->file) : closed->length;
    }
    mutex_unlock(&chain->mutex);
    return synced;
}

enum petal_status
wal_current(petal_db *db, struct wal_file **wal, petal_error *error)
{
    struct wal_chain *chain = db->wal;
    enum petal_status status = PETAL_OK;

    assert_leads(db);
    if (chain->current == NULL) {
        uint64_t number = take_spare_or_number(db);

        if (number != 0)
            status = create_current(db, number, error);
        if (status == PETAL_OK) {
            struct wal_identity identity = {
                .database_identity = db->identity,
                .number = wal_file_number(chain->current),
                .predecessor_number = chain->predecessor_number,
                .predecessor_length = chain->predecessor_length,
                .predecessor_synced = predecessor_synced(db),
                .predecessor_last_sequence = chain->predecessor_last_sequence,
            };

            wal_file_identify(chain->current, &identity);
            chain->spare_asked = false;
        }
    }
    *wal = chain->current;
    return status;
}

/* The number of a spare to make; 0: none is wanted. */
static uint64_t
begin_spare(petal_db *db)
{
    struct wal_chain *chain = db->wal;
    uint64_t number = 0;

    mutex_lock(&chain->mutex);
    if (chain->current != NULL && chain->spare == NULL && chain->spare_in_making == 0 &&
        !atomic_load_explicit(&db->failure.failed, memory_order_relaxed))
        number = chain->spare_in_making = db_take_file_number(db);
    mutex_unlock(&chain->mutex);
    return number;
}

void
wal_make_spare(petal_db *db)
{
    struct wal_chain *chain = db->wal;
    uint64_t number = begin_spare(db);
    struct wal_file *wal = NULL;
    petal_error error;

    if (number == 0)
        return;
    if (make_file(db, number, &wal, &error) != PETAL_OK)
        env_log(&db->env, PETAL_LOG_INFO, "no log was made ahead: %s", error.text);
    mutex_lock(&chain->mutex);
    chain->spare_in_making = 0;
    /* While it was made the leader may have needed one and made a newer one: WALs are in order of
     * their numbers. */
    if (wal != NULL && chain->in_making == 0 && number > chain->newest) {
        chain->spare = wal;
        wal = NULL;
    }
    mutex_unlock(&chain->mutex);
    if (wal != NULL)
        discard_file(db, wal);
}

void
wal_ask_for_spare(petal_db *db)
{
    struct wal_chain *chain = db->wal;

    assert_leads(db);
    if (chain->current == NULL || chain->spare_asked)
        return;
    chain->spare_asked = true;
    mutex_lock(&chain->mutex);
    chain->spare_wanted = true;
    pthread_cond_signal(&chain->wanted);
    mutex_unlock(&chain->mutex);
}

void
wal_close(petal_db *db)
{
    struct wal_chain *chain = db->wal;

    if (chain->spare != NULL)
        discard_file(db, chain->spare);
    if (chain->current != NULL && wal_file_is_empty(chain->current))
        discard_file(db, chain->current);
    else
        wal_file_close(chain->current);
    for (size_t i = 0; i < chain->closed_count; i++)
        wal_file_close(chain->closed[i].file);
    chain->closed_count = 0;
}

/* ---- store and sync ---- */

static enum petal_status
sync_counted(petal_db *db, struct wal_file *wal, petal_error *error)
{
    uint64_t began = clock_ns();
    bool needed = wal_file_synced_length(wal) < wal_file_length(wal);
    enum petal_status status = wal_file_sync(wal, error);

    if (needed) {
        STATS_ADD_SHARED(db, log_syncs, 1);
        latency_end(&db->latencies, PETAL_LATENCY_LOG_SYNC, began);
    }
    return status;
}

/* The oldest WAL below `below` that is closed and not known to be synced; NULL: there is none. */
static struct wal_file *
oldest_unsynced(petal_db *db, uint64_t below)
{
    struct wal_chain *chain = db->wal;
    struct wal_file *wal = NULL;

    mutex_lock(&chain->mutex);
    for (size_t i = 0; wal == NULL && i < chain->closed_count; i++) {
        if (chain->closed[i].number < below)
            wal = chain->closed[i].file;
    }
    mutex_unlock(&chain->mutex);
    return wal;
}

static void
note_synced(petal_db *db, struct wal_file *wal)
{
    struct wal_chain *chain = db->wal;

    mutex_lock(&chain->mutex);
    for (size_t i = 0; i < chain->closed_count; i++) {
        if (chain->closed[i].file == wal)
            chain->closed[i].file = NULL;
    }
    mutex_unlock(&chain->mutex);
    wal_file_close(wal);
}

/* REQUIRES: sync_mutex held, so that no one else closes what is synced here. */
static enum petal_status
sync_closed_below(petal_db *db, uint64_t below, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    assert_held(&db->wal->sync_mutex);
    while (status == PETAL_OK) {
        struct wal_file *wal = oldest_unsynced(db, below);

        if (wal == NULL)
            break;
        status = sync_counted(db, wal, error);
        if (status == PETAL_OK)
            note_synced(db, wal);
    }
    return status;
}

/* All closed WALs are below. REQUIRES: the chain's mutex held. */
static uint64_t
closed_end(const petal_db *db)
{
    struct wal_chain *chain = db->wal;

    return chain->closed_count == 0 ? 0 : chain->closed[chain->closed_count - 1].number + 1;
}

enum petal_status
wal_sync_closed(petal_db *db, petal_error *error)
{
    struct wal_chain *chain = db->wal;
    petal_error cause;
    enum petal_status status;
    uint64_t end;

    mutex_lock(&chain->mutex);
    end = closed_end(db);
    mutex_unlock(&chain->mutex);
    mutex_lock(&chain->sync_mutex);
    status = sync_closed_below(db, end, &cause);
    mutex_unlock(&chain->sync_mutex);
    if (status == PETAL_OK)
        return PETAL_OK;
    db_fail(db, &cause);
    return error_copy(error, &cause);
}

/*
 * Sync all that is stored: the current WAL, after those closed before it. It stays open meanwhile,
 * for when the leader closes it, it is one of the closed WALs, and those are freed under sync_mutex
 * only.
 */
static enum petal_status
sync_all(petal_db *db, petal_error *error)
{
    struct wal_chain *chain = db->wal;
    struct wal_file *wal;
    enum petal_status status;
    uint64_t end;

    mutex_lock(&chain->sync_mutex);
    mutex_lock(&chain->mutex);
    wal = chain->current;
    end = closed_end(db);
    mutex_unlock(&chain->mutex);
    status = sync_closed_below(db, end, error);
    if (wal != NULL && status == PETAL_OK)
        status = sync_counted(db, wal, error);
    else if (wal != NULL)
        wal_file_condemn(wal, error); /* it may never be synced */
    mutex_unlock(&chain->sync_mutex);
    if (status != PETAL_OK)
        db_fail(db, error);
    return status;
}

enum petal_status
wal_sync_all(petal_db *db, petal_error *error)
{
    petal_error cause;
    enum petal_status status = sync_all(db, &cause);

    if (status != PETAL_OK && error != NULL)
        *error = cause;
    return status;
}

/* Between two readings of the wall clock, which may have been set back: then it counts as much as
 * if it had been set forward. */
static int64_t
time_between(int64_t since_ms, int64_t now_ms)
{
    return now_ms > since_ms ? now_ms - since_ms : since_ms - now_ms;
}

/* The last completed sync is older than two intervals, or one that runs takes longer than an
 * interval. */
static inline bool
sync_is_overdue(const struct wal_chain *chain, int64_t now_ms)
{
    int64_t interval = chain->sync_interval_ms;
    int64_t since = atomic_load_explicit(&chain->unsynced_since_ms, memory_order_relaxed);
    int64_t started = atomic_load_explicit(&chain->sync_started_ms, memory_order_relaxed);

    return chain->sync_interval_ms != PETAL_NEVER &&
           ((since != 0 && time_between(since, now_ms) > 2 * interval) ||
            (started != 0 && time_between(started, now_ms) > interval));
}

static NEVER_INLINE enum petal_status
commit_by_sync(petal_db *db, petal_error *error)
{
    enum petal_status status = sync_all(db, error);

    if (status == PETAL_OK)
        atomic_store_explicit(&db->wal->unsynced_since_ms, 0, memory_order_relaxed);
    return status;
}

enum petal_status
wal_commit(petal_db *db, enum petal_durability durability, int64_t now_ms, petal_error *error)
{
    struct wal_chain *chain = db->wal;
    uint64_t buffered;
    enum petal_status status;

    assert_leads(db);
    if (durability == PETAL_SKIP_WAL)
        return PETAL_OK;
    buffered = wal_file_mark(chain->current).used;
    status = wal_file_store(chain->current, error);
    if (status != PETAL_OK)
        return status;
    STATS_ADD_LEADER(db, log_bytes, buffered);
    /*
     * Something is stored that may not be synced yet. The WAL thread clears the time, then looks
     * how much is stored; without a fence here it may miss the store, and its clearing be missed.
     * Then it sees at the end of the next interval that more is stored than synced.
     */
    if (atomic_load_explicit(&chain->unsynced_since_ms, memory_order_relaxed) == 0)
        atomic_store_explicit(&chain->unsynced_since_ms, now_ms, memory_order_relaxed);
    if (durability != PETAL_FSYNC_WAL && !sync_is_overdue(chain, now_ms))
        return PETAL_OK;
    return commit_by_sync(db, error);
}

enum petal_status
wal_sync_before(petal_db *db, petal_error *error)
{
    struct wal_chain *chain = db->wal;
    bool waiting;

    assert_leads(db);
    mutex_lock(&chain->mutex);
    waiting = chain->closed_count > 0 && chain->closed[chain->closed_count - 1].file != NULL;
    mutex_unlock(&chain->mutex);
    return waiting ? sync_all(db, error) : PETAL_OK;
}

/* Room for one more closed WAL. */
static bool
reserve_closed(petal_db *db)
{
    struct wal_chain *chain = db->wal;
    void *array;
    bool grown;

    mutex_lock(&chain->mutex);
    array = chain->closed;
    grown = mem_grow(db->env.allocator, &array, &chain->closed_capacity, chain->closed_count,
                     chain->closed_count + 1, sizeof *chain->closed);
    chain->closed = array;
    mutex_unlock(&chain->mutex);
    return grown;
}

enum petal_status
wal_rotate(petal_db *db, petal_error *error)
{
    struct wal_chain *chain = db->wal;
    struct wal_file *wal = chain->current;
    enum petal_status status;

    if (wal == NULL || wal_file_is_empty(wal))
        return PETAL_OK;
    status = wal_file_decide(wal, error);
    if (status != PETAL_OK)
        return status;
    if (!reserve_closed(db))
        return error_no_memory(error);
    chain->predecessor_number = wal_file_number(wal);
    chain->predecessor_length = wal_file_length(wal);
    chain->predecessor_last_sequence = wal_file_stored_sequence(wal);
    mutex_lock(&chain->mutex);
    chain->closed[chain->closed_count++] = (struct closed_wal){
        wal_file_number(wal), wal_file_stored_sequence(wal), wal_file_length(wal), wal};
    chain->current = NULL;
    mutex_unlock(&chain->mutex);
    return PETAL_OK;
}

/* ---- WALs that an opening keeps ---- */

/* Each byte as it is, up to `length`; then sync. */
static enum petal_status
write_again(petal_db *db, const char *path, petal_file *file, uint8_t *buffer, uint64_t length,
            petal_error *error)
{
    const petal_vfs *vfs = db->env.vfs;
    const char *action = "read";
    size_t got = 0;
    int failed = 0;

    for (uint64_t at = 0; failed == 0 && at < length; at += got) {
        size_t piece = length - at < COPY_BYTES ? (size_t)(length - at) : COPY_BYTES;

        action = "read";
        failed = vfs->read_at(vfs->context, file, at, buffer, piece, &got);
        if (failed == 0 && got != piece)
            return error_corrupt(error, path, at + got, "%s has become shorter", path);
        if (failed == 0) {
            action = "write to";
            failed = vfs->write_at(vfs->context, file, at, buffer, piece);
        }
    }
    if (failed != 0)
        return error_io(error, path, failed, action);
    failed = vfs->sync(vfs->context, file);
    return failed == 0 ? PETAL_OK : error_unknown(error, path, failed, "sync");
}

enum petal_status
wal_keep(petal_db *db, uint64_t number, uint64_t length, uint64_t last_sequence, petal_error *error)
{
    struct wal_chain *chain = db->wal;
    const petal_vfs *vfs = db->env.vfs;
    char path[PETAL_PATH_BYTES];
    uint8_t *buffer = mem_alloc(db->env.allocator, COPY_BYTES);
    petal_file *file;
    enum petal_status status;
    int failed;

    if (buffer == NULL || !reserve_closed(db)) {
        mem_free(db->env.allocator, buffer, COPY_BYTES);
        return error_no_memory(error);
    }
    filename_wal(path, db->directory.path, number);
    failed = directory_open_file(&db->directory, path, PETAL_FILE_READ | PETAL_FILE_WRITE, &file);
    if (failed == 0) {
        status = write_again(db, path, file, buffer, length, error);
        vfs->close(vfs->context, file);
    } else {
        status = error_io(error, path, failed, "open");
    }
    mem_free(db->env.allocator, buffer, COPY_BYTES);
    if (status != PETAL_OK)
        return status;
    chain->closed[chain->closed_count++] = (struct closed_wal){number, last_sequence, length, NULL};
    chain->predecessor_number = chain->newest = number;
    chain->predecessor_length = length;
    chain->predecessor_last_sequence = last_sequence;
    return PETAL_OK;
}

/* ---- in the background ---- */

/* Is anything stored that is not known to be synced? */
static bool
has_unsynced(petal_db *db)
{
    struct wal_chain *chain = db->wal;
    bool found = atomic_load_explicit(&chain->unsynced_since_ms, memory_order_relaxed) != 0;

    mutex_lock(&chain->mutex);
    found = found ||
            (chain->closed_count > 0 && chain->closed[chain->closed_count - 1].file != NULL) ||
            (chain->current != NULL &&
             wal_file_synced_length(chain->current) < wal_file_length(chain->current));
    mutex_unlock(&chain->mutex);
    return found;
}

/* No leadership is needed: what was acknowledged comes to the medium while a leader waits for
 * memory. */
static void
sync_in_background(petal_db *db)
{
    struct wal_chain *chain = db->wal;
    petal_error error;

    /* Cleared before the sync: what is stored from here on is not covered by it. */
    atomic_exchange_explicit(&chain->unsynced_since_ms, 0, memory_order_acq_rel);
    atomic_store_explicit(&chain->sync_started_ms, env_clock_ms(&db->env), memory_order_relaxed);
    (void)sync_all(db, &error); /* what fails there ends writing */
    atomic_store_explicit(&chain->sync_started_ms, 0, memory_order_relaxed);
}

/* The end of the interval that begins now. */
static uint64_t
interval_end(const struct wal_chain *chain)
{
    if (chain->sync_interval_ms == PETAL_NEVER)
        return CLOCK_NEVER;
    return clock_us() + (uint64_t)chain->sync_interval_ms * 1000;
}

void
wal_wake(void *argument)
{
    petal_db *db = argument;

    pthread_cond_signal(&db->wal->wanted);
}

static void *
wal_thread(void *argument)
{
    petal_db *db = argument;
    struct wal_chain *chain = db->wal;
    uint64_t until = interval_end(chain);

    mutex_lock(&chain->mutex);
    for (;;) {
        bool over, spare;

        while (!chain->spare_wanted && !chain->stopping && clock_us() < until &&
               view_bin_is_empty(&db->views.bin))
            mutex_wait(&chain->mutex, &chain->wanted, until);
        if (chain->stopping)
            break;
        over = clock_us() >= until; /* also when there is always something else to do */
        spare = chain->spare_wanted;
        chain->spare_wanted = false;
        mutex_unlock(&chain->mutex);
        if (over && has_unsynced(db) &&
            !atomic_load_explicit(&db->failure.failed, memory_order_relaxed))
            sync_in_background(db);
        if (over) {
            readers_remove_kept(&db->readers);
            until = interval_end(chain);
        }
        if (spare)
            wal_make_spare(db);
        view_bin_empty(&db->views.bin);
        mutex_lock(&chain->mutex);
    }
    mutex_unlock(&chain->mutex);
    return NULL;
}

int
wal_start(petal_db *db)
{
    int failed = pthread_create(&db->wal->thread, NULL, wal_thread, db);

    db->wal->thread_started = failed == 0;
    return failed;
}

void
wal_stop(petal_db *db)
{
    struct wal_chain *chain = db->wal;

    if (!chain->thread_started)
        return;
    mutex_lock(&chain->mutex);
    chain->stopping = true;
    pthread_cond_broadcast(&chain->wanted);
    mutex_unlock(&chain->mutex);
    pthread_join(chain->thread, NULL);
    chain->thread_started = false;
}

/* ---- the chain ---- */

bool
wal_init(petal_db *db, const petal_options *options)
{
    struct wal_chain *made = mem_zalloc(db->env.allocator, sizeof *made);

    db->wal = made;
    if (made == NULL)
        return false;
    made->sync_interval_ms = options->log_sync_interval_ms;
    made->unmapped = options->no_log_mapping;
    atomic_init(&made->unsynced_since_ms, 0);
    atomic_init(&made->sync_started_ms, 0);
    return mutex_init(&made->mutex) && mutex_init(&made->sync_mutex) &&
           clock_condition_init(&made->wanted);
}

void
wal_fini(petal_db *db)
{
    struct wal_chain *chain = db->wal;

    if (chain == NULL)
        return;
    assert(!chain->thread_started);
    mem_free(db->env.allocator, chain->closed, chain->closed_capacity * sizeof *chain->closed);
    mutex_fini(&chain->mutex);
    mutex_fini(&chain->sync_mutex);
    pthread_cond_destroy(&chain->wanted);
    mem_free(db->env.allocator, chain, sizeof *chain);
    db->wal = NULL;
}
