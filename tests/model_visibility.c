/* model_visibility.c -- which puts of a row live, and what of it a flush or a compaction keeps; see model.h. */
#include "tests/model.h"

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
    if (rules->family->keep_deleted == PETAL_KEEP_DELETED_FALSE)
        return true;
    if (!rules->rewrite)
        return marker->timestamp >= rules->time_min && marker->timestamp < rules->time_limit;
    return rules->family->keep_deleted == PETAL_KEEP_DELETED_TTL && model_is_expired(rules, marker);
}

/* Whether the marker's place and timestamp are such that it concerns the put, whichever was written first. */
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
          const struct model_cell *put, bool of_all_versions_only)
{
    for (size_t i = 0; i < count; i++) {
        if (of_all_versions_only && cells[i].type != PETAL_DELETE_COLUMN &&
            cells[i].type != PETAL_DELETE_FAMILY)
            continue;
        if (works(rules, &cells[i]) && hides(&cells[i], put))
            return true;
    }
    return false;
}

/* ---- NEW_VERSION_BEHAVIOR: the row's history again, write by write ---- */

/* After each write: a living put is surplus, and dead for good, that has VERSIONS living ones of its column above it. */
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

static void
replay(const struct model_rules *rules, const struct model_cell *cells, size_t count, bool *living)
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
        for (size_t i = 0; i < count; i++) {
            if (model_is_marker(&cells[next]) ? matches(&cells[next], &cells[i])
                                              : model_same_column(&cells[next], &cells[i]) &&
                                                    cells[next].timestamp == cells[i].timestamp)
                living[i] = false;
        }
        living[next] = !model_is_marker(&cells[next]);
        bury_surplus(rules, cells, count, living);
        done = cells[next].sequence;
    }
}

void
model_find_living(const struct model_rules *rules, const struct model_cell *cells, size_t count,
                  bool *living)
{
    if (rules->family->new_version_behavior) {
        replay(rules, cells, count, living);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        living[i] = !model_is_marker(&cells[i]) && model_exists(rules, &cells[i]) &&
                    !hidden_by(rules, cells, count, &cells[i], false);
        for (size_t j = 0; living[i] && j < i;
             j++) { /* rule 4; equal timestamps: greater sequence first */
            if (living[j] && model_same_column(&cells[i], &cells[j]) &&
                cells[i].timestamp == cells[j].timestamp)
                living[i] = false;
        }
    }
}

/* ---- flush and compaction ---- */

/* What of the column came before. */
struct progress {
    uint32_t counted; /* living versions */
    bool has_put;
    bool done; /* the rest of the column goes, markers, too */
};

/*
 * Under NEW_VERSION_BEHAVIOR HBase's compaction counts the markers that it keeps as if they were versions, and begins anew with the
 * first put of a column only: so those before it go on from the count of the column before.
 */
static bool
counts_marker(const struct model_rules *rules, const struct model_cell *marker,
              struct progress *progress)
{
    uint32_t most = rules->family->versions;

    if (model_is_expired(rules, marker) && rules->family->min_versions < most)
        most = rules->family->min_versions;
    progress->counted++;
    progress->done = progress->counted >= most && marker->qualifier.size > 0;
    return progress->counted <= most;
}

/* A marker at or below the read point, in a compaction of all files. */
static bool
compaction_keeps_marker(const struct model_rules *rules, const struct model_cell *cells,
                        size_t index, const bool *kept, struct progress *progress,
                        int64_t earliest_put)
{
    const struct model_cell *marker = &cells[index];
    bool expired = model_is_expired(rules, marker);

    if (rules->family->keep_deleted == PETAL_KEEP_DELETED_FALSE ||
        (rules->family->keep_deleted == PETAL_KEEP_DELETED_TTL && expired))
        return false;
    if (marker->timestamp < earliest_put)
        return false;
    if (rules->family->new_version_behavior)
        return counts_marker(rules, marker, progress);
    for (size_t i = 0; i < index; i++) { /* a double */
        if (kept[i] && cells[i].type == marker->type && model_same_column(&cells[i], marker) &&
            cells[i].timestamp == marker->timestamp && cells[i].sequence <= rules->read_point)
            return false;
    }
    return progress->counted <= rules->family->versions &&
           (!expired || progress->counted <= rules->family->min_versions);
}

/* A put at or below the read point. */
static bool
keeps_put(const struct model_rules *rules, const struct model_cell *cells, size_t count,
          size_t index, const bool *living, struct progress *progress)
{
    const struct model_cell *put = &cells[index];
    bool steps_over = put->qualifier.size > 0; /* else HBase goes cell by cell */
    bool by_writes = rules->family->new_version_behavior;
    bool keep;

    if (progress->done)
        return false;
    if (!progress->has_put)
        progress->counted = 0;
    progress->has_put = true;
    if (!living[index]) {
        if (!by_writes && hidden_by(rules, cells, count, put, true))
            progress->done = steps_over;
        return false;
    }
    progress->counted++;
    keep = progress->counted <= rules->family->versions &&
           (!model_is_expired(rules, put) || progress->counted <= rules->family->min_versions);
    progress->done =
        steps_over && (!keep || (by_writes && progress->counted == rules->family->versions));
    return keep;
}

/* What is rewritten. */
enum kind { OF_MEMORY, OF_SOME_FILES, OF_ALL_FILES };

static void
judge_row(const struct model_rules *rules, const struct model_cell *cells, size_t count,
          enum kind kind, int64_t earliest_put, bool *kept)
{
    bool compact = kind == OF_ALL_FILES;

    bool living[MODEL_MOST_ROW_CELLS];
    struct progress progress = {0};

    model_find_living(rules, cells, count, living);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && !model_same_column(&cells[i], &cells[i - 1]))
            progress = (struct progress){
                .counted = rules->family->new_version_behavior ? progress.counted : 0};
        if (cells[i].sequence > rules->read_point ||
            (rules->family->new_version_behavior && !compact))
            kept[i] = true;
        else if (!model_exists(rules, &cells[i]))
            kept[i] = false;
        else if (!model_is_marker(&cells[i]))
            kept[i] = keeps_put(rules, cells, count, i, living, &progress);
        else if (kind == OF_SOME_FILES)
            kept[i] = true;
        else if (progress.done)
            kept[i] = false;
        else
            kept[i] =
                !compact || compaction_keeps_marker(rules, cells, i, kept, &progress, earliest_put);
    }
}

/* Rewrite the family's cells of the runs least .. greatest, 0 being memory, into run `output`. */
static void
rewrite(struct model *model, unsigned family, uint64_t read_point, enum kind kind, uint64_t least,
        uint64_t greatest, uint64_t output)
{
    struct model_rules rules = {.family = &model->families[family],
                                .read_point = read_point,
                                .now_ms = model->now_ms,
                                .rewrite = true};
    static struct model_cell row[MODEL_MOST_ROW_CELLS];
    int64_t earliest_put = INT64_MAX;
    size_t out = 0;

    for (size_t i = 0; i < model->count; i++) {
        const struct model_cell *cell = &model->cells[i];

        if (cell->family != family || cell->run < least || cell->run > greatest)
            continue;
        if (!model_is_marker(cell) && cell->timestamp < earliest_put)
            earliest_put = cell->timestamp;
        /* It is kept, and a marker may have to go on hiding it. */
        if (cell->sequence > read_point && kind == OF_ALL_FILES)
            kind = OF_MEMORY;
    }
    for (size_t first = 0, cells; first < model->count; first += cells) {
        bool kept[MODEL_MOST_ROW_CELLS];
        size_t count = 0;

        cells = model_row_cells(model, first);
        for (size_t i = first; i < first + cells; i++) {
            if (model->cells[i].family == family && model->cells[i].run >= least &&
                model->cells[i].run <= greatest)
                row[count++] = model->cells[i];
        }
        judge_row(&rules, row, count, kind, earliest_put, kept);
        for (size_t i = first, j = 0; i < first + cells; i++) {
            bool input = j < count && model->cells[i].sequence == row[j].sequence;

            if (input && !kept[j++])
                continue;
            model->cells[out] = model->cells[i];
            if (input)
                model->cells[out].run = output;
            out++;
        }
    }
    model->count = out;
}

void
model_flush(struct model *model, uint64_t read_point)
{
    model->runs++;
    for (unsigned family = 0; family < MODEL_FAMILIES; family++)
        rewrite(model, family, read_point, OF_MEMORY, 0, 0, model->runs);
}

void
model_compact(struct model *model, unsigned family, uint64_t read_point, uint64_t newest_snapshot)
{
    enum kind kind = OF_ALL_FILES;

    /* What a snapshot sees in memory, markers may have to go on hiding from it: then it goes as in a flush. */
    for (size_t i = 0; i < model->count; i++) {
        if (model->cells[i].family == family && model->cells[i].run == 0 &&
            model->cells[i].sequence <= newest_snapshot)
            kind = OF_MEMORY;
    }
    rewrite(model, family, read_point, kind, 1, model->runs, model->runs);
}

/* The family's oldest run behind `run`; 0: there is none. */
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
        rewrite(model, family, read_point, OF_SOME_FILES, least, greatest, greatest);
}
