/* convert.c -- see tools/shell/session/convert.h. */
#include "tools/shell/session/convert.h"

#include <string.h>

static const struct {
    const char *name;
    enum conversion conversion;
    size_t bytes; /* that it needs at least */
} converters[] = {
    {"toStringBinary", CONVERT_TO_STRING_BINARY, 0},
    {"toString", CONVERT_TO_STRING, 0},
    {"toHex", CONVERT_TO_HEX, 0},
    {"toInt", CONVERT_TO_INT, 4},
    {"toLong", CONVERT_TO_LONG, 8},
    {"toShort", CONVERT_TO_SHORT, 2},
    {"toFloat", CONVERT_TO_FLOAT, 4},
    {"toDouble", CONVERT_TO_DOUBLE, 8},
    {"toBoolean", CONVERT_TO_BOOLEAN, 1},
};

enum { CONVERTERS = COUNT_OF(converters) };

static const char class_prefix[] = "c(org.apache.hadoop.hbase.util.Bytes).";

enum shell_status
convert_find(struct session *session, petal_slice name, enum conversion *conversion)
{
    size_t prefix = sizeof(class_prefix) - 1;
    petal_slice method = name;

    if (name.size > prefix && memcmp(name.data, class_prefix, prefix) == 0)
        method = (petal_slice){(const char *)name.data + prefix, name.size - prefix};
    for (size_t i = 0; i < CONVERTERS; i++) {
        if (slice_is(method, converters[i].name)) {
            *conversion = converters[i].conversion;
            return SHELL_FINE;
        }
    }
    text_clear(&session->scratch);
    text_add_binary(&session->scratch, name);
    text_add_string(&session->scratch, "'; there are");
    for (size_t i = 0; i < CONVERTERS; i++)
        text_add_format(&session->scratch, " %s", converters[i].name);
    return session_fail(session, SHELL_USAGE, "There is no converter '%.400s",
                        text_string(&session->scratch));
}

static uint64_t
read_big_endian(petal_slice bytes, size_t size)
{
    const uint8_t *byte = bytes.data;
    uint64_t number = 0;

    for (size_t i = 0; i < size; i++)
        number = number << 8 | byte[i];
    return number;
}

struct value
convert_number(enum conversion conversion, petal_slice bytes)
{
    struct value value = {.kind = VALUE_FLOAT};
    uint32_t bits;
    uint64_t more_bits;
    float number;

    switch (conversion) {
    case CONVERT_TO_SHORT:
        return value_integer((int16_t)read_big_endian(bytes, 2));
    case CONVERT_TO_INT:
        return value_integer((int32_t)read_big_endian(bytes, 4));
    case CONVERT_TO_LONG:
        return value_integer((int64_t)read_big_endian(bytes, 8));
    case CONVERT_TO_FLOAT:
        bits = (uint32_t)read_big_endian(bytes, sizeof(bits));
        memcpy(&number, &bits, sizeof(number));
        value.as.number = (double)number;
        break;
    case CONVERT_TO_DOUBLE:
        more_bits = read_big_endian(bytes, sizeof(more_bits));
        memcpy(&value.as.number, &more_bits, sizeof(more_bits));
        break;
    case CONVERT_TO_STRING_BINARY:
    case CONVERT_TO_STRING:
    case CONVERT_TO_HEX:
    case CONVERT_TO_BOOLEAN:
        return value_boolean(*(const char *)bytes.data != 0);
    }
    return value;
}

enum shell_status
convert_add(struct session *session, struct text *text, enum conversion conversion,
            petal_slice bytes)
{
    const uint8_t *byte = bytes.data;
    struct value value;
    size_t wanted = 0;

    if (conversion == CONVERT_TO_STRING_BINARY) {
        text_add_binary(text, bytes);
        return SHELL_FINE;
    }
    if (conversion == CONVERT_TO_STRING) {
        while (bytes.size > 0) {
            bool known = utf8_character_bytes(bytes) > 0;
            petal_slice character = text_take_character(&bytes);

            text_add_slice(text, known ? character : slice_of_string("\xef\xbf\xbd"));
        }
        return SHELL_FINE;
    }
    if (conversion == CONVERT_TO_HEX) {
        for (size_t i = 0; i < bytes.size; i++)
            text_add_format(text, "%02x", byte[i]);
        return SHELL_FINE;
    }
    for (size_t i = 0; i < CONVERTERS; i++)
        if (converters[i].conversion == conversion)
            wanted = converters[i].bytes;
    if (conversion == CONVERT_TO_BOOLEAN && bytes.size != wanted)
        return session_fail(session, SHELL_USAGE, "Array has wrong size: %zu", bytes.size);
    if (bytes.size < wanted)
        return session_fail(session, SHELL_USAGE,
                            "offset (0) + length (%zu) exceed the capacity of the array: %zu",
                            wanted, bytes.size);
    value = convert_number(conversion, bytes);
    value_to_text(text, &value);
    return SHELL_FINE;
}
