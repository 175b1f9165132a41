/*
 * stats.c -- stats: the database's counters and latencies, also as Prometheus reads them.
 * What is known of a table: tools/shell/admin/stats_table.c.
 */
#include "tools/shell/admin/stats.h"
#include "tools/shell/admin/commands.h"
#include "tools/shell/data/query.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- Counters -------------------------------------------------------------------------------- */

/* The length of the longest name. */
enum { LONGEST_COUNTER = sizeof("filter_false_positives") - 1 };

/* Print one line, if it is wanted: `wanted` NULL or an array with its name. */
static bool
show_text(struct session *session, const struct value *wanted, const char *name, const char *value,
          const char *meaning)
{
    struct text *text = &session->scratch;
    bool listed = wanted == NULL;

    for (size_t i = 0; !listed && i < wanted->count; i++)
        listed = slice_is(value_to_bytes(&session->arena, &wanted->as.items[i]), name);
    if (!listed)
        return false;
    if (format_is_on(&session->output.format)) {
        struct format *format = &session->output.format;
        bool number = value[0] >= '0' && value[0] <= '9';

        format_string(format, name);
        if (number)
            format_number(format, strtoull(value, NULL, 10));
        else
            format_string(format, value);
        format_string(format, meaning);
        return true;
    }
    text_clear(text);
    text_add_string(text, value);
    if (wanted == NULL)
        text_add_format(text, "  %s", meaning);
    output_parts(&session->output, slice_of_string(name), text_slice(text));
    return true;
}

static bool
show_counter(struct session *session, const struct value *wanted, const char *name, uint64_t value,
             const char *meaning)
{
    char digits[24];

    (void)snprintf(digits, sizeof(digits), "%" PRIu64, value);
    return show_text(session, wanted, name, digits, meaning);
}

/* Powers of two, so three digits tell them apart. */
static void
add_bound(struct text *text, uint64_t nanoseconds)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double number = (double)nanoseconds;
    size_t unit = 0;

    if (nanoseconds == UINT64_MAX) {
        text_add_string(text, "more than 34 s");
        return;
    }
    for (; number >= 1000 && unit + 1 < COUNT_OF(units); unit++)
        number /= 1000;
    text_add_format(text, "%.3g %s", number, units[unit]);
}

static void
record_bound(struct format *format, uint64_t timed, uint64_t nanoseconds)
{
    if (timed == 0 || nanoseconds == UINT64_MAX)
        format_null(format);
    else
        format_number(format, nanoseconds);
}

static void
show_latency(struct session *session, enum petal_latency_kind kind, const char *name,
             const char *meaning)
{
    struct format *format = &session->output.format;
    struct text *text = &session->scratch;
    uint64_t timed, half, most;

    half = petal_stats_latency(session->db, kind, 50, &timed);
    most = petal_stats_latency(session->db, kind, 99, NULL);
    if (format_is_on(format)) {
        format_string(format, name);
        format_number(format, timed);
        record_bound(format, timed, half);
        record_bound(format, timed, most);
        format_string(format, meaning);
        return;
    }
    text_clear(text);
    if (timed == 0) {
        text_add_string(text, "none was timed");
    } else {
        text_add_string(text, "p50 ");
        add_bound(text, half);
        text_add_string(text, ", p99 ");
        add_bound(text, most);
        text_add_format(text, ", of %" PRIu64 " timed", timed);
    }
    text_add_format(text, "  how long %s", meaning);
    output_parts(&session->output, slice_of_string(name), text_slice(text));
}

static void
show_latencies(struct session *session)
{
    if (format_is_on(&session->output.format))
        format_begin(&session->output.format, "latency timed p50_ns p99_ns meaning");
    else
        output_header(&session->output, "LATENCY", "UPPER BOUNDS: POWERS OF TWO, FROM 256 ns ON");
#define SHOW_LATENCY(kind, name, meaning)                                                          \
    show_latency(session, PETAL_LATENCY_##kind, #name, meaning);
    PETAL_LATENCY_MAP(SHOW_LATENCY)
#undef SHOW_LATENCY
}

static enum shell_status
show_counters(struct session *session, const struct value *wanted)
{
    static const char *const kinds[PETAL_BLOCK_KINDS] = {"data", "index", "filter"};
    petal_stats stats;
    size_t shown = 0;

    petal_stats_get(session->db, &stats);
    if (format_is_on(&session->output.format))
        format_begin(&session->output.format, "counter value meaning");
    else
        output_table(&session->output, "COUNTER", "VALUE", LONGEST_COUNTER);
#define SHOW_COUNTER(name, meaning)                                                                \
    shown += show_counter(session, wanted, #name, stats.name, meaning);
    PETAL_STATS_MAP(SHOW_COUNTER)
    SHOW_COUNTER(cache_capacity, "block cache: limit in bytes")
    for (size_t kind = 0; kind < PETAL_BLOCK_KINDS; kind++) {
        const struct {
            const char *name, *meaning;
            uint64_t value;
        } counters[] = {
            {"bytes", "bytes in the block cache", stats.cache_bytes[kind]},
            {"blocks", "blocks in the block cache", stats.cache_blocks[kind]},
            {"inserted", "blocks that entered the block cache", stats.cache_inserted[kind]},
            {"evicted", "blocks that had to leave the block cache", stats.cache_evicted[kind]},
        };

        for (size_t i = 0; i < COUNT_OF(counters); i++) {
            char name[40], meaning[80];

            (void)snprintf(name, sizeof(name), "cache_%s_%s", kinds[kind], counters[i].name);
            (void)snprintf(meaning, sizeof(meaning), "%s %s", kinds[kind], counters[i].meaning);
            shown += show_counter(session, wanted, name, counters[i].value, meaning);
        }
    }
    SHOW_COUNTER(memory_limit, "limit of memtables, block cache and open store files together")
    SHOW_COUNTER(memtable_memory, "bytes of memtables, those that are being flushed included")
    SHOW_COUNTER(file_memory, "bytes of index roots, facts and handles of open store files")
    SHOW_COUNTER(flushes_waiting, "flushes that wait or run")
    SHOW_COUNTER(compactions_running, "compactions that run")
#undef SHOW_COUNTER
    shown += show_text(session, wanted, "read_only", stats.read_only ? "true" : "false",
                       "whether the database takes no writes");
    shown +=
        show_text(session, wanted, "background_error",
                  stats.background_error.status == PETAL_OK ? "none" : stats.background_error.text,
                  "what failed last in the background and was not made good");
    if (wanted == NULL)
        show_latencies(session);
    else if (shown < wanted->count)
        return session_fail(
            session, SHELL_NOT_FOUND,
            "There is no counter of one of these names; stats alone lists them all");
    return SHELL_FINE;
}

/* The text ends with a line end, which output_document adds. */
static enum shell_status
show_prometheus(struct session *session)
{
    petal_error error;
    size_t size;
    char *text;

    if (petal_stats_text(session->db, PETAL_PROMETHEUS, &text, &size, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    assert(size > 0 && text[size - 1] == '\n');
    if (output_begin_records(&session->output, "prometheus"))
        format_string(&session->output.format, text);
    else
        output_document(&session->output, (petal_slice){text, size - 1});
    petal_stats_text_free(text);
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_stats)
{
    const struct value *wanted, *format;

    if (count == 0)
        return show_counters(session, NULL);
    if (arguments[0].kind != VALUE_HASH)
        return stats_show_table(session, &arguments[0]);
    wanted = value_hash_get(&arguments[0], "COUNTERS");
    format = value_hash_get(&arguments[0], "FORMAT");
    if (wanted != NULL && format != NULL)
        return session_fail(session, SHELL_USAGE,
                            "FORMAT prints all counters, so leave out COUNTERS");
    if (format != NULL && !slice_is(value_to_bytes(&session->arena, format), "PROMETHEUS"))
        return query_fail_key(session, "FORMAT", format, "it must be PROMETHEUS");
    if (format != NULL)
        return show_prometheus(session);
    if (wanted == NULL || wanted->kind != VALUE_ARRAY)
        return session_fail(session, SHELL_USAGE,
                            "stats takes a table, COUNTERS => ['name', ..] or FORMAT => "
                            "'PROMETHEUS'");
    return show_counters(session, wanted);
}
