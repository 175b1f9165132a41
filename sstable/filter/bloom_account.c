/* bloom_account.c -- see sstable/filter/bloom_account.h. */
#include "sstable/filter/bloom_account.h"

#include <assert.h>

#define MOST_BLOCK_BYTES (INT64_C(1) << 40) /* so that no sum overflows */

void
bloom_account_init(struct bloom_account *account, uint64_t data_bytes, uint64_t data_blocks)
{
    uint64_t block = data_blocks > 0 ? data_bytes / data_blocks : 0;

    if (block == 0)
        block = 1;
    account->block_bytes = block > MOST_BLOCK_BYTES ? MOST_BLOCK_BYTES : (int64_t)block;
    account->most = BLOOM_ACCOUNT_FORTUNE * account->block_bytes;
    atomic_init(&account->balance, BLOOM_ACCOUNT_CREDIT * account->block_bytes);
}

uint64_t
bloom_account_interval(const struct bloom_account *account)
{
    int64_t balance = atomic_load_explicit(&account->balance, memory_order_relaxed);
    int64_t bits = BLOOM_ACCOUNT_LEAST_INTERVAL_BITS + (-balance - 1) / account->block_bytes;

    assert(account->block_bytes > 0);
    if (balance >= 0)
        return 1;
    if (bits > BLOOM_ACCOUNT_MOST_INTERVAL_BITS)
        bits = BLOOM_ACCOUNT_MOST_INTERVAL_BITS;
    return UINT64_C(1) << bits;
}

/*
 * The lots are a thread's own, so that drawing one dirties no line that others read; the same
 * sequence in every thread will do. They have nothing to do with the key: one that is asked for
 * again and again must not always win or always lose.
 */
bool
bloom_account_draw(const struct bloom_account *account)
{
    static _Thread_local uint64_t drawn;
    uint64_t lot = ++drawn * UINT64_C(0x9E3779B97F4A7C15);

    lot = (lot ^ lot >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return (lot >> 32 & (bloom_account_interval(account) - 1)) == 0;
}

static int64_t
at_most(uint64_t bytes, int64_t most)
{
    return bytes < (uint64_t)most ? (int64_t)bytes : most;
}

void
bloom_account_settle(struct bloom_account *account, uint64_t fetched, uint64_t saved)
{
    int64_t least = -BLOOM_ACCOUNT_DEBT * account->block_bytes;
    int64_t most = account->most;
    int64_t gain = at_most(saved, account->block_bytes) - at_most(fetched, MOST_BLOCK_BYTES);
    int64_t before = atomic_load_explicit(&account->balance, memory_order_relaxed), after;

    assert(account->block_bytes > 0 && account->block_bytes <= MOST_BLOCK_BYTES);
    do {
        after = before + gain;
        if (after > most)
            after = most;
        if (after < least)
            after = least;
    } while (!atomic_compare_exchange_weak_explicit(&account->balance, &before, after,
                                                    memory_order_relaxed, memory_order_relaxed));
}
