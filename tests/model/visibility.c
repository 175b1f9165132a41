/* visibility.c -- which puts of a row live, and what of it a flush or a compaction keeps; see
 * model.h. */
#include "tests/model/model.h"

#include "base/slice.h"

#include <assert.h>
#include <string.h>

bool
model_is_marker(const struct model_cell *cell)
{
    return cell->type != PETAL_PUT;
}

bool
model_is_family_marker(const struct model_cell *cell)
{
    return cell->type == PETAL_DELETE_FAMILY || cell->type == PETAL_DELETE_FAMILY_VERSION;
}

bool
model_same_column(const struct model_cell *a, const struct model_cell *b)
{
    return model_is_family_marker(a) == model_is_family_marker(b) &&
           slice_equal(model_slice(&a->qualifier), model_slice(&b->qualifier));
}

bool
model_is_dead(const struct model_cell *cell, int64_t now_ms)
{
    return cell->has_ttl && cell->timestamp + cell->ttl_ms < now_ms;
}

bool
model_is_expired(const struct model_rules *rules, const struct model_cell *cell)
{
    return rules->family->has_ttl && cell->timestamp < rules->now_ms - rules->family->ttl_ms;
}

bool
model_exists(const struct model_rules *rules, const struct model_cell *cell)
{
    return cell->sequence <= rules->read_point && !model_is_dead(cell, rules->now_ms) &&
           !(rules->family->min_versions == 0 && model_is_expired(rules, cell));
}

/* Whether the marker may hide anything. */
static bool
works(const struct model_rules *rules, const struct model_cell *marker)
{
    if (!model_is_marker(marker) || !model_exists(rules, marker))
        return false;
    if (rules->family->keep_deleted == PETAL_KEEP_DELETED_FALSE ||
        (rules->rewrite && rules->family->new_version_behavior))
        return true;
    if (!rules->rewrite)
        return marker->timestamp >= rules->time_min && marker->timestamp < rules->time_limit;
    return rules->family->keep_deleted == PETAL_KEEP_DELETED_TTL && model_is_expired(rules, marker);
}

/* Whether the marker's place and timestamp are such that it concerns the put, whichever was written
 * first. */
static bool
matches(const struct model_cell *marker, const struct model_cell *put)
{
    if (!model_is_family_marker(marker) && !model_same_column(marker, put))
        return false;
    if (marker->type == PETAL_DELETE || marker->type == PETAL_DELETE_FAMILY_VERSION)
        return marker->timestamp == put->timestamp;
    return marker->timestamp >= put->timestamp;
}

/* Rule 3. */
static bool
hides(const struct model_cell *marker, const struct model_cell *put)
{
    return matches(marker, put) &&
           (marker->timestamp > put->timestamp || marker->sequence > put->sequence);
}

static bool
hidden_by(const struct model_rules *rules, const struct model_cell *cells, size_t count,
          const struct model_cell *put)
{
    for (size_t i = 0; i < count; i++) {
        if (works(rules, &cells[i]) && hides(&cells[i], put))
            return true;
    }
    return false;
}

/* ---- NEW_VERSION_BEHAVIOR: the row's history again, write by write ---- */

/* After each write: a living put is surplus, and dead for good, that has VERSIONS living ones of
 * its column above it. */
static void
bury_surplus(const struct model_rules *rules, const struct model_cell *cells, size_t count,
             bool *living)
{
    uint32_t above = 0;

    for (size_t i = 0; i < count; i++) { /* newest first */
        if (i > 0 && !model_same_column(&cells[i], &cells[i - 1]))
            above = 0;
        if (living[i] && above >= rules->family->versions)
            living[i] = false;
        above += living[i];
    }
}

/* The same, of what a marker concerns, when that is written. */
static void
bury_surplus_at(const struct model_rules *rules, const struct model_cell *cells, size_t count,
                const struct model_cell *marker, bool *living)
{
    uint32_t above = 0;

    for (size_t i = 0; i < count; i++) {
        if (i > 0 && !model_same_column(&cells[i], &cells[i - 1]))
            above = 0;
        if (living[i] && ++above > rules->family->versions &&
            (model_is_family_marker(marker) ||
             (model_same_column(marker, &cells[i]) && marker->timestamp >= cells[i].timestamp)))
            living[i] = false;
    }
}

static void
apply_write(const struct model_cell *cells, size_t count, size_t written, bool *living)
{
    for (size_t i = 0; i < count; i++) {
        if (model_is_marker(&cells[written]) ? matches(&cells[written], &cells[i])
                                             : model_same_column(&cells[written], &cells[i]) &&
                                                   cells[written].timestamp == cells[i].timestamp)
            living[i] = false;
    }
    living[written] = !model_is_marker(&cells[written]);
}

/* Every write that counts is a moment at which puts can be surplus, or markers alone are. */
static void
replay(const struct model_rules *rules, const struct model_cell *cells, size_t count,
       bool markers_alone, bool *living)
{
    uint64_t done = 0;

    memset(living, 0, count * sizeof *living);
    for (;;) {
        size_t next = count;

        for (size_t i = 0; i < count; i++) {
            if (cells[i].sequence > done && model_exists(rules, &cells[i]) &&
                (!model_is_marker(&cells[i]) || works(rules, &cells[i])) &&
                (next == count || cells[i].sequence < cells[next].sequence))
                next = i;
        }
        if (next == count)
            return;
        done = cells[next].sequence;
        for (size_t i = next; markers_alone && i < count; i++) {
            if (cells[i].sequence == done && works(rules, &cells[i]))
                bury_surplus_at(rules, cells, count, &cells[i], living);
        }
        for (size_t i = next; i < count; i++) { /* those of a bulk are written at once */
            if (cells[i].sequence == done && model_exists(rules, &cells[i]) &&
                (!model_is_marker(&cells[i]) || works(rules, &cells[i])))
                apply_write(cells, count, i, living);
        }
        if (!markers_alone)
            bury_surplus(rules, cells, count, living);
    }
}

void
model_find_living(const struct model_rules *rules, const struct model_cell *cells, size_t count,
                  bool *living)
{
    if (rules->family->new_version_behavior) {
        replay(rules, cells, count, false, living);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        living[i] = !model_is_marker(&cells[i]) && model_exists(rules, &cells[i]) &&
                    !hidden_by(rules, cells, count, &cells[i]);
        for (size_t j = 0; living[i] && j < i;
             j++) { /* rule 4; equal timestamps: greater sequence first */
            if (living[j] && model_same_column(&cells[i], &cells[j]) &&
                cells[i].timestamp == cells[j].timestamp)
                living[i] = false;
        }
    }
}

/* ---- flush and compaction ---- */

/* The row that is rewritten. */
struct rewritten {
    const struct model_rules *rules;
    const struct model_cell *cells;
    size_t count;
    bool all_files;
    int64_t earliest_put;
    bool living[MODEL_MOST_ROW_CELLS];
    bool waiting[MODEL_MOST_ROW_CELLS]; /* they live when others have died by their own TTL */
};

/* Living versions of the column that are newer. */
static uint32_t
count_living(const struct rewritten *row, size_t index)
{
    uint32_t count = 0;

    for (size_t i = 0; i < index; i++)
        count += row->living[i] && model_same_column(&row->cells[i], &row->cells[index]);
    return count;
}

/* Timestamps of puts of the column that come before, deleted or not. */
static uint32_t
count_timestamps(const struct rewritten *row, size_t index)
{
    const struct model_cell *last = NULL;
    uint32_t count = 0;

    for (size_t i = 0; i < index; i++) {
        const struct model_cell *cell = &row->cells[i];

        if (model_is_marker(cell) || !model_same_column(cell, &row->cells[index]) ||
            !model_exists(row->rules, cell))
            continue;
        count += last == NULL || last->timestamp != cell->timestamp;
        last = cell;
    }
    return count;
}

static bool
is_within(const struct rewritten *row, const struct model_cell *cell, uint32_t before)
{
    const struct model_family *family = row->rules->family;

    return before < family->versions &&
           (!model_is_expired(row->rules, cell) || before < family->min_versions);
}

/* KEEP_DELETED_CELLS, of the marker or of what it deletes. */
static bool
keeps_what_is_deleted(const struct rewritten *row, const struct model_cell *marker)
{
    enum petal_keep_deleted keep = row->rules->family->keep_deleted;

    return keep == PETAL_KEEP_DELETED_TRUE ||
           (keep == PETAL_KEEP_DELETED_TTL && !model_is_expired(row->rules, marker));
}

/* In the order of writes, in all files: a put that a marker has ended stays as long as it is within
 * VERSIONS, deleted ones counted. */
static bool
keeps_ended_put(const struct rewritten *row, size_t index)
{
    const struct model_cell *put = &row->cells[index];

    for (size_t i = 0; i < row->count; i++) {
        const struct model_cell *cell = &row->cells[i];

        if (cell->sequence <= put->sequence || !model_exists(row->rules, cell))
            continue;
        if (model_is_marker(cell)
                ? matches(cell, put) && !keeps_what_is_deleted(row, cell)
                : model_same_column(cell, put) && cell->timestamp == put->timestamp)
            return false;
    }
    return row->rules->family->keep_deleted != PETAL_KEEP_DELETED_FALSE &&
           is_within(row, put, count_timestamps(row, index));
}

/* Timestamps of the column, greater ones or this one, that have a put before this one that shows
 * or waits and has no TTL of its own. */
static uint32_t
count_lasting(const struct rewritten *row, size_t index, bool same_timestamp)
{
    uint32_t count = 0;
    int64_t counted = 0;

    for (size_t i = 0; i < index; i++) {
        const struct model_cell *cell = &row->cells[i];

        if (!row->waiting[i] || cell->has_ttl || (count > 0 && counted == cell->timestamp) ||
            !model_same_column(cell, &row->cells[index]) ||
            (same_timestamp && cell->timestamp != row->cells[index].timestamp))
            continue;
        counted = cell->timestamp;
        count++;
    }
    return count;
}

/* What MIN_VERSIONS may ask for when puts with a TTL of their own have died. */
static void
find_waiting(struct rewritten *row)
{
    const struct model_rules *rules = row->rules;

    memset(row->waiting, 0, row->count * sizeof *row->waiting);
    if (rules->family->min_versions == 0)
        return;
    if (rules->family->new_version_behavior) {
        replay(rules, row->cells, row->count, true, row->waiting);
        return;
    }
    for (size_t i = 0; i < row->count; i++)
        row->waiting[i] = !model_is_marker(&row->cells[i]) && model_exists(rules, &row->cells[i]) &&
                          !hidden_by(rules, row->cells, row->count, &row->cells[i]);
}

static bool
keeps_put(const struct rewritten *row, size_t index)
{
    if (row->waiting[index] && count_lasting(row, index, true) == 0 &&
        count_lasting(row, index, false) < row->rules->family->min_versions)
        return true;
    if (row->living[index])
        return is_within(row, &row->cells[index], count_living(row, index));
    return row->rules->family->new_version_behavior && keeps_ended_put(row, index);
}

/* In all files. */
static bool
keeps_marker(const struct rewritten *row, size_t index, const bool *kept)
{
    const struct model_cell *marker = &row->cells[index];

    if (!keeps_what_is_deleted(row, marker) || marker->timestamp < row->earliest_put)
        return false;
    if (row->rules->family->new_version_behavior)
        return model_is_family_marker(marker) ||
               is_within(row, marker, count_timestamps(row, index));
    for (size_t i = 0; i < index; i++) { /* a double */
        if (kept[i] && row->cells[i].type == marker->type &&
            model_same_column(&row->cells[i], marker) &&
            row->cells[i].timestamp == marker->timestamp &&
            row->cells[i].sequence <= row->rules->read_point)
            return false;
    }
    /* It goes after a put that goes for want of room. */
    return count_living(row, index) == 0 || is_within(row, marker, count_living(row, index) - 1) ||
           count_lasting(row, index, false) < row->rules->family->min_versions;
}

static void
judge_row(struct rewritten *row, bool *kept)
{
    model_find_living(row->rules, row->cells, row->count, row->living);
    find_waiting(row);
    for (size_t i = 0; i < row->count; i++) {
        const struct model_cell *cell = &row->cells[i];

        if (cell->sequence > row->rules->read_point ||
            (row->rules->family->new_version_behavior && !row->all_files))
            kept[i] = true;
        else if (!model_exists(row->rules, cell))
            kept[i] = false;
        else if (!model_is_marker(cell))
            kept[i] = keeps_put(row, i);
        else
            kept[i] = !row->all_files || keeps_marker(row, i, kept);
    }
}

/* The least timestamp of a put in the family's runs, but for those that are past the time to live
 * as a whole and not the newest. */
static int64_t
earliest_put(const struct model *model, const struct model_rules *rules, unsigned family)
{
    int64_t earliest = INT64_MAX;
    uint64_t newest = 0;

    for (size_t i = 0; i < model->count; i++) {
        if (model->cells[i].family == family && model->cells[i].run > newest)
            newest = model->cells[i].run;
    }
    for (size_t i = 0; i < model->count; i++) {
        const struct model_cell *cell = &model->cells[i];
        bool lives = cell->run == newest;

        if (cell->family != family || cell->run == 0 || model_is_marker(cell))
            continue;
        for (size_t k = 0; k < model->count; k++)
            lives =
                lives ||
                (model->cells[k].family == family && model->cells[k].run == cell->run &&
                 (rules->family->min_versions > 0 || !model_is_expired(rules, &model->cells[k])));
        if (lives && cell->timestamp < earliest)
            earliest = cell->timestamp;
    }
    return earliest;
}

/* Rewrite the family's cells of the runs least .. greatest, 0 being memory, into run `output`, 0
 * being that of the greatest sequence that is kept. */
static void
rewrite(struct model *model, unsigned family, uint64_t read_point, bool all_files, uint64_t least,
        uint64_t greatest, uint64_t output)
{
    struct model_rules rules = {.family = &model->families[family],
                                .read_point = read_point,
                                .now_ms = model->now_ms,
                                .rewrite = true};
    struct rewritten row = {.rules = &rules, .all_files = all_files};
    static struct model_cell cells_of_row[MODEL_MOST_ROW_CELLS];
    uint64_t greatest_kept = output;
    size_t out = 0;

    row.cells = cells_of_row;
    row.earliest_put = all_files ? earliest_put(model, &rules, family) : INT64_MIN;
    for (size_t i = 0; i < model->count; i++) {
        const struct model_cell *cell = &model->cells[i];

        /* It is kept, and a marker may have to go on hiding it. */
        if (cell->family == family && cell->run >= least && cell->run <= greatest &&
            cell->sequence > read_point)
            row.all_files = false;
    }
    for (size_t first = 0, cells; first < model->count; first += cells) {
        bool kept[MODEL_MOST_ROW_CELLS];

        row.count = 0;
        cells = model_row_cells(model, first);
        for (size_t i = first; i < first + cells; i++) {
            if (model->cells[i].family == family && model->cells[i].run >= least &&
                model->cells[i].run <= greatest)
                cells_of_row[row.count++] = model->cells[i];
        }
        judge_row(&row, kept);
        for (size_t i = first, j = 0; i < first + cells; i++) {
            bool input = j < row.count && model->cells[i].sequence == row.cells[j].sequence;

            if (input && !kept[j++])
                continue;
            model->cells[out] = model->cells[i];
            if (input)
                model->cells[out].run = UINT64_MAX;
            if (input && output == 0 && model->cells[out].sequence > greatest_kept)
                greatest_kept = model->cells[out].sequence;
            out++;
        }
    }
    model->count = out;
    for (size_t i = 0; i < out; i++) {
        if (model->cells[i].run == UINT64_MAX)
            model->cells[i].run = greatest_kept;
    }
}

void
model_flush(struct model *model, uint64_t read_point)
{
    for (unsigned family = 0; family < MODEL_FAMILIES; family++)
        rewrite(model, family, read_point, false, 0, 0, 0);
}

/* The family's oldest run after `run`; 0: there is none. */
static uint64_t
next_run(const struct model *model, unsigned family, uint64_t run)
{
    uint64_t next = 0;

    for (size_t i = 0; i < model->count; i++) {
        if (model->cells[i].family == family && model->cells[i].run > run &&
            (next == 0 || model->cells[i].run < next))
            next = model->cells[i].run;
    }
    return next;
}

void
model_compact(struct model *model, unsigned family, uint64_t read_point, uint64_t newest_snapshot)
{
    uint64_t newest = 0;
    bool all_files = true;

    for (uint64_t run = next_run(model, family, 0); run != 0; run = next_run(model, family, run))
        newest = run;
    /* What a snapshot sees in memory, markers may have to go on hiding from it; and what was there
     * before a bulk, from all: then it goes as in a flush. */
    for (size_t i = 0; i < model->count; i++) {
        if (model->cells[i].family == family && model->cells[i].run == 0 &&
            (model->cells[i].sequence <= newest_snapshot || model->cells[i].sequence < newest))
            all_files = false;
    }
    if (newest != 0)
        rewrite(model, family, read_point, all_files, 1, newest, newest);
}

void
model_compact_runs(struct model *model, unsigned family, size_t first, size_t count,
                   uint64_t read_point, uint64_t newest_snapshot)
{
    uint64_t least = next_run(model, family, 0), greatest;

    for (size_t i = 0; i < first && least != 0; i++)
        least = next_run(model, family, least);
    if (least == 0)
        return;
    greatest = least;
    for (size_t i = 1; i < count && next_run(model, family, greatest) != 0; i++)
        greatest = next_run(model, family, greatest);
    if (first == 0 && next_run(model, family, greatest) == 0)
        model_compact(model, family, read_point, newest_snapshot);
    else
        rewrite(model, family, read_point, false, least, greatest, greatest);
}
