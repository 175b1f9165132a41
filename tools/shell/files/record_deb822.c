/* record_deb822.c -- Debian control paragraphs.  See tools/shell/files/record.h. */
#include "tools/shell/files/record.h"

#include <string.h>

static bool
is_blank(petal_slice line)
{
    const char *letter = line.data;

    for (size_t i = 0; i < line.size; i++)
        if (letter[i] != ' ' && letter[i] != '\t' && letter[i] != '\r')
            return false;
    return true;
}

/* Read `Name: value`.  The text of the value goes to the reader's bytes. */
static enum record_outcome
take_field(struct record_reader *reader, petal_slice line)
{
    const char *begin = line.data, *end = begin + line.size;
    const char *colon = memchr(begin, ':', line.size);
    const char *value;
    size_t column;

    if (colon == NULL || colon == begin)
        return shell_record_fail(reader, RECORD_BAD, reader->line, "expected 'Name: value'");
    column = shell_record_column(reader, (petal_slice){begin, (size_t)(colon - begin)});
    if (shell_record_has_field(reader, column))
        return shell_record_fail(reader, RECORD_BAD, reader->line,
                                 "the field %.80s stands twice in one paragraph",
                                 text_string(&reader->columns[column].name));
    for (value = colon + 1; value < end && (*value == ' ' || *value == '\t'); value++)
        ;
    (void)shell_record_add_field(reader, column);
    text_add(&reader->bytes, value, (size_t)(end - value));
    return RECORD_GOOD;
}

static enum record_outcome
take_line(struct record_reader *reader, petal_slice line)
{
    const char *letter = line.data;

    if (letter[0] == '#')
        return RECORD_GOOD;
    if (reader->record_line == 0)
        reader->record_line = reader->line;
    if (letter[0] != ' ' && letter[0] != '\t')
        return take_field(reader, line);
    if (reader->field_count == 0)
        return shell_record_fail(reader, RECORD_BAD, reader->line,
                                 "a continued line without a field before it");
    text_add(&reader->bytes, "\n", 1);
    text_add_slice(&reader->bytes, line);
    return RECORD_GOOD;
}

/* The values' places are known now: set them, and take the row's field out. */
static enum record_outcome
finish_paragraph(struct record_reader *reader)
{
    petal_slice row = {NULL, 0};
    size_t kept = 0;
    size_t row_column = shell_record_column(reader, slice_of_string(reader->row_field));

    for (size_t i = 0; i < reader->field_count; i++) {
        struct record_field *field = &reader->fields[i];
        size_t end = i + 1 < reader->field_count ? field[1].begin : reader->bytes.size;

        field->value = (petal_slice){reader->bytes.bytes + field->begin, end - field->begin};
        if (field->column == row_column)
            row = field->value;
        else
            reader->fields[kept++] = *field;
    }
    reader->field_count = kept;
    if (row.size == 0)
        return shell_record_fail(reader, RECORD_BAD, reader->record_line,
                                 "this paragraph has no field %.80s", reader->row_field);
    return shell_record_finish(reader, row);
}

enum record_outcome
shell_record_next_deb822(struct record_reader *reader)
{
    enum record_outcome outcome = RECORD_GOOD;

    shell_record_begin(reader);
    while (shell_record_read_line(reader)) {
        petal_slice line = {reader->line_bytes, reader->line_size};

        if (!is_blank(line)) {
            if (outcome == RECORD_GOOD) /* else go on to the end of the bad paragraph */
                outcome = take_line(reader, line);
        } else if (reader->record_line != 0) {
            return outcome == RECORD_GOOD ? finish_paragraph(reader) : outcome;
        }
    }
    if (outcome != RECORD_GOOD || reader->record_line == 0)
        return outcome != RECORD_GOOD ? outcome : RECORD_END;
    return finish_paragraph(reader);
}
