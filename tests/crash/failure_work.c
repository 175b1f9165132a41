/* failure_work.c -- see tests/crash/failure_work.h. */
#include "tests/crash/failure_work.h"

#include "base/slice.h"
#include "engine/state/db.h"
#include "tests/crash/failure_questions.h"
#include "tests/crash/failure_regions.h"
#include "tests/crash/failure_sets.h"
#include "tests/disk/paths.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

#define LARGE_BYTES    (300u << 10)
#define LONG_BYTES     500
#define LONG_ROWS      60
#define WIDE_CELLS     110
#define HUGE_ROW_BYTES 8000
#define TEXT(text)                                                                                 \
    {                                                                                              \
        text, sizeof text - 1                                                                      \
    }

static petal_table *table_of(struct failure_run *run, const char *name);
static size_t walk(struct failure_run *run, petal_table *table, const petal_scan_options *options);
static void seek(struct failure_run *run, petal_table *table);
static void expect(struct failure_run *run, const char *what, size_t cells, size_t expected);
static void get_all(struct failure_run *run, petal_table *table, petal_slice row, size_t cells);

static bool
is_ready(const struct failure_run *run)
{
    return run->fixture.db != NULL && run->counted != NULL;
}

static petal_table *
table_of(struct failure_run *run, const char *name)
{
    petal_table *table = NULL;
    petal_error error;

    if (run->fixture.db == NULL)
        return NULL;
    return petal_table_open(run->fixture.db, slice_from_text(name), &table, &error) == PETAL_OK
               ? table
               : NULL;
}

/* ---- opening, closing ---- */

static void
step_open(struct failure_run *run)
{
    failure_open(run);
}

static void
step_read_only(struct failure_run *run)
{
    run->fixture.options.read_only = true;
    run->fixture.options.create = false;
    failure_open(run);
}

static void
step_close(struct failure_run *run)
{
    petal_db *db = run->fixture.db;
    bool wrote = !run->fixture.options.read_only;
    petal_error error;

    run->fixture.db = NULL;
    run->fixture.options.read_only = false;
    run->fixture.options.create = true;
    if (db != NULL && failure_told(run, "close", petal_close(db, &error), &error) && wrote)
        run->promise.synced = run->promise.stored;
}

static void
step_die(struct failure_run *run)
{
    (void)run;
}

static void
step_map_files(struct failure_run *run)
{
    run->fixture.options.map_files = true;
    failure_open(run);
}

static void
step_compacting(struct failure_run *run)
{
    run->fixture.options.no_compaction = false;
    failure_open(run);
}

static void
step_large_cache(struct failure_run *run)
{
    run->fixture.options.cache_bytes = (size_t)8 << 20;
    failure_open(run);
}

/* The next log, as when a memtable is full; what the one before holds is not synced. */
static void
step_next_log(struct failure_run *run)
{
    assert_int_equal(fixture_close_log(&run->fixture), PETAL_OK);
    failure_write(run, PETAL_SYNC_WAL);
}

static void
step_empty_log(struct failure_run *run)
{
    assert_int_equal(fixture_close_log(&run->fixture), PETAL_OK);
}

static void
step_full_disk(struct failure_run *run)
{
    run->full = true;
    memory_vfs_set_capacity(run->fixture.vfs, memory_vfs_used(run->fixture.vfs) + 10);
}

static void
step_room(struct failure_run *run)
{
    run->full = false;
    memory_vfs_set_capacity(run->fixture.vfs, UINT64_MAX);
}

static void
step_no_links(struct failure_run *run)
{
    memory_vfs_refuse_links(run->fixture.vfs, 18 /* EXDEV */);
}

static void
step_windows(struct failure_run *run)
{
    memory_vfs_use_log_windows(run->fixture.vfs, true);
    failure_open(run);
}

/* The last edit of the manifest lacks the seal that would say that it is durable. */
static void
step_unsealed(struct failure_run *run)
{
    memory_vfs_fail_at(run->fixture.vfs, 3, 5 /* EIO */, false); /* the edit, the sync, the seal */
    MUST(petal_table_drop(table_of(run, "kept"), WHY));
    assert_int_equal(memory_vfs_failures(run->fixture.vfs), 1);
}

/* Not by the library. */
static void
remove_file(struct failure_run *run, const char *name)
{
    failure_faults_watch(&run->faults, false);
    assert_int_equal(vfs_remove(memory_vfs_table(run->fixture.vfs), name), 0);
    failure_faults_watch(&run->faults, true);
}

static void
step_no_registry(struct failure_run *run)
{
    remove_file(run, FIXTURE_DIRECTORY "/READERS");
}

static void
step_no_lock_file(struct failure_run *run)
{
    remove_file(run, FIXTURE_DIRECTORY "/LOCK");
}

/* ---- tables ---- */

static enum petal_status
create(struct failure_run *run, const char *name, petal_family_options *family, petal_error *error)
{
    petal_attribute attribute = {PETAL_METADATA, TEXT("note"), TEXT("kept")};
    petal_table_options options = {.name = slice_from_text(name),
                                   .families = family,
                                   .family_count = 1,
                                   .attributes = &attribute,
                                   .attribute_count = 1};
    petal_table *table;

    family->name = slice_from_text("f");
    return petal_table_create(run->fixture.db, &options, &table, error);
}

static void
put_rows(petal_table *table, unsigned first, unsigned count, size_t bytes)
{
    char row[16], value[1200];

    assert_true(bytes <= sizeof value);
    for (unsigned i = first; i < first + count; i++) {
        snprintf(row, sizeof row, "row %05u", i);
        for (size_t at = 0; at < bytes; at++)
            value[at] = (char)(at * 31 + i * 7 + (at * i) / 13);
        MUST(petal_put(petal_table_family_at(table, 0), slice_from_text(row), slice_from_text("q"),
                       PETAL_LATEST, slice_make(value, bytes), NULL, WHY));
    }
}

/* Three rows share all bytes but the last. */
static void
long_row(char row[LONG_BYTES + 8], unsigned number)
{
    memset(row, 'r', LONG_BYTES);
    row[0] = (char)('a' + number / 3 / 10);
    row[1] = (char)('0' + number / 3 % 10);
    row[LONG_BYTES] = (char)('0' + number % 3);
}

/* Rows and qualifiers that no memory at hand has room for; an index of several levels. */
static void
fill_long(petal_table *table)
{
    char row[LONG_BYTES + 8], value[600];

    for (unsigned i = 0; i < LONG_ROWS; i++) {
        long_row(row, i);
        for (size_t at = 0; at < sizeof value; at++)
            value[at] = (char)(at * i + at / 7);
        MUST(petal_put(petal_table_family_at(table, 0), slice_make(row, LONG_BYTES + 1),
                       slice_make(row + 2, LONG_BYTES - 2), PETAL_LATEST,
                       slice_make(value, sizeof value), NULL, WHY));
    }
}

/* All kinds of markers among versions, in rows that are no text. */
static void
fill_marked(petal_table *table, unsigned first)
{
    static const enum petal_cell_type types[] = {PETAL_DELETE, PETAL_DELETE_FAMILY_VERSION,
                                                 PETAL_DELETE_COLUMN, PETAL_DELETE_FAMILY};
    const petal_slice rows[] = {TEXT("\xff\xfe one"), TEXT("\xff\xfe two")}, none = {NULL, 0};

    for (unsigned i = first; i < first + 60; i++) {
        petal_family *family = petal_table_family_at(table, i / 2 % 2);
        petal_slice qualifier = slice_from_text(i % 5 < 3 ? "a" : "b");
        enum petal_cell_type type = types[i / 4 % 4];
        bool of_column = type == PETAL_DELETE || type == PETAL_DELETE_COLUMN;

        if (i % 4 == 3)
            MUST(petal_delete(family, rows[i % 2], of_column ? qualifier : none, i / 2, type, NULL,
                              WHY));
        else
            MUST(petal_put(family, rows[i % 2], qualifier, i, slice_from_text("value"), NULL, WHY));
    }
}

static void
fill_wide(petal_table *table)
{
    char name[8];

    for (unsigned i = 0; i < WIDE_CELLS; i++) {
        snprintf(name, sizeof name, "q%03u", i);
        MUST(petal_put(petal_table_family_at(table, 0), slice_from_text("wide"),
                       slice_from_text(name), PETAL_LATEST, slice_from_text(name), NULL, WHY));
    }
}

/* A row of some versions. */
static void
fill_busy(petal_table *table)
{
    for (int64_t time = 2; time < 10; time++)
        MUST(petal_put(petal_table_family_at(table, 0), slice_from_text("busy"),
                       slice_from_text("q"), time, slice_from_text("value"), NULL, WHY));
}

/* More family markers in it than a get looks at first. */
static void
mark_busy(petal_table *table)
{
    const petal_slice none = {NULL, 0};

    for (int64_t i = 0; i < WIDE_CELLS; i++)
        MUST(petal_delete(petal_table_family_at(table, 0), slice_from_text("busy"), none, 2 * i + 1,
                          PETAL_DELETE_FAMILY_VERSION, NULL, WHY));
}

/* Of several versions and two families. */
static void
create_marked(struct failure_run *run, const char *name, bool newer)
{
    petal_attribute high = {PETAL_KEPT_ATTRIBUTE, TEXT("COMPRESSION_COMPACT"), TEXT("LZ4HC")};
    petal_family_options families[2] = {{.name = TEXT("f"),
                                         .versions = 4,
                                         .new_version_behavior = newer,
                                         .bloom = PETAL_BLOOM_ROWCOL,
                                         .attributes = &high,
                                         .attribute_count = 1},
                                        {.name = TEXT("g"),
                                         .versions = 4,
                                         .new_version_behavior = newer,
                                         .keep_deleted_cells = PETAL_KEEP_DELETED_TRUE}};
    petal_table_options options = {
        .name = slice_from_text(name), .families = families, .family_count = 2};
    petal_table *table;

    MUST(petal_table_create(run->fixture.db, &options, &table, WHY));
}

/* The tables that all work stands on; nothing fails meanwhile. */
static void
step_furnish(struct failure_run *run)
{
    petal_family_options plain = {.block_bytes = 1024},
                         prefix = {.bloom = PETAL_BLOOM_ROW_PREFIX,
                                   .bloom_prefix_bytes = 4,
                                   .versions = 3,
                                   .block_bytes = 1024},
                         newer = {.new_version_behavior = true, .versions = 2},
                         deleted = {.keep_deleted_cells = PETAL_KEEP_DELETED_TRUE, .versions = 2},
                         /* Columns enough for a filter that is RIBBON. */
        wide = {.versions = 200,
                .bloom = PETAL_BLOOM_ROW_ROWCOL,
                .bloom_kind = PETAL_BLOOM_KIND_RIBBON},
                         beginnings = {.bloom = PETAL_BLOOM_ROW_PREFIX,
                                       .bloom_prefix_bytes = 300,
                                       .block_bytes = 1024};
    petal_db *db = run->fixture.db;

    MUST(ledger_create(&run->ledger, db, WHY));
    MUST(create(run, "counted", &prefix, WHY));
    MUST(create(run, "altered", &plain, WHY));
    MUST(create(run, "emptied", &newer, WHY));
    MUST(create(run, "steady", &plain, WHY));
    MUST(create(run, "kept", &deleted, WHY));
    MUST(create(run, "long", &beginnings, WHY));
    create_marked(run, "marked", false);
    create_marked(run, "history", true);
    create_marked(run, "loaded", false);
    MUST(create(run, "wide", &wide, WHY));
    fill_wide(table_of(run, "wide"));
    fill_wide(table_of(run, "altered"));
    fill_busy(table_of(run, "wide"));
    fill_long(table_of(run, "long"));
    fill_marked(table_of(run, "marked"), 0);
    fill_marked(table_of(run, "history"), 0);
    put_rows(table_of(run, "steady"), 0, 20, 100);
    put_rows(table_of(run, "emptied"), 0, 20, 20);
    put_rows(table_of(run, "kept"), 0, 10, 20);
    put_rows(table_of(run, "loaded"), 0, 2, 20);
    MUST(petal_flush(db, NULL, WHY));
    fill_marked(table_of(run, "marked"), 60);
    fill_marked(table_of(run, "history"), 60);
    mark_busy(table_of(run, "wide"));
    put_rows(table_of(run, "steady"), 20, 20, 100);
    MUST(petal_table_snapshot_create(table_of(run, "steady"), slice_from_text("old"), NULL, WHY));
    run->promise.tables_made = true;
    MUST(petal_table_open(db, slice_from_text("counted"), &run->counted, WHY));
}

static void
step_fill(struct failure_run *run)
{
    for (unsigned i = 0; i < 9; i++) {
        char *value = test_allocate((size_t)1 << 20);
        struct test_random random;

        test_random_init(&random, i);
        test_random_bytes(&random, value, (size_t)1 << 20);
        MUST(petal_put(petal_table_family_at(table_of(run, "kept"), 0), slice_make(value, 8),
                       slice_from_text("large"), PETAL_LATEST, slice_make(value, (size_t)1 << 20),
                       NULL, WHY));
        free(value);
    }
}

/* So long keys that the index of a file needs more than its root. */
static void
step_fill_index(struct failure_run *run)
{
    static char row[HUGE_ROW_BYTES];
    petal_family *family = petal_table_family_at(table_of(run, "long"), 0);

    for (unsigned i = 0; i < 90; i++) {
        memset(row, 's', sizeof row);
        row[1] = (char)('0' + i / 3);
        row[sizeof row - 1] = (char)('0' + i % 3);
        MUST(petal_put(family, slice_make(row, sizeof row), slice_from_text("q"), PETAL_LATEST,
                       slice_make(row, 1000), NULL, WHY));
    }
}

static void
step_walk_index(struct failure_run *run)
{
    static char row[HUGE_ROW_BYTES];
    petal_table *table = table_of(run, "long");

    if (table == NULL)
        return;
    memset(row, 's', sizeof row);
    row[1] = row[sizeof row - 1] = '2';
    get_all(run, table, slice_make(row, sizeof row), 1);
    expect(run, "huge rows", walk(run, table, &(petal_scan_options){.prefix = TEXT("s")}), 90);
}

static void
step_create_lost(struct failure_run *run)
{
    petal_family_options family = {0};

    MUST(create(run, "lost", &family, WHY));
    put_rows(table_of(run, "lost"), 0, 5, 10);
}

static void
note_newest(void *argument, const char *name)
{
    char *newest = argument;

    if (strstr(name, ".sst") != NULL && strcmp(name, strrchr(newest, '/') + 1) > 0)
        snprintf(newest, 40, FIXTURE_DIRECTORY "/%s", name);
}

/* The newest store file goes. */
static void
step_lose(struct failure_run *run)
{
    char newest[40] = FIXTURE_DIRECTORY "/";

    run->promise.file_lost = true;
    (void)memory_vfs_list(run->fixture.vfs, FIXTURE_DIRECTORY, note_newest, newest);
    remove_file(run, newest);
}

static void
step_drop_lost(struct failure_run *run)
{
    petal_table *lost = table_of(run, "lost");
    petal_error error;

    if (lost != NULL)
        failure_told(run, "drop", petal_table_drop(lost, &error), &error);
}

static void
step_create(struct failure_run *run)
{
    petal_family_options family = {.compression = PETAL_COMPRESSION_NONE};
    petal_error error;
    enum petal_status status;

    if (!is_ready(run))
        return;
    status = create(run, "made", &family, &error);
    failure_changed(run, FAILURE_MADE, true, status);
    failure_told(run, "create", status, &error);
}

static void
step_drop(struct failure_run *run)
{
    petal_table *made = table_of(run, "made");
    petal_error error;
    enum petal_status status;

    if (made == NULL)
        return;
    status = petal_table_drop(made, &error);
    failure_changed(run, FAILURE_MADE, false, status);
    failure_told(run, "drop", status, &error);
}

static void
step_alter(struct failure_run *run)
{
    petal_family_options families[] = {{.name = TEXT("f"), .versions = 2}, {.name = TEXT("g")}};
    petal_table_options options = {.families = families, .family_count = 2};
    petal_table *altered = table_of(run, "altered");
    petal_error error;
    enum petal_status status;

    if (altered == NULL)
        return;
    status = petal_table_alter(altered, &options, &error);
    failure_changed(run, FAILURE_ALTERED, true, status);
    failure_told(run, "alter", status, &error);
}

static void
step_empty(struct failure_run *run)
{
    petal_table *emptied = table_of(run, "emptied"), *now;
    petal_error error;
    enum petal_status status;

    if (emptied == NULL)
        return;
    status = petal_table_truncate(emptied, &now, &error);
    failure_changed(run, FAILURE_EMPTIED, true, status);
    failure_told(run, "truncate", status, &error);
}

static bool
see_table(void *argument, petal_table *table)
{
    petal_table_options options = PETAL_DEFAULTS;

    petal_table_describe(table, &options);
    *(size_t *)argument += options.family_count;
    return true;
}

static void
step_list(struct failure_run *run)
{
    size_t families = 0;
    petal_error error;

    if (is_ready(run))
        failure_told(run, "list", petal_table_list(run->fixture.db, see_table, &families, &error),
                     &error);
}

static petal_kv *
open_key_values(struct failure_run *run)
{
    petal_kv *kv = NULL;
    petal_error error;

    if (is_ready(run))
        failure_told(run, "key-value table",
                     petal_kv_open(run->fixture.db, slice_from_text("kept"), NULL, &kv, &error),
                     &error);
    return kv;
}

static enum petal_status
put_pairs(struct failure_run *run, petal_kv *kv, const petal_slice keys[3], petal_error *error)
{
    petal_batch *batch;
    enum petal_status status = petal_kv_put_if_absent(kv, keys[0], keys[0], NULL, error);

    if (status == PETAL_OK)
        status = petal_kv_compare_and_swap(kv, keys[1], NULL, &keys[1], NULL, error);
    if (status != PETAL_OK)
        return status;
    status = petal_batch_new(run->fixture.db, &batch, error);
    if (status == PETAL_OK)
        status = petal_kv_batch_put(batch, kv, keys[2], keys[2], error);
    if (status == PETAL_OK)
        status = petal_write(run->fixture.db, batch, NULL, error);
    petal_batch_free(batch);
    return status;
}

static enum petal_status
get_pairs(struct failure_run *run, petal_kv *kv, const petal_slice keys[3], petal_error *error)
{
    petal_result *result;
    petal_slice values[3];
    enum petal_status status = petal_result_new(run->fixture.db, &result, error);

    if (status == PETAL_OK)
        status = petal_kv_multi_get(kv, keys, 3, NULL, result, NULL, values, error);
    if (status == PETAL_OK)
        expect(run, "three keys at once", values[0].size + values[1].size + values[2].size,
               keys[0].size + keys[1].size + keys[2].size);
    petal_result_free(result);
    return status;
}

static enum petal_status
walk_pairs(struct failure_run *run, petal_kv *kv, const petal_slice keys[3], petal_error *error)
{
    petal_kv_cursor_options options = {.prefix = TEXT("pair"), .from = keys[1]};
    petal_kv_cursor *cursor;
    petal_slice key;
    size_t count = 0;
    bool found = true;
    enum petal_status status = petal_kv_cursor_open(kv, &options, &cursor, error);

    while (status == PETAL_OK && found) {
        status = petal_kv_cursor_next(cursor, &found, &key, NULL, error);
        count += found;
    }
    petal_kv_cursor_close(cursor);
    if (status == PETAL_OK)
        expect(run, "keys from the second on", count, 2);
    return status;
}

static void
step_key_values(struct failure_run *run)
{
    static const petal_delete_rows_options options = {.prefix = TEXT("pair")};
    const petal_slice keys[] = {TEXT("pair-1"), TEXT("pair-2"), TEXT("pair-3")};
    petal_kv *kv = open_key_values(run);
    petal_deleted_rows deleted;
    petal_error error;
    enum petal_status status;

    if (kv == NULL)
        return;
    status = put_pairs(run, kv, keys, &error);
    if (status == PETAL_OK)
        status = get_pairs(run, kv, keys, &error);
    if (status == PETAL_OK)
        status = walk_pairs(run, kv, keys, &error);
    if (status == PETAL_OK)
        status = petal_kv_delete_range(kv, keys[0], (petal_slice){0}, &options, &deleted, &error);
    if (failure_told(run, "keys and values", status, &error))
        expect(run, "deleted keys", deleted.rows, 3);
}

/* ---- snapshots and copies ---- */

static void
step_take(struct failure_run *run)
{
    petal_table *steady = table_of(run, "steady");
    petal_table_snapshot_options options = {.ttl_seconds = 100};
    petal_error error;
    enum petal_status status;

    if (steady == NULL)
        return;
    status = petal_table_snapshot_create(steady, slice_from_text("taken"), &options, &error);
    failure_changed(run, FAILURE_TAKEN, true, status);
    failure_told(run, "snapshot", status, &error);
}

static bool
see_snapshot(void *argument, const petal_table_snapshot_info *info)
{
    *(size_t *)argument += info->name.size;
    return true;
}

static void
step_list_snapshots(struct failure_run *run)
{
    size_t bytes = 0;
    petal_error error;

    if (is_ready(run))
        failure_told(run, "snapshots",
                     petal_table_snapshot_list(run->fixture.db, see_snapshot, &bytes, &error),
                     &error);
}

static void
step_clone(struct failure_run *run)
{
    petal_table *clone;
    petal_error error;
    enum petal_status status;

    if (!is_ready(run))
        return;
    status = petal_table_snapshot_clone(run->fixture.db, slice_from_text("old"),
                                        slice_from_text("clone"), &clone, &error);
    failure_changed(run, FAILURE_CLONED, true, status);
    failure_told(run, "clone", status, &error);
}

static void
step_restore(struct failure_run *run)
{
    petal_table *steady;
    petal_error error;

    if (is_ready(run))
        failure_told(
            run, "restore",
            petal_table_snapshot_restore(run->fixture.db, slice_from_text("old"), &steady, &error),
            &error);
}

static void
step_delete_snapshot(struct failure_run *run)
{
    petal_error error;
    enum petal_status status;

    if (!is_ready(run) || run->promise.now[FAILURE_TAKEN] != FAILURE_DONE)
        return;
    status = petal_table_snapshot_delete(run->fixture.db, slice_from_text("taken"), &error);
    failure_changed(run, FAILURE_TAKEN, false, status);
    failure_told(run, "delete snapshot", status, &error);
}

/* The snapshot with a time to live goes with the next opening. */
static void
step_later(struct failure_run *run)
{
    test_clock_advance(&run->fixture.clock, 1000000);
}

static void
step_expired(struct failure_run *run)
{
    step_later(run);
    run->promise.now[FAILURE_TAKEN] = run->promise.later[FAILURE_TAKEN] = FAILURE_UNDONE;
    failure_open(run);
    run->told++; /* what an opening has no room or memory to let go is left for later */
}

static void
step_copy(struct failure_run *run)
{
    petal_error error;
    enum petal_status status;

    if (!is_ready(run))
        return;
    status = petal_checkpoint(run->fixture.db, FAILURE_COPY_DIRECTORY, &error);
    run->promise.now[FAILURE_COPIED] = run->promise.later[FAILURE_COPIED] =
        status == PETAL_OK ? FAILURE_DONE : FAILURE_UNKNOWN;
    failure_told(run, "checkpoint", status, &error);
}

static void
step_backup(struct failure_run *run)
{
    petal_backup_report report;
    petal_error error;
    enum petal_status status;

    if (!is_ready(run))
        return;
    status = petal_backup(run->fixture.db, FAILURE_COPY_DIRECTORY, NULL, &report, &error);
    /* One that was there before stays. */
    if (status == PETAL_OK)
        run->promise.now[FAILURE_COPIED] = run->promise.later[FAILURE_COPIED] = FAILURE_DONE;
    else if (run->promise.now[FAILURE_COPIED] != FAILURE_DONE)
        run->promise.now[FAILURE_COPIED] = run->promise.later[FAILURE_COPIED] = FAILURE_UNKNOWN;
    failure_told(run, "backup", status, &error);
}

/* Half of whose files were cut short since. */
static void
step_earlier_backup(struct failure_run *run)
{
    char path[64];
    petal_error error;

    must(petal_backup(run->fixture.db, "/earlier", NULL, NULL, &error), &error);
    for (unsigned number = 2; number < 60; number += 2) {
        (void)snprintf(path, sizeof path, "/earlier/%06u.sst", number);
        if (!memory_vfs_exists(run->fixture.vfs, path))
            continue;
        remove_file(run, path);
        assert_int_equal(memory_vfs_write_file(run->fixture.vfs, path, "cut", 3), 0);
    }
}

static void
step_next_backup(struct failure_run *run)
{
    const petal_backup_options options = {.copy = true, .previous = "/earlier"};
    petal_error error;

    if (is_ready(run))
        failure_told(run, "next backup",
                     petal_backup(run->fixture.db, "/next", &options, NULL, &error), &error);
}

static void
restore_files(struct failure_run *run, const char *directory, bool replace)
{
    const petal_restore_options options = {.env = &run->fixture.env, .replace = replace};
    petal_error error;

    failure_told(run, "restore of all",
                 petal_restore(FAILURE_COPY_DIRECTORY, directory, &options, NULL, &error), &error);
}

static void
step_restore_new(struct failure_run *run)
{
    restore_files(run, "/new", false);
}

static void
step_restore_over(struct failure_run *run)
{
    restore_files(run, "/new", true);
}

/* ---- writing ---- */

static void
step_write(struct failure_run *run)
{
    for (unsigned i = 0; i < 6; i++)
        failure_write(run, i % 3 == 2 ? PETAL_FSYNC_WAL : PETAL_SYNC_WAL);
}

/* One batch that neither the log's buffer nor a fragment of the log has room for. */
static void
write_large(struct failure_run *run, size_t bytes)
{
    petal_table *kept = table_of(run, "kept");
    petal_write_options options = {.durability = PETAL_SYNC_WAL};
    petal_batch *batch = NULL;
    petal_error error;
    enum petal_status status;
    char *value;

    if (kept == NULL)
        return;
    value = test_allocate(bytes);
    memset(value, 'v', bytes);
    status = petal_batch_new(run->fixture.db, &batch, &error);
    for (unsigned i = 0; status == PETAL_OK && i < 3; i++)
        status = petal_batch_put(batch, petal_table_family_at(kept, 0), slice_from_text("large"),
                                 slice_make(value, i + 1), PETAL_LATEST, slice_make(value, bytes),
                                 &error);
    if (status == PETAL_OK)
        status = petal_write(run->fixture.db, batch, &options, &error);
    petal_batch_free(batch);
    free(value);
    failure_told(run, "large batch", status, &error);
}

static void
step_write_much(struct failure_run *run)
{
    write_large(run, LARGE_BYTES);
}

/* More than a log's buffer keeps. */
static void
step_write_most(struct failure_run *run)
{
    write_large(run, 5 * LARGE_BYTES);
}

static void
step_count(struct failure_run *run)
{
    failure_count(run);
    failure_count(run);
}

/* Increments within a millisecond run ahead of the clock: what follows them looks at the row. Its
 * key is longer than what a look has room for without memory of its own. */
static void
step_ahead(struct failure_run *run)
{
    char name[2 * LONG_BYTES];
    petal_slice row = {name, sizeof name};
    petal_slice qualifier = slice_from_text("counter"), value = slice_from_text("8 bytes.");
    petal_batch *batch = NULL;
    petal_family *family;
    petal_error error;
    enum petal_status status = PETAL_OK;

    if (!is_ready(run))
        return;
    memset(name, 'a', sizeof name);
    family = petal_table_family_at(run->counted, 0);
    for (int i = 0; status == PETAL_OK && i < 3; i++)
        status = petal_increment(family, row, qualifier, 1, NULL, NULL, &error);
    if (status == PETAL_OK)
        status = petal_batch_new(run->fixture.db, &batch, &error);
    if (status == PETAL_OK)
        status = petal_batch_delete(batch, family, row, slice_from_text(""), PETAL_LATEST,
                                    PETAL_DELETE_FAMILY, &error);
    if (status == PETAL_OK)
        status = petal_batch_put(batch, family, row, qualifier, PETAL_LATEST, value, &error);
    if (status == PETAL_OK)
        status = petal_write(run->fixture.db, batch, NULL, &error);
    petal_batch_free(batch);
    failure_told(run, "writes ahead of the clock", status, &error);
}

static void
step_mutate(struct failure_run *run)
{
    petal_slice row = TEXT("row"), other = TEXT("other");
    petal_condition condition = {.qualifier = slice_from_text("counter"),
                                 .compare = PETAL_NOT_EQUAL};
    petal_batch *batch = NULL;
    petal_result *result = NULL;
    petal_family *family;
    petal_write_options options = {.durability = PETAL_SYNC_WAL};
    bool applied = false;
    petal_error error;
    enum petal_status status;

    if (!is_ready(run))
        return;
    family = petal_table_family_at(run->counted, 0);
    condition.family = family;
    status = petal_batch_new(run->fixture.db, &batch, &error);
    if (status == PETAL_OK)
        status = petal_result_new(run->fixture.db, &result, &error);
    options.result = result;
    if (status == PETAL_OK)
        status = petal_batch_mutation(batch, NULL, &error);
    for (unsigned i = 0; status == PETAL_OK && i < 20; i++) {
        char name[8];

        snprintf(name, sizeof name, "q%u", i);
        status = petal_batch_append(batch, family, row, slice_from_text(name),
                                    slice_from_text("and more"), &error);
    }
    for (unsigned i = 0; status == PETAL_OK && i < 2; i++) {
        static const petal_mutation_options dying = {.has_ttl = true, .ttl_ms = 100000};

        status = petal_batch_mutation(batch, &dying, &error);
        if (status == PETAL_OK)
            status = petal_batch_put(batch, family, row, other, 7, other, &error);
    }
    if (status == PETAL_OK)
        status = petal_batch_delete(batch, family, row, other, PETAL_LATEST, PETAL_DELETE, &error);
    if (status == PETAL_OK)
        status = petal_mutate_row(run->counted, row, &condition, batch, &options, &applied, &error);
    petal_batch_free(batch);
    petal_result_free(result);
    failure_told(run, "mutate", status, &error);
}

/* Three rows come, two at least go. A call that fails has done what it says. */
static void
step_delete_rows(struct failure_run *run)
{
    static const petal_delete_rows_options options = {.prefix = TEXT("go"), .batch_rows = 1};
    static const petal_scan_options going = {.prefix = TEXT("go")};
    const petal_slice rows[] = {TEXT("go-1"), TEXT("go-2"), TEXT("go-3")};
    petal_table *kept = table_of(run, "kept");
    petal_deleted_rows deleted;
    petal_error error;
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; kept != NULL && status == PETAL_OK && i < 3; i++)
        status = petal_put(petal_table_family_at(kept, 0), rows[i], slice_from_text("q"),
                           PETAL_LATEST, rows[i], NULL, &error);
    if (kept == NULL || !failure_told(run, "put", status, &error))
        return;
    status = petal_delete_row(kept, rows[0], PETAL_LATEST, NULL, &error);
    if (!failure_told(run, "delete a row", status, &error))
        return;
    expect(run, "rows behind the deleted one", walk(run, kept, &going), 2);
    status = petal_delete_rows(kept, rows[1], (petal_slice){0}, &options, &deleted, &error);
    if (failure_told(run, "delete rows", status, &error))
        expect(run, "deleted rows", deleted.rows, 2);
    expect(run, "rows that stay", walk(run, kept, &going), 2 - deleted.rows);
}

/* So long rows that a search for one needs memory. */
static enum petal_status
load_row(petal_bulk *bulk, petal_table *table, unsigned number, petal_error *error)
{
    char row[LONG_BYTES + 8], value[200];
    petal_cell cell = {.row = {row, LONG_BYTES + 1},
                       .qualifier = slice_from_text("q"),
                       .value = {value, sizeof value},
                       .timestamp = 7,
                       .type = PETAL_PUT};

    long_row(row, number);
    for (size_t at = 0; at < sizeof value; at++)
        value[at] = (char)(at * number + at / 7);
    return petal_bulk_add(bulk, petal_table_family_at(table, 0), &cell, error);
}

/* A family marker, and what it hides and does not. */
static enum petal_status
load_marked(petal_bulk *bulk, petal_table *table, petal_error *error)
{
    static const struct {
        int64_t timestamp;
        enum petal_cell_type type;
    } cells[] = {{9, PETAL_PUT}, {8, PETAL_PUT}, {8, PETAL_DELETE_FAMILY}, {8, PETAL_PUT}};
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < sizeof cells / sizeof *cells; i++) {
        petal_cell cell = {.row = slice_from_text(i == 0 ? "a" : "b"),
                           .timestamp = cells[i].timestamp + (i == 1),
                           .type = cells[i].type};

        status = petal_bulk_add(bulk, petal_table_family_at(table, 1), &cell, error);
    }
    return status;
}

static void
step_load(struct failure_run *run)
{
    petal_bulk_options options = {.file_bytes = 4096};
    petal_table *loaded = table_of(run, "loaded");
    petal_bulk *bulk;
    petal_error error;
    enum petal_status status;

    if (loaded == NULL)
        return;
    status = petal_bulk_begin(loaded, &options, &bulk, &error);
    failure_write(run, PETAL_SYNC_WAL);
    for (unsigned i = 0; status == PETAL_OK && i < 60; i++)
        status = load_row(bulk, loaded, i, &error);
    if (status == PETAL_OK)
        status = load_marked(bulk, loaded, &error);
    if (status == PETAL_OK) {
        uint64_t stored = run->promise.stored;

        status = petal_bulk_commit(bulk, &error);
        failure_changed(run, FAILURE_LOADED, true, status);
        if (status == PETAL_OK)
            run->promise.synced = stored;
    }
    petal_bulk_free(bulk);
    failure_told(run, "bulk", status, &error);
}

static void
step_read_loaded(struct failure_run *run)
{
    petal_scan_options plain = {0}, reversed = {.reversed = true};
    size_t cells = FAILURE_CELLS_BEFORE + FAILURE_CELLS_LOADED;
    petal_table *loaded = table_of(run, "loaded");
    char row[LONG_BYTES + 8];

    if (loaded == NULL || run->promise.now[FAILURE_LOADED] != FAILURE_DONE)
        return;
    expect(run, "a scan of what was loaded", walk(run, loaded, &plain), cells);
    expect(run, "a reversed scan of what was loaded", walk(run, loaded, &reversed), cells);
    long_row(row, 40);
    get_all(run, loaded, slice_make(row, LONG_BYTES + 1), 1);
    seek(run, loaded);
}

static void
step_flush(struct failure_run *run)
{
    uint64_t stored = run->promise.stored;
    petal_error error;

    if (is_ready(run) &&
        failure_told(run, "flush", petal_flush(run->fixture.db, NULL, &error), &error))
        run->promise.synced = stored;
}

/* Compactions commit row by row. */
static void
step_small_outputs(struct failure_run *run)
{
    if (is_ready(run))
        run->fixture.db->compact_file_bytes = 1;
}

static void
step_compact(struct failure_run *run)
{
    static const char *const names[] = {"left",   "right",   "counted", "steady", "kept",
                                        "marked", "history", "long",    "wide",   "loaded"};
    petal_error error;

    for (size_t i = 0; is_ready(run) && i < sizeof names / sizeof *names; i++) {
        petal_table *table = table_of(run, names[i]);

        if (table != NULL)
            failure_told(run, "compact", petal_compact(table, NULL, &error), &error);
    }
}

static void
step_wait(struct failure_run *run)
{
    petal_error error;

    if (is_ready(run))
        failure_told(run, "wait", petal_wait_idle(run->fixture.db, &error), &error);
}

/* ---- reading ---- */

static bool
note_file(void *argument, const petal_file_info *file)
{
    *(uint64_t *)argument += file->cells;
    return true;
}

static void
step_inspect(struct failure_run *run)
{
    petal_error error;
    uint64_t cells = 0, blocks;
    petal_stats stats;
    char *text;

    if (!is_ready(run))
        return;
    petal_stats_get(run->fixture.db, &stats);
    for (unsigned i = 0; i < LEDGER_TABLES; i++) {
        petal_table *table = run->ledger.tables[i];

        failure_told(run, "files", petal_table_files(table, note_file, &cells, &error), &error);
        failure_told(run, "verify", petal_table_verify(table, &error), &error);
    }
    failure_told(run, "cache", petal_cache_clear(run->fixture.db, NULL, &blocks, &error), &error);
    if (failure_told(run, "statistics",
                     petal_stats_text(run->fixture.db, PETAL_PROMETHEUS, &text, NULL, &error),
                     &error))
        petal_stats_text_free(text);
}

static void
step_read(struct failure_run *run)
{
    struct ledger_state state;
    petal_error error;

    if (is_ready(run) &&
        failure_told(run, "read", ledger_read(&run->ledger, &state, &error), &error) &&
        !ledger_is_after(&state, run->promise.stored))
        failure_problem(run, "a read that succeeded was wrong");
}

static size_t
walk(struct failure_run *run, petal_table *table, const petal_scan_options *options)
{
    petal_cursor *cursor;
    petal_result *result = NULL;
    const petal_cell *cell = NULL;
    petal_error error;
    size_t count = 0, some = 0;
    enum petal_status status = petal_cursor_open(table, options, &cursor, &error);

    for (unsigned i = 0; status == PETAL_OK; i++) {
        if (i % 3 == 0) {
            status = petal_cursor_next(cursor, &cell, &error);
            some = cell != NULL;
        } else if (i % 3 == 1) {
            status = petal_cursor_next_many(cursor, 7, &cell, &some, &error);
        } else {
            if (result == NULL)
                status = petal_result_new(run->fixture.db, &result, &error);
            if (status == PETAL_OK)
                status = petal_cursor_next_row(cursor, result, &error);
            some = status == PETAL_OK ? petal_result_count(result) : 0;
        }
        if (status != PETAL_OK || some == 0)
            break;
        count += some;
    }
    petal_cursor_close(cursor);
    petal_result_free(result);
    return failure_told(run, "scan", status, &error) ? count : SIZE_MAX;
}

static void
expect(struct failure_run *run, const char *what, size_t cells, size_t expected)
{
    if (cells != SIZE_MAX && cells != expected)
        failure_problem(run, "%s gave %zu cells, not %zu", what, cells, expected);
}

/* A cursor that is sent to its own cell, and to a column. */
static void
seek(struct failure_run *run, petal_table *table)
{
    petal_cursor *cursor;
    const petal_cell *cell = NULL;
    petal_error error;
    enum petal_status status = petal_cursor_open(table, NULL, &cursor, &error);

    if (status == PETAL_OK)
        status = petal_cursor_next(cursor, &cell, &error);
    if (status == PETAL_OK && cell != NULL)
        status = petal_cursor_seek(cursor, cell->row, petal_table_family_at(table, 0),
                                   cell->qualifier, &error);
    if (status == PETAL_OK)
        status = petal_cursor_next(cursor, &cell, &error);
    petal_cursor_close(cursor);
    failure_told(run, "seek", status, &error);
}

static void
get_all(struct failure_run *run, petal_table *table, petal_slice row, size_t cells)
{
    petal_result *result = NULL;
    petal_error error;
    enum petal_status status = petal_result_new(run->fixture.db, &result, &error);

    if (status == PETAL_OK && table != NULL)
        status = petal_get(table, row, NULL, result, &error);
    if (failure_told(run, "get", status, &error) && table != NULL)
        expect(run, "a row", petal_result_count(result), cells);
    petal_result_free(result);
}

/* Rows and columns that no memory at hand has room for, and more markers in a row than a get looks
 * at first: the gallery has none. */
static void
step_read_long(struct failure_run *run)
{
    char row[LONG_BYTES + 8];
    petal_table *wide = table_of(run, "wide"), *marked = table_of(run, "marked"),
                *table = table_of(run, "long");
    petal_column columns[3] = {
        {NULL, TEXT("a"), false}, {NULL, TEXT("a"), false}, {NULL, TEXT("b"), false}};
    petal_read_options read = {.columns = columns, .column_count = 1};
    petal_scan_options prefix = {.prefix = {row, LONG_BYTES}},
                       named = {.read = {.columns = columns, .column_count = 3}};
    petal_result *result = NULL;
    petal_error error;
    enum petal_status status;

    if (wide == NULL || marked == NULL || table == NULL)
        return;
    long_row(row, 33);
    expect(run, "a long prefix", walk(run, table, &prefix), 3);
    get_all(run, table, slice_make(row, LONG_BYTES + 1), 1);
    seek(run, table);
    for (size_t i = 0; i < 3; i++)
        columns[i].family = petal_table_family_at(marked, i % 2);
    walk(run, marked, &named);
    columns[0] = (petal_column){petal_table_family_at(wide, 0), TEXT("q"), false};
    status = petal_result_new(run->fixture.db, &result, &error);
    if (status == PETAL_OK)
        status = petal_get(wide, slice_from_text("busy"), &read, result, &error);
    petal_result_free(result);
    failure_told(run, "get", status, &error);
}

/* What a filter leaves of the table, by a scan and, of one row, by a get. */
static void
read_filtered(struct failure_run *run, petal_table *table, const char *text)
{
    petal_scan_options scan = {0};
    petal_result *result = NULL;
    petal_filter *filter;
    petal_error error;
    enum petal_status status =
        petal_filter_parse(run->fixture.db, slice_from_text(text), &filter, &error);

    scan.read.filter = filter;
    if (failure_told(run, "filter", status, &error)) {
        walk(run, table, &scan);
        status = petal_result_new(run->fixture.db, &result, &error);
        if (status == PETAL_OK)
            status = petal_get(table, slice_from_text("\xff\xfe one"), &scan.read, result, &error);
        petal_result_free(result);
        failure_told(run, "get", status, &error);
    }
    petal_filter_free(filter);
}

static void
step_fuzzy(struct failure_run *run)
{
    petal_table *steady = table_of(run, "steady"), *marked = table_of(run, "marked");
    const petal_filter_argument arguments[] = {
        {.kind = PETAL_FILTER_BYTES, .bytes = TEXT("row 0001?")},
        {.kind = PETAL_FILTER_BYTES, .bytes = TEXT("\0\0\0\0\0\0\0\0\1")}};
    petal_scan_options scan = {0};
    petal_filter *filter;
    petal_error error;
    enum petal_status status;

    if (steady == NULL || marked == NULL)
        return;
    status = petal_filter_make(run->fixture.db, "FuzzyRowFilter", arguments, 2, &filter, &error);
    scan.read.filter = filter;
    if (failure_told(run, "filter", status, &error))
        expect(run, "a fuzzy filter", walk(run, steady, &scan), 10);
    petal_filter_free(filter);
    read_filtered(run, marked, "RowFilter(=, 'regexstring:one') AND WHILE ColumnCountGetFilter(1)");
    read_filtered(run, marked, "SingleColumnValueFilter('g', 'a', =, 'binary:value', true, true)");
}

static void
step_filter(struct failure_run *run)
{
    static const char *const texts[] = {
        "RowFilter(=, 'regexstring:row (?<zeros>0)*1.') AND SKIP ValueFilter(!=, 'binary:v')",
        "SingleColumnValueFilter('f', 'q', !=, 'binary:v1') AND PageFilter(13)",
        ("(MultipleColumnPrefixFilter('q', 'r') OR ColumnPaginationFilter(1, 0)) AND "
         "FamilyFilter(=, 'substring:F')"),
        "DependentColumnFilter('f', 'q') AND TimestampsFilter(1, 2, 3, 4)",
        "ColumnRangeFilter('a', true, 'z', false) AND InclusiveStopFilter('row 00010')",
    };
    static const size_t expected[] = {10, 13, 40, 0, 11};
    petal_table *steady = table_of(run, "steady");

    for (size_t i = 0; steady != NULL && i < sizeof texts / sizeof *texts; i++) {
        petal_scan_options scan = {0};
        petal_filter *filter;
        petal_error error;
        enum petal_status status =
            petal_filter_parse(run->fixture.db, slice_from_text(texts[i]), &filter, &error);

        scan.read.filter = filter;
        if (failure_told(run, "filter", status, &error))
            expect(run, texts[i], walk(run, steady, &scan), expected[i]);
        petal_filter_free(filter);
    }
}

/* ---- a database as files ---- */

static void
note_fault(void *argument, const petal_fault *fault)
{
    struct failure_run *run = argument;

    run->told += !fault->harmless;
}

static petal_check_options
look_at(struct failure_run *run)
{
    return (petal_check_options){.env = &run->fixture.env, .argument = run, .fault = note_fault};
}

static void
step_verify_files(struct failure_run *run)
{
    petal_check_options options = look_at(run);
    petal_check_counts counts;
    petal_error error;
    enum petal_status status = petal_verify(FIXTURE_DIRECTORY, &options, &counts, &error);

    /* The error is that of the first fault, whatever its kind. */
    failure_told(run, "verify", status == PETAL_CORRUPT ? error.status : status, &error);
}

static void
step_salvage(struct failure_run *run)
{
    petal_check_options options = look_at(run);
    petal_check_counts counts = {0};
    petal_error error;
    enum petal_status status =
        petal_salvage(FIXTURE_DIRECTORY, FAILURE_COPY_DIRECTORY, &options, &counts, &error);

    /* Whole, if nothing is told to be lost. */
    run->promise.now[FAILURE_COPIED] = run->promise.later[FAILURE_COPIED] =
        status == PETAL_OK && counts.faults == counts.harmless ? FAILURE_DONE : FAILURE_UNDONE;
    failure_told(run, "salvage", status, &error);
}

/* ---- all work ---- */

/* A transaction of every kind of call. */
static void
step_transact(struct failure_run *run)
{
    petal_slice row = TEXT("transacted"), name = TEXT("text"), value = TEXT("value");
    petal_transaction *transaction;
    petal_result *result = NULL;
    petal_cursor *cursor = NULL;
    const petal_cell *cell;
    petal_family *family;
    petal_error error;
    enum petal_status status;

    if (!is_ready(run))
        return;
    family = petal_table_family_at(run->counted, 0);
    if (!failure_told(run, "begin",
                      petal_transaction_begin(run->fixture.db, NULL, &transaction, &error), &error))
        return;
    status = petal_result_new(run->fixture.db, &result, &error);
    if (status == PETAL_OK)
        status = petal_transaction_get(transaction, run->counted, row, NULL, result, &error);
    if (status == PETAL_OK)
        status = petal_transaction_put(transaction, family, row, name, PETAL_LATEST, value, NULL,
                                       &error);
    if (status == PETAL_OK)
        status = petal_transaction_append(transaction, family, row, name, value, &error);
    if (status == PETAL_OK)
        status = petal_transaction_increment(transaction, family, row, slice_from_text("count"), 1,
                                             NULL, &error);
    if (status == PETAL_OK)
        status = petal_transaction_delete(transaction, family, row, name, PETAL_LATEST,
                                          PETAL_DELETE, &error);
    if (status == PETAL_OK)
        status = petal_transaction_delete(transaction, family, row, name, PETAL_LATEST,
                                          PETAL_DELETE_COLUMN, &error);
    if (status == PETAL_OK)
        status = petal_transaction_scan(transaction, run->counted, NULL, &cursor, &error);
    if (status == PETAL_OK)
        status = petal_cursor_next(cursor, &cell, &error);
    petal_cursor_close(cursor);
    if (status == PETAL_OK)
        status = petal_transaction_delete_row(transaction, run->counted, row, PETAL_LATEST, &error);
    petal_result_free(result);
    if (status == PETAL_OK)
        status = petal_transaction_commit(transaction, &error);
    else
        petal_transaction_abort(transaction);
    failure_told(run, "transaction", status, &error);
}

/* A reader opens next to the writer, and follows what that writes, makes and merges. */
static void
step_reader(struct failure_run *run)
{
    void (*const steps[])(struct failure_run *) = {step_write, step_create, step_flush,
                                                   step_compact, step_write};
    petal_options options = run->fixture.options;
    petal_error error;
    petal_db *reader;

    options.read_only = true;
    options.create = false;
    if (!failure_told(run, "open to read", petal_open(FIXTURE_DIRECTORY, &options, &reader, &error),
                      &error))
        return;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        steps[i](run);
        failure_told(run, "refresh", petal_refresh(reader, &error), &error);
    }
    failure_told(run, "close", petal_close(reader, &error), &error);
}

#define RECOVER .prepare = {step_open, step_write, step_flush, step_write, step_count, step_die}

const struct failure_work failure_works[] = {
    {.name = "a new database", .from_nothing = true, .steps = {step_open, step_close}},
    {.name = "writes",
     .prepare = {step_open, step_write, step_close},
     .steps = {step_open, step_write, step_count, step_write_much, step_flush, step_write,
               step_close}},
    {.name = "recovery", RECOVER, .steps = {step_open, step_read, step_write, step_close}},
    {.name = "recovery on a full disk",
     RECOVER,
     .steps = {step_full_disk, step_open, step_read, step_room, step_write, step_flush}},
    {.name = "recovery, read-only", RECOVER, .steps = {step_read_only, step_read, step_close}},
    {.name = "a reader next to it",
     .prepare = {step_open, step_write, step_flush, step_close},
     .steps = {step_open, step_write, step_reader, step_close}},
    {.name = "a reader without a registry",
     RECOVER,
     .steps = {step_no_registry, step_read_only, step_read, step_close}},
    {.name = "mapped log",
     .prepare = {step_windows, step_write, step_die},
     .steps = {step_windows, step_write, step_flush, step_write}},
    {.name = "tables",
     .prepare = {step_open, step_close},
     .steps = {step_open, step_create, step_alter, step_empty, step_list, step_drop, step_close}},
    {.name = "snapshots of tables",
     .prepare = {step_open, step_close},
     .steps = {step_open, step_take, step_list_snapshots, step_clone, step_restore,
               step_delete_snapshot, step_close}},
    {.name = "snapshots copied",
     .prepare = {step_open, step_close},
     .steps = {step_no_links, step_open, step_take, step_clone, step_restore}},
    {.name = "an expired snapshot",
     .prepare = {step_open, step_take, step_close},
     .steps = {step_expired, step_list_snapshots}},
    {.name = "a checkpoint",
     .prepare = {step_open, step_write, step_flush, step_close},
     .steps = {step_open, step_write, step_copy, step_write}},
    {.name = "a checkpoint, copied",
     .prepare = {step_open, step_write, step_flush, step_close},
     .steps = {step_no_links, step_open, step_write, step_copy}},
    {.name = "backups",
     .prepare = {step_open, step_write, step_flush, step_take, step_close},
     .steps = {step_open, step_backup, step_create, step_write, step_backup}},
    {.name = "backups of a reader, copied",
     .prepare = {step_open, step_write, step_flush, step_take, step_backup, step_write, step_die},
     .steps = {step_no_links, step_read_only, step_backup, step_close}},
    {.name = "backups that share",
     .prepare = {step_open, step_write, step_flush, step_earlier_backup, step_write, step_close},
     .steps = {step_open, step_next_backup, step_write, step_next_backup}},
    {.name = "a restore of all",
     .prepare = {step_open, step_write, step_flush, step_backup, step_close},
     .steps = {step_restore_new}},
    {.name = "a restore over a database", /* whose manifest may be unreadable */
     .looks_again = true,
     .prepare = {step_open, step_write, step_flush, step_backup, step_restore_new, step_close},
     .steps = {step_restore_over}},
    {.name = "compactions",
     .prepare = {step_open, step_write, step_count, step_flush, step_write, step_count, step_flush,
                 step_close},
     .steps = {step_open, step_compact, step_read, step_inspect}},
    {.name = "compactions of several files",
     .prepare = {step_open, step_write, step_count, step_flush, step_write, step_count, step_flush,
                 step_close},
     .steps = {step_open, step_small_outputs, step_compact, step_read, step_close, step_open,
               step_read, step_inspect}},
    {.name = "compactions in the background",
     .prepare = {step_open, step_write, step_flush, step_write, step_flush, step_close},
     .steps = {step_compacting, step_write, step_flush, step_wait, step_close}},
    {.name = "regions",
     .prepare = {step_open, failure_step_fill_regions, step_write, step_close},
     .steps = {step_open, failure_step_create_with_splits, failure_step_split, step_write,
               failure_step_split_middle, failure_step_merge, failure_step_compact_regions,
               failure_step_merge, failure_step_read_regions, step_close}},
    {.name = "what regions have",
     .prepare = {step_open, failure_step_fill_regions, step_write, failure_step_split,
                 failure_step_split_middle, step_write, failure_step_fill_last_region, step_write,
                 step_die},
     .steps = {step_open, failure_step_read_regions, failure_step_compact_regions,
               failure_step_read_regions, failure_step_merge, step_write, step_close}},
    {.name = "many regions",
     .prepare = {step_open, failure_step_fill_regions, step_close},
     .only_what_is_new = true,
     .steps = {step_open, failure_step_split_often, failure_step_read_regions}},
    {.name = "changes of a row",
     .prepare = {step_open, step_count, step_mutate, step_flush, step_close},
     .steps = {step_open, step_count, step_mutate, step_delete_rows, step_count}},
    {.name = "transactions",
     .prepare = {step_open, step_count, step_flush, step_close},
     .steps = {step_open, step_transact, step_flush, step_transact, step_close}},
    {.name = "timestamps ahead of the clock",
     .prepare = {step_open, step_close},
     .steps = {step_open, step_ahead, step_flush, step_ahead, step_close}},
    {.name = "loads in bulk",
     .prepare = {step_open, step_close},
     .steps = {step_open, step_write, step_load, step_read_loaded, step_compact, step_read_loaded}},
    {.name = "what was loaded in bulk",
     .prepare = {step_open, step_load, step_die},
     .steps = {step_open, step_read_loaded, step_close}},
    {.name = "reads",
     .prepare = {step_open, step_write, step_flush, step_write, step_close},
     .steps = {step_open, step_read, step_read_long, step_filter, step_fuzzy, step_inspect}},
    {.name = "questions",
     .files = failure_questions_files,
     .steps = {step_open, failure_step_ask_of_rows, failure_step_ask_of_many,
               failure_step_ask_by_scans}},
    {.name = "questions with a large cache",
     .files = failure_questions_files,
     .steps = {step_large_cache, failure_step_ask_by_scans, failure_step_ask_of_many,
               failure_step_ask_of_rows}},
    {.name = "recovery of a large batch",
     .prepare = {step_open, step_write_much, step_die},
     .steps = {step_open, step_close}},
    {.name = "recovery of torn logs on a full disk",
     .prepare = {step_open, step_next_log, step_next_log, step_next_log, step_empty_log},
     .power_cut = 1,
     .steps = {step_full_disk, step_open, step_room, step_write}},
    {.name = "recovery of an unsealed manifest on a full disk",
     .prepare = {step_open, step_write, step_unsealed},
     .steps = {step_full_disk, step_open, step_read, step_room}},
    {.name = "read-only without a lock",
     .prepare = {step_open, step_close, step_no_lock_file},
     .steps = {step_read_only, step_read, step_close}},
    {.name = "a large file",
     .prepare = {step_open, step_fill, step_die},
     .only_what_is_new = true,
     .steps = {step_open, step_flush}},
    {.name = "a large index",
     .prepare = {step_open, step_fill_index, step_flush, step_close},
     .only_what_is_new = true,
     .steps = {step_large_cache, step_walk_index}},
    {.name = "a large write",
     .prepare = {step_open, step_close},
     .only_what_is_new = true,
     .steps = {step_open, step_write_most, step_write}},
    {.name = "a lost file",
     .prepare = {step_open, step_create_lost, step_flush, step_close, step_lose},
     .steps = {step_open, step_drop_lost, step_write}},
    {.name = "questions through mappings",
     .files = failure_questions_files,
     .steps = {step_map_files, failure_step_ask_of_rows, failure_step_ask_of_many,
               failure_step_ask_by_scans}},
    {.name = "files that are verified",
     .looks_again = true,
     .prepare = {step_open, step_write, step_flush, step_write, step_die},
     .steps = {step_verify_files}},
    {.name = "files that are salvaged",
     .looks_again = true,
     .prepare = {step_open, step_write, step_flush, step_write, step_die},
     .steps = {step_salvage}},
    {.name = "key-value tables",
     .prepare = {step_open, step_close},
     .steps = {step_open, step_key_values}},
    {.name = "sets by themselves",
     .prepare = {step_open, step_close, failure_step_save_sets, failure_step_leave_sets},
     .steps = {failure_step_save_sets, failure_step_load_sets, failure_step_map_sets}},
    {.name = "filters that are built of all keys",
     .prepare = {step_open, step_close},
     .only_what_is_new = true,
     .steps = {failure_step_build_filters}},
};
const size_t failure_work_count = sizeof failure_works / sizeof *failure_works;

/* ---- doing it ---- */

struct image {
    struct memory_vfs *disk; /* NULL: not prepared so far */
    struct failure_promise promise;
};

static struct image begun, images[sizeof failure_works / sizeof *failure_works];

static void
do_steps(struct failure_run *run, failure_step *const steps[FAILURE_MOST_STEPS])
{
    for (size_t i = 0; i < FAILURE_MOST_STEPS && steps[i] != NULL; i++)
        steps[i](run);
}

/* How many writes a power cut has left. */
static uint64_t
count_left(const struct image *image)
{
    struct failure_run run;
    struct ledger_state state;

    failure_run_init(&run, memory_vfs_clone(image->disk), &image->promise, NULL);
    step_open(&run);
    MUST(ledger_read(&run.ledger, &state, WHY));
    failure_run_fini(&run);
    return ledger_last(&state);
}

/* What a process leaves that does these steps and then ends, without closing. */
static struct image
prepare(const struct image *from, failure_step *const steps[FAILURE_MOST_STEPS], uint64_t power_cut)
{
    struct memory_vfs *disk = from->disk == NULL ? memory_vfs_new() : memory_vfs_clone(from->disk);
    struct failure_run run;
    struct image made;

    failure_run_init(&run, disk, &from->promise, NULL);
    snprintf(run.about, sizeof run.about, "preparing");
    do_steps(&run, steps);
    made = (struct image){memory_vfs_clone(run.fixture.vfs), run.promise};
    memory_vfs_process_death(made.disk);
    if (power_cut != 0) {
        memory_vfs_power_cut(made.disk, MEMORY_CUT_RANDOM, power_cut);
        made.promise.stored = made.promise.attempted = count_left(&made);
    }
    failure_run_fini(&run);
    assert_int_equal(run.problems, 0);
    return made;
}

void
failure_work_begin(const struct failure_work *work, struct failure_run *run)
{
    static failure_step *const beginning[FAILURE_MOST_STEPS] = {
        step_open, step_furnish, step_write, step_flush, step_write, step_close};
    static const struct image nothing;
    struct image *image = &images[work - failure_works];

    if (begun.disk == NULL)
        begun = prepare(&nothing, beginning, 0);
    if (image->disk == NULL && work->files != NULL)
        *image = (struct image){memory_vfs_clone(work->files()), {.refuses_writes = true}};
    else if (image->disk == NULL)
        *image = prepare(work->from_nothing ? &nothing : &begun, work->prepare, work->power_cut);
    failure_run_init(run, memory_vfs_clone(image->disk), &image->promise, NULL);
}

void
failure_work_do(const struct failure_work *work, struct failure_run *run, size_t step,
                const struct failure_plan *plan,
                void (*visited)(void *argument, size_t step, const struct failure_faults *faults),
                void *argument)
{
    static const struct failure_plan none = {.site = -1, .then = -1};

    for (size_t i = 0; i < FAILURE_MOST_STEPS && work->steps[i] != NULL; i++) {
        if (plan != NULL && i == step)
            failure_faults_plan(&run->faults, plan);
        else if (plan == NULL)
            failure_faults_plan(&run->faults, &none);
        work->steps[i](run);
        if (visited != NULL)
            visited(argument, i, &run->faults);
    }
}

void
failure_works_end(void)
{
    if (begun.disk != NULL)
        memory_vfs_free(begun.disk);
    for (size_t i = 0; i < failure_work_count; i++) {
        if (images[i].disk != NULL)
            memory_vfs_free(images[i].disk);
    }
    failure_questions_end();
}
