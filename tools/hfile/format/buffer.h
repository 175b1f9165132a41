/*
 * buffer.h -- bytes that grow. What appends returns false when there is no memory: then the buffer
 * is as it was.
 */
#ifndef PETAL_HFILE_FORMAT_BUFFER_H
#define PETAL_HFILE_FORMAT_BUFFER_H

#include "tools/hfile/format/bytes.h"

struct hfile_buffer {
    const petal_allocator *allocator;
    uint8_t *bytes;
    size_t size, capacity;
};

static inline void
hfile_buffer_init(struct hfile_buffer *buffer, const petal_allocator *allocator)
{
    *buffer = (struct hfile_buffer){.allocator = allocator};
}

/* Gives the memory back; the buffer is empty and can be used on. */
void hfile_buffer_free(struct hfile_buffer *buffer);

/* Without giving memory back. */
static inline void
hfile_buffer_clear(struct hfile_buffer *buffer)
{
    buffer->size = 0;
}

static inline petal_slice
hfile_buffer_slice(const struct hfile_buffer *buffer)
{
    return hfile_slice(buffer->bytes, buffer->size);
}

/* The part of hfile_buffer_reserve that allocates. */
bool hfile_buffer_grow(struct hfile_buffer *buffer, size_t more);

/* Room for `more` bytes after the last one. */
static inline bool
hfile_buffer_reserve(struct hfile_buffer *buffer, size_t more)
{
    return more <= buffer->capacity - buffer->size || hfile_buffer_grow(buffer, more);
}

/* `bytes` do not lie in the buffer. */
static inline bool
hfile_buffer_append(struct hfile_buffer *buffer, const void *bytes, size_t size)
{
    if (!hfile_buffer_reserve(buffer, size))
        return false;
    if (size > 0)
        memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
    return true;
}

static inline bool
hfile_buffer_append_slice(struct hfile_buffer *buffer, petal_slice slice)
{
    return hfile_buffer_append(buffer, slice.data, slice.size);
}

static inline bool
hfile_buffer_append_u8(struct hfile_buffer *buffer, uint8_t value)
{
    return hfile_buffer_append(buffer, &value, 1);
}

static inline bool
hfile_buffer_append_u16(struct hfile_buffer *buffer, uint16_t value)
{
    uint8_t bytes[2];

    hfile_put_u16(bytes, value);
    return hfile_buffer_append(buffer, bytes, sizeof bytes);
}

static inline bool
hfile_buffer_append_u32(struct hfile_buffer *buffer, uint32_t value)
{
    uint8_t bytes[4];

    hfile_put_u32(bytes, value);
    return hfile_buffer_append(buffer, bytes, sizeof bytes);
}

static inline bool
hfile_buffer_append_u64(struct hfile_buffer *buffer, uint64_t value)
{
    uint8_t bytes[8];

    hfile_put_u64(bytes, value);
    return hfile_buffer_append(buffer, bytes, sizeof bytes);
}

static inline bool
hfile_buffer_append_vint(struct hfile_buffer *buffer, int64_t value)
{
    uint8_t bytes[HFILE_MOST_VINT_BYTES];

    return hfile_buffer_append(buffer, bytes, hfile_put_vint(bytes, value));
}

static inline bool
hfile_buffer_append_varint(struct hfile_buffer *buffer, uint64_t value)
{
    uint8_t bytes[HFILE_MOST_VARINT_BYTES];

    return hfile_buffer_append(buffer, bytes, hfile_put_varint(bytes, value));
}

#endif
