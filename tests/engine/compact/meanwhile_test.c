/*
 * meanwhile_test.c -- what others do while a compaction or a flush is at work: families that are
 * dropped, snapshots that are taken.
 */

#include "engine/state/db.h"
#include "tests/engine/compact/fixture.h"
#include "tests/engine/table/fixture.h"
#include "tests/support/test.h"

/* ---- when it happens ---- */

/* Before the first cell is read (the clock is looked at), or when the files are written and not
 * named (the directory is synced). */
enum moment { EARLY, LATE };
static enum moment moments[] = {EARLY, LATE};

/* The file layer of the database, which acts at the second moment. */
static struct {
    const petal_vfs *below;
    petal_vfs table;
    struct compact_fixture_interruption *interruption;
    void (*act)(struct compact_fixture_interruption *interruption); /* NULL: not armed */
    /* How many syncs of files came after the act, and during how many of them a snapshot could have
     * been taken. */
    unsigned syncs, syncs_open;
} layer;

static int
sync_directory(void *context, petal_directory *directory)
{
    void (*act)(struct compact_fixture_interruption * interruption) = layer.act;

    layer.act = NULL;
    if (act != NULL)
        act(layer.interruption);
    return layer.below->sync_directory(context, directory);
}

static int
sync_file(void *context, petal_file *file)
{
    petal_db *db = layer.interruption->base->db;

    if (db != NULL) {
        layer.syncs++;
        if (pthread_mutex_trylock(&db->snapshots.mutex.lock) == 0) {
            layer.syncs_open++;
            pthread_mutex_unlock(&db->snapshots.mutex.lock);
        }
    }
    return layer.below->sync(context, file);
}

static void
open_fixture(struct compact_fixture *fixture)
{
    compact_fixture_open(fixture);
    fixture_must_close(&fixture->base);
    memset(&layer, 0, sizeof layer);
    layer.below = fixture->base.env.vfs;
    layer.table = *layer.below;
    layer.table.sync_directory = sync_directory;
    layer.table.sync = sync_file;
    layer.interruption = &fixture->interruption;
    fixture->base.env.vfs = &layer.table;
    fixture_must_open(&fixture->base);
}

static void
arm(struct compact_fixture *fixture, petal_table *table, enum moment moment,
    void (*act)(struct compact_fixture_interruption *interruption))
{
    fixture->interruption.table = table;
    fixture->interruption.act = act;
    fixture->interruption.armed = moment == EARLY;
    layer.act = moment == LATE ? act : NULL;
}

/* ---- a family is dropped ---- */

static void
drop_first_family(struct compact_fixture_interruption *interruption)
{
    MUST(table_alter_to(interruption->table, "gh", WHY));
}

static void
drop_table(struct compact_fixture_interruption *interruption)
{
    MUST(petal_table_drop(interruption->table, WHY));
}

/* Families f, g and h, each with `files` files of `rows` rows. */
static petal_table *
open_with_files(struct compact_fixture *fixture, unsigned files, unsigned rows)
{
    static const char *const names[] = {"f", "g", "h"};
    petal_table *table;
    char row[16];

    open_fixture(fixture);
    table = table_make(&fixture->base, "fgh");
    for (unsigned file = 0; file < files; file++) {
        for (unsigned i = 0; i < rows; i++) {
            snprintf(row, sizeof row, "r%u", i);
            for (size_t k = 0; k < COUNT(names); k++)
                table_put(table, names[k], row, "value");
        }
        compact_fixture_flush(fixture->base.db);
    }
    return table;
}

/* The others are compacted; of the dropped one nothing is left, also when the database is opened
 * again. */
static void
check_others(struct compact_fixture *fixture, petal_table *table)
{
    petal_stats stats;

    petal_stats_get(fixture->base.db, &stats);
    assert_int_equal(stats.compactions, 2);
    assert_int_equal(fixture_count_files(&fixture->base, ".sst"), 2);
    assert_true(fixture_directory_is_clean(&fixture->base));
    assert_string_equal(table_row(fixture->base.db, table, "r0"), "g:value h:value");
    fixture_must_close(&fixture->base);
    fixture_must_open(&fixture->base);
    assert_string_equal(table_row(fixture->base.db, table_reopen(&fixture->base), "r0"),
                        "g:value h:value");
    fixture_fini(&fixture->base);
}

TEST_EACH(test_a_family_dropped_in_its_compaction, moments)
{
    struct compact_fixture fixture;
    petal_table *table;
    petal_family *family;
    petal_error error;

    table = open_with_files(&fixture, 2, 3);
    family = table_family_named(table, "f");
    arm(&fixture, table, *(enum moment *)*state, drop_first_family);
    assert_int_equal(petal_compact(table, family, &error), PETAL_NOT_FOUND);
    assert_non_null(strstr(error.text, "family f"));
    assert_int_equal(petal_compact(table, family, &error), PETAL_NOT_FOUND);
    MUST(petal_compact(table, NULL, WHY));
    check_others(&fixture, table);
}

TEST_EACH(test_the_other_families_are_compacted, moments)
{
    struct compact_fixture fixture;
    petal_table *table;

    table = open_with_files(&fixture, 2, 3);
    arm(&fixture, table, *(enum moment *)*state, drop_first_family);
    MUST(petal_compact(table, NULL, WHY));
    check_others(&fixture, table);
}

TEST_EACH(test_a_table_dropped_in_its_compaction, moments)
{
    struct compact_fixture fixture;
    petal_table *table;
    petal_error error;

    table = open_with_files(&fixture, 2, 3);
    arm(&fixture, table, *(enum moment *)*state, drop_table);
    assert_int_equal(petal_compact(table, NULL, &error), PETAL_NOT_FOUND);
    assert_int_equal(fixture_count_files(&fixture.base, ".sst"), 0);
    fixture_fini(&fixture.base);
}

TEST_EACH(test_a_family_dropped_in_its_flush, moments)
{
    struct compact_fixture fixture;
    petal_table *table;

    table = open_with_files(&fixture, 1, 3);
    table_put(table, "f", "r0", "newer");
    table_put(table, "g", "r0", "newer");
    arm(&fixture, table, *(enum moment *)*state, drop_first_family);
    compact_fixture_flush(fixture.base.db);
    assert_int_equal(fixture_count_files(&fixture.base, ".sst"), 3);
    assert_true(fixture_directory_is_clean(&fixture.base));
    assert_string_equal(table_row(fixture.base.db, table, "r0"), "g:newer h:value");
    fixture_fini(&fixture.base);
}

/* ---- a snapshot is there, or is taken ---- */

/* A marker in a file, and below it in time a put in memory. */
static petal_table *
open_with_hidden_put(struct compact_fixture *fixture)
{
    petal_table *table;

    open_fixture(fixture);
    table = compact_fixture_table(&fixture->base, "t", NULL);
    compact_fixture_put(table, "r", 5, "gone");
    compact_fixture_delete(table, "r", 20, PETAL_DELETE_COLUMN);
    compact_fixture_flush(fixture->base.db);
    compact_fixture_put(table, "r", 10, "hidden");
    return table;
}

/* HBase's compaction drops the marker, and readers of now see what it hid: no snapshot forbids
 * it. */
TEST(test_a_hidden_put_comes_to_light)
{
    petal_snapshot *older;
    struct compact_fixture fixture;
    petal_table *table;

    open_fixture(&fixture);
    table = compact_fixture_table(&fixture.base, "t", NULL);
    compact_fixture_delete(table, "r", 20, PETAL_DELETE_COLUMN);
    compact_fixture_flush(fixture.base.db);
    MUST(petal_snapshot_new(fixture.base.db, &older, WHY));
    compact_fixture_put(table, "r", 10, "hidden");
    compact_fixture_compact(table);
    assert_string_equal(compact_fixture_value(table, "r"), "hidden");
    assert_string_equal(compact_fixture_value_at(table, "r", older), "");
    assert_int_equal(fixture_count_files(&fixture.base, ".sst"), 0);
    petal_snapshot_free(older);
    fixture_fini(&fixture.base);
}

TEST(test_a_snapshot_keeps_its_answer)
{
    petal_snapshot *snapshot;
    struct compact_fixture fixture;
    petal_table *table;

    table = open_with_hidden_put(&fixture);
    MUST(petal_snapshot_new(fixture.base.db, &snapshot, WHY));
    assert_string_equal(compact_fixture_value_at(table, "r", snapshot), "");
    compact_fixture_compact(table);
    assert_string_equal(compact_fixture_value_at(table, "r", snapshot), "");
    assert_string_equal(compact_fixture_value(table, "r"), "");
    petal_snapshot_free(snapshot);
    compact_fixture_compact(table);
    assert_string_equal(compact_fixture_value(table, "r"), "hidden");
    fixture_fini(&fixture.base);
}

static petal_snapshot *taken;

static void
take_snapshot(struct compact_fixture_interruption *interruption)
{
    MUST(petal_snapshot_new(interruption->base->db, &taken, WHY));
    assert_string_equal(compact_fixture_value_at(interruption->table, "r", taken), "");
}

TEST_EACH(test_a_snapshot_taken_meanwhile_keeps_its_answer, moments)
{
    petal_stats stats;
    struct compact_fixture fixture;
    petal_table *table;

    table = open_with_hidden_put(&fixture);
    arm(&fixture, table, *(enum moment *)*state, take_snapshot);
    compact_fixture_compact(table);
    assert_string_equal(compact_fixture_value_at(table, "r", taken), "");
    petal_stats_get(fixture.base.db, &stats);
    assert_int_equal(stats.compactions, 1);
    assert_int_equal(stats.compaction_cells_in,
                     1); /* the flush dropped the put, the marker stays */
    assert_int_equal(stats.compaction_cells_out, 1);
    assert_int_equal(fixture_count_files(&fixture.base, ".sst"), 1);
    assert_true(fixture_directory_is_clean(&fixture.base));
    petal_snapshot_free(taken);
    fixture_fini(&fixture.base);
}

static void
start_counting(struct compact_fixture_interruption *interruption)
{
    (void)interruption;
    layer.syncs = layer.syncs_open = 0;
}

/* From the look at the snapshots until the new view is there: one that is taken in between would
 * see both. */
TEST(test_no_snapshot_is_taken_in_a_commit_that_drops_markers)
{
    struct compact_fixture fixture;
    petal_table *table;

    table = open_with_hidden_put(&fixture);
    arm(&fixture, table, LATE, start_counting);
    compact_fixture_compact(table);
    assert_true(layer.syncs > 0);
    assert_int_equal(layer.syncs_open, 0);
    compact_fixture_flush(fixture.base.db);
    arm(&fixture, table, LATE, start_counting);
    compact_fixture_compact(table);
    assert_true(layer.syncs > 0);
    assert_int_equal(layer.syncs_open, layer.syncs); /* nobody needs to wait */
    fixture_fini(&fixture.base);
}
