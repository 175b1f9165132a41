/* record_table.c -- csv and tsv.  See tools/shell/files/record.h. */
#include "tools/shell/files/record.h"

#include <string.h>

/* A value of the line at hand: where it is in the reader's bytes, and whether it was quoted. */
struct cell_text {
    size_t begin, end;
    bool quoted;
};

static size_t
line_size_without_return(const struct record_reader *reader)
{
    size_t size = reader->line_size;

    return size > 0 && reader->line_bytes[size - 1] == '\r' ? size - 1 : size;
}

/* Behind an opening quote at `at`: read to the closing one, over line ends.  0 if there is none. */
static size_t
take_quoted(struct record_reader *reader, size_t at)
{
    for (;;) {
        const char *line = reader->line_bytes;
        const char *quote = memchr(line + at, '"', reader->line_size - at);

        if (quote == NULL) {
            text_add(&reader->bytes, line + at, reader->line_size - at);
            text_add(&reader->bytes, "\n", 1);
            if (!shell_record_read_line(reader))
                return 0;
            at = 0;
            continue;
        }
        text_add(&reader->bytes, line + at, (size_t)(quote - line) - at);
        at = (size_t)(quote - line) + 1;
        if (at >= reader->line_size || line[at] != '"')
            return at;
        text_add(&reader->bytes, "\"", 1);
        at++;
    }
}

/* Read the value at *at; leave *at at the separator or the end behind it. */
static enum record_outcome
take_value(struct record_reader *reader, size_t *at, struct cell_text *cell)
{
    char separator = reader->format == RECORD_CSV ? ',' : '\t';
    size_t size = line_size_without_return(reader);
    const char *end;

    cell->begin = reader->bytes.size;
    cell->quoted = reader->format == RECORD_CSV && *at < size && reader->line_bytes[*at] == '"';
    if (cell->quoted) {
        *at = take_quoted(reader, *at + 1);
        if (*at == 0)
            return shell_record_fail(reader, RECORD_BAD, reader->record_line,
                                     "a quote is not closed");
        if (*at < line_size_without_return(reader) && reader->line_bytes[*at] != separator)
            return shell_record_fail(reader, RECORD_BAD, reader->line,
                                     "a quote is followed by something else than a comma");
    } else {
        end = *at < size ? memchr(reader->line_bytes + *at, separator, size - *at) : NULL;
        size = end != NULL ? (size_t)(end - reader->line_bytes) : size;
        text_add(&reader->bytes, reader->line_bytes + *at, size - *at);
        *at = size;
    }
    cell->end = reader->bytes.size;
    return RECORD_GOOD;
}

/* Does a separator stand at `at`, and so one more value behind it? */
static bool
has_more(const struct record_reader *reader, size_t at)
{
    return at < line_size_without_return(reader);
}

static enum record_outcome
read_header(struct record_reader *reader)
{
    enum record_outcome outcome;
    struct cell_text cell;
    size_t at = 0;

    shell_record_begin(reader);
    if (!shell_record_read_line(reader))
        return RECORD_END;
    reader->record_line = reader->line;
    outcome = take_value(reader, &at, &cell);
    while (outcome == RECORD_GOOD && has_more(reader, at)) {
        size_t before = reader->column_count;
        petal_slice name;

        at++;
        outcome = take_value(reader, &at, &cell);
        name = (petal_slice){text_string(&reader->bytes) + cell.begin, cell.end - cell.begin};
        if (outcome == RECORD_GOOD && memchr(name.data, ':', name.size) == NULL)
            return shell_record_fail(reader, RECORD_FAILED, reader->line,
                                     "column '%.*s' is not of the form family:qualifier",
                                     name.size < 80 ? (int)name.size : 80, (const char *)name.data);
        if (outcome == RECORD_GOOD && shell_record_column(reader, name) < before)
            return shell_record_fail(reader, RECORD_FAILED, reader->line,
                                     "column '%.*s' stands twice",
                                     name.size < 80 ? (int)name.size : 80, (const char *)name.data);
    }
    reader->header_read = true;
    if (outcome == RECORD_GOOD && reader->column_count == 0)
        return shell_record_fail(reader, RECORD_FAILED, reader->line,
                                 "the first line names no column");
    return outcome == RECORD_GOOD ? RECORD_GOOD : RECORD_FAILED;
}

/* Read the values behind the row, one for each column. */
static enum record_outcome
read_values(struct record_reader *reader, size_t at)
{
    enum record_outcome outcome = RECORD_GOOD;
    struct cell_text cell;
    size_t column = 0;

    while (outcome == RECORD_GOOD && has_more(reader, at)) {
        at++;
        if (column == reader->column_count)
            return shell_record_fail(reader, RECORD_BAD, reader->record_line,
                                     "more values than the first line has columns (%zu)", column);
        outcome = take_value(reader, &at, &cell);
        if (outcome == RECORD_GOOD && (cell.end > cell.begin || cell.quoted)) {
            struct record_field *field = shell_record_add_field(reader, column);

            field->begin = cell.begin;
            field->value.size = cell.end - cell.begin;
        }
        column++;
    }
    if (outcome == RECORD_GOOD && column < reader->column_count)
        return shell_record_fail(reader, RECORD_BAD, reader->record_line,
                                 "%zu values, but the first line has %zu columns", column,
                                 reader->column_count);
    return outcome;
}

enum record_outcome
shell_record_next_table(struct record_reader *reader)
{
    enum record_outcome outcome;
    struct cell_text row;
    size_t at = 0;

    if (!reader->header_read && (outcome = read_header(reader)) != RECORD_GOOD)
        return outcome;
    shell_record_begin(reader);
    do {
        if (!shell_record_read_line(reader))
            return RECORD_END;
    } while (line_size_without_return(reader) == 0);
    reader->record_line = reader->line;
    outcome = take_value(reader, &at, &row);
    if (outcome == RECORD_GOOD)
        outcome = read_values(reader, at);
    if (outcome != RECORD_GOOD)
        return outcome;
    for (size_t i = 0; i < reader->field_count; i++)
        reader->fields[i].value.data = reader->bytes.bytes + reader->fields[i].begin;
    return shell_record_finish(
        reader, (petal_slice){text_string(&reader->bytes) + row.begin, row.end - row.begin});
}
