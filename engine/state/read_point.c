/* read_point.c -- see engine/state/read_point.h. */
#include "engine/state/read_point.h"

enum petal_status
snapshot_take(petal_db *db, petal_snapshot **snapshot, petal_error *error)
{
    struct read_point_list *list = &db->snapshots;
    petal_snapshot *made;

    made = *snapshot = mem_zalloc(db->env.allocator, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    made->db = db;
    if (db->read_only) {
        struct read_pin pin = read_pin(db, NULL);

        made->view = pin.view;
        made->sequence = pin.sequence;
    }
    mutex_lock(&list->mutex);
    if (!db->read_only)
        made->sequence = atomic_load_explicit(&db->views.published_sequence, memory_order_acquire);
    made->older = list->newest;
    if (list->newest != NULL)
        list->newest->newer = made;
    else
        list->oldest = made;
    list->newest = made;
    mutex_unlock(&list->mutex);
    atomic_fetch_add_explicit(&db->open.snapshot, 1, memory_order_relaxed);
    return PETAL_OK;
}

void
petal_snapshot_free(petal_snapshot *snapshot)
{
    struct read_point_list *list;
    petal_db *db;

    if (snapshot == NULL || db_is_of_another_process(snapshot->db))
        return; /* others may have been at the list */
    db = snapshot->db;
    list = &db->snapshots;
    mutex_lock(&list->mutex);
    if (snapshot->older != NULL)
        snapshot->older->newer = snapshot->newer;
    else
        list->oldest = snapshot->newer;
    if (snapshot->newer != NULL)
        snapshot->newer->older = snapshot->older;
    else
        list->newest = snapshot->older;
    mutex_unlock(&list->mutex);
    view_unref(snapshot->view);
    mem_free(db->env.allocator, snapshot, sizeof *snapshot);
    atomic_fetch_sub_explicit(&db->open.snapshot, 1, memory_order_release);
}

struct view *
table_pin_regions(const petal_table *table, const struct region_list **regions)
{
    petal_db *db = table->db;
    struct view *view;

    mutex_lock(&db->schema.mutex);
    view = read_pin_view(db);
    *regions = view_table_regions(view, table_descriptor(table));
    mutex_unlock(&db->schema.mutex);
    return view;
}

uint64_t
read_point_oldest(petal_db *db)
{
    struct read_point_list *list = &db->snapshots;
    uint64_t oldest;

    mutex_lock(&list->mutex);
    oldest = list->oldest != NULL
                 ? list->oldest->sequence
                 : atomic_load_explicit(&db->views.published_sequence, memory_order_acquire);
    mutex_unlock(&list->mutex);
    return oldest;
}

uint64_t
read_point_lock(petal_db *db)
{
    struct read_point_list *list = &db->snapshots;

    mutex_lock(&list->mutex);
    return list->newest != NULL ? list->newest->sequence : 0;
}

void
read_point_unlock(petal_db *db)
{
    mutex_unlock(&db->snapshots.mutex);
}

uint64_t
read_point_newest(petal_db *db)
{
    uint64_t newest = read_point_lock(db);

    read_point_unlock(db);
    return newest;
}
