/*
 * mutate_test.c -- appends, increments, deletions of the newest version, and the mutations of a
 * batch: what they write and give back, their timestamps, and that they happen whole or not at all.
 */

#include "tests/engine/script.h"
#include "tests/engine/write/fixture.h"

#include <stdlib.h>

#define TABLE "table t f,versions=3 g,versions=3\n"
#define VERSIONS                                                                                   \
    "put t r/f:a@10=v r/f:a@20=v r/f:a@30=v s/f:a@10=v s/f:a@20=v s/f:a@30=v r/g:a@10=v "          \
    "r/g:a@20=v r/g:a@30=v\n"

static const struct script_case cases[] = {
    {"increments, over the ends of the numbers, too; what is no number is not changed", TABLE
     "inc t r/f:n=#5; given : r/f:n@1000=#5; later 1; inc t r/f:n=#-7; given : r/f:n@1001=#-2\n"
     "show t row=r all : r/f:n@1001=#-2 r/f:n@1000=#5; inc t m/f:x=#9223372036854775807\n"
     "inc t m/f:x=#2; given : m/f:x=#-9223372036854775807; inc t m/f:y=#-9223372036854775808\n"
     "inc t m/f:y=#-1; given : m/f:y=#9223372036854775807; put t s/f:n@5=1234567 s/f:e@5=\n"
     "refused invalid inc t s/f:n=#1; given :; refused invalid inc t s/f:e=#1\n"
     "show t row=s : s/f:e@5= s/f:n@5=1234567"},
    {"appends, of nothing, too",
     TABLE "app t r/f:a=; given : r/f:a@1000=; later 1; app t r/f:a=xy; later 1; app t r/f:a=z\n"
           "given : r/f:a@1002=xyz; later 1; app t r/f:a=\n"
           "show t row=r all : r/f:a@1003=xyz r/f:a@1002=xyz r/f:a@1001=xy; app t r/f=x\n"
           "refused invalid app t /f:b=x"},
    {"timestamps are above what is there, and do not move the store's clock, nor from the log",
     TABLE "put t r/f:a@5000=x; app t r/f:a=y; given : r/f:a@5001=xy; put t r/f:now=later\n"
           "put t r/f:same@1000=s; app t r/f:same=t\n"
           "show t row=r all : r/f:a@5001=xy r/f:a@5000=x r/f:now@1000=later r/f:same@1001=st "
           "r/f:same@1000=s\n"
           "put t end/f:a@9223372036854775806=x; app t end/f:a=y\n"
           "show t row=end all : end/f:a@9223372036854775806=xy; die; put t s/f:now=v\n"
           "show t row=s : s/f:now@1000=v; show t row=end all : end/f:a@9223372036854775806=xy"},
    {"the clock goes back: all of a batch gets the greatest assigned timestamp, and says so",
     TABLE "put t r/f:a=x; clock 10; batch t r/f:p=x inc:r/f:n=#1 app:r/f:a=y r/f:none!8\n"
           "given : r/f:a@1001=xy r/f:n@1000=#1\n"
           "show t row=r all : r/f:a@1001=xy r/f:a@1000=x r/f:n@1000=#1 r/f:p@1000=x"},
    {"reads of a batch come before its writes", TABLE
     "batch t inc:r/f:n=#5 {} inc:r/f:n=#1; given : r/f:n@1000=#5 r/f:n@1000=#1\n"
     "batch t r/f:a=lost app:r/f:a=kept; given : r/f:a@1000=kept; put t r/f:d@7=old\n"
     "batch t r/f:d@9=new r/f:d!8; show t row=r all : r/f:a@1000=kept r/f:d@9=new r/f:n@1000=#1"},
    {"deletions of the newest; other rows, families and mutations count on their own",
     TABLE VERSIONS
     "put t r/f:a!8; given :; show t row=r all : r/f:a@20=v r/f:a@10=v r/g:a@30=v r/g:a@20=v "
     "r/g:a@10=v\n"
     "batch t {} r/g:a!8 s/f:a!8 r/g:a!8 {} s/f:a!8; show t row=r all : r/f:a@20=v r/f:a@10=v "
     "r/g:a@10=v\n"
     "show t row=s all : s/f:a@20=v s/f:a@10=v"},
    {"one more than there are is stamped now, and hides nothing that is written later",
     TABLE "put t s/f:a@10=v s/f:a@20=v s/f:a@1001=w; batch t s/f:a!8 s/f:a!8 s/f:a!8 s/f:a!8\n"
           "show t row=s all :; put t s/f:a@1000=w; show t row=s all : s/f:a@1000=w"},
    {"results come in the order of mutations, and of rows, families and qualifiers within one",
     TABLE
     "batch t {} app:r/g:b=1 inc:r/f:z=#2 app:r/g:a=3 app:r/g:b=4 r/g:c=no {silent} "
     "app:r/f:silent=5 "
     "{} app:q/f:y=6 q/f:y!8\n"
     "given : r/f:z=#2 r/g:a=3 r/g:b=1 r/g:b=4 q/f:y=6\n"
     "show t row=r : r/f:silent@1000=5 r/f:z@1000=#2 r/g:a@1000=3 r/g:b@1000=4 r/g:c@1000=no\n"
     "batch t q/f:y=z; given :"},
    {"a mutation's time range is that of its appends, not of its deletions; its time to live",
     TABLE VERSIONS
     "batch t {range=10..20} app:r/f:a=+ r/f:a!8; given : r/f:a@1000=v+\n"
     "show t row=r all : r/f:a@1000=v+ r/f:a@20=v r/f:a@10=v r/g:a@30=v r/g:a@20=v r/g:a@10=v\n"
     "batch t {ttl=50} inc:n/f:n=#1; given : n/f:n@1000=#1~50"},
    {"a time to live is taken over, unless there is another",
     TABLE "put t r/f:a=x~50; show t row=r : r/f:a@1000=x~50; later 40; app t r/f:a=y\n"
           "given : r/f:a@1040=xy~50; batch t {ttl=70} app:r/f:a=z; given : r/f:a@1041=xyz~70"},
    /* Of equal cells of a batch with a time to live only the last is written. */
    {"a dead cell uncovers no double", TABLE
     "put t r/f:a@1000=before\n"
     "batch t r/f:a=lost r/f:b@1000=kept r/f:a@1000=lost r/f:a@999=kept r/g:a@1000=kept {ttl=1} "
     "r/f:a=brief\n"
     "show t row=r all : r/f:a@1000=brief~1 r/f:a@999=kept r/f:b@1000=kept r/g:a@1000=kept; later "
     "2\n"
     "show t row=r all : r/f:a@1000=before r/f:a@999=kept r/f:b@1000=kept r/g:a@1000=kept; die\n"
     "show t row=r all : r/f:a@1000=before r/f:a@999=kept r/f:b@1000=kept r/g:a@1000=kept"},
    {"increments that are doubles",
     TABLE "batch t inc:r/f:n=#1 {ttl=1} inc:r/f:n=#2; given : r/f:n@1000=#1 r/f:n@1000=#2~1\n"
           "show t raw : r/f:n@1000=#2~1; later 2; show t row=r all :"},
    {"doubles of one timestamp for different reasons: above the old version, and now", TABLE
     "clock 1002; put t r/f:n@1001=12345678; batch t inc:r/f:n=#0 {ttl=1 range=0..1} inc:r/f:n=#3\n"
     "show t row=r all : r/f:n@1002=#3~1 r/f:n@1001=12345678; later 2\n"
     "show t row=r all : r/f:n@1001=12345678"},
    {"markers that are doubles", TABLE
     "put t r/f:a@1000=v; batch t r/f:a@1000!8 r/f:a@1000!12 r/f@1000!14 {ttl=1} r/f:a@1000!8 "
     "r/f:a@1000!12 r/f!14\n"
     "show t row=r all :; later 2; show t row=r all : r/f:a@1000=v"},
};

TEST_EACH(writes_that_read_do_this, cases)
{
    script_run(*state);
}

/* No append makes a value larger than a value may be. */
TEST(large_appends_are_refused)
{
    petal_slice large = {test_allocate(PETAL_MAX_VALUE_BYTES), PETAL_MAX_VALUE_BYTES};
    struct script script;
    petal_error error;
    petal_family *f;

    memset((void *)(uintptr_t)large.data, 'x', large.size);
    script_begin(&script);
    script_do(&script, TABLE "app t r/f:a=xyz");
    f = script_family(&script, "t", "f");
    assert_int_equal(petal_append(f, text("r"), text("a"), large, NULL, &error), PETAL_INVALID);
    MUST(petal_append(f, text("r"), text("b"), large, NULL, WHY));
    script_do(&script, "show t row=r column=f:a : r/f:a@1000=xyz");
    free((void *)(uintptr_t)large.data);
    script_end(&script);
}

TEST(test_refused_batches)
{
    petal_mutation_options range = {.has_time_range = true, .time_min = 5, .time_limit = 4};
    petal_write_options brief = {.has_ttl = true};
    petal_error error;
    struct write_fixture w;

    write_fixture_init(&w);
    MUST(petal_write(w.base.db, w.batch, &w.options, WHY)); /* nothing at all */
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
