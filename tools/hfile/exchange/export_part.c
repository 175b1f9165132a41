/* export_part.c -- see export_part.h. */
#include "tools/hfile/exchange/export_part.h"

#include "tools/hfile/exchange/out_file.h"
#include "tools/hfile/exchange/outgoing.h"
#include "tools/hfile/format/error.h"
#include "tools/hfile/format/memory.h"

#include <assert.h>
#include <stdio.h>
#include <unistd.h>

struct part {
    const struct export_plan *plan;
    struct export_work *work;
    petal_family *family;
    petal_slice from, to; /* rows; `to` without bytes: to the end of the table */
    petal_hfile_write_options write;
    char folder[OUT_FILE_PATH_BYTES];
    struct out_file file;
    bool is_open, file_has_tags;
    struct hfile_buffer row;          /* of the last cell */
    petal_hfile_export_counts counts; /* cell_bytes: those that `work` does not know of */
    uint64_t bytes_since_look;        /* watching_is_due */
};

/* ---- Files ----------------------------------------------------------------------------------- */

static enum petal_status
begin_file(struct part *part, bool with_tags, petal_error *error)
{
    enum petal_status status = export_work_make_folder(part->work, part->folder, error);

    if (status != PETAL_OK)
        return status;
    part->write.with_tags = with_tags;
    status = out_file_begin(&part->file, part->folder, &part->write, error);
    part->is_open = status == PETAL_OK;
    part->file_has_tags = with_tags;
    return status;
}

static enum petal_status
finish_file(struct part *part, petal_error *error)
{
    uint64_t bytes = 0;
    enum petal_status status;

    if (!part->is_open)
        return PETAL_OK;
    part->is_open = false;
    status = out_file_finish(&part->file, &bytes, error);
    if (status == PETAL_OK) {
        part->counts.files++;
        part->counts.file_bytes += bytes;
        status = export_work_add_file(part->work, part->file.path, error);
        if (status != PETAL_OK)
            (void)unlink(part->file.path);
    }
    return status;
}

/* Does a new file begin with the next cell, which is the first of its row? */
static bool
is_full(const struct part *part)
{
    uint64_t split_bytes = part->plan->options.split_bytes;

    return split_bytes != 0 && part->is_open &&
           petal_hfile_writer_bytes(part->file.writer) >= split_bytes;
}

static enum petal_status
write_cell(struct part *part, const petal_hfile_cell *cell, petal_error *error)
{
    bool needs_tags = cell->tags.size > 0;
    enum petal_status status = PETAL_OK;

    if (!hfile_slice_equal(cell->row, hfile_buffer_slice(&part->row))) {
        hfile_buffer_clear(&part->row);
        if (!hfile_buffer_append_slice(&part->row, cell->row))
            return hfile_error_no_memory(error);
        if (is_full(part))
            status = finish_file(part, error);
    }
    /* Whether cells have tags holds for all of a file. */
    if (status == PETAL_OK && part->is_open && needs_tags && !part->file_has_tags)
        status = finish_file(part, error);
    if (status == PETAL_OK && !part->is_open)
        status = begin_file(part, needs_tags, error);
    if (status == PETAL_OK)
        status = petal_hfile_writer_add(part->file.writer, cell, error);
    if (status == PETAL_OK) {
        part->counts.cells++;
        part->counts.cell_bytes += watching_bytes_of(cell);
    }
    return status;
}

/* false: another thread has failed, or the watch does not want more. */
static bool
goes_on_after(struct part *part, const petal_hfile_cell *cell)
{
    uint64_t bytes = part->counts.cell_bytes;

    if (!watching_is_due(&part->bytes_since_look, cell))
        return true;
    part->counts.cell_bytes = 0;
    return export_work_goes_on(part->work, bytes);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static void
write_like_family(petal_hfile_write_options *write, const petal_family *family)
{
    petal_family_options options = {.size = sizeof options};

    petal_family_describe(family, &options);
    write->block_bytes = options.block_bytes;
    switch (options.bloom) {
    case PETAL_BLOOM_NONE:
        write->bloom = PETAL_HFILE_BLOOM_NONE;
        break;
    case PETAL_BLOOM_ROWCOL:
        write->bloom = PETAL_HFILE_BLOOM_ROWCOL;
        break;
    case PETAL_BLOOM_ROW_PREFIX:
        write->bloom = PETAL_HFILE_BLOOM_ROW_PREFIX;
        write->bloom_prefix_bytes = options.bloom_prefix_bytes;
        break;
    default:
        write->bloom = PETAL_HFILE_BLOOM_ROW;
    }
}

static enum petal_status
set_up(struct part *part, petal_error *error)
{
    petal_slice name = petal_family_name(part->family);
    int length = snprintf(part->folder, sizeof part->folder, "%s/%.*s", part->plan->directory,
                          (int)name.size, (const char *)name.data);

    if (length < 0 || (size_t)length >= sizeof part->folder)
        return hfile_error_set(error, PETAL_INVALID, "", "the path of the directory is too long");
    part->write = part->plan->file;
    if (part->plan->options.like_family)
        write_like_family(&part->write, part->family);
    part->write.with_sequences = false;
    hfile_buffer_init(&part->row, &hfile_default_allocator);
    return PETAL_OK;
}

static enum petal_status
write_cells(struct part *part, petal_error *error)
{
    struct outgoing outgoing;
    petal_hfile_cell cell;
    bool more = true, goes_on = true;
    enum petal_status status =
        outgoing_open(&outgoing, part->plan->db, part->plan->table, part->family, part->from,
                      part->to, part->plan->snapshot, part->plan->options.visible_only, error);

    if (status != PETAL_OK)
        return status;
    while (status == PETAL_OK && more && goes_on) {
        status = outgoing_next(&outgoing, &cell, &more, error);
        if (status == PETAL_OK && more)
            status = write_cell(part, &cell, error);
        if (status == PETAL_OK && more)
            goes_on = goes_on_after(part, &cell);
    }
    if (status == PETAL_OK && goes_on)
        status = finish_file(part, error);
    if (part->is_open)
        out_file_abandon(&part->file);
    part->counts.moved_markers = outgoing.moved_markers;
    part->counts.left_markers = outgoing.left_markers;
    part->counts.left_puts = outgoing.left_puts;
    outgoing_close(&outgoing);
    return status;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static size_t
region_count(const struct export_plan *plan)
{
    return plan->options.split_key_count + 1;
}

size_t
export_part_count(const struct export_plan *plan)
{
    return petal_table_family_count(plan->table) * region_count(plan);
}

void
export_part_write(const struct export_plan *plan, size_t number, struct export_work *work)
{
    const petal_slice *keys = plan->options.split_keys;
    size_t region = number % region_count(plan);
    bool is_last = region == plan->options.split_key_count;
    struct part part = {.plan = plan, .work = work};
    petal_error error;
    enum petal_status status = PETAL_OK;

    assert(number < export_part_count(plan));
    part.family = petal_table_family_at(plan->table, number / region_count(plan));
    part.from = region == 0 ? hfile_slice(NULL, 0) : keys[region - 1];
    part.to = is_last ? hfile_slice(NULL, 0) : keys[region];
    /* No row is before a split key without bytes. */
    if (is_last || part.to.size > 0) {
        status = set_up(&part, &error);
        if (status == PETAL_OK)
            status = write_cells(&part, &error);
        hfile_buffer_free(&part.row);
    }
    export_work_end_part(work, &part.counts, status, &error);
}
