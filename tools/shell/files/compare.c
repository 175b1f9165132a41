/*
 * compare.c -- kv-shell DIR compare TABLE FILE: is every field of the file in the table, and
 * nothing else?
 *
 * The file is read twice.  First to find each field's last occurrence, which is the one that
 * counts, and the numbers of rows and fields; then to get each row and compare each field.  At last
 * a scan counts the table.  Fields are known by 64-bit hashes; should two ever collide, a
 * difference is reported, never hidden.
 */
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
    struct last_fields fields, rows;
    uint64_t records, ordinal, bad;
    uint64_t compared, differences;
    bool by_field; /* one get for each field */
};

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

static void
report(struct compare *compare, const struct record_column *column, const char *what)
{
    struct text row = {0};

    if (++compare->differences > GREATEST_REPORTS)
        return;
    text_add_binary(&row, compare->intake.reader.row);
    (void)printf("line %" PRIu64 ": row %s, field %s: %s\n", compare->intake.reader.record_line,
                 text_string(&row), text_string(&column->name), what);
    text_free(&row);
}

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

    if (!compare->by_field && get_row(compare, NULL, &error) != PETAL_OK)
        return session_fail_petal(compare->intake.session, &error);
    for (size_t i = 0; i < reader->field_count; i++) {
        const struct record_field *field = &reader->fields[i];
        const struct record_column *column = &reader->columns[field->column];
        petal_column asked = {.family = column->family};
        petal_slice family;
        uint64_t hash;
        const petal_cell *cell;

        if (!intake_wants(intake, field))
            continue;
        compare->ordinal++;
        hash = intake_hash(reader->row, field->column);
        if (find_slot(&compare->fields, hash + (hash == 0))->ordinal != compare->ordinal)
            continue; /* a later one replaces it */
        intake_column(column, &family, &asked.qualifier);
        if (compare->by_field && get_row(compare, &asked, &error) != PETAL_OK)
            return session_fail_petal(compare->intake.session, &error);
        cell = find_cell(intake->session->result, family, asked.qualifier);
        if (cell == NULL)
            report(compare, column, "is not in the table");
        else if (!slices_equal(cell->value, field->value))
            report(compare, column, "differs in the table");
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
        set_last(&compare->fields, intake_hash(reader->row, reader->fields[i].column),
                 compare->ordinal);
        set_last(&compare->rows, intake_hash(reader->row, UINT64_MAX - 1), compare->ordinal);
    }
    return SHELL_FINE;
}

/* Read the whole file and hand each record to `visit`. */
static enum shell_status
read_file(struct compare *compare, const char *what, enum shell_status (*visit)(struct compare *))
{
    struct intake *intake = &compare->intake;
    enum shell_status status = intake_open(intake);
    bool more = true;

    compare->records = compare->ordinal = compare->bad = 0;
    if (status == SHELL_FINE)
        progress_begin(&intake->progress, what, "records");
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
    progress_end(&intake->progress);
    intake_close(intake);
    return status;
}

/* Count the rows and cells of the table by a scan. */
static enum shell_status
count_table(struct compare *compare, uint64_t *rows, uint64_t *cells)
{
    petal_scan_options options = {
        .read = {.size = sizeof(options.read), .keep_out_of_cache = true}};
    petal_cursor *cursor = NULL;
    struct text row = {0};
    const petal_cell *cell;
    petal_error error;
    enum petal_status status = petal_cursor_open(compare->intake.table, &options, &cursor, &error);

    *rows = *cells = 0;
    while (status == PETAL_OK) {
        status = petal_cursor_next(cursor, &cell, &error);
        if (status != PETAL_OK || cell == NULL || interrupt_pending())
            break;
        if (*cells == 0 || !slices_equal(text_slice(&row), cell->row)) {
            (*rows)++;
            text_clear(&row);
            text_add_slice(&row, cell->row);
        }
        (*cells)++;
    }
    petal_cursor_close(cursor);
    text_free(&row);
    return status == PETAL_OK ? interrupt_check(compare->intake.session)
                              : session_fail_petal(compare->intake.session, &error);
}

static enum shell_status
show_outcome(struct compare *compare)
{
    uint64_t rows, cells;
    enum shell_status status = count_table(compare, &rows, &cells);
    bool counts_equal = rows == compare->rows.count && cells == compare->fields.count;

    if (status != SHELL_FINE)
        return status;
    (void)printf("input: %zu rows, %zu fields; table: %" PRIu64 " rows, %" PRIu64
                 " fields; %" PRIu64 " fields compared, %" PRIu64 " differ\n",
                 compare->rows.count, compare->fields.count, rows, cells, compare->compared,
                 compare->differences);
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
    if (status == SHELL_FINE && compare.intake.format > FILE_TSV)
        return session_fail(session, SHELL_USAGE, "compare reads csv and tsv");
    if (status == SHELL_FINE)
        status = read_file(&compare, "read", note_record);
    if (status == SHELL_FINE && compare.fields.capacity > 0)
        status = read_file(&compare, "compare", compare_record);
    if (status == SHELL_FINE)
        status = show_outcome(&compare);
    free(compare.fields.slots);
    free(compare.rows.slots);
    return status;
}
