/*
 * stats_table.c -- stats of a table: its store files, its families, and the block cache by kind of
 * block.
 *
 * Of each family the error rates of its files are summed over its runs: of a run only one file can
 * hold a row, so the one with the greatest rate stands for it, and a file without a filter lets all
 * pass. The sum is what a get of a row that is not there may cost, in needless reads.
 *
 * What filters answered is of the gets of this session. A false positive is a file that its filter
 * let pass and that held nothing that was asked, be it that the filter erred or that a filter of
 * rows knows no columns.
 */
#include "tools/shell/admin/stats.h"
#include "tools/shell/schema/attribute.h"
#include "tools/shell/session/command.h"

#include <inttypes.h>
#include <stdlib.h>

/* A run of store files. */
struct run {
    uint64_t number;
    double rate; /* the greatest of its files */
};

/* Sums over the files of a family. */
struct family_stats {
    const petal_family *family;
    petal_family_options options;
    struct run *runs;
    size_t run_count, file_count;
    uint64_t rows, cells, markers, file_bytes, data_bytes, index_bytes, filter_bytes;
    struct file_history history;
};

struct table_stats {
    struct session *session;
    struct family_stats *families;
    size_t count;
};

static uint64_t
true_positives(const struct file_history *history)
{
    uint64_t others = history->negatives + history->false_positives;

    return history->probes > others ? history->probes - others : 0;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void
add_file(struct table_stats *table, const petal_file_info *file, const struct file_history *history)
{
    struct family_stats *family = table->families;
    double rate;
    size_t i;

    while (family < table->families + table->count &&
           !slices_equal(petal_family_name(family->family), file->family))
        family++;
    if (family == table->families + table->count)
        return; /* added meanwhile */
    rate = file->bloom == PETAL_BLOOM_NONE ? 1 : file->bloom_error_rate;
    i = 0;
    while (i < family->run_count && family->runs[i].number != file->run)
        i++;
    if (i == family->run_count) {
        family->runs = memory_grow(family->runs, (i + 1) * sizeof(*family->runs));
        family->runs[family->run_count++] = (struct run){.number = file->run};
    }
    if (rate > family->runs[i].rate)
        family->runs[i].rate = rate;
    family->file_count++;
    family->rows += file->rows;
    family->cells += file->cells;
    family->markers += file->markers;
    family->file_bytes += file->file_bytes;
    family->data_bytes += file->data_bytes;
    family->index_bytes += file->index_bytes;
    family->filter_bytes += file->filter_bytes;
    family->history.reads += history->reads;
    family->history.probes += history->probes;
    family->history.negatives += history->negatives;
    family->history.false_positives += history->false_positives;
    family->history.data_cached += history->data_cached;
    family->history.data_fetched += history->data_fetched;
}

/* What this session's gets did; nothing if they did nothing. */
static void
add_history(struct text *text, const struct file_history *history)
{
    if (history->reads == 0 && history->probes == 0)
        return;
    text_add_format(
        text, "; gets: %" PRIu64 " read it, data blocks %" PRIu64 " cached, %" PRIu64 " fetched",
        history->reads, history->data_cached, history->data_fetched);
    if (history->probes > 0)
        text_add_format(text,
                        "; filter asked %" PRIu64 ", said absent %" PRIu64
                        ", true positives %" PRIu64 ", false positives %" PRIu64,
                        history->probes, history->negatives, true_positives(history),
                        history->false_positives);
}

static void
record_history(struct format *format, const struct file_history *history)
{
    format_number(format, history->reads);
    format_number(format, history->probes);
    format_number(format, history->negatives);
    format_number(format, true_positives(history));
    format_number(format, history->false_positives);
    format_number(format, history->data_cached);
    format_number(format, history->data_fetched);
}

static void
record_file(struct format *format, const petal_file_info *file, const struct file_history *history)
{
    format_bytes(format, file->family);
    format_number(format, file->number);
    format_number(format, file->run);
    format_number(format, file->rows);
    format_number(format, file->cells);
    format_number(format, file->markers);
    format_bytes(format, file->row_min);
    format_bytes(format, file->row_max);
    format_integer(format, file->time_min);
    format_integer(format, file->time_max);
    format_number(format, file->sequence_min);
    format_number(format, file->sequence_max);
    format_number(format, file->file_bytes);
    format_number(format, file->data_bytes);
    format_number(format, file->raw_data_bytes);
    format_number(format, file->data_blocks);
    format_number(format, file->index_bytes);
    format_number(format, file->filter_bytes);
    format_string(format, schema_bloom_name(file->bloom));
    format_number(format, file->bloom_keys);
    format_number(format, file->bloom_chunks);
    format_real(format, file->bloom_error_rate);
    record_history(format, history);
}

/* "1 row", "2 rows". */
static void
add_count(struct text *text, uint64_t count, const char *one, const char *more)
{
    text_add_format(text, "%" PRIu64 " %s", count, count == 1 ? one : more);
}

static bool
visit_file(void *argument, const petal_file_info *file)
{
    static const struct file_history none;
    struct table_stats *table = argument;
    struct session *session = table->session;
    const struct file_history *history = get_history_file(&session->history, file->number);

    if (history == NULL)
        history = &none;
    add_file(table, file, history);
    if (format_is_on(&session->output.format)) {
        record_file(&session->output.format, file, history);
    } else {
        struct text name = {0}, *text = &session->scratch;

        text_add_binary(&name, file->family);
        text_add_format(&name, " file %" PRIu64, file->number);
        text_clear(text);
        text_add_format(text, "run %" PRIu64 ", ", file->run);
        add_count(text, file->rows, "row", "rows");
        text_add_string(text, ", ");
        add_count(text, file->cells, "cell", "cells");
        text_add_format(text, ", %" PRIu64 " of them markers; rows ", file->markers);
        text_add_binary(text, file->row_min);
        text_add_string(text, "..");
        text_add_binary(text, file->row_max);
        text_add_string(text, "; time ");
        text_add_time(text, file->time_min);
        text_add_string(text, "..");
        text_add_time(text, file->time_max);
        text_add_format(
            text, "; sequence %" PRIu64 "..%" PRIu64 "; %" PRIu64 " bytes: %" PRIu64 " data in ",
            file->sequence_min, file->sequence_max, file->file_bytes, file->data_bytes);
        add_count(text, file->data_blocks, "block", "blocks");
        text_add_format(text,
                        " (%" PRIu64 " before compression), %" PRIu64 " index, %" PRIu64 " filter",
                        file->raw_data_bytes, file->index_bytes, file->filter_bytes);
        text_add_format(text, "; %s%s filter", schema_bloom_name(file->bloom),
                        file->bloom_kind == PETAL_BLOOM_KIND_RIBBON ? " RIBBON" : "");
        if (file->bloom_keys > 0) {
            text_add_string(text, " of ");
            add_count(text, file->bloom_keys, "key", "keys");
            text_add_string(text, " in ");
            add_count(text, file->bloom_chunks, "chunk", "chunks");
            text_add_format(text, " at rate %g", file->bloom_error_rate);
        }
        add_history(text, history);
        output_parts(&session->output, text_slice(&name), text_slice(text));
        text_free(&name);
    }
    return true;
}

/* ---- Families -------------------------------------------------------------------------------- */

static double
rate_of(const struct family_stats *family)
{
    double rate = 0;

    for (size_t i = 0; i < family->run_count; i++)
        rate += family->runs[i].rate;
    return rate;
}

static void
record_family(struct format *format, const struct family_stats *family)
{
    format_bytes(format, petal_family_name(family->family));
    format_number(format, family->run_count);
    format_number(format, family->file_count);
    format_number(format, family->cells);
    format_number(format, family->markers);
    format_number(format, family->file_bytes);
    format_number(format, family->data_bytes);
    format_number(format, family->index_bytes);
    format_number(format, family->filter_bytes);
    format_string(format, schema_bloom_name(family->options.bloom));
    format_real(format, family->options.bloom_error_rate);
    format_real(format, rate_of(family));
    record_history(format, &family->history);
}

static void
show_families(const struct table_stats *table)
{
    struct output *output = &table->session->output;
    struct text *text = &table->session->scratch;

    if (format_is_on(&output->format))
        format_begin(
            &output->format,
            "family runs files cells markers file_bytes data_bytes index_bytes filter_bytes "
            "filter wanted_rate rate gets filter_probes filter_negatives true_positives "
            "false_positives data_cached data_fetched");
    else
        output_header(output, "FAMILY", "RUNS");
    for (size_t i = 0; i < table->count; i++) {
        const struct family_stats *family = &table->families[i];
        struct text name = {0};

        if (format_is_on(&output->format)) {
            record_family(&output->format, family);
            continue;
        }
        text_add_binary(&name, petal_family_name(family->family));
        text_clear(text);
        text_add_format(text, "%zu run(s), %zu file(s), error rate %.3g in all; ",
                        family->run_count, family->file_count, rate_of(family));
        if (family->options.bloom == PETAL_BLOOM_NONE)
            text_add_string(text, "the family has no filter");
        else
            text_add_format(text, "the family's is %g%s", family->options.bloom_error_rate,
                            family->options.bloom_rate_per_file ? " for each file" : "");
        text_add_string(text, "; ");
        add_count(text, family->cells, "cell", "cells");
        text_add_format(text,
                        ", %" PRIu64 " of them markers; %" PRIu64 " bytes: %" PRIu64
                        " data, %" PRIu64 " index, %" PRIu64 " filter",
                        family->markers, family->file_bytes, family->data_bytes,
                        family->index_bytes, family->filter_bytes);
        add_history(text, &family->history);
        output_parts(&table->session->output, text_slice(&name), text_slice(text));
        text_free(&name);
    }
}

/* ---- The cache ------------------------------------------------------------------------------- */

static void
show_cache(struct session *session)
{
    static const char *const kinds[PETAL_BLOCK_KINDS] = {"data", "index", "filter"};
    static const char *const names[] = {"blocks", "bytes", "hits", "misses", "inserted", "evicted"};
    static const char *const one[] = {"block", "byte", "hit", "miss", "inserted", "evicted"};
    struct output *output = &session->output;
    struct text *text = &session->scratch;
    petal_stats stats;

    petal_stats_get(session->db, &stats);
    if (format_is_on(&output->format))
        format_begin(&output->format, "kind blocks bytes hits misses inserted evicted");
    else
        output_header(output, "CACHE", "OF ALL TABLES");
    for (size_t kind = 0; kind < PETAL_BLOCK_KINDS; kind++) {
        const uint64_t hits[] = {stats.data_cached, stats.index_cached, stats.filter_cached};
        const uint64_t misses[] = {stats.data_fetched, stats.index_fetched, stats.filter_fetched};
        const uint64_t values[] = {
            stats.cache_blocks[kind],   stats.cache_bytes[kind],  hits[kind], misses[kind],
            stats.cache_inserted[kind], stats.cache_evicted[kind]};

        text_clear(text);
        for (size_t i = 0; i < 6; i++) {
            text_add_string(text, i > 0 ? ", " : "");
            add_count(text, values[i], one[i], names[i]);
        }
        if (!format_is_on(&output->format)) {
            output_parts(output, slice_of_string(kinds[kind]), text_slice(text));
            continue;
        }
        format_string(&output->format, kinds[kind]);
        for (size_t i = 0; i < 6; i++)
            format_number(&output->format, values[i]);
    }
}

/* ---- The table ------------------------------------------------------------------------------- */

static enum shell_status
show_stats(struct session *session, petal_table *table)
{
    struct table_stats stats = {.session = session, .count = petal_table_family_count(table)};
    struct output *output = &session->output;
    enum shell_status status = SHELL_FINE;
    petal_error error;

    stats.families = memory_allocate(stats.count * sizeof(*stats.families));
    for (size_t i = 0; i < stats.count; i++) {
        stats.families[i] = (struct family_stats){.family = petal_table_family_at(table, i),
                                                  .options.size = sizeof(petal_family_options)};
        petal_family_describe(stats.families[i].family, &stats.families[i].options);
    }
    if (format_is_on(&output->format))
        format_begin(&output->format,
                     "family file run rows cells markers row_min row_max time_min time_max "
                     "sequence_min sequence_max file_bytes data_bytes raw_data_bytes data_blocks "
                     "index_bytes filter_bytes filter filter_keys filter_chunks filter_rate gets "
                     "filter_probes filter_negatives true_positives false_positives data_cached "
                     "data_fetched");
    else
        output_header(output, "FILE", "FACTS");
    if (petal_table_files(table, visit_file, &stats, &error) == PETAL_OK) {
        show_families(&stats);
        show_cache(session);
        output_plain(output, "%" PRIu64 " bytes in memtables", petal_table_memtable_bytes(table));
    } else {
        status = session_fail_petal(session, &error);
    }
    for (size_t i = 0; i < stats.count; i++)
        free(stats.families[i].runs);
    free(stats.families);
    return status;
}

enum shell_status
stats_show_table(struct session *session, const struct value *argument)
{
    petal_table *table;
    enum shell_status status = session_enabled_table(session, argument, &table);

    return status == SHELL_FINE ? show_stats(session, table) : status;
}
