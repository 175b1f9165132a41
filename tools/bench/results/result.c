/* result.c -- see tools/bench/results/result.h. */
#include "tools/bench/results/result.h"

#include "tools/bench/harness/json.h"
#include "tools/bench/harness/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_THREADS 65536

/* The lists of a series: their names in files. */
static const struct {
    const char *name;
    size_t offset;
    bool needed; /* and above zero */
} lists[] = {
    {"per_second", offsetof(struct bench_series, per_second), true},
    {"p50_us", offsetof(struct bench_series, p50_us), false},
    {"p99_us", offsetof(struct bench_series, p99_us), false},
    {"cpu_us_per_operation", offsetof(struct bench_series, cpu_us), false},
};
#define LISTS (sizeof lists / sizeof *lists)

static double *
list_of(struct bench_series *series, size_t list)
{
    return (double *)(void *)((char *)series + lists[list].offset);
}

static const double *
list_in(const struct bench_series *series, size_t list)
{
    return (const double *)(const void *)((const char *)series + lists[list].offset);
}

/* ---- in memory ---- */

static bool
same_name(const struct bench_series_name *a, const struct bench_series_name *b)
{
    return a->block_bytes == b->block_bytes && a->threads == b->threads &&
           strcmp(a->operation, b->operation) == 0 && strcmp(a->store, b->store) == 0;
}

const struct bench_series *
bench_result_find(const struct bench_result *result, const struct bench_series_name *name)
{
    for (size_t i = 0; i < result->count; i++) {
        if (same_name(&result->series[i].name, name))
            return &result->series[i];
    }
    return NULL;
}

/* A new series, empty. */
static struct bench_series *
append(struct bench_result *result, const struct bench_series_name *name)
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
    *series = (struct bench_series){.name = *name};
    return series;
}

bool
bench_result_add(struct bench_result *result, const struct bench_series_name *name,
                 const struct bench_measurement *measured)
{
    const struct bench_series *found = bench_result_find(result, name);
    struct bench_series *series =
        found != NULL ? &result->series[found - result->series] : append(result, name);

    if (series == NULL || series->count == BENCH_MOST_REPEATS)
        return false;
    series->per_second[series->count] = measured->per_second;
    series->p50_us[series->count] = measured->p50_us;
    series->p99_us[series->count] = measured->p99_us;
    series->cpu_us[series->count] = measured->cpu_us;
    series->count++;
    return true;
}

void
bench_result_free(struct bench_result *result)
{
    free(result->series);
    *result = (struct bench_result){0};
}

size_t
bench_series_ratios(const struct bench_series *over, const struct bench_series *under,
                    double ratios[BENCH_MOST_REPEATS])
{
    return bench_ratios(over->per_second, over->count, under->per_second, under->count, ratios);
}

/* ---- writing ---- */

static json_t *
list_to_json(const double *values, size_t count)
{
    json_t *list = bench_json_list();
    bool measured = false;

    for (size_t i = 0; i < count; i++)
        measured = measured || values[i] > 0;
    for (size_t i = 0; measured && i < count; i++)
        bench_json_append(list, json_real(values[i]));
    return list;
}

static json_t *
series_to_json(const struct bench_series *series)
{
    json_t *object = bench_json_object();

    bench_json_set(object, "operation", json_string(series->name.operation));
    bench_json_set(object, "store", json_string(series->name.store));
    bench_json_set_count(object, "block_bytes", series->name.block_bytes);
    bench_json_set_count(object, "threads", series->name.threads);
    for (size_t list = 0; list < LISTS; list++)
        bench_json_set(object, lists[list].name,
                       list_to_json(list_in(series, list), series->count));
    return object;
}

void
bench_result_write(const struct bench_result *result, json_t *head, const char *path)
{
    json_t *whole = json_copy(head), *results = bench_json_list();

    for (size_t i = 0; i < result->count; i++)
        bench_json_append(results, series_to_json(&result->series[i]));
    bench_json_set(whole, "results", results);
    bench_json_write(whole, path);
    json_decref(whole);
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
    const json_t *number = json_object_get(element, member);

    if (!json_is_integer(number))
        return wrong(reader, member, "no whole number is there");
    if (json_integer_value(number) < 0 || json_integer_value(number) > most)
        return wrong(reader, member, "the number is out of range");
    *value = (uint64_t)json_integer_value(number);
    return true;
}

static bool
read_list(struct reader *reader, const json_t *element, size_t list, struct bench_series *series)
{
    const char *member = lists[list].name;
    const json_t *values = json_object_get(element, member);
    size_t count = json_array_size(values);

    if (!json_is_array(values))
        return lists[list].needed || values != NULL ? wrong(reader, member, "no list is there")
                                                    : true;
    if (lists[list].needed && (count == 0 || count > BENCH_MOST_REPEATS))
        return wrong(reader, member, "a list of 1 to 64 numbers is needed");
    if (lists[list].needed)
        series->count = count;
    if (count != 0 && count != series->count)
        return wrong(reader, member, "as many numbers as in per_second are needed, or none");
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(values, i);
        double value = json_number_value(number);

        if (!json_is_number(number) || !isfinite(value) || value < 0 ||
            (lists[list].needed && value <= 0))
            return wrong(reader, member, "not a number above zero");
        list_of(series, list)[i] = value;
    }
    return true;
}

static bool
read_series(struct reader *reader, const json_t *element)
{
    struct bench_series_name name = {.threads = 1};
    struct bench_series *series;
    uint64_t threads;

    if (!read_name(reader, element, "operation", name.operation) ||
        !read_name(reader, element, "store", name.store) ||
        !read_integer(reader, element, "block_bytes", INT64_MAX, &name.block_bytes) ||
        !read_integer(reader, element, "threads", MOST_THREADS, &threads))
        return false;
    name.threads = (unsigned)threads;
    if (bench_result_find(reader->result, &name) != NULL)
        return wrong(reader, "operation", "the same store and operation are there twice");
    series = append(reader->result, &name);
    if (series == NULL)
        return wrong(reader, "operation", "too many results");
    for (size_t list = 0; list < LISTS; list++) {
        if (!read_list(reader, element, list, series))
            return false;
    }
    return true;
}

/* An element of a file of kind "workloads": one repeat. */
static bool
read_workload(struct reader *reader, const json_t *element)
{
    const json_t *rate = json_object_get(element, "ops_per_second");
    struct bench_measurement measured = {.per_second = json_number_value(rate)};
    struct bench_series_name name = {.threads = 1};
    uint64_t threads;

    if (!read_name(reader, element, "workload", name.operation) ||
        !read_name(reader, element, "store", name.store) ||
        !read_integer(reader, element, "threads", MOST_THREADS, &threads))
        return false;
    name.threads = (unsigned)threads;
    if (json_is_null(rate))
        return true; /* it took no time */
    if (!json_is_number(rate) || !isfinite(measured.per_second) || measured.per_second < 0)
        return wrong(reader, "ops_per_second", "not a number above zero");
    if (measured.per_second <= 0)
        return true; /* it did nothing */
    if (!bench_result_add(reader->result, &name, &measured))
        return wrong(reader, "workload", "too many results");
    return true;
}

static bool
read_whole(struct reader *reader, const json_t *whole)
{
    const json_t *results = json_object_get(whole, "results");
    const char *kind = json_string_value(json_object_get(whole, "kind"));
    bool workloads = kind != NULL && strcmp(kind, "workloads") == 0;

    if (kind == NULL || (!workloads && strcmp(kind, "compare") != 0)) {
        snprintf(reader->fault, reader->fault_bytes,
                 "%s: kind: neither \"compare\" nor \"workloads\"", reader->path);
        return false;
    }
    snprintf(reader->result->kind, sizeof reader->result->kind, "%s", kind);
    if (!json_is_array(results) || json_array_size(results) == 0) {
        snprintf(reader->fault, reader->fault_bytes,
                 "%s: results: no list is there, or it is empty", reader->path);
        return false;
    }
    for (reader->index = 0; reader->index < json_array_size(results); reader->index++) {
        const json_t *element = json_array_get(results, reader->index);

        if (!(workloads ? read_workload(reader, element) : read_series(reader, element)))
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
    bool read;

    if (whole == NULL) {
        if (error.line > 0)
            snprintf(fault, fault_bytes, "%s: line %d, column %d: %s", path, error.line,
                     error.column, error.text);
        else
            snprintf(fault, fault_bytes, "%s", error.text); /* it names the file */
        return false;
    }
    read = read_whole(&reader, whole);
    json_decref(whole);
    return read;
}
