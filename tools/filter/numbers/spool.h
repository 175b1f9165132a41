/*
 * spool.h -- streams of keys that have no room in memory: any number of them in one temporary file
 * without a name, which goes with the process.
 *
 * The file is cut into blocks; a stream is a list of blocks. What is read of a stream is gone, and
 * its blocks are written again: so the file is as large as the keys that wait, not as all that ever
 * did. Keys of a stream that lie within 2^32 take 4 bytes, else 8.
 *
 * A stream that is written to holds a block of memory; spool_stream_rest gives it back.
 *
 * What fails is told by job_fail. Belongs to one thread.
 */
#ifndef PETAL_TOOLS_FILTER_NUMBERS_SPOOL_H
#define PETAL_TOOLS_FILTER_NUMBERS_SPOOL_H

#include "tools/filter/job/job.h"

struct spool;

/* All zero: an empty stream of which nothing is known. */
struct spool_stream {
    uint64_t least, most; /* that may come: set before the first key is added */
    uint64_t low, high;   /* that came; if there is one */
    uint64_t count;       /* that can be read yet */
    uint32_t *blocks;     /* numbers of blocks, in the order written */
    size_t block_count, block_capacity;
    uint8_t *memory;     /* the block that is being filled, or read; NULL: none */
    size_t memory_bytes; /* filled, or left to read, at its end */
};

/* The file is made in the job's temporary directory, with the first block that is written.
 * block_bytes: a multiple of 8. */
bool spool_create(struct job *job, size_t block_bytes, struct spool **spool);
void spool_free(struct spool *spool); /* NULL: nothing. Streams are freed before. */

/* REQUIRES: stream->least <= key <= stream->most, and nothing was read of the stream. */
bool spool_add(struct spool *spool, struct spool_stream *stream, uint64_t key);

/* What is in memory of a stream that was filled goes to the file. */
bool spool_stream_rest(struct spool *spool, struct spool_stream *stream);

/* The next keys, at most `capacity`; *count 0: there are no more. They come in any order, block by
 * block from the end. */
bool spool_take(struct spool *spool, struct spool_stream *stream, uint64_t *keys, size_t capacity,
                size_t *count);

/* What is left of it goes away. */
void spool_stream_free(struct spool *spool, struct spool_stream *stream);

#endif
