/* format.c -- see tools/shell/print/format.h. */
#include "tools/shell/print/format.h"

#include "tools/shell/text/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_BEFORE_WIDTHS = 1000 };

enum field_kind { FIELD_TEXT, FIELD_NUMBER, FIELD_NULL };

/* A field that waits in `line`. */
struct format_field {
    size_t begin, size;
    enum field_kind kind;
};

bool
format_find(const char *name, enum format_mode *mode)
{
    static const char *const names[] = {[FORMAT_HBASE] = "hbase",
                                        [FORMAT_TABLE] = "table",
                                        [FORMAT_JSON] = "json",
                                        [FORMAT_CSV] = "csv"};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            *mode = (enum format_mode)i;
            return true;
        }
    }
    return false;
}

/* ---- JSON and CSV: record by record ---------------------------------------------------------- */

/* A JSON string: control characters escaped, bytes that are no UTF-8 as \xHH. */
static void
add_json(struct text *line, petal_slice text)
{
    text_add(line, "\"", 1);
    while (text.size > 0) {
        const unsigned char *byte = text.data;
        size_t length = utf8_character_bytes(text);

        if (length == 0) {
            length = 1;
            text_add_format(line, "\\\\x%02X", *byte);
        } else if (*byte == '"' || *byte == '\\') {
            text_add_format(line, "\\%c", *byte);
        } else if (*byte < 0x20) {
            text_add_format(line, "\\u%04x", *byte);
        } else {
            text_add(line, byte, length);
        }
        text.data = byte + length;
        text.size -= length;
    }
    text_add(line, "\"", 1);
}

static void
add_csv(struct text *line, petal_slice text)
{
    const char *bytes = text.data;
    bool quoted = false;

    for (size_t i = 0; i < text.size; i++)
        quoted = quoted || strchr(",\"\r\n", bytes[i]) != NULL;
    if (!quoted) {
        text_add_slice(line, text);
        return;
    }
    text_add(line, "\"", 1);
    for (size_t i = 0; i < text.size; i++)
        text_add(line, bytes[i] == '"' ? "\"\"" : &bytes[i], bytes[i] == '"' ? 2 : 1);
    text_add(line, "\"", 1);
}

static void
print_line(struct format *format, const char *end)
{
    text_add_string(&format->line, end);
    (void)fwrite(format->line.bytes, 1, format->line.size, format->file);
    text_clear(&format->line);
}

static void
print_csv_header(struct format *format)
{
    if (format->any)
        (void)fputs("\r\n", format->file);
    for (size_t i = 0; i < format->columns; i++) {
        text_add_string(&format->line, i > 0 ? "," : "");
        add_csv(&format->line, slice_of_string(format->names[i]));
    }
    print_line(format, "\r\n");
}

static void
stream_field(struct format *format, enum field_kind kind, petal_slice text)
{
    struct text *line = &format->line;
    bool last = format->column + 1 == format->columns;

    if (format->mode == FORMAT_CSV) {
        if (!format->headed)
            print_csv_header(format);
        format->headed = true;
        text_add_string(line, format->column > 0 ? "," : "");
        add_csv(line, text);
        if (last)
            print_line(format, "\r\n");
        return;
    }
    format->headed = true;
    text_add_string(line, format->column > 0 ? "," : "{");
    add_json(line, slice_of_string(format->names[format->column]));
    text_add_string(line, ":");
    if (kind == FIELD_NULL)
        text_add_string(line, "null");
    else if (kind == FIELD_NUMBER)
        text_add_slice(line, text);
    else
        add_json(line, text);
    if (last)
        print_line(format, "}\n");
}

/* ---- Tables: the widths come from the first records ------------------------------------------ */

static void
print_cell(struct format *format, size_t column, petal_slice text, bool right)
{
    size_t size = text_characters(text), width = format->widths[column];
    int padding = width > size ? (int)(width - size) : 0;
    bool last = column + 1 == format->columns;

    (void)fprintf(format->file, "%s%*s", column > 0 ? " | " : " ", right ? padding : 0, "");
    (void)fwrite(text.data, 1, text.size, format->file);
    if (last)
        (void)fputc('\n', format->file);
    else
        (void)fprintf(format->file, "%*s", right ? 0 : padding, "");
}

static petal_slice
field_text(const struct format *format, size_t index)
{
    const struct format_field *field = &format->fields[index];

    return (petal_slice){text_string(&format->line) + field->begin, field->size};
}

/* Print the records that wait, at first the names. */
static void
print_table(struct format *format)
{
    if (!format->headed) {
        format->widths = memory_grow(format->widths, format->columns * sizeof(*format->widths));
        for (size_t i = 0; i < format->columns; i++)
            format->widths[i] = strlen(format->names[i]);
        for (size_t i = 0; i < format->field_count; i++) {
            size_t width = text_characters(field_text(format, i));

            if (width > format->widths[i % format->columns])
                format->widths[i % format->columns] = width;
        }
        if (format->any)
            (void)fputc('\n', format->file);
        for (size_t i = 0; i < format->columns; i++)
            print_cell(format, i, slice_of_string(format->names[i]), false);
        for (size_t i = 0; i < format->columns; i++) {
            (void)fputs(i > 0 ? "+" : "", format->file);
            for (size_t k = 0; k < format->widths[i] + 2; k++)
                (void)fputc('-', format->file);
        }
        (void)fputc('\n', format->file);
    }
    format->headed = true;
    for (size_t i = 0; i < format->field_count; i++)
        print_cell(format, i % format->columns, field_text(format, i),
                   format->fields[i].kind == FIELD_NUMBER);
    format->field_count = 0;
    text_clear(&format->line);
}

static void
table_field(struct format *format, enum field_kind kind, petal_slice text)
{
    size_t begin = format->line.size;
    const unsigned char *bytes = text.data;

    format->fields = memory_room(format->fields, format->field_count, &format->field_capacity,
                                 sizeof(*format->fields));
    /* Text on a screen: without characters that move the cursor. */
    for (size_t i = 0; i < text.size; i++) {
        if (bytes[i] < 0x20 || bytes[i] == 0x7f)
            text_add_format(&format->line, "\\x%02X", bytes[i]);
        else
            text_add(&format->line, &bytes[i], 1);
    }
    format->fields[format->field_count++] =
        (struct format_field){begin, format->line.size - begin, kind};
    if (format->column + 1 < format->columns)
        return;
    if (format->headed || format->field_count >= ROWS_BEFORE_WIDTHS * format->columns)
        print_table(format);
}

/* ---- Sets ------------------------------------------------------------------------------------ */

void
format_begin(struct format *format, const char *names)
{
    if (format->headed || format->field_count > 0)
        format_end(format);
    text_clear(&format->words);
    text_add_string(&format->words, names);
    format->columns = 0;
    for (char *at = format->words.bytes; at != NULL; format->columns++) {
        format->names = memory_grow(format->names, (format->columns + 1) * sizeof(*format->names));
        format->names[format->columns] = strsep(&at, " ");
    }
    format->begun = true;
    format->sets++;
    format->headed = false;
    format->column = 0;
}

void
format_end(struct format *format)
{
    if (!format->begun)
        return;
    if (format->mode == FORMAT_TABLE)
        print_table(format);
    else if (format->mode == FORMAT_CSV && !format->headed)
        print_csv_header(format);
    format->any = format->any || format->mode != FORMAT_JSON;
    format->begun = false;
    format->headed = false;
    format_flush(format);
}

/* The stream itself remembers that it failed, but not why. */
void
format_flush(struct format *format)
{
    errno = 0;
    if (fflush(format->file) != 0 && format->write_error == 0)
        format->write_error = errno;
}

void
format_free(struct format *format)
{
    text_free(&format->line);
    text_free(&format->words);
    free(format->names);
    free(format->fields);
    free(format->widths);
}

static void
add_field(struct format *format, enum field_kind kind, petal_slice text)
{
    if (!format->begun)
        return;
    if (format->mode == FORMAT_TABLE)
        table_field(format, kind, text);
    else
        stream_field(format, kind, text);
    format->column = (format->column + 1) % format->columns;
}

void
format_text(struct format *format, petal_slice text)
{
    add_field(format, FIELD_TEXT, text);
}

void
format_string(struct format *format, const char *text)
{
    add_field(format, FIELD_TEXT, slice_of_string(text));
}

void
format_bytes(struct format *format, petal_slice bytes)
{
    struct text text = {0};

    text_add_binary(&text, bytes);
    add_field(format, FIELD_TEXT, text_slice(&text));
    text_free(&text);
}

void
format_number(struct format *format, uint64_t number)
{
    char digits[24];

    (void)snprintf(digits, sizeof(digits), "%" PRIu64, number);
    add_field(format, FIELD_NUMBER, slice_of_string(digits));
}

void
format_integer(struct format *format, int64_t number)
{
    char digits[24];

    (void)snprintf(digits, sizeof(digits), "%" PRId64, number);
    add_field(format, FIELD_NUMBER, slice_of_string(digits));
}

void
format_real(struct format *format, double number)
{
    char digits[32];

    if (!isfinite(number)) {
        format_null(format);
        return;
    }
    (void)snprintf(digits, sizeof(digits), "%.6g", number);
    add_field(format, FIELD_NUMBER, slice_of_string(digits));
}

void
format_boolean(struct format *format, bool truth)
{
    add_field(format, FIELD_NUMBER, slice_of_string(truth ? "true" : "false"));
}

void
format_null(struct format *format)
{
    add_field(format, FIELD_NULL, slice_of_string(""));
}
