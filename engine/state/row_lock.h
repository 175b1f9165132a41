/*
 * row_lock.h -- rows between the read and the write of a read-modify-write.
 *
 * Rows are hashed to stripes; a lock or sequence of a stripe is that of all its rows.
 *
 * LOCKS keep two read-modify-writes of one row apart, so that neither has to repeat its work. A
 * thread takes all its locks at once, in the order of their stripes, before it reads: so there are
 * no deadlocks. Plain writes take none.
 *
 * LAST SEQUENCES make read-modify-writes atomic against every other write. The write leader notes
 * in each row's stripe the sequence of the cell it writes. A row read as of a sequence is still
 * current if the last sequence of its stripe is not above that; otherwise the thread reads again.
 *
 * Threads: locks any; last sequences the write leader.
 */
#ifndef PETAL_ENGINE_STATE_ROW_LOCK_H
#define PETAL_ENGINE_STATE_ROW_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROW_LOCKS          256
#define ROW_SEQUENCES      1024
#define ROW_LOCK_SET_WORDS (ROW_LOCKS / 64)

struct row_locks {
    pthread_mutex_t mutexes[ROW_LOCKS];
    uint64_t last_sequences[ROW_SEQUENCES]; /* [leader] */
};

/* The locks that one thread needs. Begins zeroed. */
struct row_lock_set {
    uint64_t bits[ROW_LOCK_SET_WORDS];
    unsigned count;
};

/* `locks` comes zeroed. */
bool row_locks_init(struct row_locks *locks);
void row_locks_fini(struct row_locks *locks);

void row_lock_set_add(struct row_lock_set *set, uint64_t row_hash);
void row_locks_acquire(struct row_locks *locks, const struct row_lock_set *set);
void row_locks_release(struct row_locks *locks, const struct row_lock_set *set);

/* A cell of the row is written. LEADER. */
static inline void
row_locks_note(struct row_locks *locks, uint64_t row_hash, uint64_t sequence)
{
    locks->last_sequences[row_hash % ROW_SEQUENCES] = sequence;
}

/* Cells of any rows are written. LEADER. */
static inline void
row_locks_note_all(struct row_locks *locks, uint64_t sequence)
{
    for (size_t i = 0; i < ROW_SEQUENCES; i++)
        locks->last_sequences[i] = sequence;
}

/* Nothing above `sequence` was written to the row; false also when another row of its stripe was.
 * LEADER. */
static inline bool
row_locks_unchanged(const struct row_locks *locks, uint64_t row_hash, uint64_t sequence)
{
    return locks->last_sequences[row_hash % ROW_SEQUENCES] <= sequence;
}

#endif
