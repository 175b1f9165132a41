/*
 * above_test.c -- timestamps of the store's that are ahead of its clock: what is written over them
 * with PETAL_LATEST takes their place, whatever became of them meanwhile; a caller's own in the
 * future hides as in HBase, but for keys and values.
 */

#include "tests/engine/write/fixture.h"
#include "tests/support/test.h"

#define NOW 1000

static void
increment_until(struct write_fixture *w, const char *row, int64_t sum)
{
    while (write_fixture_increment(w, row, "n", 1) < sum)
        continue;
}

static void
delete_cells(petal_family *family, const char *row, const char *qualifier,
             enum petal_cell_type type)
{
    MUST(petal_delete(family, text(row), text(qualifier), PETAL_LATEST, type, NULL, WHY));
}

static void
delete_row(struct write_fixture *w, const char *row)
{
    MUST(petal_delete_row(w->table, text(row), PETAL_LATEST, NULL, WHY));
}

static void
flush(struct write_fixture *w)
{
    MUST(petal_flush(w->base.db, NULL, WHY));
}

static void
reopen(struct write_fixture *w, bool crash)
{
    write_fixture_detach(w);
    if (crash)
        fixture_die(&w->base);
    else
        fixture_must_close(&w->base);
    fixture_must_open(&w->base);
    write_fixture_attach(w);
}

/* Ten increments in a millisecond: the last one is nine ahead. */
TEST(test_what_is_ahead_is_replaced)
{
    struct write_fixture w;

    write_fixture_init(&w);
    increment_until(&w, "r", 10);
    write_fixture_put(w.f, "r", "n", PETAL_LATEST, "x");
    write_fixture_expect_row(&w, "r", "r/f:n=x@1010 r/f:n=#10@1009 r/f:n=#9@1008");
    delete_cells(w.f, "r", "n", PETAL_DELETE_COLUMN);
    write_fixture_expect_row(&w, "r", "");
    /* After the marker, which no reader sees. */
    assert_int_equal(write_fixture_increment(&w, "r", "n", 5), 5);
    write_fixture_put(w.f, "r", "n", PETAL_LATEST, "y");
    write_fixture_put(w.f, "r", "m", PETAL_LATEST, "beside");
    write_fixture_put(w.f, "s", "n", PETAL_LATEST, "another row");
    write_fixture_put(w.g, "r", "n", PETAL_LATEST, "another family");
    write_fixture_expect_row(&w, "r",
                             "r/f:m=beside@1000 r/f:n=y@1013 "
                             "r/f:n=#5@1012 r/g:n=another family@1000");
    write_fixture_expect_row(&w, "s", "s/f:n=another row@1000");
    delete_row(&w, "r");
    write_fixture_expect_row(&w, "r", "");
    write_fixture_put(w.f, "r", "m", PETAL_LATEST, "again");
    write_fixture_expect_row(&w, "r", "r/f:m=again@1015");
    write_fixture_fini(&w);
}

/* Where the clock is not after, it is the clock's; also when the row was ahead once. */
TEST(test_the_clock_catches_up)
{
    struct write_fixture w;

    write_fixture_init(&w);
    increment_until(&w, "r", 10);
    test_clock_set(&w.base.clock, NOW + 9);
    write_fixture_put(w.f, "r", "n", PETAL_LATEST, "x");
    test_clock_set(&w.base.clock, NOW + 20);
    write_fixture_put(w.f, "r", "m", PETAL_LATEST, "y");
    write_fixture_expect_row(&w, "r", "r/f:m=y@1020 r/f:n=x@1009 r/f:n=#9@1008 r/f:n=#8@1007");
    write_fixture_fini(&w);
}

/* In memory, in a log that is replayed, in store files, after a compaction, and in copies. */
TEST(test_it_is_remembered)
{
    for (int way = 0; way < 6; way++) {
        struct write_fixture w;

        write_fixture_init(&w);
        increment_until(&w, "r", 10);
        if (way == 1 || way == 4)
            flush(&w);
        if (way == 2)
            reopen(&w, true);
        if (way == 3)
            reopen(&w, false);
        if (way == 4)
            reopen(&w, true);
        if (way == 5) {
            flush(&w);
            write_fixture_put(w.f, "q", "a", PETAL_LATEST, "x");
            flush(&w);
            MUST(petal_compact(w.table, NULL, WHY));
            reopen(&w, false);
        }
        write_fixture_put(w.f, "r", "n", PETAL_LATEST, "x");
        write_fixture_put(w.f, "s", "n", PETAL_LATEST, "y");
        write_fixture_expect_row(&w, "r", "r/f:n=x@1010 r/f:n=#10@1009 r/f:n=#9@1008");
        write_fixture_expect_row(&w, "s", "s/f:n=y@1000");
        delete_row(&w, "r");
        write_fixture_expect_row(&w, "r", "");
        write_fixture_fini(&w);
    }
}

TEST(test_table_snapshots_remember)
{
    struct write_fixture w;
    petal_table *clone;
    petal_family *f;

    write_fixture_init(&w);
    increment_until(&w, "r", 10);
    MUST(petal_table_snapshot_create(w.table, text("s"), NULL, WHY));
    delete_row(&w, "r");
    MUST(petal_table_snapshot_clone(w.base.db, text("s"), text("c"), &clone, WHY));
    MUST(petal_table_family(clone, text("f"), &f, WHY));
    write_fixture_put(f, "r", "n", PETAL_LATEST, "x");
    MUST(petal_get(clone, text("r"), NULL, w.read, WHY));
    assert_string_equal(write_fixture_describe(w.read), "r/f:n=x@1010");
    write_fixture_fini(&w);
}

/* As in HBase; and increments that follow on it do not change that. */
TEST(test_explicit_timestamps_do_not_count)
{
    struct write_fixture w;

    write_fixture_init(&w);
    write_fixture_put(w.f, "r", "a", 5000, "future");
    write_fixture_append(&w, "r", "a", "!");
    write_fixture_put(w.f, "r", "a", PETAL_LATEST, "hidden");
    increment_until(&w, "r", 3);
    write_fixture_put(w.f, "r", "a", PETAL_LATEST, "hidden too");
    write_fixture_expect_row(&w, "r",
                             "r/f:a=future!@5001 r/f:a=future@5000 r/f:a=hidden too@1000 "
                             "r/f:n=#3@1002 r/f:n=#2@1001 r/f:n=#1@1000");
    reopen(&w, true);
    delete_cells(w.f, "r", "a", PETAL_DELETE_COLUMN);
    write_fixture_expect_row(&w, "r",
                             "r/f:a=future!@5001 r/f:a=future@5000 r/f:n=#3@1002 r/f:n=#2@1001 "
                             "r/f:n=#1@1000");
    write_fixture_fini(&w);
}

/* A batch that deletes a row and writes it anew, in this order. */
TEST(test_batches)
{
    struct write_fixture w;

    write_fixture_init(&w);
    increment_until(&w, "r", 10);
    write_fixture_batch_put(&w, w.f, "r", "a", PETAL_LATEST, "gone");
    write_fixture_batch_put(&w, w.f, "s", "a", PETAL_LATEST, "x");
    MUST(petal_batch_delete_row(w.batch, w.table, text("r"), PETAL_LATEST, WHY));
    write_fixture_batch_put(&w, w.f, "s", "b", PETAL_LATEST, "y");
    write_fixture_batch_put(&w, w.f, "r", "b", PETAL_LATEST, "stays");
    write_fixture_batch_put(&w, w.f, "r", "n", PETAL_LATEST, "new");
    write_fixture_write_batch(&w);
    write_fixture_expect_row(&w, "r", "r/f:b=stays@1010 r/f:n=new@1010");
    write_fixture_expect_row(&w, "s", "s/f:a=x@1000 s/f:b=y@1000");
    MUST(petal_delete_rows(w.table, text(""), text(""), NULL, NULL, WHY));
    write_fixture_expect_row(&w, "r", "");
    write_fixture_expect_row(&w, "s", "");
    write_fixture_fini(&w);
}

/* A put under a condition gets the timestamp of the cell judged, which may be of another family:
 * what counts there counts here. */
TEST(test_conditions_over_families)
{
    for (int way = 0; way < 4; way++) {
        struct write_fixture w;
        petal_condition condition = {.compare = PETAL_NOT_EQUAL, .value = text("?")};
        petal_filter *filter = NULL;
        bool applied;

        write_fixture_init(&w);
        if (way == 3)
            write_fixture_put(w.f, "r", "n", 1009, "a caller's");
        else
            increment_until(&w, "r", 10);
        if (way == 1) {
            MUST(petal_filter_parse(w.base.db, text("KeyOnlyFilter()"), &filter, WHY));
            condition.filter = filter;
        } else {
            condition.family = w.f;
            condition.qualifier = text("n");
        }
        write_fixture_batch_put(&w, w.g, "r", "a", PETAL_LATEST, "first");
        MUST(petal_mutate_row(w.table, text("r"), &condition, w.batch, NULL, &applied, WHY));
        assert_true(applied);
        petal_filter_free(filter);
        if (way == 2)
            reopen(&w, true);
        write_fixture_put(w.g, "r", "a", PETAL_LATEST, "second");
        if (way == 3) {
            write_fixture_expect_row(&w, "r",
                                     "r/f:n=a caller's@1009 r/g:a=first@1009 r/g:a=second@1000");
        } else {
            write_fixture_expect_row(&w, "r",
                                     "r/f:n=#10@1009 r/f:n=#9@1008 r/f:n=#8@1007 "
                                     "r/g:a=second@1010 r/g:a=first@1009");
            delete_row(&w, "r");
            write_fixture_expect_row(&w, "r", "");
        }
        write_fixture_fini(&w);
    }
}

/* A caller's own timestamp under such a condition is neither raised nor does it come to count. */
TEST(test_explicit_timestamps_under_a_condition)
{
    struct write_fixture w;
    petal_condition condition = {.compare = PETAL_NOT_EQUAL, .value = text("?")};
    bool applied;

    write_fixture_init(&w);
    increment_until(&w, "r", 10);
    condition.family = w.f;
    condition.qualifier = text("n");
    write_fixture_batch_put(&w, w.g, "r", "a", 2000, "the caller's");
    write_fixture_batch_put(&w, w.g, "r", "b", 1, "early");
    MUST(petal_mutate_row(w.table, text("r"), &condition, w.batch, NULL, &applied, WHY));
    assert_true(applied);
    write_fixture_put(w.g, "r", "a", PETAL_LATEST, "hidden");
    write_fixture_expect_row(&w, "r",
                             "r/f:n=#10@1009 r/f:n=#9@1008 r/f:n=#8@1007 "
                             "r/g:a=the caller's@2000 r/g:a=hidden@1000 r/g:b=early@1");
    delete_row(&w, "r");
    write_fixture_expect_row(&w, "r", "r/g:a=the caller's@2000");
    write_fixture_fini(&w);
}

static void
expect_kv(struct write_fixture *w, petal_kv *kv, const char *value)
{
    petal_slice found_value;
    bool found;

    MUST(petal_kv_get(kv, text("k"), w->read, &found, &found_value, WHY));
    assert_int_equal(found, value != NULL);
    if (found)
        assert_true(slice_equal(found_value, text(value)));
}

/* Of a key all cells count, whoever gave their timestamps. */
TEST(test_keys_and_values)
{
    struct write_fixture w;
    petal_batch *batch;
    petal_family *v;
    petal_kv *kv;
    int64_t sum = 0;

    write_fixture_init(&w);
    MUST(petal_kv_open(w.base.db, text("kv"), NULL, &kv, WHY));
    v = petal_table_family_at(petal_kv_table(kv), 0);
    for (int i = 0; i < 20; i++)
        MUST(petal_increment(v, text("k"), text(""), 1, NULL, &sum, WHY));
    MUST(petal_kv_put(kv, text("k"), text("zero"), NULL, WHY));
    expect_kv(&w, kv, "zero");
    MUST(petal_kv_delete(kv, text("k"), WHY));
    expect_kv(&w, kv, NULL);
    for (int way = 0; way < 2; way++) {
        write_fixture_put(v, "k", "", 1000000, "future");
        if (way == 1)
            MUST(petal_flush(w.base.db, NULL, WHY));
        MUST(petal_kv_put(kv, text("k"), text("a"), NULL, WHY));
        expect_kv(&w, kv, "a");
        MUST(petal_batch_new(w.base.db, &batch, WHY));
        MUST(petal_kv_batch_put(batch, kv, text("k"), text("b"), WHY));
        MUST(petal_write(w.base.db, batch, NULL, WHY));
        expect_kv(&w, kv, "b");
        petal_batch_clear(batch);
        MUST(petal_kv_batch_delete(batch, kv, text("k"), WHY));
        MUST(petal_write(w.base.db, batch, NULL, WHY));
        petal_batch_free(batch);
        expect_kv(&w, kv, NULL);
        MUST(petal_kv_put(kv, text("k"), text("c"), NULL, WHY));
        MUST(petal_kv_delete_range(kv, text(""), text(""), NULL, NULL, WHY));
        expect_kv(&w, kv, NULL);
        MUST(petal_kv_put_if_absent(kv, text("k"), text("d"), NULL, WHY));
        expect_kv(&w, kv, "d");
        MUST(petal_kv_delete(kv, text("k"), WHY));
        expect_kv(&w, kv, NULL);
    }
    MUST(petal_kv_delete_range(
        kv, text(""), text(""),
        &(petal_delete_rows_options){.has_timestamp = true, .timestamp = 2000000}, NULL, WHY));
    MUST(petal_kv_put(kv, text("k"), text("e"), NULL, WHY));
    expect_kv(&w, kv, "e");
    write_fixture_put(v, "k", "", PETAL_LATEST - 1, "end");
    MUST(petal_kv_put(kv, text("k"), text("f"), NULL, WHY));
    expect_kv(&w, kv, "f");
    write_fixture_fini(&w);
}

/* Each write of one millisecond is a version of its own. */
TEST(test_new_versions)
{
    petal_write_options options = {.new_version = true};
    struct write_fixture w;

    write_fixture_init(&w);
    for (int i = 0; i < 3; i++)
        MUST(petal_put(w.f, text("r"), text("a"), PETAL_LATEST, text(i == 2 ? "z" : "y"), &options,
                       WHY));
    MUST(petal_put(w.f, text("s"), text("a"), PETAL_LATEST, text("x"), &options, WHY));
    write_fixture_batch_put(&w, w.f, "r", "b", PETAL_LATEST, "b");
    MUST(petal_write(w.base.db, w.batch, &options, WHY));
    write_fixture_expect_row(&w, "r", "r/f:a=z@1002 r/f:a=y@1001 r/f:a=y@1000 r/f:b=b@1000");
    write_fixture_expect_row(&w, "s", "s/f:a=x@1000");
    write_fixture_put(w.f, "s", "a", 7000, "future");
    MUST(petal_put(w.f, text("s"), text("a"), PETAL_LATEST, text("h"), &options, WHY));
    write_fixture_expect_row(&w, "s", "s/f:a=future@7000 s/f:a=h@1001 s/f:a=x@1000");
    write_fixture_fini(&w);
}
