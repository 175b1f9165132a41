/* row_collect.c -- see row_collect.h. */
#include "engine/row_collect.h"

#include <assert.h>

void
row_collect_init(struct row_collect *collect, const petal_allocator *allocator)
{
    *collect = (struct row_collect){.allocator = allocator};
    visibility_init(&collect->visibility, allocator, 0, 0, 0, 1);
}

void
row_collect_fini(struct row_collect *collect)
{
    mem_free(collect->allocator, collect->columns,
             collect->column_capacity * sizeof *collect->columns);
    mem_free(collect->allocator, collect->cells, collect->capacity * sizeof *collect->cells);
    mem_free(collect->allocator, collect->keys, collect->key_capacity);
    mem_free(collect->allocator, collect->qualifiers, collect->qualifier_capacity);
    mem_free(collect->allocator, collect->shown, collect->shown_capacity * sizeof *collect->shown);
    visibility_fini(&collect->visibility);
}

static bool
grow(const struct row_collect *collect, void *array_address, size_t *capacity, size_t used,
     size_t need, size_t element_size)
{
    void *array;
    bool grown;

    memcpy(&array, array_address, sizeof array);
    grown = mem_grow(collect->allocator, &array, capacity, used, need, element_size);
    memcpy(array_address, &array, sizeof array);
    return grown;
}

/* Insert into the sorted columns; one that is there already is left out. */
static void
insert_column(struct row_collect *collect, petal_slice qualifier)
{
    size_t at = collect->column_count;

    while (at > 0) {
        int order = slice_compare(collect->columns[at - 1].key.qualifier, qualifier);

        if (order == 0)
            return;
        if (order < 0)
            break;
        at--;
    }
    memmove(&collect->columns[at + 1], &collect->columns[at],
            (collect->column_count - at) * sizeof *collect->columns);
    collect->columns[at] = (struct collect_column){.key.qualifier = qualifier};
    collect->column_count++;
}

enum petal_status
row_collect_start(struct row_collect *collect, petal_slice row, uint64_t row_hash,
                  const petal_slice *qualifiers, size_t count)
{
    size_t key_bytes = cell_key_bound(row.size, 0);
    uint8_t *to;

    for (size_t i = 0; i < count; i++)
        key_bytes += cell_key_bound(row.size, qualifiers[i].size);
    if (!grow(collect, &collect->keys, &collect->key_capacity, 0, key_bytes, 1) ||
        !grow(collect, &collect->columns, &collect->column_capacity, 0, count,
              sizeof *collect->columns))
        return PETAL_NO_MEMORY;
    collect->row = row;
    collect->row_hash = row_hash;
    collect->column_count = 0;
    for (size_t i = 0; i < count; i++)
        insert_column(collect, qualifiers[i]);
    to = collect->keys;
    cell_key_make(&collect->row_key, to, row, slice_make(NULL, 0), true, INT64_MAX,
                  CELL_SEQUENCE_MAX);
    to += collect->row_key.encoded.size;
    for (size_t i = 0; i < collect->column_count; i++) {
        struct collect_column *column = &collect->columns[i];

        cell_key_make(&column->key, to, row, column->key.qualifier, false, INT64_MAX,
                      CELL_SEQUENCE_MAX);
        column->asked = true;
        to += column->key.encoded.size;
    }
    collect->count = 0;
    collect->sources = 0;
    collect->has_family_delete = false;
    collect->qualifier_bytes = 0;
    collect->shown_count = 0;
    collect->hidden_count = 0;
    return PETAL_OK;
}

static enum petal_status
keep(struct row_collect *collect, const struct cell *cell, petal_slice qualifier, bool copy)
{
    struct collected_cell *kept;

    if (!grow(collect, &collect->cells, &collect->capacity, collect->count, collect->count + 1,
              sizeof *collect->cells))
        return PETAL_NO_MEMORY;
    kept = &collect->cells[collect->count];
    kept->cell = *cell;
    kept->cell.row = collect->row;
    kept->cell.qualifier = qualifier;
    kept->qualifier_offset = SIZE_MAX;
    if (copy && qualifier.size > 0) {
        if (!grow(collect, &collect->qualifiers, &collect->qualifier_capacity,
                  collect->qualifier_bytes, collect->qualifier_bytes + qualifier.size, 1))
            return PETAL_NO_MEMORY;
        memcpy(collect->qualifiers + collect->qualifier_bytes, qualifier.data, qualifier.size);
        kept->qualifier_offset = collect->qualifier_bytes;
        collect->qualifier_bytes += qualifier.size;
    }
    collect->count++;
    return PETAL_OK;
}

static void
raise_point(bool *has, struct version_point *greatest, struct version_point point)
{
    if (!*has || version_point_below(*greatest, point))
        *greatest = point;
    *has = true;
}

static bool
at_row(const struct row_collect *collect, const struct cell_iter *source)
{
    return source->valid && slice_equal(source->cell.row, collect->row);
}

/* A source may know only the place of its cell (cell_iter.h); fetch the rest now that the place is of interest. */
static enum petal_status
complete(struct cell_iter *source, petal_error *error)
{
    return source->pending ? source->ops->load(source, error) : PETAL_OK;
}

/* Take the row's family markers; the source is positioned at its first cell. */
static enum petal_status
take_family_markers(struct row_collect *collect, struct cell_iter *source, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && at_row(collect, source) &&
           cell_is_family_marker(source->cell.type)) {
        const struct cell *cell = &source->cell;

        status = complete(source, error);
        if (status == PETAL_OK && cell->sequence <= collect->read_point) {
            status = keep(collect, cell, slice_make(NULL, 0), false);
            if (status == PETAL_OK && cell->type == PETAL_DELETE_FAMILY)
                raise_point(&collect->has_family_delete, &collect->family_delete,
                            (struct version_point){cell->timestamp, cell->sequence});
        }
        if (status == PETAL_OK)
            status = source->ops->next(source, error);
    }
    return status;
}

enum cell_use { USE_KEEP, USE_PASS, USE_LAST };

/* What a column's cell is good for: KEEP it, PASS over it, or keep it as the LAST one of its column in this source. */
static enum cell_use
use_of(const struct row_collect *collect, const struct cell *cell)
{
    if (cell->sequence > collect->read_point)
        return USE_PASS;
    if (cell->type == PETAL_DELETE_COLUMN)
        return USE_LAST; /* all that follows lies below it */
    if (cell->type != PETAL_PUT)
        return USE_KEEP;
    if (cell->timestamp >= collect->time_limit)
        return USE_PASS;
    return collect->every_version && cell->timestamp >= collect->time_min ? USE_KEEP : USE_LAST;
}

static enum petal_status
take_column(struct row_collect *collect, struct cell_iter *source, struct collect_column *column,
            petal_error *error)
{
    enum petal_status status = source->ops->seek(source, &column->key, error);

    while (status == PETAL_OK && at_row(collect, source) &&
           slice_equal(source->cell.qualifier, column->key.qualifier)) {
        const struct cell *cell = &source->cell;
        enum cell_use use;

        status = complete(source, error);
        if (status != PETAL_OK)
            break;
        use = use_of(collect, cell);
        if (use != USE_PASS && (cell->type != PETAL_PUT || cell->timestamp >= collect->time_min)) {
            struct version_point point = {cell->timestamp, cell->sequence};

            status = keep(collect, cell, column->key.qualifier, false);
            if (cell->type == PETAL_PUT)
                raise_point(&column->has_put, &column->put, point);
            else if (cell->type == PETAL_DELETE_COLUMN)
                raise_point(&column->has_delete, &column->column_delete, point);
        }
        if (use == USE_LAST || status != PETAL_OK)
            break;
        status = source->ops->next(source, error);
    }
    return status;
}

/* Take all columns of the row; the source is positioned behind the family markers. */
static enum petal_status
take_row(struct row_collect *collect, struct cell_iter *source, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    size_t done_column = SIZE_MAX; /* index of the kept cell whose column needs no more */

    while (status == PETAL_OK && at_row(collect, source)) {
        const struct cell *cell = &source->cell;
        enum cell_use use;
        bool done = false;

        status = complete(source, error);
        if (status != PETAL_OK)
            break;
        use = use_of(collect, cell);
        if (done_column != SIZE_MAX) {
            const struct collected_cell *last = &collect->cells[done_column];
            petal_slice qualifier = slice_make(
                last->cell.qualifier.size > 0 ? collect->qualifiers + last->qualifier_offset : NULL,
                last->cell.qualifier.size);

            done = slice_equal(cell->qualifier, qualifier);
        }
        if (!done) {
            done_column = SIZE_MAX;
            if (use != USE_PASS &&
                (cell->type != PETAL_PUT || cell->timestamp >= collect->time_min)) {
                status = keep(collect, cell, cell->qualifier, true);
                if (status == PETAL_OK && use == USE_LAST)
                    done_column = collect->count - 1;
            }
        }
        if (status == PETAL_OK)
            status = source->ops->next(source, error);
    }
    return status;
}

enum petal_status
row_collect_source(struct row_collect *collect, struct cell_iter *source, bool family_markers,
                   petal_error *error)
{
    enum petal_status status = PETAL_OK;
    size_t before = collect->count;

    if (family_markers || collect->column_count == 0)
        status = source->ops->seek(source, &collect->row_key, error);
    if (status == PETAL_OK && family_markers)
        status = take_family_markers(collect, source, error);
    if (status == PETAL_OK && collect->column_count == 0)
        status = take_row(collect, source, error);
    for (size_t i = 0; status == PETAL_OK && i < collect->column_count; i++) {
        if (collect->columns[i].asked)
            status = take_column(collect, source, &collect->columns[i], error);
    }
    if (status == PETAL_NO_MEMORY)
        error_no_memory(error);
    collect->sources += collect->count > before;
    return status;
}

bool
row_collect_column_settled(const struct row_collect *collect, const struct collect_column *column,
                           struct version_point point)
{
    if (collect->has_family_delete && version_point_below(point, collect->family_delete))
        return true;
    if (column->has_delete && version_point_below(point, column->column_delete))
        return true;
    if (!column->has_put || collect->every_version || !version_point_below(point, column->put))
        return false;
    /* The put settles only if it is alive. */
    return !(collect->has_family_delete &&
             version_point_below(column->put, collect->family_delete)) &&
           !(column->has_delete && version_point_below(column->put, column->column_delete));
}

bool
row_collect_settled(const struct row_collect *collect, struct version_point point)
{
    if (collect->column_count == 0)
        return collect->has_family_delete && version_point_below(point, collect->family_delete);
    for (size_t i = 0; i < collect->column_count; i++) {
        if (!row_collect_column_settled(collect, &collect->columns[i], point))
            return false;
    }
    return true;
}

/* ---- the finish ---- */

static void
sift_down(struct collected_cell *cells, size_t root, size_t count)
{
    for (;;) {
        size_t child = 2 * root + 1;
        struct collected_cell moved;

        if (child >= count)
            return;
        if (child + 1 < count && cell_compare(&cells[child].cell, &cells[child + 1].cell) < 0)
            child++;
        if (cell_compare(&cells[root].cell, &cells[child].cell) >= 0)
            return;
        moved = cells[root];
        cells[root] = cells[child];
        cells[child] = moved;
        root = child;
    }
}

/* Heapsort: in place, so that a get allocates nothing. */
static void
sort_cells(struct collected_cell *cells, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift_down(cells, i, count);
    for (size_t end = count; end-- > 1;) {
        struct collected_cell greatest = cells[0];

        cells[0] = cells[end];
        cells[end] = greatest;
        sift_down(cells, 0, end);
    }
}

enum petal_status
row_collect_finish(struct row_collect *collect)
{
    struct visibility *visibility = &collect->visibility;
    enum petal_status status = PETAL_OK;

    if (!grow(collect, &collect->shown, &collect->shown_capacity, 0, collect->count,
              sizeof *collect->shown))
        return PETAL_NO_MEMORY;
    for (size_t i = 0; i < collect->count; i++) {
        if (collect->cells[i].qualifier_offset != SIZE_MAX)
            collect->cells[i].cell.qualifier.data =
                collect->qualifiers + collect->cells[i].qualifier_offset;
    }
    if (collect->sources > 1)
        sort_cells(collect->cells, collect->count);
    visibility->read_point = collect->read_point;
    visibility->time_min = collect->time_min;
    visibility->time_limit = collect->time_limit;
    visibility_start_row(visibility);
    for (size_t i = 0; status == PETAL_OK && i < collect->count; i++) {
        enum visibility_verdict verdict;

        status = visibility_judge(visibility, &collect->cells[i].cell, &verdict);
        if (verdict == VISIBILITY_SHOW)
            collect->shown[collect->shown_count++] = &collect->cells[i].cell;
        else if (collect->cells[i].cell.type == PETAL_PUT)
            collect->hidden_count++;
    }
    return status;
}
