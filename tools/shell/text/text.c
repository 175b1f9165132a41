/* text.c -- see tools/shell/text/text.h. */
#include "tools/shell/text/text.h"

#include "tools/shell/text/memory.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FORMATTED_BYTES = 256 }; /* that most formatted pieces fit into */

void
text_free(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}

void
text_clear(struct text *text)
{
    text->size = 0;
    if (text->bytes != NULL)
        text->bytes[0] = '\0';
}

void
text_reserve(struct text *text, size_t more)
{
    size_t wanted = text->size + more + 1;

    if (wanted > text->capacity) {
        text->capacity = wanted < 64 ? 64 : wanted + wanted / 2;
        text->bytes = memory_grow(text->bytes, text->capacity);
    }
}

void
text_add(struct text *text, const void *bytes, size_t size)
{
    text_reserve(text, size);
    if (size > 0)
        memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
}

void
text_add_string(struct text *text, const char *string)
{
    text_add(text, string, strlen(string));
}

void
text_add_slice(struct text *text, petal_slice bytes)
{
    text_add(text, bytes.data, bytes.size);
}

void
text_add_format(struct text *text, const char *format, ...)
{
    va_list arguments, again;
    int size;

    assert(format != NULL);
    text_reserve(text, FORMATTED_BYTES);
    va_start(arguments, format);
    va_copy(again, arguments);
    size = vsnprintf(text->bytes + text->size, FORMATTED_BYTES, format, arguments);
    if (size >= FORMATTED_BYTES) {
        text_reserve(text, (size_t)size);
        size = vsnprintf(text->bytes + text->size, (size_t)size + 1, format, again);
    }
    va_end(again);
    va_end(arguments);
    if (size > 0)
        text->size += (size_t)size;
}

void
text_add_count(struct text *text, uint64_t count, const char *noun)
{
    text_add_format(text, "%" PRIu64 " %s%s", count, noun, count == 1 ? "" : "s");
}

int
text_hex_digit(char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    if (letter >= 'A' && letter <= 'F')
        return letter - 'A' + 10;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

int
text_hex_byte(const char *letters)
{
    int high = text_hex_digit(letters[0]), low = high >= 0 ? text_hex_digit(letters[1]) : -1;

    return low >= 0 ? high << 4 | low : -1;
}

void
text_add_binary(struct text *text, petal_slice bytes)
{
    static const char digits[] = "0123456789ABCDEF";
    const uint8_t *byte = bytes.data;
    char *to;

    text_reserve(text, 4 * bytes.size);
    to = text->bytes + text->size;
    for (size_t i = 0; i < bytes.size; i++) {
        if (byte[i] >= 0x20 && byte[i] <= 0x7e && byte[i] != '\\') {
            *to++ = (char)byte[i];
        } else {
            *to++ = '\\';
            *to++ = 'x';
            *to++ = digits[byte[i] >> 4];
            *to++ = digits[byte[i] & 15];
        }
    }
    *to = '\0';
    text->size = (size_t)(to - text->bytes);
}

void
text_add_literal(struct text *text, petal_slice bytes)
{
    const uint8_t *byte = bytes.data;
    bool printable = true;

    for (size_t i = 0; i < bytes.size; i++)
        printable = printable && byte[i] >= 0x20 && byte[i] <= 0x7e;
    text_add_string(text, printable ? "'" : "\"");
    for (size_t i = 0; i < bytes.size; i++) {
        if (byte[i] < 0x20 || byte[i] > 0x7e) {
            text_add_format(text, "\\x%02X", byte[i]);
            continue;
        }
        /* In double quotes # may begin an expression. */
        if (byte[i] == '\\' || (printable ? byte[i] == '\'' : byte[i] == '"' || byte[i] == '#'))
            text_add_string(text, "\\");
        text_add(text, &byte[i], 1);
    }
    text_add_string(text, printable ? "'" : "\"");
}

void
text_add_time(struct text *text, int64_t milliseconds)
{
    int64_t seconds = milliseconds / 1000;
    int64_t rest = milliseconds % 1000;
    struct tm date;
    time_t moment;

    if (rest < 0) {
        rest += 1000;
        seconds--;
    }
    moment = (time_t)seconds;
    if (localtime_r(&moment, &date) == NULL) {
        text_add_format(text, "%" PRId64, milliseconds);
        return;
    }
    text_add_format(text, date.tm_year > 9999 - 1900 ? "+%d" : "%04d", date.tm_year + 1900);
    text_add_format(text, "-%02d-%02dT%02d:%02d", date.tm_mon + 1, date.tm_mday, date.tm_hour,
                    date.tm_min);
    if (date.tm_sec != 0 || rest != 0)
        text_add_format(text, ":%02d", date.tm_sec);
    if (rest != 0)
        text_add_format(text, ".%03d", (int)rest);
}

void
text_add_date(struct text *text, int64_t milliseconds)
{
    time_t moment = (time_t)(milliseconds / 1000);
    char written[64];
    struct tm date;

    if (localtime_r(&moment, &date) == NULL ||
        strftime(written, sizeof(written), "%Y-%m-%d %H:%M:%S %z", &date) == 0)
        text_add_format(text, "%" PRId64, milliseconds);
    else
        text_add_string(text, written);
}

void
text_add_java_date(struct text *text, int64_t milliseconds)
{
    time_t seconds = (time_t)(milliseconds / 1000 - (milliseconds % 1000 < 0));
    char shown[80];
    struct tm parts;

    if (localtime_r(&seconds, &parts) == NULL ||
        strftime(shown, sizeof(shown), "%a %b %d %H:%M:%S %Z %Y", &parts) == 0)
        text_add_format(text, "%lld", (long long)milliseconds);
    else
        text_add_string(text, shown);
}

void
text_add_size(struct text *text, uint64_t bytes)
{
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = {{"TB", 40}, {"GB", 30}, {"MB", 20}, {"KB", 10}, {"B", 0}};
    const char *blank = "";
    uint64_t rest = bytes;

    text_add_format(text, "%" PRIu64 " B (", bytes);
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        uint64_t part = rest >> units[i].shift;

        if (part == 0)
            continue;
        text_add_format(text, "%s%" PRIu64 "%s", blank, part, units[i].name);
        rest -= part << units[i].shift;
        blank = " ";
    }
    text_add_string(text, ")");
}

bool
text_read_size(petal_slice text, uint64_t *bytes)
{
    static const char units[] = "BKMGT";
    const char *letter = text.data, *end = letter + text.size;
    uint64_t number = 0;
    unsigned shift = 0;

    if (letter == end || *letter < '0' || *letter > '9')
        return false;
    for (; letter < end && *letter >= '0' && *letter <= '9'; letter++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*letter - '0'), &number))
            return false;
    while (letter < end && *letter == ' ')
        letter++;
    if (letter < end) {
        const char *unit = strchr(units, *letter & ~0x20);

        if (unit == NULL || *unit == '\0')
            return false;
        shift = (unsigned)(unit - units) * 10;
        letter++;
        if (shift > 0 && letter < end && *letter == 'i')
            letter++;
        if (shift > 0 && letter < end && (*letter & ~0x20) == 'B')
            letter++;
        if (shift == 0 && end - letter > 2 && memcmp(letter, " (", 2) == 0 && end[-1] == ')')
            letter = end;
    }
    *bytes = number << shift;
    return letter == end && *bytes >> shift == number;
}

void
text_drop_byte_order_mark(struct text *text)
{
    size_t size = sizeof(BYTE_ORDER_MARK) - 1;

    if (text->size < size || memcmp(text->bytes, BYTE_ORDER_MARK, size) != 0)
        return;
    text->size -= size;
    memmove(text->bytes, text->bytes + size, text->size + 1);
}

const char *
text_string(const struct text *text)
{
    return text->bytes != NULL ? text->bytes : "";
}

petal_slice
text_slice(const struct text *text)
{
    return (petal_slice){text_string(text), text->size};
}

petal_slice
slice_of_string(const char *string)
{
    return (petal_slice){string, strlen(string)};
}

bool
slice_is(petal_slice bytes, const char *string)
{
    return slices_equal(bytes, slice_of_string(string));
}

bool
slices_equal(petal_slice a, petal_slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

int
slices_compare(petal_slice a, petal_slice b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common > 0 ? memcmp(a.data, b.data, common) : 0;

    if (order != 0)
        return order;
    return (a.size > b.size) - (a.size < b.size);
}

size_t
utf8_character_bytes(petal_slice bytes)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *byte = bytes.data;
    size_t length;
    uint32_t code;

    if (bytes.size == 0)
        return 0;
    if (byte[0] < 0x80)
        return 1;
    if (byte[0] < 0xc2 || byte[0] > 0xf4)
        return 0;
    length = byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
    if (length > bytes.size)
        return 0;
    code = byte[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (byte[i] & 0x3fu);
    }
    if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    return length;
}

petal_slice
text_take_character(petal_slice *rest)
{
    size_t length = utf8_character_bytes(*rest);
    petal_slice character = {rest->data, length > 0 ? length : 1};

    rest->data = (const char *)rest->data + character.size;
    rest->size -= character.size;
    return character;
}

petal_slice
text_take_characters(petal_slice *rest, uint64_t count)
{
    petal_slice taken = *rest;

    for (; count > 0 && rest->size > 0; count--)
        (void)text_take_character(rest);
    taken.size -= rest->size;
    return taken;
}

size_t
text_characters(petal_slice bytes)
{
    size_t count = 0;

    for (; bytes.size > 0; count++)
        (void)text_take_character(&bytes);
    return count;
}

uint32_t
utf8_code(petal_slice character)
{
    const uint8_t *byte = character.data;
    uint32_t code = character.size == 1 ? byte[0] : byte[0] & (0x7fu >> character.size);

    for (size_t i = 1; i < character.size; i++)
        code = code << 6 | (byte[i] & 0x3fu);
    return code;
}

void
text_add_character(struct text *text, uint32_t code)
{
    char bytes[4];
    size_t size = 0;

    if (code < 0x80) {
        bytes[size++] = (char)code;
    } else if (code < 0x800) {
        bytes[size++] = (char)(0xc0 | code >> 6);
        bytes[size++] = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        bytes[size++] = (char)(0xe0 | code >> 12);
        bytes[size++] = (char)(0x80 | (code >> 6 & 0x3f));
        bytes[size++] = (char)(0x80 | (code & 0x3f));
    } else {
        bytes[size++] = (char)(0xf0 | code >> 18);
        bytes[size++] = (char)(0x80 | (code >> 12 & 0x3f));
        bytes[size++] = (char)(0x80 | (code >> 6 & 0x3f));
        bytes[size++] = (char)(0x80 | (code & 0x3f));
    }
    text_add(text, bytes, size);
}

static const struct {
    enum petal_cell_type type;
    const char *name;
} types[] = {{PETAL_PUT, "Put"},
             {PETAL_DELETE, "Delete"},
             {PETAL_DELETE_COLUMN, "DeleteColumn"},
             {PETAL_DELETE_FAMILY, "DeleteFamily"},
             {PETAL_DELETE_FAMILY_VERSION, "DeleteFamilyVersion"}};

const char *
cell_type_name(enum petal_cell_type type)
{
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (types[i].type == type)
            return types[i].name;
    return "";
}

bool
cell_type_read(petal_slice name, enum petal_cell_type *type)
{
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (slice_is(name, types[i].name)) {
            *type = types[i].type;
            return true;
        }
    }
    return false;
}
