/*
 * reader.h -- the records of a file or stream, many at a time.
 *
 * A record is what stands before a delimiter, a newline or a zero byte; after the last one it may
 * be missing. Any other bytes may stand in a record, or none at all. One is no longer than an
 * eighth of the job's memory.
 *
 * A large file is read, cut and hashed ahead by a thread of the reader's own. One thread at a time
 * uses a reader.
 */
#ifndef PETAL_TOOLS_LINES_RECORDS_READER_H
#define PETAL_TOOLS_LINES_RECORDS_READER_H

#include "tools/lines/job/job.h"
#include "tools/lines/records/block.h"

#include "engine/petal.h"

#include <pthread.h>

/* So many records at most are handed out at a time. */
#define READER_BATCH 512

/* One that is handed out, one that is filled, one between them. */
#define READER_BLOCKS 3

/* What goes on while a read may wait for somebody to write: false ends the reading. */
typedef bool (*reader_idle)(void *argument);

/* Blocks have numbers from 1 on; number n stands in blocks[n % READER_BLOCKS]. */
struct reader {
    struct job *job;
    const char *name; /* for messages */
    bool owns_descriptor;
    bool is_file;  /* has a size, and can be read again */
    uint64_t size; /* of a file, when it was opened */
    struct block_source source;
    struct block blocks[READER_BLOCKS];
    uint64_t number;  /* of the block that is handed out */
    size_t taken;     /* records of it that were handed out */
    uint64_t records; /* handed out */
    reader_idle idle; /* NULL: nothing */
    void *idle_argument;

    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    uint64_t filled;   /* the last block that can be handed out */
    uint64_t released; /* so many blocks, from 0 on, are not looked at any more */
    bool stop;
    enum block_outcome outcome; /* of the block after `filled`, if it is not BLOCK_FILLED */
    int error;
};

/* "-" is the standard input. On failure there is nothing to close. */
bool reader_open(struct reader *reader, struct job *job, const char *path);

/* The bytes from `from` to `to` of a descriptor, which stays the caller's. */
bool reader_open_part(struct reader *reader, struct job *job, const char *name, int descriptor,
                      uint64_t from, uint64_t to);

void reader_close(struct reader *reader);

/* Before the first record: batches have hashes. */
void reader_want_hashes(struct reader *reader);

/* Records that are handed out together. */
struct batch {
    const petal_slice *records; /* one after the other, and after each its delimiter, also where the
                                   file has none */
    const uint64_t *hashes;     /* under the job's salt; NULL: reader_want_hashes was not called */
    size_t count;               /* 1 to READER_BATCH */
    uint64_t from;              /* where the first one stands in a file */
    uint64_t first;             /* its number: so many were handed out before */
    bool *flags;                /* of again_each: one each, which the function may change */
};

/* What a batch points to stays until the function returns. False: no more, and it was told why. */
typedef bool (*batch_taker)(void *argument, struct batch *batch);

/* All records that were not handed out, batch by batch. False: reading failed, or `take` did. */
bool reader_each(struct reader *reader, batch_taker take, void *argument);

/* Where a record of the batch stands in the file. */
static inline uint64_t
batch_offset(const struct batch *batch, size_t i)
{
    return batch->from +
           (uint64_t)((const char *)batch->records[i].data - (const char *)batch->records->data);
}

/* Bytes of a file that were not handed out, as far as its size is known; of others 0. */
uint64_t reader_rest(const struct reader *reader);

/* The offset of the first record that was not handed out, in a file. */
uint64_t reader_position(const struct reader *reader);

#endif
