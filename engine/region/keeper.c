/* keeper.c -- see keeper.h. */
#include "engine/region/keeper.h"

#include "base/clock.h"
#include "engine/region/middle.h"
#include "engine/region/split.h"
#include "engine/state/progress.h"
#include "engine/state/read_point.h"

#include <assert.h>

/* All but the thread is guarded by progress.mutex. */
struct region_keeper {
    bool stopping;
    bool at_work;
    pthread_t thread;
};

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
            store_view_file_bytes(list->regions[place].view) > most)
            return true;
    }
    return false;
}

static void
note_failure(const petal_table *table, const petal_error *error)
{
    char quoted[160];

    if (error->status == PETAL_NOT_FOUND || error->status == PETAL_READ_ONLY)
        return;
    env_log(&table->db->env, PETAL_LOG_WARNING, "a region of table %s was not split: %s",
            error_quote(table->name, quoted, sizeof quoted), error->text);
}

/* Where the first region that is too large, of those that start at `from` or behind it, is to be
 * split: *row_bytes 0: it has no middle. *next: where the region after it starts, which stays;
 * empty: there is none, or none is too large. The view is held no longer than that, with the
 * memtables that were frozen since. */
static enum petal_status
find_split(petal_table *table, petal_slice from, uint8_t *row, size_t *row_bytes, petal_slice *next,
           petal_error *error)
{
    struct view *view = read_pin_view(table->db);
    const struct region_list *list = view_table_regions(view, table_descriptor(table));
    enum petal_status status = PETAL_OK;
    bool found = false;

    *row_bytes = 0;
    *next = slice_make(NULL, 0);
    for (uint32_t i = 0; !found && list != NULL && i < list->count; i++) {
        found = slice_compare(list->regions[i].start, from) >= 0 && is_too_large(table, view, i);
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
            status = region_split(table, slice_make(row, row_bytes), &error);
        if (status != PETAL_OK)
            note_failure(table, &error);
        from = next;
    } while (from.size > 0 && db_is_writable(table->db));
}

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
split_all(petal_db *db, uint8_t *row)
{
    uint32_t id = 0;
    petal_table *table;

    while ((table = next_table(db, id)) != NULL) {
        split_regions(table, row);
        id = table->id;
    }
}

/* ---- the thread ---- */

/* False: the database is being closed. */
static bool
wait_for_growth(petal_db *db)
{
    struct region_keeper *keeper = db->keeper;
    bool go_on;

    mutex_lock(&db->progress.mutex);
    keeper->at_work = false;
    pthread_cond_broadcast(&db->progress.grown);
    while (!db->progress.has_grown && !keeper->stopping)
        mutex_wait(&db->progress.mutex, &db->progress.grown, CLOCK_NEVER);
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
        if (row != NULL && db_is_writable(db))
            split_all(db, row);
    }
    mem_free(db->env.allocator, row, PETAL_MAX_ROW_BYTES);
    return NULL;
}

enum petal_status
region_keeper_start(petal_db *db, petal_error *error)
{
    struct region_keeper *keeper = mem_zalloc(db->env.allocator, sizeof *keeper);
    int failed;

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
    keeper->stopping = true;
    pthread_cond_broadcast(&db->progress.grown);
    mutex_unlock(&db->progress.mutex);
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
