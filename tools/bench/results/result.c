/* result.c -- see tools/bench/results/result.h. */
#include "tools/bench/results/result.h"

#include "tools/bench/harness/json.h"
#include "tools/bench/harness/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_THREADS 65536

static const char *const metric_names[BENCH_METRIC_COUNT] = {
#define NAME(name, text) [BENCH_##name] = text,
    BENCH_METRICS(NAME)
#undef NAME
};

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

/* A new series, empty. */
static struct bench_series *
append(struct bench_result *result, const struct bench_name *name)
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
    struct bench_series *series =
        found != NULL ? &result->series[found - result->series] : append(result, &outcome->name);

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

/* ---- writing ---- */

static json_t *
option_value(const struct bench_option *option)
{
    const struct bench_list *numbers = option->value;
    const char *text;
    json_t *list;

    switch (option->kind) {
    case BENCH_FLAG:
        return json_boolean(*(const bool *)option->value);
    case BENCH_COUNT:
        return json_integer((json_int_t) * (const uint64_t *)option->value);
    case BENCH_BYTES:
        return json_integer((json_int_t) * (const size_t *)option->value);
    case BENCH_NUMBER:
        return json_real(*(const double *)option->value);
    case BENCH_COUNTS:
        list = bench_json_list();
        for (size_t i = 0; i < numbers->count; i++)
            bench_json_append(list, json_integer((json_int_t)numbers->values[i]));
        return list;
    case BENCH_TEXT:
        text = *(const char *const *)option->value;
        return text != NULL ? json_string(text) : json_null();
    }
    return json_null();
}

void
bench_settings_to_json(json_t *object, const struct bench_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char name[64];

        snprintf(name, sizeof name, "%s", options[i].name + strspn(options[i].name, "-"));
        for (char *at = name; *at != '\0'; at++) {
            if (*at == '-')
                *at = '_';
        }
        bench_json_set(object, name, option_value(&options[i]));
    }
}

/* Counts without a point. */
static json_t *
number(double value)
{
    if (isnan(value))
        return json_null();
    return value == floor(value) && fabs(value) < 1e15 ? json_integer((json_int_t)value)
                                                       : json_real(value);
}

void
bench_metrics_to_json(json_t *object, const struct bench_series *series)
{
    for (int metric = 0; metric < BENCH_METRIC_COUNT; metric++) {
        bool measured = false;
        json_t *list;

        for (size_t i = 0; i < series->count; i++)
            measured = measured || !isnan(series->values[metric][i]);
        if (!measured)
            continue;
        list = bench_json_list();
        for (size_t i = 0; i < series->count; i++)
            bench_json_append(list, number(series->values[metric][i]));
        bench_json_set(object, metric_names[metric], list);
    }
}

static json_t *
name_to_json(const struct bench_name *name)
{
    json_t *object = bench_json_object();

    bench_json_set(object, "operation", json_string(name->operation));
    bench_json_set(object, "store", json_string(name->store));
    bench_json_set(object, "setting", json_string(name->setting));
    bench_json_set_count(object, "block_bytes", name->block_bytes);
    bench_json_set_count(object, "threads", name->threads);
    return object;
}

json_t *
bench_series_to_json(const struct bench_series *series)
{
    json_t *object = name_to_json(&series->name);

    bench_metrics_to_json(object, series);
    return object;
}

json_t *
bench_count_to_json(const char *operation, const char *setting, uint64_t block_bytes,
                    double per_unit)
{
    struct bench_name name = {.store = BENCH_SUBJECT, .block_bytes = block_bytes, .threads = 1};
    json_t *object, *list = bench_json_list();

    snprintf(name.operation, sizeof name.operation, "%s", operation);
    snprintf(name.setting, sizeof name.setting, "%s", setting);
    object = name_to_json(&name);
    bench_json_append(list, number(per_unit));
    bench_json_set(object, metric_names[BENCH_PER_UNIT], list);
    return object;
}

/* ---- reading ---- */

struct reader {
    struct bench_result *result;
    const char *path;
    size_t index; /* of the element of "results" that is read */
    char *fault;
    size_t fault_bytes;
};

/* Say what is wrong with a member of the element at hand. */
static bool
wrong(struct reader *reader, const char *member, const char *what)
{
    snprintf(reader->fault, reader->fault_bytes, "%s: results[%zu].%s: %s", reader->path,
             reader->index, member, what);
    return false;
}

static bool
read_name(struct reader *reader, const json_t *element, const char *member,
          char name[BENCH_NAME_BYTES])
{
    const json_t *value = json_object_get(element, member);

    if (!json_is_string(value))
        return wrong(reader, member, "no text is there");
    if (json_string_length(value) == 0 || json_string_length(value) >= BENCH_NAME_BYTES)
        return wrong(reader, member, "the text is empty or too long");
    memcpy(name, json_string_value(value), json_string_length(value) + 1);
    return true;
}

static bool
read_integer(struct reader *reader, const json_t *element, const char *member, json_int_t most,
             uint64_t *value)
{
    const json_t *integer = json_object_get(element, member);

    if (!json_is_integer(integer))
        return wrong(reader, member, "no whole number is there");
    if (json_integer_value(integer) < 0 || json_integer_value(integer) > most)
        return wrong(reader, member, "the number is out of range");
    *value = (uint64_t)json_integer_value(integer);
    return true;
}

/* The first list says how many repeats there are: that of what is compared. */
static bool
read_list(struct reader *reader, const json_t *element, enum bench_metric metric, bool compared,
          struct bench_series *series)
{
    const char *member = metric_names[metric];
    const json_t *values = json_object_get(element, member);
    size_t count = json_array_size(values);

    if (!json_is_array(values))
        return compared || values != NULL ? wrong(reader, member, "no list is there") : true;
    if (compared && (count == 0 || count > BENCH_MOST_REPEATS))
        return wrong(reader, member, "a list of 1 to 64 numbers is needed");
    if (compared)
        series->count = count;
    if (count != 0 && count != series->count)
        return wrong(reader, member, "as many numbers as repeats are needed, or none");
    for (size_t i = 0; i < count; i++) {
        const json_t *element_value = json_array_get(values, i);
        double value = json_number_value(element_value);

        if (json_is_null(element_value) && !compared)
            continue;
        if (!json_is_number(element_value) || !isfinite(value) || value < 0 ||
            (metric == BENCH_PER_SECOND && value <= 0))
            return wrong(reader, member, "not a number above zero");
        series->values[metric][i] = value;
    }
    return true;
}

static bool
read_series(struct reader *reader, const json_t *element)
{
    const json_t *setting = json_object_get(element, "setting");
    bool counts = json_object_get(element, metric_names[BENCH_PER_UNIT]) != NULL;
    enum bench_metric compared = counts ? BENCH_PER_UNIT : BENCH_PER_SECOND;
    struct bench_name name = {.threads = 1};
    struct bench_series *series;
    uint64_t threads;

    if (!read_name(reader, element, "operation", name.operation) ||
        !read_name(reader, element, "store", name.store) ||
        (json_string_length(setting) > 0 && !read_name(reader, element, "setting", name.setting)) ||
        !read_integer(reader, element, "block_bytes", INT64_MAX, &name.block_bytes) ||
        !read_integer(reader, element, "threads", MOST_THREADS, &threads))
        return false;
    name.threads = (unsigned)threads;
    if (bench_result_find(reader->result, &name) != NULL)
        return wrong(reader, "operation", "the same store and operation are there twice");
    series = append(reader->result, &name);
    if (series == NULL)
        return wrong(reader, "operation", "too many results");
    if (!read_list(reader, element, compared, true, series))
        return false;
    for (int metric = 0; metric < BENCH_METRIC_COUNT; metric++) {
        if (metric != (int)compared &&
            !read_list(reader, element, (enum bench_metric)metric, false, series))
            return false;
    }
    return true;
}

bool
bench_result_read(struct bench_result *result, const char *path, char *fault, size_t fault_bytes)
{
    struct reader reader = {
        .result = result, .path = path, .fault = fault, .fault_bytes = fault_bytes};
    json_error_t error;
    json_t *whole = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    const json_t *results = json_object_get(whole, "results");
    const char *kind = json_string_value(json_object_get(whole, "kind"));
    bool read = false;

    if (whole == NULL && error.line > 0)
        snprintf(fault, fault_bytes, "%s: line %d, column %d: %s", path, error.line, error.column,
                 error.text);
    else if (whole == NULL)
        snprintf(fault, fault_bytes, "%s", error.text); /* it names the file */
    else if (kind == NULL)
        snprintf(fault, fault_bytes, "%s: kind: no text is there", path);
    else if (!json_is_array(results) || json_array_size(results) == 0)
        snprintf(fault, fault_bytes, "%s: results: no list is there, or it is empty", path);
    else
        read = true;
    for (; read && reader.index < json_array_size(results); reader.index++)
        read = read_series(&reader, json_array_get(results, reader.index));
    json_decref(whole);
    return read;
}
