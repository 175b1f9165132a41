/* progress.c -- see progress.h. */
#include "engine/state/progress.h"

static uint32_t
runs_of_store(const struct store_view *store)
{
    uint64_t runs[STORE_MOST_RUNS];
    uint32_t count = 0, frozen = store->memtable_count > 0 ? store->memtable_count - 1 : 0;
    uint64_t bad = store_view_bad_sequence(store); /* waiting would not make these fewer */

    for (uint32_t i = 0; i < store->file_count && count < STORE_MOST_RUNS; i++) {
        uint32_t k = 0;

        if (store->files[i].sequence_max <= bad)
            continue;
        while (k < count && runs[k] != store->files[i].run)
            k++;
        if (k == count)
            runs[count++] = store->files[i].run;
    }
    return count + frozen < STORE_MOST_RUNS ? count + frozen : STORE_MOST_RUNS;
}

void
progress_count_runs(struct progress *progress, const struct views *views, struct store *counted)
{
    const struct view *view = atomic_load_explicit(&views->current, memory_order_relaxed);
    const struct store_view *store = view_store(view, counted);
    uint32_t runs = store != NULL ? runs_of_store(store) : 0;
    uint32_t before = atomic_exchange_explicit(&counted->runs, runs, memory_order_relaxed);

    assert_held(&views->mutex);
    if (before <= STORE_SLOW_RUNS && runs > STORE_SLOW_RUNS)
        atomic_fetch_add_explicit(&progress->pressed, 1, memory_order_relaxed);
    if (before > STORE_SLOW_RUNS && runs <= STORE_SLOW_RUNS)
        atomic_fetch_sub_explicit(&progress->pressed, 1, memory_order_relaxed);
    if (before == STORE_MOST_RUNS && runs < before)
        progress_tell(progress);
}

void
progress_tell(struct progress *progress)
{
    mutex_lock(&progress->mutex);
    pthread_cond_broadcast(&progress->moved);
    mutex_unlock(&progress->mutex);
}

void
progress_tell_grown(struct progress *progress)
{
    mutex_lock(&progress->mutex);
    progress->has_grown = true;
    pthread_cond_broadcast(&progress->grown);
    mutex_unlock(&progress->mutex);
}
