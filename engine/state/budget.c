/* budget.c -- see engine/state/budget.h. */
#include "engine/state/budget.h"

/* The cache is resized for changes of at least this part of the limit: less is not worth its
 * locks. */
#define WORTH_TELLING 64
#define LEAST_SHARE   8 /* of the limit, that the cache keeps */

void
memory_budget_init(struct memory_budget *budget, struct cache *cache, uint64_t limit,
                   uint64_t cache_most)
{
    budget->cache = cache;
    budget->limit = limit;
    budget->cache_most = cache_most < limit ? cache_most : limit;
    atomic_init(&budget->memtables, 0);
    atomic_init(&budget->files, 0);
    atomic_init(&budget->bulks, 0);
    atomic_init(&budget->cache_now, budget->cache_most);
}

/* Bytes left for the cache after memtables, files and bulks. */
static uint64_t
cache_share(const struct memory_budget *budget)
{
    uint64_t taken = atomic_load_explicit(&budget->memtables, memory_order_relaxed) +
                     atomic_load_explicit(&budget->files, memory_order_relaxed) +
                     atomic_load_explicit(&budget->bulks, memory_order_relaxed);
    uint64_t least = budget->limit / LEAST_SHARE;
    uint64_t left = taken < budget->limit ? budget->limit - taken : 0;

    if (left < least)
        left = least;
    return left < budget->cache_most ? left : budget->cache_most;
}

static bool
is_worth_telling(const struct memory_budget *budget, uint64_t now, uint64_t wanted)
{
    uint64_t change = wanted > now ? wanted - now : now - wanted;

    return change >= budget->limit / WORTH_TELLING;
}

/* Several threads may resize the cache at once, and a late one could set an outdated size. So each
 * looks again after it has set one, and sets the newer size if there is one. */
static void
tell_cache(struct memory_budget *budget)
{
    uint64_t now = atomic_load(&budget->cache_now), told, wanted;

    if (budget->cache_most == 0)
        return;
    do {
        wanted = cache_share(budget);
        if (!is_worth_telling(budget, now, wanted))
            return;
    } while (!atomic_compare_exchange_weak(&budget->cache_now, &now, wanted));
    do {
        told = wanted;
        cache_set_capacity(budget->cache, (size_t)told);
        wanted = atomic_load(&budget->cache_now);
    } while (wanted != told);
}

/* Subtracting is adding modulo 2^64. */
void
memory_budget_memtables(struct memory_budget *budget, int64_t change)
{
    atomic_fetch_add_explicit(&budget->memtables, (uint64_t)change, memory_order_relaxed);
    tell_cache(budget);
}

void
memory_budget_files(struct memory_budget *budget, int64_t change)
{
    atomic_fetch_add_explicit(&budget->files, (uint64_t)change, memory_order_relaxed);
    tell_cache(budget);
}

void
memory_budget_bulks(struct memory_budget *budget, int64_t change)
{
    atomic_fetch_add_explicit(&budget->bulks, (uint64_t)change, memory_order_relaxed);
    tell_cache(budget);
}
