/*
 * answers_test.c -- random cells in several files: what a scan shows is the same before and after a
 * flush and a compaction, whatever the attributes of the family. Prints its seed.
 */

#include "tests/engine/compact/fixture.h"
#include "tests/support/test.h"

struct answers {
    char text[4096];
    size_t size;
};

/* All that a scan for all versions shows. */
static void
read_answers(petal_table *table, struct answers *answers)
{
    petal_scan_options options = {.read.versions = PETAL_ALL_VERSIONS};
    const petal_cell *cell;
    petal_cursor *cursor;
    petal_error error;

    answers->size = 0;
    must(petal_cursor_open(table, &options, &cursor, &error), &error);
    for (;;) {
        must(petal_cursor_next(cursor, &cell, &error), &error);
        if (cell == NULL)
            break;
        answers->size += (size_t)snprintf(
            answers->text + answers->size, sizeof answers->text - answers->size,
            "%.*s/%.*s@%d=%.*s ", (int)cell->row.size, (const char *)cell->row.data,
            (int)cell->qualifier.size, (const char *)cell->qualifier.data, (int)cell->timestamp,
            (int)cell->value.size, (const char *)cell->value.data);
        assert_true(answers->size < sizeof answers->text);
    }
    petal_cursor_close(cursor);
}

static void
answers_must_stay(petal_table *table, struct answers *before, const char *what)
{
    struct answers after;

    read_answers(table, &after);
    if (after.size != before->size || memcmp(after.text, before->text, after.size) != 0)
        fail_msg("before %s: %.*s\nafter: %.*s", what, (int)before->size, before->text,
                 (int)after.size, after.text);
}

static void
write_random_cell(struct test_random *random, petal_family *family, unsigned number)
{
    static const enum petal_cell_type types[] = {
        PETAL_PUT, PETAL_PUT,    PETAL_PUT,           PETAL_PUT,
        PETAL_PUT, PETAL_DELETE, PETAL_DELETE_COLUMN, PETAL_DELETE_FAMILY_VERSION,
        PETAL_PUT, PETAL_PUT,    PETAL_PUT,           PETAL_DELETE_FAMILY};
    enum petal_cell_type type = types[test_random_below(random, 12)];
    petal_slice row = slice_from_text(test_random_chance(random, 50) ? "r" : "s");
    petal_slice qualifier = slice_from_text(test_random_chance(random, 30) ? "" : "q");
    int64_t timestamp = 1 + (int64_t)test_random_below(random, 12);
    petal_error error;
    char value[8];

    if (type == PETAL_DELETE_FAMILY || type == PETAL_DELETE_FAMILY_VERSION)
        qualifier = slice_make(NULL, 0);
    if (type != PETAL_PUT) {
        must(petal_delete(family, row, qualifier, timestamp, type, NULL, &error), &error);
        return;
    }
    snprintf(value, sizeof value, "%u", number);
    must(petal_put(family, row, qualifier, timestamp, slice_from_text(value), NULL, &error),
         &error);
}

/* Random cells in several files; nothing that lies in memory is older than a file's marker, so all
 * answers must stay. */
static void
try_history(struct test_random *random, const petal_family_options *attributes)
{
    struct answers answers;
    petal_stats first, second;
    struct compact_fixture fixture;
    petal_table *table;

    compact_fixture_open(&fixture);
    table = compact_fixture_table(&fixture.base, "t", attributes);
    test_clock_set(&fixture.base.clock,
                   1006); /* with a TTL of one second stamps below 6 are expired */
    for (unsigned number = 0; number < 40; number++) {
        write_random_cell(random, petal_table_family_at(table, 0), number);
        if (!test_random_chance(random, 15))
            continue;
        read_answers(table, &answers);
        compact_fixture_flush(fixture.base.db);
        answers_must_stay(table, &answers, "a flush");
        if (test_random_chance(random, 70))
            continue;
        compact_fixture_compact(table);
        answers_must_stay(table, &answers, "a compaction");
    }
    compact_fixture_flush(fixture.base.db);
    compact_fixture_compact(table);
    read_answers(table, &answers);
    petal_stats_get(fixture.base.db, &first);
    compact_fixture_compact(table); /* there is nothing more to drop */
    petal_stats_get(fixture.base.db, &second);
    assert_int_equal(second.compaction_cells_in - first.compaction_cells_in,
                     second.compaction_cells_out - first.compaction_cells_out);
    answers_must_stay(table, &answers, "the last compaction");
    fixture_fini(&fixture.base);
}

/* Under KEEP_DELETED_CELLS they need not: there, as in HBase, deleted cells count against VERSIONS
 * when files are rewritten. */
TEST(test_answers_stay_under_all_attributes)
{
    static const petal_family_options attributes[] = {
        {.versions = 1},
        {.versions = 3},
        {.versions = 2, .ttl_seconds = 1},
        {.versions = 3, .min_versions = 1, .ttl_seconds = 1},
        {.versions = 1, .new_version_behavior = true},
        {.versions = 3, .min_versions = 1, .ttl_seconds = 1, .new_version_behavior = true}};
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned turn = 0; turn < (test_long() ? 3000u : 60u); turn++) {
        for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
            try_history(&random, &attributes[i]);
    }
}
