/*
 * store.h -- a store, HBase's HStore: a family of one region, as its writers and jobs have it. What
 * readers have of it is in the views (engine/state/view.h).
 *
 * Lives until the database is closed, dropped or not. Its region may lose rows to a new one, or win
 * those of the next: so the view tells where it ends (engine/region/split.h).
 *
 * Threads: as the fields say; those without a word do not change.
 */
#ifndef PETAL_ENGINE_STATE_STORE_H
#define PETAL_ENGINE_STATE_STORE_H

#include "engine/petal.h"

struct store_memtable;

struct store {
    petal_family *family;
    struct store *next;   /* of all that the family has had in this opening; under schema.mutex */
    size_t slot;          /* the family's in views */
    uint32_t region;      /* id of its region */
    int64_t split_ms;     /* when the background made that of a larger one; 0: a call did */
    petal_slice start;    /* of the region; empty: of the first */
    _Atomic(bool) merged; /* the region is a part of the one before it by now */
    /* No job is due to drop deleted cells before this time: one had to keep them, because of
     * snapshots. */
    _Atomic(uint64_t) deleted_stay_us;
    /* What the compactor looked at last when it found nothing due there, whatever ran beside it:
     * while all of this is the same, there is nothing. Under its mutex. */
    struct {
        uint64_t view;       /* store_view.number; 0: something was due */
        const void *options; /* the family's */
        uint64_t snapshot;   /* the newest */
        uint64_t time;       /* look.time */
    } quiet;
    /* [leader] */
    struct store_memtable *active; /* the front one of the current view, which references it */
    size_t active_bytes;           /* of it, as counted in db->writers.active_bytes */
    /* In db->writers.written, while the active memtable holds cells; `link` points to its place
     * there; NULL: it is not. */
    struct store *written_next, **written_link;
    size_t group_cells, group_bytes; /* what the current write group adds */
    struct store *group_next;
    /* The pace of its writers (engine/write/pace.h). */
    _Atomic(uint32_t) runs;        /* that count; changed with views.mutex held */
    _Atomic(uint64_t) pace_due_us; /* when writers have paid for what they wrote */
};

#endif
