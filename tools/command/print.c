/* print.c -- see print.h. */
#include "tools/command/print.h"

#include "tools/shell/text/json.h"
#include "tools/shell/text/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What stands at that depth; lists of text do not count. */
static void
indent(const struct print *print, unsigned depth)
{
    for (unsigned i = 2; i <= depth; i++) {
        if (print->json || i > print->depth || !print->levels[i].is_list)
            fputs("  ", print->out);
    }
}

/* A string of JSON. What the library says of paths may be any bytes: those that are no UTF-8 are
 * escaped as text. */
static void
write_string(const struct print *print, petal_slice text)
{
    putc('"', print->out);
    while (text.size > 0) {
        const unsigned char first = *(const unsigned char *)text.data;
        size_t bytes = utf8_character_bytes(text);
        size_t taken = bytes > 0 ? bytes : 1;

        if (first == '"' || first == '\\')
            fprintf(print->out, "\\%c", first);
        else if (first < 0x20 || first == 0x7f)
            fprintf(print->out, "\\u%04x", first);
        else if (bytes == 0)
            fprintf(print->out, "\\\\x%02X", first);
        else
            fwrite(text.data, 1, bytes, print->out);
        text = (petal_slice){(const char *)text.data + taken, text.size - taken};
    }
    putc('"', print->out);
}

/* Text for a terminal. */
static void
write_plain(const struct print *print, petal_slice text)
{
    while (text.size > 0) {
        const unsigned char first = *(const unsigned char *)text.data;
        size_t bytes = utf8_character_bytes(text);
        size_t taken = bytes > 0 ? bytes : 1;

        if (bytes == 0 || first < 0x20 || first == 0x7f)
            fprintf(print->out, "\\x%02X", first);
        else
            fwrite(text.data, 1, bytes, print->out);
        text = (petal_slice){(const char *)text.data + taken, text.size - taken};
    }
}

/* All that stands before a value. */
static void
begin_member(struct print *print, const char *name)
{
    unsigned depth = print->depth;
    bool first = !print->levels[depth].has_members;

    print->levels[depth].has_members = true;
    if (print->json) {
        fputs(first ? "\n" : ",\n", print->out);
        indent(print, depth + 1);
        if (!print->levels[depth].is_list) {
            putc('"', print->out);
            for (; *name != '\0'; name++)
                putc(*name == ' ' ? '_' : *name, print->out);
            fputs("\": ", print->out);
        }
        return;
    }
    if (print->levels[depth].in_line) {
        fprintf(print->out, "%s%s%s", first ? ": " : ", ", name, *name != '\0' ? " " : "");
        return;
    }
    indent(print, depth);
    fprintf(print->out, "%s: ", name);
}

static void
end_member(const struct print *print)
{
    if (!print->json && !print->levels[print->depth].in_line)
        putc('\n', print->out);
}

static void
enter(struct print *print, bool is_list, bool in_line)
{
    print->depth++;
    assert(print->depth < PRINT_DEPTH);
    print->levels[print->depth].is_list = is_list;
    print->levels[print->depth].in_line = in_line;
    print->levels[print->depth].has_members = false;
}

static void
begin_object(struct print *print, const char *name, bool in_line)
{
    bool in_list = print->levels[print->depth].is_list;

    assert(print->json || !print->levels[print->depth].in_line);
    if (print->json) {
        begin_member(print, name);
        putc('{', print->out);
        enter(print, false, in_line);
        if (in_list)
            print_text(print, "kind", name);
        return;
    }
    print->levels[print->depth].has_members = true;
    indent(print, print->depth);
    fputs(name, print->out);
    if (!in_line)
        putc('\n', print->out);
    enter(print, false, in_line);
}

void
print_start(struct print *print, FILE *out, bool json)
{
    *print = (struct print){.out = out, .json = json};
    if (json)
        putc('{', out);
    enter(print, false, false);
}

void
print_finish(struct print *print)
{
    print_end(print);
    if (print->json)
        putc('\n', print->out);
}

void
print_object(struct print *print, const char *name)
{
    begin_object(print, name, false);
}

void
print_line(struct print *print, const char *name)
{
    begin_object(print, name, true);
}

void
print_list(struct print *print, const char *name)
{
    assert(print->json || !print->levels[print->depth].in_line);
    if (print->json) {
        begin_member(print, name);
        putc('[', print->out);
        enter(print, true, false);
        return;
    }
    enter(print, true, false); /* the objects' names say what is listed, as deep as the list */
}

void
print_end(struct print *print)
{
    bool is_list = print->levels[print->depth].is_list;
    bool in_line = print->levels[print->depth].in_line;
    bool has_members = print->levels[print->depth].has_members;

    assert(print->depth > 0);
    print->depth--;
    if (print->json) {
        if (has_members) {
            putc('\n', print->out);
            indent(print, print->depth + 1);
        }
        putc(is_list ? ']' : '}', print->out);
    } else if (in_line && !is_list) {
        putc('\n', print->out);
    }
}

/* ---- values ---- */

void
print_text(struct print *print, const char *name, const char *text)
{
    begin_member(print, name);
    if (print->json)
        write_string(print, slice_of_string(text));
    else
        write_plain(print, slice_of_string(text));
    end_member(print);
}

void
print_bytes(struct print *print, const char *name, petal_slice bytes)
{
    struct text text = {0};
    bool cut = print->value_bytes > 0 && bytes.size > print->value_bytes;

    if (print->json) {
        text_add_json(&text, bytes);
        begin_member(print, name);
        (void)fwrite(text_string(&text), 1, text.size, print->out);
        text_free(&text);
        return;
    }
    text_add_binary(&text, cut ? (petal_slice){bytes.data, print->value_bytes} : bytes);
    if (cut)
        text_add_format(&text, "... (%zu bytes)", bytes.size);
    begin_member(print, name);
    fprintf(print->out, "'%s'", text_string(&text));
    end_member(print);
    text_free(&text);
}

static void
print_null(struct print *print, const char *name)
{
    begin_member(print, name);
    fputs("null", print->out);
}

void
print_cell(struct print *print, const petal_cell *cell, const char *type)
{
    bool has_value = cell->type == PETAL_PUT || cell->value.size > 0;

    print_bytes(print, "row", cell->row);
    if (cell->family.data != NULL)
        print_bytes(print, "family", cell->family);
    else if (print->json)
        print_null(print, "family");
    print_bytes(print, "qualifier", cell->qualifier);
    print_signed(print, "timestamp", cell->timestamp);
    print_text(print, "type", type);
    if (cell->has_ttl)
        print_signed(print, "ttl", cell->ttl_ms);
    if (has_value)
        print_bytes(print, "value", cell->value);
    else if (print->json)
        print_null(print, "value");
}

void
print_number(struct print *print, const char *name, uint64_t number)
{
    begin_member(print, name);
    fprintf(print->out, "%" PRIu64, number);
    end_member(print);
}

/* Does the text have these words, and no digit after them? */
static bool
has_words(const char *text, const char *words)
{
    size_t size = strlen(words);

    for (const char *at = strstr(text, words); at != NULL; at = strstr(at + 1, words)) {
        if (at[size] < '0' || at[size] > '9')
            return true;
    }
    return false;
}

/* Does it tell of "offset 17", "at 17", or of "17 bytes"? */
static bool
says(const char *text, const char *name, uint64_t number)
{
    char words[64];

    (void)snprintf(words, sizeof words, " %" PRIu64 " %s", number, name);
    if (has_words(text, words))
        return true;
    (void)snprintf(words, sizeof words, "%s %" PRIu64, name, number);
    if (has_words(text, words))
        return true;
    (void)snprintf(words, sizeof words, " at %" PRIu64, number);
    return strcmp(name, "offset") == 0 && has_words(text, words);
}

void
print_number_once(struct print *print, const char *name, uint64_t number, const char *text)
{
    if (print->json || !says(text, name, number))
        print_number(print, name, number);
}

void
print_signed(struct print *print, const char *name, int64_t number)
{
    begin_member(print, name);
    fprintf(print->out, "%" PRId64, number);
    end_member(print);
}

void
print_hex(struct print *print, const char *name, uint64_t number)
{
    begin_member(print, name);
    fprintf(print->out, print->json ? "\"%016" PRIx64 "\"" : "%016" PRIx64, number);
    end_member(print);
}

void
print_real(struct print *print, const char *name, double number)
{
    begin_member(print, name);
    if (isfinite(number))
        fprintf(print->out, "%.9g", number);
    else
        fputs(print->json ? "null" : "not a number", print->out);
    end_member(print);
}

void
print_boolean(struct print *print, const char *name, bool value)
{
    begin_member(print, name);
    fputs(value ? "true" : "false", print->out);
    end_member(print);
}
