/* output.c -- see tools/shell/print/output.h. */
#include "tools/shell/print/output.h"

#include "tools/shell/print/width.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

static void
take_width(struct output *output)
{
    output->width = output->terminal ? terminal_width(output->file) : 0;
}

void
output_init(struct output *output, FILE *file, bool terminal)
{
    *output = (struct output){
        .file = file, .terminal = terminal, .format = {.file = file, .terminal = terminal}};
    take_width(output);
}

void
output_say_elsewhere(struct output *output, FILE *file)
{
    output->file = file;
    output->terminal = false;
    output->width = 0;
}

unsigned
output_width(struct output *output)
{
    take_width(output);
    return output->width > 0 ? output->width : USUAL_WIDTH;
}

void
output_free(struct output *output)
{
    text_free(&output->line);
    format_free(&output->format);
}

static void
write_line(struct output *output)
{
    text_add(&output->line, "\n", 1);
    output_finish(output);
    (void)fwrite(output->line.bytes, 1, output->line.size, output->file);
}

/* Move up to `width` characters from *rest to the line, and pad with blanks to `width`. */
static void
add_cell(struct text *line, petal_slice *rest, unsigned width)
{
    unsigned used = 0;

    while (used < width && rest->size > 0) {
        text_add_slice(line, text_take_character(rest));
        used++;
    }
    for (; used < width; used++)
        text_add(line, " ", 1);
}

/* A header's words as names of columns: small letters, others become one underscore. */
static void
begin_set(struct output *output, const char *first, const char *second)
{
    const char *words[2] = {first, second};
    char names[96];
    size_t size = 0;

    for (size_t i = 0; i < 2 && words[i] != NULL; i++) {
        size_t begin = size += i; /* a blank before the second */

        for (const char *at = words[i]; *at != '\0' && size + 3 < sizeof(names) / (2 - i); at++) {
            if (isalnum((unsigned char)*at) != 0)
                names[size++] = (char)tolower((unsigned char)*at);
            else if (size > begin && names[size - 1] != '_')
                names[size++] = '_';
        }
        while (size > begin && names[size - 1] == '_')
            size--;
        names[size] = i == 0 && second != NULL ? ' ' : '\0';
    }
    format_begin(&output->format, names);
    output->header_set = output->format.sets;
}

/* A line of a set that a header began; false: it is none. */
static bool
add_record(struct output *output, petal_slice first, const petal_slice *second)
{
    struct format *format = &output->format;

    if (!format_is_on(format) || !format->begun || format->sets != output->header_set ||
        format->columns != (second != NULL ? 2u : 1u))
        return false;
    format_text(format, first);
    if (second != NULL)
        format_text(format, *second);
    return true;
}

void
output_header(struct output *output, const char *first, const char *second)
{
    petal_slice left = slice_of_string(first);

    if (format_is_on(&output->format)) {
        format_end(&output->format);
        begin_set(output, first, second);
        return;
    }
    take_width(output);
    if (second == NULL) {
        output_line(output, left);
        return;
    }
    text_clear(&output->line);
    if (output->width == 0) {
        text_add_format(&output->line, "%s  %s", first, second);
    } else {
        petal_slice right = slice_of_string(second);

        add_cell(&output->line, &left, output->width / 4);
        text_add_string(&output->line, "  ");
        add_cell(&output->line, &right, output->width - output->width / 4 - 2);
    }
    write_line(output);
}

bool
output_begin_records(struct output *output, const char *column)
{
    if (!format_is_on(&output->format))
        return false;
    format_end(&output->format);
    format_begin(&output->format, column);
    return true;
}

void
output_columns(struct output *output, petal_slice first, petal_slice second)
{
    if (add_record(output, first, &second))
        return;
    if (output->width == 0) {
        text_clear(&output->line);
        text_add_string(&output->line, " ");
        text_add_slice(&output->line, first);
        text_add_string(&output->line, " ");
        text_add_slice(&output->line, second);
        write_line(output);
        return;
    }
    do {
        text_clear(&output->line);
        text_add_string(&output->line, " ");
        add_cell(&output->line, &first, output->width / 4);
        text_add_string(&output->line, " ");
        add_cell(&output->line, &second, output->width - output->width / 4 - 2);
        write_line(output);
    } while (first.size > 0 || second.size > 0);
}

/* Bytes of the parts at the start of `text` that fit into `width`, at least one part. */
static size_t
parts_that_fit(petal_slice text, size_t width)
{
    const char *bytes = text.data;
    size_t fitting = 0;

    for (size_t i = 0; i <= text.size; i++) {
        bool divides = i + 1 < text.size && bytes[i] == ';' && bytes[i + 1] == ' ';

        if (i < text.size && !divides)
            continue;
        if (fitting > 0 && i + divides > width)
            break;
        fitting = i + divides;
        i += divides;
    }
    return fitting;
}

void
output_parts(struct output *output, petal_slice first, petal_slice second)
{
    while (output->width > 0 && second.size > 0) {
        size_t width = output->width - output->width / 4 - 2;
        size_t size = parts_that_fit(second, width);

        output_columns(output, first, (petal_slice){second.data, size});
        size += size < second.size; /* the blank behind the semicolon */
        second.data = (const char *)second.data + size;
        second.size -= size;
        first.size = 0;
    }
    if (output->width == 0)
        output_columns(output, first, second);
}

void
output_line(struct output *output, petal_slice text)
{
    if (add_record(output, text, NULL))
        return;
    do {
        text_clear(&output->line);
        if (output->width == 0) {
            text_add_slice(&output->line, text);
            text.size = 0;
        } else {
            add_cell(&output->line, &text, output->width);
        }
        write_line(output);
    } while (text.size > 0);
}

void
output_unfinished_line(struct output *output, petal_slice text)
{
    output_finish(output);
    text_clear(&output->line);
    add_cell(&output->line, &text, output->width);
    text_add_slice(&output->line, text);
    (void)fwrite(output->line.bytes, 1, output->line.size, output->file);
    output->unfinished = true;
}

void
output_finish(struct output *output)
{
    if (format_is_on(&output->format))
        format_end(&output->format);
    if (output->unfinished)
        (void)fputc('\n', output->file);
    output->unfinished = false;
}

void
output_join(struct output *output)
{
    output->unfinished = false;
}

void
output_flush(struct output *output)
{
    format_flush(&output->format);
    if (output->file != output->format.file)
        (void)fflush(output->file);
}

void
output_plain(struct output *output, const char *format, ...)
{
    va_list arguments;

    output_finish(output);
    va_start(arguments, format);
    (void)vfprintf(output->file, format, arguments);
    va_end(arguments);
    (void)fputc('\n', output->file);
}

void
output_plain_slice(struct output *output, petal_slice text)
{
    output_finish(output);
    (void)fwrite(text.data, 1, text.size, output->file);
    (void)fputc('\n', output->file);
}

void
output_document(struct output *output, petal_slice text)
{
    output_plain_slice(output, text);
    output->document = true;
}

void
output_error(struct output *output, petal_slice text)
{
    FILE *file = output->file;

    output_finish(output);
    if (output->errors != NULL) {
        output_flush(output);
        output->file = output->errors;
    }
    output_plain_slice(output, text);
    output_flush(output);
    output->file = file;
}
