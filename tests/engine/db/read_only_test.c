/*
 * read_only_test.c -- a read-only opening shows what a writing one shows, writes nothing at all,
 * and refuses what a writing one refuses.
 */

#include "base/slice.h"
#include "tests/engine/db/read_only_fixture.h"
#include "tests/engine/table/copy_fixture.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

TEST(test_shows_what_a_writing_opening_shows)
{
    struct fixture fixture;
    struct ledger ledger = {.filler = READ_ONLY_FILLER};
    struct read_only_image before;
    petal_stats stats;

    read_only_begin(&fixture);
    before = read_only_image(&fixture);
    for (unsigned times = 0; times < 3; times++) {
        read_only_open(&fixture);
        read_only_read_everything(&fixture);
        fixture_must_close(&fixture);
        read_only_expect_unchanged(&fixture, &before);
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

static void
refuse_cells(const struct ledger *ledger)
{
    static const enum petal_durability levels[] = {PETAL_SKIP_WAL, PETAL_ASYNC_WAL, PETAL_SYNC_WAL,
                                                   PETAL_FSYNC_WAL};
    petal_family *f = ledger->families[0];
    petal_slice row = slice_from_text("a"), none = slice_make(NULL, 0);
    petal_error error;
    int64_t sum;

    for (size_t i = 0; i < 4; i++) {
        petal_write_options options = {.durability = levels[i]};

        refused(petal_put(f, row, none, PETAL_LATEST, row, &options, &error), &error);
    }
    refused(petal_delete(f, row, none, PETAL_LATEST, PETAL_DELETE_COLUMN, NULL, &error), &error);
    refused(petal_delete(f, row, none, PETAL_LATEST, PETAL_DELETE, NULL, &error), &error);
    refused(petal_append(f, row, none, row, NULL, &error), &error);
    refused(petal_increment(f, row, slice_from_text("n"), 1, NULL, &sum, &error), &error);
}

static void
refuse_batches(const struct ledger *ledger)
{
    petal_slice row = slice_from_text("a"), none = slice_make(NULL, 0);
    petal_condition condition = {.family = ledger->families[0],
                                 .qualifier = slice_from_text("never"),
                                 .compare = PETAL_EQUAL,
                                 .value = slice_from_text("x")};
    petal_batch *batch;
    petal_error error;
    bool applied = true;

    MUST(petal_batch_new(ledger->db, &batch, WHY));
    refused(petal_write(ledger->db, batch, NULL, &error), &error);
    MUST(petal_batch_put(batch, ledger->families[0], row, none, PETAL_LATEST, row, WHY));
    refused(petal_write(ledger->db, batch, NULL, &error), &error);
    refused(petal_mutate_row(ledger->tables[0], row, NULL, batch, NULL, &applied, &error), &error);
    assert_false(applied);
    /* Also when the condition does not hold, and nothing would be written. */
    refused(petal_mutate_row(ledger->tables[0], row, &condition, batch, NULL, NULL, &error),
            &error);
    MUST(petal_batch_append(batch, ledger->families[0], row, none, row, WHY));
    refused(petal_write(ledger->db, batch, NULL, &error), &error);
    petal_batch_free(batch);
}

static void
refuse_the_rest(const struct ledger *ledger)
{
    petal_family_options family = {.name = slice_from_text("f")};
    petal_table_options options = {
        .name = slice_from_text("new"), .families = &family, .family_count = 1};
    petal_table *table = ledger->tables[0];
    petal_error error;
    petal_kv *kv;

    refused(petal_table_create(ledger->db, &options, &table, &error), &error);
    assert_null(table);
    options.name = slice_from_text("left");
    refused(petal_table_create(ledger->db, &options, &table, &error), &error);
    refused(petal_table_alter(ledger->tables[0], &options, &error), &error);
    refused(petal_table_drop(ledger->tables[0], &error), &error);
    refused(petal_table_truncate(ledger->tables[0], &table, &error), &error);
    refused(petal_flush(ledger->db, NULL, &error), &error);
    refused(petal_flush(ledger->db, ledger->tables[0], &error), &error);
    refused(petal_compact(ledger->tables[0], NULL, &error), &error);
    refused(petal_compact(ledger->tables[0], ledger->families[0], &error), &error);
    refused(petal_kv_open(ledger->db, slice_from_text("new"), NULL, &kv, &error), &error);
    assert_null(kv);
}

TEST(test_writes_nothing)
{
    struct fixture fixture;
    struct read_only_seal sealed;
    struct ledger ledger = {.filler = READ_ONLY_FILLER};
    struct read_only_image before;

    read_only_begin(&fixture);
    /* What a writing opening would remove. */
    assert_int_equal(memory_vfs_write_file(fixture.vfs, "/db/999999.sst", "left over", 9), 0);
    assert_int_equal(memory_vfs_write_file(fixture.vfs, "/db/MANIFEST.tmp", "left over", 9), 0);
    before = read_only_image(&fixture);
    read_only_seal(&sealed, &fixture);
    memory_vfs_trace(fixture.vfs, true);
    read_only_open(&fixture);
    read_only_read_everything(&fixture);
    MUST(ledger_attach(&ledger, fixture.db, WHY));
    refuse_cells(&ledger);
    refuse_batches(&ledger);
    refuse_the_rest(&ledger);
    assert_int_equal(ledger_must_be_prefix(&ledger), READ_ONLY_WRITES);
    fixture_must_close(&fixture);
    assert_int_equal(sealed.refused, 0);
    read_only_expect_reads(&fixture);
    memory_vfs_trace(fixture.vfs, false);
    read_only_expect_unchanged(&fixture, &before);
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
    petal_table_snapshot_options brief = {.ttl_seconds = 1}, skip_flush = {.skip_flush = true};
    petal_slice names[] = {slice_from_text("kept"), slice_from_text("over"),
                           slice_from_text("never")};
    char text[COPY_BED_TEXT_BYTES];
    struct read_only_image before;
    struct fixture fixture;
    petal_table *table, *made;
    petal_error error;

    fixture_init(&fixture, 3);
    fixture_must_open(&fixture);
    MUST(copy_fixture_create(fixture.db, "t", &table, WHY));
    copy_fixture_must_put(table, "f", "a", "1");
    MUST(petal_table_snapshot_create(table, names[0], NULL, WHY));
    MUST(petal_table_snapshot_create(table, names[1], &brief, WHY));
    fixture_die(&fixture);
    test_clock_advance(&fixture.clock, 2000);
    before = read_only_image(&fixture);
    read_only_open(&fixture);
    table = copy_fixture_open(fixture.db, "t");
    assert_string_equal(copy_fixture_snapshots(fixture.db, text), "kept ");
    refused(petal_table_snapshot_create(table, names[2], NULL, &error), &error);
    refused(petal_table_snapshot_create(table, names[0], &skip_flush, &error), &error);
    for (size_t i = 0; i < 3; i++) {
        refused(
            petal_table_snapshot_clone(fixture.db, names[i], slice_from_text("t"), &made, &error),
            &error);
        refused(
            petal_table_snapshot_clone(fixture.db, names[i], slice_from_text("c"), &made, &error),
            &error);
        refused(petal_table_snapshot_restore(fixture.db, names[i], &made, &error), &error);
        refused(petal_table_snapshot_delete(fixture.db, names[i], &error), &error);
    }
    refused(petal_checkpoint(fixture.db, "/copy", &error), &error);
    refused(petal_checkpoint(fixture.db, FIXTURE_DIRECTORY, &error), &error);
    assert_false(memory_vfs_exists(fixture.vfs, "/copy"));
    copy_fixture_expect(table, "a/f=1 ");
    fixture_must_close(&fixture);
    read_only_expect_unchanged(&fixture, &before);
    fixture_fini(&fixture);
}

/* ---- damage ---- */

TEST(test_damage_is_refused_as_for_writers)
{
    struct fixture fixture;
    struct memory_vfs *sound;
    unsigned corrupt = 0, open = 0;

    read_only_begin(&fixture);
    sound = memory_vfs_clone(fixture.vfs);
    for (unsigned round = 0; round < 60; round++) {
        struct fixture each;
        struct ledger ledger = {.filler = READ_ONLY_FILLER};
        struct ledger_state read_only = {0}, writing = {0};
        petal_error error;
        enum petal_status first, second;
        static const char *const suffixes[] = {"MANIFEST", ".log"};
        char *path;
        uint8_t *bytes;
        size_t size, at;

        fixture_init_on(&each, memory_vfs_clone(sound), round);
        path = fixture_only_file(&each, suffixes[round % 2]);
        assert_non_null(path);
        assert_int_equal(memory_vfs_read_file(each.vfs, path, &bytes, &size), 0);
        at = size * round / 60;
        bytes[at] ^= (uint8_t)(1u << round % 8);
        if (round % 5 == 4)
            size = at;
        assert_int_equal(memory_vfs_write_file(each.vfs, path, bytes, size), 0);
        read_only_choose(&each, true);
        first = fixture_open(&each, &error);
        if (first == PETAL_OK) {
            MUST(ledger_attach(&ledger, each.db, WHY));
            MUST(ledger_read(&ledger, &read_only, WHY));
            fixture_must_close(&each);
        }
        read_only_choose(&each, false);
        second = fixture_open(&each, &error);
        assert_int_equal(first, second);
        if (second == PETAL_OK) {
            MUST(ledger_attach(&ledger, each.db, WHY));
            MUST(ledger_read(&ledger, &writing, WHY));
            assert_memory_equal(&read_only, &writing, sizeof writing);
        }
        corrupt += first == PETAL_CORRUPT;
        open += first == PETAL_OK;
        free(bytes);
        free(path);
        fixture_fini(&each);
    }
    assert_true(corrupt > 10);
    assert_true(open > 10); /* torn tails of the log, which no sync had promised */
    memory_vfs_free(sound);
    fixture_fini(&fixture);
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
