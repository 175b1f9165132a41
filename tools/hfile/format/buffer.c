/* buffer.c -- see buffer.h. */
#include "tools/hfile/format/buffer.h"

#include "tools/hfile/format/memory.h"

#define LEAST_BYTES 256

void
hfile_buffer_free(struct hfile_buffer *buffer)
{
    hfile_release(buffer->allocator, buffer->bytes, buffer->capacity);
    hfile_buffer_init(buffer, buffer->allocator);
}

bool
hfile_buffer_grow(struct hfile_buffer *buffer, size_t more)
{
    size_t capacity = buffer->capacity < LEAST_BYTES ? LEAST_BYTES : buffer->capacity;
    uint8_t *bytes;

    if (more > SIZE_MAX / 2 - buffer->size)
        return false;
    while (capacity < buffer->size + more)
        capacity += capacity / 2;
    bytes = hfile_allocate(buffer->allocator, capacity);
    if (bytes == NULL)
        return false;
    if (buffer->size > 0)
        memcpy(bytes, buffer->bytes, buffer->size);
    hfile_release(buffer->allocator, buffer->bytes, buffer->capacity);
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}
