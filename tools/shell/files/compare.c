/*
 * compare.c -- kv-shell DIR compare TABLE FILE: is every field of the file in the table, and
 * nothing else?
 *
 * The file is read twice.  First to find each field's last occurrence, which is the one that
 * counts, and the numbers of rows and fields; then to get each row and compare each field.  At last
 * a scan counts the table.  Fields are known by 64-bit hashes; should two ever collide, a
 * difference is reported, never hidden.
 */
#include "tools/shell/files/compare_cells.h"

#include "tools/shell/files/header.h"
#include "tools/shell/session/interrupt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const petal_cell *
find_cell(const petal_result *result, petal_slice family, petal_slice qualifier)
{
    for (size_t i = 0; i < petal_result_count(result); i++) {
        const petal_cell *cell = petal_result_cell(result, i);

        if (slices_equal(cell->qualifier, qualifier) && slices_equal(cell->family, family))
            return cell;
    }
    return NULL;
}

static enum petal_status
get_row(struct compare *compare, const petal_column *column, petal_error *error)
{
    petal_read_options options = {.size = sizeof(options), .columns = column};

    options.column_count = column != NULL;
    return petal_get(compare->intake.table, compare->intake.reader.row, &options,
                     compare->intake.session->result, error);
}

/* Compare the fields of the record at hand that are the last of their kind. */
static enum shell_status
compare_record(struct compare *compare)
{
    struct intake *intake = &compare->intake;
    const struct record_reader *reader = &intake->reader;
    petal_error error;

    compare->line = reader->record_line;
    if (!compare->by_field && get_row(compare, NULL, &error) != PETAL_OK)
        return session_fail_petal(compare->intake.session, &error);
    for (size_t i = 0; i < reader->field_count; i++) {
        const struct record_field *field = &reader->fields[i];
        const struct record_column *column = &reader->columns[field->column];
        petal_column asked = {.family = column->family, .qualifier = column->qualifier};
        uint64_t hash;
        const petal_cell *cell;

        if (!intake_wants(intake, field))
            continue;
        compare->ordinal++;
        hash = intake_hash(reader->row, field->column);
        if (compare_last(&compare->fields, hash) != compare->ordinal)
            continue; /* a later one replaces it */
        if (compare->by_field && get_row(compare, &asked, &error) != PETAL_OK)
            return session_fail_petal(compare->intake.session, &error);
        cell = find_cell(intake->session->result, column->family_name, column->qualifier);
        if (cell == NULL)
            compare_report(compare, reader->row, text_slice(&column->name), "is not in the table");
        else if (!slices_equal(cell->value, field->value))
            compare_report(compare, reader->row, text_slice(&column->name), "differs in the table");
        compare->compared++;
    }
    return SHELL_FINE;
}

static enum shell_status
note_record(struct compare *compare)
{
    const struct record_reader *reader = &compare->intake.reader;

    for (size_t i = 0; i < reader->field_count; i++) {
        if (!intake_wants(&compare->intake, &reader->fields[i]))
            continue;
        compare->ordinal++;
        compare_set_last(&compare->fields, intake_hash(reader->row, reader->fields[i].column),
                         compare->ordinal);
        compare_set_last(&compare->rows, intake_hash(reader->row, UINT64_MAX - 1),
                         compare->ordinal);
    }
    return SHELL_FINE;
}

/* Hand each record after the header to `visit`. */
static enum shell_status
read_records(struct compare *compare, enum shell_status (*visit)(struct compare *))
{
    struct intake *intake = &compare->intake;
    bool more = true;
    enum shell_status status = header_read(intake, &more);

    while (status == SHELL_FINE && more) {
        status = intake_next(intake, &more, &compare->bad);
        if (status != SHELL_FINE || !more)
            break;
        status = visit(compare);
        compare->records++;
        progress_update(&intake->progress, intake->reader.bytes_read, intake->file_bytes,
                        compare->records);
        if (status == SHELL_FINE)
            status = interrupt_check(intake->session);
    }
    return status;
}

/* Read the whole file, to note what it holds, or to compare that with the table. */
static enum shell_status
read_file(struct compare *compare, bool note)
{
    struct intake *intake = &compare->intake;
    enum shell_status status = intake_open(intake);

    if (status != SHELL_FINE)
        return status;
    compare->records = compare->ordinal = compare->bad = 0;
    progress_begin(&intake->progress, note ? "read" : "compare", "records");
    if (intake_is_cells(intake, &compare->parser))
        status = compare_read_cells(compare, note);
    else
        status = read_records(compare, note ? note_record : compare_record);
    progress_end(&intake->progress);
    intake_close(intake);
    return status;
}

/* The row, family, qualifier, timestamp and type of a cell: a raw scan may show them several times,
 * with the values of writes that one of the same timestamp replaced. */
struct last_key {
    struct text row, family, qualifier;
    int64_t timestamp;
    enum petal_cell_type type;
};

static bool
keep_text(struct text *kept, petal_slice bytes)
{
    bool same = slices_equal(text_slice(kept), bytes);

    if (!same) {
        text_clear(kept);
        text_add_slice(kept, bytes);
    }
    return same;
}

static bool
keep_key(struct last_key *kept, const petal_cell *cell)
{
    bool same = kept->timestamp == cell->timestamp && kept->type == cell->type;

    same = keep_text(&kept->family, cell->family) && same;
    same = keep_text(&kept->qualifier, cell->qualifier) && same;
    kept->timestamp = cell->timestamp;
    kept->type = cell->type;
    return same;
}

/* Count the rows and cells of the table by a scan. */
static enum shell_status
count_table(struct compare *compare, uint64_t *rows, uint64_t *cells)
{
    petal_scan_options options = {.size = sizeof(options),
                                  .read = {.size = sizeof(options.read), .keep_out_of_cache = true},
                                  .raw = compare->stored};
    petal_cursor *cursor = NULL;
    struct last_key last = {.timestamp = -1};
    const petal_cell *cell;
    petal_error error;
    enum petal_status status;

    if (compare->stored)
        options.read.versions = PETAL_ALL_VERSIONS;
    status = petal_cursor_open(compare->intake.table, &options, &cursor, &error);
    *rows = *cells = 0;
    while (status == PETAL_OK) {
        bool same_row, same_key;

        status = petal_cursor_next(cursor, &cell, &error);
        if (status != PETAL_OK || cell == NULL || interrupt_pending())
            break;
        same_row = keep_text(&last.row, cell->row) && *rows > 0;
        same_key = compare->stored && keep_key(&last, cell);
        *rows += !same_row;
        *cells += !same_row || !same_key;
    }
    petal_cursor_close(cursor);
    text_free(&last.row);
    text_free(&last.family);
    text_free(&last.qualifier);
    return status == PETAL_OK ? interrupt_check(compare->intake.session)
                              : session_fail_petal(compare->intake.session, &error);
}

static enum shell_status
show_outcome(struct compare *compare)
{
    const char *noun = compare->stored ? "cells" : "fields";
    uint64_t rows, cells;
    enum shell_status status = count_table(compare, &rows, &cells);
    bool counts_equal = rows == compare->rows.count && cells == compare->fields.count;

    if (status != SHELL_FINE)
        return status;
    (void)printf("input: %zu rows, %zu %s; table: %" PRIu64 " rows, %" PRIu64 " %s; %" PRIu64
                 " %s compared, %" PRIu64 " differ\n",
                 compare->rows.count, compare->fields.count, noun, rows, cells, noun,
                 compare->compared, noun, compare->differences);
    if (compare->stored)
        (void)printf("All that is stored was compared, deletions too: the file has some, or "
                     "several versions of a field\n");
    if (compare->differences > 0 || compare->compared != compare->fields.count)
        return SHELL_DATA;
    return counts_equal ? SHELL_FINE : SHELL_DATA;
}

enum shell_status
compare_main(struct session *session, int argc, char **argv)
{
    struct compare compare = {.by_field = false};
    enum shell_status status;

    if (argc > 0 && strcmp(argv[0], "--by-field") == 0) {
        compare.by_field = true;
        argc--;
        argv++;
    }
    status = intake_parse(&compare.intake, session, argc, argv);
    if (status == SHELL_FINE && strcmp(compare.intake.file_name, "-") == 0)
        return session_fail(session, SHELL_USAGE,
                            "compare reads its file twice, so it cannot be standard input");
    if (status == SHELL_FINE && compare.intake.create)
        return session_fail(session, SHELL_USAGE, "--create is for import: compare makes no table");
    if (status == SHELL_FINE)
        status = read_file(&compare, true);
    compare.intake.bad_told = true;
    if (status == SHELL_FINE && compare.fields.capacity > 0)
        status = read_file(&compare, false);
    if (status == SHELL_FINE)
        status = show_outcome(&compare);
    free(compare.fields.slots);
    free(compare.columns.slots);
    free(compare.rows.slots);
    text_free(&compare.script_table);
    cell_parser_free(&compare.parser);
    return status;
}
