/* whole_cells.c -- see whole_cells.h. */
#include "engine/check/whole_cells.h"

#include "base/checksum.h"

#include <assert.h>
#include <inttypes.h>

/* Little: all files of a family are read at the same time. */
#define WINDOW_BYTES ((size_t)64 << 10)

/* `loses`: cells of the file may be lost by it. */
static void
tell(struct whole_cells *cells, const petal_error *error, uint64_t bytes,
     const struct sst_rows *rows, bool loses)
{
    petal_fault fault = plan_fault_of(cells->table, cells->family, error);

    if (loses) {
        cells->lost = true;
        cells->losses = checksum_at(cells->losses, cells->shown, &bytes, sizeof bytes);
    }
    if (cells->again && (!loses || cells->file->lost))
        return;
    fault.bytes = bytes;
    check_place_add_rows(&fault, rows);
    check_place_tell(cells->plan->place, &fault);
}

/* At the end: only this count reveals a file that was cut off between two blocks. */
static void
note_missing(struct whole_cells *cells)
{
    const struct file_facts *facts = sst_walk_facts(cells->walk);
    const char *path = sst_walk_path(cells->walk);
    uint64_t all = facts != NULL ? facts->cells : cells->file->cells;
    petal_error error;

    if (cells->shown >= all || cells->lost)
        return;
    error_corrupt(&error, path, 0, "%s: %" PRIu64 " of its %" PRIu64 " cells are not there", path,
                  all - cells->shown, all);
    tell(cells, &error, 0,
         &(struct sst_rows){cells->last.is_kept, false, cells->last.cell.row, {NULL, 0}}, true);
}

/* ---- blocks ---- */

/* Damage outside of data blocks costs no cells, but is told as well. */
static enum petal_status
next_block(struct whole_cells *cells, petal_error *error)
{
    struct place *place = cells->plan->place;
    struct sst_walk_step step;
    enum petal_status status;

    cells->in_block = false;
    for (;;) {
        status = sst_walk_next(cells->walk, &step, error);
        if (status == PETAL_OK && step.event == SST_WALK_END)
            note_missing(cells);
        if (status != PETAL_OK || step.event == SST_WALK_END)
            return status;
        if (!check_place_go_on(place, step.bytes))
            return check_place_given_up(error);
        if (step.event == SST_WALK_DAMAGE) {
            tell(cells, &step.cause, step.bytes, &step.rows, step.data_blocks > 0);
            continue;
        }
        if (step.kind != BLOCK_DATA)
            continue;
        if (!cells->again)
            place->counts->data_blocks++;
        if (data_block_cursor_attach(&cells->cursor, step.memory, step.raw_bytes) != PETAL_OK)
            return error_no_memory(error);
        cells->in_block = true;
        return PETAL_OK;
    }
}

/* ---- order ---- */

static void
tell_order(struct whole_cells *cells, const struct cell *cell)
{
    const char *path = sst_walk_path(cells->walk);
    petal_error error;
    char row[80];

    error_corrupt(&error, path, 0, "%s: cells from row %s on are not in order", path,
                  error_quote(cell->row, row, sizeof row));
    tell(cells, &error, 0, &(struct sst_rows){true, false, cell->row, {NULL, 0}}, true);
}

/* Show the cell if it sorts after the last one; otherwise skip the rest of its block. */
static enum petal_status
show(struct whole_cells *cells, struct cell cell, petal_error *error)
{
    uint64_t shift = cells->file->shift;
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK) {
        bool has_sequence = cell.sequence < CELL_SEQUENCE_END - shift;

        cell.sequence += shift;
        if (has_sequence && (!cells->last.is_kept || cell_compare(&cells->last.cell, &cell) < 0)) {
            cells->iter.cell = cell;
            cells->iter.valid = true;
            cells->shown++;
            return kept_cell_keep(&cells->last, cells->plan->place->env.allocator, &cell)
                       ? PETAL_OK
                       : error_no_memory(error);
        }
        tell_order(cells, &cell);
        status = next_block(cells, error);
        if (status != PETAL_OK || !cells->in_block)
            return status;
        data_block_cursor_first(&cells->cursor, &cell);
    }
    return status;
}

static enum petal_status
show_next_block(struct whole_cells *cells, petal_error *error)
{
    struct cell cell;
    enum petal_status status = next_block(cells, error);

    cells->iter.valid = false;
    if (status != PETAL_OK || !cells->in_block)
        return status;
    data_block_cursor_first(&cells->cursor, &cell);
    return show(cells, cell, error);
}

/* ---- the iterator ---- */

static enum petal_status
step(struct whole_cells *cells, petal_error *error)
{
    struct cell cell = cells->iter.cell;

    assert(cells->iter.valid && cells->in_block);
    cells->iter.valid = false;
    if (!data_block_cursor_next(&cells->cursor, &cell))
        return show_next_block(cells, error);
    return show(cells, cell, error);
}

/* Is the row taken, which is not before the one that was asked about last? */
static bool
takes_row(struct whole_cells *cells, petal_slice row)
{
    if (!cells->has_taken ||
        (cells->taken_end.size > 0 && slice_compare(row, cells->taken_end) >= 0))
        cells->takes = plan_takes_row(cells->plan, cells->file, row, &cells->taken_end);
    cells->has_taken = true;
    return cells->takes;
}

/* Go on to a cell of a row that is taken. */
static enum petal_status
pass_others(struct whole_cells *cells, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && cells->iter.valid && !takes_row(cells, cells->iter.cell.row))
        status = step(cells, error);
    return status;
}

static enum petal_status
whole_cells_first(struct cell_iter *iter, petal_error *error)
{
    struct whole_cells *cells = (struct whole_cells *)iter;
    enum petal_status status = PETAL_OK;

    assert(!cells->last.is_kept);
    iter->valid = false;
    if (cells->walk != NULL)
        status = show_next_block(cells, error);
    return status == PETAL_OK ? pass_others(cells, error) : status;
}

static enum petal_status
whole_cells_next(struct cell_iter *iter, petal_error *error)
{
    struct whole_cells *cells = (struct whole_cells *)iter;
    enum petal_status status = step(cells, error);

    return status == PETAL_OK ? pass_others(cells, error) : status;
}

static const struct cell_iter_ops ops = {.seek_first = whole_cells_first, .next = whole_cells_next};

static enum petal_status
tell_unreadable(struct whole_cells *cells, const char *path, const petal_error *cause,
                uint64_t bytes)
{
    petal_error named = *cause;

    if (cause->status == PETAL_IO)
        error_corrupt(&named, path, 0, "%s cannot be read: %s", path, cause->text);
    tell(cells, &named, bytes, NULL, true);
    return PETAL_OK;
}

enum petal_status
whole_cells_open(struct whole_cells *cells, const struct plan *plan, const struct plan_table *table,
                 const struct plan_family *family, const struct plan_file *file, bool again,
                 petal_error *error)
{
    struct place *place = plan->place;
    const struct place_file *there = check_place_find(place, FILENAME_STORE_FILE, file->number);
    const struct sst_walk_options options = {
        .file_identity = file->identity, .pool = &place->pool, .window_bytes = WINDOW_BYTES};
    char path[PETAL_PATH_BYTES];
    petal_error cause;
    enum petal_status status;

    *cells = (struct whole_cells){.iter.ops = &ops,
                                  .plan = plan,
                                  .table = table,
                                  .family = family,
                                  .file = file,
                                  .again = again};
    data_block_cursor_init(&cells->cursor, place->env.allocator);
    filename_store_file(path, place->directory.path, file->number);
    if (!again)
        place->counts->store_files++;
    if (there == NULL) {
        error_corrupt(&cause, path, 0, "%s is missing", path);
        return tell_unreadable(cells, path, &cause, 0);
    }
    status = sst_walk_open(&cells->walk, &place->directory, path, &options, &cause);
    if (status != PETAL_OK && check_place_wants(&cause, error))
        return status;
    if (status != PETAL_OK)
        return tell_unreadable(cells, path, &cause, there->bytes);
    if (sst_walk_reader(cells->walk, &cause) == NULL)
        tell(cells, &cause, 0, NULL, false);
    return PETAL_OK;
}

void
whole_cells_close(struct whole_cells *cells)
{
    if (cells->plan == NULL)
        return;
    data_block_cursor_fini(&cells->cursor);
    sst_walk_close(cells->walk);
    kept_cell_fini(&cells->last, cells->plan->place->env.allocator);
}
