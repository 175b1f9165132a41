/*
 * read_point.h -- read points that readers hold on to, and the oldest of them, below which flushes and compactions may drop cells.
 *
 * The registered snapshots of a database form a list in the order of their sequences: each takes the published sequence, which
 * never goes back, and joins the list under one mutex. A flush or a compaction takes the oldest read point under the
 * same mutex, before it looks at its first cell. So a snapshot is seen by it, or its sequence is no less than the read
 * point taken. Cursors are not registered: they pin a view, whose sources keep all that they had.
 *
 * Cells are hidden by newer ones only, whatever is dropped of both together; but a marker also hides newer cells below it in time,
 * so the commit of a compaction that drops markers holds the mutex: a snapshot was taken before, and then sees nothing of
 * what the markers could hide outside of the compaction, or comes after it. So taking one can wait for a sync of the manifest.
 *
 * Threads: all functions from any thread.
 */
#ifndef PETAL_ENGINE_STATE_READ_POINT_H
#define PETAL_ENGINE_STATE_READ_POINT_H

#include "engine/petal.h"

#include <pthread.h>

struct petal_snapshot {
    petal_db *db;
    uint64_t sequence;             /* readers that name the snapshot see cells up to it */
    petal_snapshot *older, *newer; /* guarded by the list's mutex */
};

struct read_point_list {
    pthread_mutex_t mutex;
    petal_snapshot *oldest, *newest;
};

static inline uint64_t
snapshot_sequence(const petal_snapshot *snapshot)
{
    return snapshot->sequence;
}

/* The oldest read point that any reader, now or later, can have: of the registered snapshots, else the published sequence. */
uint64_t read_point_oldest(petal_db *db);

/* The sequence of the newest registered snapshot; 0: there is none, or it sees nothing. */
uint64_t read_point_newest(petal_db *db);

/* The same, and until read_point_unlock no snapshot is taken or freed. */
uint64_t read_point_lock(petal_db *db);
void read_point_unlock(petal_db *db);

#endif
