/*
 * writer.h -- where a command's records go: the standard output, or a file.
 *
 * A file takes the place of an old one when all is written; until then it has no name, so that
 * nothing is left of a job that fails or is killed. What is no regular file (a device, a pipe) is
 * written as it is, and so is what is appended to.
 *
 * One thread at a time.
 */
#ifndef PETAL_TOOLS_LINES_RECORDS_WRITER_H
#define PETAL_TOOLS_LINES_RECORDS_WRITER_H

#include "tools/lines/job/job.h"

#include "engine/petal.h"

struct writer {
    struct job *job;
    const char *name; /* for messages */
    int descriptor;
    bool owns_descriptor;
    bool is_new;     /* it is appended to, and was not there before */
    char *target;    /* the name that it gets in the end; NULL: it has its name, or needs none */
    char *temporary; /* the name until then, where it cannot be without one; NULL: it has none */
    char *buffer;
    size_t capacity, used;
    uint64_t records, bytes; /* added */
};

/* The job's output. On failure there is nothing to close. */
bool writer_open(struct writer *writer, struct job *job);

/* The same, after what a file holds. */
bool writer_open_append(struct writer *writer, struct job *job);

/* A file without a name, which is read again by its descriptor once it is flushed. */
bool writer_open_temporary(struct writer *writer, struct job *job);

/* The record and its delimiter. */
bool writer_add(struct writer *writer, petal_slice record);

/* So many records that lie one after the other, with their delimiters. */
bool writer_add_run(struct writer *writer, const char *bytes, size_t size, size_t records);

bool writer_flush(struct writer *writer);
/* For struct reader: of a stream that waits nothing is held back. */
bool writer_idle(void *writer);

/* Is it a file of --output, which keeps what was synced, however the job ends? */
bool writer_is_file(const struct writer *writer);

/* Flushed, and on the disk if it is a file. */
bool writer_sync(struct writer *writer);

/* All is written; a file gets its name. The writer has to be closed nevertheless. */
bool writer_finish(struct writer *writer);

/* What was not finished is gone, but for what was appended; a new file to which nothing was,
 * too. */
void writer_close(struct writer *writer);

/* Of records that lie one after the other, with their delimiters, those whose mark is `mark`. Adds
 * their number to *written. writer NULL: they are only counted. */
bool write_marked(struct writer *writer, const petal_slice *records, size_t count,
                  const bool *marks, bool mark, uint64_t *written);

#endif
