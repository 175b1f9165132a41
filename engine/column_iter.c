/* column_iter.c -- see column_iter.h. */
#include "engine/column_iter.h"

#include "base/error.h"
#include "bloom/hash.h"

#include <assert.h>

static petal_slice
row_of(const struct column_iter *columns)
{
    return slice_make(columns->row, columns->row_bytes);
}

/* Show the source's cell as it stands. */
static void
show(struct column_iter *columns)
{
    columns->iter.cell = columns->source->cell;
    columns->iter.pending = columns->source->pending;
    columns->iter.valid = true;
    columns->before_row = false;
}

/* Show the place of the source's cell, the first of its row: the row's named cells, if it has any, are not before it. */
static void
show_place(struct column_iter *columns)
{
    show(columns);
    columns->iter.pending = true;
    columns->before_row = true;
}

/* Begin with the row that the source stands at. */
static enum petal_status
enter_row(struct column_iter *columns)
{
    petal_slice row = columns->source->cell.row;

    if (!mem_grow_array(columns->allocator, &columns->row, &columns->row_capacity, 0, row.size + 1,
                        1))
        return PETAL_NO_MEMORY;
    memcpy(columns->row, row.data, row.size);
    columns->row[row.size] = 0; /* row and this byte: the first possible row behind it */
    columns->row_bytes = row.size;
    if (columns->reader != NULL)
        columns->row_hash = bloom_hash_row(columns->salt, row.data, row.size);
    columns->column = 0;
    columns->in_family_markers = cell_is_family_marker(columns->source->cell.type);
    return PETAL_OK;
}

/* The place of the column at hand. */
static enum petal_status
column_key(struct column_iter *columns, struct cell_key *key)
{
    petal_slice qualifier = columns->qualifiers[columns->column];

    if (!mem_grow_array(columns->allocator, &columns->key, &columns->key_capacity, 0,
                        cell_key_bound(columns->row_bytes, qualifier.size), 1))
        return PETAL_NO_MEMORY;
    cell_key_make(key, columns->key, row_of(columns), qualifier, false, INT64_MAX,
                  CELL_SEQUENCE_MAX);
    return PETAL_OK;
}

static bool
filter_rules_out(struct column_iter *columns, const struct cell_key *key)
{
    petal_slice qualifier = key->qualifier;
    unsigned slot;
    bool may_contain;

    if (columns->reader == NULL)
        return false;
    slot = epoch_enter(columns->epoch);
    may_contain = sst_reader_may_contain_column(
        columns->reader, key, bloom_hash_column(columns->row_hash, qualifier.data, qualifier.size),
        &columns->context);
    epoch_leave(columns->epoch, slot);
    columns->seeks_saved += !may_contain;
    return !may_contain;
}

static bool
in_row(const struct column_iter *columns)
{
    return columns->source->valid && slice_equal(columns->source->cell.row, row_of(columns));
}

/* The source stands at the column at hand of the row at hand. */
static bool
at_column(const struct column_iter *columns)
{
    const struct cell_iter *source = columns->source;

    return source->valid && !cell_is_family_marker(source->cell.type) &&
           slice_equal(source->cell.qualifier, columns->qualifiers[columns->column]) &&
           slice_equal(source->cell.row, row_of(columns));
}

/* Seek the columns from the one at hand on; *found says whether the source stands at one of them. */
static enum petal_status
seek_columns(struct column_iter *columns, bool *found, petal_error *error)
{
    for (*found = false; columns->column < columns->qualifier_count; columns->column++) {
        struct cell_key key;
        enum petal_status status;

        if (column_key(columns, &key) != PETAL_OK)
            return error_no_memory(error);
        if (filter_rules_out(columns, &key))
            continue;
        /* The source may stand behind the place already, at this column or a later one. */
        if (columns->source->valid && cell_compare_key(&columns->source->cell, &key) < 0) {
            status = columns->source->ops->seek(columns->source, &key, error);
            if (status != PETAL_OK)
                return status;
        }
        if (at_column(columns)) {
            *found = true;
            return PETAL_OK;
        }
        if (!in_row(columns))
            columns->column = columns->qualifier_count - 1; /* the row is over */
    }
    return PETAL_OK;
}

/* Go behind the row at hand, if the source is not there yet: a few steps, then a seek. A step that would read a block is left to
 * the seek, which reads the row's last one only. */
static enum petal_status
leave_row(struct column_iter *columns, petal_error *error)
{
    struct cell_key key;

    for (int step = 0; step < STEPS_BEFORE_SEEK && in_row(columns) && !columns->source->pending;
         step++) {
        enum petal_status status = columns->source->ops->next(columns->source, error);

        if (status != PETAL_OK)
            return status;
    }
    if (!in_row(columns))
        return PETAL_OK;
    if (!mem_grow_array(columns->allocator, &columns->key, &columns->key_capacity, 0,
                        cell_key_bound(columns->row_bytes + 1, 0), 1))
        return error_no_memory(error);
    cell_key_make(&key, columns->key, slice_make(columns->row, columns->row_bytes + 1),
                  slice_make(NULL, 0), true, INT64_MAX, CELL_SEQUENCE_MAX);
    return columns->source->ops->seek(columns->source, &key, error);
}

/* The source stands at a row that is wanted. */
static bool
at_wanted_row(const struct column_iter *columns)
{
    const struct scan_bounds *bounds = columns->bounds;

    return columns->source->valid && (bounds == NULL || bounds->reversed ||
                                      !scan_bounds_behind(bounds, columns->source->cell.row));
}

/* In the row at hand, before its columns: show the next cell that belongs here. Without one, go behind the row. */
static enum petal_status
find_in_row(struct column_iter *columns, petal_error *error)
{
    bool found;
    enum petal_status status = seek_columns(columns, &found, error);

    if (status == PETAL_OK && found) {
        show(columns);
        return PETAL_OK;
    }
    return status == PETAL_OK ? leave_row(columns, error) : status;
}

/* From where the source stands at a new row, or at the end: show the next cell that belongs here, or its row. */
static enum petal_status
find_row(struct column_iter *columns, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    columns->iter.valid = false;
    while (status == PETAL_OK && !columns->iter.valid && at_wanted_row(columns)) {
        if (enter_row(columns) != PETAL_OK)
            return error_no_memory(error);
        if (columns->in_family_markers)
            show(columns);
        else if (columns->lazy)
            show_place(columns);
        else
            status = find_in_row(columns, error);
    }
    return status;
}

/* From a place before the row at hand to the cell that belongs here, or to the next row's place. */
static enum petal_status
leave_place(struct column_iter *columns, petal_error *error)
{
    enum petal_status status;

    columns->iter.valid = false;
    columns->before_row = false;
    status = find_in_row(columns, error);
    return status == PETAL_OK && !columns->iter.valid ? find_row(columns, error) : status;
}

/* Go on in the row at hand behind what was shown. */
static enum petal_status
go_on(struct column_iter *columns, petal_error *error)
{
    enum petal_status status;

    if (columns->in_family_markers) {
        if (columns->source->valid && cell_is_family_marker(columns->source->cell.type) &&
            slice_equal(columns->source->cell.row, row_of(columns))) {
            show(columns);
            return PETAL_OK;
        }
        columns->in_family_markers = false;
    } else if (at_column(columns)) {
        show(columns);
        return PETAL_OK;
    } else {
        columns->column++;
    }
    status = find_in_row(columns, error);
    return status == PETAL_OK && !columns->iter.valid ? find_row(columns, error) : status;
}

static enum petal_status
columns_next(struct cell_iter *iter, petal_error *error)
{
    struct column_iter *columns = (struct column_iter *)iter;
    enum petal_status status;

    assert(iter->valid);
    if (columns->before_row)
        return leave_place(columns, error);
    iter->valid = false;
    status = columns->source->ops->next(columns->source, error);
    return status == PETAL_OK ? go_on(columns, error) : status;
}

static enum petal_status
columns_seek_first(struct cell_iter *iter, petal_error *error)
{
    struct column_iter *columns = (struct column_iter *)iter;
    enum petal_status status = columns->source->ops->seek_first(columns->source, error);

    iter->valid = false;
    return status == PETAL_OK ? find_row(columns, error) : status;
}

/* A place inside a row: start with its row, then step over what lies before the place. */
static enum petal_status
columns_seek(struct cell_iter *iter, const struct cell_key *key, petal_error *error)
{
    struct column_iter *columns = (struct column_iter *)iter;
    enum petal_status status;

    iter->valid = false;
    status = columns->source->ops->seek(columns->source, key, error);
    if (status == PETAL_OK)
        status = find_row(columns, error);
    while (status == PETAL_OK && iter->valid && cell_compare_key(&iter->cell, key) < 0)
        status = columns_next(iter, error);
    return status;
}

/* ---- backwards ---- */

/* Number of named columns whose qualifier is below this one. */
static size_t
columns_below(const struct column_iter *columns, petal_slice qualifier)
{
    size_t low = 0, high = columns->qualifier_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (slice_compare(columns->qualifiers[middle], qualifier) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* From a column of the row at hand before which `count` named ones lie, send the source back: behind the last of those
 * that may be there, else to the last cell before all columns, be it a family marker or in a row before. */
static enum petal_status
seek_columns_before(struct column_iter *columns, size_t count, petal_error *error)
{
    struct cell_iter *source = columns->source;
    struct cell_key key;

    columns->column = count;
    while (columns->column > 0) {
        columns->column--;
        if (column_key(columns, &key) != PETAL_OK)
            return error_no_memory(error);
        if (filter_rules_out(columns, &key))
            continue;
        /* The place behind all cells of the column: no timestamp is so small. */
        cell_key_make(&key, columns->key, row_of(columns), key.qualifier, false, INT64_MIN, 0);
        return source->ops->seek_before(source, &key, error);
    }
    if (!mem_grow_array(columns->allocator, &columns->key, &columns->key_capacity, 0,
                        cell_key_bound(columns->row_bytes, 0), 1))
        return error_no_memory(error);
    cell_key_make(&key, columns->key, row_of(columns), slice_make(NULL, 0), false, INT64_MAX,
                  CELL_SEQUENCE_MAX);
    return source->ops->seek_before(source, &key, error);
}

/* The source's last cell before the place, or the one before that, until one belongs here. */
static enum petal_status
columns_seek_before(struct cell_iter *iter, const struct cell_key *place, petal_error *error)
{
    struct column_iter *columns = (struct column_iter *)iter;
    struct cell_iter *source = columns->source;
    enum petal_status status = source->ops->seek_before(source, place, error);

    iter->valid = false;
    while (status == PETAL_OK && source->valid) {
        size_t below;

        if (enter_row(columns) != PETAL_OK)
            return error_no_memory(error);
        below = columns_below(columns, source->cell.qualifier);
        if (!columns->in_family_markers)
            columns->column = below;
        if (columns->in_family_markers ||
            (below < columns->qualifier_count && at_column(columns))) {
            show(columns);
            return PETAL_OK;
        }
        status = seek_columns_before(columns, below, error);
    }
    return status;
}

static enum petal_status
columns_load(struct cell_iter *iter, petal_error *error)
{
    struct column_iter *columns = (struct column_iter *)iter;
    enum petal_status status;

    if (columns->before_row)
        return leave_place(columns, error);
    iter->valid = false;
    status = columns->source->ops->load(columns->source, error);
    if (status == PETAL_OK)
        show(columns);
    return status;
}

static void
columns_close(struct cell_iter *iter)
{
    struct column_iter *columns = (struct column_iter *)iter;

    mem_free(columns->allocator, columns->row, columns->row_capacity);
    mem_free(columns->allocator, columns->key, columns->key_capacity);
    columns->row = NULL;
    columns->key = NULL;
    iter->valid = false;
}

static const struct cell_iter_ops columns_ops = {
    .seek = columns_seek,
    .seek_first = columns_seek_first,
    .seek_before = columns_seek_before,
    .next = columns_next,
    .load = columns_load,
    .close = columns_close,
};

void
column_iter_init(struct column_iter *columns, const petal_allocator *allocator,
                 struct cell_iter *source, const petal_slice *qualifiers, size_t count,
                 const struct scan_bounds *bounds)
{
    *columns = (struct column_iter){
        .iter.ops = &columns_ops,
        .source = source,
        .allocator = allocator,
        .qualifiers = qualifiers,
        .qualifier_count = count,
        .bounds = bounds,
    };
}

void
column_iter_use_filter(struct column_iter *columns, struct sst_reader *reader, struct epoch *epoch,
                       const struct read_context *context)
{
    columns->reader = reader;
    columns->epoch = epoch;
    columns->salt = sst_reader_facts(reader)->salt;
    columns->context = *context;
}
