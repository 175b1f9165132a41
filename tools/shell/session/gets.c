/* gets.c -- see tools/shell/session/gets.h. */
#include "tools/shell/session/gets.h"

#include "tools/shell/text/memory.h"

#include <stdlib.h>
#include <string.h>

struct past_get *
past_get_new(petal_table *table, petal_slice row, const petal_read_options *read)
{
    size_t size = sizeof(struct past_get) + read->column_count * sizeof(petal_column) + row.size;
    struct past_get *get;
    char *bytes;

    for (size_t i = 0; i < read->column_count; i++)
        size += read->columns[i].qualifier.size;
    get = memory_allocate(size);
    *get = (struct past_get){
        .table = table,
        .columns = (petal_column *)(get + 1),
        .column_count = read->column_count,
        .has_time_range = read->has_time_range,
        .time_min = read->time_min,
        .time_limit = read->time_limit,
        .versions = read->versions,
    };
    bytes = (char *)(get->columns + read->column_count);
    memcpy(bytes, row.data, row.size);
    get->row = (petal_slice){bytes, row.size};
    bytes += row.size;
    for (size_t i = 0; i < read->column_count; i++) {
        const petal_column *column = &read->columns[i];

        get->columns[i] = *column;
        get->columns[i].qualifier.data = bytes;
        if (column->qualifier.size > 0)
            memcpy(bytes, column->qualifier.data, column->qualifier.size);
        bytes += column->qualifier.size;
    }
    return get;
}

/* Where the file is, or belongs. */
static size_t
place_of(const struct get_history *history, uint64_t number)
{
    size_t low = 0, high = history->file_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (history->files[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct file_history *
file_of(struct get_history *history, uint64_t number)
{
    size_t at = place_of(history, number);

    if (at < history->file_count && history->files[at].number == number)
        return &history->files[at];
    history->files = memory_room(history->files, history->file_count, &history->file_capacity,
                                 sizeof(*history->files));
    memmove(&history->files[at + 1], &history->files[at],
            (history->file_count - at) * sizeof(*history->files));
    history->file_count++;
    history->files[at] = (struct file_history){.number = number};
    return &history->files[at];
}

static void
note_source(struct get_history *history, const petal_receipt_source *source)
{
    bool read = source->skip == PETAL_SKIP_NONE;
    struct file_history *file;

    if (source->file_number == 0 || (!read && source->filter_probes == 0))
        return;
    file = file_of(history, source->file_number);
    file->reads += read;
    file->probes += source->filter_probes;
    file->negatives += source->filter_negatives;
    file->false_positives +=
        source->held_nothing && source->filter_probes > source->filter_negatives;
    file->data_cached += source->blocks_cached[PETAL_BLOCK_DATA];
    file->data_fetched += source->blocks_fetched[PETAL_BLOCK_DATA];
    file->bytes_fetched += source->bytes_fetched;
}

void
get_history_note(struct get_history *history, petal_table *table, petal_slice row,
                 const petal_read_options *read, const petal_receipt *receipt)
{
    struct past_get **place = &history->gets[history->next];

    for (size_t i = 0; i < petal_receipt_count(receipt); i++)
        note_source(history, petal_receipt_at(receipt, i));
    /* What a filter or a limit of cells does is not made again. */
    if (read->filter != NULL || read->family_cell_limit > 0 || read->family_cell_offset > 0)
        return;
    free(*place);
    *place = past_get_new(table, row, read);
    history->next = (history->next + 1) % HISTORY_GETS;
}

void
get_history_free(struct get_history *history)
{
    for (size_t i = 0; i < HISTORY_GETS; i++)
        free(history->gets[i]);
    free(history->files);
}

const struct file_history *
get_history_file(const struct get_history *history, uint64_t number)
{
    size_t at = place_of(history, number);

    return at < history->file_count && history->files[at].number == number ? &history->files[at]
                                                                           : NULL;
}
