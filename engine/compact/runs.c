/* runs.c -- see engine/compact/runs.h. */
#include "engine/compact/runs.h"

#include "base/mem.h"

#include <stdlib.h>

/* ---- facts ---- */

/* Timestamps below are past the family's TTL; INT64_MIN: there is none, or versions outlive it. */
static int64_t
oldest_unexpired(const petal_family_options *family, int64_t now_ms)
{
    if (family->ttl_seconds == 0 || family->ttl_seconds >= PETAL_FOREVER ||
        family->min_versions > 0 || now_ms <= 0)
        return INT64_MIN;
    return now_ms - (int64_t)family->ttl_seconds * 1000;
}

/* Of what is spread evenly over least .. greatest, the share below `limit`. */
static double
share_below(int64_t least, int64_t greatest, int64_t limit)
{
    if (limit <= least)
        return 0;
    if (limit > greatest)
        return 1;
    return ((double)limit - (double)least) / ((double)greatest - (double)least + 1);
}

/* The share that the family's TTL has passed. */
static double
expired_share(const struct file_facts *facts, int64_t oldest)
{
    if (oldest == INT64_MIN || facts->put_time_min > facts->time_max)
        return 0;
    return share_below(facts->put_time_min, facts->time_max, oldest);
}

static uint64_t
at_most(double estimate, uint64_t most)
{
    return estimate < (double)most ? (uint64_t)estimate : most;
}

static uint64_t
markers_of(const struct file_facts *facts)
{
    return facts->cells - facts->puts;
}

/* Of the file's markers, the share that an all-files compaction would take as with
 * KEEP_DELETED_CELLS FALSE. */
static double
droppable_share(const struct file_facts *facts, const petal_family_options *family,
                const struct store_moment *moment)
{
    if (moment->markers_stay || family->keep_deleted_cells == PETAL_KEEP_DELETED_TRUE)
        return 0;
    if (family->keep_deleted_cells == PETAL_KEEP_DELETED_TTL)
        return expired_share(facts, oldest_unexpired(family, moment->now_ms));
    return 1;
}

uint64_t
facts_droppable_markers(const struct file_facts *facts, const petal_family_options *family,
                        const struct store_moment *moment)
{
    return at_most((double)markers_of(facts) * droppable_share(facts, family, moment),
                   markers_of(facts));
}

/* What the markers hide, the cells of older files included. */
static double
hidden_cells(const struct file_facts *facts, const struct older_cells *older)
{
    double single = (double)facts->deletes + (double)facts->column_deletes;
    double families = (double)facts_family_markers(facts);

    if (older->rows > 0)
        families *= (double)older->cells / (double)older->rows;
    return single + families;
}

/* Cells of this file that time has taken. */
static double
expired_cells(const struct file_facts *facts, const petal_family_options *family, int64_t now_ms)
{
    double by_family =
        (double)facts->cells * expired_share(facts, oldest_unexpired(family, now_ms));
    double by_own = 0;

    if (facts->ttl_cells > 0 && facts->death_max > 0)
        by_own = (double)facts->ttl_cells * share_below(facts->death_min, facts->death_max, now_ms);
    return by_family > by_own ? by_family : by_own;
}

uint64_t
facts_dead(const struct file_facts *facts, const petal_family_options *family,
           const struct store_moment *moment, const struct older_cells *older)
{
    double hidden = hidden_cells(facts, older) * droppable_share(facts, family, moment);
    double expired = 0;

    /* Cells above the oldest read point stay whatever their age. The order of writes keeps expired
     * cells, too, as long as the markers stay: see A REWRITE OF A PART in
     * engine/rules/visibility.h. */
    if (facts->sequence_max <= moment->read_point &&
        !(family->new_version_behavior && moment->markers_stay))
        expired = expired_cells(facts, family, moment->now_ms);
    return at_most(hidden + expired, facts->cells > UINT64_MAX - older->cells
                                         ? UINT64_MAX
                                         : facts->cells + older->cells);
}

bool
facts_all_needed(const struct file_facts *facts, const petal_family_options *family, int64_t now_ms)
{
    bool dies = family->ttl_seconds > 0 && family->ttl_seconds < PETAL_FOREVER;

    return facts->puts == facts->cells && facts->single_cells &&
           (facts->ttl_cells == 0 || facts->death_min > now_ms) &&
           (!dies || facts->put_time_min >= now_ms - (int64_t)family->ttl_seconds * 1000);
}

bool
facts_expired(const struct file_facts *facts, const petal_family_options *family, int64_t now_ms)
{
    if (facts->time_max < oldest_unexpired(family, now_ms))
        return true;
    return facts->ttl_cells == facts->cells && facts->death_max > 0 && facts->death_max < now_ms;
}

/* ---- a store ---- */

uint64_t
store_first_in_memory(const struct store_view *store)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < store->memtable_count; i++) {
        uint64_t first =
            atomic_load_explicit(&store->memtables[i]->sequence_first, memory_order_relaxed);

        if (first != 0 && first < least)
            least = first;
    }
    return least;
}

uint64_t
store_first_outside(const struct store_view *store, struct store_file *const *inputs,
                    size_t input_count, petal_slice least, petal_slice greatest)
{
    uint64_t first = store_first_in_memory(store);

    for (uint32_t i = 0; i < store->file_count; i++) {
        const struct file_facts *facts = store->files[i].facts;
        bool inside =
            slice_compare(facts->row_max, least) < 0 || slice_compare(facts->row_min, greatest) > 0;

        for (size_t k = 0; !inside && k < input_count; k++)
            inside = inputs[k] == store->files[i].file;
        if (!inside && facts->sequence_min < first)
            first = facts->sequence_min;
    }
    return first;
}

uint64_t
store_last_in_files(const struct store_view *store)
{
    uint64_t greatest = 0;

    for (uint32_t i = 0; i < store->file_count; i++) {
        if (store->files[i].sequence_max > greatest)
            greatest = store->files[i].sequence_max;
    }
    return greatest;
}

size_t
store_runs_count(const struct store_view *store)
{
    size_t count = 0;

    for (uint32_t i = 0; i < store->file_count; i++) {
        bool seen = false;

        for (uint32_t k = 0; !seen && k < i; k++)
            seen = store->files[k].run == store->files[i].run;
        count += !seen;
    }
    return count;
}

/* The list's entry for a run, made when it is new; NULL: no memory. */
static struct store_run *
find_run(struct store_runs *list, const petal_allocator *allocator, uint64_t number)
{
    void *runs = list->runs;
    bool grown;

    for (size_t i = 0; i < list->count; i++) {
        if (list->runs[i].number == number)
            return &list->runs[i];
    }
    grown = mem_grow(allocator, &runs, &list->capacity, list->count, list->count + 1,
                     sizeof *list->runs);
    list->runs = runs;
    if (!grown)
        return NULL;
    list->runs[list->count] = (struct store_run){.number = number};
    return &list->runs[list->count++];
}

static int
compare_runs(const void *left, const void *right)
{
    const struct store_run *a = left, *b = right;

    if (a->sequence_max != b->sequence_max)
        return a->sequence_max < b->sequence_max ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* An age that is not known is none. */
static bool
is_old(const struct file_facts *facts, int64_t now_ms)
{
    return facts->written_ms > 0 && now_ms > facts->written_ms &&
           now_ms - facts->written_ms > POLICY_MAJOR_MS;
}

static void
add_file(struct policy_run *run, const struct file_entry *file, const petal_family_options *family,
         const struct store_moment *moment, const struct older_cells *older)
{
    const struct file_facts *facts = file->facts;
    uint64_t dead = facts_dead(facts, family, moment, older);

    run->expired =
        (run->cells == 0 || run->expired) && facts_expired(facts, family, moment->now_ms);
    run->all_files = (run->cells == 0 || run->all_files) && facts->origin == FILE_ORIGIN_ALL_FILES;
    if (facts->origin == FILE_ORIGIN_FLUSH && file->bytes > run->flushed)
        run->flushed = file->bytes;
    run->bytes += file->bytes;
    run->cells += facts->cells;
    run->dead += dead;
    if (is_old(facts, moment->now_ms)) {
        run->old_cells += facts->cells;
        run->old_dead += dead + facts_droppable_markers(facts, family, moment);
    }
}

static void
tell_policy(struct store_runs *list, const struct store_view *store,
            const petal_family_options *family, const struct store_moment *moment)
{
    struct older_cells older = {0};

    for (size_t i = 0; i < list->count; i++) {
        struct older_cells own = {0};

        list->policy[i] = (struct policy_run){0};
        for (uint32_t k = 0; k < store->file_count; k++) {
            const struct file_facts *facts = store->files[k].facts;

            if (store->files[k].run != list->runs[i].number)
                continue;
            add_file(&list->policy[i], &store->files[k], family, moment, &older);
            own.cells += facts->cells;
            own.rows += facts->rows;
        }
        older.cells += own.cells;
        older.rows += own.rows;
    }
}

enum petal_status
store_runs_gather(struct store_runs *list, const petal_allocator *allocator,
                  const struct store_view *store, const petal_family_options *family,
                  const struct store_moment *moment)
{
    void *policy = list->policy;
    bool grown;

    list->count = 0;
    for (uint32_t i = 0; i < store->file_count; i++) {
        struct store_run *run = find_run(list, allocator, store->files[i].run);

        if (run == NULL) {
            list->count = 0;
            return PETAL_NO_MEMORY;
        }
        if (store->files[i].sequence_max > run->sequence_max)
            run->sequence_max = store->files[i].sequence_max;
    }
    grown =
        mem_grow(allocator, &policy, &list->policy_capacity, 0, list->count, sizeof *list->policy);
    list->policy = policy;
    if (!grown) {
        list->count = 0;
        return PETAL_NO_MEMORY;
    }
    if (list->count > 1)
        qsort(list->runs, list->count, sizeof *list->runs, compare_runs);
    tell_policy(list, store, family, moment);
    return PETAL_OK;
}

void
store_runs_fini(struct store_runs *list, const petal_allocator *allocator)
{
    mem_free(allocator, list->runs, list->capacity * sizeof *list->runs);
    mem_free(allocator, list->policy, list->policy_capacity * sizeof *list->policy);
    *list = (struct store_runs){0};
}
