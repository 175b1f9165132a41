/* outcome_json.c -- a report as JSON; see tools/bench/results/outcome.h. Ratios without a divisor, and latencies that were not taken, are null. */
#include "tools/bench/results/outcome.h"

#include "tools/bench/harness/json.h"

#include <string.h>

static void
set_ratio(json_t *object, const char *name, double value, double of)
{
    bench_json_set(object, name, of > 0 ? json_real(value / of) : json_null());
}

static void
set_latencies(json_t *object, const struct bench_part *part)
{
    const struct {
        const char *name;
        double us;
    } latencies[] = {{"p50_us", part->p50_us},
                     {"p99_us", part->p99_us},
                     {"p999_us", part->p999_us},
                     {"max_us", part->max_us}};

    for (size_t i = 0; i < sizeof latencies / sizeof *latencies; i++)
        bench_json_set(object, latencies[i].name,
                       part->timed && part->count > 0 ? json_real(latencies[i].us) : json_null());
}

static void
set_usage(json_t *object, const struct bench_usage *usage, uint64_t given, uint64_t disk,
          uint64_t live)
{
    bench_json_set_count(object, "given_bytes", given);
    bench_json_set_count(object, "written_bytes", usage->io.written);
    bench_json_set_count(object, "device_written_bytes", usage->io.device_written);
    bench_json_set_count(object, "read_bytes", usage->io.read);
    bench_json_set_count(object, "device_read_bytes", usage->io.device_read);
    bench_json_set_count(object, "disk_bytes", disk);
    bench_json_set_count(object, "live_bytes", live);
    set_ratio(object, "write_amplification", (double)bench_io_written(&usage->io), (double)given);
    set_ratio(object, "space_amplification", (double)disk, (double)live);
    bench_json_set_count(object, "peak_memory_bytes", usage->peak_bytes);
    bench_json_set(object, "cpu_seconds", json_real(usage->cpu_seconds));
}

static json_t *
part_object(const struct bench_part *part)
{
    json_t *object = bench_json_object();

    bench_json_set(object, "operation", json_string(part->operation));
    bench_json_set_count(object, "count", part->count);
    set_latencies(object, part);
    return object;
}

static json_t *
outcome_object(const struct bench_tally *tally, const struct bench_outcome *outcome)
{
    json_t *object = bench_json_object(), *parts;

    bench_json_set(object, "store", json_string(tally->name));
    bench_json_set(object, "workload", json_string(outcome->workload));
    bench_json_set_count(object, "threads", outcome->threads);
    bench_json_set_count(object, "operations", outcome->all.count);
    bench_json_set(object, "seconds", json_real(outcome->seconds));
    set_ratio(object, "ops_per_second", (double)outcome->all.count, outcome->seconds);
    set_latencies(object, &outcome->all);
    bench_json_set_count(object, "found", outcome->found);
    bench_json_set_count(object, "wrong", outcome->wrong);
    bench_json_set_count(object, "answered_bytes", outcome->answered);
    set_ratio(object, "read_amplification", (double)bench_io_read(&outcome->usage.io),
              (double)outcome->answered);
    set_usage(object, &outcome->usage, outcome->given, outcome->disk_bytes, outcome->live_bytes);
    if (outcome->part_count == 0)
        return object;
    parts = bench_json_list();
    for (size_t i = 0; i < outcome->part_count; i++)
        bench_json_append(parts, part_object(&outcome->parts[i]));
    bench_json_set(object, "parts", parts);
    return object;
}

static json_t *
tally_object(const struct bench_tally *tally)
{
    json_t *object = bench_json_object();

    bench_json_set(object, "name", json_string(tally->name));
    bench_json_set(object, "describe", json_string(tally->describe));
    set_usage(object, &tally->usage, tally->given, tally->disk_bytes, tally->live_bytes);
    return object;
}

static json_t *
option_value(const struct bench_option *option)
{
    const char *text;

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
    case BENCH_SIZES:
        break; /* no workload has lists */
    case BENCH_TEXT:
        text = *(const char *const *)option->value;
        return text != NULL ? json_string(text) : json_null();
    }
    return json_null();
}

/* "--key-size" is "key_size". */
static void
set_option(json_t *settings, const struct bench_option *option)
{
    char name[64];

    snprintf(name, sizeof name, "%s", option->name + strspn(option->name, "-"));
    for (char *at = name; *at != '\0'; at++) {
        if (*at == '-')
            *at = '_';
    }
    bench_json_set(settings, name, option_value(option));
}

void
bench_report_write(const struct bench_report *report, json_t *head, const char *path,
                   const struct bench_option *options, size_t option_count)
{
    json_t *whole = json_copy(head), *settings = bench_json_object();
    json_t *stores = bench_json_list(), *results = bench_json_list();

    for (size_t i = 0; i < option_count; i++)
        set_option(settings, &options[i]);
    for (size_t i = 0; i < report->tally_count; i++) {
        const struct bench_tally *tally = &report->tallies[i];

        bench_json_append(stores, tally_object(tally));
        for (size_t j = 0; j < tally->outcome_count; j++) {
            if (!tally->outcomes[j].skipped)
                bench_json_append(results, outcome_object(tally, &tally->outcomes[j]));
        }
    }
    bench_json_set(whole, "settings", settings);
    bench_json_set(whole, "stores", stores);
    bench_json_set(whole, "results", results);
    bench_json_write(whole, path);
    json_decref(whole);
}
