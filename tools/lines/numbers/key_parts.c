/* key_parts.c -- see key_parts.h. */
#include "tools/lines/numbers/key_parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool
key_parts_open(struct key_parts *parts, struct job *job, size_t memory_bytes, unsigned most_parts)
{
    *parts = (struct key_parts){.list = NULL};
    if (!spill_open(&parts->spill, job, memory_bytes, most_parts))
        return false;
    parts->list = calloc(parts->spill.parts, sizeof *parts->list);
    if (parts->list != NULL)
        return true;
    key_parts_close(parts);
    return job_fail(job, "out of memory");
}

void
key_parts_close(struct key_parts *parts)
{
    spill_close(&parts->spill);
    free(parts->list);
    parts->list = NULL;
}

static bool
is_narrow(const struct key_part *part)
{
    return part->most - part->least <= UINT32_MAX;
}

bool
key_parts_add(struct key_parts *parts, size_t number, uint64_t key)
{
    struct key_part *part = &parts->list[number];
    uint64_t offset = key - part->least;
    uint32_t narrow = (uint32_t)offset;

    assert(part->least <= key && key <= part->most);
    if (part->count == 0 || key < part->low)
        part->low = key;
    if (part->count == 0 || key > part->high)
        part->high = key;
    part->count++;
    return is_narrow(part) ? spill_put(&parts->spill, (unsigned)number, &narrow, sizeof narrow)
                           : spill_put(&parts->spill, (unsigned)number, &offset, sizeof offset);
}

bool
key_parts_seal(struct key_parts *parts)
{
    return spill_seal(&parts->spill);
}

/* The keys that these bytes are, which are no part of one. */
static size_t
read_keys(const struct key_part *part, const char *bytes, size_t size,
          uint64_t keys[KEY_PARTS_BATCH])
{
    size_t width = is_narrow(part) ? sizeof(uint32_t) : sizeof(uint64_t), count = 0;

    assert(size % width == 0);
    for (; count < KEY_PARTS_BATCH && size > 0; bytes += width, size -= width) {
        uint64_t wide;
        uint32_t narrow;

        if (width == sizeof narrow) {
            memcpy(&narrow, bytes, sizeof narrow);
            wide = narrow;
        } else {
            memcpy(&wide, bytes, sizeof wide);
        }
        keys[count++] = part->least + wide;
    }
    return count;
}

bool
key_parts_each(struct key_parts *parts, size_t number, key_taker take, void *argument)
{
    const struct key_part *part = &parts->list[number];
    size_t width = is_narrow(part) ? sizeof(uint32_t) : sizeof(uint64_t), size, count;
    uint64_t keys[KEY_PARTS_BATCH];
    struct spill_stream stream;
    const char *bytes;
    bool fine;

    if (!spill_stream_open(&stream, &parts->spill, (unsigned)number))
        return false;
    while ((fine = spill_take_some(&stream, &bytes, &size)) && size > 0) {
        for (; fine && size > 0; bytes += count * width, size -= count * width) {
            count = read_keys(part, bytes, size, keys);
            fine = take(argument, keys, count);
        }
        if (!fine)
            break;
    }
    spill_stream_close(&stream);
    return fine;
}
