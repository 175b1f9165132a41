/* incoming.c -- see incoming.h. */
#include "tools/hfile/exchange/incoming.h"

#include "tools/hfile/format/bytes.h"
#include "tools/hfile/format/error.h"

#include <assert.h>
#include <stdlib.h>

/* ---- One file -------------------------------------------------------------------------------- */

/* The number that a bulk load gave the file, in its name: .._SeqId_N_. */
static bool
sequence_in_name(const char *path, int64_t *sequence)
{
    const char *slash = strrchr(path, '/');
    const char *at = strstr(slash == NULL ? path : slash, "_SeqId_");
    uint64_t number = 0;

    if (at == NULL)
        return false;
    for (at += 7; *at >= '0' && *at <= '9' && number < (uint64_t)1 << 59; at++)
        number = 10 * number + (uint64_t)(*at - '0');
    *sequence = (int64_t)number;
    return *at == '_';
}

static enum petal_status
look_at(struct incoming *incoming, const struct found_file *found, petal_error *error)
{
    struct incoming_file *looked = &incoming->files[incoming->count];
    const petal_hfile_info *info;
    petal_slice first_row;
    petal_hfile *file;
    char *row;
    enum petal_status status = petal_hfile_open(found->path, NULL, &file, error);

    if (status != PETAL_OK)
        return status;
    info = petal_hfile_info_get(file);
    *looked = (struct incoming_file){
        .path = found->path, .half = found->half, .split_row = found->split_row};
    looked->is_bulk_loaded = sequence_in_name(found->path, &looked->sequence);
    if (!looked->is_bulk_loaded && info->has_sequence_id)
        looked->sequence = info->sequence_id;
    first_row = info->first_row;
    if (found->half == HALF_TOP && hfile_slice_compare(first_row, found->split_row) < 0)
        first_row = found->split_row;
    row = arena_copy(incoming->arena, first_row);
    if (row == NULL)
        status = hfile_error_no_memory(error);
    looked->first_row = hfile_slice(row, first_row.size);
    if (info->cells == 0)
        incoming->empty_files++;
    else
        incoming->count++;
    incoming->bytes +=
        info->cells * ((uint64_t)info->average_key_bytes + info->average_value_bytes);
    petal_hfile_close(file);
    return status;
}

static void
close_file(struct incoming_file *file)
{
    petal_hfile_scanner_free(file->scanner);
    petal_hfile_close(file->file);
    file->scanner = NULL;
    file->file = NULL;
    file->cell = NULL;
}

/* Who comes first: the lesser key, of equal ones the later write. */
static bool
comes_before(const struct incoming_file *a, const struct incoming_file *b)
{
    int order = petal_hfile_compare(a->cell, b->cell);
    int64_t a_sequence =
        a->is_bulk_loaded || a->cell->sequence == 0 ? a->sequence : a->cell->sequence;
    int64_t b_sequence =
        b->is_bulk_loaded || b->cell->sequence == 0 ? b->sequence : b->cell->sequence;

    return order < 0 || (order == 0 && a_sequence > b_sequence);
}

/* Of the bottom half nothing is left from the split row on. */
static void
end_half(struct incoming_file *file)
{
    if (file->half == HALF_BOTTOM && file->cell != NULL &&
        hfile_slice_compare(file->cell->row, file->split_row) >= 0)
        file->cell = NULL;
}

static enum petal_status
go_to_first_cell(struct incoming_file *file, petal_error *error)
{
    enum petal_status status =
        file->half == HALF_TOP && file->split_row.size > 0
            ? petal_hfile_scanner_seek_row(file->scanner, file->split_row, &file->cell, error)
            : petal_hfile_scanner_first(file->scanner, &file->cell, error);

    end_half(file);
    return status;
}

static enum petal_status
go_to_next_cell(struct incoming_file *file, petal_error *error)
{
    enum petal_status status = petal_hfile_scanner_next(file->scanner, &file->cell, error);

    end_half(file);
    return status;
}

/* ---- All files ------------------------------------------------------------------------------- */

static int
compare_first_rows(const void *a, const void *b)
{
    const struct incoming_file *first = a, *second = b;

    return hfile_slice_compare(first->first_row, second->first_row);
}

enum petal_status
incoming_open(struct incoming *incoming, struct arena *arena, const struct found_file *files,
              size_t count, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    *incoming = (struct incoming){.arena = arena};
    incoming->files = arena_allocate(arena, count * sizeof *incoming->files);
    incoming->heap = arena_allocate(arena, count * sizeof *incoming->heap);
    if (incoming->files == NULL || incoming->heap == NULL)
        return hfile_error_no_memory(error);
    for (size_t i = 0; status == PETAL_OK && i < count; i++)
        status = look_at(incoming, &files[i], error);
    if (incoming->count > 1)
        qsort(incoming->files, incoming->count, sizeof *incoming->files, compare_first_rows);
    return status;
}

void
incoming_close(struct incoming *incoming)
{
    for (size_t i = 0; i < incoming->open; i++)
        close_file(incoming->heap[i]);
    incoming->open = 0;
}

static void
sift_down(struct incoming *incoming, size_t place)
{
    struct incoming_file **heap = incoming->heap;

    for (;;) {
        size_t least = place, child = 2 * place + 1;

        for (size_t end = child + 2; child < end && child < incoming->open; child++)
            if (comes_before(heap[child], heap[least]))
                least = child;
        if (least == place)
            return;
        struct incoming_file *moved = heap[place];

        heap[place] = heap[least];
        heap[least] = moved;
        place = least;
    }
}

static void
sift_up(struct incoming *incoming, size_t place)
{
    struct incoming_file **heap = incoming->heap;

    while (place > 0 && comes_before(heap[place], heap[(place - 1) / 2])) {
        struct incoming_file *moved = heap[place];

        heap[place] = heap[(place - 1) / 2];
        heap[(place - 1) / 2] = moved;
        place = (place - 1) / 2;
    }
}

/* The first of the heap has another cell, or none. */
static void
settle_first(struct incoming *incoming)
{
    if (incoming->heap[0]->cell == NULL) {
        close_file(incoming->heap[0]);
        incoming->heap[0] = incoming->heap[--incoming->open];
    }
    if (incoming->open > 1)
        sift_down(incoming, 0);
}

/* Open the files that begin at or before the least cell, or the next one where none is open. */
static enum petal_status
open_due_files(struct incoming *incoming, petal_error *error)
{
    while (incoming->next < incoming->count) {
        struct incoming_file *file = &incoming->files[incoming->next];
        enum petal_status status;

        if (incoming->open > 0 &&
            hfile_slice_compare(file->first_row, incoming->heap[0]->cell->row) > 0)
            return PETAL_OK;
        status = petal_hfile_open(file->path, NULL, &file->file, error);
        if (status == PETAL_OK)
            status = petal_hfile_scanner_new(file->file, &file->scanner, error);
        if (status == PETAL_OK)
            status = go_to_first_cell(file, error);
        if (status != PETAL_OK) {
            close_file(file);
            return status;
        }
        incoming->next++;
        if (file->cell == NULL) {
            close_file(file);
            continue;
        }
        incoming->heap[incoming->open] = file;
        sift_up(incoming, incoming->open++);
    }
    return PETAL_OK;
}

enum petal_status
incoming_next(struct incoming *incoming, const petal_hfile_cell **cell, const char **path,
              petal_error *error)
{
    enum petal_status status = PETAL_OK;

    *cell = NULL;
    *path = NULL;
    if (incoming->is_given) {
        struct incoming_file *first = incoming->heap[0];

        incoming->is_given = false;
        *path = first->path;
        status = go_to_next_cell(first, error);
        if (status != PETAL_OK)
            return status;
        settle_first(incoming);
    }
    status = open_due_files(incoming, error);
    if (status != PETAL_OK || incoming->open == 0)
        return status;
    *cell = incoming->heap[0]->cell;
    *path = incoming->heap[0]->path;
    incoming->is_given = true;
    return PETAL_OK;
}
