/*
 * shell_stats.c -- stats: the database's counters, or what is known of a table's store files; verify.
 *
 * Of each family the error rates of its files are summed over its runs: of a run only one file can hold a row, so the one
 * with the greatest rate stands for it, and a file without a filter lets all pass. The sum is what a get of a row
 * that is not there may cost, in needless reads.
 */
#include "tools/shell_attribute.h"
#include "tools/shell_command.h"

#include "tools/shell_memory.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- Counters ------------------------------------------------------------------------------------ */

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
    text_clear(text);
    text_add_string(text, value);
    if (wanted == NULL)
        text_add_format(text, "  %s", meaning);
    output_columns(&session->output, slice_of_string(name), text_slice(text));
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

static size_t
show_cache(struct session *session, const struct value *wanted, const petal_stats *stats)
{
    static const char *const kinds[PETAL_BLOCK_KINDS] = {"data", "index", "filter"};
    size_t shown = show_counter(session, wanted, "cache_capacity", stats->cache_capacity,
                                "block cache: limit in bytes");

    for (size_t kind = 0; kind < PETAL_BLOCK_KINDS; kind++) {
        const struct {
            const char *name, *meaning;
            uint64_t value;
        } counters[] = {
            {"bytes", "bytes in the block cache", stats->cache_bytes[kind]},
            {"blocks", "blocks in the block cache", stats->cache_blocks[kind]},
            {"inserted", "blocks that entered the block cache", stats->cache_inserted[kind]},
            {"evicted", "blocks that had to leave the block cache", stats->cache_evicted[kind]},
        };

        for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
            char name[40], meaning[80];

            (void)snprintf(name, sizeof(name), "cache_%s_%s", kinds[kind], counters[i].name);
            (void)snprintf(meaning, sizeof(meaning), "%s %s", kinds[kind], counters[i].meaning);
            shown += show_counter(session, wanted, name, counters[i].value, meaning);
        }
    }
    return shown;
}

static size_t
show_memory(struct session *session, const struct value *wanted, const petal_stats *stats)
{
    const struct {
        const char *name, *meaning;
        uint64_t value;
    } counters[] = {
        {"memory_limit", "limit of memtables, block cache and open store files together",
         stats->memory_limit},
        {"memtable_memory", "bytes of memtables, those that are being flushed included",
         stats->memtable_memory},
        {"file_memory", "bytes of index roots, facts and handles of open store files",
         stats->file_memory},
    };
    size_t shown = 0;

    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
        shown +=
            show_counter(session, wanted, counters[i].name, counters[i].value, counters[i].meaning);
    return shown;
}

/* What goes on behind the calls, and how it fares. */
static size_t
show_background(struct session *session, const struct value *wanted, const petal_stats *stats)
{
    size_t shown = show_counter(session, wanted, "flushes_waiting", stats->flushes_waiting,
                                "flushes that wait or run");

    shown += show_counter(session, wanted, "compactions_running", stats->compactions_running,
                          "compactions that run");
    shown += show_text(session, wanted, "read_only", stats->read_only ? "true" : "false",
                       "whether the database takes no writes");
    shown += show_text(session, wanted, "background_error",
                       stats->background_error.status == PETAL_OK ? "none"
                                                                  : stats->background_error.text,
                       "what failed last in the background and was not made good");
    return shown;
}

static enum shell_status
show_counters(struct session *session, const struct value *wanted)
{
    petal_stats stats;
    size_t shown = 0;

    petal_stats_get(session->db, &stats);
    output_header(&session->output, "COUNTER", "VALUE");
#define SHOW_COUNTER(name, meaning)                                                                \
    shown += show_counter(session, wanted, #name, stats.name, meaning);
    PETAL_STATS_MAP(SHOW_COUNTER)
#undef SHOW_COUNTER
    shown += show_cache(session, wanted, &stats);
    shown += show_memory(session, wanted, &stats);
    shown += show_background(session, wanted, &stats);
    if (wanted != NULL && shown < wanted->count)
        return session_fail(session, SHELL_NOT_FOUND, "some of these counters there are not");
    return SHELL_FINE;
}

/* ---- Store files ---------------------------------------------------------------------------------- */

/* A run of store files. */
struct run {
    const petal_family *family;
    uint64_t number;
    size_t files;
    double rate; /* the greatest of its files */
};

struct table_files {
    struct session *session;
    petal_table *table;
    struct run *runs;
    size_t run_count;
};

static void
add_to_run(struct table_files *files, const petal_file_info *file)
{
    double rate = file->bloom == PETAL_BLOOM_NONE ? 1 : file->bloom_error_rate;
    petal_family *family;
    struct run *run;
    size_t i = 0;

    if (petal_table_family(files->table, file->family, &family, NULL) != PETAL_OK)
        return; /* dropped meanwhile */
    while (i < files->run_count &&
           (files->runs[i].family != family || files->runs[i].number != file->run))
        i++;
    if (i == files->run_count) {
        files->runs = memory_grow(files->runs, (files->run_count + 1) * sizeof(*files->runs));
        files->runs[files->run_count++] = (struct run){.family = family, .number = file->run};
    }
    run = &files->runs[i];
    run->files++;
    if (rate > run->rate)
        run->rate = rate;
}

static bool
show_file(void *argument, const petal_file_info *file)
{
    struct table_files *files = argument;
    struct session *session = files->session;
    struct text name = {0}, *text = &session->scratch;

    text_add_binary(&name, file->family);
    text_add_format(&name, " file %" PRIu64, file->number);
    add_to_run(files, file);
    text_clear(text);
    text_add_format(text,
                    "run %" PRIu64 ", %" PRIu64 " rows, %" PRIu64 " cells, %" PRIu64
                    " of them markers, rows ",
                    file->run, file->rows, file->cells, file->markers);
    text_add_binary(text, file->row_min);
    text_add_string(text, "..");
    text_add_binary(text, file->row_max);
    text_add_string(text, ", time ");
    text_add_time(text, file->time_min);
    text_add_string(text, "..");
    text_add_time(text, file->time_max);
    text_add_format(text,
                    ", sequence %" PRIu64 "..%" PRIu64 ", %" PRIu64 " bytes: %" PRIu64
                    " data in %" PRIu64 " blocks (%" PRIu64 " before compression), %" PRIu64
                    " index, %" PRIu64 " filter",
                    file->sequence_min, file->sequence_max, file->file_bytes, file->data_bytes,
                    file->data_blocks, file->raw_data_bytes, file->index_bytes, file->filter_bytes);
    text_add_format(text, ", %s filter", schema_bloom_name(file->bloom));
    if (file->bloom_keys > 0)
        text_add_format(text, " of %" PRIu64 " keys in %" PRIu64 " chunks at rate %g",
                        file->bloom_keys, file->bloom_chunks, file->bloom_error_rate);
    output_columns(&session->output, text_slice(&name), text_slice(text));
    text_free(&name);
    return true;
}

static void
show_family(struct table_files *files, const petal_family *family)
{
    struct text *text = &files->session->scratch;
    struct text name = {0};
    petal_family_options options = {.size = sizeof(options)};
    size_t run_count = 0, file_count = 0;
    double rate = 0;

    for (size_t i = 0; i < files->run_count; i++) {
        if (files->runs[i].family != family)
            continue;
        run_count++;
        file_count += files->runs[i].files;
        rate += files->runs[i].rate;
    }
    petal_family_describe(family, &options);
    text_add_binary(&name, petal_family_name(family));
    text_clear(text);
    text_add_format(text, "%zu run(s), %zu file(s), error rate %.3g in all; ", run_count,
                    file_count, rate);
    if (options.bloom == PETAL_BLOOM_NONE)
        text_add_string(text, "the family has no filter");
    else
        text_add_format(text, "the family's is %g%s", options.bloom_error_rate,
                        options.bloom_rate_per_file ? " for each file" : "");
    output_columns(&files->session->output, text_slice(&name), text_slice(text));
    text_free(&name);
}

static enum shell_status
show_table(struct session *session, const struct value *argument)
{
    struct table_files files = {.session = session};
    petal_table *table;
    petal_slice name;
    petal_error error;
    enum shell_status status = session_table_name(session, argument, &name);

    if (status == SHELL_FINE)
        status = session_table(session, name, &table);
    if (status != SHELL_FINE)
        return status;
    output_header(&session->output, "FILE", "FACTS");
    files.table = table;
    if (petal_table_files(table, show_file, &files, &error) != PETAL_OK) {
        free(files.runs);
        return session_fail_petal(session, &error);
    }
    output_header(&session->output, "FAMILY", "RUNS");
    for (size_t i = 0; i < petal_table_family_count(table); i++)
        show_family(&files, petal_table_family_at(table, i));
    free(files.runs);
    output_plain(&session->output, "%" PRIu64 " bytes in memtables",
                 petal_table_memtable_bytes(table));
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_stats)
{
    const struct value *wanted;

    (void)result;
    if (count == 0)
        return show_counters(session, NULL);
    if (arguments[0].kind != VALUE_HASH)
        return show_table(session, &arguments[0]);
    wanted = value_hash_get(&arguments[0], "COUNTERS");
    if (wanted == NULL || wanted->kind != VALUE_ARRAY)
        return session_fail(session, SHELL_USAGE, "COUNTERS => ['name', ..] is wanted");
    return show_counters(session, wanted);
}

COMMAND_FUNCTION(command_verify)
{
    petal_table *table;
    petal_slice name;
    petal_error error;
    enum shell_status status = session_table_name(session, &arguments[0], &name);

    (void)count;
    (void)result;
    if (status == SHELL_FINE)
        status = session_table(session, name, &table);
    if (status != SHELL_FINE)
        return status;
    if (petal_table_verify(table, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    output_plain(&session->output, "All store files of the table are sound");
    return SHELL_FINE;
}
