/* collect.c -- see engine/read/collect.h. */
#include "engine/read/collect.h"

#include "base/inline.h"
#include "engine/read/receipt.h"

#include <assert.h>
#include <stdlib.h>

/* Of more versions than these it is not tracked whether they settle a column: then all sources
 * are read. */
#define MOST_TRACKED_VERSIONS 64

/* So many are looked at before others get a turn in the epoch. */
#define CELLS_OF_A_STAY 4096

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
    mem_free(collect->allocator, collect->runs, collect->run_capacity * sizeof *collect->runs);
    mem_free(collect->allocator, collect->place, collect->place_capacity);
    mem_free(collect->allocator, collect->values, collect->value_capacity);
    mem_free(collect->allocator, collect->hiding,
             collect->hiding_capacity * sizeof *collect->hiding);
    mem_free(collect->allocator, collect->shown, collect->shown_capacity * sizeof *collect->shown);
    visibility_fini(&collect->visibility);
}

static int
compare_qualifiers(const void *a, const void *b)
{
    return slice_compare(((const struct collect_column *)a)->key.qualifier,
                         ((const struct collect_column *)b)->key.qualifier);
}

/* ---- what was kept ---- */

/* Row, qualifier and value are borrowed. */
static enum petal_status
keep(struct row_collect *collect, const struct cell *cell, petal_slice qualifier, bool cut)
{
    struct collected_cell *kept;

    if (!mem_grow_array(collect->allocator, &collect->cells, &collect->capacity, collect->count,
                        collect->count + 1, sizeof *collect->cells))
        return PETAL_NO_MEMORY;
    kept = &collect->cells[collect->count++];
    kept->cell = *cell;
    kept->cell.row = collect->row;
    kept->cell.qualifier = qualifier;
    kept->cut = cut;
    return PETAL_OK;
}

/* A copy of the qualifier that a source is at, for the cells of the column that are kept. When the
 * copies move, cells that point to them are moved along. */
static enum petal_status
copy_qualifier(struct row_collect *collect, petal_slice qualifier, petal_slice *copy)
{
    const uint8_t *old = collect->qualifiers;

    *copy = slice_make(NULL, 0);
    if (qualifier.size == 0)
        return PETAL_OK;
    if (!mem_grow_array(collect->allocator, &collect->qualifiers, &collect->qualifier_capacity,
                        collect->qualifier_bytes, collect->qualifier_bytes + qualifier.size, 1))
        return PETAL_NO_MEMORY;
    for (size_t i = 0; old != NULL && old != collect->qualifiers && i < collect->count; i++) {
        petal_slice *moved = &collect->cells[i].cell.qualifier;

        if (moved->size > 0)
            moved->data = collect->qualifiers + (slice_bytes(*moved) - old);
    }
    memcpy(collect->qualifiers + collect->qualifier_bytes, qualifier.data, qualifier.size);
    *copy = slice_make(collect->qualifiers + collect->qualifier_bytes, qualifier.size);
    collect->qualifier_bytes += qualifier.size;
    return PETAL_OK;
}

enum petal_status
row_collect_hold(struct row_collect *collect)
{
    const uint8_t *old = collect->values;
    size_t more = 0;

    assert(collect->held <= collect->count);
    for (size_t i = collect->held; i < collect->count; i++)
        more += collect->cells[i].cell.value.size;
    if (!mem_grow_array(collect->allocator, &collect->values, &collect->value_capacity,
                        collect->value_bytes, collect->value_bytes + more, 1))
        return PETAL_NO_MEMORY;
    for (size_t i = 0; old != collect->values && i < collect->held; i++) {
        petal_slice *moved = &collect->cells[i].cell.value;

        if (moved->size > 0)
            moved->data = collect->values + (slice_bytes(*moved) - old);
    }
    for (; collect->held < collect->count; collect->held++) {
        petal_slice *value = &collect->cells[collect->held].cell.value;

        if (value->size == 0)
            continue;
        memcpy(collect->values + collect->value_bytes, value->data, value->size);
        value->data = collect->values + collect->value_bytes;
        collect->value_bytes += value->size;
    }
    return PETAL_OK;
}

static void
raise_point(bool *has, struct version_point *greatest, struct version_point point)
{
    if (!*has || version_point_below(*greatest, point))
        *greatest = point;
    *has = true;
}

/* Put a version in its place among the greatest; of several at one timestamp the latest write
 * stands for them. */
static void
track_put(const struct row_collect *collect, struct collect_column *column,
          struct version_point point)
{
    uint32_t at = column->put_count;

    assert(collect->tracked > 0 && column->put_count <= collect->tracked);
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

/* ---- runs: what one source gave, in cell order ---- */

/* The cells since the last run are one, if there are any. */
static enum petal_status
end_run(struct row_collect *collect)
{
    assert(collect->run_begin <= collect->count);
    if (collect->run_begin == collect->count)
        return PETAL_OK;
    if (!mem_grow_array(collect->allocator, &collect->runs, &collect->run_capacity,
                        collect->run_count, collect->run_count + 1, sizeof *collect->runs))
        return PETAL_NO_MEMORY;
    collect->runs[collect->run_count++] =
        (struct collect_run){collect->run_begin, collect->run_begin, collect->count};
    collect->run_begin = collect->count;
    return PETAL_OK;
}

/* The first cell of a run, from `low` up to `high`, at or after the place of a column, or of the
 * family markers, at a timestamp. */
static size_t
find_in_run(const struct row_collect *collect, size_t low, size_t high, bool family_class,
            petal_slice qualifier, int64_t timestamp)
{
    struct cell_key place = {.row = collect->row,
                             .qualifier = qualifier,
                             .family_class = family_class,
                             .timestamp = timestamp,
                             .sequence = CELL_SEQUENCE_MAX};

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (cell_compare_key(&collect->cells[middle].cell, &place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A marker of kind 8 or 10 in the run hides the version: one at its timestamp with a greater
 * sequence. */
static bool
run_hides(const struct row_collect *collect, size_t begin, size_t end, bool family_class,
          petal_slice qualifier, struct version_point version)
{
    enum petal_cell_type type = family_class ? PETAL_DELETE_FAMILY_VERSION : PETAL_DELETE;

    for (size_t i = find_in_run(collect, begin, end, family_class, qualifier, version.timestamp);
         i < end; i++) {
        const struct cell *cell = &collect->cells[i].cell;

        if (cell->timestamp != version.timestamp || cell->sequence <= version.sequence ||
            cell_is_family_marker(cell->type) != family_class ||
            !slice_equal(cell->qualifier, qualifier))
            return false;
        if (cell->type == type)
            return true;
    }
    return false;
}

/* Some marker in some run does, that of the source at hand included. */
static bool
any_run_hides(const struct row_collect *collect, bool family_class, petal_slice qualifier,
              struct version_point version)
{
    for (uint32_t i = 0; i < collect->run_count; i++) {
        if (run_hides(collect, collect->runs[i].begin, collect->runs[i].end, family_class,
                      qualifier, version))
            return true;
    }
    return run_hides(collect, collect->run_begin, collect->count, family_class, qualifier, version);
}

/* Whether a marker of a single version that was kept hides this one. */
static bool
version_is_deleted(const struct row_collect *collect, petal_slice qualifier,
                   struct version_point version)
{
    return (collect->column_versions_deleted > 0 &&
            any_run_hides(collect, false, qualifier, version)) ||
           (collect->family_versions_deleted > 0 &&
            any_run_hides(collect, true, slice_make(NULL, 0), version));
}

/* ---- the question ---- */

/* Take over the qualifiers that the options name of the family, `named` of them: sorted, each
 * once. */
static void
set_columns(struct row_collect *collect, const petal_read_options *options,
            const petal_family *family, size_t named)
{
    struct collect_column *columns = collect->columns;
    bool ascending = true;
    size_t count = 0, kept = 0;

    for (size_t i = 0; count < named; i++) {
        petal_slice qualifier = options->columns[i].qualifier;

        if (options->columns[i].family != family)
            continue;
        columns[count].key.qualifier = qualifier;
        ascending = ascending &&
                    (count == 0 || slice_compare(columns[count - 1].key.qualifier, qualifier) < 0);
        count++;
    }
    collect->column_count = count;
    if (ascending)
        return;
    qsort(columns, count, sizeof *columns, compare_qualifiers);
    for (size_t i = 0; i < count; i++) {
        petal_slice qualifier = columns[i].key.qualifier;

        if (kept == 0 || !slice_equal(columns[kept - 1].key.qualifier, qualifier))
            columns[kept++].key.qualifier = qualifier;
    }
    collect->column_count = kept;
}

/* What was searched and found before is the first run. */
static NEVER_INLINE enum petal_status
take_hiding(struct row_collect *collect)
{
    for (size_t i = 0; i < collect->hiding_count; i++) {
        struct cell marker = {.timestamp = collect->hiding[i].timestamp,
                              .sequence = collect->hiding[i].sequence,
                              .type = PETAL_DELETE_FAMILY_VERSION};

        if (keep(collect, &marker, slice_make(NULL, 0), false) != PETAL_OK)
            return PETAL_NO_MEMORY;
    }
    collect->family_versions_deleted = collect->hiding_count;
    return end_run(collect);
}

enum petal_status
row_collect_start(struct row_collect *collect, petal_slice row, const petal_read_options *options,
                  const petal_family *family, size_t named, const struct collect_depth *depth)
{
    uint32_t versions = collect->visibility.rules.versions;
    size_t key_bytes = cell_key_bound(row.size, 0);
    uint8_t *to;

    assert(row.size > 0 && collect->visibility.rules.purpose == VISIBILITY_READ);
    assert(!collect->visibility.rules.new_version_behavior);
    collect->wanted = versions + depth->spare_versions;
    collect->most_family_versions = depth->family_versions;
    collect->tracked = versions > MOST_TRACKED_VERSIONS ? 0 : versions;
    if (!mem_grow_array(collect->allocator, &collect->columns, &collect->column_capacity, 0, named,
                        sizeof *collect->columns) ||
        !mem_grow_array(collect->allocator, &collect->points, &collect->point_capacity, 0,
                        named * collect->tracked, sizeof *collect->points))
        return PETAL_NO_MEMORY;
    set_columns(collect, options, family, named);
    for (size_t i = 0; i < collect->column_count; i++)
        key_bytes += cell_key_bound(row.size, collect->columns[i].key.qualifier.size);
    if (!mem_grow_array(collect->allocator, &collect->keys, &collect->key_capacity, 0, key_bytes,
                        1))
        return PETAL_NO_MEMORY;
    collect->row = row;
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
    assert((size_t)(to - collect->keys) <= key_bytes);
    collect->count = 0;
    collect->run_count = 0;
    collect->run_begin = 0;
    collect->cells_read = 0;
    collect->stay_ends = CELLS_OF_A_STAY;
    collect->seeks = 0;
    collect->column_versions_deleted = 0;
    collect->family_versions_deleted = 0;
    collect->family_versions_left = false;
    collect->has_family_delete = false;
    collect->qualifier_bytes = 0;
    collect->value_bytes = 0;
    collect->held = 0;
    collect->shown_count = 0;
    return collect->hiding_count > 0 ? take_hiding(collect) : PETAL_OK;
}

/* ---- one source ---- */

static inline bool
at_row(const struct row_collect *collect, const struct cell_iter *source)
{
    return source->valid && slice_equal(source->cell.row, collect->row);
}

static bool
at_family_marker(const struct row_collect *collect, const struct cell_iter *source)
{
    return at_row(collect, source) && cell_is_family_marker(source->cell.type);
}

static inline bool
at_column(const struct row_collect *collect, const struct cell_iter *source, petal_slice qualifier)
{
    return source->valid && slice_equal(source->cell.row, collect->row) &&
           slice_equal(source->cell.qualifier, qualifier);
}

static enum petal_status
seek(struct row_collect *collect, struct cell_iter *source, const struct cell_key *key,
     petal_error *error)
{
    collect->seeks++;
    return source->ops->seek(source, key, error);
}

/* What one source has given of a column, or of the family markers. */
struct column_take {
    uint64_t versions;
    unsigned later; /* cells above the time range that were passed over */
    bool has_put, has_marker;
    int64_t timestamp;        /* of the latest put */
    int64_t marker_timestamp; /* of the latest marker of a single version that was kept */
};

/* Keep the cell; keep it though its version is DELETED; PASS over it; keep it as the LAST one of
 * its group in this source; CUT: the same, though others after it may matter after all; END there
 * without it. */
enum cell_use { USE_KEEP, USE_DELETED, USE_PASS, USE_LAST, USE_CUT, USE_END };

/*
 * The cell at hand is looked at: count it, and fetch the rest of it where the source knows only its
 * place (cell_iter.h). Of many cells, now and then, the stay in the epoch is interrupted.
 */
static inline enum petal_status
look_at_cell(struct row_collect *collect, struct cell_iter *source, petal_error *error)
{
    assert(source->valid);
    if (++collect->cells_read >= collect->stay_ends && collect->stay != NULL) {
        collect->stay_ends = collect->cells_read + CELLS_OF_A_STAY;
        if (epoch_interrupt(collect->stay) != PETAL_OK)
            return error_no_memory(error);
        epoch_resume(collect->stay);
    }
    return source->pending ? source->ops->load(source, error) : PETAL_OK;
}

/* Seek on, to a place after the cell at hand. */
static enum petal_status
seek_on(struct row_collect *collect, struct cell_iter *source, const struct cell_key *key,
        petal_error *error)
{
    enum petal_status status = seek(collect, source, key, error);

    /* Out of order, a source could lead back to here for ever. */
    if (status == PETAL_OK && source->valid && cell_compare_key(&source->cell, key) < 0)
        return error_set(error, PETAL_CORRUPT, "cells of a store file are out of order");
    return status;
}

/* Make room for a place in a column. */
static bool
reserve_place(struct row_collect *collect, petal_slice qualifier)
{
    return mem_grow_array(collect->allocator, &collect->place, &collect->place_capacity, 0,
                          cell_key_bound(collect->row.size, qualifier.size), 1);
}

/* ---- family markers ---- */

/*
 * What a family marker is good for: of those that hide anything the first of kind 14 hides all that
 * the others after it could, so it is the LAST; of those of kind 10 at one timestamp the first.
 */
static enum cell_use
use_of_family_marker(const struct row_collect *collect, struct column_take *take,
                     const struct cell *cell)
{
    const struct visibility_rules *rules = &collect->visibility.rules;
    struct version_point point = {cell->timestamp, cell->sequence};

    if (cell->timestamp < rules->time_min ||
        (rules->min_versions == 0 && cell->timestamp < rules->oldest_unexpired) ||
        (collect->has_family_delete && version_point_below(point, collect->family_delete)))
        return USE_END;
    if (cell->sequence > rules->read_point || !visibility_rules_heed_marker(rules, cell))
        return USE_PASS;
    if (cell->type == PETAL_DELETE_FAMILY)
        return USE_LAST;
    if (cell->timestamp >= rules->time_limit ||
        (take->has_marker && take->marker_timestamp == cell->timestamp))
        return USE_PASS;
    take->has_marker = true;
    take->marker_timestamp = cell->timestamp;
    return USE_KEEP;
}

/* Take the row's family markers; the source is positioned at its first cell. Of those of kind 10
 * only the first ones, unless one of kind 14 may stand after them: then all up to that. */
static enum petal_status
take_family_markers(struct row_collect *collect, struct cell_iter *source, bool family_deletes,
                    petal_error *error)
{
    enum petal_status status = PETAL_OK;
    struct column_take take = {0};

    while (status == PETAL_OK && at_family_marker(collect, source)) {
        const struct cell *cell = &source->cell;
        enum cell_use use;

        status = look_at_cell(collect, source, error);
        if (status != PETAL_OK)
            break;
        use = use_of_family_marker(collect, &take, cell);
        if (use == USE_KEEP && !family_deletes &&
            take.versions++ == collect->most_family_versions) {
            collect->family_versions_left = true;
            break;
        }
        if (use == USE_END)
            break;
        if (use != USE_PASS) {
            status = keep(collect, cell, slice_make(NULL, 0), false);
            if (cell->type == PETAL_DELETE_FAMILY)
                raise_point(&collect->has_family_delete, &collect->family_delete,
                            (struct version_point){cell->timestamp, cell->sequence});
            else
                collect->family_versions_deleted++;
        }
        if (use == USE_LAST || status != PETAL_OK)
            break;
        status = source->ops->next(source, error);
    }
    return status;
}

/* From among the family markers to the row's first column. */
static enum petal_status
leave_family_markers(struct row_collect *collect, struct cell_iter *source, petal_error *error)
{
    petal_slice none = slice_make(NULL, 0);
    struct cell_key key;

    for (int step = 0;
         step < STEPS_BEFORE_SEEK && at_family_marker(collect, source) && !source->pending;
         step++) {
        enum petal_status status = source->ops->next(source, error);

        if (status != PETAL_OK)
            return status;
        collect->cells_read += at_family_marker(collect, source);
    }
    if (!at_family_marker(collect, source))
        return PETAL_OK;
    if (!reserve_place(collect, none))
        return PETAL_NO_MEMORY;
    cell_key_of_column(&key, collect->place, &collect->row_key, none);
    return seek_on(collect, source, &key, error);
}

/* ---- columns ---- */

/* A cell is not collected: tell the receipt why. */
static enum cell_use
leave_out(const struct row_collect *collect, const struct cell *cell, enum cell_use use,
          enum petal_hidden by)
{
    if (collect->receipt != NULL)
        receipt_hide(collect->receipt, collect->family, cell, by);
    return use;
}

/* From above the time range to where it begins in the column at hand. */
static enum petal_status
seek_time_range(struct row_collect *collect, struct cell_iter *source, petal_slice qualifier,
                petal_error *error)
{
    struct cell_key key;

    if (!reserve_place(collect, qualifier))
        return PETAL_NO_MEMORY;
    cell_key_make(&key, collect->place, collect->row, qualifier, false,
                  collect->visibility.rules.time_limit - 1, CELL_SEQUENCE_MAX);
    return seek_on(collect, source, &key, error);
}

/*
 * What a column's cell is good for. Cells come newest first. The newest `wanted` versions of one
 * source are enough, as long as no marker of a single version hides any of them: a marker of kind
 * 12 or 14 hides one of them and all that follow. Those that markers known by now hide do not
 * count; whether markers of sources that are asked later hide others is seen in the end
 * (row_collect_finish).
 */
static inline enum cell_use
use_of(const struct row_collect *collect, struct column_take *take, petal_slice qualifier,
       const struct cell *cell)
{
    const struct visibility_rules *rules = &collect->visibility.rules;
    struct version_point point = {cell->timestamp, cell->sequence};

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
        if (take->has_marker && take->marker_timestamp == cell->timestamp)
            return USE_PASS; /* the one before hides more */
        take->has_marker = true;
        take->marker_timestamp = cell->timestamp;
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
    if (collect->column_versions_deleted + collect->family_versions_deleted > 0 &&
        version_is_deleted(collect, qualifier, point))
        return USE_DELETED;
    take->versions++;
    return take->versions >= collect->wanted ? USE_CUT : USE_KEEP;
}

/* Take the cells of the column that the source stands at; `column` is NULL where none is named. The
 * source may then stand in the column still, where the rest is not needed. */
static enum petal_status
take_cells(struct row_collect *collect, struct cell_iter *source, petal_slice qualifier,
           struct collect_column *column, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    struct column_take take = {0};

    while (status == PETAL_OK && at_column(collect, source, qualifier)) {
        const struct cell *cell = &source->cell;
        enum cell_use use;

        status = look_at_cell(collect, source, error);
        if (status != PETAL_OK)
            break;
        use = use_of(collect, &take, qualifier, cell);
        if (use == USE_END)
            break;
        if (use != USE_PASS) {
            struct version_point point = {cell->timestamp, cell->sequence};

            status = keep(collect, cell, qualifier, use == USE_CUT);
            if (status != PETAL_OK)
                break;
            if (cell->type == PETAL_DELETE)
                collect->column_versions_deleted++;
            else if (column != NULL && cell->type != PETAL_PUT)
                raise_point(&column->has_delete, &column->column_delete, point);
            else if (column != NULL && use != USE_DELETED && collect->tracked > 0)
                track_put(collect, column, point);
        }
        if (use == USE_LAST || use == USE_CUT)
            break;
        if (use == USE_PASS && collect->skips_later &&
            cell->timestamp >= collect->visibility.rules.time_limit &&
            ++take.later == STEPS_BEFORE_SEEK)
            status = seek_time_range(collect, source, qualifier, error);
        else
            status = source->ops->next(source, error);
    }
    return status;
}

/* From a place in a column that needs no more to what is after it: a few steps, then a seek. A
 * step that would read a block is left to the seek. */
static enum petal_status
leave_column(struct row_collect *collect, struct cell_iter *source, petal_slice qualifier,
             petal_error *error)
{
    struct cell_key key;

    for (int step = 0;
         step < STEPS_BEFORE_SEEK && at_column(collect, source, qualifier) && !source->pending;
         step++) {
        enum petal_status status = source->ops->next(source, error);

        if (status != PETAL_OK)
            return status;
        collect->cells_read += at_column(collect, source, qualifier);
    }
    if (!at_column(collect, source, qualifier))
        return PETAL_OK;
    if (!reserve_place(collect, qualifier))
        return PETAL_NO_MEMORY;
    /* After all cells of the column: no timestamp is so small. */
    cell_key_make(&key, collect->place, collect->row, qualifier, false, INT64_MIN, 0);
    return seek_on(collect, source, &key, error);
}

/* Cells of the row, from the source's on, of which each is the only one of its column and one to be
 * kept: none has to be compared with the one before. Without that a get of all columns of two
 * families, 100 each, takes 1.8 times the instructions. */
static size_t
plain_ahead(const struct row_collect *collect, const struct cell_iter *source)
{
    const struct visibility_rules *rules = &collect->visibility.rules;
    struct cell_run limits = {.read_point = rules->read_point,
                              .time_min = rules->time_min > rules->oldest_unexpired
                                              ? rules->time_min
                                              : rules->oldest_unexpired,
                              .time_limit = rules->time_limit};

    if (source->pending || source->ops->plain_in_row == NULL ||
        collect->column_versions_deleted + collect->family_versions_deleted > 0)
        return 0;
    return source->ops->plain_in_row(source, &limits);
}

/* Keep so many of them. */
static enum petal_status
take_plain(struct row_collect *collect, struct cell_iter *source, size_t count, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && count-- > 0) {
        petal_slice qualifier;

        assert(at_row(collect, source) && source->cell.type == PETAL_PUT);
        status = look_at_cell(collect, source, error);
        if (status == PETAL_OK)
            status = copy_qualifier(collect, source->cell.qualifier, &qualifier);
        if (status == PETAL_OK)
            status = keep(collect, &source->cell, qualifier, collect->wanted <= 1);
        if (status == PETAL_OK)
            status = source->ops->next(source, error);
    }
    return status;
}

/* Take all columns of the row; the source is positioned after the family markers. */
static enum petal_status
take_row(struct row_collect *collect, struct cell_iter *source, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && at_row(collect, source)) {
        size_t before = collect->count, copies = collect->qualifier_bytes;
        size_t plain = plain_ahead(collect, source);
        petal_slice qualifier;

        if (plain > 0) {
            status = take_plain(collect, source, plain, error);
            continue;
        }
        status = copy_qualifier(collect, source->cell.qualifier, &qualifier);
        if (status == PETAL_OK)
            status = take_cells(collect, source, qualifier, NULL, error);
        if (status == PETAL_OK)
            status = leave_column(collect, source, qualifier, error);
        if (collect->count == before)
            collect->qualifier_bytes = copies;
    }
    return status;
}

enum petal_status
row_collect_source(struct row_collect *collect, struct cell_iter *source, uint32_t marker_kinds,
                   petal_error *error)
{
    const struct visibility_rules *rules = &collect->visibility.rules;
    bool whole = collect->column_count == 0;
    bool family_markers = (marker_kinds & COLLECT_FAMILY_MARKERS) != 0;
    enum petal_status status = PETAL_OK;

    assert(collect->run_begin == collect->count); /* the source before ended its run */
    /* Puts there are not asked for, and of the markers only those of kind 12 reach into the range,
     * unless deleted cells are kept. */
    collect->skips_later = (marker_kinds & UINT32_C(1) << PETAL_DELETE_COLUMN) == 0 ||
                           rules->keep_deleted > PETAL_KEEP_DELETED_FALSE;
    if (family_markers || whole)
        status = seek(collect, source, &collect->row_key, error);
    if (status == PETAL_OK && family_markers)
        status = take_family_markers(
            collect, source, (marker_kinds & UINT32_C(1) << PETAL_DELETE_FAMILY) != 0, error);
    if (status == PETAL_OK && whole)
        status = leave_family_markers(collect, source, error);
    if (status == PETAL_OK && whole)
        status = take_row(collect, source, error);
    for (size_t i = 0; status == PETAL_OK && i < collect->column_count; i++) {
        struct collect_column *column = &collect->columns[i];

        if (!column->asked)
            continue;
        status = seek(collect, source, &column->key, error);
        if (status == PETAL_OK)
            status = take_cells(collect, source, column->key.qualifier, column, error);
    }
    if (status == PETAL_OK)
        status = end_run(collect);
    if (status == PETAL_NO_MEMORY)
        error_no_memory(error);
    return status;
}

/* ---- markers that were left ---- */

/* Remember a marker, in its place, once. */
static enum petal_status
note_hiding(struct row_collect *collect, struct version_point marker)
{
    size_t at = collect->hiding_count;

    assert(collect->hiding_count <= collect->hiding_capacity);
    while (at > 0 && version_point_below(collect->hiding[at - 1], marker))
        at--;
    if (at > 0 && !version_point_below(marker, collect->hiding[at - 1]))
        return PETAL_OK;
    if (!mem_grow_array(collect->allocator, &collect->hiding, &collect->hiding_capacity,
                        collect->hiding_count, collect->hiding_count + 1, sizeof *collect->hiding))
        return PETAL_NO_MEMORY;
    memmove(&collect->hiding[at + 1], &collect->hiding[at],
            (collect->hiding_count - at) * sizeof *collect->hiding);
    collect->hiding[at] = marker;
    collect->hiding_count++;
    return PETAL_OK;
}

/* The source is at the first family marker of the put's timestamp, or after. */
static enum petal_status
find_hiding(struct row_collect *collect, struct cell_iter *source, const struct cell *put,
            bool *found, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && at_family_marker(collect, source) &&
           source->cell.timestamp == put->timestamp && source->cell.sequence > put->sequence) {
        const struct cell *cell = &source->cell;

        status = look_at_cell(collect, source, error);
        if (status != PETAL_OK)
            break;
        if (cell->type == PETAL_DELETE_FAMILY_VERSION &&
            cell->sequence <= collect->visibility.rules.read_point &&
            visibility_rules_heed_marker(&collect->visibility.rules, cell)) {
            *found = true;
            return note_hiding(collect, (struct version_point){cell->timestamp, cell->sequence});
        }
        status = source->ops->next(source, error);
    }
    return status;
}

enum petal_status
row_collect_check_family_versions(struct row_collect *collect, struct cell_iter *source,
                                  bool *found, petal_error *error)
{
    petal_slice none = slice_make(NULL, 0);
    enum petal_status status = reserve_place(collect, none) ? PETAL_OK : PETAL_NO_MEMORY;

    assert(collect->family_versions_left);
    for (size_t i = 0; status == PETAL_OK && i < collect->shown_count; i++) {
        struct cell_key key;

        cell_key_make(&key, collect->place, collect->row, none, true, collect->shown[i]->timestamp,
                      CELL_SEQUENCE_MAX);
        status = seek(collect, source, &key, error);
        if (status == PETAL_OK)
            status = find_hiding(collect, source, collect->shown[i], found, error);
    }
    if (status == PETAL_NO_MEMORY)
        error_no_memory(error);
    return status;
}

/* ---- when enough is known ---- */

/* The run whose next cell of the column is the newest; NULL: there is none any more. */
static struct collect_run *
newest_run(const struct row_collect *collect, petal_slice qualifier)
{
    struct collect_run *newest = NULL;

    for (uint32_t i = 0; i < collect->run_count; i++) {
        struct collect_run *run = &collect->runs[i];

        if (run->next < run->end &&
            slice_equal(collect->cells[run->next].cell.qualifier, qualifier) &&
            (newest == NULL ||
             cell_compare(&collect->cells[run->next].cell, &collect->cells[newest->next].cell) < 0))
            newest = run;
    }
    return newest;
}

/*
 * As many versions as settle the column lie above `point`, and no marker hides them. A marker of a
 * single version that hides one of them is greater than it, so it is not in a source whose greatest
 * point is `point`: those that could are known.
 */
static NEVER_INLINE bool
enough_versions_live(struct row_collect *collect, petal_slice qualifier, struct version_point point)
{
    struct collect_run *run;
    int64_t timestamp = 0; /* of the latest that counted or could not */
    bool any = false;
    uint32_t living = 0;

    assert(collect->tracked > 0);
    for (uint32_t i = 0; i < collect->run_count; i++) {
        run = &collect->runs[i];
        run->next = find_in_run(collect, run->begin, run->end, false, qualifier, INT64_MAX);
    }
    while ((run = newest_run(collect, qualifier)) != NULL) {
        const struct cell *cell = &collect->cells[run->next++].cell;
        struct version_point version = {cell->timestamp, cell->sequence};

        if (!version_point_below(point, version))
            return false;
        if (cell->type != PETAL_PUT || (any && timestamp == cell->timestamp))
            continue;
        any = true;
        timestamp = cell->timestamp;
        living += !version_is_deleted(collect, qualifier, version);
        if (living >= collect->tracked)
            return true;
    }
    return false;
}

bool
row_collect_column_settled(struct row_collect *collect, const struct collect_column *column,
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
    if (!version_point_below(point, put) ||
        (collect->has_family_delete && version_point_below(put, collect->family_delete)) ||
        (column->has_delete && version_point_below(put, column->column_delete)))
        return false;
    return collect->column_versions_deleted + collect->family_versions_deleted == 0 ||
           enough_versions_live(collect, column->key.qualifier, point);
}

bool
row_collect_settled(struct row_collect *collect, struct version_point point)
{
    if (collect->column_count == 0)
        return collect->has_family_delete && version_point_below(point, collect->family_delete);
    for (size_t i = 0; i < collect->column_count; i++) {
        if (!row_collect_column_settled(collect, &collect->columns[i], point))
            return false;
    }
    return true;
}

/* ---- the finish: the runs are merged ---- */

static bool
comes_before(const struct row_collect *collect, const struct collect_run *a,
             const struct collect_run *b)
{
    return cell_compare(&collect->cells[a->next].cell, &collect->cells[b->next].cell) < 0;
}

/* The runs are a heap whose root has the first cell. */
static void
sift_run_down(struct row_collect *collect, uint32_t root)
{
    struct collect_run *runs = collect->runs;

    assert(root < collect->run_count);
    for (;;) {
        uint32_t child = 2 * root + 1;
        struct collect_run moved;

        if (child >= collect->run_count)
            return;
        if (child + 1 < collect->run_count && comes_before(collect, &runs[child + 1], &runs[child]))
            child++;
        if (!comes_before(collect, &runs[child], &runs[root]))
            return;
        moved = runs[root];
        runs[root] = runs[child];
        runs[child] = moved;
        root = child;
    }
}

enum petal_status
row_collect_finish(struct row_collect *collect, bool *complete)
{
    struct visibility *visibility = &collect->visibility;
    enum petal_status status = PETAL_OK;

    assert(collect->run_begin == collect->count);
    *complete = true;
    if (!mem_grow_array(collect->allocator, &collect->shown, &collect->shown_capacity, 0,
                        collect->count, sizeof *collect->shown))
        return PETAL_NO_MEMORY;
    visibility_start_row(visibility);
    for (uint32_t i = 0; i < collect->run_count; i++)
        collect->runs[i].next = collect->runs[i].begin;
    for (uint32_t i = collect->run_count / 2; i-- > 0;)
        sift_run_down(collect, i);
    while (status == PETAL_OK && collect->run_count > 0) {
        struct collect_run *first = &collect->runs[0];
        const struct collected_cell *kept = &collect->cells[first->next++];
        enum visibility_verdict verdict;

        assert(first->next <= first->end);
        if (first->next == first->end)
            *first = collect->runs[--collect->run_count];
        if (collect->run_count > 1)
            sift_run_down(collect, 0);
        status = visibility_judge(visibility, &kept->cell, &verdict);
        if (verdict == VISIBILITY_SHOW)
            collect->shown[collect->shown_count++] = &kept->cell;
        else if (collect->receipt != NULL)
            receipt_hide_judged(collect->receipt, collect->family, visibility, &kept->cell);
        /* After a cut its source has more; they matter unless there are enough, or none of the
         * column can be. */
        if (kept->cut && verdict != VISIBILITY_COLUMN_DONE &&
            visibility->counted < visibility->rules.versions)
            *complete = false;
    }
    return status;
}
