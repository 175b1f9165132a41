/* change.c -- see change.h. */
#include "engine/store/change.h"

#include "engine/wal/wal.h"

void
db_edit_counters(petal_db *db, struct manifest_edit *edit)
{
    struct wal_promise promise = log_promise(db);

    /* Want of memory in an edit comes back from its commit. */
    manifest_edit_counters(edit, db_next_file_number(db),
                           atomic_load_explicit(&db->published_sequence, memory_order_acquire),
                           atomic_load_explicit(&db->published_timestamp, memory_order_acquire));
    if (promise.log_number != 0)
        manifest_edit_wal_promise(edit, promise);
}

enum petal_status
db_commit(petal_db *db, const struct manifest_edit *edit, petal_error *error)
{
    petal_error cause;
    enum petal_status status = manifest_commit(db->manifest, edit, &cause);

    if (status == PETAL_OK)
        return PETAL_OK;
    /* A refused edit changed nothing, nor did one that found no space, memory or descriptor. */
    if (manifest_is_dead(db->manifest) || (status != PETAL_INVALID && !error_passes(&cause)))
        db_fail(db, &cause);
    if (error != NULL)
        *error = cause;
    return status;
}

void
family_remove_store(petal_family *family, struct view *view)
{
    petal_db *db = family->table->db;
    struct store_view *store = view->stores[family->slot];

    for (uint32_t k = 0; store != NULL && k < store->file_count; k++)
        atomic_store_explicit(&store->files[k].file->obsolete, true, memory_order_relaxed);
    if (family->unusable)
        damage_remove_lost(family);
    view_set_store(view, family->slot, NULL);
    db->active_bytes -= family->active_bytes;
    if (family->active != NULL)
        db->active_memory -= family->active->charged;
    family->active = NULL;
    family->active_bytes = 0;
}
