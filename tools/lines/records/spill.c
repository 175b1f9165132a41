/* spill.c -- see spill.h. */
#include "tools/lines/records/spill.h"

#include "tools/lines/records/map.h"
#include "tools/lines/records/temporary.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST_CHUNK = 4096, MOST_CHUNK = 256 << 10, TABLE_BITS = 24 };

struct chunk_header {
    uint64_t next;
    uint64_t bytes;
};

struct spill_part {
    uint64_t first; /* offset of the first chunk */
    uint64_t own;   /* offset of the chunk in memory; 0: there is none */
    size_t used;    /* of it, with its header */
    uint64_t bytes;
};

/* Parts are halved until the chunks are worth a write of their own. */
static void
choose_shape(struct spill *spill, size_t memory_bytes, unsigned most_parts)
{
    spill->parts = most_parts;
    spill->chunk_bytes = MOST_CHUNK;
    while (spill->chunk_bytes > LEAST_CHUNK && spill->chunk_bytes * spill->parts > memory_bytes)
        spill->chunk_bytes /= 2;
    while (spill->parts > 2 && spill->chunk_bytes * spill->parts > memory_bytes)
        spill->parts /= 2;
}

bool
spill_open(struct spill *spill, struct job *job, size_t memory_bytes, unsigned most_parts)
{
    assert((most_parts & (most_parts - 1)) == 0 && most_parts >= 2);
    *spill = (struct spill){.job = job, .descriptor = -1};
    choose_shape(spill, memory_bytes, most_parts);
    spill->end = spill->chunk_bytes; /* offset 0 is that of no chunk */
    spill->list = calloc(spill->parts, sizeof *spill->list);
    spill->buffers = map_bytes(spill->parts * spill->chunk_bytes);
    if (spill->list != NULL && spill->buffers != NULL)
        return true;
    spill_close(spill);
    return job_fail(job, "out of memory: no buffers for a temporary file");
}

static void
free_buffers(struct spill *spill)
{
    unmap_bytes(spill->buffers, spill->parts * spill->chunk_bytes);
    spill->buffers = NULL;
}

void
spill_close(struct spill *spill)
{
    free_buffers(spill);
    if (spill->list != NULL && spill->descriptor >= 0)
        (void)close(spill->descriptor);
    free(spill->list);
    spill->list = NULL;
}

/* The chunk in memory goes to its place, of which `size` bytes are worth it. */
static bool
write_chunk(struct spill *spill, unsigned part, uint64_t next, size_t size)
{
    struct spill_part *own = &spill->list[part];
    char *chunk = spill->buffers + part * spill->chunk_bytes;
    const struct chunk_header header = {.next = next,
                                        .bytes = own->used - sizeof(struct chunk_header)};

    if (spill->descriptor < 0) {
        spill->descriptor = temporary_open(spill->job);
        if (spill->descriptor < 0)
            return false;
    }
    memcpy(chunk, &header, sizeof header);
    return temporary_write(spill->job, spill->descriptor, chunk, size, own->own);
}

static uint64_t
next_place(struct spill *spill)
{
    uint64_t place = spill->end;

    spill->end += spill->chunk_bytes;
    return place;
}

/* The part's chunk is full, or there is none: an empty one. */
static bool
turn_chunk(struct spill *spill, unsigned part)
{
    struct spill_part *own = &spill->list[part];
    uint64_t place = next_place(spill);

    if (own->own == 0)
        own->first = place;
    else if (!write_chunk(spill, part, place, spill->chunk_bytes))
        return false;
    own->own = place;
    own->used = sizeof(struct chunk_header);
    return true;
}

bool
spill_put(struct spill *spill, unsigned part, const void *bytes, size_t size)
{
    struct spill_part *own = &spill->list[part];

    assert(spill->buffers != NULL && part < spill->parts);
    own->bytes += size;
    while (size > 0) {
        size_t room = own->own == 0 ? 0 : spill->chunk_bytes - own->used;
        size_t now = size < room ? size : room;

        if (room == 0) {
            if (!turn_chunk(spill, part))
                return false;
            continue;
        }
        memcpy(spill->buffers + part * spill->chunk_bytes + own->used, bytes, now);
        own->used += now;
        bytes = (const char *)bytes + now;
        size -= now;
    }
    return true;
}

bool
spill_seal(struct spill *spill)
{
    for (unsigned part = 0; part < spill->parts; part++) {
        const struct spill_part *own = &spill->list[part];

        if (own->own != 0 && !write_chunk(spill, part, 0, own->used))
            return false;
    }
    free_buffers(spill);
    /* The last chunk, too, is read as a whole. */
    return spill->descriptor < 0 || temporary_resize(spill->job, spill->descriptor, spill->end);
}

uint64_t
spill_bytes(const struct spill *spill, unsigned part)
{
    return spill->list[part].bytes;
}

static unsigned
bits_of(const struct spill *spill)
{
    return (unsigned)__builtin_ctz(spill->parts);
}

unsigned
spill_part_of(const struct spill *spill, uint64_t hash, unsigned level)
{
    return (unsigned)(hash >> (64 - bits_of(spill) * (level + 1))) & (spill->parts - 1);
}

bool
spill_has_level(const struct spill *spill, unsigned level)
{
    return bits_of(spill) * (level + 1) + TABLE_BITS <= 64;
}

/* ---- Reading --------------------------------------------------------------------------------- */

bool
spill_stream_open(struct spill_stream *stream, struct spill *spill, unsigned part)
{
    assert(spill->buffers == NULL);
    *stream = (struct spill_stream){.spill = spill, .next = spill->list[part].first};
    stream->chunk = map_bytes(spill->chunk_bytes);
    return stream->chunk != NULL ||
           job_fail(spill->job, "out of memory: no buffer for a temporary file");
}

void
spill_stream_close(struct spill_stream *stream)
{
    unmap_bytes(stream->chunk, stream->spill->chunk_bytes);
    free(stream->joined);
    stream->chunk = stream->joined = NULL;
}

/* The chain's next chunk. */
static bool
read_chunk(struct spill_stream *stream)
{
    struct spill *spill = stream->spill;
    struct chunk_header header;

    if (!temporary_read(spill->job, spill->descriptor, stream->chunk, spill->chunk_bytes,
                        stream->next))
        return false;
    memcpy(&header, stream->chunk, sizeof header);
    if (header.bytes > spill->chunk_bytes - sizeof header)
        return job_fail(spill->job, "a temporary file in %s was changed", spill->job->temporary);
    stream->next = header.next;
    stream->begin = sizeof header;
    stream->end = sizeof header + header.bytes;
    return true;
}

bool
spill_take_some(struct spill_stream *stream, const char **bytes, size_t *size)
{
    while (stream->begin == stream->end) {
        *size = 0;
        if (stream->next == 0)
            return true;
        if (!read_chunk(stream))
            return false;
    }
    *bytes = stream->chunk + stream->begin;
    *size = stream->end - stream->begin;
    stream->begin = stream->end;
    return true;
}

static bool
have_joined(struct spill_stream *stream, size_t size)
{
    char *grown;

    if (size <= stream->joined_capacity)
        return true;
    grown = realloc(stream->joined, size);
    if (grown == NULL)
        return job_fail(stream->spill->job, "out of memory: a record of %zu bytes", size);
    stream->joined = grown;
    stream->joined_capacity = size;
    return true;
}

bool
spill_take(struct spill_stream *stream, size_t size, const char **bytes)
{
    size_t held = 0;

    if (size <= stream->end - stream->begin && size > 0) {
        *bytes = stream->chunk + stream->begin;
        stream->begin += size;
        return true;
    }
    if (!have_joined(stream, size > 0 ? size : 1))
        return false;
    while (held < size) {
        const char *piece;
        size_t piece_bytes;

        if (!spill_take_some(stream, &piece, &piece_bytes))
            return false;
        if (piece_bytes == 0)
            break;
        if (piece_bytes > size - held) {
            stream->begin -= piece_bytes - (size - held);
            piece_bytes = size - held;
        }
        memcpy(stream->joined + held, piece, piece_bytes);
        held += piece_bytes;
    }
    *bytes = held == size ? stream->joined : NULL;
    return held == size || held == 0 ||
           job_fail(stream->spill->job, "a temporary file in %s was changed",
                    stream->spill->job->temporary);
}

/* ---- Records --------------------------------------------------------------------------------- */

bool
spill_put_record(struct spill *spill, unsigned level, const struct spill_record *record,
                 const void *bytes)
{
    unsigned part = spill_part_of(spill, record->item.hash, level);

    return spill_put(spill, part, record, sizeof *record) &&
           spill_put(spill, part, bytes, record->size);
}

bool
spill_take_record(struct spill_stream *stream, struct spill_record *record, const char **bytes)
{
    if (!spill_take(stream, sizeof *record, bytes))
        return false;
    if (*bytes == NULL)
        return true;
    memcpy(record, *bytes, sizeof *record);
    return spill_take(stream, record->size, bytes);
}

bool
spill_copy_record(struct spill_stream *from, struct spill *to, unsigned level, bool *more)
{
    struct spill_record record;
    const char *bytes;

    if (!spill_take_record(from, &record, &bytes))
        return false;
    *more = bytes != NULL;
    return !*more || spill_put_record(to, level, &record, bytes);
}
