/*
 * wal.h -- the database's current WAL: made ahead of its use, rotated when memtables switch, synced
 * in the background.
 *
 * ORDER OF SYNCS.  A WAL is closed without being synced, and the next one is written at once. It is
 * synced only after all before it: so what is on the medium is a prefix of what was written, but
 * for tails that nothing promised (engine/wal/file.h). All syncs but that of a full disk go through
 * one mutex, which no writer at SYNC_WAL or weaker touches unless a sync is overdue.
 *
 * THE SPARE.  Making a WAL takes a sync of the directory, so the WAL thread makes the next one when
 * the memtables are half full, and petal_flush does before it switches memtables. It is an empty
 * file until it is taken. Without a spare the leader makes the WAL by itself. One that cannot be
 * made is no failure of the database, but a failed sync of the directory is.
 *
 * What a power cut can take at SYNC_WAL is bounded: the WAL thread syncs the WAL every interval,
 * and a writer that finds the last completed sync older than two intervals syncs by itself before
 * it goes on.
 *
 * A FULL DISK is no damage. When it is found by a store for a group of writes, the group is refused
 * with PETAL_NO_SPACE and nothing of it stays in the WAL, as engine/wal/file.h tells; the next
 * group tries again, and finds room once there is some, in this WAL or, when there was none for the
 * header of a new one, in a newer one. A sync that fails, for whatever reason, is damage.
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
 * LOCKS, in their order behind the write leadership: sync_mutex, held over I/O; then `mutex`, which
 * is never held over I/O, is taken inside views.mutex, too, and has no other lock within it.
 */
struct wal_chain {
    uint32_t sync_interval_ms; /* of the background sync, or PETAL_NEVER */
    bool unmapped;             /* files are written by calls only */
    bool recovering;           /* files are being replayed: none of them may go yet */

    /* [leader] */
    struct wal_file *current; /* NULL until the first logged write; changed under `mutex`, too */
    uint64_t predecessor_number, predecessor_length,
        predecessor_last_sequence; /* of the next file */
    bool spare_asked;              /* for the file that follows the current one */

    /* Guards the pointer `current` for those who do not lead, and what follows. */
    struct mutex mutex;
    uint64_t in_making; /* the number of a file that has one and is not `current` yet; 0: none */
    struct closed_wal *closed; /* in order of their numbers */
    size_t closed_count, closed_capacity;
    struct wal_file *spare;   /* the next `current`, without a header yet; NULL: none is ready */
    uint64_t spare_in_making; /* its number while it is made; 0: none is */
    uint64_t newest;          /* the greatest number of a file that was ever current */
    bool spare_wanted;        /* the WAL thread is to make one */
    bool stopping;
    pthread_cond_t wanted; /* the WAL thread: there is something to do */

    /* Held over I/O by those who sync files, one at a time: a failed sync is told to one of them
     * only. Closed files are freed under it, so it keeps alive what its holder syncs. */
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

/* The WAL thread: makes spares, syncs unless the interval is PETAL_NEVER, and empties the view bin.
 * wal_start gives what is not 0 for an error of the operating system. wal_stop returns when the
 * thread is gone, if there is one. */
int wal_start(petal_db *db);
void wal_stop(petal_db *db);

/* The WAL to write to: the spare, or a new one with its directory entry on the medium, if there is
 * none. LEADER. */
enum petal_status wal_current(petal_db *db, struct wal_file **wal, petal_error *error);

/* Store what is buffered and bring it to the medium as `durability` asks. `now_ms`: the clock.
 * After a failure the WAL is dead, or has stored nothing; or it is PETAL_IO and undecided, as
 * engine/wal/file.h tells. LEADER. */
enum petal_status wal_commit(petal_db *db, enum petal_durability durability, int64_t now_ms,
                             petal_error *error);

/*
 * Before a group of writes that will be synced is buffered: sync all WALs, if closed ones wait for
 * that. Then the group's records carry a promise which tells a replay that the WALs before are
 * synced, so that what is bad there is damage and no torn tail, even when this group is the last
 * that is ever written. LEADER.
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
 * An opening keeps a WAL that it has replayed: as one that is closed. It is written again as far as
 * `length`, for a sync that has failed made its pages pass for clean, and synced. Takes no space
 * where files are overwritten in place. REQUIRES: no thread runs; WALs come in their order.
 */
enum petal_status wal_keep(petal_db *db, uint64_t number, uint64_t length, uint64_t last_sequence,
                           petal_error *error);

/* Make a spare if the current WAL has none. Any thread; waits for the medium. */
void wal_make_spare(petal_db *db);

/* Have one made by the WAL thread, once for each WAL. LEADER. */
void wal_ask_for_spare(petal_db *db);

/* Close all WALs and remove the spare. REQUIRES: no other thread. */
void wal_close(petal_db *db);

/*
 * WHICH WALS MAY GO.  While a flush looks, a writer may give a new WAL its number, make it, log
 * cells, add them to memtables and close the WAL; neither waits for the other. So the flush looks
 * in this order:
 *  1. wal_oldest_open: all WALs that take cells from now on, the spare among them, have this number
 *     or a greater one, and those below are closed, with all their cells in memtables or files;
 *  2. wal_oldest_needed, with the first sequence that is not in files, as it was when its memtables
 *     were frozen, which is below all that came later. A closed WAL that is not synced yet is
 *     always needed.
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
 * A store that writes little keeps the WALs in which its cells lie, while others are flushed beside
 * it. Where more WALs are kept than WAL_MOST_KEPT, or more bytes than WAL_MOST_MEMTABLES times the
 * memtable limit, the stores are to be flushed that have a cell of this sequence or an earlier one:
 * then the older half of the WALs can go. 0: there are not so many. LEADER.
 */
#define WAL_MOST_KEPT      32
#define WAL_MOST_MEMTABLES 4
uint64_t wal_overdue_sequence(petal_db *db);

/* Wake the WAL thread for the view bin. Does not wait; may be lost when the thread is about to
 * sleep, then it looks at the end of its interval. */
void wal_wake(void *db);

#endif
