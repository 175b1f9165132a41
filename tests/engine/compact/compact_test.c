/*
 * compact_test.c -- compactions, snapshots, and what flushes trim: answers stay, counts balance,
 * files come and go when they should.
 */

#include "engine/state/db.h"
#include "engine/state/read_point.h"
#include "engine/store/rewrite.h"
#include "tests/engine/compact/fixture.h"
#include "tests/engine/script.h"
#include "tests/support/test.h"

struct file_sum {
    size_t files;
    uint64_t cells, markers;
};

static bool
sum_file(void *argument, const petal_file_info *file)
{
    struct file_sum *sum = argument;

    sum->files++;
    sum->cells += file->cells;
    sum->markers += file->markers;
    return true;
}

static struct file_sum
files_of(petal_table *table)
{
    struct file_sum sum = {0};

    MUST(petal_table_files(table, sum_file, &sum, WHY));
    return sum;
}

/* ---- answers, counts, files ---- */

TEST(test_answers_stay_and_counts_balance)
{
    struct compact_fixture fixture;
    petal_stats before, after;
    uint64_t dropped = 0;

    compact_fixture_fill(&fixture);
    assert_int_equal(ledger_must_be_prefix(&fixture.ledger), COMPACT_FIXTURE_WRITES);
    petal_stats_get(fixture.base.db, &before);
    MUST(compact_fixture_compact_all(&fixture, WHY));
    petal_stats_get(fixture.base.db, &after);
    assert_int_equal(ledger_must_be_prefix(&fixture.ledger), COMPACT_FIXTURE_WRITES);
    assert_int_equal(after.compactions, LEDGER_STORES);
    assert_int_equal(fixture_count_files(&fixture.base, ".sst"), LEDGER_STORES);
    assert_true(fixture_directory_is_clean(&fixture.base));
    dropped += after.dropped_masked - before.dropped_masked;
    dropped += after.dropped_superseded - before.dropped_superseded;
    dropped += after.dropped_surplus - before.dropped_surplus;
    dropped += after.dropped_expired - before.dropped_expired;
    dropped += after.dropped_markers - before.dropped_markers;
    assert_true(dropped > 0 && after.dropped_markers > before.dropped_markers);
    assert_int_equal(after.compaction_cells_in, after.compaction_cells_out + dropped);
    assert_true(after.compaction_bytes_out < after.compaction_bytes_in);
    assert_non_null(strstr(fixture.interruption.log, "dropped: "));
    /* All that is left is seen. */
    for (unsigned t = 0; t < LEDGER_TABLES; t++)
        assert_int_equal(files_of(fixture.ledger.tables[t]).markers, 0);
    fixture_must_close(&fixture.base);
    fixture_must_open(&fixture.base);
    assert_int_equal(ledger_must_find(&fixture.ledger, fixture.base.db), COMPACT_FIXTURE_WRITES);
    fixture_fini(&fixture.base);
}

/* What a flush drops counts, too, and a flush of which nothing is left makes no file. */
TEST(test_flush_trims)
{
    struct compact_fixture fixture;
    petal_table *table;
    petal_stats stats;
    petal_db *db;

    compact_fixture_open(&fixture);
    db = fixture.base.db;
    table = compact_fixture_table(&fixture.base, "t", NULL);
    compact_fixture_put(table, "r", 10, "a");
    compact_fixture_put(table, "r", 20, "b");
    compact_fixture_put(table, "r", 20, "c");
    compact_fixture_put(table, "s", 10, "d");
    compact_fixture_delete(table, "s", 15, PETAL_DELETE_COLUMN);
    compact_fixture_flush(db);
    assert_int_equal(files_of(table).cells, 2);
    petal_stats_get(db, &stats);
    assert_int_equal(stats.flush_cells, 2);
    assert_int_equal(stats.dropped_masked, 1);
    assert_int_equal(stats.dropped_superseded, 1);
    assert_int_equal(stats.dropped_surplus, 1);
    assert_string_equal(compact_fixture_value(table, "r"), "c");
    assert_string_equal(compact_fixture_value(table, "s"), "");
    fixture_fini(&fixture.base);
}

/* A cell with a time to live of its own goes by flush or compaction once that is over, and not
 * before. */
TEST(test_cells_past_their_own_time_go)
{
    petal_write_options mortal = {.has_ttl = true, .ttl_ms = 100};
    struct compact_fixture fixture;
    petal_stats stats;
    petal_table *table;

    compact_fixture_open(&fixture);
    table = compact_fixture_table(&fixture.base, "t", NULL);
    test_clock_set(&fixture.base.clock, 1000);
    for (int turn = 0; turn < 2; turn++) {
        MUST(petal_put(petal_table_family_at(table, 0), slice_from_text("r"), slice_from_text("q"),
                       PETAL_LATEST, slice_from_text("mortal"), &mortal, WHY));
        compact_fixture_put(table, "s", PETAL_LATEST, "stays");
        if (turn == 0)
            compact_fixture_flush(fixture.base.db);
        test_clock_advance(&fixture.base.clock, 100);
        if (turn == 0)
            compact_fixture_compact(table);
        assert_string_equal(compact_fixture_value(table, "r"), "mortal");
        test_clock_advance(&fixture.base.clock, 1);
        assert_string_equal(compact_fixture_value(table, "r"), "");
        if (turn == 0)
            compact_fixture_compact(table);
        else
            compact_fixture_flush(fixture.base.db);
        petal_stats_get(fixture.base.db, &stats);
        assert_int_equal(stats.dropped_expired, turn + 1);
    }
    assert_string_equal(compact_fixture_value(table, "s"), "stays");
    fixture_fini(&fixture.base);
}

/* A large run is cut at row borders; its files are one run of disjoint rows. */
TEST(test_a_run_is_cut_at_row_borders)
{
    struct compact_fixture fixture;
    petal_family_options family = {.block_bytes = 1024};
    struct store_view *store;
    petal_table *table;
    char row[8];

    compact_fixture_open(&fixture);
    table = compact_fixture_table(&fixture.base, "t", &family);
    for (int i = 0; i < 400; i++) {
        snprintf(row, sizeof row, "%03d", i * 7 % 400);
        compact_fixture_put(table, row, 10, "a value that is the same for all rows, or nearly so");
        if (i % 100 == 99)
            compact_fixture_flush(fixture.base.db);
    }
    fixture.base.db->compact_file_bytes = 2000;
    compact_fixture_compact(table);
    MUST(petal_table_verify(table, WHY));
    assert_true(files_of(table).files > 2);
    assert_int_equal(files_of(table).cells, 400);
    store = region_at(view_at(atomic_load(&fixture.base.db->views.current),
                              petal_table_family_at(table, 0)->slot),
                      0)
                ->view;
    for (uint32_t i = 0; i < store->file_count; i++) {
        assert_int_equal(store->files[i].run, store->files[0].run);
        for (uint32_t k = 0; k < i; k++)
            assert_true(
                slice_compare(store->files[i].facts->row_max, store->files[k].facts->row_min) < 0 ||
                slice_compare(store->files[k].facts->row_max, store->files[i].facts->row_min) < 0);
    }
    assert_true(fixture_directory_is_clean(&fixture.base));
    fixture_must_close(&fixture.base);
    fixture_must_open(&fixture.base);
    MUST(petal_table_open(fixture.base.db, slice_from_text("t"), &table, WHY));
    compact_fixture_compact(table);
    assert_int_equal(files_of(table).files, 1);
    assert_int_equal(files_of(table).cells, 400);
    fixture_fini(&fixture.base);
}

/* A result whose counts are not those of its input is refused, and leaves no file. */
TEST(test_what_does_not_balance_is_refused)
{
    struct read_trace trace = {0};
    struct read_context context = {.trace = &trace, .keep_out_of_cache = true};
    struct rewrite_result result = {0};
    struct rewrite_job job = {.origin = FILE_ORIGIN_MINOR, .file_bytes = UINT64_MAX};
    struct sst_iter iter;
    struct view *view;
    struct compact_fixture fixture;
    petal_error error;

    compact_fixture_open(&fixture);
    job.family = petal_table_family_at(compact_fixture_table(&fixture.base, "t", NULL), 0);
    visibility_rules_of(&job.rules, family_options(job.family), VISIBILITY_PART, UINT64_MAX, 0);
    compact_fixture_put(job.family->table, "r", 10, "a");
    compact_fixture_flush(fixture.base.db);
    view = read_pin_view(fixture.base.db);
    for (uint64_t claimed = 0; claimed < 3; claimed++) {
        enum petal_status status;

        sst_iter_init(&iter, region_at(view_regions(view, job.family), 0)->view->files[0].reader,
                      &context, false, false);
        job.input = &iter.iter;
        job.cells = claimed;
        status = rewrite_run(&job, &result, &error);
        assert_int_equal(status, claimed == 1 ? PETAL_OK : PETAL_CORRUPT);
        assert_int_equal(fixture_count_files(&fixture.base, ".sst"), claimed == 1 ? 2 : 1);
        rewrite_result_fini(&result, fixture.base.env.allocator, true);
        iter.iter.ops->close(&iter.iter);
    }
    view_unref(view);
    fixture_fini(&fixture.base);
}

/* ---- scripts ---- */

static const struct script_case cases[] = {
    {"what nothing is left of leaves no file",
     "table t f; compact t; put t r/f:q@10=a; flush; put t r/f@20!14; flush; files 2; compact t\n"
     "files 0; stored t 0; reopen; show t :"},
    {"a cursor reads the files that it began with; they go when it is closed",
     "table t f; put t a/f:q@10=1 b/f:q@10=2; flush; put t c/f:q@10=3; flush; open c t\n"
     "step c : a/f:q=1; put t b/f:q@20!12; flush; compact t; files 3; rest c : b/f:q=2 c/f:q=3\n"
     "close c; files 1; show t row=b :"},
    {"snapshots keep what they see, and nothing else",
     "table t f; put t r/f:q@10=a; moment older; put t r/f:q@20=b; moment middle; put t "
     "r/f:q@30=c\n"
     "moment newer; put t r/f:q@40=d; flush; stored t 4; show t at=older : r/f:q=a\n"
     "show t at=middle : r/f:q=b; show t at=newer : r/f:q=c; forget middle; compact t; stored t 4\n"
     "show t at=older : r/f:q=a; show t at=newer : r/f:q=c; forget older; compact t; stored t 2\n"
     "show t at=newer : r/f:q=c; show t : r/f:q=d; forget newer; compact t; stored t 1\n"
     "show t : r/f:q=d"},
    {"a put above the read point is copied, and the older marker that hides it stays with it",
     "table t f; put t r/f:q@50!12; moment m; put t r/f:q@40=hidden; flush; show t :; compact t\n"
     "show t :; forget m; compact t; show t :; stored t 0"},
};

TEST_EACH(compactions_do_this, cases)
{
    script_run(*state);
}

/* ---- snapshots ---- */

TEST(test_the_oldest_read_point)
{
    struct compact_fixture fixture;
    petal_snapshot *snapshots[3];
    petal_table *table;
    petal_db *db;

    compact_fixture_open(&fixture);
    db = fixture.base.db;
    table = compact_fixture_table(&fixture.base, "t", NULL);
    for (int i = 0; i < 3; i++) {
        compact_fixture_put(table, "r", PETAL_LATEST, "a");
        MUST(petal_snapshot_new(db, &snapshots[i], WHY));
    }
    compact_fixture_put(table, "r", PETAL_LATEST, "a");
    assert_int_equal(read_point_oldest(db), snapshots[0]->sequence);
    petal_snapshot_free(snapshots[1]);
    petal_snapshot_free(snapshots[0]);
    assert_int_equal(read_point_oldest(db), snapshots[2]->sequence);
    petal_snapshot_free(snapshots[2]);
    assert_int_equal(read_point_oldest(db), atomic_load(&db->views.published_sequence));
    fixture_fini(&fixture.base);
}

/* ---- what happens meanwhile ---- */

static void
write_meanwhile(struct compact_fixture_interruption *interruption)
{
    compact_fixture_put(interruption->table, "r", 30, "newer");
    compact_fixture_flush(interruption->base->db);
    compact_fixture_put(interruption->table, "s", 30, "newest");
}

TEST(test_files_flushed_meanwhile_stay)
{
    struct compact_fixture fixture;
    petal_table *table;
    petal_db *db;

    compact_fixture_open(&fixture);
    db = fixture.base.db;
    table = compact_fixture_table(&fixture.base, "t", NULL);
    compact_fixture_put(table, "r", 10, "old");
    compact_fixture_flush(db);
    compact_fixture_put(table, "s", 20, "old");
    compact_fixture_flush(db);
    fixture.interruption.table = table;
    fixture.interruption.act = write_meanwhile;
    fixture.interruption.armed = true;
    compact_fixture_compact(table);
    assert_int_equal(files_of(table).files, 2);
    assert_string_equal(compact_fixture_value(table, "r"), "newer");
    assert_string_equal(compact_fixture_value(table, "s"), "newest");
    compact_fixture_compact(table);
    assert_int_equal(files_of(table).files, 1);
    assert_string_equal(compact_fixture_value(table, "r"), "newer");
    assert_true(fixture_directory_is_clean(&fixture.base));
    fixture_fini(&fixture.base);
}

static void
drop_meanwhile(struct compact_fixture_interruption *interruption)
{
    MUST(petal_table_drop(interruption->table, WHY));
}

TEST(test_table_dropped_meanwhile)
{
    struct compact_fixture fixture;
    petal_table *table, *other;
    petal_error error;

    compact_fixture_open(&fixture);
    table = compact_fixture_table(&fixture.base, "t", NULL);
    other = compact_fixture_table(&fixture.base, "o", NULL);
    assert_int_equal(petal_compact(table, petal_table_family_at(other, 0), &error), PETAL_INVALID);
    compact_fixture_put(table, "r", 10, "a");
    compact_fixture_flush(fixture.base.db);
    fixture.interruption.table = table;
    fixture.interruption.act = drop_meanwhile;
    fixture.interruption.armed = true;
    assert_int_equal(petal_compact(table, NULL, &error), PETAL_NOT_FOUND);
    assert_int_equal(petal_compact(table, NULL, &error), PETAL_NOT_FOUND);
    assert_int_equal(fixture_count_files(&fixture.base, ".sst"), 0);
    compact_fixture_put(other, "r", 10, "a");
    compact_fixture_flush(fixture.base.db);
    compact_fixture_compact(other);
    assert_string_equal(compact_fixture_value(other, "r"), "a");
    fixture_fini(&fixture.base);
}
