/* file.c -- see tools/bench/results/file.h. Out of memory, jansson's calls pass NULL on: some member
 * is missing then. */
#include "tools/bench/results/file.h"

#include "tools/bench/harness/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS 65536

static const char *const metric_names[BENCH_METRIC_COUNT] = {
#define NAME(name, text) [BENCH_##name] = text,
    BENCH_METRICS(NAME)
#undef NAME
};

/* ---- what all begin with ---- */

void
bench_processor_name(char *name, size_t bytes)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[512];

    snprintf(name, bytes, "unknown");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');

        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            snprintf(name, bytes, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (file != NULL)
        fclose(file);
}

static json_t *
machine(void)
{
    struct utsname system = {0};
    char processor[512], kernel[256] = "unknown";

    bench_processor_name(processor, sizeof processor);
    if (uname(&system) == 0)
        snprintf(kernel, sizeof kernel, "%.64s %.64s", system.sysname, system.release);
    return json_pack("{s:s, s:I, s:I, s:s}", "cpu", processor, "cores",
                     (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "memory",
                     (json_int_t)sysconf(_SC_PHYS_PAGES) * (json_int_t)sysconf(_SC_PAGESIZE),
                     "kernel", kernel);
}

/* The words of a command, for people; to be freed. */
static char *
command_line(const char *name, int argc, char **argv)
{
    size_t bytes = sizeof "kv-bench " + strlen(name);
    char *line;

    for (int i = 0; i < argc; i++)
        bytes += strlen(argv[i]) + 1;
    line = bench_alloc(bytes);
    strcat(strcpy(line, "kv-bench "), name);
    for (int i = 0; i < argc; i++)
        strcat(strcat(line, " "), argv[i]);
    return line;
}

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
        list = json_array();
        for (size_t i = 0; i < numbers->count; i++)
            json_array_append_new(list, json_integer((json_int_t)numbers->values[i]));
        return list;
    case BENCH_TEXT:
    case BENCH_OUTPUT:
        text = *(const char *const *)option->value;
        return text != NULL ? json_string(text) : json_null();
    }
    return json_null();
}

static json_t *
settings_to_json(const struct bench_option *options, size_t count)
{
    json_t *object = json_object();

    for (size_t i = 0; i < count; i++) {
        char name[64];

        snprintf(name, sizeof name, "%s", options[i].name + strspn(options[i].name, "-"));
        for (char *at = name; *at != '\0'; at++) {
            if (*at == '-')
                *at = '_';
        }
        json_object_set_new(object, name, option_value(&options[i]));
    }
    return object;
}

static json_t *
head(const struct bench_file *file)
{
    const char *commit = getenv("BENCH_COMMIT");
    char *command = command_line(file->name, file->argc, file->argv), when[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    json_t *whole;

    if (gmtime_r(&now, &parts) != NULL)
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (commit != NULL && commit[0] == '\0')
        commit = NULL;
    whole = json_pack("{s:s, s:s, s:o, s:s?, s:s, s:o}", "kind", file->kind, "time", when,
                      "machine", machine(), "commit", commit, "command", command, "settings",
                      settings_to_json(file->options, file->option_count));
    free(command);
    return whole;
}

/* ---- writing ---- */

struct bench_file
bench_file_of(const char *name, int argc, char **argv, const struct bench_option *options,
              size_t option_count)
{
    return (struct bench_file){.kind = name,
                               .name = name,
                               .argc = argc,
                               .argv = argv,
                               .options = options,
                               .option_count = option_count};
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
        json_t *list = json_array();

        for (size_t i = 0; i < series->count; i++)
            measured = measured || !isnan(series->values[metric][i]);
        for (size_t i = 0; i < series->count; i++)
            json_array_append_new(list, number(series->values[metric][i]));
        if (measured)
            json_object_set(object, metric_names[metric], list);
        json_decref(list);
    }
}

static json_t *
series_to_json(const struct bench_file *file, const struct bench_series *series)
{
    const struct bench_name *name = &series->name;
    json_t *object = json_pack("{s:s, s:s, s:s, s:I, s:I}", "operation", name->operation, "store",
                               name->store, "setting", name->setting, "block_bytes",
                               (json_int_t)name->block_bytes, "threads", (json_int_t)name->threads);
    const char *row, *words;

    bench_metrics_to_json(object, series);
    if (file->name_row != NULL) {
        file->name_row(name->operation, &row, &words);
        json_object_set_new(object, "row", json_string(row));
        json_object_set_new(object, "words", json_string(words));
    }
    return object;
}

void
bench_file_write(const struct bench_file *file, const char *path, const struct bench_result *result,
                 json_t *more)
{
    json_t *whole, *results;
    bool written;
    FILE *to;

    if (path == NULL)
        return;
    to = fopen(path, "w");
    if (to == NULL)
        bench_fail("write results to", path);
    whole = head(file);
    results = json_array();
    for (size_t i = 0; i < result->count; i++) {
        const struct bench_series *series = &result->series[i];

        if (!isnan(bench_series_median(series, bench_series_measure(series)))) /* it did a thing */
            json_array_append_new(results, series_to_json(file, series));
    }
    json_object_update(whole, more);
    json_decref(more);
    json_object_set_new(whole, "results", results);
    written = json_dumpf(whole, to, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0;
    written = fputc('\n', to) != EOF && written;
    if (fclose(to) != 0 || !written)
        bench_fail("write results to", path);
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
    series = bench_result_append(reader->result, &name);
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
bench_file_read(struct bench_result *result, const char *path, char *fault, size_t fault_bytes)
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
