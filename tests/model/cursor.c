/* cursor.c -- cursors of the model; see model.h. All that they can give from a place on is
 * read at once. */
#include "tests/model/model.h"

#include "base/slice.h"

static void
read_from(struct model_cursor *cursor, const struct model_place *place)
{
    struct model_scan scan = cursor->scan;

    scan.row_limit = 0;
    cursor->answer.count = 0;
    cursor->next = 0;
    cursor->rows = 0;
    cursor->in_row = false;
    cursor->ended = cursor->read.versions < 0;
    if (!cursor->ended)
        model_scan_from(&cursor->model, &cursor->read, &scan, place, &cursor->answer);
}

void
model_cursor_open(struct model_cursor *cursor, const struct model *model,
                  const struct model_read *read, const struct model_scan *scan)
{
    model_cursor_close(cursor);
    cursor->open = true;
    cursor->read = *read;
    cursor->scan = *scan;
    model_copy(&cursor->model, model);
    read_from(cursor, NULL);
}

void
model_cursor_close(struct model_cursor *cursor)
{
    model_answer_free(&cursor->answer);
    model_free(&cursor->model);
    *cursor = (struct model_cursor){.open = false};
}

/* The next cell is of another row than the one before, or there is none. */
static bool
at_row_end(const struct model_cursor *cursor)
{
    const struct model_cell **cells = cursor->answer.cells;
    size_t next = cursor->next;

    return next == cursor->answer.count ||
           !slice_equal(model_slice(&cells[next]->row), model_slice(&cells[next - 1]->row));
}

const struct model_cell *
model_cursor_next(struct model_cursor *cursor)
{
    if (cursor->in_row && at_row_end(cursor)) {
        cursor->in_row = false;
        cursor->rows++;
    }
    if ((cursor->scan.row_limit > 0 && cursor->rows == cursor->scan.row_limit) ||
        cursor->next == cursor->answer.count)
        cursor->ended = true;
    if (cursor->ended)
        return NULL;
    cursor->in_row = true;
    return cursor->answer.cells[cursor->next++];
}

const struct model_cell **
model_cursor_next_row(struct model_cursor *cursor, uint64_t batch, size_t *count)
{
    const struct model_cell **first;

    *count = 0;
    if (model_cursor_next(cursor) == NULL)
        return NULL;
    first = &cursor->answer.cells[cursor->next - 1];
    for (*count = 1; *count != batch && !at_row_end(cursor); (*count)++)
        cursor->next++;
    return first;
}

void
model_cursor_seek(struct model_cursor *cursor, const struct model_place *place)
{
    read_from(cursor, place);
}
