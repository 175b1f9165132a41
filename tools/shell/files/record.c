/* record.c -- see tools/shell/files/record.h. */
#include "tools/shell/files/record.h"

#include "tools/shell/text/memory.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A value of the line at hand: where it is in the reader's bytes, and whether it was quoted. */
struct record_piece {
    size_t begin, end;
    bool quoted;
};

enum { NUMBER_DIGITS = 10 }; /* so that rows sort as their numbers do */

void
shell_record_reader_init(struct record_reader *reader, enum file_format format, FILE *file)
{
    *reader = (struct record_reader){.format = format, .file = file};
}

void
shell_record_reader_free(struct record_reader *reader)
{
    for (size_t i = 0; i < reader->column_count; i++)
        text_free(&reader->columns[i].name);
    free(reader->columns);
    free(reader->row_columns);
    free(reader->fields);
    free(reader->pieces);
    free(reader->line_bytes);
    text_free(&reader->bytes);
    text_free(&reader->row_bytes);
    *reader = (struct record_reader){0};
}

static enum record_outcome fail(struct record_reader *reader, enum record_outcome outcome,
                                uint64_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static enum record_outcome
fail(struct record_reader *reader, enum record_outcome outcome, uint64_t line, const char *format,
     ...)
{
    int size = snprintf(reader->message, sizeof(reader->message), "%" PRIu64 ": ", line);
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(reader->message + size, sizeof(reader->message) - (size_t)size, format,
                    arguments);
    va_end(arguments);
    return outcome;
}

bool
shell_record_read_line(struct record_reader *reader)
{
    ssize_t size;

    if (reader->line_pending) {
        reader->line_pending = false;
        return true;
    }
    size = getline(&reader->line_bytes, &reader->line_capacity, reader->file);
    if (size < 0) {
        if (reader->read_error == 0 && ferror(reader->file))
            reader->read_error = errno;
        return false;
    }
    reader->line++;
    reader->bytes_read += (uint64_t)size;
    if (size > 0 && reader->line_bytes[size - 1] == '\n')
        size--;
    reader->line_size = (size_t)size;
    return true;
}

/* The values of the line that was read, whose end may have a carriage return. */
static struct fields
fields_of_line(const struct record_reader *reader)
{
    size_t size = reader->line_size;

    size -= size > 0 && reader->line_bytes[size - 1] == '\r';
    return (struct fields){
        .at = reader->line_bytes, .end = reader->line_bytes + size, .format = reader->format};
}

static enum record_outcome
take_value(struct record_reader *reader, struct fields *line, struct record_piece *piece)
{
    petal_slice plain;
    enum fields_outcome outcome;

    piece->begin = reader->bytes.size;
    outcome = fields_take(line, &reader->bytes, &plain);
    while (outcome == FIELDS_OPEN) {
        const char *end = reader->line_bytes + reader->line_size;

        text_add(&reader->bytes, line->end, (size_t)(end - line->end));
        text_add(&reader->bytes, "\n", 1);
        if (!shell_record_read_line(reader))
            return fail(reader, RECORD_BAD, reader->record_line, "a quote is not closed");
        *line = fields_of_line(reader);
        outcome = fields_go_on(line, &reader->bytes);
    }
    if (outcome == FIELDS_FOLLOWED)
        return fail(reader, RECORD_BAD, reader->line,
                    "something else than a comma follows a closing quote");
    piece->quoted = plain.data == NULL;
    text_add_slice(&reader->bytes, plain);
    piece->end = reader->bytes.size;
    return RECORD_GOOD;
}

static int
compare_columns(const void *a, const void *b)
{
    const struct record_column *const *left = a, *const *right = b;

    return slices_compare(text_slice(&(*left)->name), text_slice(&(*right)->name));
}

/* A column whose name stands twice, or NULL. */
static const struct record_column *
find_twice(const struct record_reader *reader)
{
    size_t count = reader->column_count;
    const struct record_column **sorted = memory_allocate(count * sizeof(*sorted)), *twice = NULL;

    for (size_t i = 0; i < count; i++)
        sorted[i] = &reader->columns[i];
    qsort(sorted, count, sizeof(*sorted), compare_columns);
    for (size_t i = 1; i < count && twice == NULL; i++)
        if (compare_columns(&sorted[i - 1], &sorted[i]) == 0)
            twice = sorted[i];
    free(sorted);
    return twice;
}

/* Take the names in the first line, of which there is at least one. */
static enum record_outcome
read_names(struct record_reader *reader)
{
    struct fields line = fields_of_line(reader);
    enum record_outcome outcome;
    struct record_piece piece;

    do {
        outcome = take_value(reader, &line, &piece);
        if (outcome != RECORD_GOOD)
            return RECORD_FAILED;
        reader->columns = memory_room(reader->columns, reader->column_count,
                                      &reader->column_capacity, sizeof(*reader->columns));
        reader->columns[reader->column_count] = (struct record_column){.family = NULL};
        text_add(&reader->columns[reader->column_count++].name,
                 text_string(&reader->bytes) + piece.begin, piece.end - piece.begin);
    } while (fields_next(&line));
    return RECORD_GOOD;
}

/* Is there a carriage return within the line, outside of quotes? */
static bool
has_carriage_return(const struct record_reader *reader)
{
    bool quoted = false;

    for (size_t i = 0; i + 1 < reader->line_size; i++) {
        if (reader->line_bytes[i] == '\r' && !quoted)
            return true;
        quoted ^= reader->line_bytes[i] == '"' && reader->format == FILE_CSV;
    }
    return false;
}

enum record_outcome
shell_record_header(struct record_reader *reader)
{
    const struct record_column *twice;

    text_clear(&reader->bytes);
    if (!shell_record_read_line(reader))
        return ferror(reader->file) ? fail(reader, RECORD_FAILED, reader->line,
                                           "reading failed: %s", strerror(reader->read_error))
                                    : RECORD_END;
    reader->record_line = reader->line;
    if (has_carriage_return(reader))
        return fail(reader, RECORD_FAILED, reader->line,
                    "lines end with CR alone; they must end with LF, or with CR and LF");
    if (read_names(reader) != RECORD_GOOD)
        return RECORD_FAILED;
    reader->pieces = memory_allocate(reader->column_count * sizeof(*reader->pieces));
    twice = find_twice(reader);
    return twice == NULL ? RECORD_GOOD
                         : fail(reader, RECORD_FAILED, reader->line,
                                "two columns are called '%.80s'", text_string(&twice->name));
}

void
shell_record_set_row(struct record_reader *reader, const size_t *columns, size_t count,
                     petal_slice separator)
{
    assert(reader->pieces != NULL && reader->row_columns == NULL);
    reader->row_columns = memory_allocate((count + 1) * sizeof(*columns));
    reader->row_column_count = count;
    reader->row_separator = separator;
    for (size_t i = 0; i < count; i++) {
        assert(columns[i] < reader->column_count);
        reader->row_columns[i] = columns[i];
        reader->columns[columns[i]].in_row = true;
    }
}

/* ---- Records --------------------------------------------------------------------------------- */

/* Read the line's values, one for each column. */
static enum record_outcome
read_values(struct record_reader *reader, struct fields *line)
{
    size_t column = 0;

    do {
        if (column == reader->column_count)
            return fail(reader, RECORD_BAD, reader->record_line,
                        "there are more values than the first line has columns (%zu)", column);
        if (take_value(reader, line, &reader->pieces[column]) != RECORD_GOOD)
            return RECORD_BAD;
        column++;
    } while (fields_next(line));
    if (column < reader->column_count)
        return fail(reader, RECORD_BAD, reader->record_line,
                    column == 1 ? "there is %zu value, but the first line has %zu columns"
                                : "there are %zu values, but the first line has %zu columns",
                    column, reader->column_count);
    return RECORD_GOOD;
}

/* The values that are cells.  They are where they stay, since all were read. */
static enum record_outcome
take_fields(struct record_reader *reader)
{
    reader->field_count = 0;
    for (size_t i = 0; i < reader->column_count; i++) {
        const struct record_piece *piece = &reader->pieces[i];
        size_t size = piece->end - piece->begin;

        if (reader->columns[i].in_row || (size == 0 && !piece->quoted))
            continue;
        if (size > PETAL_MAX_VALUE_BYTES)
            return fail(reader, RECORD_BAD, reader->record_line,
                        "the value of %.80s has %zu bytes, more than %u",
                        text_string(&reader->columns[i].name), size, PETAL_MAX_VALUE_BYTES);
        reader->fields = memory_room(reader->fields, reader->field_count, &reader->field_capacity,
                                     sizeof(*reader->fields));
        reader->fields[reader->field_count++] =
            (struct record_field){i, {text_string(&reader->bytes) + piece->begin, size}};
    }
    return RECORD_GOOD;
}

/* The row is one of the values where it stands, or several put together, or the record's number. */
static enum record_outcome
take_row(struct record_reader *reader)
{
    text_clear(&reader->row_bytes);
    for (size_t i = 0; i < reader->row_column_count; i++) {
        const struct record_piece *piece = &reader->pieces[reader->row_columns[i]];

        reader->row =
            (petal_slice){text_string(&reader->bytes) + piece->begin, piece->end - piece->begin};
        if (reader->row.size == 0)
            return fail(reader, RECORD_BAD, reader->record_line,
                        "the row's column '%.80s' is empty",
                        text_string(&reader->columns[reader->row_columns[i]].name));
        if (reader->row_column_count == 1)
            break;
        if (i > 0)
            text_add_slice(&reader->row_bytes, reader->row_separator);
        text_add_slice(&reader->row_bytes, reader->row);
    }
    if (reader->row_column_count == 0)
        text_add_format(&reader->row_bytes, "%0*" PRIu64, NUMBER_DIGITS, reader->records);
    if (reader->row_column_count != 1)
        reader->row = text_slice(&reader->row_bytes);
    if (reader->row.size > PETAL_MAX_ROW_BYTES)
        return fail(reader, RECORD_BAD, reader->record_line, "the row has %zu bytes, more than %d",
                    reader->row.size, PETAL_MAX_ROW_BYTES);
    return RECORD_GOOD;
}

static enum record_outcome
read_record(struct record_reader *reader)
{
    enum record_outcome outcome;
    struct fields line;

    assert(reader->row_columns != NULL);
    text_clear(&reader->bytes);
    do {
        if (!shell_record_read_line(reader))
            return RECORD_END;
        line = fields_of_line(reader);
    } while (line.at == line.end);
    reader->record_line = reader->line;
    reader->records++;
    outcome = read_values(reader, &line);
    if (outcome == RECORD_GOOD)
        outcome = take_fields(reader);
    return outcome == RECORD_GOOD ? take_row(reader) : outcome;
}

enum record_outcome
shell_record_next(struct record_reader *reader)
{
    enum record_outcome outcome = read_record(reader);

    if (outcome == RECORD_END && ferror(reader->file))
        return fail(reader, RECORD_FAILED, reader->line, "reading failed: %s",
                    strerror(reader->read_error));
    return outcome;
}
