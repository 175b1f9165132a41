/* value.c -- see tools/shell/session/value.h. */
#include "tools/shell/session/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct value
value_nil(void)
{
    return (struct value){.kind = VALUE_NIL};
}

struct value
value_boolean(bool boolean)
{
    return (struct value){.kind = VALUE_BOOLEAN, .as.boolean = boolean};
}

struct value
value_integer(int64_t integer)
{
    return (struct value){.kind = VALUE_INTEGER, .as.integer = integer};
}

struct value
value_string(petal_slice bytes)
{
    return (struct value){.kind = VALUE_STRING, .as.bytes = bytes};
}

const struct value *
value_hash_get(const struct value *hash, const char *key)
{
    if (hash == NULL || hash->kind != VALUE_HASH)
        return NULL;
    for (size_t i = 0; i < hash->count; i++) {
        const struct value *candidate = &hash->as.pairs[i].key;

        if (candidate->kind == VALUE_STRING && slice_is(candidate->as.bytes, key))
            return &hash->as.pairs[i].value;
    }
    return NULL;
}

petal_slice
value_filter_name(const struct value *filter)
{
    petal_slice name = filter->as.items[0].as.bytes;
    const char *colon = name.size > 0 ? memrchr(name.data, ':', name.size) : NULL;
    size_t begin = colon != NULL ? (size_t)(colon + 1 - (const char *)name.data) : 0;

    return (petal_slice){(const char *)name.data + begin, name.size - begin};
}

/* The letter after the backslash for a control character that has one, else 0. */
static char
escape_letter(uint8_t byte)
{
    static const char letters[] = "abtnvfr"; /* 7 to 13 */

    if (byte >= 7 && byte <= 13)
        return letters[byte - 7];
    return byte == 0x1b ? 'e' : byte == '"' || byte == '\\' ? (char)byte : '\0';
}

static void
inspect_bytes(struct text *text, petal_slice bytes)
{
    const uint8_t *byte = bytes.data;

    text_add_string(text, "\"");
    for (size_t i = 0; i < bytes.size;) {
        size_t length = utf8_character_bytes((petal_slice){byte + i, bytes.size - i});
        char letter = escape_letter(byte[i]);
        bool interpolates = byte[i] == '#' && i + 1 < bytes.size && strchr("{$@", byte[i + 1]) &&
                            byte[i + 1] != '\0';

        if (length == 0)
            text_add_format(text, "\\x%02X", byte[i]);
        else if (letter != '\0')
            text_add_format(text, "\\%c", letter);
        else if (byte[i] < 0x20 || byte[i] == 0x7f)
            text_add_format(text, "\\u%04X", byte[i]);
        else if (interpolates)
            text_add_string(text, "\\#");
        else
            text_add(text, byte + i, length);
        i += length > 0 ? length : 1;
    }
    text_add_string(text, "\"");
}

/* The shortest decimal that reads back as the same number, in Ruby's shape: always with a point. */
static void
inspect_number(struct text *text, double number)
{
    char digits[40];
    char *exponent;

    if (isnan(number) || isinf(number)) {
        text_add_string(text, isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity");
        return;
    }
    for (int precision = 1; precision <= 17; precision++) {
        (void)snprintf(digits, sizeof(digits), "%.*e", precision - 1, number);
        if (strtod(digits, NULL) == number)
            break;
    }
    exponent = strchr(digits, 'e');
    if (number == 0 || (fabs(number) >= 1e-4 && fabs(number) < 1e16)) {
        long decimals =
            (exponent - digits) - (digits[0] == '-') - 2 - strtol(exponent + 1, NULL, 10);

        text_add_format(text, "%.*f", decimals < 1 ? 1 : (int)decimals, number);
        return;
    }
    text_add(text, digits, (size_t)(exponent - digits));
    if (memchr(digits, '.', (size_t)(exponent - digits)) == NULL)
        text_add_string(text, ".0");
    text_add_string(text, exponent);
}

static void
inspect_items(struct text *text, const struct value *value)
{
    bool hash = value->kind == VALUE_HASH;

    text_add_string(text, hash ? "{" : "[");
    for (size_t i = 0; i < value->count; i++) {
        if (i > 0)
            text_add_string(text, ", ");
        if (hash) {
            value_inspect(text, &value->as.pairs[i].key);
            text_add_string(text, "=>");
        }
        value_inspect(text, hash ? &value->as.pairs[i].value : &value->as.items[i]);
    }
    text_add_string(text, hash ? "}" : "]");
}

void
value_inspect(struct text *text, const struct value *value)
{
    switch (value->kind) {
    case VALUE_NIL:
        text_add_string(text, "nil");
        break;
    case VALUE_BOOLEAN:
        text_add_string(text, value->as.boolean ? "true" : "false");
        break;
    case VALUE_INTEGER:
        text_add_format(text, "%" PRId64, value->as.integer);
        break;
    case VALUE_FLOAT:
        inspect_number(text, value->as.number);
        break;
    case VALUE_STRING:
        inspect_bytes(text, value->as.bytes);
        break;
    case VALUE_SYMBOL:
        text_add_string(text, ":");
        text_add_slice(text, value->as.bytes);
        break;
    case VALUE_ARRAY:
    case VALUE_HASH:
        inspect_items(text, value);
        break;
    case VALUE_TABLE:
        text_add_string(text, "Hbase::Table - ");
        text_add_slice(text, value->as.bytes);
        break;
    case VALUE_FILTER:
        text_add_string(text, "#<");
        text_add_slice(text, value->as.items[0].as.bytes);
        text_add_string(text, ">");
        break;
    case VALUE_OTHER:
        text_add_slice(text, value->as.bytes);
        break;
    }
}

void
value_to_text(struct text *text, const struct value *value)
{
    if (value->kind == VALUE_STRING || value->kind == VALUE_SYMBOL || value->kind == VALUE_TABLE)
        text_add_slice(text, value->as.bytes);
    else if (value->kind != VALUE_NIL)
        value_inspect(text, value);
}

petal_slice
value_to_bytes(struct arena *arena, const struct value *value)
{
    struct text text = {0};
    petal_slice bytes;

    if (value->kind == VALUE_STRING || value->kind == VALUE_SYMBOL)
        return value->as.bytes;
    value_to_text(&text, value);
    bytes = (petal_slice){arena_copy(arena, text.bytes, text.size), text.size};
    text_free(&text);
    return bytes;
}

char *
value_to_string(struct arena *arena, const struct value *value)
{
    petal_slice bytes = value_to_bytes(arena, value);
    char *string = arena_allocate(arena, bytes.size + 1);

    if (bytes.size > 0)
        memcpy(string, bytes.data, bytes.size);
    string[bytes.size] = '\0';
    return string;
}

bool
value_to_integer(const struct value *value, int64_t *integer)
{
    if (value->kind == VALUE_FLOAT && fabs(value->as.number) < 9e18)
        *integer = (int64_t)value->as.number;
    else if (value->kind == VALUE_INTEGER)
        *integer = value->as.integer;
    else
        return false;
    return true;
}

const char *
value_class(const struct value *value)
{
    switch (value->kind) {
    case VALUE_NIL:
        return "NilClass";
    case VALUE_BOOLEAN:
        return value->as.boolean ? "TrueClass" : "FalseClass";
    case VALUE_INTEGER:
        return "Integer";
    case VALUE_FLOAT:
        return "Float";
    case VALUE_STRING:
        return "String";
    case VALUE_SYMBOL:
        return "Symbol";
    case VALUE_ARRAY:
        return "Array";
    case VALUE_HASH:
        return "Hash";
    case VALUE_TABLE:
        return "Hbase::Table";
    case VALUE_FILTER:
        return "Java::Object";
    case VALUE_OTHER:
        return "Object";
    }
    return "Object";
}
