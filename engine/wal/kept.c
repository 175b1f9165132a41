/* kept.c -- which WALs are there, which of them may go, and their removal; see engine/wal/wal.h. */
#include "engine/wal/wal.h"

#include <assert.h>

static void
lower(uint64_t *oldest, uint64_t number)
{
    if (number != 0 && number < *oldest)
        *oldest = number;
}

uint64_t
wal_oldest_open(petal_db *db)
{
    struct wal_chain *chain = db->wal;
    uint64_t oldest;

    mutex_lock(&chain->mutex);
    oldest = db_next_file_number(db);
    lower(&oldest, chain->in_making);
    lower(&oldest, chain->spare_in_making);
    if (chain->current != NULL)
        lower(&oldest, wal_file_number(chain->current));
    if (chain->spare != NULL)
        lower(&oldest, wal_file_number(chain->spare));
    mutex_unlock(&chain->mutex);
    return oldest;
}

uint64_t
wal_oldest_needed(petal_db *db, uint64_t oldest_open, uint64_t oldest_unflushed)
{
    struct wal_chain *chain = db->wal;
    uint64_t oldest = oldest_open;

    if (chain->recovering)
        return db->manifest->oldest_log;
    mutex_lock(&chain->mutex);
    for (size_t i = 0; i < chain->closed_count && chain->closed[i].number < oldest; i++) {
        if (chain->closed[i].file != NULL || chain->closed[i].last_sequence >= oldest_unflushed)
            oldest = chain->closed[i].number;
    }
    mutex_unlock(&chain->mutex);
    return oldest;
}

struct wal_promise
wal_promised(petal_db *db)
{
    struct wal_chain *chain = db->wal;
    struct wal_promise promise = {0, 0};

    mutex_lock(&chain->mutex);
    for (size_t i = 0; i < chain->closed_count && chain->closed[i].file == NULL; i++)
        promise = (struct wal_promise){chain->closed[i].number, chain->closed[i].length};
    mutex_unlock(&chain->mutex);
    return promise;
}

/* Forget the oldest closed WAL, if it is below `below`; returns its number, else 0. */
static uint64_t
forget_closed(petal_db *db, uint64_t below)
{
    struct wal_chain *chain = db->wal;
    uint64_t number = 0;

    mutex_lock(&chain->mutex);
    if (chain->closed_count > 0 && chain->closed[0].number < below) {
        assert(chain->closed[0].file == NULL); /* or it would be needed */
        number = chain->closed[0].number;
        memmove(chain->closed, chain->closed + 1, --chain->closed_count * sizeof *chain->closed);
    }
    mutex_unlock(&chain->mutex);
    return number;
}

void
wal_remove_below(petal_db *db, uint64_t oldest)
{
    uint64_t number;

    /* Large files take their time to go, and the leader must not wait for the mutex meanwhile. */
    while ((number = forget_closed(db, oldest)) != 0)
        readers_remove(&db->readers, FILENAME_WAL, number, 0);
}

uint64_t
wal_overdue_sequence(petal_db *db)
{
    struct wal_chain *chain = db->wal;
    uint64_t bytes = chain->current != NULL ? wal_file_length(chain->current) : 0, sequence = 0;
    size_t count;

    mutex_lock(&chain->mutex);
    count = chain->closed_count;
    for (size_t i = 0; i < count; i++)
        bytes += chain->closed[i].length;
    if (count > WAL_MOST_KEPT ||
        (count > 0 && bytes > (uint64_t)WAL_MOST_MEMTABLES * db->memtable_bytes))
        sequence = chain->closed[(count - 1) / 2].last_sequence;
    mutex_unlock(&chain->mutex);
    return sequence;
}
