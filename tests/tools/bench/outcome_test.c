/* outcome_test.c -- a report of kv-bench's workloads as JSON, read back: every number where it belongs. */
#include "tools/bench/results/outcome.h"

#include "tests/support/test_support.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void
describe(const struct bench_config *config, char *text, size_t bytes)
{
    snprintf(text, bytes, "%zu-byte \"blocks\"", config->block_bytes);
}

static const struct bench_store store = {.name = "some", .describe = describe};

/* Two workloads, the second of two kinds and without answers, a third that the store does not have. */
static struct bench_report *
make_report(void)
{
    struct bench_report *report = bench_alloc(sizeof *report);
    struct bench_histogram *latencies = bench_alloc(sizeof *latencies);
    struct bench_config config = {.block_bytes = 4096};
    struct bench_tally *tally = bench_report_add(report, &store, &config);
    struct bench_outcome *outcome = bench_tally_add(tally, "readrandom", 2);

    for (uint64_t i = 1; i <= 1000; i++)
        bench_histogram_add(latencies, i * 1000);
    bench_part_set(&outcome->all, "readrandom", 1000, latencies);
    outcome->seconds = 0.5;
    outcome->found = 900;
    outcome->wrong = 3;
    outcome->answered = 90000;
    outcome->usage.io = (struct bench_io){.read = 180000, .device_read = 4096};
    outcome->usage.peak_bytes = 12345;
    outcome->disk_bytes = 3000;
    outcome->live_bytes = 2000;
    outcome = bench_tally_add(tally, "overwrite", 1);
    bench_part_set(&outcome->all, "overwrite", 10, NULL);
    bench_part_set(&outcome->parts[0], "read", 4, latencies);
    bench_part_set(&outcome->parts[1], "write", 6, latencies);
    outcome->part_count = 2;
    outcome->seconds = 2;
    outcome->given = 1000;
    outcome->wrong = 1;
    outcome->usage.io = (struct bench_io){.written = 1000, .device_written = 4000};
    bench_tally_add(tally, "compact", 1)->skipped = true;
    bench_tally_add_usage(tally, &tally->outcomes[0]);
    bench_tally_add_usage(tally, &tally->outcomes[1]);
    free(latencies);
    return report;
}

static json_t *
write_and_read(const struct bench_report *report)
{
    char path[] = "/tmp/bench_outcome_test-XXXXXX";
    int file = mkstemp(path);
    uint64_t count = 7;
    size_t bytes = 4096;
    double number = 0.5;
    bool flag = true;
    const char *text = "here", *none = NULL;
    const struct bench_option options[] = {
        {"--num", BENCH_COUNT, &count},     {"--block-size", BENCH_BYTES, &bytes},
        {"--ratio", BENCH_NUMBER, &number}, {"--sync", BENCH_FLAG, &flag},
        {"--store", BENCH_TEXT, &text},     {"--db", BENCH_TEXT, &none}};
    json_t *head = json_pack("{s:s}", "kind", "workloads"), *whole;

    assert_true(file >= 0);
    close(file);
    bench_report_write(report, head, path, options, 6);
    json_decref(head);
    whole = json_load_file(path, 0, NULL);
    assert_non_null(whole);
    unlink(path);
    return whole;
}

static void
check_number(const json_t *object, const char *name, double wanted)
{
    const json_t *value = json_object_get(object, name);

    assert_true(json_is_number(value));
    if (fabs(json_number_value(value) - wanted) > 1e-9)
        fail_msg("%s is %f, wanted %f", name, json_number_value(value), wanted);
}

static void
test_results(void **state)
{
    struct bench_report *report = make_report();
    json_t *whole = write_and_read(report), *results = json_object_get(whole, "results");
    const json_t *first = json_array_get(results, 0), *second = json_array_get(results, 1);
    const json_t *parts = json_object_get(second, "parts");
    double p99;

    (void)state;
    assert_int_equal(json_array_size(results), 2);
    assert_string_equal(json_string_value(json_object_get(first, "store")), "some");
    assert_string_equal(json_string_value(json_object_get(first, "workload")), "readrandom");
    check_number(first, "threads", 2);
    check_number(first, "operations", 1000);
    check_number(first, "ops_per_second", 2000);
    check_number(first, "found", 900);
    check_number(first, "wrong", 3);
    check_number(first, "read_amplification", 2);
    check_number(first, "space_amplification", 1.5);
    check_number(first, "peak_memory_bytes", 12345);
    check_number(first, "max_us", 1000);
    p99 = json_number_value(json_object_get(first, "p99_us"));
    assert_true(p99 >= 990 && p99 < 1010);
    assert_true(json_is_null(json_object_get(first, "write_amplification")));
    assert_null(json_object_get(first, "parts"));
    check_number(second, "write_amplification", 4);
    check_number(second, "ops_per_second", 5);
    assert_true(json_is_null(json_object_get(second, "p50_us")));
    assert_int_equal(json_array_size(parts), 2);
    check_number(json_array_get(parts, 1), "count", 6);
    assert_string_equal(json_string_value(json_object_get(json_array_get(parts, 1), "operation")),
                        "write");
    assert_true(bench_report_wrong(report) == 4);
    json_decref(whole);
    free(report);
}

static void
test_settings_and_stores(void **state)
{
    struct bench_report *report = make_report();
    json_t *whole = write_and_read(report);
    const json_t *settings = json_object_get(whole, "settings");
    const json_t *stores = json_object_get(whole, "stores"), *only = json_array_get(stores, 0);

    (void)state;
    assert_string_equal(json_string_value(json_object_get(whole, "kind")), "workloads");
    check_number(settings, "num", 7);
    check_number(settings, "block_size", 4096);
    check_number(settings, "ratio", 0.5);
    assert_true(json_is_true(json_object_get(settings, "sync")));
    assert_string_equal(json_string_value(json_object_get(settings, "store")), "here");
    assert_true(json_is_null(json_object_get(settings, "db")));
    assert_int_equal(json_array_size(stores), 1);
    assert_string_equal(json_string_value(json_object_get(only, "describe")),
                        "4096-byte \"blocks\"");
    check_number(only, "given_bytes", 1000);
    check_number(only, "peak_memory_bytes", 12345);
    json_decref(whole);
    free(report);
}

/* What this process does itself is seen. */
static void
test_meter(void **state)
{
    char path[] = "/tmp/bench_outcome_test-XXXXXX";
    int file = mkstemp(path);
    uint8_t *bytes = test_allocate(100000);
    struct bench_meter meter;
    struct bench_usage usage = {0};

    (void)state;
    if (access("/proc/self/io", R_OK) != 0)
        skip(); /* the kernel does not count */
    assert_true(file >= 0);
    memset(bytes, 1, 100000);
    bench_meter_begin(&meter);
    assert_int_equal(write(file, bytes, 100000), 100000);
    assert_int_equal(pread(file, bytes, 50000, 0), 50000);
    bench_meter_end(&meter, &usage);
    assert_true(usage.io.written >= 100000 && usage.io.written < 110000);
    assert_true(usage.io.read >= 50000 && usage.io.read < 60000);
    assert_true(usage.peak_bytes > 0 && usage.cpu_seconds >= 0);
    close(file);
    unlink(path);
    free(bytes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_settings_and_stores),
        cmocka_unit_test(test_meter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
