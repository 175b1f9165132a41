/* inspect.c -- a table's files and memory, and their verification. */
#include "engine/db.h"

static petal_file_info
describe_file(const petal_family *family, const struct file_entry *file)
{
    const struct file_facts *facts = file->facts;

    return (petal_file_info){
        .family = family->name,
        .number = file->file->number,
        .file_bytes = facts->file_bytes,
        .data_bytes = facts->data_bytes,
        .raw_data_bytes = facts->raw_data_bytes,
        .index_bytes = facts->index_bytes,
        .filter_bytes = facts->filter_bytes,
        .cells = facts->cells,
        .rows = facts->rows,
        .markers = facts->cells - facts->puts,
        .data_blocks = facts->data_blocks,
        .row_min = facts->row_min,
        .row_max = facts->row_max,
        .time_min = facts->time_min,
        .time_max = facts->time_max,
        .sequence_min = facts->sequence_min,
        .sequence_max = facts->sequence_max,
        .bloom = facts->bloom,
        .bloom_error_rate = facts->bloom_error_rate,
        .bloom_keys = facts->bloom_keys,
        .bloom_chunks = facts->bloom_chunks,
        .run = file->file->run,
        .written_ms = facts->written_ms,
    };
}

enum petal_status
petal_table_files(petal_table *table, bool (*visit)(void *argument, const petal_file_info *file),
                  void *argument, petal_error *error)
{
    const struct table_descriptor *descriptor = table_descriptor(table);
    struct view *view;
    bool go_on = true;
    enum petal_status status;

    error_clear(error);
    view = read_pin_view(table->db);
    status = table_check_alive(table, error); /* a view without its stores tells nothing */
    for (size_t i = 0; status == PETAL_OK && go_on && i < descriptor->family_count; i++) {
        const struct store_view *store = view_store(view, descriptor->families[i]);

        for (uint32_t k = 0; go_on && store != NULL && k < store->file_count; k++) {
            petal_file_info info = describe_file(descriptor->families[i], &store->files[k]);

            go_on = visit(argument, &info);
        }
    }
    view_unref(view);
    return status;
}

uint64_t
petal_table_memtable_bytes(petal_table *table)
{
    struct view *view = read_pin_view(table->db);
    const struct table_descriptor *descriptor = table_descriptor(table);
    uint64_t bytes = 0;

    for (size_t i = 0; i < descriptor->family_count; i++) {
        const struct store_view *store = view_store(view, descriptor->families[i]);

        for (uint32_t k = 0; store != NULL && k < store->memtable_count; k++)
            bytes += memtable_bytes(store->memtables[k]->memtable);
    }
    view_unref(view);
    return bytes;
}

enum petal_status
petal_table_verify(petal_table *table, petal_error *error)
{
    const struct table_descriptor *descriptor = table_descriptor(table);
    struct view *view;
    enum petal_status status;

    error_clear(error);
    view = read_pin_view(table->db);
    status = table_check_alive(table, error); /* a view without its stores tells nothing */
    for (size_t i = 0; status == PETAL_OK && i < descriptor->family_count; i++) {
        const struct store_view *store = view_store(view, descriptor->families[i]);

        for (uint32_t k = 0; status == PETAL_OK && store != NULL && k < store->file_count; k++)
            status = sst_reader_verify(store->files[k].reader, error);
    }
    view_unref(view);
    return status;
}
