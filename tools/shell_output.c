/* shell_output.c -- see shell_output.h. */
#include "tools/shell_output.h"

#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL_WIDTH = 80, LEAST_WIDTH = 16 };

static void
take_width(struct output *output)
{
    struct winsize size;

    output->width = 0;
    if (!output->terminal)
        return;
    output->width = USUAL_WIDTH;
    if (ioctl(fileno(output->file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        output->width = size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col;
}

void
output_init(struct output *output, FILE *file, bool terminal)
{
    *output = (struct output){.file = file, .terminal = terminal};
    take_width(output);
}

void
output_free(struct output *output)
{
    text_free(&output->line);
}

static void
write_line(struct output *output)
{
    text_add(&output->line, "\n", 1);
    (void)fwrite(output->line.bytes, 1, output->line.size, output->file);
}

/* Move up to `width` characters from *rest to the line, and pad with blanks to `width`. */
static void
add_cell(struct text *line, petal_slice *rest, unsigned width)
{
    unsigned used = 0;

    while (used < width && rest->size > 0) {
        size_t length = utf8_character_bytes(*rest);

        if (length == 0)
            length = 1;
        text_add(line, rest->data, length);
        rest->data = (const char *)rest->data + length;
        rest->size -= length;
        used++;
    }
    for (; used < width; used++)
        text_add(line, " ", 1);
}

void
output_header(struct output *output, const char *first, const char *second)
{
    petal_slice left = slice_of_string(first);

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

void
output_columns(struct output *output, petal_slice first, petal_slice second)
{
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

void
output_line(struct output *output, petal_slice text)
{
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
output_plain(struct output *output, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vfprintf(output->file, format, arguments);
    va_end(arguments);
    (void)fputc('\n', output->file);
}

void
output_plain_slice(struct output *output, petal_slice text)
{
    (void)fwrite(text.data, 1, text.size, output->file);
    (void)fputc('\n', output->file);
}
