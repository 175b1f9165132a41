/*
 * wal.h -- the chain of WAL files: the current one is made ahead of its use, rotated when memtables
 * switch, synced in the background.
 *
 * ORDER OF SYNCS.  A WAL is closed without being synced, and the next one is written at once. It is
 * synced only after all before it: so the medium holds a prefix of what was written, except for
 * tails that nothing promised (engine/wal/file.h). All syncs, except the one after a full disk, go
 * through one mutex, which no writer at SYNC_WAL or weaker touches unless a sync is overdue.
 *
 * THE SPARE.  Making a WAL takes a sync of the directory, so the WAL thread makes the next one when
 * the memtables are half full, and petal_flush does before it switches memtables. It is an empty
 * file until it is used. Without a spare the leader makes the WAL itself. A spare that cannot be
 * made is no failure of the database, but a failed sync of the directory is.
 *
 * What a power cut can lose at SYNC_WAL is bounded: the WAL thread syncs the WAL every interval,
 * and a writer that finds the last completed sync older than two intervals syncs before it goes on.
 *
 * A FULL DISK is no damage. If a store for a group of writes finds it, the group is refused with
 * PETAL_NO_SPACE and nothing of it stays in the WAL, as engine/wal/file.h describes; the next group
 * tries again, and succeeds once there is room, in this WAL or, if there was none for the header of
 * a new one, in a newer one. A sync that fails, for whatever reason, is damage.
 *
 * Functions marked LEADER need the write leadership (engine/state/db.h).
 */
#ifndef PETAL_ENGINE_WAL_WAL_H
#define PETAL_ENGINE_WAL_WAL_H

#include "engine/state/db.h"
#include "engine/wal/file.h"

/* A WAL file that takes no more writes and holds cells that are not flushed yet. */
struct closed_wal {
    uint64_t number;
    uint64_t last_sequence;
    uint64_t length;
    struct wal_file *file; /* open until it is synced; NULL from then on */
};

/*
 * The files of the WAL: the one that is written, those before it, and the spare for the next.
 *
 * LOCKS, in order, after the write leadership: sync_mutex, held over I/O; then `mutex`, which is
 * never held over I/O, is also taken inside views.mutex, and is a leaf.
 */
struct wal_chain {
    uint32_t sync_interval_ms; /* of the background sync, or PETAL_NEVER */
    bool unmapped;             /* files are written by calls only */
    bool recovering;           /* files are being replayed: none of them may be removed yet */

    /* [leader] */
    struct wal_file *current; /* NULL until the first logged write; changed under `mutex`, too */
    uint64_t predecessor_number, predecessor_length,
        predecessor_last_sequence; /* of the next file */
    bool spare_asked;              /* for the file that follows the current one */

    /* Guards the pointer `current` for threads that do not lead, and what follows. */
    struct mutex mutex;
    uint64_t in_making; /* the number of a file that is being made and not `current` yet; 0: none */
    struct closed_wal *closed; /* in order of their numbers */
    size_t closed_count, closed_capacity;
    struct wal_file *spare;   /* the next `current`, without a header yet; NULL: none is ready */
    uint64_t spare_in_making; /* its number while it is made; 0: none is */
    uint64_t newest;          /* the greatest number of a file that was ever current */
    bool spare_wanted;        /* the WAL thread is to make one */
    bool stopping;
    pthread_cond_t wanted; /* the WAL thread: there is something to do */

    /* Held over I/O by threads that sync files, one at a time: the kernel reports a failed sync
     * once. Closed files are freed under it, so the files that its holder syncs stay alive. */
    struct mutex sync_mutex;
    _Atomic(int64_t)
        unsynced_since_ms; /* 0: all that is stored has been synced, or a sync of it runs, or it was
                              stored as that began; see wal_commit */
    _Atomic(int64_t) sync_started_ms; /* of the background sync that runs; 0: none */

    bool thread_started;
    pthread_t thread;
};

/* Make the database's chain, without a file. False: no memory, or no room for its locks. */
bool wal_init(petal_db *db, const petal_options *options);
void wal_fini(petal_db *db); /* there may be none */

/* The WAL thread makes spares, syncs unless the interval is PETAL_NEVER, and empties the view bin.
 * wal_start returns 0 or an error of the operating system. wal_stop returns when the thread, if
 * any, has ended. */
int wal_start(petal_db *db);
void wal_stop(petal_db *db);

/* The WAL to write to: the spare, or a new one with its directory entry on the medium, if there is
 * none. LEADER. */
enum petal_status wal_current(petal_db *db, struct wal_file **wal, petal_error *error);

/* Store the buffer, and sync as `durability` asks. `now_ms`: the clock. After a failure the WAL is
 * dead, or has stored nothing; or it is PETAL_IO and undecided (engine/wal/file.h). LEADER. */
enum petal_status wal_commit(petal_db *db, enum petal_durability durability, int64_t now_ms,
                             petal_error *error);

/*
 * Before a group of writes that will be synced is buffered: sync all WALs, if closed ones wait for
 * that. Then the group's records carry a promise that the WALs before are synced, so that a replay
 * takes bad bytes there for damage and not for a torn tail, even if this group is the last one.
 * LEADER.
 */
enum petal_status wal_sync_before(petal_db *db, petal_error *error);

/* Sync all that is stored, the current WAL too. A failure turns the database read-only. Any
 * thread. */
enum petal_status wal_sync_all(petal_db *db, petal_error *error);

/*
 * Close the current WAL, if it has records, for writing; the next write begins a new one. Nothing
 * is synced, so the leader does not wait for the medium: wal_sync_closed does that. PETAL_NO_SPACE:
 * it is undecided (engine/wal/file.h), and stays. LEADER.
 */
enum petal_status wal_rotate(petal_db *db, petal_error *error);

/*
 * Sync all WALs that were closed before the call, oldest first. Comes before the first sync of the
 * current WAL, and before the manifest names a store file that holds cells of them. A failure turns
 * the database read-only. Any thread; waits for others that do the same, writers do not.
 */
enum petal_status wal_sync_closed(petal_db *db, petal_error *error);

/*
 * An opening keeps a WAL that it has replayed, as a closed one. It is written again up to `length`,
 * since after a failed sync the kernel may take its pages for clean, and synced. Takes no space if
 * files are overwritten in place. REQUIRES: no thread runs; WALs come in their order.
 */
enum petal_status wal_keep(petal_db *db, uint64_t number, uint64_t length, uint64_t last_sequence,
                           petal_error *error);

/* Make a spare if the current WAL has none. Any thread; waits for the medium. */
void wal_make_spare(petal_db *db);

/* Ask the WAL thread to make one, once for each WAL. LEADER. */
void wal_ask_for_spare(petal_db *db);

/* Close all WALs and remove the spare. REQUIRES: no other thread. */
void wal_close(petal_db *db);

/*
 * WHICH WALS CAN BE REMOVED.  While a flush looks, a writer may number and make a new WAL, log
 * cells, add them to memtables and close the WAL; neither waits for the other. So the flush asks in
 * this order:
 *  1. wal_oldest_open: all WALs that take cells from now on, including the spare, have this number
 *     or a greater one, and those below are closed, with all their cells in memtables or files;
 *  2. wal_oldest_needed, with the first sequence that was not in files when its memtables were
 *     frozen, which is below all later ones. A closed WAL that is not synced yet is always needed.
 */
uint64_t wal_oldest_open(petal_db *db);

/* The number of the oldest WAL that is at or above `oldest_open` or holds a cell of sequence
 * `oldest_unflushed` or later. */
uint64_t wal_oldest_needed(petal_db *db, uint64_t oldest_open, uint64_t oldest_unflushed);

/* Number and length of the newest closed WAL that is synced, with all before it: the manifest's
 * promise. Zeros if there is none. */
struct wal_promise wal_promised(petal_db *db);

/* Forget and remove closed WALs below `oldest`. */
void wal_remove_below(petal_db *db, uint64_t oldest);

/*
 * A store with few writes keeps the WALs that hold its cells, while other stores are flushed. If
 * more than WAL_MOST_KEPT WALs are kept, or more bytes than WAL_MOST_MEMTABLES times the memtable
 * limit, all stores with a cell of this sequence or an earlier one are flushed: then the older half
 * of the WALs can be removed. 0: there are not so many. LEADER.
 */
#define WAL_MOST_KEPT      32
#define WAL_MOST_MEMTABLES 4
uint64_t wal_overdue_sequence(petal_db *db);

/* Wake the WAL thread for the view bin. Does not wait. The wake-up is lost if the thread is about
 * to sleep; then it looks at the end of its interval. */
void wal_wake(void *db);

#endif
