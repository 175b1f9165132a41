/*
 * read_only_test.c -- a read-only opening shows what a writing one shows, writes nothing at all,
 * and refuses what a writing one refuses.
 */

#include "base/slice.h"
#include "tests/engine/db/read_only_fixture.h"
#include "tests/engine/script.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <string.h>

TEST(test_shows_what_a_writing_opening_shows)
{
    struct fixture fixture;
    struct ledger ledger = {.filler = READ_ONLY_FILLER};
    uint64_t before;
    petal_stats stats;

    read_only_begin(&fixture);
    before = memory_vfs_hash(fixture.vfs);
    for (unsigned times = 0; times < 3; times++) {
        read_only_open(&fixture);
        read_only_read_everything(&fixture);
        fixture_must_close(&fixture);
        assert_true(memory_vfs_hash(fixture.vfs) == before);
    }
    read_only_choose(&fixture, false);
    fixture_must_open(&fixture);
    assert_int_equal(ledger_must_find(&ledger, fixture.db), READ_ONLY_WRITES);
    petal_stats_get(fixture.db, &stats);
    assert_false(stats.read_only);
    MUST(ledger_write(&ledger, READ_ONLY_WRITES + 1, PETAL_DURABILITY_DEFAULT, WHY));
    fixture_fini(&fixture);
}

/* ---- writing nothing ---- */

static void
refused(enum petal_status status, const petal_error *error)
{
    assert_int_equal(status, PETAL_READ_ONLY);
    assert_int_equal(error->status, PETAL_READ_ONLY);
    assert_non_null(strstr(error->text, "opened read-only"));
    assert_non_null(strstr(error->text, FIXTURE_DIRECTORY));
}

/* Every call that writes, but for those that a script has no words for. */
static void
refuse_writes(const struct ledger *ledger)
{
    static const char *const writes[] = {
        "put left a/f=v",     "unlogged left a/f=v",
        "version left a/f=v", "put left a/f!12",
        "put left a/f!8",     "app left a/f=v",
        "inc left a/f:n=#1",  "batch left",
        "batch left a/f=v",   "batch left app:a/f=v",
        "table new f",        "table left f",
        "alter left f",       "drop left",
        "truncate left",      "flush",
        "flush left",         "compact left",
    };
    petal_condition condition = {.family = ledger->families[0],
                                 .qualifier = slice_from_text("never"),
                                 .compare = PETAL_EQUAL,
                                 .value = slice_from_text("x")};
    petal_slice row = slice_from_text("a"), none = slice_make(NULL, 0);
    petal_batch *batch;
    petal_error error;
    petal_kv *kv;
    bool applied = true;

    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        char statements[200];

        snprintf(statements, sizeof statements,
                 "refused read-only %s; told opened read-only; told " FIXTURE_DIRECTORY, writes[i]);
        script_do_on(ledger->db, statements);
    }
    for (enum petal_durability level = PETAL_SKIP_WAL; level <= PETAL_FSYNC_WAL; level++) {
        petal_write_options options = {.durability = level};

        refused(petal_put(ledger->families[0], row, none, PETAL_LATEST, row, &options, &error),
                &error);
    }
    MUST(petal_batch_new(ledger->db, &batch, WHY));
    MUST(petal_batch_put(batch, ledger->families[0], row, none, PETAL_LATEST, row, WHY));
    refused(petal_mutate_row(ledger->tables[0], row, NULL, batch, NULL, &applied, &error), &error);
    assert_false(applied);
    /* Also when the condition does not hold, and nothing would be written. */
    refused(petal_mutate_row(ledger->tables[0], row, &condition, batch, NULL, NULL, &error),
            &error);
    petal_batch_free(batch);
    refused(petal_compact(ledger->tables[0], ledger->families[0], &error), &error);
    refused(petal_kv_open(ledger->db, slice_from_text("new"), NULL, &kv, &error), &error);
    assert_null(kv);
}

TEST(test_writes_nothing)
{
    struct fixture fixture;
    petal_vfs sealed;
    struct ledger ledger = {.filler = READ_ONLY_FILLER};
    uint64_t before;

    read_only_begin(&fixture);
    /* What a writing opening would remove. */
    assert_int_equal(memory_vfs_write_file(fixture.vfs, "/db/999999.sst", "left over", 9), 0);
    assert_int_equal(memory_vfs_write_file(fixture.vfs, "/db/MANIFEST.tmp", "left over", 9), 0);
    before = memory_vfs_hash(fixture.vfs);
    read_only_seal(&sealed, &fixture);
    memory_vfs_trace(fixture.vfs, true);
    read_only_open(&fixture);
    read_only_read_everything(&fixture);
    MUST(ledger_attach(&ledger, fixture.db, WHY));
    refuse_writes(&ledger);
    assert_int_equal(ledger_must_be_prefix(&ledger), READ_ONLY_WRITES);
    fixture_must_close(&fixture);
    assert_int_equal(read_only_refused, 0);
    read_only_expect_reads(&fixture);
    memory_vfs_trace(fixture.vfs, false);
    assert_true(memory_vfs_hash(fixture.vfs) == before);
    fixture_fini(&fixture);
}

TEST(test_key_values)
{
    petal_slice key = slice_from_text("key"), value;
    struct fixture fixture;
    petal_result *result;
    petal_error error;
    petal_kv *kv;
    bool found;

    fixture_init(&fixture, 3);
    fixture_must_open(&fixture);
    MUST(petal_kv_open(fixture.db, slice_from_text("kv"), NULL, &kv, WHY));
    MUST(petal_kv_put(kv, key, slice_from_text("value"), NULL, WHY));
    fixture_die(&fixture);
    read_only_open(&fixture);
    MUST(petal_kv_open(fixture.db, slice_from_text("kv"), NULL, &kv, WHY));
    MUST(petal_result_new(fixture.db, &result, WHY));
    MUST(petal_kv_get(kv, key, result, &found, &value, WHY));
    assert_true(found);
    assert_true(slice_equal(value, slice_from_text("value")));
    refused(petal_kv_put(kv, key, value, NULL, &error), &error);
    refused(petal_kv_delete(kv, key, &error), &error);
    petal_result_free(result);
    fixture_fini(&fixture);
}

/* Of the copies that there are only a list is to be had, without the one whose time is over; its
 * files stay. */
TEST(test_table_snapshots_and_checkpoints)
{
    static const char *const names[] = {"kept", "over", "never"};
    petal_table_snapshot_options brief = {.ttl_seconds = 1};
    uint64_t before;
    struct script script;
    petal_error error;

    script_begin(&script);
    script_do(&script, "table t f; put t a/f=1; take t kept");
    MUST(petal_table_snapshot_create(script_table(&script, "t"), slice_from_text("over"), &brief,
                                     WHY));
    script_do(&script, "kill; later 2000");
    before = memory_vfs_hash(script.base.vfs);
    read_only_open(&script.base);
    script_do(&script, "snapshots : kept");
    for (size_t i = 0; i < 3; i++) {
        char statements[200];

        snprintf(statements, sizeof statements,
                 "refused read-only take t %s; refused read-only clone %s t\n"
                 "refused read-only clone %s c; refused read-only restore %s t\n"
                 "refused read-only delete %s; told opened read-only",
                 names[i], names[i], names[i], names[i], names[i]);
        script_do(&script, statements);
    }
    refused(petal_checkpoint(script.base.db, "/copy", &error), &error);
    refused(petal_checkpoint(script.base.db, FIXTURE_DIRECTORY, &error), &error);
    assert_false(memory_vfs_exists(script.base.vfs, "/copy"));
    script_do(&script, "show t : a/f=1; verify t; shut");
    assert_true(memory_vfs_hash(script.base.vfs) == before);
    script_end(&script);
}

/* ---- threads ---- */

struct opener {
    const petal_options *options;
    unsigned wrong;
};

static void *
open_and_read(void *argument)
{
    struct opener *opener = argument;

    for (unsigned round = 0; round < 10; round++) {
        struct ledger ledger = {.filler = READ_ONLY_FILLER};
        struct ledger_state read;
        petal_db *db;

        if (petal_open(FIXTURE_DIRECTORY, opener->options, &db, NULL) != PETAL_OK) {
            opener->wrong++;
            continue;
        }
        opener->wrong += ledger_attach(&ledger, db, NULL) != PETAL_OK ||
                         ledger_read(&ledger, &read, NULL) != PETAL_OK ||
                         !ledger_is_after(&read, READ_ONLY_WRITES);
        opener->wrong += petal_close(db, NULL) != PETAL_OK;
    }
    return NULL;
}

TEST(test_openers_in_threads)
{
    struct fixture fixture;
    struct opener openers[4];
    pthread_t threads[4];

    read_only_begin(&fixture);
    read_only_choose(&fixture, true);
    for (unsigned i = 0; i < 4; i++) {
        openers[i] = (struct opener){.options = &fixture.options};
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_read, &openers[i]), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(openers[i].wrong, 0);
    }
    fixture_fini(&fixture);
}
