/*
 * damaged_family_test.c -- a store file that is missing or damaged: its family fails, by
 * name, and nothing else does. It can be dropped, altered away and restored; with the old bytes
 * back all is there.
 */

#include "base/slice.h"
#include "engine/compact/policy.h"
#include "tests/crash/ledger.h"
#include "tests/disk/paths.h"
#include "tests/support/test.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#define TABLES     2
#define FAMILIES   2
#define STORES     (TABLES * FAMILIES)
#define ROWS       200
#define ALL        STORES /* for a store: each of them */
#define LOG_BYTES  16384
#define VALUE_SIZE 400

static const char *const table_names[TABLES] = {"bad", "good"};
static const char *const family_names[FAMILIES] = {"f", "g"};

/* A database of two tables with two families each, every store with one file of several blocks for
 * each flush. */
struct damaged_family_fixture {
    struct fixture base;
    petal_table *tables[TABLES];
    petal_family *families[STORES];
    pthread_mutex_t mutex;
    char log[LOG_BYTES]; /* lines of warnings and errors; under the mutex */
};

static void
note_line(void *context, enum petal_log_level level, const char *line)
{
    struct damaged_family_fixture *fixture = context;
    size_t length;

    if (level == PETAL_LOG_INFO)
        return;
    pthread_mutex_lock(&fixture->mutex);
    length = strlen(fixture->log);
    if (length + strlen(line) + 2 < sizeof fixture->log) {
        strcpy(fixture->log + length, line);
        strcat(fixture->log + length, "\n");
    }
    pthread_mutex_unlock(&fixture->mutex);
}

static size_t
count_lines(struct damaged_family_fixture *fixture, const char *text)
{
    size_t count = 0;

    pthread_mutex_lock(&fixture->mutex);
    for (const char *at = strstr(fixture->log, text); at != NULL; at = strstr(at + 1, text))
        count++;
    pthread_mutex_unlock(&fixture->mutex);
    return count;
}

static petal_slice
row_name(char text[16], unsigned row)
{
    return slice_make(text, (size_t)snprintf(text, 16, "row%05u", row));
}

static size_t
make_value(char value[VALUE_SIZE], unsigned store, unsigned row, unsigned round)
{
    uint64_t random = store * 1000003u + row * 1009u + round;

    for (size_t i = 0; i < VALUE_SIZE; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        value[i] = (char)(random >> 56);
    }
    return VALUE_SIZE;
}

static enum petal_status
put_row(struct damaged_family_fixture *fixture, unsigned store, unsigned row, unsigned round,
        petal_error *error)
{
    char name[16], value[VALUE_SIZE];
    size_t size = make_value(value, store, row, round);

    return petal_put(fixture->families[store], row_name(name, row), slice_from_text("q"),
                     PETAL_LATEST, slice_make(value, size), NULL, error);
}

static void
put_rows(struct damaged_family_fixture *fixture, unsigned store, unsigned rows, unsigned round)
{
    test_clock_advance(&fixture->base.clock, 1);
    for (unsigned s = 0; s < STORES; s++) {
        for (unsigned row = 0; (store == ALL || store == s) && row < rows; row++)
            MUST(put_row(fixture, s, row, round, WHY));
    }
}

static enum petal_status
get_row(struct damaged_family_fixture *fixture, unsigned store, unsigned row, unsigned round,
        petal_error *error)
{
    petal_column column = {.family = fixture->families[store], .qualifier = slice_from_text("q")};
    petal_read_options options = {.columns = &column, .column_count = 1};
    char name[16], value[VALUE_SIZE];
    size_t size = make_value(value, store, row, round);
    petal_result *result;
    enum petal_status status;

    must(petal_result_new(fixture->base.db, &result, error), error);
    status =
        petal_get(fixture->tables[store / FAMILIES], row_name(name, row), &options, result, error);
    if (status == PETAL_OK) {
        assert_int_equal(petal_result_count(result), 1);
        assert_true(slice_equal(petal_result_cell(result, 0)->value, slice_make(value, size)));
    }
    petal_result_free(result);
    return status;
}

/* Scan the table, or one family of it; *cells is how many there were. */
static enum petal_status
scan(struct damaged_family_fixture *fixture, unsigned table, petal_family *family, size_t *cells,
     petal_error *error)
{
    petal_column column = {.family = family, .whole_family = true};
    petal_scan_options options = {.read = {.columns = &column, .column_count = family != NULL}};
    petal_cursor *cursor;
    const petal_cell *cell;
    enum petal_status status = petal_cursor_open(fixture->tables[table], &options, &cursor, error);

    *cells = 0;
    while (status == PETAL_OK) {
        status = petal_cursor_next(cursor, &cell, error);
        if (status != PETAL_OK || cell == NULL)
            break;
        (*cells)++;
    }
    petal_cursor_close(cursor);
    return status;
}

static void
attach(struct damaged_family_fixture *fixture)
{
    for (unsigned t = 0; t < TABLES; t++) {
        MUST(petal_table_open(fixture->base.db, slice_from_text(table_names[t]),
                              &fixture->tables[t], WHY));
        for (unsigned f = 0; f < FAMILIES; f++)
            MUST(petal_table_family(fixture->tables[t], slice_from_text(family_names[f]),
                                    &fixture->families[t * FAMILIES + f], WHY));
    }
}

static void
open_fixture(struct damaged_family_fixture *fixture)
{
    fixture_must_open(&fixture->base);
    attach(fixture);
}

static void
make_fixture(struct damaged_family_fixture *fixture, unsigned rounds)
{
    memset(fixture, 0, sizeof *fixture);
    pthread_mutex_init(&fixture->mutex, NULL);
    fixture_init(&fixture->base, 61);
    fixture->base.env.log_context = fixture;
    fixture->base.env.log = note_line;
    fixture_must_open(&fixture->base);
    for (unsigned t = 0; t < TABLES; t++) {
        petal_family_options families[FAMILIES] = {{.name = slice_from_text(family_names[0])},
                                                   {.name = slice_from_text(family_names[1])}};
        petal_table_options options = {.name = slice_from_text(table_names[t]),
                                       .families = families,
                                       .family_count = FAMILIES};

        MUST(petal_table_create(fixture->base.db, &options, &fixture->tables[t], WHY));
    }
    attach(fixture);
    for (unsigned round = 0; round < rounds; round++) {
        put_rows(fixture, ALL, ROWS, round);
        MUST(petal_flush(fixture->base.db, NULL, WHY));
    }
}

static void
free_fixture(struct damaged_family_fixture *fixture)
{
    fixture_fini(&fixture->base);
    pthread_mutex_destroy(&fixture->mutex);
}

/* ---- damage ---- */

enum damage { MISSING, EMPTY, TRAILER, FACTS, DAMAGES };

struct victim {
    char path[64];
    uint8_t *bytes;
    size_t size;
};

struct file_search {
    petal_slice family;
    uint64_t number; /* of the oldest file of it */
};

static bool
note_file(void *argument, const petal_file_info *file)
{
    struct file_search *search = argument;

    if (slice_equal(file->family, search->family) &&
        (search->number == 0 || file->number < search->number))
        search->number = file->number;
    return true;
}

/* The oldest file of the store. */
static void
find_victim(struct damaged_family_fixture *fixture, unsigned store, struct victim *victim)
{
    struct file_search search = {.family = petal_family_name(fixture->families[store])};

    MUST(petal_table_files(fixture->tables[store / FAMILIES], note_file, &search, WHY));
    assert_true(search.number != 0);
    snprintf(victim->path, sizeof victim->path, FIXTURE_DIRECTORY "/%06" PRIu64 ".sst",
             search.number);
    assert_int_equal(
        memory_vfs_read_file(fixture->base.vfs, victim->path, &victim->bytes, &victim->size), 0);
}

static void
write_victim(struct damaged_family_fixture *fixture, const struct victim *victim, size_t flip,
             size_t size)
{
    if (flip < size)
        victim->bytes[flip] ^= 0x10;
    assert_int_equal(memory_vfs_write_file(fixture->base.vfs, victim->path, victim->bytes, size),
                     0);
    if (flip < size)
        victim->bytes[flip] ^= 0x10;
}

static void
damage(struct damaged_family_fixture *fixture, const struct victim *victim, enum damage kind)
{
    /* Before it is written anew: a table snapshot may have another name of it. */
    assert_int_equal(vfs_remove(fixture->base.env.vfs, victim->path), 0);
    switch (kind) {
    case EMPTY:
        write_victim(fixture, victim, SIZE_MAX, 0);
        break;
    case TRAILER:
        write_victim(fixture, victim, victim->size - 20, victim->size);
        break;
    case FACTS:
        write_victim(fixture, victim, victim->size - 300, victim->size);
        break;
    default:
        break;
    }
}

static void
heal(struct damaged_family_fixture *fixture, struct victim *victim)
{
    write_victim(fixture, victim, SIZE_MAX, victim->size);
    free(victim->bytes);
    victim->bytes = NULL;
}

/* The error says which file, family and table. */
static void
assert_named(enum petal_status status, const petal_error *error, const char *path,
             const char *family, const char *table)
{
    char names[64];

    snprintf(names, sizeof names, "column family %s of table %s", family, table);
    if (status != PETAL_CORRUPT || strcmp(error->file, path) != 0 ||
        strstr(error->text, path) == NULL || strstr(error->text, names) == NULL)
        print_error("status %d, file %s, text %s\n", (int)status, error->file, error->text);
    assert_int_equal(status, PETAL_CORRUPT);
    assert_int_equal(error->status, PETAL_CORRUPT);
    assert_string_equal(error->file, path);
    assert_non_null(strstr(error->text, path));
    assert_non_null(strstr(error->text, names));
}

static petal_error
background_error(struct damaged_family_fixture *fixture)
{
    petal_stats stats;

    petal_stats_get(fixture->base.db, &stats);
    assert_false(stats.read_only && !fixture->base.options.read_only);
    return stats.background_error;
}

/* Store 0 cannot be used, all others can: `round` is the last of those that were put. */
static void
check_first_store_fails_alone(struct damaged_family_fixture *fixture, const char *path,
                              unsigned round, bool writing)
{
    petal_error error = background_error(fixture);
    petal_batch *batch;
    petal_table *none;
    char name[16];
    size_t cells;

    assert_named(error.status, &error, path, "f", "bad");
    assert_true(count_lines(fixture, path) >= 1);
    assert_true(count_lines(fixture, "; the column family cannot be used until") >= 1);
    assert_named(get_row(fixture, 0, 1, round, &error), &error, path, "f", "bad");
    assert_named(scan(fixture, 0, NULL, &cells, &error), &error, path, "f", "bad");
    assert_named(scan(fixture, 0, fixture->families[0], &cells, &error), &error, path, "f", "bad");
    assert_named(petal_table_verify(fixture->tables[0], &error), &error, path, "f", "bad");
    assert_named(petal_family_check(fixture->families[0], &error), &error, path, "f", "bad");
    for (unsigned store = 1; store < STORES; store++) {
        MUST(petal_family_check(fixture->families[store], WHY));
        for (unsigned row = 0; row < ROWS; row += 7)
            MUST(get_row(fixture, store, row, round, WHY));
    }
    MUST(scan(fixture, 0, fixture->families[1], &cells, WHY));
    assert_int_equal(cells, ROWS);
    MUST(scan(fixture, 1, NULL, &cells, WHY));
    assert_int_equal(cells, 2 * ROWS);
    MUST(petal_table_verify(fixture->tables[1], WHY));
    if (!writing)
        return;
    assert_named(put_row(fixture, 0, 1, 9, &error), &error, path, "f", "bad");
    /* A batch over both is refused whole. */
    MUST(petal_batch_new(fixture->base.db, &batch, WHY));
    MUST(petal_batch_put(batch, fixture->families[3], row_name(name, 9999), slice_from_text("q"),
                         PETAL_LATEST, slice_from_text("v"), WHY));
    MUST(petal_batch_put(batch, fixture->families[0], row_name(name, 9999), slice_from_text("q"),
                         PETAL_LATEST, slice_from_text("v"), WHY));
    assert_named(petal_write(fixture->base.db, batch, NULL, &error), &error, path, "f", "bad");
    petal_batch_free(batch);
    MUST(scan(fixture, 1, NULL, &cells, WHY));
    assert_int_equal(cells, 2 * ROWS);
    assert_named(petal_compact(fixture->tables[0], fixture->families[0], &error), &error, path, "f",
                 "bad");
    MUST(petal_compact(fixture->tables[0], fixture->families[1], WHY));
    MUST(petal_compact(fixture->tables[1], NULL, WHY));
    assert_named(
        petal_table_snapshot_create(fixture->tables[0], slice_from_text("s"), NULL, &error), &error,
        path, "f", "bad");
    MUST(petal_table_snapshot_create(fixture->tables[1], slice_from_text("s"), NULL, WHY));
    MUST(petal_table_snapshot_delete(fixture->base.db, slice_from_text("s"), WHY));
    assert_named(petal_checkpoint(fixture->base.db, "/copy", &error), &error, path, "f", "bad");
    assert_false(memory_vfs_exists(fixture->base.vfs, "/copy/MANIFEST"));
    for (unsigned store = 1; store < STORES; store++)
        MUST(put_row(fixture, store, 3, round, WHY));
    MUST(petal_flush(fixture->base.db, NULL, WHY));
    MUST(petal_wait_idle(fixture->base.db, WHY));
    assert_int_equal(petal_table_open(fixture->base.db, slice_from_text("none"), &none, &error),
                     PETAL_NOT_FOUND);
}

static void
check_all_there(struct damaged_family_fixture *fixture, unsigned rows, unsigned round)
{
    size_t cells;

    for (unsigned store = 0; store < STORES; store++) {
        for (unsigned row = 0; row < rows; row += 3)
            MUST(get_row(fixture, store, row, round, WHY));
    }
    for (unsigned t = 0; t < TABLES; t++) {
        MUST(scan(fixture, t, NULL, &cells, WHY));
        MUST(petal_table_verify(fixture->tables[t], WHY));
    }
    assert_int_equal(background_error(fixture).status, PETAL_OK);
}

/* ---- at opening ---- */

static void
open_with_damage(enum damage kind, bool read_only)
{
    struct damaged_family_fixture fixture;
    struct victim victim;

    make_fixture(&fixture, 2);
    find_victim(&fixture, 0, &victim);
    fixture_must_close(&fixture.base);
    damage(&fixture, &victim, kind);
    fixture.base.options.read_only = read_only;
    fixture.base.options.create = false;
    for (unsigned time = 0; time < 2; time++) {
        open_fixture(&fixture);
        check_first_store_fails_alone(&fixture, victim.path, 1, !read_only);
        fixture_must_close(&fixture.base);
    }
    assert_int_equal(memory_vfs_exists(fixture.base.vfs, victim.path), kind != MISSING);
    heal(&fixture, &victim);
    open_fixture(&fixture);
    check_all_there(&fixture, ROWS, 1);
    fixture_must_close(&fixture.base);
    free_fixture(&fixture);
}

TEST(test_the_others_are_opened)
{
    for (enum damage kind = MISSING; kind < DAMAGES; kind++)
        open_with_damage(kind, false);
    open_with_damage(MISSING, true);
    open_with_damage(FACTS, true);
}

/* What the log holds of the family is kept: with the old file back it is there, too. */
TEST(test_logged_cells_are_kept)
{
    struct damaged_family_fixture fixture;
    struct victim victim;
    petal_error error;

    make_fixture(&fixture, 1);
    find_victim(&fixture, 0, &victim);
    put_rows(&fixture, ALL, 10, 1);
    fixture_die(&fixture.base);
    damage(&fixture, &victim, MISSING);
    for (unsigned time = 0; time < 2; time++) {
        open_fixture(&fixture);
        assert_named(get_row(&fixture, 0, 1, 1, &error), &error, victim.path, "f", "bad");
        for (unsigned store = 1; store < STORES; store++)
            MUST(get_row(&fixture, store, 1, 1, WHY));
        fixture_must_close(&fixture.base);
    }
    heal(&fixture, &victim);
    open_fixture(&fixture);
    check_all_there(&fixture, 10, 1);
    MUST(get_row(&fixture, 0, 150, 0, WHY));
    fixture_must_close(&fixture.base);
    free_fixture(&fixture);
}

/* ---- what can be done about it ---- */

static void
drop_table(struct damaged_family_fixture *fixture)
{
    MUST(petal_table_drop(fixture->tables[0], WHY));
}

static void
alter_away(struct damaged_family_fixture *fixture)
{
    petal_family_options family = {.name = slice_from_text("g")};
    petal_table_options options = {.families = &family, .family_count = 1};

    MUST(petal_table_alter(fixture->tables[0], &options, WHY));
}

static void
restore(struct damaged_family_fixture *fixture)
{
    petal_table *table;

    MUST(petal_table_snapshot_restore(fixture->base.db, slice_from_text("before"), &table, WHY));
    MUST(petal_table_snapshot_delete(fixture->base.db, slice_from_text("before"), WHY));
}

static void
truncate_it(struct damaged_family_fixture *fixture)
{
    petal_table *table;

    MUST(petal_table_truncate(fixture->tables[0], &table, WHY));
}

/* The damaged file goes with its family, the other files of it, and those that were flushed since;
 * no file is left behind. */
static void
mend(void (*mender)(struct damaged_family_fixture *fixture), enum damage kind, bool logged)
{
    struct damaged_family_fixture fixture;
    struct victim victim;
    size_t cells;

    make_fixture(&fixture, 1);
    if (mender == restore)
        MUST(petal_table_snapshot_create(fixture.tables[0], slice_from_text("before"), NULL, WHY));
    put_rows(&fixture, ALL, 20, 1);
    MUST(petal_flush(fixture.base.db, NULL, WHY));
    find_victim(&fixture, 0, &victim);
    if (logged)
        put_rows(&fixture, 0, 5, 2);
    fixture_die(&fixture.base);
    damage(&fixture, &victim, kind);
    open_fixture(&fixture);
    mender(&fixture);
    assert_int_equal(background_error(&fixture).status, PETAL_OK);
    assert_false(memory_vfs_exists(fixture.base.vfs, victim.path));
    for (unsigned time = 0; time < 2; time++) {
        assert_true(fixture_directory_is_clean(&fixture.base));
        MUST(get_row(&fixture, 2, 1, 1, WHY));
        if (mender == alter_away)
            MUST(get_row(&fixture, 1, 1, 1, WHY));
        fixture_must_close(&fixture.base);
        fixture_must_open(&fixture.base);
        if (mender == restore || mender == truncate_it) {
            attach(&fixture);
            check_all_there(&fixture, 0, 0);
            for (unsigned row = 0; mender == restore && row < ROWS; row++)
                MUST(get_row(&fixture, 0, row, 0, WHY));
            MUST(scan(&fixture, 0, NULL, &cells, WHY));
            assert_int_equal(cells > 0, mender == restore);
        } else {
            MUST(petal_table_open(fixture.base.db, slice_from_text("good"), &fixture.tables[1],
                                  WHY));
            MUST(petal_table_family(fixture.tables[1], slice_from_text("f"), &fixture.families[2],
                                    WHY));
            if (mender == alter_away) {
                MUST(petal_table_open(fixture.base.db, slice_from_text("bad"), &fixture.tables[0],
                                      WHY));
                MUST(petal_table_family(fixture.tables[0], slice_from_text("g"),
                                        &fixture.families[1], WHY));
            }
        }
    }
    fixture_must_close(&fixture.base);
    free(victim.bytes);
    free_fixture(&fixture);
}

TEST(test_it_can_be_dropped)
{
    for (enum damage kind = MISSING; kind < DAMAGES; kind++) {
        mend(drop_table, kind, kind == MISSING);
        mend(alter_away, kind, kind == EMPTY);
        mend(restore, kind, kind == TRAILER);
        mend(truncate_it, kind, kind != EMPTY);
    }
}

/* ---- compactions that meet damage ---- */

/* A fixture in whose first store a block in the middle of the oldest file is damaged. */
static void
make_damaged(struct damaged_family_fixture *fixture, unsigned rounds, struct victim *victim)
{
    make_fixture(fixture, rounds);
    find_victim(fixture, 0, victim);
    write_victim(fixture, victim, victim->size / 3, victim->size);
}

static void
reopen(struct damaged_family_fixture *fixture, bool compacts)
{
    fixture_must_close(&fixture->base);
    fixture->base.options.no_compaction = !compacts;
    open_fixture(fixture);
}

static void
free_damaged(struct damaged_family_fixture *fixture, struct victim *victim)
{
    bool is_kept = memory_vfs_exists(fixture->base.vfs, victim->path);

    fixture_must_close(&fixture->base);
    assert_int_equal(memory_vfs_exists(fixture->base.vfs, victim->path), is_kept);
    free(victim->bytes);
    free_fixture(fixture);
}

/* Flush rows of the rounds from..to, of a store or of all, and wait for what follows. */
static void
flush_rounds(struct damaged_family_fixture *fixture, unsigned store, unsigned from, unsigned to)
{
    for (unsigned round = from; round < to; round++) {
        put_rows(fixture, store, ROWS, round);
        MUST(petal_flush(fixture->base.db, NULL, WHY));
        MUST(petal_wait_idle(fixture->base.db, WHY));
    }
}

/* Runs that are due to be merged, and in one store a damaged one among them: that is left alone,
 * and all else goes on. */
TEST(test_a_compaction_leaves_damage_alone)
{
    struct damaged_family_fixture fixture;
    struct victim victim;
    petal_error error;
    petal_stats stats;
    uint64_t failures;

    make_damaged(&fixture, POLICY_MIN_RUNS, &victim);
    reopen(&fixture, true);
    MUST(petal_wait_idle(fixture.base.db, WHY));
    petal_stats_get(fixture.base.db, &stats);
    assert_true(stats.compactions >= STORES - 1);
    assert_false(stats.read_only);
    assert_named(stats.background_error.status, &stats.background_error, victim.path, "f", "bad");
    assert_non_null(strstr(stats.background_error.text, "offset"));
    failures = stats.background_failures;
    assert_in_range(failures, 1, 1);
    assert_int_equal(count_lines(&fixture, victim.path), 1);
    assert_named(petal_family_check(fixture.families[0], &error), &error, victim.path, "f", "bad");
    /* Writers are not kept waiting by a store that has many runs for its damage's sake. */
    flush_rounds(&fixture, ALL, POLICY_MIN_RUNS, 24);
    petal_stats_get(fixture.base.db, &stats);
    assert_int_equal(stats.background_failures, failures);
    assert_named(stats.background_error.status, &stats.background_error, victim.path, "f", "bad");
    for (unsigned store = 1; store < STORES; store++) {
        for (unsigned row = 0; row < ROWS; row += 7)
            MUST(get_row(&fixture, store, row, 23, WHY));
    }
    MUST(get_row(&fixture, 0, 1, 23, WHY)); /* found newer: the bad block is not read */
    assert_named(petal_compact(fixture.tables[0], NULL, &error), &error, victim.path, "f", "bad");
    assert_named(petal_checkpoint(fixture.base.db, "/copy", &error), &error, victim.path, "f",
                 "bad");
    assert_named(petal_table_snapshot_create(fixture.tables[0], slice_from_text("s"), NULL, &error),
                 &error, victim.path, "f", "bad");
    MUST(petal_table_snapshot_create(fixture.tables[1], slice_from_text("s"), NULL, WHY));
    assert_true(memory_vfs_exists(fixture.base.vfs, victim.path));
    free_damaged(&fixture, &victim);
}

struct run_count {
    petal_slice family;
    size_t files;
};

static bool
count_file(void *argument, const petal_file_info *file)
{
    struct run_count *count = argument;

    count->files += slice_equal(file->family, count->family);
    return true;
}

/* After the damaged run newer ones are merged: the store does not gather them without end. */
TEST(test_newer_runs_are_merged)
{
    struct run_count count = {.family = slice_from_text("f")};
    struct damaged_family_fixture fixture;
    struct victim victim;

    make_damaged(&fixture, 3, &victim);
    reopen(&fixture, true);
    flush_rounds(&fixture, 0, 3, 40);
    MUST(petal_table_files(fixture.tables[0], count_file, &count, WHY));
    assert_in_range(count.files, 2, 10);
    assert_true(memory_vfs_exists(fixture.base.vfs, victim.path));
    free_damaged(&fixture, &victim);
}

/* petal_compact tells of the family that fails and goes on with those after it; asked again when
 * the file can be read, it tries again and mends that one. */
TEST(test_what_can_be_read_again_is_mended)
{
    struct run_count count = {.family = slice_from_text("g")};
    struct damaged_family_fixture fixture;
    struct victim victim;
    petal_error error;

    make_damaged(&fixture, 4, &victim);
    assert_named(petal_compact(fixture.tables[0], NULL, &error), &error, victim.path, "f", "bad");
    MUST(petal_table_files(fixture.tables[0], count_file, &count, WHY));
    assert_int_equal(count.files, 1);
    error = background_error(&fixture);
    assert_named(error.status, &error, victim.path, "f", "bad");
    write_victim(&fixture, &victim, SIZE_MAX, victim.size);
    MUST(petal_compact(fixture.tables[0], fixture.families[0], WHY));
    MUST(petal_family_check(fixture.families[0], WHY));
    check_all_there(&fixture, ROWS, 3);
    assert_false(memory_vfs_exists(fixture.base.vfs, victim.path));
    MUST(petal_checkpoint(fixture.base.db, "/copy", WHY));
    free_damaged(&fixture, &victim);
}

/* A lost file of the first family: the files of those after it are told, and leave the cache, with
 * those of other tables. */
TEST(test_files_behind_a_lost_one_are_told)
{
    struct run_count count = {.family = slice_from_text("g")};
    struct damaged_family_fixture fixture;
    struct victim victim;
    uint64_t blocks;
    petal_error error;

    make_fixture(&fixture, 2);
    find_victim(&fixture, 0, &victim);
    fixture_must_close(&fixture.base);
    write_victim(&fixture, &victim, SIZE_MAX, 10);
    open_fixture(&fixture);
    assert_named(petal_table_files(fixture.tables[0], count_file, &count, &error), &error,
                 victim.path, "f", "bad");
    assert_int_equal(count.files, 2);
    assert_named(petal_cache_clear(fixture.base.db, NULL, &blocks, &error), &error, victim.path,
                 "f", "bad");
    free_damaged(&fixture, &victim);
}

/* ---- reads that meet damage ---- */

TEST(test_reads_name_family_and_table)
{
    struct damaged_family_fixture fixture;
    struct victim victim;
    petal_error error;
    enum petal_status status = PETAL_OK;
    unsigned failed = 0;
    size_t cells;

    make_damaged(&fixture, 1, &victim);
    reopen(&fixture, false);
    for (unsigned row = 0; row < ROWS; row++) {
        status = get_row(&fixture, 0, row, 0, &error);
        if (status != PETAL_OK) {
            assert_named(status, &error, victim.path, "f", "bad");
            assert_non_null(strstr(error.text, "offset"));
            failed++;
        }
        MUST(get_row(&fixture, 1, row, 0, WHY));
    }
    assert_in_range(failed, 1, ROWS - 1);
    status = scan(&fixture, 0, NULL, &cells, &error);
    assert_named(status, &error, victim.path, "f", "bad");
    MUST(scan(&fixture, 0, fixture.families[1], &cells, WHY));
    MUST(put_row(&fixture, 0, 0, 1, WHY));
    MUST(petal_flush(fixture.base.db, NULL, WHY));
    free_damaged(&fixture, &victim);
}
