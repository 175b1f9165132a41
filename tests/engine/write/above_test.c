/*
 * above_test.c -- timestamps of the store's that are ahead of its clock: what is written over them
 * with PETAL_LATEST takes their place, whatever became of them meanwhile; a caller's own in the
 * future hides as in HBase, but for keys and values.
 */

#include "tests/engine/script.h"
#include "tests/engine/write/fixture.h"

/* Ten increments in a millisecond: the last one is nine ahead. */
#define AHEAD                                                                                      \
    "table t f,versions=3 g,versions=3; inc t r/f:n=#1; inc t r/f:n=#1; inc t r/f:n=#1\n"          \
    "inc t r/f:n=#1; inc t r/f:n=#1; inc t r/f:n=#1; inc t r/f:n=#1; inc t r/f:n=#1\n"             \
    "inc t r/f:n=#1; inc t r/f:n=#1; given : r/f:n@1009=#10\n"
#define REPLACED                                                                                   \
    "put t r/f:n=x s/f:n=y; show t row=r all : r/f:n@1010=x r/f:n@1009=#10 r/f:n@1008=#9\n"        \
    "show t row=s : s/f:n@1000=y; delete-row t r; show t row=r :"

static const struct script_case cases[] = {
    {"what is ahead is replaced, or deleted; and what comes after the marker, which no reader sees",
     AHEAD
     "put t r/f:n=x; show t row=r all : r/f:n@1010=x r/f:n@1009=#10 r/f:n@1008=#9; put t r/f:n!12\n"
     "show t row=r :; inc t r/f:n=#5; given : r/f:n=#5; put t r/f:n=y r/f:m=beside s/f:n=row "
     "r/g:n=family\n"
     "show t row=r all : r/f:m@1000=beside r/f:n@1013=y r/f:n@1012=#5 r/g:n@1000=family\n"
     "show t row=s : s/f:n@1000=row; delete-row t r; show t row=r :; put t r/f:m=again\n"
     "show t row=r : r/f:m@1015=again"},
    {"where the clock is not after, it is the clock's; also when the row was ahead once",
     AHEAD "clock 1009; put t r/f:n=x; clock 1020; put t r/f:m=y\n"
           "show t row=r all : r/f:m@1020=y r/f:n@1009=x r/f:n@1008=#9 r/f:n@1007=#8"},
    {"it is remembered in memory", AHEAD REPLACED},
    {"in a store file", AHEAD "flush\n" REPLACED},
    {"in a log that is replayed", AHEAD "die\n" REPLACED},
    {"by a closing", AHEAD "reopen\n" REPLACED},
    {"in a store file after a crash", AHEAD "flush; die\n" REPLACED},
    {"after a compaction", AHEAD "flush; put t q/f:a=x; flush; compact t; reopen\n" REPLACED},
    {"in copies",
     AHEAD "take t s; delete-row t r; clone s c; put c r/f:n=x; show c row=r : r/f:n@1010=x"},
    {"explicit timestamps do not count, as in HBase; increments that follow do not change that",
     "table t f,versions=3 g; put t r/f:a@5000=future; app t r/f:a=!; put t r/f:a=hidden\n"
     "inc t r/f:n=#1; inc t r/f:n=#1; inc t r/f:n=#1; put t r/f:a=hidden-too\n"
     "show t row=r all : r/f:a@5001=future! r/f:a@5000=future r/f:a@1000=hidden-too r/f:n@1002=#3 "
     "r/f:n@1001=#2 r/f:n@1000=#1\n"
     "die; put t r/f:a!12\n"
     "show t row=r all : r/f:a@5001=future! r/f:a@5000=future r/f:n@1002=#3 r/f:n@1001=#2 "
     "r/f:n@1000=#1"},
    {"a batch deletes a row and writes it anew, in this order",
     AHEAD "batch t r/f:a=gone s/f:a=x row:r s/f:b=y r/f:b=stays r/f:n=new\n"
           "show t row=r all : r/f:b@1010=stays r/f:n@1010=new; show t row=s : s/f:a@1000=x "
           "s/f:b@1000=y\n"
           "delete-rows t : 2; show t :"},
    {"each write of one millisecond can be a version of its own",
     "table t f,versions=3; version t r/f:a=y r/f:a=y r/f:a=z s/f:a=x r/f:b=b\n"
     "show t row=r all : r/f:a@1002=z r/f:a@1001=y r/f:a@1000=y r/f:b@1000=b\n"
     "show t row=s : s/f:a@1000=x; put t s/f:a@7000=future; version t s/f:a=h\n"
     "show t row=s all : s/f:a@7000=future s/f:a@1001=h s/f:a@1000=x"},
};

TEST_EACH(timestamps_do_this, cases)
{
    script_run(*state);
}

static void
increment_until(struct write_fixture *w, const char *row, int64_t sum)
{
    while (write_fixture_increment(w, row, "n", 1) < sum)
        continue;
}

static void
delete_row(struct write_fixture *w, const char *row)
{
    MUST(petal_delete_row(w->table, text(row), PETAL_LATEST, NULL, WHY));
}

static void
reopen(struct write_fixture *w)
{
    write_fixture_detach(w);
    fixture_die(&w->base);
    fixture_must_open(&w->base);
    write_fixture_attach(w);
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
            reopen(&w);
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

/* A put takes the place of an increment in one batch with a time to live, and has its timestamp:
 * that counts, also after a crash. */
TEST(test_a_put_in_the_place_of_an_increment)
{
    for (int crash = 0; crash < 2; crash++) {
        struct write_fixture w;

        write_fixture_init(&w);
        increment_until(&w, "r", 10);
        write_fixture_batch_increment(&w, w.f, "r", "n", 1);
        write_fixture_begin(&w, &(petal_mutation_options){.has_ttl = true, .ttl_ms = 500000});
        write_fixture_batch_put(&w, w.f, "r", "n", 1010, "first");
        write_fixture_write_batch(&w);
        if (crash == 1)
            reopen(&w);
        write_fixture_put(w.f, "r", "n", PETAL_LATEST, "next");
        write_fixture_expect_row(&w, "r", "r/f:n=next@1011 r/f:n=first@1010+500000 r/f:n=#10@1009");
        write_fixture_fini(&w);
    }
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
