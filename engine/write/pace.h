/*
 * pace.h -- the speed of writers: slowed smoothly when flushes and compactions fall behind, stopped
 * only at the hard caps.
 *
 * The speed is a share of the rate of recent flushes, which drops by itself when processors or disk
 * are overloaded. There are two shares, and the smaller one holds:
 * - memory of memtables: no limit up to half of what they may take, then twice the rate of flushes,
 *   falling to nothing at the cap. So half way between the two, writers are as fast as flushes and
 *   stay there;
 * - runs in the stores of the write, including frozen memtables, which will be runs: each one above
 *   STORE_SLOW_RUNS multiplies the share by PACE_RUN_FACTOR. So writers settle at the number of
 *   runs at which compactions keep up with them, and rarely see the cap, STORE_MOST_RUNS. Writers
 *   to other stores are not affected.
 * The speed is at least PACE_LEAST_RATE. The time that a write should take is a debt of its store,
 * or for memory of all stores; the next writers sleep it off, one after the other, when it is worth
 * a sleep. Time spent waiting elsewhere, for a sync say, counts as slept.
 *
 * At a cap a writer waits until a flush or a compaction has ended, or has failed: then its error is
 * the write's. At the cap of memory writers queue, so that a large write gets its turn. Memtables
 * that are flushed but still referenced by cursors count as memory. But nobody waits for a cursor,
 * which may be the writer's own: if no flush is on its way, and no admitted write is under way, the
 * cap of memory only slows.
 *
 * Every writer sleeps and waits on its own, BEFORE it takes locks of rows or a place in the write
 * queue: so a waiting writer blocks neither writers to other stores nor threads that lead alone
 * (flushes, changes of the schema, closing). A write of more than PACE_SMALL_BYTES, or under
 * pressure, is counted from its admission until it is done; smaller ones without pressure are not,
 * so the cap can be exceeded by the writes that come at the same time.
 *
 * In a database without background compaction runs do not count.
 */
#ifndef PETAL_ENGINE_WRITE_PACE_H
#define PETAL_ENGINE_WRITE_PACE_H

#include "engine/state/db.h"
#include "engine/write/pace_share.h"

#define PACE_LONGEST_SLEEP_US 20000   /* then the pressure is looked at again */
#define PACE_MOST_DEBT_US     1000000 /* more is forgiven */
#define PACE_SMALL_BYTES      ((uint64_t)64 << 10)

/* A writer's request. */
struct pace_write {
    petal_db *db;
    const struct write_cell *cells; /* of which it uses the families */
    size_t count;
    uint64_t bytes;       /* that they add to memtables, about */
    uint64_t deadline_us; /* by clock_us; CLOCK_NEVER: none */
    uint64_t admitted;    /* counted, until pace_end; 0: not counted */
};

/* A write of so many bytes (struct pace_write) needs no pace_begin: it is small, and there is no
 * pressure. */
static inline bool
pace_is_free(const petal_db *db, uint64_t bytes)
{
    return atomic_load_explicit(&db->progress.pressed, memory_order_relaxed) == 0 &&
           atomic_load_explicit(&db->memory.memtables, memory_order_relaxed) <=
               memory_budget_memtable_limit(&db->memory) / 2 &&
           bytes <= PACE_SMALL_BYTES;
}

/*
 * Sleep and wait as the pressure asks, before a write of `count` > 0 cells with `bytes` bytes in
 * rows, qualifiers and values is begun. On failure nothing is to be written, and there is no
 * pace_end: PETAL_TIMEOUT when the deadline passes, PETAL_BUSY when the database is closed
 * meanwhile. Where write->admitted is 0 there need be no pace_end. Any thread that holds no lock.
 */
enum petal_status pace_begin(struct pace_write *write, const struct write_cell *cells, size_t count,
                             size_t bytes, uint32_t deadline_ms, petal_error *error);

/* The write, which was admitted, is done, or has failed. */
void pace_end(struct pace_write *write);

/* Waiting writers. Guarded by progress.mutex, except the atomic field. */
struct pace {
    _Atomic(uint64_t) due_us;        /* as a family's, for the memory of memtables */
    struct pace_place *first, *last; /* queue of those that wait for memory */
    uint64_t admitted; /* bytes of writes that may go on, and were counted when they asked */
    size_t waiting;    /* writers that wait at a cap */
    bool warned;       /* that memtables are kept by cursors */
    bool closing;      /* no writer waits any more */
};

/* Make the database's. False: no memory. */
bool pace_init(petal_db *db);
void pace_fini(petal_db *db); /* there may be none */

/* The database is about to be closed: waiting writers are refused, and have left on return. */
void pace_close(petal_db *db);

#endif
