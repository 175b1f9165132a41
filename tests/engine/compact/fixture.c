/* fixture.c -- see tests/engine/compact/fixture.h. */
#include "tests/engine/compact/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/state/db.h"

#include <inttypes.h>

static int64_t
interrupting_clock(void *context)
{
    struct bed_interruption *interruption = context;

    if (interruption->armed) {
        interruption->armed = false;
        interruption->act(interruption);
    }
    return test_clock_ms(interruption->clock);
}

static void
keep_line(void *context, enum petal_log_level level, const char *line)
{
    struct bed_interruption *interruption = context;
    size_t used = strlen(interruption->log);

    (void)level;
    if (strstr(line, "compaction") != NULL)
        snprintf(interruption->log + used, sizeof interruption->log - used, "%s\n", line);
}

void
bed_open(struct bed *bed)
{
    struct fixture *fixture = &bed->fixture;

    *bed = (struct bed){0};
    fixture_init(fixture, 1);
    bed->interruption = (struct bed_interruption){.clock = &fixture->clock, .fixture = fixture};
    fixture->env.clock_context = &bed->interruption;
    fixture->env.clock_ms = interrupting_clock;
    fixture->env.log_context = &bed->interruption;
    fixture->env.log = keep_line;
    fixture_must_open(fixture);
}

/* Writes first .. last of the ledger, flushed. */
static void
write_and_flush(struct bed *bed, uint64_t first, uint64_t last)
{
    petal_error error;

    for (uint64_t number = first; number <= last; number++) {
        test_clock_advance(&bed->fixture.clock, 1);
        must(ledger_write(&bed->ledger, number, PETAL_SYNC_WAL, &error), &error);
    }
    must(petal_flush(bed->fixture.db, NULL, &error), &error);
}

void
bed_fill(struct bed *bed)
{
    petal_error error;

    bed_open(bed);
    must(ledger_create(&bed->ledger, bed->fixture.db, &error), &error);
    for (uint64_t part = 0; part < 4; part++)
        write_and_flush(bed, part * BED_WRITES / 4 + 1, (part + 1) * BED_WRITES / 4);
}

enum petal_status
bed_compact_all(struct bed *bed, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (unsigned t = 0; status == PETAL_OK && t < LEDGER_TABLES; t++)
        status = petal_compact(bed->ledger.tables[t], NULL, error);
    return status;
}

/* ---- single cells ---- */

petal_table *
bed_table(struct fixture *fixture, const char *name, const petal_family_options *given)
{
    petal_family_options family = given != NULL ? *given : (petal_family_options){0};
    petal_table_options options = {
        .name = slice_from_text(name), .families = &family, .family_count = 1};
    petal_table *table;
    petal_error error;

    family.name = slice_from_text("f");
    must(petal_table_create(fixture->db, &options, &table, &error), &error);
    return table;
}

void
bed_put(petal_table *table, const char *row, int64_t timestamp, const char *value)
{
    petal_error error;

    must(petal_put(petal_table_family_at(table, 0), slice_from_text(row), slice_from_text("q"),
                   timestamp, slice_from_text(value), NULL, &error),
         &error);
}

void
bed_delete(petal_table *table, const char *row, int64_t timestamp, enum petal_cell_type type)
{
    petal_slice qualifier =
        type == PETAL_DELETE_FAMILY ? slice_make(NULL, 0) : slice_from_text("q");
    petal_error error;

    must(petal_delete(petal_table_family_at(table, 0), slice_from_text(row), qualifier, timestamp,
                      type, NULL, &error),
         &error);
}

void
bed_flush(petal_db *db)
{
    petal_error error;

    must(petal_flush(db, NULL, &error), &error);
}

void
bed_compact(petal_table *table)
{
    petal_error error;

    must(petal_compact(table, NULL, &error), &error);
}

const char *
bed_value_at(petal_table *table, const char *row, const petal_snapshot *snapshot)
{
    petal_read_options options = {.snapshot = snapshot};
    static char text[64];
    petal_result *result;
    petal_error error;

    must(petal_result_new(table->db, &result, &error), &error);
    must(petal_get(table, slice_from_text(row), &options, result, &error), &error);
    text[0] = '\0';
    if (petal_result_count(result) > 0)
        snprintf(text, sizeof text, "%.*s", (int)petal_result_cell(result, 0)->value.size,
                 (const char *)petal_result_cell(result, 0)->value.data);
    petal_result_free(result);
    return text;
}

const char *
bed_value(petal_table *table, const char *row)
{
    return bed_value_at(table, row, NULL);
}
