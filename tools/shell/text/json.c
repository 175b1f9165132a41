/* json.c -- see tools/shell/text/json.h. */
#include "tools/shell/text/json.h"

#include <stdint.h>
#include <string.h>

static const char base64_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static bool
are_ascii(const char *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof(word));
    return (word & 0x8080808080808080u) == 0;
}

bool
text_is_utf8(petal_slice bytes)
{
    const char *at = bytes.data, *end = bytes.size > 0 ? at + bytes.size : at;

    while (at < end) {
        size_t size = end - at >= 8 && are_ascii(at)
                          ? 8
                          : utf8_character_bytes((petal_slice){at, (size_t)(end - at)});

        if (size == 0)
            return false;
        at += size;
    }
    return true;
}

static char *
put_string(char *to, const char *string)
{
    size_t size = strlen(string);

    memcpy(to, string, size);
    return to + size;
}

char *
json_put_letters(char *to, petal_slice text)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = text.data, *end = text.size > 0 ? at + text.size : at;

    for (; at < end; at++) {
        if (*at == '"' || *at == '\\') {
            *to++ = '\\';
            *to++ = *at;
        } else if ((unsigned char)*at < 0x20) {
            to = put_string(to, "\\u00");
            *to++ = digits[*at >> 4];
            *to++ = digits[*at & 15];
        } else {
            *to++ = *at;
        }
    }
    return to;
}

static char *
put_base64(char *to, petal_slice bytes)
{
    const uint8_t *from = bytes.data;

    for (size_t left = bytes.size; left > 0; left -= left < 3 ? left : 3, from += 3) {
        unsigned group =
            (unsigned)from[0] << 16 | (left > 1 ? from[1] : 0u) << 8 | (left > 2 ? from[2] : 0u);

        *to++ = base64_letters[group >> 18];
        *to++ = base64_letters[group >> 12 & 63];
        *to++ = left > 1 ? base64_letters[group >> 6 & 63] : '=';
        *to++ = left > 2 ? base64_letters[group & 63] : '=';
        if (left <= 3)
            break;
    }
    return to;
}

char *
json_put_bytes(char *to, petal_slice bytes)
{
    if (text_is_utf8(bytes)) {
        *to++ = '"';
        to = json_put_letters(to, bytes);
        *to++ = '"';
        return to;
    }
    to = put_string(to, "{\"b64\":\"");
    to = put_base64(to, bytes);
    return put_string(to, "\"}");
}

void
text_add_json(struct text *text, petal_slice bytes)
{
    char *end;

    text_reserve(text, JSON_GREATEST_ESCAPE * bytes.size + JSON_OVERHEAD);
    end = json_put_bytes(text->bytes + text->size, bytes);
    *end = '\0';
    text->size = (size_t)(end - text->bytes);
}

/* The bits that the letter stands for, -1 if it stands for none. */
static int
bits_of(char letter)
{
    const char *found = letter != '\0' ? strchr(base64_letters, letter) : NULL;

    return found != NULL ? (int)(found - base64_letters) : -1;
}

bool
base64_read(petal_slice letters, char *to, size_t *size)
{
    const char *from = letters.data;
    size_t count = letters.size, padding = 0;
    uint32_t group = 0;

    *size = 0;
    if (count % 4 != 0)
        return false;
    while (padding < 2 && count > 0 && from[count - 1] == '=') {
        count--;
        padding++;
    }
    for (size_t i = 0; i < count; i++) {
        int bits = bits_of(from[i]);

        if (bits < 0)
            return false;
        group = group << 6 | (uint32_t)bits;
        /* After each letter but the first of a group another byte is whole. */
        if (i % 4 != 0)
            to[(*size)++] = (char)(group >> (6 - 2 * (i % 4)));
    }
    /* What a last group has beyond its bytes is nothing. */
    return padding == 0 || (group & (padding == 1 ? 3u : 15u)) == 0;
}
