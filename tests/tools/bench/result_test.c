/* result_test.c -- kv-bench's statistics, what it measures, its files of results there and back,
 * hostile files. */
#include "tools/bench/results/file.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/bench/harness/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/bench_result_test-XXXXXX";

static void
check_near(double found, double wanted)
{
    if (fabs(found - wanted) > 1e-9 * (1 + fabs(wanted)))
        fail_msg("%.12g instead of %.12g", found, wanted);
}

/* ---- statistics ---- */

TEST(test_spreads)
{
    static const double odd[] = {5, 1, 4, 2, 3}, even[] = {10, 40, 20, 30}, one[] = {7};
    struct bench_spread spread = bench_spread_of(odd, 5);

    check_near(spread.median, 3);
    check_near(spread.least, 1);
    check_near(spread.greatest, 5);
    spread = bench_spread_of(even, 4);
    check_near(spread.median, 25);
    check_near(bench_spread_of(one, 1).median, 7);
    check_near(bench_spread_of(one, 0).median, 0);
}

/* Within repeats: the median of ratios is not the ratio of medians. */
TEST(test_ratios)
{
    static const double over[] = {10, 200, 3000}, under[] = {1, 100, 1000, 5};
    double ratios[BENCH_MOST_REPEATS];

    assert_int_equal(bench_ratios(over, 3, under, 4, ratios), 3);
    check_near(ratios[0], 10);
    check_near(ratios[1], 2);
    check_near(ratios[2], 3);
    check_near(bench_spread_of(ratios, 3).median, 3);
}

/* Against the tables that books have: U of 4 and 4 values, of 5 and 5. */
TEST(test_rank_test)
{
    static const double low[] = {1, 2, 3, 4, 5}, high[] = {6, 7, 8, 9, 10};
    static const double mixed[] = {1, 2, 3, 4, 7}, above[] = {5, 6, 8, 9, 10};

    check_near(bench_rank_test(low, 4, high, 4), 2.0 / 70);
    check_near(bench_rank_test(low, 5, high, 5), 2.0 / 252);
    check_near(bench_rank_test(high, 5, low, 5), 2.0 / 252);
    check_near(bench_rank_test(mixed, 5, above, 5), 2.0 * 4 / 252); /* U is 2: 1 + 1 + 2 orders */
    check_near(bench_rank_test(low, 5, low, 5), 1);
    check_near(bench_rank_test(low, 1, high, 1), 1);
}

TEST(test_noise_rule)
{
    static const double five[] = {100, 101, 102, 103, 104},
                        near[] = {105, 105.1, 105.2, 105.3, 105.4};
    static const double far[] = {108, 109, 110, 111, 112}, mixed[] = {103.5, 109, 110, 111, 112};
    static const double three[] = {100, 101, 102}, apart[] = {105, 106, 107};
    static const double touching[] = {103.5, 104.5, 105.5};
    static const double one[] = {100}, more[] = {124}, much_more[] = {126};

    assert_true(bench_differ(five, 5, far, 5));
    assert_true(bench_differ(far, 5, five, 5));
    assert_false(bench_differ(five, 5, near + 0, 2));
    assert_true(bench_differ(five, 5, near, 5));
    assert_false(bench_differ(five, 5, mixed, 5)); /* one value lies among the others: p is 0.016 */
    assert_false(bench_differ(five, 5, five, 5));
    assert_true(bench_differ(three, 3, apart, 3));
    assert_false(bench_differ(three, 3, touching, 3)); /* the gap is narrower than the ranges */
    assert_false(bench_differ(one, 1, more, 1));
    assert_true(bench_differ(one, 1, much_more, 1));
    assert_false(bench_differ(one, 0, much_more, 1));
}

/* However sure: below 3 % nothing counts. */
TEST(test_small_changes)
{
    double before[20], after[20];

    for (int i = 0; i < 20; i++) {
        before[i] = 1000 + i;
        after[i] = 1026 + i;
    }
    assert_true(bench_rank_test(before, 20, after, 20) < 1e-6);
    assert_false(bench_differ(before, 20, after, 20));
    for (int i = 0; i < 20; i++)
        after[i] = 1035 + i;
    assert_true(bench_differ(before, 20, after, 20));
}

/* About a normal one, of standard deviation 1. */
static double
random_deviation(struct test_random *source)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += (double)test_random_below(source, 1u << 30) / (1u << 30);
    return sum;
}

/* Noise alone, wide of 10 %, is taken for a change in less than 2 of 100 pairs; a change by half
 * nearly always found. */
TEST(test_how_often_noise_counts)
{
    struct test_random source = {1};

    for (size_t repeats = 3; repeats <= 9; repeats++) {
        unsigned wrong = 0, found = 0;

        for (int trial = 0; trial < 2000; trial++) {
            double before[9], after[9], moved[9];

            for (size_t i = 0; i < repeats; i++) {
                before[i] = 1000 + 100 * random_deviation(&source);
                after[i] = 1000 + 100 * random_deviation(&source);
                moved[i] = 1600 + 100 * random_deviation(&source);
            }
            wrong += bench_differ(before, repeats, after, repeats);
            found += bench_differ(before, repeats, moved, repeats);
        }
        assert_in_range(wrong, 0, 2000 * 2 / 100);
        assert_in_range(found, 2000 * 3 / 4, 2000);
    }
}

/* ---- files ---- */

static void
write_file(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void
check_metric(const struct bench_series *series, enum bench_metric metric, size_t repeat,
             double wanted)
{
    check_near(series->values[metric][repeat], wanted);
}

/* A file of these results, read again. */
static void
write_and_read(const struct bench_result *result, struct bench_result *again)
{
    char fault[256];

    bench_file_write(&(struct bench_file){.kind = "compare", .name = "compare"}, path, result,
                     NULL);
    if (!bench_file_read(again, path, fault, sizeof fault))
        fail_msg("%s", fault);
}

TEST(test_round_trip)
{
    struct bench_outcome get, scan, count;
    struct bench_result result = {0}, again = {0};
    const struct bench_series *series;

    bench_outcome_init(&get, "get hit", "petal", 2);
    get.name.block_bytes = 4096;
    bench_outcome_init(&scan, "scan", "lmdb", 1);
    bench_outcome_init(&count, "newest", "petal", 1);
    snprintf(count.name.setting, sizeof count.name.setting, "6 files");
    for (int i = 0; i < 3; i++) {
        get.values[BENCH_PER_SECOND] = 1234567.5 + i;
        get.values[BENCH_P50] = 0.25;
        get.values[BENCH_P99] = 0.5 + i;
        get.values[BENCH_FOUND] = i == 1 ? NAN : 7;
        scan.values[BENCH_PER_SECOND] = 10 + i;
        count.values[BENCH_PER_UNIT] = 0;
        assert_true(bench_result_add(&result, &get));
        assert_true(bench_result_add(&result, &scan));
        assert_true(bench_result_add(&result, &count));
    }
    write_and_read(&result, &again);
    assert_int_equal(again.count, 3);
    series = bench_result_find(&again, &get.name);
    assert_non_null(series);
    assert_int_equal(series->count, 3);
    check_metric(series, BENCH_PER_SECOND, 2, 1234569.5);
    check_metric(series, BENCH_P50, 1, 0.25);
    check_metric(series, BENCH_P99, 2, 2.5);
    check_metric(series, BENCH_FOUND, 2, 7);
    assert_true(isnan(series->values[BENCH_FOUND][1]));
    assert_true(isnan(bench_series_median(series, BENCH_FOUND)));
    assert_int_equal(bench_series_measure(series), BENCH_PER_SECOND);
    series = bench_result_find(&again, &scan.name);
    assert_non_null(series);
    check_metric(series, BENCH_PER_SECOND, 1, 11);
    assert_true(isnan(series->values[BENCH_P50][1]));
    series = bench_result_find(&again, &count.name);
    assert_non_null(series);
    assert_int_equal(bench_series_measure(series), BENCH_PER_UNIT);
    check_near(bench_series_median(series, BENCH_PER_UNIT), 0);
    bench_result_free(&result);
    bench_result_free(&again);
}

/* ---- measuring ---- */

TEST(test_rates)
{
    struct bench_histogram *latencies = bench_alloc(sizeof *latencies);
    struct bench_outcome outcome;

    for (uint64_t i = 1; i <= 1000; i++)
        bench_histogram_add(latencies, i * 1000);
    bench_outcome_init(&outcome, "readrandom", "some", 2);
    bench_outcome_set_rate(&outcome, 1000, 0.5, latencies);
    check_near(outcome.values[BENCH_PER_SECOND], 2000);
    check_near(outcome.values[BENCH_MAX], 1000);
    assert_true(outcome.values[BENCH_P99] >= 990 && outcome.values[BENCH_P99] < 1010);
    bench_outcome_init(&outcome, "overwrite", "some", 2);
    bench_outcome_set_rate(&outcome, 10, 2, NULL);
    check_near(outcome.values[BENCH_PER_SECOND], 5);
    assert_true(isnan(outcome.values[BENCH_P50]));
    bench_outcome_init(&outcome, "nothing", "some", 2);
    bench_outcome_set_rate(&outcome, 0, 2, NULL);
    assert_true(isnan(outcome.values[BENCH_PER_SECOND]));
    free(latencies);
}

/* What this process does itself is seen. */
TEST(test_meter)
{
    char name[] = "/tmp/bench_result_test-XXXXXX";
    int file = mkstemp(name);
    uint8_t *bytes = test_allocate(100000);
    struct bench_outcome outcome;
    struct bench_meter meter;

    if (access("/proc/self/io", R_OK) != 0)
        skip(); /* the kernel does not count */
    assert_true(file >= 0);
    memset(bytes, 1, 100000);
    bench_outcome_init(&outcome, "write", "some", 1);
    outcome.values[BENCH_GIVEN] = 50000;
    bench_meter_begin(&meter);
    assert_int_equal(write(file, bytes, 100000), 100000);
    assert_int_equal(pread(file, bytes, 50000, 0), 50000);
    bench_outcome_set_usage(&outcome, &meter, 3000, 2000);
    assert_true(outcome.values[BENCH_WRITTEN] >= 100000 && outcome.values[BENCH_WRITTEN] < 110000);
    assert_true(outcome.values[BENCH_READ] >= 50000 && outcome.values[BENCH_READ] < 60000);
    assert_true(outcome.values[BENCH_PEAK] > 0 && outcome.values[BENCH_CPU] >= 0);
    assert_true(outcome.values[BENCH_WRITE_AMPLIFICATION] >= 2);
    assert_true(isnan(outcome.values[BENCH_READ_AMPLIFICATION]));
    check_near(outcome.values[BENCH_SPACE_AMPLIFICATION], 1.5);
    close(file);
    unlink(name);
    free(bytes);
}

TEST(test_settings)
{
    uint64_t count = 7;
    size_t bytes = 4096;
    double half = 0.5;
    bool flag = true;
    const char *text = "here", *none = NULL;
    struct bench_list list = {{1, 2}, 2};
    const struct bench_option options[] = {
        {"--num", BENCH_COUNT, &count},    {"--block-size", BENCH_BYTES, &bytes},
        {"--ratio", BENCH_NUMBER, &half},  {"--sync", BENCH_FLAG, &flag},
        {"--store", BENCH_TEXT, &text},    {"--db", BENCH_TEXT, &none},
        {"--threads", BENCH_COUNTS, &list}};
    const struct bench_file file = {.kind = "compare",
                                    .name = "compare",
                                    .options = options,
                                    .option_count = sizeof options / sizeof *options};
    const struct bench_result none_there = {0};
    const json_t *settings;
    json_t *whole;

    bench_file_write(&file, path, &none_there, NULL);
    whole = json_load_file(path, 0, NULL);
    settings = json_object_get(whole, "settings");
    check_near(json_number_value(json_object_get(settings, "num")), 7);
    check_near(json_number_value(json_object_get(settings, "block_size")), 4096);
    check_near(json_number_value(json_object_get(settings, "ratio")), 0.5);
    assert_true(json_is_true(json_object_get(settings, "sync")));
    assert_string_equal(json_string_value(json_object_get(settings, "store")), "here");
    assert_true(json_is_null(json_object_get(settings, "db")));
    assert_int_equal(json_integer_value(json_array_get(json_object_get(settings, "threads"), 1)),
                     2);
    json_decref(whole);
}

/* ---- hostile files ---- */

#define RESULT(operation, block, threads, lists)                                                   \
    "{\"kind\":\"compare\",\"results\":[{\"operation\":" operation                                 \
    ",\"store\":\"petal\",\"block_bytes\":" block ",\"threads\":" threads "," lists "}]}"

TEST(test_hostile_files)
{
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"", "line 1"},
        {"{\"kind\": \"compare\",\n\"results\": [", "line 2"},
        {"[1]", "kind"},
        {"{\"kind\":7}", "kind"},
        {"{\"kind\":\"compare\",\"kind\":\"compare\"}", "duplicate"},
        {"{\"kind\":\"compare\"}", "results"},
        {"{\"kind\":\"compare\",\"results\":[]}", "results"},
        {"{\"kind\":\"compare\",\"results\":[7]}", "results[0].operation"},
        {RESULT("\"\"", "1", "1", "\"per_second\":[1]"), "results[0].operation"},
        {RESULT("\"a123456789a123456789a123456789a123456789a123456789\"", "1", "1",
                "\"per_second\":[1]"),
         "results[0].operation"},
        {RESULT("\"get\"", "-1", "1", "\"per_second\":[1]"), "results[0].block_bytes"},
        {RESULT("\"get\"", "1", "1.5", "\"per_second\":[1]"), "results[0].threads"},
        {RESULT("\"get\"", "1", "99999999", "\"per_second\":[1]"), "results[0].threads"},
        {RESULT("\"get\"", "1", "1", "\"per_second\":[]"), "results[0].per_second"},
        {RESULT("\"get\"", "1", "1", "\"per_second\":[0]"), "results[0].per_second"},
        {RESULT("\"get\"", "1", "1", "\"per_second\":[1,\"2\"]"), "results[0].per_second"},
        {RESULT("\"get\"", "1", "1", "\"per_second\":[1e999]"), "line 1"},
        {RESULT("\"get\"", "1", "1", "\"per_second\":7"), "results[0].per_second"},
        {RESULT("\"get\"", "1", "1", "\"per_second\":[1,2],\"p50_us\":[1]"), "results[0].p50_us"},
        {RESULT("\"get\"", "1", "1", "\"per_second\":[1],\"p99_us\":[-1]"), "results[0].p99_us"},
        {RESULT("\"get\"", "1", "1", "\"per_second\":[null]"), "results[0].per_second"},
        {RESULT("\"get\"", "1", "1", "\"per_unit\":[-1]"), "results[0].per_unit"},
        {RESULT("\"get\"", "1", "1", "\"per_unit\":[]"), "results[0].per_unit"},
        {RESULT("\"get\"", "1", "1", "\"found\":[1]"), "results[0].per_second"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench_result result = {0};
        char fault[256] = "";

        write_file(cases[i].text);
        if (bench_file_read(&result, path, fault, sizeof fault))
            fail_msg("read: %s", cases[i].text);
        if (strstr(fault, path) == NULL && strstr(fault, "line") == NULL)
            fail_msg("no place: %s", fault);
        if (strstr(fault, cases[i].fault) == NULL)
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].text, fault, cases[i].fault);
        bench_result_free(&result);
    }
}

/* More repeats than a series holds; the same series twice; a file that is not there. */
TEST(test_too_much)
{
    struct bench_result result = {0};
    char fault[256], text[4096] = "";

    for (int i = 0; i <= BENCH_MOST_REPEATS; i++)
        strcat(text, i == 0 ? "{\"kind\":\"compare\",\"results\":[{\"operation\":\"a\","
                              "\"store\":\"b\",\"block_bytes\":1,\"threads\":1,\"per_second\":[1"
                            : ",1");
    strcat(text, "]}]}");
    write_file(text);
    assert_false(bench_file_read(&result, path, fault, sizeof fault));
    assert_non_null(strstr(fault, "per_second"));
    bench_result_free(&result);
    write_file(
        "{\"kind\":\"compare\",\"results\":["
        "{\"operation\":\"a\",\"store\":\"b\",\"block_bytes\":1,\"threads\":1,\"per_second\":[1]},"
        "{\"operation\":\"a\",\"store\":\"b\",\"block_bytes\":1,\"threads\":1,\"per_second\":[1]}]"
        "}");
    assert_false(bench_file_read(&result, path, fault, sizeof fault));
    assert_non_null(strstr(fault, "results[1]"));
    bench_result_free(&result);
    assert_false(bench_file_read(&result, "/nowhere/at-all.json", fault, sizeof fault));
    assert_non_null(strstr(fault, "/nowhere/at-all.json"));
}

static int
remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

TEST_GROUP(NULL, remove_file);

int
main(void)
{
    int file = mkstemp(path);

    if (file < 0)
        return 2;
    close(file);
    return test_run();
}
