/* row_lock.c -- see row_lock.h. */
#include "engine/state/row_lock.h"

bool
row_locks_init(struct row_locks *locks)
{
    for (size_t i = 0; i < ROW_LOCKS; i++) {
        if (pthread_mutex_init(&locks->mutexes[i], NULL) != 0)
            return false;
    }
    return true;
}

void
row_locks_fini(struct row_locks *locks)
{
    for (size_t i = 0; i < ROW_LOCKS; i++)
        pthread_mutex_destroy(&locks->mutexes[i]);
}

void
row_lock_set_add(struct row_lock_set *set, uint64_t row_hash)
{
    size_t lock = row_hash % ROW_LOCKS;
    uint64_t bit = (uint64_t)1 << (lock % 64);

    set->count += (set->bits[lock / 64] & bit) == 0;
    set->bits[lock / 64] |= bit;
}

void
row_locks_acquire(struct row_locks *locks, const struct row_lock_set *set)
{
    for (size_t word = 0; word < ROW_LOCK_SET_WORDS; word++) {
        for (uint64_t bits = set->bits[word]; bits != 0; bits &= bits - 1)
            pthread_mutex_lock(&locks->mutexes[word * 64 + (size_t)__builtin_ctzll(bits)]);
    }
}

void
row_locks_release(struct row_locks *locks, const struct row_lock_set *set)
{
    for (size_t word = 0; word < ROW_LOCK_SET_WORDS; word++) {
        for (uint64_t bits = set->bits[word]; bits != 0; bits &= bits - 1)
            pthread_mutex_unlock(&locks->mutexes[word * 64 + (size_t)__builtin_ctzll(bits)]);
    }
}
