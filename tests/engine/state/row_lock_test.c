/* row_lock_test.c -- a set of row locks holds the stripes of its rows, each once, and no other. */
#include "engine/state/row_lock.h"
#include "tests/support/test.h"

#include <stdlib.h>

static bool
is_held(struct row_locks *locks, size_t lock)
{
    if (pthread_mutex_trylock(&locks->mutexes[lock]) != 0)
        return true;
    pthread_mutex_unlock(&locks->mutexes[lock]);
    return false;
}

TEST(a_set_holds_the_stripes_of_its_rows)
{
    struct row_locks *locks = calloc(1, sizeof *locks);

    assert_non_null(locks);
    assert_true(row_locks_init(locks));
    for (size_t row = 0; row < ROW_LOCKS; row++) {
        size_t other = (row * 7 + 64) % ROW_LOCKS;
        struct row_lock_set set = {.count = 0};

        row_lock_set_add(&set, row);
        assert_int_equal(set.count, 1);
        row_lock_set_add(&set, row + 5 * ROW_LOCKS);
        assert_int_equal(set.count, 1);
        row_lock_set_add(&set, other);
        assert_int_equal(set.count, row == other ? 1 : 2);
        row_locks_acquire(locks, &set);
        for (size_t lock = 0; lock < ROW_LOCKS; lock++)
            assert_int_equal(is_held(locks, lock), lock == row || lock == other);
        row_locks_release(locks, &set);
        for (size_t lock = 0; lock < ROW_LOCKS; lock++)
            assert_false(is_held(locks, lock));
    }
    row_locks_fini(locks);
    free(locks);
}
