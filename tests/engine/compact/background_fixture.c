/* background_fixture.c -- see tests/engine/compact/background_fixture.h. */
#include "tests/engine/compact/background_fixture.h"

#include "tests/support/test.h"

static void
keep_line(void *context, enum petal_log_level level, const char *line)
{
    struct kept_log *log = context;
    char *to = level == PETAL_LOG_ERROR ? log->errors : log->lines;
    size_t size = level == PETAL_LOG_ERROR ? sizeof log->errors : sizeof log->lines, used;

    pthread_mutex_lock(&log->mutex);
    used = strlen(to);
    snprintf(to + used, size - used, "%s\n", line);
    pthread_mutex_unlock(&log->mutex);
}

void
place_open(struct place *place, const petal_family_options *family)
{
    *place = (struct place){.log = {.mutex = PTHREAD_MUTEX_INITIALIZER}};
    fixture_init(&place->fixture, 3);
    place->fixture.options.no_compaction = false;
    place->fixture.options.memtable_bytes = (size_t)1 << 20;
    place->fixture.env.log_context = &place->log;
    place->fixture.env.log = keep_line;
    fixture_must_open(&place->fixture);
    place->table = compact_fixture_table(&place->fixture, "t", family);
}

void
place_reopen(struct place *place)
{
    petal_close(place->fixture.db, NULL);
    place->fixture.db = NULL;
    fixture_must_open(&place->fixture);
    MUST(petal_table_open(place->fixture.db, slice_from_text("t"), &place->table, WHY));
}

void
settle(struct place *place)
{
    MUST(petal_wait_idle(place->fixture.db, WHY));
}

void
put_file(struct place *place, unsigned first, unsigned last)
{
    for (unsigned i = first; i <= last; i++) {
        char row[32];

        snprintf(row, sizeof row, "row%04u", i);
        compact_fixture_put(place->table, row, PETAL_LATEST, row);
    }
    compact_fixture_flush(place->fixture.db);
}

void
must_hold_rows(struct place *place, unsigned first, unsigned last)
{
    for (unsigned i = first; i <= last; i++) {
        char row[32];

        snprintf(row, sizeof row, "row%04u", i);
        assert_string_equal(compact_fixture_value(place->table, row), row);
    }
    MUST(petal_table_verify(place->table, WHY));
}

static bool
add_file(void *argument, const petal_file_info *file)
{
    struct totals *totals = argument;
    bool known = false;

    for (uint64_t i = 0; i < totals->runs; i++)
        known = known || totals->seen[i] == file->run;
    if (!known)
        totals->seen[totals->runs++] = file->run;
    totals->files++;
    totals->cells += file->cells;
    totals->markers += file->markers;
    totals->bytes += file->file_bytes;
    return true;
}

struct totals
totals_of(struct place *place)
{
    struct totals totals = {0};

    MUST(petal_table_files(place->table, add_file, &totals, WHY));
    return totals;
}

petal_stats
stats_of(struct place *place)
{
    petal_stats stats;

    petal_stats_get(place->fixture.db, &stats);
    return stats;
}
