/* middle.c -- see middle.h. */
#include "engine/region/middle.h"

/* The file that has most rows of the region, but for those that have more than `most`. */
static const struct file_entry *
largest_file(const struct store_view *store, uint64_t most)
{
    const struct file_entry *largest = NULL;

    for (uint32_t i = 0; i < store->file_count; i++) {
        const struct file_entry *file = &store->files[i];

        if (file->bytes < most && (largest == NULL || file->bytes > largest->bytes))
            largest = file;
    }
    return largest;
}

static const struct region_store *
largest_store(const petal_table *table, const struct view *view, uint32_t place)
{
    const struct table_descriptor *descriptor = table_descriptor(table);
    const struct region_store *largest = NULL;
    uint64_t most = 0;

    for (size_t i = 0; i < descriptor->family_count; i++) {
        const struct region_list *list = view_regions(view, descriptor->families[i]);
        uint64_t bytes = list != NULL ? store_view_file_bytes(list->regions[place].view) : 0;

        if (bytes > most) {
            largest = &list->regions[place];
            most = bytes;
        }
    }
    return largest;
}

enum petal_status
region_middle(const petal_table *table, const struct view *view, uint32_t place, uint8_t *row,
              size_t *row_bytes, petal_error *error)
{
    const struct region_store *region = largest_store(table, view, place);
    const struct file_entry *file;
    enum petal_status status = PETAL_OK;
    petal_slice end;

    *row_bytes = 0;
    if (region == NULL)
        return PETAL_OK;
    end = view_end(view, region->store);
    file = largest_file(region->view, UINT64_MAX);
    while (status == PETAL_OK && *row_bytes == 0 && file != NULL) {
        status = sst_reader_middle(file->reader, region->start, end, row, row_bytes, error);
        file = largest_file(region->view, file->bytes);
    }
    return status;
}
