/* result.c -- see tools/bench/results/result.h. */
#include "tools/bench/results/result.h"

#include "tools/bench/harness/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- measuring ---- */

void
bench_meter_begin(struct bench_meter *meter)
{
    bench_process_reset_peak();
    bench_io_get(&meter->io);
    bench_machine_get(&meter->machine);
}

void
bench_outcome_init(struct bench_outcome *outcome, const char *operation, const char *store,
                   unsigned threads)
{
    *outcome = (struct bench_outcome){.name.threads = threads};
    snprintf(outcome->name.operation, sizeof outcome->name.operation, "%s", operation);
    snprintf(outcome->name.store, sizeof outcome->name.store, "%s", store);
    for (int i = 0; i < BENCH_METRIC_COUNT; i++)
        outcome->values[i] = NAN;
}

void
bench_outcome_set_rate(struct bench_outcome *outcome, uint64_t operations, double seconds,
                       const struct bench_histogram *latencies)
{
    double *values = outcome->values;

    values[BENCH_OPERATIONS] = (double)operations;
    values[BENCH_SECONDS] = seconds;
    if (operations > 0 && seconds > 0)
        values[BENCH_PER_SECOND] = (double)operations / seconds;
    if (latencies == NULL || latencies->total == 0)
        return;
    values[BENCH_P50] = (double)bench_histogram_share(latencies, 0.5) / 1e3;
    values[BENCH_P99] = (double)bench_histogram_share(latencies, 0.99) / 1e3;
    values[BENCH_P999] = (double)bench_histogram_share(latencies, 0.999) / 1e3;
    values[BENCH_MAX] = (double)latencies->greatest / 1e3;
}

void
bench_outcome_set_usage(struct bench_outcome *outcome, const struct bench_meter *meter,
                        uint64_t disk_bytes, uint64_t live_bytes)
{
    double *values = outcome->values;
    struct bench_machine machine;
    struct bench_io io;

    bench_machine_get(&machine);
    bench_machine_taken(&meter->machine, &machine, &values[BENCH_BUSY], &values[BENCH_CPU],
                        &values[BENCH_MACHINE]);
    bench_io_get(&io);
    io.written -= meter->io.written;
    io.device_written -= meter->io.device_written;
    io.read -= meter->io.read;
    io.device_read -= meter->io.device_read;
    values[BENCH_WRITTEN] = (double)io.written;
    values[BENCH_DEVICE_WRITTEN] = (double)io.device_written;
    values[BENCH_READ] = (double)io.read;
    values[BENCH_DEVICE_READ] = (double)io.device_read;
    values[BENCH_PEAK] = (double)bench_resident_peak();
    values[BENCH_DISK] = (double)disk_bytes;
    values[BENCH_LIVE] = (double)live_bytes;
    if (values[BENCH_GIVEN] > 0)
        values[BENCH_WRITE_AMPLIFICATION] = (double)bench_io_written(&io) / values[BENCH_GIVEN];
    if (values[BENCH_ANSWERED] > 0)
        values[BENCH_READ_AMPLIFICATION] = (double)bench_io_read(&io) / values[BENCH_ANSWERED];
    if (live_bytes > 0)
        values[BENCH_SPACE_AMPLIFICATION] = (double)disk_bytes / (double)live_bytes;
}

struct bench_outcome
bench_outcome_of_count(const char *operation, const char *setting, double per_unit)
{
    struct bench_outcome outcome;

    bench_outcome_init(&outcome, operation, BENCH_SUBJECT, 1);
    snprintf(outcome.name.setting, sizeof outcome.name.setting, "%s", setting);
    outcome.values[BENCH_PER_UNIT] = per_unit;
    return outcome;
}

/* ---- in memory ---- */

bool
bench_is_same_operation(const struct bench_name *a, const struct bench_name *b)
{
    return a->block_bytes == b->block_bytes && a->threads == b->threads &&
           strcmp(a->operation, b->operation) == 0 && strcmp(a->setting, b->setting) == 0;
}

const struct bench_series *
bench_result_find(const struct bench_result *result, const struct bench_name *name)
{
    for (size_t i = 0; i < result->count; i++) {
        const struct bench_name *other = &result->series[i].name;

        if (bench_is_same_operation(other, name) && strcmp(other->store, name->store) == 0)
            return &result->series[i];
    }
    return NULL;
}

struct bench_series *
bench_result_append(struct bench_result *result, const struct bench_name *name)
{
    struct bench_series *series;

    if (result->count == BENCH_MOST_SERIES)
        return NULL;
    if (result->count == result->capacity) {
        size_t capacity = result->capacity == 0 ? 32 : 2 * result->capacity;

        series = realloc(result->series, capacity * sizeof *series);
        if (series == NULL)
            bench_fail("go on", "out of memory");
        result->series = series;
        result->capacity = capacity;
    }
    series = &result->series[result->count++];
    series->name = *name;
    series->count = 0;
    for (int metric = 0; metric < BENCH_METRIC_COUNT; metric++) {
        for (size_t i = 0; i < BENCH_MOST_REPEATS; i++)
            series->values[metric][i] = NAN;
    }
    return series;
}

bool
bench_result_add(struct bench_result *result, const struct bench_outcome *outcome)
{
    const struct bench_series *found = bench_result_find(result, &outcome->name);
    struct bench_series *series = found != NULL ? &result->series[found - result->series]
                                                : bench_result_append(result, &outcome->name);

    if (series == NULL || series->count == BENCH_MOST_REPEATS)
        return false;
    for (int metric = 0; metric < BENCH_METRIC_COUNT; metric++)
        series->values[metric][series->count] = outcome->values[metric];
    series->count++;
    return true;
}

void
bench_result_free(struct bench_result *result)
{
    free(result->series);
    *result = (struct bench_result){0};
}

double
bench_series_median(const struct bench_series *series, enum bench_metric metric)
{
    for (size_t i = 0; i < series->count; i++) {
        if (isnan(series->values[metric][i]))
            return NAN;
    }
    return series->count > 0 ? bench_spread_of(series->values[metric], series->count).median : NAN;
}

enum bench_metric
bench_series_measure(const struct bench_series *series)
{
    return isnan(bench_series_median(series, BENCH_PER_UNIT)) ? BENCH_PER_SECOND : BENCH_PER_UNIT;
}

struct bench_spread
bench_series_ratio(const struct bench_series *petal, const struct bench_series *other)
{
    enum bench_metric measure = bench_series_measure(other);
    bool counts = measure == BENCH_PER_UNIT;
    const struct bench_series *over = counts ? petal : other, *under = counts ? other : petal;
    double ratios[BENCH_MOST_REPEATS];
    size_t count = bench_ratios(over->values[measure], over->count, under->values[measure],
                                under->count, ratios);

    return bench_spread_of(ratios, count);
}

/* A metric's values in all stores and repeats of an operation, those left out that are not known.
 */
static double
sum(const struct bench_result *result, const struct bench_name *name, enum bench_metric metric)
{
    double all = 0;

    for (size_t i = 0; i < result->count; i++) {
        const struct bench_series *series = &result->series[i];

        for (size_t r = 0; bench_is_same_operation(&series->name, name) && r < series->count; r++) {
            if (!isnan(series->values[BENCH_BUSY][r]) && !isnan(series->values[metric][r]))
                all += series->values[metric][r];
        }
    }
    return all;
}

double
bench_result_seconds(const struct bench_result *result, const struct bench_name *name)
{
    return sum(result, name, BENCH_MACHINE);
}

double
bench_result_others(const struct bench_result *result, const struct bench_name *name)
{
    return bench_others_share(sum(result, name, BENCH_BUSY), sum(result, name, BENCH_CPU),
                              sum(result, name, BENCH_MACHINE));
}
