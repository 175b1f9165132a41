/* facts_check.c -- see facts_check.h. */
#include "tools/hfile/reader/facts_check.h"

#include "tools/hfile/format/error.h"
#include "tools/hfile/format/key.h"

#include <inttypes.h>

void
hfile_facts_check_init(struct hfile_facts_check *facts, const petal_allocator *allocator)
{
    *facts = (struct hfile_facts_check){
        .time_min = INT64_MAX, .time_max = INT64_MIN, .earliest_put = INT64_MAX};
    hfile_buffer_init(&facts->last_key, allocator);
}

void
hfile_facts_check_free(struct hfile_facts_check *facts)
{
    hfile_buffer_free(&facts->last_key);
}

void
hfile_facts_check_add(struct hfile_facts_check *facts, const petal_hfile_cell *cell)
{
    facts->cells++;
    facts->delete_family_cells +=
        cell->type == PETAL_DELETE_FAMILY || cell->type == PETAL_DELETE_FAMILY_VERSION;
    facts->key_bytes += hfile_key_bytes(cell);
    facts->value_bytes += cell->value.size;
    if (cell->tags.size > facts->most_tags_bytes)
        facts->most_tags_bytes = cell->tags.size;
    if (cell->sequence > facts->greatest_sequence)
        facts->greatest_sequence = cell->sequence;
    if (cell->timestamp < facts->time_min)
        facts->time_min = cell->timestamp;
    if (cell->timestamp > facts->time_max)
        facts->time_max = cell->timestamp;
    if (cell->type == PETAL_PUT && cell->timestamp < facts->earliest_put)
        facts->earliest_put = cell->timestamp;
}

bool
hfile_facts_check_end_block(struct hfile_facts_check *facts, const petal_hfile_cell *cell)
{
    hfile_buffer_clear(&facts->last_key);
    return hfile_key_append(cell, &facts->last_key);
}

static enum petal_status
wrong_number(const petal_hfile *file, const char *what, int64_t said, int64_t found,
             petal_error *error)
{
    return hfile_error_corrupt(error, file->name, file->trailer.file_info_offset,
                               "FILE_INFO says that %s is %" PRId64 ", but it is %" PRId64, what,
                               said, found);
}

/* A reader that trusts these looks for cells where none are, or leaves out some that are there. */
static enum petal_status
compare_ranges(const struct hfile_facts_check *facts, const petal_hfile *file, petal_error *error)
{
    const petal_hfile_info *info = &file->info;

    if (info->has_time_range && info->time_min > facts->time_min)
        return wrong_number(file, "the least timestamp", info->time_min, facts->time_min, error);
    if (info->has_time_range && info->time_max < facts->time_max)
        return wrong_number(file, "the greatest timestamp", info->time_max, facts->time_max, error);
    if (info->has_earliest_put && info->earliest_put > facts->earliest_put)
        return wrong_number(file, "the least timestamp of a put", info->earliest_put,
                            facts->earliest_put, error);
    if (info->has_sequences && (uint64_t)facts->greatest_sequence > info->greatest_sequence)
        return wrong_number(file, "the greatest sequence", (int64_t)info->greatest_sequence,
                            facts->greatest_sequence, error);
    if (info->has_tags && facts->most_tags_bytes > info->most_tags_bytes)
        return wrong_number(file, "the most bytes of tags", (int64_t)info->most_tags_bytes,
                            (int64_t)facts->most_tags_bytes, error);
    if (info->has_delete_family_cells && info->delete_family_cells != facts->delete_family_cells)
        return wrong_number(file, "the number of markers of families",
                            (int64_t)info->delete_family_cells, (int64_t)facts->delete_family_cells,
                            error);
    return PETAL_OK;
}

/* Such as HBase writes them; a file may lack them. */
static enum petal_status
compare_means(const struct hfile_facts_check *facts, const petal_hfile *file, petal_error *error)
{
    const petal_hfile_info *info = &file->info;
    uint64_t cells = facts->cells == 0 ? 1 : facts->cells;
    petal_slice value;

    if (hfile_file_info_find(&file->file_info, hfile_text_slice(HFILE_INFO_AVERAGE_KEY_LENGTH),
                             &value) &&
        info->average_key_bytes != facts->key_bytes / cells)
        return wrong_number(file, "the mean length of keys", info->average_key_bytes,
                            (int64_t)(facts->key_bytes / cells), error);
    if (hfile_file_info_find(&file->file_info, hfile_text_slice(HFILE_INFO_AVERAGE_VALUE_LENGTH),
                             &value) &&
        info->average_value_bytes != facts->value_bytes / cells)
        return wrong_number(file, "the mean length of values", info->average_value_bytes,
                            (int64_t)(facts->value_bytes / cells), error);
    return PETAL_OK;
}

enum petal_status
hfile_facts_check_compare(const struct hfile_facts_check *facts, const petal_hfile *file,
                          petal_error *error)
{
    enum petal_status status;

    if (facts->cells != file->trailer.cells)
        return hfile_error_corrupt(error, file->name, file->trailer_offset,
                                   "the file has %" PRIu64 " cells, but its trailer says %" PRIu64,
                                   facts->cells, file->trailer.cells);
    if (file->info.last_key.size > 0 &&
        !hfile_slice_equal(file->info.last_key, hfile_buffer_slice(&facts->last_key)))
        return hfile_error_corrupt(error, file->name, file->trailer.file_info_offset,
                                   "the last key in FILE_INFO is not that of the last cell");
    status = compare_ranges(facts, file, error);
    return status == PETAL_OK ? compare_means(facts, file, error) : status;
}
