/* look.c -- what the engine tells of itself, and key-value tables; see tests/model/run.h. */
#include "tests/model/run.h"

#include "base/slice.h"

static void
complain(struct model_text *text, const char *words)
{
    model_text_add(text, words);
    model_text_add(text, "\n");
}

/* ---- receipts ---- */

static uint64_t
bytes_of(const petal_result *result)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < petal_result_count(result); i++) {
        const petal_cell *cell = petal_result_cell(result, i);

        bytes += (i == 0 ? cell->row.size : 0) + cell->qualifier.size + cell->value.size;
    }
    return bytes;
}

static void
check_sources(const petal_receipt *receipt, unsigned without, struct model_text *text)
{
    for (size_t i = 0; i < petal_receipt_count(receipt); i++) {
        const petal_receipt_source *source = petal_receipt_at(receipt, i);

        if (source->skip != PETAL_SKIP_NONE && (without & PETAL_WITHOUT(source->skip)) != 0)
            complain(text, "a source was left out for a reason that was not to be used");
        if (petal_skip_text(source->skip)[0] == '\0')
            complain(text, "a reason has no words");
        if (source->skip != PETAL_SKIP_NONE && source->cells_read > 0 && source->seeks == 0)
            complain(text, "cells were read of a source that was left out");
    }
}

/* `result`: of a get, NULL: of another read. */
void
engine_check_receipt(const struct engine *engine, unsigned without, const petal_result *result,
                     struct model_text *text)
{
    const petal_receipt *receipt = engine->receipt;
    petal_hidden_cell cell;
    uint64_t hidden = 0;

    check_sources(receipt, without, text);
    for (unsigned by = 0; by < PETAL_HIDDEN_COUNT; by++) {
        hidden += petal_receipt_hidden(receipt, by);
        if (petal_hidden_text(by)[0] == '\0')
            complain(text, "a way of hiding has no words");
    }
    if (hidden < petal_receipt_hidden_count(receipt) ||
        (hidden < PETAL_HIDDEN_CELLS && hidden != petal_receipt_hidden_count(receipt)))
        complain(text, "hidden cells are not those that were counted");
    if (petal_receipt_cells_hidden(receipt) < hidden)
        complain(text, "fewer cells are hidden than are told of");
    for (size_t i = 0; i < petal_receipt_hidden_count(receipt); i++) {
        if (!petal_receipt_hidden_at(receipt, i, &cell) || cell.by >= PETAL_HIDDEN_COUNT)
            complain(text, "a hidden cell is not there");
    }
    if (petal_receipt_hidden_at(receipt, petal_receipt_hidden_count(receipt), &cell))
        complain(text, "there is a hidden cell behind the last");
    if (result != NULL && petal_receipt_bytes_returned(receipt) != bytes_of(result))
        complain(text, "the receipt tells of other bytes than came");
}

/* ---- a database about itself ---- */

static bool
go_on(void *argument, uint64_t done, uint64_t total)
{
    bool *sound = argument;

    *sound = *sound && done <= total;
    return true;
}

static bool
add_cells(void *argument, const petal_file_info *file)
{
    uint64_t *cells = argument;

    *cells += file->cells;
    return true;
}

struct look {
    petal_db *db;
    struct model_text *text;
    petal_error error;
    enum petal_status status;
};

static bool
look_at_table(void *argument, petal_table *table)
{
    struct look *look = argument;
    uint64_t cells = 0, blocks;
    bool sound = true;
    const petal_check_options checking = {
        .size = sizeof checking, .argument = &sound, .watch = go_on};

    for (size_t i = 0; i < petal_table_family_count(table); i++) {
        petal_family *family = petal_table_family_at(table, i), *found;
        petal_family_options options = PETAL_DEFAULTS;

        look->status = petal_table_family(table, petal_family_name(family), &found, &look->error);
        if (look->status == PETAL_OK && found != family)
            complain(look->text, "a family is not the one of its name");
        petal_family_describe(family, &options);
        if (!slice_equal(options.name, petal_family_name(family)))
            complain(look->text, "a family is described under another name");
        if (look->status == PETAL_OK)
            look->status = petal_family_check(family, &look->error);
    }
    if (look->status == PETAL_OK)
        look->status = petal_table_verify_watched(table, &checking, &look->error);
    if (look->status == PETAL_OK)
        look->status = petal_table_files(table, add_cells, &cells, &look->error);
    if (look->status == PETAL_OK)
        look->status = petal_cache_clear(look->db, table, &blocks, &look->error);
    if (!sound)
        complain(look->text, "more is verified than there is");
    if (petal_table_compaction_state(table) > PETAL_COMPACTION_MAJOR_AND_MINOR)
        complain(look->text, "no such state of compactions");
    return look->status == PETAL_OK;
}

/* Counters only grow, and more was not skipped than was considered. */
static void
check_stats(struct engine *engine, struct model_text *text)
{
    petal_stats now;

    petal_stats_get(engine->db, &now);
    if (now.cells_written < engine->stats.cells_written || now.gets < engine->stats.gets ||
        now.flushes < engine->stats.flushes || now.compactions < engine->stats.compactions ||
        now.log_bytes < engine->stats.log_bytes)
        complain(text, "a counter went back");
    if (now.memtables_skipped > now.memtables_considered || now.files_read > now.files_considered ||
        now.filter_negatives > now.filter_probes)
        complain(text, "the counters do not add up");
    if (now.read_only ||
        (now.background_error.status != PETAL_OK && now.background_error.status != PETAL_NO_SPACE))
        complain(text, "something failed in the background");
    engine->stats = now;
}

/* Fixed texts: there, and different. */
static void
check_texts(struct model_text *text)
{
    const char *before = "";

    if (petal_version()[0] == '\0' || strcmp(petal_status_text(PETAL_OK), "ok") != 0 ||
        strcmp(petal_status_text((enum petal_status)99), "unknown status") != 0)
        complain(text, "version or status have no text");
    for (size_t i = 0; petal_filter_name(i) != NULL; i++) {
        if (strcmp(before, petal_filter_name(i)) >= 0)
            complain(text, "names of filters are out of order");
        before = petal_filter_name(i);
    }
}

/* Ended by the first visit. */
static bool
stop(void *argument, uint64_t done, uint64_t total)
{
    (void)argument;
    (void)done;
    (void)total;
    return false;
}

enum petal_status
engine_look(struct engine *engine, struct model_text *text, petal_error *error)
{
    struct look look = {.db = engine->db, .text = text};
    enum petal_status status = petal_wait_idle(engine->db, error);

    /* A compaction that found no room is told of until it is tried again. */
    if (status == PETAL_NO_SPACE)
        status = PETAL_OK;
    check_texts(text);
    check_stats(engine, text);
    if (status == PETAL_OK)
        status = petal_table_list(engine->db, look_at_table, &look, error);
    if (status == PETAL_OK && look.status != PETAL_OK) {
        *error = look.error;
        return look.status;
    }
    for (unsigned i = 0; i < MODEL_TABLES; i++) {
        petal_table *table = engine->tables[i].table;
        const petal_check_options stopping = {.size = sizeof stopping, .watch = stop};
        petal_error ended;

        if (table != NULL && slice_equal(petal_table_name(table), model_table_name(i)) &&
            petal_table_memtable_bytes(table) > (uint64_t)1 << 30)
            complain(text, "a table has too much in memory");
        if (table != NULL && petal_table_verify_watched(table, &stopping, &ended) == PETAL_INVALID)
            complain(text, "a verification was refused");
    }
    return status;
}
