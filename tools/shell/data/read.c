/* read.c -- get and scan; and of cursors what count has in common with them. */
#include "tools/shell/data/read.h"

#include "tools/shell/data/commands.h"
#include "tools/shell/data/rows.h"
#include "tools/shell/session/interrupt.h"

#include <inttypes.h>

enum { CELL_OVERHEAD = 20 }; /* lengths, timestamp and type, as HBase counts the bytes of a cell */

/* Cut what was added after `begin` to the query's greatest length in characters. */
static void
cut(struct text *text, size_t begin, uint64_t greatest_length)
{
    petal_slice rest = {text_string(text) + begin, text->size - begin};

    if (greatest_length == 0)
        return;
    (void)text_take_characters(&rest, greatest_length);
    text->size -= rest.size;
    text->bytes[text->size] = '\0';
}

static enum shell_status
add_column_name(struct session *session, const struct query *query, struct text *text,
                const petal_cell *cell)
{
    enum shell_status status = convert_add(session, text, query->format, cell->family);

    text_add_string(text, ":");
    return status == SHELL_FINE ? convert_add(session, text, query->format, cell->qualifier)
                                : status;
}

static enum conversion
format_of(const struct query *query, const petal_cell *cell)
{
    for (size_t i = query->format_count; i-- > 0;)
        if (slices_equal(petal_family_name(query->formats[i].family), cell->family) &&
            slices_equal(query->formats[i].qualifier, cell->qualifier))
            return query->formats[i].conversion;
    return query->format;
}

static enum shell_status
add_cell_text(struct session *session, const struct query *query, struct text *text,
              const petal_cell *cell)
{
    size_t begin = text->size;
    enum shell_status status = SHELL_FINE;

    text_add_string(text, "timestamp=");
    text_add_time(text, cell->timestamp);
    if (cell->type == PETAL_PUT) {
        text_add_string(text, ", value=");
        status = convert_add(session, text, format_of(query, cell), cell->value);
    } else {
        text_add_format(text, ", type=%s", cell_type_name(cell->type));
    }
    cut(text, begin, query->greatest_length);
    return status;
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* Cells that are shown.  The heading waits for the first of them, or for the end of a read that
 * found none: an error before that stands alone. */
struct answer {
    struct session *session;
    const struct query *query;
    bool begun;
    struct text first; /* of two columns */
};

static void
answer_begin(struct answer *answer)
{
    struct output *output = &answer->session->output;

    if (answer->begun)
        return;
    answer->begun = true;
    if (format_is_on(&output->format))
        format_begin(&output->format, output->format.mode == FORMAT_JSON
                                          ? "row family qualifier timestamp type ttl value"
                                          : "row family qualifier timestamp type value");
    else if (answer->query->kind == QUERY_GET)
        output_header(output, "COLUMN", "CELL");
    else
        output_header(output, "ROW", "COLUMN+CELL");
}

static void
answer_show(struct answer *answer, petal_slice second)
{
    answer_begin(answer);
    output_columns(&answer->session->output, text_slice(&answer->first), second);
}

/* The first characters of the bytes, as many as the query shows. */
static petal_slice
cut_bytes(petal_slice bytes, uint64_t greatest_length)
{
    return greatest_length == 0 ? bytes : text_take_characters(&bytes, greatest_length);
}

/* The fields of a record are made first, since a conversion may fail.  JSON has a text of its own
 * for bytes that no converter is asked for. */
static enum shell_status
show_record(struct answer *answer, petal_slice row, const petal_cell *cell)
{
    struct session *session = answer->session;
    const struct query *query = answer->query;
    struct format *format = &session->output.format;
    const struct {
        petal_slice bytes;
        enum conversion conversion;
    } fields[] = {{row, query->format},
                  {cell->family, query->format},
                  {cell->qualifier, query->format},
                  {cell->value, format_of(query, cell)}};
    struct text *text = &session->scratch;
    size_t ends[5] = {0};
    bool bare[4];
    enum shell_status status = SHELL_FINE;

    text_clear(text);
    for (size_t i = 0; i < 4 && status == SHELL_FINE; i++) {
        bare[i] = format->mode == FORMAT_JSON && fields[i].conversion == CONVERT_TO_STRING_BINARY;
        ends[i + 1] = text->size;
        if (bare[i])
            continue;
        status = convert_add(session, text, fields[i].conversion, fields[i].bytes);
        if (i == 3)
            cut(text, ends[i], query->greatest_length);
        ends[i + 1] = text->size;
    }
    if (status != SHELL_FINE)
        return status;
    answer_begin(answer);
    for (size_t i = 0; i < 4; i++) {
        if (i == 3) {
            format_integer(format, cell->timestamp);
            format_string(format, cell_type_name(cell->type));
            if (format->mode == FORMAT_JSON && cell->has_ttl)
                format_integer(format, cell->ttl_ms);
            else if (format->mode == FORMAT_JSON)
                format_absent(format);
        }
        if (i == 3 && cell->type != PETAL_PUT)
            format_null(format);
        else if (bare[i])
            format_bytes(format,
                         i < 3 ? fields[i].bytes : cut_bytes(cell->value, query->greatest_length));
        else
            format_text(format, (petal_slice){text_string(text) + ends[i], ends[i + 1] - ends[i]});
    }
    return SHELL_FINE;
}

/* ---- Get ------------------------------------------------------------------------------------- */

static enum shell_status
show_got(struct answer *answer, const petal_cell *cell)
{
    struct session *session = answer->session;
    const struct query *query = answer->query;
    struct text *text = &session->scratch;
    enum shell_status status;

    if (format_is_on(&session->output.format))
        return show_record(answer, query->row, cell);
    text_clear(&answer->first);
    text_clear(text);
    status = add_column_name(session, query, &answer->first, cell);
    if (status == SHELL_FINE)
        status = add_cell_text(session, query, text, cell);
    if (status == SHELL_FINE)
        answer_show(answer, text_slice(text));
    return status;
}

enum shell_status
read_get(struct session *session, const struct query *query, bool show, struct read_counts *counts)
{
    struct answer answer = {.session = session, .query = query};
    enum shell_status status = SHELL_FINE;
    petal_read_options read = query->scan.read;
    petal_error error;
    size_t cells;

    read.receipt = session->receipt;
    if (rows_get(session, query->table, query->row, &read, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    get_history_note(&session->history, query->table, query->row, &read, session->receipt);
    cells = petal_result_count(session->result);
    for (size_t i = 0; i < cells && show && status == SHELL_FINE; i++)
        status = show_got(&answer, petal_result_cell(session->result, i));
    if (show && status == SHELL_FINE)
        answer_begin(&answer);
    text_free(&answer.first);
    *counts = (struct read_counts){.rows = cells > 0, .cells = cells};
    return status;
}

COMMAND_FUNCTION(command_get)
{
    struct read_counts counts;
    struct query query;
    enum shell_status status = query_read_get(session, arguments, count, &query);

    if (status == SHELL_FINE)
        status = read_get(session, &query, true, &counts);
    query_end(&query);
    if (status != SHELL_FINE)
        return status;
    output_plain(&session->output, "%" PRIu64 " row(s)", counts.rows);
    return counts.rows > 0 ? SHELL_FINE : SHELL_NOT_FOUND;
}

/* ---- Cursors --------------------------------------------------------------------------------- */

bool
read_count_cell(struct row_counter *counter, const petal_cell *cell)
{
    counter->cells++;
    if (counter->rows > 0 && slices_equal(text_slice(&counter->row), cell->row))
        return false;
    text_clear(&counter->row);
    text_add_slice(&counter->row, cell->row);
    counter->rows++;
    return true;
}

/* Bytes of a row that a message shows; a longer one can hardly be typed. */
#define ROW_SHOWED 200

enum shell_status
read_fail_interrupted(struct session *session, const struct query *query,
                      const struct row_counter *counter, const char *done, bool finished)
{
    struct text *message = &session->message, next = {0};

    text_clear(message);
    if (counter->rows == 0) {
        text_add_string(message, "Interrupted before the first row");
        return SHELL_USAGE;
    }
    text_add_string(message, "Interrupted: ");
    text_add_count(message, counter->rows, "row");
    text_add_format(message, " %s %s, ", counter->rows == 1 ? "was" : "were", done);
    if (counter->row.size > ROW_SHOWED) {
        text_add_format(message, "the last one has a key of %zu bytes", counter->row.size);
        return SHELL_USAGE;
    }
    text_add_string(message, "the last one is ");
    text_add_literal(message, text_slice(&counter->row));
    /* A scan of a prefix begins nowhere else. */
    if (query->scan.prefix.size > 0)
        return SHELL_USAGE;
    text_add_slice(&next, text_slice(&counter->row));
    if (finished && !query->scan.reversed)
        text_add(&next, "", 1); /* the least row after it */
    text_add_string(message, "; STARTROW => ");
    text_add_literal(message, text_slice(&next));
    text_add_string(message,
                    next.size > counter->row.size ? " goes on behind it" : " goes on with it");
    text_free(&next);
    return SHELL_USAGE;
}

/* A scan on its way. */
struct scan {
    struct session *session;
    const struct query *query;
    bool show;
    struct answer answer; /* if it is shown */
    petal_cursor *cursor;
    struct row_counter counter;
    uint64_t
        pieces; /* of rows, as BATCH or partial results cut them; without, of the same number */
    uint64_t piece_size; /* bytes since a piece was last complete */
    bool piece_full;
};

static enum shell_status
show_scanned(struct scan *scan, const petal_cell *cell)
{
    struct session *session = scan->session;
    struct text *text = &session->scratch;
    enum shell_status status;

    if (format_is_on(&session->output.format))
        return show_record(&scan->answer, cell->row, cell);
    text_clear(&scan->answer.first);
    text_clear(text);
    text_add_string(text, "column=");
    status = convert_add(session, &scan->answer.first, scan->query->format, cell->row);
    if (status == SHELL_FINE)
        status = add_column_name(session, scan->query, text, cell);
    text_add_string(text, ", ");
    if (status == SHELL_FINE)
        status = add_cell_text(session, scan->query, text, cell);
    if (status == SHELL_FINE)
        answer_show(&scan->answer, text_slice(text));
    return status;
}

/* Count a cell, and show it. */
static enum shell_status
take_cell(struct scan *scan, const petal_cell *cell)
{
    bool new_row;

    if (interrupt_pending())
        return read_fail_interrupted(scan->session, scan->query, &scan->counter,
                                     scan->show ? "shown" : "read", false);
    new_row = read_count_cell(&scan->counter, cell);

    /* With partial results a reply ends with the cell that makes it full; a row that goes on
     * counts anew. */
    scan->pieces += new_row || scan->piece_full;
    scan->piece_full = false;
    if (scan->query->piece_bytes > 0) {
        scan->piece_size += CELL_OVERHEAD + cell->row.size + cell->family.size +
                            cell->qualifier.size + cell->value.size;
        scan->piece_full = scan->piece_size >= scan->query->piece_bytes;
        if (scan->piece_full)
            scan->piece_size = 0;
    }
    return scan->show ? show_scanned(scan, cell) : SHELL_FINE;
}

enum petal_status
read_open_cursor(struct session *session, const struct query *query, petal_cursor **cursor,
                 enum shell_status *status, petal_error *error)
{
    enum petal_status outcome = rows_scan(session, query->table, &query->scan, cursor, error);

    if (outcome == PETAL_INVALID && query->scan.batch > 0 && query->filter != NULL) {
        *status = session_fail(session, SHELL_USAGE,
                               "Cannot set batch on a scan using a filter that returns true for "
                               "filter.hasFilterRow");
        return PETAL_OK;
    }
    return outcome;
}

enum shell_status
read_scan(struct session *session, const struct query *query, bool show, struct read_counts *counts)
{
    struct scan scan = {.session = session,
                        .query = query,
                        .show = show,
                        .answer = {.session = session, .query = query}};
    enum shell_status status = SHELL_FINE;
    petal_result *result = session->result;
    uint64_t batches = 0;
    enum petal_status outcome;
    const petal_cell *cell;
    petal_error error;

    outcome = read_open_cursor(session, query, &scan.cursor, &status, &error);
    while (query->scan.batch > 0 && outcome == PETAL_OK && status == SHELL_FINE) {
        outcome = petal_cursor_next_row(scan.cursor, result, &error);
        if (outcome != PETAL_OK || petal_result_count(result) == 0)
            break;
        for (size_t i = 0; i < petal_result_count(result) && status == SHELL_FINE; i++)
            status = take_cell(&scan, petal_result_cell(result, i));
        scan.pieces = ++batches;
    }
    /* Else cell by cell: rows may be larger than memory. */
    while (query->scan.batch == 0 && outcome == PETAL_OK && status == SHELL_FINE) {
        outcome = petal_cursor_next(scan.cursor, &cell, &error);
        if (outcome != PETAL_OK || cell == NULL)
            break;
        status = take_cell(&scan, cell);
    }
    petal_cursor_close(scan.cursor);
    text_free(&scan.counter.row);
    if (show && outcome == PETAL_OK && status == SHELL_FINE)
        answer_begin(&scan.answer);
    text_free(&scan.answer.first);
    *counts = (struct read_counts){scan.counter.rows, scan.counter.cells, scan.pieces};
    return outcome == PETAL_OK ? status : session_fail_petal(session, &error);
}

static void
show_metric(struct session *session, const char *name, uint64_t number)
{
    text_clear(&session->scratch);
    text_add_format(&session->scratch, "%" PRIu64, number);
    output_columns(&session->output, slice_of_string(name), text_slice(&session->scratch));
}

COMMAND_FUNCTION(command_scan)
{
    struct read_counts counts;
    struct query query;
    enum shell_status status = query_read_scan(session, QUERY_SCAN, arguments, count, &query);

    if (status == SHELL_FINE)
        status = read_scan(session, &query, true, &counts);
    query_end(&query);
    if (status != SHELL_FINE)
        return status;
    output_plain(&session->output, "%" PRIu64 " row(s)", counts.pieces);
    if (query.metrics != 0) {
        /* There was no filter: each row that was scanned is in the answer. */
        output_plain(&session->output, "%s", "");
        output_header(&session->output, "METRIC", "VALUE");
        if ((query.metrics & METRIC_ROWS_FILTERED) != 0)
            show_metric(session, "ROWS_FILTERED", 0);
        if ((query.metrics & METRIC_ROWS_SCANNED) != 0)
            show_metric(session, "ROWS_SCANNED", counts.rows);
    }
    return SHELL_FINE;
}
