/* text.c -- see tests/model/text.h. */
#include "tests/model/text.h"

#include "base/slice.h"
#include "tests/support/test_support.h"

#include <stdlib.h>

void
model_text_free(struct model_text *text)
{
    free(text->bytes);
    *text = (struct model_text){0};
}

void
model_text_clear(struct model_text *text)
{
    text->size = 0;
    if (text->bytes != NULL)
        text->bytes[0] = '\0';
}

static void
add_raw(struct model_text *text, const char *bytes, size_t size)
{
    if (text->size + size + 1 > text->capacity) {
        text->capacity = 2 * (text->size + size + 64);
        text->bytes = test_reallocate(text->bytes, text->capacity);
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
}

void
model_text_add(struct model_text *text, const char *words)
{
    add_raw(text, words, strlen(words));
}

void
model_text_add_number(struct model_text *text, int64_t number)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (number < 0)
        digits[--at] = '-';
    add_raw(text, digits + at, sizeof digits - at);
}

void
model_text_add_bytes(struct model_text *text, petal_slice bytes)
{
    static const char hex[] = "0123456789ABCDEF";

    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t byte = slice_bytes(bytes)[i];
        char escaped[4] = {'\\', 'x', hex[byte >> 4], hex[byte & 15]};

        if (byte >= ' ' && byte <= '~' && byte != '\\' && byte != '"')
            add_raw(text, (const char *)&byte, 1);
        else
            add_raw(text, escaped, sizeof escaped);
    }
}

const char *
model_text_of_type(enum petal_cell_type type)
{
    switch (type) {
    case PETAL_PUT:
        return "Put";
    case PETAL_DELETE:
        return "Delete";
    case PETAL_DELETE_FAMILY_VERSION:
        return "DeleteFamilyVersion";
    case PETAL_DELETE_COLUMN:
        return "DeleteColumn";
    case PETAL_DELETE_FAMILY:
        return "DeleteFamily";
    }
    return "unknown type";
}

void
model_text_add_cell(struct model_text *text, const petal_cell *cell)
{
    model_text_add_bytes(text, cell->row);
    model_text_add(text, " ");
    model_text_add_bytes(text, cell->family);
    model_text_add(text, ":");
    model_text_add_bytes(text, cell->qualifier);
    model_text_add(text, " ");
    model_text_add_number(text, cell->timestamp);
    model_text_add(text, " ");
    model_text_add(text, model_text_of_type(cell->type));
    model_text_add(text, " ");
    model_text_add_bytes(text, cell->value);
    if (cell->has_ttl) {
        model_text_add(text, " ttl=");
        model_text_add_number(text, cell->ttl_ms);
    }
    model_text_add(text, "\n");
}

petal_slice
model_text_family_name(unsigned family)
{
    static const char *const names[MODEL_FAMILIES] = {"f", "g", "h"};

    return slice_from_text(names[family]);
}

void
model_text_add_model_cell(struct model_text *text, const struct model_cell *cell)
{
    petal_cell shown = {.family = model_text_family_name(cell->family),
                        .row = model_slice(&cell->row),
                        .qualifier = model_slice(&cell->qualifier),
                        .value = model_slice(&cell->value),
                        .timestamp = cell->timestamp,
                        .type = cell->type,
                        .has_ttl = cell->has_ttl,
                        .ttl_ms = cell->ttl_ms};

    model_text_add_cell(text, &shown);
}

void
model_text_add_family(struct model_text *text, unsigned number, const struct model_family *family)
{
    static const char *const keep[] = {"", "", " keeps deleted", " keeps deleted for TTL"};

    model_text_add(text, " ");
    model_text_add_bytes(text, model_text_family_name(number));
    model_text_add(text, "=");
    model_text_add_number(text, family->versions);
    model_text_add(text, "/");
    model_text_add_number(text, family->min_versions);
    if (family->has_ttl) {
        model_text_add(text, "/");
        model_text_add_number(text, family->ttl_ms);
    }
    model_text_add(text, keep[family->keep_deleted]);
    model_text_add(text, family->new_version_behavior ? " by writes" : "");
}
