/*
 * pace.h -- how fast writers may go: slowed smoothly when flushes and compactions fall behind, stopped only at the hard caps.
 *
 * How fast is said as a share of the rate at which memtables were flushed of late, which falls by itself when the processors or the disk
 * have too much to do. Two things count, and the smaller share holds:
 * - memory of memtables: without limit up to half of what they may take, then twice the rate of flushes, falling to nothing at the cap.
 *   So at the middle writers are as fast as flushes, which then never wait for them;
 * - runs in the store that has most of them, frozen memtables included, which will be runs: beyond POLICY_SLOW_RUNS each one more
 *   multiplies by PACE_RUN_FACTOR. So writers settle at the number of runs at which compactions keep up with them, and seldom
 *   see the cap, POLICY_MOST_RUNS.
 * It is at least PACE_LEAST_RATE. The leader of a write group owes the time and sleeps it off when it is worth a sleep, never for longer than
 * PACE_LONGEST_SLEEP_US at once.
 * What it waited elsewhere, for a sync say, counts as slept.
 *
 * At a cap it waits until a flush or a compaction has ended, or one has failed: then its error is the write's. Memtables that are flushed
 * and kept by cursors count as memory. But nobody waits for a cursor, which may be the writer's own: with no flush on its way the cap
 * of memory only slows.
 *
 * In a database without background compaction runs do not count.
 */
#ifndef PETAL_ENGINE_PACE_H
#define PETAL_ENGINE_PACE_H

#include "engine/db.h"

#define PACE_LEAST_RATE       ((uint64_t)1 << 20)  /* bytes a second */
#define PACE_FIRST_RATE       ((uint64_t)64 << 20) /* of flushes, while none has ended */
#define PACE_RUN_FACTOR       0.6
#define PACE_LONGEST_SLEEP_US 20000
#define PACE_LEAST_SLEEP_US   1000    /* less is owed on */
#define PACE_MOST_DEBT_US     1000000 /* more is forgiven */

/* The share, INFINITY: no limit. `runs` 0: they do not count. */
double pace_share(uint64_t memory, uint64_t memory_limit, size_t runs);

/* Microseconds that writing so many bytes should take at this share; `rate` of flushes, 0: not known. */
uint64_t pace_time(uint64_t bytes, double share, uint64_t rate);

/* A memtable of so many bytes was flushed in that time. The flush thread. */
void pace_flushed(petal_db *db, uint64_t bytes, uint64_t microseconds);

/* A compaction has ended, or failed: writers that wait look again. Any thread that holds no lock of the database. */
void pace_compacted(petal_db *db);

/* The greatest number of runs that a store of the current view has, frozen memtables included; not counted beyond POLICY_MOST_RUNS.
 * LEADER. */
size_t pace_runs(petal_db *db);

/* A group of writes with so many bytes is about to be written: sleep or wait as the pressure asks. LEADER. */
enum petal_status pace_write(petal_db *db, uint64_t bytes, petal_error *error);

/* A clock that only goes forward. */
uint64_t pace_clock_us(void);

#endif
