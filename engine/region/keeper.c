/* keeper.c -- see keeper.h. */
#include "engine/region/keeper.h"

#include "base/clock.h"
#include "base/sync_point.h"
#include "engine/region/middle.h"
#include "engine/region/split.h"
#include "engine/state/progress.h"
#include "engine/state/read_point.h"

#include <assert.h>

/* How often regions are looked at for what time alone has made due. */
#define LOOK_SECONDS 600

/* Neighbours are small that have together the SMALL_PART-th part of what one may have: so they grow
 * to four times that before they are split again. */
#define SMALL_PART 4
/* hbase.normalizer.merge.min_region_age.days is 3. */
#define MERGE_AGE_MS ((int64_t)3 * 24 * 3600 * 1000)
/* Each stops writers for a moment; more are left to the next look. */
#define MOST_MERGES 100

/* All but the thread is guarded by progress.mutex. */
struct region_keeper {
    _Atomic(bool) stopping; /* set under the mutex; read by the thread at work without it */
    bool at_work;
    pthread_t thread;
};

/* What was begun is done; nothing new is. */
static bool
goes_on(const petal_db *db)
{
    return db_is_writable(db) && !atomic_load_explicit(&db->keeper->stopping, memory_order_relaxed);
}

/* ---- splitting what is too large ---- */

/* Is a store of the region at `place` too large? */
static bool
is_too_large(const petal_table *table, const struct view *view, uint32_t place)
{
    const struct table_descriptor *descriptor = table_descriptor(table);
    uint64_t most = db_max_region_bytes(table);

    for (size_t i = 0; i < descriptor->family_count; i++) {
        const struct region_list *list = view_regions(view, descriptor->families[i]);

        if (list != NULL && place < list->count &&
            store_view_file_bytes(region_at(list, place)->view) > most)
            return true;
    }
    return false;
}

static void
note_failure(const petal_table *table, const char *what, const petal_error *error)
{
    char quoted[160];

    if (error->status == PETAL_NOT_FOUND || error->status == PETAL_READ_ONLY || !goes_on(table->db))
        return;
    env_log(&table->db->env, PETAL_LOG_WARNING, "a region of table %s was not %s: %s",
            error_quote(table->name, quoted, sizeof quoted), what, error->text);
}

/* Where the first region that is too large, of those that start at `from` or behind it, is to be
 * split: *row_bytes 0: it has no middle. *next: where the region after it starts, which stays;
 * empty: there is none, or none is too large. The view is held no longer than that, with the
 * memtables that were frozen since. */
static enum petal_status
find_split(petal_table *table, petal_slice from, uint8_t *row, size_t *row_bytes, petal_slice *next,
           petal_error *error)
{
    const struct region_list *list;
    struct view *view = table_pin_regions(table, &list);
    uint32_t first = list != NULL ? region_place(list, from) : 0;
    enum petal_status status = PETAL_OK;
    bool found = false;

    *row_bytes = 0;
    *next = slice_make(NULL, 0);
    for (uint32_t i = first; !found && list != NULL && i < list->count; i++) {
        found = slice_compare(region_at(list, i)->start, from) >= 0 && is_too_large(table, view, i);
        if (!found)
            continue;
        *next = region_end(list, i);
        status = region_middle(table, view, i, db_max_region_bytes(table), row, row_bytes, error);
    }
    view_unref(view);
    return status;
}

static void
split_regions(petal_table *table, uint8_t *row)
{
    petal_slice from = slice_make(NULL, 0), next;

    do {
        petal_error error;
        size_t row_bytes;
        enum petal_status status = find_split(table, from, row, &row_bytes, &next, &error);

        if (status == PETAL_OK && row_bytes > 0)
            status = region_split(table, slice_make(row, row_bytes), true, &error);
        if (status != PETAL_OK)
            note_failure(table, "split", &error);
        from = next;
    } while (from.size > 0 && goes_on(table->db));
}

/* ---- merging what is small ---- */

/* What the store has, in files and in memory. */
static uint64_t
store_bytes(const struct store_view *store)
{
    return store_view_file_bytes(store) + store_view_memtable_bytes(store);
}

/* Was the border before the region made by this thread, and long ago? Who makes one has a reason to
 * keep it. */
static bool
may_go(const struct region_store *region, int64_t now_ms)
{
    int64_t split_ms = region->store->split_ms;

    return split_ms > 0 && split_ms < now_ms - MERGE_AGE_MS;
}

/* May the border before the region at `place` go, and are the two small together? */
static bool
are_small(const petal_table *table, const struct view *view, uint32_t place, int64_t now_ms)
{
    const struct table_descriptor *descriptor = table_descriptor(table);
    uint64_t most = db_max_region_bytes(table) / SMALL_PART;

    for (size_t i = 0; i < descriptor->family_count; i++) {
        const struct region_list *list = view_regions(view, descriptor->families[i]);

        if (list == NULL || place >= list->count || !may_go(region_at(list, place), now_ms) ||
            store_bytes(region_at(list, place)->view) +
                    store_bytes(region_at(list, place - 1)->view) >
                most)
            return false;
    }
    return true;
}

/* Find the first region that starts behind `from` and is to be merged into the one before it: their
 * stores in some family, which stay. False: there is none. */
static bool
find_merge(petal_table *table, petal_slice from, const struct store **lower,
           const struct store **upper)
{
    int64_t now_ms = env_clock_ms(&table->db->env);
    const struct region_list *list;
    struct view *view = table_pin_regions(table, &list);
    uint32_t first = list != NULL ? region_place(list, from) + 1 : 0;
    bool found = false;

    for (uint32_t i = first; !found && list != NULL && i < list->count; i++) {
        *upper = region_at(list, i)->store;
        *lower = region_at(list, i - 1)->store;
        found = are_small(table, view, i, now_ms);
    }
    view_unref(view);
    return found;
}

/* What has been merged may be small still, and is looked at again, with its next neighbour. */
static void
merge_regions(petal_table *table)
{
    petal_slice from = slice_make(NULL, 0);
    const struct store *lower, *upper;

    for (unsigned i = 0; i < MOST_MERGES && !table_descriptor(table)->keeps_small_regions &&
                         goes_on(table->db) && find_merge(table, from, &lower, &upper);
         i++) {
        petal_error error;

        if (region_merge(table, lower->region, upper->region, &table->db->keeper->stopping,
                         &error) == PETAL_OK)
            continue;
        note_failure(table, "merged with its neighbour", &error);
        from = upper->start;
    }
}

/* ---- all tables ---- */

/* The next table by its id; they do not go before the database is closed. */
static petal_table *
next_table(petal_db *db, uint32_t after)
{
    petal_table *next = NULL;

    mutex_lock(&db->schema.mutex);
    for (petal_table *table = db->schema.tables; table != NULL; table = table->next) {
        if (table->id > after && !table_is_dropped(table) && (next == NULL || table->id < next->id))
            next = table;
    }
    mutex_unlock(&db->schema.mutex);
    return next;
}

static void
keep_all(petal_db *db, uint8_t *row)
{
    uint32_t id = 0;
    petal_table *table;

    while (goes_on(db) && (table = next_table(db, id)) != NULL) {
        split_regions(table, row);
        merge_regions(table);
        id = table->id;
    }
}

/* ---- the thread ---- */

/* Or until it is time to look. False: the database is being closed. */
static bool
wait_for_growth(petal_db *db)
{
    struct region_keeper *keeper = db->keeper;
    uint64_t until = clock_us() + (uint64_t)LOOK_SECONDS * 1000000;
    bool go_on;

    mutex_lock(&db->progress.mutex);
    keeper->at_work = false;
    pthread_cond_broadcast(&db->progress.grown);
    while (!db->progress.has_grown && !keeper->stopping && clock_us() < until)
        mutex_wait(&db->progress.mutex, &db->progress.grown, until);
    db->progress.has_grown = false;
    go_on = !keeper->stopping;
    keeper->at_work = go_on;
    mutex_unlock(&db->progress.mutex);
    return go_on;
}

static void *
keep(void *argument)
{
    petal_db *db = argument;
    uint8_t *row = mem_alloc(db->env.allocator, PETAL_MAX_ROW_BYTES);

    while (wait_for_growth(db)) {
        if (row == NULL)
            row = mem_alloc(db->env.allocator, PETAL_MAX_ROW_BYTES);
        if (row != NULL)
            keep_all(db, row);
    }
    mem_free(db->env.allocator, row, PETAL_MAX_ROW_BYTES);
    return NULL;
}

enum petal_status
region_keeper_start(petal_db *db, petal_error *error)
{
    struct region_keeper *keeper = mem_zalloc(db->env.allocator, sizeof *keeper);
    int failed;

    assert(db->compactor != NULL);
    if (keeper == NULL)
        return error_no_memory(error);
    db->keeper = keeper;
    progress_tell_grown(&db->progress); /* what an opening finds is looked at */
    failed = pthread_create(&keeper->thread, NULL, keep, db);
    if (failed == 0)
        return PETAL_OK;
    mem_free(db->env.allocator, keeper, sizeof *keeper);
    db->keeper = NULL;
    return error_io(error, db->directory.path, failed, "start a thread for");
}

void
region_keeper_stop(petal_db *db)
{
    struct region_keeper *keeper = db->keeper;

    if (keeper == NULL)
        return;
    mutex_lock(&db->progress.mutex);
    atomic_store_explicit(&keeper->stopping, true, memory_order_relaxed);
    pthread_cond_broadcast(&db->progress.grown);
    mutex_unlock(&db->progress.mutex);
    SYNC_POINT("keeper:told to stop");
    pthread_join(keeper->thread, NULL);
    db->keeper = NULL;
    mem_free(db->env.allocator, keeper, sizeof *keeper);
}

void
region_keeper_wait(petal_db *db, bool *waited)
{
    struct region_keeper *keeper = db->keeper;

    *waited = false;
    if (keeper == NULL)
        return;
    mutex_lock(&db->progress.mutex);
    while (db->progress.has_grown || keeper->at_work) {
        *waited = true;
        mutex_wait(&db->progress.mutex, &db->progress.grown, CLOCK_NEVER);
    }
    mutex_unlock(&db->progress.mutex);
}
