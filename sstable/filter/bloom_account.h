/*
 * bloom_account.h -- what asking a store file's Bloom filter has cost and saved, in bytes from the
 * file; decides whether to go on.
 *
 * A chunk that is not in the cache costs its bytes; an answer "absent" saves those of a data block.
 * Where most answers are "maybe" and chunks do not stay in the cache, asking reads more than it
 * saves. So each open file has a balance: charged with what was fetched to ask, credited with what
 * each "absent" saved, whether its chunk was fetched or cached. It begins with a credit. While it
 * is below zero, chunks are no longer fetched, but for one question in 2^(4 + blocks of debt), from
 * 16 to 1024, drawn by lot: one that does not pay doubles the interval, one that pays, and what its
 * chunk in the cache saves later, shortens it.
 *
 * WHAT FOLLOWS, in data blocks of the file, for a chunk of c <= 1 blocks that each question
 * fetches, and a share q of them that is answered "absent": q > c is a profit, q < c a loss.
 * - loss: in N questions at most CREDIT + DEBT + 2 + N / 1024 blocks are fetched beyond what was
 *   saved, and FORTUNE more after a time of profit;
 * - profit: nothing is given up, but FORTUNE is all that is remembered;
 * - from the deepest debt back: each level takes 1 / (q - c) probes without a cache, 1 question of
 *   a cached chunk with one; all levels have intervals of about 2048 questions in sum.
 *
 * The counts are bounds, not books: two threads at once may go past them by what each has at hand.
 * Any number of threads use it; balances are relaxed, since they decide on costs only, never on
 * answers. Nothing is written by an answer from the cache while the balance is full or where it
 * saved nothing, nor by a question that is not asked.
 */
#ifndef PETAL_SSTABLE_FILTER_BLOOM_ACCOUNT_H
#define PETAL_SSTABLE_FILTER_BLOOM_ACCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* In data blocks. */
#define BLOOM_ACCOUNT_CREDIT  4
#define BLOOM_ACCOUNT_FORTUNE 16 /* the balance does not go above .. */
#define BLOOM_ACCOUNT_DEBT    7  /* .. nor below */

#define BLOOM_ACCOUNT_LEAST_INTERVAL_BITS 4
#define BLOOM_ACCOUNT_MOST_INTERVAL_BITS  10

struct bloom_account {
    _Atomic(int64_t) balance;
    int64_t block_bytes; /* of an average data block as stored; above 0 */
    int64_t most;        /* that the balance may be */
};

/* `data_bytes` in `data_blocks`: any numbers, since they come from a file. */
void bloom_account_init(struct bloom_account *account, uint64_t data_bytes, uint64_t data_blocks);

/* Is it worth fetching what has to be asked? */
static inline bool
bloom_account_pays(const struct bloom_account *account)
{
    return atomic_load_explicit(&account->balance, memory_order_relaxed) >= 0;
}

/* How many questions there are to each that may fetch: 1 while it pays. */
uint64_t bloom_account_interval(const struct bloom_account *account);

/* Draw the lot for one question: may it fetch? */
bool bloom_account_draw(const struct bloom_account *account);

/* A question took so many bytes from the file and its answer saved so many; of these more than a
 * block's count as a block's. */
void bloom_account_settle(struct bloom_account *account, uint64_t fetched, uint64_t saved);

/* The same for one that took none. */
static inline void
bloom_account_credit(struct bloom_account *account, uint64_t saved)
{
    if (saved > 0 && atomic_load_explicit(&account->balance, memory_order_relaxed) < account->most)
        bloom_account_settle(account, 0, saved);
}

#endif
