/* run.c -- lists of operations against the engine, and compared; see tests/model/run.h. */
#include "tests/model/run.h"

#include "base/slice.h"
#include "engine/compact/compactor.h"
#include "engine/state/db.h"

#include <stdio.h>

#define KIB 1024u

/* ---- beginning, opening again, ending ---- */

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

/* Other options than before, by the variant: nothing that is stored depends on them. */
static void
choose_options(struct run *run, unsigned variant)
{
    static const size_t caches[] = {64 * KIB, KIB * KIB, PETAL_NO_CACHE, 128 * KIB};
    petal_options *options = &run->fixture.options;

    options->cache_bytes = run->settings->cache_bytes;
    options->map_files = run->settings->map_files;
    if (run->settings->background) {
        options->no_compaction = false;
        options->memtable_bytes = 64 * KIB;
    }
    if (!run->settings->change_options)
        return;
    options->cache_bytes = caches[variant % 4];
    options->map_files = variant % 3 == 1;
    options->no_log_mapping = variant % 2 == 1;
    options->open_files = 8 + variant;
    options->memtable_bytes = variant % 2 == 1 ? 1024 * KIB : 0;
}

enum petal_status
run_open(struct run *run, petal_error *error)
{
    enum petal_status status = fixture_open(&run->fixture, error);

    if (status != PETAL_OK)
        return status;
    run->engine.db = run->fixture.db;
    run->engine.long_values = run->long_values;
    atomic_store(&run->engine.db->general_reads, run->settings->general_reads);
    if (run->settings->links) {
        run->engine.db->compact_file_bytes = 1500;
        run->engine.db->linked_file_bytes = 0;
    }
    atomic_store(&run->engine.db->hasty_reads, run->settings->hasty);
    return engine_attach(&run->engine, error);
}

enum petal_status
run_begin(struct run *run, const struct operation_list *list, const struct run_settings *settings,
          petal_error *error)
{
    enum petal_status status;

    *run = (struct run){.settings = settings};
    fixture_init(&run->fixture, 1);
    memory_vfs_use_log_windows(run->fixture.vfs, settings->log_windows);
    test_clock_set(&run->fixture.clock, 1000);
    choose_options(run, 0);
    run->long_values =
        settings->background &&
        (list->features & (FEATURE_CONDITIONS | FEATURE_READ_MODIFY_WRITE | FEATURE_FILTERS)) == 0;
    status = run_open(run, error);
    for (unsigned table = 0; status == PETAL_OK && table < list->table_count; table++) {
        struct operation create = {
            .kind = OPERATION_CREATE_TABLE, .table = table, .schema = list->schemas[table]};
        struct model_text text = {0};

        (void)engine_change_tables(&run->engine, &create, settings, &text);
        if (strcmp(text.bytes, "ok\n") != 0)
            status = PETAL_INVALID;
        model_text_free(&text);
    }
    return status;
}

void
run_end(struct run *run)
{
    engine_detach(&run->engine);
    fixture_fini(&run->fixture);
}

/* Opened for reading alone, as it was left: it says what it holds. */
static enum petal_status
read_what_is_left(struct run *run, struct model_text *text, petal_error *error)
{
    petal_options options = run->fixture.options;
    petal_db *db;
    enum petal_status status;

    options.create = false;
    options.read_only = true;
    status = petal_open(FIXTURE_DIRECTORY, &options, &db, error);
    if (status != PETAL_OK)
        return status;
    status = engine_dump(db, DUMP_VERSIONS, text, error);
    if (status != PETAL_OK) {
        petal_close(db, NULL);
        return status;
    }
    return petal_close(db, error);
}

static enum petal_status
restart(struct run *run, const struct operation *operation, struct model_text *text,
        petal_error *error)
{
    enum petal_status status = PETAL_OK;

    engine_detach(&run->engine);
    if (operation->kind == OPERATION_CRASH) {
        fixture_die(&run->fixture);
    } else {
        status = petal_close(run->fixture.db, error);
        run->fixture.db = NULL;
    }
    choose_options(run, operation->variant);
    if (status == PETAL_OK && operation->is_read_first)
        status = read_what_is_left(run, text, error);
    return status == PETAL_OK ? run_open(run, error) : status;
}

/* ---- operations ---- */

static enum petal_status
compact(struct engine *engine, const struct operation *operation, petal_error *error)
{
    struct engine_table *table = &engine->tables[operation->table];

    if (operation->run_count > 0) {
        enum petal_status status = petal_family_check(table->families[operation->family], error);

        return status != PETAL_OK
                   ? status
                   : compactor_compact_runs(table->families[operation->family],
                                            operation->first_run, operation->run_count, error);
    }
    return petal_compact(
        table->table,
        operation->family == MODEL_FAMILIES ? NULL : table->families[operation->family], error);
}

/* The copy is opened and says what it holds. */
static void
checkpoint(struct run *run, bool raw, struct model_text *text)
{
    petal_options options = run->fixture.options;
    char directory[40];
    petal_db *copy;
    petal_error error;
    enum petal_status status;

    snprintf(directory, sizeof directory, FIXTURE_DIRECTORY "-%u", ++run->checkpoints);
    status = petal_checkpoint(run->engine.db, directory, &error);
    engine_add_status(text, status, &error);
    if (status != PETAL_OK)
        return;
    options.create = false;
    status = petal_open(directory, &options, &copy, &error);
    if (status == PETAL_OK)
        status = engine_dump(copy, raw ? DUMP_STORED : DUMP_VERSIONS, text, &error);
    if (status != PETAL_OK)
        engine_add_status(text, status, &error);
    status = petal_close(copy, &error);
    if (status != PETAL_OK)
        engine_add_status(text, status, &error);
}

static enum petal_status
maintain(struct run *run, const struct operation *operation, struct model_text *text,
         petal_error *error)
{
    struct engine *engine = &run->engine;
    petal_snapshot **snapshot = &engine->snapshots[operation->snapshot];

    switch (operation->kind) {
    case OPERATION_FLUSH:
        return petal_flush(
            engine->db, operation->whole_database ? NULL : engine->tables[operation->table].table,
            error);
    case OPERATION_COMPACT:
        return compact(engine, operation, error);
    case OPERATION_TAKE_SNAPSHOT:
        petal_snapshot_free(*snapshot);
        *snapshot = NULL;
        return petal_snapshot_new(engine->db, snapshot, error);
    case OPERATION_FREE_SNAPSHOT:
        petal_snapshot_free(*snapshot);
        *snapshot = NULL;
        return PETAL_OK;
    default: /* OPERATION_REOPEN, OPERATION_CRASH */
        return restart(run, operation, text, error);
    }
}

void
run_operation(struct run *run, const struct operation *operation, struct model_text *text)
{
    struct engine *engine = &run->engine;
    unsigned without =
        run->settings->without | (run->settings->choose_without ? operation->without : 0);
    petal_error error = {0};

    test_clock_set(&run->fixture.clock, operation->now_ms);
    if (operation->in_transaction && engine->transaction == NULL) {
        engine_add_status(text, PETAL_NOT_FOUND, NULL);
        return;
    }
    if (!engine_knows(engine, operation)) {
        if (operation->kind == OPERATION_OPEN_CURSOR) {
            petal_cursor_close(engine->cursors[operation->cursor]);
            engine->cursors[operation->cursor] = NULL;
        }
        engine_add_status(text, PETAL_NOT_FOUND, NULL);
        return;
    }
    if (engine_change_tables(engine, operation, run->settings, text))
        return;
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
    case OPERATION_PUT_VALUE:
    case OPERATION_GET_VALUE:
    case OPERATION_GET_VALUES:
    case OPERATION_SCAN_VALUES:
        engine_use_key_value(engine, operation, text);
        return;
    case OPERATION_BEGIN:
    case OPERATION_COMMIT:
    case OPERATION_ABORT:
        engine_use_transaction(engine, operation, text);
        return;
    case OPERATION_DELETE_ROWS:
        engine_delete_rows(engine, operation, text);
        return;
    case OPERATION_LOOK:
        engine_add_status(text, engine_look(engine, text, &error), &error);
        if (engine_dump(engine->db, DUMP_SCHEMA, text, &error) != PETAL_OK)
            engine_add_status(text, error.status, &error);
        return;
    case OPERATION_CHECKPOINT:
        checkpoint(run, operation->read.raw, text);
        return;
    default:
        engine_add_status(text, maintain(run, operation, text, &error), &error);
    }
}

/* ---- regions ---- */

struct neighbours {
    uint32_t ids[2];
    size_t at, count; /* the second is that one */
};

static bool
note_region(void *argument, const petal_region_info *info)
{
    struct neighbours *neighbours = argument;

    neighbours->ids[0] = neighbours->ids[1];
    neighbours->ids[1] = info->id;
    return neighbours->count++ < neighbours->at;
}

/* Every few operations a region is split before a row that the list names, or merged with the next.
 * Where that cannot be done, as there is no such table or no such row, nothing is. */
static void
change_regions(struct run *run, const struct operation_list *list, size_t index)
{
    unsigned number = (unsigned)(index * 2654435761u >> 8);
    const struct operation *of = &list->operations[number % list->count];
    petal_table *table = run->engine.tables[of->table].table;
    struct model_bytes row = of->kind == OPERATION_WRITE ? of->items[0].row : of->rows[0];
    struct neighbours neighbours = {.at = 1 + number / 16 % 4};
    petal_error error;
    enum petal_status status = PETAL_OK;

    if (number % 5 > 1 || table == NULL)
        return;
    if (number % 5 == 0 && row.size > 0)
        status = petal_table_split(table, slice_make(row.bytes, row.size), 0, &error);
    else if (petal_table_regions(table, note_region, &neighbours, &error) == PETAL_OK &&
             neighbours.count > 1)
        status = petal_table_merge(table, neighbours.ids[1], neighbours.ids[0], &error);
    if (status != PETAL_OK && status != PETAL_INVALID && status != PETAL_NOT_FOUND &&
        status != PETAL_READ_ONLY)
        fail_msg("regions: %s", error.text);
}

/* ---- whole lists ---- */

/* All operations that the model answers; the first that differs. */
static bool
agree(struct run *run, const struct operation_list *list, const struct run_answers *answers,
      struct run_difference *difference)
{
    struct model_text *got = &difference->got;
    petal_error error;

    for (size_t i = 0; i < list->count; i++) {
        if (answers->texts[i] == NULL)
            continue;
        model_text_clear(got);
        if (run->settings->regions)
            change_regions(run, list, i);
        run_operation(run, &list->operations[i], got);
        difference->index = i;
        if (strcmp(got->bytes, answers->texts[i]) != 0)
            return false;
    }
    model_text_clear(got);
    difference->index = list->count;
    engine_add_status(got, engine_verify(&run->engine, &error), &error);
    return strcmp(got->bytes, "ok\n") == 0;
}

bool
run_engine(const struct operation_list *list, const struct run_settings *settings,
           const struct run_answers *answers, struct run_difference *difference)
{
    struct run run;
    petal_error error;
    enum petal_status status = run_begin(&run, list, settings, &error);
    bool same = status == PETAL_OK;

    *difference = (struct run_difference){.index = 0};
    if (!same)
        engine_add_status(&difference->got, status, &error);
    same = same && agree(&run, list, answers, difference);
    run_end(&run);
    if (same)
        model_text_free(&difference->got);
    return same;
}
