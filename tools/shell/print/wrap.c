/* wrap.c -- see tools/shell/print/wrap.h. */
#include "tools/shell/print/wrap.h"

#include <string.h>

enum { LONGEST_QUOTED = 24 };

static petal_slice
part(petal_slice text, size_t from, size_t to)
{
    return (petal_slice){(const char *)text.data + from, to - from};
}

static char
letter_at(petal_slice text, size_t at)
{
    return ((const char *)text.data)[at];
}

static size_t
skip_blanks(petal_slice text, size_t at)
{
    while (at < text.size && letter_at(text, at) == ' ')
        at++;
    return at;
}

static void
begin_line(struct text *text, unsigned indent)
{
    text_add_string(text, "\n");
    for (unsigned i = 0; i < indent; i++)
        text_add_string(text, " ");
}

/* The end of the word; 'two words' in quotes are one. */
static size_t
end_of_word(petal_slice text, size_t begin)
{
    size_t end = begin;

    while (end < text.size && letter_at(text, end) != ' ')
        end++;
    if (letter_at(text, begin) != '\'' ||
        memchr((const char *)text.data + begin + 1, '\'', end - begin - 1) != NULL)
        return end;
    for (size_t i = end; i < text.size && i < begin + LONGEST_QUOTED; i++)
        if (letter_at(text, i) == '\'')
            return i + 1;
    return end;
}

/* KEY => value stays together. */
static size_t
end_of_unit(petal_slice text, size_t begin)
{
    static const char arrow[] = " => ";
    size_t end = end_of_word(text, begin), size = sizeof(arrow) - 1;

    if (text.size - end > size && memcmp((const char *)text.data + end, arrow, size) == 0)
        return end_of_word(text, end + size);
    return end;
}

void
wrap_add(struct text *text, petal_slice paragraph, unsigned width, unsigned indent)
{
    size_t used = 0, at = 0;

    while (at < paragraph.size) {
        size_t word = skip_blanks(paragraph, at), end, size;

        end = word < paragraph.size ? end_of_unit(paragraph, word) : word;
        size = text_characters(part(paragraph, at, end));
        if (at > 0 && used + size > width) {
            begin_line(text, indent);
            used = indent;
            at = word;
            size = text_characters(part(paragraph, at, end));
        }
        text_add_slice(text, part(paragraph, at, end));
        used += size;
        at = end;
    }
}

/* The end of the line that begins there. */
static size_t
end_of_line(petal_slice text, size_t begin)
{
    const char *end =
        begin < text.size ? memchr((const char *)text.data + begin, '\n', text.size - begin) : NULL;

    return end != NULL ? (size_t)(end - (const char *)text.data) : text.size;
}

/* A caret, and what may be said after it. */
static bool
is_caret(petal_slice line)
{
    size_t at = skip_blanks(line, 0);

    return at < line.size && letter_at(line, at) == '^';
}

void
wrap_print(FILE *file, petal_slice text, unsigned width)
{
    struct text lines = {0};

    for (size_t begin = 0, end; begin <= text.size; begin = end + 1) {
        petal_slice line, next = {NULL, 0};

        end = end_of_line(text, begin);
        line = part(text, begin, end);
        if (end < text.size)
            next = part(text, end + 1, end_of_line(text, end + 1));
        if (width == 0 || text_characters(line) <= width || is_caret(line) || is_caret(next))
            text_add_slice(&lines, line);
        else
            wrap_add(&lines, line, width, 0);
        text_add_string(&lines, "\n");
    }
    (void)fwrite(lines.bytes, 1, lines.size, file);
    text_free(&lines);
}

/* The quote that is open after the letter at *at, 0 if none is; `quote` was open before it.  An
 * escaped letter of a quote is passed over. */
static char
quote_behind(petal_slice line, size_t *at, char quote)
{
    char letter = letter_at(line, *at);

    if (quote == '\0')
        return letter == '\'' || letter == '"' ? letter : '\0';
    if (letter == '\\')
        (*at)++;
    return letter == quote ? '\0' : quote;
}

/* The place of the comment's sign, or the end. */
static size_t
find_comment(petal_slice line)
{
    char quote = '\0';

    for (size_t i = 0; i < line.size; i++) {
        if (quote == '\0' && letter_at(line, i) == '#' && i > 0 && letter_at(line, i - 1) == ' ')
            return i;
        quote = quote_behind(line, &i, quote);
    }
    return line.size;
}

/* The end of the first line of what is too wide: after the last comma that fits, or else the
 * first. */
static size_t
find_cut(petal_slice line, size_t width)
{
    size_t cut = 0;
    char quote = '\0';

    for (size_t i = 0; i + 1 < line.size && (i < width || cut == 0); i++) {
        if (quote == '\0' && letter_at(line, i) == ',' && letter_at(line, i + 1) == ' ')
            cut = i + 1;
        quote = quote_behind(line, &i, quote);
    }
    return cut > 0 ? cut : line.size;
}

/* Also one that a comment's sign stands before, which then stands before each of its lines. */
static void
add_command(struct text *text, petal_slice line, unsigned width)
{
    bool comment = line.size > 0 && letter_at(line, 0) == '#';
    unsigned indent = (unsigned)skip_blanks(line, comment) + 2, room = width;

    while (text_characters(line) > room) {
        size_t cut = find_cut(line, room);

        if (cut == line.size)
            break;
        text_add_slice(text, part(line, 0, cut));
        begin_line(text, indent);
        if (comment)
            text->bytes[text->size - indent] = '#';
        line = part(line, skip_blanks(line, cut), line.size);
        room = width > indent ? width - indent : 1;
    }
    text_add_slice(text, line);
}

static void
add_line(struct text *text, petal_slice line, unsigned width)
{
    size_t indent = skip_blanks(line, 0), comment = find_comment(line), end = comment;

    if (text_characters(line) <= width) {
        text_add_slice(text, line);
        return;
    }
    while (end > 0 && letter_at(line, end - 1) == ' ')
        end--;
    if (comment < line.size) {
        text_add_slice(text, part(line, 0, indent));
        text_add_slice(text, part(line, comment, line.size));
        if (end > indent)
            text_add_string(text, "\n");
    }
    if (end > indent)
        add_command(text, part(line, 0, end), width);
}

void
wrap_add_example(struct text *text, petal_slice example, unsigned width)
{
    while (example.size > 0) {
        const char *newline = memchr(example.data, '\n', example.size);
        size_t size =
            newline != NULL ? (size_t)(newline - (const char *)example.data) : example.size;

        add_line(text, part(example, 0, size), width);
        text_add_string(text, "\n");
        size += newline != NULL;
        example = part(example, size, example.size);
    }
}
