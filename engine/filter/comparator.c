/* comparator.c -- see comparator.h. */
#include "engine/filter/comparator.h"

#include "base/coding.h"
#include "base/slice.h"
#include "engine/filter/regex.h"
#include "engine/filter/utf8.h"

#include <assert.h>
#include <stdio.h>

static const struct {
    const char *name;
    enum comparator_kind kind;
    bool ignore_case;
} types[] = {
    {"binary", COMPARATOR_BINARY, false},
    {"binaryprefix", COMPARATOR_BINARY_PREFIX, false},
    {"substring", COMPARATOR_SUBSTRING, false},
    {"regexstring", COMPARATOR_REGEX, false},
    {"regexstringnocase", COMPARATOR_REGEX, true},
    {"long", COMPARATOR_LONG, false},
    {"null", COMPARATOR_NULL, false},
    {"bitand", COMPARATOR_BIT_AND, false},
    {"bitor", COMPARATOR_BIT_OR, false},
    {"bitxor", COMPARATOR_BIT_XOR, false},
};

#define TYPE_COUNT (sizeof types / sizeof types[0])

/* ---- making ---- */

/* The value's characters in lower case, and their Knuth-Morris-Pratt table. */
static enum petal_status
init_substring(struct comparator *comparator, const petal_allocator *allocator)
{
    const uint8_t *at = comparator->bytes.data, *limit;
    size_t count = 0, length = 0;

    if (comparator->bytes.size == 0)
        return PETAL_OK;
    limit = at + comparator->bytes.size;
    comparator->characters = mem_alloc(allocator, comparator->bytes.size * sizeof(uint32_t));
    comparator->retreats = mem_alloc(allocator, comparator->bytes.size * sizeof(uint32_t));
    if (comparator->characters == NULL || comparator->retreats == NULL)
        return PETAL_NO_MEMORY;
    while (at < limit)
        comparator->characters[count++] = utf8_lower(utf8_next(&at, limit));
    comparator->character_count = count;
    assert(count > 0 && count <= comparator->bytes.size);
    comparator->retreats[0] = 0;
    for (size_t i = 1; i < count; i++) {
        while (length > 0 && comparator->characters[i] != comparator->characters[length])
            length = comparator->retreats[length - 1];
        if (comparator->characters[i] == comparator->characters[length])
            length++;
        comparator->retreats[i] = (uint32_t)length;
    }
    return PETAL_OK;
}

static enum petal_status
init_long(struct comparator *comparator, char reason[COMPARATOR_REASON_BYTES])
{
    const uint8_t *digits = comparator->bytes.data;
    size_t size = comparator->bytes.size;
    bool negative = size > 0 && digits[0] == '-';
    uint64_t most = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX, value = 0;
    bool fine = size > (negative ? 1u : 0u);

    for (size_t i = negative ? 1 : 0; fine && i < size; i++) {
        uint64_t digit = (uint64_t)digits[i] - '0';

        fine = digits[i] >= '0' && digits[i] <= '9' && value <= (most - digit) / 10;
        value = value * 10 + digit;
    }
    if (!fine) {
        snprintf(reason, COMPARATOR_REASON_BYTES, "the value of long: is not a 64-bit number");
        return PETAL_INVALID;
    }
    comparator->number = negative ? (int64_t)(0 - value) : (int64_t)value;
    return PETAL_OK;
}

enum petal_status
comparator_init(struct comparator *comparator, const petal_allocator *allocator, petal_slice text,
                char reason[COMPARATOR_REASON_BYTES])
{
    const uint8_t *colon = text.size > 0 ? memchr(text.data, ':', text.size) : NULL;
    size_t type_size = colon != NULL ? (size_t)(colon - slice_bytes(text)) : 0;
    size_t type = 0, size;
    enum petal_status status = PETAL_OK;

    memset(comparator, 0, sizeof *comparator);
    while (colon != NULL && type < TYPE_COUNT &&
           !slice_equal(slice_from_text(types[type].name), slice_make(text.data, type_size)))
        type++;
    if (colon == NULL || type == TYPE_COUNT) {
        snprintf(reason, COMPARATOR_REASON_BYTES,
                 colon == NULL ? "a comparator must be written 'type:value'"
                               : "unknown type of comparator");
        return PETAL_INVALID;
    }
    comparator->kind = types[type].kind;
    size = text.size - type_size - 1;
    if (size > 0) {
        void *copy = mem_alloc(allocator, size);

        if (copy == NULL)
            return PETAL_NO_MEMORY;
        memcpy(copy, colon + 1, size);
        comparator->bytes = slice_make(copy, size);
    }
    if (comparator->kind == COMPARATOR_SUBSTRING) {
        status = init_substring(comparator, allocator);
    } else if (comparator->kind == COMPARATOR_LONG) {
        status = init_long(comparator, reason);
    } else if (comparator->kind == COMPARATOR_REGEX) {
        struct regex_mistake mistake;

        status = regex_new(&comparator->regex, allocator, comparator->bytes,
                           types[type].ignore_case, &mistake);
        if (status == PETAL_INVALID)
            snprintf(reason, COMPARATOR_REASON_BYTES, "%s, at byte %zu of the expression",
                     mistake.reason, mistake.position);
    }
    if (status != PETAL_OK)
        comparator_fini(comparator, allocator);
    return status;
}

void
comparator_fini(struct comparator *comparator, const petal_allocator *allocator)
{
    size_t size = comparator->bytes.size;

    regex_free(comparator->regex);
    mem_free(allocator, comparator->characters, size * sizeof(uint32_t));
    mem_free(allocator, comparator->retreats, size * sizeof(uint32_t));
    mem_free(allocator, (void *)(uintptr_t)comparator->bytes.data, size);
    memset(comparator, 0, sizeof *comparator);
}

bool
comparator_is_unordered(const struct comparator *comparator)
{
    return comparator->kind == COMPARATOR_REGEX || comparator->kind == COMPARATOR_SUBSTRING;
}

/* ---- comparing ---- */

static bool
contains(const struct comparator *comparator, petal_slice value)
{
    const uint8_t *at = value.size > 0 ? value.data : (const uint8_t *)"";
    const uint8_t *limit = at + value.size;
    size_t length = 0;

    if (comparator->character_count == 0)
        return true;
    while (at < limit) {
        uint32_t c = utf8_lower(utf8_next(&at, limit));

        while (length > 0 && c != comparator->characters[length])
            length = comparator->retreats[length - 1];
        assert(length < comparator->character_count);
        if (c == comparator->characters[length])
            length++;
        if (length == comparator->character_count)
            return true;
    }
    return false;
}

static bool
has_common_bits(const struct comparator *comparator, petal_slice value)
{
    const uint8_t *a = comparator->bytes.data, *b = value.data;
    unsigned bits = 0;

    if (value.size != comparator->bytes.size)
        return false;
    for (size_t i = 0; i < value.size && bits == 0; i++) {
        if (comparator->kind == COMPARATOR_BIT_AND)
            bits = a[i] & b[i];
        else if (comparator->kind == COMPARATOR_BIT_OR)
            bits = a[i] | b[i];
        else
            bits = a[i] ^ b[i];
    }
    return bits != 0;
}

/* <0, 0, >0: the comparator's value is less than, equal to or greater than `value`; comparators
 * without an order return 0 or 1. */
static int
order(const struct comparator *comparator, petal_slice value)
{
    int64_t number;

    switch (comparator->kind) {
    case COMPARATOR_BINARY:
        return slice_compare(comparator->bytes, value);
    case COMPARATOR_BINARY_PREFIX:
        if (value.size > comparator->bytes.size)
            value.size = comparator->bytes.size;
        return slice_compare(comparator->bytes, value);
    case COMPARATOR_SUBSTRING:
        return contains(comparator, value) ? 0 : 1;
    case COMPARATOR_LONG:
        number = (int64_t)get_be64(value.data);
        return comparator->number < number ? -1 : comparator->number > number;
    case COMPARATOR_NULL:
        return 1;
    default:
        return has_common_bits(comparator, value) ? 0 : 1;
    }
}

bool
compare_holds(enum petal_compare compare, int order)
{
    switch (compare) {
    case PETAL_LESS:
        return order > 0;
    case PETAL_LESS_OR_EQUAL:
        return order >= 0;
    case PETAL_EQUAL:
        return order == 0;
    case PETAL_NOT_EQUAL:
        return order != 0;
    case PETAL_GREATER_OR_EQUAL:
        return order <= 0;
    case PETAL_GREATER:
        return order < 0;
    }
    return false;
}

bool
comparator_accepts(const struct comparator *comparator, enum petal_compare compare,
                   petal_slice value)
{
    assert(comparator->kind != COMPARATOR_REGEX && comparator->kind != COMPARATOR_NONE);
    if (comparator->kind == COMPARATOR_LONG && value.size != 8)
        return compare == PETAL_NOT_EQUAL;
    return compare_holds(compare, order(comparator, value));
}
