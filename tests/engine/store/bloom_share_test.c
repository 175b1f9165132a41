/*
 * bloom_share_test.c -- the shares of a family's error rate: what each file gets, that they sum to
 * the rate, that no file takes more bits than it may, that flushes and compactions record them, and
 * that filters of such small rates hold them.
 */
#include <stdlib.h>

#include "bloom/bloom.h"
#include "engine/compact/policy.h"
#include "engine/state/progress.h"
#include "engine/store/bloom_share.h"
#include "tests/crash/ledger.h"
#include "tests/sstable/fixture.h"
#include "tests/support/test.h"

#include <math.h>

#define FULL_BITS 20.0 /* what a filter may take, as the header says */

static const double RATES[] = {0.5,   0.1,   0.05,  0.02,   0.01,  0.007,
                               0.005, 0.002, 0.001, 0.0002, 0.0001};
#define RATE_COUNT (sizeof RATES / sizeof RATES[0])

/* ---- the rule ---- */

static double
share(double rate, enum file_origin origin)
{
    petal_family_options family = {.bloom_error_rate = rate};

    return bloom_share_rate(&family, origin);
}

static double
bits_of(double rate)
{
    struct bloom_plan plan;

    bloom_plan_init(&plan, BLOOM_BLOCKED, rate);
    return plan.blocked.bits_per_key;
}

TEST(shares_sum_to_the_rate)
{
    unsigned whole = 0;

    for (size_t i = 0; i < RATE_COUNT; i++) {
        double all = share(RATES[i], FILE_ORIGIN_ALL_FILES);
        double other = share(RATES[i], FILE_ORIGIN_FLUSH);
        double sum = all + (STORE_MOST_RUNS - 1) * other;

        if (bits_of(RATES[i] / 2 / (STORE_MOST_RUNS - 1)) > FULL_BITS)
            continue;
        whole++;
        assert_true(fabs(all / (RATES[i] / 2) - 1) < 1e-9);
        assert_true(fabs(sum / RATES[i] - 1) < 1e-9);
    }
    assert_true(whole >= 5); /* the default is among them */
    assert_true(bits_of(share(0.01, FILE_ORIGIN_FLUSH)) < FULL_BITS);
}

/* Where the share would take more bits than a file may, it gets what those bits give, no less. */
TEST(no_file_takes_more_bits)
{
    unsigned cut = 0;

    for (size_t i = 0; i < RATE_COUNT; i++) {
        for (unsigned origin = FILE_ORIGIN_FLUSH; origin <= FILE_ORIGIN_ALL_FILES; origin++) {
            double found = share(RATES[i], (enum file_origin)origin);
            double wanted = RATES[i] / 2;

            if (origin != FILE_ORIGIN_ALL_FILES)
                wanted /= STORE_MOST_RUNS - 1;
            assert_true(bits_of(found) <= FULL_BITS);
            if (found > wanted) {
                cut++;
                assert_true(bits_of(found) > FULL_BITS - 0.05);
            } else {
                assert_true(fabs(found / wanted - 1) < 1e-9);
            }
        }
    }
    assert_true(cut > 5);
}

TEST(origins_that_are_not_known_count_as_flushes)
{
    for (size_t i = 0; i < RATE_COUNT; i++) {
        double flush = share(RATES[i], FILE_ORIGIN_FLUSH);

        assert_true(fabs(share(RATES[i], FILE_ORIGIN_UNKNOWN) / flush - 1) < 1e-12);
        assert_true(fabs(share(RATES[i], FILE_ORIGIN_MINOR) / flush - 1) < 1e-12);
    }
}

TEST(a_rate_per_file_is_the_families_own)
{
    for (size_t i = 0; i < RATE_COUNT; i++) {
        for (unsigned origin = 0; origin <= FILE_ORIGIN_ALL_FILES; origin++) {
            petal_family_options family = {.bloom_error_rate = RATES[i],
                                           .bloom_rate_per_file = true};

            assert_memory_equal(&(double){bloom_share_rate(&family, (enum file_origin)origin)},
                                &RATES[i], sizeof RATES[i]);
        }
    }
}

/* ---- what files record ---- */

struct recorded {
    unsigned files;
    double rates[4];
    uint64_t runs[4];
    int64_t written_ms[4];
    enum petal_bloom_kind kinds[4];
    bool of_all_files[4];
};

static bool
note_file(void *argument, const petal_file_info *file)
{
    struct recorded *recorded = argument;

    assert_true(recorded->files < 4);
    recorded->rates[recorded->files] = file->bloom_error_rate;
    recorded->runs[recorded->files] = file->run;
    recorded->kinds[recorded->files] = file->bloom_kind;
    recorded->of_all_files[recorded->files] = file->of_all_files;
    recorded->written_ms[recorded->files++] = file->written_ms;
    return true;
}

static struct recorded
recorded_of(petal_table *table)
{
    struct recorded recorded = {0};

    MUST(petal_table_files(table, note_file, &recorded, WHY));
    return recorded;
}

static void
flush_a_row(struct fixture *fixture, petal_table *table, const char *row)
{
    MUST(petal_put(petal_table_family_at(table, 0), slice_from_text(row), slice_from_text("q"),
                   PETAL_LATEST, slice_from_text("v"), NULL, WHY));
    MUST(petal_flush(fixture->db, table, WHY));
}

static bool
is_near(double found, double wanted)
{
    return fabs(found / wanted - 1) < 1e-9;
}

TEST(files_record_their_share)
{
    petal_family_options family = {.name = slice_from_text("f"),
                                   .bloom_kind = PETAL_BLOOM_KIND_RIBBON};
    petal_table_options options = {
        .name = slice_from_text("t"), .families = &family, .family_count = 1};
    struct fixture fixture;
    struct recorded recorded;
    petal_table *table;

    fixture_init(&fixture, 5);
    fixture.options.no_compaction = true;
    fixture_must_open(&fixture);
    MUST(petal_table_create(fixture.db, &options, &table, WHY));
    flush_a_row(&fixture, table, "a");
    recorded = recorded_of(table);
    assert_int_equal(recorded.files, 1);
    assert_true(is_near(recorded.rates[0], 0.01 / 2 / (STORE_MOST_RUNS - 1)));
    assert_true(recorded.written_ms[0] > 0);
    assert_int_equal(recorded.kinds[0], PETAL_BLOOM_KIND_BLOCKED);
    assert_false(recorded.of_all_files[0]);
    flush_a_row(&fixture, table, "b");
    recorded = recorded_of(table);
    assert_int_equal(recorded.files, 2);
    assert_int_not_equal(recorded.runs[0], recorded.runs[1]);
    MUST(petal_compact(table, NULL, WHY));
    recorded = recorded_of(table);
    assert_int_equal(recorded.files, 1);
    assert_true(is_near(recorded.rates[0], 0.01 / 2));
    assert_int_equal(recorded.kinds[0], PETAL_BLOOM_KIND_RIBBON);
    assert_true(recorded.of_all_files[0]);
    family.bloom_kind = PETAL_BLOOM_KIND_DEFAULT;
    family.bloom_rate_per_file = true;
    family.bloom_error_rate = 0.02;
    MUST(petal_table_alter(table, &options, WHY));
    flush_a_row(&fixture, table, "c");
    recorded = recorded_of(table);
    assert_int_equal(recorded.files, 2);
    assert_true(is_near(recorded.rates[0], 0.02)); /* newest first */
    assert_true(is_near(recorded.rates[1], 0.01 / 2));
    MUST(petal_compact(table, NULL, WHY));
    recorded = recorded_of(table);
    assert_int_equal(recorded.files, 1);
    assert_int_equal(recorded.kinds[0], PETAL_BLOOM_KIND_BLOCKED);
    fixture_fini(&fixture);
}

/* A family that is RIBBON has such filters where all files were merged, whatever the rate is. */
TEST(outputs_of_all_files_alone_are_ribbon)
{
    for (unsigned origin = 0; origin <= FILE_ORIGIN_BULK; origin++) {
        for (unsigned kind = 0; kind <= PETAL_BLOOM_KIND_RIBBON; kind++) {
            petal_family_options family = {.bloom_error_rate = 0.01,
                                           .bloom_kind = (enum petal_bloom_kind)kind};
            bool ribbon = kind == PETAL_BLOOM_KIND_RIBBON && origin == FILE_ORIGIN_ALL_FILES;

            assert_int_equal(bloom_share_layout(&family, (enum file_origin)origin),
                             ribbon ? BLOOM_RIBBON : BLOOM_BLOCKED);
        }
    }
}

/* ---- what files hold ---- */

/* A file of so many rows, with a filter of `rate`; its filter is asked for random keys until
 * `wanted` passed. */
static double
measured_rate(double rate, enum bloom_layout layout, unsigned rows, unsigned wanted, uint64_t seed)
{
    struct sst_fixture *f = sst_fixture_new(16 << 20);
    struct sst_options options = sst_test_options();
    struct cell_list list = {0};
    struct test_random random;
    struct sst_reader *reader;
    unsigned passed = 0, asked = 0;
    char row[24];

    for (unsigned i = 0; i < rows; i++) {
        snprintf(row, sizeof row, "row%08u", i);
        cell_list_put(&list, row, "q", 5, i + 1, "a value of some bytes");
    }
    options.bloom_error_rate = rate;
    options.bloom_layout = layout;
    sst_fixture_write(f, &options, &list);
    reader = sst_fixture_open(f);
    assert_true(is_near(sst_reader_facts(reader)->bloom_error_rate, rate));
    test_random_init(&random, seed);
    for (; passed < wanted; asked++) {
        snprintf(row, sizeof row, "row%08u%07x", (unsigned)test_random_below(&random, rows),
                 (unsigned)test_random_below(&random, 1 << 28));
        passed += sst_ask_row(f, reader, slice_from_text(row));
    }
    cell_list_fini(&list);
    sst_fixture_end(f, reader);
    return (double)passed / asked;
}

/* Within a tenth, of which 1,600 that pass make the measurement's own standard error a fourth; but
 * a small filter that is BLOCKED may be better by another 15 % (bloom/bloom.h). */
TEST(small_rates_hold)
{
    const double rates[] = {
        share(0.01, FILE_ORIGIN_ALL_FILES),
        share(0.01, FILE_ORIGIN_FLUSH),
        share(0.0001, FILE_ORIGIN_FLUSH),
    };

    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        double found = measured_rate(rates[i], BLOOM_BLOCKED, 60000, 1600, 20240229 + i);

        if (found > 1.10 * rates[i] || found < (1 - 0.15 - 0.10) * rates[i])
            fail_msg("rate %g, recorded %g", found, rates[i]);
        found = measured_rate(rates[i], BLOOM_RIBBON, 60000, 1600, 20240229 + i);
        if (found > 1.10 * rates[i] || found < 0.9 * rates[i])
            fail_msg("rate %g of RIBBON, recorded %g", found, rates[i]);
    }
}

/* ---- what a read asks ---- */

#define ROWS 4000

static petal_slice
row_name(char bytes[24], unsigned row, const char *end)
{
    return slice_make(bytes, (size_t)snprintf(bytes, 24, "row%05u%s", row, end));
}

/* One file of ROWS rows with a ROWCOL filter, every fourth row with a family marker if
 * `markers`. */
static petal_table *
make_columns(struct fixture *fixture, double rate, bool markers)
{
    petal_family_options family = {.name = slice_from_text("f"),
                                   .bloom = PETAL_BLOOM_ROWCOL,
                                   .bloom_error_rate = rate,
                                   .bloom_rate_per_file = true};
    petal_table_options options = {
        .name = slice_from_text("t"), .families = &family, .family_count = 1};
    petal_table *table;
    char name[24];

    fixture_must_open(fixture);
    MUST(petal_table_create(fixture->db, &options, &table, WHY));
    for (unsigned row = 0; row < ROWS; row++) {
        petal_family *f = petal_table_family_at(table, 0);

        if (markers && row % 4 == 0)
            MUST(petal_delete(f, row_name(name, row, ""), slice_make(NULL, 0), PETAL_LATEST,
                              PETAL_DELETE_FAMILY, NULL, WHY));
        MUST(petal_put(f, row_name(name, row, ""), slice_from_text("q"), PETAL_LATEST,
                       slice_from_text("v"), NULL, WHY));
    }
    MUST(petal_flush(fixture->db, table, WHY));
    return table;
}

/* The share of gets of absent rows that read the file, when they name so many columns. */
static double
share_read(struct fixture *fixture, petal_table *table, size_t column_count, unsigned gets)
{
    petal_column columns[3] = {{.qualifier = slice_from_text("q")},
                               {.qualifier = slice_from_text("r")},
                               {.qualifier = slice_from_text("s")}};
    petal_read_options options = {.size = sizeof options,
                                  .columns = columns,
                                  .column_count = column_count,
                                  .without = PETAL_WITHOUT(PETAL_SKIP_COLUMNS)};
    petal_stats before, after;
    petal_result *result;
    char name[24];

    for (size_t i = 0; i < column_count; i++)
        columns[i].family = petal_table_family_at(table, 0);
    MUST(petal_result_new(fixture->db, &result, WHY));
    petal_stats_get(fixture->db, &before);
    for (unsigned i = 0; i < gets; i++) {
        char end[12];

        snprintf(end, sizeof end, "x%u", i);
        MUST(petal_get(table, row_name(name, i % (ROWS - 1), end), &options, result, WHY));
        assert_int_equal(petal_result_count(result), 0);
    }
    petal_stats_get(fixture->db, &after);
    petal_result_free(result);
    assert_int_equal(after.filter_false_positives - before.filter_false_positives,
                     after.files_read - before.files_read);
    return (double)(after.files_read - before.files_read) / gets;
}

/* The rate is that of one question: each column is one, and family markers are one more where a
 * file has any. */
TEST(columns_and_family_markers_are_questions_of_their_own)
{
    const double rate = 0.05;

    for (unsigned markers = 0; markers < 2; markers++) {
        struct fixture fixture;
        petal_table *table;

        fixture_init(&fixture, 7);
        fixture.options.cache_bytes = 8 << 20;
        table = make_columns(&fixture, rate, markers == 1);
        for (size_t columns = 1; columns <= 3; columns += 2) {
            double wanted = 1 - pow(1 - rate, (double)columns + markers);
            double found = share_read(&fixture, table, columns, 20000);

            if (fabs(found / wanted - 1) > 0.15)
                fail_msg("%zu columns, markers %u: %f, not %f", columns, markers, found, wanted);
        }
        fixture_fini(&fixture);
    }
}

/* Whatever the rate: finding the share of one that is too low for the most bits takes many plans,
 * once. */
TEST(shares_are_found_once)
{
    petal_family_options family = {.bloom_error_rate = 0.0001};
    double flush = 0, all = 0;
    uint64_t found;

    /* Plans of other tests that are still remembered are found again once they are forgotten. */
    for (unsigned i = 0; i < 3; i++) {
        flush = bloom_share_rate(&family, FILE_ORIGIN_FLUSH);
        all = bloom_share_rate(&family, FILE_ORIGIN_ALL_FILES);
    }
    found = bloom_plans_found();
    for (unsigned i = 0; i < 1000; i++) {
        struct bloom_plan plan;

        assert_true(bloom_share_rate(&family, FILE_ORIGIN_FLUSH) == flush);
        bloom_plan_init(&plan, BLOOM_BLOCKED, flush);
        assert_true(plan.rate == flush);
    }
    assert_true(bloom_share_rate(&family, FILE_ORIGIN_ALL_FILES) == all);
    assert_in_range(bloom_plans_found() - found, 0, 1);
}
