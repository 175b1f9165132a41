/* middle.c -- see middle.h. */
#include "engine/region/middle.h"

#include "engine/region/border.h"

#include <string.h>

static const struct region_store *
largest_store(const petal_table *table, const struct view *view, uint32_t place)
{
    const struct table_descriptor *descriptor = table_descriptor(table);
    const struct region_store *largest = NULL;
    uint64_t most = 0;

    for (size_t i = 0; i < descriptor->family_count; i++) {
        const struct region_list *list = view_regions(view, descriptor->families[i]);
        uint64_t bytes = list != NULL ? store_view_file_bytes(region_at(list, place)->view) : 0;

        if (bytes > most) {
            largest = region_at(list, place);
            most = bytes;
        }
    }
    return largest;
}

/* ---- its middle ---- */

/* The files of a store, for its border. */
struct border_files {
    struct border_file *files, *ends;
    size_t count;
    uint64_t bytes; /* of all */
};

/* Of shared files as many bytes as their indexes tell: what the view says of them is a guess, by
 * which a region would be split over and over. */
static enum petal_status
take_files(struct border_files *files, const petal_allocator *allocator,
           const struct region_store *region, petal_slice end, petal_error *error)
{
    const struct store_view *store = region->view;
    enum petal_status status = PETAL_OK;

    files->count = store->file_count;
    files->bytes = 0;
    files->files = mem_alloc(allocator, 2 * files->count * sizeof *files->files);
    if (files->files == NULL) {
        files->count = 0;
        return error_no_memory(error);
    }
    files->ends = files->files + files->count;
    for (size_t i = 0; i < files->count; i++) {
        const struct file_entry *file = &store->files[i];

        files->files[i] = (struct border_file){
            .row_min = file->facts->row_min, .row_max = file->facts->row_max, .bytes = file->bytes};
        if (status == PETAL_OK && file->shared)
            status = sst_reader_part(file->reader, file_entry_low(file, region->start), end,
                                     &files->files[i].bytes, error);
        files->bytes += files->files[i].bytes;
    }
    return status;
}

static void
free_files(struct border_files *files, const petal_allocator *allocator)
{
    for (size_t i = 0; i < files->count; i++)
        mem_free(allocator, (void *)(uintptr_t)files->files[i].row_middle.data,
                 files->files[i].row_middle.size);
    mem_free(allocator, files->files, 2 * files->count * sizeof *files->files);
}

/* Each file's middle in the region, as its index tells; `row` is memory for one. */
static enum petal_status
find_middles(struct border_files *files, const petal_allocator *allocator,
             const struct region_store *region, petal_slice end, uint8_t *row, petal_error *error)
{
    for (size_t i = 0; i < files->count; i++) {
        struct border_file *file = &files->files[i];
        const struct file_entry *entry = &region->view->files[i];
        uint64_t bytes;
        size_t row_bytes;
        uint8_t *copy;
        enum petal_status status =
            sst_reader_middle(entry->reader, file_entry_low(entry, region->start), end, row,
                              &row_bytes, &bytes, error);

        if (status != PETAL_OK)
            return status;
        *file = (struct border_file){.bytes = bytes};
        if (row_bytes == 0)
            continue;
        copy = mem_alloc(allocator, row_bytes);
        if (copy == NULL)
            return error_no_memory(error);
        memcpy(copy, row, row_bytes);
        file->row_middle = slice_make(copy, row_bytes);
    }
    return PETAL_OK;
}

enum petal_status
region_middle(const petal_table *table, const struct view *view, uint32_t place, uint64_t least,
              uint8_t *row, size_t *row_bytes, petal_error *error)
{
    const petal_allocator *allocator = table->db->env.allocator;
    const struct region_store *region = largest_store(table, view, place);
    enum petal_status status;
    struct border_files files;
    petal_slice border = {0}, end;

    *row_bytes = 0;
    if (region == NULL)
        return PETAL_OK;
    end = view_end(view, region->store);
    status = take_files(&files, allocator, region, end, error);
    if (status == PETAL_OK && files.bytes > least)
        border = border_between_files(files.files, files.count, files.ends);
    if (status == PETAL_OK && files.bytes > least && border.size == 0) {
        status = find_middles(&files, allocator, region, end, row, error);
        border = status == PETAL_OK ? border_among_middles(files.files, files.count) : border;
    }
    if (border.size > 0)
        memcpy(row, border.data, border.size);
    *row_bytes = border.size;
    free_files(&files, allocator);
    return status;
}
