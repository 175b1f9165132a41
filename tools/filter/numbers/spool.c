/* spool.c -- see spool.h. */
#include "tools/filter/numbers/spool.h"

#include "tools/filter/records/temporary.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct spool {
    struct job *job;
    int file; /* -1: nothing was written yet */
    size_t block_bytes;
    uint32_t block_count; /* of the file */
    uint32_t *unused;     /* blocks of the file that no stream has */
    size_t unused_count, unused_capacity;
};

bool
spool_create(struct job *job, size_t block_bytes, struct spool **spool)
{
    assert(block_bytes >= 8 && block_bytes % 8 == 0);
    *spool = malloc(sizeof **spool);
    if (*spool == NULL)
        return job_fail(job, "out of memory");
    **spool = (struct spool){.job = job, .file = -1, .block_bytes = block_bytes};
    return true;
}

void
spool_free(struct spool *spool)
{
    if (spool == NULL)
        return;
    if (spool->file >= 0)
        (void)close(spool->file);
    free(spool->unused);
    free(spool);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Is the number behind the last one of the list? */
static bool
append(uint32_t **numbers, size_t *count, size_t *capacity, uint32_t number)
{
    if (*count == *capacity) {
        size_t larger = *capacity > 0 ? *capacity * 2 : 16;
        uint32_t *grown = realloc(*numbers, larger * sizeof *grown);

        if (grown == NULL)
            return false;
        *numbers = grown;
        *capacity = larger;
    }
    (*numbers)[(*count)++] = number;
    return true;
}

static bool
take_block(struct spool *spool, uint32_t *block)
{
    if (spool->file < 0)
        spool->file = temporary_open(spool->job);
    if (spool->file < 0)
        return false;
    if (spool->unused_count > 0)
        *block = spool->unused[--spool->unused_count];
    else if (spool->block_count < UINT32_MAX)
        *block = spool->block_count++;
    else
        return job_fail(spool->job, "too many keys for a temporary file in %s",
                        spool->job->temporary);
    return true;
}

static uint64_t
offset_of(const struct spool *spool, uint32_t block)
{
    return block * (uint64_t)spool->block_bytes;
}

/* ---- Streams --------------------------------------------------------------------------------- */

static size_t
key_bytes(const struct spool_stream *stream)
{
    return stream->most - stream->least <= UINT32_MAX ? 4 : 8;
}

/* Has the stream a block of memory? */
static bool
take_memory(struct spool *spool, struct spool_stream *stream)
{
    if (stream->memory == NULL)
        stream->memory = malloc(spool->block_bytes);
    return stream->memory != NULL || job_fail(spool->job, "out of memory");
}

static bool
flush(struct spool *spool, struct spool_stream *stream)
{
    uint32_t block = 0;

    if (!take_block(spool, &block))
        return false;
    if (!append(&stream->blocks, &stream->block_count, &stream->block_capacity, block))
        return job_fail(spool->job, "out of memory");
    if (!temporary_write(spool->job, spool->file, stream->memory, stream->memory_bytes,
                         offset_of(spool, block)))
        return false;
    stream->memory_bytes = 0;
    return true;
}

bool
spool_add(struct spool *spool, struct spool_stream *stream, uint64_t key)
{
    uint64_t offset = key - stream->least;

    assert(stream->least <= key && key <= stream->most);
    if (!take_memory(spool, stream))
        return false;
    if (stream->count == 0 || key < stream->low)
        stream->low = key;
    if (stream->count == 0 || key > stream->high)
        stream->high = key;
    stream->count++;
    if (key_bytes(stream) == 4) {
        uint32_t narrow = (uint32_t)offset;

        memcpy(stream->memory + stream->memory_bytes, &narrow, sizeof narrow);
        stream->memory_bytes += sizeof narrow;
    } else {
        memcpy(stream->memory + stream->memory_bytes, &offset, sizeof offset);
        stream->memory_bytes += sizeof offset;
    }
    return stream->memory_bytes < spool->block_bytes || flush(spool, stream);
}

bool
spool_stream_rest(struct spool *spool, struct spool_stream *stream)
{
    bool done = stream->memory_bytes == 0 || flush(spool, stream);

    free(stream->memory);
    stream->memory = NULL;
    stream->memory_bytes = 0;
    return done;
}

/* The last block of the list comes to memory, and belongs to nobody. All but the one that was
 * written last are full. */
static bool
fetch(struct spool *spool, struct spool_stream *stream)
{
    size_t width = key_bytes(stream);
    uint64_t before;
    uint32_t block;

    assert(stream->block_count > 0);
    if (!take_memory(spool, stream))
        return false;
    block = stream->blocks[--stream->block_count];
    before = stream->block_count * (uint64_t)(spool->block_bytes / width);
    assert(stream->count > before && stream->count - before <= spool->block_bytes / width);
    stream->memory_bytes = (size_t)(stream->count - before) * width;
    if (!temporary_read(spool->job, spool->file, stream->memory, stream->memory_bytes,
                        offset_of(spool, block)))
        return false;
    return append(&spool->unused, &spool->unused_count, &spool->unused_capacity, block) ||
           job_fail(spool->job, "out of memory");
}

bool
spool_take(struct spool *spool, struct spool_stream *stream, uint64_t *keys, size_t capacity,
           size_t *count)
{
    size_t width = key_bytes(stream);

    *count = 0;
    if (stream->count == 0)
        return true;
    if (stream->memory_bytes == 0 && !fetch(spool, stream))
        return false;
    for (; *count < capacity && stream->memory_bytes > 0; stream->memory_bytes -= width) {
        const uint8_t *at = stream->memory + stream->memory_bytes - width;
        uint64_t wide;
        uint32_t narrow;

        if (width == 4) {
            memcpy(&narrow, at, sizeof narrow);
            wide = narrow;
        } else {
            memcpy(&wide, at, sizeof wide);
        }
        keys[(*count)++] = stream->least + wide;
    }
    stream->count -= *count;
    return true;
}

void
spool_stream_free(struct spool *spool, struct spool_stream *stream)
{
    /* Without memory for the list the blocks are lost to the file, no more. */
    while (stream->block_count > 0)
        (void)append(&spool->unused, &spool->unused_count, &spool->unused_capacity,
                     stream->blocks[--stream->block_count]);
    free(stream->blocks);
    free(stream->memory);
    *stream = (struct spool_stream){0};
}
