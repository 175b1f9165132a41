/*
 * mutate_test.c -- appends, increments, deletions of the newest version, and the mutations of a
 * batch: what they write and give back, their timestamps, and that they happen whole or not at all.
 */

#include "tests/engine/write/fixture.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdlib.h>

#define NOW 1000 /* the clock of a fixture */

static void
reopen(struct write_fixture *w)
{
    write_fixture_detach(w);
    fixture_die(&w->base);
    fixture_must_open(&w->base);
    write_fixture_attach(w);
}

/* ---- single calls ---- */

TEST(test_increment)
{
    struct write_fixture w;
    petal_error error;
    int64_t sum = 5;

    write_fixture_init(&w);
    assert_int_equal(write_fixture_increment(&w, "r", "n", 5), 5);
    write_fixture_expect_given(&w, "r/f:n=#5@1000");
    test_clock_advance(&w.base.clock, 1);
    assert_int_equal(write_fixture_increment(&w, "r", "n", -7), -2);
    write_fixture_expect_given(&w, "r/f:n=#-2@1001");
    write_fixture_expect_row(&w, "r", "r/f:n=#-2@1001 r/f:n=#5@1000");
    assert_int_equal(write_fixture_increment(&w, "r", "max", INT64_MAX), INT64_MAX);
    assert_int_equal(write_fixture_increment(&w, "r", "max", 2), INT64_MIN + 1);
    assert_int_equal(write_fixture_increment(&w, "r", "min", INT64_MIN), INT64_MIN);
    assert_int_equal(write_fixture_increment(&w, "r", "min", -1), INT64_MAX);

    write_fixture_put(w.f, "s", "n", 5, "1234567");
    write_fixture_put(w.f, "s", "empty", 5, "");
    assert_int_equal(petal_increment(w.f, text("s"), text("n"), 1, &w.options, &sum, &error),
                     PETAL_INVALID);
    assert_int_equal(sum, 0);
    write_fixture_expect_given(&w, "");
    assert_int_equal(petal_increment(w.f, text("s"), text("empty"), 1, NULL, NULL, &error),
                     PETAL_INVALID);
    write_fixture_expect_row(&w, "s", "s/f:empty=@5 s/f:n=1234567@5");
    write_fixture_fini(&w);
}

TEST(test_append)
{
    petal_slice large = {test_allocate(PETAL_MAX_VALUE_BYTES), PETAL_MAX_VALUE_BYTES};
    struct write_fixture w;
    petal_error error;

    memset((void *)(uintptr_t)large.data, 'x', large.size);
    write_fixture_init(&w);
    write_fixture_append(&w, "r", "a", "");
    write_fixture_expect_given(&w, "r/f:a=@1000");
    test_clock_advance(&w.base.clock, 1);
    write_fixture_append(&w, "r", "a", "xy");
    test_clock_advance(&w.base.clock, 1);
    write_fixture_append(&w, "r", "a", "z");
    write_fixture_expect_given(&w, "r/f:a=xyz@1002");
    test_clock_advance(&w.base.clock, 1);
    write_fixture_append(&w, "r", "a", "");
    write_fixture_expect_row(&w, "r", "r/f:a=xyz@1003 r/f:a=xyz@1002 r/f:a=xy@1001");
    assert_int_equal(petal_append(w.f, text("r"), text("a"), large, &w.options, &error),
                     PETAL_INVALID);
    write_fixture_expect_given(&w, "");
    must(petal_append(w.f, text("r"), text("b"), large, NULL, &error), &error);
    assert_int_equal(petal_append(w.f, text("r"), text(""), text("x"), NULL, &error), PETAL_OK);
    assert_int_equal(petal_append(w.f, text(""), text("b"), text("x"), NULL, &error),
                     PETAL_INVALID);
    write_fixture_fini(&w);
    free((void *)(uintptr_t)large.data);
}

/* ---- timestamps ---- */

TEST(test_timestamps)
{
    struct write_fixture w;

    write_fixture_init(&w);
    write_fixture_put(w.f, "r", "a", 5000, "x");
    write_fixture_append(&w, "r", "a", "y");
    write_fixture_expect_given(&w, "r/f:a=xy@5001");
    write_fixture_put(w.f, "r", "now", PETAL_LATEST,
                      "later"); /* the store's own clock was not moved */
    write_fixture_put(w.f, "r", "same", NOW, "s");
    write_fixture_append(&w, "r", "same", "t");
    write_fixture_expect_row(
        &w, "r", "r/f:a=xy@5001 r/f:a=x@5000 r/f:now=later@1000 r/f:same=st@1001 r/f:same=s@1000");
    write_fixture_put(w.f, "end", "a", PETAL_LATEST - 1, "x");
    write_fixture_append(&w, "end", "a", "y");
    write_fixture_expect_row(&w, "end", "end/f:a=xy@9223372036854775806");

    reopen(&w); /* nor is it when the log is read again */
    write_fixture_put(w.f, "s", "now", PETAL_LATEST, "v");
    write_fixture_expect_row(&w, "s", "s/f:now=v@1000");
    write_fixture_expect_row(&w, "end", "end/f:a=xy@9223372036854775806");
    write_fixture_fini(&w);
}

/* The clock goes back: all of a batch gets the greatest assigned timestamp, and the result says
 * so. */
TEST(test_assigned_timestamps_do_not_go_back)
{
    struct write_fixture w;

    write_fixture_init(&w);
    write_fixture_put(w.f, "r", "a", PETAL_LATEST, "x");
    test_clock_set(&w.base.clock, 10);
    write_fixture_batch_put(&w, w.f, "r", "p", PETAL_LATEST, "x");
    write_fixture_batch_increment(&w, w.f, "r", "n", 1);
    write_fixture_batch_append(&w, w.f, "r", "a", "y");
    write_fixture_batch_delete_newest(&w, w.f, "r", "none");
    write_fixture_write_batch(&w);
    write_fixture_expect_given(&w, "r/f:a=xy@1001 r/f:n=#1@1000");
    write_fixture_expect_row(&w, "r", "r/f:a=xy@1001 r/f:a=x@1000 r/f:n=#1@1000 r/f:p=x@1000");
    write_fixture_fini(&w);
}

/* ---- batches ---- */

TEST(test_reads_come_before_writes)
{
    struct write_fixture w;

    write_fixture_init(&w);
    write_fixture_batch_increment(&w, w.f, "r", "n", 5);
    write_fixture_begin(&w, NULL);
    write_fixture_batch_increment(&w, w.f, "r", "n", 1);
    write_fixture_write_batch(&w);
    write_fixture_expect_given(&w, "r/f:n=#5@1000 r/f:n=#1@1000");
    write_fixture_batch_put(&w, w.f, "r", "a", PETAL_LATEST, "lost");
    write_fixture_batch_append(&w, w.f, "r", "a", "kept");
    write_fixture_write_batch(&w);
    write_fixture_expect_given(&w, "r/f:a=kept@1000");
    write_fixture_put(w.f, "r", "d", 7, "old");
    write_fixture_batch_put(&w, w.f, "r", "d", 9, "new");
    write_fixture_batch_delete_newest(&w, w.f, "r", "d");
    write_fixture_write_batch(&w);
    write_fixture_expect_row(&w, "r", "r/f:a=kept@1000 r/f:d=new@9 r/f:n=#1@1000");
    write_fixture_fini(&w);
}

TEST(test_deletions_of_the_newest)
{
    struct write_fixture w;

    write_fixture_init(&w);
    write_fixture_put_versions(&w);
    MUST(petal_delete(w.f, text("r"), text("a"), PETAL_LATEST, PETAL_DELETE, &w.options, WHY));
    write_fixture_expect_given(&w, "");
    write_fixture_expect_row(&w, "r", "r/f:a=v@20 r/f:a=v@10 r/g:a=v@30 r/g:a=v@20 r/g:a=v@10");
    /* Other rows, families and mutations count on their own. */
    write_fixture_begin(&w, NULL);
    write_fixture_batch_delete_newest(&w, w.g, "r", "a");
    write_fixture_batch_delete_newest(&w, w.f, "s", "a");
    write_fixture_batch_delete_newest(&w, w.g, "r", "a");
    write_fixture_begin(&w, NULL);
    write_fixture_batch_delete_newest(&w, w.f, "s", "a");
    write_fixture_write_batch(&w);
    write_fixture_expect_row(&w, "r", "r/f:a=v@20 r/f:a=v@10 r/g:a=v@10");
    write_fixture_expect_row(&w, "s", "s/f:a=v@20 s/f:a=v@10");
    /* One more than there are: it is stamped now, and hides nothing. */
    write_fixture_put(w.f, "s", "a", NOW + 1, "w");
    for (int i = 0; i < 4; i++)
        write_fixture_batch_delete_newest(&w, w.f, "s", "a");
    write_fixture_write_batch(&w);
    write_fixture_expect_row(&w, "s", "");
    write_fixture_put(w.f, "s", "a", NOW, "w"); /* later than the marker, so it wins */
    write_fixture_expect_row(&w, "s", "s/f:a=w@1000");
    write_fixture_fini(&w);
}

TEST(test_order_of_results)
{
    petal_mutation_options silent = {.no_results = true};
    struct write_fixture w;

    write_fixture_init(&w);
    write_fixture_begin(&w, NULL);
    write_fixture_batch_append(&w, w.g, "r", "b", "1");
    write_fixture_batch_increment(&w, w.f, "r", "z", 2);
    write_fixture_batch_append(&w, w.g, "r", "a", "3");
    write_fixture_batch_append(&w, w.g, "r", "b", "4");
    write_fixture_batch_put(&w, w.g, "r", "c", PETAL_LATEST, "no");
    write_fixture_begin(&w, &silent);
    write_fixture_batch_append(&w, w.f, "r", "silent", "5");
    write_fixture_begin(&w, NULL);
    write_fixture_batch_append(&w, w.f, "q", "y", "6");
    write_fixture_batch_delete_newest(&w, w.f, "q", "y");
    write_fixture_write_batch(&w);
    write_fixture_expect_given(&w,
                               "r/f:z=#2@1000 r/g:a=3@1000 r/g:b=1@1000 r/g:b=4@1000 q/f:y=6@1000");
    write_fixture_expect_row(
        &w, "r", "r/f:silent=5@1000 r/f:z=#2@1000 r/g:a=3@1000 r/g:b=4@1000 r/g:c=no@1000");
    write_fixture_batch_put(&w, w.f, "q", "y", PETAL_LATEST, "z");
    write_fixture_write_batch(&w);
    write_fixture_expect_given(&w, "");
    write_fixture_fini(&w);
}

TEST(test_options_of_mutations)
{
    petal_mutation_options range = {.has_time_range = true, .time_min = 10, .time_limit = 20};
    petal_mutation_options brief = {.has_ttl = true, .ttl_ms = 50};
    struct write_fixture w;

    write_fixture_init(&w);
    write_fixture_put_versions(&w);
    write_fixture_begin(&w, &range);
    write_fixture_batch_append(&w, w.f, "r", "a", "+");
    write_fixture_batch_delete_newest(&w, w.f, "r", "a"); /* not by the range */
    write_fixture_write_batch(&w);
    write_fixture_expect_given(&w, "r/f:a=v+@1000");
    write_fixture_expect_row(
        &w, "r", "r/f:a=v+@1000 r/f:a=v@20 r/f:a=v@10 r/g:a=v@30 r/g:a=v@20 r/g:a=v@10");
    write_fixture_begin(&w, &brief);
    write_fixture_batch_increment(&w, w.f, "n", "n", 1);
    write_fixture_write_batch(&w);
    write_fixture_expect_given(&w, "n/f:n=#1@1000+50");
    write_fixture_fini(&w);
}

TEST(test_time_to_live_is_taken_over)
{
    petal_mutation_options other = {.has_ttl = true, .ttl_ms = 70};
    petal_write_options brief = {.has_ttl = true, .ttl_ms = 50};
    struct write_fixture w;

    write_fixture_init(&w);
    MUST(petal_put(w.f, text("r"), text("a"), PETAL_LATEST, text("x"), &brief, WHY));
    write_fixture_expect_row(&w, "r", "r/f:a=x@1000+50");
    test_clock_advance(&w.base.clock, 40);
    write_fixture_append(&w, "r", "a", "y");
    write_fixture_expect_given(&w, "r/f:a=xy@1040+50");
    write_fixture_begin(&w, &other);
    write_fixture_batch_append(&w, w.f, "r", "a", "z");
    write_fixture_write_batch(&w);
    write_fixture_expect_given(&w, "r/f:a=xyz@1041+70");
    write_fixture_fini(&w);
}

/* ---- doubles: of equal cells of a batch with a time to live only the last is written ---- */

/* All that is stored of the table, markers without their kind. */
static void
expect_stored(struct write_fixture *w, const char *cells)
{
    petal_scan_options options = {.raw = true, .read = {.versions = PETAL_ALL_VERSIONS}};
    petal_cursor *cursor;

    MUST(petal_cursor_open(w->table, &options, &cursor, WHY));
    MUST(petal_cursor_next_row(cursor, w->read, WHY));
    assert_string_equal(write_fixture_describe(w->read), cells);
    petal_cursor_close(cursor);
}

static void
batch_delete(struct write_fixture *w, int64_t timestamp, enum petal_cell_type type)
{
    MUST(petal_batch_delete(w->batch, w->f, text("r"), text(type == PETAL_DELETE_FAMILY ? "" : "a"),
                            timestamp, type, WHY));
}

TEST(test_a_dead_cell_uncovers_no_double)
{
    petal_mutation_options brief = {.has_ttl = true, .ttl_ms = 1};
    struct write_fixture w;

    write_fixture_init(&w);
    write_fixture_put(w.f, "r", "a", NOW,
                      "before"); /* another write: HBase's has another sequence, too */
    write_fixture_batch_put(&w, w.f, "r", "a", PETAL_LATEST, "lost");
    write_fixture_batch_put(&w, w.f, "r", "b", NOW, "kept");
    write_fixture_batch_put(&w, w.f, "r", "a", NOW, "lost"); /* of the store's own now */
    write_fixture_batch_put(&w, w.f, "r", "a", NOW - 1, "kept");
    write_fixture_batch_put(&w, w.g, "r", "a", NOW, "kept");
    write_fixture_begin(&w, &brief);
    write_fixture_batch_put(&w, w.f, "r", "a", PETAL_LATEST, "brief");
    write_fixture_write_batch(&w);
    write_fixture_expect_row(&w, "r",
                             "r/f:a=brief@1000+1 r/f:a=kept@999 r/f:b=kept@1000 r/g:a=kept@1000");
    test_clock_advance(&w.base.clock, 2);
    write_fixture_expect_row(&w, "r",
                             "r/f:a=before@1000 r/f:a=kept@999 r/f:b=kept@1000 r/g:a=kept@1000");
    reopen(&w);
    write_fixture_expect_row(&w, "r",
                             "r/f:a=before@1000 r/f:a=kept@999 r/f:b=kept@1000 r/g:a=kept@1000");
    write_fixture_fini(&w);
}

TEST(test_increments_that_are_doubles)
{
    petal_mutation_options brief = {.has_ttl = true, .ttl_ms = 1};
    petal_mutation_options past = {
        .has_ttl = true, .ttl_ms = 1, .has_time_range = true, .time_limit = 1};
    struct write_fixture w;

    write_fixture_init(&w);
    write_fixture_batch_increment(&w, w.f, "r", "n", 1);
    write_fixture_begin(&w, &brief);
    write_fixture_batch_increment(&w, w.f, "r", "n", 2);
    write_fixture_write_batch(&w);
    write_fixture_expect_given(&w, "r/f:n=#1@1000 r/f:n=#2@1000+1");
    expect_stored(&w, "r/f:n=#2@1000+1");
    test_clock_advance(&w.base.clock, 2);
    write_fixture_expect_row(&w, "r", "");

    /* The same timestamp for different reasons: after the old version, and now. */
    write_fixture_put(w.f, "r", "n", NOW + 1, "12345678");
    write_fixture_batch_increment(&w, w.f, "r", "n", 0);
    write_fixture_begin(&w, &past);
    write_fixture_batch_increment(&w, w.f, "r", "n", 3);
    write_fixture_write_batch(&w);
    write_fixture_expect_row(&w, "r", "r/f:n=#3@1002+1 r/f:n=12345678@1001");
    test_clock_advance(&w.base.clock, 2);
    write_fixture_expect_row(&w, "r", "r/f:n=12345678@1001");
    write_fixture_fini(&w);
}

TEST(test_markers_that_are_doubles)
{
    petal_mutation_options brief = {.has_ttl = true, .ttl_ms = 1};
    struct write_fixture w;

    write_fixture_init(&w);
    write_fixture_put(w.f, "r", "a", NOW, "v");
    batch_delete(&w, NOW, PETAL_DELETE);
    batch_delete(&w, NOW, PETAL_DELETE_COLUMN);
    batch_delete(&w, NOW, PETAL_DELETE_FAMILY);
    write_fixture_begin(&w, &brief);
    batch_delete(&w, NOW, PETAL_DELETE);
    batch_delete(&w, NOW, PETAL_DELETE_COLUMN);
    batch_delete(&w, PETAL_LATEST, PETAL_DELETE_FAMILY);
    write_fixture_write_batch(&w);
    write_fixture_expect_row(&w, "r", "");
    test_clock_advance(&w.base.clock, 2);
    write_fixture_expect_row(&w, "r", "r/f:a=v@1000");
    write_fixture_fini(&w);
}

TEST(test_refused_batches)
{
    petal_mutation_options range = {.has_time_range = true, .time_min = 5, .time_limit = 4};
    petal_write_options brief = {.has_ttl = true};
    petal_error error;
    struct write_fixture w;

    write_fixture_init(&w);
    must(petal_write(w.base.db, w.batch, &w.options, &error), &error); /* nothing at all */
    assert_int_equal(petal_batch_mutation(w.batch, &range, &error), PETAL_INVALID);
    write_fixture_begin(&w, NULL);
    assert_int_equal(petal_write(w.base.db, w.batch, NULL, &error), PETAL_INVALID);
    write_fixture_batch_put(&w, w.f, "r", "a", 1, "v");
    write_fixture_begin(&w, NULL);
    assert_int_equal(petal_write(w.base.db, w.batch, NULL, &error), PETAL_INVALID);
    write_fixture_begin(&w, NULL);
    write_fixture_batch_put(&w, w.f, "r", "a", 1, "v");
    assert_int_equal(petal_write(w.base.db, w.batch, NULL, &error), PETAL_INVALID);
    petal_batch_clear(w.batch);
    write_fixture_batch_put(&w, w.f, "r", "a", 1, "v");
    assert_int_equal(petal_write(w.base.db, w.batch, &brief, &error), PETAL_INVALID);
    write_fixture_batch_increment(&w, w.f, "r", "b", 1);
    write_fixture_put(w.f, "r", "n", 1, "five");
    write_fixture_batch_increment(&w, w.f, "r", "n", 1);
    assert_int_equal(petal_write(w.base.db, w.batch, NULL, &error), PETAL_INVALID);
    write_fixture_expect_row(&w, "r", "r/f:n=five@1");
    write_fixture_fini(&w);
}

/* So many rows that they are read while leading. The batch stays as it was. */
TEST(test_many_rows)
{
    struct write_fixture w;
    char row[16];

    write_fixture_init(&w);
    for (int i = 0; i < 1000; i++) {
        snprintf(row, sizeof row, "%d", i);
        write_fixture_batch_increment(&w, w.f, row, "n", i);
    }
    for (int time = 0; time < 3; time++) {
        MUST(petal_write(w.base.db, w.batch, &w.options, WHY));
        assert_int_equal(petal_result_count(w.given), 1000);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(row, sizeof row, "%d", i);
        assert_int_equal(write_fixture_increment(&w, row, "n", 0), 3 * i);
    }
    write_fixture_fini(&w);
}
