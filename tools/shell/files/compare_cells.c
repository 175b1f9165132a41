/*
 * compare_cells.c -- see tools/shell/files/compare_cells.h.
 *
 * The cells of a row are fetched once as long as its lines stand together.
 */
#include "tools/shell/files/compare_cells.h"

#include "tools/shell/session/interrupt.h"

#include <inttypes.h>
#include <string.h>

/* ---- Keys ------------------------------------------------------------------------------------ */

static void
add_part(struct text *key, petal_slice part)
{
    text_add(key, &part.size, sizeof(part.size));
    text_add_slice(key, part);
}

/* The hashes of a cell's row, of its column in that row, and of all that names it. */
struct cell_hashes {
    uint64_t row, column, cell;
};

static struct cell_hashes
hash_cell(struct text *key, const petal_cell *cell)
{
    struct cell_hashes hashes = {.row = intake_hash(cell->row, 0)};

    text_clear(key);
    add_part(key, cell->row);
    add_part(key, cell->family);
    add_part(key, cell->qualifier);
    hashes.column = intake_hash(text_slice(key), 0);
    text_add(key, &cell->timestamp, sizeof(cell->timestamp));
    hashes.cell = intake_hash(text_slice(key), (uint64_t)cell->type);
    return hashes;
}

static void
note_cell(struct compare *compare, const petal_cell *cell)
{
    struct cell_hashes hashes = hash_cell(&compare->intake.session->scratch, cell);

    compare_set_last(&compare->rows, hashes.row, compare->ordinal);
    compare_set_last(&compare->columns, hashes.column, compare->ordinal);
    compare_set_last(&compare->fields, hashes.cell, compare->ordinal);
    compare->stored = compare->stored || cell->type != PETAL_PUT ||
                      compare->fields.count > compare->columns.count;
}

/* ---- The table ------------------------------------------------------------------------------- */

/* Fetch what the table has of the row into the session's result. */
static enum petal_status
fetch_row(struct compare *compare, petal_slice row, petal_error *error)
{
    petal_result *result = compare->intake.session->result;
    petal_scan_options options = {.size = sizeof(options),
                                  .read = {.size = sizeof(options.read)},
                                  .start_row = row,
                                  .stop_row = row,
                                  .stop_inclusive = true,
                                  .raw = true};
    petal_cursor *cursor = NULL;
    enum petal_status status;

    compare->next = 0;
    if (!compare->stored)
        return petal_get(compare->intake.table, row, &options.read, result, error);
    options.read.versions = PETAL_ALL_VERSIONS;
    status = petal_cursor_open(compare->intake.table, &options, &cursor, error);
    if (status == PETAL_OK)
        status = petal_cursor_next_row(cursor, result, error);
    petal_cursor_close(cursor);
    return status;
}

static bool
is_same_cell(const petal_cell *stored, const petal_cell *cell)
{
    return stored->type == cell->type && slices_equal(stored->qualifier, cell->qualifier) &&
           slices_equal(stored->family, cell->family) &&
           (cell->timestamp == PETAL_LATEST || stored->timestamp == cell->timestamp);
}

static bool
holds_the_same(const petal_cell *stored, const petal_cell *cell)
{
    return slices_equal(stored->value, cell->value) &&
           (!cell->has_ttl || (stored->has_ttl && stored->ttl_ms == cell->ttl_ms));
}

/* NULL, or how the row's cell differs from the file's.  The search begins after the cell found
 * last: export's files have the order of the table. */
static const char *
find_difference(struct compare *compare, const petal_cell *cell)
{
    const petal_result *result = compare->intake.session->result;
    size_t count = petal_result_count(result);
    const char *what = "is not in the table";

    for (size_t i = 0; i < count; i++) {
        size_t at = (compare->next + i) % count;
        const petal_cell *stored = petal_result_cell(result, at);

        if (is_same_cell(stored, cell) && holds_the_same(stored, cell)) {
            compare->next = at + 1;
            return NULL;
        }
        if (!slices_equal(stored->qualifier, cell->qualifier) ||
            !slices_equal(stored->family, cell->family))
            continue;
        if (is_same_cell(stored, cell))
            what = "differs in the table";
        else if (!compare->stored)
            what = "has another timestamp in the table";
    }
    return what;
}

static enum shell_status
compare_cell(struct compare *compare, const petal_cell *cell, struct text *row)
{
    struct text *scratch = &compare->intake.session->scratch;
    petal_error error;
    const char *what;

    if (compare_last(&compare->fields, hash_cell(scratch, cell).cell) != compare->ordinal)
        return SHELL_FINE; /* a later one replaces it */
    if (compare->compared == 0 || !slices_equal(text_slice(row), cell->row)) {
        text_clear(row);
        text_add_slice(row, cell->row);
        if (fetch_row(compare, text_slice(row), &error) != PETAL_OK)
            return session_fail_petal(compare->intake.session, &error);
    }
    compare->compared++;
    what = find_difference(compare, cell);
    if (what != NULL) {
        text_clear(scratch);
        text_add_slice(scratch, cell->family);
        text_add_string(scratch, ":");
        text_add_slice(scratch, cell->qualifier);
        compare_report(compare, cell->row, text_slice(scratch), what);
    }
    return SHELL_FINE;
}

/* ---- The file -------------------------------------------------------------------------------- */

/* Tell what is wrong with a line, or fail with it. */
static enum shell_status
pass_over(struct compare *compare, const struct text *why)
{
    struct intake *intake = &compare->intake;

    if (compare->bad == intake->most_bad)
        return session_fail(intake->session, SHELL_USAGE, "%s", text_string(why));
    compare->bad++;
    if (!intake->bad_told) {
        progress_hide(&intake->progress);
        (void)fprintf(stderr, "kv-shell: %s\n", text_string(why));
    }
    return SHELL_FINE;
}

static enum shell_status
take_line(struct compare *compare, bool note, struct text *row, struct text *why)
{
    const struct record_reader *reader = &compare->intake.reader;
    struct cell_parser *parser = &compare->parser;
    struct text *table = &compare->script_table;

    compare->line = reader->line;
    switch (intake_cell(&compare->intake, parser,
                        (petal_slice){reader->line_bytes, reader->line_size}, reader->line,
                        text_slice(table), why)) {
    case CELL_NONE:
        return SHELL_FINE;
    case CELL_BAD:
        return pass_over(compare, why);
    case CELL_GOOD:
        break;
    }
    if (parser->format == FILE_HBASE && table->size == 0)
        text_add_slice(table, parser->table);
    compare->records++;
    compare->ordinal++;
    if (!note)
        return compare_cell(compare, &parser->cell, row);
    note_cell(compare, &parser->cell);
    return SHELL_FINE;
}

enum shell_status
compare_read_cells(struct compare *compare, bool note)
{
    struct intake *intake = &compare->intake;
    struct record_reader *reader = &intake->reader;
    enum shell_status status = intake_refuse_options_of_records(intake);
    struct text row = {0}, why = {0};

    while (status == SHELL_FINE && shell_record_read_line(reader)) {
        status = take_line(compare, note, &row, &why);
        progress_update(&intake->progress, reader->bytes_read, intake->file_bytes,
                        compare->records);
        if (status == SHELL_FINE)
            status = interrupt_check(intake->session);
    }
    text_free(&row);
    text_free(&why);
    if (status == SHELL_FINE && ferror(intake->file))
        status = session_fail(intake->session, SHELL_DATA, "reading %s failed: %s",
                              intake->file_name, strerror(reader->read_error));
    return status;
}
