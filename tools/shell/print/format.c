/* format.c -- see tools/shell/print/format.h. */
#include "tools/shell/print/format.h"

#include "tools/shell/print/width.h"
#include "tools/shell/text/json.h"
#include "tools/shell/text/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_BEFORE_WIDTHS = 1000, LEAST_COLUMN = 8 };

enum field_kind { FIELD_TEXT, FIELD_NUMBER, FIELD_NULL, FIELD_ABSENT };

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
    if (kind == FIELD_ABSENT)
        return;
    text_add_string(line, format->column > 0 ? "," : "{");
    text_add_json(line, slice_of_string(format->names[format->column]));
    text_add_string(line, ":");
    if (kind == FIELD_NULL)
        text_add_string(line, "null");
    else if (kind == FIELD_NUMBER)
        text_add_slice(line, text);
    else
        text_add_json(line, text);
    if (last)
        print_line(format, "}\n");
}

/* ---- Tables: the widths come from the first records ------------------------------------------ */

static void
print_blanks(struct format *format, size_t count)
{
    while (count-- > 0)
        (void)fputc(' ', format->file);
}

/* Print the text, cut to so many columns if there is a limit; returns those that it took. */
static size_t
print_cut(struct format *format, petal_slice text, size_t columns)
{
    size_t used = width_of(text);

    if (format->room > 0 && used > columns) {
        text = width_cut(text, columns - 1, &used);
        (void)fwrite(text.data, 1, text.size, format->file);
        (void)fputs("\xe2\x80\xa6", format->file);
        return used + 1;
    }
    (void)fwrite(text.data, 1, text.size, format->file);
    return used;
}

static void
print_cell(struct format *format, size_t column, petal_slice text, bool right)
{
    size_t width = format->widths[column], size;

    (void)fputs(column > 0 ? " | " : " ", format->file);
    if (right) {
        size = width_of(text);
        print_blanks(format, width > size ? width - size : 0);
        (void)fwrite(text.data, 1, text.size, format->file);
    } else {
        size = print_cut(format, text, width);
        if (column + 1 < format->columns)
            print_blanks(format, width > size ? width - size : 0);
    }
    if (column + 1 == format->columns)
        (void)fputc('\n', format->file);
}

static petal_slice
field_text(const struct format *format, size_t index)
{
    const struct format_field *field = &format->fields[index];

    return (petal_slice){text_string(&format->line) + field->begin, field->size};
}

/* How wide each column is by the records that wait and its name.  Returns the width of all. */
static size_t
measure(struct format *format)
{
    size_t all = 3 * format->columns - 1; /* a blank on both sides of each, and what parts them */

    format->widths = memory_grow(format->widths, format->columns * sizeof(*format->widths));
    for (size_t i = 0; i < format->columns; i++)
        format->widths[i] = strlen(format->names[i]);
    for (size_t i = 0; i < format->field_count; i++) {
        size_t width = width_of(field_text(format, i));

        if (width > format->widths[i % format->columns])
            format->widths[i % format->columns] = width;
    }
    for (size_t i = 0; i < format->columns; i++)
        all += format->widths[i];
    return all;
}

static bool
has_numbers(const struct format *format, size_t column)
{
    for (size_t i = column; i < format->field_count; i += format->columns)
        if (format->fields[i].kind == FIELD_NUMBER)
            return true;
    return false;
}

/* Take columns of text in, the widest first, until all are no wider than the terminal.  False: they
 * would be too narrow to say anything. */
static bool
take_in(struct format *format, size_t all)
{
    bool *fixed = memory_allocate(format->columns * sizeof(*fixed));
    bool fit;

    for (size_t i = 0; i < format->columns; i++)
        fixed[i] = has_numbers(format, i);
    while (all > format->room) {
        size_t widest = format->columns, next = LEAST_COLUMN, excess = all - format->room;

        for (size_t i = 0; i < format->columns; i++)
            if (!fixed[i] && format->widths[i] > LEAST_COLUMN &&
                (widest == format->columns || format->widths[i] > format->widths[widest]))
                widest = i;
        if (widest == format->columns)
            break;
        /* Down to the next one, then both. */
        for (size_t i = 0; i < format->columns; i++)
            if (!fixed[i] && format->widths[i] < format->widths[widest] && format->widths[i] > next)
                next = format->widths[i];
        if (format->widths[widest] - next < excess)
            excess = format->widths[widest] - next;
        format->widths[widest] -= excess;
        all -= excess;
    }
    fit = all <= format->room;
    free(fixed);
    return fit;
}

static void
print_head(struct format *format)
{
    for (size_t i = 0; i < format->columns; i++)
        print_cell(format, i, slice_of_string(format->names[i]), false);
    for (size_t i = 0; i < format->columns; i++) {
        (void)fputs(i > 0 ? "+" : "", format->file);
        for (size_t k = 0; k < format->widths[i] + 2; k++)
            (void)fputc('-', format->file);
    }
    (void)fputc('\n', format->file);
}

/* A field of a record that stands upright. */
static void
print_line_of(struct format *format, size_t column, petal_slice text)
{
    size_t widest = 0, before;
    char rule[64];

    for (size_t i = 0; i < format->columns; i++)
        if (strlen(format->names[i]) > widest)
            widest = strlen(format->names[i]);
    if (column == 0) {
        (void)snprintf(rule, sizeof(rule), "-[ %zu ]", ++format->record);
        (void)fputs(rule, format->file);
        for (size_t i = strlen(rule); i < format->room; i++)
            (void)fputc('-', format->file);
        (void)fputc('\n', format->file);
    }
    before = (size_t)fprintf(format->file, " %-*s | ", (int)widest, format->names[column]);
    (void)print_cut(format, text,
                    format->room > before + LEAST_COLUMN ? format->room - before : LEAST_COLUMN);
    (void)fputc('\n', format->file);
}

/* Print the records that wait, at first the names. */
static void
print_table(struct format *format)
{
    if (!format->headed) {
        size_t all = measure(format);

        format->room = format->terminal ? terminal_width(format->file) : 0;
        format->upright = format->room > 0 && all > format->room && !take_in(format, all);
        format->record = 0;
        if (format->any)
            (void)fputc('\n', format->file);
        if (!format->upright)
            print_head(format);
    }
    format->headed = true;
    for (size_t i = 0; i < format->field_count; i++) {
        size_t column = i % format->columns;

        if (format->upright)
            print_line_of(format, column, field_text(format, i));
        else
            print_cell(format, column, field_text(format, i),
                       format->fields[i].kind == FIELD_NUMBER);
    }
    format->field_count = 0;
    text_clear(&format->line);
}

static void
table_field(struct format *format, enum field_kind kind, petal_slice text)
{
    size_t begin = format->line.size;

    format->fields = memory_room(format->fields, format->field_count, &format->field_capacity,
                                 sizeof(*format->fields));
    /* Text on a screen: without characters that move the cursor. */
    while (text.size > 0) {
        petal_slice character;
        bool shown = width_take_character(&text, &character) >= 0;
        const unsigned char *bytes = character.data;

        if (shown)
            text_add_slice(&format->line, character);
        for (size_t i = 0; i < character.size && !shown; i++)
            text_add_format(&format->line, "\\x%02X", bytes[i]);
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

    if (format->mode == FORMAT_JSON) {
        add_field(format, FIELD_TEXT, bytes);
        return;
    }
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

void
format_absent(struct format *format)
{
    add_field(format, FIELD_ABSENT, slice_of_string(""));
}
