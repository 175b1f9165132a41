/* capture.c -- see capture.h. */
#include "engine/flush/capture.h"

/* ---- life ---- */

struct capture *
capture_new(petal_db *db, const petal_table *table)
{
    struct capture *made = mem_zalloc(db->env.allocator, sizeof *made);

    if (made == NULL)
        return NULL;
    atomic_init(&made->references, 1);
    made->db = db;
    made->table = table;
    made->status = PETAL_NOT_FOUND;
    return made;
}

bool
capture_is_wanted(const struct capture *capture)
{
    return atomic_load_explicit(&capture->references, memory_order_acquire) > 1;
}

struct capture *
capture_ref(struct capture *capture)
{
    atomic_fetch_add_explicit(&capture->references, 1, memory_order_relaxed);
    return capture;
}

void
capture_unref(struct capture *capture)
{
    const petal_allocator *allocator;

    if (capture == NULL ||
        atomic_fetch_sub_explicit(&capture->references, 1, memory_order_acq_rel) > 1)
        return;
    allocator = capture->db->env.allocator;
    for (size_t i = 0; i < capture->file_count; i++)
        store_file_unref(capture->files[i]);
    mem_free(allocator, capture->files, capture->file_capacity * sizeof *capture->files);
    manifest_copy_fini(&capture->state, allocator);
    mem_free(allocator, capture, sizeof *capture);
}

/* ---- taking ---- */

/* Hold on to the files of a store. */
static enum petal_status
pin_files(struct capture *capture, const struct store_view *store)
{
    void *array = capture->files;
    size_t more = store->file_count;

    if (!mem_grow(capture->db->env.allocator, &array, &capture->file_capacity, capture->file_count,
                  capture->file_count + more, sizeof *capture->files))
        return PETAL_NO_MEMORY;
    capture->files = array;
    for (size_t i = 0; i < more; i++) {
        struct store_file *file = store->files[i].file;

        atomic_fetch_add_explicit(&file->references, 1, memory_order_relaxed);
        capture->files[capture->file_count++] = file;
    }
    return PETAL_OK;
}

/* Those of a family; it may be NULL. */
static enum petal_status
pin_family(struct capture *capture, const struct region_list *list)
{
    enum petal_status status = PETAL_OK;

    for (uint32_t i = 0; status == PETAL_OK && list != NULL && i < list->count; i++)
        status = pin_files(capture, region_at(list, i)->view);
    return status;
}

static enum petal_status
take_table(struct capture *capture, const struct view *view)
{
    const petal_allocator *allocator = capture->db->env.allocator;
    const struct table_descriptor *descriptor = table_descriptor(capture->table);
    struct manifest_table *described =
        manifest_find_table(capture->db->manifest, capture->table->id);
    enum petal_status status = PETAL_OK;

    if (table_is_dropped(capture->table) || described == NULL)
        return PETAL_NOT_FOUND;
    status = manifest_copy_alone(&capture->state, described, allocator);
    for (size_t i = 0; status == PETAL_OK && i < descriptor->family_count; i++)
        status = pin_family(capture, view_regions(view, descriptor->families[i]));
    return status;
}

static enum petal_status
take_all(struct capture *capture, const struct view *view)
{
    petal_db *db = capture->db;
    enum petal_status status = manifest_copy(&capture->state, db->manifest, db->env.allocator);

    for (size_t i = 0; status == PETAL_OK && i < view->page_count * VIEW_PAGE_FAMILIES; i++)
        status = pin_family(capture, view_at(view, i));
    return status;
}

void
capture_take(struct capture *capture)
{
    const struct view *view =
        atomic_load_explicit(&capture->db->views.current, memory_order_relaxed);

    assert(capture->status == PETAL_NOT_FOUND && capture->file_count == 0);
    assert_held(&capture->db->manifest_mutex);
    assert_held(&capture->db->views.mutex);
    capture->status = capture->table != NULL ? take_table(capture, view) : take_all(capture, view);
}
