/* shell_read.c -- get, scan and count. */
#include "tools/shell_read.h"

#include "tools/shell_command.h"

#include <inttypes.h>
#include <stdlib.h>

/* Cut what was added behind `begin` to the query's greatest length in characters. */
static void
cut(struct text *text, size_t begin, uint64_t greatest_length)
{
    petal_slice rest = {text_string(text) + begin, text->size - begin};

    if (greatest_length == 0)
        return;
    for (uint64_t i = 0; i < greatest_length && rest.size > 0; i++) {
        size_t length = utf8_character_bytes(rest);

        length = length > 0 ? length : 1;
        rest.data = (const char *)rest.data + length;
        rest.size -= length;
    }
    text->size -= rest.size;
    text->bytes[text->size] = '\0';
}

static void
add_column_name(struct text *text, const petal_cell *cell)
{
    text_add_binary(text, cell->family);
    text_add_string(text, ":");
    text_add_binary(text, cell->qualifier);
}

static void
add_cell_text(struct text *text, const petal_cell *cell, uint64_t greatest_length)
{
    size_t begin = text->size;

    text_add_string(text, "timestamp=");
    text_add_time(text, cell->timestamp);
    text_add_string(text, ", value=");
    text_add_binary(text, cell->value);
    cut(text, begin, greatest_length);
}

enum shell_status
read_get(struct session *session, const struct query *query, bool show, struct read_counts *counts)
{
    struct text column = {0}, *cell_text = &session->scratch;
    petal_error error;
    size_t cells;

    if (petal_get(query->table, query->row, &query->scan.read, session->result, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    cells = petal_result_count(session->result);
    for (size_t i = 0; i < cells && show; i++) {
        const petal_cell *cell = petal_result_cell(session->result, i);

        text_clear(&column);
        text_clear(cell_text);
        add_column_name(&column, cell);
        add_cell_text(cell_text, cell, query->greatest_length);
        output_columns(&session->output, text_slice(&column), text_slice(cell_text));
    }
    text_free(&column);
    *counts = (struct read_counts){cells > 0, cells};
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_get)
{
    struct read_counts counts;
    struct query query;
    enum shell_status status = query_read_get(session, arguments, count, true, &query);

    (void)result;
    if (status == SHELL_FINE)
        status = read_get(session, &query, true, &counts);
    if (status != SHELL_FINE)
        return status;
    output_plain(&session->output, "%" PRIu64 " row(s)", counts.rows);
    return counts.rows > 0 ? SHELL_FINE : SHELL_NOT_FOUND;
}

/* ---- Cursors --------------------------------------------------------------------------------------- */

/* Rows as a cursor passes them. */
struct row_counter {
    struct text row; /* the last one */
    uint64_t rows, cells;
};

/* Count a cell; was it the first of its row? */
static bool
count_cell(struct row_counter *counter, const petal_cell *cell)
{
    counter->cells++;
    if (counter->rows > 0 && slices_equal(text_slice(&counter->row), cell->row))
        return false;
    text_clear(&counter->row);
    text_add_slice(&counter->row, cell->row);
    counter->rows++;
    return true;
}

static void
show_scanned(struct session *session, const struct query *query, const petal_cell *cell,
             struct text *row)
{
    struct text *text = &session->scratch;

    text_clear(row);
    text_clear(text);
    text_add_binary(row, cell->row);
    text_add_string(text, "column=");
    add_column_name(text, cell);
    text_add_string(text, ", ");
    add_cell_text(text, cell, query->greatest_length);
    output_columns(&session->output, text_slice(row), text_slice(text));
}

enum shell_status
read_scan(struct session *session, const struct query *query, bool show, struct read_counts *counts)
{
    struct row_counter counter = {.rows = 0};
    petal_cursor *cursor = NULL;
    const petal_cell *cell;
    struct text row = {0};
    petal_error error;
    enum petal_status outcome;

    outcome = petal_cursor_open(query->table, &query->scan, &cursor, &error);
    while (outcome == PETAL_OK) {
        outcome = petal_cursor_next(cursor, &cell, &error);
        if (outcome != PETAL_OK || cell == NULL)
            break;
        (void)count_cell(&counter, cell);
        if (show)
            show_scanned(session, query, cell, &row);
    }
    petal_cursor_close(cursor);
    text_free(&counter.row);
    text_free(&row);
    *counts = (struct read_counts){counter.rows, counter.cells};
    return outcome == PETAL_OK ? SHELL_FINE : session_fail_petal(session, &error);
}

COMMAND_FUNCTION(command_scan)
{
    struct read_counts counts;
    struct query query;
    enum shell_status status = query_read_scan(session, QUERY_SCAN, arguments, count, true, &query);

    (void)result;
    if (status == SHELL_FINE)
        status = read_scan(session, &query, true, &counts);
    if (status == SHELL_FINE)
        output_plain(&session->output, "%" PRIu64 " row(s)", counts.rows);
    return status;
}

static void
show_progress(struct session *session, const struct row_counter *counter)
{
    struct text *text = &session->scratch;

    text_clear(text);
    text_add_format(text, "Current count: %" PRIu64 ", row: ", counter->rows);
    text_add_binary(text, text_slice(&counter->row));
    output_line(&session->output, text_slice(text));
}

static enum shell_status
count_rows(struct session *session, const struct query *query, struct row_counter *counter)
{
    petal_cursor *cursor = NULL;
    const petal_cell *cell;
    petal_error error;
    enum petal_status outcome;
    enum shell_status status = SHELL_FINE;

    outcome = petal_cursor_open(query->table, &query->scan, &cursor, &error);
    while (outcome == PETAL_OK && status == SHELL_FINE) {
        outcome = petal_cursor_next(cursor, &cell, &error);
        if (outcome != PETAL_OK || cell == NULL)
            break;
        if (!count_cell(counter, cell))
            continue;
        if (query->interval == 0)
            status = session_fail(session, SHELL_USAGE, "divided by 0");
        else if ((int64_t)counter->rows % query->interval == 0)
            show_progress(session, counter);
    }
    petal_cursor_close(cursor);
    return outcome == PETAL_OK ? status : session_fail_petal(session, &error);
}

COMMAND_FUNCTION(command_count)
{
    struct row_counter counter = {.rows = 0};
    struct query query;
    enum shell_status status =
        query_read_scan(session, QUERY_COUNT, arguments, count, false, &query);

    if (status == SHELL_FINE)
        status = count_rows(session, &query, &counter);
    text_free(&counter.row);
    if (status != SHELL_FINE)
        return status;
    output_plain(&session->output, "%" PRIu64 " row(s)", counter.rows);
    *result = value_integer((int64_t)counter.rows);
    return SHELL_FINE;
}
