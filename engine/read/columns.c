/* columns.c -- see engine/read/columns.h. */
#include "engine/read/columns.h"

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
    assert(columns->source->valid);
    columns->iter.cell = columns->source->cell;
    columns->iter.pending = columns->source->pending;
    columns->iter.valid = true;
    columns->before_row = false;
}

/* Show the place of the source's cell, the first of its row: the row's named cells, if it has
 * any, are not before it. */
static void
show_place(struct column_iter *columns)
{
    show(columns);
    columns->iter.pending = true;
    columns->before_row = true;
}

static enum petal_status
copy_row(struct column_iter *columns, petal_slice row)
{
    if (!mem_grow_array(columns->allocator, &columns->row, &columns->row_capacity, 0, row.size + 1,
                        1))
        return PETAL_NO_MEMORY;
    memcpy(columns->row, row.data, row.size);
    columns->row[row.size] = 0; /* row and this byte: the first possible row after it */
    columns->row_bytes = row.size;
    return PETAL_OK;
}

/* Begin with the row that the source stands at. */
static enum petal_status
enter_row(struct column_iter *columns)
{
    petal_slice row = columns->source->cell.row;

    assert(columns->source->valid);
    if (copy_row(columns, row) != PETAL_OK)
        return PETAL_NO_MEMORY;
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

    assert(columns->column < columns->qualifier_count);
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
    struct epoch_stay *stay = &columns->stay;
    bool may_contain;

    if (columns->reader == NULL)
        return false;
    assert(columns->column < columns->qualifier_count);
    stay->slot = epoch_enter(stay->epoch);
    may_contain = sst_reader_may_contain_column(
        columns->reader, key, bloom_hash_column(columns->row_hash, qualifier.data, qualifier.size),
        columns->absent_saves, &columns->context);
    epoch_leave(stay->epoch, stay->slot);
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

/* Go on to the first named column that is not before the qualifier; true: it is the one. */
static bool
find_column(struct column_iter *columns, petal_slice qualifier)
{
    size_t high = columns->qualifier_count;
    int order = -1;

    if (columns->column < high)
        order = slice_compare(columns->qualifiers[columns->column], qualifier);
    while (order < 0 && columns->column < high) {
        size_t middle = columns->column + (high - columns->column) / 2;

        if (slice_compare(columns->qualifiers[middle], qualifier) < 0)
            columns->column = middle + 1;
        else
            high = middle;
    }
    return order < 0 ? columns->column < columns->qualifier_count &&
                           slice_equal(columns->qualifiers[columns->column], qualifier)
                     : order == 0;
}

/* So many answers of the filter in a row cost about what a seek does. */
#define MOST_QUESTIONS 8

/* From the column at hand on pass over those that the filter rules out, as far as asking pays; *key
 * is the place of the column at hand then, if there is one. */
static enum petal_status
pass_absent_columns(struct column_iter *columns, struct cell_key *key)
{
    for (unsigned asked = 0; columns->column < columns->qualifier_count; asked++) {
        if (column_key(columns, key) != PETAL_OK)
            return PETAL_NO_MEMORY;
        if (asked == MOST_QUESTIONS || !filter_rules_out(columns, key))
            break;
        columns->column++;
    }
    return PETAL_OK;
}

/* Seek the columns from the one at hand on; *found says whether the source stands at one of
 * them. */
static enum petal_status
seek_columns(struct column_iter *columns, bool *found, petal_error *error)
{
    struct cell_iter *source = columns->source;

    *found = false;
    while (in_row(columns)) {
        struct cell_key key;
        enum petal_status status;

        *found = !cell_is_family_marker(source->cell.type) &&
                 find_column(columns, source->cell.qualifier);
        if (*found)
            return PETAL_OK;
        if (pass_absent_columns(columns, &key) != PETAL_OK)
            return error_no_memory(error);
        if (columns->column == columns->qualifier_count)
            return PETAL_OK;
        status = source->ops->seek(source, &key, error);
        if (status != PETAL_OK)
            return status;
    }
    columns->column = columns->qualifier_count;
    return PETAL_OK;
}

/* Go after the row at hand, if the source is not there yet: a few steps, then a seek. A step
 * that would read a block is left to the seek, which reads the row's last one only. */
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

/* The source stands at a row that is wanted: of a reversed scan at the one sought. */
static bool
at_wanted_row(const struct column_iter *columns)
{
    const struct scan_bounds *bounds = columns->bounds;

    if (columns->reversed)
        return in_row(columns);
    return columns->source->valid &&
           (bounds == NULL || !scan_bounds_behind(bounds, columns->source->cell.row));
}

/* In the row at hand, before its columns: show the next cell that belongs here. Without one, go
 * after the row, but in a reversed scan. */
static enum petal_status
find_in_row(struct column_iter *columns, petal_error *error)
{
    bool found;
    enum petal_status status = seek_columns(columns, &found, error);

    if (status == PETAL_OK && found) {
        show(columns);
        return PETAL_OK;
    }
    return status == PETAL_OK && !columns->reversed ? leave_row(columns, error) : status;
}

/* From where the source stands at a new row, or at the end: show the next cell that belongs
 * here, or its row. */
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
        if (columns->reversed)
            break;
    }
    return status;
}

/* In the row at hand, or in those after it, show the next cell that belongs here. */
static enum petal_status
find_on(struct column_iter *columns, petal_error *error)
{
    enum petal_status status = find_in_row(columns, error);

    return status == PETAL_OK && !columns->iter.valid && !columns->reversed
               ? find_row(columns, error)
               : status;
}

/* From a place before the row at hand to the cell that belongs here, or to the next row's place. */
static enum petal_status
leave_place(struct column_iter *columns, petal_error *error)
{
    assert(columns->before_row);
    columns->iter.valid = false;
    columns->before_row = false;
    return find_on(columns, error);
}

/* Go on in the row at hand after what was shown. */
static enum petal_status
go_on(struct column_iter *columns, petal_error *error)
{
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
    return find_on(columns, error);
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

/* To the first named cell of a row that has no family markers; the row's beginning need not be read
 * for it. */
static enum petal_status
seek_first_column(struct column_iter *columns, petal_error *error)
{
    struct cell_iter *source = columns->source;
    petal_slice row = row_of(columns);
    struct cell_key key;
    enum petal_status status;

    assert(columns->reversed && columns->no_family_markers);
    if (columns->reader != NULL)
        columns->row_hash = bloom_hash_row(columns->salt, row.data, row.size);
    columns->column = 0;
    columns->in_family_markers = false;
    if (pass_absent_columns(columns, &key) != PETAL_OK)
        return error_no_memory(error);
    if (columns->column == columns->qualifier_count)
        return PETAL_OK;
    status = source->ops->seek(source, &key, error);
    return status == PETAL_OK ? find_in_row(columns, error) : status;
}

/* A place inside a row: start with its row, then step over what lies before the place. */
static enum petal_status
columns_seek(struct cell_iter *iter, const struct cell_key *key, petal_error *error)
{
    struct column_iter *columns = (struct column_iter *)iter;
    enum petal_status status;

    iter->valid = false;
    if (columns->reversed && copy_row(columns, key->row) != PETAL_OK)
        return error_no_memory(error);
    if (columns->reversed && columns->no_family_markers && key->family_class)
        return seek_first_column(columns, error);
    status = columns->source->ops->seek(columns->source, key, error);
    if (status == PETAL_OK)
        status = find_row(columns, error);
    while (status == PETAL_OK && iter->valid && cell_compare_key(&iter->cell, key) < 0)
        status = columns_next(iter, error);
    return status;
}

/* The source's last cell before the place, for its row. */
static enum petal_status
columns_seek_before(struct cell_iter *iter, const struct cell_key *place, petal_error *error)
{
    struct column_iter *columns = (struct column_iter *)iter;
    enum petal_status status;

    assert(columns->reversed);
    iter->valid = false;
    status = columns->source->ops->seek_before(columns->source, place, error);
    if (status == PETAL_OK && columns->source->valid)
        show(columns);
    return status;
}

static enum petal_status
columns_load(struct cell_iter *iter, petal_error *error)
{
    struct column_iter *columns = (struct column_iter *)iter;
    enum petal_status status;

    assert(iter->valid && iter->pending);
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
    assert(count > 0 && qualifiers != NULL);
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
                       const struct read_context *context, uint32_t absent_saves)
{
    columns->absent_saves = absent_saves;
    columns->reader = reader;
    columns->stay = (struct epoch_stay){.epoch = epoch};
    columns->salt = sst_reader_facts(reader)->salt;
    columns->context = *context;
    columns->context.stay = &columns->stay;
}
