/*
 * compare.c -- kv-shell DIR compare TABLE FILE: is every field of the file in the table, and
 * nothing else?
 *
 * The file is read twice.  First to find each field's last occurrence, which is the one that
 * counts, and the numbers of rows and fields; then to get each row, once as long as its fields
 * stand together, and compare each field.  At last a scan counts the table.  Fields are known by
 * 64-bit hashes; should two ever collide, a difference is reported, never hidden.
 *
 * A file with one version of each column, as all files of records, is compared with what readers
 * see: the newest version, and its timestamp where the file has one.  One with several versions, or
 * deletions, is compared with all that is stored, as `export --all-versions` writes it.
 */
#include "tools/shell/files/cell.h"
#include "tools/shell/files/header.h"
#include "tools/shell/files/intake.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/text/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { GREATEST_REPORTS = 10 };

/* From hashes to the ordinal of the last field that had it.  Open addressing; 0 is no hash. */
struct last_fields {
    struct last_field {
        uint64_t hash, ordinal;
    } * slots;
    size_t count, capacity;
};

struct compare {
    struct intake intake;
    struct last_fields fields;  /* with timestamp and type */
    struct last_fields columns; /* fewer than `fields` where the file has several versions */
    struct last_fields rows;
    uint64_t records, ordinal, bad;
    uint64_t compared, differences;
    uint64_t line;   /* of the record or cell at hand */
    bool of_cells;   /* the file, not of records */
    bool by_field;   /* one get for each field, of records */
    struct text row; /* fetched last */

    struct cell_parser parser;
    struct text script_table; /* hbase: what the first command names */
    bool stored; /* the file has versions or deletions: all that is stored is compared */
    size_t next; /* where in the row's cells the next one is looked for */
};

/* ---- Sets of fields -------------------------------------------------------------------------- */

static struct last_field *
find_slot(const struct last_fields *set, uint64_t hash)
{
    size_t slot = (size_t)hash & (set->capacity - 1);

    while (set->slots[slot].hash != 0 && set->slots[slot].hash != hash)
        slot = (slot + 1) & (set->capacity - 1);
    return &set->slots[slot];
}

static void
grow(struct last_fields *set)
{
    struct last_fields bigger = {.count = set->count};

    bigger.capacity = set->capacity > 0 ? 2 * set->capacity : 1 << 16;
    bigger.slots = memory_allocate(bigger.capacity * sizeof(*bigger.slots));
    memset(bigger.slots, 0, bigger.capacity * sizeof(*bigger.slots));
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i].hash != 0)
            *find_slot(&bigger, set->slots[i].hash) = set->slots[i];
    free(set->slots);
    *set = bigger;
}

/* Note that the field of this hash occurs there. */
static void
set_last(struct last_fields *set, uint64_t hash, uint64_t ordinal)
{
    struct last_field *slot;

    if (2 * set->count >= set->capacity)
        grow(set);
    hash += hash == 0;
    slot = find_slot(set, hash);
    set->count += slot->hash == 0;
    *slot = (struct last_field){hash, ordinal};
}

/* Where it occurs last; the set is not empty. */
static uint64_t
last_of(const struct last_fields *set, uint64_t hash)
{
    return find_slot(set, hash + (hash == 0))->ordinal;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* The hashes of a cell's row, of its column in that row, and of all that names it. */
struct cell_hashes {
    uint64_t row, column, cell;
};

static struct cell_hashes
hash_cell(const petal_cell *cell)
{
    const petal_slice timestamp = {&cell->timestamp, sizeof(cell->timestamp)};
    struct cell_hashes hashes = {.row = intake_hash(cell->row, 0)};

    hashes.column = intake_hash(cell->qualifier, intake_hash(cell->family, hashes.row));
    hashes.cell = intake_hash(timestamp, hashes.column + (uint64_t)cell->type);
    return hashes;
}

/* Records have one version of each column. */
static void
note_cell(struct compare *compare, const petal_cell *cell, const struct cell_hashes *hashes)
{
    set_last(&compare->rows, hashes->row, compare->ordinal);
    set_last(&compare->fields, hashes->cell, compare->ordinal);
    if (!compare->of_cells)
        return;
    set_last(&compare->columns, hashes->column, compare->ordinal);
    compare->stored = compare->stored || cell->type != PETAL_PUT ||
                      compare->fields.count > compare->columns.count;
}

/* ---- The table ------------------------------------------------------------------------------- */

/* Fetch what the table has of the row, or by field of the cell's column, into the session's
 * result. */
static enum petal_status
fetch_row(struct compare *compare, petal_slice row, const petal_cell *cell, petal_error *error)
{
    petal_result *result = compare->intake.session->result;
    petal_scan_options options = {.size = sizeof(options),
                                  .read = {.size = sizeof(options.read)},
                                  .start_row = row,
                                  .stop_row = row,
                                  .stop_inclusive = true,
                                  .raw = true};
    petal_column column = {.qualifier = cell->qualifier};
    petal_cursor *cursor = NULL;
    enum petal_status status;

    compare->next = 0;
    if (compare->by_field && !compare->of_cells) {
        status = petal_table_family(compare->intake.table, cell->family, &column.family, error);
        if (status != PETAL_OK)
            return status;
        options.read.columns = &column;
        options.read.column_count = 1;
    }
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

/* Count a difference; the first few are printed. */
static void
report_difference(struct compare *compare, petal_slice row, petal_slice field, const char *what)
{
    struct text text = {0};

    if (++compare->differences > GREATEST_REPORTS)
        return;
    text_add_format(&text, "line %" PRIu64 ": row ", compare->line);
    text_add_binary(&text, row);
    text_add_string(&text, ", field ");
    text_add_binary(&text, field);
    (void)printf("%s: %s\n", text_string(&text), what);
    text_free(&text);
}

/* A field of the file, called `name` (without data: as its column): note it, or compare it with the
 * table. */
static enum shell_status
take_cell(struct compare *compare, const petal_cell *cell, petal_slice name, bool note)
{
    struct text *row = &compare->row;
    struct cell_hashes hashes = hash_cell(cell);
    petal_error error;
    const char *what;

    compare->ordinal++;
    if (note) {
        note_cell(compare, cell, &hashes);
        return SHELL_FINE;
    }
    if (last_of(&compare->fields, hashes.cell) != compare->ordinal)
        return SHELL_FINE; /* a later one replaces it */
    if ((compare->by_field && !compare->of_cells) || compare->compared == 0 ||
        !slices_equal(text_slice(row), cell->row)) {
        text_clear(row);
        text_add_slice(row, cell->row);
        if (fetch_row(compare, text_slice(row), cell, &error) != PETAL_OK)
            return session_fail_petal(compare->intake.session, &error);
    }
    compare->compared++;
    what = find_difference(compare, cell);
    if (what == NULL)
        return SHELL_FINE;
    if (name.data == NULL) {
        struct text *scratch = &compare->intake.session->scratch;

        text_clear(scratch);
        text_add_slice(scratch, cell->family);
        text_add_string(scratch, ":");
        text_add_slice(scratch, cell->qualifier);
        name = text_slice(scratch);
    }
    report_difference(compare, cell->row, name, what);
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
take_line(struct compare *compare, bool note, struct text *why)
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
    return take_cell(compare, &parser->cell, (petal_slice){NULL, 0}, note);
}

static enum shell_status
read_cells(struct compare *compare, bool note)
{
    struct intake *intake = &compare->intake;
    struct record_reader *reader = &intake->reader;
    enum shell_status status = intake_refuse_options_of_records(intake);
    struct text why = {0};

    while (status == SHELL_FINE && shell_record_read_line(reader)) {
        status = take_line(compare, note, &why);
        progress_update(&intake->progress, reader->bytes_read, intake->file_bytes,
                        compare->records);
        if (status == SHELL_FINE)
            status = interrupt_check(intake->session);
    }
    text_free(&why);
    if (status == SHELL_FINE && ferror(intake->file))
        status = session_fail(intake->session, SHELL_DATA, "reading %s failed: %s",
                              intake->file_name, strerror(reader->read_error));
    return status;
}

/* The fields of the record at hand. */
static enum shell_status
take_record(struct compare *compare, bool note)
{
    const struct intake *intake = &compare->intake;
    const struct record_reader *reader = &intake->reader;
    enum shell_status status = SHELL_FINE;

    compare->line = reader->record_line;
    for (size_t i = 0; i < reader->field_count && status == SHELL_FINE; i++) {
        const struct record_field *field = &reader->fields[i];
        const struct record_column *column = &reader->columns[field->column];
        const petal_cell cell = {.row = reader->row,
                                 .family = column->family_name,
                                 .qualifier = column->qualifier,
                                 .timestamp = PETAL_LATEST,
                                 .type = PETAL_PUT,
                                 .value = field->value};

        if (intake_wants(intake, field))
            status = take_cell(compare, &cell, text_slice(&column->name), note);
    }
    return status;
}

static enum shell_status
read_records(struct compare *compare, bool note)
{
    struct intake *intake = &compare->intake;
    bool more = true;
    enum shell_status status = header_read(intake, &more);

    while (status == SHELL_FINE && more) {
        status = intake_next(intake, &more, &compare->bad);
        if (status != SHELL_FINE || !more)
            break;
        status = take_record(compare, note);
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
    compare->of_cells = intake_is_cells(intake, &compare->parser);
    status = compare->of_cells ? read_cells(compare, note) : read_records(compare, note);
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
    text_free(&compare.row);
    cell_parser_free(&compare.parser);
    return status;
}
