/* freeze.c -- the switch of memtables that makes a flush job; see flush.h. */
#include "engine/flush/flush.h"
#include "engine/state/progress.h"
#include "engine/wal/wal.h"

#include <stdlib.h>

/* ---- which memtables ---- */

uint64_t
flush_first_in_memtables(const petal_db *db)
{
    uint64_t first = db->writers.last_sequence + 1;

    assert_leads(db);
    for (const struct store *store = db->writers.written; store != NULL;
         store = store->written_next) {
        uint64_t own = atomic_load_explicit(&store->active->sequence_first, memory_order_relaxed);

        first = own < first ? own : first;
    }
    return first;
}

/* Which memtables to freeze: what is asked for, and the stores found. These stay right while the
 * leadership is held. */
struct choice {
    const petal_table *table; /* NULL: of all tables */
    uint32_t region;          /* of the table; 0: all */
    bool largest;             /* of them as few as give back half of what is too much */
    struct store **stores;
    size_t count, capacity;
};

static void
choice_fini(petal_db *db, struct choice *choice)
{
    mem_free(db->env.allocator, choice->stores, choice->capacity * sizeof(struct store *));
}

static uint64_t
first_sequence(const struct store *store)
{
    return atomic_load_explicit(&store->active->sequence_first, memory_order_relaxed);
}

static bool
is_asked(const struct choice *choice, const struct store *store)
{
    return choice->table == NULL || (store->family->table == choice->table &&
                                     (choice->region == 0 || store->region == choice->region));
}

/* All that hold cells, or those that are asked for and those that have a cell of the sequence
 * `overdue` or an earlier one. */
static enum petal_status
gather(petal_db *db, struct choice *choice, uint64_t overdue)
{
    assert_leads(db);
    for (struct store *store = db->writers.written; store != NULL; store = store->written_next) {
        assert(!store_is_dropped(store) && first_sequence(store) > 0);
        if (!is_asked(choice, store) && first_sequence(store) > overdue)
            continue;
        if (!mem_grow_array(db->env.allocator, &choice->stores, &choice->capacity, choice->count,
                            choice->count + 1, sizeof(struct store *)))
            return PETAL_NO_MEMORY;
        choice->stores[choice->count++] = store;
    }
    return PETAL_OK;
}

static int
compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int
more_memory_first(const void *a, const void *b)
{
    const struct store *const *left = a, *const *right = b;

    return compare_numbers((*right)->active->charged, (*left)->active->charged);
}

static int
more_bytes_first(const void *a, const void *b)
{
    const struct store *const *left = a, *const *right = b;

    return compare_numbers((*right)->active_bytes, (*left)->active_bytes);
}

/* The largest stay, as few as give back half of what is too much, and those that are overdue. */
static void
keep_largest(petal_db *db, struct choice *choice, uint64_t overdue)
{
    bool memory_is_full = flush_memory_is_due(db);
    size_t bytes_left =
        flush_bytes_are_due(db) ? db->writers.active_bytes - db->writers.active_bytes / 2 : 0;
    size_t memory_left =
        memory_is_full ? db->writers.active_memory - db->writers.active_memory / 2 : 0;
    size_t kept = 0;

    qsort(choice->stores, choice->count, sizeof(struct store *),
          memory_is_full ? more_memory_first : more_bytes_first);
    for (size_t i = 0; i < choice->count; i++) {
        struct store *store = choice->stores[i];
        size_t memory = store->active->charged;

        if (bytes_left == 0 && memory_left == 0 && first_sequence(store) > overdue)
            continue;
        bytes_left -= store->active_bytes < bytes_left ? store->active_bytes : bytes_left;
        memory_left -= memory < memory_left ? memory : memory_left;
        choice->stores[kept++] = store;
    }
    choice->count = kept;
}

/* REQUIRES: schema.mutex held. */
static enum petal_status
choose(petal_db *db, struct choice *choice)
{
    bool some = choice->table != NULL || choice->largest;
    uint64_t overdue = some ? wal_overdue_sequence(db) : 0;
    enum petal_status status = gather(db, choice, overdue);

    assert_leads(db);
    assert_held(&db->schema.mutex);
    if (status == PETAL_OK && choice->largest && choice->count > 0)
        keep_largest(db, choice, overdue);
    return status;
}

/* ---- freeze ---- */

/* Put an empty memtable in front of the store's in `view`, which is not published yet. */
static enum petal_status
freeze_store(petal_db *db, struct store *store, struct view *view, struct flush_part *part)
{
    struct store_memtable *fresh;
    struct store_view *changed;
    enum petal_status status = store_memtable_new(&fresh, db->env.allocator);

    if (status != PETAL_OK)
        return status;
    status = store_view_new(&changed, db->env.allocator, view_store(view, store),
                            &(struct store_change){.add_memtable = fresh});
    store_memtable_unref(fresh); /* the store view has its own reference */
    if (status != PETAL_OK)
        return status;
    part->store = store;
    part->memtable = store->active;
    atomic_fetch_add_explicit(&part->memtable->references, 1, memory_order_relaxed);
    return view_set_store(view, store, changed);
}

/* Fill a new view and the job. REQUIRES: views.mutex held. */
static enum petal_status
freeze_stores(petal_db *db, const struct choice *choice, struct view *view, struct flush_job *job)
{
    enum petal_status status = PETAL_OK;

    assert_held(&db->views.mutex);
    for (size_t i = 0; status == PETAL_OK && i < choice->count; i++) {
        status = freeze_store(db, choice->stores[i], view, &job->parts[i]);
        job->part_count += status == PETAL_OK;
    }
    return status;
}

/* REQUIRES: views.mutex held. */
static enum petal_status
freeze_under_lock(petal_db *db, const struct choice *choice, struct flush_job **job)
{
    struct flush_job *made = flush_job_new(db, choice->count);
    struct view *current = atomic_load_explicit(&db->views.current, memory_order_relaxed);
    struct view *view;
    enum petal_status status;

    assert_leads(db);
    assert_held(&db->views.mutex);
    if (made == NULL)
        return PETAL_NO_MEMORY;
    status = view_new(&view, db->env.allocator, &db->views, current, 0);
    if (status == PETAL_OK) {
        status = freeze_stores(db, choice, view, made);
        if (status == PETAL_OK) {
            for (size_t i = 0; i < made->part_count; i++) {
                struct store *store = made->parts[i].store;

                store->active = view_store(view, store)->memtables[0];
                made->bytes += store->active_bytes;
                db->writers.active_bytes -= store->active_bytes;
                db->writers.active_memory -= made->parts[i].memtable->charged;
                store->active_bytes = 0;
                store_forget_written(store);
                memtable_facts(made->parts[i].memtable->memtable, &made->parts[i].facts);
                made->parts[i].stamped = family_newest(store->family, false);
            }
            made->first_left = flush_first_in_memtables(db);
            db_publish_view(db, view);
            for (size_t i = 0; i < made->part_count; i++)
                progress_count_runs(&db->progress, &db->views, made->parts[i].store);
            *job = made;
            return PETAL_OK;
        }
        view_unref(view);
    }
    made->part_count = choice->count; /* parts that were not reached are zero */
    flush_job_free(db, made);
    return status;
}

static enum petal_status
freeze(petal_db *db, struct choice *choice, struct flush_job **job, petal_error *error)
{
    enum petal_status status;

    assert_leads(db);
    *job = NULL;
    mutex_lock(&db->schema.mutex);
    status = choose(db, choice);
    mutex_unlock(&db->schema.mutex);
    if (status != PETAL_OK)
        return error_no_memory(error);
    if (choice->count == 0)
        return PETAL_OK;
    status = wal_rotate(db, error);
    if (status != PETAL_OK)
        return status;
    mutex_lock(&db->schema.mutex);
    mutex_lock(&db->views.mutex);
    status = freeze_under_lock(db, choice, job);
    mutex_unlock(&db->views.mutex);
    mutex_unlock(&db->schema.mutex);
    return status == PETAL_OK ? PETAL_OK : error_no_memory(error);
}

enum petal_status
flush_freeze(petal_db *db, const petal_table *table, uint32_t region, struct flush_job **job,
             petal_error *error)
{
    struct choice choice = {.table = table, .region = region};
    enum petal_status status = freeze(db, &choice, job, error);

    choice_fini(db, &choice);
    return status;
}

enum petal_status
flush_freeze_largest(petal_db *db, struct flush_job **job, petal_error *error)
{
    struct choice choice = {.largest = true};
    enum petal_status status;

    assert(flush_is_due(db));
    status = freeze(db, &choice, job, error);
    choice_fini(db, &choice);
    return status;
}

enum petal_status
flush_try_to_freeze_largest(petal_db *db, struct flush_job **job, petal_error *error)
{
    struct choice choice = {.largest = true};
    enum petal_status status = PETAL_OK;

    assert_leads(db);
    *job = NULL;
    if (!mutex_try_lock(&db->schema.mutex))
        return PETAL_OK;
    if (mutex_try_lock(&db->views.mutex)) {
        if (choose(db, &choice) != PETAL_OK)
            status = error_no_memory(error);
        if (status == PETAL_OK && choice.count > 0)
            status = wal_rotate(db, error);
        if (status == PETAL_OK && choice.count > 0 &&
            freeze_under_lock(db, &choice, job) != PETAL_OK)
            status = error_no_memory(error);
        mutex_unlock(&db->views.mutex);
    }
    mutex_unlock(&db->schema.mutex);
    choice_fini(db, &choice);
    return status;
}
