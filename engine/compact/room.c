/* room.c -- see engine/compact/room.h. */
#include "engine/compact/room.h"

#include <inttypes.h>

/* Of the bytes that are taken those that are not written yet, about. */
static uint64_t
unwritten(const struct rewrite_progress *progress, uint64_t taken)
{
    uint64_t cells = atomic_load_explicit(&progress->cells, memory_order_relaxed);
    uint64_t done = atomic_load_explicit(&progress->done, memory_order_relaxed);

    if (done >= cells)
        return done > 0 ? 0 : taken; /* none has begun to write */
    return (uint64_t)((double)taken * ((double)(cells - done) / (double)cells));
}

/* What has to stay free beside so many bytes, when `taken` are taken by others. */
static uint64_t
bytes_to_leave(const petal_db *db, uint64_t bytes, uint64_t taken)
{
    uint64_t most_spared = (uint64_t)ROOM_SPARED_MEMTABLES * db->memtable_bytes;

    return (bytes < most_spared ? bytes : most_spared) + unwritten(&db->progress.compacting, taken);
}

static bool
fits(uint64_t bytes, uint64_t left, uint64_t free_bytes)
{
    return bytes <= free_bytes && left <= free_bytes - bytes;
}

bool
room_is_there(petal_db *db, uint64_t bytes)
{
    uint64_t taken = atomic_load_explicit(&db->progress.compacting.bytes, memory_order_relaxed);

    return fits(bytes, bytes_to_leave(db, bytes, taken), directory_free_bytes(&db->directory));
}

enum petal_status
room_take(petal_db *db, uint64_t bytes, petal_error *error)
{
    struct rewrite_progress *progress = &db->progress.compacting;
    uint64_t free_bytes = directory_free_bytes(&db->directory);
    uint64_t taken = atomic_load_explicit(&progress->bytes, memory_order_relaxed), left;

    do {
        left = bytes_to_leave(db, bytes, taken);
        if (!fits(bytes, left, free_bytes))
            return error_file(error, PETAL_NO_SPACE, db->directory.path,
                              "a compaction may take %" PRIu64 " bytes and has to leave %" PRIu64
                              ", but %" PRIu64 " are free in %s",
                              bytes, left, free_bytes, db->directory.path);
    } while (!atomic_compare_exchange_weak_explicit(&progress->bytes, &taken, taken + bytes,
                                                    memory_order_relaxed, memory_order_relaxed));
    return PETAL_OK;
}

void
room_give_back(petal_db *db, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&db->progress.compacting.bytes, bytes, memory_order_relaxed);
}
