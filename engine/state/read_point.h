/*
 * read_point.h -- read points: a view and the sequence that belongs to it; the registered
 * snapshots; and the oldest read point, below which flushes and compactions may drop cells.
 *
 * The registered snapshots of a database form a list in the order of their sequences: each takes
 * the published sequence, which never goes back, and joins the list under one mutex. A flush or a
 * compaction takes the oldest read point under the same mutex, before it looks at its first cell.
 * So it sees the snapshot, or the snapshot's sequence is not below its read point. Cursors are not
 * registered: they pin a view, whose sources keep all their cells.
 *
 * Only newer cells hide a cell, whatever is dropped of both together; but a marker also hides newer
 * cells with older timestamps. So the commit of a compaction that drops markers holds the mutex: a
 * snapshot is taken before, and then sees nothing that the markers could hide outside of the
 * compaction, or after it. So taking one can wait for a sync of the manifest.
 *
 * Threads: all functions from any thread.
 */
#ifndef PETAL_ENGINE_STATE_READ_POINT_H
#define PETAL_ENGINE_STATE_READ_POINT_H

#include "engine/state/db.h"

struct read_point {
    struct view *view;
    uint64_t sequence;
    unsigned slot; /* of the epoch; also the reader's shard of the statistics */
};

/* Enter the epoch with a view and the sequence that belongs to it: a batch over several tables is
 * seen whole or not at all. */
static inline void
read_begin(petal_db *db, struct read_point *point)
{
    struct view *view;

    point->slot = epoch_enter(db->epoch);
    view = atomic_load_explicit(&db->views.current, memory_order_acquire);
    for (;;) {
        struct view *now;

        point->sequence = atomic_load_explicit(view->sequence, memory_order_acquire);
        /* Memtables switch before the next batch is published: if the view is still the same, the
         * sequence belongs to it. */
        now = atomic_load_explicit(&db->views.current, memory_order_acquire);
        if (now == view)
            break;
        view = now;
    }
    point->view = view;
}

static inline void
read_end(petal_db *db, const struct read_point *point)
{
    epoch_leave(db->epoch, point->slot);
}

/* A referenced view and the sequence that belongs to it, for readers that take long. */
struct read_pin {
    struct view *view;
    uint64_t sequence;
};

/* Enter the epoch to read as of the pin. */
static inline void
read_begin_pinned(petal_db *db, const struct read_pin *pin, struct read_point *point)
{
    point->slot = epoch_enter(db->epoch);
    point->view = pin->view;
    point->sequence = pin->sequence;
}

struct petal_snapshot {
    petal_db *db;
    uint64_t sequence; /* readers that name the snapshot see cells up to it */
    /* Of a read-only opening, whose files another process merges without knowing of the snapshot:
     * what it reads, counted. Else NULL: flushes and compactions keep what the snapshot sees. */
    struct view *view;
    struct own_cells *own;         /* of a transaction (engine/read/own.h); NULL: none */
    petal_snapshot *older, *newer; /* guarded by the list's mutex */
};

/* A snapshot of what can be read now; petal_snapshot_free gives it back. PETAL_NO_MEMORY. */
enum petal_status snapshot_take(petal_db *db, petal_snapshot **snapshot, petal_error *error);

/* Read as of the snapshot, in place of now. */
static inline void
read_point_at(struct read_point *point, const petal_snapshot *snapshot)
{
    point->sequence = snapshot->sequence;
    if (snapshot->view != NULL)
        point->view = snapshot->view;
}

/* As of the snapshot; NULL: as of now. */
static inline struct read_pin
read_pin(petal_db *db, const petal_snapshot *snapshot)
{
    struct read_point point;

    read_begin(db, &point);
    if (snapshot != NULL)
        read_point_at(&point, snapshot);
    view_ref(point.view);
    read_end(db, &point);
    return (struct read_pin){point.view, point.sequence};
}

static inline struct view *
read_pin_view(petal_db *db)
{
    return read_pin(db, NULL).view;
}

/* The current view and the table's regions in it; NULL: the table was dropped. While a table is
 * altered, its list of families may be older than the view: whoever takes them one after the other
 * may find no regions. REQUIRES: schema.mutex is not held. */
struct view *table_pin_regions(const petal_table *table, const struct region_list **regions);

/* The oldest read point that any present or later reader can have: that of a registered snapshot,
 * else the published sequence. */
uint64_t read_point_oldest(petal_db *db);

/* The sequence of the newest registered snapshot; 0: there is none, or it sees nothing. */
uint64_t read_point_newest(petal_db *db);

/* The same, and until read_point_unlock no snapshot is taken or freed. */
uint64_t read_point_lock(petal_db *db);
void read_point_unlock(petal_db *db);

#endif
