/*
 * reader.h -- the records of a file or stream, many at a time.
 *
 * A record is what stands before a delimiter, a newline or a zero byte; behind the last one it may
 * be missing. Any other bytes may stand in a record, or none at all. One is no longer than an eighth
 * of the job's memory.
 *
 * One thread at a time.
 */
#ifndef PETAL_TOOLS_FILTER_RECORDS_READER_H
#define PETAL_TOOLS_FILTER_RECORDS_READER_H

#include "tools/filter/job/job.h"

#include "engine/petal.h"

/* So many records at most are handed out at a time. */
#define READER_BATCH 512

/* What goes on while a read may wait for somebody to write: false ends the reading. */
typedef bool (*reader_idle)(void *argument);

struct reader {
    struct job *job;
    const char *name; /* for messages */
    int descriptor;
    bool owns_descriptor;
    bool is_file; /* has a size, and can be read again */
    bool ended;
    uint64_t size;    /* of a file, when it was opened */
    uint64_t limit;   /* offset where reading ends; UINT64_MAX: at the end of the file */
    uint64_t offset;  /* in the file, of buffer[end] */
    uint64_t records; /* handed out */
    char *buffer;
    size_t capacity, begin, end; /* bytes not handed out: [begin, end) */
    reader_idle idle;            /* NULL: nothing */
    void *idle_argument;
};

/* "-" is the standard input. On failure there is nothing to close. */
bool reader_open(struct reader *reader, struct job *job, const char *path);

/* The bytes from `from` to `to` of a descriptor, which stays the caller's. */
bool reader_open_part(struct reader *reader, struct job *job, const char *name, int descriptor,
                      uint64_t from, uint64_t to);

void reader_close(struct reader *reader);

/*
 * The next records, at most READER_BATCH; *count 0: there are no more. Their bytes stay until the
 * next call, and behind each stands its delimiter, also where the file has none. They lie one behind
 * the other.
 */
bool reader_next(struct reader *reader, petal_slice *records, size_t *count);

/* Bytes of a file that were not handed out, as far as its size is known; of others 0. */
uint64_t reader_rest(const struct reader *reader);

/* The offset of the first record that was not handed out, in a file. */
uint64_t reader_position(const struct reader *reader);

#endif
