/*
 * backup_test.c -- backups and restores: each copy is the database at one moment, of files that are
 * skipped, linked or copied, and at every step of a crash, a failure or a full disk what was there
 * before is there, or what shall be.
 */

#include "base/slice.h"
#include "tests/disk/paths.h"
#include "tests/engine/db/read_only_fixture.h"
#include "tests/engine/table/copy_fixture.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdlib.h>

#define BACKUP "/backup"
#define SECOND "/second"
#define FRESH  "/fresh"
#define WRITES 20
/* In a backup: LOCK, READERS, MANIFEST, BACKUP. */
#define OTHER_FILES 4

struct backup_fixture {
    struct fixture base;
    struct ledger ledger;
    petal_backup_report report;
};

static void
write_some(struct backup_fixture *fixture, uint64_t first, uint64_t last)
{
    for (uint64_t number = first; number <= last; number++)
        MUST(ledger_write(&fixture->ledger, number, PETAL_FSYNC_WAL, WHY));
}

static void
merge_files(const struct backup_fixture *fixture)
{
    for (size_t i = 0; i < 2; i++)
        MUST(petal_compact(fixture->ledger.tables[i], NULL, WHY));
}

/* Files of two flushes, a table snapshot, and a log. */
static void
begin(struct backup_fixture *fixture)
{
    *fixture = (struct backup_fixture){0};
    fixture_init(&fixture->base, 1);
    fixture_must_open(&fixture->base);
    MUST(ledger_create(&fixture->ledger, fixture->base.db, WHY));
    write_some(fixture, 1, 8);
    MUST(petal_flush(fixture->base.db, NULL, WHY));
    MUST(petal_table_snapshot_create(fixture->ledger.tables[0], slice_from_text("eight"), NULL,
                                     WHY));
    write_some(fixture, 9, 12);
    MUST(petal_flush(fixture->base.db, fixture->ledger.tables[1], WHY));
    write_some(fixture, 13, WRITES);
}

static int
setup(void **state)
{
    struct backup_fixture *fixture = test_allocate(sizeof *fixture);

    begin(fixture);
    *state = fixture;
    return 0;
}

static int
teardown(void **state)
{
    struct backup_fixture *fixture = *state;

    fixture_fini(&fixture->base);
    free(fixture);
    return 0;
}

static void
attach(struct backup_fixture *fixture)
{
    fixture_must_open(&fixture->base);
    if (!fixture->base.options.read_only)
        MUST(ledger_attach(&fixture->ledger, fixture->base.db, WHY));
}

/* The process dies, and another one opens the database, to read or to write. */
static void
open_again(struct backup_fixture *fixture, bool dies, bool read_only)
{
    if (dies)
        fixture_die(&fixture->base);
    else
        fixture_must_close(&fixture->base);
    read_only_choose(&fixture->base, read_only);
    attach(fixture);
}

static void
back_up(struct backup_fixture *fixture, const char *to)
{
    MUST(petal_backup(fixture->base.db, to, NULL, &fixture->report, WHY));
    assert_int_equal(fixture->report.files, fixture->report.skipped + fixture->report.linked +
                                                fixture->report.copied + fixture->report.written);
}

/* How many writes of the ledger the database has, which is read only and sound; the snapshot is
 * there if the table is. */
static uint64_t
writes_in(struct memory_vfs *vfs, const char *directory)
{
    char names[COPY_BED_TEXT_BYTES];
    petal_options options = {.read_only = true};
    petal_env env = {.vfs = memory_vfs_table(vfs)};
    petal_check_options checking = {.env = &env};
    petal_check_counts counts;
    struct ledger ledger = {0};
    uint64_t writes;
    petal_db *db;

    options.env = &env;
    MUST(petal_verify(directory, &checking, &counts, WHY));
    MUST(petal_open(directory, &options, &db, WHY));
    MUST(ledger_attach(&ledger, db, WHY));
    writes = ledger_must_be_prefix(&ledger);
    assert_string_equal(copy_fixture_snapshots(db, names), "eight ");
    MUST(petal_close(db, WHY));
    return writes;
}

static void
expect_counts(const struct backup_fixture *fixture, uint64_t skipped, uint64_t linked,
              uint64_t copied, uint64_t written)
{
    assert_int_equal(fixture->report.skipped, skipped);
    assert_int_equal(fixture->report.linked, linked);
    assert_int_equal(fixture->report.copied, copied);
    assert_int_equal(fixture->report.written, written);
}

/* Is the file one of a store? */
static bool
is_store_file(const char *path)
{
    size_t length = strlen(path);

    return length > 4 && strcmp(path + length - 4, ".sst") == 0;
}

/* Of the calls since the trace began: bytes read of store files, or written. */
static uint64_t
traced_bytes(struct memory_vfs *vfs, enum memory_vfs_operation operation, bool of_store_files)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < memory_vfs_trace_count(vfs); i++) {
        struct memory_vfs_call call = memory_vfs_trace_at(vfs, i);

        if (call.operation == operation && is_store_file(call.path) == of_store_files)
            bytes += call.size;
    }
    return bytes;
}

/* The path of the greatest store file in the directory. */
static char *
greatest_file(struct memory_vfs *vfs, const char *directory)
{
    char name[32], *found = NULL;
    size_t most = 0, size;
    uint8_t *bytes;

    for (unsigned number = 1; number < 60; number++) {
        char *path;

        snprintf(name, sizeof name, "%06u.sst", number);
        path = test_path(directory, name);
        if (memory_vfs_read_file(vfs, path, &bytes, &size) == 0) {
            if (size > most) {
                most = size;
                free(found);
                found = test_strdup(path);
            }
            free(bytes);
        }
        free(path);
    }
    assert_non_null(found);
    return found;
}

/* ---- what a backup has ---- */

TEST_WITH(a_backup_is_the_database_at_one_moment, setup, teardown)
{
    struct backup_fixture *fixture = *state;

    back_up(fixture, BACKUP);
    assert_int_equal(fixture->report.skipped, 0);
    assert_int_equal(fixture->report.linked, fixture->report.files);
    assert_int_equal(fixture->report.state_ms, test_clock_ms(&fixture->base.clock));
    write_some(fixture, WRITES + 1, WRITES + 5);
    assert_int_equal(writes_in(fixture->base.vfs, BACKUP), WRITES);
    back_up(fixture, BACKUP);
    assert_int_equal(writes_in(fixture->base.vfs, BACKUP), WRITES + 5);
    assert_int_equal(ledger_must_be_prefix(&fixture->ledger), WRITES + 5);
}

TEST_WITH(a_second_backup_takes_new_files_only, setup, teardown)
{
    struct backup_fixture *fixture = *state;
    uint64_t files, bytes;

    memory_vfs_refuse_links(fixture->base.vfs, EXDEV);
    back_up(fixture, BACKUP);
    files = fixture->report.files;
    bytes = fixture->report.bytes;
    expect_counts(fixture, 0, 0, files, 0);
    assert_int_equal(fixture->report.bytes_copied, bytes);
    write_some(fixture, WRITES + 1, WRITES + 1);
    MUST(petal_flush(fixture->base.db, NULL, WHY));
    back_up(fixture, BACKUP);
    assert_int_equal(fixture->report.skipped, files);
    assert_true(fixture->report.copied > 0);
    assert_int_equal(fixture->report.bytes_copied, fixture->report.bytes - bytes);
    assert_int_equal(writes_in(fixture->base.vfs, BACKUP), WRITES + 1);
    memory_vfs_refuse_links(fixture->base.vfs, 0);
}

/* Nothing of a store file is read, and nothing is written but the manifest. */
TEST_WITH(an_unchanged_database_costs_its_manifest, setup, teardown)
{
    struct backup_fixture *fixture = *state;

    back_up(fixture, BACKUP);
    memory_vfs_trace(fixture->base.vfs, true);
    back_up(fixture, BACKUP);
    expect_counts(fixture, fixture->report.files, 0, 0, 0);
    assert_int_equal(traced_bytes(fixture->base.vfs, MEMORY_VFS_READ, true), 0);
    assert_int_equal(traced_bytes(fixture->base.vfs, MEMORY_VFS_WRITE, true), 0);
    assert_true(traced_bytes(fixture->base.vfs, MEMORY_VFS_READ, false) < 4096);
    memory_vfs_trace(fixture->base.vfs, false);
}

TEST_WITH(files_that_are_gone_leave_the_backup, setup, teardown)
{
    struct backup_fixture *fixture = *state;

    back_up(fixture, BACKUP);
    merge_files(fixture);
    back_up(fixture, BACKUP);
    assert_true(fixture->report.removed > 0);
    assert_int_equal(memory_vfs_count_files(fixture->base.vfs, BACKUP),
                     fixture->report.files + OTHER_FILES);
    assert_int_equal(writes_in(fixture->base.vfs, BACKUP), WRITES);
}

/* What a file of the backup was lost or cut short comes anew. */
TEST_WITH(a_file_that_the_backup_lost_comes_back, setup, teardown)
{
    struct backup_fixture *fixture = *state;
    uint64_t files;
    char *path;

    memory_vfs_refuse_links(fixture->base.vfs, EXDEV);
    back_up(fixture, BACKUP);
    files = fixture->report.files;
    path = greatest_file(fixture->base.vfs, BACKUP);
    assert_int_equal(memory_vfs_write_file(fixture->base.vfs, path, "short", 5), 0);
    free(path);
    back_up(fixture, BACKUP);
    expect_counts(fixture, files - 1, 0, 1, 0);
    assert_int_equal(writes_in(fixture->base.vfs, BACKUP), WRITES);
    memory_vfs_refuse_links(fixture->base.vfs, 0);
}

/* What an interrupted run left goes first, since there may be room for no more. */
TEST_WITH(what_was_left_makes_room, setup, teardown)
{
    static const uint8_t left[20000];
    struct backup_fixture *fixture = *state;

    memory_vfs_refuse_links(fixture->base.vfs, EXDEV);
    MUST(petal_flush(fixture->base.db, NULL, WHY));
    back_up(fixture, BACKUP);
    write_some(fixture, WRITES + 1, WRITES + 1);
    MUST(petal_flush(fixture->base.db, NULL, WHY));
    assert_int_equal(
        memory_vfs_write_file(fixture->base.vfs, BACKUP "/000077.sst", left, sizeof left), 0);
    memory_vfs_set_capacity(fixture->base.vfs, memory_vfs_used(fixture->base.vfs) + 700);
    back_up(fixture, BACKUP);
    assert_true(fixture->report.copied > 0);
    memory_vfs_set_capacity(fixture->base.vfs, UINT64_MAX);
    assert_int_equal(writes_in(fixture->base.vfs, BACKUP), WRITES + 1);
}

/* ---- of a database that is opened read-only ---- */

TEST_WITH(a_reader_backs_up_what_the_logs_hold, setup, teardown)
{
    struct backup_fixture *fixture = *state;
    struct ledger ledger = {0};
    petal_db *reader;
    uint64_t files;

    open_again(fixture, true, true);
    memory_vfs_trace(fixture->base.vfs, true);
    back_up(fixture, BACKUP);
    for (size_t i = 0; i < memory_vfs_trace_count(fixture->base.vfs); i++) {
        struct memory_vfs_call call = memory_vfs_trace_at(fixture->base.vfs, i);
        bool changes = call.operation == MEMORY_VFS_WRITE || call.operation == MEMORY_VFS_REMOVE ||
                       call.operation == MEMORY_VFS_RENAME ||
                       call.operation == MEMORY_VFS_LOG_STORE || call.creates;

        assert_false(changes && strncmp(call.path, FIXTURE_DIRECTORY, 3) == 0);
    }
    memory_vfs_trace(fixture->base.vfs, false);
    assert_true(fixture->report.written > 0);
    files = fixture->report.files - fixture->report.written;
    assert_int_equal(writes_in(fixture->base.vfs, BACKUP), WRITES);
    reader = fixture_open_reader(&fixture->base, BACKUP);
    MUST(ledger_attach(&ledger, reader, WHY));
    back_up(fixture, BACKUP);
    assert_int_equal(fixture->report.skipped, files);
    assert_int_equal(fixture->report.removed, fixture->report.written);
    /* It keeps what it reads. */
    assert_int_equal(memory_vfs_count_files(fixture->base.vfs, BACKUP),
                     fixture->report.files + fixture->report.removed + OTHER_FILES);
    assert_int_equal(ledger_must_be_prefix(&ledger), WRITES);
    MUST(petal_close(reader, WHY));

    /* The numbers of what was written from the logs are the writer's next ones. */
    open_again(fixture, false, false);
    write_some(fixture, WRITES + 1, WRITES + 4);
    MUST(petal_flush(fixture->base.db, NULL, WHY));
    back_up(fixture, BACKUP);
    assert_int_equal(writes_in(fixture->base.vfs, BACKUP), WRITES + 4);
}

/* Next to a writer, of whose files some go: the state that it reads, until it refreshes. */
TEST_WITH(a_reader_next_to_a_writer_backs_up_what_it_reads, setup, teardown)
{
    struct backup_fixture *fixture = *state;
    petal_db *reader;

    reader = fixture_open_reader(&fixture->base, FIXTURE_DIRECTORY);
    write_some(fixture, WRITES + 1, WRITES + 6);
    merge_files(fixture);
    MUST(petal_backup(reader, BACKUP, NULL, &fixture->report, WHY));
    assert_int_equal(writes_in(fixture->base.vfs, BACKUP), WRITES);
    for (uint64_t last = WRITES + 7; last < WRITES + 12; last++) {
        write_some(fixture, last, last);
        if (last % 2 == 0)
            MUST(petal_flush(fixture->base.db, fixture->ledger.tables[last % 4 / 2], WHY));
        MUST(petal_refresh(reader, WHY));
        write_some(fixture, last + 1, last + 1); /* which the reader has not read */
        MUST(petal_backup(reader, BACKUP, NULL, &fixture->report, WHY));
        assert_int_equal(writes_in(fixture->base.vfs, BACKUP), last);
    }
    MUST(petal_close(reader, WHY));
    back_up(fixture, BACKUP);
    assert_int_equal(writes_in(fixture->base.vfs, BACKUP), WRITES + 12);
}

/* Whoever reads a backup goes on while it is brought up to date. */
TEST_WITH(a_reader_of_the_backup_goes_on, setup, teardown)
{
    struct backup_fixture *fixture = *state;
    struct ledger ledger = {0};
    petal_db *reader;

    memory_vfs_refuse_links(fixture->base.vfs, EXDEV);
    back_up(fixture, BACKUP);
    reader = fixture_open_reader(&fixture->base, BACKUP);
    MUST(ledger_attach(&ledger, reader, WHY));
    for (uint64_t last = WRITES + 1; last <= WRITES + 3; last++) {
        write_some(fixture, last, last);
        merge_files(fixture);
        back_up(fixture, BACKUP);
        assert_int_equal(petal_refresh(reader, NULL), PETAL_NOT_FOUND);
        assert_int_equal(ledger_must_be_prefix(&ledger), WRITES);
        assert_int_equal(writes_in(fixture->base.vfs, BACKUP), last);
    }
    MUST(petal_close(reader, WHY));
    back_up(fixture, BACKUP);
    assert_int_equal(memory_vfs_count_files(fixture->base.vfs, BACKUP),
                     fixture->report.files + OTHER_FILES);
}

/* ---- calls from within ---- */

static bool
call_from_within(void *argument, uint64_t done, uint64_t total)
{
    struct backup_fixture *fixture = argument;
    petal_db *db = fixture->base.db;
    petal_slice name = slice_from_text("eight");
    petal_snapshot *snapshot;
    petal_table *table;

    (void)done;
    (void)total;
    assert_int_equal(petal_backup(db, SECOND, NULL, NULL, NULL), PETAL_BUSY);
    if (fixture->base.options.read_only) {
        assert_int_equal(petal_refresh(db, NULL), PETAL_BUSY);
        assert_int_equal(petal_snapshot_new(db, &snapshot, NULL), PETAL_BUSY);
        return true;
    }
    assert_int_equal(petal_checkpoint(db, SECOND, NULL), PETAL_BUSY);
    assert_int_equal(
        petal_table_snapshot_create(fixture->ledger.tables[0], slice_from_text("nine"), NULL, NULL),
        PETAL_BUSY);
    assert_int_equal(petal_table_snapshot_delete(db, name, NULL), PETAL_BUSY);
    assert_int_equal(petal_table_snapshot_restore(db, name, &table, NULL), PETAL_BUSY);
    MUST(petal_flush(db, NULL, WHY));
    MUST(petal_snapshot_new(db, &snapshot, WHY));
    petal_snapshot_free(snapshot);
    return true;
}

/* What would wait for the backup is refused from within it; other calls work. */
TEST_WITH(a_backup_does_not_wait_for_itself, setup, teardown)
{
    struct backup_fixture *fixture = *state;
    const petal_backup_options options = {.argument = fixture, .watch = call_from_within};

    MUST(petal_backup(fixture->base.db, BACKUP, &options, NULL, WHY));
    fixture->base.options.refresh_at_snapshots = true;
    open_again(fixture, true, true);
    MUST(petal_backup(fixture->base.db, BACKUP, &options, NULL, WHY));
    MUST(petal_refresh(fixture->base.db, WHY));
}

/* ---- several backups ---- */

TEST_WITH(a_backup_shares_with_the_one_before, setup, teardown)
{
    struct backup_fixture *fixture = *state;
    petal_backup_options options = {.copy = true, .previous = BACKUP};
    uint64_t used, files;

    options.previous = "/none";
    MUST(petal_backup(fixture->base.db, BACKUP, &options, &fixture->report, WHY));
    files = fixture->report.files;
    /* A table snapshot names files twice: the second name is a link to the first. */
    assert_true(fixture->report.copied > 0 && fixture->report.linked > 0);
    write_some(fixture, WRITES + 1, WRITES + 2);
    MUST(petal_flush(fixture->base.db, NULL, WHY));
    used = memory_vfs_used(fixture->base.vfs);
    options.previous = BACKUP;
    MUST(petal_backup(fixture->base.db, SECOND, &options, &fixture->report, WHY));
    assert_int_equal(fixture->report.linked, files);
    assert_true(fixture->report.copied > 0);
    assert_true(memory_vfs_used(fixture->base.vfs) < used + fixture->report.bytes_copied + 4096);
    assert_int_equal(writes_in(fixture->base.vfs, BACKUP), WRITES);
    assert_int_equal(writes_in(fixture->base.vfs, SECOND), WRITES + 2);
}

/* Nor is what is left of an interrupted backup, or no backup at all, anything to share with. */
TEST_WITH(what_the_one_before_lost_is_taken_from_the_database, setup, teardown)
{
    struct backup_fixture *fixture = *state;
    const petal_backup_options options = {.copy = true, .previous = BACKUP};
    char *path;

    MUST(petal_backup(fixture->base.db, BACKUP, &(petal_backup_options){.copy = true}, NULL, WHY));
    path = greatest_file(fixture->base.vfs, BACKUP);
    assert_int_equal(memory_vfs_write_file(fixture->base.vfs, path, "short", 5), 0);
    free(path);
    MUST(petal_backup(fixture->base.db, SECOND, &options, &fixture->report, WHY));
    assert_int_equal(fixture->report.copied, 1);
    assert_int_equal(writes_in(fixture->base.vfs, SECOND), WRITES);
}

/* ---- refusals ---- */

static void
refused(enum petal_status status, enum petal_status wanted, const petal_error *error,
        const char *says)
{
    assert_int_equal(status, wanted);
    assert_non_null(strstr(error->text, says));
}

TEST_WITH(only_a_backup_of_the_database_is_replaced, setup, teardown)
{
    struct backup_fixture *fixture = *state;
    const petal_vfs *vfs = memory_vfs_table(fixture->base.vfs);
    petal_backup_options options = {.previous = FIXTURE_DIRECTORY};
    petal_db *other, *db = fixture->base.db;
    petal_error error;

    back_up(fixture, BACKUP);
    assert_int_equal(vfs_make_directory(vfs, "/full"), 0);
    assert_int_equal(memory_vfs_write_file(fixture->base.vfs, "/full/notes", "mine", 4), 0);
    MUST(petal_open("/other", &fixture->base.options, &other, WHY));
    refused(petal_backup(db, "/full", NULL, NULL, &error), PETAL_EXISTS, &error, "not empty");
    refused(petal_backup(db, "/other", NULL, NULL, &error), PETAL_EXISTS, &error, "not empty");
    refused(petal_backup(other, BACKUP, NULL, NULL, &error), PETAL_EXISTS, &error,
            "of another database");
    refused(petal_backup(db, FIXTURE_DIRECTORY, NULL, NULL, &error), PETAL_INVALID, &error,
            "lies in");
    refused(petal_backup(db, FIXTURE_DIRECTORY "/in", NULL, NULL, &error), PETAL_INVALID, &error,
            "lies in");
    refused(petal_backup(db, BACKUP, &options, NULL, &error), PETAL_INVALID, &error, "itself");
    refused(petal_backup(db, "", NULL, NULL, &error), PETAL_INVALID, &error, "empty");
    assert_int_equal(petal_backup(db, "/none/x", NULL, NULL, &error), PETAL_IO);
    MUST(petal_close(other, WHY));
    options.previous = BACKUP; /* a second run of one day */
    MUST(petal_backup(db, BACKUP, &options, NULL, WHY));
    assert_int_equal(writes_in(fixture->base.vfs, BACKUP), WRITES);
}

/* Whoever looks into it changes nothing; whoever writes has made a database of his own of it. */
TEST_WITH(a_backup_that_was_written_to_is_kept, setup, teardown)
{
    struct backup_fixture *fixture = *state;
    petal_options options = fixture->base.options;
    struct ledger ledger = {0};
    petal_db *db;
    petal_error error;

    back_up(fixture, BACKUP);
    options.create = false;
    MUST(petal_open(BACKUP, &options, &db, WHY));
    refused(petal_backup(fixture->base.db, BACKUP, NULL, NULL, &error), PETAL_BUSY, &error, "open");
    MUST(petal_close(db, WHY));
    back_up(fixture, BACKUP);
    MUST(petal_open(BACKUP, &options, &db, WHY));
    MUST(ledger_attach(&ledger, db, WHY));
    MUST(ledger_write(&ledger, WRITES + 1, PETAL_FSYNC_WAL, WHY));
    MUST(petal_close(db, WHY));
    refused(petal_backup(fixture->base.db, BACKUP, NULL, NULL, &error), PETAL_EXISTS, &error,
            "was opened to write");
    MUST(petal_open(BACKUP, &options, &db, WHY)); /* which writes the manifest anew, as one edit */
    MUST(petal_close(db, WHY));
    refused(petal_backup(fixture->base.db, BACKUP, NULL, NULL, &error), PETAL_EXISTS, &error,
            "was opened to write");
    assert_int_equal(writes_in(fixture->base.vfs, BACKUP), WRITES + 1);
}

/* ---- damage ---- */

/* A bit of the greatest store file in the directory is turned; its path. */
static char *
damage_a_file(struct memory_vfs *vfs, const char *directory)
{
    char *path = greatest_file(vfs, directory);
    uint8_t *bytes;
    size_t size;

    assert_int_equal(memory_vfs_read_file(vfs, path, &bytes, &size), 0);
    bytes[40] ^= 1; /* in the first data block */
    assert_int_equal(memory_vfs_write_file(vfs, path, bytes, size), 0);
    free(bytes);
    return path;
}

TEST_WITH(a_damaged_file_is_named_and_replaces_nothing, setup, teardown)
{
    struct backup_fixture *fixture = *state;
    const petal_backup_options options = {.copy = true};
    petal_error error;
    char *path;

    MUST(petal_backup(fixture->base.db, BACKUP, &options, NULL, WHY));
    fixture->ledger.filler = 0;
    write_some(fixture, WRITES + 1, WRITES + 20);
    MUST(petal_compact(fixture->ledger.tables[0], NULL, WHY));
    MUST(petal_flush(fixture->base.db, NULL, WHY));
    path = damage_a_file(fixture->base.vfs, FIXTURE_DIRECTORY);
    assert_int_equal(petal_backup(fixture->base.db, BACKUP, &options, NULL, &error), PETAL_CORRUPT);
    assert_string_equal(error.file, path);
    free(path);
    assert_int_equal(writes_in(fixture->base.vfs, BACKUP), WRITES);
    fixture_die(&fixture->base);
}

/* ---- restoring ---- */

static enum petal_status
restore(struct backup_fixture *fixture, const char *directory, bool replace, petal_error *error)
{
    const petal_restore_options options = {.env = &fixture->base.env, .replace = replace};

    return petal_restore(BACKUP, directory, &options, &fixture->report, error);
}

TEST_WITH(a_restored_database_goes_on, setup, teardown)
{
    struct backup_fixture *fixture = *state;
    petal_options options = fixture->base.options;
    struct ledger ledger = {0};
    petal_db *db;
    petal_error error;

    back_up(fixture, BACKUP);
    MUST(restore(fixture, FRESH, false, WHY));
    assert_int_equal(fixture->report.skipped + fixture->report.written, 0);
    assert_int_equal(writes_in(fixture->base.vfs, FRESH), WRITES);
    refused(restore(fixture, FRESH, false, &error), PETAL_EXISTS, &error, "not empty");
    refused(restore(fixture, BACKUP "/in", false, &error), PETAL_INVALID, &error, "never written");
    options.create = false;
    MUST(petal_open(FRESH, &options, &db, WHY));
    MUST(ledger_attach(&ledger, db, WHY));
    MUST(ledger_write(&ledger, WRITES + 1, PETAL_FSYNC_WAL, WHY));
    /* It is a database of its own, which the backup is none of. */
    refused(petal_backup(db, BACKUP, NULL, NULL, &error), PETAL_EXISTS, &error, "another database");
    MUST(petal_close(db, WHY));
    assert_int_equal(writes_in(fixture->base.vfs, FRESH), WRITES + 1);
    assert_int_equal(writes_in(fixture->base.vfs, BACKUP), WRITES);
}

/* With its later tables and its logs, and damaged; then its backups go on. */
TEST_WITH(a_database_is_replaced_by_a_word, setup, teardown)
{
    struct backup_fixture *fixture = *state;
    petal_table *table;
    petal_error error;

    memory_vfs_refuse_links(fixture->base.vfs, EXDEV); /* a link would be damaged, too */
    back_up(fixture, BACKUP);
    MUST(copy_fixture_create(fixture->base.db, "later", &table, WHY));
    copy_fixture_must_put(table, "f", "row", "value");
    write_some(fixture, WRITES + 1, WRITES + 7);
    refused(restore(fixture, FIXTURE_DIRECTORY, true, &error), PETAL_BUSY, &error, "open");
    fixture_die(&fixture->base);
    refused(restore(fixture, FIXTURE_DIRECTORY, false, &error), PETAL_EXISTS, &error, "not empty");
    free(damage_a_file(fixture->base.vfs, FIXTURE_DIRECTORY));
    MUST(restore(fixture, FIXTURE_DIRECTORY, true, WHY));
    assert_int_equal(writes_in(fixture->base.vfs, FIXTURE_DIRECTORY), WRITES);
    assert_int_equal(fixture_count_files(&fixture->base, ".log"), 0);
    attach(fixture);
    assert_int_equal(petal_table_open(fixture->base.db, slice_from_text("later"), &table, &error),
                     PETAL_NOT_FOUND);
    write_some(fixture, WRITES + 1, WRITES + 2);
    back_up(fixture, BACKUP);
    assert_int_equal(writes_in(fixture->base.vfs, BACKUP), WRITES + 2);
}

/* What it may replace, tried from within. */
static bool
open_meanwhile(void *argument, uint64_t done, uint64_t total)
{
    struct backup_fixture *fixture = argument;
    petal_options options = fixture->base.options;
    petal_error error;
    petal_db *db;

    (void)done;
    (void)total;
    options.create = false;
    options.read_only = true;
    refused(petal_open(FIXTURE_DIRECTORY, &options, &db, &error), PETAL_BUSY, &error,
            "a restore replaces the database");
    return true;
}

/* Readers that write their slots, and those that may not. */
TEST_WITH(what_somebody_reads_is_not_replaced, setup, teardown)
{
    struct backup_fixture *fixture = *state;
    const petal_restore_options options = {
        .env = &fixture->base.env, .replace = true, .argument = fixture, .watch = open_meanwhile};
    struct ledger ledger = {0};
    petal_db *reader, *sealed_reader;
    petal_options reading;
    petal_vfs sealed;
    petal_env env;
    petal_error error;

    back_up(fixture, BACKUP);
    write_some(fixture, WRITES + 1, WRITES + 7);
    fixture_must_close(&fixture->base);
    reader = fixture_open_reader(&fixture->base, FIXTURE_DIRECTORY);
    read_only_seal(&sealed, &fixture->base);
    env = fixture->base.env;
    fixture->base.env.vfs = memory_vfs_table(fixture->base.vfs);
    reading = fixture->base.options;
    reading.read_only = true;
    reading.create = false;
    reading.env = &env;
    MUST(petal_open(FIXTURE_DIRECTORY, &reading, &sealed_reader, WHY));
    refused(restore(fixture, FIXTURE_DIRECTORY, true, &error), PETAL_BUSY, &error,
            "somebody reads the database");
    MUST(petal_refresh(reader, WHY));
    MUST(ledger_attach(&ledger, reader, WHY));
    assert_int_equal(ledger_must_be_prefix(&ledger), WRITES + 7);
    MUST(petal_close(reader, WHY));
    refused(restore(fixture, FIXTURE_DIRECTORY, true, &error), PETAL_BUSY, &error,
            "somebody reads the database");
    MUST(petal_close(sealed_reader, WHY));
    MUST(petal_restore(BACKUP, FIXTURE_DIRECTORY, &options, NULL, WHY));
    assert_int_equal(writes_in(fixture->base.vfs, FIXTURE_DIRECTORY), WRITES);
}

TEST_WITH(what_has_lost_its_manifest_is_replaced, setup, teardown)
{
    struct backup_fixture *fixture = *state;
    petal_error error;

    back_up(fixture, BACKUP);
    fixture_die(&fixture->base);
    assert_int_equal(memory_vfs_write_file(fixture->base.vfs, FIXTURE_DIRECTORY "/MANIFEST",
                                           "nothing at all", 14),
                     0);
    MUST(restore(fixture, FIXTURE_DIRECTORY, true, WHY));
    assert_int_equal(writes_in(fixture->base.vfs, FIXTURE_DIRECTORY), WRITES);
    assert_int_equal(vfs_make_directory(memory_vfs_table(fixture->base.vfs), "/full"), 0);
    assert_int_equal(memory_vfs_write_file(fixture->base.vfs, "/full/notes", "mine", 4), 0);
    refused(restore(fixture, "/full", true, &error), PETAL_EXISTS, &error, "no database");
    attach(fixture);
    back_up(fixture, SECOND);
    refused(restore(fixture, SECOND, true, &error), PETAL_INVALID, &error, "is a backup");
}

TEST_WITH(a_damaged_backup_is_not_restored, setup, teardown)
{
    struct backup_fixture *fixture = *state;
    const petal_backup_options options = {.copy = true};
    petal_error error;
    char *path;

    MUST(petal_backup(fixture->base.db, BACKUP, &options, NULL, WHY));
    fixture_die(&fixture->base);
    path = damage_a_file(fixture->base.vfs, BACKUP);
    assert_int_equal(restore(fixture, FIXTURE_DIRECTORY, true, &error), PETAL_CORRUPT);
    assert_string_equal(error.file, path);
    free(path);
    attach(fixture);
    assert_int_equal(ledger_must_be_prefix(&fixture->ledger), WRITES);
}

/* ---- crashes, failures, full disks ---- */

/* A world in which something is about to happen that takes /backup, or /db, from one state to
 * another. */
struct scene {
    const char *says;
    bool restores, read_only, links, of_another;
};

static const struct scene scenes[] = {
    {"a backup of a writer, copied", false, false, false, false},
    {"a backup of a writer, linked", false, false, true, false},
    {"a backup of a reader", false, true, false, false},
    {"a restore in place", true, false, false, false},
    {"a restore of another database", true, false, false, true},
};

/* With filters of another salt, and tables of greater ids. */
static void
back_up_another(struct backup_fixture *fixture)
{
    struct ledger ledger = {0};
    petal_table *table;
    petal_db *db;

    MUST(petal_open("/another", &fixture->base.options, &db, WHY));
    for (unsigned i = 0; i < 3; i++) {
        MUST(copy_fixture_create(db, "more", &table, WHY));
        MUST(petal_table_drop(table, WHY));
    }
    MUST(ledger_create(&ledger, db, WHY));
    for (uint64_t number = 1; number <= WRITES; number++)
        MUST(ledger_write(&ledger, number, PETAL_FSYNC_WAL, WHY));
    MUST(petal_table_snapshot_create(ledger.tables[0], slice_from_text("eight"), NULL, WHY));
    MUST(petal_backup(db, BACKUP, NULL, NULL, WHY));
    MUST(petal_close(db, WHY));
}

/* The backup is of WRITES. Since then there have been writes, in a table of their own, too, whose
 * files would tell that the backup's manifest was cut short. The process has died. */
static struct memory_vfs *
prepare(const struct scene *scene)
{
    struct backup_fixture fixture;
    struct memory_vfs *files;
    petal_table *table;

    begin(&fixture);
    if (!scene->links)
        memory_vfs_refuse_links(fixture.base.vfs, EXDEV);
    if (scene->of_another)
        back_up_another(&fixture);
    else
        back_up(&fixture, BACKUP);
    MUST(copy_fixture_create(fixture.base.db, "later", &table, WHY));
    copy_fixture_must_put(table, "f", "row", "value");
    MUST(petal_compact(fixture.ledger.tables[0], NULL, WHY));
    MUST(petal_flush(fixture.base.db, NULL, WHY));
    write_some(&fixture, WRITES + 1, WRITES + 2);
    fixture_die(&fixture.base);
    files = memory_vfs_clone(fixture.base.vfs);
    memory_vfs_process_death(files);
    fixture_fini(&fixture.base);
    return files;
}

/* A process opens what was prepared, and writes one more if it does so to write. */
static void
set_scene(struct backup_fixture *fixture, const struct scene *scene, struct memory_vfs *prepared)
{
    *fixture = (struct backup_fixture){0};
    fixture_init_on(&fixture->base, memory_vfs_clone(prepared), 1);
    memory_vfs_refuse_links(fixture->base.vfs, scene->links ? 0 : EXDEV);
    if (scene->restores)
        return;
    read_only_choose(&fixture->base, scene->read_only);
    attach(fixture);
    if (!scene->read_only)
        write_some(fixture, WRITES + 3, WRITES + 3);
}

static enum petal_status
act(struct backup_fixture *fixture, const struct scene *scene, petal_error *error)
{
    return scene->restores ? restore(fixture, FIXTURE_DIRECTORY, true, error)
                           : petal_backup(fixture->base.db, BACKUP, NULL, NULL, error);
}

/* What was there is there, or what shall be; and the next time it shall. `vfs`: the files, which
 * are used up. `done`: it was acknowledged. */
static void
check_outcome(struct memory_vfs *vfs, const struct scene *scene, bool done)
{
    struct backup_fixture next = {0};
    const char *changed = scene->restores ? FIXTURE_DIRECTORY : BACKUP;
    uint64_t of_database = WRITES + (scene->restores || scene->read_only ? 2 : 3);
    uint64_t before = scene->restores ? of_database : WRITES;
    uint64_t after = scene->restores ? WRITES : of_database;
    uint64_t found = writes_in(vfs, changed);

    assert_true(found == after || (found == before && !done));
    /* The other side is as it was. */
    if (done)
        assert_int_equal(writes_in(vfs, scene->restores ? BACKUP : FIXTURE_DIRECTORY),
                         scene->restores ? WRITES : of_database);
    fixture_init_on(&next.base, vfs, 2);
    if (!scene->restores) {
        next.base.options.create = false;
        attach(&next);
    }
    MUST(act(&next, scene, WHY));
    if (next.base.db != NULL)
        fixture_must_close(&next.base);
    assert_int_equal(writes_in(vfs, changed), after);
    fixture_fini(&next.base);
}

TEST_EACH(a_crash_leaves_the_one_or_the_other, scenes)
{
    const struct scene *scene = *state;
    struct memory_vfs *prepared = prepare(scene);
    unsigned states = 0;
    bool off = true;

    for (uint64_t n = 1; off; n++) {
        struct backup_fixture fixture;
        petal_error error;
        bool done;

        set_scene(&fixture, scene, prepared);
        memory_vfs_cut_at(fixture.base.vfs, n);
        done = act(&fixture, scene, &error) == PETAL_OK;
        off = memory_vfs_is_off(fixture.base.vfs);
        for (unsigned cut = 0; off && cut < (test_long() ? 9 : 2); cut++) {
            struct memory_vfs *clone = memory_vfs_clone(fixture.base.vfs);

            if (cut == 0)
                memory_vfs_process_death(clone);
            else
                memory_vfs_power_cut(clone, MEMORY_CUT_RANDOM, n * 16 + cut);
            memory_vfs_refuse_links(clone, scene->links ? 0 : EXDEV);
            check_outcome(clone, scene, done);
            states++;
        }
        memory_vfs_cut_at(fixture.base.vfs, 0);
        if (fixture.base.db != NULL)
            fixture_die(&fixture.base);
        fixture_fini(&fixture.base);
    }
    memory_vfs_free(prepared);
    test_counted("%s: %u states after crashes", scene->says, states);
}

TEST_EACH(a_failure_leaves_the_one_or_the_other, scenes)
{
    const struct scene *scene = *state;
    struct memory_vfs *prepared = prepare(scene);
    unsigned failures = 0;
    bool failed = true;

    for (uint64_t n = 1; failed; n++) {
        struct backup_fixture fixture;
        petal_error error;
        enum petal_status status;

        set_scene(&fixture, scene, prepared);
        memory_vfs_fail_at(fixture.base.vfs, n, n % 2 == 0 ? EIO : ENOSPC, false);
        status = act(&fixture, scene, &error);
        failed = memory_vfs_failures(fixture.base.vfs) > 0;
        memory_vfs_fail_at(fixture.base.vfs, 0, 0, false);
        failures += failed;
        if (status != PETAL_OK)
            assert_true(error.text[0] != '\0');
        if (fixture.base.db != NULL)
            fixture_die(&fixture.base);
        memory_vfs_process_death(fixture.base.vfs);
        check_outcome(memory_vfs_clone(fixture.base.vfs), scene, status == PETAL_OK);
        fixture_fini(&fixture.base);
    }
    memory_vfs_free(prepared);
    test_counted("%s: %u failures", scene->says, failures);
}

TEST_EACH(a_lack_of_memory_leaves_the_one_or_the_other, scenes)
{
    const struct scene *scene = *state;
    struct memory_vfs *prepared = prepare(scene);
    bool failed = true;

    for (uint64_t n = 1; failed; n++) {
        struct backup_fixture fixture;
        enum petal_status status;
        petal_error error;

        set_scene(&fixture, scene, prepared);
        test_allocator_fail_at(&fixture.base.allocator, n, false);
        status = act(&fixture, scene, &error);
        failed = test_allocator_failures(&fixture.base.allocator) > 0;
        test_allocator_fail_at(&fixture.base.allocator, 0, false);
        if (fixture.base.db != NULL)
            fixture_die(&fixture.base);
        memory_vfs_process_death(fixture.base.vfs);
        check_outcome(memory_vfs_clone(fixture.base.vfs), scene, status == PETAL_OK);
        fixture_fini(&fixture.base);
    }
    memory_vfs_free(prepared);
}

TEST_EACH(a_full_disk_leaves_the_one_or_the_other, scenes)
{
    const struct scene *scene = *state;
    struct memory_vfs *prepared = prepare(scene);
    enum petal_status status = PETAL_NO_SPACE;

    for (uint64_t room = 0; status != PETAL_OK; room += 97) {
        struct backup_fixture fixture;
        petal_error error;
        uint64_t used;

        set_scene(&fixture, scene, prepared);
        used = memory_vfs_used(fixture.base.vfs);
        memory_vfs_set_capacity(fixture.base.vfs, used + room);
        status = act(&fixture, scene, &error);
        assert_true(status == PETAL_OK || status == PETAL_NO_SPACE);
        memory_vfs_set_capacity(fixture.base.vfs, UINT64_MAX);
        if (fixture.base.db != NULL)
            fixture_die(&fixture.base);
        memory_vfs_process_death(fixture.base.vfs);
        check_outcome(memory_vfs_clone(fixture.base.vfs), scene, status == PETAL_OK);
        fixture_fini(&fixture.base);
    }
    memory_vfs_free(prepared);
}

/* Of a first backup there is nothing before: until it is whole it cannot be opened. */
TEST(a_first_backup_is_whole_or_refused)
{
    bool off = true;

    for (uint64_t n = 1; off; n++) {
        struct backup_fixture fixture, next = {0};
        struct memory_vfs *clone;
        petal_error error;
        petal_db *db;
        bool done;

        begin(&fixture);
        memory_vfs_refuse_links(fixture.base.vfs, EXDEV);
        memory_vfs_cut_at(fixture.base.vfs, n);
        done = petal_backup(fixture.base.db, BACKUP, NULL, NULL, &error) == PETAL_OK;
        off = memory_vfs_is_off(fixture.base.vfs);
        clone = memory_vfs_clone(fixture.base.vfs);
        if (n % 2 == 0 || !off)
            memory_vfs_process_death(clone);
        else
            memory_vfs_power_cut(clone, MEMORY_CUT_RANDOM, n);
        memory_vfs_refuse_links(clone, EXDEV);
        fixture_init_on(&next.base, clone, 2);
        next.base.options.create = false;
        if (petal_open(BACKUP, &next.base.options, &db, &error) == PETAL_OK) {
            MUST(petal_close(db, WHY));
            assert_int_equal(writes_in(clone, BACKUP), WRITES);
        } else {
            assert_false(done);
        }
        attach(&next);
        back_up(&next, BACKUP);
        fixture_must_close(&next.base);
        assert_int_equal(writes_in(clone, BACKUP), WRITES);
        fixture_fini(&next.base);
        memory_vfs_cut_at(fixture.base.vfs, 0);
        fixture_die(&fixture.base);
        fixture_fini(&fixture.base);
    }
}

static const struct first_restore {
    bool replaces;
} first_restores[] = {{false}, {true}};

/* Where there was nothing, too, a restore that was cut short can be completed; until it is whole
 * there is nothing to open. */
TEST_EACH(a_first_restore_is_whole_or_completed, first_restores)
{
    const struct first_restore *first = *state;
    struct backup_fixture fixture;
    struct memory_vfs *prepared;
    bool off = true;

    begin(&fixture);
    memory_vfs_refuse_links(fixture.base.vfs, EXDEV);
    back_up(&fixture, BACKUP);
    fixture_must_close(&fixture.base);
    prepared = memory_vfs_clone(fixture.base.vfs);
    fixture_fini(&fixture.base);
    for (uint64_t n = 1; off; n++) {
        struct backup_fixture died = {0}, next = {0};
        struct memory_vfs *clone;
        petal_error error;
        petal_db *db;
        bool done;

        fixture_init_on(&died.base, memory_vfs_clone(prepared), 1);
        memory_vfs_cut_at(died.base.vfs, n);
        done = restore(&died, FRESH, first->replaces, &error) == PETAL_OK;
        off = memory_vfs_is_off(died.base.vfs);
        clone = memory_vfs_clone(died.base.vfs);
        if (n % 2 == 0 || !off)
            memory_vfs_process_death(clone);
        else
            memory_vfs_power_cut(clone, MEMORY_CUT_RANDOM, n);
        fixture_init_on(&next.base, clone, 2);
        next.base.options.create = false;
        if (petal_open(FRESH, &next.base.options, &db, &error) == PETAL_OK) {
            MUST(petal_close(db, WHY));
            assert_int_equal(writes_in(clone, FRESH), WRITES);
        } else {
            assert_false(done);
        }
        MUST(restore(&next, FRESH, true, WHY));
        assert_int_equal(writes_in(clone, FRESH), WRITES);
        fixture_fini(&next.base);
        memory_vfs_cut_at(died.base.vfs, 0);
        fixture_fini(&died.base);
    }
    memory_vfs_free(prepared);
}
