/*
 * multi_get_test.c -- gets of several rows at once (engine/read/multi_get.c): what is in memory
 * takes the pipeline (engine/read/fast_batch.h), which reads nothing and counts as single gets do;
 * what it declines, and what is refused. Answers: tests/model/random_test.c.
 */

#include "engine/read/fast_batch.h"
#include "tests/engine/read/fixture.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdlib.h>

#define ROWS    400 /* of which some are never written */
#define COLUMNS 3
#define MOST    1000 /* rows of a batch */
#define WIDE    60   /* more columns, of every 50th row */

static const char *const qualifiers[COLUMNS] = {"", "q", "r"};

static struct read_fixture fixture;
static char model[ROWS][COLUMNS]; /* 0: nothing */
static char names[ROWS][16];
static petal_result *results[MOST];

static petal_slice
row_at(unsigned number)
{
    snprintf(names[number], sizeof names[number], "row%05u", number * 7);
    return text(names[number]);
}

static void
write_something(struct test_random *random, bool deletes)
{
    unsigned row = (unsigned)test_random_below(random, ROWS - ROWS / 4);
    unsigned column = (unsigned)test_random_below(random, COLUMNS);
    char value = (char)('a' + test_random_below(random, 26)), name[16];

    if (deletes && test_random_below(random, 20) == 0) {
        reads_delete(&fixture, "f", row_at(row), text(qualifiers[column]), PETAL_LATEST,
                     PETAL_DELETE_COLUMN);
        model[row][column] = 0;
        return;
    }
    reads_put(&fixture, "f", row_at(row), text(qualifiers[column]), PETAL_LATEST,
              slice_make(&value, 1));
    model[row][column] = value;
    for (unsigned i = 0; row % 50 == 0 && i < WIDE; i++) {
        snprintf(name, sizeof name, "wide%03u", i);
        reads_put(&fixture, "f", row_at(row), text(name), PETAL_LATEST, slice_make(&value, 1));
    }
}

static void
start(const petal_family_options *options)
{
    reads_open(&fixture, "f", options);
    memset(model, 0, sizeof model);
    for (unsigned i = 0; i < MOST; i++)
        results[i] = reads_result(&fixture);
}

static void
end(void)
{
    for (unsigned i = 0; i < MOST; i++)
        petal_result_free(results[i]);
    fixture_fini(&fixture.base);
}

static void
reopen(void)
{
    for (unsigned i = 0; i < MOST; i++)
        petal_result_free(results[i]);
    fixture_must_close(&fixture.base);
    fixture_must_open(&fixture.base);
    MUST(petal_table_open(fixture.base.db, text("t"), &fixture.table, WHY));
    for (unsigned i = 0; i < MOST; i++)
        results[i] = reads_result(&fixture);
}

/* Whole rows, and more than one column: each result as that of a single get. */
TEST(test_other_questions)
{
    struct test_random random;
    petal_slice rows[64];

    test_random_init(&random, test_seed());
    start(NULL);
    for (int i = 0; i < 600; i++)
        write_something(&random, i > 300);
    reads_flush(&fixture);
    for (unsigned columns = 0; columns <= 2; columns += 2) {
        petal_column asked[] = {{reads_family(&fixture, "f"), text("q"), false},
                                {reads_family(&fixture, "f"), text("r"), false}};
        petal_read_options options = {.columns = asked, .column_count = columns};

        for (unsigned i = 0; i < 64; i++)
            rows[i] = row_at((unsigned)test_random_below(&random, ROWS));
        MUST(petal_multi_get(fixture.table, rows, 64, &options, results, WHY));
        for (unsigned i = 0; i < 64; i++)
            assert_string_equal(reads_result_text(results[i]),
                                reads_get(&fixture, rows[i], &options));
    }
    end();
}

/* A row that cannot be, anywhere in the batch: nothing is given of any. */
TEST(test_wrong_rows)
{
    static uint8_t long_row[PETAL_MAX_ROW_BYTES + 1];
    petal_column asked;
    petal_read_options options = {.columns = &asked, .column_count = 1};
    petal_slice rows[40];
    petal_error error;

    start(NULL);
    asked = (petal_column){reads_family(&fixture, "f"), text("q"), false};
    reads_put(&fixture, "f", row_at(1), text("q"), PETAL_LATEST, text("v"));
    for (unsigned wrong = 0; wrong < 40; wrong += 13) {
        for (unsigned i = 0; i < 40; i++)
            rows[i] = row_at(1);
        MUST(petal_multi_get(fixture.table, rows, 40, &options, results, WHY));
        assert_int_equal(petal_result_count(results[39]), 1);
        rows[wrong] = wrong % 2 == 0 ? slice_make(long_row, sizeof long_row) : text("");
        assert_int_equal(petal_multi_get(fixture.table, rows, 40, &options, results, &error),
                         PETAL_INVALID);
        for (unsigned i = 0; i < 40; i++)
            assert_int_equal(petal_result_count(results[i]), 0);
    }
    end();
}

/* ---- the pipeline itself ---- */

/* Those of 16 rows from `first` on that it declines. */
static uint32_t
pass_pipeline(unsigned first)
{
    struct fast_question question = {reads_family(&fixture, "f"), text("q"), false};
    petal_slice rows[FAST_BATCH];
    struct read_point point;
    uint32_t declined;

    for (unsigned i = 0; i < FAST_BATCH; i++) {
        rows[i] = row_at(first + i);
        results[i]->count = 0;
    }
    read_begin(fixture.base.db, &point);
    declined = fast_batch_get(&question, &point, rows, FAST_BATCH, results);
    read_end(fixture.base.db, &point);
    return declined;
}

TEST(test_the_pipeline_reads_nothing)
{
    petal_column asked;
    petal_read_options options = {.columns = &asked, .column_count = 1};
    petal_stats before, after, single;

    start(NULL);
    for (unsigned i = 0; i < 320; i += 2)
        reads_put(&fixture, "f", row_at(i), text("q"), PETAL_LATEST, text("v"));
    assert_int_equal(pass_pipeline(0), 0);
    reads_flush(&fixture);
    reopen();
    asked = (petal_column){reads_family(&fixture, "f"), text("q"), false};
    petal_stats_get(fixture.base.db, &before);
    assert_int_not_equal(pass_pipeline(0), 0);
    petal_stats_get(fixture.base.db, &after);
    assert_int_equal(after.bytes_fetched, before.bytes_fetched);
    for (unsigned i = 0; i < 320; i++)
        reads_get(&fixture, row_at(i), &options);
    petal_stats_get(fixture.base.db, &before);
    for (unsigned first = 0; first < 320; first += FAST_BATCH)
        assert_int_equal(pass_pipeline(first), 0);
    petal_stats_get(fixture.base.db, &after);
    for (unsigned i = 0; i < 320; i++)
        reads_get(&fixture, row_at(i), &options);
    petal_stats_get(fixture.base.db, &single);
#define SAME(name) assert_int_equal(after.name - before.name, single.name - after.name)
    SAME(gets);
    SAME(files_considered);
    SAME(files_read);
    SAME(skipped_bloom);
    SAME(skipped_row_range);
    SAME(filter_probes);
    SAME(filter_false_positives);
    SAME(data_cached);
#undef SAME
    end();
}

/* A row that a marker may hide is declined; its neighbours are not. */
TEST(test_what_is_declined)
{
    start(NULL);
    for (unsigned i = 0; i < FAST_BATCH; i++)
        reads_put(&fixture, "f", row_at(i), text("q"), PETAL_LATEST, text("v"));
    reads_delete(&fixture, "f", row_at(5), text("q"), PETAL_LATEST, PETAL_DELETE_COLUMN);
    assert_true((pass_pipeline(0) & 1u << 5) != 0);
    assert_true((pass_pipeline(100) & 1u << 5) == 0);
    end();
}

/* Of some of the rows too little was taken, since the deletion of a version lies in the file that
 * is asked last: all are read anew, by snapshot, of a fast question and of a general one. */
TEST(test_rows_that_are_walked_in_the_end)
{
    petal_family_options family = {.versions = 3};
    petal_column asked;
    petal_read_options options = {.columns = &asked, .column_count = 1};

    start(&family);
    asked = (petal_column){reads_family(&fixture, "f"), text("q"), false};
    for (unsigned row = 0; row < 40; row++)
        for (int64_t version = 1; version <= 3; version++)
            reads_put(&fixture, "f", row_at(row), text("q"), version, text("value"));
    reads_put(&fixture, "f", text("z"), text("q"), 100, text("later"));
    reads_flush(&fixture);
    for (unsigned row = 0; row < 40; row += 3)
        reads_delete(&fixture, "f", row_at(row), text("q"), 3, PETAL_DELETE);
    reads_flush(&fixture);
    for (int32_t versions = 1; versions <= 2; versions++) {
        petal_slice rows[40];

        options.versions = versions;
        for (unsigned row = 0; row < 40; row++)
            rows[row] = row_at(row);
        MUST(petal_multi_get(fixture.table, rows, 40, &options, results, WHY));
        for (unsigned row = 0; row < 40; row++) {
            assert_int_equal(petal_result_count(results[row]), versions);
            assert_int_equal(petal_result_cell(results[row], 0)->timestamp, row % 3 == 0 ? 2 : 3);
            assert_string_equal(reads_result_text(results[row]),
                                reads_get(&fixture, rows[row], &options));
        }
    }
    end();
}
