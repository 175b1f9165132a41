/* output.c -- see tools/shell/print/output.h. */
#include "tools/shell/print/output.h"

#include "tools/shell/print/width.h"
#include "tools/shell/print/wrap.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

static void
take_width(struct output *output)
{
    output->width = output->terminal ? terminal_width(output->file) : 0;
    output->first = output->width / 4;
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

static void
print_header(struct output *output, const char *first, const char *second)
{
    petal_slice left = slice_of_string(first);

    text_clear(&output->line);
    if (output->width == 0) {
        text_add_format(&output->line, "%s  %s", first, second);
    } else {
        petal_slice right = slice_of_string(second);

        add_cell(&output->line, &left, output->first);
        text_add_string(&output->line, "  ");
        add_cell(&output->line, &right, output->width - output->first - 2);
    }
    write_line(output);
}

void
output_header(struct output *output, const char *first, const char *second)
{
    if (format_is_on(&output->format)) {
        format_end(&output->format);
        begin_set(output, first, second);
        return;
    }
    take_width(output);
    if (second == NULL)
        output_line(output, slice_of_string(first));
    else
        print_header(output, first, second);
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
        add_cell(&output->line, &first, output->first);
        text_add_string(&output->line, " ");
        add_cell(&output->line, &second, output->width - output->first - 2);
        write_line(output);
    } while (first.size > 0 || second.size > 0);
}

static char
letter_at(petal_slice text, size_t at)
{
    return ((const char *)text.data)[at];
}

/* The last blank up to `most`, after this letter if it is one; 0: there is none. */
static size_t
last_blank(petal_slice text, size_t most, char before)
{
    for (size_t at = most; at > 0; at--)
        if (letter_at(text, at) == ' ' && (before == '\0' || letter_at(text, at - 1) == before))
            return at;
    return 0;
}

/* Take off what is a line of up to `width` characters, and the blank after it.  Commas count where
 * they leave no short lines. */
static petal_slice
take_line(petal_slice *text, unsigned width)
{
    petal_slice rest = *text, line = text_take_characters(&rest, width);
    size_t end = 0;

    if (rest.size > 0) {
        size_t comma = last_blank(*text, line.size, ',');

        end = last_blank(*text, line.size, ';');
        if (end == 0 && comma >= line.size / 2)
            end = comma;
        if (end == 0)
            end = last_blank(*text, line.size, '\0');
    }
    if (end > 0) {
        line.size = end++;
        rest = (petal_slice){(const char *)text->data + end, text->size - end};
    }
    *text = rest;
    return line;
}

void
output_parts(struct output *output, petal_slice first, petal_slice second)
{
    do {
        petal_slice left = first, right = second;

        if (output->width > 0) {
            left = take_line(&first, output->first);
            right = take_line(&second, output->width - output->first - 2);
        } else {
            first.size = second.size = 0;
        }
        output_columns(output, left, right);
    } while (first.size > 0 || second.size > 0);
}

void
output_table(struct output *output, const char *first, const char *second, unsigned longest)
{
    take_width(output);
    if (longest <= output->width / 2 && longest > output->first)
        output->first = longest;
    print_header(output, first, second);
}

void
output_message(struct output *output, petal_slice text)
{
    output_finish(output);
    wrap_print(output->file, text, output->width);
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
    wrap_print(output->file, text, terminal_width_or_none(output->file));
    output_flush(output);
    output->file = file;
}
