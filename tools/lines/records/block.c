/* block.c -- see block.h. */
#include "tools/lines/records/block.h"

#include "bloom/petal_bloom.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Shorter records than so many bytes are cut in several turns. */
enum { BYTES_PER_RECORD = 16 };

bool
block_open(struct block *block, const struct block_source *source)
{
    *block = (struct block){.capacity = source->bytes, .most = source->bytes / BYTES_PER_RECORD};
    block->bytes = malloc(block->capacity);
    block->records = malloc(block->most * sizeof *block->records);
    block->hashes = malloc(block->most * sizeof *block->hashes);
    if (block->bytes != NULL && block->records != NULL && block->hashes != NULL)
        return true;
    block_close(block);
    return false;
}

void
block_close(struct block *block)
{
    free(block->bytes);
    free(block->records);
    free(block->hashes);
    *block = (struct block){0};
}

/* For so many bytes, and a delimiter after them. */
static bool
have_room(struct block *block, size_t bytes)
{
    char *grown;

    if (bytes < block->capacity)
        return true;
    grown = realloc(block->bytes, bytes + 1);
    if (grown == NULL)
        return false;
    block->bytes = grown;
    block->capacity = bytes + 1;
    return true;
}

/* Records among the bytes from `scanned` on that no record has taken. */
static void
cut(struct block *block, const struct block_source *source, size_t scanned)
{
    while (block->count < block->most && scanned < block->used) {
        const char *from = block->bytes + block->whole;
        const char *to = memchr(block->bytes + scanned, source->delimiter, block->used - scanned);

        if (to == NULL)
            return;
        block->records[block->count++] = (petal_slice){from, (size_t)(to - from)};
        scanned = block->whole = (size_t)(to - block->bytes) + 1;
    }
}

bool
block_begin(struct block *block, const struct block *before, const struct block_source *source)
{
    size_t rest = before->used - before->whole;

    block->used = block->whole = block->count = 0;
    block->is_last = block->added_delimiter = false;
    block->offset = before->offset + before->whole;
    if (!have_room(block, rest))
        return false;
    memcpy(block->bytes, before->bytes + before->whole, rest);
    block->used = rest;
    if (before->count == before->most) /* else none is whole in it */
        cut(block, source, 0);
    return true;
}

/* After the last byte: the delimiter may be missing. */
static enum block_outcome
end(struct block *block, const struct block_source *source)
{
    if (source->limit != UINT64_MAX && block->offset + block->used < source->limit)
        return BLOCK_SHORT;
    if (block->used > 0) { /* no record ends in it */
        block->bytes[block->used++] = source->delimiter;
        cut(block, source, block->used - 1);
        block->added_delimiter = true;
    }
    block->is_last = true;
    return BLOCK_FILLED;
}

/* Up to the usual size; of a record that is longer twice as many bytes as there are. */
static enum block_outcome
read_once(struct block *block, const struct block_source *source)
{
    size_t aim = block->used < source->bytes / 2 ? source->bytes - 1 : 2 * block->used, room;
    uint64_t offset = block->offset + block->used;
    ssize_t got;

    if (aim > source->longest + source->bytes)
        aim = source->longest + source->bytes;
    if (block->used > source->longest)
        return BLOCK_TOO_LONG;
    if (!have_room(block, aim))
        return BLOCK_NO_MEMORY;
    room = aim - block->used;
    if (room > source->limit - offset)
        room = (size_t)(source->limit - offset);
    got = source->is_file
              ? pread(source->descriptor, block->bytes + block->used, room, (off_t)offset)
              : read(source->descriptor, block->bytes + block->used, room);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN ? BLOCK_WAITS : BLOCK_FAILED;
    if (got == 0)
        return end(block, source);
    block->used += (size_t)got;
    cut(block, source, block->used - (size_t)got);
    return block->count > 0 ? BLOCK_FILLED : BLOCK_WAITS;
}

enum block_outcome
block_fill(struct block *block, const struct block_source *source)
{
    enum block_outcome outcome = BLOCK_FILLED;

    if (block->count == 0)
        outcome = read_once(block, source);
    if (outcome == BLOCK_FILLED && source->wants_hashes) {
        for (size_t i = 0; i < block->count; i++)
            block->hashes[i] = petal_bloom_hash(block->records[i], source->salt);
    }
    return outcome;
}
