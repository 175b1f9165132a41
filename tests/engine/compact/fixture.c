/* fixture.c -- see tests/engine/compact/fixture.h. */
#include "tests/engine/compact/fixture.h"

#include "engine/state/db.h"
#include "tests/support/test.h"

#include <inttypes.h>

static int64_t
interrupting_clock(void *context)
{
    struct compact_fixture_interruption *interruption = context;

    if (interruption->armed) {
        interruption->armed = false;
        interruption->act(interruption);
    }
    return test_clock_ms(interruption->clock);
}

static void
keep_line(void *context, enum petal_log_level level, const char *line)
{
    struct compact_fixture_interruption *interruption = context;
    size_t used = strlen(interruption->log);

    (void)level;
    if (strstr(line, "compaction") != NULL)
        snprintf(interruption->log + used, sizeof interruption->log - used, "%s\n", line);
}

void
compact_fixture_open(struct compact_fixture *fixture)
{
    struct fixture *base = &fixture->base;

    *fixture = (struct compact_fixture){0};
    fixture_init(base, 1);
    fixture->interruption =
        (struct compact_fixture_interruption){.clock = &base->clock, .base = base};
    base->env.clock_context = &fixture->interruption;
    base->env.clock_ms = interrupting_clock;
    base->env.log_context = &fixture->interruption;
    base->env.log = keep_line;
    fixture_must_open(base);
}

/* Writes first .. last of the ledger, flushed. */
static void
write_and_flush(struct compact_fixture *fixture, uint64_t first, uint64_t last)
{
    for (uint64_t number = first; number <= last; number++) {
        test_clock_advance(&fixture->base.clock, 1);
        MUST(ledger_write(&fixture->ledger, number, PETAL_SYNC_WAL, WHY));
    }
    MUST(petal_flush(fixture->base.db, NULL, WHY));
}

void
compact_fixture_fill(struct compact_fixture *fixture)
{
    compact_fixture_open(fixture);
    MUST(ledger_create(&fixture->ledger, fixture->base.db, WHY));
    for (uint64_t part = 0; part < 4; part++)
        write_and_flush(fixture, part * COMPACT_FIXTURE_WRITES / 4 + 1,
                        (part + 1) * COMPACT_FIXTURE_WRITES / 4);
}

enum petal_status
compact_fixture_compact_all(struct compact_fixture *fixture, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (unsigned t = 0; status == PETAL_OK && t < LEDGER_TABLES; t++)
        status = petal_compact(fixture->ledger.tables[t], NULL, error);
    return status;
}

/* ---- single cells ---- */

petal_table *
compact_fixture_table(struct fixture *fixture, const char *name, const petal_family_options *given)
{
    petal_family_options family = given != NULL ? *given : (petal_family_options){0};
    petal_table_options options = {
        .name = slice_from_text(name), .families = &family, .family_count = 1};
    petal_table *table;

    family.name = slice_from_text("f");
    MUST(petal_table_create(fixture->db, &options, &table, WHY));
    return table;
}

void
compact_fixture_put(petal_table *table, const char *row, int64_t timestamp, const char *value)
{
    MUST(petal_put(petal_table_family_at(table, 0), slice_from_text(row), slice_from_text("q"),
                   timestamp, slice_from_text(value), NULL, WHY));
}

void
compact_fixture_delete(petal_table *table, const char *row, int64_t timestamp,
                       enum petal_cell_type type)
{
    bool family = type == PETAL_DELETE_FAMILY || type == PETAL_DELETE_FAMILY_VERSION;
    petal_slice qualifier = family ? slice_make(NULL, 0) : slice_from_text("q");

    MUST(petal_delete(petal_table_family_at(table, 0), slice_from_text(row), qualifier, timestamp,
                      type, NULL, WHY));
}

void
compact_fixture_flush(petal_db *db)
{
    MUST(petal_flush(db, NULL, WHY));
}

void
compact_fixture_compact(petal_table *table)
{
    MUST(petal_compact(table, NULL, WHY));
}

const char *
compact_fixture_value_at(petal_table *table, const char *row, const petal_snapshot *snapshot)
{
    petal_read_options options = {.snapshot = snapshot};
    static char text[64];
    petal_result *result;

    MUST(petal_result_new(table->db, &result, WHY));
    MUST(petal_get(table, slice_from_text(row), &options, result, WHY));
    text[0] = '\0';
    if (petal_result_count(result) > 0)
        snprintf(text, sizeof text, "%.*s", (int)petal_result_cell(result, 0)->value.size,
                 (const char *)petal_result_cell(result, 0)->value.data);
    petal_result_free(result);
    return text;
}

const char *
compact_fixture_value(petal_table *table, const char *row)
{
    return compact_fixture_value_at(table, row, NULL);
}
