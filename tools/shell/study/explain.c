/*
 * explain.c -- explain get and explain scan: the receipt of a read, source by source, and the cells
 * it hid.
 *
 * The wording is kept stable, for scripts compare it.  What is zero is left out of a source's line.
 * On a terminal a source's lines break between its parts, which semicolons divide.
 */
#include "tools/shell/data/read.h"
#include "tools/shell/session/run.h"
#include "tools/shell/study/commands.h"

#include <inttypes.h>

static const char *const block_names[PETAL_BLOCK_KINDS] = {
    [PETAL_BLOCK_DATA] = "data", [PETAL_BLOCK_INDEX] = "index", [PETAL_BLOCK_FILTER] = "filter"};

/* Sums over the sources of a receipt, files and memtables apart. */
struct totals {
    uint64_t considered[2], read[2]; /* memtables, files */
    uint64_t skipped[2][PETAL_SKIP_COUNT];
    uint64_t cached[PETAL_BLOCK_KINDS], fetched[PETAL_BLOCK_KINDS];
    uint64_t bytes_fetched;
};

static void
add_work(struct text *text, const petal_receipt_source *source)
{
    if (source->filter_probes > 0)
        text_add_format(text, "; filter asked %" PRIu32 ", said absent %" PRIu32,
                        source->filter_probes, source->filter_negatives);
    if (source->held_nothing && source->filter_probes > source->filter_negatives)
        text_add_string(text, " (false positive)");
    if (source->filter_unasked > 0)
        text_add_format(text, "; filter not asked %" PRIu32 ", would not pay",
                        source->filter_unasked);
    if (source->seeks > 0 || source->seeks_saved > 0)
        text_add_format(text, "; seeks %" PRIu32 ", saved %" PRIu32, source->seeks,
                        source->seeks_saved);
    for (size_t kind = 0; kind < PETAL_BLOCK_KINDS; kind++)
        if (source->blocks_cached[kind] > 0 || source->blocks_fetched[kind] > 0)
            text_add_format(text, "; %s blocks %" PRIu32 " cached, %" PRIu32 " fetched",
                            block_names[kind], source->blocks_cached[kind],
                            source->blocks_fetched[kind]);
    if (source->bytes_fetched > 0)
        text_add_format(text, "; %" PRIu64 " bytes fetched", source->bytes_fetched);
}

static void
show_source(struct session *session, const petal_receipt_source *source)
{
    struct text name = {0}, *text = &session->scratch;

    text_add_binary(&name, source->family);
    if (source->file_number == 0)
        text_add_string(&name, " memtable");
    else
        text_add_format(&name, " file %" PRIu64, source->file_number);
    text_clear(text);
    if (source->skip == PETAL_SKIP_NONE)
        text_add_string(text, "read");
    else
        text_add_format(text, "skipped: %s", petal_skip_text(source->skip));
    if (source->file_number != 0) {
        text_add_string(text, "; rows ");
        text_add_binary(text, source->row_min);
        text_add_string(text, "..");
        text_add_binary(text, source->row_max);
        text_add_string(text, "; time ");
        text_add_time(text, source->time_min);
        text_add_string(text, "..");
        text_add_time(text, source->time_max);
        text_add_format(text, "; sequence %" PRIu64 "..%" PRIu64 ", %" PRIu64 " cells",
                        source->sequence_min, source->sequence_max, source->cells);
    }
    add_work(text, source);
    output_parts(&session->output, text_slice(&name), text_slice(text));
    text_free(&name);
}

static void
show_sort(struct session *session, const char *name, const struct totals *totals, size_t sort)
{
    struct text *text = &session->scratch;

    if (totals->considered[sort] == 0)
        return;
    text_clear(text);
    text_add_format(text, "%s: %" PRIu64 " considered, %" PRIu64 " read", name,
                    totals->considered[sort], totals->read[sort]);
    for (int skip = PETAL_SKIP_NONE + 1; skip < PETAL_SKIP_COUNT; skip++)
        if (totals->skipped[sort][skip] > 0)
            text_add_format(text, ", %" PRIu64 " skipped: %s", totals->skipped[sort][skip],
                            petal_skip_text((enum petal_skip)skip));
    output_message(&session->output, text_slice(text));
}

/* ---- Hidden cells ---------------------------------------------------------------------------- */

static void
show_hidden(struct session *session)
{
    const petal_receipt *receipt = session->receipt;
    struct text *text = &session->scratch;
    uint64_t all = petal_receipt_cells_hidden(receipt);
    const char *separator = "hidden:";
    petal_hidden_cell cell;

    if (all == 0)
        return;
    text_clear(text);
    for (int by = 0; by < PETAL_HIDDEN_COUNT; by++) {
        uint64_t count = petal_receipt_hidden(receipt, (enum petal_hidden)by);

        if (count == 0)
            continue;
        text_add_format(text, "%s %" PRIu64 " by %s", separator, count,
                        petal_hidden_text((enum petal_hidden)by));
        separator = ",";
    }
    output_message(&session->output, text_slice(text));
    output_header(&session->output, "ROW", "HIDDEN CELL");
    for (size_t i = 0; petal_receipt_hidden_at(receipt, i, &cell); i++) {
        struct text name = {0};

        text_add_binary(&name, cell.row);
        text_clear(text);
        text_add_string(text, "column=");
        text_add_binary(text, cell.family);
        text_add_string(text, ":");
        text_add_binary(text, cell.qualifier);
        text_add_string(text, ", timestamp=");
        text_add_time(text, cell.timestamp);
        text_add_format(text, ", by: %s", petal_hidden_text(cell.by));
        output_parts(&session->output, text_slice(&name), text_slice(text));
        text_free(&name);
    }
    if (all > petal_receipt_hidden_count(receipt))
        output_plain(&session->output, "and %" PRIu64 " more",
                     all - petal_receipt_hidden_count(receipt));
}

/* ---- Records --------------------------------------------------------------------------------- */

static void
record_source(struct format *format, const petal_receipt_source *source)
{
    bool file = source->file_number != 0;

    format_bytes(format, source->family);
    if (file)
        format_number(format, source->file_number);
    else
        format_null(format);
    format_string(format, source->skip == PETAL_SKIP_NONE ? "read" : petal_skip_text(source->skip));
    for (int i = 0; i < 6 && !file; i++)
        format_null(format);
    if (file) {
        format_bytes(format, source->row_min);
        format_bytes(format, source->row_max);
        format_integer(format, source->time_min);
        format_integer(format, source->time_max);
        format_number(format, source->sequence_min);
        format_number(format, source->sequence_max);
    }
    format_number(format, source->cells);
    format_number(format, source->filter_probes);
    format_number(format, source->filter_negatives);
    format_number(format, source->filter_unasked);
    format_number(format, source->held_nothing && source->filter_probes > source->filter_negatives);
    format_number(format, source->seeks);
    format_number(format, source->seeks_saved);
    for (size_t kind = 0; kind < PETAL_BLOCK_KINDS; kind++) {
        format_number(format, source->blocks_cached[kind]);
        format_number(format, source->blocks_fetched[kind]);
    }
    format_number(format, source->bytes_fetched);
}

/* Three sets: the sources, the cells that were hidden, the answer. */
static void
record_receipt(struct session *session, const struct read_counts *counts)
{
    struct format *format = &session->output.format;

    format_begin(format,
                 "family file outcome row_min row_max time_min time_max sequence_min sequence_max "
                 "cells filter_probes filter_negatives filter_unasked false_positive seeks "
                 "seeks_saved data_cached data_fetched index_cached index_fetched filter_cached "
                 "filter_fetched bytes_fetched");
    for (size_t i = 0; i < petal_receipt_count(session->receipt); i++)
        record_source(format, petal_receipt_at(session->receipt, i));
    if (petal_receipt_cells_hidden(session->receipt) > 0) {
        petal_hidden_cell cell;

        format_begin(format, "row family qualifier timestamp hidden_by");
        for (size_t i = 0; petal_receipt_hidden_at(session->receipt, i, &cell); i++) {
            format_bytes(format, cell.row);
            format_bytes(format, cell.family);
            format_bytes(format, cell.qualifier);
            format_integer(format, cell.timestamp);
            format_string(format, petal_hidden_text(cell.by));
        }
    }
    format_begin(format, "rows cells hidden bytes_returned");
    format_number(format, counts->rows);
    format_number(format, counts->cells);
    format_number(format, petal_receipt_cells_hidden(session->receipt));
    format_number(format, petal_receipt_bytes_returned(session->receipt));
}

/* ---- The command ----------------------------------------------------------------------------- */

static void
show_receipt(struct session *session, const struct read_counts *counts)
{
    struct totals totals = {.bytes_fetched = 0};
    struct text *text = &session->scratch;
    size_t sort;

    output_header(&session->output, "SOURCE", "WHAT WAS DONE");
    for (size_t i = 0; i < petal_receipt_count(session->receipt); i++) {
        const petal_receipt_source *source = petal_receipt_at(session->receipt, i);

        show_source(session, source);
        sort = source->file_number != 0;
        totals.considered[sort]++;
        totals.skipped[sort][source->skip]++;
        totals.read[sort] += source->skip == PETAL_SKIP_NONE;
        totals.bytes_fetched += source->bytes_fetched;
        for (size_t kind = 0; kind < PETAL_BLOCK_KINDS; kind++) {
            totals.cached[kind] += source->blocks_cached[kind];
            totals.fetched[kind] += source->blocks_fetched[kind];
        }
    }
    show_sort(session, "memtables", &totals, 0);
    show_sort(session, "files", &totals, 1);
    text_clear(text);
    text_add_string(text, "blocks:");
    for (size_t kind = 0; kind < PETAL_BLOCK_KINDS; kind++)
        text_add_format(text, "%s %s %" PRIu64 " cached %" PRIu64 " fetched", kind > 0 ? "," : "",
                        block_names[kind], totals.cached[kind], totals.fetched[kind]);
    output_message(&session->output, text_slice(text));
    output_plain(&session->output,
                 "answer: %" PRIu64 " row(s), %" PRIu64 " cell(s), %" PRIu64 " hidden",
                 counts->rows, counts->cells, petal_receipt_cells_hidden(session->receipt));
    show_hidden(session);
}

static enum shell_status
run_query(struct session *session, const struct value *arguments, size_t count, bool get,
          struct read_counts *counts)
{
    struct query query;
    enum shell_status status = get ? query_read_get(session, arguments, count, &query)
                                   : query_read_scan(session, QUERY_SCAN, arguments, count, &query);

    query.scan.read.receipt = session->receipt;
    if (status == SHELL_FINE)
        status = get ? read_get(session, &query, false, counts)
                     : read_scan(session, &query, false, counts);
    query_end(&query);
    return status;
}

COMMAND_FUNCTION(command_explain)
{
    bool get = slice_is(arguments[0].as.bytes, "get");
    const struct command *read;
    struct read_counts counts;
    enum shell_status status;

    if (!get && !slice_is(arguments[0].as.bytes, "scan"))
        return session_fail(session, SHELL_USAGE, "explain takes a get or a scan");
    read = command_find(session, arguments[0].as.bytes);
    if (count - 1 < read->least || count - 1 > read->most)
        return run_fail_count(session, read, count - 1);
    status = run_query(session, arguments + 1, count - 1, get, &counts);
    if (status != SHELL_FINE)
        return status;
    if (format_is_on(&session->output.format))
        record_receipt(session, &counts);
    else
        show_receipt(session, &counts);
    return counts.rows > 0 || !get ? SHELL_FINE : SHELL_NOT_FOUND;
}
