/* flush_freeze.c -- flush jobs, and the switch of memtables that makes them; see flush.h. */
#include "engine/capture.h"
#include "engine/flush.h"
#include "engine/log.h"
#include "engine/pace.h"

/* ---- jobs ---- */

static size_t
job_bytes(size_t part_count)
{
    return sizeof(struct flush_job) + part_count * sizeof(struct flush_part);
}

struct flush_job *
flush_job_new(petal_db *db, size_t part_count)
{
    return mem_zalloc(db->env.allocator, job_bytes(part_count));
}

void
flush_job_remove_files(petal_db *db, struct flush_job *job)
{
    for (size_t i = 0; i < job->part_count; i++) {
        rewrite_result_fini(&job->parts[i].result, db->env.allocator, true);
        job->parts[i].written = false;
    }
}

void
flush_job_release(petal_db *db, struct flush_job *job)
{
    bool remove = !job->committed && !atomic_load_explicit(&db->failed, memory_order_relaxed);

    for (size_t i = 0; i < job->part_count; i++) {
        store_memtable_unref(job->parts[i].memtable);
        job->parts[i].memtable = NULL;
        rewrite_result_fini(&job->parts[i].result, db->env.allocator, remove);
    }
    capture_unref(job->capture);
    job->capture = NULL;
}

void
flush_job_free(petal_db *db, struct flush_job *job)
{
    if (job == NULL)
        return;
    flush_job_release(db, job);
    mem_free(db->env.allocator, job, job_bytes(job->part_count));
}

/* ---- freeze ---- */

/* Which memtables to freeze. */
struct choice {
    const petal_table *table; /* NULL: of all tables */
    uint64_t overdue; /* of the others those with a cell of this sequence or an earlier one */
};

static struct choice
choose(petal_db *db, const petal_table *table)
{
    return (struct choice){table, table != NULL ? log_overdue_sequence(db) : 0};
}

static bool
wants_flush(const petal_family *family, const struct choice *choice)
{
    bool chosen = choice->table == NULL || family->table == choice->table;
    uint64_t first;

    if (family_is_dropped(family)) /* it has no memtable */
        return false;
    first = atomic_load_explicit(&family->active->sequence_first, memory_order_relaxed);
    return first != 0 && (chosen || first <= choice->overdue);
}

/* Put an empty memtable in front of the family's in `view`, which is not published yet. */
static enum petal_status
freeze_family(petal_db *db, petal_family *family, struct view *view, struct flush_part *part)
{
    struct store_memtable *fresh;
    struct store_view *changed;
    enum petal_status status = store_memtable_new(&fresh, db->env.allocator, db->salt);

    if (status != PETAL_OK)
        return status;
    status = store_view_new(&changed, db->env.allocator, view->stores[family->slot],
                            &(struct store_change){.add_memtable = fresh});
    store_memtable_unref(fresh); /* the store view has its own reference */
    if (status != PETAL_OK)
        return status;
    part->family = family;
    part->memtable = family->active;
    atomic_fetch_add_explicit(&part->memtable->references, 1, memory_order_relaxed);
    view_set_store(view, family->slot, changed);
    return PETAL_OK;
}

/* Fill a new view and the job. REQUIRES: ddl_mutex and view_mutex held. */
static enum petal_status
freeze_stores(petal_db *db, const struct choice *choice, struct view *view, struct flush_job *job)
{
    for (petal_table *t = db->tables; t != NULL; t = t->next) {
        const struct table_descriptor *descriptor = table_descriptor(t);

        for (size_t i = 0; i < descriptor->family_count; i++) {
            petal_family *family = descriptor->families[i];
            enum petal_status status;

            if (!wants_flush(family, choice))
                continue;
            status = freeze_family(db, family, view, &job->parts[job->part_count]);
            if (status != PETAL_OK)
                return status;
            job->part_count++;
        }
    }
    return PETAL_OK;
}

/* Memtables that hold cells. REQUIRES: ddl_mutex held. */
static size_t
count_full(petal_db *db, const struct choice *choice)
{
    size_t count = 0;

    for (petal_table *t = db->tables; t != NULL; t = t->next) {
        const struct table_descriptor *descriptor = table_descriptor(t);

        for (size_t i = 0; i < descriptor->family_count; i++)
            count += wants_flush(descriptor->families[i], choice);
    }
    return count;
}

static enum petal_status
freeze_under_lock(petal_db *db, const struct choice *choice, size_t count, struct flush_job **job)
{
    struct flush_job *made = flush_job_new(db, count);
    struct view *current = atomic_load_explicit(&db->view, memory_order_relaxed);
    struct view *view;
    enum petal_status status;

    if (made == NULL)
        return PETAL_NO_MEMORY;
    status = view_new(&view, db->env.allocator, current, current->store_count);
    if (status == PETAL_OK) {
        status = freeze_stores(db, choice, view, made);
        if (status == PETAL_OK) {
            for (size_t i = 0; i < made->part_count; i++) {
                petal_family *family = made->parts[i].family;

                family->active = view->stores[family->slot]->memtables[0];
                made->bytes += family->active_bytes;
                db->active_bytes -= family->active_bytes;
                db->active_memory -= made->parts[i].memtable->charged;
                family->active_bytes = 0;
                memtable_facts(made->parts[i].memtable->memtable, &made->parts[i].facts);
            }
            db_publish_view(db, view);
            for (size_t i = 0; i < made->part_count; i++)
                pace_count_runs(made->parts[i].family);
            *job = made;
            return PETAL_OK;
        }
        view_unref(view);
    }
    made->part_count = count; /* parts that were not reached are zero */
    flush_job_free(db, made);
    return status;
}

enum petal_status
flush_freeze(petal_db *db, const petal_table *table, struct flush_job **job, petal_error *error)
{
    struct choice choice = choose(db, table);
    enum petal_status status;
    size_t count;

    *job = NULL;
    pthread_mutex_lock(&db->ddl_mutex);
    count = count_full(db, &choice);
    pthread_mutex_unlock(&db->ddl_mutex);
    if (count == 0)
        return PETAL_OK;
    status = log_rotate(db, error);
    if (status != PETAL_OK)
        return status;
    pthread_mutex_lock(&db->ddl_mutex);
    pthread_mutex_lock(&db->view_mutex);
    status = freeze_under_lock(db, &choice, count, job);
    pthread_mutex_unlock(&db->view_mutex);
    pthread_mutex_unlock(&db->ddl_mutex);
    return status == PETAL_OK ? PETAL_OK : error_no_memory(error);
}

enum petal_status
flush_try_to_freeze(petal_db *db, struct flush_job **job, petal_error *error)
{
    const struct choice all = {NULL, 0};
    enum petal_status status = PETAL_OK;

    *job = NULL;
    if (pthread_mutex_trylock(&db->ddl_mutex) != 0)
        return PETAL_OK;
    if (pthread_mutex_trylock(&db->view_mutex) == 0) {
        size_t count = count_full(db, &all);

        if (count > 0)
            status = log_rotate(db, error);
        if (status == PETAL_OK && count > 0 && freeze_under_lock(db, &all, count, job) != PETAL_OK)
            status = error_no_memory(error);
        pthread_mutex_unlock(&db->view_mutex);
    }
    pthread_mutex_unlock(&db->ddl_mutex);
    return status;
}
