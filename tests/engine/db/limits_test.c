/*
 * limits_test.c -- what grows has an end that is told, with nothing lost: the manifest; and
 * what claims to be at the end already, files with absurd numbers, does not take the rest along.
 */

#include "base/slice.h"
#include "engine/state/db.h"
#include "tests/engine/table/copy_fixture.h"
#include "tests/support/test.h"

#include <stdlib.h>

/* ---- numbers of files ---- */

static const char *const absurd_numbers[] = {
    "18446744073709551615", "18446744073709551614", "18446744073709551000",
    "9223372036854775808",  "9223372036854775807",  "4611686018427387904",
    "4611686018427387903",  "1152921504606846976",  "99999999999999",
};

enum content { CONTENT_NONE, CONTENT_GARBAGE, CONTENT_LOG, CONTENTS };

/* A file that nothing made, of some content; the path is to be released. */
static char *
make_stray(struct fixture *fixture, const char *number, const char *suffix, enum content content)
{
    static uint8_t garbage[5000];
    char name[40], *path, *log = fixture_only_file(fixture, ".log");
    uint8_t *bytes = NULL;
    size_t size = 0;

    assert_non_null(log);
    assert_int_equal(memory_vfs_read_file(fixture->vfs, log, &bytes, &size), 0);
    memset(garbage, 0xA5, sizeof garbage);
    snprintf(name, sizeof name, "%s%s", number, suffix);
    path = test_path(FIXTURE_DIRECTORY, name);
    assert_int_equal(memory_vfs_write_file(fixture->vfs, path,
                                           content == CONTENT_LOG ? bytes : garbage,
                                           content == CONTENT_NONE      ? 0
                                           : content == CONTENT_GARBAGE ? sizeof garbage
                                                                        : size),
                     0);
    free(bytes);
    free(log);
    return path;
}

/* No file but the stray has got a number that is not small. */
static void
check_name(void *argument, const char *name)
{
    const char *stray = argument;

    if (strstr(stray, name) == NULL && strtoull(name, NULL, 10) > 1000)
        fail_msg("%s was made beside %s", name, stray);
}

static void
try_stray(const char *number, const char *suffix, enum content content)
{
    struct fixture fixture;
    struct ledger ledger = {0};
    char *stray;

    ledger_start(&ledger, &fixture, 3);
    for (uint64_t i = 1; i <= 9; i++)
        MUST(ledger_write(&ledger, i, PETAL_FSYNC_WAL, WHY));
    fixture_die(&fixture);
    stray = make_stray(&fixture, number, suffix, content);
    for (uint64_t opening = 0; opening < 3; opening++) {
        fixture_must_open(&fixture);
        assert_int_equal(ledger_must_find(&ledger, fixture.db), 9 + 2 * opening);
        MUST(ledger_write(&ledger, 10 + 2 * opening, PETAL_FSYNC_WAL, WHY));
        MUST(petal_flush(fixture.db, ledger.tables[0], WHY));
        MUST(ledger_write(&ledger, 11 + 2 * opening, PETAL_FSYNC_WAL, WHY));
        memory_vfs_list(fixture.vfs, FIXTURE_DIRECTORY, check_name, stray);
        if (opening == 1)
            fixture_must_close(&fixture);
        else
            fixture_die(&fixture);
    }
    free(stray);
    fixture_fini(&fixture);
}

TEST(test_files_with_absurd_numbers)
{
    for (size_t i = 0; i < sizeof absurd_numbers / sizeof *absurd_numbers; i++) {
        for (enum content content = CONTENT_NONE; content < CONTENTS; content++) {
            try_stray(absurd_numbers[i], ".sst", content);
            try_stray(absurd_numbers[i], ".log", content);
        }
    }
}

/* ---- the manifest ---- */

#define MOST_MANIFEST_BYTES 20000

static enum petal_status
make_table(petal_db *db, unsigned number, petal_error *error)
{
    petal_family_options family = {.name = slice_from_text("f")};
    petal_table_options options = {.families = &family, .family_count = 1};
    char name[20];
    petal_table *table;

    snprintf(name, sizeof name, "table%u", number);
    options.name = slice_from_text(name);
    return petal_table_create(db, &options, &table, error);
}

/* What does not go in any more is refused; the rest goes on, is flushed and found again, and what
 * is dropped makes room. */
TEST(test_a_manifest_that_is_full)
{
    struct fixture fixture;
    struct ledger ledger = {0};
    enum petal_status status;
    petal_table *table;
    petal_error error;
    unsigned made = 0;

    fixture_init(&fixture, 3);
    fixture_must_open(&fixture);
    manifest_limit(fixture.db->manifest, MOST_MANIFEST_BYTES);
    MUST(ledger_create(&ledger, fixture.db, WHY));
    do
        status = make_table(fixture.db, ++made, &error);
    while (status == PETAL_OK);
    assert_int_equal(status, PETAL_INVALID);
    assert_non_null(strstr(error.text, "MANIFEST would have"));
    assert_true(made > 10);
    for (uint64_t i = 1; i <= 20; i++) {
        MUST(ledger_write(&ledger, i, PETAL_SYNC_WAL, WHY));
        MUST(petal_flush(fixture.db, NULL, WHY));
    }
    assert_int_equal(
        petal_table_snapshot_create(ledger.tables[0], slice_from_text("s"), NULL, &error),
        PETAL_INVALID);
    copy_fixture_expect_no_stray(&fixture);
    assert_int_equal(make_table(fixture.db, made, &error), PETAL_INVALID);
    MUST(petal_compact(ledger.tables[0], NULL, WHY));
    MUST(petal_compact(ledger.tables[1], NULL, WHY));
    for (unsigned i = 1; i <= 5; i++) {
        char name[20];

        snprintf(name, sizeof name, "table%u", i);
        MUST(petal_table_open(fixture.db, slice_from_text(name), &table, WHY));
        MUST(petal_table_drop(table, WHY));
    }
    MUST(make_table(fixture.db, made, WHY));
    fixture_must_close(&fixture);
    fixture_must_open(&fixture);
    assert_int_equal(ledger_must_find(&ledger, fixture.db), 20);
    fixture_fini(&fixture);
}
