/* run.c -- see tests/model/run.h. */
#include "tests/model/run.h"

#include "base/slice.h"
#include "engine/compact/compactor.h"
#include "engine/state/db.h"
#include "tests/crash/ledger.h"

#include <stdlib.h>

/* ---- the model ---- */

struct model_side {
    struct model model;
    uint64_t points[OPERATION_SNAPSHOTS + 1]; /* read points, 0 for none */
    bool taken[OPERATION_SNAPSHOTS + 1];
    struct model_cursor cursors[OPERATION_CURSORS];
    const struct operation *cursor_scans[OPERATION_CURSORS]; /* that opened them */
    struct model_answer answer;                              /* reused */
};

static uint64_t
oldest_read_point(const struct model_side *side)
{
    uint64_t oldest = side->model.sequence;

    for (unsigned i = 1; i <= OPERATION_SNAPSHOTS; i++) {
        if (side->taken[i] && side->points[i] < oldest)
            oldest = side->points[i];
    }
    return oldest;
}

static uint64_t
newest_snapshot(const struct model_side *side)
{
    uint64_t newest = 0;

    for (unsigned i = 1; i <= OPERATION_SNAPSHOTS; i++) {
        if (side->taken[i] && side->points[i] > newest)
            newest = side->points[i];
    }
    return newest;
}

/* False: the engine must not be asked. */
static bool
model_does_write(struct model_side *side, const struct operation *operation,
                 struct model_text *text)
{
    struct model_results results = {.count = 0};
    int64_t timestamp = 0;
    enum model_outcome outcome = MODEL_WRITTEN;
    bool holds = !operation->changes_row || !operation->has_condition ||
                 model_condition_holds(&side->model, &operation->condition, &timestamp);

    if (holds)
        outcome =
            model_write(&side->model, operation->items, operation->item_count, timestamp, &results);
    if (outcome == MODEL_TOO_LARGE)
        return false;
    model_text_add(text, outcome == MODEL_REFUSED ? "refused\n" : "ok\n");
    if (!holds)
        model_text_add(text, "condition does not hold\n");
    for (size_t i = 0; i < results.count; i++)
        model_text_add_model_cell(text, &results.cells[i]);
    return true;
}

/* Append the cells, in pieces of a row as a cursor gives them. */
static void
add_pieces(const struct model_answer *answer, const struct operation *operation,
           struct model_text *text)
{
    uint64_t piece = 0;

    for (size_t i = 0; i < answer->count; i++) {
        bool new_row = i == 0 || !slice_equal(model_slice(&answer->cells[i]->row),
                                              model_slice(&answer->cells[i - 1]->row));

        piece = new_row || piece == operation->batch ? 1 : piece + 1;
        if (operation->by_rows && (new_row || (piece == 1 && operation->batch > 0)))
            model_text_add(text, "result\n");
        model_text_add_model_cell(text, answer->cells[i]);
    }
}

static uint64_t
read_point_of(const struct model_side *side, const struct operation *operation)
{
    return side->taken[operation->snapshot] ? side->points[operation->snapshot] : UINT64_MAX;
}

static void
model_does_read(struct model_side *side, const struct operation *operation, struct model_text *text)
{
    struct model_answer *answer = &side->answer;
    struct model_read read = operation->read;
    size_t rows = operation->kind == OPERATION_GET_ROWS ? OPERATION_ROWS : 1;

    read.read_point = read_point_of(side, operation);
    answer->count = 0;
    if (operation->kind == OPERATION_SCAN) {
        model_scan(&side->model, &read, &operation->scan, answer);
        add_pieces(answer, operation, text);
        model_text_add(text, "ok\n");
        return;
    }
    model_text_add(text, read.versions < 0 ? "refused\n" : "ok\n");
    for (size_t row = 0; read.versions >= 0 && row < rows; row++) {
        answer->count = 0;
        model_get(&side->model, &read, model_slice(&operation->rows[row]), answer);
        if (operation->kind == OPERATION_GET_ROWS)
            model_text_add(text, "result\n");
        for (size_t i = 0; i < answer->count; i++)
            model_text_add_model_cell(text, answer->cells[i]);
    }
}

static void
model_forgets_readers(struct model_side *side)
{
    memset(side->taken, 0, sizeof side->taken);
    for (size_t i = 0; i < OPERATION_CURSORS; i++)
        model_cursor_close(&side->cursors[i]);
}

/* `times` 0: to the end. */
static void
model_reads_cells(struct model_cursor *cursor, size_t times, struct model_text *text)
{
    for (size_t i = 0; times == 0 || i < times; i++) {
        const struct model_cell *cell = model_cursor_next(cursor);

        if (cell == NULL)
            return;
        model_text_add_model_cell(text, cell);
    }
}

static void
model_reads_rows(struct model_cursor *cursor, uint64_t batch, size_t times, struct model_text *text)
{
    for (size_t i = 0; times == 0 || i < times; i++) {
        size_t count;
        const struct model_cell **cells = model_cursor_next_row(cursor, batch, &count);

        if (count == 0)
            return;
        model_text_add(text, "result\n");
        for (size_t k = 0; k < count; k++)
            model_text_add_model_cell(text, cells[k]);
    }
}

static void
model_moves_cursor(struct model_cursor *cursor, uint64_t batch, const struct operation *operation,
                   struct model_text *text)
{
    for (size_t i = 0; cursor->open && i < operation->move_count; i++) {
        const struct operation_move *move = &operation->moves[i];

        if (move->kind == MOVE_SEEK)
            model_cursor_seek(cursor, &move->place);
        else if (move->kind == MOVE_NEXT_ROW)
            model_reads_rows(cursor, batch, move->times, text);
        else
            model_reads_cells(cursor, move->times, text);
    }
}

void
run_model_cursor(const struct model *model, struct model_cursor *cursor,
                 const struct operation **scan, const struct operation *operation,
                 uint64_t read_point, struct model_text *text)
{
    struct model_read read = operation->read;

    if (operation->kind == OPERATION_OPEN_CURSOR) {
        read.read_point = read_point;
        model_cursor_open(cursor, model, &read, &operation->scan);
        *scan = operation;
    } else if (operation->kind == OPERATION_MOVE_CURSOR) {
        model_moves_cursor(cursor, cursor->open ? (*scan)->batch : 0, operation, text);
    } else if (cursor->open) {
        if ((*scan)->by_rows)
            model_reads_rows(cursor, (*scan)->batch, 0, text);
        else
            model_reads_cells(cursor, 0, text);
        model_cursor_close(cursor);
    }
    model_text_add(text, "ok\n");
}

static bool
model_does(struct model_side *side, const struct operation *operation, struct model_text *text)
{
    struct model *model = &side->model;

    model->now_ms = operation->now_ms;
    switch (operation->kind) {
    case OPERATION_WRITE:
        return model_does_write(side, operation, text);
    case OPERATION_REOPEN:
    case OPERATION_CRASH: /* what was in memory is written to files, now or by the recovery */
        model_forgets_readers(side);
        model_flush(model, model->sequence);
        break;
    case OPERATION_FLUSH:
        model_flush(model, oldest_read_point(side));
        break;
    case OPERATION_COMPACT:
        if (operation->run_count > 0) {
            model_compact_runs(model, operation->family, operation->first_run, operation->run_count,
                               oldest_read_point(side), newest_snapshot(side));
            break;
        }
        for (unsigned family = 0; family < MODEL_FAMILIES; family++) {
            if (operation->family == family || operation->family == MODEL_FAMILIES)
                model_compact(model, family, oldest_read_point(side), newest_snapshot(side));
        }
        break;
    case OPERATION_TAKE_SNAPSHOT:
        side->taken[operation->snapshot] = true;
        side->points[operation->snapshot] = model->sequence;
        break;
    case OPERATION_FREE_SNAPSHOT:
        side->taken[operation->snapshot] = false;
        break;
    case OPERATION_GET:
    case OPERATION_GET_ROWS:
    case OPERATION_SCAN:
        model_does_read(side, operation, text);
        return true;
    case OPERATION_OPEN_CURSOR:
    case OPERATION_MOVE_CURSOR:
    case OPERATION_CLOSE_CURSOR:
        run_model_cursor(model, &side->cursors[operation->cursor],
                         &side->cursor_scans[operation->cursor], operation,
                         read_point_of(side, operation), text);
        return true;
    }
    model_text_add(text, "ok\n");
    return true;
}

void
run_model(const struct operation_list *list, struct run_answers *answers)
{
    struct model_side side = {0};
    struct model_text text = {0};

    model_init(&side.model, list->families);
    answers->count = list->count;
    answers->texts = test_allocate(list->count * sizeof *answers->texts);
    for (size_t i = 0; i < list->count; i++) {
        model_text_clear(&text);
        answers->texts[i] =
            model_does(&side, &list->operations[i], &text) ? test_strdup(text.bytes) : NULL;
    }
    model_text_free(&text);
    model_forgets_readers(&side);
    model_answer_free(&side.answer);
    model_free(&side.model);
}

void
run_answers_free(struct run_answers *answers)
{
    for (size_t i = 0; i < answers->count; i++)
        free(answers->texts[i]);
    free(answers->texts);
    *answers = (struct run_answers){0};
}

/* ---- the engine ---- */

struct engine_side {
    const struct run_settings *settings;
    struct fixture fixture;
    struct engine engine;
};

void
run_family_options(const struct model_family *family, const struct run_settings *settings,
                   petal_family_options *options)
{
    *options = (petal_family_options){.versions = family->versions,
                                      .min_versions = family->min_versions,
                                      .ttl_seconds =
                                          family->has_ttl ? (uint32_t)(family->ttl_ms / 1000) : 0,
                                      .keep_deleted_cells = family->keep_deleted,
                                      .new_version_behavior = family->new_version_behavior,
                                      .block_bytes = settings->block_bytes,
                                      .compression = settings->compression,
                                      .bloom = settings->bloom,
                                      .bloom_prefix_bytes = settings->bloom_prefix_bytes};
}

static enum petal_status
attach(struct engine_side *side, petal_error *error)
{
    struct engine *engine = &side->engine;
    enum petal_status status;

    engine->db = side->fixture.db;
    atomic_store(&engine->db->general_reads, side->settings->general_reads);
    status = petal_table_open(engine->db, slice_from_text("t"), &engine->table, error);
    for (unsigned i = 0; status == PETAL_OK && i < MODEL_FAMILIES; i++)
        status = petal_table_family(engine->table, model_text_family_name(i), &engine->families[i],
                                    error);
    if (status == PETAL_OK)
        status = petal_result_new(engine->db, &engine->result, error);
    for (size_t i = 0; status == PETAL_OK && i < OPERATION_ROWS - 1; i++)
        status = petal_result_new(engine->db, &engine->more[i], error);
    return status;
}

static enum petal_status
begin(struct engine_side *side, const struct operation_list *list,
      const struct run_settings *settings, petal_error *error)
{
    petal_family_options families[MODEL_FAMILIES];
    petal_table_options options = {
        .name = slice_from_text("t"), .families = families, .family_count = MODEL_FAMILIES};
    petal_table *table;
    enum petal_status status;

    *side = (struct engine_side){.settings = settings};
    fixture_init(&side->fixture, 1);
    test_clock_set(&side->fixture.clock, 1000);
    side->fixture.options.cache_bytes = settings->cache_bytes;
    side->fixture.options.map_files = settings->map_files;
    for (unsigned i = 0; i < MODEL_FAMILIES; i++) {
        run_family_options(&list->families[i], settings, &families[i]);
        families[i].name = model_text_family_name(i);
    }
    status = fixture_open(&side->fixture, error);
    if (status == PETAL_OK)
        status = petal_table_create(side->fixture.db, &options, &table, error);
    return status == PETAL_OK ? attach(side, error) : status;
}

static void
detach(struct engine_side *side)
{
    for (unsigned i = 1; i <= OPERATION_SNAPSHOTS; i++)
        petal_snapshot_free(side->engine.snapshots[i]);
    for (size_t i = 0; i < OPERATION_CURSORS; i++)
        petal_cursor_close(side->engine.cursors[i]);
    for (size_t i = 0; i < OPERATION_ROWS - 1; i++)
        petal_result_free(side->engine.more[i]);
    petal_result_free(side->engine.result);
    side->engine = (struct engine){.db = NULL};
}

static enum petal_status
restart(struct engine_side *side, bool crash, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    detach(side);
    if (crash) {
        fixture_die(&side->fixture);
    } else {
        status = petal_close(side->fixture.db, error);
        side->fixture.db = NULL;
    }
    if (status == PETAL_OK)
        status = fixture_open(&side->fixture, error);
    return status == PETAL_OK ? attach(side, error) : status;
}

static enum petal_status
compact(struct engine *engine, const struct operation *operation, petal_error *error)
{
    if (operation->run_count > 0)
        return compactor_compact_runs(engine->families[operation->family], operation->first_run,
                                      operation->run_count, error);
    return petal_compact(
        engine->table,
        operation->family == MODEL_FAMILIES ? NULL : engine->families[operation->family], error);
}

static void
engine_does(struct engine_side *side, const struct operation *operation, unsigned without,
            struct model_text *text)
{
    struct engine *engine = &side->engine;
    petal_snapshot **snapshot = &engine->snapshots[operation->snapshot];
    enum petal_status status = PETAL_OK;
    petal_error error = {0};

    switch (operation->kind) {
    case OPERATION_WRITE:
        engine_write(engine, operation, text);
        return;
    case OPERATION_GET:
        engine_get(engine, operation, without, text);
        return;
    case OPERATION_GET_ROWS:
        engine_get_rows(engine, operation, without, text);
        return;
    case OPERATION_SCAN:
        engine_scan(engine, operation, without, text);
        return;
    case OPERATION_OPEN_CURSOR:
        engine_open_cursor(engine, operation, without, text);
        return;
    case OPERATION_MOVE_CURSOR:
        engine_move_cursor(engine, operation, text);
        return;
    case OPERATION_CLOSE_CURSOR:
        engine_close_cursor(engine, operation, text);
        return;
    case OPERATION_FLUSH:
        status = petal_flush(engine->db, operation->whole_database ? NULL : engine->table, &error);
        break;
    case OPERATION_COMPACT:
        status = compact(engine, operation, &error);
        break;
    case OPERATION_REOPEN:
    case OPERATION_CRASH:
        status = restart(side, operation->kind == OPERATION_CRASH, &error);
        break;
    case OPERATION_TAKE_SNAPSHOT:
        petal_snapshot_free(*snapshot);
        *snapshot = NULL;
        status = petal_snapshot_new(engine->db, snapshot, &error);
        break;
    case OPERATION_FREE_SNAPSHOT:
        petal_snapshot_free(*snapshot);
        *snapshot = NULL;
        break;
    }
    engine_add_status(text, status, &error);
}

bool
run_engine(const struct operation_list *list, const struct run_settings *settings,
           const struct run_answers *answers, struct run_difference *difference)
{
    struct engine_side side;
    struct model_text *got = &difference->got;
    bool same = true;
    petal_error error;
    enum petal_status status = begin(&side, list, settings, &error);
    size_t i = 0;

    *difference = (struct run_difference){0};
    if (status != PETAL_OK) {
        engine_add_status(got, status, &error);
        same = false;
    }
    for (; same && i < list->count; i++) {
        const struct operation *operation = &list->operations[i];
        unsigned without = settings->without | (settings->choose_without ? operation->without : 0);

        if (answers->texts[i] == NULL)
            continue;
        test_clock_set(&side.fixture.clock, operation->now_ms);
        model_text_clear(got);
        engine_does(&side, operation, without, got);
        same = strcmp(got->bytes, answers->texts[i]) == 0;
        difference->index = i;
    }
    if (same) {
        model_text_clear(got);
        difference->index = list->count;
        status = petal_table_verify(side.engine.table, &error);
        engine_add_status(got, status, &error);
        same = status == PETAL_OK;
    }
    detach(&side);
    fixture_fini(&side.fixture);
    if (same)
        model_text_free(got);
    return same;
}
