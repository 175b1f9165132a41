/* collect.c -- see engine/read/collect.h. */
#include "engine/read/collect.h"

#include "base/inline.h"
#include "engine/read/receipt.h"

#include <assert.h>
#include <stdlib.h>

/* So many are looked at before others get a turn in the epoch. */
#define CELLS_OF_A_STAY 4096

/* More are put in order outside of it. */
#define MOST_ORDERED_INSIDE 1024

/* Markers of kind 10 of the row that are taken of a source where they can be searched. */
#define MOST_FAMILY_VERSIONS 64

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
    mem_free(collect->allocator, collect->order, collect->order_capacity * sizeof *collect->order);
    mem_free(collect->allocator, collect->qualifiers, collect->qualifier_capacity);
    mem_free(collect->allocator, collect->place, collect->place_capacity);
    mem_free(collect->allocator, collect->values, collect->value_capacity);
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

/* ---- their order ---- */

/* What was kept since the last time, which is in order as its source gave it, takes its places
 * among the rest. */
static enum petal_status
put_in_order(struct row_collect *collect)
{
    bool outside = collect->stay != NULL && collect->count > MOST_ORDERED_INSIDE;
    size_t before = collect->ordered, next = collect->count, to = collect->count;
    size_t *order;

    assert(collect->ordered <= collect->count);
    if (collect->ordered == collect->count)
        return PETAL_OK;
    if (!mem_grow_array(collect->allocator, &collect->order, &collect->order_capacity, before,
                        collect->count, sizeof *collect->order) ||
        (outside && epoch_interrupt(collect->stay) != PETAL_OK))
        return PETAL_NO_MEMORY;
    for (order = collect->order; next > collect->ordered;) {
        const struct cell *cell = &collect->cells[next - 1].cell;

        if (before > 0 && cell_compare(cell, row_collect_cell(collect, before - 1)) < 0)
            order[--to] = order[--before];
        else
            order[--to] = --next;
    }
    collect->ordered = collect->count;
    if (outside)
        epoch_resume(collect->stay);
    return PETAL_OK;
}

/* The first cell in order at or after the place of a column, or of the family markers, at a
 * timestamp. */
static size_t
find_place(const struct row_collect *collect, bool family_class, petal_slice qualifier,
           int64_t timestamp)
{
    size_t low = 0, high = collect->ordered;
    struct cell_key place = {.row = collect->row,
                             .qualifier = qualifier,
                             .family_class = family_class,
                             .timestamp = timestamp,
                             .sequence = CELL_SEQUENCE_MAX};

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (cell_compare_key(row_collect_cell(collect, middle), &place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A marker of kind 8 or 10 hides the version: one at its timestamp with a greater sequence. */
static bool
hides_version(const struct row_collect *collect, bool family_class, petal_slice qualifier,
              struct version_point version)
{
    enum petal_cell_type type = family_class ? PETAL_DELETE_FAMILY_VERSION : PETAL_DELETE;

    for (size_t i = find_place(collect, family_class, qualifier, version.timestamp);
         i < collect->ordered; i++) {
        const struct cell *cell = row_collect_cell(collect, i);

        if (cell->timestamp != version.timestamp || cell->sequence <= version.sequence ||
            cell_is_family_marker(cell->type) != family_class ||
            !slice_equal(cell->qualifier, qualifier))
            return false;
        if (cell->type == type)
            return true;
    }
    return false;
}

/* Whether a marker of a single version that is in order hides this one. */
static bool
version_is_deleted(const struct row_collect *collect, petal_slice qualifier,
                   struct version_point version)
{
    return (collect->column_versions_deleted > 0 &&
            hides_version(collect, false, qualifier, version)) ||
           (collect->family_versions_deleted > 0 &&
            hides_version(collect, true, slice_make(NULL, 0), version));
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

enum petal_status
row_collect_start(struct row_collect *collect, petal_slice row, const petal_read_options *options,
                  const petal_family *family, size_t named)
{
    size_t key_bytes = cell_key_bound(row.size, 0);
    uint8_t *to;

    assert(row.size > 0 && collect->visibility.rules.purpose == VISIBILITY_READ);
    assert(!collect->visibility.rules.new_version_behavior);
    if (!mem_grow_array(collect->allocator, &collect->columns, &collect->column_capacity, 0, named,
                        sizeof *collect->columns))
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
        column->versions = 0;
        column->settled = false;
        to += column->key.encoded.size;
    }
    assert((size_t)(to - collect->keys) <= key_bytes);
    collect->count = 0;
    collect->ordered = 0;
    collect->judged = 0;
    collect->failed = false;
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
    return PETAL_OK;
}

/* ---- one source ---- */

static inline bool
at_row(const struct row_collect *collect, const struct cell_iter *source)
{
    return source->valid && slice_equal(source->cell.row, collect->row);
}

/* In a column, or among the family markers. */
static inline bool
at_column(const struct row_collect *collect, const struct cell_iter *source, bool family_class,
          petal_slice qualifier)
{
    return at_row(collect, source) && slice_equal(source->cell.qualifier, qualifier) &&
           cell_is_family_marker(source->cell.type) == family_class;
}

static bool
at_family_marker(const struct row_collect *collect, const struct cell_iter *source)
{
    return at_column(collect, source, true, slice_make(NULL, 0));
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

/* Keep the cell; keep it, a VERSION that may be shown; PASS over it; keep it as the LAST one of
 * its group in this source; CUT: the same of a version, though others after it may matter after
 * all; END there without it. */
enum cell_use { USE_KEEP, USE_VERSION, USE_PASS, USE_LAST, USE_CUT, USE_END };

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

/* Seek on, to a place of a column, or of the family markers, after the cell at hand. */
static enum petal_status
seek_on(struct row_collect *collect, struct cell_iter *source, bool family_class,
        petal_slice qualifier, int64_t timestamp, uint64_t sequence, petal_error *error)
{
    struct cell_key key;
    enum petal_status status;

    if (!mem_grow_array(collect->allocator, &collect->place, &collect->place_capacity, 0,
                        cell_key_bound(collect->row.size, qualifier.size), 1))
        return PETAL_NO_MEMORY;
    cell_key_make(&key, collect->place, collect->row, qualifier, family_class, timestamp, sequence);
    status = seek(collect, source, &key, error);
    /* Out of order, a source could lead back to here for ever. */
    if (status == PETAL_OK && source->valid && cell_compare_key(&source->cell, &key) < 0)
        return error_set(error, PETAL_CORRUPT, "cells of a store file are out of order");
    return status;
}

/* From a place in a column, or among the family markers, that needs no more to what is after it: a
 * few steps, then a seek. A step that would read a block is left to the seek. */
static enum petal_status
leave_column(struct row_collect *collect, struct cell_iter *source, bool family_class,
             petal_slice qualifier, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    int step = 0;

    while (status == PETAL_OK && at_column(collect, source, family_class, qualifier)) {
        if (step++ == STEPS_BEFORE_SEEK || source->pending)
            return seek_on(collect, source, family_class, qualifier, INT64_MIN, 0, error);
        status = source->ops->next(source, error);
        collect->cells_read +=
            status == PETAL_OK && at_column(collect, source, family_class, qualifier);
    }
    return status;
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
        if (use == USE_KEEP && !family_deletes && take.versions++ == MOST_FAMILY_VERSIONS) {
            collect->family_versions_left = true;
            break;
        }
        if (use == USE_END)
            break;
        if (use != USE_PASS) {
            status = keep(collect, cell, slice_make(NULL, 0), false);
            if (cell->type == PETAL_DELETE_FAMILY_VERSION) {
                collect->family_versions_deleted++;
            } else { /* above the one that was known, see use_of_family_marker */
                collect->has_family_delete = true;
                collect->family_delete = (struct version_point){cell->timestamp, cell->sequence};
            }
        }
        if (use == USE_LAST || status != PETAL_OK)
            break;
        status = source->ops->next(source, error);
    }
    return status == PETAL_OK ? put_in_order(collect) : status;
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

/*
 * What a column's cell is good for. Cells come newest first. As many of the newest versions of one
 * source as the answer can have are enough, as long as no marker of a single version hides any of
 * them: a marker of kind 12 or 14 hides one of them and all that follow. Those that markers known
 * by now hide do not count; whether markers of sources that are asked later hide others is seen in
 * the end (row_collect_finish).
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
    if ((take->has_marker && take->marker_timestamp == cell->timestamp) ||
        version_is_deleted(collect, qualifier, point))
        return USE_KEEP;
    take->versions++;
    return take->versions >= rules->versions ? USE_CUT : USE_VERSION;
}

/* Take the cells of the column that the source stands at; `column` is NULL where none is named. The
 * source may then stand in the column still, where the rest is not needed. */
static enum petal_status
take_cells(struct row_collect *collect, struct cell_iter *source, petal_slice qualifier,
           struct collect_column *column, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    struct column_take take = {0};

    while (status == PETAL_OK && at_column(collect, source, false, qualifier)) {
        const struct cell *cell = &source->cell;
        enum cell_use use;

        status = look_at_cell(collect, source, error);
        if (status != PETAL_OK)
            break;
        use = use_of(collect, &take, qualifier, cell);
        if (use == USE_END)
            break;
        if (use != USE_PASS) {
            status = keep(collect, cell, qualifier, use == USE_CUT);
            if (status != PETAL_OK)
                break;
            collect->column_versions_deleted += cell->type == PETAL_DELETE;
            if (column != NULL) {
                column->has_delete = column->has_delete || cell->type == PETAL_DELETE_COLUMN;
                column->versions += use == USE_VERSION || use == USE_CUT;
            }
        }
        if (use == USE_LAST || use == USE_CUT)
            break;
        if (use == USE_PASS && collect->skips_later &&
            cell->timestamp >= collect->visibility.rules.time_limit &&
            ++take.later == STEPS_BEFORE_SEEK)
            status = seek_on(collect, source, false, qualifier,
                             collect->visibility.rules.time_limit - 1, CELL_SEQUENCE_MAX, error);
        else
            status = source->ops->next(source, error);
    }
    return status;
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

    return source->pending || source->ops->plain_in_row == NULL
               ? 0
               : source->ops->plain_in_row(source, &limits);
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
            status = keep(collect, &source->cell, qualifier, false);
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
            status = leave_column(collect, source, false, qualifier, error);
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

    assert(collect->ordered == collect->count);
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
        status = leave_column(collect, source, true, slice_make(NULL, 0), error);
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
        status = put_in_order(collect);
    if (status == PETAL_NO_MEMORY)
        error_no_memory(error);
    return status;
}

/* ---- markers that were left ---- */

/* Does the source, from the first family marker of the put's timestamp on, hide it? */
static enum petal_status
find_hiding(struct row_collect *collect, struct cell_iter *source, const struct cell *put,
            bool *found, petal_error *error)
{
    const struct visibility_rules *rules = &collect->visibility.rules;
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && !*found && at_family_marker(collect, source) &&
           source->cell.timestamp == put->timestamp && source->cell.sequence > put->sequence) {
        const struct cell *cell = &source->cell;

        status = look_at_cell(collect, source, error);
        *found = status == PETAL_OK && cell->type == PETAL_DELETE_FAMILY_VERSION &&
                 cell->sequence <= rules->read_point && visibility_rules_heed_marker(rules, cell);
        if (status == PETAL_OK && !*found)
            status = source->ops->next(source, error);
    }
    return status;
}

enum petal_status
row_collect_check_family_versions(struct row_collect *collect, struct cell_iter *source,
                                  bool *found, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    assert(collect->family_versions_left);
    for (size_t i = 0; status == PETAL_OK && !*found && i < collect->shown_count; i++) {
        const struct cell *put = row_collect_cell(collect, i);

        status = seek_on(collect, source, true, slice_make(NULL, 0), put->timestamp,
                         CELL_SEQUENCE_MAX, error);
        if (status == PETAL_OK)
            status = find_hiding(collect, source, put, found, error);
    }
    if (status == PETAL_NO_MEMORY)
        error_no_memory(error);
    return status;
}

/* ---- when enough is known ---- */

/*
 * Judge what is known of the columns named, and remember of each from where on down nothing can
 * change its answer: below as many versions as are wanted, or the first cell after which no other
 * can be shown, or a deletion of the rest. A marker of a single version that hides one of the
 * versions is greater than it, so it is not in a source whose greatest point is below.
 */
static enum petal_status
settle_columns(struct row_collect *collect)
{
    struct visibility *visibility = &collect->visibility;
    struct collect_column *column = NULL;
    enum petal_status status = PETAL_OK;

    assert(collect->column_count > 0);
    visibility_start_row(visibility);
    for (size_t i = 0; status == PETAL_OK && i < collect->ordered; i++) {
        const struct cell *cell = row_collect_cell(collect, i);
        bool in_column = !cell_is_family_marker(cell->type);
        enum visibility_verdict verdict;

        while (in_column &&
               (column == NULL || !slice_equal(cell->qualifier, column->key.qualifier))) {
            column = column == NULL ? collect->columns : column + 1;
            assert(column < collect->columns + collect->column_count);
            column->settled = false;
            column->shown = 0;
        }
        if (in_column && column->settled)
            continue;
        status = visibility_judge(visibility, cell, &verdict);
        if (!in_column)
            continue;
        column->shown += verdict == VISIBILITY_SHOW;
        column->settled = verdict == VISIBILITY_COLUMN_DONE || cell->type == PETAL_DELETE_COLUMN ||
                          column->shown == visibility->rules.versions;
        column->settled_at = (struct version_point){cell->timestamp, cell->sequence};
    }
    collect->judged = collect->ordered;
    collect->failed = status != PETAL_OK;
    return status;
}

bool
row_collect_column_settled(struct row_collect *collect, const struct collect_column *column,
                           struct version_point point)
{
    if (collect->has_family_delete && version_point_below(point, collect->family_delete))
        return true;
    if (!column->has_delete && column->versions < collect->visibility.rules.versions)
        return false;
    if (collect->failed ||
        (collect->judged != collect->ordered && settle_columns(collect) != PETAL_OK))
        return false;
    return column->settled && version_point_below(point, column->settled_at);
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

/* ---- the finish ---- */

enum petal_status
row_collect_finish(struct row_collect *collect, bool *complete)
{
    struct visibility *visibility = &collect->visibility;
    enum petal_status status = collect->failed ? PETAL_NO_MEMORY : PETAL_OK;

    assert(collect->ordered == collect->count);
    *complete = true;
    visibility_start_row(visibility);
    for (size_t i = 0; status == PETAL_OK && i < collect->count; i++) {
        const struct collected_cell *kept = &collect->cells[collect->order[i]];
        enum visibility_verdict verdict;

        status = visibility_judge(visibility, &kept->cell, &verdict);
        if (verdict == VISIBILITY_SHOW)
            collect->order[collect->shown_count++] = collect->order[i];
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
