/*
 * refresh.h -- a read-only opening next to a writer: what it has read of the manifest and the logs,
 * and how it goes on with both.
 *
 * WHAT A REFRESH SHOWS is a state that the writer's was in: the store files of one state of the
 * manifest, and of the logs all writes up to some sequence. The manifest is read first. So the logs
 * read after it may hold writes that came after a further change of the manifest, of which the
 * view would not know. Therefore the manifest is looked at once more: if it has changed, the view
 * ends with the sequence at which that change was begun. (What the writer logs while it makes a
 * change and what it changes are concurrent: either order is one.) Each commit of the manifest
 * gives its sequence, and all cells of its files are at or below it.
 *
 * A refresh shows all that was acknowledged before it. A change that was begun before it and comes
 * to be seen during it may have an older sequence; but the change after that one begins when it is
 * there. So only a state that was read because of a change ends with the sequence of the next one.
 *
 * A view of a read-only opening has its sequence in itself (view_fix): both change at once. Handles
 * change with it: until then what is new of them is prepared (table_follow), and a new table counts
 * as dropped. So a refresh that fails has changed nothing that is shown.
 *
 * Memtables go on growing, and are shared by the views, as long as the writer flushes nothing;
 * after that the logs that are left are read into new ones. Files that are open stay so.
 *
 * Threads: refreshes take turns; others read meanwhile.
 */
#ifndef PETAL_ENGINE_DB_REFRESH_H
#define PETAL_ENGINE_DB_REFRESH_H

#include "engine/db/recovery.h"

/* A view that somebody may still read. */
struct old_view {
    struct view *view; /* counted */
    uint64_t state;
};

struct reading {
    struct mutex mutex; /* guards the rest, over I/O; comes before all other locks */
    bool joined;        /* it has a place in the registry (engine/state/readers.h) */
    bool at_snapshots;  /* petal_snapshot_new refreshes */
    bool anew;          /* the memtables are not those that the logs were read into up to `place` */
    uint64_t state;     /* of the current view */
    struct log_place place;
    struct old_view *old;
    size_t old_count, old_capacity;
};

/* NULL: no memory. */
struct reading *reading_new(petal_db *db, const petal_options *options);
void reading_free(petal_db *db); /* there may be none */

/* The last step of a read-only opening, after recovery_run: the first view. */
enum petal_status reading_begin(petal_db *db, petal_error *error);

#endif
