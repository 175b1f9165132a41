/* row_collect.c -- see row_collect.h. */
#include "engine/row_collect.h"

#include "engine/receipt.h"

#include <assert.h>

/* Of more versions than these it is not tracked whether they settle a column: then all sources are read. */
#define MOST_TRACKED_VERSIONS 64

void
row_collect_init(struct row_collect *collect, const petal_allocator *allocator)
{
    *collect = (struct row_collect){.allocator = allocator};
    visibility_init(&collect->visibility, allocator, &(struct visibility_rules){0});
}

void
row_collect_fini(struct row_collect *collect)
{
    mem_free(collect->allocator, collect->columns,
             collect->column_capacity * sizeof *collect->columns);
    mem_free(collect->allocator, collect->cells, collect->capacity * sizeof *collect->cells);
    mem_free(collect->allocator, collect->keys, collect->key_capacity);
    mem_free(collect->allocator, collect->points,
             collect->point_capacity * sizeof *collect->points);
    mem_free(collect->allocator, collect->qualifiers, collect->qualifier_capacity);
    mem_free(collect->allocator, collect->shown, collect->shown_capacity * sizeof *collect->shown);
    visibility_fini(&collect->visibility);
}

static void
sift_qualifier_down(struct collect_column *columns, size_t root, size_t count)
{
    petal_slice moved = columns[root].key.qualifier;

    for (;;) {
        size_t child = 2 * root + 1;

        if (child + 1 < count &&
            slice_compare(columns[child].key.qualifier, columns[child + 1].key.qualifier) < 0)
            child++;
        if (child >= count || slice_compare(moved, columns[child].key.qualifier) >= 0)
            break;
        columns[root].key.qualifier = columns[child].key.qualifier;
        root = child;
    }
    columns[root].key.qualifier = moved;
}

/* Heapsort, in place as that of the cells below. */
static void
sort_qualifiers(struct collect_column *columns, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift_qualifier_down(columns, i, count);
    for (size_t end = count; end-- > 1;) {
        petal_slice greatest = columns[0].key.qualifier;

        columns[0].key.qualifier = columns[end].key.qualifier;
        columns[end].key.qualifier = greatest;
        sift_qualifier_down(columns, 0, end);
    }
}

/* Set the columns: their qualifiers sorted, each once. */
static void
set_columns(struct row_collect *collect, const petal_slice *qualifiers, size_t count)
{
    struct collect_column *columns = collect->columns;
    bool ascending = true;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        columns[i].key.qualifier = qualifiers[i];
        ascending = ascending && (i == 0 || slice_compare(qualifiers[i - 1], qualifiers[i]) < 0);
    }
    collect->column_count = count;
    if (ascending)
        return;
    sort_qualifiers(columns, count);
    for (size_t i = 0; i < count; i++) {
        petal_slice qualifier = columns[i].key.qualifier;

        if (kept == 0 || !slice_equal(columns[kept - 1].key.qualifier, qualifier))
            columns[kept++].key.qualifier = qualifier;
    }
    collect->column_count = kept;
}

enum petal_status
row_collect_start(struct row_collect *collect, petal_slice row, uint64_t row_hash,
                  const petal_slice *qualifiers, size_t count, bool every_version)
{
    uint32_t versions = collect->visibility.rules.versions;
    size_t key_bytes = cell_key_bound(row.size, 0);
    uint8_t *to;

    collect->every_version = every_version;
    collect->markers_elsewhere = 0;
    collect->tracked = every_version || versions > MOST_TRACKED_VERSIONS ? 0 : versions;
    for (size_t i = 0; i < count; i++)
        key_bytes += cell_key_bound(row.size, qualifiers[i].size);
    if (!mem_grow_array(collect->allocator, &collect->keys, &collect->key_capacity, 0, key_bytes,
                        1) ||
        !mem_grow_array(collect->allocator, &collect->columns, &collect->column_capacity, 0, count,
                        sizeof *collect->columns) ||
        !mem_grow_array(collect->allocator, &collect->points, &collect->point_capacity, 0,
                        count * collect->tracked, sizeof *collect->points))
        return PETAL_NO_MEMORY;
    collect->row = row;
    collect->row_hash = row_hash;
    set_columns(collect, qualifiers, count);
    to = collect->keys;
    cell_key_make(&collect->row_key, to, row, slice_make(NULL, 0), true, INT64_MAX,
                  CELL_SEQUENCE_MAX);
    to += collect->row_key.encoded.size;
    for (size_t i = 0; i < collect->column_count; i++) {
        struct collect_column *column = &collect->columns[i];

        cell_key_of_column(&column->key, to, &collect->row_key, column->key.qualifier);
        column->asked = true;
        column->has_delete = false;
        column->put_count = 0;
        column->puts = collect->points + i * collect->tracked;
        to += column->key.encoded.size;
    }
    collect->count = 0;
    collect->sources = 0;
    collect->has_family_delete = false;
    collect->qualifier_bytes = 0;
    collect->shown_count = 0;
    return PETAL_OK;
}

static enum petal_status
keep(struct row_collect *collect, const struct cell *cell, petal_slice qualifier, bool copy)
{
    struct collected_cell *kept;

    if (!mem_grow_array(collect->allocator, &collect->cells, &collect->capacity, collect->count,
                        collect->count + 1, sizeof *collect->cells))
        return PETAL_NO_MEMORY;
    kept = &collect->cells[collect->count];
    kept->cell = *cell;
    kept->cell.row = collect->row;
    kept->cell.qualifier = qualifier;
    kept->qualifier_offset = SIZE_MAX;
    if (copy && qualifier.size > 0) {
        if (!mem_grow_array(collect->allocator, &collect->qualifiers, &collect->qualifier_capacity,
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

/* Put a version in its place among the greatest; of several at one timestamp the latest write stands for them. */
static void
track_put(const struct row_collect *collect, struct collect_column *column,
          struct version_point point)
{
    uint32_t at = column->put_count;

    while (at > 0 && column->puts[at - 1].timestamp < point.timestamp)
        at--;
    if (at > 0 && column->puts[at - 1].timestamp == point.timestamp) {
        if (column->puts[at - 1].sequence < point.sequence)
            column->puts[at - 1].sequence = point.sequence;
        return;
    }
    if (at == collect->tracked)
        return;
    if (column->put_count < collect->tracked)
        column->put_count++;
    memmove(&column->puts[at + 1], &column->puts[at],
            (column->put_count - 1 - at) * sizeof *column->puts);
    column->puts[at] = point;
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
        if (status == PETAL_OK && cell->sequence <= collect->visibility.rules.read_point) {
            collect->family_versions += cell->type == PETAL_DELETE_FAMILY_VERSION;
            status = keep(collect, cell, slice_make(NULL, 0), false);
            if (status == PETAL_OK && cell->type == PETAL_DELETE_FAMILY &&
                visibility_rules_heed_marker(&collect->visibility.rules, cell))
                raise_point(&collect->has_family_delete, &collect->family_delete,
                            (struct version_point){cell->timestamp, cell->sequence});
        }
        if (status == PETAL_OK)
            status = source->ops->next(source, error);
    }
    return status;
}

/* What one source has given of a column. */
struct column_take {
    uint64_t versions;
    uint64_t markers; /* of kind 8 */
    bool has_put;
    int64_t timestamp; /* of the latest */
};

/*
 * So many versions of one source matter. A marker of kind 8 or 10 hides one timestamp at most. Those of this source that
 * hide a version stand before it, so they have been met; with those of the other sources they cannot hide more than the
 * surplus. What is left are as many versions as are wanted, or a marker of kind 12 or 14 hides one of them and all that follow.
 */
static inline uint64_t
versions_that_matter(const struct row_collect *collect, const struct column_take *take)
{
    return collect->visibility.rules.versions + take->markers + collect->family_versions +
           collect->markers_elsewhere;
}

enum cell_use { USE_KEEP, USE_PASS, USE_LAST, USE_END };

/* A cell is not collected: tell the receipt why. */
static enum cell_use
leave_out(const struct row_collect *collect, const struct cell *cell, enum cell_use use,
          enum petal_hidden by)
{
    if (collect->receipt != NULL)
        receipt_hide(collect->receipt, collect->family, cell, by);
    return use;
}

/* What a column's cell is good for: KEEP it, PASS over it, keep it as the LAST one of its column in this source, or END there
 * without it. Cells come newest first. */
static inline enum cell_use
use_of(const struct row_collect *collect, struct column_take *take, const struct cell *cell)
{
    const struct visibility_rules *rules = &collect->visibility.rules;

    if (cell->sequence > rules->read_point || cell_is_dead(cell, rules->now_ms))
        return leave_out(collect, cell, USE_PASS,
                         cell->sequence > rules->read_point ? PETAL_HIDDEN_LATER
                                                            : PETAL_HIDDEN_EXPIRED);
    if (cell->timestamp < rules->time_min ||
        (rules->min_versions == 0 && cell->timestamp < rules->oldest_unexpired))
        return leave_out(collect, cell, USE_END,
                         cell->timestamp < rules->time_min ? PETAL_HIDDEN_TIME_RANGE
                                                           : PETAL_HIDDEN_EXPIRED);
    if (cell->type != PETAL_PUT) {
        if (!visibility_rules_heed_marker(rules, cell))
            return USE_PASS;
        if (cell->type == PETAL_DELETE_COLUMN)
            return USE_LAST; /* the rest lies below it */
        take->markers++;
        return USE_KEEP;
    }
    if (cell->timestamp >= rules->time_limit)
        return leave_out(collect, cell, USE_PASS, PETAL_HIDDEN_TIME_RANGE);
    if (take->has_put && take->timestamp == cell->timestamp)
        return leave_out(
            collect, cell, USE_PASS,
            PETAL_HIDDEN_REPLACED); /* superseded; what hides the later one hides this, too */
    take->has_put = true;
    take->timestamp = cell->timestamp;
    take->versions++;
    return take->versions >= versions_that_matter(collect, take) ? USE_LAST : USE_KEEP;
}

static enum petal_status
take_column(struct row_collect *collect, struct cell_iter *source, struct collect_column *column,
            petal_error *error)
{
    enum petal_status status = source->ops->seek(source, &column->key, error);
    struct column_take take = {0};

    while (status == PETAL_OK && at_row(collect, source) &&
           slice_equal(source->cell.qualifier, column->key.qualifier)) {
        const struct cell *cell = &source->cell;
        enum cell_use use;

        status = complete(source, error);
        if (status != PETAL_OK)
            break;
        use = use_of(collect, &take, cell);
        if (use == USE_END)
            break;
        if (use != USE_PASS) {
            struct version_point point = {cell->timestamp, cell->sequence};

            status = keep(collect, cell, column->key.qualifier, false);
            if (cell->type == PETAL_PUT && collect->tracked > 0)
                track_put(collect, column, point);
            else if (cell->type == PETAL_DELETE_COLUMN)
                raise_point(&column->has_delete, &column->column_delete, point);
        }
        if (use == USE_LAST || status != PETAL_OK)
            break;
        status = source->ops->next(source, error);
    }
    return status;
}

/* Whether a cell belongs to the column of the one kept at index `kept`. */
static bool
same_column(const struct row_collect *collect, size_t kept, const struct cell *cell)
{
    const struct collected_cell *last = &collect->cells[kept];
    petal_slice qualifier = slice_make(
        last->cell.qualifier.size > 0 ? collect->qualifiers + last->qualifier_offset : NULL,
        last->cell.qualifier.size);

    return slice_equal(cell->qualifier, qualifier);
}

/* Take all columns of the row; the source is positioned behind the family markers. */
static enum petal_status
take_row(struct row_collect *collect, struct cell_iter *source, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    struct column_take take = {0};
    size_t column = SIZE_MAX; /* a kept cell of the column at hand */
    bool done = false;        /* it needs no more */

    while (status == PETAL_OK && at_row(collect, source)) {
        const struct cell *cell = &source->cell;
        enum cell_use use;

        status = complete(source, error);
        if (status != PETAL_OK)
            break;
        if (column != SIZE_MAX && !same_column(collect, column, cell)) {
            column = SIZE_MAX;
            done = false;
            take = (struct column_take){0};
        }
        if (!done) {
            use = use_of(collect, &take, cell);
            if (use == USE_KEEP || use == USE_LAST) {
                status = keep(collect, cell, cell->qualifier, true);
                column = collect->count - 1;
            }
            done = use == USE_LAST || (use == USE_END && column != SIZE_MAX);
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

    collect->family_versions = 0;
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
    struct version_point put;

    if (collect->has_family_delete && version_point_below(point, collect->family_delete))
        return true;
    if (column->has_delete && version_point_below(point, column->column_delete))
        return true;
    if (collect->tracked == 0 || column->put_count < collect->tracked)
        return false;
    /* The last of the versions wanted: it settles only if it is alive; then all above it are. */
    put = column->puts[collect->tracked - 1];
    if (!version_point_below(point, put))
        return false;
    return !(collect->has_family_delete && version_point_below(put, collect->family_delete)) &&
           !(column->has_delete && version_point_below(put, column->column_delete));
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

    if (!mem_grow_array(collect->allocator, &collect->shown, &collect->shown_capacity, 0,
                        collect->count, sizeof *collect->shown))
        return PETAL_NO_MEMORY;
    for (size_t i = 0; i < collect->count; i++) {
        if (collect->cells[i].qualifier_offset != SIZE_MAX)
            collect->cells[i].cell.qualifier.data =
                collect->qualifiers + collect->cells[i].qualifier_offset;
    }
    if (collect->sources > 1)
        sort_cells(collect->cells, collect->count);
    visibility_start_row(visibility);
    for (size_t i = 0; status == PETAL_OK && i < collect->count; i++) {
        enum visibility_verdict verdict;

        status = visibility_judge(visibility, &collect->cells[i].cell, &verdict);
        if (verdict == VISIBILITY_SHOW)
            collect->shown[collect->shown_count++] = &collect->cells[i].cell;
        else if (collect->receipt != NULL)
            receipt_hide_judged(collect->receipt, collect->family, visibility,
                                &collect->cells[i].cell);
    }
    return status;
}
