/*
 * open_files_test.c -- a database of many store files with few of them open: the same answers as
 * with all open, the bound at every moment, files that were replaced, and few descriptors of the
 * process.
 */

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/disk/paths.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRITES 120
#define FEW    8
#define FILES  40 /* at least so many store files */

/* ---- a database of many files ---- */

static void
begin(struct fixture *fixture)
{
    struct ledger ledger = {0};

    fixture_init(fixture, 5);
    fixture->options.open_files = FEW;
    fixture->options.cache_bytes = PETAL_NO_CACHE;
    fixture->options.no_compaction = true;
    fixture_must_open(fixture);
    MUST(ledger_create(&ledger, fixture->db, WHY));
    for (uint64_t number = 1; number <= WRITES; number++) {
        test_clock_advance(&fixture->clock, 1);
        MUST(ledger_write(&ledger, number, PETAL_DURABILITY_DEFAULT, WHY));
        if (number % 5 == 0)
            MUST(petal_flush(fixture->db, NULL, WHY));
    }
    fixture_must_close(fixture);
    assert_true(fixture_count_files(fixture, ".sst") >= FILES);
}

static size_t
count_opened(struct fixture *fixture)
{
    size_t opened = 0, count = memory_vfs_trace_count(fixture->vfs);

    for (size_t i = 0; i < count; i++) {
        struct memory_vfs_call call = memory_vfs_trace_at(fixture->vfs, i);

        opened += call.operation == MEMORY_VFS_OPEN && strstr(call.path, ".sst") != NULL;
    }
    return opened;
}

/* ---- answers ---- */

/* A number for what a scan returns: all versions and markers, there or back. */
static uint64_t
hash_scan(petal_table *table, bool reversed)
{
    petal_scan_options options = {
        .reversed = reversed, .raw = true, .read.versions = PETAL_ALL_VERSIONS};
    uint64_t hash = 14695981039346656037u;
    const petal_cell *cell;
    petal_cursor *cursor;

    MUST(petal_cursor_open(table, &options, &cursor, WHY));
    for (;;) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        if (cell == NULL)
            break;
        hash = (hash ^ (uint64_t)cell->timestamp ^ (uint64_t)cell->type) * 1099511628211u;
        for (size_t i = 0; i < cell->value.size; i++)
            hash = (hash ^ slice_bytes(cell->value)[i]) * 1099511628211u;
    }
    petal_cursor_close(cursor);
    return hash;
}

struct answers {
    struct ledger_state state;
    uint64_t scans[LEDGER_TABLES][2];
};

static struct answers
take_answers(struct fixture *fixture)
{
    struct ledger ledger = {0};
    struct answers answers;

    memset(&answers, 0, sizeof answers);
    MUST(ledger_attach(&ledger, fixture->db, WHY));
    MUST(ledger_read(&ledger, &answers.state, WHY));
    MUST(ledger_verify(&ledger, WHY));
    for (unsigned t = 0; t < LEDGER_TABLES; t++) {
        answers.scans[t][0] = hash_scan(ledger.tables[t], false);
        answers.scans[t][1] = hash_scan(ledger.tables[t], true);
    }
    return answers;
}

TEST(test_the_same_answers_with_few_files_open)
{
    struct fixture fixture;
    struct answers all, few;

    begin(&fixture);
    fixture.options.open_files = 1000;
    memory_vfs_trace(fixture.vfs, true);
    fixture_must_open(&fixture);
    all = take_answers(&fixture);
    fixture_must_close(&fixture);
    assert_true(fixture_most_open(&fixture) >= FILES);
    memory_vfs_trace(fixture.vfs, false);

    fixture.options.open_files = FEW;
    memory_vfs_trace(fixture.vfs, true);
    fixture_must_open(&fixture);
    few = take_answers(&fixture);
    assert_true(ledger_is_after(&few.state, WRITES));
    assert_memory_equal(&all, &few, sizeof all);
    assert_int_equal(fixture_most_open(&fixture), FEW);
    assert_true(count_opened(&fixture) > 2 * FILES);

    /* A compaction reads all files at once, and writes one. */
    for (unsigned t = 0; t < LEDGER_TABLES; t++) {
        struct ledger ledger = {0};

        MUST(ledger_attach(&ledger, fixture.db, WHY));
        MUST(petal_compact(ledger.tables[t], NULL, WHY));
        assert_int_equal(ledger_must_be_prefix(&ledger), WRITES);
    }
    assert_true(fixture_most_open(&fixture) <= FEW + 1);
    memory_vfs_trace(fixture.vfs, false);
    assert_true(memory_vfs_open_files(fixture.vfs) <= FEW + 3); /* lock, manifest, log */
    fixture_fini(&fixture);
}

TEST(test_wrong_numbers_are_refused)
{
    struct fixture fixture;
    petal_error error;

    fixture_init(&fixture, 1);
    fixture.options.open_files = 7;
    assert_int_equal(fixture_open(&fixture, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "open_files is 7; it must be at least 8"));
    fixture.options.open_files = 0;
    fixture_must_open(&fixture);
    fixture_fini(&fixture);
}

/* ---- files that were replaced ---- */

/* A store file that is gone, or another in its place, is noticed when it is opened again. */
TEST(test_replaced_files_are_noticed)
{
    struct fixture fixture;
    struct ledger ledger = {0};
    struct ledger_state read;
    petal_error error;
    uint8_t *bytes;
    size_t size;

    begin(&fixture);
    fixture_must_open(&fixture);
    MUST(ledger_attach(&ledger, fixture.db, WHY));
    for (uint64_t number = 1; number < 200; number++) {
        char path[64], other[64];

        snprintf(path, sizeof path, FIXTURE_DIRECTORY "/%06u.sst", (unsigned)number);
        snprintf(other, sizeof other, FIXTURE_DIRECTORY "/%06u.sst", (unsigned)number + 1);
        if (!memory_vfs_exists(fixture.vfs, path) || !memory_vfs_exists(fixture.vfs, other))
            continue;
        assert_int_equal(memory_vfs_read_file(fixture.vfs, other, &bytes, &size), 0);
        assert_int_equal(vfs_remove(fixture.env.vfs, path), 0);
        assert_int_equal(memory_vfs_write_file(fixture.vfs, path, bytes, size), 0);
        free(bytes);
    }
    assert_int_equal(ledger_read(&ledger, &read, &error), PETAL_CORRUPT);
    assert_non_null(strstr(error.file, ".sst"));
    fixture_fini(&fixture);
}

/* ---- few descriptors ---- */

static enum petal_status
make_files(const char *directory, unsigned files)
{
    petal_options options = {.create = true, .no_compaction = true};
    petal_slice key = slice_from_text("key");
    enum petal_status status;
    petal_db *db;
    petal_kv *kv;

    status = petal_open(directory, &options, &db, NULL);
    if (status != PETAL_OK)
        return status;
    status = petal_kv_open(db, slice_from_text("t"), NULL, &kv, NULL);
    for (unsigned i = 0; status == PETAL_OK && i < files; i++) {
        petal_slice row = slice_make(&i, sizeof i);

        status = petal_kv_put(kv, row, key, NULL, NULL);
        if (status == PETAL_OK)
            status = petal_flush(db, petal_kv_table(kv), NULL);
    }
    return petal_close(db, NULL) == PETAL_OK ? status : PETAL_IO;
}

static enum petal_status
read_files(const char *directory, unsigned files, petal_error *error)
{
    petal_options options = {.no_compaction = true};
    enum petal_status status;
    petal_result *result = NULL;
    petal_db *db;
    petal_kv *kv;

    status = petal_open(directory, &options, &db, error);
    if (status != PETAL_OK)
        return status;
    status = petal_kv_open(db, slice_from_text("t"), NULL, &kv, error);
    if (status == PETAL_OK)
        status = petal_result_new(db, &result, error);
    for (unsigned i = 0; status == PETAL_OK && i < files; i++) {
        petal_slice value;
        bool found;

        status = petal_kv_get(kv, slice_make(&i, sizeof i), result, &found, &value, error);
        if (status == PETAL_OK && !found)
            status = PETAL_CORRUPT;
    }
    petal_result_free(result);
    return petal_close(db, error) == PETAL_OK ? status : PETAL_IO;
}

/* The default of open_files, in a process that may have fewer descriptors than the default is. */
TEST(test_few_descriptors)
{
    unsigned files = test_long() ? 10000 : 300;
    rlim_t descriptors = test_long() ? 256 : 64;
    char *directory = test_directory_new();
    pid_t child;
    int status = 0;

    child = fork();
    if (child == 0) {
        petal_error error = {.status = PETAL_OK};
        enum petal_status result;

        if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){descriptors, descriptors}) != 0)
            _exit(100);
        result = make_files(directory, files);
        if (result == PETAL_OK)
            result = read_files(directory, files, &error);
        if (result != PETAL_OK)
            fprintf(stderr, "%s: %s\n", petal_status_text(result), error.text);
        _exit((int)result);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), PETAL_OK);
    test_directory_free(directory);
}
