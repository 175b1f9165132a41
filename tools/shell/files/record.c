/* record.c -- see tools/shell/files/record.h. */
#include "tools/shell/files/record.h"

#include "tools/shell/text/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A value of the line at hand: where it is in the reader's bytes, and whether it was quoted. */
struct piece {
    size_t begin, end;
    bool quoted;
};

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
    free(reader->fields);
    free(reader->line_bytes);
    text_free(&reader->bytes);
    *reader = (struct record_reader){0};
}

static enum record_outcome fail(struct record_reader *reader, enum record_outcome outcome,
                                uint64_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static enum record_outcome
fail(struct record_reader *reader, enum record_outcome outcome, uint64_t line, const char *format,
     ...)
{
    int size = snprintf(reader->message, sizeof(reader->message), "line %" PRIu64 ": ", line);
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
take_value(struct record_reader *reader, struct fields *line, struct piece *piece)
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
                    "a quote is followed by something else than a comma");
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

static enum record_outcome
read_header(struct record_reader *reader)
{
    const struct record_column *twice;
    enum record_outcome outcome;
    struct fields line;
    struct piece piece;

    text_clear(&reader->bytes);
    if (!shell_record_read_line(reader))
        return RECORD_END;
    reader->record_line = reader->line;
    line = fields_of_line(reader);
    outcome = take_value(reader, &line, &piece);
    while (outcome == RECORD_GOOD && fields_next(&line)) {
        petal_slice name;

        outcome = take_value(reader, &line, &piece);
        if (outcome != RECORD_GOOD)
            break;
        name = (petal_slice){text_string(&reader->bytes) + piece.begin, piece.end - piece.begin};
        if (memchr(name.data, ':', name.size) == NULL)
            return fail(reader, RECORD_FAILED, reader->line,
                        "column '%.*s' is not of the form family:qualifier", SLICE_UP_TO(80, name));
        reader->columns = memory_room(reader->columns, reader->column_count,
                                      &reader->column_capacity, sizeof(*reader->columns));
        reader->columns[reader->column_count] = (struct record_column){.family = NULL};
        text_add_slice(&reader->columns[reader->column_count++].name, name);
    }
    reader->header_read = true;
    if (outcome != RECORD_GOOD)
        return RECORD_FAILED;
    if (reader->column_count == 0)
        return fail(reader, RECORD_FAILED, reader->line, "the first line names no column");
    twice = find_twice(reader);
    return twice == NULL ? RECORD_GOOD
                         : fail(reader, RECORD_FAILED, reader->line, "column '%.80s' stands twice",
                                text_string(&twice->name));
}

/* Read the values behind the row, one for each column.  Where they are is known when all were
 * read. */
static enum record_outcome
read_values(struct record_reader *reader, struct fields *line)
{
    struct piece piece;
    size_t column = 0;

    reader->field_count = 0;
    for (; fields_next(line); column++) {
        if (column == reader->column_count)
            return fail(reader, RECORD_BAD, reader->record_line,
                        "more values than the first line has columns (%zu)", column);
        if (take_value(reader, line, &piece) != RECORD_GOOD)
            return RECORD_BAD;
        if (piece.end == piece.begin && !piece.quoted)
            continue;
        if (piece.end - piece.begin > PETAL_MAX_VALUE_BYTES)
            return fail(reader, RECORD_BAD, reader->record_line,
                        "the value of %.80s has %zu bytes, more than %u",
                        text_string(&reader->columns[column].name), piece.end - piece.begin,
                        PETAL_MAX_VALUE_BYTES);
        reader->fields = memory_room(reader->fields, reader->field_count, &reader->field_capacity,
                                     sizeof(*reader->fields));
        reader->fields[reader->field_count++] =
            (struct record_field){column, {NULL, piece.end - piece.begin}, piece.begin};
    }
    if (column < reader->column_count)
        return fail(reader, RECORD_BAD, reader->record_line,
                    "%zu values, but the first line has %zu columns", column, reader->column_count);
    for (size_t i = 0; i < reader->field_count; i++)
        reader->fields[i].value.data = reader->bytes.bytes + reader->fields[i].begin;
    return RECORD_GOOD;
}

static enum record_outcome
read_record(struct record_reader *reader)
{
    enum record_outcome outcome;
    struct fields line;
    struct piece row;

    if (!reader->header_read && (outcome = read_header(reader)) != RECORD_GOOD)
        return outcome;
    text_clear(&reader->bytes);
    do {
        if (!shell_record_read_line(reader))
            return RECORD_END;
        line = fields_of_line(reader);
    } while (line.at == line.end);
    reader->record_line = reader->line;
    outcome = take_value(reader, &line, &row);
    if (outcome == RECORD_GOOD)
        outcome = read_values(reader, &line);
    if (outcome != RECORD_GOOD)
        return outcome;
    reader->row = (petal_slice){text_string(&reader->bytes) + row.begin, row.end - row.begin};
    if (reader->row.size == 0)
        return fail(reader, RECORD_BAD, reader->record_line, "the row is empty or missing");
    if (reader->row.size > PETAL_MAX_ROW_BYTES)
        return fail(reader, RECORD_BAD, reader->record_line, "the row has %zu bytes, more than %d",
                    reader->row.size, PETAL_MAX_ROW_BYTES);
    return RECORD_GOOD;
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
