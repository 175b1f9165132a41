/* cursor_regions.c -- from region to region, see cursor.h. */
#include "base/error.h"
#include "engine/read/cursor.h"
#include "engine/read/receipt.h"

#include <assert.h>

const struct region_store *
cursor_store_at_hand(const petal_cursor *cursor, const petal_family *family)
{
    const struct region_list *list = view_regions(cursor->view, family);

    assert(list == NULL || list->count == cursor->regions->count);
    return list != NULL ? region_at(list, cursor->region) : NULL;
}

uint32_t
cursor_place_of(const struct region_list *list, petal_slice row, bool reversed)
{
    if (row.size == 0 || list->count == 1)
        return reversed ? list->count - 1 : 0;
    return region_place(list, row);
}

/* The region at that place is the one at hand. */
static void
come_to(petal_cursor *cursor, uint32_t place)
{
    const struct region_list *list = cursor->regions;

    cursor->region = place;
    cursor->more_regions =
        scan_bounds_cut(&cursor->region_bounds, &cursor->bounds,
                        list != NULL ? region_at(list, place)->start : slice_make(NULL, 0),
                        list != NULL ? region_end(list, place) : slice_make(NULL, 0));
}

void
cursor_find_regions(petal_cursor *cursor)
{
    cursor->regions = view_table_regions(cursor->view, cursor->descriptor);
    come_to(cursor, cursor->regions != NULL ? cursor_place_of(cursor->regions, cursor->bounds.start,
                                                              cursor->bounds.reversed)
                                            : 0);
}

/* Memory for the inputs of the region at hand. */
static bool
make_room_for_inputs(petal_cursor *cursor, struct scan_memory *memory)
{
    const petal_allocator *allocator = cursor->table->db->env.allocator;
    size_t bytes = 0;

    for (size_t i = 0; i < cursor->store_count; i++)
        bytes += scan_inputs_memory(cursor_store_at_hand(cursor, cursor->stores[i].family));
    if (bytes > cursor->inputs_bytes) {
        void *made = mem_alloc(allocator, bytes);

        if (made == NULL)
            return false;
        if (cursor->owns_inputs_memory)
            mem_free(allocator, cursor->inputs_memory, cursor->inputs_bytes);
        cursor->inputs_memory = made;
        cursor->inputs_bytes = bytes;
        cursor->owns_inputs_memory = true;
    }
    memory->next = cursor->inputs_memory;
    memory->end = memory->next + cursor->inputs_bytes;
    return true;
}

enum petal_status
cursor_enter_stores(petal_cursor *cursor, petal_error *error)
{
    struct scan_memory memory;
    enum petal_status status = PETAL_OK;

    if (!make_room_for_inputs(cursor, &memory))
        return error_no_memory(error);
    for (size_t i = 0; status == PETAL_OK && i < cursor->store_count; i++)
        status = store_scan_enter_region(&cursor->stores[i],
                                         cursor_store_at_hand(cursor, cursor->stores[i].family),
                                         &memory, error);
    return status;
}

static enum petal_status
enter_region(petal_cursor *cursor, uint32_t place, petal_error *error)
{
    petal_receipt *receipt = cursor->options.read.receipt;
    enum petal_status status;

    for (size_t i = 0; i < cursor->store_count; i++)
        store_scan_leave_region(&cursor->stores[i]);
    come_to(cursor, place);
    status = cursor_enter_stores(cursor, error);
    return status == PETAL_OK && receipt != NULL && receipt->incomplete ? error_no_memory(error)
                                                                        : status;
}

enum petal_status
cursor_enter_region_of(petal_cursor *cursor, petal_slice row, petal_error *error)
{
    uint32_t place;

    if (cursor->regions == NULL || cursor->regions->count == 1)
        return PETAL_OK;
    place = cursor_place_of(cursor->regions, row, cursor->bounds.reversed);
    return place != cursor->region ? enter_region(cursor, place, error) : PETAL_OK;
}

enum petal_status
cursor_enter_next_region(petal_cursor *cursor, petal_error *error)
{
    assert(cursor->more_regions);
    return enter_region(cursor, cursor->bounds.reversed ? cursor->region - 1 : cursor->region + 1,
                        error);
}
