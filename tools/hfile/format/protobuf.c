/* protobuf.c -- see protobuf.h. */
#include "tools/hfile/format/protobuf.h"

#include "tools/hfile/format/format.h"

enum wire_kind { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

static uint64_t
little_endian(petal_slice bytes)
{
    uint64_t value = 0;

    for (size_t i = bytes.size; i > 0; i--)
        value = value << 8 | hfile_slice_bytes(bytes)[i - 1];
    return value;
}

static bool
take_fixed(struct hfile_bytes *rest, size_t size, uint64_t *value)
{
    petal_slice bytes;

    if (!hfile_take_slice(rest, size, &bytes))
        return false;
    *value = little_endian(bytes);
    return true;
}

static bool
take_value(struct hfile_bytes *rest, unsigned kind, struct hfile_field *field)
{
    uint64_t size;

    switch (kind) {
    case WIRE_VARINT:
        return hfile_take_varint(rest, &field->value);
    case WIRE_FIXED64:
        return take_fixed(rest, 8, &field->value);
    case WIRE_FIXED32:
        return take_fixed(rest, 4, &field->value);
    case WIRE_BYTES:
        field->is_bytes = true;
        return hfile_take_varint(rest, &size) && hfile_take_slice(rest, size, &field->bytes);
    default:
        return false;
    }
}

bool
hfile_field_take(struct hfile_bytes *message, struct hfile_field *field)
{
    struct hfile_bytes rest = *message;
    uint64_t head;

    *field = (struct hfile_field){0};
    if (!hfile_take_varint(&rest, &head) || head >> 3 == 0 || head >> 3 > UINT32_MAX >> 3)
        return false;
    field->number = (uint32_t)(head >> 3);
    if (!take_value(&rest, head & 7, field))
        return false;
    *message = rest;
    return true;
}

static uint64_t
head_of(uint32_t number, enum wire_kind kind)
{
    return (uint64_t)number << 3 | (uint64_t)kind;
}

size_t
hfile_field_bytes(uint32_t number, size_t size)
{
    return hfile_varint_bytes(head_of(number, WIRE_BYTES)) + hfile_varint_bytes(size) + size;
}

bool
hfile_field_append_number(struct hfile_buffer *buffer, uint32_t number, uint64_t value)
{
    return hfile_buffer_append_varint(buffer, head_of(number, WIRE_VARINT)) &&
           hfile_buffer_append_varint(buffer, value);
}

bool
hfile_field_append_bytes(struct hfile_buffer *buffer, uint32_t number, petal_slice bytes)
{
    return hfile_buffer_append_varint(buffer, head_of(number, WIRE_BYTES)) &&
           hfile_buffer_append_varint(buffer, bytes.size) &&
           hfile_buffer_append_slice(buffer, bytes);
}

bool
hfile_pair_take(petal_slice message, petal_slice *first, petal_slice *second)
{
    struct hfile_bytes rest = hfile_bytes_of(message);
    struct hfile_field field;

    *first = *second = hfile_slice(NULL, 0);
    while (hfile_field_take(&rest, &field)) {
        if (field.is_bytes && field.number == 1)
            *first = field.bytes;
        else if (field.is_bytes && field.number == 2)
            *second = field.bytes;
    }
    return hfile_bytes_left(&rest) == 0;
}

bool
hfile_take_protobuf_magic(struct hfile_bytes *bytes)
{
    petal_slice magic;

    return hfile_take_slice(bytes, HFILE_PROTOBUF_MAGIC_BYTES, &magic) &&
           hfile_slice_equal(magic, hfile_text_slice(HFILE_PROTOBUF_MAGIC));
}
