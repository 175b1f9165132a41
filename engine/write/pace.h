/*
 * pace.h -- how fast writers may go: slowed smoothly when flushes and compactions fall behind,
 * stopped only at the hard caps.
 *
 * How fast is said as a share of the rate at which memtables were flushed of late, which falls by
 * itself when the processors or the disk have too much to do. Two things count, and the smaller
 * share holds:
 * - memory of memtables: without limit up to half of what they may take, then twice the rate of
 *   flushes, falling to nothing at the cap. So at the middle writers are as fast as flushes, which
 *   then never wait for them;
 * - runs in the stores that the write concerns, frozen memtables included, which will be runs:
 *   beyond STORE_SLOW_RUNS each one more multiplies by PACE_RUN_FACTOR. So writers settle at the
 *   number of runs at which compactions keep up with them, and seldom see the cap, STORE_MOST_RUNS.
 *   Writers to other stores do not feel it.
 * It is at least PACE_LEAST_RATE. What a write should take is owed by its store, or by all for
 * memory; the next writers sleep it off when it is worth a sleep, one behind the other. What was
 * waited elsewhere, for a sync say, counts as slept.
 *
 * At a cap a writer waits until a flush or a compaction has ended, or one has failed: then its
 * error is the write's. At that of memory writers stand in line, so that a large write has its
 * turn. Memtables that are flushed and kept by cursors count as memory. But nobody waits for a
 * cursor, which may be the writer's own: with no flush on its way, and nobody at work whose bytes
 * were counted, the cap of memory only slows.
 *
 * Every writer sleeps and waits by itself, BEFORE it takes locks of rows or a place in the write
 * queue: so nobody stands behind one that waits, neither writers to other stores nor who leads
 * alone (flushes, changes of the schema, closing). A write of more than PACE_SMALL_BYTES, or under
 * pressure, is counted from when it may go on until it is done; smaller ones without pressure are
 * not, so the cap is passed by as much as those that came at the same moment bring.
 *
 * In a database without background compaction runs do not count.
 */
#ifndef PETAL_ENGINE_WRITE_PACE_H
#define PETAL_ENGINE_WRITE_PACE_H

#include "engine/state/db.h"

#define PACE_LEAST_RATE       ((uint64_t)1 << 20)  /* bytes a second */
#define PACE_FIRST_RATE       ((uint64_t)64 << 20) /* of flushes, while none has ended */
#define PACE_RUN_FACTOR       0.6
#define PACE_LONGEST_SLEEP_US 20000   /* before one looks whether the pressure has gone */
#define PACE_LEAST_SLEEP_US   1000    /* less is owed on */
#define PACE_MOST_DEBT_US     1000000 /* more is forgiven */
#define PACE_SMALL_BYTES      ((uint64_t)64 << 10)

/* The share, INFINITY: no limit. `runs` 0: they do not count. */
double pace_share(uint64_t memory, uint64_t memory_limit, size_t runs);

/* Microseconds that writing so many bytes should take at this share; `rate` of flushes, 0: not
 * known. */
uint64_t pace_time(uint64_t bytes, double share, uint64_t rate);

/* What a writer asks for. */
struct pace_write {
    petal_db *db;
    const struct write_cell *cells; /* of which it uses the families */
    size_t count;
    uint64_t bytes;       /* that they add to memtables, about */
    uint64_t deadline_us; /* by clock_us; CLOCK_NEVER: none */
    uint64_t admitted;    /* counted, until pace_end; 0: not counted */
};

/* A write of so many bytes (struct pace_write) need not be asked about: it is small, and nothing
 * presses. */
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

/* Writers that wait. Guarded by progress.mutex, but for what is atomic. */
struct pace {
    _Atomic(uint64_t) due_us;        /* as a family's, for the memory of memtables */
    struct pace_place *first, *last; /* who waits for memory, in line */
    uint64_t admitted; /* bytes of writes that may go on, and were counted when they asked */
    size_t waiting;    /* writers that wait at a cap */
    bool warned;       /* that memtables are kept by cursors */
    bool closing;      /* no writer waits any more */
};

/* Make the database's. False: no memory. */
bool pace_init(petal_db *db);
void pace_fini(petal_db *db); /* there may be none */

/* The database is about to be closed: writers that wait are refused, and gone on return. */
void pace_close(petal_db *db);

#endif
