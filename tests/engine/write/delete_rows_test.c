/*
 * delete_rows_test.c -- rows that are deleted whole: one by one, by range, by prefix; what stays,
 * what is counted, where a call that ended early goes on.
 */

#include "tests/engine/script.h"
#include "tests/engine/write/fixture.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdio.h>

static const petal_slice open_end = {NULL, 0};

/* The table's rows, as a plain scan has them, with a blank between two. */
static void
expect_rows(struct write_fixture *w, const char *rows)
{
    static char all[4096];
    petal_cursor *cursor;
    size_t length = 0;

    all[0] = '\0';
    MUST(petal_cursor_open(w->table, NULL, &cursor, WHY));
    while (MUST(petal_cursor_next_row(cursor, w->read, WHY)), petal_result_count(w->read) > 0) {
        petal_slice row = petal_result_cell(w->read, 0)->row;

        length += (size_t)snprintf(all + length, sizeof all - length, "%s%.*s",
                                   length > 0 ? " " : "", (int)row.size, (const char *)row.data);
    }
    petal_cursor_close(cursor);
    assert_string_equal(all, rows);
}

static void
put_rows(struct write_fixture *w, const char *names)
{
    for (; *names != '\0'; names++) {
        petal_slice row = {names, 1};

        MUST(petal_put(w->f, row, text("q"), PETAL_LATEST, text("v"), NULL, WHY));
    }
}

/* Delete; *rows as the call counts them. */
static uint64_t
delete_rows(struct write_fixture *w, const char *from, const char *to,
            const petal_delete_rows_options *options)
{
    petal_deleted_rows deleted;

    MUST(petal_delete_rows(w->table, text(from), text(to), options, &deleted, WHY));
    assert_int_equal(deleted.next.size, 0);
    return deleted.rows;
}

/* ---- one row ---- */

TEST(test_a_row_is_deleted_in_a_batch)
{
    petal_slice long_row = {"r", PETAL_MAX_ROW_BYTES + 1};
    struct write_fixture w;
    petal_error error;

    write_fixture_init(&w);
    put_rows(&w, "ab");
    MUST(petal_batch_delete_row(w.batch, w.table, text("a"), PETAL_LATEST, WHY));
    assert_int_equal(petal_batch_count(w.batch), 2);
    assert_int_equal(petal_batch_delete_row(w.batch, w.table, long_row, PETAL_LATEST, &error),
                     PETAL_INVALID);
    assert_int_equal(petal_batch_delete_row(w.batch, w.table, text("b"), -1, &error),
                     PETAL_INVALID);
    assert_int_equal(petal_batch_count(w.batch), 2);
    write_fixture_batch_put(&w, w.g, "c", "q", PETAL_LATEST, "v");
    write_fixture_write_batch(&w);
    expect_rows(&w, "b c");
    write_fixture_fini(&w);
}

/* A marker whose time to live is over hides nothing. */
TEST(test_deletion_of_a_row_with_options)
{
    petal_write_options mortal = {.has_ttl = true, .ttl_ms = 500};
    struct write_fixture w;
    petal_error error;

    write_fixture_init(&w);
    put_rows(&w, "a");
    MUST(petal_delete_row(w.table, text("a"), PETAL_LATEST, &mortal, WHY));
    expect_rows(&w, "");
    w.base.clock.now_ms += 501;
    expect_rows(&w, "a");
    mortal.has_ttl = false;
    assert_int_equal(petal_delete_row(w.table, text("a"), PETAL_LATEST, &mortal, &error),
                     PETAL_INVALID);
    mortal = (petal_write_options){.durability = (enum petal_durability)9};
    assert_int_equal(petal_delete_row(w.table, text("a"), PETAL_LATEST, &mortal, &error),
                     PETAL_INVALID);
    assert_int_equal(petal_delete_row(w.table, text(""), PETAL_LATEST, NULL, &error),
                     PETAL_INVALID);
    expect_rows(&w, "a");
    MUST(petal_table_drop(w.table, WHY));
    assert_int_equal(petal_delete_row(w.table, text("a"), PETAL_LATEST, NULL, &error),
                     PETAL_NOT_FOUND);
    write_fixture_fini(&w);
}

/* ---- which rows ---- */

#define TABLE "table t f,versions=3 g,versions=3\n"
#define VERSIONS                                                                                   \
    "put t r/f:a@10=v r/f:a@20=v r/f:a@30=v s/f:a@10=v s/f:a@20=v s/f:a@30=v r/g:a@10=v "          \
    "r/g:a@20=v r/g:a@30=v\n"

static const struct script_case cases[] = {
    {"a row is deleted in all families, up to a timestamp", TABLE VERSIONS
     "put t r/g:b@5000=later; delete-row t r@20\n"
     "show t row=r all : r/f:a@30=v r/g:a@30=v r/g:b@5000=later; delete-row t r\n"
     "show t row=r all : r/g:b@5000=later; show t row=s all : s/f:a@30=v s/f:a@20=v s/f:a@10=v\n"
     "delete-row t nobody; show t : r/g:b=later s/f:a=v"},
    {"ranges; rows that are gone are no rows", TABLE
     "put t a/f=v b/f=v c/f=v d/f=v e/f=v f/f=v g/f=v h/f=v i/f=v; delete-rows t from=c to=e : 2\n"
     "show t : a/f=v b/f=v e/f=v f/f=v g/f=v h/f=v i/f=v; delete-rows t from=c to=e : 0\n"
     "delete-rows t from=a\\01 to=f : 2; show t : a/f=v f/f=v g/f=v h/f=v i/f=v\n"
     "delete-rows t from=h : 2; delete-rows t to=f : 1; delete-rows t from=g to=f : 0\n"
     "show t : f/f=v g/f=v; delete-rows t : 2; show t :"},
    {"prefixes, within a range, too",
     TABLE "put t u1/f=v u1-a/g=v u1-b/g=v u2/g=v; delete-rows t prefix=u1- to=u1-b : 1\n"
           "show t : u1/f=v u1-b/g=v u2/g=v; delete-rows t prefix=u1 from=u1- : 1\n"
           "show t : u1/f=v u2/g=v; delete-rows t prefix=u : 2; show t :"},
    {"columns alone, in the rows that have any of them",
     TABLE "put t r/f:a@7=v r/f:b@8=v s/g:x@7=v s/g:y@8=v t/f:b@8=v\n"
           "delete-rows t column=f:a column=g : 2; show t : r/f:b@8=v t/f:b@8=v"},
    {"the timestamp is that of the markers; which rows are there it does not say",
     TABLE VERSIONS "delete-rows t range=20..0 : 2; show t all : r/f:a@30=v r/g:a@30=v s/f:a@30=v\n"
                    "delete-rows t range=30..0 : 2; show t :; put t r/f:a@900=v\n"
                    "delete-rows t range=9223372036854775807..0 : 1; show t :"},
};

TEST_EACH(deletions_do_this, cases)
{
    script_run(*state);
}

/* Rows are those of the beginning, or of the snapshot; a snapshot goes on to see them. */
struct meanwhile {
    struct write_fixture *w;
    unsigned calls;
};

static bool
put_meanwhile(void *argument, const petal_deleted_rows *done)
{
    struct meanwhile *meanwhile = argument;

    if (meanwhile->calls++ == 0) {
        assert_int_equal(done->rows, 2);
        write_fixture_put(meanwhile->w->f, "a", "q", PETAL_LATEST, "again"); /* after */
        write_fixture_put(meanwhile->w->f, "d", "q", PETAL_LATEST, "more");  /* ahead, there */
        write_fixture_put(meanwhile->w->f, "e", "q", PETAL_LATEST, "new");   /* ahead, new */
    }
    return true;
}

TEST(test_rows_are_those_of_the_beginning)
{
    struct write_fixture w;
    struct meanwhile meanwhile = {.w = &w};
    petal_delete_rows_options options = {
        .batch_rows = 2, .argument = &meanwhile, .watch = put_meanwhile};
    petal_snapshot *snapshot;

    write_fixture_init(&w);
    put_rows(&w, "abcdf");
    MUST(petal_snapshot_new(w.base.db, &snapshot, WHY));
    assert_int_equal(delete_rows(&w, "", "", &options), 5);
    assert_int_equal(meanwhile.calls, 3);
    expect_rows(&w, "a e");
    options = (petal_delete_rows_options){.snapshot = snapshot};
    assert_int_equal(delete_rows(&w, "", "", &options), 5);
    expect_rows(&w, "e");
    petal_snapshot_free(snapshot);
    write_fixture_fini(&w);
}

/* ---- going on ---- */

static bool
stop_at_once(void *argument, const petal_deleted_rows *done)
{
    (void)argument;
    (void)done;
    return false;
}

TEST(test_a_call_that_was_stopped_goes_on)
{
    petal_delete_rows_options options = {.batch_rows = 2, .watch = stop_at_once};
    struct write_fixture w;
    petal_deleted_rows deleted;
    petal_error error;

    write_fixture_init(&w);
    put_rows(&w, "abcde");
    assert_int_equal(petal_delete_rows(w.table, text("a"), open_end, &options, &deleted, &error),
                     PETAL_BUSY);
    assert_string_equal(error.text, "the deletion was given up after 2 rows");
    assert_int_equal(deleted.rows, 2);
    assert_int_equal(slice_compare(deleted.next, (petal_slice){"b\0", 2}), 0);
    expect_rows(&w, "c d e");
    put_rows(&w, "ab"); /* they are done, and stay */
    MUST(petal_delete_rows(w.table, deleted.next, text("d"), &options, &deleted, WHY));
    assert_int_equal(deleted.rows, 1);
    assert_int_equal(deleted.next.size, 0);
    expect_rows(&w, "a b d e");
    options.batch_rows = 3;
    assert_int_equal(petal_delete_rows(w.table, open_end, open_end, &options, NULL, &error),
                     PETAL_BUSY);
    expect_rows(&w, "e");
    write_fixture_fini(&w);
}

static bool
count_and_stop(void *argument, const petal_deleted_rows *done)
{
    assert_int_equal(done->rows, 1);
    ++*(unsigned *)argument;
    return false;
}

/* The last batch is told, too; stopped then, the call has done all: whatever cells the row has. */
TEST(test_nothing_is_left_behind_the_last_batch)
{
    unsigned calls = 0;
    petal_delete_rows_options options = {
        .batch_rows = 1, .argument = &calls, .watch = count_and_stop};
    char qualifier[16];
    struct write_fixture w;

    write_fixture_init(&w);
    for (unsigned cells = 1; cells <= 1000; cells *= 10) {
        for (unsigned i = 0; i < cells; i++) {
            snprintf(qualifier, sizeof qualifier, "%04u", i);
            write_fixture_put(w.f, "r", qualifier, PETAL_LATEST, "v");
        }
        write_fixture_put(w.g, "r", "q", PETAL_LATEST, "v");
        assert_int_equal(delete_rows(&w, "", "", &options), 1);
    }
    assert_int_equal(calls, 4);
    write_fixture_fini(&w);
}

/* Each call comes forward, however short its time. */
TEST(test_a_call_whose_time_is_over_goes_on)
{
    petal_delete_rows_options options = {.batch_rows = 1, .deadline_ms = 1};
    struct write_fixture w;
    petal_deleted_rows deleted = {.rows = 0};
    petal_error error;
    char row[8];
    uint64_t rows = 0;
    unsigned calls = 0;
    enum petal_status status;

    write_fixture_init(&w);
    for (unsigned i = 0; i < 2000; i++) {
        snprintf(row, sizeof row, "%04u", i);
        write_fixture_put(w.f, row, "q", PETAL_LATEST, "v");
    }
    do {
        status = petal_delete_rows(w.table, deleted.next, open_end, &options, &deleted, &error);
        calls++;
        rows += deleted.rows;
        assert_true(deleted.rows > 0);
        assert_true(status == PETAL_OK || status == PETAL_TIMEOUT);
    } while (status != PETAL_OK);
    assert_true(calls > 1);
    assert_int_equal(rows, 2000);
    expect_rows(&w, "");
    write_fixture_fini(&w);
}

/* Rows that are deleted already: more than a call walks over without being asked to stop, in one of
 * them more cells than that. */
#define GONE_ROWS  20000
#define GONE_CELLS 10000

static void
put_deleted_rows(struct write_fixture *w)
{
    char name[16];

    for (unsigned i = 0; i < GONE_ROWS; i++) {
        snprintf(name, sizeof name, "d%06u", i);
        write_fixture_put(w->f, name, "q", PETAL_LATEST, "v");
    }
    assert_int_equal(delete_rows(w, "", "", NULL), GONE_ROWS);
    for (unsigned i = 0; i < GONE_CELLS; i++) {
        snprintf(name, sizeof name, "%06u", i);
        write_fixture_put(w->f, "e", name, 7, "v");
        MUST(petal_delete(w->f, text("e"), text(name), 7, PETAL_DELETE_COLUMN, NULL, WHY));
    }
}

/* Delete all but what is stopped, again and again from where it ended; how often that was. */
static unsigned
calls_until_done(struct write_fixture *w, const petal_delete_rows_options *options,
                 enum petal_status stopped, uint64_t *rows)
{
    petal_deleted_rows deleted = {.rows = 0};
    petal_error error;
    unsigned calls = 0;
    enum petal_status status;

    *rows = 0;
    do {
        status = petal_delete_rows(w->table, deleted.next, open_end, options, &deleted, &error);
        assert_true(status == PETAL_OK || status == stopped);
        *rows += deleted.rows;
        calls++;
    } while (status != PETAL_OK);
    return calls;
}

TEST(test_a_walk_over_deleted_rows_can_be_stopped)
{
    const petal_delete_rows_options stopped = {.watch = stop_at_once};
    const petal_delete_rows_options late = {.deadline_ms = 1};
    struct write_fixture w;
    uint64_t rows;

    write_fixture_init(&w);
    put_deleted_rows(&w);
    write_fixture_put(w.f, "f", "q", PETAL_LATEST, "v");
    assert_in_range(calls_until_done(&w, &stopped, PETAL_BUSY, &rows), 4, 40);
    assert_int_equal(rows, 1);
    assert_in_range(calls_until_done(&w, &late, PETAL_TIMEOUT, &rows), 2, 40);
    assert_int_equal(rows, 0);
    write_fixture_put(w.f, "a", "q", PETAL_LATEST, "v");
    write_fixture_put(w.f, "d010000x", "q", PETAL_LATEST, "v");
    write_fixture_put(w.g, "e", "q", PETAL_LATEST, "v");
    assert_in_range(calls_until_done(&w, &stopped, PETAL_BUSY, &rows), 4, 40);
    assert_int_equal(rows, 3);
    expect_rows(&w, "");
    write_fixture_fini(&w);
}

/* What can follow a row of the greatest length is no longer than that. */
TEST(test_behind_the_longest_rows)
{
    static uint8_t bytes[PETAL_MAX_ROW_BYTES];
    petal_delete_rows_options options = {.batch_rows = 1, .watch = stop_at_once};
    petal_slice row = {bytes, sizeof bytes};
    struct write_fixture w;
    petal_deleted_rows deleted;
    petal_error error;

    write_fixture_init(&w);
    memset(bytes, 0xff, sizeof bytes);
    MUST(petal_put(w.f, row, text("q"), PETAL_LATEST, text("v"), NULL, WHY));
    bytes[0] = 'a';
    MUST(petal_put(w.f, row, text("q"), PETAL_LATEST, text("v"), NULL, WHY));
    put_rows(&w, "b");
    assert_int_equal(petal_delete_rows(w.table, open_end, open_end, &options, &deleted, &error),
                     PETAL_BUSY);
    assert_int_equal(slice_compare(deleted.next, text("b")), 0);
    assert_int_equal(petal_delete_rows(w.table, deleted.next, open_end, &options, &deleted, &error),
                     PETAL_BUSY);
    /* No row can be after the next. */
    MUST(petal_delete_rows(w.table, deleted.next, open_end, &options, &deleted, WHY));
    assert_int_equal(deleted.rows, 1);
    expect_rows(&w, "");
    write_fixture_fini(&w);
}

/* ---- what fails, and what is left ---- */

#define CUT_ROWS 9

/* Each row is whole or gone, and of the batches of two the first ones are. Consumes the files. */
static void
expect_whole_rows(struct memory_vfs *files, uint64_t told)
{
    struct write_fixture w;
    unsigned gone = 0;
    char row[2] = "a";

    fixture_init_on(&w.base, files, 5);
    fixture_must_open(&w.base);
    write_fixture_attach(&w);
    for (; row[0] < 'a' + CUT_ROWS; row[0]++) {
        MUST(petal_get(w.table, text(row), NULL, w.read, WHY));
        assert_true(petal_result_count(w.read) == 0 || petal_result_count(w.read) == 2);
        if (petal_result_count(w.read) == 0)
            assert_int_equal(gone++, row[0] - 'a');
    }
    assert_true(gone % 2 == 0 || gone == CUT_ROWS);
    assert_true(gone >= told);
    write_fixture_fini(&w);
}

/* One that finds nothing syncs what another has deleted before. */
TEST(test_rows_that_are_gone_stay_so_after_a_crash)
{
    petal_delete_rows_options options = {.durability = PETAL_FSYNC_WAL};
    struct write_fixture w;
    struct memory_vfs *files;
    char row[2] = "a";

    write_fixture_init(&w);
    for (; row[0] < 'a' + CUT_ROWS; row[0]++) {
        write_fixture_put(w.f, row, "q", 1, "v");
        write_fixture_put(w.g, row, "q", 1, "v");
    }
    MUST(petal_flush(w.base.db, NULL, WHY));
    assert_int_equal(delete_rows(&w, "", "", NULL), CUT_ROWS);
    assert_int_equal(delete_rows(&w, "", "", &options), 0);
    files = memory_vfs_clone(w.base.vfs);
    memory_vfs_power_cut(files, MEMORY_CUT_LOSE_ALL, 1);
    expect_whole_rows(files, CUT_ROWS);
    write_fixture_fini(&w);
}

/* ---- what it costs ---- */

/* Cells and places that the deletion of all rows looks at, with `cells` of each. */
static uint64_t
work_of_rows(unsigned rows, unsigned cells)
{
    petal_delete_rows_options options = {.batch_rows = 50};
    struct write_fixture w;
    petal_stats before, after;
    char row[16], qualifier[16];

    write_fixture_init(&w);
    for (unsigned i = 0; i < rows; i++) {
        snprintf(row, sizeof row, "%06u", i);
        for (unsigned k = 0; k < cells; k++) {
            snprintf(qualifier, sizeof qualifier, "%06u", k);
            write_fixture_put(w.f, row, qualifier, PETAL_LATEST, "v");
        }
    }
    MUST(petal_flush(w.base.db, NULL, WHY));
    petal_stats_get(w.base.db, &before);
    assert_int_equal(delete_rows(&w, "", "", &options), rows);
    petal_stats_get(w.base.db, &after);
    expect_rows(&w, "");
    write_fixture_fini(&w);
    assert_int_equal(after.cells_written - before.cells_written, 2 * (uint64_t)rows);
    return after.scan_cells - before.scan_cells + after.scan_seeks - before.scan_seeks +
           after.data_cached - before.data_cached + after.data_fetched - before.data_fetched;
}

/* Ten times the rows are ten times the work; a wide row is not read to its end. */
TEST(test_work_is_in_proportion_to_rows)
{
    uint64_t few = work_of_rows(400, 1), many = work_of_rows(4000, 1),
             wide = work_of_rows(40, 2000);

    print_message("400 rows: %" PRIu64 ", 4000 rows: %" PRIu64 ", 40 wide rows: %" PRIu64 "\n", few,
                  many, wide);
    assert_true(many <= 11 * few);
    assert_true(wide <= 40 * 200);
}

/* ---- what is refused ---- */

static void
expect_refused(struct write_fixture *w, petal_slice from, petal_slice to,
               const petal_delete_rows_options *options, const char *why)
{
    petal_deleted_rows deleted = {.rows = 77};
    petal_error error;

    assert_int_equal(petal_delete_rows(w->table, from, to, options, &deleted, &error),
                     PETAL_INVALID);
    assert_string_equal(error.text, why);
    assert_int_equal(deleted.rows, 0);
}

TEST(test_refused_deletions)
{
    petal_slice long_row = {"r", PETAL_MAX_ROW_BYTES + 1};
    struct write_fixture w;
    petal_error error;

    write_fixture_init(&w);
    put_rows(&w, "a");
    expect_refused(&w, long_row, open_end, NULL, "`from` has 32768 bytes; a row has at most 32767");
    expect_refused(&w, open_end, long_row, NULL, "`to` has 32768 bytes; a row has at most 32767");
    expect_refused(&w, open_end, open_end, &(petal_delete_rows_options){.prefix = long_row},
                   "`prefix` has 32768 bytes; a row has at most 32767");
    expect_refused(&w, open_end, open_end, &(petal_delete_rows_options){.timestamp = 1},
                   "timestamp is set, but has_timestamp is not");
    expect_refused(&w, open_end, open_end,
                   &(petal_delete_rows_options){.has_timestamp = true, .timestamp = -1},
                   "timestamp -1 is negative");
    expect_refused(&w, open_end, open_end,
                   &(petal_delete_rows_options){.durability = (enum petal_durability)9},
                   "durability is 9; it must be 0 to 4");
    expect_rows(&w, "a");
    MUST(petal_table_drop(w.table, WHY));
    assert_int_equal(petal_delete_rows(w.table, open_end, open_end, NULL, NULL, &error),
                     PETAL_NOT_FOUND);
    write_fixture_fini(&w);
}
