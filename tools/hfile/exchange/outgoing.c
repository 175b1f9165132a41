/* outgoing.c -- see outgoing.h. */
#include "tools/hfile/exchange/outgoing.h"

#include "tools/hfile/format/error.h"
#include "tools/hfile/format/memory.h"

#include <assert.h>

static bool
is_family_marker(enum petal_cell_type type)
{
    return type == PETAL_DELETE_FAMILY || type == PETAL_DELETE_FAMILY_VERSION;
}

enum petal_status
outgoing_open(struct outgoing *outgoing, petal_db *db, petal_table *table, petal_family *family,
              petal_slice from, petal_slice to, const petal_snapshot *snapshot, bool visible_only,
              petal_error *error)
{
    petal_column whole = {.family = family, .whole_family = true};
    petal_scan_options options = {.size = sizeof options,
                                  .read = {.size = sizeof options.read,
                                           .columns = &whole,
                                           .column_count = 1,
                                           .keep_out_of_cache = true,
                                           .versions = PETAL_ALL_VERSIONS,
                                           .snapshot = snapshot},
                                  .start_row = from,
                                  .stop_row = to,
                                  .raw = !visible_only};
    enum petal_status status;

    *outgoing = (struct outgoing){.table = table,
                                  .family = family,
                                  .snapshot = snapshot,
                                  .visible_only = visible_only,
                                  .at_is_given = true};
    hfile_buffer_init(&outgoing->row, &hfile_default_allocator);
    hfile_buffer_init(&outgoing->column, &hfile_default_allocator);
    hfile_buffer_init(&outgoing->family_ties, &hfile_default_allocator);
    status = petal_result_new(db, &outgoing->answer, error);
    if (status == PETAL_OK)
        status = petal_cursor_open(table, &options, &outgoing->cursor, error);
    if (status != PETAL_OK)
        outgoing_close(outgoing);
    return status;
}

void
outgoing_close(struct outgoing *outgoing)
{
    petal_cursor_close(outgoing->cursor);
    petal_result_free(outgoing->answer);
    hfile_buffer_free(&outgoing->row);
    hfile_buffer_free(&outgoing->column);
    hfile_buffer_free(&outgoing->family_ties);
    outgoing->cursor = NULL;
    outgoing->answer = NULL;
}

/* ---- Who has won ----------------------------------------------------------------------------- */

/* Do readers see a put of the row with this timestamp, in the column or, NULL, in any? */
static enum petal_status
put_is_seen(struct outgoing *outgoing, const struct hfile_buffer *column, int64_t timestamp,
            bool *is_seen, petal_error *error)
{
    petal_column asked = {.family = outgoing->family, .whole_family = column == NULL};
    petal_read_options options = {.size = sizeof options,
                                  .columns = &asked,
                                  .column_count = 1,
                                  .has_time_range = true,
                                  .time_min = timestamp,
                                  .time_limit = timestamp + 1,
                                  .versions = PETAL_ALL_VERSIONS,
                                  .snapshot = outgoing->snapshot};
    enum petal_status status;

    assert(timestamp < PETAL_LATEST);
    if (column != NULL)
        asked.qualifier = hfile_buffer_slice(column);
    status = petal_get(outgoing->table, hfile_buffer_slice(&outgoing->row), &options,
                       outgoing->answer, error);
    *is_seen = status == PETAL_OK && petal_result_count(outgoing->answer) > 0;
    return status;
}

static bool
is_family_tie(const struct outgoing *outgoing, int64_t timestamp)
{
    size_t count = outgoing->family_ties.size / sizeof timestamp;

    for (size_t i = 0; i < count; i++) {
        int64_t tie;

        memcpy(&tie, outgoing->family_ties.bytes + i * sizeof tie, sizeof tie);
        if (tie == timestamp)
            return true;
    }
    return false;
}

static bool
is_at_tie(const struct outgoing *outgoing, const petal_cell *cell)
{
    return outgoing->has_tie && cell->timestamp == outgoing->tie &&
           hfile_slice_equal(cell->qualifier, hfile_buffer_slice(&outgoing->column));
}

/* ---- Markers that have become earlier ones --------------------------------------------------- */

static petal_slice
qualifier_of(const struct outgoing *outgoing, const struct outgoing_marker *marker)
{
    return marker->of_family ? hfile_slice(NULL, 0) : hfile_buffer_slice(&outgoing->column);
}

/* HBase's order inside a row. */
static int
compare_in_row(petal_slice qualifier, int64_t timestamp, int type, petal_slice other_qualifier,
               int64_t other_timestamp, int other_type)
{
    int order = hfile_slice_compare(qualifier, other_qualifier);

    if (order == 0)
        order = timestamp > other_timestamp ? -1 : timestamp < other_timestamp;
    return order != 0 ? order : other_type - type;
}

/* Of two markers with one key the one counts that is there longer. */
static bool
outlives(const struct outgoing_marker *marker, const struct outgoing_marker *other)
{
    return other->has_ttl && (!marker->has_ttl || marker->ttl_ms > other->ttl_ms);
}

static void
add_moved(struct outgoing *outgoing, struct outgoing_marker marker)
{
    petal_slice qualifier = qualifier_of(outgoing, &marker);
    size_t place = 0;
    int order = 1;

    while (place < outgoing->moved_count) {
        const struct outgoing_marker *other = &outgoing->moved[place];

        order = compare_in_row(qualifier_of(outgoing, other), other->timestamp, (int)other->type,
                               qualifier, marker.timestamp, (int)marker.type);
        if (order >= 0)
            break;
        place++;
    }
    if (place < outgoing->moved_count && order == 0) {
        if (outlives(&marker, &outgoing->moved[place]))
            outgoing->moved[place] = marker;
        return;
    }
    assert(outgoing->moved_count < OUTGOING_MOST_MOVED);
    memmove(&outgoing->moved[place + 1], &outgoing->moved[place],
            (outgoing->moved_count - place) * sizeof marker);
    outgoing->moved[place] = marker;
    outgoing->moved_count++;
}

/* Is the first of them to be given before the cursor's cell? */
static bool
moved_is_next(const struct outgoing *outgoing)
{
    const petal_cell *at = outgoing->at;
    const struct outgoing_marker *first = &outgoing->moved[0];

    if (outgoing->moved_count == 0)
        return false;
    return at == NULL || !hfile_slice_equal(at->row, hfile_buffer_slice(&outgoing->row)) ||
           compare_in_row(qualifier_of(outgoing, first), first->timestamp, (int)first->type,
                          at->qualifier, at->timestamp, (int)at->type) <= 0;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* The row and the column of the cursor's cell become those that the state is about. */
static enum petal_status
enter(struct outgoing *outgoing, petal_error *error)
{
    const petal_cell *at = outgoing->at;

    if (!hfile_slice_equal(at->row, hfile_buffer_slice(&outgoing->row))) {
        assert(outgoing->moved_count == 0);
        hfile_buffer_clear(&outgoing->row);
        hfile_buffer_clear(&outgoing->family_ties);
        outgoing->has_tie = false;
        if (!hfile_buffer_append_slice(&outgoing->row, at->row))
            return hfile_error_no_memory(error);
    }
    if (!is_family_marker(at->type) &&
        !hfile_slice_equal(at->qualifier, hfile_buffer_slice(&outgoing->column))) {
        hfile_buffer_clear(&outgoing->column);
        outgoing->has_tie = false;
        if (!hfile_buffer_append_slice(&outgoing->column, at->qualifier))
            return hfile_error_no_memory(error);
    }
    return PETAL_OK;
}

/* A time to live is a tag in HBase. */
static void
give_time_to_live(struct outgoing *outgoing, int64_t ttl_ms, petal_hfile_cell *cell)
{
    hfile_put_u16(outgoing->tag, OUTGOING_TTL_TAG_BYTES - 2);
    outgoing->tag[2] = PETAL_HFILE_TAG_TTL;
    hfile_put_u64(outgoing->tag + 3, (uint64_t)ttl_ms);
    cell->tags = hfile_slice(outgoing->tag, sizeof outgoing->tag);
}

static void
give_marker(struct outgoing *outgoing, const struct outgoing_marker *marker, petal_hfile_cell *cell)
{
    *cell = (petal_hfile_cell){.row = hfile_buffer_slice(&outgoing->row),
                               .family = petal_family_name(outgoing->family),
                               .qualifier = qualifier_of(outgoing, marker),
                               .timestamp = marker->timestamp,
                               .type = (int)marker->type};
    if (marker->has_ttl)
        give_time_to_live(outgoing, marker->ttl_ms, cell);
}

/* The cursor stands at a marker, and moves on; *is_given says whether `cell` is it. */
static enum petal_status
pass_marker(struct outgoing *outgoing, petal_hfile_cell *cell, bool *is_given, petal_error *error)
{
    struct outgoing_marker marker = {.of_family = is_family_marker(outgoing->at->type),
                                     .type = outgoing->at->type,
                                     .timestamp = outgoing->at->timestamp,
                                     .has_ttl = outgoing->at->has_ttl,
                                     .ttl_ms = outgoing->at->ttl_ms};
    bool is_outlived = false;
    const petal_cell *next;
    enum petal_status status = petal_cursor_next(outgoing->cursor, &next, error);

    if (status != PETAL_OK)
        return status;
    outgoing->at = next;
    outgoing->at_is_given = false;
    /* A put that has outlived the marker stands after it: one of a column at once. */
    if (next != NULL && hfile_slice_equal(next->row, hfile_buffer_slice(&outgoing->row)) &&
        (marker.of_family ||
         (next->timestamp == marker.timestamp &&
          hfile_slice_equal(next->qualifier, hfile_buffer_slice(&outgoing->column)))))
        status = put_is_seen(outgoing, marker.of_family ? NULL : &outgoing->column,
                             marker.timestamp, &is_outlived, error);
    if (status != PETAL_OK)
        return status;
    *is_given = !is_outlived;
    if (!is_outlived) {
        give_marker(outgoing, &marker, cell);
        return PETAL_OK;
    }
    if (marker.of_family) {
        if (!hfile_buffer_append(&outgoing->family_ties, &marker.timestamp,
                                 sizeof marker.timestamp))
            return hfile_error_no_memory(error);
    } else {
        outgoing->has_tie = true;
        outgoing->tie = marker.timestamp;
        outgoing->tie_gives = true;
    }
    if ((marker.type == PETAL_DELETE_FAMILY || marker.type == PETAL_DELETE_COLUMN) &&
        marker.timestamp > 0) {
        outgoing->moved_markers++;
        marker.timestamp--;
        if (marker.has_ttl && marker.ttl_ms < INT64_MAX)
            marker.ttl_ms++; /* it dies when it would have */
        add_moved(outgoing, marker);
    } else {
        outgoing->left_markers++;
    }
    return PETAL_OK;
}

static void
give_put(struct outgoing *outgoing, const petal_cell *put, petal_hfile_cell *cell)
{
    *cell = (petal_hfile_cell){.row = put->row,
                               .family = put->family,
                               .qualifier = put->qualifier,
                               .value = put->value,
                               .timestamp = put->timestamp,
                               .type = (int)put->type};
    if (put->has_ttl)
        give_time_to_live(outgoing, put->ttl_ms, cell);
}

/* The cursor stands at a put; *is_given says whether `cell` is it. */
static enum petal_status
pass_put(struct outgoing *outgoing, petal_hfile_cell *cell, bool *is_given, petal_error *error)
{
    const petal_cell *put = outgoing->at;

    if (!is_at_tie(outgoing, put) && is_family_tie(outgoing, put->timestamp)) {
        enum petal_status status =
            put_is_seen(outgoing, &outgoing->column, put->timestamp, &outgoing->tie_gives, error);

        if (status != PETAL_OK)
            return status;
        outgoing->has_tie = true;
        outgoing->tie = put->timestamp;
    }
    *is_given = true;
    if (is_at_tie(outgoing, put)) {
        *is_given = outgoing->tie_gives;
        outgoing->tie_gives = false;
        outgoing->left_puts += *is_given ? 0 : 1;
    }
    if (*is_given)
        give_put(outgoing, put, cell);
    outgoing->at_is_given = true;
    return PETAL_OK;
}

enum petal_status
outgoing_next(struct outgoing *outgoing, petal_hfile_cell *cell, bool *more, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    bool is_given = false;

    *more = true;
    while (status == PETAL_OK && !is_given) {
        if (outgoing->at_is_given) {
            status = petal_cursor_next(outgoing->cursor, &outgoing->at, error);
            if (status != PETAL_OK)
                break;
            outgoing->at_is_given = false;
        }
        if (moved_is_next(outgoing)) {
            give_marker(outgoing, &outgoing->moved[0], cell);
            outgoing->moved_count--;
            memmove(&outgoing->moved[0], &outgoing->moved[1],
                    outgoing->moved_count * sizeof outgoing->moved[0]);
            return PETAL_OK;
        }
        if (outgoing->at == NULL) {
            outgoing->at_is_given = false;
            *more = false;
            return PETAL_OK;
        }
        if (outgoing->visible_only) {
            give_put(outgoing, outgoing->at, cell);
            outgoing->at_is_given = true;
            return PETAL_OK;
        }
        status = enter(outgoing, error);
        if (status == PETAL_OK)
            status = outgoing->at->type == PETAL_PUT
                         ? pass_put(outgoing, cell, &is_given, error)
                         : pass_marker(outgoing, cell, &is_given, error);
    }
    return status;
}
