/* result_test.c -- kv-bench's statistics and files of results: medians, ratios, the rule of noise, JSON there and back, hostile JSON. */
#include "tools/bench/results/result.h"

#include "tests/support/test_support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/bench_result_test-XXXXXX";

static void
check_near(double found, double wanted)
{
    if (fabs(found - wanted) > 1e-9 * (1 + fabs(wanted)))
        fail_msg("%.12g instead of %.12g", found, wanted);
}

/* ---- statistics ---- */

static void
test_spreads(void **state)
{
    static const double odd[] = {5, 1, 4, 2, 3}, even[] = {10, 40, 20, 30}, one[] = {7};
    struct bench_spread spread = bench_spread_of(odd, 5);

    (void)state;
    check_near(spread.median, 3);
    check_near(spread.least, 1);
    check_near(spread.greatest, 5);
    check_near(spread.lower, 2);
    check_near(spread.upper, 4);
    spread = bench_spread_of(even, 4);
    check_near(spread.median, 25);
    check_near(spread.lower, 17.5);
    check_near(spread.upper, 32.5);
    check_near(bench_spread_of(one, 1).median, 7);
    check_near(bench_spread_of(one, 1).upper, 7);
    check_near(bench_spread_of(one, 0).median, 0);
}

/* Within repeats: the median of ratios is not the ratio of medians. */
static void
test_ratios(void **state)
{
    static const double over[] = {10, 200, 3000}, under[] = {1, 100, 1000, 5};
    double ratios[BENCH_MOST_REPEATS];

    (void)state;
    assert_int_equal(bench_ratios(over, 3, under, 4, ratios), 3);
    check_near(ratios[0], 10);
    check_near(ratios[1], 2);
    check_near(ratios[2], 3);
    check_near(bench_spread_of(ratios, 3).median, 3);
}

/* Against the tables that books have: U of 4 and 4 values, of 5 and 5. */
static void
test_rank_test(void **state)
{
    static const double low[] = {1, 2, 3, 4, 5}, high[] = {6, 7, 8, 9, 10};
    static const double mixed[] = {1, 2, 3, 4, 7}, above[] = {5, 6, 8, 9, 10};

    (void)state;
    check_near(bench_rank_test(low, 4, high, 4), 2.0 / 70);
    check_near(bench_rank_test(low, 5, high, 5), 2.0 / 252);
    check_near(bench_rank_test(high, 5, low, 5), 2.0 / 252);
    check_near(bench_rank_test(mixed, 5, above, 5), 2.0 * 4 / 252); /* U is 2: 1 + 1 + 2 orders */
    check_near(bench_rank_test(low, 5, low, 5), 1);
    check_near(bench_rank_test(low, 1, high, 1), 1);
}

static void
test_noise_rule(void **state)
{
    static const double five[] = {100, 101, 102, 103, 104},
                        near[] = {105, 105.1, 105.2, 105.3, 105.4};
    static const double far[] = {108, 109, 110, 111, 112}, mixed[] = {103.5, 109, 110, 111, 112};
    static const double three[] = {100, 101, 102}, apart[] = {105, 106, 107};
    static const double touching[] = {103.5, 104.5, 105.5};
    static const double one[] = {100}, more[] = {124}, much_more[] = {126};

    (void)state;
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
static void
test_small_changes(void **state)
{
    double before[20], after[20];

    (void)state;
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

/* Noise alone, wide of 10 %, is taken for a change in less than 2 of 100 pairs; a change by half nearly always found. */
static void
test_how_often_noise_counts(void **state)
{
    struct test_random source = {1};

    (void)state;
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
test_round_trip(void **state)
{
    static const struct bench_series_name get = {"get hit", "petal", 4096, 2};
    static const struct bench_series_name scan = {"scan", "lmdb", 65536, 1};
    struct bench_result result = {0}, again = {0};
    json_t *head = json_pack("{s:s}", "kind", "compare");
    const struct bench_series *series;
    char fault[256];

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_true(bench_result_add(
            &result, &get, &(struct bench_measurement){1234567.5 + i, 0.25, 0.5 + i, 0.75}));
        assert_true(bench_result_add(&result, &scan, &(struct bench_measurement){10 + i, 0, 0, 0}));
    }
    bench_result_write(&result, head, path);
    if (!bench_result_read(&again, path, fault, sizeof fault))
        fail_msg("%s", fault);
    assert_string_equal(again.kind, "compare");
    assert_int_equal(again.count, 2);
    series = bench_result_find(&again, &get);
    assert_non_null(series);
    assert_int_equal(series->count, 3);
    check_near(series->per_second[2], 1234569.5);
    check_near(series->p50_us[1], 0.25);
    check_near(series->p99_us[2], 2.5);
    check_near(series->cpu_us[0], 0.75);
    series = bench_result_find(&again, &scan);
    assert_non_null(series);
    check_near(series->per_second[1], 11);
    check_near(series->p50_us[1], 0);
    json_decref(head);
    bench_result_free(&result);
    bench_result_free(&again);
}

static void
test_workloads(void **state)
{
    static const struct bench_series_name name = {"fillseq", "petal", 0, 1};
    struct bench_result result = {0};
    char fault[256];

    (void)state;
    write_file(
        "{\"kind\":\"workloads\",\"results\":["
        "{\"store\":\"petal\",\"workload\":\"fillseq\",\"threads\":1,\"ops_per_second\":5},"
        "{\"store\":\"petal\",\"workload\":\"fillseq\",\"threads\":1,\"ops_per_second\":7.5},"
        "{\"store\":\"lmdb\",\"workload\":\"compact\",\"threads\":1,\"ops_per_second\":null}"
        "]}");
    if (!bench_result_read(&result, path, fault, sizeof fault))
        fail_msg("%s", fault);
    assert_int_equal(result.count, 1);
    assert_int_equal(bench_result_find(&result, &name)->count, 2);
    check_near(result.series[0].per_second[1], 7.5);
    bench_result_free(&result);
}

#define RESULT(operation, block, threads, lists)                                                   \
    "{\"kind\":\"compare\",\"results\":[{\"operation\":" operation                                 \
    ",\"store\":\"petal\",\"block_bytes\":" block ",\"threads\":" threads "," lists "}]}"

static void
test_hostile_files(void **state)
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
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench_result result = {0};
        char fault[256] = "";

        write_file(cases[i].text);
        if (bench_result_read(&result, path, fault, sizeof fault))
            fail_msg("read: %s", cases[i].text);
        if (strstr(fault, path) == NULL && strstr(fault, "line") == NULL)
            fail_msg("no place: %s", fault);
        if (strstr(fault, cases[i].fault) == NULL)
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].text, fault, cases[i].fault);
        bench_result_free(&result);
    }
}

/* More repeats than a series holds; the same series twice; a file that is not there. */
static void
test_too_much(void **state)
{
    struct bench_result result = {0};
    char fault[256], text[4096] = "";

    (void)state;
    for (int i = 0; i <= BENCH_MOST_REPEATS; i++)
        strcat(text, i == 0 ? "{\"kind\":\"compare\",\"results\":[{\"operation\":\"a\","
                              "\"store\":\"b\",\"block_bytes\":1,\"threads\":1,\"per_second\":[1"
                            : ",1");
    strcat(text, "]}]}");
    write_file(text);
    assert_false(bench_result_read(&result, path, fault, sizeof fault));
    assert_non_null(strstr(fault, "per_second"));
    bench_result_free(&result);
    write_file(
        "{\"kind\":\"compare\",\"results\":["
        "{\"operation\":\"a\",\"store\":\"b\",\"block_bytes\":1,\"threads\":1,\"per_second\":[1]},"
        "{\"operation\":\"a\",\"store\":\"b\",\"block_bytes\":1,\"threads\":1,\"per_second\":[1]}]"
        "}");
    assert_false(bench_result_read(&result, path, fault, sizeof fault));
    assert_non_null(strstr(fault, "results[1]"));
    bench_result_free(&result);
    assert_false(bench_result_read(&result, "/nowhere/at-all.json", fault, sizeof fault));
    assert_non_null(strstr(fault, "/nowhere/at-all.json"));
}

static int
remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spreads),       cmocka_unit_test(test_ratios),
        cmocka_unit_test(test_rank_test),     cmocka_unit_test(test_noise_rule),
        cmocka_unit_test(test_small_changes), cmocka_unit_test(test_how_often_noise_counts),
        cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_workloads),
        cmocka_unit_test(test_hostile_files), cmocka_unit_test(test_too_much),
    };
    int file = mkstemp(path);

    if (file < 0)
        return 2;
    close(file);
    return cmocka_run_group_tests(tests, NULL, remove_file);
}
